"""How many items a study of agreement needs, and what a number of items gives."""

from __future__ import annotations

from reliabayes.design.goal import CoefficientFunction, Goal, Prevalence, What
from reliabayes.design.simulation import Simulation
from reliabayes.design.study_size import StudySize, chosen
from reliabayes.results.settings import whole_number

ANY_WIDTH = 1e-9  # for limits, which a width does not change


def items_needed(
    what: What | CoefficientFunction,
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
    method: str | Simulation | None = None,
) -> StudySize:
    r"""Return the number of items that a study of agreement needs.

    Pass either ``null``, a value that the study is to reject with the given power, or the ``width``
    or the limits that its interval is to have.

    Parameters
    ----------
    what : {"kappa", "icc", "alpha", "limits"} or callable
        Cohen's kappa, or Fleiss' of several raters; the ICC of single ratings; Cronbach's alpha,
        whose ``raters`` are questions; or limits of agreement of two raters. Any other coefficient
        as a function of ratings, such as ``rb.agreement.gwet_ac1``, which is planned by simulation:
        of categories if ``prevalence`` is given, else of scores.
    value : float
        The coefficient that is expected, below 1; for "limits" the standard deviation of
        differences, above 0.
    raters : int, default 2
        Number of raters of each item, from 2; for formulas of kappas up to 6.
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
        Of categories: the proportion of one of two, or of each of up to 5, which sum to 1. Two
        numbers that do not are the proportions of one category by each of two raters; two rows are
        the proportions of all categories by each. By default 0.5.
    bias, agree : float, default 0 and 0.95
        For "limits": mean of the differences, and the proportion of them between the limits.
    method : str or Simulation, optional
        By default what is first in the list that suits.

        - "cantor": kappa of two raters and two categories, by its standard error.
        - "flack": the same of several categories, with the largest error that these proportions
          allow.
        - "chi-squared": kappa of 2 to 6 raters and 2 to 5 categories, by goodness of fit, as Donner
          & Eliasziw and Rotondi & Donner; default for more raters, and for limits and widths.
        - "walter" for ICCs and ``null``, "bonett" for ICCs and widths, "bonett-wright" for alpha.
        - "shieh" for limits and bounds: the exact test that the central range is within them;
          "jan-shieh" for limits and width: the expected width of the exact interval.
        - "simulation": studies whose intervals are computed, for all but limits; `Simulation` says
          how, and has the number of replicates and the seed.

    Returns
    -------
    StudySize
        ``items``, ``method`` and ``doi``; ``error`` is the Monte Carlo standard error of a number
        by simulation. ``table(raters=[2, 3, 5])`` has other numbers of raters, ``plot()`` shows
        other numbers of items.

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

    A coefficient without a formula:

    >>> few = rb.design.Simulation(replicates=200, seed=1)
    >>> ac1 = rb.agreement.gwet_ac1
    >>> size = rb.design.items_needed(ac1, value=0.7, width=0.3, prevalence=0.2, method=few)
    >>> size
    StudySize(items=91, method='simulation', error=1.6)
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
    return StudySize.of(goal, method)


def power(
    what: What | CoefficientFunction,
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
    method: str | Simulation | None = None,
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
    return chosen(goal, method).power(goal, whole_number("items", items, least=3))


def width(
    what: What | CoefficientFunction,
    *,
    items: int,
    value: float,
    raters: int = 2,
    prob: float = 0.95,
    prevalence: Prevalence | None = None,
    bias: float = 0.0,
    agree: float = 0.95,
    method: str | Simulation | None = None,
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
    goal = Goal(
        what=what,
        value=value,
        raters=raters,
        prob=prob,
        prevalence=prevalence,
        bias=bias,
        agree=agree,
        width=ANY_WIDTH,
    )
    planned, number = chosen(goal, method), whole_number("items", items, least=3)
    if isinstance(planned, Simulation):
        return planned.width(goal, number)
    lower, upper = planned.limits(goal, number)
    return upper - lower


def limits(
    what: What | CoefficientFunction,
    *,
    items: int,
    value: float,
    raters: int = 2,
    prob: float = 0.95,
    tails: int = 2,
    prevalence: Prevalence | None = None,
    bias: float = 0.0,
    agree: float = 0.95,
    method: str | Simulation | None = None,
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
    return chosen(goal, method).limits(goal, whole_number("items", items, least=3))
