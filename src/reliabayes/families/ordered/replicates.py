"""Parameters drawn from their priors, and ratings drawn at a point."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.ordered.density import by_rater, cut_points, item_effects, rater_effects
from reliabayes.families.ordered.problem import SDS, OrderedProblem
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference import correlation
from reliabayes.inference.densities import half_t
from reliabayes.inference.em import Point
from reliabayes.likelihoods.ordinal import CategoryProbabilities
from reliabayes.ratings import Ratings


def draw_from_prior(problem: OrderedProblem, rng: np.random.Generator, given: Point) -> Point:
    """Parameters drawn from their priors; effects of raters conditional on those given."""
    pools, priors = problem.n_pools, problem.priors
    shape = (pools,) if problem.is_pooled else ()
    location, scale = priors["cut"].tolist()
    cut = np.sort(rng.normal(location, scale, (*shape, problem.n_categories - 1)))
    point: dict[str, Array] = {"mean": np.asarray(-cut[..., 0]), "step": np.diff(cut)}
    for name in SDS:
        point[name] = np.reshape([half_t(priors[name], rng) for _ in range(pools)], shape)
    if problem.is_pooled:
        point["factor_item"] = correlation.draw(pools, float(priors["lkj"]), rng)
    point |= given
    mean, sd_rater = (by_rater(point[name], problem) for name in ("mean", "sd_rater"))
    return {**point, "level": mean + sd_rater * rng.standard_normal(problem.n_raters)}


def replicated(
    point: Point, ratings: Ratings, problem: OrderedProblem, rng: np.random.Generator
) -> Codes:
    """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
    shape = (problem.n_pools,) if problem.is_pooled else ()
    item = item_effects(point, rng.standard_normal((ratings.n_items, *shape)))
    cut, of_rating = cut_points(point), item[ratings.item]
    if problem.is_pooled:
        pool = problem.pool[ratings.rater]
        cut, of_rating = cut[pool], item[ratings.item, pool]
    location = of_rating + rater_effects(point, problem)[ratings.rater]
    return drawn_categories(CategoryProbabilities.of(location, cut, problem.link).probability, rng)
