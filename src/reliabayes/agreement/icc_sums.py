"""Statistics of items from which intraclass correlations follow, by design and model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from reliabayes.agreement.arithmetic import difference_of_squares, ratio
from reliabayes.agreement.design import Design
from reliabayes.agreement.item_rows import Rows
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings

MAX_PRODUCTS = 2**27  # elements of the sums of products, 1 GB
MAX_ROW_ELEMENTS = 2**25  # elements of the rows; building them takes ten times as much memory


class IccSums(Protocol):
    """Statistics of items, and the ICC that follows from their sums."""

    @property
    def total(self) -> Callable[[], Array] | None:
        """Function that returns the sum of the rows at less cost than the rows, if there is one."""

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""

    def single(self, sums: Array) -> Array:
        """(...) ICC of single ratings, given sums (..., S)."""

    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of ratings that a mean averages."""


def require_several_items_per_rater(ratings: Ratings, name: str) -> None:
    """Raise unless severity can be told from residuals.

    Parameters
    ----------
    ratings : Ratings
        Numeric, by known raters.
    name : str
        Name of the ICC, with which the message starts.

    Raises
    ------
    RatingsError
        No rater has two ratings.
    """
    if whole_of(ratings).n_ratings == ratings.n_raters:
        rule = "some rater must have two ratings, so that severity can be told from residuals"
        found = f"{ratings.n_raters} raters with one rating each"
        raise RatingsError([Fault(name, rule, found, "Use ICC(1,1) or ICC(1,k).")])


def design_of(ratings: Ratings, name: str) -> Design:
    """Return the design that an ICC assumes, if its products fit into memory.

    Parameters
    ----------
    ratings : Ratings
        Numeric.
    name : str
        Name of the ICC.

    Returns
    -------
    Design
        Items crossed with raters; for ICC(1, .) items only.

    Raises
    ------
    RatingsError
        The products do not fit into memory.
    """
    raters = None if name.startswith("ICC(1") else ratings.rater
    whole = whole_of(ratings)
    centred = ratings.values - whole.mean
    design = Design.of(ratings.item, raters, centred, whole.sizes, ratings.n_raters)
    _require_memory((len(design.sizes) + 1) * design.matrix_size**2, ratings, name)
    return design


def _require_memory(
    elements: int, ratings: Ratings, name: str, largest: int = MAX_PRODUCTS
) -> None:
    if elements > largest:
        rule = "tables of pairs of raters, and of ratings of an item, must fit into memory"
        most = whole_of(ratings).sizes[-1]
        found = (
            f"{ratings.n_raters} raters and up to {most} ratings per item, which would take "
            f"{8 * elements / 1e9:.2g} GB"
        )
        remedy = "Use ICC(1,1), or GaussianICC, which samples the raters."
        raise RatingsError([Fault(name, rule, found, remedy)])


@dataclass(frozen=True)
class OneWaySums:
    """Statistics for ICC(1, .) with the same number of ratings of each item.

    Variances are half the mean squared differences: within items, and between ratings of different
    items. If every rater occurs once, these are the estimates of the analysis of variance.

    Attributes
    ----------
    ratings : Ratings
        Numeric.
    """

    ratings: Ratings

    @property
    def total(self) -> None:
        """None: there is no cheaper way to the sum of the rows."""

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        item, values, weight = _weighted(self.ratings, weights)
        n, total = np.bincount(item, weight), np.bincount(item, weight * values)
        selves = np.bincount(item, weight**2)
        return np.column_stack([n, total, *_squares(item, values, weight), n**2, selves])

    def single(self, sums: Array) -> Array:
        """(...) ICC of single ratings."""
        n, total, square, within, n_squared, selves = np.moveaxis(sums, -1, 0)
        between = difference_of_squares(n * square, total**2)
        within_items = ratio(within, n_squared - selves)
        return 1 - ratio(within_items, ratio(between - within, n**2 - n_squared))

    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of ratings that a mean averages."""
        return float(whole_of(self.ratings).sizes[0])


@dataclass(frozen=True)
class TwoWaySums:
    """Statistics for ICC(2, .) and ICC(3, .) with every rater rating every item once.

    Variances are half the mean squared differences: between raters of an item, between items of a
    rater, and between ratings that share neither.

    Attributes
    ----------
    ratings : Ratings
        Numeric.
    name : str
        Name of the ICC.
    """

    ratings: Ratings
    name: str

    @property
    def total(self) -> None:
        """None: there is no cheaper way to the sum of the rows."""

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
        """(...) ICC of single ratings."""
        n_items, n, selves, total, square, within, self_square = np.moveaxis(sums[..., :7], -1, 0)
        rater, self_rater = np.split(sums[..., 7:], 2, axis=-1)
        of_rater = difference_of_squares(n_items * square, (rater**2).sum(axis=-1))
        of_self = difference_of_squares(n_items * self_square, (self_rater**2).sum(axis=-1))
        all_pairs = difference_of_squares(n * square, total**2)
        neither = difference_of_squares(all_pairs - within, of_self)
        pairs = (n**2 / n_items - selves) / n_items  # of different raters
        raters = ratio(within, n_items * pairs)
        others = ratio(neither, n_items * (n_items - 1) * pairs)
        if has_severity(self.name):
            return ratio(others - raters, others)
        return ratio(others - raters, ratio(of_rater, (n_items - 1) * n))

    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of ratings that a mean averages."""
        return float(self.ratings.n_raters)


