"""Twins: values that differ only in spaces, capitals or Unicode, and spellings of yes and no."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault
from reliabayes.ratings.columns import NUMBER, Labels, fault_in
from reliabayes.ratings.table import Table
from reliabayes.wording import listed

VALUES = ("rating", "gold")  # roles in which capitals do not count; in ids they do
ROLES = ("item", "rater", *VALUES, "pool", "group", "block")
ANSWERS = dict.fromkeys(("y", "yes", "true", "1"), "yes")  # spellings, in lower case
ANSWERS |= dict.fromkeys(("n", "no", "false", "0"), "no")


def twins(table: Table) -> Iterator[Fault]:
    """Yield a fault for each column with values that differ only in how they are written.

    Capitals count in ids, and in categories that were declared; so do spellings of yes and no.
    """
    for role, column in _labels(table):
        is_value = role in VALUES
        counts_case = not is_value or table.categories is not None or column.declared == "ordered"
        forms = _forms(column, with_case=counts_case)
        capitals = "" if counts_case else " or capitals"
        rule = (
            f"values must not differ only in spaces{capitals}, or in how characters such as é are "
            "composed"
        )
        keep = "" if counts_case else ", list all in categories=[...] if capitals matter"
        if not counts_case:
            with_answers = _forms(column, with_case=False, with_answers=True)
            if with_answers != forms:
                forms, rule = with_answers, "yes and no must each be written in one way"
                keep = ", list all in categories=[...] if they differ in meaning"
        if forms:
            yield fault_in(
                column,
                np.append(column.ids.isin(list(forms)), False)[column.codes],
                rule,
                f"{{n}} that repeat {listed(sorted(set(forms.values())))} in another way",
                f'Pass twins="join" to join them{keep}, or rename them.',
                twins="join",
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
        The same ratings, with a note on each column that had twins. Capitals count in ids. Gold
        takes the forms of the ratings.
    """
    changed: dict[str, Any] = {}
    notes = table.notes
    for role, column in _labels(table):
        is_value = role in VALUES
        declared = table.categories if is_value and table.categories is not None else ()
        if role == "gold" and table.categories is None:
            declared = changed.get("rating", table.rating).ids
        forms = _forms(column, with_case=not is_value, with_answers=is_value, declared=declared)
        if forms:
            changed[role] = _renamed(column, forms)
            joined = ", ".join(f"{twin!r} as {form!r}" for twin, form in list(forms.items())[:5])
            more = f" and {len(forms) - 5} more" if len(forms) > 5 else ""
            notes += (f"Column {column.name}: took {joined}{more}.",)
    facets = {name: changed.pop(name, column) for name, column in table.facets.items()}
    return replace(table, **changed, facets=facets, notes=notes)


def written_alike(texts: Sequence[str], *, is_value: bool) -> list[str]:
    """Return one form for all texts that `joined_twins` joins.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.
    is_value : bool
        Whether these are ratings, in which neither capitals count nor how yes and no are spelled.

    Returns
    -------
    list of str
        The form of each text.
    """
    keys = [_key(text, with_case=not is_value) for text in texts]
    return _answers(keys) if is_value else keys


def _labels(table: Table) -> Iterator[tuple[str, Labels]]:
    """Roles and columns of texts, then names and columns of facets."""
    columns = {role: getattr(table, role) for role in ROLES} | dict(table.facets)
    for role, column in columns.items():
        if isinstance(column, Labels) and column.kind == "string":
            yield role, column


def _forms(
    column: Labels, *, with_case: bool, with_answers: bool = False, declared: Collection[Any] = ()
) -> dict[str, str]:
    """The form of each value that is written otherwise than its twins should be."""
    values = [str(value) for value in (*column.ids, *declared)]
    every = [_key(value, with_case) for value in values]
    if with_answers:
        every = _answers(every)
    keys, own = every[: len(column.ids)], values[len(column.ids) :]
    known: dict[str, list[str]] = {}
    for key, value in zip(every[len(keys) :], own, strict=True):
        known.setdefault(key, []).append(value)
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
        for form in known.get(key, [_key(group[0], with_case=True)])[:1]
        if len(known.get(key, [])) < 2  # or it is open which of them is meant
        for value in group
        if value != form
    }


def _answers(keys: Sequence[str]) -> list[str]:
    """The keys, equal for all spellings of yes, and of no; 1 and 0 are none among other numbers."""
    are_numbers = any(re.fullmatch(NUMBER, key) and key not in ANSWERS for key in keys)
    return [key if are_numbers and key in ("0", "1") else ANSWERS.get(key, key) for key in keys]


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
