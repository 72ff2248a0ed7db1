"""Logit ICC: crossed random effects of items and raters on binary ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reliabayes.arrays import Array
from reliabayes.families.ordered.family import ICC_OBSERVED, OrderedScores
from reliabayes.families.ordered.problem import SDS
from reliabayes.models.ordered_model import OrderedModel
from reliabayes.models.priors import Normal, check_proper


@dataclass(frozen=True, kw_only=True)
class LogitICC(OrderedModel):
    r"""Reliability of ratings in two categories, for any incomplete, unbalanced design.

    .. math:: \operatorname{logit} \Pr(y_{ij} = 1) = \mu + u_i + v_j

    with normal effects of items (sd_item) and raters (sd_rater); 1 is the second category. Effects
    of items are integrated out over nodes, so that only those of raters are sampled. Those of large
    crowds are sampled, too, which is faster: of 100 raters, 100 items and 10,000 ratings or more,
    ten of each item, or four where raters have fewer than 50 each. Pools and gold are not used: all
    raters are one population; pick a pool with ``ratings.subset(pools=[...])``.

    Quantities, for single ratings: ``icc``, ``icc_consistency`` (the same raters, whose
    severity does not count) and ``labeler_icc`` of the latent score, whose residual has variance
    pi^2 / 3 (1 with the probit link); ``icc_observed`` and ``labeler_icc_observed`` of
    the rating itself as 0 or 1, which compare with kappas; all in [0, 1]. ``sd_item``, ``sd_rater``
    and ``mean`` in log odds; ``rate``, the proportion of the second category in ratings of new
    items by new raters; ``log_likelihood`` in nats and ``bits_per_rating``, with effects of items
    marginalised.

    Parameters
    ----------
    link : {"logit", "probit"}
        Distribution of the residuals: logistic or normal.
    nodes : int, optional
        Number of nodes of the quadrature over an item's effect; by default as many as the
        posterior needs, and none where effects are sampled. `Fit.diagnostics` gives the error of
        the log-likelihood.
    prior_mean : Normal
        Prior of the mean in log odds.
    prior_sd_item, prior_sd_rater : HalfNormal or HalfStudentT
        Prior of the standard deviations in log odds.

    References
    ----------
    Nakagawa, Johnson & Schielzeth (2017), ICC on both scales.
    https://doi.org/10.1098/rsif.2017.0213
    """

    summary: ClassVar[str] = "ICC of ratings in two categories"
    references: ClassVar[tuple[str, ...]] = ("nakagawa2017",)
    reports: ClassVar[tuple[str, ...]] = (
        "icc",
        "icc_consistency",
        "labeler_icc",
        *ICC_OBSERVED,
        *SDS,
        "mean",
        "rate",
        "log_likelihood",
        "bits_per_rating",
    )
    family: ClassVar[OrderedScores] = OrderedScores(is_binary=True, is_pooled=False)

    prior_mean: Normal = Normal(0.0, 2.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_proper("prior_mean", self.prior_mean)

    def prior_numbers(self) -> dict[str, Array]:
        """Values (2,) of each prior; the one cut point is the negative mean."""
        return {"cut": Normal(-self.prior_mean.mean, self.prior_mean.sd).stan, **self.priors_of_sds}
