"""Answers of judges and labels of people, from several files, as one table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from pandas.api.types import is_numeric_dtype

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.advice import advice
from reliabayes.ratings.argument_checks import NEEDED
from reliabayes.ratings.facets import facet_columns
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.raw_reading import outline, read
from reliabayes.ratings.read_options import DEFAULT_COLUMNS, ReadOptions
from reliabayes.ratings.readers.guessing import read_export
from reliabayes.ratings.readers.inspect import LOG, inspect
from reliabayes.ratings.twins import ANSWERS
from reliabayes.wording import listed

PEOPLE, JUDGES = "human", "llm"  # names of pools
EXTRAS = ("pool", "gold", "group", "block")  # columns that a file may have under these names
MODEL = "model"  # the group of items in logs, if no other field of them is named
OF_ALL = ("twins", "scale", "categories")  # arguments that also say how files are joined

File: TypeAlias = str | PathLike[str]


def read_judged(
    judges: File | Iterable[File], people: File | Iterable[File] = (), **options: Any
) -> Ratings:
    r"""Read what judges said of answers, and the labels of people, as one table.

    Judges that have no pool are of the pool ``llm``; people are of the pool ``human``. The groups
    and blocks of answers on a label sheet are those in the files of judges. A file without a column
    of raters is by one rater, with the name of the file. Ratings that are missing are left out, and
    repeated ones kept, as runs of a judge.

    Parameters
    ----------
    judges : path, or iterable of paths
        Logs of Inspect, exports of promptfoo, DeepEval or other tools, or tables with one rating
        per row, or a column per rater, in all formats that `read_ratings` takes.
    people : path, or iterable of paths, optional
        Label sheets of people, of the same formats. One that is given twice counts once.
    **options : Any
        Arguments of `read_ratings`, which apply to each file that they suit. By default columns are
        guessed; columns named pool, gold, group and block are what they say.

    Returns
    -------
    Ratings
        Whose `notes` say what was guessed, repaired and left out, by file.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    RatingsError
        A file cannot be read as a table or breaks a rule, which the message tells with the name of
        the file; or people and judges do not rate the same answers in the same categories.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from reliabayes.ratings import read_judged
    >>> with TemporaryDirectory() as folder:
    ...     judges, people = Path(folder, "judges.csv"), Path(folder, "Ann.csv")
    ...     _ = judges.write_text("item;rater;rating\n1;gpt-a;1\n2;gpt-a;0\n3;gpt-a;1\n")
    ...     _ = people.write_text("item,label\n1,1\n2,1\n3,0\n")
    ...     read_judged(judges, people)
    Ratings(6 ratings of 3 items by 2 raters in 2 pools, numeric 0..1)
    """
    given: dict[str, Any] = {"guess": True, "replicates": "keep", "missing": "drop"} | options
    asked = ReadOptions(**given)
    asked.check()
    logs, others = _apart(_paths(judges))
    sheets, notes = _once(_paths(people))
    files = [_File.of(path, asked, JUDGES) for path in others]
    files += [_File.of(path, asked, PEOPLE) for path in sheets]
    _check_columns(files, asked)
    frames = {JUDGES: [_of_logs(logs, asked, notes)] if logs else [], PEOPLE: []}
    for file in files:
        ratings = file.ratings(asked)
        notes += [f"{file.path.name}: {note}" for note in ratings.notes]
        frames[file.pool].append(_frame(ratings, file.pool))
    judged, *labels = _with_like_items(
        [pd.concat(each, ignore_index=True) for each in frames.values() if each]
    )
    if labels:
        judged = pd.concat([judged, _labels(labels[0], judged, notes)], ignore_index=True)
    ratings = _joined(judged, asked)
    return replace(ratings, notes=(*notes, *ratings.notes))


def pools_of_people(ratings: Ratings) -> list[str]:
    """Pools of people in what `read_judged` returned; none if all raters are judges."""
    return [PEOPLE] if PEOPLE in set(map(str, ratings.pools)) else []


@dataclass(frozen=True, eq=False)
class _File:
    """A file, of a tool or with a table, by judges or by people.

    Attributes
    ----------
    path : Path
        The file.
    pool : str
        The pool of its raters, if it does not say so.
    export : Ratings or None
        The ratings of a tool's file.
    names : list of str
        Names of the columns of a table.
    """

    path: Path
    pool: str
    export: Ratings | None
    names: list[str]

    @classmethod
    def of(cls, path: Path, asked: ReadOptions, pool: str) -> _File:
        """Open a file, and find its columns."""
        options = _options(asked, path, pool)
        if options.group == MODEL:  # which tools' files name by themselves
            options = replace(options, group=None)
        with _naming(path):
            if (export := read_export(path, options)) is not None:
                return cls(path, pool, export, [])
            return cls(path, pool, None, [*map(str, outline(path, options).table.names)])

    def ratings(self, asked: ReadOptions) -> Ratings:
        """Its ratings; of a table by those of the named columns that it has."""
        if self.export is not None:
            return self.export
        changed: dict[str, Any] = {
            role: role for role in NEEDED if getattr(asked, role) not in self.names
        }
        for role in EXTRAS:
            name = getattr(asked, role) or role
            is_used = name in self.names and (self.pool == JUDGES or role == "gold")
            changed[role] = name if is_used else None
        facets = facet_columns(asked.facets)
        changed["facets"] = {key: name for key, name in facets.items() if name in self.names}
        options = replace(_options(asked, self.path, self.pool), **changed)
        with _naming(self.path):
            try:
                return read(self.path, options).ratings
            except RatingsError as error:
                raise RatingsError(error.faults, advice(self.path, options)) from error


def _options(asked: ReadOptions, path: Path, pool: str) -> ReadOptions:
    """Options of one file; a label sheet has the format, groups and blocks of no other file."""
    options = replace(asked, only_rater=path.stem)
    if pool == JUDGES:
        return options
    return replace(options, format=None, pool=None, group=None, block=None)


def _check_columns(files: Sequence[_File], asked: ReadOptions) -> None:
    """Refuse names of columns that none of the tables has."""
    tables = [file for file in files if file.export is None]
    known = {name for file in tables for name in file.names}
    faults = [
        Fault(
            role,
            f"a file must have the column {name!r}",
            "; ".join(f"{file.path.name}: {listed(file.names, 10)}" for file in tables),
            f"Name another column: {role}=...",
        )
        for role, name in asked.columns.items()
        if tables and name not in (None, DEFAULT_COLUMNS.get(role)) and name not in known
    ]
    if faults and len(tables) == len(files):
        raise RatingsError(faults)


def _of_logs(paths: Sequence[Path], asked: ReadOptions, notes: list[str]) -> pd.DataFrame:
    """Ratings of logs of Inspect, which are read together."""
    given: dict[str, Any] = {name: getattr(asked, name) for name in ("question", *OF_ALL)}
    group = None if asked.group == MODEL else asked.group
    ratings = inspect(paths, group=group, block=asked.block, **given)
    notes += ratings.notes
    return _frame(ratings, JUDGES)


def _frame(ratings: Ratings, pool: str) -> pd.DataFrame:
    frame = ratings.to_frame()
    frame["rating"] = frame["rating"].astype(object)  # tables whose categories differ are joined
    if pool == PEOPLE:
        return frame.assign(pool=pool).drop(columns=["group", "block"], errors="ignore")
    return frame if "pool" in frame else frame.assign(pool=pool)


def _with_like_items(frames: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The frames with ids of items that are all texts, if some are texts."""
    if len({is_numeric_dtype(each["item"]) for each in frames}) < 2:
        return frames
    return [each.assign(item=each["item"].map(str)) for each in frames]


