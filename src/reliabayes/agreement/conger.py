"""Conger's kappa and iota, where chance follows from each rater's own distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.chance_correction import ChanceCorrection, chance_corrected
from reliabayes.agreement.coefficient import Coefficient, combined
from reliabayes.agreement.count_table import CountTable
from reliabayes.agreement.distance import Distance, Pairwise, disagreement, margins
from reliabayes.agreement.item_rows import Rows, join_columns, rows_from_entries
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.scales import (
    DistanceName,
    Weights,
    distance_between,
    distance_from_weights,
    with_weights,
)
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

CONGER = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} drawn at random beyond chance, given how often each used the "
    "categories",
    ("conger1980",),
    "kappa",
)
IOTA = Meaning(
    estimand="1 less the disagreement within {items} divided by that of two {raters} on different "
    "{items}",
    references=("janson2001",),
)


@of_datasets
def conger_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Conger's kappa of any number of raters, at most 1; 0 at chance level.

    .. math:: \kappa = (P_o - P_e) / (1 - P_e),\quad
       P_e = \binom{R}{2}^{-1} \sum_{r < s} \sum_{kl} w_{kl} p_{rk} p_{sl}

    where P_o is that of Fleiss' kappa, and p_rk the proportion of category k among the ratings by
    rater r. The expected agreement is that of Cohen's kappa, averaged over pairs of raters; with
    two raters and complete data this equals Cohen's kappa. Incomplete data are allowed.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By at least two raters.
    weights : str or array (K, K), optional
        As for `cohen_kappa`, but symmetric.

    Returns
    -------
    Coefficient
        With parts "observed disagreement" and "expected disagreement".

    Raises
    ------
    RatingsError
        The raters are anonymous, or the weights need an order or numbers, and the categories have
        none.

    References
    ----------
    Conger (1980). https://doi.org/10.1037/0033-2909.88.2.322

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([["a", "a", "a"], ["b", "b", "a"], ["b", "a", "b"], ["a", "a", "a"]])
    >>> rb.agreement.conger_kappa(rb.Ratings.from_wide(table))
    Conger's kappa: 0.2727
    """
    meaning = with_weights(CONGER, weights, "cohen1968")
    return _conger(ratings, "Conger's kappa", distance_from_weights(ratings, weights), meaning)


@of_datasets
def iota(
    ratings: Ratings, *others: Ratings, distance: DistanceName | Pairwise | None = None
) -> Coefficient:
    r"""Janson and Olsson's iota, at most 1; 0 at chance level.

    .. math:: \iota = 1 - d_o / d_e,\quad
       d_o = \left[ I \binom{R}{2} \right]^{-1} \sum_{r < s} \sum_i D(x_{ri}, x_{si}),\quad
       d_e = \left[ I^2 \binom{R}{2} \right]^{-1} \sum_{r < s} \sum_{ij} D(x_{ri}, x_{sj})

    For nominal ratings it equals Conger's kappa. With several variables, such as marks for grammar
    and for style, the distances add up: standardise the variables first if their units differ.

    Parameters
    ----------
    ratings, *others : Ratings
        One variable each, matched by the ids of items and raters. In incomplete data every item
        with at least two ratings counts once in d_o, and d_e follows from all ratings of each
        rater.
    distance : {"nominal", "absolute", "squared"} or callable, optional
        Distance D of two ratings. By default "nominal", "absolute" (of ranks) or "squared" for
        nominal, ordered and numeric ratings; Janson and Olsson use "nominal" and "squared".

    Returns
    -------
    Coefficient
        For a single variable with parts "observed disagreement" and "expected disagreement".

    Raises
    ------
    RatingsError
        The raters are anonymous, or the ratings do not suit the distance.

    References
    ----------
    Janson & Olsson (2001). https://doi.org/10.1177/00131640121971239

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [2, 2], [3, 5], [4, 4]]))
    >>> rb.agreement.iota(ratings)
    Iota: 0.6429
    """
    variables = [
        _conger(each, "Iota", distance_between(each, distance), IOTA) for each in (ratings, *others)
    ]
    if not others:
        return variables[0]
    observed, expected = (
        combined("", lambda *parts: np.sum(parts, axis=0), *[one.part(name) for one in variables])
        for name in ("observed disagreement", "expected disagreement")
    )
    return combined("Iota", chance_corrected, observed, expected, limit=1.0, meaning=IOTA)


