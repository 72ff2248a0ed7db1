"""Colours and markers for light and dark backgrounds, legible in grey and if colour-blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

Colour = tuple[float, float, float]

# They differ in lightness too, except for the fourth, which is used last.
ON_LIGHT = ("#0B4F8C", "#D55E00", "#EFB036", "#7B2D6E")
ON_DARK = ("#7CC4F2", "#E07B2A", "#F7E3A1", "#C79BD6")
STYLES = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."))  # markers and lines, beside colours
# Inks of categories without order, which colour-blind readers can tell apart (Okabe & Ito 2008).
INKS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F"),
    *("#882255", "#44AA99"),
)


def category_colours(number: int, is_ordered: bool) -> Sequence[Colour]:
    """Colours of categories: shades of one scale if they are ordered, otherwise distinct inks.

    Parameters
    ----------
    number : int
        Number of categories. Of more than ten, inks without order come from a scale of many hues.
    is_ordered : bool
        Whether the categories are ordered.

    Returns
    -------
    sequence of tuple of three floats
        RGB from 0 to 1 of each category.
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    if not is_ordered and number <= len(INKS):
        return [to_rgb(ink) for ink in INKS[:number]]
    scale = colormaps["cividis"] if is_ordered else colormaps["turbo"]
    return [to_rgb(colour) for colour in scale(np.linspace(0.1, 0.95, number))]


@dataclass(frozen=True)
class Palette:
    """Colours for one background.

    Attributes
    ----------
    text, muted, faint, background : tuple of three floats
        RGB from 0 to 1, in order of decreasing contrast.
    series : tuple of str
        Colours of the series, as hexadecimal codes.
    """

    text: Colour
    muted: Colour
    faint: Colour
    background: Colour
    series: tuple[str, ...]

    @classmethod
    def of(cls, ax: Axes) -> Palette:
        """Palette that is legible on the background of ``ax``, light or dark.

        Parameters
        ----------
        ax : matplotlib Axes
            If they are transparent, the text colour in force tells light from dark.

        Returns
        -------
        Palette
        """
        from matplotlib import rcParams
        from matplotlib.colors import to_rgb, to_rgba

        text = np.array(to_rgb(rcParams["text.color"]))
        *behind, alpha = to_rgba(ax.get_facecolor())
        background = np.array(behind) if alpha else np.full(3, text.mean() < 0.5, float)

        def mixed(weight: float) -> Colour:
            red, green, blue = (weight * text + (1 - weight) * background).tolist()
            return red, green, blue

        series = ON_LIGHT if background.mean() > 0.5 else ON_DARK
        return cls(mixed(0.9), mixed(0.62), mixed(0.07), mixed(0), series)

    def series_colour(self, number: int) -> str:
        """Colour of a series; colours repeat, and markers tell such series apart.

        Parameters
        ----------
        number : int
            Number of the series, from 0.

        Returns
        -------
        str
        """
        return self.series[number % len(self.series)]

    def label_colour(self, number: int) -> Colour:
        """Colour of the label of a series: closer to the text colour, for contrast.

        Parameters
        ----------
        number : int
            Number of the series, from 0.

        Returns
        -------
        tuple of three floats
        """
        from matplotlib.colors import to_rgb

        series = np.array(to_rgb(self.series_colour(number)))
        red, green, blue = 0.6 * series + 0.4 * np.array(self.text)
        return red, green, blue

    def colormap(self) -> Colormap:
        """Shades of the first series colour, from nearly the background to the full colour.

        Returns
        -------
        matplotlib Colormap
        """
        from matplotlib.colors import LinearSegmentedColormap, to_rgb

        full = np.array(to_rgb(self.series[0]))
        least = tuple(0.06 * full + 0.94 * np.array(self.background))
        return LinearSegmentedColormap.from_list("shades", [least, tuple(full)])
