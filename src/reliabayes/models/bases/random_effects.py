"""Base class of models of sums of normal effects, and results that come from the effects."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, Effects, MeasurementDesign
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal.effects_in_parts import EffectsInParts, ids_of, levels_known
from reliabayes.families.normal.effects_problem import NormalEffectsProblem
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart, curvature
from reliabayes.likelihoods.gaussian_conditional import Marginal, above_zero
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.models.bases.likelihood_model import LikelihoodModel
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

SEED = 2001  # of drawn effects: the same draws always give the same likelihoods
EFFECTS_DRAWN = 400  # draws from which tables of items and raters are computed
FEW_RATINGS = 1000  # for which NUTS takes seconds
# Iterations for each draw where densities take less than a millisecond, and densities at once.
QUICK_THINNING, QUICK_BLOCK = 4, 32


@dataclass(frozen=True, kw_only=True)
class RandomEffectsModel(LikelihoodModel[NormalEffectsProblem]):
    """A model of ratings that are sums of a mean, normal effects by source, and residuals.

    A subclass has the design, and draws parameters from their priors (`point`).
    """

    continuous: ClassVar[bool] = True
    has_facets: ClassVar[bool] = True

    design: str = field(default="item x rater", kw_only=False)
    drop: tuple[str, ...] = ()

    @property
    def measurement_design(self) -> MeasurementDesign:
        """The design, read."""
        return MeasurementDesign.parse(self.design)

    def effects(self, ratings: Ratings) -> Effects:
        """Sources of variance that ratings have."""
        return Effects.of(ratings, self.measurement_design, self.drop)

    @abstractmethod
    def point(
        self, effects: Effects, given: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Array]:
        """Mean, and sd (K,) of the sources: those given, and others drawn from their priors."""

    # From ratings to draws.

    def program(self, problem: NormalEffectsProblem) -> str:
        """The program for complete, balanced designs, or that for all."""
        return "gstudy" if problem.squares else "gstudy_unbalanced"

    def starts(self, problem: NormalEffectsProblem) -> tuple[WarmStart, ...]:
        """The start at the one mode."""
        return (self.start(problem),)

    def start(self, problem: NormalEffectsProblem) -> WarmStart:
        """Mode of the posterior of the log standard deviations, and its curvature."""

        def log_posterior(log_sd: Array) -> float:
            return problem.log_density(np.exp(2 * log_sd)) + float(problem.log_prior(log_sd))

        first = self._equal_parts(problem)
        if not problem.squares and isinstance(problem.marginal, InterpolatedEffects):
            first = 0.5 * np.log(problem.marginal.box.variance)
        mode, covariance = curvature(log_posterior, first)
        sd = np.sqrt(np.diag(covariance))
        # With little data the posterior is far from normal: curvature is a poor guide to it, and
        # steps must be smaller.
        step_size, acceptance = (0.8, 0.8) if sd.max() < 0.3 else (None, 0.95)
        return WarmStart(
            mode={"sd": mode},
            sd={"sd": sd},
            constrain=_constrain,
            step_size=step_size,
            covariance=covariance,
            target_acceptance=acceptance,
            path=(log_posterior(first), log_posterior(mode)),
        )

    def near_normal(self, problem: NormalEffectsProblem, mode: WarmStart) -> NearNormal | None:
        """Independence sampling of the log standard deviations where cells are empty.

        Where few ratings say little of some of them, the posterior is far from normal.
        """
        if problem.squares or mode.covariance is None:
            return None

        def evaluate(log_sd: Array) -> tuple[Array, Array]:
            found = problem.marginal.at_many(np.exp(2 * log_sd))
            log_density = found.log_density + problem.log_prior(log_sd)
            return log_density, np.stack(found[1:], axis=1)

        def finish(log_sd: Array, mean: Array, rng: np.random.Generator) -> dict[str, Array]:
            drawn = mean[..., 0] + mean[..., 1] * rng.standard_normal(mean.shape[:2])
            return {"sd": np.exp(log_sd), "mean": drawn}

        in_parts = isinstance(problem, EffectsInParts)
        few = mode.step_size is None and problem.n_ratings < FEW_RATINGS
        is_quick = problem.marginal.is_quick
        return NearNormal(
            evaluate,
            finish,
            mode.mode["sd"],
            mode.covariance,
            prefers_nuts=few and not in_parts,
            is_only=in_parts,
            thinning=QUICK_THINNING if is_quick else 1,
            block=QUICK_BLOCK if is_quick else 1,
        )

    def cold_start(self, problem: NormalEffectsProblem, centring: StanPart | None) -> WarmStart:
        """Standard deviations within a factor e of equal parts of the variance."""
        parts = self._equal_parts(problem)
        return WarmStart(
            mode={"sd": parts},
            sd={"sd": np.full_like(parts, 0.5)},
            constrain=_constrain,
            target_acceptance=0.95,
        )

    def _equal_parts(self, problem: NormalEffectsProblem) -> Array:
        """Log sds (K,) at which all sources have the same part of the variance."""
        size = problem.size("source")
        return np.full(size, math.log(problem.sd / math.sqrt(size)))

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return {"sd": ("source",)}

    def declared(self, problem: NormalEffectsProblem) -> tuple[Parameter, ...]:
        """The mean, and the standard deviation of each source."""
        return Parameter("mean", "real"), Parameter("sd", "positive", ("source",))

    def log_likelihood(self, point: Mapping[str, Any], problem: NormalEffectsProblem) -> float:
        """Log density of all ratings, with all effects integrated out."""
        found = problem.flat.density(above_zero(point["sd"], problem.sd) ** 2)
        return found.at_mean(point["mean"])

    def search(self, problem: NormalEffectsProblem, criterion: Criterion) -> Search:
        """Standard deviations relative to that of the ratings, the log of the residual's last."""
        within = problem if criterion == "posterior" else problem.flat

        def sds(x: Array) -> Array:
            return problem.sd * np.append(np.abs(x[:-1]), math.exp(x[-1]))

        def marginal(x: Array) -> Marginal:
            return within.density(above_zero(sds(x), problem.sd) ** 2)

        def log_density(x: Array) -> float:
            found = marginal(x)
            if criterion == "posterior":
                log_sd = np.log(above_zero(sds(x), problem.sd))
                return float(found.log_density + problem.log_prior(log_sd))
            return found.criterion(restricted=criterion == "restricted")

        start = np.exp(self._equal_parts(problem)) / problem.sd
        start[-1] = math.log(start[-1])
        may_be_zero = np.arange(len(start)) < len(start) - 1
        return Search(
            log_density, start, may_be_zero, lambda x: {"mean": marginal(x).mean, "sd": sds(x)}
        )

    # Results.

    def effects_of_levels(
        self,
        posterior: Posterior[NormalEffectsProblem],
        facet: str,
        prob: float | None,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Effects of the levels of a facet, with those of the levels that it is nested in.

        Parameters
        ----------
        posterior : Posterior
            Draws with their problem; of more than 400, 400 are used.
        facet : str
            Such as "rater" or "occasion".
        prob : float
            Probability of the intervals, in (0, 1).
        rng : Generator
            Source of the effects, drawn given the standard deviations.

        Returns
        -------
        DataFrame
            A row for each level: mean, sd, median and interval, in units of the rating.

        Raises
        ------
        ValueError
            The design has no such facet, or its effects were dropped.
        """
        effects = posterior.problem.effects
        known = [source.facets for source in effects.sources[:-1]]
        whole = self.check_kept(effects, facet)
        effects = levels_known(posterior, whole, facet)
        level, size = effects.cells[whole]
        (first,) = np.unique(level, return_index=True)[1:]
        within = [k for k, facets in enumerate(known) if facets <= whole]
        at = [effects.cells[known[k]][0][first] for k in within]
        drawn = np.array(
            [
                sum(found[k][level] for k, level in zip(within, at, strict=True))
                for _, (found, _) in self._drawn(posterior.thinned(EFFECTS_DRAWN), rng)
            ]
        )
        names = [name for name in effects.design.facets if name in whole]
        ids = []
        for name in names:
            ids.append(ids_of(posterior.ratings, name)[effects.facets[name][first]])
        index = (
            pd.Index(ids[0], name=facet)
            if len(ids) == 1
            else pd.MultiIndex.from_arrays(ids, names=names)
        )
        assert len(index) == size
        return pd.DataFrame(describe(drawn, prob), index=index)

    def check_kept(self, effects: EffectLevels, facet: str) -> frozenset[str]:
        """A facet with those that it is nested in, if there are effects of its levels."""
        whole = effects.design.nested.get(facet, frozenset()) | {facet}
        if whole not in [source.facets for source in effects.sources[:-1]]:
            raise ValueError(
                f"{facet!r} must be a facet of {self.design!r} whose effects were not dropped."
            )
        return whole

    def items(
        self,
        posterior: Posterior[NormalEffectsProblem],
        prob: float | None,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Effects of the items, in units of the rating: mean, sd, median and interval."""
        return self.effects_of_levels(posterior, "item", prob, rng)

    def raters(
        self,
        posterior: Posterior[NormalEffectsProblem],
        prob: float | None,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Effects of the raters, in units of the rating: mean, sd, median and interval."""
        return self.effects_of_levels(posterior, "rater", prob, rng)

    def pointwise(self, posterior: Posterior[NormalEffectsProblem]) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given the effects of others."""
        ratings = posterior.ratings_in_memory
        blocks = _blocks(posterior)
        rng = np.random.default_rng(SEED)
        found = [
            blocks.log_density(ratings.values - self._others(posterior, blocks, x), variance)
            for variance, x in self._drawn(posterior, rng)
        ]
        return np.array(found), np.arange(ratings.n_items, dtype=np.int32)

    def replicates(
        self, posterior: Posterior[NormalEffectsProblem], rng: np.random.Generator
    ) -> Iterator[Array]:
        """Ratings (N,) of new items under the same other levels at each draw."""
        effects, blocks = _effects(posterior), _blocks(posterior)
        for variance, x in self._drawn(posterior, rng):
            fresh = _fresh(effects, blocks.own, variance, rng)
            yield self._others(posterior, blocks, x) + fresh

    def _drawn(
        self, posterior: Posterior[NormalEffectsProblem], rng: np.random.Generator
    ) -> Iterator[tuple[Array, tuple[list[Array], float]]]:
        """Variances (K,), and effects by source and mean given them and the ratings, by draw."""
        problem, draws = posterior.problem, posterior.stacked()
        if isinstance(rng, NoNoise):  # the mean is known, too
            problem = problem.with_mean(float(draws["mean"][0]))
        for sd in draws["sd"]:
            variance = above_zero(sd, problem.sd) ** 2
            yield variance, problem.draw(variance, rng)

    def _others(
        self,
        posterior: Posterior[NormalEffectsProblem],
        blocks: ItemBlocks,
        drawn: tuple[list[Array], float],
    ) -> Array:
        """What the mean and effects that are not an item's own add up to (N,)."""
        effects, mean = drawn
        total = np.full(len(posterior.ratings), mean)
        for k, level in enumerate(_effects(posterior).level):
            if k not in blocks.own:
                total += effects[k][level]
        return total

    # Simulation.

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Ratings:
        """Ratings drawn from the model.

        Parameters
        ----------
        design : DataFrame or Ratings
            Who rates what under which levels of the facets: a table with the columns item, rater
            and those of the other facets, a row for each rating; or ratings, whose numbers are
            ignored.
        rng : Generator
            Source of all randomness.
        parameters : mapping of str to float or array, optional
            ``mean``, and ``sd`` (K,) of the sources; drawn from their priors if not given.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            The design has faults.
        ValueError
            There is no such parameter, or one is to be drawn whose prior is not set.
        """
        blank = self._blank(design)
        effects = self.effects(blank)
        point = self.point(effects, parameters or {}, rng)
        every = tuple(range(len(effects.level)))
        return replace(blank, rating=point["mean"] + _fresh(effects, every, point["sd"] ** 2, rng))

    def draw_parameters(
        self, design: pd.DataFrame | Ratings, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Parameters drawn from their priors, as `simulate` takes them."""
        return self.point(self.effects(self._blank(design)), {}, rng)

    def _blank(self, design: pd.DataFrame | Ratings) -> Ratings:
        """Ratings of a design, with arbitrary numbers."""
        table = design.to_frame() if isinstance(design, Ratings) else design
        facets = [x for x in self.measurement_design.facets if x not in ("item", "rater")]
        kept = table[["item", "rater", *facets]].assign(rating=np.arange(float(len(table))))
        return Ratings.from_frame(kept, facets=facets, replicates="keep")


def _effects(posterior: Posterior[Any]) -> Effects:
    """Sources of variance, and the level of each that a rating has."""
    effects: Effects = posterior.problem.effects
    return effects


def _blocks(posterior: Posterior[Any]) -> ItemBlocks:
    """Ratings by item, which must be in memory."""
    return ItemBlocks.of(_effects(posterior), posterior.ratings_in_memory.item)


def _fresh(
    effects: Effects, sources: tuple[int, ...], variance: Array, rng: np.random.Generator
) -> Array:
    """New effects of these sources, and residuals, added up by rating (N,)."""
    sd = np.sqrt(variance)
    residual = sd[-1] * rng.standard_normal(effects.n_ratings)
    return np.asarray(residual + fresh_effects(effects, sources, sd, rng))


def fresh_effects(
    effects: Effects, sources: tuple[int, ...], sd: Array, rng: np.random.Generator
) -> Array:
    """New effects of these sources, with sds by source, added up by rating (N,)."""
    total = np.zeros(effects.n_ratings)
    for k in sources:
        total += sd[k] * rng.standard_normal(effects.sizes[k])[effects.level[k]]
    return total


def _constrain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.exp(value).tolist() for name, value in point.items()}
