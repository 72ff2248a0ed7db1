"""A page for each model, from its docstring, its fields and its Stan programs."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import reliabayes as rb

from .docstrings import markdown
from .examples import example
from .files import ROOT
from .names import OF_ALL_MODELS, Name, link, links, names
from .reference import call, shown

STAN = ROOT / "stan"
INCLUDED = re.compile(r"#include functions/(\w+)\.stanfunctions")


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
    return "\n".join(
        [
            f"# {name.name}\n",
            markdown(inspect.getdoc(model) or "", links(name.page, name), level=2),
            f"\nOn the command line it is `{model.name()}`. Besides what stands here it has the"
            " [methods of all models](index.md#methods).\n",
            "## Quantities { #quantities }\n",
            ", ".join(f"[`{each}`](../quantities.md#{each})" for each in model.reports) + "\n",
            "## Defaults { #defaults }\n",
            "| argument | default |",
            "|---|---|",
            *(f"| `{each.name}` | {_default(each)} |" for each in dataclasses.fields(model)),
            "\n## Example { #example }\n",
            f"```python\n{example(model)}\n```\n",
            "## Stan { #stan }\n",
            *(_program(path) for path in programs(model)),
        ]
    )


def programs(model: type[rb.RatingModel]) -> list[Path]:
    """Its Stan programs: the one of its name, and those for other sizes of data."""
    name = model.name().replace("-", "_")
    return [STAN / f"{name}.stan", *sorted(STAN.glob(f"{name}_*.stan"))]


def _overview() -> str:
    """What there is to choose from, and the methods of all models."""
    rows = [
        f"| [`{name.name}`]({name.value.name()}.md) | {name.value.summary} |" for name in models()
    ]
    told = [_method(part) for part in OF_ALL_MODELS]
    return "\n".join(
        [
            "# Models\n",
            "A model holds hyperparameters and no data: `rb.DawidSkene(prior_prevalence=...)`. Its"
            " method `fit` takes ratings and gives a"
            f" [`Fit`]({link('Fit', 'models/index.md')}).\n",
            "| model | for |",
            "|---|---|",
            *rows,
            "\n## Methods of all models { #methods }\n",
            *told,
        ]
    )


def _method(part: str) -> str:
    """A method under a heading, as the first model that has it tells of it."""
    name = next(name for name in models() if hasattr(name.value, part))
    function = getattr(name.value, part)
    of = {name.name for name in models() if hasattr(name.value, part)}
    head = f"### {part} {{ #{part} }}\n"
    text = markdown(inspect.getdoc(function) or "", links("models/index.md", name), level=4)
    which = "" if len(of) == len(rb.MODELS) else "Models of categories that are hidden have it.\n"
    return "\n".join([head, call(f"model.{part}", function), "", which, text, ""])


def _default(field: dataclasses.Field[object]) -> str:
    """Default of an argument; None of a prior stands for one that follows from the ratings."""
    if field.default is None and field.name.startswith("prior_"):
        return "from the ratings, see above"
    return f"`{shown(field.default)}`"


def _program(path: Path) -> str:
    """Text of a program, with links to the functions that it includes."""
    text = path.read_text()
    used = [f"[`{name}`](functions.md#{name})" for name in INCLUDED.findall(text)]
    shared = f"\n\nIts functions: {', '.join(used)}." if used else ""
    return f'```stan title="{path.name}"\n{text.strip()}\n```{shared}\n'


def _functions() -> str:
    """Texts of the functions that programs share."""
    parts = [
        f"## {path.stem} {{ #{path.stem} }}\n\n```stan\n{path.read_text().strip()}\n```\n"
        for path in sorted(STAN.glob("functions/*.stanfunctions"))
    ]
    opening = (
        "Formulas that several programs share. What is declared here without a body is written in"
        " C++ with its gradient, in `stan/cpp/`.\n"
    )
    return "\n".join(["# Stan functions\n", opening, *parts])
