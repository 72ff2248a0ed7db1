"""Faults of values: each check looks at one column, and at the scale it should be on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault
from reliabayes.ratings.columns import Column, Labels, Mask, Numbers, as_numbers, fault_in
from reliabayes.ratings.table import Table
from reliabayes.wording import listed


def missing_values(table: Table) -> Iterator[Fault]:
    for column in table.columns:
        if column is table.gold or not column.missing.any():
            continue
        yield fault_in(
            column,
            column.missing,
            "no value may be missing",
            "{n} missing",
            "Drop these rows, or fill in what is known.",
            show_values=False,
        )


def mixed_types(table: Table) -> Iterator[Fault]:
    for column in table.columns:
        if not isinstance(column, Labels) or not column.kind.startswith("mixed"):
            continue
        types = np.array([type(value).__name__ for value in column.ids])
        names, counts = np.unique(types[column.codes[~column.missing]], return_counts=True)
        if len(names) < 2:
            continue
        usual = names[counts.argmax()]
        yield fault_in(
            column,
            np.append(types != usual, False)[column.codes],
            "all values must be of one type",
            f"{' and '.join(names)}, {{n}} of them not {usual}",
            "Convert the column, as with .astype(str), or leave out what is no such value.",
        )


def padded_labels(table: Table) -> Iterator[Fault]:
    for column in table.columns:
        if not isinstance(column, Labels) or column.kind != "string":
            continue
        stripped = pd.Series(column.ids.str.strip())
        is_twin = (stripped.duplicated(keep=False) & (stripped != column.ids)).to_numpy()
        if is_twin.any():
            yield fault_in(
                column,
                np.append(is_twin, False)[column.codes],
                "values must differ by more than the white space around them",
                "{n} differing from others only by it",
                "Strip the column, as with .str.strip().",
            )


def numbers_as_text(table: Table) -> Iterator[Fault]:
    rating = table.rating
    if table.asked is not None or not isinstance(rating, Numbers) or rating.source is None:
        return
    is_word = _is_no_number(rating)
    yield fault_in(
        rating,
        is_word if is_word.any() else ~rating.missing,
        "ratings must be either numbers or labels",
        "numbers stored as text" + (", and {n} of another kind" if is_word.any() else ""),
        'Pass scale="numeric" to read them as numbers (after mending what is none), or '
        'scale="nominal" to keep them as labels.',
    )


def labels_on_numeric_scale(table: Table) -> Iterator[Fault]:
    for column in (table.rating, table.gold):
        if not isinstance(column, Numbers) or (column is table.rating and table.asked is None):
            continue
        if (is_word := _is_no_number(column)).any():
            yield fault_in(
                column,
                is_word,
                "values must be numbers on a numeric scale",
                "{n} of another kind",
                'Mend or drop them, or pass scale="nominal".',
            )


def infinite_values(table: Table) -> Iterator[Fault]:
    for column in table.columns:
        if isinstance(column, Numbers) and (is_infinite := np.isinf(column.floats)).any():
            rule, remedy = "values must be finite", "Mend or drop these rows."
            yield fault_in(column, is_infinite, rule, "{n} infinite", remedy)


def odd_categories(table: Table) -> Iterator[Fault]:
    given = table.categories
    if given is not None and (len(given) < 2 or given.hasnans or not given.is_unique):
        rule = "they must be two or more distinct values, none missing"
        remedy = "Name each category of the scale once."
        yield Fault("categories", rule, listed(given), remedy)


def unordered_texts(table: Table) -> Iterator[Fault]:
    rating = table.rating
    if table.scale != "ordered" or table.categories is not None or not isinstance(rating, Labels):
        return
    if rating.declared is None and rating.kind == "string":
        yield Fault(
            place=rating.name,
            rule="texts on an ordered scale must come with their order",
            found=f"{listed(rating.ids)} without one",
            remedy="Pass categories=[...], lowest first, or an ordered categorical column.",
        )


def ratings_outside_categories(table: Table) -> Iterator[Fault]:
    if table.categories is None:
        return
    yield from _outside(
        table.rating,
        ~_is_among(table.rating, table.categories) & table.rating.is_readable,
        f"ratings must be among the categories {listed(table.categories)}",
    )


def gold_outside_categories(table: Table) -> Iterator[Fault]:
    gold, categories = table.gold, _categories(table)
    if gold is None or categories is None:
        return
    if isinstance(gold, Labels):
        rule = f"gold must be among the categories {listed(categories)}"
        yield from _outside(gold, ~_is_among(gold, categories) & ~gold.missing, rule)
        return
    numbers = as_numbers(categories)
    low, high = numbers.min(), numbers.max()
    rule = f"gold must lie in the range of the categories, {low:g}..{high:g}"
    is_outside = ((gold.floats < low) | (gold.floats > high)) & np.isfinite(gold.floats)
    yield from _outside(gold, is_outside, rule)


def _outside(column: Column, mask: Mask, rule: str) -> Iterator[Fault]:
    if mask.any():
        yield fault_in(
            column, mask, rule, "{n} outside", "Add them to categories=... or drop them."
        )


def _is_among(column: Column, categories: pd.Index[Any]) -> Mask:
    if isinstance(column, Labels):
        is_among: Mask = np.append(column.ids.isin(categories), False)
        return is_among[column.codes]
    return np.isin(column.floats, as_numbers(categories))


def _is_no_number(column: Numbers) -> Mask:
    return np.isnan(column.floats) & ~column.missing


def _categories(table: Table) -> pd.Index[Any] | None:
    if table.categories is not None or not isinstance(table.rating, Labels):
        return table.categories
    return table.rating.ids
