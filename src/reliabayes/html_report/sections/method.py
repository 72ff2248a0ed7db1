"""Section on the method: models, priors, sampler settings, versions, and how to reproduce it."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from reliabayes.html_report.answers.reliability import reliability_to_report
from reliabayes.html_report.blocks import Block, Code, Facts, Heading, Section, Text
from reliabayes.html_report.fits import ReportFit

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit

PACKAGES = ("numpy", "scipy", "pandas", "xarray", "arviz")


def method(fits: Sequence[ReportFit], command: str, prob: float) -> Section:
    """Models with their priors, sampler settings and versions, and how to reproduce the page.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.
    command : str
        Command that makes the page; if empty, Python code that does is shown.
    prob : float
        Probability of the intervals.

    Returns
    -------
    Section
    """
    blocks: list[Block] = []
    for each in fits:
        if len(fits) > 1:
            blocks.append(Heading(each.name, f"method-of-{each.number}"))
        blocks.append(
            Facts([*_settings(each.fit), *_priors(each.fit), *_reliability(each.fit, prob)])
        )
    blocks += [
        Heading("Versions", "versions"),
        Facts(_versions(fits[0].fit)),
        Heading("How to reproduce this page", "reproduce"),
        Code(command or python_code(fits)),
        Text("The same seed and the same versions give the same page."),
        Heading("For the paper", "paper"),
    ]
    for each in fits:
        said = each.fit.methods(prob)
        blocks += [Text(said.sentence), Code(said.bibtex())]
    return Section("method", "How it was computed", blocks)


def _settings(fit: Fit) -> Iterator[tuple[str, str]]:
    settings = fit.settings
    yield "model", f"{type(fit.model).__name__}: {fit.model.summary}"
    yield (
        "draws",
        f"{settings.chains} chains of {settings.draws:,}, each after {settings.warmup:,} warmup "
        f"iterations, by {settings.sampler_name}",
    )
    yield "seed", str(settings.seed)
    for each in _non_default(fit):
        if not each.name.startswith("prior_"):
            yield each.name, str(getattr(fit.model, each.name))


def _priors(fit: Fit) -> Iterator[tuple[str, str]]:
    """Priors in use; those that depend on the ratings, with their values for these ratings."""
    model: Any = fit.model
    for name, prior in model.priors(fit.ratings).items():
        yield f"prior of {name}", _prior_text(prior)


def _reliability(fit: Fit, prob: float) -> Iterator[tuple[str, str]]:
    """What to report of the reliability, if the model has one for all raters."""
    if "icc" in fit.quantities and fit.quantities["icc"].ndim == 2:
        yield "reliability to report", reliability_to_report(fit, prob)


def _prior_text(value: Any, package: str = "") -> str:
    """A prior as Python code, with four digits."""
    if is_dataclass(value):
        arguments = ", ".join(
            f"{each.name}={_prior_text(getattr(value, each.name))}" for each in fields(value)
        )
        return f"{package}{type(value).__name__}({arguments})"
    if isinstance(value, tuple):
        return f"({', '.join(_prior_text(each) for each in value)})"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _versions(fit: Fit) -> list[tuple[str, str]]:
    return [
        ("reliabayes", fit.settings.version),
        ("Stan", fit.settings.stan_version or "not used"),
        ("Python", platform.python_version()),
        *_package_versions(),
    ]


def python_code(fits: Sequence[ReportFit], reading: str = "", options: str = "") -> str:
    """Python code that fits the models again and writes the page.

    Parameters
    ----------
    fits : sequence of ReportFit
        All fits of the report.
    reading : str, optional
        Code that reads the ratings.
    options : str, optional
        Further arguments of `report`, beginning with a comma.

    Returns
    -------
    str
    """
    lines = ["import reliabayes as rb", "", *([reading] if reading else []), "fits = {"]
    for each in fits:
        fit, settings = each.fit, each.fit.settings
        chosen = ", ".join(
            f"{field.name}={_argument_text(getattr(fit.model, field.name))}"
            for field in _non_default(fit)
        )
        sampling = (
            f"chains={settings.chains}, warmup={settings.warmup}, draws={settings.draws}, "
            f"seed={settings.seed}, sampler={settings.sampler!r}"
        )
        model = f"rb.{type(fit.model).__name__}({chosen})"
        lines.append(f"    {each.name!r}: {model}.fit(ratings, {sampling}),")
    return "\n".join([*lines, "}", f'rb.report(ratings, fits, "report.html"{options})'])


def _non_default(fit: Fit) -> list[Field[Any]]:
    """Hyperparameters that differ from their defaults."""
    return [
        each
        for each in fields(fit.model)
        if each.default is MISSING or getattr(fit.model, each.name) != each.default
    ]


def _argument_text(value: Any) -> str:
    return f"rb.{value!r}" if is_dataclass(value) else repr(value)


def _package_versions() -> Iterator[tuple[str, str]]:
    """Versions of packages; the Python of a browser lacks some, or what they say of themselves."""
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            yield name, version(name)
