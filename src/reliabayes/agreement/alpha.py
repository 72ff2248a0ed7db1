"""Krippendorff's alpha, for any number of raters and any metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from reliabayes.agreement.cells import Cells, neighbours, ratio, statistics
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.corrected import corrected
from reliabayes.agreement.distance import Custom, Distance, Nominal, Pairwise, Squared, margins
from reliabayes.agreement.resampling import Rows, side_by_side
from reliabayes.agreement.scales import numbers_or_labels, positions
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed

Metric = Literal["nominal", "ordinal", "interval", "ratio", "circular", "bipolar"]

USUAL: dict[str, Metric] = {"nominal": "nominal", "ordered": "ordinal", "numeric": "interval"}


def krippendorff_alpha(ratings: Ratings, metric: Metric | Pairwise | None = None) -> Coefficient:
    r"""Krippendorff's alpha, at most 1; 0 is what chance gives.

    .. math:: \alpha = 1 - D_o / D_e,\quad
       D_o = \frac{1}{n} \sum_i \frac{1}{m_i - 1} \sum_{j \ne k} \delta(x_{ij}, x_{ik}),\quad
       D_e = \frac{1}{n (n - 1)} \sum_{a \ne b} \delta(x_a, x_b)

    with the n ratings of items that have m_i > 1 of them. An item counts in proportion to its
    ratings, not once as in Fleiss' kappa, and chance draws two ratings without replacement.

    Parameters
    ----------
    ratings : Ratings
        Any design; who rated is of no matter.
    metric : str or callable, optional
        How far apart two ratings c and k are; ordered categories stand 1 apart. By default
        "nominal", "ordinal" or "interval", as the scale is.

        - "nominal": 0 or 1.
        - "ordinal": square of the number of ratings between them, half of their own included.
        - "interval": (c - k)^2.
        - "ratio": ((c - k) / (c + k))^2, of numbers that are not negative.
        - "circular": sin^2(pi (c - k) / U), with U = 1 + the greatest less the least category;
          declare all, such as hours 0 to 23.
        - "bipolar": (c - k)^2 / ((c + k - 2 least) (2 greatest - c - k)).
        - a function of two arrays, of numbers or of the labels if the ratings are none.

    Returns
    -------
    Coefficient
        Parts "observed disagreement" and "expected disagreement".

    Raises
    ------
    RatingsError
        The ratings do not suit the metric.

    Notes
    -----
    Time grows as N log N; metrics but "nominal" and "interval" also go through pairs of an item's
    distinct ratings, and all but "ordinal" among them need a table (K, K).

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    https://repository.upenn.edu/asc_papers/43

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 4], [4, 4]]))
    >>> rb.agreement.krippendorff_alpha(ratings)
    Krippendorff's alpha (interval): 0.9263
    """
    chosen = USUAL[ratings.scale] if metric is None else metric
    name = f"Krippendorff's alpha ({'custom' if callable(chosen) else chosen})"
    if chosen == "ordinal":
        return _ordinal(ratings, name)
    sums = AlphaSums(Cells.of_ratings(ratings), _distance(ratings, chosen))
    return corrected(
        ratings, name, sums.rows, observed=sums.observed, expected=sums.expected, of="disagreement"
    )


@dataclass(frozen=True, eq=False)
class AlphaSums:
    """Statistics of items for alpha with a distance, and what they say.

    Columns are disagreement and number of ratings of an item that has a pair, then its margin.
    """

    cells: Cells
    distance: Distance

    @property
    def width(self) -> int:
        """Number of columns."""
        return 2 + self.distance.width

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        counts = self.cells.counts(weights)
        paired = counts.of_pairable
        disagreement = self.distance.within(paired) * ratio(paired.ratings, counts.pairs, 0.0)
        own = np.column_stack([disagreement, paired.ratings])
        return side_by_side([own, margins(self.distance, paired)])

    def formula(self, sums: Array) -> Array:
        """Alpha."""
        return 1 - ratio(self.observed(sums), self.expected(sums))

    def observed(self, sums: Array) -> Array:
        """Mean distance of two ratings of an item."""
        return ratio(sums[..., 0], sums[..., 1])

    def expected(self, sums: Array) -> Array:
        """Mean distance of any two ratings."""
        n, margin = sums[..., 1], sums[..., 2:]
        return ratio(self.distance.between(margin, margin), n * (n - 1))


def _distance(ratings: Ratings, metric: Metric | Pairwise) -> Distance:
    if metric == "nominal":
        return Nominal(len(ratings.categories))
    if callable(metric):
        return Custom.of(numbers_or_labels(ratings), metric)
    if metric not in get_args(Metric):
        known = ", ".join(get_args(Metric))
        raise ValueError(f"metric must be one of {known}, or a function, not {metric!r}.")
    values = positions(ratings)
    if metric == "interval":
        return Squared(values - values.mean())
    if metric == "ratio" and (ratings.scale != "numeric" or values[0] < 0):
        rule = 'ratings must be numbers, none negative, for the metric "ratio"'
        raise RatingsError([Fault("rating", rule, listed(ratings.categories), 'Pass "interval".')])
    return Custom.of(values, _pairwise(metric, values[0], values[-1]))


def _pairwise(metric: str, least: float, greatest: float) -> Pairwise:
    if metric == "circular":
        return lambda c, k: np.sin(np.pi * (c - k) / (1 + greatest - least)) ** 2
    if metric == "bipolar":
        return lambda c, k: ratio((c - k) ** 2, (c + k - 2 * least) * (2 * greatest - c - k), 0.0)
    return lambda c, k: ratio(c - k, c + k, 0.0) ** 2


def _ordinal(ratings: Ratings, name: str) -> Coefficient:
    """Alpha whose distances depend on how many ratings lie between, and so on the sample.

    Columns are numbers of ratings by category, then by pair of categories that some item has.
    """
    cells, size = Cells.of_ratings(ratings), len(positions(ratings))
    one, other = neighbours(cells.item)
    key = cells.category[one] * size + cells.category[other]
    pairs, column = np.unique(key, return_inverse=True)
    low, high = np.divmod(pairs, size)

    def rows(weights: Array | None) -> Rows:
        counts = cells.counts(weights)
        paired = counts.of_pairable
        share = ratio(paired.ratings, counts.pairs, 0.0)[cells.item[one]]
        coincidences = 2 * paired.n[one] * paired.n[other] * share
        return statistics(
            np.append(cells.item, cells.item[one]),
            np.append(cells.category, size + column),
            np.append(paired.n, coincidences),
            (len(ratings.items), size + len(pairs)),
        )

    def observed(sums: Array) -> Array:
        n, coincidences = sums[..., :size], sums[..., size:]
        rank = np.cumsum(n, -1) - n / 2
        squares = (rank[..., high] - rank[..., low]) ** 2
        return ratio((coincidences * squares).sum(-1), n.sum(-1))

    def expected(sums: Array) -> Array:
        n = sums[..., :size]
        total = n.sum(-1)
        centred = np.cumsum(n, -1) - n / 2 - total[..., None] / 2
        return ratio(2 * (n * centred**2).sum(-1), total - 1)

    return corrected(ratings, name, rows, observed=observed, expected=expected, of="disagreement")
