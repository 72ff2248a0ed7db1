"""G study of ratings in two or more ordered categories: random effects of a latent score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import COEFFICIENTS, Effects, MeasurementDesign, Source
from reliabayes.families.category_checks import check_categories
from reliabayes.families.cut_points import require_ordered
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal import graded_mode
from reliabayes.families.normal.graded_problem import GradedProblem
from reliabayes.families.simulation import drawn_categories, rated, require_known
from reliabayes.inference.densities import half_t, log_normal
from reliabayes.inference.effect_centring import EffectCentring
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.graded_items import GradedItems
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.ordinal import RESIDUAL, CategoryProbabilities, Observed
from reliabayes.models.bases.random_effects import fresh_effects
from reliabayes.models.gstudy import OF_SOURCES, GStudy, SdPrior
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal, check_proper
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

SD_OF_CUTS = {"logit": 2.5, "ordinal": 5.0}  # by family, as of LogitICC and OrdinalICC
DRAWS = 500  # whose effects are computed together


@dataclass(frozen=True, kw_only=True)
class GradedGStudy(GStudy):
    r"""`GStudy` with ``family="logit"`` or ``"ordinal"``: ratings in two or more categories.

    .. math:: \operatorname{logit} \Pr(y > k) = \sum_s u_s - c_k

    with the normal effects of `GStudy` and cut points c. The residual is logistic, of variance
    pi^2 / 3, and all effects are sampled.
    """

    families: ClassVar[tuple[str, ...]] = ("logit", "ordinal")
    continuous: ClassVar[bool] = False
    reports: ClassVar[tuple[str, ...]] = (
        *COEFFICIENTS[:2], "phi_observed", "inter_rater_icc", "intra_rater_icc", *COEFFICIENTS[2:],
        *OF_SOURCES, "mean", "cut", "rate",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior_mean is not None:
            check_proper("prior_mean", self.prior_mean)

    # From ratings to draws.

    def _priors(self, ratings: Ratings, effects: Effects) -> dict[str, Any]:
        sources = effects.sources[:-1]
        sd = {source.name: self._sd_prior(source, effects.design, 1.0) for source in sources}
        return {"mean": self._location_prior, "sd": sd}

    @property
    def _location_prior(self) -> Normal:
        return self.prior_mean or Normal(0.0, SD_OF_CUTS[self.family])

    def _sd_prior(self, source: Source, design: MeasurementDesign, sd: float) -> SdPrior:
        of_object = source.facets <= design.measured
        return self._own_prior(source) or (HalfNormal(4.0) if of_object else HalfStudentT(3, 1.0))

    def problem(self, ratings: Ratings) -> Any:
        """Effects, categories and priors."""
        check_categories(ratings)
        require_ordered(ratings, 'GStudy with family="ordinal"', binary=False)
        categories = ratings.categories
        if self.family == "logit" and len(categories) > 2:
            rule, remedy = 'family="logit" is for two categories', 'Pass family="ordinal".'
            raise RatingsError([Fault("rating", rule, f"{len(categories)}", remedy)])
        effects = self.effects(ratings)
        if len(effects.sources) == 1:
            rule, found = "a source besides the residual must be estimated", "none"
            raise RatingsError([Fault("design", rule, found, "Drop fewer sources.")])
        priors = self._priors(ratings, effects)
        mean, sd = priors["mean"].stan
        return GradedProblem(
            coords={
                "item": ratings.items,
                "rater": ratings.raters,
                "source": pd.Index(effects.names, name="source"),
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
        rule = (
            f"all ratings must be in memory for family={self.family!r}, which samples all effects"
        )
        remedy = (
            "Fit a random sample of the items: part = dataset.parts[0].read(), then "
            "part.subset(items=part.items[:500]). Or take grades for numbers, whose effects are "
            'integrated out: partition with scale="numeric", and leave family out.'
        )
        found = f"{len(dataset):,} ratings in parts"
        raise RatingsError([Fault("ratings", rule, found, remedy)])

    def program(self, problem: Any) -> str:
        """One for all numbers of categories: two have one cut point."""
        return "gstudy_graded"

    def start(self, problem: Any) -> WarmStart:
        """Mode of effects and cut points, at standard deviations that fit them."""
        return graded_mode.warm_start(problem)

    def near_normal(self, problem: Any, mode: WarmStart) -> None:
        """None: all effects are sampled."""

    def cold_start(self, problem: Any, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        return graded_mode.cold_start(problem)

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the program's variables."""
        own = {"spread": ("estimated",), "step": ("between",), "cut": ("below",)}
        return {"sd": ("source",), **own}

    def declared(self, problem: Any) -> tuple[Parameter, ...]:
        """Cut points, and standard deviations of the sources without the residual."""
        return Parameter("cut", "real", ("below",)), Parameter("sd", "positive", ("estimated",))

    def log_likelihood(self, point: Mapping[str, Any], problem: Any) -> float:
        """Log-probability of all ratings, with effects integrated out by Laplace's method."""
        return float(problem.at_mode(point["cut"], point["sd"]).log_likelihood)

    def search(self, problem: Any, criterion: Criterion) -> Search:
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

    # Results.

    def quantities(self, posterior: Posterior[Any]) -> xr.Dataset:
        """As of `GStudy`, on the latent scale, and what follows for the ratings themselves."""
        draws = _with_residual(posterior.draws)
        mean = -draws["cut"].isel(below=0, drop=True)
        posterior = Posterior(draws.assign(mean=mean), posterior.ratings, posterior.problem)
        of_scores = super().quantities(posterior)
        single = self.decision(posterior)
        others = single.absolute - RESIDUAL["logit"]
        observed = Observed.of(
            np.sqrt(single.universe), np.sqrt(others), draws["cut"].values, "logit"
        )
        dims = ("chain", "draw")
        found: dict[str, Any] = {str(name): values for name, values in of_scores.items()}
        for name in ("variance", "sd"):  # that of the residual is known
            estimated = found[name].isel(source=slice(-1)).rename(source="estimated")
            found[name] = estimated
        found["phi_observed"] = (dims, observed.icc)
        if self.family == "logit":
            found["rate"] = (dims, observed.proportion[..., 1])
        else:
            del found["mean"]
            found["cut"] = draws["cut"]
            found["rate"] = ((*dims, "category"), observed.proportion)
        every = xr.Dataset({name: found[name] for name in self.reports if name in found})
        return every.assign_coords(category=posterior.problem.coords["category"])

    def pointwise(self, posterior: Posterior[Any]) -> tuple[Array, Codes]:
        """Log-probability (S, I) of the ratings of items by draw, given the effects of others."""
        problem, ratings = posterior.problem, posterior.ratings
        blocks = ItemBlocks.of(problem.effects, ratings.item)
        items = GradedItems.of(problem.effects, blocks, problem.rating)
        found, drawn = [], self._sampled(posterior)
        while some := list(islice(drawn, DRAWS)):
            others = np.array([self._others(posterior, blocks, effects) for *_, effects in some])
            cut, variance = (np.array([each[k] for each in some]) for k in (0, 1))
            found.append(items.log_probability(others, np.sqrt(variance), cut))
        return np.concatenate(found), np.arange(ratings.n_items, dtype=np.int32)

    def replicates(self, posterior: Posterior[Any], rng: np.random.Generator) -> Iterator[Any]:
        """Categories (N,) of ratings of new items under the same other levels at each draw."""
        effects = posterior.problem.effects
        blocks = ItemBlocks.of(effects, posterior.ratings.item)
        for cut, variance, drawn in self._sampled(posterior):
            fresh = fresh_effects(effects, blocks.own, np.sqrt(variance), rng)
            yield _rated(self._others(posterior, blocks, drawn) + fresh, cut, rng)

    def _drawn(
        self, posterior: Posterior[Any], rng: np.random.Generator
    ) -> Iterator[tuple[Array, tuple[list[Array], float]]]:
        """Variances (K,), and effects by source and a mean of 0, by draw: all were sampled."""
        if isinstance(rng, NoNoise):  # no effects were sampled
            for at in posterior.points():
                mode = posterior.problem.at_mode(at["cut"], at["sd"])
                yield at["sd"] ** 2, (posterior.problem.effects_of(mode, at["sd"]), 0.0)
            return
        for _, variance, drawn in self._sampled(posterior):
            yield variance, drawn

    def _sampled(
        self, posterior: Posterior[Any]
    ) -> Iterator[tuple[Array, Array, tuple[list[Array], float]]]:
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

    # Simulation.

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        parameters: Mapping[str, Any] | None = None,
        categories: Iterable[Any] = (0, 1),
    ) -> Ratings:
        """Ratings drawn from the model.

        Parameters
        ----------
        design : DataFrame or Ratings
            Who rates what under which levels of the facets, as for other families; of ratings the
            categories are kept.
        rng : Generator
            Source of all randomness.
        parameters : mapping of str to float or array, optional
            ``cut`` (K - 1,) in log odds, and ``sd`` of the sources without the residual; drawn from
            their priors if not given.
        categories : iterable, default (0, 1)
            The values that a rating can have.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            All ratings came out alike, or the design has faults.
        """
        scale = design.scale if isinstance(design, Ratings) else None
        values = _categories(design, categories)
        blank = self._blank(design)
        effects = self.effects(blank)
        point = self.point(effects, {"categories": len(values), **(parameters or {})}, rng)
        every = tuple(range(len(effects.level)))
        score = fresh_effects(effects, every, point["sd"], rng)
        drawn = values[_rated(score, point["cut"], rng)]
        return rated(blank, drawn, scale=scale, categories=values)

    def draw_parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] = (0, 1),
    ) -> dict[str, Array]:
        """Parameters drawn from their priors, as `simulate` takes them."""
        given = {"categories": len(_categories(design, categories))}
        return self.point(self.effects(self._blank(design)), given, rng)

    def point(
        self, effects: Effects, given: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Array]:
        """Cut points and standard deviations: those given, and others drawn from their priors."""
        point = {name: np.asarray(value, float) for name, value in given.items()}
        n_categories = int(point.pop("categories", np.array(2)))
        require_known(point, ("cut", "sd"), self)
        if "sd" not in point:
            priors = [self._sd_prior(each, effects.design, 1.0) for each in effects.sources[:-1]]
            point["sd"] = np.array([half_t(prior.stan, rng) for prior in priors])
        if "cut" not in point:
            mean, sd = self._location_prior.stan
            point["cut"] = np.sort(rng.normal(-mean, sd, n_categories - 1))
        return {"cut": point["cut"], "sd": np.broadcast_to(point["sd"], len(effects.level))}


def _with_residual(draws: xr.Dataset) -> xr.Dataset:
    """Draws with the sd of the residual, as the program has them, beside those estimated."""
    if "estimated" not in draws["sd"].dims:
        return draws
    residual = xr.full_like(draws["sd"].isel(estimated=[0]), math.sqrt(RESIDUAL["logit"]))
    residual = residual.assign_coords(estimated=["residual"])
    sd = xr.concat([draws["sd"], residual], "estimated").rename(estimated="source")
    return draws.drop_vars(["sd", "estimated"]).assign(sd=sd)


# There is one model for users: its family is an argument.
GradedGStudy.__name__ = GStudy.__name__


def _categories(design: pd.DataFrame | Ratings, categories: Iterable[Any]) -> pd.Index[Any]:
    """Those of ratings, or those given for a table."""
    return design.categories if isinstance(design, Ratings) else pd.Index(list(categories))


def _rated(score: Array, cut: Array, rng: np.random.Generator) -> Codes:
    """Categories (N,) of ratings with latent scores, before the residual."""
    return drawn_categories(CategoryProbabilities.of(score, cut, "logit").probability, rng)
