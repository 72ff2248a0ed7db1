"""Decisions on a fit of several facets: reliability by numbers of levels, and what to buy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.facets import COEFFICIENTS, Decision, as_names, numbers_of_levels
from reliabayes.results.fitted_labels import FittedLabels
from reliabayes.results.summaries import describe, size_text

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


@dataclass(frozen=True, eq=False, repr=False)
class FittedDecisions(FittedLabels):
    """Reliability of means over several levels of facets: a base of `Fit`."""

    def decision(self, fixed: Collection[str] | None = None) -> Decision:
        """Measurement by single ratings, draw by draw: a D study of one level of each facet.

        Parameters
        ----------
        fixed : collection of str, optional
            Facets with the same levels in every measurement; by default those of the model.

        Returns
        -------
        Decision
            Variances of universe scores and errors, and coefficients (chains, draws).

        Raises
        ------
        ValueError
            The model has no facets, or a facet is unknown.
        """
        chosen = None if fixed is None else frozenset(as_names(fixed))
        found = self.model.decision(self._draws(), chosen)
        if found is None:
            raise self._no_facets()
        return found

    def d_study(
        self,
        levels: Mapping[str, int | Sequence[int]],
        fixed: Collection[str] | None = None,
    ) -> DStudy:
        """Reliability of the mean of ratings under so many levels of each facet.

        Parameters
        ----------
        levels : mapping of str to int or sequence of int
            Numbers of levels, 1 or more, of facets other than the object of measurement; 1 of
            those not named. Of a nested facet, within each level of the other. "replicate" is the
            number of ratings that agree in all facets.
        fixed : collection of str, optional
            Facets with the same levels in every measurement; by default those of the model.

        Returns
        -------
        DStudy
            Draws of g, phi and standard errors for each combination, and tables of them.

        Raises
        ------
        ValueError
            The model has no facets, or a facet is unknown.

        References
        ----------
        Brennan (2001), chapter 4. https://doi.org/10.1007/978-1-4757-3456-0
        """
        numbers = numbers_of_levels(levels)
        each = dict(zip(numbers, np.ix_(*numbers.values()), strict=True))
        single = self.decision(fixed)
        variance = single.variance[:, :, *(None,) * len(numbers)]
        of = replace(single, variance=variance, levels=each)
        dims = ("chain", "draw", *numbers)
        shape = (*self._chains_and_draws, *map(len, numbers.values()))
        found = {name: (dims, np.broadcast_to(getattr(of, name), shape)) for name in COEFFICIENTS}
        source = f"{type(self.model).__name__}, {size_text(self.ratings)}"
        return DStudy(xr.Dataset(found, coords=numbers, attrs={"source": source}))

    def cheapest(
        self,
        cost: Mapping[str, float],
        *,
        phi: float | None = None,
        g: float | None = None,
        prob: float = 0.9,
        fixed: Collection[str] | None = None,
    ) -> pd.Series[Any]:
        """The least expensive numbers of levels whose mean is reliable enough.

        Parameters
        ----------
        cost : mapping of str to float
            Cost of a level of each facet to be used more than once, above 0. The levels of a
            nested facet count in each level of the other.
        phi, g : float
            Reliability to reach, strictly between 0 and 1: one of them.
        prob : float, default 0.9
            Posterior probability with which it is to be reached, strictly between 0 and 1.
        fixed : collection of str, optional
            As for `d_study`.

        Returns
        -------
        Series
            Number of levels of each facet, ``cost``, and ``probability`` of the reliability.

        Raises
        ------
        ValueError
            An argument is out of its range, or no number of levels suffices.
        """
        name, target = _target(phi, g)
        if not 0 < prob < 1:
            raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
        if not cost or not all(np.isfinite(each) and each > 0 for each in cost.values()):
            raise ValueError(f"cost must have numbers above 0 for one facet or more; found {cost}.")

        single = self.decision(fixed)

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

    def levels(self, facet: str, prob: float = 0.9, seed: int | None = None) -> pd.DataFrame:
        """Effects of the levels of a facet, such as severities of raters or occasions.

        Parameters
        ----------
        facet : str
            A facet of the design.
        prob : float, default 0.9
            Probability of the intervals, in (0, 1).
        seed : int, optional
            Seed of the effects, which are drawn given the standard deviations.

        Returns
        -------
        DataFrame
            A row for each level, by the user's ids: mean, sd, median and interval, in units of the
            rating.

        Raises
        ------
        ValueError
            The model has no such facet.
        """
        rng = np.random.default_rng(self.settings.seed if seed is None else seed)
        found = self.model.effects_of_levels(self._draws(), facet, prob, rng)
        if found is None:
            raise self._no_facets()
        return found

    @property
    def _chains_and_draws(self) -> tuple[int, int]:
        return self.posterior.sizes["chain"], self.posterior.sizes["draw"]

    def _no_facets(self) -> ValueError:
        return ValueError(f"{type(self.model).__name__} has no facets; fit GStudy instead.")


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
