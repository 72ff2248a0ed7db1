"""Newton steps for log odds of errors that raters have in common: the M step of a hierarchy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t, log_normal
from reliabayes.inference.em import Point

LOG_SPREAD = np.linspace(-8, 4, 121)  # grid of the log of a spread
SOFTNESS = 0.5  # of what is positive, over its size: makes half of a normal nearly normal
LEAST_SPREAD = 0.1  # of log odds that are to be effects of raters
ROUNDING = 1e-13  # of a log density, relative
LARGEST = 500.0  # log odds whose sums of odds do not overflow
MINORISED = 3  # steps that improve standard deviations
ENOUGH = 1e-3  # nats that a Newton step gains at most if another one is left to the next M step


@dataclass(frozen=True)
class LogOddsProblem:
    """Log density of raters' log odds of errors around common locations, given expected ratings.

    Attributes
    ----------
    wrong : array of shape (R, K, K - 1)
        Expected ratings by true category and wrong category.
    total : array of shape (R, K)
        Expected ratings by true category.
    precision : array of shape (K, K - 1)
        Of a rater's log odds around their location, moved by the rater's level.
    level : array of shape (R, 1, 1)
        What all log odds of a rater share.
    prior : array of shape (2,)
        Mean and sd of the locations.
    """

    wrong: Array
    total: Array
    precision: Array
    level: Array
    prior: Array

    def value(self, location: Array, log_odds: Array) -> Array:
        """Log density (K,) by true category, up to constants."""
        normaliser = log_total(log_odds)
        likely = (self.wrong * log_odds).sum(axis=-1) - self.total * normaliser
        shrunk = self.precision * (log_odds - self.level - location) ** 2
        of_location = log_normal(location, *self.prior).sum(axis=-1)
        return np.asarray(likely.sum(axis=0) - 0.5 * shrunk.sum(axis=(0, 2)) + of_location)

    def step(self, location: Array, log_odds: Array) -> tuple[Array, Array]:
        """Newton step in locations and log odds.

        Locations are solved for first, then log odds rater by rater. The Hessian of a rater's log
        odds is a diagonal matrix less an outer product, which the Sherman-Morrison formula inverts.
        """
        mean, sd = self.prior
        normaliser = log_total(log_odds)[..., None]
        wrong, right = np.exp(log_odds - normaliser), np.exp(-normaliser[..., 0])
        expected = self.total[..., None] * wrong
        diagonal = expected + self.precision
        direction = wrong / diagonal
        weight = self.total / (right + (self.precision * direction).sum(axis=-1))

        def solve(x: Array) -> Array:
            along = weight * (direction * x).sum(axis=-1)
            return np.asarray(x / diagonal + direction * along[..., None])

        away = self.precision * (log_odds - self.level - location)
        alone = solve(self.wrong - expected - away)
        slope = away.sum(axis=0) - (location - mean) / sd**2 + (self.precision * alone).sum(axis=0)
        root = np.sqrt(weight)[..., None] * self.precision * direction
        hessian = -np.matmul(root.transpose(1, 2, 0), root.transpose(1, 0, 2))
        every = np.arange(location.shape[1])
        hessian[:, every, every] += (self.precision * expected / diagonal).sum(axis=0) + 1 / sd**2
        of_location = np.linalg.solve(hessian, slope[..., None])[..., 0]
        return of_location, alone + solve(
            np.broadcast_to(self.precision * of_location, alone.shape)
        )


def newton_steps(
    errors: LogOddsProblem, location: Array, log_odds: Array, steps: int = 3, halvings: int = 20
) -> tuple[Array, Array]:
    """Improved locations (K, K - 1) and log odds (R, K, K - 1), by damped Newton steps."""
    # Raters, who are many, side by side: sums over few categories take a third of the time.
    wrong, total, log_odds = map(np.asfortranarray, (errors.wrong, errors.total, log_odds))
    errors = replace(errors, wrong=wrong, total=total)
    here = errors.value(location, log_odds)
    for _ in range(steps):
        of_location, of_log_odds = errors.step(location, log_odds)
        size = np.ones((len(here), 1))
        for _ in range(halvings):
            there = errors.value(location + size * of_location, log_odds + size * of_log_odds)
            worse = ~(there >= here - ROUNDING * np.abs(here))
            if not worse.any():
                break
            size[worse] /= 2
        else:
            break  # no step is small enough
        location, log_odds = location + size * of_location, log_odds + size * of_log_odds
        gain, here = float((there - here).max()), there
        if gain < ENOUGH:
            break
    return location, log_odds


def log_odds_at(point: Point) -> Array:
    """Log odds (..., R, E) of the errors of each rater."""
    by_error = point["location"][..., None] + point["spread"][..., None] * point["effect"]
    return np.asarray(np.moveaxis(by_error + levels_at(point)[..., None, :], -1, -2))


def levels_at(point: Point) -> Array:
    """What all log odds (..., R) of each rater share: the less, the more able."""
    return np.asarray(-np.asarray(point["ability_spread"])[..., None] * point["ability"])


def log_total(log_odds: Array) -> Array:
    """Log of 1 plus the sum of odds along the last axis; scipy's takes several times as long."""
    largest = np.maximum(log_odds.max(axis=-1), 0)
    total = np.exp(-largest) + np.exp(log_odds - largest[..., None]).sum(axis=-1)
    return np.asarray(largest + np.log(total))


