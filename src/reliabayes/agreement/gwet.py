"""Coefficients whose chance agreement depends on the number of categories."""

from __future__ import annotations

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.counts import corrected_by_shares
from reliabayes.agreement.scales import Weights, weight_table
from reliabayes.ratings import Ratings


def brennan_prediger(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Kappa whose chance is the same for all categories, at most 1.

    .. math:: S = (P_o - P_e) / (1 - P_e),\quad P_e = \sum_{kl} w_{kl} / K^2

    Bennett's S for two raters, Randolph's free-marginal kappa for more. It depends on the number K
    of categories, rated or not: declare them when reading the ratings.

    Parameters
    ----------
    ratings, weights
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        Parts "observed agreement" and "expected agreement".

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
    by_chance = weight_table(ratings, weights).mean()
    return corrected_by_shares(
        ratings, "Brennan-Prediger S", weights, lambda share: by_chance * share.sum(-1)
    )


def gwet_ac1(ratings: Ratings) -> Coefficient:
    r"""Gwet's AC1, at most 1.

    .. math:: AC_1 = (P_o - P_e) / (1 - P_e),\quad P_e = \frac{1}{K - 1} \sum_k \pi_k (1 - \pi_k)

    Chance is less, the more ratings one category has: where nearly all ratings are in one category,
    AC1 is near P_o and kappas near 0. It depends on K, as `brennan_prediger` does.

    Returns
    -------
    Coefficient
        Parts "observed agreement" and "expected agreement". The standard error of Gwet is that of
        ``interval(method="analytic")``.

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
    r"""Gwet's AC2, at most 1: AC1 where different categories may agree in part.

    .. math:: AC_2 = (P_o - P_e) / (1 - P_e),\quad
       P_e = \frac{\sum_{kl} w_{kl}}{K (K - 1)} \sum_k \pi_k (1 - \pi_k)

    Parameters
    ----------
    ratings, weights
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        Parts "observed agreement" and "expected agreement".

    Raises
    ------
    RatingsError
        Nominal categories are to have linear or quadratic weights.

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
    return corrected_by_shares(
        ratings, name, weights, lambda share: scale * (share * (1 - share)).sum(-1)
    )
