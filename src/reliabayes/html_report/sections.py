"""Sections of the page that tell results: data, quantities, raters, items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from reliabayes import plots
from reliabayes.errors import RatingsError
from reliabayes.html_report.blocks import Block, Facts, Heading, Section, Text
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import summary_table, table
from reliabayes.html_report.telling import Told, heard_warnings, of_each
from reliabayes.plots.reliability import as_given

if TYPE_CHECKING:
    from reliabayes.ratings import Ratings

SAMPLES = 1000  # of the items, for intervals of coefficients
DRAWN = 5000  # items at most that each have a mark in a picture


def data(ratings: Ratings, source: Mapping[str, str], prob: float) -> Section:
    """What was rated by whom, and the classical coefficients."""
    blocks: list[Block] = [Facts([*source.items(), *_described(ratings)])]
    if not ratings.anonymous_raters:
        blocks.append(picture(partial(plots.design, ratings)))
        blocks += _if_possible(partial(plots.agreement, ratings))
    blocks += [Heading("Classical agreement", "agreement"), *_agreement(ratings, prob)]
    return Section("data", "Data and design", blocks)


def _described(ratings: Ratings) -> Iterator[tuple[str, str]]:
    """Size and design, the spread of a number in one line."""
    known = ratings.describe()
    for name, value in known.items():
        of, _, end = str(name).partition(" (")
        if not end:
            yield of, f"{value:,.4g}" if isinstance(value, float) else _plainly(value)
        elif end == "min)":
            least, middle, most = (known[f"{of} ({each})"] for each in ("min", "median", "max"))
            yield of, f"{least:,} to {most:,}, median {middle:,g}" if least < most else f"{most:,}"


def _plainly(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _agreement(ratings: Ratings, prob: float) -> list[Block]:
    """Coefficients that suit the ratings, with words, cautions, and what could not be had."""
    guideline = "koo_li" if ratings.scale == "numeric" else "landis_koch"
    with heard_warnings() as heard:
        try:
            found = ratings.agreement(prob=prob, replicates=SAMPLES, guideline=guideline)
        except RatingsError as error:
            return [Text(str(error))]
    note = (
        f"{100 * prob:g}% intervals from {SAMPLES:,} bootstrap samples of the items. "
        f"{found.attrs['caution']}"
    )
    caption = "Coefficients that suit the scale and the design"
    return [table("agreement-0", caption, found, note=note), *map(Text, dict.fromkeys(heard))]


def quantities(told: Sequence[Told]) -> Section:
    """What each fit says of all its quantities but those of single raters."""

    def of_fit(each: Told) -> Iterator[Block]:
        summary = each.fit.summary(each.options.prob)
        caption = f"Posterior of the quantities of {each.name}"
        yield summary_table(f"quantities-{each.number}", caption, summary)
        yield from _contrasts(each)
        yield from map(picture, _pictures(each))

    return Section("quantities", "Quantities", of_each(told, "quantities", of_fit))


def _contrasts(each: Told) -> Iterator[Block]:
    """How far pairs of pools that share one differ in their agreement, and pools in signal."""
    fit = each.fit
    if "normalized_xcc" not in fit.quantities:
        return
    scale = as_given(fit)
    pools = fit.ratings.pools.tolist()
    pairs = combinations(combinations(pools, 2), 2)
    compared = {
        "normalized_xcc" + scale: [pair for pair in pairs if {*pair[0]} & {*pair[1]}],
        "icc" + scale: list(combinations(pools, 2)),
    }
    found = {
        f"{name}: {contrast.one} less {contrast.other}": contrast.summary()
        for name, chosen in compared.items()
        for one, other in chosen
        for contrast in [fit.contrast(name, one, other, prob=each.options.prob)]
    }
    summary = pd.concat(found.values()).set_axis(pd.Index(list(found), name="difference"))
    caption = f"Differences between pools, and between pairs of them, by {each.name}"
    note = "Pr(> 0) is the probability that the first is larger than the second."
    yield table(f"contrasts-{each.number}", caption, summary, note=note)


def _pictures(each: Told) -> Iterator[Callable[[], Any]]:
    """The pictures that suit the quantities."""
    fit, prob = each.fit, each.options.prob
    if "normalized_xcc" in fit.quantities:
        yield partial(plots.xcc, fit, guideline=None, prob=prob)
    if "icc" in fit.quantities:
        yield partial(plots.icc, fit, prob=prob)
        yield partial(plots.variance_shares, fit, prob=prob)
        yield partial(plots.icc_k, fit, reliability=each.options.reliability, prob=prob)
    if "confusion" in fit.quantities:
        yield partial(plots.confusion, fit)


def raters(told: Sequence[Told]) -> Section:
    """What each fit says of each rater."""

    def of_fit(each: Told) -> Iterator[Block]:
        if each.fit.ratings.anonymous_raters:
            yield Text("Who gave a rating is not known.")
            return
        found = each.for_raters.raters(each.options.prob)
        if list(found) == ["ratings"]:
            yield Text(f"{each.name} takes all raters for alike, and says nothing of single ones.")
        else:
            yield picture(partial(plots.raters, each.for_raters, prob=each.options.prob))
        first = next((str(name) for name in found if name not in ("ratings", "pool")), "ratings")
        caption = f"Raters, by {each.name}"
        note = _of_effects(each, "rates") if "median" in found else ""
        yield table(
            f"raters-{each.number}", caption, found, sort_by=first, note=note,
            budget=each.options.budget, uncertainty="sd" if "sd" in found else "ratings",
        )  # fmt: skip

    return Section("raters", "Raters", of_each(told, "raters", of_fit))


def items(told: Sequence[Told]) -> Section:
    """What each fit says of each item."""

    def of_fit(each: Told) -> Iterator[Block]:
        is_category = "probability" in each.items
        if is_category:
            yield picture(partial(plots.entropies, each.for_items), painted=len(each.items) > DRAWN)
        if is_category or len(each.items) <= DRAWN:
            yield picture(partial(plots.items, each.for_items, prob=each.options.prob))
        draws = each.for_items.settings.chains * each.for_items.settings.draws
        what = "" if is_category else _of_effects(each, "is rated")
        yield table(
            f"items-{each.number}", f"Items, by {each.name}", each.items,
            sort_by="entropy" if is_category else "mean", budget=each.options.budget,
            uncertainty="entropy" if is_category else "sd",
            note=f"{what} From {draws:,} draws; fit.items(draws=None) gives all items from all.",
        )  # fmt: skip

    return Section("items", "Items", of_each(told, "items", of_fit))


def _of_effects(each: Told, verb: str) -> str:
    unit = "units of the rating" if each.fit.model.continuous else "units of the latent score"
    return f"Effects: how far above or below the average it {verb}, in {unit}."


def _if_possible(draw: Callable[[], Any]) -> list[Block]:
    """A picture, or why there is none."""
    try:
        return [picture(draw)]
    except ValueError as error:
        return [Text(str(error))]
