"""Ratings that the effects of a design explain completely, so that no residual is left."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import Effects
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.models.bases.gaussian import has_residual
from reliabayes.wording import joined

ROUNDING = 1e-13  # of sums of squares, relative to their total
MOST_RANKED = 2000  # ratings of which effects that explain all are counted


def check_residual(effects: Effects, values: Array, squares: MeanSquares | None) -> None:
    """Refuse ratings that effects explain completely, though there are fewer than ratings.

    Their density is unbounded as the residual sd goes to 0. A part of the ratings mostly shows that
    there is a residual.
    """
    if squares is not None:
        is_explained = squares.sum_of_squares[-1] < ROUNDING * squares.sum_of_squares.sum()
    else:
        n = len(values)
        ends = [*(10**power for power in range(3, len(str(n)))), n]
        is_explained = (
            not any(has_residual([x[:end] for x in effects.level], values[:end]) for end in ends)
        ) and (n > MOST_RANKED or _rank(effects) < n)
    if is_explained:
        rule = "ratings must have a residual besides the effects of the design"
        found = f"that effects of {joined(effects.names[:-1])} explain every rating"
        remedy = (
            "Leave out sources with drop=[...], or report perfect agreement up to these effects."
        )
        raise RatingsError([Fault("rating", rule, found, remedy)])


def _rank(effects: Effects) -> int:
    """Number of effects that ratings without a residual would identify."""
    pairs = zip(effects.level, effects.sizes, strict=True)
    return int(np.linalg.matrix_rank(np.hstack([np.eye(size)[level] for level, size in pairs])))
