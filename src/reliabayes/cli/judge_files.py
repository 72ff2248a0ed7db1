"""Files of the command judge: what judges said, and label sheets of people, as one table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reliabayes as rb
from reliabayes.cli.output import print_message
from reliabayes.errors import Fault
from reliabayes.wording import listed

if TYPE_CHECKING:
    import pandas as pd

PEOPLE, JUDGES = "human", "llm"  # names of pools
LOG = ".eval"


def judged(
    files: Sequence[Path],
    sheets: Sequence[Path],
    *,
    group: str | None,
    block: str | None,
    columns: dict[str, str],
    facets: Sequence[str] = (),
) -> rb.Ratings:
    """Return the ratings of files, and those of label sheets by people, as one table.

    Groups and blocks of items on a sheet are those in the other files.

    Parameters
    ----------
    files : sequence of Path
        Logs and exports of tools, or tables with a rating per row.
    sheets : sequence of Path
        Label sheets of people: tables with the columns item and rating, and rater unless one person
        filled them in.
    group, block : str or None
        Columns of what items belong to, and of what items of groups share.
    columns : dict
        Names of the columns item, rater, rating, pool and gold of tables, by role.
    facets : sequence of str
        Further columns, such as runs of judges.

    Returns
    -------
    Ratings

    Raises
    ------
    RatingsError
        A table lacks a column, or a sheet has items that no file has.
    """
    import pandas as pd

    tables = [_of_logs([path for path in files if path.suffix == LOG], group, block)]
    tables += [
        _of_file(path, group, block, columns, facets) for path in files if path.suffix != LOG
    ]
    judges = pd.concat([each for each in tables if each is not None], ignore_index=True)
    known = judges.drop_duplicates("item").set_index("item")
    labels = [_of_sheet(path, columns) for path in _once(sheets)]
    if labels:
        people = pd.concat(labels, ignore_index=True)
        if n_repeated := int(people.duplicated().sum()):
            print_message(f"left out {n_repeated} rows of label sheets that repeat another.")
            people = people.drop_duplicates()
        if (is_new := ~people["item"].isin(known.index)).any():
            rule = "items on a label sheet must be among those that judges answered"
            remedy = "Write them as in the other files."
            raise rb.RatingsError(
                [Fault("human", rule, listed(list(people["item"][is_new].unique())), remedy)]
            )
        for name in ("group", "block", "gold"):
            if name in known:
                people[name] = known[name].reindex(people["item"]).to_numpy()
        judges = pd.concat([judges, people], ignore_index=True)
    named = {name: name for name in ("pool", "gold", "group", "block") if name in judges}
    used = [name for name in facets if name in judges]
    for name in used:
        judges[name] = judges[name].fillna(judges[name].mode()[0])
    options: dict[str, Any] = {**named, "facets": used or None}
    return rb.Ratings.from_frame(judges, **options, missing="drop", replicates="keep")


def _once(paths: Sequence[Path]) -> list[Path]:
    """The files without those that have the same content as one before."""
    found: dict[str, Path] = {}
    for path in paths:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in found:
            print_message(f"{path} is left out: it is the same as {found[digest]}.")
        found.setdefault(digest, path)
    return list(found.values())


def _of_logs(logs: Sequence[Path], group: str | None, block: str | None) -> pd.DataFrame | None:
    """Ratings of logs of Inspect, where model and sample are group and block."""
    if not logs:
        return None
    fields = {"group": None if group == "model" else group, "block": block}
    given: dict[str, Any] = {name: field for name, field in fields.items() if field is not None}
    found = rb.readers.inspect(list(logs), **given)
    for note in found.notes:
        print_message(note)
    return _untyped(found.to_frame())


def _of_file(
    path: Path,
    group: str | None,
    block: str | None,
    columns: dict[str, str],
    facets: Sequence[str],
) -> pd.DataFrame:
    if path.suffix in (".json", ".zip"):
        return _untyped(rb.read_ratings(path).to_frame())
    roles = {**columns, "group": group or "group", "block": block or "block"}
    table = _table(path)
    found = _renamed(table, path, roles, ("item", "rater", "rating"), facets)
    if group is not None and "group" not in found:
        raise _missing(path, group, list(table.columns))
    return found if "pool" in found else found.assign(pool=JUDGES)


def _of_sheet(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    found = _renamed(_table(path), path, columns, ("item", "rating"), ())
    if "rater" not in found:
        found = found.assign(rater=path.stem)
    return found[["item", "rater", "rating"]].assign(pool=PEOPLE)


def _table(path: Path) -> pd.DataFrame:
    import pandas as pd

    from reliabayes.ratings.file_formats import (
        EXCEL_SUFFIX,
        TEXT_SUFFIXES,
        format_suffix,
        read_errors_as_faults,
        read_records,
        read_workbook,
    )
    from reliabayes.ratings.text_files import find_layout

    suffix = format_suffix(path)
    if suffix == EXCEL_SUFFIX:
        return read_workbook(path).frame()
    if suffix not in TEXT_SUFFIXES:
        return read_records(path, suffix)
    with read_errors_as_faults(path, "utf-8"):
        delimiter = find_layout(path, None, "utf-8").delimiter
        found: pd.DataFrame = pd.read_csv(
            path, sep=delimiter, keep_default_na=False, na_values=[""]
        )
        return found


def _renamed(
    table: pd.DataFrame,
    path: Path,
    roles: dict[str, str],
    needed: Sequence[str],
    facets: Sequence[str],
) -> pd.DataFrame:
    """The table with its columns by their roles, and without others."""
    for role in needed:
        if roles[role] not in table:
            raise _missing(path, roles[role], list(table.columns))
    names = {role: name for role, name in roles.items() if name in table}
    found = table[list(names.values())].set_axis(list(names), axis=1)
    return found.assign(**{name: table[name] for name in facets if name in table})


def _missing(path: Path, name: str, columns: list[Any]) -> rb.RatingsError:
    rule = f"{path} must have the column {name!r}"
    return rb.RatingsError([Fault("file", rule, listed(columns), "Name another column.")])


def _untyped(table: pd.DataFrame) -> pd.DataFrame:
    """Ratings as values, because tables whose categories differ are joined."""
    return table.assign(rating=table["rating"].astype(object))
