"""How many items a study of agreement needs, and what a number of items gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from reliabayes.design.differences import JanShieh, Shieh
from reliabayes.design.goal import Goal, Prevalence, What
from reliabayes.design.iccs import Bonett, BonettWright, Walter
from reliabayes.design.kappas import CANTOR, FIT, FLACK
from reliabayes.design.plan import Method, rounded_up
from reliabayes.results.settings import whole_number

OF_KAPPAS: dict[str, Method] = {each.name: each for each in (CANTOR, FLACK, FIT)}
OF_ICCS: dict[str, Method] = {"walter": Walter(), "bonett": Bonett()}
OF_ICCS["presize"] = Bonett("presize", correction=-1.0)
ANY_WIDTH = 1e-9  # for limits, which a width does not change


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
        Where that was published.
    exact : float
        The number before rounding.
    goal : Goal
        What the study is to find out.
    asked : str or None
        The method that was asked for.
    """

    items: int
    method: str
    doi: str
    exact: float
    goal: Goal
    asked: str | None

    def __repr__(self) -> str:
        return f"StudySize(items={self.items}, method={self.method!r}, doi={self.doi!r})"

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
        goals = [replace(self.goal, raters=each) for each in numbers]
        needed = [_sized(each, self.asked).items for each in goals]
        index = pd.Index(numbers, name="raters")
        return pd.DataFrame({"items": needed, "ratings": np.multiply(needed, numbers)}, index)


