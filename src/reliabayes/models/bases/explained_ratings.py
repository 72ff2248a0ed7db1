"""Ratings that the effects of a design explain completely, so that no residual is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import Source
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.models.bases.gaussian import has_residual
from reliabayes.wording import joined

ROUNDING = 1e-13  # of sums of squares, relative to their total
MOST_RANKED = 2000  # ratings of which effects that explain all are counted


def check_residual(
    sources: Sequence[Source],
    level: Sequence[Codes],
    values: Array,
    squares: MeanSquares | None,
) -> None:
    """Refuse ratings that effects explain completely, though there are fewer than ratings.

    Their density is unbounded as the residual sd goes to 0. A part of the ratings mostly shows that
    there is a residual.

    Parameters
    ----------
    sources : sequence of Source
        Sources of the effects.
    level : sequence of array of int, each of shape (N,)
        Level of each rating, by source.
    values : array of float, shape (N,)
        The ratings, or enough of them.
    squares : MeanSquares or None
        Mean squares, which tell it of balanced designs.
    """
    if squares is not None:
        is_explained = squares.sum_of_squares[-1] < ROUNDING * squares.sum_of_squares.sum()
    else:
        n = len(values)
        ends = [*(10**power for power in range(3, len(str(n)))), n]
        is_explained = (
            not any(has_residual([x[:end] for x in level], values[:end]) for end in ends)
        ) and (n > MOST_RANKED or _rank(level) < n)
    if is_explained:
        rule = "ratings must have a residual besides the effects of the design"
        found = (
            f"that effects of {joined([source.name for source in sources])} explain every rating"
        )
        remedy = (
            "Leave out sources with drop=[...], or report perfect agreement up to these effects."
        )
        raise RatingsError([Fault("rating", rule, found, remedy)])


def _rank(level: Sequence[Codes]) -> int:
    """Number of effects that ratings without a residual would identify."""
    return int(np.linalg.matrix_rank(np.hstack([np.eye(int(x.max()) + 1)[x] for x in level])))
