"""Draw the ranks of the page on statistics: ``python -m docs.pictures.calibration``, an hour."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binom

from tests.calibration.ranks import Calibration
from tests.calibration.test_facets import G_STUDIES, calibrate_g_study
from tests.calibration.test_gibbs import BY_GIBBS, calibrate_gibbs

FOLDER = Path(__file__).parent
SAME_EVERY_TIME = {"svg.hashsalt": "reliabayes"}
BINS = 10
LIMITS = (0.005, 0.995)  # of the number in a bin, by chance


def main() -> None:
    """Models that Gibbs sampling suits, and designs of G studies."""
    _picture("calibration.svg", BY_GIBBS, calibrate_gibbs, 1000, rows=3)
    _picture("calibration_gstudy.svg", [*G_STUDIES], partial(calibrate_g_study, seed=7), 1000)


def _picture(
    name: str, cases: Sequence[str], calibrate: Callable[..., Calibration], n: int, rows: int = 1
) -> None:
    """Ranks of all quantities of each case, with what chance allows of each."""
    with mpl.rc_context(SAME_EVERY_TIME):
        size, shape = (11, 0.4 + 2 * rows), (rows, len(cases) // rows)
        figure, places = plt.subplots(*shape, figsize=size, sharey=True, layout="constrained")
        for axes, case in zip(places.flat, cases, strict=True):
            found = calibrate(case, n=n)
            print(case, found, sep="\n", flush=True)
            _draw(axes, found)
            axes.set_title(f"{case}: p = {found.p_value:.2g}", fontsize=9)
        figure.supxlabel("rank of the true value among draws, scaled to 1", fontsize=9)
        figure.supylabel(f"data sets of {n:,}", fontsize=9)
        figure.savefig(FOLDER / name, metadata={"Date": None, "Creator": None})


def _draw(axes: Axes, found: Calibration) -> None:
    """A line for each quantity, over the band of uniform ranks."""
    edges = np.linspace(0, 1, BINS + 1)
    axes.axhspan(*binom.ppf(LIMITS, len(found.relative_ranks), 1 / BINS), color="0.85")
    for _, ranks in found.relative_ranks.items():
        axes.stairs(np.histogram(ranks, edges)[0], edges, color="C0", alpha=0.35, linewidth=0.8)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, None)


if __name__ == "__main__":
    main()
