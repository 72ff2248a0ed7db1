"""Ids of any length, shortened to fit beside a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reliabayes.wording import joined


def shortened(names: Iterable[Any], limit: int = 24) -> list[str]:
    """Ids on one line each, of at most ``limit`` characters; common beginnings and ends go first.

    Parameters
    ----------
    names : iterable
        Ids of any type.
    limit : int, default 24
        Largest number of characters of a label.

    Returns
    -------
    list of str

    Examples
    --------
    >>> shortened(["rater-01@example.com", "rater-02@example.com"], 12)
    ['…er-01@exam…', '…er-02@exam…']
    """
    texts = [" ".join(str(name).split()) for name in names]
    if max(map(len, texts), default=0) <= limit:
        return texts
    start = _common_prefix(texts)
    end = _common_prefix([text[start:][::-1] for text in texts])
    longest = max(map(len, texts)) - start - end
    if len(texts) == 1 or longest > limit - 2:
        return [short(text, limit) for text in texts]
    first = max(0, start - (limit - 2 - longest) // 2)
    last = first + limit - 2
    return [f"{'…' * (first > 0)}{text[first:last]}{'…' * (len(text) > last)}" for text in texts]


def short(name: Any, limit: int = 24) -> str:
    """An id on one line of at most ``limit`` characters, cut in the middle.

    Parameters
    ----------
    name : object
        An id of any type.
    limit : int, default 24
        Largest number of characters of the label.

    Returns
    -------
    str

    Examples
    --------
    >>> short("the quick brown fox", 9)
    'the … fox'
    """
    text = " ".join(str(name).split())
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[head + 1 - limit :]}"


def tied(names: Sequence[str], values: Sequence[str], value: str) -> list[str]:
    """The names whose value, as it is written, equals the given one.

    Parameters
    ----------
    names : sequence of str
        Labels.
    values : sequence of str
        The value of each, as it is written.
    value : str
        One of the values.

    Returns
    -------
    list of str

    Examples
    --------
    >>> tied(["a", "b", "c"], ["0.9", "0.8", "0.9"], "0.9")
    ['a', 'c']
    """
    return [name for name, each in zip(names, values, strict=True) if each == value]


def named(names: Sequence[str], what: str, most: int = 3) -> str:
    """Names after the word for what they name, or only their number if they are many.

    Parameters
    ----------
    names : sequence of str
        One or more labels.
    what : str
        The word for one of them, such as ``"rater"``.
    most : int, default 3
        Largest number of labels that are listed.

    Returns
    -------
    str

    Examples
    --------
    >>> named(["J1"], "rater"), named(["J1", "J2"], "rater"), named(list("abcd"), "rater")
    ('rater J1', 'raters J1 and J2', '4 raters')
    """
    if len(names) == 1:
        return f"{what} {names[0]}"
    if len(names) > most:
        return f"{len(names):,} {what}s"
    return f"{what}s {joined(names)}"


def _common_prefix(texts: Sequence[str]) -> int:
    """Length of the common beginning: that of the first and the last text in sorted order."""
    pairs = enumerate(zip(min(texts), max(texts), strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))
