"""The mean of correlations of all pairs of raters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, get_args

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.arithmetic import difference_of_squares, ratio, sum_by_index
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.item_rows import Rows, rows_from_entries
from reliabayes.agreement.mid_ranks import Concordance, MidRanks
from reliabayes.agreement.rank_correlation import require_order
from reliabayes.agreement.rater_pairs import PairedRatings
from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

Correlation = Literal["spearman", "pearson", "kendall"]
Average = Literal["fisher", "plain"]

ROUNDING = 1e-12  # of a correlation of 1
REFERENCES: Mapping[Correlation, tuple[str, ...]] = {
    "spearman": ("spearman1904",),
    "pearson": (),
    "kendall": ("kendall1945",),
}
NAMES = {"spearman": "Spearman's rho", "pearson": "Pearson's r", "kendall": "Kendall's tau-b"}


def mean_correlation(
    ratings: Ratings, correlation: Correlation = "spearman", *, average: Average = "fisher"
) -> Coefficient:
    r"""Mean correlation of all pairs of raters, in [-1, 1].

    .. math:: \bar{r} = \tanh \frac{1}{P} \sum_{r < s} \operatorname{artanh} r_{rs}
       \quad\text{or}\quad \bar{r} = \frac{1}{P} \sum_{r < s} r_{rs}

    Each pair is compared on the items that both rated. Pairs whose correlation is undefined,
    because they share fewer than two items or one of them gave all of these the same rating, are
    left out. A correlation ignores differences in severity, and Pearson's and the ICC(3,1) differ
    only by the spread of raters' ratings.

    Parameters
    ----------
    ratings : Ratings
        Numeric or ordered, by at least two raters.
    correlation : {"spearman", "pearson", "kendall"}, default "spearman"
        Of ranks; of numbers, or of ranks of ordered categories as numbers; or tau-b, the excess of
        concordant over discordant pairs of items, corrected for ties.
    average : {"fisher", "plain"}, default "fisher"
        Whether the mean is one of Fisher's z or of the correlations themselves.

    Returns
    -------
    Coefficient
        The mean, with methods for its intervals. Items are ranked anew in each bootstrap sample.
        With Fisher's z it is undefined if some correlations are perfect and others are not,
        because z is infinite for these.

    Raises
    ------
    RatingsError
        The raters are anonymous, or the ratings have no order.
    ValueError
        There is no such correlation or average.

    See Also
    --------
    kendall_w : Concordance of all raters together.

    Notes
    -----
    irr drops perfect correlations from the mean of z, which makes it smaller. Its test of the mean
    supposes that pairs of raters are independent, which they are not; use the interval.

    References
    ----------
    Spearman (1904), https://doi.org/10.2307/1412159; Kendall (1945), on ties,
    https://doi.org/10.1093/biomet/33.3.239. Fisher's z of means: Silver & Dunlap (1987),
    https://doi.org/10.1037/0021-9010.72.1.146

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 1, 2], [2, 3, 1], [3, 2, 4], [4, 4, 3]]))
    >>> rb.agreement.mean_correlation(ratings, "kendall", average="plain")
    Mean of Kendall's tau-b: 0.3333
    """
    for name, value, known in (
        ("correlation", correlation, get_args(Correlation)),
        ("average", average, get_args(Average)),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}.")
    ratings.require_known_raters("mean_correlation")
    require_order(ratings)
    pairs = _Pairs.of(ratings)
    of_pairs: _Moments | _Ranks = (
        _Moments(pairs)
        if correlation == "pearson"
        else _Ranks(pairs, _Spearman if correlation == "spearman" else _Kendall)
    )
    return Coefficient.of(
        ratings,
        f"Mean of {NAMES[correlation]}",
        of_pairs.rows,
        of_pairs.mean(average),
        least=-1.0,
        meaning=_meaning(correlation, average),
        undefined=(
            "no two raters of the same items vary (0/0), or some pairs correlate perfectly and "
            'others do not, so that Fisher\'s z is infinite: pass average="plain"'
        ),
    )


def _meaning(correlation: Correlation, average: Average) -> Meaning:
    estimand = "the mean correlation of pairs of {raters}"
    if average == "plain":
        return Meaning(estimand=estimand, references=REFERENCES[correlation])
    return Meaning(
        estimand=f"{estimand} by Fisher's z", references=(*REFERENCES[correlation], "silver1987")
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of ratings of the same item, sorted by pair of raters.

    Attributes
    ----------
    paired : PairedRatings
        The pairs.
    values : tuple of array of float, shape (M,)
        Both ratings.
    """

    paired: PairedRatings
    values: tuple[Array, Array]

    @classmethod
    def of(cls, ratings: Ratings) -> _Pairs:
        paired = PairedRatings.of(ratings).sorted_by_pair()
        one, other = (ratings.rating[each].astype(np.float64) for each in paired.positions)
        return cls(paired, (one, other))

    @property
    def starts(self) -> Codes:
        """(P,) first pair of ratings of each pair of raters."""
        return np.flatnonzero(np.diff(self.paired.pair, prepend=-1))


