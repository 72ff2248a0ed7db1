"""Checks of values: each looks at single columns and at the scale that they should be on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Mask
from reliabayes.errors import Fault
from reliabayes.ratings.columns import NUMBER, Column, Labels, Numbers, as_numbers, fault_in
from reliabayes.ratings.table import Table
from reliabayes.wording import listed

DATE_KINDS = frozenset({"date", "datetime", "datetime64", "time", "timedelta", "timedelta64"})
PERCENTAGE = r"\s*[-+]?[0-9]*[.,]?[0-9]+\s*%\s*"
NO_SIGN = "Remove the percent sign from all of them"
MANY_LABELS = 20  # more are not likely to be numbers on purpose
DATE = (
    r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}(?:[ T].*)?|[0-9]{1,2}[-. ][A-Za-z]{3,9}(?:[-. ].*)?"
)
FIGURE = r"[€$£¥]?\s*[-+]?[0-9][0-9.,'\s]*\s*(?:/\s*[0-9]+|[A-Za-zµ°€$£¥²³]{1,6})?"
LARGEST = 1e75  # size of a number whose fourth power, and sums of such, are finite


def missing_values(table: Table) -> Iterator[Fault]:
    """Yield a fault for each column with missing values, except gold, groups and blocks."""
    for column in table.columns:
        may_be_unknown = any(column is each for each in (table.gold, table.group, table.block))
        if may_be_unknown or not column.missing.any():
            continue
        remedy = "Drop these rows, or fill in the values if they are known."
        arguments: dict[str, Any] = {}
        if column is table.rating:
            arguments = {"missing": "drop"}
            remedy = (
                "If these ratings were not made, as empty cells of a wide table, pass "
                f'missing="drop", or drop their rows: frame.dropna(subset=[{column.name!r}]).'
            )
        yield fault_in(
            column,
            column.missing,
            "no value may be missing",
            "{n} missing",
            remedy,
            show_values=False,
            **arguments,
        )


def mixed_types(table: Table) -> Iterator[Fault]:
    """Yield a fault for each column whose values have several types."""
    for column in table.columns:
        is_mixed = isinstance(column, Labels) and column.kind.startswith("mixed")
        if not isinstance(column, Labels) or not is_mixed or column.kind == "mixed-integer-float":
            continue
        types = np.array([type(value).__name__ for value in column.ids])
        names, counts = np.unique(types[column.codes[~column.missing]], return_counts=True)
        if len(names) < 2:
            continue
        usual = names[counts.argmax()]
        yield fault_in(
            column,
            np.append(types != usual, False)[column.codes],
            "all values must have the same type",
            f"{' and '.join(names)}, {{n}} of them not {usual}",
            "Convert the column, for example with .astype(str), or drop the rows of other types.",
        )


def dates(table: Table) -> Iterator[Fault]:
    """Yield a fault for ratings or gold that are dates, such as those a spreadsheet makes of 1-2.

    Each date would be a category of its own.
    """
    for column in (table.rating, table.gold):
        labels = column.source if isinstance(column, Numbers) else column
        if labels is not None and labels.kind in DATE_KINDS:
            yield fault_in(
                labels,
                ~labels.missing,
                "values must not be dates or times",
                "{n} of them",
                "Name the column of the ratings, or undo what turned them into dates.",
            )


def numbers_as_text(table: Table) -> Iterator[Fault]:
    """Yield a fault if most ratings are numbers stored as text, and no scale was chosen."""
    rating = table.rating
    if table.asked is not None or not isinstance(rating, Numbers) or rating.source is None:
        return
    is_word = _is_not_numeric(rating)
    is_odd = ~_is_plain_number(rating.source) & ~rating.missing
    found, shown = "numbers stored as text", ~rating.missing
    if is_word.any():
        found, shown = f"{found}, and {{n}} not numeric", is_word
    elif is_odd.any():
        found, shown = f"{found}, and {{n}} not written as a plain number", is_odd
    yield fault_in(
        rating,
        shown,
        "ratings must be either numbers or labels",
        found,
        'Pass scale="numeric" to read them as numbers'
        + (" (fix the others first)" if is_word.any() else "")
        + ', or scale="nominal" to keep them as labels.',
    )


def percentages(table: Table) -> Iterator[Fault]:
    """Yield a fault if most ratings are numbers, some with a percent sign, and no scale was chosen.

    Each percentage would be a category of its own.
    """
    rating = table.rating
    if table.asked is not None or table.categories is not None or not isinstance(rating, Labels):
        return
    if rating.declared == "ordered" or rating.kind != "string":
        return
    is_percentage = _matches(rating, PERCENTAGE)
    n_numbers = np.count_nonzero(is_percentage | ~np.isnan(rating.floats))
    if is_percentage.any() and n_numbers > np.count_nonzero(~rating.missing) / 2:
        yield fault_in(
            rating,
            is_percentage,
            "ratings must be either numbers or labels",
            "{n} numbers with a percent sign",
            f'{NO_SIGN}, or pass scale="nominal" to keep them as labels.',
        )


def many_numbers_as_labels(table: Table) -> Iterator[Fault]:
    """Yield a fault for many labels that are numbers or dates, written otherwise than as such.

    Each would be a category of its own.
    """
    rating = table.rating
    if table.asked is not None or table.categories is not None or not isinstance(rating, Labels):
        return
    if rating.declared is not None or rating.kind != "string" or len(rating.ids) <= MANY_LABELS:
        return
    texts = pd.Series(rating.ids, dtype=object).astype(str).str.strip()
    is_date = texts.str.fullmatch(DATE)
    is_number = texts.str.fullmatch(FIGURE) & ~is_date
    for mask, what, remedy in (
        (is_date, "dates", "Name the column of the ratings"),
        (is_number, "numbers with other signs", "Write them as plain numbers"),
    ):
        if 2 * mask.sum() > len(texts):
            yield fault_in(
                rating,
                np.append(mask.to_numpy(np.bool_), False)[rating.codes],
                f"more than {MANY_LABELS} labels must not be numbers or dates",
                f"{len(texts)} labels, {{n}} ratings of which are {what}",
                f'{remedy}, or pass scale="nominal" to keep them as labels.',
            )


def labels_on_numeric_scale(table: Table) -> Iterator[Fault]:
    """Yield a fault for ratings or gold on a numeric scale that cannot be read as numbers."""
    for column in (table.rating, table.gold):
        if not isinstance(column, Numbers) or (column is table.rating and table.asked is None):
            continue
        if (is_word := _is_not_numeric(column)).any():
            has_signs = column.source is not None and _matches(column.source, PERCENTAGE).any()
            fix = NO_SIGN if has_signs else "Fix or drop these rows"
            yield fault_in(
                column,
                is_word,
                "values must be numbers on a numeric scale",
                "{n} not numeric",
                f'{fix}, or pass scale="nominal".',
            )


def infinite_values(table: Table) -> Iterator[Fault]:
    """Yield a fault for each column with infinite numbers, or with some whose squares overflow."""
    for column in table.columns:
        if not isinstance(column, Numbers):
            continue
        if (is_infinite := np.isinf(column.floats)).any():
            rule, remedy = "values must be finite", "Fix or drop these rows."
            yield fault_in(column, is_infinite, rule, "{n} infinite", remedy)
        elif (is_huge := np.abs(column.floats) > LARGEST).any():
            rule = f"values must lie within {-LARGEST:g} and {LARGEST:g}, or their powers overflow"
            yield fault_in(column, is_huge, rule, "{n} beyond", "Rescale the ratings.")


def tiny_differences(table: Table) -> Iterator[Fault]:
    """Yield a fault for ratings that differ, but so little that powers of differences vanish."""
    if not isinstance(table.rating, Numbers):
        return
    known = table.rating.floats[np.isfinite(table.rating.floats)]
    if known.size and 0 < np.ptp(known / 2) < 0.5 / LARGEST:
        rule = f"values must differ by more than {1 / LARGEST:g}, or powers of differences vanish"
        found = f"at most {known.max() - known.min():.3g}"
        yield Fault(table.rating.name, rule, found, "Rescale the ratings.")


def nul_characters(table: Table) -> Iterator[Fault]:
    """Yield a fault for each column with labels that hold the character NUL, which files cannot."""
    for column in table.columns:
        if not isinstance(column, Labels) or column.kind not in ("string", "mixed"):
            continue
        has_nul = pd.Series(column.ids, dtype=object).astype(str).str.contains("\0", regex=False)
        if has_nul.any():
            rule, remedy = "texts must not hold the character NUL", "Remove it from them."
            mask = np.append(has_nul.to_numpy(np.bool_), False)[column.codes]
            yield fault_in(column, mask, rule, "{n} that do", remedy)


def invalid_categories(table: Table) -> Iterator[Fault]:
    """Yield a fault if the given categories are too few, repeated or missing."""
    given = table.categories
    if given is not None and (len(given) < 2 or given.hasnans or not given.is_unique):
        rule = "there must be at least two distinct values, none missing"
        remedy = "List each category of the scale once."
        yield Fault("categories", rule, listed(given), remedy)


def unordered_texts(table: Table) -> Iterator[Fault]:
    """Yield a fault if text labels on an ordered scale have no declared order."""
    rating = table.rating
    if table.scale != "ordered" or table.categories is not None or not isinstance(rating, Labels):
        return
    if rating.declared is None and rating.kind == "string":
        yield Fault(
            place=rating.name,
            rule="text labels on an ordered scale need a declared order",
            found=f"{listed(rating.ids)} without one",
            remedy="Pass categories=[...], lowest first, or an ordered categorical column.",
        )


def ratings_outside_categories(table: Table) -> Iterator[Fault]:
    """Yield a fault if a rating is not one of the given categories."""
    if table.categories is None:
        return
    yield from _outside(
        table.rating,
        ~_is_among(table.rating, table.categories) & table.rating.is_readable,
        f"ratings must be among the categories {listed(table.categories)}",
    )


def gold_outside_categories(table: Table) -> Iterator[Fault]:
    """Yield a fault if gold is not one of the categories, or outside their range if numeric."""
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
        remedy = "Add the values to categories=... or drop these rows."
        yield fault_in(column, mask, rule, "{n} outside", remedy)


def _is_among(column: Column, categories: pd.Index[Any]) -> Mask:
    if isinstance(column, Labels):
        is_among: Mask = np.append(column.ids.isin(categories), False)
        return is_among[column.codes]
    return np.isin(column.floats, as_numbers(categories))


def _is_not_numeric(column: Numbers) -> Mask:
    return np.isnan(column.floats) & ~column.missing


def _is_plain_number(column: Labels) -> Mask:
    return _matches(column, NUMBER)


def _matches(column: Labels, pattern: str) -> Mask:
    """Which rows have a value that is as the pattern says."""
    is_match = pd.Series(column.ids, dtype=object).astype(str).str.fullmatch(pattern)
    matches: Mask = np.append(is_match.to_numpy(np.bool_), False)[column.codes]
    return matches


def _categories(table: Table) -> pd.Index[Any] | None:
    if table.categories is not None or not isinstance(table.rating, Labels):
        return table.categories
    return table.rating.ids
