"""Commands of the classical side: agree, simulate."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import reliabayes as rb
from reliabayes import cli
from reliabayes.agreement.interval import Method, Over
from reliabayes.cli.options import (
    Categories,
    Delimiter,
    Encoding,
    File,
    Item,
    JsonFile,
    Pool,
    Prob,
    Rater,
    Rating,
    ReplicatesOption,
    ScaleOption,
    check_outputs,
    read,
    writable,
)
from reliabayes.cli.output import STDOUT, new_table, plain, print_table, tell, write_report
from reliabayes.cli.reporting import design_of
from reliabayes.files import whole
from reliabayes.simulate.matrices import Match
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


def agree(
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
    guideline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", callback=_guideline, help="Whose words for sizes to add, as koo-li."
        ),
    ] = None,
    method: Annotated[Method, typer.Option(help="How intervals are found.")] = "percentile",
    over: Annotated[Over, typer.Option(help="What is a sample of more.")] = "items",
    bootstrap: Annotated[int, typer.Option(min=2, help="Samples to draw for intervals.")] = 2000,
    jobs: Annotated[int, typer.Option(help="Processes to draw in; -1 for all processors.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same samples.")] = 0,
    prob: Prob = 0.95,
    json_file: JsonFile = None,
) -> None:
    """Print the coefficients of agreement that suit the ratings of a table, with intervals."""
    check_outputs(file, {"json": json_file})
    columns = {"item": item, "rater": rater, "rating": rating, "pool": pool}
    ratings = read(
        file,
        **columns,
        scale=scale,
        categories=categories,
        replicates=replicates,
        delimiter=delimiter,
        encoding=encoding,
    )
    sampling: dict[str, Any] = {"over": over, "method": method, "replicates": bootstrap}
    sampling |= {"prob": prob, "seed": seed}
    table = ratings.agreement(**sampling, n_jobs=jobs, guideline=guideline)
    if json_file is not None:
        report = {
            "version": version("reliabayes"),
            "data": {"file": str(file), "columns": columns, **design_of(ratings)},
            "sampling": sampling,
            "guideline": table.attrs.get("guideline"),
            "caution": table.attrs.get("caution"),
            "coefficients": _coefficients(table),
        }
        write_report(report, json_file)
    if json_file != STDOUT:
        _print_coefficients(table, prob)
    tell(ratings)
    if guideline is not None:
        tell(table.attrs["caution"])


def _coefficients(table: pd.DataFrame) -> dict[str, Any]:
    keys = table.columns.str.replace(r"^(lower|upper)_.*", r"\1", regex=True)
    rows = table.set_axis(keys, axis=1).to_dict(orient="index")
    return {
        str(label): {str(key): plain(value) for key, value in row.items()}
        for label, row in rows.items()
    }


def _print_coefficients(table: pd.DataFrame, prob: float) -> None:
    tail = 50 * (1 - prob)
    numbers = "value", "se", f"{tail:g}%", f"{100 - tail:g}%"
    printed = new_table("coefficient", *numbers, *table.columns[4:], numbers=numbers)
    for label, *found in table.itertuples():
        printed.add_row(label, *(x if isinstance(x, str) else f"{x:.4f}" for x in found))
    print_table(printed)


def simulate(
    agreement: Annotated[
        float, typer.Option(help="Probability, 0 to 1, that an item's raters agree but by chance.")
    ],
    items: Annotated[int, typer.Option(help="Items to rate.")] = 100,
    raters: Annotated[int, typer.Option(help="Raters to draw from.")] = 2,
    ratings_per_item: Annotated[
        int | None, typer.Option(help="Raters to draw for each item; else all.")
    ] = None,
    categories: Annotated[int, typer.Option(help="Categories, the numbers 1, 2, ...")] = 3,
    distribution: Annotated[
        str | None, typer.Option(metavar="W,W,...", help="Weights of categories; else equal.")
    ] = None,
    match: Annotated[
        Match | None, typer.Option(help="Let the share of items agreed upon be --agreement.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same ratings.")] = 0,
    out: Annotated[
        Path,
        typer.Option(metavar="OUT.csv", callback=writable, help="Where to; - is standard output."),
    ] = STDOUT,
) -> None:
    """Simulate ratings that agree as far as wanted, as a table that other commands read."""
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
    table = ratings.to_frame().astype({"rating": int})
    if out == STDOUT:
        cli.out.out(table.to_csv(index=False), end="")
    else:
        with whole(out) as partial:
            table.to_csv(partial, index=False)
    tell(ratings)


def _weights(text: str) -> list[float]:
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"--distribution must be numbers with commas between, not {text!r}."
        ) from None
