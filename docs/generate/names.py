"""Public names, from what modules export, and the page of each."""

from __future__ import annotations

import inspect
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import reliabayes as rb
from reliabayes.results import quantities

from .docstrings import Link, first_line

MODULES: Mapping[str, ModuleType] = {
    "reliabayes": rb,
    "agreement": rb.agreement,
    "plots": rb.plots,
    "simulate": rb.simulate,
    "quantities": quantities,
    "guidelines": rb.guidelines,
    "datasets": rb.datasets,
}
OF_ALL_MODELS = ("fit", "em", "simulate", "draw_parameters")  # told once, for all models


@dataclass(frozen=True)
class Name:
    """A public name."""

    module: str
    name: str
    value: Any

    @property
    def page(self) -> str:
        """Path of its page."""
        if inspect.ismodule(self.value):
            return f"reference/{self.name}/index.md"
        if self.is_model:
            return f"models/{self.value.name()}.md"
        return f"reference/{self.module}/{self.name}.md"

    @property
    def called(self) -> str:
        """What one writes to use it."""
        if self.module == "reliabayes":
            return f"rb.{self.name}"
        return f"{'' if self.module == 'quantities' else 'rb.'}{self.module}.{self.name}"

    @property
    def is_model(self) -> bool:
        """Whether it is one of the models."""
        return inspect.isclass(self.value) and self.value in rb.MODELS

    def says(self, page: str) -> str:
        """What it is, in a line on a page."""
        if isinstance(self.value, (tuple, Mapping)):
            return f"All {len(self.value)} that there are."
        return first_line(inspect.getdoc(self.value) or "", links(page, self))

    def address(self, part: str) -> str | None:
        """Path of where one of its methods or properties is told of."""
        if not inspect.isclass(self.value) or part not in members(self.value):
            return None
        if not self.is_model:
            return f"{self.page}#{part}"
        return f"models/index.md#{part}" if part in OF_ALL_MODELS else None


@cache
def names() -> tuple[Name, ...]:
    """All public names."""
    return tuple(
        Name(label, name, getattr(module, name))
        for label, module in MODULES.items()
        for name in exported(module)
    )


def exported(module: ModuleType) -> Sequence[str]:
    """Names that a module exports; where it does not say, the functions that it defines."""
    own = [
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and name[0] != "_"
    ]
    return list(getattr(module, "__all__", own))


def members(kind: type) -> dict[str, Any]:
    """Public methods and properties of a class, inherited ones too, by name."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("reliabayes"):
            found |= {
                name: value
                for name, value in vars(base).items()
                if name[0] != "_" and (is_property(value) or inspect.isfunction(function_of(value)))
            }
    return found


def is_property(value: object) -> bool:
    """Whether a member of a class is read, not called."""
    return isinstance(value, (property, cached_property))


def function_of(value: Any) -> Callable[..., Any]:
    """The function of a method, whatever kind of method it is."""
    function: Callable[..., Any] = getattr(value, "__func__", value)
    return function


def links(page: str, of: Name | str = "reliabayes") -> Link:
    """Addresses on a page of names as the docstring of a name, or of a module, has them."""
    return lambda text: link(text, page, of)


def link(text: str, page: str, of: Name | str = "reliabayes") -> str | None:
    """Address of a name from a page; None if it is not public, or is that of the page itself."""
    module = of if isinstance(of, str) else of.module
    if isinstance(of, Name) and (own := of.address(text)):
        return _relative(own, page)
    parts = text.removeprefix("rb.").split(".")
    while len(parts) > 1 and parts[0] in MODULES:
        module, *parts = parts
    near = [name for name in names() if name.module in (module, "reliabayes")]
    found = [name for name in near if name.name == parts[0]]
    if not found or len(parts) > 2:
        return None
    found.sort(key=lambda name: name.module != module)
    target = found[0].page if len(parts) == 1 else found[0].address(parts[1])
    return None if target in (None, page) else _relative(target, page)


def _relative(target: str, page: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page))
