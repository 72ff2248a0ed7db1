"""Formulas as MathML, which browsers show without a script."""

from __future__ import annotations

import html
import re
from functools import cache

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.+?)\\[)\]]</(?P=tag)>', re.DOTALL
)
PLAIN = {r"\Pr": r"\operatorname{Pr}", r"\lceil": "⌈", r"\rceil": "⌉"}  # what it does not know


def with_mathml(page: str) -> str:
    """HTML in which the formulas that Markdown has marked are MathML."""
    return FORMULA.sub(lambda match: mathml(match["tex"], match["tag"] == "div"), page)


@cache
def mathml(tex: str, displayed: bool) -> str:
    """A formula, in a line of its own or in the text."""
    tex = html.unescape(tex).strip()
    for command, plain in PLAIN.items():
        tex = tex.replace(command, plain)
    return convert(tex, display="block" if displayed else "inline")
