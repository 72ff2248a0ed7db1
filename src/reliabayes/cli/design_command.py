"""The command that plans a study: how many items it needs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import reliabayes as rb
from reliabayes.cli.output import make_table, print_table, print_text


class What(StrEnum):
    """What a study is planned for."""

    kappa = "kappa"
    icc = "icc"
    alpha = "alpha"
    limits = "limits"


def design(
    what: Annotated[What, typer.Argument(help="Coefficient, or limits of agreement.")],
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
            help="For kappa: proportion of a category, or of each; by default 0.5.",
        ),
    ] = None,
    bias: Annotated[float, typer.Option(help="For limits: mean of the differences.")] = 0.0,
    agree: Annotated[
        float, typer.Option(help="For limits: proportion of differences between them.")
    ] = 0.95,
    method: Annotated[
        str | None, typer.Option(help="How it is computed; by default what suits.")
    ] = None,
) -> None:
    """Print how many items a study needs to reject a value, or for an interval of some width."""
    numbers = raters or [2]
    found = {
        number: rb.design.items_needed(
            what.value,
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
            method=method,
        )
        for number in numbers
    }
    table = make_table("raters", "items")
    for number, size in found.items():
        table.add_row(str(number), str(size.items))
    print_table(table)
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
