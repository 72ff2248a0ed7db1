"""Latent scores of one population of raters: effects of items marginalised over nodes, and EM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy
from scipy.special import expit, logit, ndtri

from reliabayes.arrays import Array, Codes
from reliabayes.families.cut_points import sd_of_log_step
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference.densities import half_t, log_half_t, log_normal, slope_half_t
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import extended
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.likelihoods.ordinal import (
    INFORMATION,
    MAX_SPACING,
    RESIDUAL,
    CategoryProbabilities,
    tetrachoric_correlation,
)
from reliabayes.likelihoods.quadrature import MAX_REACH, REACH, Nodes, number_of_nodes
from reliabayes.models.bases.core_centring import SDS, in_core
from reliabayes.models.bases.em_model import EMModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.integration import coarse_nodes
from reliabayes.models.bases.latent_score import (
    LatentScoreModel,
    by_state,
    middle_cut,
)
from reliabayes.models.bases.score_problem import ScoreProblem
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

MIN_SD_RATER = 0.05  # to start from
REACH_BEYOND = 4.5  # of the nodes beyond the farthest mode of an item, in standard deviations
SHRINKAGE_STEPS = 50  # of the fixed point of the sd of raters


@dataclass(frozen=True, kw_only=True)
class OnePopulationModel(LatentScoreModel[ScoreProblem], EMModel[ScoreProblem]):
    """A model of latent scores in which all raters are one population.

    A subclass has the prior of the location, and says how to report it.
    """

    # With few raters the sd of raters is poorly identified, so steps must be small.
    target_acceptance: ClassVar[float] = 0.95
    crowd_acceptance: ClassVar[float] = 0.7

    def program(self, problem: ScoreProblem) -> str:
        """The ordinal program, which includes two categories: they have one cut point."""
        return "ordinal_icc"

    def parameters(self) -> tuple[Parameter, ...]:
        """Sds of items and raters, steps between cut points, location, and raters."""
        return (
            Parameter("sd_item", "positive"),
            Parameter("sd_rater", "positive"),
            Parameter("step", "positive", ("between",)),
            Parameter("mean", "real"),
            Parameter("level", "real", ("rater",)),
        )

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables."""
        return {**super().dims(), "cut": ("below",)}

    # Data.

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (2,) of each prior, in the order of Stan's data."""
        return {
            "cut": self.cut_prior.stan,
            "sd_item": self.prior_sd_item.stan,
            "sd_rater": self.prior_sd_rater.stan,
        }

    def problem(self, ratings: Ratings) -> ScoreProblem:
        """Distinct items by their ratings, priors, and nodes."""
        return self.problem_of(self.score_problem(ratings))

    def problem_of(self, base: CategoricalProblem) -> ScoreProblem:
        """The same, of ratings already reduced to distinct items."""
        reach = self.reach(base)
        nodes = Nodes.of(self.nodes or number_of_nodes(self.spacing(base), reach), reach)
        pool = np.zeros(base.n_raters, np.int32)
        return extended(ScoreProblem, base, link=self.link, nodes=nodes, pool=pool)

    def reach(self, base: CategoricalProblem) -> float:
        """Standard deviations of item effects that the nodes have to cover on either side.

        An item whose ratings differ much from the others' has a mode at z with z / sd = the slope
        of its log-likelihood in its effect x = sd z. So z^2 is x times the slope, which has a
        maximum over all effects, and hence over all sds. Ratings may differ from those of all
        raters, or from the other ratings of the same rater.
        """
        mixture, rater = base.mixture, base.cells.rater
        by_cell = mixture.counts.T @ mixture.multiplicity
        by_rater = np.bincount(rater, by_cell, base.n_raters)[rater]
        slope = 1.0 if self.link == "logit" else np.pi / np.sqrt(3)
        effect, farthest = slope * np.linspace(0, 8, 41), 0.0
        for cut in range(base.n_categories - 1):
            above = base.cells.category > cut
            average = (by_cell @ above + 0.5) / (by_cell.sum() + 1)
            own = np.bincount(rater, by_cell * above, base.n_raters)[rater]
            others = np.maximum(own - above, 0)
            own_average = (others + average) / np.maximum(by_rater, others + 1)
            for expected in (average, own_average):
                centre = np.reshape(logit(expected), (-1, 1))
                for part, location in ((above, centre), (~above, -centre)):
                    left = mixture.counts @ (part[:, None] - expit(effect + location))
                    farthest = max(farthest, float((effect * left).max()))
        return min(max(REACH, float(np.sqrt(farthest)) + REACH_BEYOND), MAX_REACH)

    def spacing(self, base: CategoricalProblem) -> float:
        """Spacing of nodes that resolves the effect of the item with most ratings.

        With m ratings its posterior sd is 1 / sqrt(1 + sd^2 m information) of its prior sd. Items
        may differ far more than they seem to where few of them have a second rating.
        """
        likely = float(self.moment_estimates(base)["sd_item"])
        per_item = base.mixture.counts.sum(axis=1)
        second_ratings = max(float(base.mixture.multiplicity @ (per_item - 1)), 1.0)
        sd = 1.2 * likely + 10 * np.sqrt(RESIDUAL[self.link] / second_ratings)
        most = float(per_item.max())
        narrowest = 1 / np.sqrt(1 + sd**2 * INFORMATION[self.link] * most)
        return float(min(1.1 * narrowest, MAX_SPACING[self.link] / sd))

    def midpoint(self, problem: ScoreProblem) -> Point:
        """A first guess to start EM from, in place of the middle of the ranges."""
        return self.moment_estimates(problem)

    def moment_estimates(self, base: CategoricalProblem) -> dict[str, Array]:
        """Estimates from how often two ratings of an item agree, and two by a rater."""
        mixture, category, rater = base.mixture, base.cells.category, base.cells.rater
        by_cell = np.asarray(mixture.counts.T @ mixture.multiplicity)
        total = by_cell.sum()
        beyond = np.cumsum(np.bincount(category, by_cell, base.n_categories)[::-1])[-2::-1]
        proportion = np.clip(beyond / total, 0.5 / total, 1 - 0.5 / total)
        split = int(np.abs(proportion - 0.5).argmin())

        above = (category > split).astype(float)
        n_by_rater, above_by_rater = (
            np.bincount(rater, by_cell * weight, base.n_raters).astype(float)
            for weight in (1.0, above)
        )
        n_by_item, above_by_item = mixture.counts.sum(axis=1), mixture.counts @ above
        by_rater = (above_by_rater / n_by_rater)[rater]
        one, two = mixture.counts @ by_rater, mixture.counts @ by_rater**2
        by_chance = one**2 - two  # where few raters differ widely, chance agreement is lower
        item = tetrachoric_correlation(
            n_by_item, above_by_item, mixture.multiplicity, proportion[split], by_chance
        )
        severity = tetrachoric_correlation(
            n_by_rater, above_by_rater, np.ones(base.n_raters), proportion[split]
        )
        residual = max(1 - item - severity, 0.05)
        variance = RESIDUAL[self.link] / residual
        cut = -ndtri(proportion) * np.sqrt(variance)
        point: dict[str, Array] = {
            "mean": np.array(-cut[0]),
            "step": np.maximum(np.diff(cut), 0.05),
            "sd_item": np.array(np.sqrt(item * variance)),
            "sd_rater": np.array(np.sqrt(severity * variance)),
        }
        return {**point, "level": np.full(base.n_raters, -cut[0])}

    # Starting points.

    def start_at(self, found: Climb, problem: ScoreProblem) -> WarmStart:
        """Starting points around a mode, in the numbers that the program samples."""
        return in_core(super().start_at(found, problem), problem.pool)

    # The model at a point.

    def states(self, problem: ScoreProblem) -> tuple[Array, Array]:
        """Nodes and their probabilities."""
        return problem.nodes

    def refined(self, nodes: Nodes) -> Nodes:
        """Closer nodes that reach farther."""
        return nodes.refined()

    def by_rater(self, value: Array, problem: ScoreProblem) -> Array:
        """What all raters share (...), with an axis for the raters."""
        return value[..., None]

    def item_effects(self, point: Point, score: Array) -> Array:
        """Effects (n,) of items with standard scores (n,)."""
        return np.asarray(point["sd_item"] * score)

    def expected_effects(self, point: Point, items: slice, problem: ScoreProblem) -> Array:
        """Effects (d,) of some distinct items, expected given their ratings and a point."""
        _, state = problem.mixture.part(items).posterior(*self.columns(point, problem))
        return np.asarray(state @ self.item_effects(point, problem.nodes.node))

    def drawn_effects(
        self,
        point: Point,
        items: slice,
        posterior: Posterior[ScoreProblem],
        rng: np.random.Generator,
    ) -> Array:
        """Effects (d,) of some distinct items, drawn given their ratings and a point."""
        problem = posterior.problem
        _, state = problem.mixture.part(items).posterior(*self.columns(point, problem))
        return self.item_effects(point, problem.nodes.node[drawn_categories(state, rng)])

    def of_pools(self, point: dict[str, Array]) -> Point:
        """The point of the only pool."""
        own = {name: value[0] for name, value in point.items() if name != "level"}
        known = {**own, "level": point["level"]}
        return {parameter.name: known[parameter.name] for parameter in self.parameters()}

    def item_index(self, ratings: Ratings) -> pd.Index[str]:
        """The user's ids."""
        return ratings.items.rename("item")

    def draw_from_prior(
        self, problem: ScoreProblem, rng: np.random.Generator, given: Point
    ) -> Point:
        """Parameters drawn from their priors; effects of raters conditional on those given."""
        prior = self.cut_prior
        cut = np.sort(rng.normal(prior.mean, prior.sd, problem.n_categories - 1))
        point = {"mean": np.array(-cut[0]), "step": np.diff(cut)}
        point |= {name: np.array(half_t(problem.priors[name], rng)) for name in SDS}
        point |= given
        effect = point["sd_rater"] * rng.standard_normal(problem.n_raters)
        return {**point, "level": point["mean"] + effect}

    def replicate(
        self, point: Point, ratings: Ratings, problem: ScoreProblem, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
        item = self.item_effects(point, rng.standard_normal(ratings.n_items))
        location = item[ratings.item] + self.effects(point, problem)[ratings.rater]
        category = CategoryProbabilities.of(location, self.cut(point), self.link)
        return drawn_categories(category.probability, rng)

    # Expectation maximisation.

    def log_prior(self, point: Point, problem: ScoreProblem) -> float:
        """Log density of location, steps and levels given the sd of raters."""
        sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
        return float(
            log_normal(self.cut(point), self.cut_prior.mean, self.cut_prior.sd).sum()
            + log_half_t(sd_item, problem.priors["sd_item"])
            + np.log(sd_item)
            + np.log(point["step"]).sum()
            + log_normal(self.effects(point, problem), 0.0, sd_rater).sum()
        )

    def initial_states(self, problem: ScoreProblem, rng: np.random.Generator | None) -> Array:
        """Probabilities (D, Q) of the nodes at the moment estimates, or random ones."""
        mixture = problem.mixture
        if rng is not None:
            return rng.dirichlet(np.ones(problem.nodes.number), len(mixture.multiplicity))
        return mixture.posterior(*self.columns(self.midpoint(problem), problem))[1]

    def run_em(
        self,
        problem: ScoreProblem,
        rng: np.random.Generator | None,
        max_iterations: int,
        tolerance: float,
    ) -> Climb:
        """EM with the sd of raters held, because at the joint mode all raters are the same.

        Then the raters' levels give the sd.
        """
        coarse = replace(problem, nodes=coarse_nodes(problem.nodes))
        found = super().run_em(coarse, rng, max_iterations, tolerance)
        information = self.information_at(found.point, problem)
        effect, sd = self.effects(found.point, problem), float(found.point["sd_rater"])
        unshrunk = effect * (1 + 1 / (information * sd**2))
        for _ in range(SHRINKAGE_STEPS):
            variance = 1 / (information + sd**-2)
            sd = float(np.sqrt(np.mean((unshrunk * information * variance) ** 2 + variance)))
        sd = max(sd, MIN_SD_RATER)
        point = {**found.point, "sd_rater": np.array(sd)}
        effect = unshrunk * information / (information + sd**-2)
        return found._replace(point={**point, "level": point["mean"] + effect})

    def maximise(self, point: Point, expected: Expected, problem: ScoreProblem) -> Point:
        """A few quasi-Newton steps in all parameters but the sd of raters."""
        ratings = by_state(expected.ratings, problem)
        node, sd_rater = problem.nodes.node, float(point["sd_rater"])
        mean_cut, sd_cut = self.cut_prior.mean, self.cut_prior.sd
        prior_sd_item = problem.priors["sd_item"]
        n_steps = problem.n_categories - 2

        def negative(x: Array) -> tuple[float, Array]:
            (mean, log_sd), level = x[:2], x[2 + n_steps :]
            sd_item, step = np.exp(log_sd), np.exp(x[2 : 2 + n_steps])
            from_first = np.append(0.0, np.cumsum(step))
            location = level + sd_item * node[:, None]
            category = CategoryProbabilities.of(location, from_first, self.link)
            by_location, by_cut = category.slopes(ratings)
            off, deviation = from_first - mean - mean_cut, level - mean
            value = (
                (ratings * np.log(category.probability)).sum()
                - 0.5 * (off @ off) / sd_cut**2
                - 0.5 * (deviation @ deviation) / sd_rater**2
                + log_half_t(sd_item, prior_sd_item)
                + x[1 : 2 + n_steps].sum()
            )
            by_mean = off.sum() / sd_cut**2 + deviation.sum() / sd_rater**2
            by_sd = (by_location * node[:, None]).sum() + slope_half_t(sd_item, prior_sd_item)
            by_cut = by_cut - off / sd_cut**2
            by_step = by_cut[:0:-1].cumsum()[::-1][:n_steps]
            by_level = by_location.sum(axis=0) - deviation / sd_rater**2
            slope = [[by_mean, sd_item * by_sd + 1], step * by_step + 1, by_level]
            return -float(value), -np.concatenate(slope)

        level = point["mean"] + self.effects(point, problem)
        logs = [np.log(point["sd_item"]), *np.log(point["step"])]
        start = np.concatenate([[point["mean"]], logs, level])
        found = scipy.optimize.minimize(
            negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 25}
        ).x
        better: dict[str, Array] = {
            **point,
            "mean": np.asarray(found[0]),
            "sd_item": np.exp(found[1]),
            "step": np.exp(found[2 : 2 + n_steps]),
        }
        return {**better, "level": found[2 + n_steps :]}

    def posterior_sd(self, point: Point, expected: Expected, problem: ScoreProblem) -> Point:
        """Those if the expected ratings were observed; of the sds, from numbers of units."""
        sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
        information = self.information(point, expected.ratings, problem)
        n_items, n_raters = expected.items.sum(), problem.n_raters
        by_category = by_state(expected.ratings, problem).sum(axis=(0, 1))
        # Information of its ratings on an item, relative to the prior.
        reliability = information.sum() / n_items * sd_item**2
        of_raters = (1 + np.mean(1 / information) / sd_rater**2) / np.sqrt(2 * n_raters)
        of_raters += min(of_raters**2, 0.1)  # for its longer tails
        found = {
            "sd_item": np.array(min((1 + 1 / reliability) / np.sqrt(2 * n_items), 1.0)),
            "sd_rater": np.array(min(of_raters, 1.5)),
            "step": sd_of_log_step(point["step"], by_category, int(middle_cut(problem)[0])),
            "mean": np.array(1.0),
            "level": np.ones(n_raters),
        }
        return {parameter.name: found[parameter.name] for parameter in self.parameters()}
