"""Ids of any length, in little room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def shortened(names: Iterable[Any], limit: int = 24) -> list[str]:
    """Ids in a line of at most ``limit`` letters each; what they have in common goes first."""
    texts = [" ".join(str(name).split()) for name in names]
    if max(map(len, texts), default=0) <= limit:
        return texts
    start = _in_common(texts)
    end = _in_common([text[start:][::-1] for text in texts])
    longest = max(map(len, texts)) - start - end
    if len(texts) == 1 or longest > limit - 2:
        return [short(text, limit) for text in texts]
    first = max(0, start - (limit - 2 - longest) // 2)
    return [f"{'…' * (first > 0)}{text[first : first + limit - 2]}…" for text in texts]


def _in_common(texts: Sequence[str]) -> int:
    """Number of letters with which all texts begin alike: the first and the last in order do."""
    pairs = enumerate(zip(min(texts), max(texts), strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))


def short(name: Any, limit: int = 24) -> str:
    """An id in a line of at most ``limit`` letters, its beginning and its end kept."""
    text = " ".join(str(name).split())
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[head + 1 - limit :]}"
