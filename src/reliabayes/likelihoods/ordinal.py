"""Ratings in ordered categories: a latent score is cut into categories at cut points.

A score is item effect plus rater effect plus residual, logistic or standard normal, and the rating
counts the cut points below it.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy
from scipy.special import expit, ndtr, ndtri, owens_t

from reliabayes.arrays import IN_CACHE, IN_MEMORY, Array, Codes, blocks
from reliabayes.inference.threads import of_parts
from reliabayes.likelihoods.quadrature import Nodes, number_of_nodes

Link = Literal["logit", "probit"]

RESIDUAL: dict[Link, float] = {"logit": math.pi**2 / 3, "probit": 1.0}  # variances
# Of a single rating: its largest Fisher information on the location, in units of the residual's
# scale, and the widest spacing of nodes that resolves its distribution function.
INFORMATION: dict[Link, float] = {"logit": 0.3, "probit": 0.8}
MAX_SPACING: dict[Link, float] = {"logit": 1.4, "probit": 1.0}

TINY = 1e-300  # least probability, so that its logarithm is a number
FAR = 700.0  # log odds whose exponential is a number
PARTS = 16  # of the draws, by their sd of raters
MIN_SPACING = 0.05  # of the nodes of Observed: an sd of 100 has errors of up to 0.005
EXPANSION_REACH = 9.0  # of the nodes of items where scores are expanded in Hermite polynomials
TERMS = 150  # of that expansion, as many as nodes 0.25 apart resolve


class CategoryProbabilities(NamedTuple):
    """Probabilities (..., K) of categories, and densities at their upper and lower ends."""

    probability: Array
    upper: Array
    lower: Array

    @classmethod
    def of(cls, location: Array, cut: Array, link: Link) -> CategoryProbabilities:
        """Of ratings at locations (...), with K - 1 cut points."""
        # Category by category, so that whatever has many values lies side by side.
        location = np.asarray(location)
        edge = location - np.moveaxis(np.broadcast_to(cut, (*location.shape, cut.shape[-1])), -1, 0)
        above, below = CDF[link](edge), CDF[link](-edge)
        density = above * below if link == "logit" else normal_density(edge)
        probability, upper, lower = np.zeros((3, len(edge) + 1, *location.shape))
        probability[0], probability[-1] = below[0], above[-1]
        # Differences of small numbers lose no digits: take the tails.
        probability[1:-1] = np.where(edge[1:] > 0, np.diff(below, axis=0), -np.diff(above, axis=0))
        upper[1:], lower[:-1] = density, density
        found = np.maximum(probability, TINY), upper, lower
        return cls(*(np.moveaxis(each, 0, -1) for each in found))

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
    return np.asarray(np.log(between(location - lower, location - upper, link)))


def between(above_lower: Array, above_upper: Array, link: Link) -> Array:
    """The same probability (...), of locations above the lower and the upper cut by so much."""
    beyond = above_upper > 0  # take the tails, whose differences lose no digits
    far = np.where(beyond, -above_upper, above_lower)
    near = np.where(beyond, -above_lower, above_upper)
    return np.asarray(np.maximum(CDF[link](far) - CDF[link](near), TINY))


def normal_density(x: Array) -> Array:
    """Density of a standard normal residual."""
    return np.asarray(np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi))


CDF: dict[Link, Any] = {"logit": expit, "probit": ndtr}


def _cdf_of_sums(one: Array, other: Array, link: Link) -> Array:
    """Distribution function at sums; for the logit with an exponential of each number, not sum."""
    if link == "probit" or np.abs(one).max() + np.abs(other).max() > FAR:
        return np.asarray(CDF[link](one + other))
    odds_against = np.exp(-one) * np.exp(-other)
    odds_against += 1
    return np.asarray(np.reciprocal(odds_against, out=odds_against))


class Observed(NamedTuple):
    """Moments of ratings as numbers 0, 1, ... of their categories, by draw (...).

    Attributes
    ----------
    icc, labeler_icc, variance : array of shape (...)
        Of single ratings by new raters of new items.
    proportion : array of shape (..., K)
        Of the categories.
    expected : array of shape (..., n)
        Mean rating of an item at the nodes of its standard score, less the number of the category
        of an average item and rater.
    """

    icc: Array
    labeler_icc: Array
    variance: Array
    proportion: Array
    expected: Array

    @classmethod
    def of(cls, sd_item: Array, sd_rater: Array, cut: Array, link: Link) -> Observed:
        """Given standard deviations (...) and cut points (..., K - 1).

        Numbers count from the category of an average item and rater. All sums are then of tails,
        which stay exact where nearly all ratings are of that category.
        """
        item, item_weight = _item_nodes(float(sd_item.max()), link)
        size, n_cuts = sd_item.size, cut.shape[-1]
        sd_item_of, sd_rater_of = sd_item.reshape(-1, 1, 1), sd_rater.reshape(-1, 1, 1)
        cut_of = cut.reshape(size, 1, 1, n_cuts)
        side = np.where(cut_of < 0, -1.0, 1.0)
        central = np.count_nonzero(side < 0, axis=-1).reshape(size, 1)
        by_item, tail = np.empty((size, len(item))), np.empty((size, n_cuts))
        between_raters = np.empty(size)
        # Draws with similar sds of raters share nodes, for only the largest sds need many.
        most = size * len(item) * len(_rater_nodes(float(sd_rater.max()), link).node)
        parts = max(PARTS, -(-most // IN_MEMORY))

        def integrate(part: Codes) -> None:
            rater, rater_weight = _rater_nodes(float(sd_rater_of[part].max()), link)
            for some in blocks(len(part), IN_CACHE // (len(item) * len(rater))):
                at = part[some]
                of_item, of_rater = sd_item_of[at] * item[:, None], sd_rater_of[at] * rater
                expected = np.zeros((len(at), len(item), len(rater)))  # number of the category
                for k in range(n_cuts):
                    up = side[at, ..., k]
                    beyond = _cdf_of_sums(up * of_item, up * (of_rater - cut_of[at, ..., k]), link)
                    beyond *= up
                    tail[at, k] = (beyond @ rater_weight) @ item_weight
                    expected += beyond
                by_item[at] = expected @ rater_weight
                by_rater = item_weight @ expected
                from_mean = by_rater - (by_rater @ rater_weight)[:, None]
                between_raters[at] = from_mean**2 @ rater_weight

        of_parts(integrate, np.array_split(np.argsort(sd_rater, axis=None), min(parts, size)))
        mean = by_item @ item_weight
        between_items = (by_item - mean[:, None]) ** 2 @ item_weight
        variance = (tail * (2 * (np.arange(n_cuts) - central) + 1)).sum(axis=1) - mean**2
        edge = np.zeros((size, 1))
        proportion = -np.diff(np.concatenate([edge, tail, edge], axis=1))
        proportion += central == np.arange(n_cuts + 1)
        shape = sd_item.shape
        return cls(
            (between_items / variance).reshape(shape),
            (between_raters / variance).reshape(shape),
            variance.reshape(shape),
            proportion.reshape(*shape, -1),
            by_item.reshape(*shape, -1),
        )

    def covariance(self, rho: Array, one: int, other: int) -> Array:
        """Covariance (...) of ratings of an item in two pools, the last dimension of the draws.

        With mean ratings expanded in Hermite polynomials of the standard scores, whose correlation
        is rho (...), it is the sum of products of coefficients times powers of rho (Mehler). What
        the terms left out add at rho = 1 is known, and has the power of the first of them.
        """
        node, weight = Nodes.of(self.expected.shape[-1], EXPANSION_REACH)
        polynomials = np.empty((TERMS + 1, len(node)))  # normalised
        polynomials[0], polynomials[1] = 1, node
        for k in range(1, TERMS):
            rest = node * polynomials[k] - math.sqrt(k) * polynomials[k - 1]
            polynomials[k + 1] = rest / math.sqrt(k + 1)
        first, second = (
            self.expected[..., pool, :] @ (weight * polynomials[1:]).T for pool in (one, other)
        )
        powers = rho[..., None] ** np.arange(1, TERMS + 2)
        one_mean, other_mean = (self.expected[..., pool, :] @ weight for pool in (one, other))
        whole = (self.expected[..., one, :] * self.expected[..., other, :]) @ weight
        rest = whole - one_mean * other_mean - (first * second).sum(axis=-1)
        return np.asarray((first * second * powers[..., :-1]).sum(axis=-1) + rest * powers[..., -1])


def _spacing(sd: float, link: Link) -> float:
    return max(MIN_SPACING, 0.8 * MAX_SPACING[link] / max(sd, 2 * MAX_SPACING[link]))


def _rater_nodes(sd: float, link: Link) -> Nodes:
    return Nodes.of(number_of_nodes(_spacing(sd, link)))


def _item_nodes(sd: float, link: Link) -> Nodes:
    spacing = min(0.25, _spacing(sd, link))
    return Nodes.of(number_of_nodes(spacing, EXPANSION_REACH), EXPANSION_REACH)


def tetrachoric_correlation(
    n: Any, above: Any, weight: Array, proportion: float, pairs_by_chance: Any = None
) -> float:
    """Correlation of the normal scores behind two ratings of a unit, each above a cut or not.

    Parameters
    ----------
    n, above : array of shape (U,)
        Ratings of each unit, and how many of them are above the cut.
    weight : array of shape (U,)
        How often each unit counts.
    proportion : float
        Of all ratings, how many are above the cut.
    pairs_by_chance : array of shape (U,), optional
        Expected pairs of ratings of each unit that are both above the cut if they were
        independent; needed where the proportion differs between ratings.

    Returns
    -------
    float
        At least 0.02 and at most 0.9; 0.2 if no unit has two ratings.

    References
    ----------
    Owen (1956), for the bivariate normal distribution. https://doi.org/10.1214/aoms/1177728074
    """
    each = weight / n  # so that units with many pairs do not outweigh all others
    pairs = float(each @ (n * (n - 1)))
    if pairs == 0:
        return 0.2
    chance = n * (n - 1) * proportion**2 if pairs_by_chance is None else pairs_by_chance
    excess_both = float(each @ (above * (above - 1) - chance)) / pairs
    both, at = proportion**2 + excess_both, float(ndtri(proportion))

    def excess(r: float) -> float:
        both_at_r = ndtr(at) - 2 * owens_t(at, math.sqrt((1 - r) / (1 + r)))
        return float(both_at_r) - both

    least, largest = 0.02, 0.9
    if excess(least) >= 0 or excess(largest) <= 0:
        return least if excess(least) >= 0 else largest
    return float(scipy.optimize.brentq(excess, least, largest, xtol=1e-3))
