"""The file of ratings that a command reads, and the options that say how to read it."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

import reliabayes as rb
from reliabayes.choices import (
    Decimal,
    Duplicates,
    Format,
    Missing,
    Replicates,
    Scale,
    Shape,
    Twins,
)
from reliabayes.cli.options import check_delimiter, check_encoding, check_numbers
from reliabayes.cli.output import BAD_INPUT, exit_with, print_message
from reliabayes.wording import joined

STANDARD_INPUT = Path("-")
ROLES = ("item", "rater", "rating", "pool", "gold", "group", "block")
# Arguments in messages of the library that are options of the command line.
ARGUMENTS = (
    *ROLES,
    "scale",
    "categories",
    "replicates",
    "missing",
    "twins",
    "shape",
    "delimiter",
    "decimal",
    "encoding",
    "format",
    "question",
    "sheet",
    "separator",
    "duplicates",
    "over",
    "partitions",
)
FLAGS = ("tidy", "percent")  # that have no value on the command line
LISTS = ("header", "drop_rows", "drop_columns", "na")


@dataclass(frozen=True)
class TableOptions:
    """How tables are read; all commands have these options.

    Attributes
    ----------
    item : str, default "item"
        Column that says what was rated.
    rater : str, default "rater"
        Column that says who rated it.
    rating : str, default "rating"
        Column of the ratings.
    pool : str, optional
        Column of the rater's pool.
    gold : str, optional
        Column of the item's known true value.
    facet : list of str, optional
        Further columns that describe a rating, as COLUMN or NAME=COLUMN.
    scale : {"nominal", "ordered", "numeric"}, optional
        How the values of a rating relate.
    categories : str, optional
        All categories, separated by commas.
    twins : {"error", "join"}, default "error"
        Whether values that differ only in how they are written are joined.
    shape : {"long", "wide", "table"}, optional
        Whether a row holds one rating, a column those of a rater, or the file counts of two raters.
    delimiter : str, optional
        Character between fields.
    decimal : {".", ","}, optional
        What comes before the decimals of a number.
    encoding : str, default "utf-8"
        Encoding of a text file.
    group : str, optional
        Column of what the item belongs to.
    block : str, optional
        Column of what items of several groups share.
    format : str, optional
        The tool that the file is of, or a table.
    question : str, optional
        The question whose answers are read from a tool's file.
    tidy : bool, default False
        Whether faults are repaired that cannot change an answer.
    na : list of str, optional
        Values that mean no rating.
    percent : bool, default False
        Whether percentages are numbers.
    drop_rows, drop_columns : str, list of str, optional
        Numbers of rows, separated by commas, and columns to leave out.
    sheet : str, optional
        Sheet of a workbook.
    header : str, optional
        Number of the row of the header, or two separated by a comma.
    separator : str, optional
        What is between the labels of a rating that is a set of labels.
    """

    item: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the item.")] = "item"
    rater: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the rater.")] = "rater"
    rating: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the rating.")] = (
        "rating"
    )
    pool: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the rater's pool.")
    ] = None
    gold: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the item's known true value.")
    ] = None
    facet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Further column that describes a rating, such as its occasion or prompt; "
            "NAME=COLUMN to call it otherwise. Can be repeated.",
        ),
    ] = None
    scale: Annotated[
        Scale | None,
        typer.Option(help="How categories relate; by default inferred from the ratings."),
    ] = None
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="C,C,...", help="All categories, lowest first; by default those that occur."
        ),
    ] = None
    twins: Annotated[
        Twins,
        typer.Option(
            help='Whether values that differ only in how they are written, such as "yes", "YES " '
            'and "Y", are refused or joined.'
        ),
    ] = "error"
    shape: Annotated[
        Shape | None,
        typer.Option(
            help="One rating per row, a column per rater, or a square table of counts of two "
            "raters' categories; by default wide where that is obvious."
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            callback=check_delimiter,
            metavar="CHAR",
            help="Character between fields; by default inferred from the header.",
        ),
    ] = None
    decimal: Annotated[
        Decimal | None,
        typer.Option(help="What comes before decimals in a text file; by default inferred."),
    ] = None
    encoding: Annotated[
        str,
        typer.Option(callback=check_encoding, metavar="NAME", help="Encoding of a text file."),
    ] = "utf-8"
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with what the item belongs to, such as a system."
        ),
    ] = None
    block: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with what items of groups share, such as a prompt."
        ),
    ] = None
    format: Annotated[
        Format | None,
        typer.Option(
            metavar="TOOL",
            help="Tool that the file is of, such as label_studio, or table; by default found out.",
        ),
    ] = None
    question: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Question of a tool's file whose answers are read."),
    ] = None
    tidy: Annotated[
        bool,
        typer.Option(
            "--tidy",
            help="Repair what loses no rating and cannot change an answer, such as rows above the "
            "header or of totals, and say so.",
        ),
    ] = False
    na: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE",
            help='Value that means no rating, such as "n/a" or 99. Can be repeated.',
        ),
    ] = None
    percent: Annotated[
        bool, typer.Option("--percent", help="Read ratings such as 45% as numbers.")
    ] = False
    drop_rows: Annotated[
        str | None,
        typer.Option(
            callback=check_numbers, metavar="N,N,...", help="Numbers of lines or rows to leave out."
        ),
    ] = None
    drop_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to leave out. Can be repeated."),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Sheet of a workbook; by default the first that shows."),
    ] = None
    header: Annotated[
        str | None,
        typer.Option(
            callback=check_numbers,
            metavar="N[,N]",
            help="Number of the line or row that names the columns, or of two.",
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help='What is between labels, such as ";", if ratings are sets of them.'
        ),
    ] = None

    @property
    def columns(self) -> dict[str, str | None]:
        """Names of the columns by their roles, and by the names of facets."""
        from reliabayes.ratings.facets import facet_columns

        roles = {role: name for role, name in asdict(self).items() if role in ROLES}
        return roles | facet_columns(given_facets(self.facet or []))

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `read_ratings`."""
        options = asdict(self)
        options["facets"] = given_facets(options.pop("facet") or [])
        for name in ("header", "drop_rows"):
            options[name] = given_numbers(options[name])
        for name in ("na", "drop_columns"):
            options[name] = options[name] or None
        if self.categories is not None:
            options["categories"] = given_categories(self.categories)
        return options


