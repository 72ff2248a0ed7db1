"""Errors and warnings. Messages say what must hold, what was found and how to fix it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the command line catches these errors even where it needs no numbers
    import numpy as np
    import numpy.typing as npt

N_SHOWN = 5


class RatingsError(ValueError):
    """Ratings, or an argument, break one or more rules. The message lists all of them.

    Parameters
    ----------
    faults : iterable of Fault
        The broken rules, at least one.
    advice : Advice, optional
        The arguments that would read the table, which the message says first.

    Attributes
    ----------
    faults : tuple of Fault
        The broken rules, in the order of the message.
    advice : Advice or None
        The arguments that would read the table.

    Examples
    --------
    >>> from reliabayes.errors import Fault, RatingsError
    >>> fault = Fault("rating", "ratings must be finite", "1 infinite", "Drop it.", rows=(3,))
    >>> print(RatingsError([fault]))
    rating: ratings must be finite; found 1 infinite (row 3). Drop it.
    """

    def __init__(self, faults: Iterable[Fault], advice: Advice | None = None) -> None:
        self.faults = tuple(faults)
        self.advice = advice
        super().__init__(self.faults, advice)

    def __str__(self) -> str:
        lead = f"{self.advice.text}\n" if self.advice is not None else ""
        if len(self.faults) == 1:
            return f"{lead}{self.faults[0]}"
        bullets = "".join(f"\n- {fault}" for fault in self.faults)
        return f"{lead}the ratings have {len(self.faults)} faults:{bullets}"

    @property
    def arguments(self) -> dict[str, Any]:
        """What to pass to `read_ratings`: what would read the table, or else what faults name."""
        if self.advice is not None:
            return dict(self.advice.arguments)
        found: dict[str, Any] = {}
        for fault in self.faults:
            for name, value in fault.arguments.items():
                is_list = isinstance(value, list) and name in found
                found[name] = found[name] + value if is_list else value
        return found

    def relocated(self, place_of: Callable[[int], int], unit: str) -> RatingsError:
        """Return the same error with other places for its rows, such as the lines of a file.

        Parameters
        ----------
        place_of : callable
            Maps a row to its place.
        unit : str
            What places count: ``"row"`` or ``"line"``.

        Returns
        -------
        RatingsError
            An error with the relocated faults.
        """
        relocated = [fault.relocated(place_of, unit) for fault in self.faults]
        return RatingsError(relocated, self.advice)


@dataclass(frozen=True)
class Fault:
    """One broken rule.

    Attributes
    ----------
    place : str
        The column or argument that breaks the rule.
    rule : str
        What must hold.
    found : str
        What was found instead.
    remedy : str
        How to fix it, as a sentence.
    rows : tuple of int, default ()
        The first five places that break the rule: 0-based rows of a frame, or 1-based lines of a
        file. Empty if the fault is not one of single rows.
    values : tuple of str, default ()
        The values in `rows`, as shown in the message.
    n_rows : int, default 0
        Number of all rows that break the rule, at least ``len(rows)``.
    unit : str, default "row"
        What `rows` counts: ``"row"`` or ``"line"``.
    mask : array of bool, shape (N,), or None
        All rows of the table that break the rule, if it is one of rows.
    arguments : mapping from str to Any
        The arguments of `read_ratings` that apply the remedy; empty if none does.
    """

    place: str
    rule: str
    found: str
    remedy: str
    rows: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    n_rows: int = 0
    unit: str = "row"
    mask: npt.NDArray[np.bool_] | None = field(default=None, repr=False, compare=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False)

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
        """Return the fault of some rows.

        Parameters
        ----------
        place : str
            The column or argument that breaks the rule.
        rule : str
            What must hold.
        found : str
            What was found instead; ``{n}`` stands for the number of rows.
        remedy : str
            How to fix it, as a sentence.
        mask : array of bool, shape (N,)
            The rows that break the rule.
        values_at : callable, optional
            Returns the values in rows, as the message shows them.

        Returns
        -------
        Fault
            The fault, with its first rows and their values.
        """
        first = mask.nonzero()[0][:N_SHOWN]
        n_rows = int(mask.sum())
        return cls(
            place=place,
            rule=rule,
            found=found.replace("{n}", str(n_rows)),
            remedy=remedy,
            rows=tuple(first.tolist()),
            values=() if values_at is None else values_at(first),
            n_rows=n_rows,
            mask=mask,
        )

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}; found {self.found}{self._where()}. {self.remedy}"

    def relocated(self, place_of: Callable[[int], int], unit: str) -> Fault:
        """Return the same fault with other places for its rows, such as the lines of a file.

        Parameters
        ----------
        place_of : callable
            Maps a row to its place.
        unit : str
            What places count: ``"row"`` or ``"line"``.

        Returns
        -------
        Fault
            The relocated fault.
        """
        return replace(self, rows=tuple(place_of(row) for row in self.rows), unit=unit)

    def _where(self) -> str:
        if not self.rows:
            return ""
        more = ["..."] if self.n_rows > len(self.rows) else []
        unit = self.unit if len(self.rows) == 1 and not more else f"{self.unit}s"
        places = ", ".join([str(row) for row in self.rows] + more)
        values = ", ".join([*self.values, *more])
        return f" ({unit} {places}: {values})" if self.values else f" ({unit} {places})"


@dataclass(frozen=True)
class Advice:
    """Which arguments of `read_ratings` would read a table, and what they would do.

    Attributes
    ----------
    text : str
        A sentence that names them.
    arguments : mapping from str to Any
        The arguments.
    """

    text: str
    arguments: Mapping[str, Any]


class ConvergenceWarning(UserWarning):
    """Convergence diagnostics show that results may be unreliable. The message has the numbers."""


class SamplingError(RuntimeError):
    """A Stan program failed. The message names it and quotes Stan's own message."""
