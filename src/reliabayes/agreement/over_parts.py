"""Coefficients of ratings in parts: each part is reduced to its distinct rows of statistics."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.item_rows import Rows
from reliabayes.agreement.parted_statistics import AllRows, RowsOfPart, StatisticsOfParts
from reliabayes.agreement.whole import Whole, ratings_in_memory
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Size

Options = ParamSpec("Options")
Found = TypeVar("Found", Coefficient, dict[Any, Coefficient])


def of_datasets(
    function: Callable[Concatenate[Ratings, Options], Found],
) -> Callable[Concatenate[Ratings | RatingsDataset, Options], Found]:
    """Make a function that computes coefficients of ratings take a dataset as well.

    Parameters
    ----------
    function : callable
        Takes ratings and options, and returns a coefficient or coefficients by name. What it takes
        from all items at once, it must ask of `whole_of` its ratings.

    Returns
    -------
    callable
        The same, of `Ratings` or of `RatingsDataset`.
    """

    def of_either(
        ratings: Ratings | RatingsDataset, *args: Options.args, **options: Options.kwargs
    ) -> Found:
        if not isinstance(ratings, RatingsDataset):
            return function(ratings, *args, **options)
        found: Found = coefficients_of(ratings, _Call(of_either, args, options))
        return found

    taking_both: Any = update_wrapper(of_either, function)  # whose argument may be named, too
    found: Callable[Concatenate[Ratings | RatingsDataset, Options], Found] = taking_both
    return found


def coefficients_of(dataset: RatingsDataset, function: Callable[[Ratings], Any]) -> Any:
    """Compute coefficients of a dataset.

    Parameters
    ----------
    dataset : RatingsDataset
        Any design.
    function : callable
        Computes a coefficient, or coefficients by name, of ratings in memory; can be pickled.

    Returns
    -------
    Coefficient or dict
        What the function returns, with statistics of the items of all parts. Those of several
        coefficients are computed together.
    """
    whole = Whole(dataset)
    example = function(ratings_in_memory(whole))
    one = isinstance(example, Coefficient)
    by_name: Mapping[Any, Coefficient] = {None: example} if one else example
    cheap = {name: each.total for name, each in by_name.items() if each.total is not None}
    width = {name: len(total()) for name, total in cheap.items()}
    width |= {name: each.width for name, each in by_name.items() if name not in cheap}
    shared = AllRows(whole, partial(_rows_of_part, function), width, frozenset(cheap))
    found = {
        name: replace(
            each,
            items=pd.RangeIndex(whole.n_items),
            rows=_unavailable,
            total=None,
            n_paired=None,
            size=Size.of(dataset),
            over_parts=StatisticsOfParts(shared, name, partial(_rows_of_one, function, name)),
        )
        for name, each in by_name.items()
    }
    return found[None] if one else found


@dataclass(frozen=True)
class Several:
    """Functions that compute one coefficient each.

    Attributes
    ----------
    functions : mapping from str to callable
        By the name of the coefficient; can be pickled.
    """

    functions: Mapping[str, Callable[[Ratings], Coefficient]]

    def __call__(self, ratings: Ratings) -> dict[str, Coefficient]:
        """Return all of them."""
        return {name: function(ratings) for name, function in self.functions.items()}


@dataclass(frozen=True)
class _Call:
    """A function of ratings, with its other arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: Mapping[str, Any]

    def __call__(self, ratings: Ratings) -> Any:
        return self.function(ratings, *self.args, **self.options)


def _unavailable(weights: Array | None) -> Rows:
    rule = "this needs the ratings of all items in memory"
    raise RatingsError([Fault("ratings", rule, "a dataset in parts", "Use a sample of the items.")])


def _rows_of_part(function: Callable[[Ratings], Any], part: Ratings) -> dict[Any, RowsOfPart]:
    found = function(part)
    by_name = {None: found} if isinstance(found, Coefficient) else found
    return {name: RowsOfPart(each.rows, each.total) for name, each in by_name.items()}


def _rows_of_one(function: Callable[[Ratings], Any], name: Hashable, part: Ratings) -> RowsOfPart:
    if isinstance(function, Several):  # the others need not be computed
        return _rows_of_part(function.functions[str(name)], part)[None]
    return _rows_of_part(function, part)[name]
