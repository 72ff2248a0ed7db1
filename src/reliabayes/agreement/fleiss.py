"""Fleiss' kappa of all categories and of each category."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.chance_correction import ChanceCorrection
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import CountTable
from reliabayes.agreement.item_rows import Rows
from reliabayes.agreement.null_errors import fleiss_null_error, ratings_of_each_item
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.percent import corrected_by_proportions, ratio_of_sums
from reliabayes.agreement.scales import Weights, distance_from_weights, with_weights
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

FLEISS = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} drawn at random beyond chance, given how often all used the "
    "categories",
    ("fleiss1971",),
    "kappa",
    of_null=("fleiss1979",),
)
ONE_CATEGORY = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} drawn at random, beyond chance, on this category or another",
    ("fleiss1971",),
    "kappa",
)


@of_datasets
def fleiss_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Fleiss' kappa, at most 1; 0 at chance level.

    .. math:: \kappa = (P_o - P_e) / (1 - P_e),\quad P_e = \sum_{kl} w_{kl} \pi_k \pi_l

    where pi_k is the proportion of category k among the ratings of an item, averaged over items.
    Items may have any number of ratings; those with a single rating contribute to pi only. For two
    raters it equals Scott's pi.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.
    weights : str or array (K, K), optional
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement".

    See Also
    --------
    Coefficient.test : test of the hypothesis of no agreement beyond chance, with ``error="null"``.

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
    distance = distance_from_weights(ratings, weights)
    kappa = corrected_by_proportions(
        ratings,
        "Fleiss' kappa",
        weights,
        lambda p: 1 - distance.between(p, p),
        with_weights(FLEISS, weights, "cohen1968"),
    )

    def null_error(sums: Array) -> float:
        m = ratings_of_each_item(ratings, 'error="null"')
        return fleiss_null_error(sums[2:], whole_of(ratings).n_items, m)

    return replace(kappa, null_error=null_error if weights is None else None)


@of_datasets
def fleiss_kappa_by_category(ratings: Ratings) -> dict[Any, Coefficient]:
    r"""Fleiss' kappa of each category against all others, at most 1; 0 at chance level.

    .. math:: \kappa_k = 1 - \frac{\sum_i 2 n_{ik} (m_i - n_{ik}) / (m_i (m_i - 1))}
       {2 I \pi_k (1 - \pi_k)}

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.

    Returns
    -------
    dict
        Coefficient by category, with parts "observed disagreement" and "expected disagreement".

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
    table = CountTable.from_ratings(ratings)

    def rows_of(code: int) -> Callable[[Array | None], Rows]:
        def rows(weights: Array | None) -> Rows:
            counts = table.counts(weights)
            n = counts.sum_by_item(counts.n * (counts.category == code))
            pairs, agreeing = counts.pairs_from(code)
            split = ratio(2 * (pairs - agreeing), counts.n_pairs, 0.0)
            proportion = ratio(n, counts.n_ratings, 0.0)
            rest = (counts.n_ratings > 0) - proportion
            return np.column_stack([counts.n_pairs > 0, split, proportion, rest])

        return rows

    def expected(sums: Array) -> Array:
        inside, outside = sums[..., 2], sums[..., 3]
        return 2 * ratio(inside * outside, (inside + outside) ** 2)

    correction = ChanceCorrection(ratio_of_sums, expected, "disagreement")
    return {
        category: correction.coefficient(
            ratings,
            f"Fleiss' kappa of {category}",
            rows_of(code),
            undefined="either no rating or every rating is in the category (0/0)",
            meaning=ONE_CATEGORY,
        )
        for code, category in enumerate(ratings.categories)
    }


def fleiss_z(ratings: Ratings) -> float:
    r"""Test statistic of Fleiss' kappa, standard normal if raters agree by chance only.

    .. math:: z = \kappa \sqrt{\frac{I m (m - 1)}{2}} \frac{\sum_k \pi_k q_k}
       {\sqrt{(\sum_k \pi_k q_k)^2 - \sum_k \pi_k q_k (q_k - \pi_k)}},\quad q_k = 1 - \pi_k

    The standard error in it holds under the hypothesis of chance agreement and is not suitable for
    intervals: use `Coefficient.interval` for those. This is the statistic of
    ``fleiss_kappa(ratings).test(error="null")``, which has its p value.

    Parameters
    ----------
    ratings : Ratings
        The same number m of ratings of each item.

    Returns
    -------
    float
        z.

    Raises
    ------
    RatingsError
        Items differ in their number of ratings, or a rater rated an item twice; no formula is
        published for either.

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
    ratings_of_each_item(ratings, "fleiss_z")
    return fleiss_kappa(ratings).test(error="null").statistic
