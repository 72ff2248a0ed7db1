"""What reliabayes raises and warns of: each says what must hold, what was found, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

N_SHOWN = 5


class RatingsError(ValueError):
    """The ratings, or what was asked of them, break a rule; all broken rules are told at once.

    Parameters
    ----------
    faults : iterable of Fault
        At least one.

    Attributes
    ----------
    faults : tuple of Fault
        What is wrong, in the order of the message.

    Examples
    --------
    >>> from reliabayes.errors import Fault, RatingsError
    >>> fault = Fault("rating", "ratings must be finite", "1 that is not", "Drop it.", rows=(3,))
    >>> print(RatingsError([fault]))
    rating: ratings must be finite; found 1 that is not (row 3). Drop it.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        bullets = "".join(f"\n- {fault}" for fault in self.faults)
        return f"the ratings have {len(self.faults)} faults:{bullets}"

    def relocated(self, place_of: Callable[[int], int], unit: str) -> RatingsError:
        """Return the same error with its rows counted as its reader counts them."""
        return RatingsError(fault.relocated(place_of, unit) for fault in self.faults)


@dataclass(frozen=True)
class Fault:
    """One broken rule of a table.

    Attributes
    ----------
    place : str
        The column or argument that breaks the rule.
    rule : str
        What must hold.
    found : str
        What was found instead.
    remedy : str
        What to do, as a sentence.
    rows : tuple of int
        The first five places where the rule is broken: 0-based rows of a frame, 1-based lines of a
        file. Empty where no single row is to blame.
    values : tuple of str
        What stands in `rows`, as shown in the message.
    n_rows : int
        How many rows are to blame in all; never less than ``len(rows)``.
    unit : str
        What `rows` counts: ``"row"`` or ``"line"``.
    """

    place: str
    rule: str
    found: str
    remedy: str
    rows: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    n_rows: int = 0
    unit: str = "row"

    @classmethod
    def in_rows(
        cls,
        place: str,
        rule: str,
        found: str,
        remedy: str,
        *,
        mask: npt.NDArray[np.bool_],
        values_at: Callable[[npt.NDArray[np.intp]], tuple[str, ...]] | None = None,
    ) -> Fault:
        """Return the fault of the rows of `mask`; ``{n}`` in `found` stands for their number."""
        first = np.flatnonzero(mask)[:N_SHOWN]
        n_rows = int(np.count_nonzero(mask))
        return cls(
            place=place,
            rule=rule,
            found=found.replace("{n}", str(n_rows)),
            remedy=remedy,
            rows=tuple(first.tolist()),
            values=() if values_at is None else values_at(first),
            n_rows=n_rows,
        )

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}; found {self.found}{self._where()}. {self.remedy}"

    def relocated(self, place_of: Callable[[int], int], unit: str) -> Fault:
        """Return the same fault at other places, such as the lines of a file."""
        return replace(self, rows=tuple(place_of(row) for row in self.rows), unit=unit)

    def _where(self) -> str:
        if not self.rows:
            return ""
        more = ["..."] if self.n_rows > len(self.rows) else []
        unit = self.unit if len(self.rows) == 1 and not more else f"{self.unit}s"
        places = ", ".join([str(row) for row in self.rows] + more)
        values = ", ".join([*self.values, *more])
        return f" ({unit} {places}: {values})" if self.values else f" ({unit} {places})"


class ConvergenceWarning(UserWarning):
    """The sampler's draws cannot be trusted yet; the message carries the numbers."""


class SamplingError(RuntimeError):
    """A Stan program failed; the message names it and keeps Stan's own words."""
