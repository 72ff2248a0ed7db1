"""A table as a file has it, before anything is known about its values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.arrays import Mask
from reliabayes.ratings.excel import Sheet, spelled
from reliabayes.ratings.table_cells import Columns, Texts


@dataclass(frozen=True, eq=False)
class RawTable:
    """Cells with the names of their columns, and where they stand in the file.

    Attributes
    ----------
    cells : DataFrame
        A column per name: texts of a text file, cells of a sheet, or values with types of their
        own. Its index numbers the records of the file, also where some were left out.
    lines : callable
        Lines of records of a text file, rows of a sheet, or 0-based rows of another file.
    unit : {"line", "row"}
        What these numbers count.
    letters : mapping from str to str, or None
        Letters of the columns of a sheet; None if it is none.
    headers : tuple of sequences of str
        The texts of the rows that name the columns.
    """

    cells: pd.DataFrame
    lines: Callable[[Collection[int]], list[int]]
    unit: str = "row"
    letters: Mapping[str, str] | None = None
    headers: tuple[Sequence[str], ...] = ()
    _texts: dict[str, tuple[npt.NDArray[np.intp], pd.Index[Any]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.cells.columns)

    def __len__(self) -> int:
        return len(self.cells)

    def coded(self, name: str) -> tuple[npt.NDArray[np.intp], pd.Index[Any]]:
        """Return the texts of a column.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        codes : array of int, shape (N,)
            Position of each row's text; -1 where the cell is empty.
        texts : Index of str
            The distinct texts; numbers of a sheet are spelled as it shows them.
        """
        if name not in self._texts:
            column = self.cells[name]
            if column.dtype == object:
                spellings = [None if is_missing(cell) else spelled(cell) for cell in column]
                column = pd.Series(spellings, column.index, dtype=object)
            codes, texts = pd.factorize(column)
            self._texts[name] = codes, pd.Index(texts)
        return self._texts[name]

    def texts(self, names: Sequence[str]) -> dict[str, int]:
        """Return the distinct texts of some columns, with the number of cells that hold each."""
        found: dict[str, int] = {}
        for name in names:
            codes, texts = self.coded(name)
            numbers = np.bincount(codes[codes >= 0], minlength=len(texts))
            for text, number in zip(texts, numbers.tolist(), strict=True):
                if isinstance(text, str):
                    found[text] = found.get(text, 0) + number
        return found

    def matching(self, name: str, pattern: str) -> list[str]:
        """Return the distinct texts of a column that are as a pattern says."""
        texts = self.coded(name)[1].astype("str")
        return [*map(str, texts[texts.str.fullmatch(pattern)])]

    def holds(self, name: str, texts: Collection[str]) -> Mask:
        """Which rows (N,) hold one of some texts in a column."""
        codes, known = self.coded(name)
        is_held: Mask = np.append(known.isin(list(texts)), False)[codes]
        return is_held

    def is_empty(self, name: str) -> Mask:
        """Which rows (N,) have no value in a column."""
        empty: Mask = self.cells[name].isna().to_numpy()
        return empty

    def places(self, rows: Mask) -> tuple[int, ...]:
        """Return the lines of some rows."""
        return tuple(self.lines(self.cells.index[rows].tolist()))

    def keep(self, rows: Mask) -> RawTable:
        """Return the table with only some rows."""
        return self.of(self.cells[rows])

    def of(self, cells: pd.DataFrame) -> RawTable:
        """Return the table with other cells."""
        return replace(self, cells=cells, _texts={})

    def respelled(self, names: Sequence[str], forms: Mapping[str, Any]) -> RawTable:
        """Return the table with other texts in some columns.

        Parameters
        ----------
        names : sequence of str
            The columns; absent ones do not matter.
        forms : mapping from str to str or None
            What takes the place of a text; None for an empty cell.

        Returns
        -------
        RawTable
        """
        changed: dict[str, Any] = {}
        for name in (name for name in names if name in self.cells):
            codes, texts = self.coded(name)
            is_old = np.append(texts.isin(list(forms)), False)[codes]
            if is_old.any():
                new = np.array([*(forms.get(text, text) for text in texts), None], dtype=object)
                column = self.cells[name].astype(object).to_numpy(copy=True)
                column[is_old] = new[codes[is_old]]
                changed[name] = pd.Series(column, self.cells.index, self.cells[name].dtype)
        return self.of(self.cells.assign(**changed)) if changed else self

    def source(self) -> Columns:
        """Return what `read_cells` reads."""
        if self.letters is None:
            return Texts(self.cells)
        columns = {
            name: [None if is_missing(cell) else cell for cell in self.cells[name]]
            for name in self.names
        }
        return Sheet(columns, self.letters, self.lines(self.cells.index.tolist()))


def is_missing(cell: Any) -> bool:
    """Whether a cell has no value.

    Parameters
    ----------
    cell : Any
        The cell.

    Returns
    -------
    bool
    """
    return cell is None or (isinstance(cell, float) and cell != cell)
