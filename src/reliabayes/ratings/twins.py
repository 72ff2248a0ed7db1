"""Twins: values that differ only in spaces, capitals or how Unicode composes their characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault
from reliabayes.ratings.columns import Labels, fault_in
from reliabayes.ratings.table import Table
from reliabayes.wording import listed

VALUES = ("rating", "gold")  # roles in which capitals do not count; in ids they do
ROLES = ("item", "rater", *VALUES, "pool")


def twins(table: Table) -> Iterator[Fault]:
    """Yield a fault for each column with values that differ only in how they are written.

    Capitals count in ids, and in categories that were declared.
    """
    for role, column in _labels(table):
        is_value = role in VALUES
        is_declared = table.categories is not None or column.declared is not None
        forms = _forms(column, with_case=is_declared or not is_value, declared=())
        if not forms:
            continue
        capitals = " or capitals" if is_value and not is_declared else ""
        keep = ", list all in categories=[...] if capitals matter" if capitals else ""
        yield fault_in(
            column,
            np.append(column.ids.isin(list(forms)), False)[column.codes],
            f"values must not differ only in spaces{capitals}, or in how characters such as é are "
            "composed",
            f"{{n}} that repeat {listed(sorted(set(forms.values())))} in another way",
            f'Pass twins="join" to join them{keep}, or rename them.',
        )


def joined_twins(table: Table) -> Table:
    """Join the twins of each column under the form that was declared, or is most frequent.

    Parameters
    ----------
    table : Table
        N ratings.

    Returns
    -------
    Table
        The same ratings, with a note on each column that had twins. Capitals count in ids.
    """
    changed: dict[str, Any] = {}
    notes = table.notes
    for role, column in _labels(table):
        declared = table.categories if role in VALUES and table.categories is not None else ()
        forms = _forms(column, with_case=role not in VALUES, declared=declared)
        if forms:
            changed[role] = _renamed(column, forms)
            joined = ", ".join(f"{twin!r} as {form!r}" for twin, form in list(forms.items())[:5])
            more = f" and {len(forms) - 5} more" if len(forms) > 5 else ""
            notes += (f"Column {column.name}: took {joined}{more}.",)
    facets = {name: changed.pop(name, column) for name, column in table.facets.items()}
    return replace(table, **changed, facets=facets, notes=notes)


def _labels(table: Table) -> Iterator[tuple[str, Labels]]:
    """Roles and columns of texts, then names and columns of facets."""
    columns = {role: getattr(table, role) for role in ROLES} | dict(table.facets)
    for role, column in columns.items():
        if isinstance(column, Labels) and column.kind == "string":
            yield role, column


def _forms(column: Labels, *, with_case: bool, declared: Iterable[Any]) -> dict[str, str]:
    """The form of each value that is written otherwise than its twins should be."""
    keys = [_key(value, with_case) for value in column.ids]
    known = {_key(value, with_case): str(value) for value in declared}
    if len(set(keys)) == len(keys) and not known:
        return {}
    number = np.bincount(column.codes + 1, minlength=len(keys) + 1)[1:]
    groups: dict[str, list[str]] = {}
    for at in np.argsort(-number, kind="stable"):  # the most frequent first
        if number[at]:
            groups.setdefault(keys[at], []).append(column.ids[at])
    return {
        value: form
        for key, group in groups.items()
        if len(group) > 1 or key in known
        for form in [known.get(key, _key(group[0], with_case=True))]
        for value in group
        if value != form
    }


def _key(value: Any, with_case: bool) -> str:
    """The text with single spaces and composed characters; in lower case if case does not count."""
    text = unicodedata.normalize("NFC", " ".join(str(value).split()))
    return text if with_case else text.casefold()


def _renamed(column: Labels, forms: Mapping[str, str]) -> Labels:
    names = [forms.get(value, value) for value in column.ids]
    ids: pd.Index[Any] = pd.Index(list(dict.fromkeys(names)))
    if column.declared is None:
        ids = ids.sort_values()
    return column.recoded(ids.get_indexer(pd.Index(names)), ids)
