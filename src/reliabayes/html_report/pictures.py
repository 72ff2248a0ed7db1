"""Plots as data URLs for light and dark backgrounds, with title and note as text."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reliabayes.html_report.blocks import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_SVG = 120_000  # characters; larger plots become bitmaps
BITMAP_DPI = 160
CSS_DPI = 104  # CSS pixels per inch of a plot
BACKGROUND = {"light": "#ffffff", "dark": "#14181d"}  # as in the style sheet
STYLE = {"light": ["default"], "dark": ["default", "dark_background"]}


def picture(draw: Callable[[], Axes], *, as_bitmap: bool = False) -> Picture:
    """Picture of a plot, drawn for a light and for a dark background.

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
    light, places = _on_background("light", draw, as_bitmap)
    is_bitmap = as_bitmap or light.on_light.startswith("data:image/png")
    dark, _ = _on_background("dark", draw, is_bitmap, places)
    return replace(light, on_dark=dark.on_light)


def _on_background(
    scheme: str, draw: Callable[[], Axes], as_bitmap: bool, places: Sequence[Any] | None = None
) -> tuple[Picture, Sequence[Any]]:
    """Picture, and places of its axes, which are the same on both backgrounds."""
    import matplotlib.pyplot as plt

    own: dict[str, Any] = {
        "axes.facecolor": BACKGROUND[scheme],
        "figure.facecolor": "none",
        "savefig.facecolor": "auto",
        "svg.fonttype": "path",
        "svg.hashsalt": "reliabayes",
    }
    with plt.style.context([*STYLE[scheme], own]), plt.ioff():
        ax = draw()
        figure: Any = ax.figure
        try:
            finding, note = _take_texts(ax)
            if places is not None:  # arranging axes takes as long as drawing them
                figure.set_layout_engine("none")
                for axes, place in zip(figure.axes, places, strict=True):
                    axes.set_position(place)
            url = _data_url(figure, as_bitmap)
            places = [axes.get_position() for axes in figure.axes]
            width, height = (int(CSS_DPI * inches) for inches in figure.get_size_inches())
        finally:
            plt.close(figure)
    return Picture(url, url, finding, note, width, height), places


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
