"""Ordinal xCC: agreement between pools of raters on ratings in ordered categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.ordered.family import XCC_OBSERVED, OrderedScores
from reliabayes.families.pools import XCC
from reliabayes.models.ordered_model import OrderedModel
from reliabayes.models.ordinal_icc import OrdinalICC
from reliabayes.models.priors import Normal, check_proper


@dataclass(frozen=True, kw_only=True)
class OrdinalXCC(OrderedModel):
    r"""Agreement between pools of raters of the same items, in ordered categories.

    .. math:: \operatorname{logit} \Pr(y_{ij} > k) = u_{i,g(j)} + v_j - c_{k,g(j)}

    with normal effects of an item in each pool (sd_item), correlated between pools, and of raters
    (sd_rater by pool), and ordered cut points of each pool. Effects of items in two pools
    are integrated out over pairs of nodes, those in three pools or more are sampled. Only items
    that both pools of a pair have rated inform their correlation; without any, its posterior is its
    prior.

    Quantities: of each pair of pools ``normalized_xcc``, the correlation of an item's effects, and
    ``unnormalized_xcc``, that of single latent scores; the same of the ratings themselves, their
    categories numbered 0, 1, ..., ``normalized_xcc_observed`` and ``unnormalized_xcc_observed``,
    which normalized kappa_x and kappa_x with squared distances estimate if the pools' ratings have
    equal means and variances (a difference lowers kappa_x); all in [-1, 1]. Of each pool ``icc``,
    ``labeler_icc`` and their ``_observed`` twins in [0, 1], ``sd_item``, ``sd_rater`` and ``cut``
    (K - 1,), named after the category below it, in log odds, and ``rate`` (K,), the proportion of
    each category in ratings of new items by new raters. Of two pools also ``log_likelihood`` in
    nats and ``bits_per_rating``, with effects of items marginalised; for more pools that takes too
    long for all draws, and `Fit.loo`, `Fit.log_likelihood` and `compare` do it on request.

    Parameters
    ----------
    link : {"logit", "probit"}
        Distribution of the residuals: logistic or normal.
    nodes : int, optional
        Number of nodes of each score of an item. For two pools by default as many as the posterior
        needs; `Fit.diagnostics` gives the error of the log-likelihood. For more pools by default 9
        around the mode of an item; the draws do not depend on them.
    prior_cut : Normal
        Prior of each cut point, before they are ordered.
    prior_sd_item, prior_sd_rater : HalfNormal or HalfStudentT
        Prior of the standard deviations in log odds, by pool.
    prior_lkj : float, default 1.0
        Shape of the LKJ prior of the correlations: 1 is uniform, larger values favour 0. That of
        single correlations among G pools is LKJ(shape + (G - 2) / 2).

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548
    """

    summary: ClassVar[str] = "agreement between pools of raters, in ordered categories"
    references: ClassVar[tuple[str, ...]] = ("wong2021",)
    reports: ClassVar[tuple[str, ...]] = (*XCC, *XCC_OBSERVED, *OrdinalICC.reports)
    family: ClassVar[OrderedScores] = OrderedScores(is_binary=False, is_pooled=True)

    prior_lkj: float = 1.0
    prior_cut: Normal = Normal(0.0, 5.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")
        check_proper("prior_cut", self.prior_cut)

    def prior_numbers(self) -> dict[str, Array]:
        """Values of each prior; that of all cut points is the same."""
        cut = self.prior_cut.stan
        return {"cut": cut, **self.priors_of_sds, "lkj": np.array(self.prior_lkj)}
