"""What sections of the page are made of; the template draws each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

Block = Any  # one of the classes below


@dataclass(frozen=True)
class Heading:
    """Name of what follows within a section."""

    kind: ClassVar[str] = "heading"
    text: str
    id: str


@dataclass(frozen=True)
class Text:
    """A paragraph; a caution stands out."""

    kind: ClassVar[str] = "text"
    text: str
    caution: bool = False


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """What can be typed, as it is."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Picture:
    """A picture on light paper and on dark, as addresses that hold all of it, and what it says."""

    kind: ClassVar[str] = "picture"
    on_light: str
    on_dark: str
    finding: str
    note: str
    width: int
    height: int


@dataclass(frozen=True)
class Column:
    """A column of a table.

    ``values`` is what it is sorted and filtered by; ``shown``, where given, what stands there, else
    numbers have ``decimals``, with commas between thousands if they are whole.
    """

    name: str
    values: list[Any]
    decimals: int | None = None
    shown: list[str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.decimals is not None or self.shown is not None

    def cell(self, row: int) -> str:
        """What stands in a row."""
        value = self.values[row]
        if self.shown is not None:
            return self.shown[row]
        if value is None:
            return "-"
        return str(value) if self.decimals is None else f"{value:,.{self.decimals}f}"


@dataclass(frozen=True)
class Table:
    """Rows of which the first are on the page, and all of them in ``data`` for the script."""

    kind: ClassVar[str] = "table"
    id: str
    caption: str
    columns: Sequence[Column]
    data: str
    note: str = ""
    sorted_by: str = ""

    first: ClassVar[int] = 20

    def __len__(self) -> int:
        return len(self.columns[0].values)

    @property
    def rows(self) -> list[list[str]]:
        """Cells of the first rows."""
        return [
            [column.cell(row) for column in self.columns]
            for row in range(min(self.first, len(self)))
        ]


@dataclass(frozen=True)
class Section:
    """A part of the page, with its place in the contents."""

    id: str
    heading: str
    blocks: list[Block] = field(default_factory=list)
