"""Sections on raters and on items: a plot and a table of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from reliabayes import plots
from reliabayes.html_report.blocks import Block, Section, Text
from reliabayes.html_report.fits import ReportFit, blocks_by_fit
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table

MAX_MARKERS = 5000  # items that each have a marker in a plot


def raters(fits: Sequence[ReportFit]) -> Section:
    """Estimates of each rater.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.

    Returns
    -------
    Section
    """
    return Section("raters", "Raters", blocks_by_fit(fits, "raters", _rater_blocks))


def items(fits: Sequence[ReportFit]) -> Section:
    """Estimates of each item.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.

    Returns
    -------
    Section
    """
    return Section("items", "Items", blocks_by_fit(fits, "items", _item_blocks))


def _rater_blocks(each: ReportFit) -> Iterator[Block]:
    if each.fit.ratings.anonymous_raters:
        yield Text("The raters are anonymous.")
        return
    found = each.for_raters.raters(each.options.prob)
    if list(found) == ["ratings"]:
        yield Text(
            f"{each.name} treats raters as exchangeable: it has no estimates for individual raters."
        )
    else:
        yield picture(partial(plots.raters, each.for_raters, prob=each.options.prob))
    first = next((str(name) for name in found if name not in ("ratings", "pool")), "ratings")
    note = _effects_note(each, "a rater rates") if "median" in found else ""
    yield table(
        f"raters-{each.number}", f"Raters ({each.name})", found, sort_by=first, note=note,
        budget=each.options.budget, uncertainty="sd" if "sd" in found else "ratings",
    )  # fmt: skip


def _item_blocks(each: ReportFit) -> Iterator[Block]:
    has_categories = "probability" in each.items
    if has_categories:
        is_large = len(each.items) > MAX_MARKERS
        yield picture(partial(plots.entropies, each.for_items), as_bitmap=is_large)
    if has_categories or len(each.items) <= MAX_MARKERS:
        yield picture(partial(plots.items, each.for_items, prob=each.options.prob))
    draws = each.for_items.settings.chains * each.for_items.settings.draws
    meaning = "" if has_categories else _effects_note(each, "an item is rated")
    yield table(
        f"items-{each.number}", f"Items ({each.name})", each.items,
        sort_by="entropy" if has_categories else "mean", budget=each.options.budget,
        uncertainty="entropy" if has_categories else "sd",
        note=f"{meaning} Based on {draws:,} draws; fit.items() returns all items.",
    )  # fmt: skip


def _effects_note(each: ReportFit, verb: str) -> str:
    unit = "units of the rating" if each.fit.model.continuous else "units of the latent score"
    return f"Effects: how far {verb} above or below the average, in {unit}."
