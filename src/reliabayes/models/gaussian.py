"""What models of normal ratings share: which priors and which ratings they take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph

from reliabayes.errors import Fault, RatingsError
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings

Array = NDArray[np.float64]
Codes = NDArray[Any]

SDS = ("sd_item", "sd_rater", "sd_residual")


def check_priors(model: object) -> None:
    """Refuse priors of the wrong kind: of the mean, normal; of standard deviations, half a bell."""
    for name in ("mean", *SDS):
        allowed = (Normal,) if name == "mean" else (HalfNormal, HalfStudentT)
        prior = getattr(model, f"prior_{name}")
        if prior is not None and not isinstance(prior, allowed):
            names = " or ".join(kind.__name__ for kind in allowed)
            raise TypeError(f"prior_{name} must be a {names}, not {prior!r}.")


def spread(ratings: Ratings) -> float:
    """Standard deviation of all ratings, where its square is a number."""
    with np.errstate(over="ignore", under="ignore"):
        sd = float(ratings.values.std())
    if not 0 < sd < math.inf:
        rule = "their sd must be a number above 0"
        raise RatingsError([Fault("rating", rule, f"{sd:g}", "Rescale the ratings.")])
    return sd


def check_mean(prior: Normal | HalfNormal | HalfStudentT, values: Array) -> None:
    """Refuse a prior of the mean that the ratings contradict: it would show as rater effects."""
    mean, sd = prior.stan
    if abs(values.mean() - mean) > 10 * math.hypot(sd, values.std()):
        raise ValueError(
            f"prior_mean must not contradict the ratings; found {prior} and ratings around "
            f"{values.mean():.4g}. Widen the prior, or leave it out."
        )


def check_residual(item: Codes, rater: Codes, values: Array) -> None:
    """Refuse ratings that effects of items and raters explain wholly.

    The density then grows without bound as the residual sd goes to 0. Few ratings mostly show that
    there is a residual, so more are looked at only while those so far show none.
    """
    digits = max(3, len(str(len(values))))
    parts = (slice(10**power) for power in range(3, digits + 1))
    if any(_has_residual([item[part], rater[part]], values[part]) for part in parts):
        return
    if len(values) > _rank(item, rater):
        rule = "ratings must differ by more than their items and raters explain"
        found = "that every rating is the sum of an item's and a rater's effect"
        remedy = "Agreement is perfect up to severity: report that, for no model adds to it."
        raise RatingsError([Fault("rating", rule, found, remedy)])


def _has_residual(codes: Sequence[Codes], values: Array) -> bool:
    """Whether least-squares effects of items and raters leave something of these ratings."""
    centred = values - values.mean()
    one, index = np.ones(len(values)), np.arange(len(values))
    effects = sp.hstack([sp.coo_array((one, (index, code))) for code in codes]).tocsr()
    left = centred - effects @ sp.linalg.lsmr(effects, centred, atol=1e-14, btol=1e-14)[0]
    return bool(np.abs(left).max() > 1e-9 * np.abs(values).max())


def _rank(item: Codes, rater: Codes) -> int:
    """Number of effects of items and raters that ratings can tell apart."""
    items, raters = (np.unique(codes, return_inverse=True)[1] for codes in (item, rater))
    sizes = int(items.max()) + 1, int(raters.max()) + 1
    links = sp.csr_array((np.ones(len(items)), (items, sizes[0] + raters)), shape=(sum(sizes),) * 2)
    return sum(sizes) - int(csgraph.connected_components(links, directed=False)[0])
