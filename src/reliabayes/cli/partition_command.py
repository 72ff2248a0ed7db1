"""The command that writes a table of ratings in parts: partition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import reliabayes as rb
from reliabayes.choices import Missing, Replicates, Scale
from reliabayes.cli.options import check_delimiter
from reliabayes.cli.output import BAD_INPUT, exit_with, print_text
from reliabayes.cli.ratings_file import given_categories, given_facets


def partition(
    source: Annotated[
        str,
        typer.Argument(
            help="Table with one rating per row, as Parquet, CSV or TSV; a pattern of such files "
            "in quotes, or a folder of Parquet files."
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="New folder for the parts.")],
    item: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the item.")] = "item",
    rater: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the rater.")] = "rater",
    rating: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column with the rating.")
    ] = "rating",
    pool: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the rater's pool.")
    ] = None,
    gold: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the item's known true value.")
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Further column that describes a rating; NAME=COLUMN to call it otherwise. Can be "
            "repeated.",
        ),
    ] = None,
    scale: Annotated[
        Scale | None,
        typer.Option(help="How categories relate; by default inferred from the ratings."),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="C,C,...", help="All categories, lowest first; by default those that occur."
        ),
    ] = None,
    replicates: Annotated[
        Replicates, typer.Option(help="Whether a rater may rate an item more than once.")
    ] = "error",
    missing: Annotated[
        Missing, typer.Option(help="Whether rows without a rating are refused or left out.")
    ] = "error",
    delimiter: Annotated[
        str | None,
        typer.Option(
            callback=check_delimiter,
            metavar="CHAR",
            help="Character between fields; by default inferred from the header.",
        ),
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(min=1, help="Number of parts; by default one for each 2 million rows."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for all processors.")] = 1,
) -> None:
    """Write a table that need not fit in memory in parts, or go on where that was stopped."""
    try:
        dataset = rb.partition(
            source,
            folder,
            item=item,
            rater=rater,
            rating=rating,
            pool=pool,
            gold=gold,
            facets=given_facets(facet or []),
            scale=scale,
            categories=None if categories is None else given_categories(categories),
            replicates=replicates,
            missing=missing,
            partitions=partitions,
            delimiter=delimiter,
            n_jobs=jobs,
        )
    except (FileNotFoundError, ImportError) as error:
        exit_with(error, BAD_INPUT)
    print_text(repr(dataset))
