"""Intraclass correlations as coefficients: formulas of sums over items, for any design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from reliabayes.agreement.cells import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.design import Design
from reliabayes.agreement.resampling import Rows
from reliabayes.agreement.stepping_up import stepped_up
from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings

IccName = Literal["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
Averaged = Literal["ratings", "columns"]

NAMES: tuple[IccName, ...] = get_args(IccName)
LARGEST = 2**27  # numbers that sums of products may take, 1 GB
LARGEST_ROWS = 2**25  # numbers that rows of them may take, ten times over while they are made
ROUNDING = 1e-13  # of differences of sums of squares, relative to these
UNDEFINED = "nothing varies that it could be a share of (0/0)"


def icc(ratings: Ratings, name: IccName = "ICC(2,1)", *, k: Averaged = "ratings") -> Coefficient:
    r"""Intraclass correlation: the share of variance that is between items, at most 1.

    .. math:: \mathrm{ICC}(1) = \frac{\sigma_i^2}{\sigma_i^2 + \sigma_w^2},\quad
       \mathrm{ICC}(2) = \frac{\sigma_i^2}{\sigma_i^2 + \sigma_r^2 + \sigma_e^2},\quad
       \mathrm{ICC}(3) = \frac{\sigma_i^2}{\sigma_i^2 + \sigma_e^2}

    with variances between items (i), between raters (r), residual (e), and within items whoever
    rates (w); for single ratings. ICC(., k) is that of the mean of k ratings, by the formula of
    Spearman & Brown. `which_icc` tells which one to take, `icc_table` shows all of them.

    Parameters
    ----------
    ratings : Ratings
        Numbers, of any design. Raters may be anonymous for ICC(1, .).
    name : str
        One of the six of Shrout & Fleiss.
    k : {"ratings", "columns"}
        "ratings": what items really have. Where all items have equally many (ICC(1, .)), or every
        rater rated every item once (ICC(2, .) and ICC(3, .)), the variances are those of the
        published analysis of variance, and may come out below 0. Other designs have estimates by
        restricted maximum likelihood, none below 0, and k is the harmonic mean of the ratings per
        item; no rating is left out.
        "columns": the published formulas as if all raters had rated all items, k the number of
        raters, as in simulations of the literature; too small where they have not.

    Returns
    -------
    Coefficient
        Intervals over raters need a design with the published formulas.

    Raises
    ------
    RatingsError
        The ratings are no numbers, no item has two of them, or raters and numbers of ratings per
        item are too many to be held in memory.

    References
    ----------
    Shrout & Fleiss (1979). https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> from reliabayes import Ratings, datasets
    >>> ratings = Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    >>> icc(ratings, "ICC(2,1)")
    ICC(2,1): 0.2898
    """
    if name not in NAMES or k not in get_args(Averaged):
        known = ", ".join((*NAMES, *get_args(Averaged)))
        raise ValueError(f"name and k must be among {known}; found {name!r} and {k!r}.")
    ratings.values  # noqa: B018 - raises unless they are numbers
    sums = _sums(ratings, name, k)

    def formula(totals: Array) -> Array:
        single = sums.single(totals)
        return single if name.endswith("1)") else stepped_up(single, sums.averaged(totals))

    shown = f"{name}, k = {ratings.n_raters} columns" if k == "columns" else name
    return Coefficient.of(ratings, shown, sums.rows, formula, total=sums.total, undefined=UNDEFINED)


class IccSums(Protocol):
    """Statistics of items, and what their sums say."""

    @property
    def total(self) -> Callable[[], Array] | None:
        """Sum of the rows, where there is a shorter way to it."""

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""

    def single(self, sums: Array) -> Array:
        """(...) correlation of single ratings, given (..., S) sums."""

    def averaged(self, sums: Array) -> Array | float:
        """(...) number of ratings of an item."""


def _sums(ratings: Ratings, name: IccName, k: Averaged) -> IccSums:
    is_one_way = name.startswith("ICC(1")
    if not is_one_way:
        ratings.require_known_raters(name)
    if k == "columns":
        return ColumnSums(ratings, name)
    if is_one_way and np.ptp(ratings.ratings_per_item) == 0:
        return OneWaySums(ratings)
    if not is_one_way and is_once_each(ratings):
        return TwoWaySums(ratings, name)
    return RestrictedSums(ratings, name)


def is_once_each(ratings: Ratings) -> bool:
    """Whether every rater rated every item, and once."""
    return ratings.is_complete and len(ratings) == ratings.n_pairs


def design_of(ratings: Ratings, name: str) -> Design:
    """Items crossed with raters, or for ICC(1, .) items alone, if that fits into memory."""
    raters = None if name.startswith("ICC(1") else ratings.rater
    design = Design.of(ratings.item, raters, ratings.values)
    _require_space((len(design.n) + 1) * design.size**2, ratings, name)
    return design


def _require_space(numbers: int, ratings: Ratings, name: str, largest: int = LARGEST) -> None:
    if numbers > largest:
        rule = "raters, and ratings of an item, must be few enough for tables of pairs in memory"
        most = ratings.ratings_per_item.max()
        found = f"{ratings.n_raters} and up to {most}, which would take {8 * numbers / 1e9:.2g} GB"
        remedy = "Take ICC(1,1), or GaussianICC, which samples the raters."
        raise RatingsError([Fault(name, rule, found, remedy)])


@dataclass(frozen=True)
class OneWaySums:
    """Equally many ratings of each item, whoever gave them.

    Variances are half the mean squares of differences: within items, and between ratings of
    different items. With all raters once these are the estimates of the analysis of variance.
    """

    ratings: Ratings

    @property
    def total(self) -> None:
        """No shorter way to the sum of the rows."""

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        item, values, weight = _weighted(self.ratings, weights)
        n, total = np.bincount(item, weight), np.bincount(item, weight * values)
        selves = np.bincount(item, weight**2)
        return np.column_stack([n, total, *_squares(item, values, weight), n**2, selves])

    def single(self, sums: Array) -> Array:
        """(...) correlation of single ratings."""
        n, total, square, within, items, selves = np.moveaxis(sums, -1, 0)
        between = less(n * square, total**2)
        inside = ratio(within, items - selves)
        return 1 - ratio(inside, ratio(between - within, n**2 - items))

    def averaged(self, sums: Array) -> Array | float:
        """(...) number of ratings averaged."""
        return float(self.ratings.ratings_per_item[0])


@dataclass(frozen=True)
class TwoWaySums:
    """Every rater rated every item once.

    Variances are half the mean squares of differences: between raters of an item, between items of
    a rater, and between ratings that share neither.
    """

    ratings: Ratings
    name: IccName

    @property
    def total(self) -> None:
        """No shorter way to the sum of the rows."""

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        item, values, weight = _weighted(self.ratings, weights)
        table = values.reshape(self.ratings.n_items, -1)
        raters = weight.reshape(table.shape)
        own = np.column_stack(
            [
                np.ones(len(table)),
                raters.sum(axis=1),
                (raters**2).sum(axis=1),
                (raters * table).sum(axis=1),
                *_squares(item, values, weight),
                (raters**2 * table**2).sum(axis=1),
            ]
        )
        return np.hstack([own, np.sqrt(raters) * table, raters * table])

    def single(self, sums: Array) -> Array:
        """(...) correlation of single ratings."""
        items, n, selves, total, square, within, self_square = np.moveaxis(sums[..., :7], -1, 0)
        rater, self_rater = np.split(sums[..., 7:], 2, axis=-1)
        of_rater = less(items * square, (rater**2).sum(axis=-1))
        of_self = less(items * self_square, (self_rater**2).sum(axis=-1))
        neither = less(less(n * square, total**2) - within, of_self)
        pairs = (n**2 / items - selves) / items  # of raters, none with itself
        raters = ratio(within, items * pairs)
        others = ratio(neither, items * (items - 1) * pairs)
        if has_severity(self.name):
            return ratio(others - raters, others)
        return ratio(others - raters, ratio(of_rater, (items - 1) * n))

    def averaged(self, sums: Array) -> Array | float:
        """(...) number of ratings averaged."""
        return float(self.ratings.n_raters)


class ProductSums:
    """Any design: sums of products by item, whichever formula they serve."""

    def __init__(self, ratings: Ratings, name: IccName) -> None:
        self.ratings = ratings
        self.name = name
        self.design = design_of(ratings, name)

    @property
    def total(self) -> Callable[[], Array]:
        """Sum of the rows, without making them."""
        return self.design.totals

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics; raters cannot be drawn."""
        if weights is not None:
            rule = "raters can be drawn only if all items have equally many ratings, or all raters"
            remedy = 'Pass over="items", or fit GaussianICC, whose interval allows for raters.'
            raise RatingsError([Fault("over", rule, "an incomplete design", remedy)])
        _require_space(self.design.cells, self.ratings, self.name, LARGEST_ROWS)
        return self.design.rows()


