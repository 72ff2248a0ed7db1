"""The API reference: a page for each public name."""

from __future__ import annotations

import inspect
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from .docstrings import first_line, markdown, sections
from .gallery import picture
from .names import MODULES, Name, function_of, is_property, links, members, names

WIDE = 88  # columns, from which on a call is folded


def pages() -> Iterator[tuple[str, str]]:
    """Paths and texts of all pages of the reference, but for those of models."""
    yield "reference/index.md", _overview()
    for module in MODULES:
        yield f"reference/{module}/index.md", _module(module)
        for name in names():
            if name.page.startswith(f"reference/{module}/") and not inspect.ismodule(name.value):
                yield name.page, page(name)


def page(name: Name) -> str:
    """Page of a name."""
    title, value = f"# {name.name}\n\n", name.value
    if isinstance(value, (tuple, Mapping)):
        keys = [getattr(key, "__name__", key) for key in value]
        return f"{title}`{name.called}`: {name.says(name.page)}\n\n{_listed(keys)}\n"
    doc = inspect.getdoc(value) or ""
    text = markdown(doc, links(name.page, name), level=2)
    if not inspect.isclass(value):
        return f"{title}{call(name.called, value)}\n\n{text}\n{_picture(name)}"
    made = call(name.called, value) if _is_made_by_hand(value, doc) else f"`{name.called}`"
    parts = [member(name, part, found) for part, found in members(value).items()]
    return "\n".join([f"{title}{made}\n\n{text}\n", *_headed(parts)])


def member(name: Name, part: str, value: Any) -> str:
    """A method or property under a heading, whose anchor is its name."""
    text = markdown(inspect.getdoc(value) or "", links(name.page, name), level=4)
    head = f"### {part} {{: #{part} }}"
    if is_property(value):
        return f"{head}\n\n{text}\n"
    owner = name.called if isinstance(value, (classmethod, staticmethod)) else name.name.lower()
    return f"{head}\n\n{call(f'{owner}.{part}', function_of(value))}\n\n{text}\n"


def call(called: str, function: Any) -> str:
    """How a function is called, as code."""
    signature = inspect.signature(function)
    shown: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not any(s[0] == "*" for s in shown):
            shown.append("*")
        shown.append(_parameter(parameter))
    returned = signature.return_annotation
    end = f") -> {returned}" if isinstance(returned, str) and returned != "None" else ")"
    line = f"{called}({', '.join(shown)}{end}"
    if len(line) > WIDE:
        line = "\n".join([f"{called}(", *(f"    {each}," for each in shown), end])
    return f"```python\n{line}\n```"


def _is_made_by_hand(kind: type, doc: str) -> bool:
    """Whether users call it; classes that list their attributes are results."""
    is_result = "Attributes" in sections(doc) or issubclass(kind, BaseException)
    return not is_result and not inspect.isabstract(kind)


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    if parameter.default is parameter.empty:
        return f"{star}{parameter.name}{kind}"
    return f"{star}{parameter.name}{kind} {'= ' if kind else '='}{shown(parameter.default)}"


def shown(value: Any) -> str:
    """A default as one would write it."""
    if isinstance(value, MappingProxyType):
        return "COEFFICIENTS" if len(value) > 3 else repr(dict(value))
    return value.__name__ if inspect.isfunction(value) else repr(value)


def _picture(name: Name) -> str:
    """What a function of plots draws, with what it is given explained in the gallery."""
    if name.module != "plots":
        return ""
    shown = picture(name.name, "../../", (inspect.getdoc(name.value) or "").partition("\n")[0])
    return f"\n## Picture {{: .section }}\n\nOf [these results](../../gallery.md).\n\n{shown}"


def _headed(parts: list[str]) -> list[str]:
    return ["## Methods and properties\n", *parts] if parts else []


def _listed(names: Iterable[object]) -> str:
    return "\n".join(f"- `{name}`" for name in names)


def _overview() -> str:
    return "\n".join(
        [
            "# API reference",
            "",
            "`import reliabayes as rb` gives all of it; `from reliabayes import quantities` the"
            " formulas on draws. Each public name has a page.",
            "",
            "| module | what for |",
            "|---|---|",
            *(f"| [`{module}`]({module}/index.md) | {_says(module)} |" for module in MODULES),
            "",
        ]
    )


def _module(module: str) -> str:
    here = f"reference/{module}/index.md"
    rows = [
        f"| [`{name.called}`]({posixpath.relpath(name.page, posixpath.dirname(here))}) "
        f"| {name.says(here).replace('|', chr(92) + '|')} |"
        for name in names()
        if name.module == module and not inspect.ismodule(name.value)
    ]
    doc = markdown(inspect.getdoc(MODULES[module]) or "", links(here, module), level=2)
    return "\n".join([f"# {module}", "", doc, "", "| name | what it is |", "|---|---|", *rows, ""])


def _says(module: str) -> str:
    return first_line(inspect.getdoc(MODULES[module]) or "", lambda _: None)
