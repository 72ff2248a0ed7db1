"""M step for raters' accuracies in log odds, on items of different difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t, log_normal, slope_half_t
from reliabayes.inference.em import Point
from reliabayes.inference.newton import Newton

NEWTON = Newton(4, 1e-4, 3.0)  # of accuracies, slopes and the log of the sd
PARTS = 0.5 ** np.arange(6)  # of a step that are tried


@dataclass(frozen=True)
class ExpectedAccuracy:
    """Expected log density of accuracies, covariates' slopes and the sd of difficulty.

    Attributes
    ----------
    knew, total : array of shape (Q, R)
        Expected ratings by raters who knew the true category, and all, by node of difficulty.
    node : array of shape (Q,)
        Standard scores of difficulty.
    covariate : array of shape (R, X)
        Covariates of the raters.
    sd_alpha : float
        Standard deviation of accuracies between raters, which is held.
    priors : mapping of str to array
        Numbers of the priors of mean_alpha, eta and sd_delta.
    """

    knew: Array
    total: Array
    node: Array
    covariate: Array
    sd_alpha: float
    priors: Mapping[str, Array]

    def improved(self, point: Point) -> Point:
        """Accuracies, their mean, slopes and sd of difficulty: a few Newton steps from a point.

        Only those that the point has are returned. The mean, the slopes and the log of the sd are
        few, and given these the accuracies are independent.
        """
        eta, sd_delta = (point.get(name, np.empty(0)) for name in ("eta", "sd_delta"))
        here = point["alpha"], np.concatenate([eta, np.log(sd_delta)])
        value, step = self._value_and_step(*here)
        for _ in range(NEWTON.steps):
            for part in PARTS:
                there = here[0] + part * step[0], here[1] + part * step[1]
                found = self._value_and_step(*there)
                if found[0] >= value:
                    break
            else:
                break
            gain, here, (value, step) = found[0] - value, there, found
            if gain < NEWTON.last:
                break
        alpha, others = here
        better = {
            "alpha": alpha,
            "mean_alpha": np.asarray(self.best_mean(alpha)),
            "eta": others[: len(eta)],
            "sd_delta": np.exp(others[len(eta) :]),
        }
        return {name: values for name, values in better.items() if name in point}

    def best_mean(self, alpha: Array) -> float:
        """Mean of the accuracies at which their density is highest."""
        mean_0, sd_0 = self.priors["mean_alpha"]
        precision, prior = 1 / self.sd_alpha**2, 1 / sd_0**2
        weighted = alpha.sum() * precision + mean_0 * prior
        return float(weighted / (len(alpha) * precision + prior))

    def _value_and_step(self, alpha: Array, others: Array) -> tuple[float, tuple[Array, Array]]:
        """Log density at the best mean of the accuracies, and the Newton step from there.

        The curvature is the expected one, so that it points uphill.
        """
        n_slopes, priors = self.covariate.shape[1], self.priors
        eta = others[:n_slopes]
        has_difficulty = len(others) > n_slopes
        sd_delta = float(np.exp(others[-1])) if has_difficulty else 0.0
        odds = alpha + self.covariate @ eta - sd_delta * self.node[:, None]
        small = np.exp(-np.abs(odds))
        known = np.where(odds > 0, 1, small) / (1 + small)
        slope, weight = self.knew - self.total * known, self.total * known * (1 - known)
        mean, precision = self.best_mean(alpha), self.sd_alpha**-2
        value = (self.knew * odds - self.total * (np.maximum(odds, 0) + np.log1p(small))).sum()
        value += log_normal(alpha, mean, self.sd_alpha).sum()
        value += log_normal(mean, *priors["mean_alpha"]) + log_normal(eta, *priors["eta"]).sum()

        by_rater, own = slope.sum(axis=0), weight.sum(axis=0)
        eta_mean, eta_precision = priors["eta"][0], priors["eta"][1] ** -2
        # Log odds by slopes and by the log of the sd; the mean comes before them.
        by_eta = self.covariate.T @ by_rater - (eta - eta_mean) * eta_precision
        bend = np.diag([len(alpha) * precision + priors["mean_alpha"][1] ** -2, *eta * 0])
        bend[1:, 1:] = (self.covariate.T * own) @ self.covariate + eta_precision * np.eye(n_slopes)
        mixed = np.column_stack([np.full(len(alpha), -precision), own[:, None] * self.covariate])
        uphill = np.append(0.0, by_eta)
        if has_difficulty:
            prior = priors["sd_delta"]
            value += log_half_t(sd_delta, prior) + others[-1]
            by_sd = -sd_delta * self.node[:, None]
            by_prior = sd_delta * slope_half_t(sd_delta, prior) + 1
            both = (weight * by_sd).sum(axis=0)
            uphill = np.append(uphill, (slope * by_sd).sum() + by_prior)
            across = np.append(0.0, self.covariate.T @ both)
            last = (weight * by_sd**2).sum() + 2 * (sd_delta / prior[1]) ** 2
            bend = np.block([[bend, across[:, None]], [across, np.array([last])]])
            mixed = np.column_stack([mixed, both])
        own = own + precision
        by_alpha = by_rater - (alpha - mean) * precision
        among = mixed.T / own
        move = np.linalg.solve(bend - among @ mixed, uphill - among @ by_alpha)
        step = (by_alpha - mixed @ move) / own, move[1:]
        largest = max(float(np.abs(each).max(initial=0)) for each in step)
        part = NEWTON.longest / max(largest, NEWTON.longest)
        return float(value), (part * step[0], part * step[1])