@dataclass(frozen=True)
class RatingsFile:
    """A file of ratings, as described by the options of a command.

    Attributes
    ----------
    file : Path
        The file.
    table : TableOptions
        How it is read.
    replicates : {"error", "keep"}, default "error"
        Whether a rater may rate an item more than once.
    missing : {"error", "drop"}, default "error"
        Whether rows without a rating are left out.
    duplicates : {"error", "drop_exact"}, default "error"
        Whether rows that repeat another are left out.
    """

    file: Annotated[
        Path,
        typer.Argument(
            help="Table with one rating per row, or a column per rater, as CSV, TSV, JSON lines, "
            "XLSX or Parquet, or an export of an annotation or evaluation tool; - for CSV from "
            "standard input. All commands but compare also take a "
            "folder that `reliabayes partition` has written."
        ),
    ]
    table: TableOptions
    replicates: Annotated[
        Replicates, typer.Option(help="Whether a rater may rate an item more than once.")
    ] = "error"
    missing: Annotated[
        Missing, typer.Option(help="Whether rows without a rating are refused or left out.")
    ] = "error"
    duplicates: Annotated[
        Duplicates,
        typer.Option(help="Whether rows that repeat another in all cells are left out."),
    ] = "error"

    def read(self) -> rb.Ratings:
        """Return the ratings, and say which scale was guessed for them.

        A file that cannot be read ends the program as bad input.
        """
        own = {name: getattr(self, name) for name in ("replicates", "missing", "duplicates")}
        try:
            with _on_disk(self.file) as file:
                ratings = rb.read_ratings(file, **self.table.arguments, **own, guess=True)
        except (OSError, ImportError) as error:
            exit_with(error, BAD_INPUT)
        print_notes(ratings)
        if self.table.scale is None and ratings.scale != "ordered":  # which a file can declare
            print_message(f"--scale is not given; {guess_in_words(ratings)}.")
        return ratings


def print_notes(ratings: rb.Ratings) -> None:
    """Print what was guessed, repaired and left out when ratings were read.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    """
    for note in ratings.notes:
        print_message(in_options(note))
    if ratings.left_out:
        from reliabayes.ratings.describing import left_out_in_words

        print_message(f"Left out: {left_out_in_words(ratings.left_out)}.")
    if ratings.n_missing:
        rows = ratings.n_missing + len(ratings)
        print_message(f"Left out {ratings.n_missing:,} of {rows:,} rows: no rating.")


def in_options(text: str) -> str:
    """Return a text with arguments as options of the command line.

    Parameters
    ----------
    text : str
        A text of the library.

    Returns
    -------
    str
        The same, with ``--scale ordered`` in place of ``scale="ordered"``.
    """
    text = re.sub(r'\b(scale|shape|decimal|format|encoding|trust)="([\w.,-]+)"', r"--\1 \2", text)
    return text.replace("gold=...", "--gold COLUMN").replace("human=...", "--human FILE")


