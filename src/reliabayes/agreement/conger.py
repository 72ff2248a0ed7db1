"""Kappas of many known raters, whose own distributions of ratings make up chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.agreement.cells import Cells, ratio, statistics
from reliabayes.agreement.coefficient import Coefficient, combined
from reliabayes.agreement.corrected import corrected
from reliabayes.agreement.distance import Distance, Pairwise, margins
from reliabayes.agreement.resampling import Rows, side_by_side
from reliabayes.agreement.scales import (
    DistanceName,
    Weights,
    measured,
    weighted,
)
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


def conger_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Conger's kappa of any number of raters, at most 1; 0 is what chance gives.

    .. math:: \kappa = (P_o - P_e) / (1 - P_e),\quad
       P_e = \binom{R}{2}^{-1} \sum_{r < s} \sum_{kl} w_{kl} p_{rk} p_{sl}

    with P_o as for Fleiss' kappa, and p_rk the share of category k among the ratings by r. Chance
    is that of Cohen's kappa, averaged over pairs of raters; of two raters and complete data this is
    Cohen's kappa. Incomplete data are used as they are.

    Parameters
    ----------
    ratings : Ratings
        By two raters or more.
    weights
        As for `cohen_kappa`.

    Returns
    -------
    Coefficient
        Parts "observed disagreement" and "expected disagreement".

    Raises
    ------
    RatingsError
        The raters are anonymous, or nominal categories are to have linear or quadratic weights.

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
    return _of_raters(ratings, "Conger's kappa", weighted(ratings, weights))


def iota(
    ratings: Ratings, *others: Ratings, distance: DistanceName | Pairwise | None = None
) -> Coefficient:
    r"""Iota of Janson and Olsson, at most 1; 0 is what chance gives.

    .. math:: \iota = 1 - d_o / d_e,\quad
       d_o = \left[ I \binom{R}{2} \right]^{-1} \sum_{r < s} \sum_i D(x_{ri}, x_{si}),\quad
       d_e = \left[ I^2 \binom{R}{2} \right]^{-1} \sum_{r < s} \sum_{ij} D(x_{ri}, x_{sj})

    Of nominal ratings this is Conger's kappa. Several variables, such as the marks of one exam for
    grammar and style, add up their distances: standardise them first if their units differ.

    Parameters
    ----------
    ratings, *others : Ratings
        A variable each, matched by the ids of items and raters. In incomplete data, each item that
        has two ratings counts once in d_o, and each rater's own ratings make up d_e.
    distance : {"nominal", "absolute", "squared"} or callable, optional
        D of two ratings. By default "nominal", "absolute" (steps) or "squared", for nominal,
        ordered and numeric ratings; Janson and Olsson use "nominal" and "squared".

    Returns
    -------
    Coefficient
        Of one variable, with the parts "observed disagreement" and "expected disagreement".

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
    variables = [_of_raters(each, "Iota", measured(each, distance)) for each in (ratings, *others)]
    if not others:
        return variables[0]
    observed, expected = (
        combined("", lambda *parts: np.sum(parts, axis=0), *[one.part(name) for one in variables])
        for name in ("observed disagreement", "expected disagreement")
    )
    return combined("Iota", lambda seen, by_chance: 1 - ratio(seen, by_chance), observed, expected)


def _of_raters(ratings: Ratings, name: str, distance: Distance) -> Coefficient:
    ratings.require_known_raters(name)
    sums = RaterSums.of(ratings, distance)
    return corrected(
        ratings, name, sums.rows, observed=sums.observed, expected=sums.expected, of="disagreement"
    )


@dataclass(frozen=True, eq=False)
class RaterSums:
    """Statistics of items by rater, and the disagreement that they say.

    Columns: item has a pair; mean distance of its pairs; of each rater ratings, counted once, then
    as often as the rater occurs; margins of the raters.
    """

    cells: Cells
    by_rater: Cells
    distance: Distance
    n_raters: int

    @classmethod
    def of(cls, ratings: Ratings, distance: Distance) -> RaterSums:
        """Statistics of all ratings."""
        size, raters = len(ratings.categories), ratings.n_raters
        unit = ratings.item.astype(np.int64) * raters + ratings.rater
        by_rater = Cells.of(unit, ratings.category, ratings.rater, (ratings.n_items * raters, size))
        return cls(Cells.of_ratings(ratings), by_rater, distance, raters)

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        counts, once = self.cells.counts(weights), self.by_rater.counts(None)
        weighted = once if weights is None else self.by_rater.counts(weights)
        item, rater = np.divmod(once.item, self.n_raters)
        is_paired = counts.pairs > 0
        far = ratio(self.distance.within(counts), counts.pairs, 0.0)
        sizes = statistics(
            np.tile(item, 2),
            np.append(rater, rater + self.n_raters),
            np.append(once.n, weighted.n),
            (len(far), 2 * self.n_raters),
        )
        own = np.column_stack([is_paired, far])
        return side_by_side([own, sizes, margins(self.distance, weighted, self.n_raters)])

    def observed(self, sums: Array) -> Array:
        """Mean distance of two ratings of an item."""
        return ratio(sums[..., 1], sums[..., 0])

    def expected(self, sums: Array) -> Array:
        """Mean distance of any rating by one rater and any by another, averaged over raters."""
        once, weighted, flat = np.split(sums[..., 2:], [self.n_raters, 2 * self.n_raters], axis=-1)
        times = ratio(weighted, once, 0.0)
        margin = flat.reshape(*times.shape, self.distance.width)
        margin = ratio(margin, once[..., None], 0.0)
        total = margin.sum(-2)
        same = self.distance.between(margin, margin).sum(-1)
        pairs = times.sum(-1) ** 2 - (times**2).sum(-1)
        return ratio(self.distance.between(total, total) - same, pairs)