def log_probabilities(log_odds: Array, n_categories: int) -> Array:
    """Log-probabilities (..., K, V) of ratings, given log odds (..., R, E) of errors."""
    *every, n_raters, _ = log_odds.shape
    by_truth = log_odds.reshape(*every, n_raters, n_categories, n_categories - 1)
    rows = np.zeros((*every, n_categories, n_categories, n_raters))
    rows[..., ~np.eye(n_categories, dtype=bool), :] = log_odds.swapaxes(-1, -2)
    rows -= log_total(by_truth).swapaxes(-1, -2)[..., None, :]
    return rows.reshape(*every, n_categories, -1)


def confusion_matrices(log_odds: Array, n_categories: int) -> Array:
    """Confusion matrices (..., K, K) of log odds (..., E) of errors against right ratings."""
    shape = (*log_odds.shape[:-1], n_categories, n_categories - 1)
    by_truth = np.reshape(log_odds, shape)
    if by_truth.max(initial=0) > LARGEST:
        return np.asarray(softmax(error_matrices(log_odds, n_categories), axis=-1))
    odds = np.exp(by_truth)
    right = 1 / (1 + odds.sum(axis=-1))
    odds *= right[..., None]
    matrices = np.empty((*shape[:-1], n_categories))
    for truth in range(n_categories):
        matrices[..., truth, :truth] = odds[..., truth, :truth]
        matrices[..., truth, truth] = right[..., truth]
        matrices[..., truth, truth + 1 :] = odds[..., truth, truth:]
    return matrices


def own_log_odds(log_odds: Array, counts: Array) -> tuple[Array, Array]:
    """Log odds (R, E) of the normal likelihood that is closest to the ratings', and precision.

    It has the slope and the curvature of that of the ratings ``counts`` (R, K, K) at ``log_odds``.
    """
    share = confusion_matrices(log_odds, counts.shape[-1])
    total = counts.sum(axis=-1, keepdims=True)
    slope, precision = errors_of(counts - total * share), errors_of(total * share * (1 - share))
    step = np.divide(slope, precision, out=np.zeros_like(slope), where=precision > 0)
    return log_odds + step, precision


class Between(NamedTuple):
    """How much raters differ in each error, and in what all errors of a rater share.

    Attributes
    ----------
    spread : array of shape (E,)
        Standard deviations of log odds of raters with the same level.
    ability_spread : array of shape ()
        Standard deviation of levels.
    """

    spread: Array
    ability_spread: Array

    def shared_level(self, away: Array) -> Array:
        """The most likely level (R,) of raters whose log odds (E, R) are so far from the mean."""
        precision = self.spread[:, None] ** -2
        total = precision.sum() + self.ability_spread**-2
        return np.asarray((precision * away).sum(axis=0) / total)

    def parted(self, away: Array) -> dict[str, Array]:
        """These parameters, with abilities and effects of raters by their log odds (E, R)."""
        level = self.shared_level(away)
        return {
            "spread": self.spread,
            "ability_spread": self.ability_spread,
            "ability": -level / self.ability_spread,
            "effect": (away - level) / self.spread[:, None],
        }

    def log_ratio(self, precision: Array) -> float:
        """Log of how much narrower ratings of such precision (E, R) make all that is theirs."""
        ratio, own = self._of_ratings(precision)
        return float(np.log(ratio).sum() + np.log1p(self.ability_spread**2 * own).sum())

    def own_level(self, away: Array, precision: Array) -> tuple[Array, Array]:
        """Level (R,) that ratings alone say each rater has, and its precision.

        They say log odds with a precision (E, R), so far from their locations.
        """
        weight = precision / self._of_ratings(precision)[0]
        total = weight.sum(axis=0)
        sums = (weight * away).sum(axis=0)
        return np.divide(sums, total, out=np.zeros_like(sums), where=total > 0), total

    def improved(
        self, squares: Array, of_levels: float, precision: Array, priors: tuple[Array, Array]
    ) -> Between:
        """Of higher density, given sums of squares of log odds around levels (E,), and of levels.

        Convex terms in variances are replaced by their tangents, which bound them from below; the
        maximum of what remains has a closed form (minorise-maximise).
        """
        found = self
        for _ in range(MINORISED):
            ratio, own = found._of_ratings(precision)
            weight = precision / ratio
            shrunk = 1 + found.ability_spread**2 * own
            shared = found.ability_spread**2 * weight**2 / shrunk
            found = Between(
                _improved(found.spread, squares, (weight - shared).sum(axis=1), priors[0]),
                _improved(found.ability_spread, of_levels, (own / shrunk).sum(), priors[1]),
            )
        return found

    def _of_ratings(self, precision: Array) -> tuple[Array, Array]:
        """Variance of each log odds over that given the ratings, and precision (R,) of levels."""
        ratio = 1 + self.spread[:, None] ** 2 * precision
        return ratio, (precision / ratio).sum(axis=0)