def with_option_names(error: rb.RatingsError) -> rb.RatingsError:
    """Replace the arguments in remedies by the options of the command line.

    Parameters
    ----------
    error : RatingsError
        An error of the library.

    Returns
    -------
    RatingsError
        The same error, with ``--scale`` in place of ``scale=``, and ``--categories C,C,...``.
    """
    advice = error.advice
    if advice is not None:
        advice = replace(advice, text=_with_option_names(advice.text))
    faults = [replace(fault, remedy=_with_option_names(fault.remedy)) for fault in error.faults]
    return rb.RatingsError(faults, advice)


def _with_option_names(remedy: str) -> str:
    remedy = re.sub(rf"\b({'|'.join(FLAGS)})=True", r"--\1", remedy)
    remedy = re.sub(rf"\b({'|'.join(LISTS)})=(\[[^\]]*\])", _list_options, remedy)
    argument = (
        rf"\b(?:(?P<other>{'|'.join(ARGUMENTS)})=|facets=(?P<facets>\[.*\]|{{.*}}|\.\.\.)"
        r"|drop=\['(?P<source>[^']*)'\])"
    )
    return re.sub(argument, _option, remedy).replace("[...]", "C,C,...")


def _list_options(argument: re.Match[str]) -> str:
    """A list of a call as options of the command line."""
    try:
        values = ast.literal_eval(argument[2])
    except (SyntaxError, ValueError):  # a value with a bracket in it
        return argument[0]
    option = f"--{argument[1].replace('_', '-')}"
    if argument[1] in ("header", "drop_rows"):
        return f"{option} {','.join(map(str, values))}"
    return " ".join(f"{option} {shlex.quote(str(value))}" for value in values or [""])


def _option(argument: re.Match[str]) -> str:
    if argument["source"]:
        return f"--drop {shlex.quote(argument['source'])}"
    return f"--{argument['other']} " if argument["other"] else _facet_options(argument)


def _facet_options(argument: re.Match[str]) -> str:
    """The facets of a call as options of the command line."""
    from reliabayes.ratings.facets import facet_columns

    if argument["facets"] in ("...", "[...]"):
        return "--facet COLUMN"
    try:
        columns = facet_columns(ast.literal_eval(argument["facets"]))
    except (SyntaxError, ValueError):  # the name of a column that looks like an argument
        return argument[0]
    return " ".join(
        f"--facet {shlex.quote(column if name == column else f'{name}={column}')}"
        for name, column in columns.items()
    )


@contextmanager
def _on_disk(file: Path) -> Iterator[Path]:
    """The file itself, or a copy of standard input, because a table is read more than once."""
    if file != STANDARD_INPUT:
        yield file
        return
    from reliabayes.inference.temporary import temporary_folder

    with temporary_folder() as folder:
        copy = folder / "standard input.csv"
        with copy.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        yield copy


def guess_in_words(ratings: rb.Ratings) -> str:
    """Return what ratings are taken for whose scale was not given, and what else they may be.

    Parameters
    ----------
    ratings : Ratings
        The ratings.

    Returns
    -------
    str
    """
    from reliabayes.ratings.describing import value_range
    from reliabayes.ratings.likely_scale import likely_scale, whole_numbers

    scale, reason = likely_scale(ratings)
    others = {"nominal": "categories", "ordered": "grades", "numeric": "amounts"}
    others.pop(scale)
    options = joined([f"--scale {name} for {meaning}" for name, meaning in others.items()])
    hint = f" ({options})" if whole_numbers(ratings) else ""
    return f"{reason or f'the ratings are read as {scale} {value_range(ratings)}'}{hint}"


def given_facets(texts: list[str]) -> list[str] | dict[str, str]:
    """Return the columns of facets, by names if some are to have other names.

    Parameters
    ----------
    texts : list of str
        Values of the option: ``COLUMN`` or ``NAME=COLUMN``.

    Returns
    -------
    list of str, or dict from str to str
    """
    pairs = [(name, column or name) for name, _, column in (text.partition("=") for text in texts)]
    columns = dict(pairs)
    is_renamed = any(name != column for name, column in pairs)
    return columns if is_renamed and len(columns) == len(pairs) else [name for name, _ in pairs]


def given_numbers(text: str | None) -> list[int] | None:
    """Return whole numbers separated by commas, if there are any.

    Parameters
    ----------
    text : str or None
        Value of the option.

    Returns
    -------
    list of int, or None
    """
    return None if text is None else [int(number) for number in text.split(",")]


def given_categories(text: str) -> list[str] | list[float]:
    """Return categories separated by commas, as numbers if all of them are.

    Parameters
    ----------
    text : str
        Value of the option.

    Returns
    -------
    list of str or of float
    """
    names = [name.strip() for name in text.split(",")]
    try:
        return [float(name) for name in names]
    except ValueError:
        return names
