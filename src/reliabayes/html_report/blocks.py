"""Blocks that sections of the report consist of; the template renders each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

Block = Any  # one of the classes below


@dataclass(frozen=True)
class Heading:
    """A heading within a section.

    Attributes
    ----------
    text : str
        The heading.
    id : str
        Its id on the page.
    """

    kind: ClassVar[str] = "heading"
    text: str
    id: str


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes
    ----------
    text : str
        The paragraph.
    caution : bool, default False
        Whether it is highlighted.
    """

    kind: ClassVar[str] = "text"
    text: str
    caution: bool = False


@dataclass(frozen=True)
class Facts:
    """A list of facts.

    Attributes
    ----------
    rows : sequence of pairs of str
        Name and value of each fact.
    """

    kind: ClassVar[str] = "facts"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Code, shown verbatim.

    Attributes
    ----------
    text : str
        The code.
    """

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Picture:
    """A picture on a transparent background, with its finding in words.

    Attributes
    ----------
    address : str
        Data URL.
    finding, note : str
        Title and note of the picture.
    width, height : int
        Size in CSS pixels.
    """

    kind: ClassVar[str] = "picture"
    address: str
    finding: str
    note: str
    width: int
    height: int


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Its header.
    values : list
        Values by which the table is sorted and filtered; None where one is missing.
    decimals : int, optional
        Decimals of numbers; None for texts.
    shown : list of str, optional
        Cells as they are shown, instead of ``values``.
    """

    name: str
    values: list[Any]
    decimals: int | None = None
    shown: list[str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.decimals is not None or self.shown is not None

    def cell(self, row: int) -> str:
        """Text of a cell.

        Parameters
        ----------
        row : int
            Number of the row, from 0.

        Returns
        -------
        str
        """
        value = self.values[row]
        if self.shown is not None:
            return self.shown[row]
        if value is None:
            return "-"
        return str(value) if self.decimals is None else f"{value:,.{self.decimals}f}"


@dataclass(frozen=True)
class Table:
    """A table; its first rows are part of the page, and all rows are data for the script.

    Attributes
    ----------
    id : str
        Id on the page.
    caption : str
        Its caption.
    columns : sequence of Column
        All columns.
    data : str
        All rows as JSON.
    note : str
        Note below the table; may be empty.
    sorted_by : str
        Header of the column by which rows are sorted, largest first; may be empty.
    """

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
        """Cells of the first rows, as texts."""
        return [
            [column.cell(row) for column in self.columns]
            for row in range(min(self.first, len(self)))
        ]


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Attributes
    ----------
    id : str
        Id on the page.
    heading : str
        Its heading, also in the table of contents.
    blocks : list
        Its blocks.
    """

    id: str
    heading: str
    blocks: list[Block] = field(default_factory=list)
