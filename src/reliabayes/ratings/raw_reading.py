"""Reading a file as options say: its raw table, repairs of it, and the ratings that result."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from reliabayes.choices import (
    Shape,
)
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.codebook import with_codebook
from reliabayes.ratings.coding import coded_fields
from reliabayes.ratings.column_guess import Guess, guess_columns
from reliabayes.ratings.excel import LIMIT, Sheet, shown_sheets
from reliabayes.ratings.facets import facet_columns
from reliabayes.ratings.file_formats import (
    EXCEL_SUFFIX,
    TEXT_SUFFIXES,
    format_suffix,
    other_formats_as_faults,
    read_errors_as_faults,
    read_records,
    read_workbook,
)
from reliabayes.ratings.frames import named_columns
from reliabayes.ratings.opening import open_sheet, open_text_table
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.read_options import DEFAULT_COLUMNS, ReadOptions
from reliabayes.ratings.repairs import Repair, Repaired
from reliabayes.ratings.role_names import is_summary, name_suits
from reliabayes.ratings.shapes import table_from_long, table_from_wide
from reliabayes.ratings.square_table import refuse_columns, square_from_texts
from reliabayes.ratings.table_cells import read_cells
from reliabayes.ratings.table_shape import (
    guessed_shape,
    item_column,
    note_on_shape,
    rater_columns,
    refuse_long_options,
)
from reliabayes.ratings.text_files import (
    N_SAMPLED,
    check_header,
    check_wide_header,
    find_layout,
    guessed_shape_of,
    lines_of,
    read_texts,
    typed_sample,
)
from reliabayes.ratings.tidying import with_structure, with_values
from reliabayes.ratings.value_repairs import lenient_sample
from reliabayes.ratings.wide_repairs import is_pattern, long_by_pattern, long_by_raters
from reliabayes.wording import listed


@dataclass(frozen=True)
class Read:
    """Ratings that were read, and how.

    Attributes
    ----------
    ratings : Ratings
        The ratings.
    found : Repaired
        The raw table, with what was repaired.
    guess : Guess, optional
        The columns that were guessed.
    """

    ratings: Ratings
    found: Repaired
    guess: Guess | None = None


@dataclass(frozen=True)
class Outline:
    """What a table looks like before its values are read.

    Attributes
    ----------
    table : RawTable
        The table, with repairs of its rows and columns if they may be applied.
    shape : {"long", "wide"}
        Whether a row holds one rating, or a column those of a rater.
    guess : Guess, optional
        What columns mean that were not named.
    """

    table: RawTable
    shape: Shape
    guess: Guess | None = None


def read(file: Path, options: ReadOptions) -> Read:
    """Read a file as options say.

    Parameters
    ----------
    file : Path
        The file.
    options : ReadOptions
        How it is read, which `ReadOptions.check` has checked.

    Returns
    -------
    Read

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If the file cannot be read as a table, or the table breaks a rule.
    """
    suffix = format_suffix(file)
    if suffix in TEXT_SUFFIXES:
        with read_errors_as_faults(file, options.encoding):
            return _read_text(file, options)
    if suffix == EXCEL_SUFFIX:
        return _read_workbook(file, options)
    frame = read_records(file, suffix)
    return _read_table(Repaired(RawTable(frame, list)), options)


def read_square(file: Path, options: ReadOptions) -> Ratings:
    """Read a file that holds a square table of how often two raters gave each pair of categories.

    Parameters
    ----------
    file : Path
        The file.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Ratings

    Raises
    ------
    RatingsError
        If the file is no square table of counts, or columns are named.
    """
    refuse_columns(options.columns)
    suffix = format_suffix(file)
    if suffix == EXCEL_SUFFIX:
        sheet = read_workbook(file, options.sheet)
        sheet.require((), list(sheet.columns))
        frame = sheet.frame()
    elif suffix not in TEXT_SUFFIXES:
        frame = read_records(file, suffix)
    else:
        with read_errors_as_faults(file, options.encoding):
            frame = read_texts(find_layout(file, options.delimiter, options.encoding))
    counts = square_from_texts(frame)
    scale = options.scale or "nominal"
    return Ratings.from_table(counts, categories=options.categories, scale=scale)


def outline(file: Path, options: ReadOptions) -> Outline:
    """Find the columns of a file and what they mean, whatever is wrong with its values.

    Parameters
    ----------
    file : Path
        The file.
    options : ReadOptions
        How it is read; only with ``tidy`` its header may be anywhere.

    Returns
    -------
    Outline

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If the file is no table.
    """
    table = with_structure(_opened(file, options), options).table
    return Outline(table, _shape(table, options), _guess(table, options))


def repaired(file: Path, options: ReadOptions) -> Repaired:
    """Repair a table as far as that is possible, whatever is wrong with its values.

    Parameters
    ----------
    file : Path
        The file.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Repaired

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If the file is no table.
    """
    return _with_repairs(_opened(file, options), options).found


def _opened(file: Path, options: ReadOptions) -> Repaired:
    suffix, at_first = format_suffix(file), _first_line(options)
    if suffix in TEXT_SUFFIXES:
        with read_errors_as_faults(file, options.encoding):
            return open_text_table(file, at_first)
    if suffix != EXCEL_SUFFIX:
        return Repaired(RawTable(read_records(file, suffix), list))
    chosen, name = _likely_sheet(file, options)
    found = open_sheet(file, replace(at_first, sheet=name))
    return replace(found, applied=(*chosen, *found.applied))


def _first_line(options: ReadOptions) -> ReadOptions:
    """The options with the first line as the header, if nothing says otherwise."""
    is_first = options.header is None and not options.tidy
    return replace(options, header=1) if is_first else options


def _likely_sheet(file: Path, options: ReadOptions) -> tuple[Sequence[Repair], str | None]:
    """The sheet that was named, or the first that holds ratings, or almost, and what that does."""
    with other_formats_as_faults(file, "a spreadsheet"):
        names = shown_sheets(file) if options.sheet is None else []
    if len(names) < 2:
        return (), options.sheet
    almost: list[str] = []
    for name in names:
        try:
            read(file, replace(options, sheet=name))
        except RatingsError as error:
            almost += [name] if error.arguments else []
        else:
            return () if name == names[0] else (_of_sheet(name),), name
    return (), (almost or names)[0]


def _of_sheet(name: str) -> Repair:
    return Repair("sheet", f"reads the sheet {name!r}, which alone holds ratings", _same)


def _read_text(file: Path, options: ReadOptions) -> Read:
    if options.tidy or options.header is not None:
        return _read_table(open_text_table(file, options), options)
    layout = find_layout(file, options.delimiter, options.encoding)
    shape = options.shape or guessed_shape_of(layout, options.columns)
    if shape == "wide" or options.guess:
        check_wide_header(layout)
    else:
        check_header(layout, options.named)
    table = RawTable(read_texts(layout), lines_of(layout, 1), "line")
    return _read_table(Repaired(table), options)


def _read_workbook(file: Path, options: ReadOptions) -> Read:
    if options.sheet is None and options.tidy:
        return _read_any_sheet(file, options)
    if options.tidy or options.header is not None:
        found = open_sheet(file, options)
        options, notes = with_codebook(file, options)
        return _read_table(replace(found, applied=(*notes, *found.applied)), options)
    sheet = read_workbook(file, options.sheet)
    options, notes = with_codebook(file, options)
    cells = {
        name: pd.Series(column, sheet.rows, dtype=object) for name, column in sheet.columns.items()
    }
    table = RawTable(pd.DataFrame(cells), list, "row", sheet.letters)
    return _read_table(Repaired(table, notes), options)


def _read_any_sheet(file: Path, options: ReadOptions) -> Read:
    """Read the one sheet that holds ratings; the first if none does."""
    with other_formats_as_faults(file, "a spreadsheet"):
        LIMIT.check_workbook(file)
        names = shown_sheets(file)
    found: dict[str, Read] = {}
    errors: dict[str, RatingsError] = {}
    for name in names:
        try:
            found[name] = _read_workbook(file, replace(options, sheet=name))
        except RatingsError as error:
            errors[name] = error
    if len(found) > 1:
        rule, remedy = "it must be clear which sheet is read", f'Pass sheet="{next(iter(found))}".'
        what = f"ratings in the sheets {listed([*found], 20)}"
        raise RatingsError(
            [Fault("sheet", rule, what, remedy, arguments={"sheet": next(iter(found))})]
        )
    if not found:
        likely = [each for each in errors.values() if each.arguments]
        raise (likely or [*errors.values()] or [_no_sheet()])[0]
    ((name, done),) = found.items()
    if name == names[0]:
        return done
    chosen = _of_sheet(name)
    notes = (chosen.note, *done.ratings.notes)
    applied = replace(done.found, applied=(chosen, *done.found.applied))
    return replace(done, ratings=replace(done.ratings, notes=notes), found=applied)


def _same(table: RawTable) -> RawTable:
    return table


def _no_sheet() -> RatingsError:
    rule, remedy = "a sheet that is not hidden must hold a header and ratings", "Move the table."
    return RatingsError([Fault("sheet", rule, "only charts or hidden sheets", remedy)])


@dataclass(frozen=True)
class _Prepared:
    """A repaired table of a known shape, or what must be answered before it has one."""

    found: Repaired
    shape: Shape
    options: ReadOptions
    guess: Guess | None


def _with_repairs(found: Repaired, options: ReadOptions) -> _Prepared:
    found = with_structure(found, options)
    guess = _guess(found.table, options) if options.guess else None
    if guess is not None:
        if guess.question is not None:
            return _Prepared(found, "long", options, guess)
        options = replace(options, **guess.arguments, guess=False)
        found = with_structure(found, replace(options, drop_rows=None, na=None))
    shape = _shape(found.table, options)
    if shape == "wide":
        found, shape, options = _reshaped(with_values(found, "wide", options), options)
    if shape == "long":
        found = with_values(found, "long", options)
    return _Prepared(found, shape, options, guess)


def _read_table(found: Repaired, options: ReadOptions) -> Read:
    prepared = _with_repairs(_with_only_rater(found, options), options)
    found, shape, options = prepared.found, prepared.shape, prepared.options
    guess = prepared.guess
    if guess is not None and guess.question is not None:
        raise RatingsError([guess.question])
    if found.waiting:
        raise RatingsError([*found.faults, *_other_faults(found, shape, options)])
    ratings = _ratings(found.table, shape, options)
    notes = (guess.note,) if guess is not None else ()
    n_missing = ratings.n_missing + sum(repair.n_unrated for repair in found.applied)
    notes = (*found.notes, *notes, *ratings.notes)
    return Read(replace(ratings, notes=notes, n_missing=n_missing), found, guess)


def _with_only_rater(found: Repaired, options: ReadOptions) -> Repaired:
    """The table with a column of its only rater, if it is one of several and no column says who."""
    table = found.table
    if options.only_rater is None or any(name_suits(name, "rater") for name in table.names):
        return found
    if options.rater in table.names or _shape(table, options) == "wide":
        return found
    cells = table.cells.assign(**{options.rater: options.only_rater})
    letters = None if table.letters is None else {**table.letters, options.rater: ""}
    return replace(found, table=replace(table.of(cells), letters=letters))


def _guess(table: RawTable, options: ReadOptions) -> Guess | None:
    """What columns mean that were not named; None if all are there."""
    given = {
        role: name
        for role, name in options.roles.items()
        if name in table.names or (name is not None and name != DEFAULT_COLUMNS.get(role))
    }
    if set(DEFAULT_COLUMNS) <= set(given) or is_pattern(options.rater) or options.shape == "wide":
        return None
    if _shape(table, options) == "wide":
        return None
    return guess_columns(table, given)


def _shape(table: RawTable, options: ReadOptions) -> Shape:
    if options.shape is not None:
        return options.shape
    if is_pattern(options.rater):
        return "wide"
    if options.tidy:
        names = [name for name in table.names if not is_summary(name)]
        return guessed_shape(names, options.columns, lambda: _lenient(table, names))
    return guessed_shape(table.names, options.columns, lambda: _sample(table))


def _lenient(table: RawTable, names: Sequence[str]) -> pd.DataFrame:
    """The first rows without those of totals, whose values may need to be repaired."""
    head = table.of(table.cells.iloc[:N_SAMPLED][names])
    figures = [text for text in head.texts(names[:1]) if is_summary(text)]
    rows = head.keep(~head.holds(names[0], figures))
    others = lenient_sample(rows, names[1:])
    return others.assign(**{names[0]: rows.cells[names[0]].to_numpy()})[names]


def _sample(table: RawTable) -> pd.DataFrame:
    head = table.of(table.cells.iloc[:N_SAMPLED])
    if isinstance(source := head.source(), Sheet):
        return source.frame()
    return typed_sample(head.cells) if table.unit == "line" else head.cells


def _reshaped(found: Repaired, options: ReadOptions) -> tuple[Repaired, Shape, ReadOptions]:
    """A wide table with one rating per row, if its columns are not simply raters."""
    table, by_pattern = found.table, is_pattern(options.rater)
    are_raters = options.rater in table.names and options.item not in table.names
    if not by_pattern and not are_raters:
        return found, "wide", options
    if by_pattern:
        item = item_column(table.cells, options.item) or table.names[0]
        long = long_by_pattern(table, item, options.gold, options.rater)
    else:
        long = long_by_raters(table, options.rater, options.gold)
    roles = ("item", "rater", "rating")
    facets = [name for name in long.names if name not in (*roles, "gold")]
    gold = "gold" if "gold" in long.names else None
    new: dict[str, Any] = {role: role for role in roles}
    new |= {"gold": gold, "pool": None, "group": None, "block": None, "facets": facets or None}
    return replace(found, table=long), "long", replace(options, **new, shape="long")


def _other_faults(found: Repaired, shape: Shape, options: ReadOptions) -> list[Fault]:
    """The faults that remain if all repairs that wait are applied."""
    table = found.table
    for repair in found.waiting:
        table = repair.apply(table)
    waiting = {fault.place for fault in found.faults}
    with suppress(csv.Error):
        try:
            _ratings(table, shape, replace(options, missing="drop"))
        except RatingsError as error:
            return [fault for fault in error.faults if fault.place not in waiting]
    return []


def _ratings(table: RawTable, shape: Shape, options: ReadOptions) -> Ratings:
    """Ratings of a table of one of the shapes; faults have its lines."""
    absent = _absent_columns(table, options) if shape == "long" else ()
    try:
        if table.unit != "line" and table.letters is None:
            return _of_frame(table.cells, shape, options)
        if absent and table.letters is not None:
            raise RatingsError(absent)
        source, whole = table.source(), table.cells
        if isinstance(source, Sheet):
            names = [x for x in table.names if shape == "wide" or x in options.named.values()]
            whole = source.frame(names)
        frame, notes = read_cells(whole, source, shape, options.columns, options.decimal)
        ratings = _of_frame(frame, shape, options)
        return replace(ratings, notes=notes + ratings.notes)
    except RatingsError as error:
        others = [fault for fault in error.faults if not absent or fault.place != "columns"]
        raise _relocated(RatingsError([*absent, *others]), table) from None


def _absent_columns(table: RawTable, options: ReadOptions) -> Sequence[Fault]:
    """The fault of columns that a long table should have."""
    if set(options.named.values()) <= set(table.names):
        return ()
    sample = _sample(table) if table.unit == "row" else _inferred(table.cells.iloc[:N_SAMPLED])
    try:
        named_columns(sample, options.named)
    except RatingsError as error:
        return error.faults
    return ()


def _inferred(texts: pd.DataFrame) -> pd.DataFrame:
    """Texts with the types that pandas infers, which takes little time for many columns."""
    return pd.read_csv(io.StringIO(texts.to_csv(index=False)))


def _relocated(error: RatingsError, table: RawTable) -> RatingsError:
    """The error with lines of the file in place of rows of the table."""
    rows = sorted({row for fault in error.faults for row in fault.rows})
    try:
        lines = table.lines(table.cells.index[rows].tolist())
    except csv.Error:  # a field is longer than this reader takes
        return error
    return error.relocated(dict(zip(rows, lines, strict=True)).__getitem__, table.unit)


def _of_frame(frame: pd.DataFrame, shape: Shape, options: ReadOptions) -> Ratings:
    """Ratings of a frame of one of the shapes, with a note if the shape was guessed."""
    given: dict[str, Any] = {
        "scale": options.scale,
        "categories": options.categories,
        "twins": options.twins,
        "separator": options.separator,
    }
    if options.is_part:
        return _of_part(frame, shape, options)
    if shape == "long":
        return Ratings.from_frame(
            frame,
            **options.roles,
            **given,
            replicates=options.replicates,
            missing=options.missing,
            facets=facet_columns(options.facets),
        )
    columns, gold = list(frame.columns), options.gold
    refuse_long_options(options.columns, columns)
    item = item_column(frame, options.item)
    ratings = Ratings.from_wide(frame, item=item, gold=gold, **given)
    is_guess = options.shape is None
    notes = (note_on_shape(rater_columns(columns, item, gold)),) if is_guess else ()
    return replace(ratings, notes=notes + ratings.notes)


def _of_part(frame: pd.DataFrame, shape: Shape, options: ReadOptions) -> Ratings:
    """Ratings of one of several files, whose raters need not be comparable within it."""
    given: dict[str, Any] = {
        "scale": options.scale,
        "categories": options.categories,
        "twins": options.twins,
        "for_agreement": False,
    }
    if shape == "wide":
        item = item_column(frame, options.item)
        table = table_from_wide(frame, item=item, pool=None, gold=options.gold, **given)
    else:
        table = table_from_long(
            frame,
            options.roles,
            **given,
            replicates=options.replicates,
            missing=options.missing,
            facets=facet_columns(options.facets),
        )
    return Ratings(**coded_fields(table))
