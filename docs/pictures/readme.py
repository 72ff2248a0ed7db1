"""Draw the plot of the README: ``python docs/pictures/readme.py``."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

import reliabayes as rb

PICTURE = Path(__file__).with_name("reliabayes.svg")
SAME_EVERY_TIME = {"svg.hashsalt": "reliabayes"}


def main() -> None:
    """Reliability of one score, and of the mean of several, of the judges of Shrout & Fleiss."""
    ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    fit = rb.GaussianICC().fit(ratings, seed=1979, progress=False)
    with mpl.rc_context(SAME_EVERY_TIME):
        figure, (one, several) = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
        rb.plots.icc(fit, ax=one)
        rb.plots.icc_k(fit, ax=several)
        figure.savefig(PICTURE, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
