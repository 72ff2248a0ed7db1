"""Options that commands share, and what they must be."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reliabayes as rb
from reliabayes.cli.output import BAD_INPUT, STDOUT, stop
from reliabayes.ratings import Replicates, Scale
from reliabayes.wording import did_you_mean

if TYPE_CHECKING:
    from reliabayes.models import RatingModel


OPTIONS = (
    "item",
    "rater",
    "rating",
    "pool",
    "gold",
    "scale",
    "replicates",
    "delimiter",
    "encoding",
    "over",
    "categories",
)


def model_named(name: str) -> type[RatingModel[Any]]:
    """Return the model of a name on the command line."""
    models = {model.name(): model for model in rb.MODELS}
    if name in models:
        return models[name]
    if not name:
        raise typer.BadParameter(f"one must be chosen: {', '.join(models)}.")
    guess = did_you_mean(name, models)
    hint = "" if guess is None else f" Did you mean {guess}?"
    raise typer.BadParameter(f"it must be one of {', '.join(models)}, not {name!r}.{hint}")


def probability(value: float) -> float:
    """Return a probability, if it is one."""
    if 0 < value < 1:
        return value
    raise typer.BadParameter(f"it must lie strictly between 0 and 1, not {value:g}.")


def delimiter_of(value: str | None) -> str | None:
    """Return the character that a shell's word stands for."""
    if value is None or len(value) == 1:
        return value
    if value == r"\t":
        return "\t"
    raise typer.BadParameter(f"it must be one character, not {value!r}.")


def encoding_of(name: str) -> str:
    """Return the name of an encoding, if there is such a one."""
    try:
        codecs.lookup(name)
    except LookupError as error:
        raise typer.BadParameter(f"{error}. Try latin-1 or utf-16.") from error
    return name


def writable(path: Path | None) -> Path | None:
    """Return where to write, links followed; refuse what could not be written in the end."""
    if path is None or path == STDOUT:
        return path
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise typer.BadParameter(f"{path} must be a file, to be replaced when all is done.")
    try:
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}."):
            return target
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {error.strerror}.") from error


def check_outputs(file: Path, outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs, by option, that would go to one place or over the ratings."""
    wanted = {f"--{name}": path for name, path in outputs.items() if path is not None}
    for name, path in wanted.items():
        if path == STDOUT and name != "--json":
            raise typer.BadParameter(
                f"{name} must name a file; only --json can go to standard output."
            )
        same = [other for other in wanted if other != name and wanted[other] == path]
        if same:
            raise typer.BadParameter(f"{name} and {same[0]} must name two files.")
        if path == file.resolve():
            raise typer.BadParameter(f"{name} must not overwrite the ratings {file}.")


File = Annotated[Path, typer.Argument(help="Table with one rating per row: CSV, TSV, Parquet.")]
Item = Annotated[str, typer.Option(metavar="COLUMN", help="What was rated.")]
Rater = Annotated[str, typer.Option(metavar="COLUMN", help="Who rated it.")]
Rating = Annotated[str, typer.Option(metavar="COLUMN", help="The rating.")]
Pool = Annotated[str | None, typer.Option(metavar="COLUMN", help="The rater's group.")]
Gold = Annotated[str | None, typer.Option(metavar="COLUMN", help="The item's known truth.")]
ScaleOption = Annotated[Scale | None, typer.Option(help="How categories relate; else inferred.")]
Categories = Annotated[
    str | None,
    typer.Option(metavar="C,C,...", help="All categories, lowest first; else those that occur."),
]
ReplicatesOption = Annotated[
    Replicates, typer.Option(help="Whether a rater may rate an item several times.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        callback=delimiter_of, metavar="CHAR", help="What stands between fields; else inferred."
    ),
]
Encoding = Annotated[
    str, typer.Option(callback=encoding_of, metavar="NAME", help="How the letters are encoded.")
]
JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="OUT",
        callback=writable,
        help="Write the results as JSON; - for standard output.",
    ),
]
Prob = Annotated[float, typer.Option(callback=probability, help="Probability of the interval.")]
Seed = Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="Same seed, same draws.")]
Chains = Annotated[int, typer.Option(min=1, help="Markov chains.")]
DrawsOption = Annotated[int, typer.Option(min=4, help="Draws a chain.")]


def read(file: Path, *, categories: str | None, **options: Any) -> rb.Ratings:
    """Read ratings; a file that cannot be read is bad input."""
    declared = None if categories is None else _categories(categories)
    try:
        return rb.read_ratings(file, categories=declared, **options)
    except (OSError, ImportError) as error:
        stop(error, BAD_INPUT)


def _categories(text: str) -> list[str] | list[float]:
    """Categories with commas between; numbers if all of them are, as in a file."""
    names = [name.strip() for name in text.split(",")]
    try:
        return [float(name) for name in names]
    except ValueError:
        return names


def for_shell(error: rb.RatingsError) -> rb.RatingsError:
    """Return the error with its remedies naming options of the command line."""
    argument = re.compile(rf"\b({'|'.join(OPTIONS)})=")
    return rb.RatingsError(
        replace(fault, remedy=argument.sub(r"--\1 ", fault.remedy)) for fault in error.faults
    )
