"""Section on posterior predictive checks: whether models reproduce the observed ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from reliabayes import plots
from reliabayes.html_report.blocks import Block, Section, Text
from reliabayes.html_report.fits import STATISTICS, ReportFit, blocks_by_fit
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table
from reliabayes.recommendation import recommend
from reliabayes.wording import joined

NOT_CHECKED = (
    "Whether the model reproduces the ratings was not checked, which needs all of them in memory: "
    "fit some of them, such as dataset.parts[0].read(), and see the report of that fit."
)
MAX_MARKERS = 1000  # of observed values in the picture


def predictive_checks(fits: Sequence[ReportFit]) -> Section:
    """Whether models reproduce the observed ratings.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.

    Returns
    -------
    Section
    """
    return Section("checks", "Predictive checks", blocks_by_fit(fits, "checks", _blocks))


def _blocks(each: ReportFit) -> Iterator[Block]:
    if each.is_in_parts:
        yield Text(NOT_CHECKED, caution=True)
        return
    found = each.checks
    if each.misfit:
        yield Text(
            f"{each.name} does not reproduce {joined(each.misfit)}; conclusions that depend "
            f"on this are unreliable.{_others(each)}",
            caution=True,
        )
    else:
        yield Text(f"{each.name} reproduces the observed ratings in everything checked here.")
    rows = found.p_values.to_frame("p")
    rows.insert(0, "statistic", [STATISTICS[str(name)] for name in rows.index])
    note = (
        f"p is the proportion of data sets ({found.replicates} replicates and the observed one) "
        "that deviate from the expectation at least as much as the observed one. A small p "
        "indicates that the model does not generate such ratings."
    )
    caption = f"Posterior predictive checks ({each.name})"
    yield table(f"checks-{each.number}", caption, rows, note=note)
    tables = (found.votes, found.ratings, found.items, found.raters, found.pairs)
    markers = sum(len(each) for each in tables if each is not None)
    yield picture(partial(plots.check, found), as_bitmap=markers > MAX_MARKERS)


def _others(each: ReportFit) -> str:
    """Which models may reproduce ratings that this one does not."""
    model, found = each.fit.model, recommend(each.fit.ratings)
    asks = model.has_true_categories
    others = [
        f"{type(other).__name__} ({when})"
        for other, when in ((found.model, "recommended"), *found.alternatives)
        if type(other) is not type(model) and other.has_true_categories == asks
    ]
    if not others:
        return ""
    return f" Others may: {joined(others)}. rb.compare says which predicts the ratings best."
