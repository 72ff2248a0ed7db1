"""Fits of a report: named, and with a bounded number of draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes import plots
from reliabayes.html_report.answers import Answer, answer
from reliabayes.html_report.answers.labels import stated_in
from reliabayes.html_report.blocks import Block, Heading
from reliabayes.partitions import RatingsDataset
from reliabayes.results.estimates import MISFIT, is_by_rater
from reliabayes.results.fit import Fit
from reliabayes.results.predictive import PredictiveChecks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_WORK = 20_000_000  # ratings times draws that each estimate of items or replicates may cost
ITEM_DRAWS = 500  # for estimates of items, if there are not too many ratings
MIN_DRAWS = 50  # for estimates of items and for replicates, however many ratings there are
STATISTICS = {  # of predictive checks
    "votes": "the number of votes for each category per item",
    "ratings": "the distribution of the ratings",
    "items": "the variation of ratings within items",
    "raters": "the ratings of individual raters",
    "pairs": "the agreement of pairs of raters",
}


@dataclass(frozen=True)
class Options:
    """Options that hold for all fits of a report.

    Attributes
    ----------
    prob : float
        Probability of all intervals.
    reliability : float
        Target reliability of means of ratings.
    budget : int
        Bytes that the table of items, and that of raters, of each fit may take.
    """

    prob: float
    reliability: float
    budget: int


@dataclass(frozen=True, eq=False)
class ReportFit:
    """A fit as a report uses it.

    Attributes
    ----------
    name : str
        Name of the fit in the report.
    number : int
        Its number there, from 0.
    fit : Fit
        The fit with all draws.
    options : Options
        Options of the report.
    given : Answer, optional
        Its answer, where another question was asked than the one that its model is made for.
    """

    name: str
    number: int
    fit: Fit
    options: Options
    given: Answer | None = None

    @property
    def is_in_parts(self) -> bool:
        """Whether the ratings are in parts, so that there is no table of all items."""
        return isinstance(self.fit.ratings, RatingsDataset)

    @cached_property
    def for_items(self) -> Fit:
        """The fit with as many draws as estimates of its items can use in acceptable time."""
        if self.fit.model.has_true_categories:
            return self.fit  # which chooses them itself, and counts labels as the answer does
        return thinned(self.fit, self.draws(ITEM_DRAWS))

    @cached_property
    def for_raters(self) -> Fit:
        """The same for its raters, who are fewer."""
        return thinned(self.fit, max(MIN_DRAWS, MAX_WORK // self.fit.ratings.n_raters))

    def draws(self, most: int) -> int:
        """Number of draws that an estimate can use in acceptable time.

        Parameters
        ----------
        most : int
            The number if there are not too many ratings.

        Returns
        -------
        int
        """
        return int(np.clip(MAX_WORK // len(self.fit.ratings), MIN_DRAWS, most))

    @cached_property
    def items(self) -> pd.DataFrame:
        """The table of items: labels as stated, and how probable the model holds them."""
        found = self.for_items.items(self.options.prob, stated="model")
        if self.fit.crowd is None:
            return found
        stated = self.fit.items(stated="honest")
        of_model = self.for_items.category_probabilities(stated="model")
        place = of_model.columns.get_indexer(pd.Index(stated["category"]))
        stated["by_model"] = of_model.to_numpy()[np.arange(len(stated)), place]
        stated.attrs["draws"] = found.attrs["draws"]
        return stated

    @property
    def table_of_labels(self) -> pd.DataFrame | None:
        """The labels by the model, if it has true categories and the ratings are in memory."""
        is_known = self.fit.model.has_true_categories and not self.is_in_parts
        return self.for_items.items(self.options.prob, stated="model") if is_known else None

    @cached_property
    def answer(self) -> Answer:
        """The answer in words and numbers."""
        if self.given is not None:
            return self.given
        return answer(
            self.fit,
            prob=self.options.prob,
            reliability=self.options.reliability,
            items=self.table_of_labels,
            misfit=self.misfit,
        )

    @property
    def lead_plot(self) -> Callable[[], Axes] | None:
        """What draws the picture below the verdict; None if there is none that suits."""
        if self.given is not None:
            return None
        found, prob = self.fit.quantities, self.options.prob
        if self.fit.crowd is not None and self.fit.crowd.outvoting is not None:
            return None  # it would compare raters by what is in doubt
        if "normalized_xcc" in found:
            return partial(plots.xcc, self.fit, guideline=None, prob=prob)
        if "proportion" in found:
            return partial(plots.variance_shares, self.fit, prob=prob)
        if "icc" in found:
            reliability = self.options.reliability
            return partial(plots.icc_k, self.fit, reliability=reliability, prob=prob)
        if len(self.fit.ratings.pools) > 1 and is_by_rater(self.fit, "accuracy"):
            return partial(plots.pools, self.fit, prob=prob, stated=stated_in(self.fit))
        if is_by_rater(self.fit, "informativeness"):
            return partial(plots.raters, self.fit, "informativeness", prob=prob)
        if "confusion" in found:
            return partial(plots.confusion, self.fit)
        return None

    @cached_property
    def checks(self) -> PredictiveChecks:
        """Predictive checks."""
        return self.fit.check(self.draws(200), prob=self.options.prob)

    @property
    def misfit(self) -> list[str]:
        """What the model does not reproduce of the ratings; not known of ratings in parts."""
        if self.is_in_parts:
            return []
        found = self.checks.p_values.items()
        return [STATISTICS[str(name)] for name, p in found if p < MISFIT]

    @cached_property
    def problems(self) -> list[str]:
        """What puts the results in doubt; none if nothing does."""
        return self.fit.diagnostics().problems


def thinned(fit: Fit, draws: int) -> Fit:
    """A fit with about a given number of draws, evenly spaced within each chain.

    It computes its tables once, for the answer, tables and plots.

    Parameters
    ----------
    fit : Fit
        The fit with all draws.
    draws : int
        Largest number of draws of all chains together, up to rounding.

    Returns
    -------
    Fit
    """
    settings = fit.settings
    wanted = min(-(-draws // settings.chains), settings.draws)
    if wanted == settings.draws:
        return fit if fit.is_remembering else fit.remembering()
    kept = {"draw": np.arange(wanted) * settings.draws // wanted}
    found = replace(
        fit,
        posterior=fit.posterior.isel(kept),
        sample_stats=fit.sample_stats.isel(kept) if fit.sample_stats else fit.sample_stats,
        settings=replace(settings, draws=wanted),
    )
    vars(found)["quantities"] = fit.quantities.isel(kept)  # not computed again
    return found.remembering()


def report_fits(fits: Mapping[str, Fit], options: Options) -> list[ReportFit]:
    """Fits with their names and numbers, in the given order.

    Parameters
    ----------
    fits : mapping of str to Fit
        Fits by name.
    options : Options
        Options of the report.

    Returns
    -------
    list of ReportFit
    """
    return [
        ReportFit(name, number, thinned(fit, fit.settings.chains * fit.settings.draws), options)
        for number, (name, fit) in enumerate(fits.items())
    ]


def blocks_by_fit(
    fits: Sequence[ReportFit], section: str, blocks: Callable[[ReportFit], Iterable[Block]]
) -> list[Block]:
    """Blocks of each fit, under its name if there are several.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.
    section : str
        Id of the section, which begins the ids of the headings.
    blocks : callable
        Makes the blocks of a fit.

    Returns
    -------
    list of blocks
    """
    made: list[Block] = []
    for each in fits:
        own = list(blocks(each))
        if own and len(fits) > 1:
            made.append(Heading(each.name, f"{section}-of-{each.number}"))
        made += own
    return made


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """Record warnings, which the report shows, as texts.

    Yields
    ------
    list of str
        Empty until the context ends.
    """
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        yield messages
    messages += [str(each.message) for each in caught]
