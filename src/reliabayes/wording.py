"""The user's values as messages show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from numbers import Real
from typing import Any

from reliabayes.errors import N_SHOWN

# Comparing an unknown id with more ids than this takes noticeable time.
N_COMPARED = 100_000


def kebab_case(name: str) -> str:
    """Return the name of a class as the command line has it.

    Parameters
    ----------
    name : str
        Such as ``LatentTAP``.

    Returns
    -------
    str
        Such as ``latent-tap``.
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def shown(value: Any) -> str:
    """Return a value as the user would write it.

    Parameters
    ----------
    value : any
        The value.

    Returns
    -------
    str
        Such as ``2``, ``0.5`` or ``'yes'``.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return repr(value)
    return str(value) if isinstance(value, int) else f"{float(value):.15g}"


def listed(values: Collection[Any], limit: int = N_SHOWN) -> str:
    """Return the first values as a list, with the number of the others.

    Parameters
    ----------
    values : collection
        The values.
    limit : int, default 5
        How many values to show at most.

    Returns
    -------
    str
        Such as ``'a', 'b' and 3 more``; ``none`` if there are no values.
    """
    more = len(values) - limit
    head = ", ".join(shown(value) for value in islice(values, limit))
    return f"{head} and {more} more" if more > 0 else head or "none"


def joined(parts: Sequence[str]) -> str:
    """Return parts with commas in between, and ``and`` before the last.

    Parameters
    ----------
    parts : sequence of str
        One or more parts.

    Returns
    -------
    str
    """
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def named(names: Iterable[Any], most: int = 3) -> str:
    """Names with commas, the first few if there are many: ``w1, w2, w3 and 4 others``.

    Parameters
    ----------
    names : iterable
        One or more ids.
    most : int, default 3
        How many to name at most.

    Returns
    -------
    str
    """
    parts = list(map(str, names))
    others = len(parts) - most
    return joined(parts if others <= 1 else [*parts[:most], f"{others:,} others"])


def rater_names(raters: Iterable[Any]) -> str:
    """Ids of raters in a sentence: ``w1 and w2``, or ``raters 1 and 2`` if they are numbers.

    Parameters
    ----------
    raters : iterable
        One or more ids.

    Returns
    -------
    str
    """
    ids = list(map(str, raters))
    noun = "" if not all(map(str.isdigit, ids)) else "rater " if len(ids) == 1 else "raters "
    return noun + named(ids)


def sentence_start(names: str) -> str:
    """The same at the start of a sentence: ids stay as they are, and ``Raters 1 and 2``.

    Parameters
    ----------
    names : str
        From `rater_names`.

    Returns
    -------
    str
    """
    is_noun = names.split(" ")[0] in ("rater", "raters")
    return names[0].upper() + names[1:] if is_noun else names


def counted(number: int, name: str) -> str:
    """Return how many levels of a facet there are, in words if its name is one.

    Parameters
    ----------
    number : int
        Number of levels.
    name : str
        The facet, such as ``occasion``.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(2, "occasion"), counted(1, "day"), counted(3, "study"), counted(2, "t_1")
    ('2 occasions', '1 day', '3 studies', '2 levels of t_1')
    """
    if number == 1:
        return f"1 {name}" if _is_word(name) else f"1 level of {name}"
    return f"{number} {several(name)}"


def several(name: str) -> str:
    """Return the plural of a facet's name; ``levels of`` a name that is no singular word.

    Parameters
    ----------
    name : str
        The facet, such as ``occasion``.

    Returns
    -------
    str

    Examples
    --------
    >>> [several(name) for name in ("rater", "class", "days", "o")]
    ['raters', 'classes', 'levels of days', 'levels of o']
    """
    if not _is_word(name):
        return f"levels of {name}"
    if re.search("[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    if re.search("(ss|x|z|ch|sh)$", name):
        return f"{name}es"
    return f"{name}s"


def _is_word(name: str) -> bool:
    return bool(re.search("^[A-Za-z -]*[a-z](ss|[a-rt-z])$", name))


def did_you_mean(name: Any, known: Iterable[Any], aliases: Sequence[str] = ()) -> Any | None:
    """Return the known name that an unknown one most likely stands for.

    Parameters
    ----------
    name : any
        The unknown name.
    known : iterable
        The known names.
    aliases : sequence of str, default ()
        Other names to look for, before similar ones.

    Returns
    -------
    any or None
        One of `known`, or None if none is similar.
    """
    by_text = {str(other).strip().lower(): other for other in islice(known, N_COMPARED)}
    text = str(name).strip().lower()
    close = get_close_matches(text, by_text, n=1, cutoff=0.7)
    likely = (by_text[word] for word in (text, *aliases, *close) if word in by_text)
    return next(likely, None)
