"""What a paper says of a result: a sentence, its references, and points of guidelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, Protocol, runtime_checkable

import pandas as pd

from reliabayes.reporting.checklists import checklist
from reliabayes.reporting.references import SOFTWARE, Reference, cited, reference
from reliabayes.wording import counted


class Counted(Protocol):
    """Ratings, in memory or in parts."""

    def __len__(self) -> int: ...

    @property
    def n_items(self) -> int:
        """Number of items."""

    @property
    def n_raters(self) -> int:
        """Number of raters."""

    @property
    def anonymous_raters(self) -> bool:
        """Whether it is unknown who rated."""

    @property
    def facets(self) -> Mapping[str, Any]:
        """Levels of further facets, by name."""


@dataclass(frozen=True)
class Size:
    """Size of a study.

    Attributes
    ----------
    items : int
        Number of items.
    raters, ratings : int or None
        Number of raters and of ratings; None if it is unknown.
    facets : tuple of pairs of str and int
        Further facets, such as occasions, with the numbers of their levels.
    """

    items: int
    raters: int | None = None
    ratings: int | None = None
    facets: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, ratings: Counted) -> Size:
        """Size of ratings, in memory or in parts."""
        raters = None if ratings.anonymous_raters else ratings.n_raters
        facets = tuple((name, len(levels)) for name, levels in ratings.facets.items())
        return cls(ratings.n_items, raters, len(ratings), facets)

    def text(self, items: str = "items", raters: str = "raters") -> str:
        """Say the size in words: 6 items, 4 raters, 24 ratings."""
        found = [f"{self.items:,} {items}"]
        found += [f"anonymous {raters}" if self.raters is None else f"{self.raters:,} {raters}"]
        found += [f"{number:,} levels of {name}" for name, number in self.facets]
        found += [] if self.ratings is None else [counted(self.ratings, "rating")]
        return ", ".join(found)


@dataclass(frozen=True)
class Meaning:
    """What a coefficient, quantity or test is, as a paper says it.

    Attributes
    ----------
    subject : str, default ""
        What it measures, with which the sentence begins; empty if its name says that.
    estimand : str, default ""
        What it is, after "is"; ``{items}`` and ``{raters}`` stand for what they are called.
    references : tuple of str, default ()
        Keys of its references.
    kind : {"icc", "kappa", "weighted kappa", "error", "specific agreement", ""}
        Which of the estimates that guidelines ask for it is.
    of_null : tuple of str, default ()
        Keys of references of its standard error if raters agree by chance only.
    """

    subject: str = ""
    estimand: str = ""
    references: tuple[str, ...] = ()
    kind: str = ""
    of_null: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clause:
    """A part of the sentence, with its references.

    Attributes
    ----------
    text : str
        The words; ``{items}`` and ``{raters}`` stand for what they are called.
    references : tuple of str, default ()
        Keys of references.
    rest : str, default ""
        Words after the references.
    """

    text: str
    references: tuple[str, ...] = ()
    rest: str = ""

    def __str__(self) -> str:
        citation = f" ({cited(self.references)})" if self.references else ""
        return f"{self.text}{citation}{self.rest}"


@dataclass(frozen=True, repr=False)
class MethodsSentence:
    """What a paper says of a result, as `methods` returns it.

    Attributes
    ----------
    statement : Clause
        The result with its interval.
    size : Size or None
        Size of the study, if it is known.
    clauses : tuple of Clause
        What was estimated, and how.
    kind : str
        As of `Meaning`.
    version : str
        Version of this package that computed the result; empty for the one in use.
    items, raters : str
        What items and raters are called, in the plural.
    """

    statement: Clause
    size: Size | None = None
    clauses: tuple[Clause, ...] = ()
    kind: str = ""
    version: str = ""
    items: str = "items"
    raters: str = "raters"

    @property
    def sentence(self) -> str:
        """The result, its interval, the design, the estimand and the software, in APA style."""
        size = () if self.size is None else (self.size.text(self.items, self.raters),)
        clauses = (*map(str, self.clauses), f"{self._software} ({cited([SOFTWARE])})")
        said = "; ".join([", ".join([str(self.statement), *size]), *clauses])
        return f"{self._named(said)}."

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Publications that the sentence cites, in its order; this package is the last."""
        keys = [key for clause in (self.statement, *self.clauses) for key in clause.references]
        return tuple(map(reference, dict.fromkeys([*keys, SOFTWARE])))

    def bibtex(self) -> str:
        """Entries of the references, for a ``.bib`` file.

        Returns
        -------
        str
        """
        return "\n\n".join(each.bibtex for each in self.references)

    def guideline(self, name: str = "GRRAS") -> pd.DataFrame:
        """Points of a guideline for reporting: which the ratings answer, and which the author must.

        Parameters
        ----------
        name : {"GRRAS", "COSMIN"}, default "GRRAS"
            Guidelines for Reporting Reliability and Agreement Studies, or the standards of the
            COSMIN risk of bias tool for studies of reliability and measurement error. Their points
            are paraphrased.

        Returns
        -------
        DataFrame
            Index point (its number), columns section, report (what to report), by ("ratings",
            "author" or "both") and answer (what the ratings say; empty if it is for the author).
            ``attrs["source"]`` is the reference.

        Raises
        ------
        ValueError
            There is no such guideline.

        References
        ----------
        GRRAS: Kottner et al. (2011), https://doi.org/10.1016/j.jclinepi.2010.03.002. COSMIN:
        Mokkink et al. (2020), https://doi.org/10.1186/s12874-020-01179-5

        Examples
        --------
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
        >>> points = rb.methods(rb.agreement.icc(ratings)).guideline("GRRAS")
        >>> points.loc[points["by"] != "author", "by"].to_dict()
        {6: 'both', 10: 'ratings', 11: 'ratings', 13: 'ratings'}
        >>> points.loc[11, "answer"]
        '6 items, 4 raters, 24 ratings'
        """
        analysis = "; ".join(str(each) for each in self.clauses)
        estimate = self._named(str(self.statement))
        answers = {
            "design": "" if self.size is None else self.size.text(self.items, self.raters),
            "analysis": self._named("; ".join(filter(None, (analysis, self._software)))),
            "estimate": estimate,
            self.kind or "other": estimate,
        }
        return checklist(name, answers)

    def __str__(self) -> str:
        return "\n\n".join([self.sentence, *map(str, self.references)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return "\n".join([f"{self.sentence}\n", *(f"- {each}" for each in self.references)])

    @property
    def _software(self) -> str:
        return f"computed with reliabayes {self.version or version(SOFTWARE)}"

    def _named(self, text: str) -> str:
        return text.replace("{items}", self.items).replace("{raters}", self.raters)


@runtime_checkable
class HasMethods(Protocol):
    """A result that knows what a paper says of it."""

    @property
    def methods(self) -> Callable[..., MethodsSentence]:
        """Returns its sentence; options are those of its interval."""


def methods(
    result: HasMethods | pd.DataFrame,
    *,
    items: str = "items",
    raters: str = "raters",
    **options: Any,
) -> MethodsSentence:
    """Say what a paper says of a result: one sentence in APA style, and its references.

    Parameters
    ----------
    result : Coefficient, Test, LimitsOfAgreement, MeasurementError, GStudyTable, AltTest, Fit, \
PointEstimate, Contrast or JudgeStudy
        A result; or the DataFrame of `Ratings.agreement`, `icc_table` or `pairwise`, of which its
        finding is said.
    items, raters : str, optional
        What items and raters are called, in the plural, such as "essays" and "teachers".
    **options : Any
        Of the interval: as for `Coefficient.interval`, of a fit ``prob`` (by default 0.9).

    Returns
    -------
    MethodsSentence
        ``sentence``, ``references``, ``bibtex()`` and ``guideline("GRRAS")``.

    Raises
    ------
    TypeError
        The result has no sentence.

    Examples
    --------
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    >>> said = rb.methods(rb.agreement.icc(ratings, "ICC(2,1)"), items="targets", raters="judges")
    >>> said.sentence.partition(";")[0]
    'Inter-rater reliability was ICC(2,1) = .29, 95% CI [.02, .76], 6 targets, 4 judges, 24 ratings'
    >>> [reference.cited for reference in said.references][:2]
    ['Shrout & Fleiss, 1979', 'McGraw & Wong, 1996']
    """
    if not isinstance(result, HasMethods):
        raise TypeError(
            "result must be a coefficient, a test, limits of agreement, a measurement error, a G "
            "study, a fit, a contrast or a table of ratings.agreement(), icc_table or pairwise; "
            f"found {type(result).__name__}. Of other tables, pass the coefficient itself."
        )
    return replace(result.methods(**options), items=items, raters=raters)
