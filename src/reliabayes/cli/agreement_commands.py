"""Commands for classical coefficients and simulated ratings: agree and simulate."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reliabayes as rb
from reliabayes.choices import Match, Method, Over
from reliabayes.cli.fit_results import json_design
from reliabayes.cli.option_groups import with_option_groups
from reliabayes.cli.options import JsonFile, Methods, Prob, check_outputs, writable
from reliabayes.cli.output import (
    STDOUT,
    json_methods,
    json_value,
    make_table,
    print_and_write,
    print_message,
    print_methods,
    print_table,
    write_json,
    write_text,
)
from reliabayes.cli.parts import Cluster, Workers, check_jobs, read_any, source_of
from reliabayes.cli.ratings_file import RatingsFile
from reliabayes.cli.seeds import METAVAR, seed_of
from reliabayes.wording import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


def _guideline(name: str | None) -> str | None:
    names = [known.replace("_", "-") for known in rb.guidelines.GUIDELINES]
    if name is None or name.replace("_", "-") in names:
        return name and name.replace("-", "_")
    guess = did_you_mean(name, names)
    hint = "" if guess is None else f" Did you mean {guess}?"
    raise typer.BadParameter(f"it must be one of {', '.join(names)}, not {name!r}.{hint}")


@with_option_groups
def agree(
    *,
    context: typer.Context,
    ratings_file: RatingsFile,
    guideline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            callback=_guideline,
            help="Guideline whose words for sizes are added, such as koo-li.",
        ),
    ] = None,
    method: Annotated[
        Method | None,
        typer.Option(help="How intervals are computed; by default what suits the coefficient."),
    ] = None,
    over: Annotated[
        Over | None,
        typer.Option(
            help="What is treated as a sample from a larger population; by default items and "
            "raters, where the coefficient allows it."
        ),
    ] = None,
    bootstrap: Annotated[int, typer.Option(min=2, help="Number of bootstrap samples.")] = 2000,
    jobs: Annotated[
        int,
        typer.Option(
            callback=check_jobs,
            help="Number of processes, for the bootstrap or for a folder of parts; -1 for all "
            "processors.",
        ),
    ] = 1,
    cluster: Cluster = None,
    seed: Annotated[
        int,
        typer.Option(
            parser=seed_of,
            metavar=METAVAR,
            help="Seed of the bootstrap; the same seed gives the same result. With random, each "
            "call draws a new one and prints it.",
        ),
    ] = 0,
    prob: Prob = 0.95,
    methods: Methods = False,
    json_file: JsonFile = None,
) -> None:
    """Print the agreement coefficients that suit the ratings of a table, with intervals."""
    check_outputs(ratings_file.file, {"json": json_file})
    ratings = read_any(ratings_file, Workers(jobs, cluster), context, jobs_of_files=True)
    sampling: dict[str, Any] = {"over": over, "method": method, "replicates": bootstrap}
    sampling |= {"prob": prob, "seed": seed}
    if isinstance(ratings, rb.Ratings):
        sampling["n_jobs"] = jobs
    table = ratings.agreement(**sampling, guideline=guideline)
    sampling.pop("n_jobs", None)
    source = source_of(ratings_file, ratings)
    report = {
        "version": rb.__version__,
        "data": {**source, **json_design(ratings)},
        "sampling": sampling,
        "guideline": table.attrs.get("guideline"),
        "caution": table.attrs.get("caution"),
        "pairs": table.attrs["pairs"],
        "coefficients": _coefficients(table),
        **({"methods": json_methods(rb.methods(table))} if methods else {}),
    }

    def show() -> None:
        if json_file == STDOUT:
            write_json(report, STDOUT)
        else:
            _print_coefficients(table, prob)
            if methods:
                print_methods(rb.methods(table))
        print_message(ratings)
        if method in ("percentile", "bca"):
            print_message(f"{bootstrap} bootstrap samples, seed {seed}")
        if table.attrs["pairs"]:
            print_message(table.attrs["pairs"])
        if getattr(ratings, "gold", None) is not None:
            print_message("Coefficients of agreement make no use of --gold.")
        if guideline is not None:
            print_message(table.attrs["caution"])

    outputs = {}
    if json_file is not None and json_file != STDOUT:
        outputs[f"--json {json_file}"] = partial(write_json, report, json_file)
    print_and_write(show, outputs)


def _coefficients(table: pd.DataFrame) -> dict[str, Any]:
    keys = table.columns.str.replace(r"^(lower|upper)_.*", r"\1", regex=True)
    rows = table.set_axis(keys, axis=1).to_dict(orient="index")
    return {
        str(label): {str(key): json_value(value) for key, value in row.items()}
        for label, row in rows.items()
    }


def _print_coefficients(table: pd.DataFrame, prob: float) -> None:
    tail = 50 * (1 - prob)
    numbers = "value", "se", f"{tail:g}%", f"{100 - tail:g}%"
    printed = make_table("coefficient", *numbers, *table.columns[4:], numeric=numbers)
    for label, *found in table.itertuples():
        printed.add_row(label, *(x if isinstance(x, str) else f"{x:.4f}" for x in found))
    print_table(printed)


def simulate(
    agreement: Annotated[
        float,
        typer.Option(
            help="Probability, 0 to 1, that the raters of an item agree other than by chance."
        ),
    ],
    items: Annotated[int, typer.Option(help="Number of items.")] = 100,
    raters: Annotated[int, typer.Option(help="Number of raters.")] = 2,
    ratings_per_item: Annotated[
        int | None,
        typer.Option(help="Number of raters drawn for each item; by default all rate it."),
    ] = None,
    categories: Annotated[
        int, typer.Option(help="Number of categories, which are named 1, 2, ...")
    ] = 3,
    distribution: Annotated[
        str | None,
        typer.Option(metavar="W,W,...", help="Weights of the categories; by default equal."),
    ] = None,
    match: Annotated[
        Match | None,
        typer.Option(help="Make the proportion of items with agreement exactly --agreement."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            parser=seed_of,
            metavar=METAVAR,
            help="Seed; the same seed gives the same ratings. With random, each call draws "
            "a new one and prints it.",
        ),
    ] = 0,
    out: Annotated[
        Path,
        typer.Option(
            metavar="OUT.csv", callback=writable, help="File to write to; - for standard output."
        ),
    ] = STDOUT,
) -> None:
    """Simulate ratings with a given agreement, as a table that other commands read."""
    import numpy as np

    from reliabayes.ratings.formula_escapes import csv_text

    ratings = rb.simulate.rating_matrix(
        agreement=agreement,
        rng=np.random.default_rng(seed),
        items=items,
        raters=raters,
        ratings_per_item=ratings_per_item,
        categories=categories,
        distribution=None if distribution is None else _weights(distribution),
        match=match,
    )
    print_message(f"seed {seed}")
    write_text(csv_text(ratings.to_frame().astype({"rating": int}), index=False), out)
    print_message(ratings)


def _weights(text: str) -> list[float]:
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"--distribution must be numbers separated by commas, not {text!r}."
        ) from None
