"""Plots that state their finding in the title; each takes a result and returns Axes.

Titles and labels extend beyond the Axes: make figures of your own with
``plt.subplots(layout="constrained")``, which leaves room for them.

matplotlib is imported when the first plot is drawn, not with the package.
"""

from reliabayes.plots.chains import rank, trace
from reliabayes.plots.confusions import confusion
from reliabayes.plots.decision_studies import d_study, d_study_surface
from reliabayes.plots.designs import design
from reliabayes.plots.forest_plots import pools, raters
from reliabayes.plots.k_rater_reliability import icc_k, krr_curve
from reliabayes.plots.limits_of_agreement import bland_altman
from reliabayes.plots.model_comparison import compare
from reliabayes.plots.pool_agreement import contrast, xcc
from reliabayes.plots.predictive_checks import check
from reliabayes.plots.rater_agreement import agreement
from reliabayes.plots.rater_dependence import dependence
from reliabayes.plots.rates import rates
from reliabayes.plots.reliability import icc, variance_shares
from reliabayes.plots.true_categories import entropies, items

__all__ = [
    "agreement",
    "bland_altman",
    "check",
    "compare",
    "confusion",
    "contrast",
    "d_study",
    "d_study_surface",
    "dependence",
    "design",
    "entropies",
    "icc",
    "icc_k",
    "items",
    "krr_curve",
    "pools",
    "rank",
    "raters",
    "rates",
    "trace",
    "variance_shares",
    "xcc",
]


def __dir__() -> list[str]:
    return __all__
