"""A table that notebooks show below what it says."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import pandas as pd


class FindingTable(pd.DataFrame):
    """A table with its finding, a sentence in ``attrs["finding"]``, which notebooks show above it.

    Whatever is derived from it is a plain DataFrame.
    """

    @classmethod
    def of(cls, table: pd.DataFrame, finding: str) -> FindingTable:
        """Add a finding to a table.

        Parameters
        ----------
        table : DataFrame
            The table.
        finding : str
            What it says, in a sentence.

        Returns
        -------
        FindingTable
        """
        found = cls(table)
        found.attrs = {**table.attrs, "finding": finding}
        return found

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        rows = self.round(3).rename_axis(None).to_html()
        return f"<p>{escape(self.attrs['finding'])}</p>{rows}"