class _OfPair(Protocol):
    """A correlation of two raters, given how often each pair of ratings occurs (..., n)."""

    def __call__(self, weights: Array) -> Array:
        """The correlation (...)."""

    def slopes(self, weights: Array) -> Array:
        """(n,) its derivatives in weights (n,)."""


class _Moments:
    """Pearson's correlations, which follow from sums over items.

    Columns, for each pair of raters: how often they share an item, if raters occur once and as they
    do; and sums of both ratings, of their squares and of their product.
    """

    def __init__(self, pairs: _Pairs) -> None:
        self._paired, self._n_pairs = pairs.paired, pairs.paired.n_pairs
        x, y = (self._centred(each) for each in pairs.values)
        self._columns = [x, y, x**2, y**2, x * y]

    def _centred(self, values: Array) -> Array:
        """For precision."""
        pair = self._paired.pair
        mean = sum_by_index(pair, values, self._n_pairs) / np.bincount(pair)
        return np.asarray(values - mean[pair])

    def rows(self, weights: Array | None) -> Rows:
        pairs = self._paired
        columns = [np.ones(len(pairs.item)), pairs.times(weights), *self._columns]
        place = [pairs.pair * len(columns) + number for number in range(len(columns))]
        shape = pairs.n_items, self._n_pairs * len(columns)
        item = np.tile(pairs.item, len(columns))
        return rows_from_entries(item, np.concatenate(place), np.concatenate(columns), shape)

    def mean(self, average: Average) -> Callable[[Array], Array]:
        return partial(_mean, self.correlations, average)

    def correlations(self, sums: Array) -> tuple[Array, Array]:
        by_pair = sums.reshape(*sums.shape[:-1], self._n_pairs, 7)
        n, weighted, x, y, xx, yy, xy = np.moveaxis(by_pair, -1, 0)
        spread_x = difference_of_squares(n * xx, x**2)
        spread_y = difference_of_squares(n * yy, y**2)
        r = ratio(n * xy - x * y, np.sqrt(spread_x * spread_y))
        return r, ratio(weighted, n, 0.0)


class _Ranks:
    """Correlations of ranks, which depend on how often each item occurs.

    Columns: how often each pair of ratings occurs if raters occur once, and as they do.
    """

    def __init__(self, pairs: _Pairs, of_pair: Callable[[Array, Array], _OfPair]) -> None:
        self._paired, self._starts = pairs.paired, pairs.starts
        each = [np.split(values, self._starts[1:]) for values in pairs.values]
        self._of_pairs: list[_OfPair] = list(map(of_pair, *each))

    def rows(self, weights: Array | None) -> Rows:
        number = len(self._paired.item)
        values = np.append(np.ones(number), self._paired.times(weights))
        at = np.tile(self._paired.item, 2), np.arange(2 * number)
        return sp.csr_array((values, at), (self._paired.n_items, 2 * number))

    def mean(self, average: Average) -> Callable[[Array], Array]:
        return _MeanOfRanks(self, average)

    def slopes(self, sums: Array) -> list[Array]:
        """Derivatives of the correlation of each pair of raters in how often items occur."""
        each = np.split(np.split(sums, 2)[0], self._starts[1:])
        return [of_pair.slopes(n) for of_pair, n in zip(self._of_pairs, each, strict=True)]

    def correlations(self, sums: Array) -> tuple[Array, Array]:
        once, weighted = np.split(sums, 2, axis=-1)
        each = np.split(once, self._starts[1:], axis=-1)
        values = [of_pair(n) for of_pair, n in zip(self._of_pairs, each, strict=True)]
        total, total_once = (np.add.reduceat(n, self._starts, axis=-1) for n in (weighted, once))
        return np.stack(values, axis=-1), ratio(total, total_once, 0.0)


