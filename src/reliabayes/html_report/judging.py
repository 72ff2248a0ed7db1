"""Sections of the page that tell how far to trust the results: models, checks, draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from reliabayes import plots
from reliabayes.html_report.blocks import Block, Facts, Section, Text
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table
from reliabayes.html_report.telling import FEWEST, Told, heard_warnings, of_each
from reliabayes.results.comparison import compare, refuses_comparison

CHECKED = {
    "votes": "how many items got how many votes for a category",
    "ratings": "how many ratings lie in each band of numbers",
    "items": "how far the ratings of an item lie apart",
    "raters": "what each rater gives how often, or around which mean",
    "pairs": "how often two raters agree, or how far apart they lie",
}
LEFT_OUT = 40_000_000  # items times draws, to compare models by items left out
NOTABLE = 0.05  # p-value from which on ratings are said to be like those of the model


def comparison(told: Sequence[Told]) -> Section:
    """Which model foretells ratings best, or why that cannot be said."""
    return Section("comparison", "Model comparison", _comparison(told))


def _comparison(told: Sequence[Told]) -> list[Block]:
    if len(told) < 2:
        return [
            Text(
                "One model was fitted. With two or more, this section tells which of them "
                "foretells the ratings of an item left out best."
            )
        ]
    if refusal := refuses_comparison({each.name: type(each.fit.model) for each in told}):
        return [Text(refusal)]
    made = max(each.fit.settings.chains * each.fit.settings.draws for each in told)
    draws = min(made, max(FEWEST, LEFT_OUT // told[0].fit.ratings.n_items))
    with heard_warnings() as heard:
        found = compare({each.name: each.fit for each in told}, draws)
    note = (
        "Bits needed to tell a rating of an item that the model has not seen: less is better. A "
        f"difference of less than about twice its SE may be chance. From {draws:,} draws at most."
    )
    caption = "Models, the best first"
    return [
        table("comparison-0", caption, found, decimals={"p_loo": 1}, note=note),
        picture(partial(plots.compare, found)),
        *(Text(words, caution=True) for words in heard),
    ]


def checks(told: Sequence[Told]) -> Section:
    """Whether models give such ratings as were seen."""

    def of_fit(each: Told) -> Iterator[Block]:
        found = each.fit.check(each.draws(200), prob=each.options.prob)
        deviating = [str(name) for name, p in found.p_values.items() if p < NOTABLE]
        yield Text(
            f"Ratings that {each.name} gives differ from those seen in "
            f"{' and '.join(CHECKED[name] for name in deviating)}: what hangs on that is not to be "
            "trusted."
            if deviating
            else f"{each.name} gives ratings like those seen, in all that is looked at here.",
            caution=bool(deviating),
        )
        rows = found.p_values.to_frame("p")
        rows.insert(0, "what is compared", [CHECKED[str(name)] for name in rows.index])
        note = (
            f"p is the share of data sets, {found.replicates} of the model's own and the one seen, "
            "that deviate as much as the one seen: a small one tells of a model that does not give "
            "such ratings."
        )
        caption = f"Posterior predictive checks of {each.name}"
        yield table(f"checks-{each.number}", caption, rows, note=note)
        yield picture(partial(plots.check, found))

    return Section("checks", "Predictive checks", of_each(told, "checks", of_fit))


def diagnostics(told: Sequence[Told]) -> Section:
    """Whether the draws can be trusted."""

    def of_fit(each: Told) -> Iterator[Block]:
        found = each.fit.diagnostics()
        yield from (Text(problem, caution=True) for problem in each.problems)
        if not each.problems:
            yield Text("All that is measured is within its bounds.")
        bounds = 100 * found.chains
        facts = [
            ("largest R-hat", f"{found.r_hat:.3f} (at most 1.01)".replace("nan", "unknown")),
            ("smallest ESS, bulk", f"{found.ess_bulk:,.0f} (at least {bounds})"),
            ("smallest ESS, tail", f"{found.ess_tail:,.0f} (at least {bounds})"),
            ("divergent transitions", f"{found.divergences:,} (at most 0)"),
            ("at the largest tree depth", f"{found.tree_depth_hits:,}"),
            ("smallest E-BFMI", f"{found.bfmi:.2f} (at least 0.3)"),
        ]
        if found.nodes:
            error = f"{found.integration_error:.1g} nats, {found.nodes} nodes (at most 0.001)"
            facts.append(("error of sums over nodes", error))
        yield Facts(facts)
        yield picture(partial(plots.rank, each.fit))

    return Section("diagnostics", "Diagnostics", of_each(told, "diagnostics", of_fit))
