"""Writing ratings in parts, in one pass over a table that need not fit in memory."""

from __future__ import annotations

import fcntl
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliabayes.errors import Fault, RatingsError
from reliabayes.files import sync_folder, write_whole
from reliabayes.jobs import run_jobs
from reliabayes.partitions.column_types import type_faults
from reliabayes.partitions.dictionaries import Coding, coding_of
from reliabayes.partitions.manifest import NAME, WORK, Manifest, read_manifest
from reliabayes.partitions.part_files import MadePart, PartPlan, make_part
from reliabayes.partitions.runs import Plan, chunks, read_summary, write_run
from reliabayes.partitions.sources import Source
from reliabayes.partitions.unions import merged
from reliabayes.progress import progress_bar
from reliabayes.ratings.design_checks import fault_of_no_overlap
from reliabayes.ratings.frames import columns_and_faults

PLAN = "plan.json"
PART_SIZE = 2_000_000  # ratings


@dataclass(frozen=True)
class Request:
    """What is to be partitioned, and where to.

    Attributes
    ----------
    source : Source
        The table.
    columns : mapping from str to str
        Its columns by role or name of facet.
    arguments : dict
        All else that determines the parts, as JSON has it.
    folder : Path
        Where parts are to be.
    n_jobs : int
        Number of processes.
    progress : bool or None
        Whether bars show how much is done; by default in terminals and notebooks.
    """

    source: Source
    columns: Mapping[str, str]
    arguments: dict[str, Any]
    folder: Path
    n_jobs: int
    progress: bool | None

    @property
    def work(self) -> Path:
        """Folder of what is left until all is done."""
        return self.folder / WORK

    @property
    def key(self) -> dict[str, Any]:
        """What must be the same for a run to go on."""
        return {"source": self.source.identity, "arguments": self.arguments}


def write_parts(request: Request) -> None:
    """Write all parts, or what is missing of them.

    Raises
    ------
    RatingsError
        If the folder is of something else, or the table breaks a rule.
    """
    folder = request.folder
    if (folder / NAME).exists():
        manifest = read_manifest(folder)
        _require_same(request, {"source": manifest.source, "arguments": manifest.arguments})
        shutil.rmtree(request.work, ignore_errors=True)
        return
    _begin(request)
    with _locked(request.work):
        try:
            manifest = _parts(request)
        except RatingsError:
            _remove(request)
            raise
        # What a killed run leaves half-written in the folder itself would stay there for good.
        manifest.write(request.work)
        (request.work / NAME).replace(folder / NAME)
        sync_folder(folder)
        shutil.rmtree(request.work)


def _begin(request: Request) -> None:
    """Make the folder, or find that it is of the same source and arguments."""
    faults = _column_faults(request)
    if faults:
        raise RatingsError(faults)
    plan = request.work / PLAN
    if plan.exists():
        _require_same(request, json.loads(plan.read_bytes()))
        return
    others = [path.name for path in request.folder.glob("*") if path.name != WORK]
    if others:
        rule, remedy = "the folder must be empty or new", "Choose another one, or empty it."
        found = ", ".join(sorted(others)[:5])
        raise RatingsError([Fault(str(request.folder), rule, found, remedy)])
    request.work.mkdir(parents=True, exist_ok=True)
    write_whole(plan, json.dumps(request.key).encode())


def _column_faults(request: Request) -> list[Fault]:
    empty = pd.DataFrame(columns=pd.Index(request.source.names, dtype=object))
    return columns_and_faults(empty, request.columns)[1]


