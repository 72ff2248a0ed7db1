"""Hierarchical Dawid-Skene: confusion matrices of raters who resemble one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.optimize
from scipy.special import log_softmax, softmax

from reliabayes.em import Point
from reliabayes.models.annotation import AnnotationModel, Array, Codes, Data, by_rater
from reliabayes.models.densities import half_t, log_normal
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal
from reliabayes.parameters import Parameter
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class HierarchicalDawidSkene(AnnotationModel):
    r"""Dawid-Skene with partial pooling: raters with few ratings are taken to be like the others.

    .. math:: \log (\pi_{jhk} / \pi_{jhh}) \sim N(\mu_{hk}, \sigma_{hk}), \quad k \ne h

    with the confusion matrices pi of the raters j. An error is a true category h and a wrong one k.

    Quantities: ``prevalence`` (K,); ``typical_confusion`` (K, K), of a rater with mean log odds;
    of each rater ``confusion`` (K, K), ``accuracy`` and ``random_share`` in [0, 1],
    ``informativeness`` in bits; ``location`` and ``spread`` of the log odds of each error, in the
    order of true categories; ``log_likelihood`` in nats and ``bits_per_rating``, true categories
    summed out.

    Parameters
    ----------
    prior_prevalence : Dirichlet
    prior_location : Normal
        Of the log odds of all errors of a true category together against the right one; below 0
        raters are mostly right, which holds the names of true categories.
    prior_spread : HalfNormal or HalfStudentT
        Of the log odds of an error, between raters.

    References
    ----------
    Paun et al. (2018). https://doi.org/10.1162/tacl_a_00040
    """

    summary: ClassVar[str] = "Dawid-Skene for raters with few ratings each, who resemble others"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "typical_confusion",
        "confusion",
        "accuracy",
        "informativeness",
        "random_share",
        "location",
        "spread",
        "log_likelihood",
        "bits_per_rating",
    )
    adapts: ClassVar[bool] = True
    acceptance: ClassVar[float] = 0.98

    prior_prevalence: Dirichlet = Dirichlet(3.0)
    prior_location: Normal = Normal(-2.0, 1.0)
    prior_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, and log odds of errors with what raters have in common."""
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("location", "real", ("error",)),
            Parameter("spread", "positive", ("error",)),
            Parameter("score", "real", ("error", "rater")),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors, that of the location for a single error."""
        mean = self.prior_location.mean - float(np.log(n_categories - 1))
        return {
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_location": [mean, self.prior_location.sd],
            "prior_spread": self.prior_spread.stan,
        }

    def cells(self, ratings: Ratings) -> tuple[Codes, dict[str, Any]]:
        """Cells of raters and categories, and how far each rater's log odds are centred."""
        cell, described = super().cells(ratings)
        per_category = ratings.ratings_per_rater / len(ratings.categories)
        # A rating tells of log odds about a hundredth of what others do: errors are rare.
        return cell, described | {"centred": per_category / (per_category + 100)}

    def confusion_of_draws(self, point: Point, data: Data) -> Array:
        """Shares of ratings (..., R, K, K) by true category."""
        return softmax_of(np.moveaxis(self.log_odds(point, data), -1, -2), data["K"])

    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities (K, V) of a rating, by true category, by category and rater."""
        by_truth = matrices(self.log_odds(point, data).T, data["K"])
        return np.asarray(log_softmax(by_truth, axis=-1).transpose(1, 2, 0).reshape(data["K"], -1))

    def log_odds(self, point: Point, data: Data) -> Array:
        """Log odds (..., E, R) of each error of each rater."""
        centred = np.asarray(data["centred"])
        location, spread = point["location"][..., None], point["spread"][..., None]
        return np.asarray(
            location + (point["score"] - location * centred) * spread ** (1 - centred)
        )

    def more_quantities(self, point: Point, data: Data) -> dict[str, tuple[tuple[str, ...], Array]]:
        """The confusion matrix of a rater with mean log odds."""
        typical = softmax_of(point["location"], data["K"])
        return {"typical_confusion": (("true_category", "category"), typical)}

    def draw_point(self, data: Data, rng: np.random.Generator) -> dict[str, Array]:
        """Parameters drawn from their priors."""
        size = data["K"] * (data["K"] - 1)
        mean, sd = data["prior_location"]
        location = rng.normal(mean, sd, size)
        spread = np.array([half_t(data["prior_spread"], rng) for _ in range(size)])
        log_odds = rng.normal(location[:, None], spread[:, None], (size, data["R"]))
        return {
            "prevalence": rng.dirichlet(data["prior_prevalence"]),
            "location": location,
            "spread": spread,
            "score": scores(location, spread, log_odds, data),
        }

    # Expectation maximisation.

    def without_priors(self, data: Data) -> dict[str, Any]:
        """The data: raters resemble one another by the priors."""
        return dict(data)

    def log_prior(self, point: Point, data: Data) -> float:
        """Log density of log odds and their means, given how much raters differ."""
        location, spread = point["location"], point["spread"]
        by_error = log_normal(self.log_odds(point, data), location[:, None], spread[:, None])
        return float(
            np.dot(data["prior_prevalence"], np.log(point["prevalence"]))
            + log_normal(location, *data["prior_location"]).sum()
            + by_error.sum()
        )

    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Likelier log odds and prevalence; how much raters differ is held.

        Where raters are few, their joint mode has none differ from another.
        """
        n_categories, n_raters = data["K"], data["R"]
        ratings = by_rater(expected, data)
        spread = point["spread"]
        mean_0, sd_0 = data["prior_location"]

        def best_location(log_odds: Array) -> Array:
            weighted = log_odds.sum(axis=1) / spread**2 + mean_0 / sd_0**2
            return np.asarray(weighted / (n_raters / spread**2 + 1 / sd_0**2))

        def negative(x: Array) -> tuple[float, Array]:
            log_odds = x.reshape(-1, n_raters)
            # The best location is put in, so that its slope is nothing.
            location = best_location(log_odds)
            away = log_odds - location[:, None]
            by_truth = matrices(log_odds.T, n_categories)
            slope = ratings - ratings.sum(axis=-1, keepdims=True) * softmax(by_truth, axis=-1)
            value = (ratings * log_softmax(by_truth, axis=-1)).sum()
            value += log_normal(location, mean_0, sd_0).sum()
            value += log_normal(away, 0.0, spread[:, None]).sum()
            return -float(value), -(errors(slope).T - away / spread[:, None] ** 2).ravel()

        start = self.log_odds(point, data).ravel()
        found = scipy.optimize.minimize(
            negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 20}
        )
        log_odds = found.x.reshape(-1, n_raters)
        location = best_location(log_odds)
        prevalence = items + data["prior_prevalence"]
        return {
            "prevalence": prevalence / prevalence.sum(),
            "location": location,
            "spread": spread,
            "score": scores(location, spread, log_odds, data),
        }

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Standard deviations if the expected ratings were observed, raters apart."""
        ratings = by_rater(expected, data)
        share = softmax(matrices(self.log_odds(point, data).T, data["K"]), axis=-1)
        told = errors(ratings.sum(axis=-1, keepdims=True) * share * (1 - share)).T
        spread, centred = point["spread"][:, None], np.asarray(data["centred"])
        by_name = {parameter.name: parameter for parameter in self.parameters()}
        several = 1 / np.sqrt(data["R"])
        return {
            "prevalence": by_name["prevalence"].spread(items + data["prior_prevalence"]),
            "location": np.minimum(several * point["spread"] + 0.1, data["prior_location"][1]),
            "spread": np.full_like(point["spread"], min(several + 0.2, 0.8)),
            "score": 1 / np.sqrt(told + 1 / spread**2) / spread ** (1 - centred),
        }


def matrices(log_odds: Array, n_categories: int) -> Array:
    """Log odds (..., E) of errors as matrices (..., K, K), 0 where a rating is right."""
    full = np.zeros((*log_odds.shape[:-1], n_categories, n_categories))
    full[..., ~np.eye(n_categories, dtype=bool)] = log_odds
    return full


def errors(matrix: Array) -> Array:
    """What stands off the diagonals of matrices (..., K, K), as (..., E)."""
    return np.asarray(matrix[..., ~np.eye(matrix.shape[-1], dtype=bool)])


def softmax_of(log_odds: Array, n_categories: int) -> Array:
    """Confusion (..., K, K) of log odds (..., E) of errors."""
    return np.asarray(softmax(matrices(log_odds, n_categories), axis=-1))


def scores(location: Array, spread: Array, log_odds: Array, data: Data) -> Array:
    """What the program samples in place of the log odds (E, R)."""
    centred = np.asarray(data["centred"])
    away = (log_odds - location[:, None]) / spread[:, None] ** (1 - centred)
    return np.asarray(location[:, None] * centred + away)
