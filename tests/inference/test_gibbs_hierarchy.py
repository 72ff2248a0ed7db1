"""Gibbs sampling of log odds of errors in a hierarchy, against sums and integrals, and Stan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, gammaln

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.categories.log_odds import Precision
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.starts import to_free
from reliabayes.families.cells import Cells
from reliabayes.inference import gibbs
from reliabayes.inference.log_density import log_densities
from reliabayes.inference.log_odds import confusion_matrices, log_odds_at
from reliabayes.inference.problem import stan_data
from reliabayes.inference.stan import Draws
from reliabayes.models import priors
from tests.inference.test_gibbs import LIMIT, TINY, check_log_likelihood, crowd
from tests.monte_carlo import standard_error

PRIORS = [
    {},
    {
        "prior_prevalence": rb.Dirichlet(1.3),
        "prior_location": priors.Normal(-1, 0.7),
        "prior_spread": priors.HalfStudentT(8, 0.8),
    },
]

half_t = pytest.mark.parametrize(
    "options",
    [pytest.param(PRIORS[0], marks=pytest.mark.proof), PRIORS[1]],
    ids=["default", "half t"],
)


def drawn(model: rb.HierarchicalDawidSkene, ratings: rb.Ratings, **options: Any) -> Draws:
    """Draws with the log density of the program at the mode."""
    return drawn_of(model, model.problem(ratings), **options)


def drawn_of(
    model: rb.HierarchicalDawidSkene,
    problem: CategoricalProblem[Precision],
    *,
    seed: int = 1,
    **options: Any,
) -> Draws:
    """The same of a problem."""
    chains = {"chains": 2, "warmup": 100, "draws": 1000, "progress": False} | options
    mode = model.start(problem)
    start = model.cold_start(problem, mode.centring)
    inits = start.create_inits(seed=seed, chains=chains["chains"])
    own: Any = model.conjugate(problem)
    run = gibbs.sample(own, seed=seed, inits=inits, **chains)
    return model.as_by_program(run, mode.centring)


@pytest.mark.parametrize(
    ("options", "table"),
    [
        (PRIORS[0], TINY.iloc[:5]),
        (PRIORS[1], TINY),
        pytest.param(PRIORS[0], TINY, marks=pytest.mark.proof),
        pytest.param(PRIORS[1], TINY.iloc[:5], marks=pytest.mark.proof),
    ],
    ids=["not all rated", "half t", "all rated", "half t, not all rated"],
)
def test_moments_are_those_of_the_integral_over_all_that_is_hidden(
    options: Any, table: pd.DataFrame
) -> None:
    model = rb.HierarchicalDawidSkene(**options)
    ratings = rb.Ratings.from_frame(table, scale="nominal")

    found = drawn(model, ratings, draws=4000).parameters

    check_moments(found, integrated(table, model.problem(ratings).priors))


@pytest.mark.slow
@half_t
def test_moments_are_the_same_beside_a_hundred_raters_without_ratings(options: Any) -> None:
    model = rb.HierarchicalDawidSkene(**options)
    ratings = rb.Ratings.from_frame(TINY, scale="nominal")
    problem = beside_others(model, ratings, 100)

    found = drawn_of(model, problem, draws=4000).parameters

    assert found["effect"].shape[-1] == ratings.n_raters + 100
    check_moments(found, integrated(TINY, problem.priors))
    others = found["effect"][..., ratings.n_raters :]
    total = others.sum(axis=-1, keepdims=True) / 10  # of 100
    for each in (others, total):
        for values, moment, variance in ((each, 0, 1), (each**2, 1, 2)):
            away = np.abs(values.mean(axis=(0, 1)) - moment).max()
            assert away < LIMIT * np.sqrt(variance / each[..., 0, 0].size)


def beside_others(
    model: rb.HierarchicalDawidSkene, ratings: rb.Ratings, number: int
) -> CategoricalProblem[Precision]:
    """The problem of ratings, with so many more raters who gave none."""
    problem = model.problem(ratings)
    raters = ratings.n_raters + number
    every = np.arange(len(ratings.categories) * raters, dtype=np.int32)
    cells = Cells(ratings.category * raters + ratings.rater, *np.divmod(every, raters))
    return replace(
        problem,
        coords={**problem.coords, "rater": pd.RangeIndex(raters)},
        cells=cells,
        mixture=model.categorical_problem(ratings, cells).mixture,
        own=Precision(np.zeros((problem.size("error"), raters))),
    )


def check_moments(found: Mapping[str, Array], exact: Mapping[str, Array]) -> None:
    values = {
        "prevalence": found["prevalence"][..., 0],
        **{f"location {e}": found["location"][..., e] for e in range(2)},
        **{f"spread {e}": found["spread"][..., e] for e in range(2)},
        **{f"effect {e} {j}": found["effect"][..., e, j] for e, j in product(range(2), range(2))},
    }
    for name, draws in values.items():
        for power, value in ((draws, exact[name][0]), (draws**2, exact[name][1])):
            assert abs(power.mean() - value) < LIMIT * standard_error(power), name


def integrated(table: pd.DataFrame, numbers: Mapping[str, Array]) -> dict[str, Array]:
    """First and second moments of all parameters given ratings, by summing over categories."""
    rating = table.pivot_table(index="item", columns="rater", values="rating").to_numpy()
    total, found = 0.0, dict[str, Array]()
    for truth in map(np.array, product(range(2), repeat=len(rating))):
        concentration = numbers["prevalence"] + np.bincount(truth, minlength=2)
        own = gammaln(concentration).sum() - gammaln(concentration.sum())
        share, size = concentration[0] / concentration.sum(), concentration.sum()
        moments = {"prevalence": [share, share * (concentration[0] + 1) / (size + 1)]}
        for error in range(2):
            of = rating[truth == error]
            wrong, ratings = (of == 1 - error).sum(axis=0), (~np.isnan(of)).sum(axis=0)
            log_evidence, of_error = moments_of_error(wrong, ratings, numbers)
            own += log_evidence
            moments |= {f"{name} {error}{rest}": value for (name, rest), value in of_error.items()}
        weight = np.exp(own)
        total += weight
        for name, moment in moments.items():
            found[name] = found.get(name, np.zeros(2)) + weight * np.array(moment)
    return {name: value / total for name, value in found.items()}


def moments_of_error(
    wrong: Array, ratings: Array, numbers: Mapping[str, Array]
) -> tuple[float, dict[tuple[str, str], list[float]]]:
    """Log evidence of the ratings by two raters, and moments of what they follow from."""
    (mean, sd), (df, scale) = numbers["location"], numbers["spread"]
    location = np.linspace(mean - 7 * sd, mean + 7 * sd, 57)[:, None, None]
    spread = (np.arange(160) + 0.5)[None, :, None] * (scale / 16)
    effect, step = np.linspace(-7, 7, 57, retstep=True)
    square = (spread / scale) ** 2
    log_half_t = -0.5 * square if np.isinf(df) else -0.5 * (df + 1) * np.log1p(square / df)
    shared = np.exp(-0.5 * ((location - mean) / sd) ** 2 + log_half_t)[..., 0]
    shared /= shared.sum()
    normal = step * np.exp(-0.5 * effect**2) / np.sqrt(2 * np.pi)
    probability = expit(location + spread * effect)
    given = [
        normal * probability ** wrong[j] * (1 - probability) ** (ratings[j] - wrong[j])
        for j in range(2)
    ]
    sums = [each.sum(axis=-1) for each in given]
    joint = shared * sums[0] * sums[1]
    evidence = joint.sum()
    found = {
        ("location", ""): [(joint * location[..., 0] ** n).sum() / evidence for n in (1, 2)],
        ("spread", ""): [(joint * spread[..., 0] ** n).sum() / evidence for n in (1, 2)],
    }
    for j in range(2):
        rest = shared * sums[1 - j]
        found["effect", f" {j}"] = [
            (rest * (given[j] @ effect**n)).sum() / evidence for n in (1, 2)
        ]
    return float(np.log(evidence)), found


@pytest.mark.parametrize("options", PRIORS, ids=["default", "half t"])
@pytest.mark.parametrize("gold", [False, True])
def test_log_density_is_that_of_the_stan_program(gold: bool, options: Any) -> None:
    model, ratings = rb.HierarchicalDawidSkene(**options), crowd(30, 6, 4, 3, gold)
    problem = model.problem(ratings)
    centring = model.start(problem).centring

    found = drawn(model, ratings, warmup=10, draws=4)

    points = to_free(found.parameters, problem, centring).reshape(8, -1)
    expected = log_densities(model.program(problem), stan_data(problem, centring), points)
    np.testing.assert_allclose(found.statistics["lp"].ravel(), expected, rtol=1e-10)


@pytest.mark.parametrize(
    "ratings",
    [crowd(30, 6, 4, 3), crowd(20, 60, 60, 7), crowd(20, 60, 60, 11)],
    ids=["three", "seven", "eleven categories"],
)
def test_log_likelihood_is_that_of_numpy(ratings: rb.Ratings) -> None:
    model = rb.HierarchicalDawidSkene()

    check_log_likelihood(model, ratings, drawn(model, ratings, chains=1, warmup=5, draws=4))


def test_without_ratings_of_a_true_category_its_errors_follow_their_priors() -> None:
    table = pd.DataFrame({"item": [0, 0, 1, 1], "rater": [0, 1, 0, 1], "rating": [0, 0, 1, 0]})
    ratings = rb.Ratings.from_frame(
        table.assign(gold=0), gold="gold", scale="nominal", categories=range(3)
    )
    model = rb.HierarchicalDawidSkene()

    found = drawn(model, ratings, draws=3000).parameters

    mean, sd = model.prior_numbers(3)["location"]
    location, spread = found["location"][..., 2:], found["spread"][..., 2:]
    effect = found["effect"][..., 2:, :].reshape(2, 3000, -1)
    for values, moments in (
        (location, (mean, mean**2 + sd**2)),
        (spread, (np.sqrt(2 / np.pi), 1)),
        (effect, (0, 1)),
    ):
        for at in range(values.shape[-1]):
            for power, moment in zip((1, 2), moments, strict=True):
                draws = values[..., at] ** power
                assert abs(draws.mean() - moment) < LIMIT * standard_error(draws)


@pytest.mark.parametrize("sd", [1e-6, 1e-3, 100.0])
def test_spreads_of_any_size_are_drawn_from(sd: float) -> None:
    model = rb.HierarchicalDawidSkene(prior_spread=priors.HalfNormal(sd))

    found = drawn(model, crowd(30, 6, 4, 3), draws=300).parameters

    assert all(np.isfinite(values).all() for values in found.values())
    assert (found["spread"] > 0).all()
    assert (found["spread"].mean(axis=(0, 1)) < 2 * sd).all()
    point = {name: values[0, -1] for name, values in found.items()}
    rows = confusion_matrices(log_odds_at(point), 3)
    np.testing.assert_allclose(rows.sum(axis=-1), 1)


def test_same_seed_gives_the_same_draws_however_chains_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, ratings = rb.HierarchicalDawidSkene(), crowd(50, 8, 4, 3)

    alone = drawn(model, ratings, chains=4, draws=30, parallel_chains=1)
    monkeypatch.setattr(gibbs, "PAUSE", 1e-9)  # one sweep at a time
    together = drawn(model, ratings, chains=4, draws=30, parallel_chains=4)

    for name, values in alone.parameters.items():
        np.testing.assert_array_equal(values, together.parameters[name])
