"""Colours and marks that read on light paper and on dark, in grey, and to the colour-blind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

Colour = tuple[float, float, float]

# Apart in lightness too, but for the fourth, which comes last.
ON_LIGHT = ("#0B4F8C", "#D55E00", "#EFB036", "#7B2D6E")
ON_DARK = ("#7CC4F2", "#E07B2A", "#F7E3A1", "#C79BD6")
STYLES = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."))  # of marks and lines, beside colours


@dataclass(frozen=True)
class Inks:
    """Colours on the paper of some Axes, from strong to faint."""

    text: Colour
    muted: Colour
    faint: Colour
    paper: Colour
    series: tuple[str, ...]

    @classmethod
    def of(cls, ax: Axes) -> Inks:
        """Inks that read on the background of ``ax``, be it light or dark."""
        from matplotlib import rcParams
        from matplotlib.colors import to_rgb, to_rgba

        text = np.array(to_rgb(rcParams["text.color"]))
        *behind, alpha = to_rgba(ax.get_facecolor())
        paper = np.array(behind) if alpha else np.full(3, text.mean() < 0.5, float)

        def mixed(share: float) -> Colour:
            red, green, blue = (share * text + (1 - share) * paper).tolist()
            return red, green, blue

        series = ON_LIGHT if paper.mean() > 0.5 else ON_DARK
        return cls(mixed(0.9), mixed(0.62), mixed(0.07), mixed(0), series)

    def of_series(self, number: int) -> str:
        """Colour of the series of this number; they repeat, and the marks tell them apart."""
        return self.series[number % len(self.series)]

    def of_words(self, number: int) -> Colour:
        """The same, nearer to the colour of texts: words need more contrast than marks."""
        from matplotlib.colors import to_rgb

        series = np.array(to_rgb(self.of_series(number)))
        red, green, blue = 0.6 * series + 0.4 * np.array(self.text)
        return red, green, blue

    def shades(self) -> Colormap:
        """Shades of one colour: the more, the further from the paper."""
        from matplotlib.colors import LinearSegmentedColormap, to_rgb

        full = np.array(to_rgb(self.series[0]))
        least = tuple(0.06 * full + 0.94 * np.array(self.paper))
        return LinearSegmentedColormap.from_list("shades", [least, tuple(full)])
