"""The markup of docstrings, which is reStructuredText, as Markdown for mkdocstrings."""

from __future__ import annotations

import inspect
import re

from .names import identifier

MATH = re.compile(r"^([ ]*)\.\. math:: *(.+(?:\n\1[ ]+\S.*)*)", re.MULTILINE)
INLINE_MATH = re.compile(r":math:`([^`]+)`")
CODE = re.compile(r"(``.+?``|\$\$.+?\$\$|\$[^$]+\$)", re.DOTALL)
LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
REFERENCE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
ADDRESS = re.compile(r"https?://[^\s;,)]+[^\s;,).]")
REFERENCES = re.compile(r"(?<=References\n----------\n).+?(?=\n\n|\Z)", re.DOTALL)
START = re.compile(r"^(?=[A-Z].*\(\d{4}\))", re.MULTILINE)  # of a reference: its author and year


def markdown(docstring: str, path: str) -> str:
    """Markdown of the docstring of the object at a path; sections keep their headings."""
    return prose(REFERENCES.sub(_listed, inspect.cleandoc(docstring)), path)


def prose(text: str, path: str) -> str:
    """Formulas, code, links to public names and addresses of a text."""

    def linked(match: re.Match[str]) -> str:
        found = identifier(match[1], path)
        return f"[`{match[1]}`][{found}]" if found else f"`{match[1]}`"

    text = INLINE_MATH.sub(r"$\1$", MATH.sub(_displayed, text))
    parts = CODE.split(text)
    parts[::2] = [ADDRESS.sub(r"<\g<0>>", REFERENCE.sub(linked, part)) for part in parts[::2]]
    return LITERAL.sub(r"`\1`", "".join(parts))


def _displayed(match: re.Match[str]) -> str:
    formula = " ".join(line.strip() for line in match[2].splitlines())
    return f"{match[1]}$$ {formula} $$"


def _listed(match: re.Match[str]) -> str:
    return START.sub("- ", match[0])
