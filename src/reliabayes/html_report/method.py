"""How the numbers of the page were computed, and how to compute them again."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from reliabayes.html_report.blocks import Block, Code, Facts, Heading, Section, Text
from reliabayes.html_report.telling import Told

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

BESIDE = ("numpy", "scipy", "pandas", "xarray", "arviz")


def method(told: Sequence[Told], command: str) -> Section:
    """Models with their priors, draws, versions, and what to type for the same page."""
    blocks: list[Block] = []
    for each in told:
        if len(told) > 1:
            blocks.append(Heading(each.name, f"method-of-{each.number}"))
        blocks.append(Facts([*_made(each.fit), *_priors(each.fit)]))
    blocks += [
        Heading("Versions", "versions"),
        Facts(_versions(told[0].fit)),
        Heading("To repeat", "repeat"),
        Code(command or _code(told)),
        Text("The same seed and versions give the same page."),
    ]
    return Section("method", "How it was computed", blocks)


def _made(fit: Fit) -> Iterator[tuple[str, str]]:
    made = fit.settings
    yield "model", f"{type(fit.model).__name__}: {fit.model.summary}"
    yield (
        "draws",
        f"{made.chains} chains of {made.draws:,}, after {made.warmup:,} iterations to adapt",
    )
    yield "seed", str(made.seed)
    for each in _chosen(fit):
        if not each.name.startswith("prior_"):
            yield each.name, str(getattr(fit.model, each.name))


def _priors(fit: Fit) -> Iterator[tuple[str, str]]:
    """Priors in force; those that hang on the ratings as they come out for these."""
    given = {
        each.name.removeprefix("prior_"): getattr(fit.model, each.name)
        for each in fields(fit.model)
        if each.name.startswith("prior_")
    }
    if None in given.values():
        of_model: Any = fit.model
        given |= of_model.priors(fit.ratings)
    for name, prior in given.items():
        yield f"prior of {name}", _written(prior)


def _written(value: Any, package: str = "") -> str:
    """A prior as Python writes it, with four digits."""
    if is_dataclass(value):
        arguments = ", ".join(
            f"{each.name}={_written(getattr(value, each.name))}" for each in fields(value)
        )
        return f"{package}{type(value).__name__}({arguments})"
    if isinstance(value, tuple):
        return f"({', '.join(_written(each) for each in value)})"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _versions(fit: Fit) -> list[tuple[str, str]]:
    return [
        ("reliabayes", fit.settings.version),
        ("Stan", fit.settings.stan_version or "unknown"),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in BESIDE),
    ]


def _code(told: Sequence[Told]) -> str:
    """Python that fits the models again and writes the page."""
    lines = ["import reliabayes as rb", "", "fits = {"]
    for each in told:
        fit, made = each.fit, each.fit.settings
        chosen = ", ".join(
            f"{field.name}={_exact(getattr(fit.model, field.name))}" for field in _chosen(fit)
        )
        sampling = (
            f"chains={made.chains}, warmup={made.warmup}, draws={made.draws}, seed={made.seed}"
        )
        model = f"rb.{type(fit.model).__name__}({chosen})"
        lines.append(f"    {each.name!r}: {model}.fit(ratings, {sampling}),")
    return "\n".join([*lines, "}", 'rb.report(ratings, fits, "report.html")'])


def _chosen(fit: Fit) -> list[Field[Any]]:
    """Hyperparameters that are not as they are by default."""
    return [
        each
        for each in fields(fit.model)
        if each.default is MISSING or getattr(fit.model, each.name) != each.default
    ]


def _exact(value: Any) -> str:
    return f"rb.{value!r}" if is_dataclass(value) else repr(value)
