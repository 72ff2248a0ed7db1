"""Differences of two raters or methods: their mean, the variance of a single one, and its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.agreement.arithmetic import sum_by_index
from reliabayes.agreement.design import Design
from reliabayes.agreement.variance_sum import VarianceSum
from reliabayes.agreement.whole import Whole
from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeated
from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.wording import shown

PURPOSE = "limits_of_agreement"


@dataclass(frozen=True, eq=False, kw_only=True)
class Level:
    """Differences at a place of the scale.

    Attributes
    ----------
    bias, error : float
        Mean difference, and its standard error.
    df : float
        Degrees of freedom of the error.
    spread : VarianceSum
        Variance of the difference of two single ratings.
    """

    bias: float
    error: float
    df: float
    spread: VarianceSum


@dataclass(frozen=True, eq=False, kw_only=True)
class Differences:
    """Differences of two raters.

    Attributes
    ----------
    values, means : array of float, shape (n,)
        First rating less second, and their mean: of pairs, or of the means of an item's replicates.
    at : callable
        Function from a mean to the `Level` of differences there.
    slope : tuple of float, optional
        Slope of the differences by the means, its standard error and degrees of freedom.
    """

    values: Array
    means: Array
    at: Callable[[float], Level]
    slope: tuple[float, float, float] | None = None


def differences(
    ratings: AnyRatings, replicates: Repeated | None, *, trend: bool, log: bool
) -> Differences:
    """Return the differences of two raters.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Numeric, by two raters.
    replicates : {"constant", "linked"} or None
        What repeated ratings of an item are.
    trend : bool
        Whether differences have a straight line on means.
    log : bool
        Whether ratings are replaced by their logarithms.

    Returns
    -------
    Differences

    Raises
    ------
    RatingsError
        The ratings do not suit the options.
    """
    _require_two(ratings)
    if replicates is None:
        return _of_pairs(*_gathered(ratings, partial(_pairs, log=log)), trend=trend)
    if replicates == "constant":
        means = _gathered(ratings, partial(_by_item_and_rater, log=log))
        return _of_constant(ratings.raters, *means)
    return _of_linked(*_gathered(ratings, partial(_linked_pairs, log=log)))


def _gathered(ratings: AnyRatings, function: Callable[[Ratings], tuple[Array, ...]]) -> list[Array]:
    """Arrays of items or pairs, those of one part after those of the other."""
    return list(map(np.concatenate, zip(*Whole(ratings).each(function), strict=True)))


def _values(ratings: Ratings, *, log: bool) -> Array:
    values = ratings.values
    if not log:
        return values
    if (values <= 0).any():
        first = int(np.argmin(values))
        found = f"{values[first]:g} of item {shown(ratings.items[ratings.item[first]])}"
        rule, remedy = "ratings must be above 0 for logarithms", "Pass log=False, or correct it."
        raise RatingsError([Fault(PURPOSE, rule, found, remedy)])
    return np.log(values)


def _require_two(ratings: AnyRatings) -> None:
    if isinstance(ratings, Ratings):
        ratings.require_known_raters(PURPOSE)
    if ratings.n_raters != 2:
        rule, remedy = "there must be two raters", "Select them with ratings.subset(raters=[...])."
        raise RatingsError([Fault(PURPOSE, rule, f"{ratings.n_raters}", remedy)])


def _require_items(n: int, least: int, what: str) -> None:
    if n < least:
        rule = f"there must be {least} items {what} or more"
        raise RatingsError([Fault(PURPOSE, rule, f"{n}", "Add ratings of others.")])


def _pairs(ratings: Ratings, *, log: bool) -> tuple[Array, Array]:
    """(n,) values of both raters, of items that both rated once."""
    if ratings.has_repeats:
        pair = int(np.argmax(np.bincount(ratings.pair)))
        row = int(np.argmax(ratings.pair == pair))
        item, rater = ratings.items[ratings.item[row]], ratings.raters[ratings.rater[row]]
        number = np.count_nonzero(ratings.pair == pair)
        found = f"{number} ratings of item {shown(item)} by {shown(rater)}"
        remedy = (
            'Pass replicates="constant" if the true value of an item stays the same, or '
            '"linked" if it changes and ratings were made at the same time.'
        )
        rule = "each rater must have rated an item once, or it must be known what repeats are"
        raise RatingsError([Fault(PURPOSE, rule, found, remedy)])
    return _matched(ratings.item, ratings.rater, _values(ratings, log=log))


def _of_pairs(one: Array, other: Array, *, trend: bool) -> Differences:
    _require_items(len(one), 3 if trend else 2, "that both rated")
    difference, mean = one - other, (one + other) / 2
    return _with_trend(difference, mean) if trend else _without_trend(difference, mean)


def _without_trend(difference: Array, mean: Array) -> Differences:
    n = len(difference)
    variance = float(difference.var(ddof=1))
    spread = VarianceSum.of((1.0, variance, n - 1))
    level = Level(
        bias=float(difference.mean()), error=np.sqrt(variance / n), df=n - 1, spread=spread
    )
    return Differences(values=difference, means=mean, at=lambda _: level)


def _with_trend(difference: Array, mean: Array) -> Differences:
    centre, n = float(mean.mean()), len(mean)
    square = float(((mean - centre) ** 2).sum())
    if square == 0:
        rule, remedy = "items must differ in their mean for a trend", "Pass trend=False."
        raise RatingsError([Fault(PURPOSE, rule, "the same mean of all", remedy)])
    slope = float((mean - centre) @ difference / square)
    rest = difference - difference.mean() - slope * (mean - centre)
    variance = float(rest @ rest / (n - 2))

    def at(place: float) -> Level:
        return Level(
            bias=float(difference.mean()) + slope * (place - centre),
            error=float(np.sqrt(variance * (1 / n + (place - centre) ** 2 / square))),
            df=n - 2,
            spread=VarianceSum.of((1.0, variance, n - 2)),
        )

    error = float(np.sqrt(variance / square))
    return Differences(values=difference, means=mean, at=at, slope=(slope, error, n - 2))


def _of_constant(
    raters: pd.Index[Any], numbers: Array, means: Array, squares: Array
) -> Differences:
    """Replicates of each rater by themselves: Zou (2013), section 3."""
    both = (numbers > 0).all(axis=1)
    _require_items(int(both.sum()), 2, "that both rated")
    numbers, means, squares = numbers[both], means[both], squares[both]
    df = numbers.sum(axis=0) - len(numbers)
    if not df.all():
        who = raters[int(np.argmin(df))]
        rule = 'replicates="constant" needs repeated ratings by both raters'
        found, remedy = f"one of each item by {shown(who)}", "Leave replicates out if none repeats."
        raise RatingsError([Fault(PURPOSE, rule, found, remedy)])
    between = (means[:, 0] - means[:, 1]).var(ddof=1)
    within = squares.sum(axis=0) / df
    share = 1 - (1 / numbers).mean(axis=0)
    spread = VarianceSum.of(
        (1.0, float(between), len(means) - 1),
        *zip(share.tolist(), within.tolist(), df.tolist(), strict=True),
    )
    difference = means[:, 0] - means[:, 1]
    level = Level(
        bias=float(difference.mean()),
        error=float(np.sqrt(between / len(means))),
        df=len(means) - 1,
        spread=spread,
    )
    return Differences(values=difference, means=means.mean(axis=1), at=lambda _: level)


def _linked_pairs(ratings: Ratings, *, log: bool) -> tuple[Array, Array, Array]:
    """(n,) values of both raters at the same time, by item; (I,) numbers of pairs of items."""
    if not ratings.facet:
        rule = 'replicates="linked" needs to know which ratings were made at the same time'
        remedy = 'Name the column of the occasion when reading them: facets=["occasion"].'
        raise RatingsError([Fault(PURPOSE, rule, "no facets", remedy)])
    cells, cell = np.unique(
        np.column_stack([ratings.item, *ratings.facet.values()]), axis=0, return_inverse=True
    )
    if len(np.unique(2 * cell.ravel() + ratings.rater)) < len(ratings):
        rule = "a rater must have rated an item once at each level of the facets"
        remedy = 'Name the column in which repeats differ, or pass replicates="constant".'
        raise RatingsError([Fault(PURPOSE, rule, "several ratings", remedy)])
    one, other = _matched(cell.ravel(), ratings.rater, _values(ratings, log=log))
    is_paired = np.bincount(cell.ravel()) == 2
    return one, other, np.unique(cells[is_paired, 0], return_counts=True)[1].astype(float)


def _of_linked(one: Array, other: Array, numbers: Array) -> Differences:
    """Pairs made at the same time, whose differences have a mean of each item: REML."""
    difference = one - other
    _require_items(len(numbers), 2, "with ratings by both at the same time")
    within = len(difference) - len(numbers)
    if not within:
        rule, found = 'replicates="linked" needs repeated pairs', "one of each item"
        raise RatingsError([Fault(PURPOSE, rule, found, "Leave replicates out.")])
    item = np.repeat(np.arange(len(numbers)), numbers.astype(np.intp))
    level = _linked_level(difference, item, numbers, within)
    return Differences(values=difference, means=(one + other) / 2, at=lambda _: level)


def _linked_level(difference: Array, item: Codes, numbers: Array, df_within: int) -> Level:
    centred = difference - difference.mean()
    design = Design.of(item, None, centred, np.unique(numbers), 0)
    found = design.products(design.totals()).components()
    between, within = float(found.item), float(found.residual)
    weight = 1 / (between + within / numbers) if between + within > 0 else numbers
    means = np.bincount(item, difference) / numbers
    share = float((1 / numbers).mean())
    spread = VarianceSum.of(
        (1.0, between + share * within, len(numbers) - 1), (1 - share, within, df_within)
    )
    is_constant = between + within == 0
    return Level(
        bias=float(weight @ means / weight.sum()),
        error=0.0 if is_constant else float(1 / np.sqrt(weight.sum())),
        df=len(numbers) - 1,
        spread=spread,
    )


def _matched(cell: Codes, rater: Codes, values: Array) -> tuple[Array, Array]:
    """Values of both raters in the cells that both have, in the order of the cells."""
    size = int(cell.max()) + 1
    table = np.full((2, size), np.nan)
    table[rater, cell] = values
    both = ~np.isnan(table).any(axis=0)
    return table[0, both], table[1, both]


def _by_item_and_rater(ratings: Ratings, *, log: bool) -> tuple[Array, Array, Array]:
    """(I, 2) numbers of ratings, their means and their sums of squared deviations."""
    values = _values(ratings, log=log)
    cell, shape = 2 * ratings.item.astype(np.intp) + ratings.rater, (ratings.n_items, 2)
    numbers = sum_by_index(cell, None, 2 * shape[0])
    means = sum_by_index(cell, values, 2 * shape[0]) / np.maximum(numbers, 1)
    squares = sum_by_index(cell, (values - means[cell]) ** 2, 2 * shape[0])
    return numbers.reshape(shape), means.reshape(shape), squares.reshape(shape)
