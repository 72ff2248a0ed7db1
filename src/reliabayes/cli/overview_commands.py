"""Commands that give an overview: describe, models and demo."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

import reliabayes as rb
from reliabayes.cli.fit_results import print_diagnostics, print_posterior, print_verdict
from reliabayes.cli.option_groups import with_option_groups
from reliabayes.cli.options import writable
from reliabayes.cli.output import make_table, print_table, print_text
from reliabayes.cli.parts import Workers, read_any
from reliabayes.cli.ratings_file import RatingsFile

WIDTH = 80  # columns of a usual terminal


@with_option_groups
def describe(*, context: typer.Context, ratings_file: RatingsFile, workers: Workers) -> None:
    """Print the size and the design of the ratings of a table, or all faults of the table."""
    table = make_table("", "")
    table.show_header = False
    for name, value in read_any(ratings_file, workers, context).describe().items():
        table.add_row(str(name), f"{value:.4g}" if isinstance(value, float) else str(value))
    print_table(table)


def models() -> None:
    """Print the models, and the quantities that each of them estimates."""
    for model in rb.MODELS:
        about = (model.summary, ", ".join(model.reports))
        lines = (textwrap.indent(textwrap.fill(text, WIDTH - 4), "    ") for text in about)
        print_text("\n".join([model.name(), *lines]))


def demo(
    report: Annotated[
        Path | None,
        typer.Option(metavar="OUT.html", help="Also write the results as an HTML report."),
    ] = None,
) -> None:
    """Print how reliable the ratings of a published table are, and what that means."""
    target = writable(report)
    _load("dawid_skene_1979")
    ratings = _load("shrout_fleiss_1979")
    print_text("Posterior of the Gaussian ICC, given the latter:")
    fit = rb.GaussianICC().fit(ratings, seed=1979)
    print_posterior(fit, 0.9)
    print_diagnostics(fit)
    print_verdict(fit, 0.9)
    if target is not None:
        about = rb.datasets.about("shrout_fleiss_1979")
        fit.report(target, title=f"{about.source}: {about.description}")


def _load(name: str) -> rb.Ratings:
    """Return the ratings of a published table, and print what they are."""
    about = rb.datasets.about(name)
    ratings = rb.Ratings.from_frame(rb.datasets.load(name), scale=about.scale, replicates="keep")
    print_text(f"{about.source}: {about.description}.\n{ratings!r}\n")
    return ratings
