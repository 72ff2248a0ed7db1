"""Latent-scale t-a-p: raters of different accuracy, items of different difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.optimize
from scipy.special import expit, gammaln, log_expit

from reliabayes.arrays import Array, Codes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.quadrature import enough, grid
from reliabayes.models.bases.annotation import AnnotationModel
from reliabayes.models.bases.densities import half_t, log_half_t, log_normal, slope_half_t
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.bases.knowing import known_or_guessed
from reliabayes.models.covariates import Covariates
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings

REACH = 4.5  # standard deviations of difficulty that the nodes cover on either side


@dataclass(frozen=True, kw_only=True)
class LatentTAP(AnnotationModel):
    r"""Accuracy of raters on the scale of log odds, where difficult items take from it.

    .. math:: \operatorname{logit} a_{ij} = \alpha_j - \delta_i + x_j' \eta

    A rater who does not know the true category guesses it with the probabilities p. Accuracies
    alpha are normal among raters, guesses Dirichlet(1 + ``concentration`` times ``mean_p``), and
    difficulties delta normal among items and summed over equally spaced nodes. A discrimination of
    each item is left out: it would only change how far the accuracies of raters lie apart on that
    item, of which the few ratings of an item tell next to nothing beside its difficulty and its
    hidden category.

    Quantities: ``prevalence`` (K,), ``mean_alpha``, ``sd_alpha``, ``sd_delta`` in log odds,
    ``eta``, ``mean_p`` (K,), ``concentration``; of each rater ``confusion`` (K, K), ``accuracy``
    and ``random_share`` on an item drawn at random, ``informativeness`` in bits, ``alpha`` and
    ``p``; ``log_likelihood`` in nats and ``bits_per_rating``, all that is hidden summed out.

    Parameters
    ----------
    difficulty : whether items differ in difficulty
    nodes : how many the difficulty is summed over; by default as many as the item with most
        ratings needs for an error of the log-likelihood below 1e-3
    covariates : Covariates
        What is known of raters, such as their experience.
    prior_prevalence, prior_mean_p : Dirichlet
    prior_mean_alpha, prior_eta : Normal
    prior_sd_alpha, prior_sd_delta, prior_concentration : HalfNormal or HalfStudentT

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Invariant scales. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of raters, less the difficulty of the item, in log odds"
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "mean_alpha",
        "sd_alpha",
        "sd_delta",
        "eta",
        "mean_p",
        "concentration",
        "confusion",
        "accuracy",
        "informativeness",
        "random_share",
        "alpha",
        "p",
        "log_likelihood",
        "bits_per_rating",
    )

    adapts: ClassVar[bool] = True
    acceptance: ClassVar[float] = 0.98

    difficulty: bool = True
    nodes: int | None = None
    covariates: Covariates | None = None
    prior_prevalence: Dirichlet = Dirichlet(3.0)
    prior_mean_alpha: Normal = Normal(0.0, 1.5)
    prior_sd_alpha: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_sd_delta: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_eta: Normal = Normal(0.0, 1.0)
    prior_mean_p: Dirichlet = Dirichlet(2.0)
    prior_concentration: HalfNormal | HalfStudentT = HalfNormal(10.0)

    def __post_init__(self) -> None:
        if self.nodes is not None and self.nodes < 3:
            raise ValueError(f"nodes must be 3 or more, not {self.nodes}.")

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, accuracies and guesses, each with what they have in common."""
        has_eta = self.covariates is not None
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("mean_alpha", "real"),
            Parameter("sd_alpha", "positive"),
            Parameter("score", "real", ("rater",)),
            *([Parameter("sd_delta", "positive", ("all",))] if self.difficulty else []),
            *([Parameter("eta", "real", ("covariate",))] if has_eta else []),
            Parameter("mean_p", "simplex", ("category",)),
            Parameter("concentration", "positive"),
            Parameter("p", "simplex", ("rater", "category")),
        )

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables."""
        return {**super().dims(), "alpha": ("rater",)}

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors."""
        return {
            "prior_prevalence": self.prior_prevalence.of(n_categories),
            "prior_mean_alpha": self.prior_mean_alpha.stan,
            "prior_sd_alpha": self.prior_sd_alpha.stan,
            "prior_sd_delta": self.prior_sd_delta.stan,
            "prior_eta": self.prior_eta.stan,
            "prior_mean_p": self.prior_mean_p.of(n_categories),
            "prior_concentration": self.prior_concentration.stan,
        }

    def coords(self) -> Mapping[str, Any]:
        """Names of the covariates."""
        return {} if self.covariates is None else {"covariate": list(self.covariates.names)}

    def cells(self, ratings: Ratings) -> tuple[Codes, dict[str, Any]]:
        """Cells of raters and categories; nodes of difficulty, and what is known of raters."""
        cell, described = super().cells(ratings)
        node, weight = self._nodes(int(ratings.ratings_per_item.max()))
        covariate = np.empty((ratings.n_raters, 0))
        if self.covariates is not None:
            covariate = self.covariates.of(ratings.raters)
        described |= {
            "Q": len(node),
            "node": node,
            "node_weight": weight,
            "X": covariate.shape[1],
            "covariate": covariate,
            # A rating tells of an accuracy about a thousandth of what others do.
            "centred": ratings.ratings_per_rater / (ratings.ratings_per_rater + 1000),
        }
        return cell, described

    def _nodes(self, most_ratings: int) -> tuple[Array, Array]:
        """Nodes in sds of the difficulty, as close as its narrowest posterior is wide, and weights.

        The error of equal spacing h falls as exp(-2 pi^2 (s / h)^2) with the sd s of the narrowest
        posterior. A rating tells of the difficulty 0.15 of what its normal distribution does, where
        its sd is 1.5 or so.
        """
        if not self.difficulty:
            return np.zeros(1), np.ones(1)
        narrowest = 1 / np.sqrt(1 + 0.15 * most_ratings)
        return grid(self.nodes or enough(0.8 * narrowest, REACH), REACH)

    def truth(self, data: Data) -> Codes:
        """True category of each state: node by node, true categories within."""
        return np.tile(np.arange(data["K"], dtype=np.int32), data["Q"])

    def log_weight(self, point: Point, data: Data) -> Array:
        """Log-probabilities of true category and node."""
        by_node = np.log(np.asarray(data["node_weight"]))[:, None] + np.log(point["prevalence"])
        return np.asarray(by_node.ravel())

    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities of a rating, by node and true category, by category and rater."""
        known = expit(self.accuracy(point, data) - self._difficulty(point, data)[:, None])
        by_node = known_or_guessed(known, point["p"])
        with np.errstate(divide="ignore"):
            log_probability = np.log(by_node.transpose(0, 2, 3, 1))
        return np.asarray(log_probability.reshape(data["Q"] * data["K"], -1))

    def accuracy(self, point: Point, data: Data) -> Array:
        """Log odds (..., R) that a rater knows the true category of an average item."""
        alpha = self.alpha(point, data)
        if "eta" in point:
            alpha = alpha + point["eta"] @ np.asarray(data["covariate"]).T
        return alpha

    def alpha(self, point: Point, data: Data) -> Array:
        """Accuracies (..., R) in log odds, but for what covariates tell."""
        centred = np.asarray(data["centred"])
        mean, scale = point["mean_alpha"][..., None], point["sd_alpha"][..., None] ** (1 - centred)
        return np.asarray(mean + (point["score"] - mean * centred) * scale)

    def _difficulty(self, point: Point, data: Data) -> Array:
        """Difficulty (..., Q) at the nodes, in log odds."""
        node = np.asarray(data["node"])
        return point["sd_delta"] * node if self.difficulty else node

    def confusion_of_draws(self, point: Point, data: Data) -> Array:
        """Shares of ratings (..., R, K, K) by true category, of items of all difficulties."""
        known = 0.0
        difficulty, weight = self._difficulty(point, data), data["node_weight"]
        accuracy = self.accuracy(point, data)
        for node in range(data["Q"]):
            known = known + weight[node] * expit(accuracy - difficulty[..., node, None])
        return known_or_guessed(np.asarray(known), point["p"])

    def more_quantities(self, point: Point, data: Data) -> dict[str, tuple[tuple[str, ...], Array]]:
        """The accuracies on the scale of log odds."""
        return {"alpha": (("rater",), self.alpha(point, data))}

    def draw_point(self, data: Data, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters drawn from their priors; those of raters from what is given of them all."""
        point: dict[str, Array] = {
            "prevalence": rng.dirichlet(data["prior_prevalence"]),
            "mean_alpha": np.array(rng.normal(*data["prior_mean_alpha"])),
            "sd_alpha": np.array(half_t(data["prior_sd_alpha"], rng)),
            "mean_p": rng.dirichlet(data["prior_mean_p"]),
            "concentration": np.array(half_t(data["prior_concentration"], rng)),
            **given,
        }
        mean, sd = float(point["mean_alpha"]), float(point["sd_alpha"])
        alpha = rng.normal(mean, sd, data["R"])
        point |= {
            "score": _scores(alpha, mean, sd, data),
            "p": rng.dirichlet(_guess_counts(point), data["R"]),
        }
        if self.difficulty:
            point["sd_delta"] = np.array([half_t(data["prior_sd_delta"], rng)])
        if self.covariates is not None:
            point["eta"] = rng.normal(self.prior_eta.mean, self.prior_eta.sd, size=int(data["X"]))
        return point

    # Expectation maximisation.

    def without_priors(self, data: Data) -> dict[str, Any]:
        """The data: accuracies and guesses of raters are nothing without what they share."""
        return dict(data)

    def log_prior(self, point: Point, data: Data) -> float:
        """Log density of accuracies, guesses and the rest, given how much raters differ."""
        alpha, spread = self.alpha(point, data), float(point["sd_alpha"])
        shares = _guess_counts(point)
        total = (
            np.dot(data["prior_prevalence"], np.log(point["prevalence"]))
            + np.dot(data["prior_mean_p"], np.log(point["mean_p"]))
            + log_normal(point["mean_alpha"], *data["prior_mean_alpha"])
            + log_normal(alpha, point["mean_alpha"], spread).sum()
            + (np.log(point["p"]) @ shares).sum()
            + len(alpha) * (gammaln(shares.sum()) - gammaln(shares).sum())
        )
        if self.difficulty:
            total += log_half_t(float(point["sd_delta"][0]), data["prior_sd_delta"])
            total += np.log(point["sd_delta"][0])
        if self.covariates is not None:
            total += log_normal(point["eta"], *data["prior_eta"]).sum()
        return float(total)

    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Likelier accuracies, difficulty and guesses; how much raters differ is held.

        Where raters are few, their joint mode has none differ from another.
        """
        knew, total, guessed = self._split(point, expected, data)
        shares = _guess_counts(point)
        p = guessed + shares
        prevalence = items.reshape(data["Q"], data["K"]).sum(axis=0) + data["prior_prevalence"]
        better = {
            **point,
            "prevalence": prevalence / prevalence.sum(),
            "p": p / p.sum(axis=1, keepdims=True),
        }
        proposed = better["p"].mean(axis=0)
        better = max(better, {**better, "mean_p": proposed}, key=lambda x: self.log_prior(x, data))
        return self._likelier_accuracy(better, knew, total, data)

    def _split(self, point: Point, expected: Array, data: Data) -> tuple[Array, Array, Array]:
        """Expected ratings: known (Q, R), all (Q, R), and guessed (R, K)."""
        n_nodes, n_categories, n_raters = data["Q"], data["K"], data["R"]
        ratings = expected.reshape(n_nodes, n_categories, n_categories, n_raters)
        known = expit(self.accuracy(point, data) - self._difficulty(point, data)[:, None])
        right = ratings.diagonal(axis1=1, axis2=2)  # (Q, R, K)
        lucky = (1 - known)[..., None] * point["p"]
        knew = right * known[..., None] / (known[..., None] + lucky)
        guessed = ratings.sum(axis=(0, 1)).T - knew.sum(axis=0)
        return knew.sum(axis=2), ratings.sum(axis=(1, 2)), guessed

    def _likelier_accuracy(self, point: Point, knew: Array, total: Array, data: Data) -> Point:
        """A few steps of a quasi-Newton climb in accuracies, covariates' slopes and difficulty."""
        n_raters, n_slopes = data["R"], data["X"]
        node, covariate = np.asarray(data["node"]), np.asarray(data["covariate"])
        spread = float(point["sd_alpha"])
        mean_0, sd_0 = data["prior_mean_alpha"]
        eta_0, eta_sd = data["prior_eta"]

        def best_mean(alpha: Array) -> float:
            pull, prior = 1 / spread**2, 1 / sd_0**2
            return float((alpha.sum() * pull + mean_0 * prior) / (n_raters * pull + prior))

        def negative(x: Array) -> tuple[float, Array]:
            alpha, eta, rest = np.split(x, [n_raters, n_raters + n_slopes])
            sd_delta = np.exp(rest[0]) if self.difficulty else 0.0
            odds = alpha + covariate @ eta - sd_delta * node[:, None]
            slope = knew - total * expit(odds)
            # The best mean of the accuracies is put in, so that its slope is nothing.
            mean = best_mean(alpha)
            value = (knew * log_expit(odds) + (total - knew) * log_expit(-odds)).sum()
            value += log_normal(alpha, mean, spread).sum() + log_normal(mean, mean_0, sd_0)
            value += log_normal(eta, eta_0, eta_sd).sum()
            by_rater = slope.sum(axis=0)
            by_alpha = by_rater - (alpha - mean) / spread**2
            by_eta = covariate.T @ by_rater - (eta - eta_0) / eta_sd**2
            by_rest = np.empty(0)
            if self.difficulty:
                value += log_half_t(sd_delta, data["prior_sd_delta"]) + rest[0]
                by_prior = slope_half_t(sd_delta, data["prior_sd_delta"])
                by_rest = np.array([sd_delta * (by_prior - node @ slope.sum(axis=1)) + 1])
            return -float(value), -np.concatenate([by_alpha, by_eta, by_rest])

        start = np.concatenate(
            [
                self.alpha(point, data),
                point.get("eta", np.empty(0)),
                np.log(point["sd_delta"]) if self.difficulty else np.empty(0),
            ]
        )
        found = scipy.optimize.minimize(
            negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 20}
        )
        alpha, eta, rest = np.split(found.x, [n_raters, n_raters + n_slopes])
        mean = best_mean(alpha)
        better = {
            **point,
            "mean_alpha": np.asarray(mean),
            "score": _scores(alpha, mean, spread, data),
        }
        if self.difficulty:
            better["sd_delta"] = np.exp(rest)
        if self.covariates is not None:
            better["eta"] = eta
        return better

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Standard deviations if the expected ratings were observed, other raters apart."""
        _, total, guessed = self._split(point, expected, data)
        known = expit(self.accuracy(point, data) - self._difficulty(point, data)[:, None])
        spread = float(point["sd_alpha"])
        information = (total * known * (1 - known)).sum(axis=0) + 1 / spread**2
        own = 1 - np.asarray(data["centred"])
        shares = _guess_counts(point)
        prevalence = items.reshape(data["Q"], data["K"]).sum(axis=0) + data["prior_prevalence"]
        by_name = {parameter.name: parameter for parameter in self.parameters()}
        n_raters = data["R"]
        found = {
            "prevalence": by_name["prevalence"].spread(prevalence),
            "mean_alpha": np.array(spread / np.sqrt(n_raters) + 0.1),
            "sd_alpha": np.array(1 / np.sqrt(n_raters) + 0.1),
            "score": 1 / np.sqrt(information) / spread**own,
            "mean_p": by_name["mean_p"].spread(n_raters * point["mean_p"] + data["prior_mean_p"]),
            "concentration": np.array(1 / np.sqrt(n_raters) + 0.2),
            "p": by_name["p"].spread(guessed + shares),
        }
        if self.difficulty:
            found["sd_delta"] = np.array([0.3])
        if self.covariates is not None:
            covariate = np.asarray(data["covariate"])
            found["eta"] = 1 / np.sqrt(
                (covariate**2).sum(axis=0) / spread**2 + 1 / data["prior_eta"][1] ** 2
            )
        return found


def _guess_counts(point: Point) -> Array:
    """Parameters (K,) of the Dirichlet distribution of guesses."""
    return np.asarray(1 + point["concentration"] * point["mean_p"])


def _scores(alpha: Any, mean: float, sd: float, data: Data) -> Array:
    """What the program samples in place of accuracies (R,)."""
    centred = np.asarray(data["centred"])
    return np.asarray(centred * mean + (alpha - mean) / sd ** (1 - centred))
