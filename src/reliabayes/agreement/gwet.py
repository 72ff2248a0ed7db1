"""Coefficients whose expected agreement depends on the number of categories: S, AC1 and AC2."""

from __future__ import annotations

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.percent import corrected_by_proportions
from reliabayes.agreement.scales import Weights, weight_table
from reliabayes.ratings import Ratings


def brennan_prediger(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Brennan & Prediger's S, with equal chances of all categories, at most 1.

    .. math:: S = (P_o - P_e) / (1 - P_e),\quad P_e = \sum_{kl} w_{kl} / K^2

    Known as Bennett's S for two raters, and as Randolph's free-marginal kappa for more. It depends
    on the number K of categories, used or not: declare them when reading the ratings.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    weights : {"linear", "quadratic"} or array (K, K), optional
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement".

    References
    ----------
    Brennan & Prediger (1981). https://doi.org/10.1177/001316448104100307

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_counts(np.array([[3, 0], [1, 2], [0, 3]]))
    >>> rb.agreement.brennan_prediger(ratings)
    Brennan-Prediger S: 0.5556
    """
    mean_weight = weight_table(ratings, weights).mean()
    return corrected_by_proportions(
        ratings, "Brennan-Prediger S", weights, lambda p: mean_weight * p.sum(-1)
    )


def gwet_ac1(ratings: Ratings) -> Coefficient:
    r"""Gwet's AC1, at most 1.

    .. math:: AC_1 = (P_o - P_e) / (1 - P_e),\quad P_e = \frac{1}{K - 1} \sum_k \pi_k (1 - \pi_k)

    The expected agreement decreases as ratings concentrate in one category: where nearly all
    ratings are in one category, AC1 is close to P_o and kappas are close to 0. It depends on the
    number K of categories, as `brennan_prediger` does.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement". ``interval(method="analytic")``
        has Gwet's standard error.

    References
    ----------
    Gwet (2008). https://doi.org/10.1348/000711006X126600

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_counts(np.array([[3, 0], [1, 2], [0, 3]]))
    >>> rb.agreement.gwet_ac1(ratings)
    Gwet's AC1: 0.561
    """
    return _gwet(ratings, "Gwet's AC1", None)


def gwet_ac2(ratings: Ratings, weights: Weights = "quadratic") -> Coefficient:
    r"""Gwet's AC2, which is AC1 with partial agreement of different categories, at most 1.

    .. math:: AC_2 = (P_o - P_e) / (1 - P_e),\quad
       P_e = \frac{\sum_{kl} w_{kl}}{K (K - 1)} \sum_k \pi_k (1 - \pi_k)

    Parameters
    ----------
    ratings : Ratings
        Any design.
    weights : {"linear", "quadratic"} or array (K, K), default "quadratic"
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement".

    Raises
    ------
    RatingsError
        Linear or quadratic weights are asked for, and the categories are nominal.

    References
    ----------
    Gwet (2014), Handbook of inter-rater reliability, 4th ed., ISBN 978-0970806284.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 2], [3, 3]]))
    >>> rb.agreement.gwet_ac2(ratings)
    Gwet's AC2: 0.8182
    """
    return _gwet(ratings, "Gwet's AC2", weights)


def _gwet(ratings: Ratings, name: str, weights: Weights | None) -> Coefficient:
    size = len(ratings.categories)
    scale = weight_table(ratings, weights).sum() / (size * (size - 1))
    return corrected_by_proportions(ratings, name, weights, lambda p: scale * (p * (1 - p)).sum(-1))
