"""The number of items that a study needs, by a formula or by simulation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.design.differences import JanShieh, Shieh
from reliabayes.design.goal import Goal
from reliabayes.design.iccs import Bonett, BonettWright, Walter
from reliabayes.design.kappas import CANTOR, FIT, FLACK
from reliabayes.design.plan import Method, rounded_up
from reliabayes.design.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OF_KAPPAS: dict[str, Method] = {each.name: each for each in (CANTOR, FLACK, FIT)}
OF_ICCS: dict[str, Method] = {"walter": Walter(), "bonett": Bonett()}
OF_ICCS["presize"] = Bonett("presize", correction=-1.0)
MOST_RATERS, MOST_CATEGORIES = 6, 5  # of formulas of kappas, as far as published and checked
PLOTTED = 40, 6  # numbers of items in a plot, by a formula and by simulation
SPAN = 0.4, 1.8  # of these, as multiples of the number that the study needs


@dataclass(frozen=True)
class StudySize:
    """Number of items that a study needs.

    Attributes
    ----------
    items : int
        The number, rounded up.
    method : str
        How it was computed.
    doi : str
        Where that was published; empty for "simulation".
    exact : float
        The number before rounding.
    error : float
        Its Monte Carlo standard error; 0 for formulas.
    goal : Goal
        What the study is to find out.
    asked : str, Simulation or None
        The method that was asked for.
    """

    items: int
    method: str
    doi: str
    exact: float
    error: float
    goal: Goal
    asked: str | Simulation | None

    @classmethod
    def of(cls, goal: Goal, asked: str | Simulation | None) -> StudySize:
        """Compute it by the method that was asked for."""
        method = chosen(goal, asked)
        exact = method.items(goal)
        error = getattr(exact, "error", 0.0)
        return cls(rounded_up(exact), method.name, method.doi, float(exact), error, goal, asked)

    def __repr__(self) -> str:
        last = f"error={self.error:.2g}" if self.error else f"doi={self.doi!r}"
        return f"StudySize(items={self.items}, method={self.method!r}, {last})"

    def __int__(self) -> int:
        return self.items

    def table(self, raters: Iterable[int]) -> pd.DataFrame:
        """Return the number of items with other numbers of raters.

        The method is the one that was asked for, or else the default for each number.

        Parameters
        ----------
        raters : iterable of int
            Numbers of raters of each item.

        Returns
        -------
        DataFrame
            Index raters; columns items, and ratings, their product.
        """
        numbers = list(raters)
        needed = [
            StudySize.of(replace(self.goal, raters=each), self.asked).items for each in numbers
        ]
        index = pd.Index(numbers, name="raters")
        return pd.DataFrame({"items": needed, "ratings": np.multiply(needed, numbers)}, index)

    def plot(self, ax: Axes | None = None, *, items: Sequence[int] | None = None) -> Axes:
        """Plot what other numbers of items would give: the power, or the limits of the interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        items : sequence of int, optional
            Numbers of items, from 5; by default around the number that the study needs.

        Returns
        -------
        Axes
            The axes of the plot.

        Examples
        --------
        >>> import reliabayes as rb
        >>> from matplotlib.figure import Figure
        >>> needed = rb.design.items_needed("kappa", value=0.7, null=0.4)
        >>> needed.plot(ax=Figure().subplots()).get_title(loc="left")
        '64 items reject a kappa of 0.4 with power 0.8'
        """
        from reliabayes.plots.layout import add_title, axes_or_new
        from reliabayes.plots.palette import Palette

        ax, goal, method = axes_or_new(ax), self.goal, chosen(self.goal, self.asked)
        palette = Palette.of(ax)
        colour = palette.series[0]
        if items is None:
            number = PLOTTED[isinstance(method, Simulation)]
            places = self.items * np.linspace(*SPAN, number)
            items = np.unique(np.maximum(5, places.round())).astype(int).tolist()
        if goal.has_test:
            ax.plot(items, [method.power(goal, each) for each in items], color=colour)
            ax.axhline(goal.power, color=palette.muted, linewidth=0.8)
            ax.set(ylabel="power", ylim=(0, 1))
        else:
            lower, upper = np.array([method.limits(goal, each) for each in items]).T
            ax.fill_between(items, lower, upper, color=colour, alpha=0.25)
            ax.axhline(goal.middle, color=colour)
            ax.set(ylabel="limits of agreement" if goal.what == "limits" else goal.name)
        ax.axvline(self.items, color=palette.text, linestyle=":", linewidth=1)
        ax.set(xlabel="items", xlim=(items[0], items[-1]))
        raters = f"{goal.raters} raters of each item; {goal.prob:.0%} intervals"
        return add_title(ax, f"{self.items} items {self._finding}", f"{raters}; {self.method}")

    @property
    def _finding(self) -> str:
        goal = self.goal
        if goal.null is not None:
            return f"reject a {goal.name} of {goal.null:g} with power {goal.power:g}"
        if goal.has_test:
            within = f"within {goal.lower:g} and {goal.upper:g}"
            return f"show that differences are {within} with power {goal.power:g}"
        if goal.width is not None:
            return f"give an interval {goal.width:g} wide"
        ends = (("above", goal.lower), ("below", goal.upper))
        wanted = " and ".join(f"{word} {end:g}" for word, end in ends if end is not None)
        return f"keep the interval of {goal.name} {wanted}"


def chosen(goal: Goal, asked: str | Simulation | None) -> Method:
    """Return the method that was asked for, or the default.

    Parameters
    ----------
    goal : Goal
        What the study is to find out.
    asked : str, Simulation or None
        The method.

    Returns
    -------
    Method

    Raises
    ------
    ValueError
        There is none of this name, or it does not suit the goal.
    """
    known, default = _methods(goal)
    name = default if asked is None else asked
    if isinstance(name, Simulation) and "simulation" in known:
        return name
    if not isinstance(name, str) or name not in known:
        what = repr(goal.name)
        raise ValueError(f"method must be one of {', '.join(known)} for {what}, not {name!r}.")
    if goal.what == "kappa" and name != "simulation":
        _check_kappa_method(name, goal)
    return known[name]


def _methods(goal: Goal) -> tuple[dict[str, Method], str]:
    """The methods by name, and the name of the default."""
    simulation: dict[str, Method] = {"simulation": Simulation()}
    if goal.what == "kappa":
        if goal.null is None or goal.raters > 2:
            return OF_KAPPAS | simulation, "chi-squared"
        return OF_KAPPAS | simulation, "cantor" if goal.shares.shape[1] == 2 else "flack"
    if goal.what == "icc":
        return OF_ICCS | simulation, "bonett" if goal.null is None else "walter"
    if goal.what == "alpha":
        return {"bonett-wright": BonettWright(), **simulation}, "bonett-wright"
    if goal.what == "limits":
        return {"shieh": Shieh(), "jan-shieh": JanShieh()}, "jan-shieh" if goal.width else "shieh"
    return simulation, "simulation"


def _check_kappa_method(name: str, goal: Goal) -> None:
    size = goal.shares.shape[1]
    if goal.raters > MOST_RATERS or size > MOST_CATEGORIES:
        raise ValueError(
            f"kappas have formulas for up to {MOST_RATERS} raters and {MOST_CATEGORIES} "
            f'categories; found {goal.raters} and {size}. Pass method="simulation".'
        )
    differ = not np.allclose(*goal.shares)
    if name == "cantor" and (size > 2 or goal.raters > 2):
        raise ValueError(
            f'method "cantor" is for two raters and two categories; found {goal.raters} raters and '
            f'{size} categories. Pass "flack" or "chi-squared".'
        )
    if name == "flack" and goal.raters > 2:
        raise ValueError(
            f'method "flack" is for two raters; found {goal.raters}. Pass "chi-squared".'
        )
    if name == "chi-squared" and differ:
        raise ValueError(
            'method "chi-squared" supposes that raters have the same proportions; these differ. '
            'Pass "cantor" or "flack".'
        )
