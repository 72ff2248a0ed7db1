"""Posterior differences between two pools, or between two pairs of pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.reporting.methods import Clause, MethodsSentence
from reliabayes.reporting.numbers import estimate, number
from reliabayes.results.summaries import describe, interval_bounds, scalars
from reliabayes.wording import joined

COMPARABLE_DIMS = ("pool", "pair")
QUANTITY_GROUPS: Mapping[str, tuple[str, ...]] = {"xcc": ("normalized_xcc", "unnormalized_xcc")}


@dataclass(frozen=True, eq=False, repr=False)
class Contrast:
    """Posterior of the difference of a quantity between two pools, or two pairs of pools.

    Attributes
    ----------
    one, other : str
        Labels of the pools or pairs; the differences are the first minus the second.
    draws : Dataset
        Differences draw by draw, dims (chain, draw), a variable for each quantity.
    prob : float
        Probability of the equal-tailed interval of `summary`, strictly between 0 and 1.
    """

    one: str
    other: str
    draws: xr.Dataset
    prob: float

    @classmethod
    def of(cls, quantities: xr.Dataset, name: str, one: Any, other: Any, prob: float) -> Contrast:
        """Subtract a quantity, or a group of quantities, of one pool or pair from another's.

        Parameters
        ----------
        quantities : Dataset
            Draws of quantities, dims (chain, draw, ...), with the labels of pools or pairs.
        name : str
            A quantity with a dim "pool" or "pair", or "xcc" for both kinds of xCC.
        one, other : label or pair of labels
            Pools by their ids; pairs by their labels or as two pools in any order.
        prob : float
            Probability of the equal-tailed interval, strictly between 0 and 1.

        Returns
        -------
        Contrast
            The differences, draw by draw.

        Raises
        ------
        ValueError
            There is no such quantity, pool or pair; the message lists the choices.
        """
        names = QUANTITY_GROUPS.get(name, (name,))
        choices = [str(key) for key, draws in quantities.items() if _comparable_dim(draws)]
        groups = [key for key, group in QUANTITY_GROUPS.items() if {*group} <= {*choices}]
        if not set(names) <= set(choices):
            raise ValueError(
                "name must be a quantity of pools or of pairs of pools, not "
                f"{name!r}. Available: {', '.join(choices + groups) or 'none'}."
            )
        dim = _comparable_dim(quantities[names[0]])
        labels = [_position_and_label(quantities.indexes[dim], dim, at) for at in (one, other)]
        first, second = (
            quantities[list(names)].isel({dim: position}, drop=True) for position, _ in labels
        )
        return cls(labels[0][1], labels[1][1], first - second, prob)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def __str__(self) -> str:
        return f"{self!r}\n{self.summary().round(4).to_string()}"

    def _repr_html_(self) -> str:
        words = "<br>".join(map(escape, self.sentences))
        return f"<p>{words}</p>{self.summary().round(4).rename_axis(None).to_html()}"

    @property
    def sentences(self) -> list[str]:
        """Each difference in a sentence, with its interval and the probability of its sign."""
        found = []
        for name, values in self.draws.items():
            draws = values.values.ravel()
            lower, upper = interval_bounds(draws, self.prob)
            is_higher = np.median(draws) >= 0
            sure = float(np.mean(draws > 0 if is_higher else draws < 0))
            known = "above 0.999" if sure > 0.9995 else f"{sure:.3f}"
            found.append(
                f"{name}: {self.one} is {'higher' if is_higher else 'lower'} than {self.other} "
                f"with probability {known}; the difference is {np.median(draws):+.2f} "
                f"({100 * self.prob:g}% interval {lower:+.2f} to {upper:+.2f})"
            )
        return found

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the differences; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style. The model and its references are in that of the fit.
        """
        found = []
        for name, values in self.draws.items():
            draws = values.values.ravel()
            lower, upper = map(float, interval_bounds(draws, self.prob))
            size = estimate(
                float(np.median(draws)), lower, upper, f"{100 * self.prob:g}% CrI", bounded=True
            )
            above = number(float(np.mean(draws > 0)), bounded=True)
            found.append(f"{name} was {size}, with probability {above} above 0")
        statement = f"The difference between {self.one} and {self.other} in {joined(found)}"
        how = "medians and equal-tailed credible intervals (CrI) are of the posterior"
        return MethodsSentence(Clause(statement), clauses=(Clause(how),))

    def summary(self) -> pd.DataFrame:
        """Each difference in a row: mean, sd, median, interval, and its probability to exceed 0.

        Returns
        -------
        DataFrame
            Columns mean, sd, median, lower_90, upper_90 (for ``prob=0.9``) and pr_above_0, the
            posterior probability that the difference is above 0.
        """
        rows = {
            label: describe(draws.ravel(), self.prob) | {"pr_above_0": np.mean(draws > 0)}
            for name, values in self.draws.items()
            for label, draws in scalars(str(name), values)
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")


def _comparable_dim(draws: xr.DataArray) -> str:
    """The dim of pools or pairs, or an empty string."""
    return next((dim for dim in COMPARABLE_DIMS if dim in draws.dims), "")


def _position_and_label(labels: pd.Index[Any], dim: str, choice: Any) -> tuple[int, str]:
    names = list(map(str, labels))
    for name in _possible_labels(choice):
        if name in names:
            return names.index(name), name
    raise ValueError(f"{choice!r} is not a {dim}. Choose from: {'; '.join(names)}.")


def _possible_labels(choice: Any) -> Sequence[str]:
    """The label of a pool or pair; both orders for a pair that is given as two pools."""
    if isinstance(choice, (tuple, list)):
        pools = list(map(str, choice))
        return ", ".join(pools), ", ".join(reversed(pools))
    return (str(choice),)
