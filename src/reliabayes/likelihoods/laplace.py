"""Ratings in ordered categories with normal effects, integrated out around their mode.

Laplace's approximation for effects that have many ratings each. Effects of items may have few: in
models of a latent score they are integrated out by adaptive quadrature, given those of the raters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.special import logsumexp

from reliabayes.arrays import Array, Codes
from reliabayes.inference.newton import Newton
from reliabayes.inference.time_limit import check_time
from reliabayes.likelihoods.crossed_categories import rated
from reliabayes.likelihoods.ordinal import Link, between
from reliabayes.likelihoods.ordinal_pools import PooledCategories, adaptive_nodes, grid

NEWTON = Newton(50, 1e-10)  # the last gain is in nats
HALVINGS = 10  # of a step
WORSE = 0.01  # nats that a step may lose: quadrature around moving modes errs by less
NODES = {1: 9, 2: 5}  # by number of pools, of each score of an item
FEWEST_NODES = 3
LAST_STEP = 1e-4  # of modes that the likelihood is differentiated around


class AtMode(NamedTuple):
    """Log-likelihood with standard effects integrated out, and the effects (Q,) at their mode."""

    log_likelihood: float
    effect: Array


class Curved(NamedTuple):
    """Log density of effects and ratings, its gradient (Q,), and what solves its curvature."""

    value: float
    gradient: Array
    solve: Callable[[Array], Array]
    log_det: float


def at_mode(density: Callable[[Array], Curved], start: Array) -> AtMode:
    """Newton's method from standard effects (Q,) to their mode, and Laplace's approximation there.

    References
    ----------
    Tierney & Kadane (1986). https://doi.org/10.1080/01621459.1986.10478240
    """
    effect, here = start, density(start)
    for _ in range(NEWTON.steps):
        check_time()
        step = here.solve(here.gradient)
        gain = float(here.gradient @ step)
        for _ in range(HALVINGS):
            there = density(effect + step)
            if there.value >= here.value - WORSE:
                break
            step = step / 2
        effect, here = effect + step, there
        if gain < NEWTON.last:
            break
    return AtMode(here.value - 0.5 * here.log_det, effect)


@dataclass(frozen=True, eq=False)
class GradedRatings:
    """Ratings in categories, whose latent scores are sums of effects of several sources.

    Attributes
    ----------
    category : array of int, shape (N,)
        Of each rating.
    incidence : sparse array of shape (N, Q)
        1 where a rating has an effect.
    link : {"logit", "probit"}
        Distribution of the residual.
    """

    category: Codes
    incidence: sp.csr_array
    link: Link

    def at_mode(self, sd: Array, cut: Array, start: Array) -> AtMode:
        """Laplace's approximation at sds (Q,) of the effects and cut points (K - 1,)."""
        ends = np.concatenate([[-np.inf], cut, [np.inf]])
        lower, upper = ends[self.category], ends[self.category + 1]
        design = sp.csr_array(self.incidence * sd)
        one = sp.eye_array(len(sd))

        def density(effect: Array) -> Curved:
            above = design @ effect
            sides = above - lower, above - upper
            probability = between(*sides, self.link)
            here = rated(*sides, probability, self.link)
            value = np.log(probability).sum() - 0.5 * effect @ effect
            factor = _factor(design.T @ (design * here.information[:, None]) + one)
            log_det = float(np.log(np.abs(factor.U.diagonal())).sum())
            return Curved(float(value), design.T @ here.slope - effect, factor.solve, log_det)

        return at_mode(density, start)


