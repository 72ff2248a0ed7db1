"""How messages show the user's values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from reliabayes.errors import N_SHOWN

# Comparing a wrong id with more ids than this takes longer than a reader waits.
N_COMPARED = 100_000


def shown(value: Any) -> str:
    """Return one value as the user would write it: ``2``, ``0.5``, ``'yes'``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return repr(value)
    number = float(value)
    return str(value) if isinstance(value, int) else f"{number:.15g}"


def listed(values: Collection[Any], limit: int = N_SHOWN) -> str:
    """Return the first values, and how many more there are."""
    more = len(values) - limit
    head = ", ".join(shown(value) for value in islice(values, limit))
    return f"{head} and {more} more" if more > 0 else head or "none"


def did_you_mean(name: Any, known: Iterable[Any], aliases: Sequence[str] = ()) -> Any | None:
    """Return the known name that a wrong one most likely stands for, or None."""
    by_text = {str(other).strip().lower(): other for other in islice(known, N_COMPARED)}
    text = str(name).strip().lower()
    close = get_close_matches(text, by_text, n=1, cutoff=0.7)
    likely = (by_text[word] for word in (text, *aliases, *close) if word in by_text)
    return next(likely, None)
