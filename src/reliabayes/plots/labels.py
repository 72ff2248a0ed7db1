"""Ids of any length, shortened to fit beside a plot."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from reliabayes.wording import joined


def shortened(names: Iterable[Any], limit: int = 24) -> list[str]:
    """Ids on one line each, of at most ``limit`` characters; common beginnings and ends go first.

    Words stay whole where the limit allows it.

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
    ['…-01@…', '…-02@…']
    """
    texts = [" ".join(str(name).split()) for name in names]
    if max(map(len, texts), default=0) <= limit:
        return texts
    start = _common_prefix(texts)
    end = _common_prefix([text[start:][::-1] for text in texts])
    longest = max(map(len, texts)) - start - end
    if len(texts) == 1 or longest > limit - 2:
        whole = [short(text, limit) for text in texts]
        distinct = len(set(whole)) == len(set(texts))
        return whole if distinct else [_cut(text, limit) for text in texts]
    first = max(0, start - (limit - 2 - longest) // 2)
    first = next((at for at in range(first, start + 1) if _is_between(texts[0], at)), first)
    return [_from(text, first, first + limit - 2, len(text) - end) for text in texts]


def wrapped(name: Any, width: int, limit: int) -> str:
    """An id on two lines if it has several words; shortened if a line is still too long.

    Parameters
    ----------
    name : object
        An id of any type.
    width : int
        Number of characters of a line that is to be exceeded by single words only.
    limit : int
        Largest number of characters of a line.

    Returns
    -------
    str

    Examples
    --------
    >>> [wrapped(name, 12, 16).splitlines() for name in ("not offensive", "contradiction")]
    [['not', 'offensive'], ['contradiction']]
    """
    text = " ".join(str(name).split())
    first, *rest = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(short(line, limit) for line in (first, " ".join(rest)) if line)


def short(name: Any, limit: int = 24) -> str:
    """An id on one line of at most ``limit`` characters, without words from its middle.

    Only if neither the first nor the last word fits, a word is cut.

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
    >>> short("the quick brown fox", 9), short("not offensive", 8)
    ('the … fox', 'not …')
    """
    text = " ".join(str(name).split())
    if len(text) <= limit:
        return text
    room, borders = limit - 1, [at for at in range(len(text)) if _is_between(text, at)]
    ends = borders and borders[0] + len(text) - borders[-1] <= room  # first and last word fit
    head = max((at for at in borders if at <= room // 2), default=borders[0] if ends else 0)
    tail = min((at for at in borders if len(text) - at <= room - head), default=len(text))
    head = max((at for at in borders if at <= room - len(text) + tail), default=0)
    return f"{text[:head]}…{text[tail:]}" if head or tail < len(text) else _cut(text, limit)


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


def _cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters, cut in the middle."""
    head = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[:head]}…{text[head + 1 - limit :]}"


def _from(text: str, first: int, last: int, end: int) -> str:
    """The characters between two places, up to the last whole word that begins after ``end``."""
    if len(text) > last:
        whole = (at for at in range(last, max(end, first + 1) - 1, -1) if _is_between(text, at))
        last = next(whole, last)
    return f"{'…' * (first > 0)}{text[first:last]}{'…' * (len(text) > last)}"


def _is_between(text: str, at: int) -> bool:
    """Whether a place in a text is between words: beside a character of none."""
    return bool(re.search(r"[\W_]", text[max(0, at - 1) : at + 1])) if at else False


def _common_prefix(texts: Sequence[str]) -> int:
    """Length of the common beginning: that of the first and the last text in sorted order."""
    pairs = enumerate(zip(min(texts), max(texts), strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))
