"""Fleiss' kappa, of all categories and of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from reliabayes.agreement.cells import Cells, ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.corrected import corrected
from reliabayes.agreement.counts import corrected_by_shares, observed
from reliabayes.agreement.resampling import Rows
from reliabayes.agreement.scales import Weights, weighted
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings


def fleiss_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Fleiss' kappa, at most 1; 0 is what chance gives.

    .. math:: \kappa = (P_o - P_e) / (1 - P_e),\quad P_e = \sum_{kl} w_{kl} \pi_k \pi_l

    with pi_k the share of category k among an item's ratings, averaged over items. Items may have
    any number of ratings; those with one count for pi only. For two raters it is Scott's pi.

    Parameters
    ----------
    ratings, weights
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        Parts "observed agreement" and "expected agreement".

    See Also
    --------
    fleiss_z : test of no agreement beyond chance.

    References
    ----------
    Fleiss (1971). https://doi.org/10.1037/h0031619

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_counts(np.array([[3, 0], [1, 2], [0, 3]]))
    >>> rb.agreement.fleiss_kappa(ratings)
    Fleiss' kappa: 0.55
    """
    distance = weighted(ratings, weights)
    return corrected_by_shares(
        ratings, "Fleiss' kappa", weights, lambda share: 1 - distance.between(share, share)
    )


def fleiss_kappa_by_category(ratings: Ratings) -> dict[Any, Coefficient]:
    r"""Fleiss' kappa of each category against all others, at most 1.

    .. math:: \kappa_k = 1 - \frac{\sum_i 2 n_{ik} (m_i - n_{ik}) / (m_i (m_i - 1))}
       {2 I \pi_k (1 - \pi_k)}

    Returns
    -------
    dict from category to Coefficient

    References
    ----------
    Fleiss (1971), eq. 19. https://doi.org/10.1037/h0031619

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_counts(np.array([[3, 0, 0], [1, 2, 0], [0, 0, 3]]))
    >>> {k: round(float(kappa), 2) for k, kappa in fleiss_kappa_by_category(ratings).items()}
    {0: 0.55, 1: 0.36, 2: 1.0}
    """
    cells = Cells.of_ratings(ratings)

    def rows(of: int) -> Callable[[Array | None], Rows]:
        def of_category(weights: Array | None) -> Rows:
            counts = cells.counts(weights)
            n = counts.by_item(counts.n * (counts.category == of))
            split = ratio(2 * n * (counts.ratings - n), counts.pairs, 0.0)
            share = ratio(n, counts.ratings, 0.0)
            return np.column_stack([counts.pairs > 0, split, share, (counts.ratings > 0) - share])

        return of_category

    def expected(sums: Array) -> Array:
        inside, outside = sums[..., 2], sums[..., 3]
        return 2 * ratio(inside * outside, (inside + outside) ** 2)

    return {
        category: corrected(
            ratings,
            f"Fleiss' kappa of {category}",
            rows(code),
            observed=observed,
            expected=expected,
            of="disagreement",
            undefined="either no rating or every rating is in the category (0/0)",
        )
        for code, category in enumerate(ratings.categories)
    }


def fleiss_z(ratings: Ratings) -> float:
    r"""Fleiss' kappa over its standard error if raters agreed by chance only.

    .. math:: z = \kappa \sqrt{\frac{I m (m - 1)}{2}} \frac{\sum_k \pi_k q_k}
       {\sqrt{(\sum_k \pi_k q_k)^2 - \sum_k \pi_k q_k (q_k - \pi_k)}},\quad q_k = 1 - \pi_k

    A test against chance, not an error to make intervals from: that is `Coefficient.interval`.

    Raises
    ------
    RatingsError
        Items differ in their number m of ratings, for which no formula is published.

    References
    ----------
    Fleiss, Nee & Landis (1979), eq. 12. https://doi.org/10.1037/0033-2909.86.5.974

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_counts(np.array([[3, 0], [1, 2], [0, 3]]))
    >>> round(rb.agreement.fleiss_z(ratings), 3)
    1.65
    """
    per_item = ratings.ratings_per_item
    if np.ptp(per_item):
        rule = "all items must have the same number of ratings here"
        found = f"{per_item.min()} to {per_item.max()}"
        remedy = "Use fleiss_kappa(ratings).interval()."
        raise RatingsError([Fault("item", rule, found, remedy)])
    kappa, m = float(fleiss_kappa(ratings)), int(per_item[0])
    share = np.bincount(ratings.category) / len(ratings)
    spread = share * (1 - share)
    error = math.sqrt(spread.sum() ** 2 - spread @ (1 - 2 * share)) / spread.sum()
    return kappa / float(error) * math.sqrt(len(per_item) * m * (m - 1) / 2)