def _conger(ratings: Ratings, name: str, distance: Distance, meaning: Meaning) -> Coefficient:
    ratings.require_known_raters(name)
    sums = RaterSums.of(ratings, distance)
    return sums.correction.coefficient(ratings, name, sums.rows, meaning=meaning)


@dataclass(frozen=True, eq=False)
class RaterSums:
    """Statistics of items by rater, and the disagreement that follows from their sums.

    Columns: 1 if the item has a pair; mean distance of its pairs; number of ratings by each rater,
    first with every rater counted once, then as often as the rater occurs; margins of the raters.

    Attributes
    ----------
    by_item : CountTable
        Counts by item.
    by_item_and_rater : CountTable
        Counts by item and rater, ``item * n_raters + rater``.
    distance : Distance
        Distance of two ratings.
    n_raters : int
        Number R of raters.
    """

    by_item: CountTable
    by_item_and_rater: CountTable
    distance: Distance
    n_raters: int

    @classmethod
    def of(cls, ratings: Ratings, distance: Distance) -> RaterSums:
        """Statistics of all ratings."""
        raters = ratings.n_raters
        unit = ratings.item.astype(np.int64) * raters + ratings.rater
        by_item_and_rater = CountTable.from_codes(
            unit,
            ratings.category,
            ratings.rater,
            (ratings.n_items * raters, len(ratings.categories)),
        )
        return cls(CountTable.from_ratings(ratings), by_item_and_rater, distance, raters)

    @property
    def width(self) -> int:
        """Number of columns."""
        return 2 + self.n_raters * (2 + self.distance.width)

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        counts, once = self.by_item.counts(weights), self.by_item_and_rater.counts(None)
        weighted = once if weights is None else self.by_item_and_rater.counts(weights)
        item, rater = np.divmod(once.item, self.n_raters)
        is_paired = counts.n_pairs > 0
        mean_distance = ratio(disagreement(self.distance, counts), counts.n_pairs, 0.0)
        sizes = rows_from_entries(
            np.tile(item, 2),
            np.append(rater, rater + self.n_raters),
            np.append(once.n, weighted.n),
            (len(mean_distance), 2 * self.n_raters),
        )
        own = np.column_stack([is_paired, mean_distance])
        return join_columns([own, sizes, margins(self.distance, weighted, self.n_raters)])

    @property
    def correction(self) -> ChanceCorrection:
        """Conger's kappa, given sums (..., S)."""
        return ChanceCorrection(self.observed, self.expected, "disagreement")

    def observed(self, sums: Array) -> Array:
        """Mean distance of two ratings of the same item, given sums (..., S)."""
        return ratio(sums[..., 1], sums[..., 0])

    def expected(self, sums: Array) -> Array:
        """Mean distance of any two ratings by two raters, averaged over pairs of raters."""
        once, weighted, flat = np.split(sums[..., 2:], [self.n_raters, 2 * self.n_raters], axis=-1)
        multiplicity = ratio(weighted, once, 0.0)
        margin = flat.reshape(*multiplicity.shape, self.distance.width)
        margin = ratio(margin, once[..., None], 0.0)
        total = margin.sum(-2)
        same = self.distance.between(margin, margin).sum(-1)
        pairs = multiplicity.sum(-1) ** 2 - (multiplicity**2).sum(-1)
        return ratio(self.distance.between(total, total) - same, pairs)
