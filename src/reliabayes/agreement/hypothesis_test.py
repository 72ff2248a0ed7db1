"""The result of a test of a hypothesis, and its p value by the distribution of the statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from scipy.special import chdtrc, ndtr, stdtr

from reliabayes.choices import Alternative, Reference
from reliabayes.reporting.methods import Clause, Meaning, MethodsSentence, Size
from reliabayes.reporting.numbers import number, p_value

APA_SYMBOLS = {"t": "t", "normal": "z", "chi-squared": "χ²"}
A_TEST = Meaning("A test")
SYMBOLS = {"t": "t", "normal": "z", "chi-squared": "chi-squared", "binomial": "count"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Test:
    """Test of a hypothesis.

    Attributes
    ----------
    statistic : float
        The test statistic.
    distribution : {"t", "normal", "chi-squared", "binomial"}
        Its distribution under the hypothesis.
    df : float or None
        Degrees of freedom; for "binomial" the number of trials, with probability 1/2; None for
        "normal".
    p : float
        Probability, under the hypothesis, of a statistic at least as far from it.
    estimate : float, optional
        What was tested, such as the coefficient.
    meaning : Meaning
        The test, its hypothesis as its ``estimand``, and its references.
    size : Size, optional
        Numbers of items, raters and ratings.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_table(np.array([[20, 5], [10, 15]]))
    >>> rb.agreement.cohen_kappa(ratings).test(error="null")
    Test(z = 2.887, p = 0.003892)
    """

    __test__: ClassVar[bool] = False  # is none of pytest

    statistic: float
    distribution: Reference
    df: float | None
    p: float
    estimate: float | None = None
    meaning: Meaning = A_TEST
    size: Size | None = None

    def __repr__(self) -> str:
        df = "" if self.df is None else f", df {self.df:.4g}"
        return f"Test({SYMBOLS[self.distribution]} = {self.statistic:.4g}{df}, p = {self.p:.4g})"

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the test; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its references.
        """
        about = f" of the hypothesis {self.meaning.estimand}" if self.meaning.estimand else ""
        found = f"{about} gave {self._statistic}, {p_value(self.p)}"
        if math.isnan(self.p):
            found = f"{about} was undefined"
        statement = Clause(self.meaning.subject, self.meaning.references, found)
        return MethodsSentence(statement, self.size)

    @property
    def _statistic(self) -> str:
        """The statistic in APA style: t(49) = 3.15."""
        if self.distribution == "binomial":
            return f"a count of {self.statistic:.0f} of {self.df:.0f}"
        of = "" if self.df is None else f"{self.df:.4g}"
        if self.distribution == "chi-squared" and self.size is not None:
            of += f", N = {self.size.items}"
        symbol = APA_SYMBOLS[self.distribution] + (f"({of})" if of else "")
        return f"{symbol} = {number(self.statistic)}"

    @classmethod
    def of_t(
        cls,
        statistic: float,
        df: float,
        alternative: Alternative,
        *,
        estimate: float | None = None,
    ) -> Test:
        """Test by Student's t."""
        p = _tail(float(stdtr(df, statistic)), float(stdtr(df, -statistic)), alternative)
        return cls(statistic=statistic, distribution="t", df=df, p=p, estimate=estimate)

    @classmethod
    def of_z(
        cls, statistic: float, alternative: Alternative, *, estimate: float | None = None
    ) -> Test:
        """Test by the normal distribution."""
        p = _tail(float(ndtr(statistic)), float(ndtr(-statistic)), alternative)
        return cls(statistic=statistic, distribution="normal", df=None, p=p, estimate=estimate)

    @classmethod
    def of_chi_squared(cls, statistic: float, df: float, *, estimate: float | None = None) -> Test:
        """Test by chi-squared; without degrees of freedom there is nothing to reject."""
        p = float(chdtrc(df, statistic)) if df > 0 else 1.0
        return cls(statistic=statistic, distribution="chi-squared", df=df, p=p, estimate=estimate)


def _tail(below: float, above: float, alternative: Alternative) -> float:
    return {"less": below, "greater": above, "two-sided": 2 * min(below, above)}[alternative]
