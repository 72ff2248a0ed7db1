"""Pictures of `reliabayes.plots` as addresses that hold all of them, words apart."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reliabayes.html_report.blocks import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 120_000  # letters of a drawing; what takes more is painted
PER_INCH = 160  # points of what is painted
SCALE = 104  # of the page's own pixels to an inch
PAPER = {"light": "#ffffff", "dark": "#14181d"}  # as in the style sheet
STYLE = {"light": ["default"], "dark": ["default", "dark_background"]}


def picture(draw: Callable[[], Axes], *, painted: bool = False) -> Picture:
    """Picture of what a function of `reliabayes.plots` draws, its finding and note as texts.

    It is drawn for light paper and for dark. ``painted`` is for what has too many marks to be
    drawn.
    """
    light, dark = (_on_paper(scheme, draw, painted) for scheme in ("light", "dark"))
    return replace(light, on_dark=dark.on_light)


def _on_paper(scheme: str, draw: Callable[[], Axes], painted: bool) -> Picture:
    import matplotlib.pyplot as plt

    own: dict[str, Any] = {
        "axes.facecolor": PAPER[scheme],
        "figure.facecolor": "none",
        "savefig.facecolor": "auto",
        "svg.fonttype": "path",
        "svg.hashsalt": "reliabayes",
    }
    with plt.style.context([*STYLE[scheme], own]), plt.ioff():
        ax = draw()
        figure: Any = ax.figure
        try:
            finding, note = _words(ax)
            address = _address(figure, painted)
            width, height = (int(SCALE * inches) for inches in figure.get_size_inches())
        finally:
            plt.close(figure)
    return Picture(address, address, finding, note, width, height)


def _words(ax: Any) -> tuple[str, str]:
    """Finding and note of a picture, taken off it: on the page they are texts."""
    finding = ax.get_title(loc="left")
    ax.set_title("", loc="left")
    note = next(text for text in ax.texts if getattr(text, "xy", None) == (0, 1))
    note.remove()
    return " ".join(finding.split()), " ".join(note.get_text().split())


def _address(figure: Any, painted: bool) -> str:
    """The picture: drawn if that does not take too much, else painted."""
    if not painted:
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None}, dpi=PER_INCH)
        svg = _small(drawn.getvalue())
        if len(svg) <= LARGEST:
            return f"data:image/svg+xml,{quote(svg, safe=' =:/;,()!*$+-._@|^?')}"
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None}, dpi=PER_INCH)
    return f"data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}"


def _small(svg: str) -> str:
    """The same drawing without what only its maker needs, its paths to hundredths of a point."""
    svg = re.sub(
        r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S
    )
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), svg)
    return re.sub(r"\s+", " ", svg.replace('"', "'")).strip()
