"""G study: random effects of items, raters and further facets, crossed or nested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.choices import Family
from reliabayes.facets import (
    COEFFICIENTS,
    Decision,
    EffectLevels,
    Effects,
    MeasurementDesign,
    Source,
    as_names,
)
from reliabayes.facets.effects import sources_kept
from reliabayes.families.normal.checks import (
    check_mean,
    check_residual_of_design,
    check_sd,
    moments_of,
)
from reliabayes.families.normal.effects_in_parts import (
    MOST_IN_MEMORY,
    check_residual_of_parts,
    levels_of_parts,
    problem_of_levels,
)
from reliabayes.families.normal.effects_of_items import ItemsOfPart, shared_by_items
from reliabayes.families.normal.effects_problem import (
    EffectsProblem,
    NormalEffectsProblem,
    levels_in_memory,
)
from reliabayes.families.simulation import require_known
from reliabayes.inference.densities import half_t
from reliabayes.likelihoods.item_counts import CountedLevels
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.bases.random_effects import EFFECTS_DRAWN, RandomEffectsModel
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior

SdPrior = HalfNormal | HalfStudentT

OF_SOURCES = ("variance", "sd", "proportion")


@dataclass(frozen=True, kw_only=True)
class GStudy(RandomEffectsModel):
    r"""Where the variance of ratings comes from, in any design of crossed and nested facets.

    .. math:: y = \mu + \sum_k u_k + \epsilon

    with a normal effect of each source of variance: of items, raters and further facets such as
    occasions, and of their interactions. Effects and mean are integrated out exactly.

    Ratings in two categories (``family="logit"``) or in several ordered ones (``"ordinal"``) come
    from such a score, whose residual is logistic, of variance pi^2 / 3, and cut points c:

    .. math:: \operatorname{logit} \Pr(y > k) = \sum_s u_s - c_k

    Their effects are sampled, and quantities are those of the latent score, in log odds.

    Quantities: ``variance``, ``sd`` and ``proportion`` of each source; ``g`` and ``phi``, the
    reliability in [0, 1] of single ratings for decisions that compare objects (E rho^2) and for
    absolute decisions; ``sem_relative``, ``sem_absolute`` and ``mdc``, the standard errors of
    single ratings and the smallest change that exceeds them in 95% of pairs, in units of the
    rating; where raters rate items repeatedly, ``inter_rater_icc`` and ``intra_rater_icc``, the
    absolute reliability of single ratings if nothing but the rater changes, and if all but the
    rater changes; ``mean``. Of categories also ``phi_observed``, ``phi`` of the ratings as numbers
    0, 1, ... of their categories; ``rate``, the proportion of the second category or of each; and
    ``cut`` (K - 1,) instead of ``mean`` if ordered. For means over several levels of facets see
    `Fit.d_study`.

    Parameters
    ----------
    design : str, default "item x rater"
        Facets with "x" between those that are crossed and ":" after one that is nested, the object
        of measurement first: ``"item x (rater:occasion)"``.
    drop : tuple of str, default ()
        Names of sources to leave out, such as ``"rater x occasion"``.
    family : {"gaussian", "logit", "ordinal"}, default "gaussian"
        Whether ratings are numbers, one of two categories, or ordered categories.
    fixed : tuple of str, default ()
        Facets with the same levels in every measurement; they add to the variance of universe
        scores, not to that of errors.
    prior_mean : Normal, optional
        Prior of the mean. By default its mean is that of the ratings, and its sd 2.5 times theirs.
        Of categories, the prior of the log odds of ratings above each cut point, by default with
        mean 0 and sd 2.5, or 5 if ordered, as of LogitICC and OrdinalICC.
    prior_sd : HalfNormal, HalfStudentT, or mapping of str to one of them, optional
        Prior of the standard deviations, or of those of the sources named. By default half t with
        3 degrees of freedom: with the sd of the ratings as scale for the residual and for sources
        that have to do with the object of measurement; with a quarter of that scale for the others,
        and with 1 degree of freedom for raters, as in GaussianICC. Of categories half normal with
        scale 4 for the object of measurement, half t with 3 degrees of freedom and scale 1 for the
        others.

    References
    ----------
    Brennan (2001), Generalizability Theory. https://doi.org/10.1007/978-1-4757-3456-0
    """

    summary: ClassVar[str] = "variance by item, rater, occasion and other facets"
    samples_in_numpy: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True
    families: ClassVar[tuple[str, ...]] = ("gaussian",)  # that the class is for
    reports: ClassVar[tuple[str, ...]] = (
        *COEFFICIENTS[:2], "inter_rater_icc", "intra_rater_icc", *COEFFICIENTS[2:], *OF_SOURCES,
        "mean",
    )  # fmt: skip
    family: Family = "gaussian"
    fixed: tuple[str, ...] = ()
    prior_mean: Normal | None = None
    prior_sd: SdPrior | tuple[tuple[str, SdPrior], ...] | None = None

    def __new__(cls, design: str = "", *, family: str = "gaussian", **_: Any) -> Self:
        """A model of the class that is for a family."""
        kinds = (cls, *cls.__subclasses__())
        return super().__new__(next((kind for kind in kinds if family in kind.families), cls))

    def __post_init__(self) -> None:
        if self.family not in self.families:
            raise ValueError(
                f"family must be one of {', '.join(get_args(Family))}, not {self.family!r}."
            )
        for name in ("drop", "fixed"):
            object.__setattr__(self, name, as_names(getattr(self, name)))
        if isinstance(self.prior_sd, Mapping):
            object.__setattr__(self, "prior_sd", tuple(self.prior_sd.items()))
        single = self.prior_sd if isinstance(self.prior_sd, tuple) else (("", self.prior_sd),)
        for name, prior in single:
            if prior is not None and not isinstance(prior, (HalfNormal, HalfStudentT)):
                place = f"prior_sd[{name!r}]" if name else "prior_sd"
                raise TypeError(f"{place} must be a HalfNormal or HalfStudentT, not {prior!r}.")
        if self.prior_mean is not None and not isinstance(self.prior_mean, Normal):
            raise TypeError(f"prior_mean must be a Normal, not {self.prior_mean!r}.")
        design = self.measurement_design
        sources_kept(design, self.drop)
        known = [source.name for source in design.sources()]
        for name, _ in single:
            if name and name not in known and not name.endswith("residual"):
                raise ValueError(
                    f"prior_sd must name sources of {self.design!r}, which are "
                    f"{', '.join(known)}; found {name!r}."
                )
        Decision(design, (), np.zeros(0), {}, frozenset(self.fixed))

    # From ratings to draws.

    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings: of the mean, and of the sd of each source."""
        if isinstance(ratings, RatingsDataset):
            levels = levels_of_parts(ratings, self.measurement_design)
            return self._priors_given(levels.of_ratings, levels.effects(self.drop))
        return self._priors(ratings, self.effects(ratings))

    def _priors(self, ratings: Ratings, effects: Effects) -> dict[str, Any]:
        return self._priors_given(moments_of(ratings.values), effects)

    def _priors_given(self, moments: Moments, effects: EffectLevels) -> dict[str, Any]:
        sd = check_sd(moments.sd)
        return {
            "mean": self.prior_mean or Normal(moments.mean, 2.5 * sd),
            "sd": {
                source.name: self._sd_prior(source, effects.design, sd)
                for source in effects.sources
            },
        }

    def _sd_prior(self, source: Source, design: MeasurementDesign, sd: float) -> SdPrior:
        own = self._own_prior(source)
        if own is not None:
            return own
        if source.facets & design.measured:
            return HalfStudentT(3, sd)
        of_raters = design.primary(source.facets) == {"rater"}
        return HalfStudentT(1 if of_raters else 3, 0.25 * sd)

    def _own_prior(self, source: Source) -> SdPrior | None:
        """The prior that was set for the sd of a source."""
        if isinstance(self.prior_sd, tuple):
            return dict(self.prior_sd).get(source.name)
        return self.prior_sd

    def problem(self, ratings: Ratings) -> EffectsProblem:
        """Effects, ratings, priors, and mean squares if the design has them."""
        effects, values = self.effects(ratings), ratings.values
        moments = moments_of(values)
        priors = self._checked_priors(moments, effects)
        levels = levels_in_memory(effects, values)
        squares = levels.mean_squares(effects) if levels else MeanSquares.of(effects, values)
        check_residual_of_design(effects.sources[:-1], effects.level, values, squares)
        return EffectsProblem(
            coords={"item": ratings.items, "rater": ratings.raters, "source": _index(effects)},
            priors=priors,
            effects=effects,
            squares=squares,
            n_ratings=moments.n,
            sd=moments.sd,
            values=values,
            levels=levels,
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> NormalEffectsProblem:
        """Sums over the items of all parts, priors, and mean squares if the design has them."""
        levels = levels_of_parts(dataset, self.measurement_design)
        if isinstance(levels, CountedLevels) and len(dataset) <= MOST_IN_MEMORY:
            return self.problem(dataset.to_ratings())
        effects = levels.effects(self.drop)
        priors = self._checked_priors(levels.of_ratings, effects)
        squares = levels.mean_squares(effects)
        check_residual_of_parts(dataset, effects, squares)
        coords = {"rater": dataset.raters, "source": _index(effects)}
        return problem_of_levels(
            dataset, levels, squares, coords=coords, priors=priors, effects=effects
        )

    def _checked_priors(self, moments: Moments, effects: EffectLevels) -> dict[str, Array]:
        priors = self._priors_given(moments, effects)
        check_mean(priors["mean"], moments.mean, moments.sd)
        sds = [prior.stan for prior in priors["sd"].values()]
        return {"mean": np.array(priors["mean"].stan), "sd": np.array(sds)}

    # Results.

    def decision(
        self, posterior: Posterior[NormalEffectsProblem], fixed: frozenset[str] | None = None
    ) -> Decision:
        """Measurement by single ratings, draw by draw (chains, draws).

        Facets are fixed as the model says, unless ``fixed`` does.
        """
        effects = posterior.problem.effects
        variance = posterior.draws["sd"].values ** 2
        names = frozenset(self.fixed) if fixed is None else fixed
        return Decision(effects.design, effects.sources, variance, {}, names)

    def quantities(self, posterior: Posterior[NormalEffectsProblem]) -> xr.Dataset:
        """Reliability and errors of single ratings, and variance by source."""
        sd = posterior.draws["sd"]
        variance = sd**2
        single = self.decision(posterior)
        found: dict[str, Any] = {name: getattr(single, name) for name in COEFFICIENTS}
        others = _repeats(posterior.problem.effects)
        if others:
            for name, fixed in (("inter", others), ("intra", frozenset({"rater"}))):
                found[f"{name}_rater_icc"] = self.decision(posterior, fixed).phi
        arrays = {name: (("chain", "draw"), values) for name, values in found.items()}
        by_source = {
            "variance": variance, "sd": sd, "proportion": variance / variance.sum("source")
        }  # fmt: skip
        every = {**arrays, **by_source, "mean": posterior.draws["mean"]}
        return xr.Dataset(
            {name: every[name] for name in self.reports if name in every}
        ).assign_coords(posterior.draws.coords)

    def new_rater(
        self,
        posterior: Posterior[NormalEffectsProblem],
        covariates: Array,
        rng: np.random.Generator,
    ) -> dict[str, Array] | None:
        """Effect of one drawn from their population, with that of what they are nested in.

        None if the same raters are in every measurement.
        """
        if "rater" in self.fixed:
            return None
        effects = posterior.problem.effects
        whole = self.check_kept(effects, "rater")
        within = [k for k, source in enumerate(effects.sources[:-1]) if source.facets <= whole]
        variance = (posterior.draws["sd"].isel(source=within) ** 2).sum("source")
        return drawn_effect(variance**0.5, rng)

    def items_by_part(
        self,
        posterior: Posterior[NormalEffectsProblem],
        prob: float | None,
        rng: np.random.Generator,
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those that items share."""
        effects = posterior.problem.effects
        self.check_kept(effects, "item")
        shared = shared_by_items(effects)
        drawn = [
            (variance, {k: of_source[k] for k in shared}, mean)
            for variance, (of_source, mean) in self._drawn(posterior.thinned(EFFECTS_DRAWN), rng)
        ]
        return ItemsOfPart(effects, drawn, prob)

    def point(
        self, effects: Effects, given: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Array]:
        """Mean and standard deviations: those given, and others drawn from their priors."""
        require_known(given, ("mean", "sd"), self)
        point = {name: np.asarray(value, float) for name, value in given.items()}
        if "sd" not in point:
            priors = {source.name: self._own_prior(source) for source in effects.sources}
            draws = []
            for name, prior in priors.items():
                if prior is None:
                    raise _unset("sd", f"prior_sd[{name!r}]")
                draws.append(half_t(prior.stan, rng))
            point["sd"] = np.array(draws)
        if "mean" not in point:
            if self.prior_mean is None:
                raise _unset("mean", "prior_mean")
            mean, sd = self.prior_mean.stan
            point["mean"] = np.asarray(mean + sd * rng.standard_normal())
        return {"mean": point["mean"], "sd": np.broadcast_to(point["sd"], len(effects.sources))}


def _unset(name: str, prior: str) -> ValueError:
    return ValueError(
        f"{prior} must be set for {name} to be drawn. Set it, or pass parameters={{{name!r}: ...}}."
    )


def _index(effects: EffectLevels) -> pd.Index[Any]:
    return pd.Index(effects.names, name="source")


def _repeats(effects: EffectLevels) -> frozenset[str]:
    """Facets under which a rater rates the same object again; none without a random rater."""
    design = effects.design
    if "rater" not in design.facets or "rater" in design.measured:
        return frozenset()
    replicates = effects.sources[-1].facets - design.whole
    return (design.whole | replicates) - design.measured - design.nested["rater"] - {"rater"}
