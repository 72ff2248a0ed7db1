"""Formulas as MathML, which browsers show without a script."""

from __future__ import annotations

import html
import logging
import re
from functools import cache

from latex2mathml.converter import convert

LOG = logging.getLogger("mkdocs.hooks.formulas")  # a warning fails the strict build
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.+?)\\[)\]]</(?P=tag)>', re.DOTALL
)
PLAIN = {
    r"\Pr": r"\operatorname{Pr}",
    r"\lceil": "⌈",
    r"\rceil": "⌉",
}  # unknown commands


def with_mathml(page: str) -> str:
    """HTML with the formulas that Markdown has marked as MathML."""
    return FORMULA.sub(lambda match: mathml(match["tex"], match["tag"] == "div"), page)


@cache
def mathml(tex: str, displayed: bool) -> str:
    """MathML of a formula, displayed on its own line or inline."""
    tex = html.unescape(tex).strip()
    for command, plain in PLAIN.items():
        tex = tex.replace(command, plain)
    shown = convert(tex, display="block" if displayed else "inline")
    if "\\" in shown:
        LOG.warning("Formula with a command that MathML does not have: %s", tex)
    return shown
