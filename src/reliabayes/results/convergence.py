"""Convergence of quantities: effective sample sizes, R-hat and Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.results.chain_statistics import measures
from reliabayes.results.summaries import scalars


class Convergence:
    """Convergence of each value of quantities, computed once for each quantity.

    Parameters
    ----------
    quantities : Dataset
        Draws, dims (chain, draw, ...).
    """

    def __init__(self, quantities: xr.Dataset) -> None:
        self._quantities = quantities
        self._tables: dict[str, pd.DataFrame] = {}

    def table(self, names: Sequence[str]) -> pd.DataFrame:
        """Columns ess_bulk, ess_tail, r_hat and mcse; a row for each value of the quantities."""
        return pd.concat([self._table(name) for name in names])

    @cached_property
    def monitored(self) -> pd.DataFrame:
        """The table of all quantities but matrices, which repeat what others say of a rater."""
        return self.table([str(name) for name, x in self._quantities.items() if x.ndim <= 3])

    def _table(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            draws = dict(scalars(name, self._quantities[name].astype(float)))
            self._tables[name] = pd.DataFrame(measures(np.stack([*draws.values()])), [*draws])
        return self._tables[name]
