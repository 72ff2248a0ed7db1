"""How sure one may be of labels: log odds of a model, calibrated on crowds with known answers.

Raters err together in ways that their votes do not show, so that every model of independent errors
is too sure. The probabilities stated of an item with n votes are ::

    p = (1 - m) softmax(S / T) + m prevalence,   log T = t0 + t1 log(n / 5) + t2 log(c / 0.05)

where S are the log odds by weighted votes and c is the mean correlation of raters' errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from scipy.special import expit, logit, softmax

from reliabayes.arrays import Array, Codes
from reliabayes.crowds.crowd import Crowd
from reliabayes.crowds.estimates import log_odds

USUAL_VOTES, USUAL_CORRELATION = 5.0, 0.05
LEAST_CORRELATION = 0.01  # that any crowd has
TYPICAL, TYPICAL_SD = 0.07, 0.05  # mean correlation of crowds, for those that say little of theirs
# Prior standard deviations of what known answers add to log T, which differs by 0.24 between crowds
# from what the others say (benchmarks.statement), and to the log odds of m.
SHIFT_SD, MISLED_SD = 0.3, 1.5
LEAST = 1e-6  # probability


@dataclass(frozen=True)
class Constants:
    """The numbers in the formula above.

    Attributes
    ----------
    log_temperature, by_votes, by_correlation : float
        t0, t1 and t2.
    misled : float
        m, in (0, 1).
    of_crowd, of_rater : float
        Standard deviations of what the log odds that ratings are right differ by from what is
        stated, between crowds and between raters of a crowd.
    """

    log_temperature: float
    by_votes: float
    by_correlation: float
    misled: float
    of_crowd: float = 0.0
    of_rater: float = 0.0


# By python -m benchmarks.statement, which states each of ten crowds by the others alone, too.
OF_CROWDS = Constants(
    log_temperature=1.31,
    by_votes=0.29,
    by_correlation=0.64,
    misled=0.0217,
    of_crowd=0.11,
    of_rater=0.25,
)


@dataclass(frozen=True, eq=False)
class Statement:
    """Log odds of items, and how they are tempered.

    Attributes
    ----------
    log_odds : array of shape (I, K)
        Logarithms of probabilities by weighted votes, up to a constant of each item.
    prevalence : array of shape (K,)
        Proportions of the categories.
    log_temperature : array of shape (I,)
        By the crowds that the constants are from.
    prior : array of shape (2,)
        0, and the log odds of m, by these crowds.
    at : array of shape (2,)
        What known answers add to the log temperature, and the log odds of m.
    covariance : array of shape (2, 2)
        Of these two, by Laplace approximation.
    beyond : (float, float)
        Standard deviations, between crowds and between raters, of the log odds that ratings are
        right, beyond what these two numbers change.
    """

    log_odds: Array
    prevalence: Array
    log_temperature: Array
    prior: Array
    at: Array
    covariance: Array
    beyond: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, crowd: Crowd, constants: Constants = OF_CROWDS) -> Statement:
        """A statement without known answers.

        Parameters
        ----------
        crowd : Crowd
            Votes and their weights.
        constants : Constants, optional
            The numbers of the formula.

        Returns
        -------
        Statement
        """
        correlation = correlation_of(crowd.found.mean, crowd.found.mean_error)
        log_temperature = (
            constants.log_temperature
            + constants.by_votes * np.log(np.maximum(crowd.votes.per_item, 1) / USUAL_VOTES)
            + constants.by_correlation * np.log(correlation / USUAL_CORRELATION)
        )
        prior = np.array([0.0, logit(constants.misled)])
        return cls(
            log_odds(crowd.estimate, crowd.votes, crowd.weight),
            crowd.estimate.probability.mean(axis=0),
            log_temperature,
            prior,
            prior,
            np.diag([SHIFT_SD**2, MISLED_SD**2]),
            (constants.of_crowd, constants.of_rater),
        )

    def probabilities(self, at: Array | None = None) -> Array:
        """Stated probabilities (I, K), of the statement or at another point."""
        shift, log_odds_misled = self.at if at is None else at
        misled = expit(log_odds_misled)
        temperature = np.maximum(np.exp(self.log_temperature + shift), 1.0)
        of_votes = softmax(self.log_odds / temperature[:, None], axis=1)
        return np.asarray((1 - misled) * of_votes + misled * self.prevalence)

    def given(self, known: Codes) -> Statement:
        """The statement after known answers.

        Parameters
        ----------
        known : array of int, shape (I,)
            True categories; -1 where they are unknown.

        Returns
        -------
        Statement
        """
        rows = np.flatnonzero(known >= 0)
        if not len(rows):
            return self
        some = self.rows(rows)
        prior = np.diag([SHIFT_SD**-2.0, MISLED_SD**-2.0])

        def loss(at: Array) -> float:
            p = some.probabilities(at)[np.arange(len(rows)), known[rows]]
            return float(
                (at - self.prior) @ prior @ (at - self.prior) / 2
                - np.log(np.maximum(p, LEAST)).sum()
            )

        at = scipy.optimize.minimize(loss, self.at, method="Nelder-Mead").x
        found = replace(self, at=at)
        information = len(rows) * found.rows(rows).information
        return replace(found, covariance=np.asarray(np.linalg.inv(prior + information), float))

    def rows(self, rows: Codes) -> Statement:
        """The statement of some of the items."""
        return replace(
            self, log_odds=self.log_odds[rows], log_temperature=self.log_temperature[rows]
        )

    @property
    def information(self) -> Array:
        """Fisher information (2, 2) that an answer gives on average about the two numbers."""
        p, slopes = self.probabilities(), self._slopes()
        each = slopes[:, None] * slopes[None] / np.maximum(p, LEAST)
        return np.asarray(each.sum(axis=-1).mean(axis=-1))

    @property
    def calibration_error(self) -> float:
        """Expected distance of the stated probability of a label from the right one."""
        slopes = self._slopes()
        best = self.probabilities().argmax(axis=1)[None, :, None]
        of_label = np.take_along_axis(slopes, np.broadcast_to(best, (2, best.shape[1], 1)), 2)[
            ..., 0
        ]
        variance = np.einsum("ai,ab,bi->i", of_label, self.covariance, of_label)
        return float(np.sqrt(2 / np.pi * variance).mean())  # mean distance of normal errors

    @property
    def log_score(self) -> float:
        """Expected mean of -log p of the true category, in nats."""
        p = self.probabilities()
        entropy = -(p * np.log(np.maximum(p, LEAST))).sum(axis=1).mean()
        return float(entropy + np.trace(self.information @ self.covariance) / 2)

    def with_answers(self, number: int) -> Statement:
        """What the statement is expected to be after so many more known answers."""
        precision = np.linalg.inv(self.covariance) + number * self.information
        return replace(self, covariance=np.asarray(np.linalg.inv(precision), float))

    def _slopes(self) -> Array:
        """Derivatives (2, I, K) of the stated probabilities by the two numbers."""
        step = 1e-4
        ends = [
            [self.probabilities(self.at + sign * each) for sign in (1, -1)]
            for each in np.eye(2) * step
        ]
        return np.array([(upper - lower) / (2 * step) for upper, lower in ends])


def correlation_of(mean: float, mean_error: float) -> float:
    """The mean correlation of errors, drawn to that of typical crowds by its uncertainty."""
    if not np.isfinite(mean_error):
        return TYPICAL
    weight = TYPICAL_SD**2 / (TYPICAL_SD**2 + mean_error**2)
    return float(np.clip(TYPICAL + weight * (mean - TYPICAL), LEAST_CORRELATION, 1))
