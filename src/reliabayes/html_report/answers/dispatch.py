"""The answer of a fit, chosen by the quantities that its model reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reliabayes.html_report.answers.facets import facets_answer
from reliabayes.html_report.answers.figures import Answer, Claim, number_figure
from reliabayes.html_report.answers.labels import Labels
from reliabayes.html_report.answers.pools import pools_answer
from reliabayes.html_report.answers.reliability import reliability_answer
from reliabayes.html_report.answers.true_categories import (
    knowledge_answer,
    true_categories_answer,
)
from reliabayes.results.estimates import draws_by_label, estimate_text
from reliabayes.results.ignored_facets import ignored_facets

if TYPE_CHECKING:
    import pandas as pd

    from reliabayes.results.fit import Fit


def answer(
    fit: Fit,
    *,
    prob: float = 0.9,
    reliability: float = 0.8,
    items: pd.DataFrame | None = None,
    misfit: Sequence[str] = (),
    details: bool = True,
) -> Answer:
    """Answer the question that the model of a fit is made for.

    Parameters
    ----------
    fit : Fit
        Fit of any model.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, strictly between 0 and 1.
    reliability : float, default 0.8
        Target reliability of means of ratings, strictly between 0 and 1.
    items : DataFrame, optional
        Result of `Fit.items`, if it is known already.
    misfit : sequence of str, optional
        What the model does not reproduce of the ratings, by `Fit.check`.
    details : bool, default True
        Whether to say more about the main numbers; some sentences need simulations of their own.

    Returns
    -------
    Answer
        The verdict, its main numbers, and more about them.

    Examples
    --------
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    >>> fit = rb.GaussianICC().fit(ratings, seed=1979, progress=False)
    >>> answer(fit).headline  # doctest: +ELLIPSIS
    'Not yet: 4 ratings an item give a reliability of 0.6...; 0.80 takes ...'
    """
    found = _answer(fit, prob, reliability, items, misfit, details)
    found = found if details else replace(found, sentences=())
    ignored = ignored_facets(fit.model, fit.ratings).removesuffix(".")
    if not ignored:
        return found
    first, *others = found.claims
    caution = ". ".join(filter(None, (ignored, first.caution)))
    return replace(found, claims=(replace(first, caution=caution), *others))


def _answer(
    fit: Fit,
    prob: float,
    reliability: float,
    items: pd.DataFrame | None,
    misfit: Sequence[str],
    details: bool,
) -> Answer:
    if "normalized_xcc" in fit.quantities:
        return pools_answer(fit, prob, reliability, misfit)
    if "phi" in fit.quantities:
        return facets_answer(fit, prob, reliability, misfit)
    if "icc" in fit.quantities:
        return reliability_answer(fit, prob, reliability, misfit)
    if "accuracy" in fit.quantities:
        return true_categories_answer(fit, prob, Labels.of(fit, items), misfit, details)
    if "a" in fit.quantities:
        return knowledge_answer(fit, prob)
    return _first_quantity_answer(fit, prob)


def _first_quantity_answer(fit: Fit, prob: float) -> Answer:
    """The first quantity of a model that reports none of the known ones."""
    name = str(next(iter(fit.quantities)))
    label, draws = next(iter(draws_by_label(fit, name).items()))
    labelled = f"{name}[{label}]" if label else name
    figure = number_figure(labelled, draws, prob, has_bar=False)
    return Answer((Claim(f"{labelled} is {estimate_text(draws, prob)}"),), (figure,), ())
