"""Ratings in ordered categories, two or more, that come from a latent score with cut points."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from typing_extensions import TypeVar

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.families.categories.modes import FULL_CLIMB
from reliabayes.families.cut_points import require_ordered
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.inference import correlation
from reliabayes.inference.densities import log_half_t, log_normal
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.inference.widening import WIDENING
from reliabayes.likelihoods.laplace import AtMode
from reliabayes.likelihoods.ordinal import RESIDUAL, CategoryProbabilities, Link, Observed
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.bases.core_centring import ADDED, SDS, ScoresOfCore
from reliabayes.models.bases.hidden_state import CategoricalProblem, HiddenStateModel
from reliabayes.models.bases.integration import enough_nodes, quadrature_error
from reliabayes.models.bases.level_centring import LevelCentring, reference_cuts
from reliabayes.models.bases.likelihood_model import LikelihoodModel
from reliabayes.models.bases.rater_tables import rater_tables
from reliabayes.models.bases.score_numbers import Numbers, scored_ratings
from reliabayes.models.bases.score_problem import ScoreProblem
from reliabayes.models.bases.score_units import in_better_units
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal, own_priors
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior, with_ids
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.results.summaries import describe, describe_in_blocks

ICC_OBSERVED = ("icc_observed", "labeler_icc_observed")
WEAK_PRECISION = 1 / 25  # of levels, where only their own ratings count


P = TypeVar("P", bound=ScoreProblem, default=Any)


@dataclass(frozen=True, kw_only=True)
class LatentScoreModel(HiddenStateModel[P], LikelihoodModel[P]):
    """A model of a latent score: item effect plus rater effect plus residual, cut into categories.

    A subclass defines which effects items have and how EM finds the mode (`run_em`). Parameters
    that pools have of their own have a dimension for them, last.
    """

    link: Link = "logit"
    nodes: int | None = None
    prior_sd_item: HalfNormal | HalfStudentT = HalfNormal(4.0)
    prior_sd_rater: HalfNormal | HalfStudentT = HalfStudentT(3, 1.0)

    binary: ClassVar[bool]  # whether it is for two categories only
    adapts_metric_up_to: ClassVar[int] = 0  # levels and means are sampled nearly standard

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.link not in RESIDUAL:
            raise ValueError(f"link must be 'logit' or 'probit', not {self.link!r}.")
        if self.nodes is not None and self.nodes < 3:
            raise ValueError(f"nodes must be 3 or more, not {self.nodes}.")

    # Definition.

    @property
    @abstractmethod
    def cut_prior(self) -> Normal:
        """Prior of each cut point, before they are ordered."""

    @abstractmethod
    def location_quantities(
        self, cut: Array, proportion: Array, dims: tuple[str, ...]
    ) -> dict[str, Any]:
        """Reported quantities of cut points (*dims, K - 1) and proportions (*dims, K)."""

    @abstractmethod
    def states(self, problem: P) -> tuple[Array, Array]:
        """Standard scores (H, ...) of an item in each state, and the states' probabilities."""

    @abstractmethod
    def item_effects(self, point: Point, score: Array) -> Array:
        """Effects (n, ...) of items with standard scores (n, ...)."""

    @abstractmethod
    def drawn_effects(
        self, point: Point, items: slice, posterior: Posterior[P], rng: np.random.Generator
    ) -> Array:
        """Effects (d, ...) of some distinct items, drawn given their ratings and a point."""

    @abstractmethod
    def expected_effects(self, point: Point, items: slice, problem: P) -> Array:
        """Effects (d, ...) of some distinct items, expected given their ratings and a point."""

    @abstractmethod
    def by_rater(self, value: Array, problem: P) -> Array:
        """Parameters of the pools for each rater: (..., R), or (..., 1) for one population."""

    @abstractmethod
    def of_pools(self, point: dict[str, Array]) -> Point:
        """A point, of one with the parameters of each pool (G, ...) and their correlation."""

    @abstractmethod
    def item_index(self, ratings: Ratings) -> pd.Index[Any]:
        """Labels of the effects of the items, those of an item side by side."""

    @abstractmethod
    def refined(self, nodes: Nodes) -> Nodes:
        """Closer nodes that reach farther."""

    def score_problem(self, ratings: Ratings) -> CategoricalProblem:
        """What these problems have in common with others."""
        require_ordered(ratings, type(self).__name__, binary=self.binary)
        base = self.categorical_problem(ratings)
        cuts = {"below": base.coords["category"][:-1], "between": base.coords["category"][1:-1]}
        return replace(base, coords={**base.coords, **cuts})

    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors by parameter."""
        return own_priors(self)

    def declared(self, problem: P) -> tuple[Parameter, ...]:
        """The parameters of the program."""
        return self.parameters()

    # The model at a point.

    def cut(self, point: Point) -> Array:
        """Cut points (..., K - 1) between the categories; two categories have no steps."""
        step = point.get("step", np.empty((*np.shape(point["mean"]), 0)))
        first = np.zeros((*np.shape(point["mean"]), 1))
        from_first = np.concatenate([first, np.cumsum(step, axis=-1)], axis=-1)
        return np.asarray(from_first - point["mean"][..., None])

    def effects(self, point: Point, problem: P) -> Array:
        """Effects (..., R) of the raters."""
        return np.asarray(point["level"] - self.by_rater(point["mean"], problem))

    def table(self, point: Point, problem: P) -> Array:
        """Log-probabilities of a rating, by state, by category and rater."""
        probability = self.probabilities(point, problem).probability
        return np.asarray(np.log(probability).transpose(0, 2, 1).reshape(len(probability), -1))

    def log_weight(self, point: Point, problem: P) -> Array:
        """Log-probabilities (H,) of the states."""
        return np.asarray(np.log(self.states(problem)[1]))

    def probabilities(self, point: Point, problem: P) -> CategoryProbabilities:
        """Probabilities of the categories by state and rater, (H, R, K)."""
        item = self.by_rater(self.item_effects(point, self.states(problem)[0]), problem)
        cut = self.by_rater(self.cut(point).T, problem).T
        return CategoryProbabilities.of(item + self.effects(point, problem), cut, self.link)

    # Maximum likelihood.

    def search(self, problem: P, criterion: Criterion) -> Search:
        """Lower root of the covariance of items, sds of raters, means, and roots of steps."""
        ratings, own = scored_ratings(problem), Numbers.of(problem)
        last = [np.zeros(problem.n_raters)]  # effects that the next search for their mode starts at

        def at_mode(at: Mapping[str, Array]) -> AtMode:
            found = ratings.at_mode(at["root"], at["sd_rater"], self.cut(at), last[0])
            last[0] = found.effect
            return found

        def log_density(x: Array) -> float:
            at = own.read(x)
            found = at_mode(at).log_likelihood
            return found + (self._log_prior(at, problem) if criterion == "posterior" else 0.0)

        def point(x: Array) -> Point:
            at = own.read(x)
            sd_item, factor = correlation.parts(at["root"])
            mean, sd_rater = (at[name][problem.pool] for name in ("mean", "sd_rater"))
            found = {"level": mean + sd_rater * at_mode(at).effect, "factor_item": factor}
            return self.of_pools({**at, **found, "sd_item": sd_item})

        start = own.of_point(self.run_em(problem, None, *FULL_CLIMB).point)
        return Search(log_density, start, own.may_be_zero, point)

    def _log_prior(self, at: Mapping[str, Array], problem: P) -> float:
        """Log density of the priors of all but effects, on Stan's unconstrained scale."""
        sd_item, factor = correlation.parts(at["root"])
        total = log_normal(self.cut(at), self.cut_prior.mean, self.cut_prior.sd).sum()
        total += np.log(at["step"]).sum()
        for name, sd in (("sd_item", sd_item), ("sd_rater", at["sd_rater"])):
            total += (log_half_t(sd, problem.priors[name]) + np.log(sd)).sum()
        if "lkj" in problem.priors:
            free, shape = correlation.free(factor), float(problem.priors["lkj"])
            total += correlation.log_lkj(free, len(factor), shape)
        return float(total)

    # Starting points.

    def start_at(self, found: Climb, problem: P) -> WarmStart:
        """Starting points around a mode, with levels relative to what raters' own ratings say."""
        start = super().start_at(found, problem)
        centring = self.centring_at(found.point, problem)
        if problem.nodes.number and not self.nodes:
            at = found.point, start.sd["sd_item"], problem, self.log_likelihood
            centring = replace(centring, node=enough_nodes(*at).node)
        levels = centring.unconstrain(start.point, problem.pool)
        return replace(
            start,
            mode={**start.mode, **levels},
            constrain=partial(self.constrain_levels, problem=problem, centring=centring),
            centring=centring,
        )

    def starts(self, problem: P) -> tuple[WarmStart, ...]:
        """The start, in better units where these are worth their time."""
        start = self.start(problem)
        return (in_better_units(self, self.settled(problem, start.centring), start),)

    def settled(self, problem: P, centring: StanPart | None) -> P:
        """The problem with the nodes that suffice around the mode."""
        if not isinstance(centring, LevelCentring) or not centring.node.size:
            return problem
        return replace(problem, nodes=Nodes.at(centring.node))

    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        start = super().cold_start(problem, centring)
        assert isinstance(centring, LevelCentring)
        constrain = partial(self.constrain_levels, problem=problem, centring=centring)
        return replace(start, constrain=constrain, centring=centring)

    def constrain_levels(
        self, free: Mapping[str, Any], problem: P, centring: LevelCentring
    ) -> dict[str, Any]:
        """Parameters as the program declares them, which scales means and then levels."""
        return centring.constrain(self.constrain(free), free, problem.pool)

    def constrain_sampled(self, free: Mapping[str, Any], centring: ScoresOfCore) -> dict[str, Any]:
        """Parameters of what the program samples."""
        return centring.restored(free)

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it: scores in place of parameters and levels."""
        return centring.for_program(point) if isinstance(centring, ScoresOfCore) else point

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with parameters only."""
        if not isinstance(centring, ScoresOfCore):
            return run
        own = {name: drawn for name, drawn in run.parameters.items() if name not in ADDED}
        return replace(run, parameters=own)

    def centring_at(self, point: Point, problem: P) -> LevelCentring:
        """Each rater's level by their own ratings alone, without shrinkage to the others.

        A rater who always gives the same category would have an infinite level: a weak prior keeps
        it finite.
        """
        information = self.information_at(point, problem)
        held = information + self.by_rater(point["sd_rater"], problem) ** -2
        own = self.effects(point, problem) * held / (information + WEAK_PRECISION)
        n_items = problem.mixture.multiplicity.sum()
        items = self.by_rater(point["sd_item"], problem) ** 2 / n_items
        mean = self.by_rater(point["mean"], problem)
        reference = middle_cut(problem)
        from_first = reference_cuts(np.reshape(point["step"], (1, -1)), reference)
        variance = 1 / (information + WEAK_PRECISION) + items
        return LevelCentring(
            mean + own - from_first,
            variance,
            reference=reference,
            known_sd_item=np.reshape(point["sd_item"], -1),
            widening=WIDENING[self.link],
        )

    def information_at(self, point: Point, problem: P) -> Array:
        """Information (R,) of the ratings on the level of each rater, given the items."""
        return self.information(point, self.expected_at(point, problem).ratings, problem)

    def information(self, point: Point, expected_ratings: Array, problem: P) -> Array:
        """Information (R,) of expected ratings (H, V) on the level of each rater."""
        ratings = by_state(expected_ratings, problem).sum(axis=2)
        per_rating = self.probabilities(point, problem).information
        return np.asarray((ratings * per_rating).sum(axis=0) + 1e-3)

    # Results.

    def quantities(self, posterior: Posterior[P]) -> xr.Dataset:
        """ICCs on both scales beside the parameters, draw by draw."""
        draws, point = posterior.draws, posterior.arrays()
        observed = Observed.of(point["sd_item"], point["sd_rater"], self.cut(point), self.link)
        dims = tuple(map(str, draws["sd_item"].dims))
        found = {
            **self.iccs(posterior, observed),
            **{name: draws[name] for name in SDS},
            **self.location_quantities(self.cut(point), observed.proportion, dims),
            **self.fit_quantities(posterior),
        }
        reported = xr.Dataset(found)[[name for name in self.reports if name in found]]
        return with_ids(reported, posterior.problem)

    def iccs(self, posterior: Posterior[P], observed: Observed) -> dict[str, Any]:
        """ICCs of the latent score, and of the ratings as numbers of their categories."""
        item, rater = (posterior.draws[name] for name in SDS)
        residual = xr.DataArray(math.sqrt(RESIDUAL[self.link]))
        return {
            "icc": quantities.icc(item, rater, residual),
            "icc_consistency": quantities.icc_consistency(item, residual),
            "labeler_icc": quantities.labeler_icc(item, rater, residual),
            "icc_observed": (item.dims, observed.icc),
            "labeler_icc_observed": (item.dims, observed.labeler_icc),
        }

    def fit_quantities(self, posterior: Posterior[P]) -> dict[str, Any]:
        """Log-likelihood of the ratings, with effects of items marginalised."""
        log_likelihood = self.log_likelihoods(posterior)
        bits = quantities.bits_per_rating(log_likelihood, len(posterior.ratings))
        return {"log_likelihood": log_likelihood, "bits_per_rating": bits}

    def items(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items on the latent scale: mean, sd, median and interval."""
        mixture, index = posterior.problem.mixture, self.item_index(posterior.ratings_in_memory)
        drawn, each = list(posterior.points()), len(index) // posterior.ratings.n_items
        block = IN_MEMORY // (len(drawn) * each)

        def effects(items: slice) -> Array:
            if prob is None:
                found = [self.expected_effects(point, items, posterior.problem) for point in drawn]
            else:
                found = [self.drawn_effects(point, items, posterior, rng) for point in drawn]
            return np.array([each.ravel() for each in found])

        rows = mixture.distinct[:, None] * each + np.arange(each)
        table = describe_in_blocks(effects, len(mixture.multiplicity), block, prob)
        return table.iloc[rows.ravel()].set_axis(index)

    def raters(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters on the latent scale: mean, sd, median and interval."""
        point = {name: posterior.draws[name].values for name in ("mean", "level")}
        effects = self.effects(point, posterior.problem).reshape(posterior.n_draws, -1)
        return pd.DataFrame(describe(effects, prob), index=posterior.ratings.raters.rename("rater"))

    def new_rater(
        self, posterior: Posterior[P], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Effect of one who is drawn from their population, or of one of each pool."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def rating_probabilities(self, posterior: Posterior[P]) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw; None where scores are sampled."""
        return rater_tables(self, posterior) if posterior.problem.nodes.number else None

    def integration_error(self, posterior: Posterior[P]) -> tuple[int, float]:
        """Number of nodes, and the error of the log-likelihood in nats."""
        return quadrature_error(posterior, "sd_item", self.log_likelihood, self.refined)


def by_state(expected_ratings: Array, problem: CategoricalProblem) -> Array:
    """Expected ratings (H, V) as (H, R, K): by state, rater and category."""
    shape = -1, problem.n_categories, problem.n_raters
    return expected_ratings.reshape(shape).transpose(0, 2, 1)


def middle_cut(problem: CategoricalProblem) -> Codes:
    """Position (1,) of the cut point that divides the ratings most evenly."""
    by_cell = problem.mixture.counts.T @ problem.mixture.multiplicity
    by_category = np.bincount(problem.cells.category, by_cell, problem.n_categories)
    below = by_category.cumsum()[:-1] / by_category.sum()
    return np.array([np.abs(below - 0.5).argmin()], np.int32)
