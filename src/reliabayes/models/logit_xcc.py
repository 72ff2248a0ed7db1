"""Logit xCC: agreement between pools of raters on binary ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reliabayes.models.bases.ordinal import GradedModel
from reliabayes.models.bases.ordinal_xcc import XCC_OBSERVED, GradedXCC
from reliabayes.models.bases.xcc import XCC
from reliabayes.models.logit_icc import LogitICC
from reliabayes.models.priors import Normal


@dataclass(frozen=True, kw_only=True)
class LogitXCC(GradedXCC):
    r"""Agreement between pools of raters of the same items, in two categories.

    .. math:: \operatorname{logit} \Pr(y_{ij} = 1) = \mu_{g(j)} + u_{i,g(j)} + v_j

    with normal effects of an item in each pool (sd_item), correlated between pools, and of raters
    (sd_rater by pool); 1 is the second category. Effects of items are summed over pairs of nodes,
    those of three pools or more are sampled. Only items that both pools of a pair have rated tell
    of their correlation; where there are none, its posterior is its prior.

    Quantities: of each pair of pools ``normalized_xcc``, the correlation of an item's effects, and
    ``unnormalized_xcc``, that of single latent scores; the same of the ratings themselves as 0 or
    1, ``normalized_xcc_observed`` and ``unnormalized_xcc_observed``, which normalized kappa_x and
    kappa_x estimate if the pools' ratings have like means and variances (kappa_x counts it against
    them if not); all in [-1, 1]. Of each pool ``icc``, ``labeler_icc`` and their ``_observed``
    twins in [0, 1], ``sd_item``, ``sd_rater`` and ``mean`` in log odds, and ``rate``, the share of
    the second category in ratings of new items by new raters. Of two pools also ``log_likelihood``
    in nats and ``bits_per_rating``, effects of items summed out; of more pools that takes too long
    for all draws, and `Fit.loo`, `Fit.log_likelihood` and `compare` do it on request, for 1000
    draws of 5,000 ratings by three pools in about a minute.

    Parameters
    ----------
    link : "logit", or "probit" for normal residuals
    nodes : how many there are of each of the scores of an item. Of two pools by default as many as
        the item with most ratings needs; `Fit.diagnostics` tells the error of the log-likelihood.
        Of more pools by default 9, around the mode of an item, on which the draws do not depend
    prior_mean : Normal
    prior_sd_item, prior_sd_rater : HalfNormal or HalfStudentT
    prior_lkj : float
        Shape of the LKJ prior of the correlations; 1 is uniform, more leans towards 0. That of
        single correlations among G pools is LKJ(shape + (G - 2) / 2).

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548
    """

    summary: ClassVar[str] = "agreement between pools of raters, in two categories"
    reports: ClassVar[tuple[str, ...]] = (*XCC, *XCC_OBSERVED, *LogitICC.reports)
    alone: ClassVar[type[GradedModel]] = LogitICC
    has_steps: ClassVar[bool] = False

    prior_mean: Normal = Normal(0.0, 2.5)
