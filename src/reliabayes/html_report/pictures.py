"""Plots as data URLs, with title and note as text; the style sheet inverts them in dark mode."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reliabayes.html_report.blocks import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_SVG = 240_000  # characters; larger plots become bitmaps
BITMAP_DPI = 160
CSS_WIDTH = 984  # pixels of the page's column, which pictures fill
STYLE = {
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "figure.figsize": (8.0, 3.6),
    "font.size": 12,  # large enough for narrow screens, to which pictures shrink
    "savefig.facecolor": "auto",
    "svg.fonttype": "path",
    "svg.hashsalt": "reliabayes",
}


def picture(draw: Callable[[], Axes], *, as_bitmap: bool = False) -> Picture:
    """Picture of a plot, on a transparent background.

    Parameters
    ----------
    draw : callable
        Calls a function of `reliabayes.plots` and returns its Axes.
    as_bitmap : bool, default False
        Whether the plot has too many markers for vector graphics.

    Returns
    -------
    Picture
        Title and note of the plot are texts, not part of the picture.
    """
    import matplotlib.pyplot as plt

    with plt.style.context(["default", STYLE]), plt.ioff():
        ax = draw()
        figure: Any = ax.figure
        try:
            finding, note = _take_texts(ax)
            address = _data_url(figure, as_bitmap)
            width, height = figure.get_size_inches()
        finally:
            plt.close(figure)
    return Picture(address, finding, note, CSS_WIDTH, round(CSS_WIDTH * height / width))


def _take_texts(ax: Any) -> tuple[str, str]:
    """Title and note of a plot, removed from it: on the page they are texts."""
    finding = ax.get_title(loc="left")
    ax.set_title("", loc="left")
    note = next(text for text in ax.texts if getattr(text, "xy", None) == (0, 1))
    note.remove()
    return " ".join(finding.split()), " ".join(note.get_text().split())


def _data_url(figure: Any, as_bitmap: bool) -> str:
    """The plot as a data URL: SVG unless that is too large, else PNG."""
    if not as_bitmap:
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        drawn = io.StringIO()
        figure.set_dpi(BITMAP_DPI)
        # Unlike savefig, which draws once to arrange the axes and once more to write, draw once.
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(drawn, metadata={"Date": None, "Creator": None})
        svg = _compressed(drawn.getvalue())
        if len(svg) <= MAX_SVG:
            return f"data:image/svg+xml,{quote(svg, safe=' =:/;,()!*$+-._@|^?')}"
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None}, dpi=BITMAP_DPI)
    return f"data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}"


def _compressed(svg: str) -> str:
    """The SVG without metadata, and with paths rounded to hundredths of a point."""
    svg = re.sub(
        r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S
    )
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), svg)
    return re.sub(r"\s+", " ", svg.replace('"', "'")).strip()
