"""What judge panels report: quantities, items and raters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes, blocks
from reliabayes.families.judges.density import log_likelihood, log_probability, true_categories
from reliabayes.families.judges.matrices import Matrices, matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.simulation import answered
from reliabayes.families.judges.starts import complete
from reliabayes.families.true_categories import mean_probabilities, numbers_correct
from reliabayes.results import quantities as formulas
from reliabayes.results.label_table import label_table
from reliabayes.results.posterior import Posterior, with_ids
from reliabayes.results.rater_quality import draws_by_category, draws_by_rater, rater_quality
from reliabayes.results.rating_probabilities import RatingProbabilities

Draws = Posterior[PanelProblem]

BLOCK = 200_000  # probabilities of items at a time
MOST_STATES = 10_000  # of an item, true category and readings together


def quantities(posterior: Draws, names: tuple[str, ...]) -> xr.Dataset:
    """Rates, prevalences, probabilities of answers, and what follows from them."""
    problem = posterior.problem
    found = matrices(complete(posterior.arrays(), problem), problem)
    by_rater, of_truth = confusion(found, problem), overall(found, problem)[..., None, :]
    values: dict[str, tuple[tuple[str, ...], Array]] = {
        "prevalence": (("group", "true_category"), np.exp(found.prevalence)),
        "confusion": (("rater", "true_category", "category"), by_rater),
        "accuracy": (("rater",), formulas.accuracy(of_truth, by_rater)),
        "informativeness": (("rater",), formulas.informativeness(of_truth, by_rater)),
        "random_share": (("rater",), formulas.random_share(by_rater)),
        "reruns_flip": (("run_judge",), reruns_flip(found, problem)),
    }
    if (rate := people_rates(found, problem)) is not None:
        values["rate"] = (("group", "category"), rate)
    log = posterior.log_likelihoods(lambda at: log_likelihood(complete(at, problem), problem))
    total = {
        "log_likelihood": log,
        "bits_per_rating": formulas.bits_per_rating(log, len(posterior.ratings)),
    }
    data = {name: (("chain", "draw", *dims), x) for name, (dims, x) in values.items() if x.size}
    numbers = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
    every = with_ids(xr.Dataset(data, numbers), problem).assign(total)
    return every[[name for name in names if name in every]]


def share_of_groups(problem: PanelProblem) -> Array:
    """Proportions (G,) of the items at hand."""
    counts = np.bincount(problem.group, minlength=problem.size("group"))
    return np.asarray(counts / counts.sum())


def overall(found: Matrices, problem: PanelProblem) -> Array:
    """Probabilities (..., K) of the true categories of items like all those at hand."""
    return np.asarray(share_of_groups(problem) @ np.exp(found.prevalence))


def confusion(found: Matrices, problem: PanelProblem) -> Array:
    """Probabilities (..., R, K, K) of a rating by true category, on items like all at hand.

    That of the one person who is trusted is the identity.
    """
    k = problem.n_categories
    is_person = problem.roles.is_person
    every = np.empty((*found.prevalence.shape[:-2], len(is_person), k, k))
    every[..., is_person, :, :] = np.exp(found.people) if problem.n_people else np.eye(k)
    every[..., ~is_person, :, :] = judge_confusion(found, problem)
    return every


def judge_confusion(found: Matrices, problem: PanelProblem) -> Array:
    """Probabilities (..., J, K, K) of an answer by true category, averaged over groups."""
    by_group = judge_matrices(found, problem)
    weight = share_of_groups(problem)[:, None] * np.exp(found.prevalence)  # (..., G, K)
    weight = weight / weight.sum(axis=-2, keepdims=True)
    if not problem.by_group:
        weight = weight.sum(axis=-2, keepdims=True)
    return np.asarray(np.einsum("...gk,...jgkc->...jkc", weight, by_group))


def people_rates(found: Matrices, problem: PanelProblem) -> Array | None:
    """Expected proportions (..., G, K) of ratings by the people at hand; None without people."""
    if problem.trusts_person:
        return np.exp(found.prevalence)
    if not problem.n_people:
        return None
    return np.asarray(np.exp(found.prevalence) @ np.exp(found.people).mean(axis=-3))


def judge_matrices(found: Matrices, problem: PanelProblem) -> Array:
    """Probabilities (..., J, M, K, K) of an answer in one run, by true category."""
    said = problem.answers
    each = []
    for judge in range(len(said.family)):
        own = _lasting(found, problem, judge)
        if (at := said.slip_of[judge]) >= 0:
            own = own @ np.exp(found.slip[..., at, None, :, :])
        each.append(own)
    if not each:
        shape = found.misreading.shape
        return np.zeros((*shape[:-4], 0, *shape[-3:]))
    return np.stack(each, axis=-4)


def _lasting(found: Matrices, problem: PanelProblem, judge: int) -> Array:
    """Probabilities (..., M, K, K) of a judge's lasting reading, by true category."""
    read = np.exp(found.misreading[..., problem.answers.family[judge], :, :, :])
    at = problem.answers.own_of[judge]
    return read @ np.exp(found.own[..., at, None, :, :]) if at >= 0 else read


