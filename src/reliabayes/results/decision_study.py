"""D studies: reliability by numbers of levels of facets, and the least expensive ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.facets import COEFFICIENTS, Decision
from reliabayes.results.summaries import describe

MANY = 1_000_000  # levels, as good as infinitely many
MOST_DESIGNS = 20_000  # that a search looks at


@dataclass(frozen=True, eq=False, repr=False)
class DStudy:
    """Reliability of means of ratings, by the numbers of levels of facets.

    Attributes
    ----------
    draws : Dataset
        g, phi, sem_relative, sem_absolute and mdc, dims (chain, draw) and a dimension for each
        facet, whose coordinates are numbers of levels; ``attrs["source"]`` names model and data.
    """

    draws: xr.Dataset

    @classmethod
    def of(cls, single: Decision, numbers: Mapping[str, Array], source: str) -> DStudy:
        """The D study of all combinations of numbers of levels.

        Parameters
        ----------
        single : Decision
            Measurement by single ratings.
        numbers : mapping of str to array of int
            Numbers of levels of each facet that is varied.
        source : str
            What names model and data.
        """
        each = dict(zip(numbers, np.ix_(*numbers.values()), strict=True))
        study = replace(
            single, variance=single.variance[:, :, *(None,) * len(numbers)], levels=each
        )
        dims = ("chain", "draw", *numbers)
        shape = (*single.variance.shape[:2], *map(len, numbers.values()))
        found = {
            name: (dims, np.broadcast_to(getattr(study, name), shape)) for name in COEFFICIENTS
        }
        return cls(xr.Dataset(found, coords=dict(numbers), attrs={"source": source}))

    def table(self, quantity: str = "phi", prob: float = 0.9) -> pd.DataFrame:
        """Summary of one quantity for each combination of numbers of levels.

        Parameters
        ----------
        quantity : str, default "phi"
            One of "g", "phi", "sem_relative", "sem_absolute" and "mdc".
        prob : float, default 0.9
            Probability of the interval, in (0, 1).

        Returns
        -------
        DataFrame
            Indexed by the numbers of levels: mean, sd, median and interval.
        """
        if quantity not in self.draws:
            raise ValueError(
                f"quantity must be one of {', '.join(COEFFICIENTS)}; not {quantity!r}."
            )
        if not 0 < prob < 1:
            raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
        found = self.draws[quantity]
        facets = [str(dim) for dim in found.dims[2:]]
        index = pd.MultiIndex.from_product([found[name].values for name in facets], names=facets)
        values = found.values.reshape(found.shape[0] * found.shape[1], -1)
        return pd.DataFrame(describe(values, prob), index=index)

    def __repr__(self) -> str:
        return f"D study, phi:\n{self.table().round(3)}"

    def _repr_html_(self) -> str:
        return f"<p>D study, phi:</p>{self.table().round(3).to_html()}"


def cheapest(
    single: Decision,
    cost: Mapping[str, float],
    *,
    phi: float | None,
    g: float | None,
    prob: float,
) -> pd.Series[Any]:
    """The least expensive numbers of levels whose mean is reliable enough, as `Fit.cheapest` says.

    Parameters
    ----------
    single : Decision
        Measurement by single ratings.
    cost, phi, g, prob
        As for `Fit.cheapest`.
    """
    name, target = _target(phi, g)
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    if not cost or not all(np.isfinite(each) and each > 0 for each in cost.values()):
        raise ValueError(f"cost must have numbers above 0 for one facet or more; found {cost}.")

    def probability(levels: Mapping[str, int]) -> float:
        return float((getattr(replace(single, levels=levels), name) >= target).mean())

    best = probability(dict.fromkeys(cost, MANY))
    if best < prob:
        raise ValueError(
            f"{name} reaches {target:g} with probability {best:.3f} at most, however many "
            f"levels {', '.join(cost)} have. Lower the target or prob, or give a cost for "
            "other facets too."
        )
    for total, levels in islice(_by_cost(cost, single.design.nested), MOST_DESIGNS):
        reached = probability(levels)
        if reached >= prob:
            return pd.Series({**levels, "cost": total, "probability": reached}, dtype=object)
    raise ValueError(
        f"no number of levels up to a cost of {total:g} reaches {name} of {target:g} with "
        f"probability {prob:g}. Lower the target or prob."
    )


def _target(phi: float | None, g: float | None) -> tuple[Literal["phi", "g"], float]:
    """Which coefficient has to reach what."""
    if (phi is None) == (g is None):
        raise ValueError("one of phi and g must be given.")
    name: Literal["phi", "g"] = "g" if phi is None else "phi"
    target = g if phi is None else phi
    assert target is not None
    if not 0 < target < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, not {target}.")
    return name, target


def _by_cost(
    cost: Mapping[str, float], nested: Mapping[str, frozenset[str]]
) -> Iterator[tuple[float, dict[str, int]]]:
    """All numbers of levels with what they cost, the cheapest first."""
    names = list(cost)

    def total(levels: tuple[int, ...]) -> float:
        of = dict(zip(names, levels, strict=True))
        return sum(
            cost[name] * of[name] * np.prod([of.get(each, 1) for each in nested.get(name, ())])
            for name in names
        )

    ones = (1,) * len(names)
    queue, seen = [(total(ones), ones)], {ones}
    while True:
        price, levels = heappop(queue)
        yield price, dict(zip(names, levels, strict=True))
        for position in range(len(names)):
            more = (*levels[:position], levels[position] + 1, *levels[position + 1 :])
            if more not in seen:
                seen.add(more)
                heappush(queue, (total(more), more))
