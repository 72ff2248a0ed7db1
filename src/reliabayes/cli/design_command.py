"""The command that plans a study: how many items it needs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

import reliabayes as rb
from reliabayes.cli.output import make_table, print_table, print_text


class What(StrEnum):
    """What a study is planned for; only the first four have formulas."""

    kappa = "kappa"
    icc = "icc"
    alpha = "alpha"
    limits = "limits"
    percent_agreement = "percent-agreement"
    gwet_ac1 = "gwet-ac1"
    krippendorff_alpha = "krippendorff-alpha"
    brennan_prediger = "brennan-prediger"
    concordance = "concordance"
    mean_correlation = "mean-correlation"
    spearman_rho = "spearman-rho"
    kendall_w = "kendall-w"


WITH_FORMULA = {What.kappa, What.icc, What.alpha, What.limits}


def design(
    what: Annotated[
        What,
        typer.Argument(help="Coefficient, or limits of agreement. The first four have formulas."),
    ],
    value: Annotated[
        float,
        typer.Option(help="Value that is expected; for limits the sd of the differences."),
    ],
    raters: Annotated[
        list[int] | None,
        typer.Option(help="Number of raters of each item, 2 by default; repeat it to compare."),
    ] = None,
    null: Annotated[float | None, typer.Option(help="Value that is to be rejected.")] = None,
    width: Annotated[float | None, typer.Option(help="Width of the interval.")] = None,
    lower: Annotated[float | None, typer.Option(help="Lower limit to keep above.")] = None,
    upper: Annotated[float | None, typer.Option(help="Upper limit to keep below.")] = None,
    power: Annotated[float, typer.Option(help="Probability of rejecting --null.")] = 0.8,
    prob: Annotated[
        float, typer.Option(help="Probability of the interval; 1 less the error rate of a test.")
    ] = 0.95,
    tails: Annotated[int, typer.Option(help="1 or 2 directions that count.")] = 2,
    prevalence: Annotated[
        str | None,
        typer.Option(
            metavar="P,P,...",
            help="Of categories: proportion of one of two, or of each; for kappa 0.5 by default. "
            "Without it other coefficients are of scores.",
        ),
    ] = None,
    bias: Annotated[float, typer.Option(help="For limits: mean of the differences.")] = 0.0,
    agree: Annotated[
        float, typer.Option(help="For limits: proportion of differences between them.")
    ] = 0.95,
    method: Annotated[
        str | None,
        typer.Option(help="How it is computed, such as simulation; by default what suits."),
    ] = None,
    replicates: Annotated[int, typer.Option(min=2, help="Number of simulated studies.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of simulated studies.")] = 0,
) -> None:
    """Print how many items a study needs to reject a value, or for an interval of some width."""
    numbers = raters or [2]
    has_formula = what in WITH_FORMULA
    about: Any = what.value if has_formula else getattr(rb.agreement, what.name)
    simulation = rb.design.Simulation(replicates, seed)
    is_simulated = method == "simulation" or (method is None and not has_formula)
    found = {
        number: rb.design.items_needed(
            about,
            value=value,
            raters=number,
            null=null,
            width=width,
            lower=lower,
            upper=upper,
            power=power,
            prob=prob,
            tails=tails,
            prevalence=None if prevalence is None else _proportions(prevalence),
            bias=bias,
            agree=agree,
            method=simulation if is_simulated else method,
        )
        for number in numbers
    }
    table = make_table("raters", "items", *(["Monte Carlo error"] if is_simulated else []))
    for number, size in found.items():
        error = [f"{size.error:.2g}"] if is_simulated else []
        table.add_row(str(number), str(size.items), *error)
    print_table(table)
    if is_simulated:
        print_text(f"simulation: {replicates} studies, seed {seed}")
    else:
        sources = dict.fromkeys(f"{size.method}: {size.doi}" for size in found.values())
        print_text("\n".join(sources))


def _proportions(text: str) -> float | list[float]:
    try:
        found = [float(each) for each in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"it must be numbers with commas between them, not {text!r}.",
            param_hint="--prevalence",
        ) from None
    return found[0] if len(found) == 1 else found
