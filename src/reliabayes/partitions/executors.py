"""Ways to call a function of each part: one part after another, in processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


class Executor(Protocol):
    """What calls a function of each part."""

    def __call__(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        """Yield the results in the order of the parts."""


def in_turn(function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
    """Yield a function of each part, in this process."""
    return map(function, parts)
