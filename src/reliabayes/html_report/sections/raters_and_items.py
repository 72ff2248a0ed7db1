"""Sections on raters and on items: a plot and a table of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from reliabayes import plots
from reliabayes.choices import Stated
from reliabayes.html_report.answers.labels import stated_in
from reliabayes.html_report.blocks import Block, Section, Text
from reliabayes.html_report.fits import ReportFit, blocks_by_fit
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table
from reliabayes.results.estimates import is_by_rater
from reliabayes.results.known_answers import has_answers, known_items

IN_FILES = (
    "A table of all items may not fit in a page: fit.write_items(folder), or reliabayes fit with "
    "--items FOLDER, writes it to files, part by part."
)
NOT_COMPARED = (
    "Labels and raters are not compared with the known answers, which needs all ratings in memory."
)
MAX_MARKERS = 5000  # items that each have a marker in a plot
STATED_HONESTLY = (
    "Accuracy is the proportion of a rater's ratings that are right by labels as stated above; the "
    "other columns are those of the model."
)


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
    """Estimates of each item; none of a fit for which all true categories are known.

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
        return
    stated: Stated = stated_in(each.fit) if is_by_rater(each.fit, "accuracy") else "model"
    every = each.for_raters.raters(each.options.prob, stated=stated)
    # Columns for each category would be wider than paper; confusion matrices show the same.
    found = every[[name for name in every if not str(name).endswith("]")]]
    if list(found) == ["ratings"]:
        return
    prob, number, name = each.options.prob, each.number, each.name
    if each.fit.model.has_true_categories:
        yield from _pools_and_gold(each, stated)
    yield picture(partial(plots.raters, each.for_raters, prob=prob, stated=stated))
    if is_judged := "information_lost" in found:
        note = f"{STATED_HONESTLY} " * each.fit.states_honestly(stated) + (
            "The worst come first: information lost is how many bits less a rating tells than one "
            "by a typical rater, the median of all; Pr(poor) is the probability that it tells less "
            "than half of that. fit.raters() also has columns for each category."
        )
    else:
        note = _effects_note(each, "a rater rates") if "median" in found else ""
    first = next((str(name) for name in found if name not in ("ratings", "pool")), "ratings")
    by = "information_lost" if is_judged else first
    uncertainty = by if is_judged else "sd" if "sd" in found else "ratings"
    yield table(
        f"raters-{number}", f"Raters ({name})", found, sort_by=by, note=note,
        budget=each.options.budget, uncertainty=uncertainty,
    )  # fmt: skip


def _pools_and_gold(each: ReportFit, stated: Stated) -> Iterator[Block]:
    """Tables of pools, and of what equals the known true categories."""
    fit, prob = each.fit, each.options.prob
    if len(fit.ratings.pools) > 1 and is_by_rater(fit, "accuracy"):
        note = f"{STATED_HONESTLY} " * fit.states_honestly(stated) + (
            "Medians. Pr(lowest) is the probability that no other pool is less accurate; agreement "
            "is the proportion of the other ratings of an item that a rating equals."
        )
        caption = f"Pools, the least accurate first ({each.name})"
        found = fit.pools(prob, stated=stated)
        yield table(f"pools-{each.number}", caption, found, note=note)
    if each.is_in_parts:
        if has_answers(fit.ratings):
            yield Text(NOT_COMPARED)
    elif len(known_items(fit.ratings)) and not fit.model.conditional:
        found = fit.against_gold(prob).rename_axis(["of", "name"])
        note = "The model's labels are those that it would give without knowing the answer."
        caption = f"Against known answers ({each.name})"
        whole = 0 if (found["correct"] % 1 == 0).all() else 1
        yield table(f"gold-{each.number}", caption, found, note=note, decimals={"correct": whole})


def _item_blocks(each: ReportFit) -> Iterator[Block]:
    if each.is_in_parts:
        yield Text(IN_FILES)
        return
    has_categories = "probability" in each.items
    if has_categories and len(known_items(each.fit.ratings)) == len(each.items):
        return
    if has_categories:
        is_large = len(each.items) > MAX_MARKERS
        yield picture(partial(plots.entropies, each.for_items), as_bitmap=is_large)
    if has_categories or len(each.items) <= MAX_MARKERS:
        yield picture(partial(plots.items, each.for_items, prob=each.options.prob))
    draws = each.items.attrs["draws"]
    meaning = "" if has_categories else _effects_note(each, "an item is rated")
    if "by_model" in each.items:
        meaning = (
            "Labels by votes in which raters who err together count as fewer, with probabilities "
            "that allow for errors which votes do not show; by_model is how probable the model, "
            "which takes errors as independent, holds the same label."
        )
    yield table(
        f"items-{each.number}", f"Items ({each.name})", each.items,
        sort_by="entropy" if has_categories else "mean", budget=each.options.budget,
        uncertainty="entropy" if has_categories else "sd",
        note=f"{meaning} Based on {draws:,} draws; fit.items() returns all items.",
    )  # fmt: skip


def _effects_note(each: ReportFit, verb: str) -> str:
    unit = "units of the rating" if each.fit.model.continuous else "units of the latent score"
    return f"Effects: how far {verb} above or below the average, in {unit}."
