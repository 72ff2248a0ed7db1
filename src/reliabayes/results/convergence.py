"""Convergence of quantities: effective sample sizes, R-hat and Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Codes
from reliabayes.results.chain_statistics import measures
from reliabayes.results.errors_of_modes import with_errors_of_modes
from reliabayes.results.modes import Mode, are_weighed
from reliabayes.results.summaries import scalars


class Convergence:
    """Convergence of each value of quantities, computed once for each quantity.

    Parameters
    ----------
    quantities : Dataset
        Draws, dims (chain, draw, ...).
    of_draw : array of int, shape (chains, draws), optional
        Mode of each draw, if there are several.
    modes : tuple of Mode, default ()
        Modes of the posterior.
    """

    def __init__(
        self,
        quantities: xr.Dataset,
        of_draw: Codes | None = None,
        modes: tuple[Mode, ...] = (),
    ) -> None:
        self._quantities, self._of_draw, self._modes = quantities, of_draw, modes
        self._tables: dict[str, pd.DataFrame] = {}

    def table(self, names: Sequence[str]) -> pd.DataFrame:
        """Columns ess_bulk, ess_tail, r_hat and mcse; a row for each value of the quantities."""
        self._measure([name for name in names if name not in self._tables])
        return pd.concat([self._tables[name] for name in names])

    @cached_property
    def monitored(self) -> pd.DataFrame:
        """The table of all quantities but matrices, which repeat what others say of a rater.

        Rates of categories in groups of items are no such matrices.
        """
        found = self._quantities.items()
        return self.table([str(name) for name, x in found if x.ndim <= 3 or "group" in x.dims])

    def _measure(self, names: Sequence[str]) -> None:
        """Measure all values of some quantities at once."""
        if not names:
            return
        draws = [
            dict(scalars(name, self._quantities[name].astype(float, copy=False))) for name in names
        ]
        labels = [label for each in draws for label in each]
        values = np.stack([x for each in draws for x in each.values()])
        found = measures(values)
        if self._of_draw is not None and are_weighed(self._modes):
            found = with_errors_of_modes(found, values, self._of_draw, self._modes)
        table = pd.DataFrame(found, labels)
        ends = np.cumsum([0, *map(len, draws)])
        for name, (start, end) in zip(names, pairwise(ends), strict=True):
            self._tables[name] = table.iloc[start:end]
