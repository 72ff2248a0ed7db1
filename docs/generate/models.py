"""A page for each model, from its docstring and its Stan programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import reliabayes as rb

from .examples import example, plot
from .execution import pictures, printed_and_drawn, version
from .files import ROOT
from .names import OF_ALL_MODELS, Name, names
from .reference import documented, titled

STAN = ROOT / "stan"
INCLUDED = re.compile(r"#include functions/(\w+)\.stanfunctions")
OVERVIEW = """\
# Models

A model contains hyperparameters and no data: `rb.DawidSkene(prior_prevalence=...)`. Its method
`fit` takes ratings and returns a [`Fit`][reliabayes.Fit].

| model | for |
|---|---|
"""
FUNCTIONS = """\
# Stan functions

Formulas that several programs share. Functions that are declared here without a body are written in
C++ with their gradients, in `stan/cpp/`.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Paths and texts of all pages of models."""
    yield "models/index.md", _overview()
    for name in models():
        yield name.page, page(name)
    yield "models/functions.md", _functions()


def models() -> list[Name]:
    """All models, in the order of the command line's list."""
    found = {name.value: name for name in names() if name.is_model}
    return [found[model] for model in rb.MODELS]


def page(name: Name) -> str:
    """Page of a model."""
    model = name.value
    quantities = ", ".join(f"[`{each}`](../quantities.md#{each})" for each in model.reports)
    return titled(
        name.name,
        documented(name.path, members="false", inherited_members="false"),
        f"The model is `{model.name()}` on the command line. It also has the"
        " [methods of all models](index.md#methods).\n",
        f"## Quantities {{ #quantities }}\n\n{quantities}\n",
        _example(model),
        *_stan(model),
    )


def files() -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the images."""
    for model in rb.MODELS:
        for mode, image in _run(model)[1].items():
            yield f"models/{model.name()}_{mode}.png", image


def _run(model: type[rb.RatingModel]) -> tuple[str, dict[str, bytes]]:
    """What the example of a model prints, and its plot by mode."""
    found: tuple[str, dict[str, bytes]] = printed_and_drawn(example(model), plot(model), version())
    return found


def _example(model: type[rb.RatingModel]) -> str:
    """Example of a model, with what it prints and a plot."""
    return "\n\n".join(
        [
            "## Example { #example }",
            f"```python\n{example(model)}\n```",
            f"```text\n{_run(model)[0].rstrip()}\n```",
            f"```python\n{plot(model)}\n```",
            pictures(model.name(), f"Plot of a fit of {model.__name__}"),
            "",
        ]
    )


def programs(model: type[rb.RatingModel]) -> list[Path]:
    """Its Stan programs in the package: the one of its name, and those for other sizes of data.

    Models of two categories have the programs of those of ordered categories.
    """
    name = _stem(model).replace("logit", "ordinal")
    return [STAN / f"{name}.stan", *sorted(STAN.glob(f"{name}_*.stan"))]


def _stem(model: type[rb.RatingModel]) -> str:
    return model.name().replace("-", "_")


def _stan(model: type[rb.RatingModel]) -> Iterator[str]:
    """The model as a plain program, where there is one, and as the programs of the package."""
    plain = STAN / "reference" / f"{_stem(model)}.stan"
    yield "## Stan { #stan }\n"
    if plain.exists():
        yield "The model as a plain Stan program, which needs no other file:\n"
        yield _program(plain)
        yield (
            "The package samples the same posterior faster, with the densities and gradients"
            " described in [The programs](../programs.md):\n"
        )
    yield from map(_program, programs(model))


def _overview() -> str:
    """Table of the models, and the methods of all models."""
    rows = [
        f"| [`{name.name}`]({name.value.name()}.md) | {name.value.summary} |" for name in models()
    ]
    methods = [_method(part) for part in OF_ALL_MODELS]
    heading = "\n## Methods of all models { #methods }\n"
    return OVERVIEW + "\n".join([*rows, heading, *methods])


def _method(part: str) -> str:
    """A method, as the first model that has it documents it."""
    having = [name for name in models() if hasattr(name.value, part)]
    which = "" if len(having) == len(rb.MODELS) else "Only models of categories have this method.\n"
    return f"{documented(f'{having[0].path}.{part}', heading_level=3)}\n{which}"


def _program(path: Path) -> str:
    """Text of a program, with links to the functions that it includes."""
    text = path.read_text()
    used = [f"[`{name}`](functions.md#{name})" for name in INCLUDED.findall(text)]
    shared = f"\n\nIts functions: {', '.join(used)}." if used else ""
    return f'```stan title="{path.relative_to(STAN.parent)}"\n{text.strip()}\n```{shared}\n'


def _functions() -> str:
    """Texts of the functions that programs share."""
    parts = [
        f"## {path.stem} {{ #{path.stem} }}\n\n```stan\n{path.read_text().strip()}\n```\n"
        for path in sorted(STAN.glob("functions/*.stanfunctions"))
    ]
    return "\n".join([FUNCTIONS, *parts])