def _require_same(request: Request, found: Mapping[str, Any]) -> None:
    key = json.loads(json.dumps(request.key))
    differing = [
        name for name in key["arguments"] if found["arguments"].get(name) != key["arguments"][name]
    ]
    if found["source"] != key["source"]:
        differing.insert(0, "the source")
    if differing:
        rule = "a folder holds the parts of one source, made with the same arguments"
        what = f"parts made with another value of {', '.join(differing)}"
        remedy = "Choose another folder, or remove this one to partition the ratings anew."
        raise RatingsError([Fault(str(request.folder), rule, what, remedy)])


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """Keep others out of the folder, as long as this process lives."""
    descriptor = os.open(work / PLAN, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        text = "another process is partitioning ratings into this folder"
        raise BlockingIOError(error.errno, text, str(work.parent)) from None
    finally:
        os.close(descriptor)


def _parts(request: Request) -> Manifest:
    """Write what is missing of runs and parts, and return what is known of all."""
    files = _files(request)
    faults = [*_type_faults(request, files)]
    every = list(chunks(files))
    if not every:
        faults.append(Fault("table", "it must hold ratings", "none", "Pass a table with ratings."))
    if faults:
        raise RatingsError(faults)
    n_parts = request.arguments["partitions"] or _default_number(files)
    plan = Plan(request.columns, n_parts, request.arguments["missing"], request.work)
    tasks = [partial(write_run, plan, number, chunk) for number, chunk in enumerate(every)]
    _all("reading", tasks, request)
    runs = [plan.path(number) for number in range(len(every))]
    coding = coding_of(
        [read_summary(path) for path in runs],
        request.columns,
        {name: request.arguments[name] for name in ("scale", "categories")},
        request.source.is_text,
    )
    made = _made(request, runs, coding, n_parts)
    if request.source.has_changed:
        rule, remedy = "the source must stay as it is", "Partition it once it is complete."
        raise RatingsError([Fault("source", rule, "that it has changed in the meantime", remedy)])
    return Manifest(
        arguments=request.arguments,
        source=request.source.identity,
        parts=[part.in_manifest for part in made],
        **coding.fields,
    )


def _files(request: Request) -> Sequence[str]:
    """Parquet files of the source, which are written first if it has none."""
    if request.source.files:
        return request.source.files
    path = request.work / "source"
    if not path.exists():
        draft = request.work / "source.draft"
        if draft.is_dir():
            shutil.rmtree(draft)
        request.source.write(list(dict.fromkeys(request.columns.values())), draft)
        draft.rename(path)
    return sorted(map(str, path.rglob("*.parquet"))) if path.is_dir() else [str(path)]


def _default_number(files: Sequence[str]) -> int:
    n_rows: int = sum(pq.read_metadata(file).num_rows for file in files)
    return max(1, math.ceil(n_rows / PART_SIZE))


def _made(request: Request, runs: Sequence[Path], coding: Coding, n_parts: int) -> list[MadePart]:
    """Make all parts, and raise an error that lists all faults of the table, if it has any."""
    replicates = request.arguments["replicates"]
    plan = PartPlan(runs, request.columns, coding, replicates, request.folder, request.work)
    tasks = [partial(make_part, plan, number) for number in range(n_parts)]
    made = _all("writing parts", tasks, request)
    faults = [*coding.faults, *merged(fault for part in made for fault in part.faults)]
    faults += _design_faults(request, made, coding)
    if faults:
        raise RatingsError(map(_for_parts, faults))
    return made


def _for_parts(fault: Fault) -> Fault:
    """The fault with a remedy that `partition` has."""
    if 'twins="join"' not in fault.remedy:
        return fault
    remedy = "Rename them, or list all in categories=[...] if they are different."
    return replace(fault, remedy=remedy)


def _type_faults(request: Request, files: Sequence[str]) -> Iterator[Fault]:
    are_given = request.arguments["categories"] is not None
    schemas = list(dict.fromkeys(map(pq.read_schema, files)))
    for schema in schemas:
        yield from type_faults(schema, request.columns, are_given)


def _remove(request: Request) -> None:
    """Remove what was written, and the folder unless others have put something there."""
    for part in request.folder.glob("part-*"):
        part.rename(request.work / part.name)  # at once, as the next run takes a part for whole
    shutil.rmtree(request.work)
    with suppress(OSError):
        request.folder.rmdir()


def _design_faults(request: Request, made: Sequence[MadePart], coding: Coding) -> Iterator[Fault]:
    """Yield the faults that show in all parts together."""
    n_items, n_raters = sum(part.n_items for part in made), len(coding.ids["rater"])
    if n_items == 1:
        yield Fault(
            request.columns["item"],
            "there must be at least two items",
            "only one",
            "Check that this column holds the items, or add the ratings of others.",
        )
    if sum(part.n_pairs for part in made) == n_items and n_items > 1 and n_raters > 1:
        yield fault_of_no_overlap(request.columns["item"], request.columns["rater"], n_items)


def _all(title: str, tasks: Sequence[Callable[[], Any]], request: Request) -> list[Any]:
    """Results of tasks, with a bar that counts them."""
    found: list[Any] = []
    counted = progress_bar(title, len(tasks), lambda: len(found), request.progress, "steps")
    with counted as update:
        for result in run_jobs(tasks, request.n_jobs):
            found.append(result)
            update()
    return found
