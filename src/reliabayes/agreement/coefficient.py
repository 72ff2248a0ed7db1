"""Coefficients of agreement: formulas of sums over items, with their sampling distribution."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from reliabayes.agreement.count_table import items_with_pairs
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.hypothesis_test import Test
from reliabayes.agreement.interval import (
    Interval,
    NormalModel,
    check_choice,
    check_interval_options,
)
from reliabayes.agreement.interval_methods import Intervals
from reliabayes.agreement.item_rows import Rows, n_columns
from reliabayes.agreement.item_statistics import (
    ItemStatistics,
    PartedStatistics,
    StatisticsInMemory,
    joined_parts,
)
from reliabayes.agreement.joined_sums import joined
from reliabayes.agreement.rater_pools import pool_by_rater, union_of_raters
from reliabayes.agreement.sampling_distribution import SamplingDistribution
from reliabayes.arrays import Array
from reliabayes.choices import Alternative, Method, NullError, Over
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Clause, Meaning, MethodsSentence, Size
from reliabayes.reporting.numbers import estimate, number

Bounds = tuple[float | None, float | None]
UNNAMED = Meaning()
ONE_CATEGORY = "all ratings are the same, so that chance alone gives perfect agreement (0/0)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Coefficient:
    """A coefficient of agreement: a formula of statistics that are summed over items.

    Attributes
    ----------
    name : str
        Its name.
    items : Index, shape (I,)
        Ids of the items, in the order of the rows.
    raters : Series, shape (R,), or None
        Pool of each rater, by rater id, all the same if there are no pools; None if raters are
        anonymous.
    rows : callable
        Function from an array (R,) or None to an array or sparse array (I, S): the statistics of
        each item, given how often each rater occurs (None: once each). Two ratings form a pair as
        often as the product of their raters' counts, but no rating is paired with itself, however
        often its rater occurs.
    formula : callable
        Function from an array (..., S) to an array (...): the coefficient, given sums of rows; nan
        where it is undefined.
    parts : mapping from str to callable
        Formulas of the components of the coefficient, such as observed and expected agreement.
    bounds_of_parts : mapping from str to tuple
        Their smallest and largest possible value, or None; by default ``limit`` is the largest.
    total : callable, optional
        Function without arguments that returns the sum (S,) of the rows, if there is a cheaper way
        than to compute the rows.
    undefined : str
        Reason that the warning gives if the coefficient is nan.
    degrees_lost : int, default 1
        Degrees of freedom lost in the analytic standard error; 0 if the published formula divides
        by the number of items.
    limit, least : float or None
        Largest (default 1) and smallest possible value, if known, which intervals do not exceed.
    model : NormalModel, optional
        Interval under a model of normal effects, which is then the default.
    null_error : callable, optional
        Published standard error if raters agree by chance only, given the sums (S,).
    chance_test : callable, optional
        Published test that raters agree by chance only, given the value; it is then the only test.
    z_error : callable, optional
        Published standard error of Fisher's z of the coefficient, given the sums (S,).
    n_paired : int, optional
        Number of items with ratings by at least two raters; by default that of all items.
    over_parts : StatisticsOfParts, optional
        The statistics, if the items are those of a `RatingsDataset`; ``rows`` are then unavailable.
    meaning : Meaning
        What it measures, and its references.
    size : Size, optional
        Numbers of items, raters and ratings.
    """

    name: str
    items: pd.Index[Any]
    raters: pd.Series[Any] | None
    rows: Callable[[Array | None], Rows]
    formula: Formula
    parts: Mapping[str, Formula] = field(default_factory=dict)
    bounds_of_parts: Mapping[str, Bounds] = field(default_factory=dict)
    total: Callable[[], Array] | None = None
    undefined: str = ONE_CATEGORY
    degrees_lost: int = 1
    limit: float | None = 1.0
    least: float | None = None
    model: NormalModel | None = None
    null_error: Callable[[Array], float] | None = None
    chance_test: Callable[[float], Test] | None = None
    z_error: Callable[[Array], float] | None = None
    n_paired: int | None = None
    over_parts: PartedStatistics | None = None
    meaning: Meaning = UNNAMED
    size: Size | None = None

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        name: str,
        rows: Callable[[Array | None], Rows],
        formula: Formula,
        **others: Any,
    ) -> Coefficient:
        """Coefficient of some ratings: the items and the raters are theirs."""
        return cls(
            name=name,
            items=ratings.items,
            raters=pool_by_rater(ratings),
            rows=rows,
            formula=formula,
            n_paired=items_with_pairs(ratings),
            size=Size.of(ratings),
            **others,
        )

    def __repr__(self) -> str:
        return f"{self.name}: {self.value:.4g}"

    def __float__(self) -> float:
        return self.value

    @cached_property
    def value(self) -> float:
        """The coefficient; nan, with a warning that gives the reason, if it is undefined."""
        value = float(self.formula(self._sums))
        if np.isnan(value):
            warnings.warn(f"{self.name} is undefined: {self.undefined}.", stacklevel=3)
        return value

    @cached_property
    def _sums(self) -> Array:
        return self._statistics.total if self.total is None else self.total()

    def part(self, name: str) -> Coefficient:
        """Return one of ``parts`` as a coefficient with intervals of its own.

        Parameters
        ----------
        name : str
            A key of ``parts``.

        Returns
        -------
        Coefficient
            The part.

        Raises
        ------
        ValueError
            There is no such part.
        """
        if name not in self.parts:
            known = ", ".join(map(repr, self.parts)) or "none"
            raise ValueError(f"name must be one of the parts ({known}), not {name!r}.")
        least, limit = self.bounds_of_parts.get(name, (None, self.limit))
        return replace(
            self,
            name=f"{self.name}, {name}",
            formula=self.parts[name],
            parts={},
            limit=limit,
            least=least,
            model=None,
            null_error=None,
            chance_test=None,
            z_error=None,
            meaning=Meaning(references=self.meaning.references),
        )

    def methods(self, prob: float = 0.95, **options: Any) -> MethodsSentence:
        """Say what a paper says of the coefficient; see `reliabayes.methods`.

        Parameters
        ----------
        prob : float, default 0.95
            Nominal coverage of the interval, strictly between 0 and 1.
        **options : Any
            Further options of `interval`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its references.
        """
        return self.methods_with(self.interval(prob, **options))

    def methods_with(self, interval: Interval | None) -> MethodsSentence:
        """Say the same, with an interval that is known already; None if there is none."""
        meaning, name = self.meaning, self.name
        value = number(self.value, bounded=self.limit == 1)
        clauses = []
        if interval is not None:
            limits, level = (interval.lower, interval.upper), f"{100 * interval.prob:g}% CI"
            value = estimate(self.value, *limits, level, bounded=self.limit == 1)
            anonymous, bounded = self.raters is None, self.limit is not None
            clauses.append(interval.clause(anonymous=anonymous, bounded=bounded))
        if meaning.estimand:
            of = name if meaning.subject else "it"
            clauses.insert(0, Clause(f"{of} is {meaning.estimand}", meaning.references))
        said = f"{'' if ', ' not in name else ','} was {value}"
        if math.isnan(self.value):
            said, clauses = f" was undefined, because {self.undefined}", clauses[:1]
        elif meaning.subject:
            name, said = f"{meaning.subject} was {name}", f" = {value}"
        references = () if meaning.estimand else meaning.references
        statement = Clause(name, references, said)
        return MethodsSentence(statement, self.size, tuple(clauses), meaning.kind)

    def interval(
        self,
        prob: float = 0.95,
        *,
        over: Over | None = None,
        method: Method | Literal["lin"] | None = None,
        distribution: Literal["t", "normal"] | None = None,
        replicates: int = 2000,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> Interval:
        """Compute a confidence interval of the coefficient.

        Parameters
        ----------
        prob : float, default 0.95
            Nominal coverage, strictly between 0 and 1.
        over : {"items", "raters", "both"}, optional
            What is a sample from a larger population; raters are sampled within their pools. By
            default what the model of an ICC says; for other coefficients "both", or "items" if
            raters are anonymous, fewer than three or cannot be left out one by one, if all ratings
            of each item agree, or if a method other than "log" is named.
        method : {"model", "log", "percentile", "bca", "jackknife", "analytic", "lin"}, optional
            By default "model" for ICCs and "log" for all others.

            - "model": for ICCs, from normal effects. F intervals of Shrout & Fleiss in balanced
              designs, for ICC(2, .) widened to that of the likelihood-ratio test; in others
              Wald's exact interval, and for ICC(2, .) that of the likelihood-ratio test.
            - "log": Student's t on the scale of log(1 - coefficient), which keeps the limits below
              1. The standard error is that of the delta method over items, and of leaving out
              raters (30 groups of raters if there are more). Coefficients that may exceed 1, such
              as differences, have it on their own scale.
            - "percentile": quantiles of the bootstrap.
            - "bca": the same, corrected for bias and skewness.
            - "jackknife": Student's t with the jackknife standard error.
            - "analytic": Student's t with the standard error of the delta method over items, of
              which the published formulas (Fleiss, Cohen & Everitt; Gwet) are special cases.
            - "lin": for `concordance` of two raters, the normal distribution on the scale of
              Fisher's z, with Lin's error for normal ratings.
        distribution : {"t", "normal"}, default "t"
            Of method "analytic": Student's t with a degree of freedom less than there are items, or
            the normal distribution, as psych, vcd and statsmodels have it.
        replicates : int, default 2000
            Number of bootstrap samples.
        seed : int, default 0
            The same seed gives the same interval, for any ``n_jobs``.
        n_jobs : int, default 1
            Number of joblib workers, worthwhile for a bootstrap over raters.

        Returns
        -------
        Interval
            It ends where the coefficient can go no further, as at 1. Samples in which that is
            undefined are excluded and counted; the jackknife and BCa then give nan. If all ratings
            of each of n items agree, the interval ends at (1 - prob)^(1/n), about 1 - 3/n for 95%:
            chance ratings of a proportion 3/n of items would go unnoticed that often (rule of
            three). The page "Coverage of intervals" shows what intervals cover.

        Raises
        ------
        RatingsError
            Raters are to be resampled or left out, but they are anonymous or fewer than three, or
            a pool has a single rater.
        ValueError
            An option is out of range, or the method does not support ``over``.

        References
        ----------
        BCa: Efron (1987), https://doi.org/10.1080/01621459.1987.10478410. "model": McGraw & Wong
        (1996), https://doi.org/10.1037/1082-989X.1.1.30. Rule of three: Hanley & Lippman-Hand
        (1983), https://doi.org/10.1001/jama.1983.03330370053031
        """
        options = {"replicates": replicates, "seed": seed, "n_jobs": n_jobs}
        return self._intervals.interval(prob, over, method, options, distribution)

    def test(
        self,
        null: float = 0.0,
        *,
        alternative: Alternative = "two-sided",
        error: NullError = "analytic",
    ) -> Test:
        """Test the hypothesis that the coefficient has a certain value in all items.

        A small p value excludes that value; it does not say that agreement is good. The interval
        does. Kendall's W has only its chi-squared test of agreement by chance, without arguments.

        Parameters
        ----------
        null : float, default 0
            The value, below the largest that the coefficient can have.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            Whether only larger, or only smaller, values count as departures.
        error : {"analytic", "null"}, default "analytic"
            "analytic" divides by the standard error of the delta method over items, as
            ``interval(method="analytic")``, with Student's t. "null" divides by the published error
            of raters who agree by chance only, with the normal distribution; it exists for Cohen's
            kappa, weighted or not, and for Fleiss' kappa and Scott's pi without weights, and
            supposes that raters are fixed and items are a sample.

        Returns
        -------
        Test
            Statistic, distribution, degrees of freedom and p. Nan, with a warning, where the
            standard error is 0 or the coefficient is undefined.

        Raises
        ------
        RatingsError
            The published error supposes another design.
        ValueError
            ``null`` is out of range, or there is no published error.

        See Also
        --------
        icc_table : The F tests of intraclass correlations against any value.

        References
        ----------
        "null": Fleiss, Cohen & Everitt (1969), https://doi.org/10.1037/h0028106; Fleiss, Nee &
        Landis (1979), https://doi.org/10.1037/0033-2909.86.5.974

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> kappa = rb.agreement.cohen_kappa(rb.Ratings.from_table(np.array([[20, 5], [10, 15]])))
        >>> kappa.test()
        Test(t = 3.15, df 49, p = 0.002784)
        >>> kappa.test(0.2, alternative="greater")
        Test(t = 1.575, df 49, p = 0.06086)
        """
        if self.chance_test is None:
            found = self._intervals.test(null, alternative, error, self._null_error)
            hypothesis = f"that {self.name} is {null:g}"
            if alternative != "two-sided":
                hypothesis += f", against {alternative} values"
            own = self.meaning
            references = (*own.references, *(own.of_null if error == "null" else ()))
            meaning = Meaning("A test", hypothesis, references)
            return replace(found, meaning=meaning, size=self.size)
        if (null, alternative, error) != (0.0, "two-sided", "analytic"):
            raise ValueError(
                f"{self.name} has a test of agreement by chance only, without arguments. Use the "
                "interval for other values."
            )
        meaning = Meaning("A test", "that raters agree by chance", self.meaning.references)
        return replace(self.chance_test(self.value), meaning=meaning, size=self.size)

    def _z_error(self) -> float | None:
        return None if self.z_error is None else self.z_error(self._sums)

    def _null_error(self) -> float | None:
        return None if self.null_error is None else self.null_error(self._sums)

    def standard_error(
        self,
        *,
        over: Over = "items",
        method: Literal["bootstrap", "jackknife", "analytic"] = "bootstrap",
        replicates: int = 2000,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> float:
        """Compute the standard error of the coefficient.

        Parameters
        ----------
        method : {"bootstrap", "jackknife", "analytic"}, default "bootstrap"
            Standard deviation of the bootstrap replicates, the jackknife or the delta method.
        over, replicates, seed, n_jobs : str and int
            As for `interval`, but over items by default.

        Returns
        -------
        float
            The standard error.
        """
        check_choice("method", method, ("bootstrap", "jackknife", "analytic"))
        known: Method = "percentile" if method == "bootstrap" else method
        check_interval_options(0.95, over, known)
        options = {"replicates": replicates, "seed": seed, "n_jobs": n_jobs}
        return self._intervals.by_method(0.95, over, known, options).standard_error

    def bootstrap(
        self, *, over: Over = "items", replicates: int = 2000, seed: int = 0, n_jobs: int = 1
    ) -> Array:
        """Draw bootstrap replicates of the coefficient.

        Parameters
        ----------
        over, replicates, seed, n_jobs : str and int
            As for `interval`, but over items by default.

        Returns
        -------
        array of float, shape (replicates,)
            The coefficient of each sample; nan where it is undefined.
        """
        check_choice("over", over, get_args(Over))
        return self._sampling.bootstrap(over, replicates, seed, n_jobs)

    def __sub__(self, other: Coefficient) -> Coefficient:
        """Difference of two coefficients, with items and raters paired by id."""
        return combined(f"{self.name} less {other.name}", np.subtract, self, other)

    @cached_property
    def _statistics(self) -> ItemStatistics:
        return StatisticsInMemory(self.rows) if self.over_parts is None else self.over_parts

    @cached_property
    def _sampling(self) -> SamplingDistribution:
        return SamplingDistribution(self.raters, self._statistics, self.formula)

    @property
    def width(self) -> int:
        """Number S of statistics of an item."""
        return n_columns(self.rows(None)) if self.over_parts is None else self.over_parts.width

    def _n_paired(self) -> int:
        found = self.n_paired if self.over_parts is None else self.over_parts.n_paired
        return len(self.items) if found is None else found

    @cached_property
    def _intervals(self) -> Intervals:
        return Intervals(
            name=self.name,
            value=self.value,
            sampling=self._sampling,
            degrees_lost=self.degrees_lost,
            limit=self.limit,
            least=self.least,
            model=self.model,
            z_error=self._z_error,
            n_paired=self._n_paired,
        )


def combined(
    name: str, function: Callable[..., Array], *coefficients: Coefficient, **others: Any
) -> Coefficient:
    """Build a coefficient that is a function of others, with items and raters matched by id.

    Parameters
    ----------
    name : str
        Name of the new coefficient.
    function : callable
        Takes the value (...) of each coefficient and returns an array (...).
    *coefficients : Coefficient
        Its arguments.
    **others : Any
        Further attributes of `Coefficient`.

    Returns
    -------
    Coefficient
        The combination, of all items and raters.
    """
    items = reduce(lambda some, more: some.union(more, sort=False), [c.items for c in coefficients])
    raters = union_of_raters([c.raters for c in coefficients])
    rows, formula = joined(function, coefficients, items, raters)
    references = dict.fromkeys(key for each in coefficients for key in each.meaning.references)
    return Coefficient(
        name=name,
        items=items,
        raters=raters,
        rows=rows,
        formula=formula,
        over_parts=joined_parts([c.over_parts for c in coefficients]),
        size=Size(len(items), None if raters is None else len(raters)),
        **{"limit": None, "meaning": Meaning(references=tuple(references)), **others},
    )
