"""Generalizability studies: variance components of several facets, and decisions from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import Array
from reliabayes.facets import (
    COEFFICIENTS,
    Decision,
    Effects,
    MeasurementDesign,
    as_names,
    numbers_of_levels,
)
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.estimation import anova, reml
from reliabayes.facets.normal_effects import NormalEffects
from reliabayes.finding_table import FindingTable
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Clause, MethodsSentence, Size
from reliabayes.reporting.numbers import number

Estimator = Literal["anova", "reml"]
ESTIMATORS: Mapping[Estimator, str] = {
    "anova": "analysis of variance",
    "reml": "restricted maximum likelihood",
}


def g_study(
    ratings: Ratings,
    design: str = "item x rater",
    *,
    drop: Collection[str] = (),
    fixed: Collection[str] = (),
    method: Estimator = "anova",
) -> GStudyTable:
    """Variance components of the facets of a design, and the reliability that follows from them.

    Parameters
    ----------
    ratings : Ratings
        Numeric, of any design, balanced or not. Facets of the design other than item and rater
        are columns that were named in ``facets=[...]`` when the table was read.
    design : str, default "item x rater"
        Facets with "x" between those that are crossed and ":" after one that is nested, the object
        of measurement first: "item x rater x occasion", "item x (rater:occasion)". Ratings that
        agree in all of them are replicates.
    drop : collection of str, default ()
        Names of sources to leave out; the residual has their variance.
    fixed : collection of str, default ()
        Facets that have the same levels in every measurement, so that their interactions with the
        object of measurement are no error.
    method : {"anova", "reml"}, default "anova"
        Analysis of variance: expected mean squares in balanced designs, Henderson's method I in
        others; it takes seconds for a million ratings. Or restricted maximum likelihood, which is
        more precise in unbalanced designs and has no negative estimates.

    Returns
    -------
    GStudyTable
        Components, coefficients of single ratings, and decision studies.

    Raises
    ------
    RatingsError
        The ratings are no numbers, a facet is unknown or has one level, two sources cannot be told
        apart, or REML would take too much memory.
    ValueError
        The text is no design, an argument names what is not there, or the object is dropped.

    Notes
    -----
    Estimates of an analysis of variance may be negative. They are kept in the table, and count as 0
    in proportions and coefficients, as in Brennan (2001).

    References
    ----------
    Brennan (2001), Generalizability Theory. https://doi.org/10.1007/978-1-4757-3456-0

    Examples
    --------
    >>> import pandas as pd
    >>> import reliabayes as rb
    >>> frame = pd.DataFrame(
    ...     {
    ...         "item": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
    ...         "rater": ["A", "A", "B", "B"] * 3,
    ...         "day": [1, 2] * 6,
    ...         "rating": [3, 4, 4, 4, 6, 5, 8, 7, 9, 9, 9, 10],
    ...     }
    ... )
    >>> scores = rb.Ratings.from_frame(frame, facets=["day"], scale="numeric")
    >>> study = rb.agreement.g_study(scores, "item x rater x day")
    >>> study.components["variance"].round(2).head(3).to_list()
    [7.25, 0.42, -0.08]
    >>> study.d_study({"rater": [1, 2]})["phi"].round(2).to_list()
    [0.86, 0.91]
    """
    if method not in get_args(Estimator):
        known = ", ".join(get_args(Estimator))
        raise ValueError(f"method must be one of {known}; found {method!r}.")
    parsed = MeasurementDesign.parse(design)
    effects = Effects.of(ratings, parsed, drop)
    measured = parsed.name(parsed.measured)
    if measured not in effects.names:
        raise ValueError(f"drop must leave the object of measurement, {measured!r}.")
    sums = EffectSums.of(effects, ratings.values)
    # Threads that wait for each other on a busy machine take ten times as long as one.
    with threadpool_limits(limits=1, user_api="blas"):
        variance = anova(sums) if method == "anova" else reml(NormalEffects(sums))
    found = GStudyTable(
        _components(ratings, effects, variance),
        effects,
        frozenset(as_names(fixed)),
        method,
        Size.of(ratings),
    )
    found.d_study({})  # checks the names of fixed facets
    return found


@dataclass(frozen=True, eq=False, repr=False)
class GStudyTable:
    """Variance components of a generalizability study, and what follows for decisions.

    The properties are of single ratings, with one level of each facet.

    Attributes
    ----------
    components : DataFrame
        A row for each source; columns levels, df (missing if the design is not balanced and
        complete), variance (negative estimates as they are), proportion, sd.
    effects : Effects
        The sources and their levels.
    fixed : frozenset of str
        Facets that have the same levels in every measurement.
    method : {"anova", "reml"}
        How the components were estimated.
    size : Size
        Numbers of items, raters, ratings and levels of other facets.
    """

    components: pd.DataFrame
    effects: Effects
    fixed: frozenset[str]
    method: Estimator
    size: Size

    @property
    def g(self) -> float:
        """Generalizability coefficient, of relative decisions, in [0, 1]."""
        return self._single("g")

    @property
    def phi(self) -> float:
        """Index of dependability, of absolute decisions, in [0, 1]."""
        return self._single("phi")

    @property
    def sem_relative(self) -> float:
        """Standard error of measurement of relative decisions, in units of the rating."""
        return self._single("sem_relative")

    @property
    def sem_absolute(self) -> float:
        """Standard error of measurement of absolute decisions, in units of the rating."""
        return self._single("sem_absolute")

    @property
    def mdc(self) -> float:
        """Minimal detectable change: what error alone exceeds in 5% of pairs of ratings."""
        return self._single("mdc")

    def d_study(
        self,
        levels: Mapping[str, int | Sequence[int]],
        fixed: Collection[str] | None = None,
    ) -> pd.DataFrame:
        """Reliability of means over several levels of each facet.

        Parameters
        ----------
        levels : mapping of str to int or sequence of int
            Numbers of levels of facets, within each level of those in which they are nested; 1 of
            facets that it does not name. "replicate" is the number of ratings that agree in all.
        fixed : collection of str, optional
            As for `g_study`, whose choice is the default.

        Returns
        -------
        DataFrame
            A row for each combination; columns the facets named, g, phi, sem_relative,
            sem_absolute and mdc. Coefficients are nan if nothing varies.

        Raises
        ------
        ValueError
            A facet is unknown or the object of measurement, or a number is not whole or above 0.
        """
        chosen = self.fixed if fixed is None else frozenset(as_names(fixed))
        numbers = [each.tolist() for each in numbers_of_levels(levels).values()]
        table = pd.DataFrame(list(product(*numbers)), columns=list(levels))
        decision = Decision(
            self.effects.design,
            self.effects.sources,
            np.maximum(self.components["variance"].to_numpy(), 0),
            {name: table[name].to_numpy() for name in levels},
            chosen,
        )
        found = {name: getattr(decision, name) for name in COEFFICIENTS}
        return table.assign(**{name: each * np.ones(len(table)) for name, each in found.items()})

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the study; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its references; there are no intervals, which `GStudy`
            has.
        """
        statement = (
            f"Single ratings had an index of dependability of {number(self.phi, bounded=True)}, a "
            f"generalizability coefficient of {number(self.g, bounded=True)}, and a standard error "
            f"of measurement of {number(self.sem_absolute)}"
        )
        clause = f"variance components of the design {self.effects.design.text} are by "
        clause += ESTIMATORS[self.method]
        clauses = (Clause(clause, ("brennan2001",)),)
        return MethodsSentence(Clause(statement), self.size, clauses, "icc")

    def __repr__(self) -> str:
        return f"{self._finding}\n{self.components.round(4).to_string()}"

    def _repr_html_(self) -> str:
        return FindingTable.of(self.components, self._finding)._repr_html_()

    @property
    def _finding(self) -> str:
        """The design and the coefficients, in a sentence."""
        coefficients = f"G {self.g:.2f}, Phi {self.phi:.2f}"
        return f"{self.effects.design.text} by {self.method}, single ratings: {coefficients}"

    def _single(self, name: str) -> float:
        return float(self.d_study({})[name].iloc[0])


def _components(ratings: Ratings, effects: Effects, variance: Array) -> pd.DataFrame:
    """The table of the sources."""
    counted = np.maximum(variance, 0)
    table = pd.DataFrame(index=pd.Index(effects.names, name="source"))
    table["levels"] = [*effects.sizes, len(ratings)]
    table["df"] = pd.array(_degrees_of_freedom(ratings, effects), "Int64")
    table["variance"] = variance
    table["proportion"] = counted / counted.sum() if counted.any() else np.nan
    table["sd"] = np.sqrt(counted)
    return table


def _degrees_of_freedom(ratings: Ratings, effects: Effects) -> list[Any]:
    """Degrees of freedom of each source; NA unless each set of levels has a space of its own."""
    kept = [source.facets for source in effects.sources[:-1]]
    meets = {one & other for one, other in combinations(kept, 2)}
    if not (effects.is_balanced and meets <= {frozenset(), *kept}):
        return [pd.NA] * len(effects.sources)
    df: dict[frozenset[str], int] = {}
    for facets, size in zip(kept, effects.sizes, strict=True):  # those of fewer facets come first
        df[facets] = size - 1 - sum(df[part] for part in df if part < facets)
    return [*df.values(), len(ratings) - 1 - sum(df.values())]
