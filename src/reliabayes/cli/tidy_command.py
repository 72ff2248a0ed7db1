"""The command that writes a table as it was understood: tidy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import reliabayes as rb
from reliabayes.cli.option_groups import with_option_groups
from reliabayes.cli.options import check_outputs, writable
from reliabayes.cli.output import print_text, write_text
from reliabayes.cli.parts import refuse_folder
from reliabayes.cli.ratings_file import RatingsFile, in_options


@with_option_groups
def tidy(
    *,
    ratings_file: RatingsFile,
    out: Annotated[
        Path,
        typer.Option(metavar="OUT.csv", callback=writable, help="File to write the table to."),
    ] = Path("clean.csv"),
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.txt", callback=writable, help="File to write what was repaired to."
        ),
    ] = None,
) -> None:
    """Write a table of any layout as CSV with one rating per row, and say what was repaired."""
    check_outputs(ratings_file.file, {"out": out, "log": log})
    refuse_folder(ratings_file, "tidy", "Name the table that they were made of.")
    ratings = replace(ratings_file, table=replace(ratings_file.table, tidy=True)).read()
    write_text(_as_csv(ratings), out)
    if log is not None:
        lines = [f"{ratings_file.file}: {ratings!r}", *map(in_options, ratings.notes)]
        write_text("".join(f"{line}\n" for line in lines), log)
    print_text(f"{out.name}: {ratings!r}")


def _as_csv(ratings: rb.Ratings) -> str:
    from reliabayes.ratings.formula_escapes import csv_text

    frame = ratings.to_frame()
    for name in ("rating", "gold"):
        if ratings.scale == "numeric" and name in frame:
            known = frame[name].dropna()
            are_whole = bool((known % 1 == 0).all() and (known.abs() < 2**53).all())
            frame[name] = frame[name].astype("Int64") if are_whole else frame[name]
    return csv_text(frame, index=False)
