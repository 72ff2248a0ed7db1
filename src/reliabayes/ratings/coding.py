"""Between a checked table and the arrays of Ratings, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.columns import Column, Labels, Mask, Numbers, number_ids
from reliabayes.ratings.table import Table
from reliabayes.wording import did_you_mean, listed

if TYPE_CHECKING:
    from reliabayes.ratings.ratings import Ratings

Array = TypeVar("Array", bound=npt.NDArray[Any])


def coded_fields(table: Table) -> dict[str, Any]:
    """Return the fields of Ratings: rows sorted by item, rater and, among replicates, rating."""
    item, rater, pool = table.item.used, table.rater.used, table.pool
    categories = _declared_categories(table)
    rating = _codes_or_numbers(table.rating, categories)
    order = np.lexsort((rating, table.pair)) if table.replicates == "keep" else table.order
    return {
        "item": item.codes[order],
        "rater": rater.codes[order],
        "rating": rating[order],
        "items": item.ids,
        "raters": rater.ids,
        "scale": table.scale,
        "pools": pd.Index([], dtype=object) if pool is None else pool.used.ids,
        "rater_pool": None if pool is None else _per_group(rater, pool.used.codes, -1),
        "gold": None if table.gold is None else _gold_of(table.gold, item, categories),
        "given_categories": categories,
        "anonymous_raters": table.anonymous_raters,
    }


def table_of(ratings: Ratings) -> Table:
    """Return the table that `ratings` were built from, as sorted."""
    pools, gold = ratings.rater_pool, ratings.gold
    return Table.of(
        Labels("item", ratings.item, ratings.items),
        Labels("rater", ratings.rater, ratings.raters),
        _column("rating", ratings.rating, ratings),
        pool=None if pools is None else Labels("pool", pools[ratings.rater], ratings.pools),
        gold=None if gold is None else _column("gold", gold[ratings.item], ratings),
        scale=ratings.scale,
        categories=ratings.given_categories,
        replicates="keep",
        anonymous_raters=ratings.anonymous_raters,
    )


def long_frame(ratings: Ratings) -> pd.DataFrame:
    """Return one row per rating, in the user's ids."""
    columns: dict[str, Any] = {"item": ratings.items[ratings.item]}
    if not ratings.anonymous_raters:
        columns["rater"] = ratings.raters[ratings.rater]
    columns["rating"] = _user_values(ratings.rating, ratings)
    if ratings.rater_pool is not None:
        columns["pool"] = ratings.pools[ratings.rater_pool[ratings.rater]]
    if ratings.gold is not None:
        columns["gold"] = _user_values(ratings.gold[ratings.item], ratings)
    return pd.DataFrame(columns)


def kept(place: str, wanted: Iterable[Any] | None, known: pd.Index[Any]) -> Mask:
    """Say which known ids are wanted; None wants all, an unknown id is an error."""
    if wanted is None:
        return np.ones(len(known), np.bool_)
    ids = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [one for one in ids if one not in known]
    if unknown:
        guess = did_you_mean(unknown[0], known)
        remedy = f"Known are {listed(known)}." if guess is None else f"Did you mean {guess!r}?"
        rule = "all ids asked for must be known"
        raise RatingsError([Fault(place, rule, f"no {listed(unknown)}", remedy)])
    return np.asarray(known.isin(ids), np.bool_)


def read_only(array: Array) -> Array:
    """Lock an array that nobody else holds."""
    array.setflags(write=False)
    return array


def _declared_categories(table: Table) -> pd.Index[Any] | None:
    if isinstance(table.rating, Labels):
        return table.rating.ids if table.categories is None else table.categories
    if table.categories is None:
        return None
    return number_ids(np.sort(table.categories.to_numpy(np.float64)))


def _codes_or_numbers(column: Column, categories: pd.Index[Any] | None) -> npt.NDArray[Any]:
    if isinstance(column, Numbers):
        return column.floats
    return column.codes if categories is None else column.among(categories).codes


def _gold_of(gold: Column, item: Labels, categories: pd.Index[Any] | None) -> npt.NDArray[Any]:
    unknown = -1 if isinstance(gold, Labels) else np.nan
    return _per_group(item, _codes_or_numbers(gold, categories), unknown)


def _per_group(group: Labels, values: npt.NDArray[Any], unknown: float) -> npt.NDArray[Any]:
    """Return the one known value of each group."""
    of_group = np.full(len(group.ids), unknown, values.dtype)
    is_known = (values == values) & (values != unknown)
    of_group[group.codes[is_known]] = values[is_known]
    return of_group


def _column(name: str, values: npt.NDArray[Any], ratings: Ratings) -> Column:
    if ratings.scale == "numeric":
        return Numbers(name, values)
    return Labels(name, values, ratings.categories, declared=ratings.scale)


def _user_values(values: npt.NDArray[Any], ratings: Ratings) -> Any:
    if ratings.scale == "numeric":
        return values
    is_ordered = ratings.scale == "ordered"
    return pd.Categorical.from_codes(values, ratings.categories, ordered=is_ordered)
