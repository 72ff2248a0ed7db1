"""Commands that show what there is: describe, models, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli.options import (
    Categories,
    Delimiter,
    Encoding,
    File,
    Item,
    Pool,
    Rater,
    Rating,
    ReplicatesOption,
    ScaleOption,
    read,
    writable,
)
from reliabayes.cli.output import new_table, print_table, print_text, tell
from reliabayes.cli.reporting import print_posterior, tell_diagnostics
from reliabayes.html_report import answer


def describe(
    file: File,
    item: Item = "item",
    rater: Rater = "rater",
    rating: Rating = "rating",
    pool: Pool = None,
    scale: ScaleOption = None,
    categories: Categories = None,
    replicates: ReplicatesOption = "error",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Print the size and the design of the ratings of a table, or all its faults."""
    ratings = read(
        file,
        item=item,
        rater=rater,
        rating=rating,
        pool=pool,
        scale=scale,
        categories=categories,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    _print_description(ratings)


def models() -> None:
    """Print the models, and the quantities that each of them reports."""
    table = new_table("model", "what for", "quantities")
    for model in rb.MODELS:
        table.add_row(model.name(), model.summary, ", ".join(model.reports))
    print_table(table)


def demo(
    report: Annotated[
        Path | None,
        typer.Option(metavar="OUT.html", help="Write a page of it as well."),
    ] = None,
) -> None:
    """Print how reliable the ratings of a published table are, and what that means."""
    target = writable(report)
    _published("dawid_skene_1979")
    judged = _published("shrout_fleiss_1979")
    print_text("Posterior of the Gaussian ICC, given the latter:")
    fitted = rb.GaussianICC().fit(judged, seed=1979)
    print_posterior(fitted, 0.9)
    tell_diagnostics(fitted)
    words = answer(fitted).sentences[0]
    print_text(f"\nIn words: {words[0].lower()}{words[1:]}")
    if target is not None:
        about = datasets.about("shrout_fleiss_1979")
        fitted.report(target, title=f"{about.source}: {about.description}")
        tell(f"wrote {report}: open it in a browser")


def _print_description(ratings: rb.Ratings) -> None:
    table = new_table("", "")
    table.show_header = False
    for name, value in ratings.describe().items():
        table.add_row(str(name), f"{value:.4g}" if isinstance(value, float) else str(value))
    print_table(table)


def _published(name: str) -> rb.Ratings:
    about = datasets.about(name)
    ratings = rb.Ratings.from_frame(datasets.load(name), scale=about.scale, replicates="keep")
    print_text(f"{about.source}: {about.description}.\n{ratings!r}\n")
    return ratings
