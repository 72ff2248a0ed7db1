"""Base class of models of sums of normal effects, and results that come from the effects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.sparse_effects import SparseEffects
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

SEED = 2001  # of drawn effects: the same draws always give the same likelihoods
EFFECTS_DRAWN = 400  # draws from which tables of items and raters are computed


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectsProblem(Problem):
    """Ratings with the effects that their design has.

    Attributes
    ----------
    effects : Effects
        Sources of variance, and the level of each that a rating has.
    values : array of float, shape (N,)
        The ratings.
    squares : MeanSquares or None
        What the posterior depends on if the design is complete and balanced.
    """

    effects: Effects
    values: Array
    squares: MeanSquares | None

    @cached_property
    def sums(self) -> SparseEffects:
        """Sums by effect, relative to the prior mean."""
        return SparseEffects.of(self.effects, self.values, float(self.priors["mean"][0]))

    @cached_property
    def marginal(self) -> MarginalEffects | InterpolatedEffects:
        """The likelihood of ratings of any design, interpolated if they are very many."""
        sums = EffectSums.of(self.effects, self.values)
        exact = MarginalEffects.of(sums, *self.priors["mean"])
        return InterpolatedEffects.of(exact, sums) or exact

    def log_density(self, variance: Array) -> float:
        """Log density of the ratings at variances (K,) of the sources."""
        if self.squares:
            return self.squares.log_density(variance, *self.priors["mean"])
        return float(self.marginal.at(variance).log_density)

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects of each source and the mean, drawn given the ratings."""
        mean, sd = self.priors["mean"]
        if self.squares:
            return self.squares.draw(self.effects, self.values, variance, mean, sd, rng)
        return self.sums.draw(variance, sd, rng)

    def stan_data(self) -> StanData:
        """Mean squares or sums by effect, and priors."""
        own = (self.squares or self.sums).stan_data()
        return super().stan_data() | own | StanData({"K": self.size("source")})


@dataclass(frozen=True, kw_only=True)
class RandomEffectsModel(RatingModel[EffectsProblem]):
    """A model of ratings that are sums of a mean, normal effects by source, and residuals.

    A subclass has the design, and draws parameters from their priors (`point`).
    """

    continuous: ClassVar[bool] = True
    has_facets: ClassVar[bool] = True

    design: str = "item x rater"
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

    # Results.

    def effects_of_levels(
        self,
        posterior: Posterior[EffectsProblem],
        facet: str,
        prob: float,
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
        nested = effects.design.nested
        known = [source.facets for source in effects.sources[:-1]]
        whole = nested.get(facet, frozenset()) | {facet}
        if whole not in known:
            raise ValueError(
                f"{facet!r} must be a facet of {self.design!r} whose effects were not dropped."
            )
        level, size = effects.cells[whole]
        (first,) = np.unique(level, return_index=True)[1:]
        within = [k for k, facets in enumerate(known) if facets <= whole]
        at = [effects.level[k][first] for k in within]
        drawn = np.array(
            [
                sum(found[k][level] for k, level in zip(within, at, strict=True))
                for _, (found, _) in self._drawn(posterior.thinned(EFFECTS_DRAWN), rng)
            ]
        )
        names = [name for name in effects.design.facets if name in whole]
        ids = []
        for name in names:
            codes, labels = posterior.ratings.positions(name)
            ids.append(labels[codes[first]])
        index = (
            pd.Index(ids[0], name=facet)
            if len(ids) == 1
            else pd.MultiIndex.from_arrays(ids, names=names)
        )
        assert len(index) == size
        return pd.DataFrame(describe(drawn, prob), index=index)

    def items(
        self, posterior: Posterior[EffectsProblem], prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items, in units of the rating: mean, sd, median and interval."""
        return self.effects_of_levels(posterior, "item", prob, rng)

    def raters(
        self, posterior: Posterior[EffectsProblem], prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters, in units of the rating: mean, sd, median and interval."""
        return self.effects_of_levels(posterior, "rater", prob, rng)

    def pointwise(self, posterior: Posterior[EffectsProblem]) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given the effects of others."""
        problem, ratings = posterior.problem, posterior.ratings
        blocks = ItemBlocks.of(problem.effects, ratings.item)
        rng = np.random.default_rng(SEED)
        found = [
            blocks.log_density(ratings.values - self._others(posterior, blocks, x), variance)
            for variance, x in self._drawn(posterior, rng)
        ]
        return np.array(found), np.arange(ratings.n_items, dtype=np.int32)

    def replicates(
        self, posterior: Posterior[EffectsProblem], rng: np.random.Generator
    ) -> Iterator[Array]:
        """Ratings (N,) of new items under the same other levels at each draw."""
        effects = posterior.problem.effects
        blocks = ItemBlocks.of(effects, posterior.ratings.item)
        for variance, x in self._drawn(posterior, rng):
            fresh = _fresh(effects, blocks.own, variance, rng)
            yield self._others(posterior, blocks, x) + fresh

    def _drawn(
        self, posterior: Posterior[EffectsProblem], rng: np.random.Generator
    ) -> Iterator[tuple[Array, tuple[list[Array], float]]]:
        """Variances (K,), and effects by source and mean given them and the ratings, by draw."""
        for sd in posterior.stacked()["sd"]:
            yield sd**2, posterior.problem.draw(sd**2, rng)

    def _others(
        self,
        posterior: Posterior[EffectsProblem],
        blocks: ItemBlocks,
        drawn: tuple[list[Array], float],
    ) -> Array:
        """What the mean and effects that are not an item's own add up to (N,)."""
        effects, mean = drawn
        total = np.full(len(posterior.ratings), mean)
        for k, level in enumerate(posterior.problem.effects.level):
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
