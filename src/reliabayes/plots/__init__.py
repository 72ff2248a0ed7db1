"""Pictures that state what they show: each takes a result, draws it on Axes and returns these.

matplotlib is imported when the first picture is made, not before.
"""

from reliabayes.plots.between_pools import contrast, xcc
from reliabayes.plots.bits import compare
from reliabayes.plots.chains import rank, trace
from reliabayes.plots.confusions import confusion
from reliabayes.plots.designs import design
from reliabayes.plots.forests import raters
from reliabayes.plots.pairs import agreement
from reliabayes.plots.reliability import icc, variance_shares
from reliabayes.plots.replicates import check
from reliabayes.plots.stepping_up import icc_k, krr_curve
from reliabayes.plots.true_categories import entropies, items

__all__ = [
    "agreement",
    "check",
    "compare",
    "confusion",
    "contrast",
    "design",
    "entropies",
    "icc",
    "icc_k",
    "items",
    "krr_curve",
    "rank",
    "raters",
    "trace",
    "variance_shares",
    "xcc",
]
