"""Whether raters differ more than items do, which makes single ratings unacceptable."""

from __future__ import annotations

import numpy as np
import xarray as xr

from reliabayes.results.summaries import scalars
from reliabayes.wording import joined

# Shares of variance of items and of raters; on the scale of the ratings before the latent one.
COMPARED = (("icc_observed", "labeler_icc_observed"), ("icc", "labeler_icc"))


def raters_outweigh_items(quantities: xr.Dataset) -> str:
    """That the labeler ICC exceeds the ICC, with the probability; empty where it is below a half.

    Quinn, Miles & Wong consider ratings unacceptable if it does. Of categories, it is that on the
    scale of the ratings; of several pools, those are named in which it holds.

    Parameters
    ----------
    quantities : Dataset
        Draws of what a model reports, dims (chain, draw, ...).
    """
    compared = next((names for names in COMPARED if {*names} <= {*quantities}), None)
    if compared is None:
        return ""
    items, raters = (scalars(name, quantities[name]) for name in compared)
    probabilities, shares = [], []
    for (label, item), (_, rater) in zip(items, raters, strict=True):
        probability = float(np.mean(rater > item))
        if probability < 0.5:
            continue
        _, is_of_pool, pool = label.removesuffix("]").partition("[")
        where = f" in pool {pool}" if is_of_pool else ""
        probabilities.append(f"{_text(probability)}{where}")
        shares.append((f"{np.median(rater):.2f}", f"{np.median(item):.2f}"))
    if not shares:
        return ""
    of_raters, of_items = map(joined, zip(*shares, strict=True))
    return (
        f"With probability {joined(probabilities)}, a rating depends more on the rater than on the "
        f"item (labeler ICC {of_raters}, ICC {of_items}), which makes single ratings unacceptable."
    )


def _text(probability: float) -> str:
    return f"{probability:.2f}" if probability < 0.995 else "above 0.99"
