"""Ordered categories that a latent score is cut into: what is seen of it, and what is left of ICCs.

A score is item effect plus rater effect plus residual, logistic or standard normal, and the rating
counts the cut points below it.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.optimize
from scipy.special import expit, ndtr, ndtri, owens_t

from reliabayes.arrays import Array
from reliabayes.likelihoods.quadrature import enough, grid

Link = Literal["logit", "probit"]

RESIDUAL: dict[Link, float] = {"logit": math.pi**2 / 3, "probit": 1.0}  # variances
# Of a rating, at most: information on its location in units of the residual's scale, and the
# spacing of nodes that its distribution function can bear.
INFORMATION: dict[Link, float] = {"logit": 0.3, "probit": 0.8}
BEARABLE: dict[Link, float] = {"logit": 1.4, "probit": 1.0}

TINY = 1e-300  # least probability, so that its logarithm is a number
CHUNK = 2_000_000  # probabilities at once: 16 MB
FAR = 9.0  # reach of the nodes of items where scores of pools are expanded
TERMS = 60  # of that expansion


class Graded(NamedTuple):
    """Probabilities (..., K) of categories, and densities at their upper and lower ends."""

    probability: Array
    upper: Array
    lower: Array

    @classmethod
    def of(cls, location: Array, cut: Array, link: Link) -> Graded:
        """Of ratings at locations (...), with K - 1 cut points."""
        edge = location[..., None] - cut
        end = np.full((*np.shape(location), 1), np.inf)
        upper, lower = np.concatenate([end, edge], axis=-1), np.concatenate([edge, -end], axis=-1)
        share, density = _SHARE[link], _DENSITY[link]
        # Differences of what is small are exact.
        probability = np.where(
            lower > 0, share(-lower) - share(-upper), share(upper) - share(lower)
        )
        return cls(np.maximum(probability, TINY), density(upper), density(lower))

    @property
    def information(self) -> Array:
        """Fisher information (...) of a rating on its location."""
        return np.asarray(((self.upper - self.lower) ** 2 / self.probability).sum(axis=-1))

    def slopes(self, ratings: Array) -> tuple[Array, Array]:
        """Of the log-likelihood of ratings (..., K): by location (...), by cut point (K - 1,)."""
        weight = ratings / self.probability
        upper, lower = weight * self.upper, weight * self.lower
        by_end = (lower[..., :-1] - upper[..., 1:]).reshape(-1, ratings.shape[-1] - 1)
        return np.asarray((upper - lower).sum(axis=-1)), np.asarray(by_end.sum(axis=0))


def log_between(location: Array, lower: Array, upper: Array, link: Link) -> Array:
    """Log-probability (...) that locations plus residuals lie between cut points, or infinities."""
    far, near = location - lower, location - upper
    beyond = near > 0  # differences of what is small are exact
    far, near = np.where(beyond, -near, far), np.where(beyond, -far, near)
    return np.asarray(np.log(np.maximum(_SHARE[link](far) - _SHARE[link](near), TINY)))


def _logistic_density(x: Array) -> Array:
    return np.asarray(expit(x) * expit(-x))


def _normal_density(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi))


_SHARE: dict[Link, Any] = {"logit": expit, "probit": ndtr}
_DENSITY: dict[Link, Any] = {"logit": _logistic_density, "probit": _normal_density}


class Observed(NamedTuple):
    """What holds of ratings as numbers 0, 1, ... of their categories, by draw (...).

    ``icc``, ``labeler_icc`` and ``variance`` of ratings (...), ``share`` (..., K) of categories,
    and ``expected`` (..., n), the mean rating of an item at the nodes of its standard score.
    """

    icc: Array
    labeler_icc: Array
    variance: Array
    share: Array
    expected: Array

    @classmethod
    def of(cls, sd_item: Array, sd_rater: Array, cut: Array, link: Link) -> Observed:
        """Of standard deviations (...) and cut points (..., K - 1)."""
        item, item_weight = _item_nodes(float(sd_item.max()), link)
        rater, rater_weight = grid(enough(_spacing(float(sd_rater.max()), link)))
        size, n_cuts = sd_item.size, cut.shape[-1]
        by_item, by_rater = np.empty((size, len(item))), np.empty((size, len(rater)))
        beyond = np.empty((size, n_cuts))
        for start in range(0, size, block := max(1, CHUNK // (len(item) * len(rater)))):
            part = slice(start, start + block)
            location = (
                sd_item.reshape(-1, 1, 1)[part] * item[:, None]
                + sd_rater.reshape(-1, 1, 1)[part] * rater
            )
            expected = np.zeros_like(location)  # number of the category, given item and rater
            for k in range(n_cuts):
                share = _SHARE[link](location - cut.reshape(size, 1, 1, n_cuts)[part, ..., k])
                beyond[part, k] = (share @ rater_weight) @ item_weight
                expected += share
            by_item[part], by_rater[part] = expected @ rater_weight, item_weight @ expected
        mean = by_item @ item_weight
        variance = beyond @ (2 * np.arange(n_cuts) + 1) - mean**2
        edge = np.ones((size, 1))
        share = -np.diff(np.concatenate([edge, beyond, 0 * edge], axis=1))
        shape = sd_item.shape
        return cls(
            ((by_item**2 @ item_weight - mean**2) / variance).reshape(shape),
            ((by_rater**2 @ rater_weight - mean**2) / variance).reshape(shape),
            variance.reshape(shape),
            share.reshape(*shape, -1),
            by_item.reshape(*shape, -1),
        )

    def covariance(self, rho: Array, one: int, other: int) -> Array:
        """Covariance (...) of ratings of an item in two pools, the last dimension of the draws.

        With mean ratings expanded in Hermite polynomials of the standard scores, whose correlation
        is rho (...), it is the sum of products of coefficients times powers of rho (Mehler).
        """
        node, weight = grid(self.expected.shape[-1], FAR)
        polynomials = np.empty((TERMS + 1, len(node)))  # normalised
        polynomials[0], polynomials[1] = 1, node
        for k in range(1, TERMS):
            rest = node * polynomials[k] - math.sqrt(k) * polynomials[k - 1]
            polynomials[k + 1] = rest / math.sqrt(k + 1)
        first, second = (
            self.expected[..., pool, :] @ (weight * polynomials[1:]).T for pool in (one, other)
        )
        powers = rho[..., None] ** np.arange(1, TERMS + 1)
        return np.asarray((first * second * powers).sum(axis=-1))


def _spacing(sd: float, link: Link) -> float:
    return min(0.4, 0.8 * BEARABLE[link] / sd)


def _item_nodes(sd: float, link: Link) -> tuple[Array, Array]:
    return grid(enough(min(0.25, _spacing(sd, link)), FAR), FAR)


def normal_correlation(
    n: Any, above: Any, weight: Array, share: float, by_chance: Any = None
) -> float:
    """Correlation of two normal scores of a unit of which both are above, or not, so often.

    Units have n ratings, some of them above, and count with a weight; ``share`` of all is above.
    So many pairs (units,) would have both above ``by_chance``, where the share is not the same in
    all ratings.
    """
    pairs = float(weight @ (n * (n - 1)))
    if pairs == 0:
        return 0.2
    chance = n * (n - 1) * share**2 if by_chance is None else by_chance
    excess_both = float(weight @ (above * (above - 1) - chance)) / pairs
    both, at = share**2 + excess_both, float(ndtri(share))

    def excess(r: float) -> float:
        both_at_r = ndtr(at) - 2 * owens_t(at, math.sqrt((1 - r) / (1 + r)))  # Owen (1956)
        return float(both_at_r) - both

    least, most = 0.02, 0.9
    if excess(least) >= 0 or excess(most) <= 0:
        return least if excess(least) >= 0 else most
    return float(scipy.optimize.brentq(excess, least, most, xtol=1e-3))
