"""The API reference: a page for each public name, which mkdocstrings fills from its docstring."""

from __future__ import annotations

import inspect
import posixpath
from collections.abc import Iterator

from .docstrings import prose
from .gallery import picture
from .names import MODULES, Name, names

OVERVIEW = """\
# API reference

Everything is available from `import reliabayes as rb`, except for the formulas on draws:
`from reliabayes.results import quantities`. Each public name has a page.

| module | contents |
|---|---|
"""


def pages() -> Iterator[tuple[str, str]]:
    """Paths and texts of all pages of the reference, except for those of models."""
    rows = [f"| [`{module}`]({module}/index.md) | {_summary(module)} |" for module in MODULES]
    yield "reference/index.md", OVERVIEW + "\n".join([*rows, ""])
    for module in MODULES:
        yield f"reference/{module}/index.md", _module(module)
        for name in names():
            if name.page.startswith(f"reference/{module}/"):
                yield name.page, page(name)


def page(name: Name) -> str:
    """Page of a name."""
    if name.is_constant:
        keys = [f"- `{getattr(key, '__name__', key)}`" for key in name.value]
        return "\n".join([f"# {name.name}\n", f"`{name.called}`: {_line(name)}\n", *keys, ""])
    return titled(name.name, documented(name.path), _picture(name))


def titled(title: str, *parts: str) -> str:
    """Page whose heading mkdocstrings writes."""
    return "\n".join([f"---\ntitle: {title}\n---\n", *parts])


def documented(path: str, **options: object) -> str:
    """Block that mkdocstrings replaces by the documentation of the object at a path."""
    listed = "".join(f"        {option}: {value}\n" for option, value in options.items())
    return f"::: {path}\n" + (f"    options:\n{listed}" if listed else "")


def _module(module: str) -> str:
    """Introduction of a module and a table of its names."""
    here = f"reference/{module}"
    rows = [
        f"| [`{name.called}`]({posixpath.relpath(name.page, here)}) | {_line(name)} |"
        for name in names()
        if name.module == module
    ]
    introduction = documented(MODULES[module].__name__, members="false", show_root_heading="false")
    return "\n".join([f"# {module}\n", introduction, "| name | meaning |\n|---|---|", *rows, ""])


def _line(name: Name) -> str:
    """First line of the docstring of a name, for a table."""
    if name.is_constant:
        return f"All {len(name.value)} entries."
    first = (inspect.getdoc(name.value) or "").partition("\n")[0]
    return prose(first, name.path).replace("|", "\\|")


def _summary(module: str) -> str:
    return (inspect.getdoc(MODULES[module]) or "").partition("\n")[0]


def _picture(name: Name) -> str:
    """Plot that a function of plots draws, with a link to the results that it shows."""
    if name.module != "plots":
        return ""
    shown = picture(name.name, "../../", (inspect.getdoc(name.value) or "").partition("\n")[0])
    return f"## Plot {{ .section }}\n\nOf [these results](../../gallery.md).\n\n{shown}"
