"""What a fit answers, in sentences and numbers, by the quantities that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reliabayes.html_report.of_categories import of_categories, of_followers
from reliabayes.html_report.of_pools import of_pools
from reliabayes.html_report.of_scores import of_scores
from reliabayes.html_report.wording import Answer, number_figure
from reliabayes.plots.densities import interval, quantity

if TYPE_CHECKING:
    import pandas as pd

    from reliabayes.results.fit import Fit


def answer(
    fit: Fit, *, prob: float = 0.9, reliability: float = 0.8, items: pd.DataFrame | None = None
) -> Answer:
    """Answer the question that the model of a fit is made for.

    Parameters
    ----------
    fit : of any model
    prob : probability of the equal-tailed intervals
    reliability : of means of ratings, that is to be reached
    items : what `Fit.items` tells, if that is known already

    Examples
    --------
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    >>> fit = rb.GaussianICC().fit(ratings, seed=1979, progress=False)
    >>> answer(fit).headline  # doctest: +ELLIPSIS
    'A single rating is ...% signal; ... ratings per item reach a reliability of 0.8 (... to ...)'
    """
    if "normalized_xcc" in fit.quantities:
        return of_pools(fit, prob, reliability)
    if "icc" in fit.quantities:
        return of_scores(fit, prob, reliability)
    if "accuracy" in fit.quantities:
        return of_categories(fit, prob, fit.items() if items is None else items)
    if "a" in fit.quantities:
        return of_followers(fit, prob)
    return _of_anything(fit, prob)


def _of_anything(fit: Fit, prob: float) -> Answer:
    """The first quantity of a model of which no more is known."""
    name = str(next(iter(fit.quantities)))
    label, draws = next(iter(quantity(fit, name).items()))
    named = f"{name}[{label}]" if label else name
    figure = number_figure(named, draws, prob, is_share=False)
    return Answer(f"{named} is {interval(draws, prob)}", (), (figure,))
