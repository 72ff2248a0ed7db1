"""Docstrings, which are numpydoc in reStructuredText, as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator

Link = Callable[[str], str | None]  # address of a name in single backticks, if it has one

HEADING = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
MATH = re.compile(r"^([ ]*)\.\. math:: *(.+(?:\n\1[ ]+\S.*)*)", re.MULTILINE)
INLINE_MATH = re.compile(r":math:`([^`]+)`")
LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
REFERENCE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
ADDRESS = re.compile(r"https?://[^\s;,)]+[^\s;,).]")
CLASS = re.compile(r"(?<!`)\b[A-Z]\w+\b(?!`|\.)")
TERM = re.compile(r"\*?\w+")
ENTRIES = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "See Also")


def sections(docstring: str) -> dict[str, str]:
    """Text of each section by its title; what stands before them has the title ``""``."""
    opening, *others = HEADING.split(inspect.cleandoc(docstring))
    found = {"": opening.strip()}
    for title, body in zip(others[::2], others[1::2], strict=True):
        found[title] = body.strip("\n")
    return found


def first_line(docstring: str, link: Link) -> str:
    """What a docstring says in its first line."""
    return prose(docstring.strip().partition("\n")[0], link)


def markdown(docstring: str, link: Link, level: int) -> str:
    """A docstring with its sections under headings of a level."""
    parts = []
    for title, body in sections(docstring).items():
        if title:
            parts.append(f"{'#' * level} {title} {{: .section }}")
        parts.append(_body(title, body, link))
    return "\n\n".join(parts)


def prose(text: str, link: Link) -> str:
    """Paragraphs, formulas and lists."""

    def referred(match: re.Match[str]) -> str:
        address = link(match[1])
        return f"[`{match[1]}`]({address})" if address else f"`{match[1]}`"

    text = MATH.sub(_displayed, text)
    text = INLINE_MATH.sub(r"$\1$", text)
    kept = re.split(r"(``.+?``|\$\$.+?\$\$|\$[^$]+\$)", text, flags=re.DOTALL)
    kept[::2] = [ADDRESS.sub(r"<\g<0>>", REFERENCE.sub(referred, part)) for part in kept[::2]]
    return LITERAL.sub(r"`\1`", "".join(kept))


def _displayed(match: re.Match[str]) -> str:
    formula = " ".join(line.strip() for line in match[2].splitlines())
    return f"{match[1]}$$ {formula} $$"


def _body(title: str, body: str, link: Link) -> str:
    if title == "Examples":
        return f"```pycon\n{body.strip()}\n```"
    if title == "References":
        return "\n".join(f"- {prose(reference, link)}" for reference in _references(body))
    if title in ENTRIES:
        return "\n\n".join(_entry(title, *entry, link) for entry in _entries(body))
    return prose(body, link)


def _references(body: str) -> Iterator[str]:
    """Each reference in a line: one ends where a line ends with an address."""
    ends = re.split(r"(?<=\S)(?<!;)(?<!,)\n(?=[A-Z])", body.strip())
    pending = ""
    for part in ends:
        pending = f"{pending} {' '.join(part.split())}".strip()
        if ADDRESS.search(pending.split()[-1]):
            yield pending
            pending = ""
    if pending:
        yield pending


def _entries(body: str) -> Iterator[tuple[str, str]]:
    """Lines that are not indented, each with the indented text below it."""
    for part in re.split(r"\n(?=\S)", body.strip("\n")):
        line, _, rest = part.partition("\n")
        yield line, textwrap.dedent(rest).strip("\n")


def _entry(title: str, line: str, text: str, link: Link) -> str:
    """A term and what it means, as a list of definitions has them."""
    names, _, kind = line.partition(" : ")
    terms = [name.strip() for name in names.split(",")]
    if title in ("Parameters", "Attributes"):
        if not all(TERM.fullmatch(term) for term in terms):
            return prose(f"{line}\n{text}", link)
        if text and _goes_on(kind, text):
            kind, text = f"{kind} {text}", ""
        term = ", ".join(f"`{name}`" for name in terms)
        kind = CLASS.sub(lambda match: f"`{match[0]}`" if link(match[0]) else match[0], kind)
        if text and kind:
            term = f"{term}: {prose(kind, link)}"
        return _definition(term, text or kind, link)
    if title == "See Also":
        return _definition(prose(f"`{names}`", link), kind, link)
    if not text or _goes_on(line, text):
        return prose(f"{line} {text}", link)
    return _definition(prose(f"`{line}`" if line.isidentifier() else line, link), text, link)


def _goes_on(line: str, text: str) -> bool:
    """Whether indented text goes on with a sentence, rather than explaining a type."""
    return text[0].islower() or line.endswith(":") or any(mark in line for mark in (". ", "; "))


def _definition(term: str, text: str, link: Link) -> str:
    body = textwrap.indent(prose(text, link), "    ").strip()
    return f"{term}\n:   {body or '&nbsp;'}"
