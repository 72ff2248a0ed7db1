"""Section on the quantities: posterior summaries, differences between pools, and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd

from reliabayes import plots
from reliabayes.html_report.answers.facets import study_around
from reliabayes.html_report.blocks import Block, Section
from reliabayes.html_report.fits import ReportFit, blocks_by_fit
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import summary_table, table
from reliabayes.results.estimates import is_by_rater, observed_suffix


def quantities(fits: Sequence[ReportFit]) -> Section:
    """Posterior of all quantities except those of individual raters.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.

    Returns
    -------
    Section
    """
    return Section("quantities", "Quantities", blocks_by_fit(fits, "quantities", _blocks))


def _blocks(each: ReportFit) -> Iterator[Block]:
    summary = each.fit.summary(each.options.prob)
    caption = f"Posterior summary ({each.name})"
    names = [*summary.columns]
    read_first = summary[names[:3] + names[-2:] + names[3:-2]]  # the interval before convergence
    yield summary_table(f"quantities-{each.number}", caption, read_first)
    yield from _contrasts(each)
    yield from map(picture, _plots(each))


def _contrasts(each: ReportFit) -> Iterator[Block]:
    """Differences in xCC between pairs of pools that share one, and in the ICC between pools."""
    fit = each.fit
    if "normalized_xcc" not in fit.quantities:
        return
    scale = observed_suffix(fit)
    pools = fit.ratings.pools.tolist()
    pairs = combinations(combinations(pools, 2), 2)
    compared = {
        "normalized_xcc" + scale: [pair for pair in pairs if {*pair[0]} & {*pair[1]}],
        "icc" + scale: list(combinations(pools, 2)),
    }
    found = {
        f"{name}: {contrast.one} minus {contrast.other}": contrast.summary()
        for name, chosen in compared.items()
        for one, other in chosen
        for contrast in [fit.contrast(name, one, other, prob=each.options.prob)]
    }
    summary = pd.concat(found.values()).set_axis(pd.Index(list(found), name="difference"))
    caption = f"Differences between pools and between pairs of pools ({each.name})"
    note = "Pr(> 0) is the posterior probability that the first is larger than the second."
    yield table(f"contrasts-{each.number}", caption, summary, note=note)


def _plots(each: ReportFit) -> Iterator[Callable[[], Any]]:
    """Functions that draw the plots that suit the quantities."""
    fit, prob = each.fit, each.options.prob
    if "icc" in fit.quantities:
        yield partial(plots.icc, fit, prob=prob)
        yield partial(plots.variance_shares, fit, prob=prob)
    if "proportion" in fit.quantities:
        study, reliability = study_around(fit), each.options.reliability
        yield partial(plots.d_study, study, target=reliability, prob=prob)
    if "normalized_xcc" in fit.quantities:
        yield partial(plots.icc_k, fit, reliability=each.options.reliability, prob=prob)
    if is_by_rater(fit, "confusion"):
        yield partial(plots.confusion, fit)
