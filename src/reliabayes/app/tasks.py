"""What the app computes for each tab; each function runs in the process of a session."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from reliabayes.html_report.blocks import Heading
from reliabayes.html_report.fits import Options, ReportFit, report_fits
from reliabayes.html_report.fragment import blocks_fragment
from reliabayes.html_report.page import report
from reliabayes.html_report.sections.data import coefficients

if TYPE_CHECKING:
    from reliabayes.models import RatingModel
    from reliabayes.ratings import Ratings
    from reliabayes.results.fit import Fit

SEED = 1  # the same table gives the same answer
BUDGET = 5_000_000  # bytes of each table of a report
# What of a fit does not depend on the target reliability.
KEPT = ("checks", "items", "problems", "for_items", "for_raters")


@dataclass(frozen=True, eq=False)
class Answered:
    """A fit with what its answer needs.

    Attributes
    ----------
    report_fit : ReportFit
        The fit, with predictive checks and the table of items.
    """

    report_fit: ReportFit

    @property
    def fit(self) -> Fit:
        """The fit with all draws."""
        return self.report_fit.fit

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.report_fit.name

    def aiming_at(self, reliability: float) -> ReportFit:
        """The fit with another target reliability, on which checks and items do not depend.

        Parameters
        ----------
        reliability : float
            The target, strictly between 0 and 1.

        Returns
        -------
        ReportFit
        """
        options = replace(self.report_fit.options, reliability=reliability)
        found = replace(self.report_fit, options=options)
        kept = {name: value for name, value in vars(self.report_fit).items() if name in KEPT}
        vars(found).update(kept)
        return found


def fitted(model: RatingModel[Any], ratings: Ratings, prob: float = 0.9) -> Answered:
    """Fit a model, and compute what takes long of its answer.

    Parameters
    ----------
    model : RatingModel
        The model.
    ratings : Ratings
        The ratings.
    prob : float, default 0.9
        Probability of intervals.

    Returns
    -------
    Answered
    """
    fit = model.fit(ratings, seed=SEED)
    [found] = report_fits({type(model).__name__: fit}, Options(prob, 0.8, BUDGET))
    found.answer, found.problems  # noqa: B018  # are kept with the fit
    vars(found).pop("answer")
    return Answered(found)


def agreement(ratings: Ratings, guideline: str | None, prob: float = 0.9) -> str:
    """Classical coefficients with their intervals, as HTML.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    guideline : str or None
        Whose words to add; by default those that suit the scale.
    prob : float, default 0.9
        Probability of intervals.

    Returns
    -------
    str
    """
    finding, blocks = coefficients(ratings, prob, guideline)
    return blocks_fragment([*([Heading(finding, "finding")] if finding else []), *blocks])


def page(ratings: Ratings, fits: dict[str, Fit], code: str, reliability: float) -> bytes:
    """The HTML page of a report.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    fits : dict of str to Fit
        Fits by name.
    code : str
        Python that repeats the analysis.
    reliability : float
        Target reliability of means of ratings.

    Returns
    -------
    bytes
    """
    with TemporaryDirectory(prefix="reliabayes-app-") as folder:
        path = Path(folder, "report.html")
        report(ratings, fits, os.fspath(path), command=code, reliability=reliability)
        return path.read_bytes()