@dataclass(frozen=True, eq=False)
class _MeanOfRanks:
    """Mean of correlations of ranks."""

    ranks: _Ranks
    average: Average

    def __call__(self, sums: Array) -> Array:
        return _mean(self.ranks.correlations, self.average, sums)

    def gradient(self, sums: Array) -> Array:
        """Derivatives in how often items occur; how often raters do is the same along rows."""
        values, times = self.ranks.correlations(sums)
        is_defined = ~np.isnan(values)
        share = np.where(is_defined, times, 0.0) / times[is_defined].sum()
        is_perfect = is_defined & (1 - np.abs(values) < ROUNDING)
        if self.average == "fisher" and not is_perfect.any():
            share = share * (1 - self(sums) ** 2) / (1 - np.where(is_defined, values, 0.0) ** 2)
        slopes = zip(share, self.ranks.slopes(sums), is_defined, strict=True)
        of_items = np.concatenate(
            [each * slope if known else np.zeros_like(slope) for each, slope, known in slopes]
        )
        return np.append(of_items, np.zeros(len(of_items)))


def _mean(
    correlations: Callable[[Array], tuple[Array, Array]], average: Average, sums: Array
) -> Array:
    """(...) mean over pairs of raters, each as often as it occurs, ignoring undefined values."""
    values, times = correlations(sums)
    is_defined = ~np.isnan(values)
    values, times = np.where(is_defined, values, 0.0), np.where(is_defined, times, 0.0)
    if average == "plain":
        return ratio((values * times).sum(-1), times.sum(-1))
    return _mean_by_z(values, times)


def _mean_by_z(values: Array, times: Array) -> Array:
    """Mean by Fisher's z; nan where some values are perfect and others are not."""
    is_perfect = 1 - np.abs(values.real) < ROUNDING
    z = np.arctanh(np.where(is_perfect, 0.0, values))
    mean = np.tanh(ratio((z * times).sum(-1), times.sum(-1)))
    signs = ratio((values * times).sum(-1), times.sum(-1))
    has_perfect = (is_perfect & (times != 0)).any(-1)
    are_alike = 1 - np.abs(signs.real) < ROUNDING
    return np.where(has_perfect, np.where(are_alike, signs, np.nan), mean)


class _Spearman:
    def __init__(self, one: Array, other: Array) -> None:
        self._ranks = MidRanks(one), MidRanks(other)

    def __call__(self, weights: Array) -> Array:
        first, second = (each.centred(weights) for each in self._ranks)
        variances = [(weights * each**2).sum(-1) for each in (first, second)]
        return ratio((weights * first * second).sum(-1), np.sqrt(variances[0] * variances[1]))

    def slopes(self, weights: Array) -> Array:
        first, second = (each.centred(weights) for each in self._ranks)
        one, other = self._ranks
        product = first * second - one.centred(weights * second) - other.centred(weights * first)
        spreads = [(weights * each**2).sum() for each in (first, second)]
        relative = sum(
            ratio(ranks.spread_slopes(weights, centred), spread)
            for ranks, centred, spread in zip(self._ranks, (first, second), spreads, strict=True)
        )
        root = np.sqrt(spreads[0] * spreads[1])
        return np.asarray(ratio(product, root) - self(weights) / 2 * relative)


class _Kendall:
    def __init__(self, one: Array, other: Array) -> None:
        self._concordance, self._ranks = Concordance(one, other), (MidRanks(one), MidRanks(other))

    def __call__(self, weights: Array) -> Array:
        first, second = (each.untied(weights) for each in self._ranks)
        return ratio(2 * self._concordance.excess(weights), np.sqrt(first * second))

    def slopes(self, weights: Array) -> Array:
        first, second = (each.untied(weights) for each in self._ranks)
        slopes = [each.untied_slopes(weights) for each in self._ranks]
        relative = ratio(slopes[0], first) + ratio(slopes[1], second)
        excess = ratio(2 * self._concordance.slopes(weights), np.sqrt(first * second))
        return np.asarray(excess - self(weights) / 2 * relative)
