"""Cut points between ordered categories."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings


def require_ordered(ratings: Ratings, model: str, *, binary: bool) -> None:
    """Refuse more than two categories where a model is for two, or categories without an order."""
    number = len(ratings.categories)
    if number <= 2:
        return
    if binary:
        rule, found = f"{model} is for two categories", f"{number}"
        remedy = f"If they are ordered, use {model.replace('Logit', 'Ordinal')}."
    elif ratings.scale == "nominal":
        rule, found = f"{model} is for ordered categories", "categories without an order"
        remedy = 'Pass scale="ordered", and categories=[...] from the lowest to the highest.'
    else:
        return
    raise RatingsError([Fault("rating", rule, found, remedy)])


def sd_of_log_step(step: Array, by_category: Array, reference: int) -> Array:
    """Approximate posterior sd of the logs of steps (K - 2,), by numbers of ratings (K,).

    A step is as well known as the ratings between its cut points are many, and those beyond the one
    that lies farther from the reference: where there are none, only the prior ends the step.
    """
    below, above = by_category.cumsum()[:-2], by_category[::-1].cumsum()[-3::-1]
    beyond = np.where(np.arange(len(step)) < reference, below, above)
    variance = 1 / (by_category[1:-1] + 0.5) + 1 / (beyond + 0.2) / (1 + step) ** 2
    return np.asarray(np.minimum(np.sqrt(variance), 1.5))
