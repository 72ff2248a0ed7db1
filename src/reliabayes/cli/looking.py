"""Commands that show what there is: describe, models, demo."""

from __future__ import annotations

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
)
from reliabayes.cli.output import new_table, print_table, print_text
from reliabayes.cli.reporting import print_posterior, tell_diagnostics


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


def demo() -> None:
    """Print how reliable the ratings of a published table are, and what that means."""
    _published("dawid_skene_1979")
    judged = _published("shrout_fleiss_1979")
    print_text("Posterior of the Gaussian ICC, given the latter:")
    fitted = rb.GaussianICC().fit(judged, seed=1979)
    print_posterior(fitted, 0.9)
    tell_diagnostics(fitted)
    print_text(f"\n{_in_words(fitted)}")


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


def _in_words(fitted: rb.Fit) -> str:
    tails = [0.05, 0.5, 0.95]
    low, share, high = fitted.quantities["icc"].quantile(tails).values
    fewest, needed, most = fitted.raters_needed(0.8).quantile(tails, method="higher").values
    return (
        f"In words: of the variance of a single score, {share:.0%} comes from true differences "
        f"between the targets, the rest from who scored and from chance (the ICC; 90% interval "
        f"{low:.0%} to {high:.0%}); for mean scores with a reliability of 0.8, each target needs "
        f"{needed:.0f} judges (90% interval {fewest:.0f} to {most:.0f})."
    )
