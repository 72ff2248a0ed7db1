"""The gallery: each function of `reliabayes.plots` on small fits, in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from .execution import MODES, drawn, pictures

SETUP = """\
import numpy as np
import pandas as pd
import reliabayes as rb

scores = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
of_scores = rb.GaussianICC().fit(scores, seed=1)

categorical = rb.Ratings.from_frame(
    rb.datasets.load("dawid_skene_1979"), scale="nominal", replicates="keep"
)
of_categories = rb.DawidSkene().fit(categorical, seed=1)

rng = np.random.default_rng(1)
design = rb.simulate.crossed(60, 8, pools=2)
design["pool"] = design["pool"].map({1: "crowd", 2: "expert"})
truth = {
    "mean": 5,
    "sd_item": 1,
    "sd_rater": [0.9, 0.2],
    "sd_residual": 1,
    "factor_item": [[1, 0], [0.8, 0.6]],  # a correlation of 0.8
}
pools = rb.GaussianXCC().simulate(design, rng, parameters=truth)
of_pools = rb.GaussianXCC().fit(pools, seed=1)

design = rb.simulate.incomplete(150, 8, 5, rng)
truth = {"a": np.linspace(0.2, 0.9, 8)}
votes = rb.RaterTAP().simulate(design, rng, categories=["no", "yes"], parameters=truth)
of_votes = {"TAP": rb.TAP().fit(votes, seed=1), "RaterTAP": rb.RaterTAP().fit(votes, seed=1)}

cells = [(item, rater, day) for item in range(60) for rater in range(4) for day in range(2)]
design = pd.DataFrame(cells, columns=["item", "rater", "day"])
model = rb.GStudy(design="item x rater x day")
truth = {"mean": 5, "sd": [1, 0.4, 0.1, 0.3, 0.9, 0.1, 0.5]}
of_days = model.fit(model.simulate(design, rng, parameters=truth), seed=1)

design = rb.simulate.incomplete(200, 6, 2, rng, pools=3)
design["pool"] = design["pool"].map({1: "vendor A", 2: "vendor B", 3: "vendor C"})
truth = {"a": np.repeat([0.8, 0.75, 0.3], 6)}  # how often raters know the answer
labels = rb.RaterTAP().simulate(design, rng, categories=["no", "yes"], parameters=truth)
of_vendors = rb.DawidSkene().fit(labels, seed=1)
"""
CALLS: Mapping[str, str] = {
    "icc": "rb.plots.icc(of_scores)",
    "icc_k": "rb.plots.icc_k(of_scores, reliability=0.8)",
    "variance_shares": "rb.plots.variance_shares(of_scores)",
    "d_study": 'rb.plots.d_study(of_days.d_study({"rater": range(1, 9), "day": [1, 2, 4]}))',
    "d_study_surface": """rb.plots.d_study_surface(
    of_days.d_study({"rater": range(1, 13), "day": range(1, 9)}), target=0.6
)""",
    "krr_curve": 'rb.plots.krr_curve(rb.agreement.krr_curve(pools.subset(pools=["crowd"])))',
    "xcc": "rb.plots.xcc(of_pools)",
    "rates": 'rb.plots.rates(labels, "yes")',
    "contrast": 'rb.plots.contrast(of_pools.contrast("icc", "expert", "crowd"))',
    "raters": "rb.plots.raters(of_categories)",
    "pools": "rb.plots.pools(of_vendors)",
    "items": "rb.plots.items(of_scores)",
    "entropies": "rb.plots.entropies(of_categories)",
    "confusion": "rb.plots.confusion(of_categories)",
    "agreement": "rb.plots.agreement(categorical)",
    "bland_altman": """rb.plots.bland_altman(
    rb.agreement.limits_of_agreement(pools.subset(raters=pools.raters[:2]))
)""",
    "dependence": 'rb.plots.dependence(of_votes["RaterTAP"])',
    "design": "rb.plots.design(votes)",
    "compare": "rb.plots.compare(rb.compare(of_votes))",
    "check": 'rb.plots.check(of_votes["RaterTAP"].check())',
    "trace": "rb.plots.trace(of_scores)",
    "rank": "rb.plots.rank(of_scores)",
}


def pages() -> Iterator[tuple[str, str]]:
    """The page of the gallery."""
    opening = (
        "Every plot states its finding in the title, accepts `ax=` and returns the Axes. Make"
        ' figures of your own with `plt.subplots(layout="constrained")`, so that titles and'
        " labels have room. The plots on this page show these results:\n"
    )
    shown = [
        f"## {name} {{ #{name} }}\n\n{picture(name, '', _title(name))}\n"
        f"See [`rb.plots.{name}`](reference/plots/{name}.md).\n"
        for name in CALLS
    ]
    yield "gallery.md", "\n".join(["# Gallery\n", opening, f"```python\n{SETUP}```\n", *shown])


def picture(name: str, up: str, description: str) -> str:
    """Call that draws a plot, and the plot, for a page at a relative path ``up`` from the top."""
    shown = pictures(f"{up}gallery/{name}", description)
    return f"```python\n{CALLS[name]}\n```\n\n{shown}\n"


def files() -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the images."""
    for name in CALLS:
        for mode in MODES:
            yield f"gallery/{name}_{mode}.png", _drawn(name, mode)[1]


def _title(name: str) -> str:
    """Title of a plot, which states its finding."""
    return _drawn(name, "light")[0]


@cache
def _drawn(name: str, mode: str) -> tuple[str, bytes]:
    """Title of a plot, and its image."""
    return drawn(CALLS[name], _results(), mode)


@cache
def _results() -> dict[str, Any]:
    """Results of the set-up, by name."""
    made: dict[str, Any] = {}
    exec(SETUP, made)
    return made
