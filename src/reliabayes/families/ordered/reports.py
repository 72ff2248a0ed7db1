"""What models of ordered scores report: quantities, items, raters, and pairs of pools."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.families.integration import quadrature_error
from reliabayes.families.ordered.density import (
    cut_points,
    finer,
    log_likelihood,
    log_weight,
    rater_effects,
    table,
)
from reliabayes.families.ordered.family import XCC_OBSERVED, OrderedScores
from reliabayes.families.ordered.problem import SDS, OrderedPosterior
from reliabayes.families.pools import XCC, agreement
from reliabayes.likelihoods.ordinal import RESIDUAL, Observed
from reliabayes.results import quantities
from reliabayes.results.posterior import with_ids
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.results.summaries import describe, describe_in_blocks

Found = dict[str, Any]  # arrays with names of dimensions, by name of a quantity


def reported(
    family: OrderedScores, posterior: OrderedPosterior, reports: tuple[str, ...]
) -> xr.Dataset:
    """ICCs on both scales beside the parameters, draw by draw, in the order of their names."""
    draws, point, problem = posterior.draws, posterior.arrays(), posterior.problem
    cut = cut_points(point)
    observed = Observed.of(point["sd_item"], point["sd_rater"], cut, problem.link)
    found = _iccs(posterior, observed)
    if family.is_pooled:
        found = {**_xccs(posterior, found["icc"], observed), **found}
    found |= {name: draws[name] for name in SDS}
    found |= _location(family, cut, observed.proportion, tuple(map(str, draws["sd_item"].dims)))
    if problem.treatment.reports_likelihood:
        found["log_likelihood"] = posterior.log_likelihoods(
            partial(log_likelihood, problem=posterior.problem)
        )
        n_ratings = len(posterior.ratings)
        found["bits_per_rating"] = quantities.bits_per_rating(found["log_likelihood"], n_ratings)
    return with_ids(xr.Dataset(found)[[name for name in reports if name in found]], problem)


def _iccs(posterior: OrderedPosterior, observed: Observed) -> Found:
    """ICCs of the latent score, and of the ratings as numbers of their categories."""
    item, rater = (posterior.draws[name] for name in SDS)
    residual = xr.DataArray(math.sqrt(RESIDUAL[posterior.problem.link]))
    return {
        "icc": quantities.icc(item, rater, residual),
        "icc_consistency": quantities.icc_consistency(item, residual),
        "labeler_icc": quantities.labeler_icc(item, rater, residual),
        "icc_observed": (item.dims, observed.icc),
        "labeler_icc_observed": (item.dims, observed.labeler_icc),
    }


def _xccs(posterior: OrderedPosterior, icc: xr.DataArray, observed: Observed) -> Found:
    """Agreement of pairs of pools, of the latent scores and of the ratings as numbers."""
    pools = posterior.ratings.pools
    xcc = agreement(posterior.draws["factor_item"], icc, pools)
    pairs = list(combinations(range(len(pools)), 2))
    rho = xcc[XCC[0]].values
    covariance = np.stack(
        [observed.covariance(rho[..., k], *pair) for k, pair in enumerate(pairs)], axis=-1
    )
    first, second = np.transpose(pairs)
    totals = (observed.icc * observed.variance, observed.variance)
    correlations = (covariance / np.sqrt(x[..., first] * x[..., second]) for x in totals)
    dims = ("chain", "draw", "pair")
    named = {name: (dims, x) for name, x in zip(XCC_OBSERVED, correlations, strict=True)}
    return {**xcc, **named}


def _location(
    family: OrderedScores, cut: Array, proportion: Array, dims: tuple[str, ...]
) -> Mapping[str, Any]:
    """Cut points (..., K - 1) and proportions (..., K); the mean, and one proportion, of two."""
    if family.is_binary:
        return {"mean": (dims, -cut[..., 0]), "rate": (dims, proportion[..., 1])}
    return {"cut": ((*dims, "below"), cut), "rate": ((*dims, "category"), proportion)}


def items(
    posterior: OrderedPosterior, prob: float | None, rng: np.random.Generator
) -> pd.DataFrame:
    """Effects of the items on the latent scale: mean, sd, median and interval."""
    problem, ratings = posterior.problem, posterior.ratings_in_memory
    mixture, treatment = problem.mixture, problem.treatment
    drawn, each = list(posterior.points()), problem.n_pools

    def effects(some: slice) -> Array:
        if prob is None:
            found = [treatment.expected_effects(point, some, problem) for point in drawn]
        else:
            found = [treatment.drawn_effects(point, some, posterior, rng) for point in drawn]
        return np.array([of_draw.ravel() for of_draw in found])

    block = IN_MEMORY // (len(drawn) * each)
    found = describe_in_blocks(effects, len(mixture.multiplicity), block, prob)
    rows = mixture.distinct[:, None] * each + np.arange(each)
    index: pd.Index[Any] = ratings.items.rename("item")
    if problem.is_pooled:
        names = ["item", "pool"]
        index = pd.MultiIndex.from_product([ratings.items, ratings.pools], names=names)
    return found.iloc[rows.ravel()].set_axis(index)


def raters(posterior: OrderedPosterior, prob: float | None) -> pd.DataFrame:
    """Effects of the raters on the latent scale: mean, sd, median and interval; after any pool."""
    problem, ratings = posterior.problem, posterior.ratings
    point = {name: posterior.draws[name].values for name in ("mean", "level")}
    effects = rater_effects(point, problem).reshape(posterior.n_draws, -1)
    found = pd.DataFrame(describe(effects, prob), index=ratings.raters.rename("rater"))
    if problem.is_pooled:
        found.insert(0, "pool", ratings.pools[problem.pool])
    return found


def pointwise(posterior: OrderedPosterior) -> tuple[Array, Codes]:
    """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
    problem = posterior.problem
    found = np.empty((posterior.n_draws, len(problem.mixture.multiplicity)))
    for row, point in zip(found, posterior.points(), strict=True):
        row[:] = problem.treatment.log_probability(point, problem)
    return found, problem.mixture.distinct


def rating_probabilities(posterior: OrderedPosterior) -> Iterator[RatingProbabilities] | None:
    """How raters rate at each draw; None where problems have no nodes of new items."""
    return _rater_tables(posterior) if posterior.problem.nodes.number else None


def _rater_tables(posterior: OrderedPosterior) -> Iterator[RatingProbabilities]:
    """Tables by state of the item, each a true state by itself."""
    problem = posterior.problem
    for point in posterior.points():
        of_states = table(point, problem)
        by_category = of_states.reshape(len(of_states), problem.n_categories, -1)
        by_rater = by_category.transpose(0, 2, 1)
        yield RatingProbabilities(log_weight(problem), by_rater, np.eye(len(of_states)))


def integration_error(posterior: OrderedPosterior) -> tuple[int, float]:
    """Number of nodes, and the error of the log-likelihood in nats; 0 if effects are sampled."""
    problem = posterior.problem
    if not problem.treatment.integrates:
        return 0, 0.0
    refined = partial(finer, is_pooled=problem.is_pooled)
    return quadrature_error(posterior, "sd_item", log_likelihood, refined)
