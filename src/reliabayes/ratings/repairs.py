"""Repairs: what is wrong with a raw table, and what would fix it; none is made in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reliabayes.errors import N_SHOWN, Fault
from reliabayes.ratings.raw_table import RawTable


@dataclass(frozen=True)
class Repair:
    """One fault of a raw table, and what fixes it.

    Attributes
    ----------
    kind : str
        What is wrong, such as ``"rows above the header"``.
    action : str
        What the repair does, as the end of a sentence that begins with "it": ``"skips 3 rows above
        the header"``.
    apply : callable
        Takes the raw table and returns the repaired one.
    lines : tuple of int, default ()
        The lines or rows that it concerns.
    unit : {"line", "row"}, default "row"
        What `lines` counts.
    fault : Fault, optional
        What the error says if the repair is not applied. None for what does no harm.
    is_safe : bool, default True
        Whether it loses no rating and cannot change an answer, so that ``tidy=True`` applies it.
    is_needed : bool, default False
        Whether without it the table would be read wrongly, in silence.
    n_unrated : int, default 0
        Number of rows without a rating that it leaves out.
    """

    kind: str
    action: str
    apply: Callable[[RawTable], RawTable]
    lines: tuple[int, ...] = ()
    unit: str = "row"
    fault: Fault | None = None
    is_safe: bool = True
    is_needed: bool = False
    n_unrated: int = 0

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of `read_ratings` that apply it by itself; ``tidy`` if it is safe."""
        if self.is_safe:
            return {"tidy": True}
        return {} if self.fault is None else self.fault.arguments

    @property
    def sentence(self) -> str:
        """What it does and where, for a sentence that begins with "it"."""
        return f"{self.action}{where(self.lines, self.unit)}"

    @property
    def note(self) -> str:
        """What it did, as a sentence."""
        return f"{self.action[:1].upper()}{self.action[1:]}{where(self.lines, self.unit)}."


@dataclass(frozen=True)
class Repaired:
    """A raw table with the repairs that were applied, and those that wait for an argument.

    Attributes
    ----------
    table : RawTable
        The table.
    applied : tuple of Repair
        In the order in which they were applied.
    waiting : tuple of Repair
        Unsafe ones, and with ``tidy=False`` those that the table needs.
    """

    table: RawTable
    applied: tuple[Repair, ...] = ()
    waiting: tuple[Repair, ...] = field(default=())

    def by(self, repairs: Iterable[Repair], *, tidy: bool) -> Repaired:
        """Apply the repairs that may be applied, and let the others wait.

        Parameters
        ----------
        repairs : iterable of Repair
            Repairs of this table, which do not depend on each other.
        tidy : bool
            Whether safe ones are applied.

        Returns
        -------
        Repaired
        """
        table, applied, waiting = self.table, self.applied, self.waiting
        for repair in repairs:
            if repair.is_safe and tidy:
                table, applied = repair.apply(table), (*applied, repair)
            elif tidy or repair.is_needed:
                waiting += (repair,)
        return Repaired(table, applied, waiting)

    def asked(self, repair: Repair) -> Repaired:
        """Apply a repair that an argument asked for, which ``tidy`` alone would not apply."""
        asked = replace(repair, is_safe=False)
        return Repaired(repair.apply(self.table), (*self.applied, asked), self.waiting)

    @property
    def faults(self) -> list[Fault]:
        """Faults of the repairs that wait."""
        return [repair.fault for repair in self.waiting if repair.fault is not None]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, a sentence each."""
        return tuple(repair.note for repair in self.applied)


def where(lines: tuple[int, ...], unit: str) -> str:
    """Return the first lines in brackets, such as `` (lines 2, 3)``; empty if there are none."""
    if not lines:
        return ""
    more = [f"and {len(lines) - N_SHOWN:,} more"] if len(lines) > N_SHOWN else []
    listed = ", ".join(map(str, lines[:N_SHOWN]))
    return f" ({unit}{'s' * (len(lines) > 1)} {' '.join([listed, *more])})"
