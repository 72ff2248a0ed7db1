"""Coefficients whose expected agreement depends on the number of categories: S, AC1 and AC2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.item_rows import column_sums, join_columns
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.percent import corrected_by_proportions
from reliabayes.agreement.scales import Weights, agreement_weights, with_weights
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

BRENNAN = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} drawn at random beyond that of uniform guesses",
    ("brennan1981",),
    "kappa",
)
AC1 = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} drawn at random beyond that of guesses on {items} that are hard "
    "to rate",
    ("gwet2008",),
    "kappa",
)
AC2 = replace(AC1, references=())


@of_datasets
def brennan_prediger(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Brennan & Prediger's S, with equal chances of all categories, at most 1.

    .. math:: S = (P_o - P_e) / (1 - P_e),\quad P_e = \sum_{kl} w_{kl} / K^2

    Known as Bennett's S for two raters, and as Randolph's free-marginal kappa for more. It depends
    on the number K of categories, used or not: declare them when reading the ratings.

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
    mean_weight = agreement_weights(ratings, weights).mean()
    return corrected_by_proportions(
        ratings,
        "Brennan-Prediger S",
        weights,
        lambda p: mean_weight * p.sum(-1),
        with_weights(BRENNAN, weights, "gwet2014"),
    )


@of_datasets
def gwet_ac1(ratings: Ratings) -> Coefficient:
    r"""Gwet's AC1, at most 1.

    .. math:: AC_1 = (P_o - P_e) / (1 - P_e),\quad P_e = \frac{1}{K - 1} \sum_k \pi_k (1 - \pi_k)

    The expected agreement decreases as ratings concentrate in one category: where nearly all
    ratings are in one category, AC1 is close to P_o and kappas are close to 0. It depends on the
    number K of categories, as `brennan_prediger` does.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
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
    return _gwet(ratings, "Gwet's AC1", None, AC1)


@of_datasets
def gwet_ac2(ratings: Ratings, weights: Weights = "quadratic") -> Coefficient:
    r"""Gwet's AC2, which is AC1 with partial agreement of different categories, at most 1.

    .. math:: AC_2 = (P_o - P_e) / (1 - P_e),\quad
       P_e = \frac{\sum_{kl} w_{kl}}{K (K - 1)} \sum_k \pi_k (1 - \pi_k)

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design.
    weights : str or array (K, K), default "quadratic"
        As for `percent_agreement`, which is P_o.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement".

    Raises
    ------
    RatingsError
        The weights need an order or numbers, and the categories have none.

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
    return _gwet(ratings, "Gwet's AC2", weights, with_weights(AC2, weights, "gwet2014"))


def gwet_error(coefficient: Coefficient) -> float:
    r"""Standard error that Gwet publishes and irrCAC prints, for designs with singly rated items.

    .. math:: \frac{1}{n (n - 1)} \sum_i (\gamma_i - \gamma)^2,\quad
       \gamma_i = \frac{n}{n_2} \frac{P_{o,i} - P_e}{1 - P_e} [m_i > 1]
       - (1 - \gamma) \frac{d P_e}{1 - P_e}

    for the square, with the n_2 of n items that have two ratings or more. It takes n_2 as known,
    so that an item rated once counts as one without agreement, and is too large the more of them
    there are: use ``standard_error(method="analytic")``, to which it is equal if there are none.

    Parameters
    ----------
    coefficient : Coefficient
        Of `gwet_ac1`, `gwet_ac2`, `brennan_prediger` or `fleiss_kappa`.

    Returns
    -------
    float
        The standard error.

    Raises
    ------
    ValueError
        It is another coefficient.

    References
    ----------
    Gwet (2014), Handbook of inter-rater reliability, 4th ed., ISBN 978-0970806284.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([["a", "a"], ["b", "b"], ["b", "a"], ["a", "a"], ["a", None]])
    >>> ac1 = rb.agreement.gwet_ac1(rb.Ratings.from_wide(table))
    >>> round(gwet_error(ac1), 3), round(ac1.standard_error(method="analytic"), 3)
    (0.46, 0.452)
    """
    expected = coefficient.parts.get("expected agreement")
    names = ("Gwet's", "Brennan", "Fleiss'")
    if expected is None or not coefficient.name.startswith(names):
        raise ValueError(
            f"coefficient must be AC1, AC2, Brennan & Prediger's S or Fleiss' kappa, not "
            f"{coefficient.name}."
        )
    rows = coefficient.rows(None)
    n_items = rows.shape[0]
    paired = float(column_sums(rows)[0]) / n_items

    def formula(sums: Array) -> Array:
        n, own = sums[..., 0], sums[..., 1:]
        chance = expected(own)
        return np.asarray((own[..., 1] - chance * own[..., 0]) / (n * paired * (1 - chance)))

    with_ones = join_columns([np.ones((n_items, 1)), rows])
    return replace(
        coefficient, rows=lambda weights: with_ones, formula=formula, parts={}, total=None
    ).standard_error(method="analytic")


def _gwet(ratings: Ratings, name: str, weights: Weights | None, meaning: Meaning) -> Coefficient:
    size = len(ratings.categories)
    scale = agreement_weights(ratings, weights).sum() / (size * (size - 1))
    return corrected_by_proportions(
        ratings, name, weights, lambda p: scale * (p * (1 - p)).sum(-1), meaning
    )
