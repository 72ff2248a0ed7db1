"""Ratings that are numbers: their moments, and refusal of such as leave a model undetermined."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import Source
from reliabayes.likelihoods.gaussian_pools_design import cells
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.priors import Normal, SdPrior
from reliabayes.ratings import Ratings
from reliabayes.ratings.likely_scale import likely_scale, whole_numbers
from reliabayes.wording import joined

MOST_ROUNDING = 1e-3  # of the spread of ratings; more could hide a residual
SMALLEST_RESIDUAL = 1e-9  # of the spread of ratings; `_residual` leaves smaller ones
CONVERGED = 1e-14  # of the gradient at first
ROUNDING = 1e-13  # of sums of squares, relative to their total
MOST_RANKED = 2000  # ratings of which effects that explain all are counted


def caution_of_numbers(ratings: Ratings) -> str:
    """That ratings may be grades or categories, if they are few whole numbers."""
    if not (number := whole_numbers(ratings)):
        return ""
    likely = likely_scale(ratings)
    if likely.scale == "nominal":
        reason = f"{likely.reason[0].upper()}{likely.reason[1:]}"
        return f"{reason}; models of categories, such as DawidSkene, suit better."
    return (
        f"The ratings are {number} whole numbers. If they are grades rather than amounts, "
        'scale="ordered" and a model of ordered categories, such as OrdinalICC, suit better.'
    )


def moments_of(values: Array) -> Moments:
    """Mean and standard deviation of ratings, and sums that they come from."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return Moments.of(values)


def moments_by_pool(values: Array, pool: Codes) -> tuple[Moments, ...]:
    """Moments of the ratings of each pool, of ratings (N,) with their pools (N,)."""
    return tuple(moments_of(values[pool == g]) for g in range(int(pool.max()) + 1))


def check_sd(sd: float) -> float:
    """The standard deviation of all ratings; refuse ratings whose variance over- or underflows."""
    if not 0 < sd < math.inf:
        rule = "their sd must be a number above 0"
        raise RatingsError([Fault("rating", rule, f"{sd:g}", "Rescale the ratings.")])
    return sd


def check_mean(prior: Normal | SdPrior, mean: float, sd: float) -> None:
    """Refuse a prior of the mean that contradicts the ratings: rater effects would absorb it."""
    expected, prior_sd = prior.stan
    if abs(mean - expected) > 10 * math.hypot(prior_sd, sd):
        raise ValueError(
            f"prior_mean must not contradict the ratings; found {prior} and ratings around "
            f"{mean:.4g}. Widen the prior, or leave it out."
        )


def check_residual(item: Codes, rater: Codes, values: Array, pool: Codes | None = None) -> None:
    """Refuse ratings that effects of items and raters explain completely.

    Given the raters' pools (R,), an item has an effect in each. The density of such ratings is
    unbounded as the residual sd goes to 0.
    """
    effects = item if pool is None else cells(item, pool[rater], int(pool.max()) + 1)
    if has_residual([effects, rater], values):
        return
    if _rounding(values) > MOST_ROUNDING * np.ptp(values):
        rule = "ratings must differ by more than the rounding of such large numbers"
        found = f"ratings around {values.mean():.6g} that differ by at most {np.ptp(values):.3g}"
        remedy = "Subtract a number near their mean from all ratings before they are rounded."
        raise RatingsError([Fault("rating", rule, found, remedy)])
    if len(values) > _rank(effects, rater):
        rule = "ratings must have a residual besides effects of items and raters"
        found = "that every rating is the sum of an item's and a rater's effect"
        remedy = "Agreement is perfect up to severity: report that instead of fitting a model."
        raise RatingsError([Fault("rating", rule, found, remedy)])


def check_residual_of_design(
    sources: Sequence[Source],
    level: Sequence[Codes],
    values: Array,
    squares: MeanSquares | None,
) -> None:
    """Refuse ratings that effects explain completely, though there are fewer than ratings.

    Their density is unbounded as the residual sd goes to 0. Ratings (N,), or enough of them, have
    levels by source; mean squares, if there are any, tell it of balanced designs.
    """
    if squares is not None:
        is_explained = squares.sum_of_squares[-1] < ROUNDING * squares.sum_of_squares.sum()
    else:
        n = len(values)
        is_explained = not has_residual(level, values) and (
            n > MOST_RANKED or _rank_of_design(level) < n
        )
    if is_explained:
        rule = "ratings must have a residual besides the effects of the design"
        found = (
            f"that effects of {joined([source.name for source in sources])} explain every rating"
        )
        remedy = (
            "Leave out sources with drop=[...], or report perfect agreement up to these effects."
        )
        raise RatingsError([Fault("rating", rule, found, remedy)])


def has_residual(codes: Sequence[Codes], values: Array) -> bool:
    """Whether ratings have residuals from least-squares effects.

    A small part mostly shows it; larger parts are looked at only while it does not.
    """
    digits = max(3, len(str(len(values))))
    parts = (slice(10**power) for power in range(3, digits + 1))
    return any(_has_residual([code[part] for code in codes], values[part]) for part in parts)


def _has_residual(codes: Sequence[Codes], values: Array) -> bool:
    centred = values - values.mean()
    spread = np.abs(centred).max()
    # What rounding leaves grows with the ratings themselves, what raters leave with their spread.
    least = max(SMALLEST_RESIDUAL * spread, _rounding(values))
    return bool(
        spread > least and spread * np.abs(_residual(codes, centred / spread)).max() > least
    )


def _residual(codes: Sequence[Codes], values: Array) -> Array:
    """What least-squares effects leave of values, by conjugate gradients.

    Effects are in units in which their mean squares are equal.
    """
    units = [1 / np.sqrt(np.maximum(np.bincount(code), 1)) for code in codes]

    def sums(residual: Array) -> list[Array]:
        return [unit * np.bincount(code, residual) for unit, code in zip(units, codes, strict=True)]

    def of_ratings(effects: Sequence[Array]) -> Array:
        found = [
            (unit * each)[code] for unit, each, code in zip(units, effects, codes, strict=True)
        ]
        return np.asarray(np.sum(found, axis=0))

    def square(effects: Sequence[Array]) -> float:
        return float(sum(each @ each for each in effects))

    residual, gradient = values, sums(values)
    direction, size = gradient, square(gradient)
    least = CONVERGED**2 * size
    for _ in range(min(len(values), sum(map(len, units)))):
        if size <= least:
            break
        along = of_ratings(direction)
        residual = residual - size / (along @ along) * along
        gradient, before = sums(residual), size
        size = square(gradient)
        direction = [
            each + size / before * last for each, last in zip(gradient, direction, strict=True)
        ]
    return residual


def _rounding(values: Array) -> float:
    """Size of residuals that may come from the rounding of the ratings alone."""
    return float(16 * np.finfo(float).eps * np.abs(values).max())


def _rank(item: Codes, rater: Codes) -> int:
    """Number of effects of items and raters that are identified."""
    items, raters = (np.unique(codes, return_inverse=True)[1] for codes in (item, rater))
    sizes = int(items.max()) + 1, int(raters.max()) + 1
    links = sp.csr_array((np.ones(len(items)), (items, sizes[0] + raters)), shape=(sum(sizes),) * 2)
    return sum(sizes) - int(sp.csgraph.connected_components(links, directed=False)[0])


def _rank_of_design(level: Sequence[Codes]) -> int:
    """Number of effects that ratings without a residual would identify."""
    return int(np.linalg.matrix_rank(np.hstack([np.eye(int(x.max()) + 1)[x] for x in level])))