class RestrictedSums(ProductSums):
    """Variance components by restricted maximum likelihood."""

    def single(self, sums: Array) -> Array:
        """(...) correlation of single ratings."""
        components = self.design.products(sums).components()
        return components.icc(agreement=has_severity(self.name))

    def averaged(self, sums: Array) -> Array | float:
        """(...) number of ratings averaged."""
        return self.design.products(sums).harmonic_mean


class ColumnSums(ProductSums):
    """The published formulas with as many ratings of each item as there are raters."""

    def single(self, sums: Array) -> Array:
        """(...) correlation of single ratings."""
        squares = self.design.products(sums).mean_squares()
        return squares.icc(self.ratings.n_raters, agreement=has_severity(self.name))

    def averaged(self, sums: Array) -> Array | float:
        """(...) number of ratings averaged."""
        return float(self.ratings.n_raters)


def has_severity(name: str) -> bool:
    """Whether differences between raters count against agreement apart from residuals."""
    return name.startswith("ICC(2")


def less(one: Array, other: Array) -> Array:
    """Difference of sums of squares, 0 where it is but rounding."""
    out = one - other
    return np.where(np.abs(out) > ROUNDING * np.abs(one), out, 0)


def _weighted(ratings: Ratings, weights: Array | None) -> tuple[Codes, Array, Array]:
    """Item (N,), centred rating (N,) and weight (N,) of each rating."""
    values = ratings.values - ratings.values.mean()
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, float)[ratings.rater]
    return ratings.item, values, weight


def _squares(item: Codes, values: Array, weight: Array) -> tuple[Array, Array]:
    """(I,) sums of squared ratings, and of squared differences of unordered pairs."""
    centred = values - values[np.searchsorted(item, item)]  # so that equal ratings give exactly 0
    n, total = np.bincount(item, weight), np.bincount(item, weight * centred)
    within = n * np.bincount(item, weight * centred**2) - total**2
    return np.asarray(np.bincount(item, weight * values**2)), np.asarray(within)
