"""Commands that fit models and print results: fit and compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import reliabayes as rb
from reliabayes.cli.fit_results import json_report, print_diagnostics, print_results
from reliabayes.cli.importing import importing
from reliabayes.cli.option_groups import with_option_groups
from reliabayes.cli.options import (
    Facets,
    JsonFile,
    Methods,
    Prob,
    check_outputs,
    model_named,
    writable,
)
from reliabayes.cli.output import (
    STDOUT,
    json_methods,
    make_table,
    print_and_write,
    print_methods,
    print_table,
    while_computing,
    write_json,
)
from reliabayes.cli.parts import (
    Workers,
    check_models,
    is_folder,
    read_any,
    refuse_folder,
    source_of,
)
from reliabayes.cli.ratings_file import RatingsFile
from reliabayes.cli.recommended import recommended_model, recommended_models
from reliabayes.cli.sampling import Sampling, fit_models
from reliabayes.cli.table_options import Tables, table_writers

if TYPE_CHECKING:
    from reliabayes.models import RatingModel
    from reliabayes.partitions import AnyRatings


@with_option_groups
def fit(
    *,
    context: typer.Context,
    model: Annotated[
        Any,
        typer.Option(
            parser=model_named,
            metavar="MODEL",
            show_default=False,
            help="One of the models that `reliabayes models` lists; by default what suits.",
        ),
    ] = None,
    method: Annotated[
        Literal["mcmc", "em"],
        typer.Option(help="Sample the posterior, or find only the point of maximum likelihood."),
    ] = "mcmc",
    ratings_file: RatingsFile,
    facets: Facets,
    sampling: Sampling,
    warmup: Annotated[
        int | None,
        typer.Option(min=0, help="Warmup iterations per chain; by default chosen by the model."),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print how the posterior would be sampled; fit nothing."),
    ] = False,
    prob: Prob = 0.9,
    methods: Methods = False,
    json_file: JsonFile = None,
    workers: Workers,
    tables: Tables,
    save: Annotated[
        Path | None,
        typer.Option(metavar="OUT.nc", callback=writable, help="Write the whole fit as netCDF."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="OUT.html", callback=writable, help="Write a report as HTML."),
    ] = None,
) -> None:
    """Fit a model to the ratings of a table and print the posterior."""
    with importing():
        from reliabayes.recommendation import stated_well

    is_in_parts = is_folder(ratings_file.file)
    if is_in_parts and save is not None:
        instead = "Write --json, --raters and --items."
        refuse_folder(ratings_file, "--save keeps the ratings with the fit, and so", instead)
    outputs = {"save": save, "json": json_file, "report": report}
    outputs |= tables.outputs(is_in_parts=is_in_parts)
    check_outputs(ratings_file.file, outputs)
    chosen = facets.of(None if model is None else model())
    ratings = read_any(ratings_file, workers, context)
    is_recommended = chosen is None
    chosen = stated_well(chosen, ratings) if chosen else recommended_model(ratings, "--model")
    check_models([chosen], ratings)
    if plan:
        numbers = {name: x for name, x in asdict(sampling).items() if name != "seed"}
        typer.echo(chosen.plan(ratings, warmup=warmup, **numbers))
        return
    fitted: rb.Fit | rb.PointEstimate
    if method == "em":
        fitted = _point_estimate(chosen, ratings, {"save": save, "report": report})
    else:
        fitted = chosen.fit(ratings, warmup=warmup, **asdict(sampling))
    source = source_of(ratings_file, ratings)
    said = _said(fitted, prob) if methods else None

    def show() -> None:
        if json_file == STDOUT:
            writers["json"](STDOUT)
        else:
            print_results(fitted, prob)
            if said is not None:
                print_methods(said)
        print_diagnostics(fitted, is_recommended=is_recommended)

    for_papers = {} if said is None else {"methods": json_methods(said)}
    writers: dict[str, Callable[[Path], None]] = {
        "json": lambda path: write_json(json_report(fitted, prob, source) | for_papers, path),
        **table_writers(fitted, is_in_parts=is_in_parts),
    }
    if isinstance(fitted, rb.Fit):
        writers["save"] = fitted.save
        written = partial(fitted.report, prob=prob, source={"file": source["file"]})
        writers["report"] = while_computing("the report")(written)
    wanted = {name: path for name, path in outputs.items() if path not in (None, STDOUT)}
    print_and_write(
        show, {f"--{name} {path}": partial(writers[name], path) for name, path in wanted.items()}
    )


@with_option_groups
def compare(
    *,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL,MODEL,...",
            help="Two or more of the models that `reliabayes models` lists; by default what suits.",
        ),
    ] = None,
    ratings_file: RatingsFile,
    facets: Facets,
    sampling: Sampling,
) -> None:
    """Compare how well models predict the ratings of a held-out item, in bits per rating."""
    from reliabayes.results.comparison import refuses_comparison

    named = facets.among(models)
    if len(named) == 1:
        raise typer.BadParameter("--models must name two or more models, separated by commas.")
    if refusal := refuses_comparison({each.name(): each for each in named}):
        raise typer.BadParameter(refusal)
    refuse_folder(ratings_file, "compare", "Compare the models on a table of some of the items.")
    ratings = ratings_file.read()
    chosen = named or recommended_models(ratings, "--models")
    fits = fit_models(chosen, ratings, sampling, are_recommended=not named)
    table = rb.compare({model.name(): fitted for model, fitted in fits.items()})
    printed = make_table("model", *table.columns, numeric=table.columns)
    for name, row in zip(table.index, table.itertuples(index=False), strict=True):
        cells = (f"{x:.4f}" if isinstance(x, float) else str(x) for x in row)
        printed.add_row(str(name), *cells)
    print_table(printed)


def _said(fitted: rb.Fit | rb.PointEstimate, prob: float) -> rb.MethodsSentence:
    return fitted.methods(prob) if isinstance(fitted, rb.Fit) else fitted.methods()


def _point_estimate(
    model: RatingModel[Any], ratings: AnyRatings, of_draws: Mapping[str, Path | None]
) -> rb.PointEstimate:
    for name, path in of_draws.items():
        if path is not None:
            raise typer.BadParameter(f"--{name} writes draws, and --method em has none.")
    estimate: rb.PointEstimate = model.em(ratings)
    return estimate