def _labels(people: pd.DataFrame, judged: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Ratings of label sheets, with the groups, blocks and known answers of their items."""
    if n_repeated := int(people.duplicated().sum()):
        notes.append(f"Left out {n_repeated} rows of label sheets that repeat another.")
        people = people.drop_duplicates()
    known = judged.drop_duplicates("item").set_index("item")
    if (is_new := ~people["item"].isin(known.index)).any():
        rule = "items on a label sheet must be among those that judges answered"
        remedy = "Write them as in the other files."
        found = listed(list(people["item"][is_new].unique()))
        raise RatingsError([Fault("people", rule, found, remedy)])
    spelled = [{_answer(value) for value in each["rating"].unique()} for each in (people, judged)]
    if spelled[0].isdisjoint(spelled[1]):
        rule = "people and judges must rate in the same categories"
        values = [listed(sorted(each["rating"].unique(), key=str)) for each in (people, judged)]
        found = f"{values[0]} by people, and {values[1]} by judges"
        raise RatingsError([Fault("rating", rule, found, "Write them alike in one of the files.")])
    for name in ("group", "block", "gold"):
        if name in known and (name != "gold" or "gold" not in people):
            people = people.assign(**{name: known[name].reindex(people["item"]).to_numpy()})
    return people


def _answer(value: Any) -> str:
    """A rating as it is compared between files: twins are alike."""
    text = str(value).strip().lower().removesuffix(".0")
    return ANSWERS.get(text, text)


def _joined(judged: pd.DataFrame, asked: ReadOptions) -> Ratings:
    """Ratings of all files; faults are of no single rows, because they are between files."""
    given: dict[str, Any] = {name: name for name in EXTRAS if name in judged}
    given |= {name: getattr(asked, name) for name in OF_ALL}
    facets = [str(name) for name in judged if name not in (*NEEDED, *EXTRAS)]
    for name in facets:  # a file without it has one run of each judge
        judged[name] = judged[name].fillna(judged[name].mode()[0])
    try:
        return Ratings.from_frame(
            judged, **given, facets=facets or None, missing="drop", replicates="keep"
        )
    except RatingsError as error:
        faults = [
            replace(each, place=f"{each.place}, between files", rows=()) for each in error.faults
        ]
        raise RatingsError(faults) from error


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say in which file faults are."""
    try:
        yield
    except RatingsError as error:
        faults = [
            each if path.name in each.place else replace(each, place=f"{path.name}, {each.place}")
            for each in error.faults
        ]
        raise RatingsError(faults, error.advice) from error


def _paths(given: File | Iterable[File]) -> list[Path]:
    return [Path(given)] if isinstance(given, (str, PathLike)) else [*map(Path, given)]


def _apart(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Logs of Inspect, and other files."""
    is_log = [path.suffix.lower() == LOG or path.is_dir() for path in paths]
    pairs = list(zip(paths, is_log, strict=True))
    return [path for path, log in pairs if log], [path for path, log in pairs if not log]


def _once(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Files without those that have the same content as one before, and notes on these."""
    found: dict[str, Path] = {}
    notes = []
    for path in paths:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in found:
            notes.append(f"{path} is left out: it is the same as {found[digest]}.")
        found.setdefault(digest, path)
    return list(found.values()), notes
