"""Ratings of a command: those of a file in memory, or those of a folder in parts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reliabayes as rb
from reliabayes.cli.output import BAD_INPUT, FAILURE, STDOUT, exit_with, print_message
from reliabayes.cli.ratings_file import RatingsFile, guess_in_words
from reliabayes.files import require_new_folder
from reliabayes.wording import joined

if TYPE_CHECKING:
    from reliabayes.models import RatingModel
    from reliabayes.partitions import AnyRatings, RatingsDataset

PATIENCE = 10  # seconds for a scheduler to answer, and for a worker to be there
ADDRESS = r"[a-z]+://.+:\d+"


def check_jobs(jobs: int) -> int:
    """Check a number of processes.

    Parameters
    ----------
    jobs : int
        The number.

    Returns
    -------
    int
        The same number; -1 for all processors.

    Raises
    ------
    typer.BadParameter
        If it is none.
    """
    if jobs == -1 or jobs > 0:
        return jobs
    raise typer.BadParameter(f"it must be -1 for all processors, or 1 or more, not {jobs}.")


def _address(cluster: str | None) -> str | None:
    if cluster is None or re.fullmatch(ADDRESS, cluster):
        return cluster
    example = "tcp://host:8786"
    raise typer.BadParameter(f"it must be an address such as {example}, not {cluster!r}.")


Cluster = Annotated[
    str | None,
    typer.Option(
        callback=_address,
        metavar="ADDRESS",
        help="Dask scheduler, such as tcp://host:8786, whose workers compute with a folder of "
        "parts instead.",
    ),
]


@dataclass(frozen=True)
class Workers:
    """What computes with the parts of a folder.

    Attributes
    ----------
    jobs : int, default 1
        Number of processes of this machine.
    cluster : str, optional
        Address of a Dask scheduler.
    """

    jobs: Annotated[
        int,
        typer.Option(
            callback=check_jobs,
            help="Number of processes that compute with a folder of parts; -1 for all processors.",
        ),
    ] = 1
    cluster: Cluster = None


def read_any(
    ratings_file: RatingsFile,
    workers: Workers,
    context: typer.Context,
    *,
    jobs_of_files: bool = False,
) -> AnyRatings:
    """Return the ratings of a file, or of a folder that `partition` has written.

    Parameters
    ----------
    ratings_file : RatingsFile
        The file or folder.
    workers : Workers
        What computes with the parts of a folder.
    context : Context
        That of the command, which ends the connection to a cluster.
    jobs_of_files : bool, default False
        Whether processes also do something for ratings of a file.

    Returns
    -------
    Ratings or RatingsDataset

    Raises
    ------
    typer.BadParameter
        If there are options that do not go together.
    """
    if not is_folder(ratings_file.file):
        given = {"cluster": workers.cluster is not None}
        given["jobs"] = workers.jobs != 1 and not jobs_of_files
        if options := [f"--{name}" for name, is_given in given.items() if is_given]:
            raise typer.BadParameter(
                f"{options[0]} is for a folder of ratings in parts, which `reliabayes partition` "
                f"writes; {ratings_file.file} is none."
            )
        return ratings_file.read()
    _refuse_options_of_tables(ratings_file)
    if workers.cluster is not None and workers.jobs != 1:
        raise typer.BadParameter("--jobs and --cluster exclude each other: name one of them.")
    client = None if workers.cluster is None else _client(workers.cluster, context)
    try:
        dataset = rb.scan_ratings(ratings_file.file, n_jobs=workers.jobs, client=client)
    except (OSError, ImportError) as error:
        exit_with(error, BAD_INPUT)
    _say_scale(dataset)
    return dataset


def is_folder(file: Path) -> bool:
    """Return whether a file is a folder of ratings in parts; others than of logs end the program.

    Parameters
    ----------
    file : Path
        What was named as the file of ratings.

    Returns
    -------
    bool
        False if it is a file, or there is none.
    """
    if not file.is_dir():
        return False
    from reliabayes.ratings.readers.inspect import logs_in

    if logs_in(file):
        return False
    from reliabayes.partitions.manifest import NAME, WORK

    if (file / NAME).exists():
        return True
    if (file / WORK).exists():
        text = "it is not complete; run the same `reliabayes partition` again, to go on with it"
    else:
        text = (
            "it is a folder; name a file in it, or write its Parquet files in parts with "
            f"`reliabayes partition {file} FOLDER` and name that folder"
        )
    exit_with(f"{file}: {text}.", BAD_INPUT)


def writable_folder(path: Path | None) -> Path | None:
    """Check that a new folder can be written, before anything is computed.

    Parameters
    ----------
    path : Path or None
        The folder, if there is one.

    Returns
    -------
    Path or None
        The same folder, with links resolved.

    Raises
    ------
    typer.BadParameter
        If it cannot be written there, or there is something in it.
    """
    if path is None or path == STDOUT:
        return path
    target = Path(os.path.realpath(path))
    try:
        require_new_folder(path)
        with TemporaryDirectory(dir=target.parent, prefix=f".{target.name}."):
            return target
    except OSError as error:
        raise typer.BadParameter(f"cannot write {path}: {error.strerror}.") from error


def source_of(ratings_file: RatingsFile, ratings: AnyRatings) -> dict[str, Any]:
    """Return what identifies the ratings in JSON: the file, and the columns that were read.

    Parameters
    ----------
    ratings_file : RatingsFile
        The file or folder.
    ratings : Ratings or RatingsDataset
        Its ratings.

    Returns
    -------
    dict
    """
    columns: dict[str, Any] = ratings_file.table.columns
    if not isinstance(ratings, rb.Ratings):
        from reliabayes.partitions.manifest import read_manifest

        columns = read_manifest(ratings_file.file).arguments["columns"]
    notes = {"notes": list(ratings.notes)} if getattr(ratings, "notes", ()) else {}
    return {"file": str(ratings_file.file), "columns": columns, **notes}


def check_models(models: Iterable[RatingModel[Any]], ratings: AnyRatings) -> None:
    """Check that models take ratings in parts, if they are.

    Parameters
    ----------
    models : iterable of RatingModel
        The models.
    ratings : Ratings or RatingsDataset
        The ratings.

    Raises
    ------
    typer.BadParameter
        If one of them needs all ratings in memory.
    """
    if isinstance(ratings, rb.Ratings):
        return
    for model in models:
        if not model.takes_parts:
            names = ", ".join(each.name() for each in rb.MODELS if each.takes_parts)
            raise typer.BadParameter(
                f"{model.name()} needs all ratings in memory, but the folder has them in parts. "
                f"Models of ratings in parts are {names}."
            )


def refuse_folder(ratings_file: RatingsFile, purpose: str, remedy: str) -> None:
    """Refuse a folder of ratings in parts where all must be in memory.

    Parameters
    ----------
    ratings_file : RatingsFile
        The file or folder.
    purpose : str
        What needs them in memory, such as a command or an option and what it does.
    remedy : str
        What to do instead, a sentence.

    Raises
    ------
    typer.BadParameter
        If it is such a folder.
    """
    if is_folder(ratings_file.file):
        raise typer.BadParameter(
            f"{purpose} needs all ratings in memory, but {ratings_file.file} has them in parts. "
            f"{remedy}"
        )


def _refuse_options_of_tables(ratings_file: RatingsFile) -> None:
    given = [
        f"--{field.name}"
        for options in (ratings_file.table, ratings_file)
        for field in fields(options)
        if field.name not in ("file", "table")
        if getattr(options, field.name) not in (field.default, [])
    ]
    if given:
        raise typer.BadParameter(
            f"{joined(given)} cannot be given with a folder of parts, which was written with "
            "options of its own. Leave them out, or write other parts with `reliabayes partition`."
        )


def _say_scale(dataset: RatingsDataset) -> None:
    """Say what numbers are taken for, unless it was declared, from the first part."""
    from reliabayes.ratings.likely_scale import likely_scale

    if dataset.scale_is_guess and likely_scale(dataset.example).reason:
        guess = guess_in_words(dataset.example)
        print_message(f"The parts were written without --scale; {guess}.")


def _client(address: str, context: typer.Context) -> Any:
    """A connection to a Dask scheduler that has workers, until the command ends."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        text = "--cluster needs the package distributed; run pip install 'reliabayes[large]'."
        exit_with(text, BAD_INPUT)
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        text = f"no Dask scheduler answers at {address} within {PATIENCE} seconds"
        exit_with(f"--cluster: {text} ({error}). Start one with `dask scheduler`.", FAILURE)
    context.with_resource(client)
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        text = f"the Dask scheduler at {address} has no workers"
        exit_with(f"--cluster: {text}. Start some with `dask worker {address}`.", FAILURE)
    return client
