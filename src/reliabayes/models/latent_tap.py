"""Latent-scale t-a-p: raters of different accuracy, items of different difficulty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import expit, gammaln

from reliabayes.arrays import Array, Codes
from reliabayes.inference.densities import half_t, log_half_t, log_normal
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.guess_centring import GUESSES
from reliabayes.inference.latent_accuracy import ExpectedAccuracy
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart, extended
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.bases import misleading
from reliabayes.models.bases.difficulty import (
    NO_DIFFICULTY,
    LatentTAPProblem,
    difficulty_nodes,
    guess_counts,
    with_enough_nodes,
)
from reliabayes.models.bases.integration import quadrature_error
from reliabayes.models.bases.know_or_guess import known_or_guessed
from reliabayes.models.bases.latent_tap_em import compiled_climb, steps_are_compiled
from reliabayes.models.bases.own_ratings import knowledge_centring, own_ratings
from reliabayes.models.bases.pilot import after_pilot, suited_to_crowd
from reliabayes.models.bases.rater_effects import RaterEffectsModel
from reliabayes.models.covariates import Covariates
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal, check_proper
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

LOG_ODDS = 300.0  # beyond which a probability is 0 or 1
FEW_PARAMETERS = 20  # of which the sampler adapts all covariances


@dataclass(frozen=True, kw_only=True)
class LatentTAP(RaterEffectsModel[LatentTAPProblem]):
    r"""Accuracy of raters in log odds, less the difficulty of the item.

    .. math:: \operatorname{logit} a_{ij} = \alpha_j - \delta_i + x_j' \eta

    A rater who does not know the true category guesses it with the probabilities p. Accuracies
    alpha are normal among raters, guesses Dirichlet(1 + ``concentration`` times ``mean_p``), and
    difficulties delta normal among items and integrated out by quadrature. The model leaves out a
    discrimination of each item, about which its few ratings say next to nothing. A guess is right
    with the chance q that its rater's p gives to the true category (for two categories p or 1 - p),
    and not with a free chance of each item. `Fit.new_rater` has the accuracy of another rater.

    Quantities: ``prevalence`` (K,), ``mean_alpha``, ``sd_alpha``, ``sd_delta`` in log odds,
    ``eta``, ``mean_p`` (K,), ``concentration``; of each rater ``confusion`` (K, K), ``accuracy``
    and ``random_share`` on an item drawn at random, ``informativeness`` in bits, ``alpha`` and,
    with its covariates, ``a`` on an item of average difficulty, and ``p``; ``log_likelihood`` in
    nats and ``bits_per_rating``, with true categories and difficulties marginalised.

    Parameters
    ----------
    difficulty : bool, default True
        Whether items differ in difficulty.
    nodes : int, optional
        Number of nodes of the difficulty; by default as many as the item with most ratings needs
        for an error of the log-likelihood below 1e-3, and more if difficulties differ much.
    covariates : Covariates, optional
        Covariates of raters, such as their experience.
    prior_prevalence, prior_mean_p : Dirichlet
        Prior of the prevalence, and of the mean probabilities of guesses.
    prior_mean_alpha, prior_eta : Normal
        In log odds; of each slope of a covariate.
    prior_sd_alpha, prior_sd_delta, prior_concentration : HalfNormal or HalfStudentT
        Standard deviations in log odds; of the concentration of guesses.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    References
    ----------
    Eubanks, Hierarchical t-a-p models, Invariant scales. https://kappazoo.com
    """

    summary: ClassVar[str] = "accuracy of raters, less the difficulty of the item, in log odds"
    reports: ClassVar[tuple[str, ...]] = (
        *("prevalence", "mean_alpha", "sd_alpha", "sd_delta", "eta", "mean_p", "concentration"),
        *("confusion", "accuracy", "informativeness", "random_share", "alpha", "a", "p"),
        *("log_likelihood", "bits_per_rating"),
    )

    adapts_metric: ClassVar[bool] = True
    target_acceptance: ClassVar[float] = 0.98
    crowd_acceptance: ClassVar[float] = 0.6
    guess: ClassVar[str] = "p"

    difficulty: bool = True
    nodes: int | None = None
    covariates: Covariates | None = None
    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_mean_alpha: Normal = Normal(0.0, 1.5)
    prior_sd_alpha: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_sd_delta: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_eta: Normal = Normal(0.0, 1.0)
    prior_mean_p: Dirichlet = Dirichlet(2.0)
    prior_concentration: HalfNormal | HalfStudentT = HalfNormal(10.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nodes is not None and self.nodes < 3:
            raise ValueError(f"nodes must be 3 or more, not {self.nodes}.")
        check_proper("prior_mean_alpha", self.prior_mean_alpha)
        check_proper("prior_eta", self.prior_eta)

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, accuracies and guesses, each with what they have in common."""
        has_eta = self.covariates is not None
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("mean_alpha", "real"),
            Parameter("sd_alpha", "positive"),
            *([Parameter("sd_delta", "positive", ("all",))] if self.difficulty else []),
            *([Parameter("eta", "real", ("covariate",))] if has_eta else []),
            Parameter("mean_p", "simplex", ("category",)),
            Parameter("concentration", "positive"),
            Parameter("alpha", "real", ("rater",)),
            GUESSES,
            *self.shared_parameters,
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "mean_alpha": self.prior_mean_alpha.stan,
            "sd_alpha": self.prior_sd_alpha.stan,
            "sd_delta": self.prior_sd_delta.stan,
            "eta": self.prior_eta.stan,
            "mean_p": self.prior_mean_p.of(n_categories),
            "concentration": self.prior_concentration.stan,
        }

    def problem(self, ratings: Ratings) -> LatentTAPProblem:
        """Distinct items by their ratings, priors, nodes of difficulty, and covariates."""
        base = self.categorical_problem(ratings)
        known, most_ratings = self.covariates, int(ratings.ratings_per_item.max())
        covariate = np.empty((ratings.n_raters, 0)) if known is None else known.of(ratings.raters)
        names = pd.Index([] if known is None else list(known.names))
        return extended(
            LatentTAPProblem,
            base,
            coords={**base.coords, "covariate": names},
            nodes=difficulty_nodes(most_ratings, self.nodes) if self.difficulty else NO_DIFFICULTY,
            covariate=covariate,
        )

    def truth(self, problem: LatentTAPProblem) -> Codes:
        """True category of each state: node by node, true categories within."""
        return np.tile(np.arange(problem.n_categories, dtype=np.int32), problem.nodes.number)

    def log_weight(self, point: Point, problem: LatentTAPProblem) -> Array:
        """Log-probabilities of true category and node."""
        by_node = np.log(problem.nodes.weight)[:, None] + np.log(point["prevalence"])
        return np.asarray(by_node.ravel())

    def table(self, point: Point, problem: LatentTAPProblem) -> Array:
        """Log-probabilities of a rating, by node and true category, by category and rater."""
        known = expit(self._log_odds(point, problem))
        by_node = known_or_guessed(known, point["p"])
        with np.errstate(divide="ignore"):
            log_probability = np.log(by_node.transpose(0, 2, 3, 1))
        return np.asarray(log_probability.reshape(len(self.truth(problem)), -1))

    def accuracy(self, point: Point, problem: LatentTAPProblem) -> Array:
        """Log odds (..., R) that a rater knows the true category of an average item."""
        alpha = point["alpha"]
        if "eta" in point:
            alpha = alpha + point["eta"] @ problem.covariate.T
        return alpha

    def _difficulty(self, point: Point, problem: LatentTAPProblem) -> Array:
        """Difficulty (..., Q) at the nodes, in log odds."""
        node = problem.nodes.node
        return point["sd_delta"] * node if self.difficulty else node

    def average_confusion(self, point: Point, problem: LatentTAPProblem) -> Array:
        """Probabilities of a rating (..., R, K, K) by true category, over all difficulties."""
        # An exponential of each number, not one of each pair of them.
        odds = np.exp(np.clip(self.accuracy(point, problem), -LOG_ODDS, LOG_ODDS))
        hard = np.exp(np.clip(self._difficulty(point, problem), -LOG_ODDS, LOG_ODDS))
        known = np.zeros_like(odds)
        for node, weight in enumerate(problem.nodes.weight):
            known += weight * odds / (odds + hard[..., node, None])
        return known_or_guessed(known, point["p"])

    def more_quantities(
        self, point: Point, problem: LatentTAPProblem
    ) -> dict[str, tuple[tuple[str, ...], Array]]:
        """Probability that a rater knows the true category of an item of average difficulty."""
        return {"a": (("rater",), expit(self.accuracy(point, problem)))}

    def new_rater(
        self, posterior: Posterior[LatentTAPProblem], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array]:
        """One with a normal accuracy in log odds, and guesses from the Dirichlet distribution."""
        point = posterior.arrays()
        mean, sd = point["mean_alpha"], point["sd_alpha"]
        counts = 1 + point["concentration"][..., None] * point["mean_p"]
        p = rng.standard_gamma(counts)
        drawn = {
            "alpha": (mean + sd * rng.standard_normal(mean.shape))[..., None],
            "p": (p / p.sum(axis=-1, keepdims=True))[..., None, :],
        }
        problem = replace(posterior.problem, covariate=covariates[None])
        return self.of_one_rater(replace(posterior, problem=problem), drawn)

    def draw_from_prior(
        self, problem: LatentTAPProblem, rng: np.random.Generator, given: Point
    ) -> Point:
        """Parameters drawn from their priors; those of raters from what is given of them all."""
        point: dict[str, Array] = {
            "prevalence": rng.dirichlet(problem.priors["prevalence"]),
            "mean_alpha": np.array(rng.normal(*problem.priors["mean_alpha"])),
            "sd_alpha": np.array(half_t(problem.priors["sd_alpha"], rng)),
            "mean_p": rng.dirichlet(problem.priors["mean_p"]),
            "concentration": np.array(half_t(problem.priors["concentration"], rng)),
            **given,
        }
        mean, sd = float(point["mean_alpha"]), float(point["sd_alpha"])
        point |= {
            "alpha": rng.normal(mean, sd, problem.n_raters),
            "p": rng.dirichlet(guess_counts(point), problem.n_raters),
            **misleading.from_prior(problem, rng),
        }
        if self.difficulty:
            point["sd_delta"] = np.array([half_t(problem.priors["sd_delta"], rng)])
        if self.covariates is not None:
            mean, sd = problem.priors["eta"]
            point["eta"] = rng.normal(mean, sd, size=problem.size("covariate"))
        return point

    def integration_error(self, posterior: Posterior[LatentTAPProblem]) -> tuple[int, float]:
        """Number of nodes of the difficulty, and the error of the log-likelihood in nats."""
        at = posterior, "sd_delta", self.log_likelihood, Nodes.refined
        return quadrature_error(*at) if self.difficulty else (0, 0.0)

    # Expectation maximisation.

    def without_priors(self, problem: LatentTAPProblem) -> LatentTAPProblem:
        """The same problem: without priors, raters have nothing in common."""
        return problem

    def climb_from(
        self, start: Point, problem: LatentTAPProblem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from a point, in compiled steps where there are such."""
        if steps_are_compiled(problem):
            return compiled_climb(start, problem, max_iterations, tolerance)
        return super().climb_from(start, problem, max_iterations, tolerance)

    def log_prior(self, point: Point, problem: LatentTAPProblem) -> float:
        """Log density of accuracies, guesses and the rest, given how much raters differ."""
        alpha, sd_alpha = point["alpha"], float(point["sd_alpha"])
        concentrations = guess_counts(point)
        total = (
            np.dot(problem.priors["prevalence"], np.log(point["prevalence"]))
            + np.dot(problem.priors["mean_p"], np.log(point["mean_p"]))
            + log_normal(point["mean_alpha"], *problem.priors["mean_alpha"])
            + log_normal(alpha, point["mean_alpha"], sd_alpha).sum()
            + (np.log(point["p"]) @ concentrations).sum()
            + len(alpha) * (gammaln(concentrations.sum()) - gammaln(concentrations).sum())
            + misleading.log_prior(point, problem)
        )
        if self.difficulty:
            total += log_half_t(float(point["sd_delta"][0]), problem.priors["sd_delta"])
            total += np.log(point["sd_delta"][0])
        if self.covariates is not None:
            total += log_normal(point["eta"], *problem.priors["eta"]).sum()
        return float(total)

    def maximise(self, point: Point, expected: Expected, problem: LatentTAPProblem) -> Point:
        """Improve all but the sd of accuracies: at the mode of few raters these are all alike."""
        knew, total, guessed = self._split(point, expected, problem)
        concentrations = guess_counts(point)
        p = guessed + concentrations
        prevalence = self._by_truth(expected, problem) + problem.priors["prevalence"]
        better = {
            **point,
            "prevalence": prevalence / prevalence.sum(),
            "p": p / p.sum(axis=1, keepdims=True),
            **misleading.most_likely(expected, problem),
        }
        proposed = better["p"].mean(axis=0)
        better = max(
            better, {**better, "mean_p": proposed}, key=lambda x: self.log_prior(x, problem)
        )
        sd_alpha, nodes = float(point["sd_alpha"]), problem.nodes.node
        accuracy = ExpectedAccuracy(knew, total, nodes, problem.covariate, sd_alpha, problem.priors)
        return {**better, **accuracy.improved(point)}

    def _by_truth(self, expected: Expected, problem: LatentTAPProblem) -> Array:
        """Expected items (K,) by true category."""
        return np.asarray(expected.items.reshape(problem.nodes.number, -1).sum(axis=0))

    def _split(
        self, point: Point, expected: Expected, problem: LatentTAPProblem
    ) -> tuple[Array, Array, Array]:
        """Expected ratings: known (Q, R), all (Q, R), and guessed (R, K)."""
        n_categories = problem.n_categories
        shape = problem.nodes.number, n_categories, n_categories, problem.n_raters
        ratings = expected.ratings.reshape(shape)
        known = expit(self._log_odds(point, problem))
        right = ratings.diagonal(axis1=1, axis2=2)  # (Q, R, K)
        lucky = (1 - known)[..., None] * point["p"]
        knew = right * known[..., None] / (known[..., None] + lucky)
        guessed = ratings.sum(axis=(0, 1)).T - knew.sum(axis=0)
        return knew.sum(axis=2), ratings.sum(axis=(1, 2)), guessed

    def start_at(self, found: Climb, problem: LatentTAPProblem) -> WarmStart:
        """Around a mode, with accuracies and guesses relative to what ratings say of them there."""
        point = found.point
        _, state = problem.mixture.posterior(*self.columns(point, problem))
        own = own_ratings(
            problem, state, self._log_odds(point, problem), point["alpha"], np.log(point["p"])
        )
        start = super().start_at(found, problem)
        centring = knowledge_centring(own, point, start.sd, problem.priors)
        start = self.centred(start, point, centring)
        return replace(start, sd={name: np.ones_like(x) for name, x in start.mode.items()})

    def starts(self, problem: LatentTAPProblem) -> tuple[WarmStart, ...]:
        """A start at each mode, in units by a few draws unless the sampler soon finds its own."""
        modes = super().starts(problem)
        if self.difficulty and not self.nodes:
            modes = with_enough_nodes(modes, problem, self.log_likelihood)
            problem = self.settled(problem, modes[0].centring)
        if modes[0].size < FEW_PARAMETERS:
            return modes
        found = (after_pilot(self, problem, mode) for mode in modes)
        return tuple(suited_to_crowd(start, problem) for start in found)

    def settled(self, problem: LatentTAPProblem, centring: StanPart | None) -> LatentTAPProblem:
        """The problem with the nodes that suffice around its modes."""
        return problem.with_nodes_of(centring)

    def _log_odds(self, point: Point, problem: LatentTAPProblem) -> Array:
        """Log odds (Q, R) of knowing the true category, by node."""
        return np.asarray(self.accuracy(point, problem) - self._difficulty(point, problem)[:, None])

    def posterior_sd(self, point: Point, expected: Expected, problem: LatentTAPProblem) -> Point:
        """Those if the expected ratings were observed, each rater by itself."""
        sd_alpha = float(point["sd_alpha"])
        prevalence = self._by_truth(expected, problem) + problem.priors["prevalence"]
        n_raters, simplex_sd = problem.n_raters, GUESSES.unconstrained_sd
        found = {
            "prevalence": simplex_sd(prevalence),
            "mean_alpha": np.array(sd_alpha / np.sqrt(n_raters) + 0.1),
            "sd_alpha": np.array(1 / np.sqrt(n_raters) + 0.1),
            "alpha": np.ones(n_raters),  # of scores
            "mean_p": simplex_sd(n_raters * point["mean_p"] + problem.priors["mean_p"]),
            "concentration": np.array(1 / np.sqrt(n_raters) + 0.2),
            "p": np.ones((n_raters, problem.n_categories - 1)),  # of scores
            **misleading.posterior_sd(expected, problem),
        }
        if self.difficulty:
            found["sd_delta"] = np.array([0.3])
        if self.covariates is not None:
            prior = problem.priors["eta"][1] ** -2
            found["eta"] = ((problem.covariate**2).sum(axis=0) / sd_alpha**2 + prior) ** -0.5
        return found
