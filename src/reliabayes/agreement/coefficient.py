"""Coefficients of agreement: formulas of sums over items, with their sampling distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from reliabayes.agreement.interval import (
    Interval,
    bca_probabilities,
    central_probabilities,
    check_choice,
    check_interval_options,
)
from reliabayes.agreement.item_rows import Rows, align_items, join_columns, n_columns
from reliabayes.agreement.rater_pools import pool_by_rater, union_of_raters
from reliabayes.agreement.resampling import Formula
from reliabayes.agreement.sampling_distribution import SamplingDistribution
from reliabayes.arrays import Array
from reliabayes.choices import Method, Over
from reliabayes.ratings import Ratings

ONE_CATEGORY = "all ratings are the same, so that chance alone gives perfect agreement (0/0)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Coefficient:
    """A coefficient of agreement: a formula of statistics that are summed over items.

    All intervals follow from that: a sample of items only changes the weights of the sums.

    Attributes
    ----------
    name : str
        Name of the coefficient.
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
    total : callable, optional
        Function without arguments that returns the sum (S,) of the rows, if there is a cheaper way
        than to compute the rows.
    undefined : str
        Reason that the warning gives if the coefficient is nan.
    degrees_lost : int, default 1
        Degrees of freedom lost in the analytic standard error; 0 if the published formula divides
        by the number of items.
    """

    name: str
    items: pd.Index[Any]
    raters: pd.Series[Any] | None
    rows: Callable[[Array | None], Rows]
    formula: Formula
    parts: Mapping[str, Formula] = field(default_factory=dict)
    total: Callable[[], Array] | None = None
    undefined: str = ONE_CATEGORY
    degrees_lost: int = 1

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
            **others,
        )

    def __repr__(self) -> str:
        return f"{self.name}: {self.value:.4g}"

    def __float__(self) -> float:
        return self.value

    @cached_property
    def value(self) -> float:
        """The coefficient; nan, with a warning that gives the reason, if it is undefined."""
        total = self._sampling.distinct_rows.total if self.total is None else self.total()
        value = float(self.formula(total))
        if np.isnan(value):
            warnings.warn(f"{self.name} is undefined: {self.undefined}.", stacklevel=3)
        return value

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
        return replace(self, name=f"{self.name}, {name}", formula=self.parts[name], parts={})

    def interval(
        self,
        prob: float = 0.95,
        *,
        over: Over = "items",
        method: Method = "percentile",
        replicates: int = 2000,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> Interval:
        """Compute a confidence interval of the coefficient.

        Parameters
        ----------
        prob : float, default 0.95
            Nominal coverage, strictly between 0 and 1.
        over : {"items", "raters", "both"}, default "items"
            What is a sample from a larger population; raters are resampled within their pools.
        method : {"percentile", "bca", "jackknife", "analytic"}, default "percentile"
            Quantiles of the bootstrap; the same, corrected for bias and skewness; Student's t with
            the jackknife standard error; normal with the standard error of the delta method, of
            which the published formulas (Fleiss, Cohen & Everitt; Gwet) are special cases.
        replicates : int, default 2000
            Number of bootstrap samples; ignored by "jackknife" and "analytic".
        seed : int, default 0
            The same seed gives the same interval, for any ``n_jobs``.
        n_jobs : int, default 1
            Number of joblib workers. Worthwhile when resampling raters, as each of these samples
            costs a pass over the ratings.

        Returns
        -------
        Interval
            Samples in which the coefficient is undefined, such as samples with one category only,
            are excluded and counted. The jackknife and BCa give nan if the coefficient is
            undefined without some item or rater.

        Raises
        ------
        RatingsError
            Raters are to be resampled or left out, but they are anonymous or fewer than three, or
            a pool has a single rater.
        ValueError
            An option is out of range, or the method does not support ``over``.

        Notes
        -----
        Coverage of 95% intervals over items in 2000 simulated data sets of 100 items (Monte Carlo
        error 0.005): percentile 0.93 to 0.95; BCa and jackknife 0.94 to 0.95; for interval alpha
        and ICCs, whose distributions are skewed, 0.93, 0.935 and 0.95. With 200 items all were
        within 0.02 of 0.95. For `normalized_kappa_x` the bootstrap is biased upwards, with a
        coverage of 0.90 (BCa 0.88) for 100 items and 0.94 for 200: use "jackknife" or "analytic",
        which have 0.95.

        References
        ----------
        Efron (1987), BCa. https://doi.org/10.1080/01621459.1987.10478410
        """
        check_interval_options(prob, over, method)
        if method == "analytic":
            error = self._sampling.analytic_error(self.degrees_lost)
            return Interval.normal(self.value, error, prob, over)
        if method == "jackknife":
            influences = self._sampling.jackknife_influences(over)
            return Interval.student(self.value, influences, prob, over)
        values = self.bootstrap(over=over, replicates=replicates, seed=seed, n_jobs=n_jobs)
        probabilities = central_probabilities(prob)
        if method == "bca":
            influences = self._sampling.jackknife_influences(over)
            probabilities = bca_probabilities(probabilities, values, self.value, influences)
        return Interval.bootstrap(values, probabilities, prob, over, method)

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
        over : {"items", "raters", "both"}, default "items"
            As for `interval`.
        replicates, seed, n_jobs : int
            As for `interval`.

        Returns
        -------
        float
            The standard error.
        """
        check_choice("method", method, ("bootstrap", "jackknife", "analytic"))
        known: Method = "percentile" if method == "bootstrap" else method
        interval = self.interval(
            over=over, method=known, replicates=replicates, seed=seed, n_jobs=n_jobs
        )
        return interval.standard_error

    def bootstrap(
        self, *, over: Over = "items", replicates: int = 2000, seed: int = 0, n_jobs: int = 1
    ) -> Array:
        """Draw bootstrap replicates of the coefficient.

        Parameters
        ----------
        over : {"items", "raters", "both"}, default "items"
            As for `interval`.
        replicates, seed, n_jobs : int
            As for `interval`.

        Returns
        -------
        array of float, shape (replicates,)
            The coefficient of each sample; nan where it is undefined.
        """
        check_choice("over", over, get_args(Over))
        if replicates < 2:
            raise ValueError(f"replicates must be at least 2, not {replicates}.")
        return self._sampling.bootstrap(over, replicates, seed, n_jobs)

    def __sub__(self, other: Coefficient) -> Coefficient:
        """Difference of two coefficients, with items and raters paired by id."""
        return combined(f"{self.name} less {other.name}", np.subtract, self, other)

    @cached_property
    def _sampling(self) -> SamplingDistribution:
        return SamplingDistribution(self.raters, self.rows, self.formula)


