"""Commands that fit models: fit, compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import reliabayes as rb
from reliabayes.cli.options import (
    Categories,
    Chains,
    Delimiter,
    DrawsOption,
    Encoding,
    File,
    Gold,
    Item,
    JsonFile,
    Pool,
    Prob,
    Rater,
    Rating,
    ReplicatesOption,
    ScaleOption,
    Seed,
    check_outputs,
    model_named,
    read,
    writable,
)
from reliabayes.cli.output import STDOUT, new_table, print_table, tell, write_report
from reliabayes.cli.reporting import print_results, report_of, tell_diagnostics
from reliabayes.files import whole
from reliabayes.results.comparison import refuses_comparison

if TYPE_CHECKING:
    from reliabayes.models import RatingModel


def fit(
    file: File,
    model: Annotated[
        Any,
        typer.Option(
            parser=model_named,
            metavar="MODEL",
            show_default=False,
            help="Required: one that `reliabayes models` lists.",
        ),
    ] = "",  # no model: refused in words that name them all
    method: Annotated[
        Literal["mcmc", "em"],
        typer.Option(help="The posterior, or the point of largest likelihood alone."),
    ] = "mcmc",
    item: Item = "item",
    rater: Rater = "rater",
    rating: Rating = "rating",
    pool: Pool = None,
    gold: Gold = None,
    scale: ScaleOption = None,
    categories: Categories = None,
    replicates: ReplicatesOption = "error",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    chains: Chains = 4,
    warmup: Annotated[
        int | None, typer.Option(min=0, help="Iterations a chain to adapt; else the model's.")
    ] = None,
    draws: DrawsOption = 1000,
    seed: Seed = None,
    prob: Prob = 0.9,
    json_file: JsonFile = None,
    items: Annotated[
        Path | None,
        typer.Option(metavar="OUT.csv", callback=writable, help="Write what is said of items."),
    ] = None,
    raters: Annotated[
        Path | None,
        typer.Option(metavar="OUT.csv", callback=writable, help="Write what is said of raters."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="OUT.nc", callback=writable, help="Write the whole fit as netCDF."),
    ] = None,
) -> None:
    """Fit a model to the ratings of a table and print the posterior."""
    check_outputs(file, {"json": json_file, "items": items, "raters": raters, "save": save})
    columns = {"item": item, "rater": rater, "rating": rating, "pool": pool, "gold": gold}
    ratings = read(
        file,
        **columns,
        scale=scale,
        categories=categories,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    fitted: rb.Fit | rb.PointEstimate
    if method == "em":
        fitted = _point_estimate(model(), ratings, save)
    else:
        fit = model().fit(ratings, chains=chains, warmup=warmup, draws=draws, seed=seed)
        if save is not None:
            fit.save(save)
        fitted = fit
    for path, table in ((items, fitted.items), (raters, fitted.raters)):
        if path is not None:
            with whole(path) as partial:
                table().to_csv(partial)
    if json_file is not None:
        write_report(report_of(fitted, prob, {"file": str(file), "columns": columns}), json_file)
    if json_file != STDOUT:
        print_results(fitted, prob)
    tell_diagnostics(fitted)


def compare(
    file: File,
    models: Annotated[
        str,
        typer.Option(
            metavar="MODEL,MODEL,...",
            show_default=False,
            help="Two or more that `reliabayes models` lists, with commas between.",
        ),
    ] = "",
    item: Item = "item",
    rater: Rater = "rater",
    rating: Rating = "rating",
    pool: Pool = None,
    gold: Gold = None,
    scale: ScaleOption = None,
    categories: Categories = None,
    replicates: ReplicatesOption = "error",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    chains: Chains = 4,
    draws: DrawsOption = 1000,
    seed: Seed = None,
) -> None:
    """Tell which models predict the ratings of a left-out item best, in bits per rating."""
    chosen = [model_named(name) for name in filter(None, map(str.strip, models.split(",")))]
    if len(set(chosen)) < 2:
        raise typer.BadParameter("--models must name two models or more, with commas between.")
    if refusal := refuses_comparison({other.name(): other for other in chosen}):
        raise typer.BadParameter(refusal)
    ratings = read(
        file,
        item=item,
        rater=rater,
        rating=rating,
        pool=pool,
        gold=gold,
        scale=scale,
        categories=categories,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    fits = {}
    for other in chosen:
        fits[other.name()] = other().fit(ratings, chains=chains, draws=draws, seed=seed)
        tell(f"{other.name()}:")
        tell_diagnostics(fits[other.name()])
    table = rb.compare(fits)
    printed = new_table("model", *table.columns, numbers=table.columns)
    for name, row in zip(table.index, table.itertuples(index=False), strict=True):
        shown = (f"{x:.4f}" if isinstance(x, float) else str(x) for x in row)
        printed.add_row(str(name), *shown)
    print_table(printed)


def _point_estimate(
    model: RatingModel[Any], ratings: rb.Ratings, save: Path | None
) -> rb.PointEstimate:
    if save is not None:
        raise typer.BadParameter("--save keeps draws, and --method em has none.")
    if not hasattr(model, "em"):
        raise typer.BadParameter(f"{model.name()} has no method em; leave it out for mcmc.")
    estimate: rb.PointEstimate = model.em(ratings)
    return estimate