def _weights(found: Matrices, problem: PanelProblem) -> Array:
    """Shares (..., M, K) of items with each true category, by what misreading depends on."""
    weight = share_of_groups(problem)[:, None] * np.exp(found.prevalence)  # (..., G, K)
    return weight if problem.by_group else weight.sum(axis=-2, keepdims=True)


def reruns_flip(found: Matrices, problem: PanelProblem) -> Array:
    """Probabilities (..., B) that two runs of a judge on an item differ, on items like these."""
    said, flips = problem.answers, 1 - (np.exp(found.slip) ** 2).sum(axis=-1)
    weight, each = _weights(found, problem), []
    for judge in np.flatnonzero(said.slip_of >= 0).tolist():
        lasting = _lasting(found, problem, judge)
        of_run = flips[..., said.slip_of[judge], :]
        each.append(np.einsum("...gk,...gko,...o->...", weight, lasting, of_run))
    return np.stack(each, axis=-1) if each else np.zeros((*weight.shape[:-2], 0))


def items(posterior: Draws) -> pd.DataFrame:
    """Most probable category of each item, its probability, and the entropy in bits."""
    return label_table(category_probabilities(posterior))


def raters(posterior: Draws, names: tuple[str, ...], prob: float | None) -> pd.DataFrame:
    """Accuracy of each rater, and the category that each uses most."""
    known = posterior.quantities
    found = quantities(posterior, names) if known is None else known
    return rater_quality(
        draws_by_rater(found), draws_by_category(found, None), posterior.ratings, prob
    )


def category_probabilities(posterior: Draws) -> pd.DataFrame:
    """Probability (I, K) of each true category of each item, averaged over draws."""
    ratings, distinct = posterior.ratings_in_memory, posterior.problem.mixture.distinct
    return mean_probabilities(truths(posterior), posterior.n_draws, ratings, distinct)


def truths(posterior: Draws) -> Iterator[Array]:
    """Probabilities (B, D, K) of distinct items' true categories, for some draws at a time."""
    problem = posterior.problem
    draws = complete(posterior.stacked(), problem)
    size = BLOCK // (len(problem.mixture.multiplicity) * problem.n_categories)
    for some in blocks(posterior.n_draws, size):
        yield true_categories({name: x[some] for name, x in draws.items()}, problem)


def correct_ratings(posterior: Draws, rng: np.random.Generator) -> Array:
    """Number (S, R) of each rater's ratings that equal true categories drawn with the draws."""
    ratings, distinct = posterior.ratings_in_memory, posterior.problem.mixture.distinct
    return numbers_correct(truths(posterior), posterior.n_draws, ratings, distinct, rng)


def rating_probabilities(posterior: Draws) -> Iterator[RatingProbabilities]:
    """How raters rate at each draw, in one run: people by true category, judges by what is read.

    A state is a true category with what each family reads, as long as these are not too many;
    judges of further families err independently of each other, by true category.
    """
    problem = posterior.problem
    for point in posterior.points():
        yield _of_states(matrices(complete(point, problem), problem), problem)


def _of_states(found: Matrices, problem: PanelProblem) -> RatingProbabilities:
    said, k, judges = problem.answers, problem.n_categories, ~problem.roles.is_person
    by_truth, of_truth = confusion(found, problem), overall(found, problem)
    weight = _weights(found, problem)
    share = weight / weight.sum(axis=0)
    read = np.einsum("gt,fgtr->ftr", share, np.exp(found.misreading))
    kept = min(len(read), int(np.log(MOST_STATES) / np.log(k)) - 1)
    states = np.indices((k,) * (1 + kept)).reshape(1 + kept, -1)
    log_weight = np.log(of_truth[states[0]])
    for family, reads in enumerate(states[1:]):
        log_weight = log_weight + np.log(read[family, states[0], reads])
    table = by_truth[:, states[0]]
    for judge, rater in enumerate(np.flatnonzero(judges)):
        if (family := said.family[judge]) < kept:
            table[rater] = given_reading(found, problem, judge)[states[1 + family]]
    return RatingProbabilities(log_weight, np.log(table.swapaxes(0, 1)), np.eye(k)[states[0]])


def given_reading(found: Matrices, problem: PanelProblem, judge: int) -> Array:
    """Probabilities (..., K, K) of a judge's answer in one run, by what its family reads."""
    own, slip = problem.answers.own_of[judge], problem.answers.slip_of[judge]
    read = np.exp(found.own[..., own, :, :]) if own >= 0 else np.eye(problem.n_categories)
    return read @ np.exp(found.slip[..., slip, :, :]) if slip >= 0 else read


def pointwise(posterior: Draws) -> tuple[Array, Codes]:
    """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
    problem = posterior.problem
    points = (complete(point, problem) for point in posterior.points())
    return np.array([log_probability(each, problem) for each in points]), problem.mixture.distinct


def replicates(posterior: Draws, rng: np.random.Generator) -> Iterator[Codes]:
    """Categories (N,) of answers on new items of the same groups, one draw at a time."""
    problem, ratings = posterior.problem, posterior.ratings_in_memory
    for point in posterior.points():
        yield answered(complete(point, problem), ratings, problem, rng)
