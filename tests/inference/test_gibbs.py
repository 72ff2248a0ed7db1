"""Gibbs sampling, against sums over everything that is hidden, and against the Stan programs."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import comb, gammaln

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.categories.problem import prevalence_at
from reliabayes.families.categories.starts import to_free
from reliabayes.inference import gibbs, threads
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.log_density import log_densities
from reliabayes.inference.problem import stan_data
from reliabayes.inference.stan import Draws
from reliabayes.models.category_model import CategoryModel
from reliabayes.sampling import sweeps
from reliabayes.sampling.sweeps import with_sweeps
from reliabayes.sampling.thresholds import SWEEPS
from tests.monte_carlo import standard_error

Group = tuple[Any, ...]  # name of a parameter, and which of its groups that sum to 1
Outcome = tuple[Group, int]
Way = tuple[float, list[Outcome]]  # that a rating comes about: a factor, and what it counts for
Ways = Callable[[int, int, int, float], list[Way]]  # of rater, true category, rating, proportion

LIMIT = 4.5  # Monte Carlo standard errors, of some 250 comparisons
EVEN = rb.Dirichlet(1.3)

TINY = pd.DataFrame(
    {"item": [0, 0, 1, 1, 2, 2], "rater": [0, 1, 0, 1, 0, 1], "rating": [0, 0, 1, 1, 0, 1]}
)


def by_confusion(rater: int, truth: int, category: int, _: float) -> list[Way]:
    return [(1.0, [(("confusion", rater, truth), category)])]


def by_knowledge(names: tuple[str, str], which: Callable[[int, int], Any], *at: Any) -> list[Way]:
    """Known if right, or guessed; ``which`` says whose guesses, of rater and true category."""
    rater, truth, category, _ = at
    known, guess = names
    own = which(rater, truth)
    ways: list[Way] = [(1.0, [((known, own), 1), ((guess, own), category)])]
    return [(1.0, [((known, own), 0)]), *ways] if truth == category else ways


def by_following(
    which: Callable[[int], Any], rater: int, truth: int, category: int, proportion: float
) -> list[Way]:
    ways: list[Way] = [(proportion, [(("a", which(rater)), 1)])]
    return [(1.0, [(("a", which(rater)), 0)]), *ways] if truth == category else ways


CASES: dict[str, tuple[CategoryModel[Any], Ways]] = {
    "dawid-skene": (rb.DawidSkene(prior_prevalence=EVEN), by_confusion),
    "mace": (
        rb.MACE(prior_prevalence=EVEN),
        partial(by_knowledge, ("theta", "xi"), lambda rater, _: rater),
    ),
    "mace, uniform": (
        rb.MACE(prevalence="uniform"),
        partial(by_knowledge, ("theta", "xi"), lambda rater, _: rater),
    ),
    "tap": (rb.TAP(), partial(by_knowledge, ("a", "p"), lambda _, truth: 0)),
    "tap, by category": (
        rb.TAP(accuracy="by_category", guessing="by_category", prior_a=rb.Beta(2, 1)),
        partial(by_knowledge, ("a", "p"), lambda _, truth: truth),
    ),
    "rater-tap": (
        rb.RaterTAP(prior_a=rb.Beta(3, 2)),
        partial(by_knowledge, ("a", "p"), lambda rater, _: rater),
    ),
    "groupthink": (rb.Groupthink(), partial(by_following, lambda _: ())),
    "rater-groupthink": (
        rb.RaterGroupthink(prior_t=rb.Dirichlet((1.0, 2.0))),
        partial(by_following, lambda rater: rater),
    ),
    "rater-groupthink, shared": (
        rb.RaterGroupthink(prevalence="shared"),
        partial(by_following, lambda rater: rater),
    ),
}
every_case = pytest.mark.parametrize("case", CASES)


def drawn(
    model: CategoryModel[Any], ratings: rb.Ratings, *, seed: int = 1, **options: Any
) -> Draws:
    problem = model.problem(ratings)
    conjugate = model.conjugate(problem)
    assert isinstance(conjugate, Conjugate)
    chains = {"chains": 2, "warmup": 100, "draws": 1000, "progress": False} | options
    inits = model.cold_start(problem, None).create_inits(seed=seed, chains=chains["chains"])
    return gibbs.sample(conjugate, seed=seed, inits=inits, **chains)


def check_log_likelihood(model: CategoryModel[Any], ratings: rb.Ratings, found: Draws) -> None:
    """That kept with each draw of a chain is that of NumPy."""
    problem = model.problem(ratings)
    kept = found.parameters["log_likelihood"][0]
    for draw, own in enumerate(kept):
        point = {p.name: found.parameters[p.name][0, draw] for p in model.parameters()}
        assert own == pytest.approx(model.log_likelihood(point, problem), rel=1e-10)


def crowd(
    items: int, raters: int, per_item: int, categories: int, gold: bool = False
) -> rb.Ratings:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, categories, items)
    item = np.repeat(np.arange(items), per_item)
    rater = rng.permuted(np.tile(np.arange(raters), (items, 1)), axis=1)[:, :per_item].ravel()
    guess = rng.integers(0, categories, len(item))
    rating = np.where(rng.random(len(item)) < 0.6, truth[item], guess)
    table = pd.DataFrame({"item": item, "rater": rater, "rating": rating})
    if gold:
        table["gold"] = np.where(item % 3 == 0, truth[item], np.nan)
    return rb.Ratings.from_frame(
        table, gold="gold" if gold else None, scale="nominal", categories=range(categories)
    )


@every_case
def test_moments_are_those_of_the_sum_over_all_that_is_hidden(case: str) -> None:
    model, ways = CASES[case]
    ratings = rb.Ratings.from_frame(TINY, scale="nominal")

    found = drawn(model, ratings, draws=3000)

    exact = enumerated(model, ways, model.problem(ratings).priors)
    for parameter in model.parameters():
        draws = found.parameters[parameter.name]
        for at in np.ndindex(draws.shape[2:]):
            own = draws[(..., *at)]
            group = at if parameter.support == "unit" else at[:-1]
            index = 0 if parameter.support == "unit" else at[-1]
            mean, square = exact[group_of(parameter.name, group), index]
            for power, value in ((own, mean), (own**2, square)):
                assert abs(power.mean() - value) < LIMIT * standard_error(power), (at, value)


def group_of(name: str, at: tuple[int, ...]) -> Group:
    if name in ("prevalence",):
        return (name,)
    return (name, *at) if at else (name, ())


def enumerated(
    model: CategoryModel[Any], ways: Ways, priors: Mapping[str, Array]
) -> dict[Outcome, tuple[float, float]]:
    """Posterior means of each probability and of its square, by sums over all that is hidden."""
    shares = TINY.groupby("item")["rating"].value_counts(normalize=True)
    is_fixed = "prevalence" not in [parameter.name for parameter in model.parameters()]
    fixed = prevalence_at({}, model.problem(rb.Ratings.from_frame(TINY))) if is_fixed else None
    total, found = 0.0, dict[Outcome, Array]()
    for truth in product(range(2), repeat=3):
        rows = TINY[["item", "rater", "rating"]].to_numpy().tolist()
        each = [ways(rater, truth[item], k, shares[item, k]) for item, rater, k in rows]
        for chosen in product(*each):
            factor = float(np.prod([way[0] for way in chosen]))
            counts = dict[Group, Array]()
            for group, index in all_outcomes(chosen, truth, is_fixed):
                counts.setdefault(group, np.zeros(2))[index] += 1
            if fixed is not None:
                factor *= float(np.prod(fixed[list(truth)]))
            weight = factor
            for group, own in counts.items():
                prior = prior_of(group, priors)
                weight *= float(np.exp(log_evidence(prior + own, prior)))
            total += weight
            for group in groups(model):
                pseudo = prior_of(group, priors) + counts.get(group, 0)
                size = pseudo.sum()
                for index in range(2):
                    mean = pseudo[index] / size
                    moments = np.array([mean, mean * (pseudo[index] + 1) / (size + 1)])
                    found[group, index] = found.get((group, index), 0) + weight * moments
    return {key: (float(x[0] / total), float(x[1] / total)) for key, x in found.items()}


def all_outcomes(
    chosen: tuple[Way, ...], truth: tuple[int, ...], is_fixed: bool
) -> Iterator[Outcome]:
    for _, outcomes in chosen:
        yield from outcomes
    if not is_fixed:
        yield from ((("prevalence",), category) for category in truth)


def groups(model: CategoryModel[Any]) -> Iterator[Group]:
    sizes = {"rater": 2, "true_category": 2, "category": 2, "all": 1}
    for parameter in model.parameters():
        dims = parameter.dims if parameter.support == "unit" else parameter.dims[:-1]
        for at in np.ndindex(*(sizes[dim] for dim in dims)):
            yield group_of(parameter.name, at)


def prior_of(group: Group, priors: Mapping[str, Array]) -> Array:
    prior = priors[group[0]]
    return np.asarray(prior[group[1:]] if prior.ndim > 1 else prior)


def log_evidence(posterior: Array, prior: Array) -> Array:
    """Log-probability of the counts between Dirichlet distributions, in the last axis."""
    one, other = (gammaln(x).sum(axis=-1) - gammaln(x.sum(axis=-1)) for x in (posterior, prior))
    return np.asarray(one - other)


@every_case
@pytest.mark.parametrize("gold", [False, True])
def test_log_density_is_that_of_the_stan_program(case: str, gold: bool) -> None:
    model, _ = CASES[case]
    categories = 2 if isinstance(model, rb.RaterGroupthink) else 3
    ratings = crowd(30, 6, 4, categories, gold)
    problem = model.problem(ratings)

    found = drawn(model, ratings, warmup=10, draws=4)

    points = to_free(found.parameters, problem, None).reshape(8, -1)
    data = stan_data(problem, model.start(problem).centring)
    expected = log_densities(model.program(problem), data, points)
    np.testing.assert_allclose(found.statistics["lp"].ravel(), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "ratings"),
    [
        (rb.DawidSkene(), crowd(4, 900, 900, 2)),  # products underflow and are scaled
        (
            rb.DawidSkene(),
            crowd(20, 60, 60, 7),
        ),  # a number of states that is known only at run time
        (rb.TAP(), crowd(4, 3000, 3000, 2)),  # powers underflow
    ],
    ids=["many raters", "seven categories", "many equal ratings"],
)
def test_log_likelihood_is_that_of_numpy(model: CategoryModel[Any], ratings: rb.Ratings) -> None:
    check_log_likelihood(model, ratings, drawn(model, ratings, chains=1, warmup=5, draws=4))


AGAIN = pd.DataFrame(  # items that are equal, rated twice by one rater, and known
    {
        "item": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5],
        "rater": [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 0, 1],
        "rating": [0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 0, 1, 0],
        "gold": [None] * 9 + [1, 1] + [None] * 5,
    }
)
PARTLY = pd.DataFrame(  # items of which each shares some raters with others
    {
        "item": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
        "rater": [0, 1, 2, 0, 1, 3, 2, 3, 0, 1, 2, 3, 0, 2, 3],
        "rating": [0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1],
        "gold": [None] * 15,
    }
)

SHARED = pd.DataFrame(  # items of the same raters
    {
        "item": [0, 0, 0, 1, 1, 1, 2, 2, 2],
        "rater": [0, 1, 2, 0, 1, 2, 0, 1, 2],
        "rating": [0, 0, 1, 0, 1, 1, 1, 0, 1],
        "gold": [None] * 9,
    }
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "concentration", "n", "settled"),
    [
        *((AGAIN, *case, 0) for case in [(1.0, 2), (0.3, 2)]),
        pytest.param(AGAIN, 0.5, 5, 0, marks=pytest.mark.proof),
        pytest.param(AGAIN, 2.0, 9, 0, marks=pytest.mark.proof),
        (PARTLY, 0.3, 2, 0),
        pytest.param(PARTLY, 0.8, 3, 0, marks=pytest.mark.proof),
        pytest.param(PARTLY, 0.5, 5, 0, marks=pytest.mark.proof),
        *((SHARED, *case) for case in [(0.3, 2, 0), (0.3, 2, 1), (0.1, 2, 2), (0.3, 3, 3)]),
    ],
)
def test_states_given_one_another_have_the_moments_of_the_sum_over_them(
    table: pd.DataFrame, concentration: float, n: int, settled: int
) -> None:
    rows: Any = np.full((n, n), concentration) + 2 * np.eye(n)
    model = rb.DawidSkene(prior_prevalence=EVEN, prior_confusion=rows)
    ratings = rb.Ratings.from_frame(
        table, gold="gold", scale="nominal", replicates="keep", categories=range(n)
    )
    problem = model.problem(ratings)
    conjugate = model.conjugate(problem)
    assert isinstance(conjugate, Conjugate)
    assert conjugate.passes > 0
    assert conjugate.multiplicity.max() == (2 if table is AGAIN else 1)
    if settled:
        first = np.arange(len(conjugate.kind)) < settled
        often = with_sweeps(conjugate, -(-6 // (1 + conjugate.passes)))
        conjugate = replace(often, is_settled=first.astype(np.int32))
        assert conjugate.passes >= 5  # of which the first and the fifth draw settled items

    inits = model.cold_start(problem, None).create_inits(seed=1, chains=2)
    found = gibbs.sample(
        conjugate, seed=1, inits=inits, chains=2, warmup=100, draws=40_000
    ).parameters

    known = table.groupby("item")["gold"].first()
    every_state = product(*(range(n) if pd.isna(own) else [int(own)] for own in known))
    truth = np.array(list(every_state))
    raters = range(table["rater"].max() + 1)
    counts = np.broadcast_to(rows, (len(truth), len(raters), n, n)).copy()
    every = np.arange(len(truth))[:, None]
    np.add.at(counts, (every, table["rater"], truth[:, table["item"]], table["rating"]), 1)
    items = 1.3 + (truth[..., None] == np.arange(n)).sum(axis=1)
    log_weight = log_evidence(items, np.full(n, 1.3))
    log_weight += log_evidence(counts, rows).sum(axis=(1, 2))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    share = weight @ (items / items.sum(axis=1, keepdims=True))
    size = counts.sum(axis=-1, keepdims=True)
    mean = counts / size
    moments = np.stack(
        [np.tensordot(weight, x, 1) for x in (mean, mean * (counts + 1) / (size + 1))]
    )
    for at in np.ndindex(len(raters), n, n):
        own = found["confusion"][(..., *at)]
        for power in (1, 2):
            exact = moments[(power - 1, *at)]
            assert abs((own**power).mean() - exact) < LIMIT * standard_error(own**power), at
    own = found["prevalence"][..., 0]
    assert abs(own.mean() - share[0]) < LIMIT * standard_error(own)


@pytest.mark.slow
@pytest.mark.parametrize("settled", [(0, 0, 0), (1, 0, 1)])
def test_states_of_many_equal_items_have_the_moments_of_the_sum_over_them(
    settled: tuple[int, ...],
) -> None:
    # Two raters: five items rated (0, 0), three (0, 1) and four (1, 1).
    pairs = np.repeat([[0, 0], [0, 1], [1, 1]], number := [5, 3, 4], axis=0)
    rows: Any = np.full((2, 2), 0.6) + np.eye(2)
    model = rb.DawidSkene(prior_prevalence=EVEN, prior_confusion=rows)
    problem = model.problem(rb.Ratings.from_wide(pairs, scale="nominal"))
    conjugate = model.conjugate(problem)
    assert isinstance(conjugate, Conjugate)
    assert sorted(conjugate.multiplicity) == sorted(number)
    often = replace(with_sweeps(conjugate, 7), is_settled=np.array(settled, np.int32))
    assert often.passes == 6

    inits = model.cold_start(problem, None).create_inits(seed=1, chains=2)
    found = gibbs.sample(often, seed=1, inits=inits, chains=2, warmup=100, draws=20_000).parameters

    total, share, moments = 0.0, 0.0, np.zeros((2, 2, 2))
    for ones in product(*(range(n + 1) for n in number)):  # of each kind, whose true category is 1
        items = np.array([np.subtract(number, ones), ones], float)  # by true category and kind
        counts = np.broadcast_to(rows, (2, 2, 2)).copy()
        for rater, kind in product(range(2), range(3)):
            counts[rater, :, pairs[[0, 5, 8]][kind, rater]] += items[:, kind]
        prevalence = 1.3 + items.sum(axis=1)
        log_weight = log_evidence(prevalence, np.full(2, 1.3))
        log_weight += sum(log_evidence(counts[at], rows[at[1]]) for at in np.ndindex(2, 2))
        weight = np.exp(log_weight) * np.prod(comb(number, ones))
        total += weight
        share += weight * prevalence[0] / prevalence.sum()
        moments += weight * counts / counts.sum(axis=-1, keepdims=True)
    own = found["prevalence"][..., 0]
    assert abs(own.mean() - share / total) < LIMIT * standard_error(own)
    for at in np.ndindex(2, 2, 2):
        own = found["confusion"][(..., *at)]
        assert abs(own.mean() - moments[at] / total) < LIMIT * standard_error(own), at


@pytest.mark.slow
def test_probabilities_given_all_states_have_dirichlet_distributions() -> None:
    rows: Any = [[0.02, 0.3, 1.0], [1.0, 1.5, 8.0], [40.0, 700.0, 5000.0]]
    model = rb.DawidSkene(prior_prevalence=EVEN, prior_confusion=rows)
    known = TINY.assign(truth=[0, 0, 1, 1, 2, 2])
    ratings = rb.Ratings.from_frame(known, gold="truth", scale="nominal", categories=range(3))

    found = drawn(model, ratings, draws=8000).parameters["confusion"]

    counts = np.broadcast_to(rows, (2, 3, 3)).copy()
    np.add.at(counts, (known["rater"], known["truth"], known["rating"]), 1)
    for at in np.ndindex(2, 3, 3):
        one, rest = counts[at], counts[at[:2]].sum() - counts[at]
        assert stats.kstest(found[(..., *at)].ravel(), "beta", (one, rest)).pvalue > 1e-3, at


def test_items_with_a_nearly_certain_state_are_settled() -> None:
    ratings = rb.Ratings.from_wide(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]]), scale="nominal")
    model = rb.DawidSkene()
    conjugate = model.conjugate(model.problem(ratings))
    assert isinstance(conjugate, Conjugate)
    right = np.broadcast_to([[0.9, 0.1], [0.2, 0.8]], (3, 2, 2))
    prevalence = np.array([0.7, 0.3])

    found = conjugate.with_settled({"prevalence": prevalence, "confusion": right}).is_settled

    joint = prevalence * np.array(
        [[0.9**3, 0.2**3], [0.9**2 * 0.1, 0.2**2 * 0.8], [0.1**3, 0.8**3]]
    )
    largest = joint.max(axis=1) / joint.sum(axis=1)
    assert largest.round(3).tolist() == [0.995, 0.855, 0.995]
    assert found is not None
    assert found.tolist() == [1, 0, 1]


def test_states_of_few_ratings_for_each_parameter_are_drawn_given_one_another() -> None:
    def passes(model: CategoryModel[Any], ratings: rb.Ratings) -> int:
        conjugate = model.conjugate(model.problem(ratings))
        assert isinstance(conjugate, Conjugate)
        assert conjugate.sweeps == 1 or conjugate.passes == 0
        return conjugate.passes

    few, many = crowd(60, 40, 3, 3), crowd(400, 5, 3, 2)

    assert passes(rb.DawidSkene(), few) == 5
    assert passes(rb.DawidSkene(), many) == 0
    assert passes(rb.MACE(), few) == 0
    assert passes(rb.DawidSkene(prior_confusion=rb.Dirichlet(1e-7)), few) == 0


@pytest.mark.slow
def test_equal_items_count_as_often_as_they_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    rating = np.repeat([[0, 0], [0, 1], [1, 1]], [60, 30, 40], axis=0)
    ratings = rb.Ratings.from_wide(pd.DataFrame(rating, columns=["x", "y"]), scale="nominal")
    model = rb.DawidSkene()
    problem = model.problem(ratings)
    point = {
        "prevalence": np.array([0.4, 0.6]),
        "confusion": np.array([[[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]]]),
    }
    monkeypatch.setattr(sweeps, "SWEEPS", SWEEPS._replace(most=1))
    conjugate = model.conjugate(problem)
    assert isinstance(conjugate, Conjugate)
    chains = 4000

    found = gibbs.sample(
        conjugate, chains=chains, warmup=0, draws=1, seed=3, inits=[point] * chains, progress=False
    )

    joint = np.stack(
        [
            0.4 * np.prod([[0.7, 0.8], [0.7, 0.2], [0.3, 0.2]], axis=1),
            0.6 * np.prod([[0.4, 0.3], [0.4, 0.7], [0.6, 0.7]], axis=1),
        ]
    )
    first = joint[0] / joint.sum(axis=0)
    times = np.array([60, 30, 40])
    mean = (1 + times @ first) / 132
    variance = mean * (1 - mean) / 133 + (times @ (first * (1 - first))) / 132**2 * 132 / 133
    draws = found.parameters["prevalence"][:, 0, 0]
    assert abs(draws.mean() - mean) < LIMIT * np.sqrt(variance / chains)
    assert draws.var() == pytest.approx(variance, rel=LIMIT * np.sqrt(2 / chains))


@pytest.mark.slow
@pytest.mark.parametrize("right", [30, 700])
def test_known_ratings_are_a_binomial_part_of_the_right_ones(
    right: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = SWEEPS._replace(most=1, repeats=1, few_repeats=1)
    monkeypatch.setattr(sweeps, "SWEEPS", one)
    item, rating = np.repeat([[0, 1], [1, 0]], [right, 5], axis=1)
    table = pd.DataFrame({"item": item, "rater": range(right + 5), "rating": rating})
    ratings = rb.Ratings.from_frame(table.assign(gold=1), gold="gold", scale="nominal")
    model = rb.TAP()
    conjugate = model.conjugate(model.problem(ratings))
    assert isinstance(conjugate, Conjugate)
    point = {"prevalence": [0.5, 0.5], "a": [0.6], "p": [[0.7, 0.3]]}
    chains = 2000

    found = gibbs.sample(
        conjugate,
        chains=chains,
        warmup=0,
        draws=1,
        seed=5,
        inits=[point] * chains,
        progress=False,
    )

    known, size = 0.6 / (0.6 + 0.4 * 0.3), right + 7
    mean = (1 + right * known) / size
    variance = mean * (1 - mean) / (size + 1)
    variance += right * known * (1 - known) / size**2 * size / (size + 1)
    draws = found.parameters["a"][:, 0, 0]
    assert abs(draws.mean() - mean) < LIMIT * np.sqrt(variance / chains)
    assert draws.var() == pytest.approx(variance, rel=LIMIT * np.sqrt(2 / chains))


@pytest.mark.parametrize(
    ("model", "raters", "repeats"), [(rb.MACE(), 3, 8), (rb.MACE(), 40, 4), (rb.DawidSkene(), 3, 1)]
)
def test_probabilities_are_drawn_less_often_with_few_ratings_of_each_rater(
    model: CategoryModel[Any], raters: int, repeats: int
) -> None:
    conjugate = model.conjugate(model.problem(crowd(60, raters, 3, 3)))

    assert isinstance(conjugate, Conjugate)
    assert conjugate.repeats == repeats


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "ratings"),
    [
        (rb.MACE(), crowd(50, 8, 4, 3)),
        (rb.DawidSkene(), crowd(50, 8, 4, 3)),
        (rb.DawidSkene(), crowd(50, 2, 2, 2)),  # equal items
        (rb.DawidSkene(), crowd(20, 30, 25, 3)),  # more ratings than are multiplied at once
        (rb.DawidSkene(), crowd(50, 8, 4, 10)),
        (rb.DawidSkene(), crowd(50, 8, 4, 14)),  # more states than registers hold
        (
            rb.DawidSkene(),
            rb.Ratings.from_frame(AGAIN, gold="gold", scale="nominal", replicates="keep"),
        ),
    ],
    ids=str,
)
def test_same_seed_gives_the_same_draws_however_chains_run(
    model: CategoryModel[Any], ratings: rb.Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = drawn(model, ratings, chains=4, draws=50, parallel_chains=4)
    monkeypatch.setattr(gibbs, "PAUSE", 1e-9)  # one sweep at a time
    together = drawn(model, ratings, chains=4, draws=50, parallel_chains=1)
    fewer = drawn(model, ratings, chains=2, draws=50)
    three = drawn(model, ratings, chains=3, draws=50, parallel_chains=1)
    other = drawn(model, ratings, chains=2, draws=50, seed=2)

    for name, values in alone.parameters.items():
        np.testing.assert_array_equal(values, together.parameters[name])
        np.testing.assert_array_equal(values[:2], fewer.parameters[name])
        np.testing.assert_array_equal(values[:3], three.parameters[name])
        assert not np.isin(values[:2], other.parameters[name]).any()


def test_chains_that_go_on_have_other_random_numbers() -> None:
    ratings = crowd(50, 8, 4, 3)

    first = drawn(rb.DawidSkene(), ratings, draws=50)
    later = drawn(rb.DawidSkene(), ratings, draws=50, done=1000)

    for name, values in first.parameters.items():
        assert not np.isin(values, later.parameters[name]).any()


@pytest.mark.slow
def test_chains_end_when_their_time_is_over() -> None:
    with pytest.raises(rb.SamplingError, match="took longer than its timeout"):
        drawn(rb.DawidSkene(), crowd(50, 8, 4, 3), draws=200_000, timeout=0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_exception_of_a_signal_handler_ends_the_chains_at_once(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, active = signal.signal(number, signal.default_int_handler), threading.active_count()
    runs, draw = list[gibbs._Run](), gibbs._Run.draw

    def noted(run: gibbs._Run, *chain: Any) -> None:
        runs.append(run)
        draw(run, *chain)

    def interrupted(*chains: Any) -> Any:
        wait(*chains)
        os.kill(os.getpid(), number)

    monkeypatch.setattr(gibbs._Run, "draw", noted)
    monkeypatch.setattr(threads, "wait", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            drawn(rb.DawidSkene(), crowd(50, 8, 4, 3), chains=4, draws=500_000, parallel_chains=1)
    finally:
        signal.signal(number, before)

    assert max(runs[0].done) < runs[0].sweeps
    assert threading.active_count() == active


def test_an_exception_while_chains_are_started_ends_those_that_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submit = ThreadPoolExecutor.submit
    started: list[Any] = []

    def interrupted(pool: ThreadPoolExecutor, chain: Any) -> Any:
        if started:
            raise KeyboardInterrupt
        started.append(chain)
        return submit(pool, chain)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)

    with pytest.raises(KeyboardInterrupt):
        drawn(rb.DawidSkene(), crowd(50, 8, 4, 3), chains=4, draws=500_000)

    run: gibbs._Run = started[0].func.__self__
    assert max(run.done) < run.sweeps


def test_progress_is_shown_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    drawn(rb.DawidSkene(), crowd(20, 6, 4, 2), draws=10, progress=True)

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Gibbs sampling" in shown.err
    assert "100%" in shown.err


def test_missing_library_says_where_it_comes_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(tmp_path))
    gibbs.library.cache_clear()

    with pytest.raises(rb.SamplingError, match="pip install reliabayes"):
        drawn(rb.DawidSkene(), crowd(20, 6, 4, 2), draws=10)