class ProductSums(ABC):
    """Sums of products by item, for any design and any formula.

    Attributes
    ----------
    ratings : Ratings
        Numeric.
    name : str
        Name of the ICC.
    design : Design
        Design that the ICC assumes.
    """

    def __init__(self, ratings: Ratings, name: str) -> None:
        self.ratings = ratings
        self.name = name
        self.design = design_of(ratings, name)

    @property
    def total(self) -> Callable[[], Array]:
        """Function that returns the sum of the rows at less cost than the rows."""
        return self.design.totals

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics; raters cannot be resampled."""
        if weights is not None:
            rule = "resampling raters requires a balanced design for an ICC"
            remedy = 'Pass over="items", or fit GaussianICC, whose interval accounts for raters.'
            raise RatingsError([Fault("over", rule, "an incomplete design", remedy)])
        _require_memory(self.design.n_elements, self.ratings, self.name, MAX_ROW_ELEMENTS)
        return self.design.rows()

    @abstractmethod
    def single(self, sums: Array) -> Array:
        """(...) ICC of single ratings."""

    @abstractmethod
    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of ratings that a mean averages."""


class RestrictedSums(ProductSums):
    """Statistics for an ICC by restricted maximum likelihood, in any design."""

    def single(self, sums: Array) -> Array:
        """(...) ICC of single ratings."""
        components = self.design.products(sums).components()
        return components.icc(agreement=has_severity(self.name))

    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of ratings that a mean averages."""
        return self.design.products(sums).harmonic_mean


class ColumnSums(ProductSums):
    """Statistics for the published formulas with k the number of raters, in any design."""

    def single(self, sums: Array) -> Array:
        """(...) ICC of single ratings."""
        squares = self.design.products(sums).mean_squares()
        return squares.icc(self.ratings.n_raters, agreement=has_severity(self.name))

    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of ratings that a mean averages."""
        return float(self.ratings.n_raters)


def has_severity(name: str) -> bool:
    """Whether an ICC counts differences in severity between raters against agreement.

    Parameters
    ----------
    name : str
        Name of the ICC.

    Returns
    -------
    bool
        True for ICC(2, .). ICC(1, .) does not distinguish severity from residuals.
    """
    return name.startswith("ICC(2")


def _weighted(ratings: Ratings, weights: Array | None) -> tuple[Codes, Array, Array]:
    """Item (N,), centred rating (N,) and weight (N,) of each rating."""
    values = ratings.values - whole_of(ratings).mean
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, float)[ratings.rater]
    return ratings.item, values, weight


def _squares(item: Codes, values: Array, weight: Array) -> tuple[Array, Array]:
    """(I,) sums of squared ratings, and of squared differences over unordered pairs."""
    centred = values - values[np.searchsorted(item, item)]  # so that equal ratings give exactly 0
    n, total = np.bincount(item, weight), np.bincount(item, weight * centred)
    within = n * np.bincount(item, weight * centred**2) - total**2
    return np.asarray(np.bincount(item, weight * values**2)), np.asarray(within)
