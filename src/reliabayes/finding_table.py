"""A table that notebooks show below what it says."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import ClassVar

import pandas as pd

from reliabayes.reporting.methods import MethodsSentence


class FindingTable(pd.DataFrame):
    """A table with its finding, a sentence in ``attrs["finding"]``, which notebooks show above it.

    Whatever is derived from it is a plain DataFrame.
    """

    _metadata: ClassVar[list[str]] = ["_said"]  # pickled with the table

    @classmethod
    def of(
        cls, table: pd.DataFrame, finding: str, said: MethodsSentence | None = None
    ) -> FindingTable:
        """Add a finding to a table.

        Parameters
        ----------
        table : DataFrame
            The table.
        finding : str
            What it says, in a sentence.
        said : MethodsSentence, optional
            What a paper says of it.

        Returns
        -------
        FindingTable
        """
        found = cls(table)
        found.attrs = {**table.attrs, "finding": finding}
        object.__setattr__(found, "_said", said)
        return found

    def methods(self) -> MethodsSentence:
        """Say what a paper says of its finding; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its references.

        Raises
        ------
        TypeError
            There is no sentence of such a table.
        """
        said: MethodsSentence | None = getattr(self, "_said", None)
        if said is None:
            raise TypeError("result must be a result or a table with a sentence for papers.")
        return said

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        rows = self.round(3).rename_axis(None).to_html()
        return f"<p>{escape(self.attrs['finding'])}</p>{rows}"
