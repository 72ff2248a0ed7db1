"""The command that writes one page of all that models say of ratings: report."""

from __future__ import annotations

import hashlib
import secrets
import shlex
from pathlib import Path
from typing import Annotated, Any

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
    Pool,
    Prob,
    Rater,
    Rating,
    ReplicatesOption,
    ScaleOption,
    Seed,
    check_outputs,
    model_named,
    probability,
    read,
    writable,
)
from reliabayes.cli.output import tell
from reliabayes.cli.reporting import tell_diagnostics


def report(
    context: typer.Context,
    file: File,
    models: Annotated[
        str,
        typer.Option(
            metavar="MODEL,MODEL,...",
            show_default=False,
            help="Required: those that `reliabayes models` lists, with commas between.",
        ),
    ] = "",
    out: Annotated[Path, typer.Option(metavar="OUT.html", help="Where to write the page.")] = Path(
        "report.html"
    ),
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
    prob: Prob = 0.9,
    reliability: Annotated[
        float, typer.Option(callback=probability, help="Reliability of means to be reached.")
    ] = 0.8,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What stands above the answer.")
    ] = None,
    date: Annotated[
        str, typer.Option(metavar="TEXT", help="Date of the page; by default it has none.")
    ] = "",
) -> None:
    """Fit models to the ratings of a table and write one HTML page of all that they say."""
    chosen = [model_named(name) for name in dict.fromkeys(map(str.strip, models.split(",")))]
    target = writable(out)
    check_outputs(file, {"out": target})
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
    if seed is None:
        seed = secrets.randbelow(2**31)
    fits = {}
    for model in chosen:
        tell(f"fitting {model.name()}")
        fits[model.__name__] = model().fit(ratings, chains=chains, draws=draws, seed=seed)
        tell_diagnostics(fits[model.__name__])
    named = {} if title is None else {"title": title}
    rb.report(
        ratings,
        fits,
        str(target),
        prob=prob,
        reliability=reliability,
        source=source_of(file, columns),
        command=_command(context, seed),
        date=date,
        **named,
    )
    tell(f"wrote {out}")


def source_of(file: Path, columns: dict[str, str | None]) -> dict[str, str]:
    """Return what tells a file of ratings from any other, and which columns were read."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    used = (f"{role} from {name}" for role, name in columns.items() if name not in (None, role))
    return {"file": str(file), "sha256": digest, "columns": ", ".join(used) or "by their names"}


def _command(context: typer.Context, seed: int) -> str:
    """Return what to type for the same page: what was typed, and the seed that was drawn."""
    given: dict[str, Any] = context.params | {"seed": seed}
    words = ["reliabayes", "report", str(given["file"])]
    for option in context.command.params:
        name = str(option.name)
        if option.param_type_name == "option" and given.get(name) not in (None, option.default):
            words += [option.opts[0], str(given[name])]
    return shlex.join(words)
