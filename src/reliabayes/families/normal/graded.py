"""Normal effects of all facets of a design, on a latent score that is cut into categories."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import Effects, Source
from reliabayes.families.category_checks import check_categories
from reliabayes.families.cut_points import require_ordered
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal import graded_mode, levels
from reliabayes.families.normal.family import Wanted
from reliabayes.families.normal.graded_problem import GradedProblem
from reliabayes.families.normal.levels import DrawnEffects, EffectsAndMean
from reliabayes.families.normal.study import Study, source_index
from reliabayes.families.simulation import drawn_categories, rated
from reliabayes.inference.densities import half_t, log_normal
from reliabayes.inference.effect_centring import EffectCentring
from reliabayes.inference.em import Point
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.graded_items import GradedItems
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.ordinal import RESIDUAL, CategoryProbabilities, Observed
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal, SdPrior
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

SD_OF_CUTS, SD_OF_ONE_CUT = 5.0, 2.5  # as of OrdinalICC and LogitICC
DRAWS = 500  # whose effects are computed together

Draws = Posterior[GradedProblem]


@dataclass(frozen=True)
class Graded:
    """The family of `GStudy` for two or more ordered categories.

    Attributes
    ----------
    study : Study
        Design and priors.
    is_binary : bool
        Whether it is for two categories.
    """

    reports: ClassVar[tuple[str, ...]] = (
        *levels.RELIABILITY[:2],
        "phi_observed",
        *levels.RELIABILITY[2:],
        *levels.OF_SOURCES,
        *("mean", "cut", "rate"),
    )
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "sd": ("source",),
        "spread": ("estimated",),
        "step": ("between",),
        "cut": ("below",),
    }
    declared: ClassVar[tuple[Parameter, ...]] = (
        Parameter("cut", "real", ("below",)),
        Parameter("sd", "positive", ("estimated",)),
    )

    study: Study
    is_binary: bool

    # From ratings to draws.

    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings: of cut points, and of the sd of each source."""
        if isinstance(ratings, RatingsDataset):
            self.problem_of_parts(ratings)
        return self._priors(self.study.effects(ratings))

    def _priors(self, effects: Effects) -> dict[str, Any]:
        of_sds = {source.name: self._prior_of_sd(source) for source in effects.sources[:-1]}
        return {"mean": self._prior_of_cuts, "sd": of_sds}

    @property
    def _prior_of_cuts(self) -> Normal:
        sd = SD_OF_ONE_CUT if self.is_binary else SD_OF_CUTS
        return self.study.prior_mean or Normal(0.0, sd)

    def _prior_of_sd(self, source: Source) -> SdPrior:
        of_object = source.facets <= self.study.design.measured
        default = HalfNormal(4.0) if of_object else HalfStudentT(3, 1.0)
        return self.study.prior_of(source) or default

    def problem(self, ratings: Ratings) -> GradedProblem:
        """Effects, categories and priors."""
        check_categories(ratings)
        require_ordered(ratings, 'GStudy with family="ordinal"', binary=False)
        categories = ratings.categories
        if self.is_binary and len(categories) > 2:
            rule, remedy = 'family="logit" is for two categories', 'Pass family="ordinal".'
            raise RatingsError([Fault("rating", rule, f"{len(categories)}", remedy)])
        effects = self.study.effects(ratings)
        if len(effects.sources) == 1:
            rule, found = "a source besides the residual must be estimated", "none"
            raise RatingsError([Fault("design", rule, found, "Drop fewer sources.")])
        priors = self._priors(effects)
        mean, sd = priors["mean"].stan
        return GradedProblem(
            coords={
                "item": ratings.items,
                "rater": ratings.raters,
                "source": source_index(effects),
                "estimated": pd.Index(effects.names[:-1], name="estimated"),
                "category": categories,
                "below": categories[:-1],
                "between": categories[1:-1],
            },
            priors={
                "cut": np.array([-mean, sd]),
                "sd": np.array([prior.stan for prior in priors["sd"].values()]),
            },
            effects=effects,
            rating=ratings.category,
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> NoReturn:
        """Refuse ratings in parts: the effects of all items are sampled."""
        family = "logit" if self.is_binary else "ordinal"
        rule = f"all ratings must be in memory for family={family!r}, which samples all effects"
        remedy = (
            "Fit a random sample of the items: part = dataset.parts[0].read(), then "
            "part.subset(items=part.items[:500]). Or take grades for numbers, whose effects are "
            'integrated out: partition with scale="numeric", and leave family out.'
        )
        found = f"{len(dataset):,} ratings in parts"
        raise RatingsError([Fault("ratings", rule, found, remedy)])

    def program(self, problem: GradedProblem) -> str:
        """One for all numbers of categories: two have one cut point."""
        return "gstudy_graded"

    def start(self, problem: GradedProblem) -> WarmStart:
        """Mode of effects and cut points, at standard deviations that fit them."""
        return graded_mode.warm_start(problem)

    def cold_start(self, problem: GradedProblem) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        return graded_mode.cold_start(problem)

    def search(self, problem: GradedProblem, criterion: Criterion) -> Search:
        """Standard deviations of the sources, the first cut point, and roots of steps."""
        size = len(problem.effects.sizes)
        first = graded_mode.first_cuts(problem)
        last = [np.zeros(len(problem.source))]  # where the next search for the mode starts

        def point(x: Array) -> dict[str, Array]:
            step = np.append(0.0, np.square(x[size + 1 :]).cumsum())
            return {"cut": x[size] + step, "sd": np.abs(x[:size])}

        def log_density(x: Array) -> float:
            at = point(x)
            found = problem.at_mode(at["cut"], at["sd"], last[0])
            last[0] = found.effect
            if criterion != "posterior":
                return float(found.log_likelihood)
            mean, sd = problem.priors["cut"]
            prior = log_normal(at["cut"], mean, sd).sum() + np.log(np.diff(at["cut"])).sum()
            return float(found.log_likelihood + prior + problem.log_prior(np.log(at["sd"])))

        start = np.concatenate([np.ones(size), first[:1], np.sqrt(np.diff(first))])
        may_be_zero = np.arange(len(start)) != size
        return Search(log_density, start, may_be_zero, point)

    def log_likelihood(self, point: Point, problem: GradedProblem) -> float:
        """Log-probability of all ratings, with effects integrated out by Laplace's method."""
        return float(problem.at_mode(point["cut"], point["sd"]).log_likelihood)

    # Results.

    def quantities(self, posterior: Draws) -> xr.Dataset:
        """Reliability of the latent score, and what follows for the ratings themselves."""
        draws = _with_residual(posterior.draws)
        of_scores = Posterior(draws, posterior.ratings, posterior.problem)
        found = levels.reliability(of_scores, self.study.fixed)
        for name in ("variance", "sd"):  # that of the residual is known
            found[name] = found[name].isel(source=slice(-1)).rename(source="estimated")
        single = levels.decision(of_scores, self.study.fixed)
        others = single.absolute - RESIDUAL["logit"]
        cut, dims = draws["cut"], ("chain", "draw")
        observed = Observed.of(np.sqrt(single.universe), np.sqrt(others), cut.values, "logit")
        found["phi_observed"] = (dims, observed.icc)
        if self.is_binary:
            found["mean"] = -cut.isel(below=0, drop=True)
            found["rate"] = (dims, observed.proportion[..., 1])
        else:
            found["cut"] = cut
            found["rate"] = ((*dims, "category"), observed.proportion)
        every = xr.Dataset({name: found[name] for name in self.reports if name in found})
        return every.assign_coords(category=posterior.problem.coords["category"])

    def effects_of_levels(
        self, posterior: Draws, facet: str, prob: float | None, rng: Generator
    ) -> pd.DataFrame:
        """Effects of the levels of a facet on the latent score."""
        drawn = _drawn(posterior.thinned(levels.EFFECTS_DRAWN), rng)
        return levels.effects_of_levels(posterior, facet, drawn, prob)

    def items_by_part(self, *_: object) -> NoReturn:
        """Never: `problem_of_parts` refuses ratings in parts."""
        raise AssertionError("ratings of a fit are in memory")

    def new_rater(self, posterior: Draws, rng: Generator) -> dict[str, Array] | None:
        """Effect of one drawn from their population; None if raters are fixed."""
        return levels.effect_of_new_rater(posterior, self.study.fixed, rng)

    def pointwise(self, posterior: Draws) -> tuple[Array, Codes]:
        """Log-probability (S, I) of the ratings of items by draw, given the effects of others."""
        problem, ratings = posterior.problem, posterior.ratings_in_memory
        effects = problem.effects
        blocks = ItemBlocks.of(effects, ratings.item)
        items = GradedItems.of(effects, blocks, problem.rating)
        found, drawn = [], _sampled(posterior)
        while some := list(islice(drawn, DRAWS)):
            others = np.array(
                [levels.sum_of_others(effects, blocks.own, each[-1]) for each in some]
            )
            cut, variance = (np.array([each[k] for each in some]) for k in (0, 1))
            found.append(items.log_probability(others, np.sqrt(variance), cut))
        return np.concatenate(found), np.arange(ratings.n_items, dtype=np.int32)

    def replicates(self, posterior: Draws, rng: Generator) -> Iterator[Codes]:
        """Categories (N,) of ratings of new items under the same other levels at each draw."""
        effects = posterior.problem.effects
        blocks = ItemBlocks.of(effects, posterior.ratings_in_memory.item)
        for cut, variance, drawn in _sampled(posterior):
            fresh = levels.fresh_effects(effects, blocks.own, np.sqrt(variance), rng)
            yield _rated(levels.sum_of_others(effects, blocks.own, drawn) + fresh, cut, rng)

    # Simulation.

    def drawn_point(self, wanted: Wanted, rng: Generator) -> dict[str, Array]:
        """Cut points and standard deviations: those given, and others drawn from their priors."""
        effects = self.study.effects(self.study.blank(wanted.design))
        return self._point(effects, wanted.given, len(_categories(wanted)), rng)

    def simulate(self, wanted: Wanted, rng: Generator) -> Ratings:
        """Ratings of a design."""
        scale = wanted.design.scale if isinstance(wanted.design, Ratings) else None
        values, blank = _categories(wanted), self.study.blank(wanted.design)
        effects = self.study.effects(blank)
        point = self._point(effects, wanted.given, len(values), rng)
        score = levels.fresh_effects(effects, range(len(effects.level)), point["sd"], rng)
        drawn = values[_rated(score, point["cut"], rng)]
        return rated(blank, drawn, scale=scale, categories=values)

    def _point(
        self, effects: Effects, given: Point, n_categories: int, rng: Generator
    ) -> dict[str, Array]:
        point = dict(given)
        if "sd" not in point:
            priors = [self._prior_of_sd(source) for source in effects.sources[:-1]]
            point["sd"] = np.array([half_t(prior.stan, rng) for prior in priors])
        if "cut" not in point:
            mean, sd = self._prior_of_cuts.stan
            point["cut"] = np.sort(rng.normal(-mean, sd, n_categories - 1))
        return {"cut": point["cut"], "sd": np.broadcast_to(point["sd"], len(effects.level))}


def _drawn(posterior: Draws, rng: Generator) -> DrawnEffects:
    """Variances (K,), and effects by source and a mean of 0, by draw: all were sampled."""
    if isinstance(rng, NoNoise):  # no effects were sampled
        for at in posterior.points():
            mode = posterior.problem.at_mode(at["cut"], at["sd"])
            yield at["sd"] ** 2, (posterior.problem.effects_of(mode, at["sd"]), 0.0)
        return
    for _, variance, drawn in _sampled(posterior):
        yield variance, drawn


def _sampled(posterior: Draws) -> Iterator[tuple[Array, Array, EffectsAndMean]]:
    """Cut points, which have the mean, and what `_drawn` yields, by draw."""
    problem, centring = posterior.problem, posterior.centring
    assert isinstance(centring, EffectCentring)
    drawn = posterior.stacked()
    score = drawn.get("own_score", np.empty((len(drawn["sd"]), 0)))
    own_source = problem.source[problem.n_core :]
    for start in range(0, len(score), DRAWS):
        some = slice(start, start + DRAWS)
        cut, sd, core = (drawn[name][some] for name in ("cut", "sd", "core"))
        others = centring.others(score[some], sd[:, own_source], core)
        for each in zip(cut, sd**2, core, others, strict=True):
            yield *each[:2], (problem.by_source(*each[2:]), 0.0)


def _with_residual(draws: xr.Dataset) -> xr.Dataset:
    """Draws with the sd of the residual, as the program has them, beside those estimated."""
    if "estimated" not in draws["sd"].dims:
        return draws
    residual = xr.full_like(draws["sd"].isel(estimated=[0]), math.sqrt(RESIDUAL["logit"]))
    residual = residual.assign_coords(estimated=["residual"])
    sd = xr.concat([draws["sd"], residual], "estimated").rename(estimated="source")
    return draws.drop_vars(["sd", "estimated"]).assign(sd=sd)


def _categories(wanted: Wanted) -> pd.Index[Any]:
    """Those of ratings, or those given for a table."""
    design = wanted.design
    return design.categories if isinstance(design, Ratings) else pd.Index(list(wanted.categories))


def _rated(score: Array, cut: Array, rng: Generator) -> Codes:
    """Categories (N,) of ratings with latent scores, before the residual."""
    return drawn_categories(CategoryProbabilities.of(score, cut, "logit").probability, rng)
