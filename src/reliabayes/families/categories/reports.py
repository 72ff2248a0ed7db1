"""What models of true categories report: quantities, items, raters, and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import IN_CACHE, Array, Codes, blocks
from reliabayes.families.categories.density import (
    log_likelihood,
    log_probability,
    state_log_probabilities_of_each,
)
from reliabayes.families.categories.family import Categories, Response
from reliabayes.families.categories.misleading import mixed, truth_given_state
from reliabayes.families.categories.parts import of_no_items, with_distinct_items
from reliabayes.families.categories.problem import (
    MISLEADING,
    CategoricalProblem,
    log_weight,
    prevalence_at,
)
from reliabayes.families.true_categories import mean_probabilities, numbers_correct
from reliabayes.inference.em import Point
from reliabayes.inference.threads import of_parts
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.label_table import label_table
from reliabayes.results.posterior import Posterior, with_ids
from reliabayes.results.rater_quality import draws_by_category, draws_by_rater, rater_quality
from reliabayes.results.rating_probabilities import RatingProbabilities

CONFUSION_QUANTITIES = (  # by models that have confusion matrices
    "confusion",
    "accuracy",
    "informativeness",
    "random_share",
    "log_likelihood",
    "bits_per_rating",
)
SHARED = "all"  # dimension of size 1: one value for all, where each might have its own

Draws = Posterior[CategoricalProblem]


def reported(family: Categories, posterior: Draws, reports: tuple[str, ...]) -> xr.Dataset:
    """Parameters and what follows from them, draw by draw, in the order of their names."""
    found = _of_parameters(family, posterior)
    at = partial(log_likelihood, family.response, problem=posterior.problem)
    found["log_likelihood"] = posterior.log_likelihoods(at)
    n_ratings = len(posterior.ratings)
    found["bits_per_rating"] = quantities.bits_per_rating(found["log_likelihood"], n_ratings)
    names = (*reports, MISLEADING.name) if posterior.problem.misleads else reports
    return found[[name for name in names if name in found]]


def _of_parameters(family: Categories, posterior: Draws) -> xr.Dataset:
    """Parameters and what follows from them without the ratings, draw by draw."""
    draws = posterior.draws
    derived = _derived(family, posterior)
    dims = posterior.problem.dims
    names = [name for name in dims if name in draws and name not in derived]
    return xr.Dataset({name: _squeezed(draws[name]) for name in names}).merge(derived)


def _squeezed(values: xr.DataArray) -> xr.DataArray:
    return values.isel({SHARED: 0}, drop=True) if SHARED in values.dims else values


def _derived(family: Categories, posterior: Draws) -> xr.Dataset:
    """Confusion matrices and what follows from them, and what else is reported."""
    point, problem = posterior.arrays(), posterior.problem
    more = {} if family.effects is None else family.effects.more_quantities(point, problem)
    found = dict(more)
    rater: tuple[str, ...] = ("rater",) if problem.has_raters else ()
    chains, n_draws = posterior.shape

    def of_some(part: slice) -> dict[str, Array]:
        some = {name: x[:, part] for name, x in point.items()}
        return _of_confusion(family.response, some, problem)

    values = {
        name: np.empty((chains, n_draws, *each.shape[2:]))
        for name, each in of_some(slice(1)).items()
    }

    def fill(part: slice) -> None:
        for name, each in of_some(part).items():
            values[name][:, part] = each

    of_parts(fill, blocks(n_draws, IN_CACHE // (chains * problem.n_categories * problem.n_cells)))
    for name, each in values.items():
        found[name] = (*rater, "true_category", "category") if each.ndim > 3 else rater, each
    derived = {name: (("chain", "draw", *dims), x) for name, (dims, x) in found.items()}
    numbers = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
    return with_ids(xr.Dataset(derived, numbers), problem)


def _of_confusion(
    response: Response, point: Point, problem: CategoricalProblem
) -> dict[str, Array]:
    """What follows from confusion matrices (chains, draws, ...), and these if no parameter."""
    confusion = response.confusion(point, problem)
    if confusion is None:
        return {}
    prevalence = prevalence_at(point, problem)
    if problem.has_raters:
        prevalence = prevalence[..., None, :]
    if problem.misleads:
        share = point[MISLEADING.name]
        share = share if problem.has_raters else share[..., 0]
        confusion = mixed(confusion, prevalence, share)
    # Sums over categories are quick where the same element of many matrices lies side by side.
    by_element = np.moveaxis(np.moveaxis(confusion, (-2, -1), (0, 1)).copy(), (0, 1), (-2, -1))
    found = {
        "accuracy": quantities.accuracy(prevalence, by_element),
        "informativeness": quantities.informativeness(prevalence, by_element),
        "random_share": quantities.random_share(by_element),
    }
    return found if confusion is point.get("confusion") else {"confusion": confusion, **found}


def items(posterior: Draws, response: Response) -> pd.DataFrame:
    """Most probable category of each item, its probability, and the entropy in bits."""
    return label_table(category_probabilities(posterior, response))


def raters(
    family: Categories, posterior: Draws, reports: tuple[str, ...], prob: float | None
) -> pd.DataFrame:
    """Each rater's quantities, what they lack of a typical rater's information, and habits.

    No columns if raters are exchangeable.
    """
    known = posterior.quantities
    found = reported(family, posterior, reports) if known is None else known
    own, by_category = draws_by_rater(found), draws_by_category(found, family.guess)
    return rater_quality(own, by_category, posterior.ratings, prob)


def new_rater(
    family: Categories,
    posterior: Draws,
    reports: tuple[str, ...],
    covariates: Array,
    rng: np.random.Generator,
) -> dict[str, Array] | None:
    """Draws (S,) of what a rater drawn from the population has; None if there is none."""
    if family.effects is None:
        return None
    problem, drawn = family.effects.new_rater(posterior, covariates, rng)
    one = {name: (("chain", "draw", *problem.dims[name]), x) for name, x in drawn.items()}
    coords = {**problem.coords, "rater": pd.Index(["new rater"])}
    of_one = Posterior(
        posterior.draws.drop_dims("rater").assign(one),
        posterior.ratings,
        replace(problem, coords=coords),
    )
    found = _of_parameters(family, of_one)
    found = found[[name for name in reports if name in found]]
    every = draws_by_rater(found) | draws_by_category(found, family.guess)
    return {name: x[:, 0] for name, x in every.items()}


def pointwise(posterior: Draws, response: Response) -> tuple[Array, Codes]:
    """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
    mixture = posterior.problem.mixture
    found = np.empty((posterior.n_draws, len(mixture.multiplicity)))
    for row, point in zip(found, posterior.points(), strict=True):
        row[:] = log_probability(response, point, posterior.problem)
    return found, mixture.distinct


