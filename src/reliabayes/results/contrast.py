"""How far two pools, or two pairs of pools, differ: draw by draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.results.summaries import describe, scalars

COMPARED = ("pool", "pair")  # dims whose values can be compared
TOGETHER: Mapping[str, tuple[str, ...]] = {"xcc": ("normalized_xcc", "unnormalized_xcc")}


@dataclass(frozen=True, eq=False, repr=False)
class Contrast:
    """Posterior of how much a quantity is larger in one pool, or pair of pools, than in another.

    Attributes
    ----------
    one, other : labels of what is compared; differences are of the first less the second
    draws : Dataset of the differences, dims (chain, draw), by quantity
    prob : probability of the equal-tailed interval of `summary`
    """

    one: str
    other: str
    draws: xr.Dataset
    prob: float

    @classmethod
    def of(cls, quantities: xr.Dataset, name: str, one: Any, other: Any, prob: float) -> Contrast:
        """Differences of a quantity, or of all that go together by a name."""
        names = TOGETHER.get(name, (name,))
        comparable = [str(key) for key, draws in quantities.items() if _compared(draws)]
        if not set(names) <= set(comparable):
            choices = comparable + [key for key, all in TOGETHER.items() if {*all} <= {*comparable}]
            raise ValueError(
                f"name must be a quantity of pools or of pairs of them, not {name!r}; there are "
                f"{', '.join(choices) or 'none'}."
            )
        dim = _compared(quantities[names[0]])
        labels = [_label(quantities.indexes[dim], dim, choice) for choice in (one, other)]
        first, second = (
            quantities[list(names)].isel({dim: place}, drop=True) for place, _ in labels
        )
        return cls(labels[0][1], labels[1][1], first - second, prob)

    def __repr__(self) -> str:
        return f"{self.one} less {self.other}\n{self.summary().round(4)}"

    def summary(self) -> pd.DataFrame:
        """Each difference in a row: mean, sd, median, interval, and the probability it is above 0.

        Returns
        -------
        DataFrame
            Columns mean, sd, median, lower_90, upper_90 (for ``prob=0.9``) and pr_above_0.
        """
        rows = {
            label: describe(draws.ravel(), self.prob) | {"pr_above_0": np.mean(draws > 0)}
            for name, values in self.draws.items()
            for label, draws in scalars(str(name), values)
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")


def _compared(draws: xr.DataArray) -> str:
    """The dimension whose values can be compared; empty if there is none."""
    return next((dim for dim in COMPARED if dim in draws.dims), "")


def _label(labels: pd.Index[Any], dim: str, choice: Any) -> tuple[int, str]:
    """Place and name of a pool, or of a pair given as its label or as two pools in any order."""
    names = list(map(str, labels))
    for name in _names_of(choice):
        if name in names:
            return names.index(name), name
    raise ValueError(f"{choice!r} must be a {dim} of these: {'; '.join(names)}.")


def _names_of(choice: Any) -> Sequence[str]:
    if isinstance(choice, (tuple, list)):
        pools = list(map(str, choice))
        return ", ".join(pools), ", ".join(reversed(pools))
    return (str(choice),)
