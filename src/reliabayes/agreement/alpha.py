"""Krippendorff's alpha, for any number of raters and any metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.chance_correction import ChanceCorrection
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import CountTable, pairs_within_items
from reliabayes.agreement.distance import (
    Custom,
    Distance,
    Nominal,
    Pairwise,
    disagreement,
    margins,
)
from reliabayes.agreement.item_rows import Rows, join_columns, rows_from_entries
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.scales import (
    category_positions,
    category_values,
    distance_on_scale,
    require_ratio_scale,
    squared,
)
from reliabayes.agreement.set_distances import SetMetric, set_distances, sets_of
from reliabayes.agreement.whole import require_shared_categories, whole_of
from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

Metric = Literal[
    "nominal", "ordinal", "interval", "ratio", "circular", "bipolar", "jaccard", "masi"
]

ALPHA = Meaning(
    "Inter-rater agreement",
    "1 less the disagreement within {items} divided by that of ratings paired at random",
    ("krippendorff2011",),
)
DEFAULT_METRIC: dict[str, Metric] = {
    "nominal": "nominal",
    "ordered": "ordinal",
    "numeric": "interval",
}


@of_datasets
def krippendorff_alpha(ratings: Ratings, metric: Metric | Pairwise | None = None) -> Coefficient:
    r"""Krippendorff's alpha, at most 1; 0 at chance level.

    .. math:: \alpha = 1 - D_o / D_e,\quad
       D_o = \frac{1}{n} \sum_i \frac{1}{m_i - 1} \sum_{j \ne k} \delta(x_{ij}, x_{ik}),\quad
       D_e = \frac{1}{n (n - 1)} \sum_{a \ne b} \delta(x_a, x_b)

    over the n ratings of items that have m_i > 1 ratings. Items count in proportion to their
    ratings, not once as in Fleiss' kappa, and chance draws two ratings without replacement.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Any design; raters may be anonymous.
    metric : str or callable, optional
        Distance delta of two ratings c and k; adjacent ordered categories are 1 apart. By default
        "nominal", "ordinal" or "interval", according to the scale.

        - "nominal": 0 or 1.
        - "ordinal": squared number of ratings between c and k, including half of those at c and k.
        - "interval": (c - k)^2.
        - "ratio": ((c - k) / (c + k))^2, for non-negative numbers.
        - "circular": sin^2(pi (c - k) / U), where U is 1 + the largest minus the smallest category;
          declare all categories, such as the hours 0 to 23.
        - "bipolar": (c - k)^2 / ((c + k - 2 smallest) (2 largest - c - k)).
        - "jaccard", for sets of labels: 1 - s, where s is the number of labels in both sets divided
          by the number of those in either.
        - "masi", for sets of labels: 1 - m s, where m is 1 for equal sets, 2/3 if one contains the
          other, 1/3 if they overlap otherwise.
        - a function of two arrays, of numbers for numeric ratings and of labels otherwise.

    Returns
    -------
    Coefficient
        With parts "observed disagreement" and "expected disagreement".

    Raises
    ------
    RatingsError
        The ratings do not suit the metric.

    Notes
    -----
    The time is O(N log N). Metrics other than "nominal" and "interval" also visit the pairs of
    distinct ratings of each item, and of these all but "ordinal" need a table (K, K).

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    https://repository.upenn.edu/asc_papers/43. MASI: Passonneau (2006),
    https://aclanthology.org/L06-1392/

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 4], [4, 4]]))
    >>> rb.agreement.krippendorff_alpha(ratings)
    Krippendorff's alpha (interval): 0.9263
    """
    chosen = DEFAULT_METRIC[ratings.scale] if metric is None else metric
    name = f"Krippendorff's alpha ({'custom' if callable(chosen) else chosen})"
    if chosen == "ordinal":
        return _ordinal(ratings, name)
    meaning = ALPHA
    if chosen == "masi":
        meaning = replace(ALPHA, references=(*ALPHA.references, "passonneau2006"))
    sums = AlphaSums(CountTable.from_ratings(ratings), _distance(ratings, chosen))
    return sums.correction.coefficient(ratings, name, sums.rows, meaning=meaning)


@dataclass(frozen=True, eq=False)
class AlphaSums:
    """Statistics of items for alpha, and the disagreement that follows from their sums.

    Columns: disagreement and number of ratings of an item that has a pair; its margin.

    Attributes
    ----------
    table : CountTable
        Counts by item.
    distance : Distance
        Distance of two ratings.
    """

    table: CountTable
    distance: Distance

    @property
    def width(self) -> int:
        """Number of columns."""
        return 2 + self.distance.width

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        counts = self.table.counts(weights)
        paired = counts.of_pairable
        per_pair = ratio(paired.n_ratings, counts.n_pairs, 0.0)
        observed = disagreement(self.distance, paired) * per_pair
        own = np.column_stack([observed, paired.n_ratings])
        return join_columns([own, margins(self.distance, paired)])

    @property
    def correction(self) -> ChanceCorrection:
        """Alpha, given sums (..., S)."""
        return ChanceCorrection(self.observed, self.expected, "disagreement")

    def observed(self, sums: Array) -> Array:
        """Mean distance of two ratings of the same item."""
        return ratio(sums[..., 0], sums[..., 1])

    def expected(self, sums: Array) -> Array:
        """Mean distance of any two ratings."""
        n, margin = sums[..., 1], sums[..., 2:]
        return ratio(self.distance.between(margin, margin), n * (n - 1))


def _distance(ratings: Ratings, metric: Metric | Pairwise) -> Distance:
    if metric == "interval":
        return squared(ratings)
    require_shared_categories(ratings)
    if metric == "nominal":
        return Nominal(len(ratings.categories))
    if callable(metric):
        return Custom.of(category_values(ratings), metric)
    if metric not in get_args(Metric):
        known = ", ".join(get_args(Metric))
        raise ValueError(f"metric must be one of {known}, or a function, not {metric!r}.")
    if metric in get_args(SetMetric):
        sets = sets_of(ratings, f'the metric "{metric}"')
        return Custom(set_distances(sets, metric))
    if metric == "ratio":
        require_ratio_scale(ratings, 'the metric "ratio"')
    values = category_positions(ratings)
    return Custom.of(values, distance_on_scale(metric, values[0], values[-1]))


def _ordinal(ratings: Ratings, name: str) -> Coefficient:
    """Alpha whose distances count the ratings in between, and so depend on the sample.

    Columns: number of ratings in each category; coincidences of each pair of categories that occurs
    within an item.
    """
    require_shared_categories(ratings)
    table, size = CountTable.from_ratings(ratings), len(category_positions(ratings))
    pairs = whole_of(ratings).category_pairs
    low, high = np.divmod(pairs, size)
    of_items = _Coincidences.of(table.item, table.category, size, pairs)
    own = table.own
    of_raters = own and _Coincidences.of(own.table.item, own.table.category, size, pairs)

    def rows(weights: Array | None) -> Rows:
        counts = table.counts(weights)
        paired = counts.of_pairable
        per_pair = ratio(paired.n_ratings, counts.n_pairs, 0.0)
        entries = [of_items.entries(paired.n, per_pair)]
        if paired.own is not None and of_raters:
            within = paired.own
            unit, column, number = of_raters.entries(within.counts.n, per_pair[within.item])
            entries.append((within.item[unit], column, -number))
        item, column, number = (np.concatenate(each) for each in zip(*entries, strict=True))
        return rows_from_entries(
            np.append(table.item, item),
            np.append(table.category, size + column),
            np.append(paired.n, number),
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

    correction = ChanceCorrection(observed, expected, "disagreement")
    return correction.coefficient(ratings, name, rows, meaning=ALPHA)


@dataclass(frozen=True, eq=False)
class _Coincidences:
    """Pairs of categories that occur within groups of ratings.

    Attributes
    ----------
    group : array of int, shape (P,)
        Group of each pair.
    one, other : array of int, shape (P,)
        Cells of the count table whose ratings form the pairs.
    column : array of int, shape (P,)
        Position of the pair of categories among all.
    """

    group: Codes
    one: Codes
    other: Codes
    column: Codes

    @classmethod
    def of(cls, group: Codes, category: Codes, size: int, pairs: Codes) -> _Coincidences:
        """Pairs of cells (C,) that are sorted by group."""
        one, other = pairs_within_items(group)
        column = np.searchsorted(pairs, category[one] * size + category[other])
        return cls(group[one], one, other, column)

    def entries(self, n: Array, per_pair: Array) -> tuple[Codes, Codes, Array]:
        """Group, column and number of pairs, given cells (C,) and a factor for each group."""
        number = 2 * n[self.one] * n[self.other] * per_pair[self.group]
        return self.group, self.column, number
