"""Raters who know the true category with a latent accuracy, less the difficulty of the item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, gammaln

from reliabayes.arrays import Array
from reliabayes.families.categories import misleading
from reliabayes.families.categories.compiled_em import compiled_latent_tap, steps_are_compiled
from reliabayes.families.categories.density import state_log_probabilities
from reliabayes.families.categories.em import climbed
from reliabayes.families.categories.know_or_guess import known_or_guessed
from reliabayes.families.categories.problem import MISLEADING, CategoricalProblem
from reliabayes.families.categories.rater_likelihoods import knowledge_centring, rater_likelihoods
from reliabayes.families.categories.starts import centred, start_around
from reliabayes.inference.densities import half_t, log_half_t, log_normal
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.guess_centring import GUESSES
from reliabayes.inference.latent_accuracy import ExpectedAccuracy
from reliabayes.inference.problem import StanData
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.thresholds import Adaptation

LOG_ODDS = 300.0  # beyond which a probability is 0 or 1


@dataclass(frozen=True, eq=False)
class RaterCovariates:
    """Covariates of the raters.

    Attributes
    ----------
    values : array of shape (R, X)
        By rater.
    """

    values: Array

    def stan_data(self) -> StanData:
        """Their number and values."""
        return StanData({"X": self.values.shape[1]}, values={"covariate": self.values})


Problem = CategoricalProblem[RaterCovariates]


@dataclass(frozen=True)
class LatentAccuracy:
    """Raters with accuracies that are normal in log odds, less the difficulty of the item.

    Who does not know the true category guesses it, by probabilities from a Dirichlet distribution.
    """

    takes_many: ClassVar[bool] = False
    lasting_priors: ClassVar[tuple[str, ...]] = (  # without priors, raters have nothing in common
        *("prevalence", "mean_alpha", "sd_alpha", "sd_delta", "eta", "mean_p", "concentration"),
        MISLEADING.name,
    )

    def table(self, point: Point, problem: Problem) -> Array:
        """Log-probabilities of a rating, by node and true category, by category and rater."""
        known = expit(_log_odds(point, problem))
        by_node = known_or_guessed(known, point["p"])
        with np.errstate(divide="ignore"):
            log_probability = np.log(by_node.transpose(0, 2, 3, 1))
        return np.asarray(log_probability.reshape(len(problem.category_of_state), -1))

    def confusion(self, point: Point, problem: Problem) -> Array:
        """Probabilities of a rating (..., R, K, K) by true category, over all difficulties."""
        # An exponential of each number, not one of each pair of them.
        odds = np.exp(np.clip(_accuracy(point, problem), -LOG_ODDS, LOG_ODDS))
        hard = np.exp(np.clip(_difficulty(point, problem), -LOG_ODDS, LOG_ODDS))
        known = np.zeros_like(odds)
        for node, weight in enumerate(_nodes(problem).weight):
            known += weight * odds / (odds + hard[..., node, None])
        return known_or_guessed(known, point["p"])

    def draw_from_prior(self, problem: Problem, rng: np.random.Generator, given: Point) -> Point:
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
        if "sd_delta" in problem.dims:
            point["sd_delta"] = np.array([half_t(problem.priors["sd_delta"], rng)])
        if "eta" in problem.dims:
            mean, sd = problem.priors["eta"]
            point["eta"] = rng.normal(mean, sd, size=problem.size("covariate"))
        return point

    def conjugate(self, problem: Problem) -> None:
        """Only NUTS can sample from the posterior."""

    # Expectation maximisation.

    def first(self, point: Point, problem: Problem) -> Point:
        """Where EM climbs from."""
        return point

    def quick(
        self, problem: Problem, rng: np.random.Generator, max_iterations: int, tolerance: float
    ) -> None:
        """There are no quicker steps than EM's."""

    def climb_from(
        self, start: Point, problem: Problem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from a point, in compiled steps where there are such."""
        if steps_are_compiled(problem):
            return compiled_latent_tap(start, problem, max_iterations, tolerance)
        return climbed(self, start, problem, max_iterations, tolerance)

    def log_prior(self, point: Point, problem: Problem) -> float:
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
        if "sd_delta" in point:
            total += log_half_t(float(point["sd_delta"][0]), problem.priors["sd_delta"])
            total += np.log(point["sd_delta"][0])
        if "eta" in point:
            total += log_normal(point["eta"], *problem.priors["eta"]).sum()
        return float(total)

    def maximise(self, point: Point, expected: Expected, problem: Problem) -> Point:
        """Improve all but the sd of accuracies: at the mode of few raters these are all alike."""
        knew, total, guessed = _split(point, expected, problem)
        concentrations = guess_counts(point)
        p = guessed + concentrations
        prevalence = _by_truth(expected, problem) + problem.priors["prevalence"]
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
        sd_alpha, nodes = float(point["sd_alpha"]), _nodes(problem).node
        covariates, priors = problem.own.values, problem.priors
        accuracy = ExpectedAccuracy(knew, total, nodes, covariates, sd_alpha, priors)
        return {**better, **accuracy.improved(point)}

    def posterior_sd(self, point: Point, expected: Expected, problem: Problem) -> Point:
        """Those if the expected ratings were observed, each rater by itself."""
        sd_alpha = float(point["sd_alpha"])
        prevalence = _by_truth(expected, problem) + problem.priors["prevalence"]
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
        if "sd_delta" in point:
            found["sd_delta"] = np.array([0.3])
        if "eta" in point:
            prior = problem.priors["eta"][1] ** -2
            squares = (problem.own.values**2).sum(axis=0)
            found["eta"] = (squares / sd_alpha**2 + prior) ** -0.5
        return found

    # Where chains start.

    def start_at(self, found: Climb, problem: Problem, adaptation: Adaptation) -> WarmStart:
        """Around a mode, with accuracies and guesses relative to what ratings say of them there."""
        point = found.point
        _, state = problem.mixture.posterior(*state_log_probabilities(self, point, problem))
        own = rater_likelihoods(
            problem, state, _log_odds(point, problem), point["alpha"], np.log(point["p"])
        )
        start = start_around(self, found, problem, adaptation)
        centring = knowledge_centring(own, point, start.sd, problem.priors)
        start = centred(start, point, centring, problem)
        return replace(start, sd={name: np.ones_like(x) for name, x in start.mode.items()})

    # Results.

    def more_quantities(
        self, point: Point, problem: Problem
    ) -> Mapping[str, tuple[tuple[str, ...], Array]]:
        """Probability that a rater knows the true category of an item of average difficulty."""
        return {"a": (("rater",), expit(_accuracy(point, problem)))}

    def new_rater(
        self, posterior: Posterior[Any], covariates: Array, rng: np.random.Generator
    ) -> tuple[CategoricalProblem, Point]:
        """One with a normal accuracy in log odds, and guesses from the Dirichlet distribution."""
        point = posterior.arrays()
        mean, sd = point["mean_alpha"], point["sd_alpha"]
        counts = 1 + point["concentration"][..., None] * point["mean_p"]
        p = rng.standard_gamma(counts)
        drawn = {
            "alpha": (mean + sd * rng.standard_normal(mean.shape))[..., None],
            "p": (p / p.sum(axis=-1, keepdims=True))[..., None, :],
        }
        return replace(posterior.problem, own=RaterCovariates(covariates[None])), drawn


def guess_counts(point: Point) -> Array:
    """Parameters (K,) of the Dirichlet distribution of guesses."""
    return np.asarray(1 + point["concentration"] * point["mean_p"])


def _nodes(problem: Problem) -> Nodes:
    """Nodes of the difficulty: one if items do not differ."""
    assert problem.nodes is not None
    return problem.nodes


def _accuracy(point: Point, problem: Problem) -> Array:
    """Log odds (..., R) that a rater knows the true category of an average item."""
    alpha = point["alpha"]
    if "eta" in point:
        alpha = alpha + point["eta"] @ problem.own.values.T
    return alpha


def _difficulty(point: Point, problem: Problem) -> Array:
    """Difficulty (..., Q) at the nodes, in log odds."""
    node = _nodes(problem).node
    return point["sd_delta"] * node if "sd_delta" in point else node


def _log_odds(point: Point, problem: Problem) -> Array:
    """Log odds (Q, R) of knowing the true category, by node."""
    return np.asarray(_accuracy(point, problem) - _difficulty(point, problem)[:, None])


def _by_truth(expected: Expected, problem: Problem) -> Array:
    """Expected items (K,) by true category."""
    return np.asarray(expected.items.reshape(_nodes(problem).number, -1).sum(axis=0))


def _split(point: Point, expected: Expected, problem: Problem) -> tuple[Array, Array, Array]:
    """Expected ratings: known (Q, R), all (Q, R), and guessed (R, K)."""
    n_categories = problem.n_categories
    shape = _nodes(problem).number, n_categories, n_categories, problem.n_raters
    ratings = expected.ratings.reshape(shape)
    known = expit(_log_odds(point, problem))
    right = ratings.diagonal(axis1=1, axis2=2)  # (Q, R, K)
    lucky = (1 - known)[..., None] * point["p"]
    knew = right * known[..., None] / (known[..., None] + lucky)
    guessed = ratings.sum(axis=(0, 1)).T - knew.sum(axis=0)
    return knew.sum(axis=2), ratings.sum(axis=(1, 2)), guessed