def items_needed(
    what: What,
    *,
    value: float,
    raters: int = 2,
    null: float | None = None,
    width: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
    power: float = 0.8,
    prob: float = 0.95,
    tails: int = 2,
    prevalence: Prevalence | None = None,
    bias: float = 0.0,
    agree: float = 0.95,
    method: str | None = None,
) -> StudySize:
    r"""Return the number of items that a study of agreement needs.

    Pass either ``null``, a value that the study is to reject with the given power, or the ``width``
    or the limits that its interval is to have.

    Parameters
    ----------
    what : {"kappa", "icc", "alpha", "limits"}
        Cohen's kappa, or Fleiss' of several raters; the ICC of single ratings; Cronbach's alpha,
        whose ``raters`` are questions; or limits of agreement of two raters.
    value : float
        The coefficient that is expected, below 1; for "limits" the standard deviation of
        differences, above 0.
    raters : int, default 2
        Number of raters of each item, from 2; for kappas up to 6.
    null : float, optional
        The value that is to be rejected.
    width : float, optional
        Width of the interval, above 0. For "limits", that of the central range with its interval.
    lower, upper : float, optional
        Limits that the interval of a kappa, an ICC or alpha is to keep within. For "limits" the
        bounds within which differences must be, both needed.
    power : float, default 0.8
        Probability of rejecting ``null`` if ``value`` is true, above the error rate.
    prob : float, default 0.95
        Nominal coverage of the interval, or 1 less the error rate of the test.
    tails : {1, 2}, default 2
        Whether departures in both directions count. An interval with one limit has one tail.
    prevalence : float or sequence, optional
        For kappas: the proportion of one of two categories, or of each of up to 5, which sum to 1.
        Two numbers that do not are the proportions of one category by each of two raters; two rows
        are the proportions of all categories by each. By default 0.5.
    bias, agree : float, default 0 and 0.95
        For "limits": mean of the differences, and the proportion of them between the limits.
    method : str, optional
        By default what is first in the list that suits.

        - "cantor": kappa of two raters and two categories, by its standard error.
        - "flack": the same of several categories, with the largest error that these proportions
          allow.
        - "chi-squared": kappa of 2 to 6 raters and 2 to 5 categories, by goodness of fit, as Donner
          & Eliasziw and Rotondi & Donner; default for more raters, and for limits and widths.
        - "walter" for ICCs and ``null``, "bonett" for ICCs and widths, "bonett-wright" for alpha.
        - "shieh" for limits and bounds: the exact test that the central range is within them;
          "jan-shieh" for limits and width: the expected width of the exact interval.

    Returns
    -------
    StudySize
        ``items``, ``method`` and ``doi``; ``table(raters=[2, 3, 5])`` has other numbers of raters.

    Raises
    ------
    ValueError
        A value is out of range, raters with these proportions cannot have such a kappa, or the
        method does not suit.

    See Also
    --------
    power, width, limits : What a given number of items gives.

    References
    ----------
    Cantor (1996), https://doi.org/10.1037/1082-989X.1.2.150. Flack et al. (1988),
    https://doi.org/10.1007/BF02294215. Donner & Eliasziw (1992),
    https://doi.org/10.1002/sim.4780111109. Rotondi & Donner (2012),
    https://doi.org/10.1016/j.jclinepi.2012.01.019. Bonett (2002), https://doi.org/10.1002/sim.1108.
    Bonett & Wright (2015), https://doi.org/10.1002/job.1960. Shieh (2019),
    https://doi.org/10.1080/19466315.2019.1677495. Jan & Shieh (2018),
    https://doi.org/10.1016/j.compbiomed.2018.06.020

    Examples
    --------
    >>> import reliabayes as rb
    >>> rb.design.items_needed("kappa", value=0.7, null=0.4).items
    64
    >>> needed = rb.design.items_needed("icc", value=0.75, null=0.5, tails=1)
    >>> needed.table(raters=[2, 3])["items"].to_dict()
    {2: 36, 3: 24}
    """
    goal = Goal(
        what=what,
        value=value,
        raters=raters,
        null=null,
        width=width,
        lower=lower,
        upper=upper,
        power=power,
        prob=prob,
        tails=tails,
        prevalence=prevalence,
        bias=bias,
        agree=agree,
    )
    wanted = {"null": null, "width": width, "lower and upper": lower if upper is None else upper}
    given = [name for name, each in wanted.items() if each is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise ValueError(f"one of null, width, and lower or upper must be given, not {found}.")
    return _sized(goal, method)


def power(
    what: What,
    *,
    items: int,
    value: float,
    raters: int = 2,
    null: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
    prob: float = 0.95,
    tails: int = 2,
    prevalence: Prevalence | None = None,
    bias: float = 0.0,
    agree: float = 0.95,
    method: str | None = None,
) -> float:
    """Return the power of a study with a number of items.

    Parameters
    ----------
    what : {"kappa", "icc", "alpha", "limits"}
        As for `items_needed`, like all other parameters.
    items : int
        Number of items, from 3.
    value, raters, null, lower, upper, prob, tails, prevalence, bias, agree, method
        As for `items_needed`.

    Returns
    -------
    float
        Probability of rejecting ``null``, or for "limits" of accepting that differences are within
        the bounds.

    Raises
    ------
    ValueError
        As for `items_needed`.

    Examples
    --------
    >>> import reliabayes as rb
    >>> round(rb.design.power("icc", items=36, value=0.75, null=0.5, tails=1), 3)
    0.806
    """
    goal = Goal(
        what=what,
        value=value,
        raters=raters,
        null=null,
        lower=lower,
        upper=upper,
        prob=prob,
        tails=tails,
        prevalence=prevalence,
        bias=bias,
        agree=agree,
    )
    if what != "limits" and null is None:
        raise ValueError("null must be given: power is the probability of rejecting it.")
    return _method(goal, method).power(goal, whole_number("items", items, least=3))


def width(
    what: What,
    *,
    items: int,
    value: float,
    raters: int = 2,
    prob: float = 0.95,
    prevalence: Prevalence | None = None,
    bias: float = 0.0,
    agree: float = 0.95,
    method: str | None = None,
) -> float:
    """Return the expected width of the interval with a number of items.

    Parameters
    ----------
    what : {"kappa", "icc", "alpha", "limits"}
        As for `items_needed`, like all other parameters.
    items : int
        Number of items, from 3.
    value, raters, prob, prevalence, bias, agree, method
        As for `items_needed`; "presize" is "bonett" with the sign of its correction for two raters
        and a high ICC that the R package presize has.

    Returns
    -------
    float
        The width.

    Raises
    ------
    ValueError
        As for `items_needed`.

    Examples
    --------
    >>> import reliabayes as rb
    >>> round(rb.design.width("icc", items=25, value=0.85, raters=4), 4)
    0.1739
    """
    found = limits(
        what,
        items=items,
        value=value,
        raters=raters,
        prob=prob,
        prevalence=prevalence,
        bias=bias,
        agree=agree,
        method=method,
    )
    return found[1] - found[0]


def limits(
    what: What,
    *,
    items: int,
    value: float,
    raters: int = 2,
    prob: float = 0.95,
    tails: int = 2,
    prevalence: Prevalence | None = None,
    bias: float = 0.0,
    agree: float = 0.95,
    method: str | None = None,
) -> tuple[float, float]:
    """Return the expected limits of the interval with a number of items.

    Parameters
    ----------
    what : {"kappa", "icc", "alpha", "limits"}
        As for `items_needed`, like all other parameters.
    items : int
        Number of items, from 3.
    value, raters, prob, tails, prevalence, bias, agree, method
        As for `items_needed`. With one tail, each limit is that of an interval with one limit.

    Returns
    -------
    tuple of float
        Lower and upper limit.

    Raises
    ------
    ValueError
        As for `items_needed`.

    Examples
    --------
    >>> import reliabayes as rb
    >>> lower, upper = rb.design.limits("kappa", items=80, value=0.7, raters=5, tails=1)
    >>> round(lower, 2)
    0.61
    """
    goal = Goal(
        what=what,
        value=value,
        raters=raters,
        prob=prob,
        tails=tails,
        prevalence=prevalence,
        bias=bias,
        agree=agree,
        width=ANY_WIDTH,
    )
    lower, upper = _method(goal, method).limits(goal, whole_number("items", items, least=3))
    return float(lower), float(upper)


def _sized(goal: Goal, method: str | None) -> StudySize:
    chosen = _method(goal, method)
    exact = chosen.items(goal)
    return StudySize(rounded_up(exact), chosen.name, chosen.doi, float(exact), goal, method)


def _method(goal: Goal, name: str | None) -> Method:
    """The method of a name, or the default."""
    known, default = _methods(goal)
    if name is None:
        return known[default]
    if name not in known:
        what = repr(goal.what)
        raise ValueError(f"method must be one of {', '.join(known)} for {what}, not {name!r}.")
    if goal.what == "kappa":
        _check_kappa_method(name, goal)
    return known[name]


def _methods(goal: Goal) -> tuple[dict[str, Method], str]:
    if goal.what == "kappa":
        if goal.null is None or goal.raters > 2:
            return OF_KAPPAS, "chi-squared"
        return OF_KAPPAS, "cantor" if goal.shares.shape[1] == 2 else "flack"
    if goal.what == "icc":
        return OF_ICCS, "bonett" if goal.null is None else "walter"
    if goal.what == "alpha":
        return {"bonett-wright": BonettWright()}, "bonett-wright"
    return {"shieh": Shieh(), "jan-shieh": JanShieh()}, "jan-shieh" if goal.width else "shieh"


def _check_kappa_method(name: str, goal: Goal) -> None:
    size = goal.shares.shape[1]
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
