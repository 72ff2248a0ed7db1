"""G study: random effects of items, raters and further facets, crossed or nested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

import numpy as np
import pandas as pd
from numpy.random import Generator

from reliabayes.choices import Family
from reliabayes.facets import Decision, MeasurementDesign, as_names
from reliabayes.facets.effects import sources_kept
from reliabayes.families.normal.effects_problem import EffectsProblem
from reliabayes.families.normal.facets import Facets, near_normal
from reliabayes.families.normal.graded import Graded
from reliabayes.families.normal.graded_problem import GradedProblem
from reliabayes.families.normal.levels import decision
from reliabayes.families.normal.study import Study
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.problem import Problem
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.normal_model import NormalModel
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal, SdPrior, check_proper
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior


@dataclass(frozen=True, kw_only=True)
class GStudy(NormalModel[Any]):  # of an `EffectsProblem` or, of categories, a `GradedProblem`
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
    references: ClassVar[tuple[str, ...]] = ("brennan2001",)
    samples_in_numpy: ClassVar[bool] = True
    has_facets: ClassVar[bool] = True
    reports: ClassVar[tuple[str, ...]] = Facets.reports  # of numbers; a model has its family's

    design: str = field(default="item x rater", kw_only=False)
    drop: tuple[str, ...] = ()
    family: Family = "gaussian"
    fixed: tuple[str, ...] = ()
    prior_mean: Normal | None = None
    prior_sd: SdPrior | tuple[tuple[str, SdPrior], ...] | None = None

    def __post_init__(self) -> None:
        if self.family not in get_args(Family):
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
        design = MeasurementDesign.parse(self.design)
        _require_facets_of_error(design)
        sources_kept(design, self.drop)
        known = [source.name for source in design.sources()]
        for name, _ in single:
            if name and name not in known and not name.endswith("residual"):
                raise ValueError(
                    f"prior_sd must name sources of {self.design!r}, which are "
                    f"{', '.join(known)}; found {name!r}."
                )
        Decision(design, (), np.zeros(0), {}, frozenset(self.fixed))

        if self.family != "gaussian":
            object.__setattr__(self, "continuous", False)
            object.__setattr__(self, "reports", Graded.reports)
            if self.prior_mean is not None:
                check_proper("prior_mean", self.prior_mean)

    @property
    def study(self) -> Study:
        """Design and priors, read."""
        design = MeasurementDesign.parse(self.design)
        return Study(design, self.drop, frozenset(self.fixed), self.prior_mean, self.prior_sd)

    @property
    def normal_family(self) -> Facets | Graded:
        """Normal effects of all facets, on numbers or below cut points."""
        if self.family == "gaussian":
            return Facets(self.study)
        return Graded(self.study, is_binary=self.family == "logit")

    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings: of the mean, and of the sd of each source."""
        return self.normal_family.priors(ratings)

    def problem(self, ratings: Ratings) -> EffectsProblem | GradedProblem:
        """Effects, ratings and priors."""
        return self.normal_family.problem(ratings)

    def problem_of_parts(self, dataset: RatingsDataset) -> EffectsProblem:
        """Sums over the items of all parts; categories must be in memory."""
        return self.normal_family.problem_of_parts(dataset)

    def near_normal(self, problem: Problem, mode: WarmStart) -> NearNormal | None:
        """Independence sampling of the log standard deviations where cells are empty.

        Where few ratings say little of some of them, the posterior is far from normal. Of
        categories all effects are sampled.
        """
        return near_normal(problem, mode) if isinstance(problem, EffectsProblem) else None

    def decision(self, posterior: Posterior[Any], fixed: frozenset[str] | None = None) -> Decision:
        """Measurement by single ratings, draw by draw (chains, draws).

        Facets are fixed as the model says, unless ``fixed`` does.
        """
        return decision(posterior, frozenset(self.fixed) if fixed is None else fixed)

    def effects_of_levels(
        self, posterior: Posterior[Any], facet: str, prob: float | None, rng: Generator
    ) -> pd.DataFrame:
        """Effects of the levels of a facet, with those of the levels that it is nested in."""
        return self.normal_family.effects_of_levels(posterior, facet, prob, rng)


def _require_facets_of_error(design: MeasurementDesign) -> None:
    """Refuse a design whose first facet, the object of measurement, is nested in all others."""
    object_, *others = design.facets
    if others and design.measured == design.whole:
        outermost = " x ".join(repr(name) for name in others if not design.nested[name])
        raise ValueError(
            f"the object of measurement comes first in a design, and all else is error; in "
            f"{design.text!r} it is {object_!r}, which is nested in all other facets, so that "
            f"nothing is left. To measure {outermost}, pass design={outermost}: the residual is "
            f"then the variance of each {object_} within {outermost}."
        )
