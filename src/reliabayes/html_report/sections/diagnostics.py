"""Section on the sampler: whether its draws are reliable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from reliabayes import plots
from reliabayes.html_report.blocks import Block, Facts, Section, Text
from reliabayes.html_report.fits import ReportFit, blocks_by_fit
from reliabayes.html_report.pictures import picture


def diagnostics(fits: Sequence[ReportFit]) -> Section:
    """Diagnostics of the draws, with their limits.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.

    Returns
    -------
    Section
    """
    return Section("diagnostics", "Diagnostics", blocks_by_fit(fits, "diagnostics", _blocks))


def _blocks(each: ReportFit) -> Iterator[Block]:
    found = each.fit.diagnostics()
    yield from (Text(problem, caution=True) for problem in each.problems)
    yield from (Text(f"Note: {note}.") for note in found.notes)
    if not found.findings:
        yield Text("All diagnostics are within their limits.")
    min_ess = 100 * found.chains
    facts = [
        (
            "largest R-hat",
            f"{found.r_hat:.4f} (at most {found.max_r_hat:.3f})".replace("nan", "unknown"),
        ),
        ("smallest bulk ESS", f"{found.ess_bulk:,.0f} (at least {min_ess})"),
        ("smallest tail ESS", f"{found.ess_tail:,.0f} (at least {min_ess})"),
    ]
    settings = each.fit.settings
    if settings.has_trajectories:
        facts.append(
            ("divergent transitions", f"{found.divergences:,} (at most 0.5% of the draws)")
        )
        if settings.sampler == "nuts":
            facts.append(("transitions at maximum tree depth", f"{found.tree_depth_hits:,}"))
        facts.append(("smallest E-BFMI", f"{found.bfmi:.2f} (at least 0.3)"))
    if found.nodes:
        error = f"{found.integration_error:.1g} nats with {found.nodes} nodes (at most 0.001)"
        facts.append(("quadrature error", error))
    yield Facts(facts)
    yield picture(partial(plots.rank, each.fit))
