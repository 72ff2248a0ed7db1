"""Conversion between a checked table and the arrays of ratings, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.ratings.columns import Column, Labels, Numbers, number_ids
from reliabayes.ratings.facets import ByFacet
from reliabayes.ratings.table import Table


def coded_fields(table: Table) -> dict[str, Any]:
    """Return the fields of `CodedRatings` for a checked table.

    Parameters
    ----------
    table : Table
        A table without faults.

    Returns
    -------
    dict
        The fields by name. Rows are sorted by item, rater, facets and, among replicates, rating.
    """
    item, rater, pool = table.item.used, table.rater.used, table.pool
    facets = {name: column.used for name, column in table.facets.items()}
    categories = _declared_categories(table)
    rating = _codes_or_numbers(table.rating, categories)
    order = np.lexsort((rating, table.cell)) if table.replicates == "keep" else table.order
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
        "n_missing": table.n_missing,
        "notes": table.notes,
        "facets": ByFacet({name: column.ids for name, column in facets.items()}),
        "facet": ByFacet({name: column.codes[order] for name, column in facets.items()}),
        **_of_items("group", table.group, item),
        **_of_items("block", table.block, item),
        "scale_is_guess": table.asked is None and not _is_declared(table.rating),
    }


def coded_table(ratings: CodedRatings) -> Table:
    """Return the table that ratings were built from.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    Table
        N rows, in the order of the ratings.
    """
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
        facets={
            name: Labels(name, codes, ratings.facets[name]) for name, codes in ratings.facet.items()
        },
        group=_of_ratings("group", ratings.item_group, ratings.groups, ratings),
        block=_of_ratings("block", ratings.item_block, ratings.blocks, ratings),
    )


def long_frame(ratings: CodedRatings) -> pd.DataFrame:
    """Return a data frame with one row per rating, in the user's ids.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    DataFrame, N rows
        Columns item, rater, rating, pool and gold, as far as they are known, and the facets.
    """
    columns: dict[str, Any] = {"item": ratings.items[ratings.item]}
    if not ratings.anonymous_raters:
        columns["rater"] = ratings.raters[ratings.rater]
    columns["rating"] = _user_values(ratings.rating, ratings)
    if ratings.rater_pool is not None:
        columns["pool"] = ratings.pools[ratings.rater_pool[ratings.rater]]
    if ratings.gold is not None:
        columns["gold"] = _user_values(ratings.gold[ratings.item], ratings)
    for name in ("group", "block"):
        codes: Codes | None = getattr(ratings, f"item_{name}")
        if codes is not None:
            ids: pd.Index[Any] = getattr(ratings, f"{name}s")
            columns[name] = _with_unknown(ids, codes[ratings.item])
    for name, codes in ratings.facet.items():
        columns[name] = ratings.facets[name][codes]
    return pd.DataFrame(columns)


def _of_items(name: str, column: Labels | None, item: Labels) -> dict[str, Any]:
    """Return the ids of groups or blocks, and the position of that of each item."""
    if column is None:
        return {}
    used = column.used
    return {f"{name}s": used.ids, f"item_{name}": _per_group(item, used.codes, -1)}


def _of_ratings(
    name: str, codes: Codes | None, ids: pd.Index[Any], ratings: CodedRatings
) -> Labels | None:
    return None if codes is None else Labels(name, codes[ratings.item], ids)


def _with_unknown(ids: pd.Index[Any], codes: Codes) -> Any:
    """Ids at some positions, where -1 is unknown."""
    return ids[codes] if (codes >= 0).all() else ids.astype(object).append(pd.Index([None]))[codes]


def _is_declared(column: Column) -> bool:
    return isinstance(column, Labels) and column.declared is not None


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


def _column(name: str, values: npt.NDArray[Any], ratings: CodedRatings) -> Column:
    if ratings.scale == "numeric":
        return Numbers(name, values)
    return Labels(name, values, ratings.categories, declared=ratings.scale)


def _user_values(values: npt.NDArray[Any], ratings: CodedRatings) -> Any:
    if ratings.scale == "numeric":
        return values
    is_ordered = ratings.scale == "ordered"
    return pd.Categorical.from_codes(values, ratings.categories, ordered=is_ordered)
