"""Section on the comparison of models: which predicts held-out items best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from reliabayes import plots
from reliabayes.html_report.blocks import Block, Section, Text
from reliabayes.html_report.fits import MIN_DRAWS, ReportFit, recorded_warnings
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table
from reliabayes.results.comparison import compare, refuses_comparison

NOT_COMPARED = (
    "Models are not compared, which needs all ratings in memory: compare their fits of some of the "
    "ratings, such as dataset.parts[0].read()."
)
MAX_WORK = 40_000_000  # items times draws of the comparison


def comparison(fits: Sequence[ReportFit]) -> Section:
    """Which model predicts held-out items best, or why models cannot be compared.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.

    Returns
    -------
    Section
    """
    return Section("comparison", "Model comparison", _blocks(fits))


def _blocks(fits: Sequence[ReportFit]) -> list[Block]:
    if len(fits) < 2:
        return []
    if fits[0].is_in_parts:
        return [Text(NOT_COMPARED)]
    if refusal := refuses_comparison({each.name: each.fit.model for each in fits}):
        return [Text(refusal)]
    largest = max(each.fit.settings.chains * each.fit.settings.draws for each in fits)
    draws = min(largest, max(MIN_DRAWS, MAX_WORK // fits[0].fit.ratings.n_items))
    with recorded_warnings() as messages:
        found = compare({each.name: each.fit for each in fits}, draws)
    note = (
        "Bits per rating is the cost of encoding a rating of a held-out item; lower is better. A "
        "difference of less than about two standard errors (SE) may be due to chance. Based on at "
        f"most {draws:,} draws. p_loo is the effective number of parameters."
    )
    return [
        table("comparison-0", "Models, best first", found, decimals={"p_loo": 1}, note=note),
        picture(partial(plots.compare, found)),
        *(Text(message, caution=True) for message in messages),
    ]
