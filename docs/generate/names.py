"""Public names, from what modules export, and the page of each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import reliabayes as rb
from reliabayes.results import quantities

MODULES: Mapping[str, ModuleType] = {
    "reliabayes": rb,
    "agreement": rb.agreement,
    "partitions": rb.partitions,
    "plots": rb.plots,
    "simulate": rb.simulate,
    "design": rb.design,
    "quantities": quantities,
    "guidelines": rb.guidelines,
    "datasets": rb.datasets,
    "readers": rb.readers,
}
OF_ALL_MODELS = (  # documented once, for all models
    *("fit", "em", "simulate", "draw_parameters"),
    *("stan_data", "cmdstan_model", "inits", "sample_arguments"),
)


@dataclass(frozen=True)
class Name:
    """A public name."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """Import path, by which mkdocstrings identifies it."""
        return f"{MODULES[self.module].__name__}.{self.name}"

    @property
    def page(self) -> str:
        """Path of its page."""
        if self.is_model:
            return f"models/{self.value.name()}.md"
        return f"reference/{self.module}/{self.name}.md"

    @property
    def called(self) -> str:
        """How users write it."""
        if self.module == "reliabayes":
            return f"rb.{self.name}"
        return f"{'' if self.module == 'quantities' else 'rb.'}{self.module}.{self.name}"

    @property
    def is_model(self) -> bool:
        """Whether it is one of the models."""
        return inspect.isclass(self.value) and self.value in rb.MODELS

    @property
    def is_constant(self) -> bool:
        """Whether it is a tuple or mapping, which has no docstring."""
        return isinstance(self.value, (tuple, Mapping))


@cache
def names() -> tuple[Name, ...]:
    """All public names but those of modules."""
    return tuple(
        Name(label, name, getattr(module, name))
        for label, module in MODULES.items()
        for name in _exported(module)
        if not inspect.ismodule(getattr(module, name))
    )


def identifier(text: str, path: str) -> str | None:
    """Identifier of a public name as the docstring of the object at a path writes it."""
    name = text.removeprefix("rb.").removeprefix("reliabayes.")
    scopes = reversed(path.split(".")) if name == text else ()
    candidates = [*(f"{scope}.{name}" for scope in scopes), name]
    return next((_identifiers()[each] for each in candidates if each in _identifiers()), None)


@cache
def _identifiers() -> dict[str, str]:
    """Identifiers by name, without the package; of members of classes too."""
    found = {}
    for name in names():
        if name.is_constant:
            continue
        prefix = "" if name.module == "reliabayes" else f"{name.module}."
        found[f"{prefix}{name.name}"] = name.path
        if inspect.isclass(name.value) and not name.is_model:
            parts = {f"{name.name}.{part}": f"{name.path}.{part}" for part in _members(name.value)}
            found |= parts | {f"{prefix}{part}": path for part, path in parts.items()}
    return found


def _exported(module: ModuleType) -> Sequence[str]:
    """Names that a module exports; without ``__all__``, the functions that it defines."""
    own = [
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and name[0] != "_"
    ]
    return list(getattr(module, "__all__", own))


def _members(kind: type) -> set[str]:
    """Names of public methods and properties of a class, inherited ones included."""
    return {
        name
        for base in kind.__mro__
        if base.__module__.startswith("reliabayes")
        for name, value in vars(base).items()
        if name[0] != "_" and _is_documented(value) and inspect.getdoc(value)
    }


def _is_documented(value: Any) -> bool:
    """Whether a member is a method or a property, rather than a field."""
    kinds = (property, cached_property, classmethod, staticmethod)
    return isinstance(value, kinds) or inspect.isfunction(value)