@dataclass(frozen=True, eq=False)
class ScoredRatings:
    """Ratings in categories, whose latent scores are effects of items in pools, and of raters.

    Attributes
    ----------
    ratings : PooledCategories
        Ratings of distinct items.
    pool : array of int, shape (R,)
        Of the raters.
    multiplicity : array of shape (D,)
        How many items each distinct item stands for.
    link : {"logit", "probit"}
        Distribution of the residual.
    """

    ratings: PooledCategories
    pool: Codes
    multiplicity: Array
    link: Link

    def at_mode(self, root: Array, sd: Array, cut: Array, start: Array) -> AtMode:
        """Laplace's approximation for raters with sds (G,), given a root (G, G) and cut points.

        The root of the covariance of an item's effects, cut points (G, K - 1).
        """
        given, weight, pools = self.ratings, self.multiplicity, len(root)
        ends = np.pad(cut, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
        lower, upper = (ends[given.pool, given.category + side, None] for side in (0, 1))
        node, log_weight = adaptive_nodes(NODES.get(pools, FEWEST_NODES))
        at, log_weights = grid(node, pools), grid(log_weight, pools).sum(axis=1)
        (n_items, _), n_nodes, n_raters = given.shape, len(at), len(self.pool)
        of_item = sp.csr_array(
            (given.multiplicity, (given.item, np.arange(len(given.item)))),
            (n_items, len(given.item)),
        )
        own_sd, of_rating = sd[self.pool], weight[given.item]
        # Rows of slopes by rater: of each item at each node, then of each item.
        place = given.item[:, None] * n_nodes + np.arange(n_nodes)
        order = np.append(
            np.argsort(place, axis=None, kind="stable"), place.size + np.arange(len(place))
        )
        per_row = np.bincount(place.ravel()), np.bincount(given.item)
        rows = np.append(0, np.concatenate(per_row).cumsum())
        sign = np.repeat([-1.0, 1.0], [n_items * n_nodes, n_items])
        columns = np.append(np.repeat(given.rater, n_nodes), given.rater)[order]

        last = [np.zeros(given.shape)]  # modes that the next search starts at

        def density(effect: Array) -> Curved:
            level = own_sd * effect
            mode, scale = given.modes(level, root, cut, self.link, last[0], LAST_STEP)
            last[0] = mode
            score = mode[:, None] + at @ scale.transpose(0, 2, 1)
            of_items = (score @ root.T)[given.item, :, given.pool]
            location = level[given.rater, None] + of_items
            sides = location - lower, location - upper
            of_rated = between(*sides, self.link)
            joint = of_item @ np.log(of_rated)
            joint = joint - 0.5 * (score**2).sum(axis=2) + log_weights
            of_each = logsumexp(joint, axis=1)
            volume = np.log(scale.diagonal(axis1=1, axis2=2)).sum(axis=1)
            probability = np.exp(joint - of_each[:, None])

            here = rated(*sides, of_rated, self.link)
            own = probability[given.item]
            slope = given.multiplicity[:, None] * here.slope
            information = given.multiplicity * (own * here.information).sum(axis=1)
            expected = (own * slope).sum(axis=1)
            slopes = np.append(
                slope * np.sqrt(own * of_rating[:, None]), expected * np.sqrt(of_rating)
            )
            shape = len(rows) - 1, n_raters
            by_rater = sp.csr_array((slopes[order], columns, rows), shape)
            signed = sp.csr_array(
                (np.repeat(sign, np.diff(rows)) * by_rater.data, columns, rows), shape
            )
            curvature = (by_rater.T @ signed).toarray()
            per_rater = of_rating * np.array([information, expected])
            known, uphill = (np.bincount(given.rater, x, n_raters) for x in per_rater)
            curvature[np.diag_indices(n_raters)] += known
            matrix = np.eye(n_raters) + own_sd[:, None] * curvature * own_sd
            factor = scipy.linalg.cho_factor(matrix, lower=True)
            return Curved(
                float(weight @ (of_each + volume) - 0.5 * effect @ effect),
                own_sd * uphill - effect,
                lambda right: np.asarray(scipy.linalg.cho_solve(factor, right)),
                2 * float(np.log(np.diag(factor[0])).sum()),
            )

        return at_mode(density, start)


def _factor(matrix: Any) -> Any:
    """Factors of a sparse, positive definite matrix."""
    options = {"SymmetricMode": True}
    return sp.linalg.splu(
        sp.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options=options
    )
