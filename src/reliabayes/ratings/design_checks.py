"""Checks of the design: each looks at how items, raters and ratings are combined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reliabayes.arrays import Mask
from reliabayes.errors import Fault
from reliabayes.ratings.columns import Labels, Rows, fault_in
from reliabayes.ratings.table import Table
from reliabayes.wording import joined, listed


def no_ratings(table: Table) -> Iterator[Fault]:
    """Yield a fault if the table has no rows."""
    if len(table) == 0:
        yield Fault("table", "it must hold ratings", "none", "Pass a table with ratings.")


def conflicting_gold(table: Table) -> Iterator[Fault]:
    """Yield a fault if rows of one item have different gold values."""
    gold = table.gold
    if gold is None:
        return
    known = gold.is_readable & ~table.item.missing
    codes = gold.codes if isinstance(gold, Labels) else gold.floats
    differs = _differs_from_first(table.item, codes, known)
    if differs.any():
        ids = listed(_ids_at(table.item, differs))
        yield fault_in(
            gold,
            differs,
            "an item must have one gold value",
            f"{{n}} in conflict with an earlier row of the same item, {ids}",
            "Keep the right value in all rows of the item.",
        )


def conflicting_groups(table: Table) -> Iterator[Fault]:
    """Yield a fault if rows of one item have different groups, or different blocks."""
    for word, column in (("group", table.group), ("block", table.block)):
        if column is None:
            continue
        known = ~column.missing & ~table.item.missing
        differs = _differs_from_first(table.item, column.codes, known)
        if differs.any():
            ids = listed(_ids_at(table.item, differs))
            yield fault_in(
                column,
                differs,
                f"an item must have one {word}",
                f"{{n}} in conflict with an earlier row of the same item, {ids}",
                f"Correct the {word}. If {word}s reuse ids of items, add their names to these.",
            )


def raters_in_two_pools(table: Table) -> Iterator[Fault]:
    """Yield a fault if rows of one rater have different pools."""
    pool = table.pool
    if pool is None:
        return
    known = ~pool.missing & ~table.rater.missing
    differs = _differs_from_first(table.rater, pool.codes, known)
    if differs.any():
        ids = listed(_ids_at(table.rater, differs))
        yield fault_in(
            pool,
            differs,
            "a rater must belong to one pool",
            f"{{n}} in conflict with an earlier row of the same rater, {ids}",
            "Correct the pool. If pools reuse ids, add the pool's name to the rater's id.",
        )


def replicate_ratings(table: Table) -> Iterator[Fault]:
    """Yield a fault if a rater rated an item several times, unless replicates are kept."""
    if table.replicates == "keep":
        return
    cell = table.cell[table.order]
    is_repeated = (cell[1:] == cell[:-1]) & (cell[1:] >= 0)
    for column in table.facets.values():
        is_repeated &= ~column.missing[table.order[1:]]
    if not is_repeated.any():
        return
    is_shared = np.zeros(len(table), np.bool_)
    is_shared[table.order[1:][is_repeated]] = True
    is_shared[table.order[:-1][is_repeated]] = True
    names = [column.name for column in (table.item, table.rater, *table.facets.values())]
    rule, shared = "a rater must rate an item once", "their item and rater"
    if table.facets:
        rule, shared = f"{rule} at the same levels of all facets", "them"
    yield Fault.in_rows(
        joined(names),
        rule,
        f"{{n}} ratings that share {shared} with another",
        'Drop the repeats, pass replicates="keep" if they are independent ratings, or facets=[...] '
        "with the columns in which they differ, such as the occasion.",
        mask=is_shared,
        values_at=lambda rows: _cells_at(table, rows),
    )


def single_id(table: Table) -> Iterator[Fault]:
    """Yield a fault if there is only one item or one rater."""
    for column, word in ((table.item, "items"), (table.rater, "raters")):
        used = column.used.ids
        if len(used) == 1:
            yield Fault(
                place=column.name,
                rule=f"there must be at least two {word}",
                found=f"only {listed(used)}",
                remedy=f"Check that this column holds the {word}, or add the ratings of others.",
            )


def equal_ratings(table: Table) -> Iterator[Fault]:
    """Yield a fault if all ratings are equal, unless other categories are declared."""
    rating = table.rating
    if isinstance(rating, Labels) and (table.categories is not None or rating.declared):
        return
    values = rating.codes if isinstance(rating, Labels) else rating.floats
    rows = np.flatnonzero(rating.is_readable)
    if len(rows) and values[rows].min() == values[rows].max():
        yield Fault(
            place=rating.name,
            rule="ratings must vary, because agreement is undefined if all are equal",
            found=f"{rating.at(rows[:1])[0]} in all {len(rows)} rows",
            remedy="Check that this column holds the ratings, and that none were left out.",
        )


def no_overlap(table: Table) -> Iterator[Fault]:
    """Yield a fault if no item was rated by two raters."""
    pair = table.pair[table.order]
    n_pairs = np.count_nonzero(np.diff(pair[pair >= 0], prepend=-1))
    n_items, n_raters = len(table.item.used.ids), len(table.rater.used.ids)
    if n_pairs == n_items and n_items > 1 and n_raters > 1:
        yield fault_of_no_overlap(table.item.name, table.rater.name, n_items)


def fault_of_no_overlap(item: str, rater: str, n_items: int) -> Fault:
    """Return the fault of so many items that one rater each has rated."""
    return Fault(
        place=f"{item} and {rater}",
        rule="at least one item must be rated by two raters",
        found=f"{n_items} items with one rater each",
        remedy="Check that the two columns are not swapped; otherwise have some items rated by "
        "several raters.",
    )


def _differs_from_first(groups: Labels, values: Any, known: Mask) -> Mask:
    """Return which rows have another value than the first known row of their group."""
    rows = np.flatnonzero(known)
    if not len(rows):
        return known
    first = np.zeros(len(groups.ids), np.intp)
    first[groups.codes[rows[::-1]]] = rows[::-1]
    differs: Mask = known & (values != values[first[groups.codes]])
    return differs


def _ids_at(column: Labels, mask: Mask) -> list[Any]:
    return column.ids[np.unique(column.codes[mask])].tolist()


def _cells_at(table: Table, rows: Rows) -> tuple[str, ...]:
    items, raters = table.item.at(rows), table.rater.at(rows)
    pairs = tuple(f"{item} by {rater}" for item, rater in zip(items, raters, strict=True))
    if not table.facets:
        return pairs
    levels = zip(*(column.at(rows) for column in table.facets.values()), strict=True)
    return tuple(f"{pair} ({', '.join(at)})" for pair, at in zip(pairs, levels, strict=True))
