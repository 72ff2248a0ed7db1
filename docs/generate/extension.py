"""The extension of griffe that lets mkdocstrings read our docstrings."""

# griffe comes with the extra "docs" and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,misc"

from __future__ import annotations

from typing import Any

import griffe

from .docstrings import markdown


class Markdown(griffe.Extension):
    """Convert the docstrings of the package to Markdown when griffe has read it."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Convert the docstrings of all objects of the package."""
        _convert(pkg)


def _convert(thing: griffe.Object) -> None:
    if thing.docstring:
        thing.docstring.value = markdown(thing.docstring.value, thing.path)
    for member in thing.members.values():
        if isinstance(member, griffe.Object):
            _convert(member)