def difference(one: Coefficient, other: Coefficient) -> Coefficient:
    r"""Difference of two coefficients, with items and raters paired by id.

    .. math:: \kappa_1 - \kappa_2

    Both coefficients are computed on the same samples of items, so that errors they share cancel:
    the interval is shorter than two separate intervals suggest. Items that only one of them has
    are resampled as well.

    Parameters
    ----------
    one, other : Coefficient
        Of the same ratings or of different ones, such as before and after a new guideline.

    Returns
    -------
    Coefficient
        The difference; also written ``one - other``.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 4], [4, 4]]))
    >>> nominal = rb.agreement.krippendorff_alpha(ratings, "nominal")
    >>> interval = rb.agreement.krippendorff_alpha(ratings, "interval")
    >>> round(float(rb.agreement.difference(interval, nominal)), 3)
    0.231
    """
    return one - other


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
    edges = np.cumsum([n_columns(c._sampling.distinct_rows.rows) for c in coefficients])[:-1]

    def own_rows(one: Coefficient, weights: Array | None) -> Rows:
        if weights is not None and raters is not None and one.raters is not None:
            weights = weights[raters.index.get_indexer(one.raters.index)]
        return align_items(one.rows(weights), one.items, items)

    def rows(weights: Array | None) -> Rows:
        return join_columns([own_rows(c, weights) for c in coefficients])

    def formula(sums: Array) -> Array:
        blocks = np.split(sums, edges, axis=-1)
        values = (c.formula(block) for c, block in zip(coefficients, blocks, strict=True))
        return function(*values)

    return Coefficient(name=name, items=items, raters=raters, rows=rows, formula=formula, **others)