def rating_probabilities(
    family: Categories, posterior: Draws
) -> Iterator[RatingProbabilities] | None:
    """How raters rate at each draw; None where that depends on the ratings of others."""
    return None if family.votes is not None else _rater_tables(family.response, posterior)


def _rater_tables(response: Response, posterior: Draws) -> Iterator[RatingProbabilities]:
    """Tables where cells are a category and a rater each."""
    problem = posterior.problem
    for point in posterior.points():
        table = response.table(point, problem)
        by_rater = table.reshape(len(table), problem.n_categories, -1).transpose(0, 2, 1)
        of_state = truth_given_state(point, problem)
        yield RatingProbabilities(log_weight(point, problem), by_rater, of_state)


# True categories of the items.


def category_probabilities(posterior: Draws, response: Response) -> pd.DataFrame:
    """Probability (I, K) of each true category of each item, averaged over draws."""
    states, distinct = _true_categories(posterior, response), posterior.problem.mixture.distinct
    return mean_probabilities(states, posterior.n_draws, posterior.ratings_in_memory, distinct)


def correct_ratings(posterior: Draws, response: Response, rng: np.random.Generator) -> Array:
    """Number (S, R) of each rater's ratings that equal true categories drawn with the draws."""
    if not isinstance(posterior.ratings, Ratings):
        own, seed = of_no_items(posterior.problem), int(rng.integers(2**31))
        of_part = partial(_correct_of_part, posterior.draws, own, response, seed)
        return posterior.ratings.sum(of_part)
    states, distinct = _true_categories(posterior, response), posterior.problem.mixture.distinct
    return numbers_correct(states, posterior.n_draws, posterior.ratings, distinct, rng)


def items_by_part(posterior: Draws, response: Response) -> TableOfPart:
    """What makes the table of labels of a part, from the draws."""
    return partial(_labels_of_part, posterior.draws, of_no_items(posterior.problem), response)


def _labels_of_part(
    draws: xr.Dataset,
    problem: CategoricalProblem,
    response: Response,
    part: Ratings,
    rng: np.random.Generator,
) -> pd.DataFrame:
    return items(Posterior(draws, part, with_distinct_items(problem, part)), response)


def _correct_of_part(
    draws: xr.Dataset, problem: CategoricalProblem, response: Response, seed: int, part: Ratings
) -> Array:
    rng = np.random.default_rng([seed, part.items[0]])  # the position of the first item
    of_part = Posterior(draws, part, with_distinct_items(problem, part))
    return correct_ratings(of_part, response, rng)


def _true_categories(posterior: Draws, response: Response) -> Iterator[Array]:
    """Probabilities (B, D, K) of distinct items' true categories, for some draws at a time."""
    problem, draws = posterior.problem, posterior.stacked()
    mixture = problem.mixture
    known = mixture.kind > 0
    size = IN_CACHE // (len(known) * problem.n_categories)
    for some in blocks(posterior.n_draws, size):
        points = {name: values[some] for name, values in draws.items()}
        state = mixture.posterior(*state_log_probabilities_of_each(response, points, problem))[1]
        found = state @ truth_given_state(points, problem)
        found[:, known] = np.eye(problem.n_categories)[mixture.kind[known] - 1]
        yield found
