"""The command that fits models and writes an HTML report: report."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reliabayes as rb
from reliabayes.cli.fit_results import print_posterior
from reliabayes.cli.importing import importing
from reliabayes.cli.option_groups import with_option_groups
from reliabayes.cli.options import Facets, Prob, check_outputs, probability, writable
from reliabayes.cli.output import print_message
from reliabayes.cli.parts import Workers, check_models, is_folder, read_any, source_of
from reliabayes.cli.ratings_file import STANDARD_INPUT, RatingsFile
from reliabayes.cli.recommended import recommended_model
from reliabayes.cli.sampling import Sampling, fit_models
from reliabayes.cli.table_options import Tables, table_writers

if TYPE_CHECKING:
    from reliabayes.models import RatingModel
    from reliabayes.partitions import AnyRatings


@with_option_groups
def report(
    *,
    context: typer.Context,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL,MODEL,...",
            help="One or more of the models that `reliabayes models` lists; by default what suits.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="OUT.html", help="File to write the report to.")
    ] = Path("report.html"),
    ratings_file: RatingsFile,
    workers: Workers,
    facets: Facets,
    sampling: Sampling,
    prob: Prob = 0.9,
    reliability: Annotated[
        float,
        typer.Option(
            callback=probability,
            help="Target reliability of mean ratings, for the number of ratings per item.",
        ),
    ] = 0.8,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the report.")] = None,
    date: Annotated[
        str, typer.Option(metavar="TEXT", help="Date of the report; by default it has none.")
    ] = "",
    one_page: Annotated[
        bool,
        typer.Option(
            "--one-page",
            help="Write one printed page (A4) of the first model; as PDF if --out ends with .pdf.",
        ),
    ] = False,
    tables: Tables,
) -> None:
    """Fit models to the ratings of a table and write an HTML report of the results."""
    with importing():
        from reliabayes.recommendation import stated_well

        write = rb.report
        named = facets.among(models)
    target = writable(out)
    if out.suffix.lower() == ".pdf":
        _check_printable(one_page=one_page)
    is_in_parts = is_folder(ratings_file.file)
    outputs = tables.outputs(is_in_parts=is_in_parts)
    check_outputs(ratings_file.file, {"out": target, **outputs})
    wanted = {name: path for name, path in outputs.items() if path is not None}
    if wanted and len(named) > 1:
        raise typer.BadParameter(
            f"--{next(iter(wanted))} writes estimates of one model; name one with --models."
        )
    ratings = read_any(ratings_file, workers, context)
    source = _source(ratings_file, ratings)
    chosen = [stated_well(model, ratings) for model in named]
    chosen = chosen or [recommended_model(ratings, "--models")]
    check_models(chosen, ratings)
    fits = fit_models(chosen, ratings, sampling, are_recommended=not named)
    texts: dict[str, Any] = {} if title is None else {"title": title}
    print_message("computing the report")
    try:
        write(
            ratings,
            {type(model).__name__: fit for model, fit in fits.items()},
            str(target),
            prob=prob,
            reliability=reliability,
            source=source,
            command=_command_line(context, sampling, fits),
            date=date,
            one_page=one_page,
            **texts,
        )
    except OSError:  # the page is lost, and the posteriors must not be
        for fit in fits.values():
            print_posterior(fit, prob)
        raise
    print_message(f"wrote {out}")
    (fitted,) = fits.values() if wanted else (None,)
    if fitted is not None:
        writers = table_writers(fitted, is_in_parts=is_in_parts)
        for name, path in wanted.items():
            writers[name](path)
            print_message(f"wrote {path}")


def _check_printable(*, one_page: bool) -> None:
    from reliabayes.html_report.printing import printing_program

    if not one_page:
        raise typer.BadParameter("--out names a PDF, and only --one-page prints one.")
    try:
        printing_program()
    except FileNotFoundError as error:
        raise typer.BadParameter(str(error)) from error


def _source(ratings_file: RatingsFile, ratings: AnyRatings) -> dict[str, str]:
    """Return what identifies the file, and which of its columns were read."""
    found = source_of(ratings_file, ratings)
    renamed = [
        f"{role} from {name}" for role, name in found["columns"].items() if name not in (None, role)
    ]
    columns = ", ".join(renamed) or "by their names"
    if ratings_file.file == STANDARD_INPUT:
        return {"file": "standard input", "columns": columns}
    if isinstance(ratings, rb.Ratings):
        from reliabayes.ratings.readers.inspect import logs_in

        kind, hashed, files = "file", "sha256", logs_in(ratings_file.file)
    else:
        from reliabayes.partitions.manifest import NAME  # it has the checksums of the source

        kind, hashed, files = "folder", f"sha256 of {NAME}", [ratings_file.file / NAME]
    digest = ", ".join(map(_digest, files))
    return {kind: str(ratings_file.file), hashed: digest, "columns": columns}


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _command_line(
    context: typer.Context, sampling: Sampling, models: Collection[RatingModel[Any]]
) -> str:
    """Return the command that writes the same report, with its models and its seed."""
    names = ",".join(model.name() for model in models)
    given: dict[str, Any] = context.params | {"seed": sampling.seed, "models": names}
    for model in models:
        if isinstance(model, rb.GStudy):
            given |= {"design": model.design, "drop": list(model.drop), "family": model.family}
    words = ["reliabayes", "report", str(given["file"])]
    for option in context.command.params:
        name = str(option.name)
        omitted = (None,) if name == "seed" else (None, option.default)
        if option.param_type_name == "option" and given.get(name) not in omitted:
            words += _option_words(option, given[name])
    return shlex.join(words)


def _option_words(option: Any, given: Any) -> list[str]:
    """An option as it is typed: flags have no value, and others may be repeated."""
    if option.is_flag:
        return [option.opts[0] if given else option.secondary_opts[0]]
    values = given if isinstance(given, (list, tuple)) else [given]
    return [word for value in values for word in (option.opts[0], str(value))]
