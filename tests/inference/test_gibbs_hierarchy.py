"""Gibbs sampling of log odds of errors in a hierarchy, against sums and integrals, and Stan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline
from scipy.special import expit, gammaln
from scipy.stats import norm, t

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
        "prior_ability_spread": priors.HalfStudentT(12, 0.7),
    },
]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "table"),
    [
        (PRIORS[0], TINY.iloc[:5]),
        pytest.param(PRIORS[1], TINY, marks=pytest.mark.proof),
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


@pytest.mark.proof
@pytest.mark.parametrize("options", PRIORS, ids=["default", "half t"])
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
        "ability_spread": found["ability_spread"],
        **{f"ability {j}": found["ability"][..., j] for j in range(2)},
    }
    for name, draws in values.items():
        for power, value in ((draws, exact[name][0]), (draws**2, exact[name][1])):
            assert abs(power.mean() - value) < LIMIT * standard_error(power), name


def integrated(table: pd.DataFrame, numbers: Mapping[str, Array]) -> dict[str, Array]:
    """First and second moments of all parameters given ratings, by summing over categories."""
    rating = table.pivot_table(index="item", columns="rater", values="rating").to_numpy()
    grid = Grid.of(numbers)
    powers = {"ability_spread": grid.ability_spread[:, None, None]}
    powers |= {"ability 0": grid.ability[:, None], "ability 1": grid.ability}
    weight, total, found = grid.weight_of_abilities(), 0.0, dict[str, Array]()
    for truth in map(np.array, product(range(2), repeat=len(rating))):
        concentration = numbers["prevalence"] + np.bincount(truth, minlength=2)
        own = np.exp(gammaln(concentration).sum() - gammaln(concentration.sum()))
        share, size = concentration[0] / concentration.sum(), concentration.sum()
        of_errors = []
        for error in range(2):
            of = rating[truth == error]
            wrong, ratings = (of == 1 - error).sum(axis=0), (~np.isnan(of)).sum(axis=0)
            of_errors.append(grid.sums_of_error(wrong, ratings))
        joint = own * weight * of_errors[0][""][0] * of_errors[1][""][0]
        of_share = np.array([share, share * (concentration[0] + 1) / (size + 1)])
        moments = {"prevalence": of_share * joint.sum()}
        moments |= {n: np.array([(joint * x**k).sum() for k in (1, 2)]) for n, x in powers.items()}
        for error, sums in enumerate(of_errors):
            rest = own * weight * of_errors[1 - error][""][0]
            for name, of_error in sums.items():
                label = " ".join([*name.split()[:1], str(error), *name.split()[1:]])
                moments[label] = np.array([(rest * each).sum() for each in of_error[-2:]])
        total += joint.sum()
        for name, moment in moments.items():
            found[name] = found.get(name, np.zeros(2)) + moment
    return {name: value / total for name, value in found.items()}


class Grid(NamedTuple):
    """Places at which integrands are summed; all of them but locations are even functions."""

    location: Array  # (L,)
    spread: Array  # (P,)
    prior: Array  # (L, P) of both
    ability_spread: Array  # (S,)
    prior_of_ability_spread: Array  # (S,)
    ability: Array  # (A,)

    @classmethod
    def of(cls, numbers: Mapping[str, Array]) -> Grid:
        mean, sd = numbers["location"]
        location = np.linspace(mean - 7 * sd, mean + 7 * sd, 29)
        (spread, of_spread), (own, of_own) = map(
            half_t_grid, (numbers["spread"], numbers["ability_spread"])
        )
        prior = np.outer(norm.pdf(location, mean, sd), of_spread)
        return cls(location, spread, prior, own, of_own, np.linspace(-6, 6, 25))

    def weight_of_abilities(self) -> Array:
        """Of each ability spread and the abilities of two raters (S, A, A)."""
        normal = norm.pdf(self.ability)
        return self.prior_of_ability_spread[:, None, None] * normal[:, None] * normal

    def sums_of_error(self, wrong: Array, ratings: Array) -> dict[str, list[Array]]:
        """Sums (S, A, A) over location, spread and effects, of likelihoods times moments."""
        shape = len(self.ability_spread), len(self.ability), -1
        first, second = (
            [x.reshape(shape) for x in self.likelihoods(wrong[j], ratings[j])] for j in range(2)
        )
        location, spread = (self.prior * x for x in (self.location[:, None], self.spread))

        def sums(one: Array, other: Array, weight: Array) -> Array:
            return np.asarray((one * weight.ravel()) @ other.swapaxes(1, 2))

        return {
            "": [sums(first[0], second[0], self.prior)],
            "location": [
                sums(first[0], second[0], w) for w in (location, location * self.location[:, None])
            ],
            "spread": [sums(first[0], second[0], w) for w in (spread, spread * self.spread)],
            "effect 0": [sums(first[k], second[0], self.prior) for k in (1, 2)],
            "effect 1": [sums(first[0], second[k], self.prior) for k in (1, 2)],
        }

    def likelihoods(self, wrong: int, ratings: int) -> Iterator[Array]:
        """Of one rater's ratings (S, A, L, P), summed with powers 0 to 2 of the effect."""
        shift = self.ability_spread[:, None] * self.ability
        at = np.clip(self.location - shift[..., None], -40, 40)
        fine = np.linspace(-40, 40, 641)
        effect = np.linspace(-7, 7, 57)
        probability = expit(fine[:, None, None] + self.spread[:, None] * effect)
        given = norm.pdf(effect) * probability**wrong * (1 - probability) ** (ratings - wrong)
        return (CubicSpline(fine, given @ effect**power)(at) for power in range(3))


def half_t_grid(prior: Array) -> tuple[Array, Array]:
    """Places of a spread, and their prior."""
    df, scale = prior
    at = (np.arange(40) + 0.5) * (scale / 4)
    return at, norm.pdf(at / scale) if np.isinf(df) else t.pdf(at / scale, df)


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


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["spread", "ability_spread"])
@pytest.mark.parametrize("sd", [1e-6, 1e-3, 100.0])
def test_spreads_of_any_size_are_drawn_from(sd: float, name: str) -> None:
    chosen: dict[str, Any] = {f"prior_{name}": priors.HalfNormal(sd)}
    model = rb.HierarchicalDawidSkene(**chosen)

    found = drawn(model, crowd(30, 6, 4, 3), draws=300).parameters

    assert all(np.isfinite(values).all() for values in found.values())
    assert (found[name] > 0).all()
    assert (found[name].mean(axis=(0, 1)) < 2 * sd).all()
    point = {name: values[0, -1] for name, values in found.items()}
    rows = confusion_matrices(log_odds_at(point), 3)
    np.testing.assert_allclose(rows.sum(axis=-1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("raters", [8, 9])  # four or eight fill a register
def test_same_seed_gives_the_same_draws_however_chains_run(
    raters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, ratings = rb.HierarchicalDawidSkene(), crowd(50, raters, 4, 3)

    alone = drawn(model, ratings, chains=4, draws=30, parallel_chains=1)
    monkeypatch.setattr(gibbs, "PAUSE", 1e-9)  # one sweep at a time
    together = drawn(model, ratings, chains=4, draws=30, parallel_chains=4)

    for name, values in alone.parameters.items():
        np.testing.assert_array_equal(values, together.parameters[name])
