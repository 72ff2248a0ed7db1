"""How many items a study of agreement needs, and what a number of items gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.design.differences import JanShieh, Shieh
from reliabayes.design.iccs import Bonett, BonettWright, Walter
from reliabayes.design.kappas import CANTOR, FIT, FLACK, possible_kappas
from reliabayes.design.plan import Goal, Method, rounded_up

What = Literal["kappa", "icc", "alpha", "limits"]
MethodName = Literal["cantor", "flack", "chi-squared"]
Prevalence = float | Sequence[float] | Sequence[Sequence[float]]

OF_KAPPAS: dict[str, Method] = {each.name: each for each in (CANTOR, FLACK, FIT)}
OF_ICCS: dict[str, Method] = {"walter": Walter(), "bonett": Bonett()}
OF_ICCS["presize"] = Bonett("presize", correction=-1.0)
MOST_RATERS, MOST_CATEGORIES = 6, 5  # of chi-squared, as far as it was published and checked
ROUNDING = 1e-9


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
    what : str
        The coefficient.
    goal : Goal
        What the study is to find out.
    asked : str or None
        The method that was asked for.
    """

    items: int
    method: str
    doi: str
    exact: float
    what: What
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
        goals = [replace(self.goal, raters=_whole("raters", each, 2)) for each in numbers]
        needed = [_sized(self.what, each, self.asked).items for each in goals]
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
    goal = _goal(
        what, value, raters, null, width, lower, upper, power, prob, tails, prevalence, bias, agree
    )
    wanted = {"null": null, "width": width, "lower and upper": lower if upper is None else upper}
    given = [name for name, each in wanted.items() if each is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise ValueError(f"one of null, width, and lower or upper must be given, not {found}.")
    return _sized(what, goal, method)


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
    goal = _goal(
        what, value, raters, null, None, lower, upper, None, prob, tails, prevalence, bias, agree
    )
    if what != "limits" and null is None:
        raise ValueError("null must be given: power is the probability of rejecting it.")
    return _method(what, goal, method).power(goal, _whole("items", items, 3))


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
    any_width = 1e-9
    goal = _goal(
        what, value, raters, None, any_width, None, None, None, prob, tails, prevalence, bias, agree
    )
    lower, upper = _method(what, goal, method).limits(goal, _whole("items", items, 3))
    return float(lower), float(upper)


def _sized(what: What, goal: Goal, method: str | None) -> StudySize:
    chosen = _method(what, goal, method)
    exact = chosen.items(goal)
    return StudySize(rounded_up(exact), chosen.name, chosen.doi, float(exact), what, goal, method)


def _method(what: What, goal: Goal, name: str | None) -> Method:
    """The method of a name, or the default."""
    known, default = _methods(what, goal)
    if name is None:
        return known[default]
    if name not in known:
        raise ValueError(f"method must be one of {', '.join(known)} for {what!r}, not {name!r}.")
    chosen = known[name]
    if what == "kappa":
        _check_kappa_method(name, goal)
    return chosen


def _methods(what: What, goal: Goal) -> tuple[dict[str, Method], str]:
    if what == "kappa":
        if goal.null is None or goal.raters > 2:
            return OF_KAPPAS, "chi-squared"
        return OF_KAPPAS, "cantor" if goal.shares.shape[1] == 2 else "flack"
    if what == "icc":
        return OF_ICCS, "bonett" if goal.null is None else "walter"
    if what == "alpha":
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


def _goal(
    what: What,
    value: float,
    raters: int,
    null: float | None,
    width: float | None,
    lower: float | None,
    upper: float | None,
    power: float | None,
    prob: float,
    tails: int,
    prevalence: Prevalence | None,
    bias: float,
    agree: float,
) -> Goal:
    """The goal, if all arguments are in range."""
    if what not in get_args(What):
        raise ValueError(f"what must be one of {', '.join(get_args(What))}, not {what!r}.")
    _within("prob", prob, 0, 1)
    _within("agree", agree, 0, 1)
    if tails not in (1, 2):
        raise ValueError(f"tails must be 1 or 2, not {tails!r}.")
    tails = 1 if null is None and width is None and (lower is None) != (upper is None) else tails
    wanted = 0.8 if power is None else power
    _within("power", wanted, (1 - prob) / tails, 1)
    shares = _shares(prevalence, raters)
    if what == "limits":
        _check_differences(value, raters, null, width, lower, upper)
    else:
        _check_coefficient(what, value, raters, null, width, lower, upper, shares)
    return Goal(
        value=float(value),
        raters=_whole("raters", raters, 2),
        null=null,
        lower=lower,
        upper=upper,
        width=width,
        power=wanted,
        prob=prob,
        tails=tails,
        bias=bias,
        agree=agree,
        shares=shares,
    )


def _check_differences(
    sd: float,
    raters: int,
    null: float | None,
    width: float | None,
    lower: float | None,
    upper: float | None,
) -> None:
    _within("value", sd, 0, np.inf)
    if null is not None or raters != 2:
        raise ValueError("limits are of two raters and have no null; pass width, or two bounds.")
    if width is not None:
        _within("width", width, 0, np.inf)
    elif lower is None or upper is None or not lower < upper:
        raise ValueError(f"lower must be below upper, both bounds; found {lower} and {upper}.")


def _check_coefficient(
    what: What,
    value: float,
    raters: int,
    null: float | None,
    width: float | None,
    lower: float | None,
    upper: float | None,
    shares: Array,
) -> None:
    least = {"kappa": -1.0, "icc": -1 / (raters - 1), "alpha": -np.inf}[what]
    low, high = (least, 1.0)
    if what == "kappa":
        if raters > MOST_RATERS or shares.shape[1] > MOST_CATEGORIES:
            raise ValueError(
                f"kappas are planned for up to {MOST_RATERS} raters and {MOST_CATEGORIES} "
                f"categories; found {raters} and {shares.shape[1]}."
            )
        low, high = possible_kappas(shares)
    for name, each in (("value", value), ("null", null)):
        if each is not None and not (low < each < 1 and each <= high + ROUNDING):
            why = " of raters with these proportions" if what == "kappa" else ""
            last = "below 1" if high >= 1 else f"at most {high:.4g}"
            raise ValueError(f"{name} must be above {low:.4g} and {last}{why}; found {each}.")
    if null is not None and null == value:
        raise ValueError(f"null must differ from value; both are {value}.")
    if width is not None:
        _within("width", width, 0, 2 * min(value - low, 1 - value) if what == "kappa" else np.inf)
    if lower is not None and not low < lower < value:
        raise ValueError(f"lower must be above {low:.4g} and below value, {value}; found {lower}.")
    if upper is not None and not value < upper < 1:
        raise ValueError(f"upper must be above value, {value}, and below 1; found {upper}.")


def _shares(prevalence: Prevalence | None, raters: int) -> Array:
    """(2, K) proportions of the categories, by rater."""
    given = np.asarray(0.5 if prevalence is None else prevalence, np.float64)
    if given.ndim == 0:
        given = np.array([given, 1 - given])
    is_by_rater = given.shape == (2,) and abs(given.sum() - 1) > ROUNDING and raters == 2
    if is_by_rater:
        given = np.column_stack([given, 1 - given])
    shares = np.broadcast_to(given, (2, given.shape[-1])) if given.ndim < 3 else given
    is_right = shares.ndim == 2 and shares.shape[1] > 1 and ((shares > 0) & (shares < 1)).all()
    if not is_right or not np.allclose(shares.sum(1), 1):
        raise ValueError(
            "prevalence must be a proportion between 0 and 1, or those of all categories, which "
            f"sum to 1; found {prevalence!r}."
        )
    return shares


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        limit = "" if np.isinf(high) else f" and below {high:.4g}"
        raise ValueError(f"{name} must be above {low:.4g}{limit}; found {value}.")


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number from {least}; found {value!r}.")
    return int(value)