def _improved(sd: Array, squares: Any, slope: Any, prior: Array) -> Array:
    df, scale = prior
    falling = slope + (1 + 1 / df) / (scale**2 + sd**2 / df)
    return np.asarray(np.sqrt((1 + np.sqrt(1 + 4 * squares * falling)) / (2 * falling)))


def spread_weights(squares: Array, precision: Array, prior: Array) -> Array:
    """Posterior (G, E) of each spread on the grid of its log, the effects of raters integrated out.

    Where raters are nearly alike the left tail is long, which the curvature at the mode misses.

    Parameters
    ----------
    squares : array of shape (E, R)
        Squared distances of the raters' own log odds from the location.
    precision : array of shape (E, R)
        Precision of the raters' own log odds.
    prior : array of shape (2,)
        Degrees of freedom and scale of the half t prior.
    """
    log_density = np.empty((len(LOG_SPREAD), len(precision)))
    for row, log_spread in zip(log_density, LOG_SPREAD, strict=True):
        spread = math.exp(log_spread)
        variance = 1 + spread**2 * precision
        row[:] = -0.5 * (np.log(variance) + precision * squares / variance).sum(axis=1)
        row += log_half_t(spread, prior) + log_spread
    return np.asarray(softmax(log_density, axis=0))


def weighted_sd(values: Array, weight: Array) -> Array:
    """Standard deviations (E,) of values (G, E) or (G, 1) with weights (G, E)."""
    mean = (values * weight).sum(axis=0)
    return np.asarray(np.sqrt(((values - mean) ** 2 * weight).sum(axis=0)))


def shared_log_odds(confusion: Array) -> dict[str, Array]:
    """Parameters of a hierarchy of raters' log odds, by moments of their matrices (R, K, K)."""
    log = np.log(confusion)
    own = errors_of(log - np.diagonal(log, axis1=-2, axis2=-1)[..., None]).T
    location = own.mean(axis=1, keepdims=True)
    away = own - location
    variance, of_mean = (away**2).mean(axis=1), (away.mean(axis=0) ** 2).mean()
    n = len(own)
    shared = max((n * of_mean - variance.mean()) / (n - 1), LEAST_SPREAD**2)
    between = Between(
        np.sqrt(np.maximum(variance - shared, LEAST_SPREAD**2)), np.asarray(math.sqrt(shared))
    )
    return {"location": location[:, 0], **between.parted(away)}


def information(counts: Array, variance: Array, share: Array) -> float:
    """Observed over complete information on the log odds, the least of all errors.

    Complete information is that of known true categories. What is missing is the variance of the
    score over the true categories given the ratings: none of an error that no item allows.

    Parameters
    ----------
    counts, variance : array of shape (R, K, K)
        Expected ratings, and the variances of their states.
    share : array of shape (R, K, K)
        Confusion matrices.

    References
    ----------
    Louis (1982), https://doi.org/10.1111/j.2517-6161.1982.tb01203.x
    """
    complete = counts.sum(axis=-1, keepdims=True) * share * (1 - share)
    missing = variance * (1 - 2 * share) + variance.sum(axis=-1, keepdims=True) * share**2
    lost, most = (errors_of(each).sum(axis=0) for each in (missing, complete))
    return float(1 - np.divide(lost, most, out=np.zeros_like(most), where=most > 0).max())


def error_matrices(by_error: Array, n_categories: int) -> Array:
    """Numbers of errors (..., E) in their places in matrices (..., K, K), 0 on the diagonals."""
    matrices = np.zeros((*by_error.shape[:-1], n_categories, n_categories))
    matrices[..., ~np.eye(n_categories, dtype=bool)] = by_error
    return matrices


def errors_of(matrices: Array) -> Array:
    """Numbers of errors (..., E): those off the diagonals of matrices (..., K, K)."""
    return np.asarray(matrices[..., ~np.eye(matrices.shape[-1], dtype=bool)])
