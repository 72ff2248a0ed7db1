"""Gaussian ICC: crossed random effects of items and raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from reliabayes.arrays import Array
from reliabayes.families.normal import checks, gaussian_parts
from reliabayes.families.normal.crossed import Crossed, CrossedProblem, one_pool, sums_of
from reliabayes.families.normal.gaussian import SDS, GaussianPriors
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums
from reliabayes.likelihoods.gibbs_sums import GibbsSums
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.normal_model import NormalModel
from reliabayes.models.priors import Normal, SdPrior
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class GaussianICC(NormalModel[CrossedProblem]):
    r"""Reliability of ratings on a continuous scale, for any incomplete, unbalanced design.

    .. math:: y_{ij} = \mu + u_i + v_j + \epsilon_{ij}

    with normal effects of items (sd_item) and raters (sd_rater) and normal residuals
    (sd_residual). Effects and mean are integrated out exactly, so that a fit costs much the same
    for a thousand ratings and for a million; where items and raters are both many, Gibbs sampling
    is quicker and the default. With hundreds of both, ``sampler="nuts"`` takes minutes. Pools and
    gold are not used: all raters are one population; pick a pool with
    ``ratings.subset(pools=[...])``.

    Quantities, for single ratings on the scale of the ratings: ``icc`` (agreement: raters
    drawn at random, whose severity counts), ``icc_consistency`` (the same raters, whose severity
    does not count) and ``labeler_icc`` in [0, 1]; ``sd_item``, ``sd_rater``, ``sd_residual`` and
    ``mean`` in units of the rating.

    Few raters say little about how much raters differ, so that ``icc`` depends on the prior of
    sd_rater; ``icc_consistency`` does not.

    Parameters
    ----------
    prior_mean : Normal, optional
        Prior of the mean. By default its mean is that of the ratings, and its sd 2.5 times theirs.
    prior_sd_item, prior_sd_rater, prior_sd_residual : HalfNormal or HalfStudentT, optional
        Priors of the standard deviations. The defaults are half t, with 3 degrees of freedom and
        the sd of the ratings as scale for items and residual; with 1 degree of freedom and a
        quarter of that scale for raters.

    References
    ----------
    Shrout & Fleiss (1979), ICC(2,1). https://doi.org/10.1037/0033-2909.86.2.420
    """

    summary: ClassVar[str] = "ICC of ratings on a continuous scale"
    references: ClassVar[tuple[str, ...]] = ("shrout1979",)
    samples_in_numpy: ClassVar[bool] = True
    reports: ClassVar[tuple[str, ...]] = ("icc", "icc_consistency", "labeler_icc", *SDS, "mean")

    prior_mean: Normal | None = None
    prior_sd_item: SdPrior | None = None
    prior_sd_rater: SdPrior | None = None
    prior_sd_residual: SdPrior | None = None

    def __post_init__(self) -> None:
        self._given()  # refuses priors of other kinds

    def priors(self, ratings: AnyRatings) -> dict[str, Normal | SdPrior]:
        """Priors in force for these ratings, by parameter."""
        if isinstance(ratings, RatingsDataset):
            (moments,) = gaussian_parts.moments_of_parts(ratings, one_pool(ratings))
            return self._priors(moments)
        return self._priors(checks.moments_of(ratings.values))

    def _priors(self, moments: Moments) -> dict[str, Normal | SdPrior]:
        sd = checks.check_sd(moments.sd)
        return {
            "mean": self.prior_mean or Normal(moments.mean, 2.5 * sd),
            **self._given().of_sds(sd),
        }

    def problem(self, ratings: Ratings) -> CrossedProblem:
        """Sums of the centred ratings, and priors."""
        ratings.require_known_raters("GaussianICC")
        moments = checks.moments_of(ratings.values)
        priors = self._checked_priors(moments)
        checks.check_residual(ratings.item, ratings.rater, ratings.values)
        row, column = ratings.item, ratings.rater
        swapped = ratings.n_raters > ratings.n_items
        if swapped:
            row, column = column, row
        design = CrossedDesign.of(row, column, ratings.values - moments.centre)
        columns = pd.RangeIndex(len(design.column_total))
        return CrossedProblem(
            coords={"item": ratings.items, "rater": ratings.raters, "column": columns},
            priors=priors,
            swapped=swapped,
            center=moments.centre,
            sums=sums_of(design, moments.centre),
            design=design,
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> CrossedProblem:
        """The same sums, added up over the parts; or, of very many raters, where the items are."""
        first = gaussian_parts.leading(dataset)
        checks.check_residual(first.item, first.rater, first.values)
        sums: CrossedSums | GibbsSums
        if gaussian_parts.suits_sums(dataset, first):
            found = gaussian_parts.sums_of_parts(dataset, one_pool(dataset), first)
            (moments,) = found.moments
            center = moments.centre
            sums = found.crossed(center)
        else:
            sums = gaussian_parts.effects_of_parts(dataset, first)
            moments = sums.totals.moments
            center = moments.pivot
        priors = self._checked_priors(moments)
        columns = pd.RangeIndex(dataset.n_raters)
        return CrossedProblem(
            coords={"rater": dataset.raters, "column": columns},
            priors=priors,
            swapped=False,
            center=center,
            sums=sums,
        )

    def _checked_priors(self, moments: Moments) -> dict[str, Array]:
        priors = self._priors(moments)
        checks.check_mean(priors["mean"], moments.mean, moments.sd)
        return {name: prior.stan for name, prior in priors.items()}

    @property
    def normal_family(self) -> Crossed:
        """Crossed effects of items and raters."""
        return Crossed(self._given())

    def _given(self) -> GaussianPriors:
        return GaussianPriors(
            self.prior_mean, self.prior_sd_item, self.prior_sd_rater, self.prior_sd_residual
        )

    def conjugate(self, problem: CrossedProblem) -> CrossedEffects | None:
        """All effects, given which the mean and the standard deviations are quickly drawn."""
        return problem.effects

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """The run as it is: its log density is the program's."""
        return run

    def near_normal(self, problem: CrossedProblem, mode: WarmStart) -> NearNormal | None:
        """Independence sampling of the log standard deviations, unless columns are very many."""
        return self.normal_family.near_normal(problem, mode)

    def prefers_gibbs(self, problem: CrossedProblem) -> bool:
        """Where columns are too many for their effects to be integrated out."""
        return isinstance(problem.sums, GibbsSums)

    def caution(self, ratings: Ratings) -> str:
        """That ratings may be grades or categories, if they are few whole numbers."""
        return checks.caution_of_numbers(ratings)
