"""Draw the ranks of the page on statistics: ``python -m docs.pictures.calibration``, 10 minutes."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binom

from tests.models.calibration import Calibration
from tests.models.test_calibration import BY_GIBBS, calibrate_gibbs

PICTURE = Path(__file__).with_name("calibration.svg")
SAME_EVERY_TIME = {"svg.hashsalt": "reliabayes"}
DATA_SETS, BINS = 250, 10
LIMITS = (0.005, 0.995)  # of the number in a bin, by chance


def main() -> None:
    """Ranks of all quantities of each model, with what chance allows of each."""
    with mpl.rc_context(SAME_EVERY_TIME):
        figure, places = plt.subplots(2, 4, figsize=(11, 4.4), sharey=True, layout="constrained")
        for axes, name in zip(places.flat, BY_GIBBS, strict=True):
            found = calibrate_gibbs(name, DATA_SETS)
            print(name, found, sep="\n", flush=True)
            _draw(axes, found)
            axes.set_title(f"{name}: p = {found.p_value:.2g}", fontsize=9)
        figure.supxlabel("rank of the true value among draws, scaled to 1", fontsize=9)
        figure.supylabel(f"data sets of {DATA_SETS:,}", fontsize=9)
        figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


def _draw(axes: Axes, found: Calibration) -> None:
    """A line for each quantity, over the band of uniform ranks."""
    edges = np.linspace(0, 1, BINS + 1)
    axes.axhspan(*binom.ppf(LIMITS, DATA_SETS, 1 / BINS), color="0.85")
    for _, ranks in found.relative_ranks.items():
        axes.stairs(np.histogram(ranks, edges)[0], edges, color="C0", alpha=0.35, linewidth=0.8)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, None)


if __name__ == "__main__":
    main()
