"""M step for raters' accuracies in log odds, on items of different difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from scipy.special import expit, log_expit

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t, log_normal, slope_half_t

MAX_ITERATIONS = 20


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
    has_difficulty : bool
        Whether items differ in difficulty.
    """

    knew: Array
    total: Array
    node: Array
    covariate: Array
    sd_alpha: float
    priors: Mapping[str, Array]
    has_difficulty: bool

    def improved(
        self, alpha: Array, eta: Array, sd_delta: Array | None
    ) -> tuple[Array, Array, Array]:
        """Accuracies (R,), slopes (X,) and sd of difficulty (1,), by a few quasi-Newton steps."""
        log_sd = np.log(sd_delta) if self.has_difficulty and sd_delta is not None else np.empty(0)
        found = scipy.optimize.minimize(
            self._negative,
            np.concatenate([alpha, eta, log_sd]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": MAX_ITERATIONS},
        )
        alpha, eta, log_sd = self._split(found.x)
        return alpha, eta, np.exp(log_sd)

    def best_mean(self, alpha: Array) -> float:
        """Mean of the accuracies at which their density is highest."""
        mean_0, sd_0 = self.priors["mean_alpha"]
        precision, prior = 1 / self.sd_alpha**2, 1 / sd_0**2
        weighted = alpha.sum() * precision + mean_0 * prior
        return float(weighted / (len(alpha) * precision + prior))

    def _split(self, x: Array) -> list[Array]:
        n_raters, n_slopes = self.covariate.shape
        return np.split(x, [n_raters, n_raters + n_slopes])

    def _negative(self, x: Array) -> tuple[float, Array]:
        """Negative log density and its gradient."""
        alpha, eta, rest = self._split(x)
        sd_delta = np.exp(rest[0]) if self.has_difficulty else 0.0
        odds = alpha + self.covariate @ eta - sd_delta * self.node[:, None]
        slope = self.knew - self.total * expit(odds)
        # At the best mean of the accuracies the derivative with respect to it is 0.
        mean = self.best_mean(alpha)
        eta_mean, eta_sd = self.priors["eta"]
        value = (self.knew * log_expit(odds) + (self.total - self.knew) * log_expit(-odds)).sum()
        of_mean = log_normal(mean, *self.priors["mean_alpha"])
        value += log_normal(alpha, mean, self.sd_alpha).sum() + of_mean
        value += log_normal(eta, eta_mean, eta_sd).sum()
        by_rater = slope.sum(axis=0)
        by_alpha = by_rater - (alpha - mean) / self.sd_alpha**2
        by_eta = self.covariate.T @ by_rater - (eta - eta_mean) / eta_sd**2
        by_rest = np.empty(0)
        if self.has_difficulty:
            prior = self.priors["sd_delta"]
            value += log_half_t(sd_delta, prior) + rest[0]
            by_prior = slope_half_t(sd_delta, prior) - self.node @ slope.sum(axis=1)
            by_rest = np.array([sd_delta * by_prior + 1])
        return -float(value), -np.concatenate([by_alpha, by_eta, by_rest])
