"""What a planned study is to find out, if that makes sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtri

from reliabayes.agreement import Coefficient
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.results.settings import whole_number

What = Literal["kappa", "icc", "alpha", "limits"]
CoefficientFunction = Callable[[Ratings], Coefficient]
Prevalence = float | Sequence[float] | Sequence[Sequence[float]]

ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a study is planned for; `items_needed` describes each attribute.

    Raises
    ------
    ValueError
        An argument is out of range, or raters with these proportions cannot have such a kappa.
    """

    what: What | CoefficientFunction
    value: float
    raters: int = 2
    null: float | None = None
    width: float | None = None
    lower: float | None = None
    upper: float | None = None
    power: float = 0.8
    prob: float = 0.95
    tails: int = 2
    prevalence: Prevalence | None = None
    bias: float = 0.0
    agree: float = 0.95

    def __post_init__(self) -> None:
        if not (callable(self.what) or self.what in get_args(What)):
            known = ", ".join(get_args(What))
            raise ValueError(
                f"what must be one of {known}, or a function of ratings to a coefficient, not "
                f"{self.what!r}."
            )
        _within("prob", self.prob, 0, 1)
        _within("agree", self.agree, 0, 1)
        if self.tails not in (1, 2):
            raise ValueError(f"tails must be 1 or 2, not {self.tails!r}.")
        _within("power", self.power, self.error_rate, 1)
        whole_number("raters", self.raters, least=2)
        if self.what == "limits":
            _check_differences(self)
        else:
            _check_coefficient(self)

    @property
    def name(self) -> str:
        """What the study is about, in a word."""
        if isinstance(self.what, str):
            return self.what
        return getattr(self.what, "__name__", "coefficient")

    @property
    def has_categories(self) -> bool:
        """Whether ratings are categories; those of other coefficients are if there are shares."""
        return self.what == "kappa" or (callable(self.what) and self.prevalence is not None)

    @property
    def has_test(self) -> bool:
        """Whether something is to be rejected."""
        return self.null is not None or (self.what == "limits" and self.width is None)

    @property
    def middle(self) -> float:
        """What the interval is around."""
        return self.bias if self.what == "limits" else self.value

    @property
    def error_rate(self) -> float:
        """Probability of an error in one direction; a goal with one limit has only one."""
        has_one_limit = (self.lower is None) != (self.upper is None)
        is_one_sided = self.null is None and self.width is None and has_one_limit
        return (1 - self.prob) / (1 if is_one_sided else self.tails)

    @property
    def critical(self) -> float:
        """Quantile of the normal distribution beyond which the test rejects."""
        return float(ndtri(1 - self.error_rate))

    @property
    def distance(self) -> float:
        """Standard errors between the two values that give the power."""
        return self.critical + float(ndtri(self.power))

    @cached_property
    def shares(self) -> Array:
        """(2, K) proportions of the categories, by rater."""
        given = np.asarray(0.5 if self.prevalence is None else self.prevalence, np.float64)
        if given.ndim == 0:
            given = np.array([given, 1 - given])
        is_by_rater = given.shape == (2,) and abs(given.sum() - 1) > ROUNDING and self.raters == 2
        if is_by_rater:
            given = np.column_stack([given, 1 - given])
        shares = np.broadcast_to(given, (2, given.shape[-1])) if given.ndim < 3 else given
        is_right = shares.ndim == 2 and shares.shape[1] > 1 and ((shares > 0) & (shares < 1)).all()
        if not is_right or not np.allclose(shares.sum(1), 1):
            raise ValueError(
                "prevalence must be a proportion between 0 and 1, or those of all categories, "
                f"which sum to 1; found {self.prevalence!r}."
            )
        return shares


def possible_kappas(shares: Array) -> tuple[float, float]:
    """Return the smallest and largest kappa that two raters can have with their proportions.

    Parameters
    ----------
    shares : array of float, shape (2, K)
        Proportions of the categories, by rater.

    Returns
    -------
    tuple of float
        Both.
    """
    by_chance = float(shares[0] @ shares[1])
    # Agreement on a category is at most the smaller proportion, and at least what is left if all
    # other items of both are different ones.
    most = np.minimum(*shares).sum()
    least = np.maximum(0, shares.sum(0) - 1).sum()
    return (float(least) - by_chance) / (1 - by_chance), (float(most) - by_chance) / (1 - by_chance)


def _check_differences(goal: Goal) -> None:
    _within("value", goal.value, 0, np.inf)
    if goal.null is not None or goal.raters != 2:
        raise ValueError("limits are of two raters and have no null; pass width, or two bounds.")
    if goal.width is not None:
        _within("width", goal.width, 0, np.inf)
    elif goal.lower is None or goal.upper is None or not goal.lower < goal.upper:
        found = f"{goal.lower} and {goal.upper}"
        raise ValueError(f"lower must be below upper, both bounds; found {found}.")


def _check_coefficient(goal: Goal) -> None:
    value, null, lower, upper = goal.value, goal.null, goal.lower, goal.upper
    low, high = {"kappa": -1.0, "icc": -1 / (goal.raters - 1)}.get(goal.name, -np.inf), 1.0
    if goal.what == "kappa":
        low, high = possible_kappas(goal.shares)
    for name, each in (("value", value), ("null", null)):
        if each is not None and not (low < each < 1 and each <= high + ROUNDING):
            why = " of raters with these proportions" if goal.what == "kappa" else ""
            last = "below 1" if high >= 1 else f"at most {high:.4g}"
            raise ValueError(f"{name} must be above {low:.4g} and {last}{why}; found {each}.")
    if null is not None and null == value:
        raise ValueError(f"null must differ from value; both are {value}.")
    if goal.width is not None:
        most = 2 * min(value - low, 1 - value) if goal.what == "kappa" else np.inf
        _within("width", goal.width, 0, most)
    if lower is not None and not low < lower < value:
        raise ValueError(f"lower must be above {low:.4g} and below value, {value}; found {lower}.")
    if upper is not None and not value < upper < 1:
        raise ValueError(f"upper must be above value, {value}, and below 1; found {upper}.")


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        limit = "" if np.isinf(high) else f" and below {high:.4g}"
        raise ValueError(f"{name} must be above {low:.4g}{limit}; found {value}.")
