"""The one place that finds what is wrong in a raw table, and applies what may be applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reliabayes.choices import Shape
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.ratings.repairs import Repair, Repaired
from reliabayes.ratings.row_repairs import (
    empty_columns,
    exact_duplicates,
    rows_without_ids,
    rows_without_ratings,
    summary_rows,
    unrated_rows,
)
from reliabayes.ratings.table_shape import item_column, rater_columns
from reliabayes.ratings.value_repairs import (
    emptied,
    numbers,
    serial_dates,
    spellings_of_missing,
)
from reliabayes.ratings.wide_repairs import average_columns, is_pattern, two_part_names
from reliabayes.wording import counted, listed


def with_structure(found: Repaired, options: ReadOptions) -> Repaired:
    """Repair what does not depend on what the columns mean.

    Parameters
    ----------
    found : Repaired
        A raw table.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Repaired

    Raises
    ------
    RatingsError
        If rows or columns to be dropped do not exist.
    """
    if options.tidy:
        found = found.by(rows_without_ratings(found.table), tidy=True)
    given = found.table
    for repair in _left_out(given, options):
        found = found.asked(repair)
    for repair in _not_rated(found.table, options):
        found = found.asked(repair)
    if options.duplicates == "drop_exact" and options.shape == "wide":
        for repair in exact_duplicates(given, given.names[:1]):
            found = found.asked(repair)
    return found.by(empty_columns(found.table), tidy=True) if options.tidy else found


def with_values(found: Repaired, shape: Shape, options: ReadOptions) -> Repaired:
    """Repair what depends on what the columns mean.

    Parameters
    ----------
    found : Repaired
        A raw table.
    shape : {"long", "wide"}
        Whether a row holds one rating, or a column those of a rater.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Repaired
    """
    if shape == "wide":
        return _wide(found, options)
    return _long(found, options) if options.tidy else _asked_of_long(found, options)


def _wide(found: Repaired, options: ReadOptions) -> Repaired:
    tidy = options.tidy
    item = item_column(found.table.cells, options.item)
    raters = rater_columns(found.table.names, item, options.gold)
    found = found.by(average_columns(found.table, raters), tidy=tidy)
    doubtful = {name for each in found.waiting for name in each.arguments.get("drop_columns", [])}
    names = [name for name in found.table.names if name not in doubtful]
    raters = rater_columns(names, item, options.gold)
    if options.shape is None and not is_pattern(options.rater):
        found = found.by(two_part_names(raters), tidy=tidy)
    if item is not None:
        found = found.by(summary_rows(found.table, [item], raters), tidy=tidy)
    if not tidy:
        return found
    found = found.by(spellings_of_missing(found.table, raters, options), tidy=True)
    found = found.by(numbers(found.table, raters, options), tidy=True)
    if item is None or options.duplicates == "drop_exact":
        return found
    return found.by(exact_duplicates(found.table, [item]), tidy=True)


def _long(found: Repaired, options: ReadOptions) -> Repaired:
    ids, rating = _columns(found.table, options)
    if rating is None:
        return _asked_of_long(found, options)
    facets = [name for role, name in options.named.items() if role not in ("rating", "gold")]
    found = found.by(summary_rows(found.table, ids, [rating]), tidy=True)
    found = found.by(rows_without_ids(found.table, ids, rating), tidy=True)
    found = found.by(spellings_of_missing(found.table, [rating], options), tidy=True)
    found = found.by(numbers(found.table, [rating], options), tidy=True)
    found = _without_duplicates(found, ids, options)
    found = found.by(
        serial_dates(found.table, [x for x in facets if x in found.table.names]), tidy=True
    )
    return found.by(unrated_rows(found.table, rating), tidy=True)


def _asked_of_long(found: Repaired, options: ReadOptions) -> Repaired:
    ids, rating = _columns(found.table, options)
    found = (
        _without_duplicates(found, ids, options) if options.duplicates == "drop_exact" else found
    )
    if options.na is None or rating is None:
        return found
    return found.by(unrated_rows(found.table, rating), tidy=True)


def _columns(table: RawTable, options: ReadOptions) -> tuple[list[str], str | None]:
    """Columns of item and rater, and that of the ratings, as far as the table has them."""
    ids = [name for name in (options.item, options.rater) if name in table.names]
    return ids, options.rating if options.rating in table.names else None


def _without_duplicates(found: Repaired, ids: Sequence[str], options: ReadOptions) -> Repaired:
    if options.replicates == "keep":
        return found
    facets = [
        name
        for role, name in options.named.items()
        if role not in ("item", "rater", "rating", "pool", "gold")
    ]
    keys = [*ids, *(name for name in facets if name in found.table.names)]
    joined = options.rating if options.twins == "join" else None
    for repair in exact_duplicates(found.table, keys, joined):
        if options.duplicates == "drop_exact":
            found = found.asked(repair)
        else:
            found = found.by([repair], tidy=options.tidy)
    return found


def _left_out(table: RawTable, options: ReadOptions) -> Iterator[Repair]:
    """Repairs that leave out columns and rows that arguments name."""
    if options.drop_columns:
        if absent := [name for name in options.drop_columns if name not in table.names]:
            rule, remedy = "it must name columns", f"The table has {listed(table.names, 20)}."
            raise RatingsError([Fault("drop_columns", rule, listed(absent), remedy)])
        names = list(options.drop_columns)
        action = f"leaves out the columns {listed(names, 20)}"
        yield Repair("columns", action, lambda raw: raw.of(raw.cells.drop(columns=names)))
    if options.drop_rows:
        yield _dropped_rows(table, sorted(set(options.drop_rows)))


def _dropped_rows(table: RawTable, numbers: Sequence[int]) -> Repair:
    last = numbers[-1]
    # Line numbers grow with records, of which no more than lines can come before the last.
    records = table.cells.index[: last + 1].tolist()
    lines = table.lines(records)
    index = [record for record, line in zip(records, lines, strict=True) if line in set(numbers)]
    action = f"leaves out {counted(len(numbers), 'row')}, as drop_rows says"
    return Repair(
        "rows",
        action,
        lambda raw: raw.keep(~raw.cells.index.isin(index)),
        tuple(numbers),
        table.unit,
    )


def _not_rated(table: RawTable, options: ReadOptions) -> Iterator[Repair]:
    """Repair that empties cells of ratings with values that an argument names."""
    is_long = options.rating in table.names and options.shape != "wide"
    ids = {name for role, name in options.named.items() if role not in ("rating", "gold")}
    names = [options.rating] if is_long else [name for name in table.names if name not in ids]
    texts = table.texts(names) if options.na else {}
    if cells := {text: texts[text] for text in map(str, options.na or ()) if text in texts}:
        yield emptied(names, cells)
