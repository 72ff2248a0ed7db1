"""EM increases the objective, converges to its maximum, and finds published estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, gammaln, softmax, xlogy

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.categories.em import without_priors
from reliabayes.families.categories.know_or_guess import known_or_guessed
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference import stan
from reliabayes.inference.em import Point, climb
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.category_model import CategoryModel
from reliabayes.results.point_estimate import PointEstimate
from tests.designs import log_densities, slopes
from tests.models.test_modes import by_raters_of, rated

Load = Callable[[str], pd.DataFrame]

MODELS: tuple[CategoryModel, ...] = (
    rb.DawidSkene(),
    rb.MACE(prevalence="uniform"),
    rb.MACE(),
    rb.RaterTAP(prevalence="item"),
    rb.RaterTAP(),
    rb.TAP(),
    rb.TAP(accuracy="by_category"),
    rb.TAP(guessing="by_category"),
    rb.TAP(accuracy="by_category", guessing="by_category"),
    rb.Groupthink(),
    rb.RaterGroupthink(),
)


def short_name(model: object) -> str:
    return repr(model).partition(", prior")[0].partition("(prior")[0]


def simulated(
    *, items: int, raters: int, categories: int, seed: int, filled: float = 1.0, known: float = 0.0
) -> rb.Ratings:
    """Ratings by raters of random accuracies.

    ``filled`` is the proportion of rated cells, ``known`` that of items with a known category.
    """
    rng = np.random.default_rng(seed)
    item, rater = (codes.ravel() for codes in np.mgrid[:items, :raters])
    truth, accuracy = rng.integers(0, categories, items), rng.random(raters)
    is_right = rng.random(len(item)) < accuracy[rater]
    rating = np.where(is_right, truth[item], rng.integers(0, categories, len(item)))
    rating[:2] = 0, 1  # at least one disagreement
    gold = np.where(rng.random(items) < known, truth, np.nan)[item]
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating, "gold": gold})
    rated = rng.random(len(item)) < filled
    rated[:raters] = rated[item * raters == np.arange(len(item))] = True
    return rb.Ratings.from_frame(
        frame[rated], gold="gold" if known else None, scale="nominal", categories=range(categories)
    )


every_model = pytest.mark.parametrize("model", MODELS, ids=short_name)


designs = st.builds(
    simulated,
    items=st.integers(2, 14),
    raters=st.integers(2, 6),
    categories=st.integers(2, 5),
    seed=st.integers(0, 2**16),
    filled=st.sampled_from([0.3, 0.7, 1.0]),
    known=st.sampled_from([0.0, 0.5]),
)


@every_model
@pytest.mark.parametrize("priors", [True, False], ids=["posterior", "likelihood"])
@settings(max_examples=2)
@given(ratings=designs)
def test_em_never_decreases_the_objective(
    model: CategoryModel, priors: bool, ratings: rb.Ratings
) -> None:
    estimate = model.em(ratings, priors=priors, max_iterations=1000)

    assert np.diff(estimate.path).min() >= -1e-13 * len(ratings)


def test_a_rater_who_always_knows_does_not_lower_the_objective() -> None:
    # Of one rater the probability of knowing rounds to 1, so that rounding alone is left to guess.
    ratings = simulated(items=7, raters=5, categories=3, seed=1182, filled=0.3)

    estimate = rb.RaterTAP().em(ratings, max_iterations=1000)

    assert np.diff(estimate.path).min() >= -1e-13 * len(ratings)


@every_model
def test_em_converges_to_a_stationary_point_of_the_posterior(model: CategoryModel) -> None:
    ratings = simulated(items=15, raters=4, categories=3, seed=1, filled=0.8, known=0.2)
    problem = model.problem(ratings)

    estimate = model.em(ratings, priors=True, tolerance=1e-11)

    mode = np.concatenate([x.ravel() for x in free_values(model, point_of(estimate)).values()])
    assert slopes(lambda x: objective(model, x, problem), mode) == pytest.approx(0 * mode, abs=1e-5)


@pytest.mark.slow
@every_model
def test_gradient_of_the_objective_is_that_of_the_stan_program(model: CategoryModel) -> None:
    ratings = simulated(items=15, raters=4, categories=3, seed=2, filled=0.8, known=0.2)
    problem, data = model.problem(ratings), model.stan_data(ratings)
    size = sum(math.prod(p.free_shape(problem.size)) for p in model.parameters())
    free = np.random.default_rng(2).normal(size=size)

    program = Path(str(stan.load(model.program(problem)).exe_file))
    table = log_densities(program, data, unconstrained_params={"params_r": free})

    gradient = table.to_numpy(float)[0, 1:]
    assert gradient == pytest.approx(slopes(lambda x: objective(model, x, problem), free), abs=1e-8)


@pytest.mark.parametrize("model", MODELS[:6], ids=short_name)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_numerical_optimiser_finds_the_same_maximum_likelihood(
    model: CategoryModel, seed: int
) -> None:
    ratings = simulated(items=10, raters=3, categories=2, seed=seed)
    problem = without_priors(model.family.response, model.problem(ratings))

    def negative(x: Array) -> float:
        return -objective(model, x, problem)

    estimate = model.em(ratings, tolerance=1e-9)

    inside = {name: np.clip(x, 0.01, 0.99) for name, x in point_of(estimate).items()}
    start = np.concatenate([x.ravel() for x in free_values(model, inside).values()])
    found = -float(minimize(negative, start, method="BFGS").fun)
    assert estimate.log_likelihood == pytest.approx(found, abs=1e-4)  # may lie on the boundary
    assert estimate.log_likelihood > found - 1e-7


@every_model
def test_extrapolation_changes_the_speed_and_not_the_result(
    monkeypatch: pytest.MonkeyPatch, model: CategoryModel
) -> None:
    ratings = simulated(items=30, raters=5, categories=3, seed=3)
    extrapolated = model.em(ratings, priors=True, tolerance=1e-9)
    monkeypatch.setattr(Parameter, "holds", lambda self, value: False)

    plain = model.em(ratings, priors=True, tolerance=1e-9)

    assert plain.path[-1] == pytest.approx(extrapolated.path[-1], abs=1e-9)
    assert len(extrapolated.path) <= len(plain.path)


def test_extrapolation_shortens_slow_linear_convergence() -> None:
    paths = [
        climb(
            linear_steps_to_one(0.99),
            {"x": np.zeros(3)},
            max_iterations=5000,
            tolerance=1e-9,
            is_allowed=is_allowed,
        )
        for is_allowed in (lambda point: False, lambda point: True)
    ]

    plain, extrapolated = paths
    assert plain.converged
    assert extrapolated.converged
    assert len(plain.path) > 1000
    assert len(extrapolated.path) < 10
    assert extrapolated.point["x"] == pytest.approx(np.ones(3), abs=1e-12)


def test_extrapolation_never_enters_forbidden_points() -> None:
    visited: list[float] = []

    def allowed(point: Point) -> bool:
        return bool((point["x"] <= 0.5).all())

    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        visited.append(float(point["x"][0]))
        return linear_steps_to_one(0.9)(point)

    found = climb(
        evaluate, {"x": np.zeros(1)}, max_iterations=200, tolerance=1e-6, is_allowed=allowed
    )

    steps = np.diff(visited)
    assert found.converged
    assert steps.max() <= 0.1 + 1e-12  # steps of EM only: the first extrapolation would reach 1


def test_value_that_would_leave_its_range_does_not_stop_the_others_from_going_far() -> None:
    # Pulled towards a place outside its range, the first value rests at the boundary 0.
    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        visited.append(float(point["x"].min()))
        step = point["x"] + [0.5, 0.01] * (np.array([-0.1, 1.0]) - point["x"])
        return -float(((1 - point["x"]) ** 2)[1]), lambda: {"x": np.maximum(step, 0)}

    visited: list[float] = []
    unit = Parameter("x", "unit", ("all",))

    found = climb(
        evaluate,
        {"x": np.array([0.9, 0.1])},
        max_iterations=500,
        tolerance=1e-9,
        is_allowed=lambda point: unit.holds(point["x"]),
        held=lambda point, inside: {"x": unit.held(point["x"], inside["x"])},
    )

    assert min(visited) >= 0
    assert len(found.path) < 30
    assert found.point["x"] == pytest.approx(np.array([0.0, 1.0]), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_raters_who_know_or_guess_get_their_most_likely_parameters_in_one_step(
    categories: int,
) -> None:
    ratings = simulated(items=12, raters=6, categories=categories, seed=5, filled=0.6)
    model, rng = rb.RaterTAP(), np.random.default_rng(categories)
    problem = without_priors(model.family.response, model.problem(ratings))
    counts = rng.gamma(0.7, 3.0, (categories, problem.n_cells))
    counts[:, problem.cells.rater == 5] = 0  # who has no ratings
    of_fourth = problem.cells.rater == 4  # who is wrong in all
    counts[:, of_fourth] *= np.arange(categories)[:, None] != problem.cells.category[of_fourth]
    expected = Expected(counts, counts.sum(axis=1))

    found = model.family.response.maximise(problem.middle, expected, problem)

    for rater in range(5):
        of_rater = counts[:, problem.cells.rater == rater]

        def loss(free: Array, of_rater: Array = of_rater) -> float:
            """Minus the log-likelihood at a point of log odds."""
            known, guess = expit(free[0]), softmax(free[1:])
            rated = known * np.eye(categories) + (1 - known) * guess
            return -float((of_rater * np.log(rated + 1e-300)).sum())

        best = min(
            minimize(loss, np.r_[start, np.zeros(categories)], method="BFGS").fun
            for start in (-10, -1, 1)
        )
        rated = known_or_guessed(found["a"], found["p"])[rater]
        assert -xlogy(of_rater, rated).sum() <= best + 1e-6
    assert found["a"][4] == 0
    assert found["p"].sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("name", ["snow2008_rte", "snow2008_temp", "bluebirds"])
def test_raters_who_know_or_guess_need_hardly_more_steps_than_matrices(
    dataset: Load, name: str
) -> None:
    ratings = rb.Ratings.from_frame(dataset(name))

    of_matrices, *others = (
        len(model.em(ratings).path) for model in (rb.DawidSkene(), rb.MACE(), rb.RaterTAP())
    )

    assert max(others) < 2 * of_matrices


def test_em_stops_at_max_iterations_and_reports_it() -> None:
    ratings = simulated(items=30, raters=5, categories=3, seed=3)

    with pytest.warns(rb.ConvergenceWarning, match="not converged after 4 steps"):
        estimate = rb.DawidSkene().em(ratings, max_iterations=4)

    assert not estimate.converged
    assert len(estimate.path) == 1 + 4
    assert "not converged after 4 iterations" in repr(estimate)


def test_restarts_find_a_higher_likelihood_than_the_start_at_majority_votes() -> None:
    ratings = simulated(items=12, raters=4, categories=3, seed=1, filled=0.8)
    from_votes = rb.DawidSkene().em(ratings)

    restarted = rb.DawidSkene().em(ratings, restarts=10)

    assert restarted.log_likelihood > from_votes.log_likelihood + 0.3


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_restarts_keep_the_names_of_categories_that_the_votes_give(seed: int) -> None:
    # The likelihood is the same if two categories change places.
    ratings = rated(by_raters_of(np.full(5, 0.85), np.random.default_rng(seed)))

    few, many = (rb.DawidSkene().em(ratings, restarts=number) for number in (0, 10))

    assert few.items()["category"].tolist() == many.items()["category"].tolist()
    assert many.quantities["accuracy"].min() > 0.6


@pytest.mark.slow
@settings(max_examples=4)
@given(ratings=designs, seed=st.integers(0, 99))
def test_restarts_never_lower_the_objective_and_are_reproducible(
    ratings: rb.Ratings, seed: int
) -> None:
    model = rb.MACE()
    from_votes = model.em(ratings, max_iterations=500)

    one, other = (model.em(ratings, restarts=2, seed=seed, max_iterations=500) for _ in range(2))

    assert one.path[-1] >= from_votes.path[-1]
    assert one.parameters.identical(other.parameters)


# Published by the source, or computed independently of this project, to as many digits.


def test_estimates_for_dawid_and_skenes_data_match_the_publication(dataset: Load) -> None:
    frame = dataset("dawid_skene_1979")
    ratings = rb.Ratings.from_frame(frame, scale="nominal", replicates="keep")

    estimate = rb.DawidSkene().em(ratings)

    assert estimate.log_likelihood == pytest.approx(-192.8909, abs=5e-5)
    prevalence = estimate.parameters["prevalence"].values
    assert prevalence == pytest.approx(np.array([0.3996, 0.4220, 0.1118, 0.0667]), abs=5e-5)
    of_the_first = [
        [0.889, 0.111, 0, 0],
        [0.071, 0.876, 0.053, 0],
        [0, 0.339, 0.661, 0],
        [0, 0, 0.556, 0.444],
    ]
    confusion = estimate.parameters["confusion"].sel(rater=1).values
    assert confusion == pytest.approx(np.array(of_the_first), abs=6e-4)


def test_estimates_of_ptsd_raters_match_the_publication(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("ptsd"), scale="nominal")

    estimate = rb.RaterTAP().em(ratings)

    found = estimate.quantities.sel(rater=[f"Rater_{number}" for number in range(1, 11)])
    a = [0.3214, 0.5058, 0.7750, 0.4266, 0.3748, 0.6668, 0.4321, 0.8956, 0.6018, 0.8788]
    p = [0.9898, 0.3286, 0.6625, 0.9643, 0.8279, 0.6895, 0.9264, 0.7708, 0.9029, 1.0]
    assert estimate.log_likelihood == pytest.approx(-2384.5785, abs=5e-5)
    assert estimate.bits_per_rating == pytest.approx(0.57337, abs=5e-6)
    assert float(found["prevalence"].sel(true_category=2)) == pytest.approx(0.6378, abs=5e-5)
    assert found["a"].values.tolist() == pytest.approx(a, abs=5e-5)
    assert found["p"].sel(category=2).values.tolist() == pytest.approx(p, abs=5e-5)


@pytest.mark.parametrize(
    ("first_class", "t", "a", "p", "log_likelihood"),
    [
        ((2, 3, 4), 0.7349, 0.5421, 0.7828, -243.357),
        ((1, 2), 0.5410, 0.4368, 0.5870, -286.116),
        ((1, 2, 3), 0.6477, 0.2456, 0.9535, -169.945),
    ],
)
def test_tap_estimates_for_wine_match_the_publication(
    dataset: Load,
    first_class: tuple[int, ...],
    t: float,
    a: float,
    p: float,
    log_likelihood: float,
) -> None:
    frame = dataset("wine")
    in_class = frame["rating"].isin(first_class).astype(int)
    ratings = rb.Ratings.from_frame(frame.assign(rating=in_class), scale="nominal")

    estimate = rb.TAP().em(ratings)

    found = estimate.quantities
    assert float(found["prevalence"][1]) == pytest.approx(t, abs=6e-5)
    assert float(found["a"]) == pytest.approx(a, abs=6e-5)
    assert float(found["p"][1]) == pytest.approx(p, abs=6e-5)
    # The published log-likelihood is that of vote counts, which includes multinomial coefficients.
    log_multinomial = gammaln(1 + ratings.counts.sum(axis=1)) - gammaln(1 + ratings.counts).sum(
        axis=1
    )
    assert estimate.log_likelihood + log_multinomial.sum() == pytest.approx(
        log_likelihood, abs=5.1e-4
    )


@pytest.mark.parametrize(
    ("name", "priors", "accuracy"),
    [
        ("snow2008_rte", False, 0.9275),
        ("snow2008_temp", False, 0.9416),
        ("bluebirds", False, 0.8981),
        ("bluebirds", True, 0.8889),
    ],
)
def test_agreement_of_estimated_categories_with_gold_matches_the_publication(
    dataset: Load, name: str, priors: bool, accuracy: float
) -> None:
    frame = dataset(name)
    gold = frame.groupby("item")["gold"].first()

    items = rb.DawidSkene().em(rb.Ratings.from_frame(frame), priors=priors).items()

    assert (items["category"] == gold[items.index]).mean() == pytest.approx(accuracy, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "accuracy"),
    [("snow2008_rte", 0.8969), ("snow2008_temp", 0.9361), ("bluebirds", 0.759)],
)
def test_agreement_of_majority_votes_with_gold_matches_the_publication(
    dataset: Load, name: str, accuracy: float
) -> None:
    frame = dataset(name)
    ratings = rb.Ratings.from_frame(frame, gold="gold")

    is_most = ratings.counts == ratings.counts.max(axis=1, keepdims=True)

    right = np.take_along_axis(is_most, np.asarray(ratings.gold_category)[:, None], axis=1)[:, 0]
    with_ties_broken_at_random = right / is_most.sum(axis=1)
    assert with_ties_broken_at_random.mean() == pytest.approx(accuracy, abs=5e-4)


@given(
    items=st.integers(2, 14),
    raters=st.integers(2, 6),
    second=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**16),
)
def test_three_models_are_equivalent_for_two_categories(
    items: int, raters: int, second: float, seed: int
) -> None:
    ratings = simulated(items=items, raters=raters, categories=2, seed=seed, filled=0.7)
    prevalence = np.array([1 - second, second])
    pi_01, pi_11 = np.sort(np.random.default_rng(seed).random((2, raters)), axis=0)
    confusion = np.array([[1 - pi_01, pi_01], [1 - pi_11, pi_11]]).transpose(2, 0, 1)
    a = pi_11 - pi_01
    p = np.column_stack([1 - pi_11, pi_01]) / (1 - a)[:, None]
    points: list[tuple[CategoryModel, Point]] = [
        (rb.DawidSkene(), {"prevalence": prevalence, "confusion": confusion}),
        (rb.MACE(), {"prevalence": prevalence[None], "theta": a, "xi": p}),
        (rb.RaterTAP(), {"prevalence": prevalence[None], "a": a, "p": p}),
    ]

    found = [model.log_likelihood(point, model.problem(ratings)) for model, point in points]

    by_state = np.tile(np.log(prevalence), (items, 1))
    np.add.at(by_state, ratings.item, np.log(confusion[ratings.rater, :, ratings.category]))
    assert found == pytest.approx([np.logaddexp.reduce(by_state, axis=1).sum()] * 3, rel=1e-12)


NAN = math.nan
DEGENERATE: dict[str, tuple[Any, dict[str, Any]]] = {
    "a rater with one rating": ([[0, 1, NAN], [1, 1, NAN], [0, 0, 1], [0, 0, NAN]], {}),
    "an item with one rating": ([[0, 1, 0], [1, 1, 1], [0, NAN, NAN]], {}),
    "unanimous raters": ([[0, 0, 0], [1, 1, 1], [1, 1, 1]], {}),
    "two items": ([[0, 1], [1, 0]], {}),
    "categories never used": ([[1, 2, 2], [2, 1, 1], [2, 2, 2]], {"categories": range(6)}),
    "twenty categories": (np.random.default_rng(1).integers(0, 20, (30, 4)), {}),
}


def degenerate_cases() -> Iterator[Any]:
    """All designs for all models; of each model one in which its likelihood has no mode inside."""
    for (place, model), (at, name), priors in product(
        enumerate(MODELS), enumerate(DEGENERATE), [False, True]
    ):
        is_chosen = at == place % len(DEGENERATE) and not priors
        words = short_name(model), name, "posterior" if priors else "likelihood"
        marks = () if is_chosen else pytest.mark.proof
        yield pytest.param(model, priors, name, marks=marks, id="-".join(words))


@pytest.mark.parametrize(("model", "priors", "name"), [*degenerate_cases()])
def test_estimates_from_degenerate_ratings_are_finite(
    model: CategoryModel, priors: bool, name: str
) -> None:
    table, options = DEGENERATE[name]
    ratings = rb.Ratings.from_wide(np.asarray(table, float), scale="nominal", **options)

    estimate = model.em(ratings, priors=priors)

    assert_is_converged_and_finite(estimate)


@every_model
@pytest.mark.parametrize(
    "gold",
    [
        [NAN, 2, NAN],
        *(pytest.param(x, marks=pytest.mark.proof) for x in ([0, 1, 2], [1, 1, 1], [NAN] * 3)),
    ],
    ids=str,
)
def test_known_categories_keep_probability_one(model: CategoryModel, gold: list[float]) -> None:
    frame = pd.DataFrame({"item": [0, 0, 1, 1, 2, 2], "rater": ["x", "y"] * 3})
    frame = frame.assign(rating=[0, 1, 1, 1, 0, 0], gold=np.repeat(gold, 2))
    ratings = rb.Ratings.from_frame(frame, gold="gold", categories=range(3), scale="nominal")

    estimate = model.em(ratings)

    assert_is_converged_and_finite(estimate)
    probability = estimate.category_probabilities().to_numpy()
    known = ~np.isnan(gold)
    np.testing.assert_array_equal(
        probability[known], np.eye(3)[np.asarray(gold)[known].astype(int)]
    )


@every_model
def test_a_single_category_is_refused(model: CategoryModel) -> None:
    with pytest.raises(rb.RatingsError, match="ratings must vary"):
        model.em(rb.Ratings.from_wide(np.zeros((3, 2)), scale="nominal"))


def test_models_with_exchangeable_raters_accept_counts() -> None:
    counts = np.array([[3, 0], [1, 2], [0, 4]])
    item, category = np.repeat(np.indices((3, 2)).reshape(2, -1), counts.ravel(), axis=1)
    named = pd.DataFrame(
        {"item": item, "rater": [0, 1, 2, 0, 1, 2, 0, 1, 2, 3], "rating": category}
    )

    from_counts = rb.TAP().em(rb.Ratings.from_counts(counts))

    from_names = rb.TAP().em(rb.Ratings.from_frame(named, scale="nominal"))
    assert from_counts.log_likelihood == pytest.approx(from_names.log_likelihood, rel=1e-12)
    assert from_names.raters().columns.tolist() == ["ratings"]


@pytest.mark.parametrize(
    "model", [rb.DawidSkene(), rb.MACE(), rb.RaterTAP(), rb.RaterGroupthink()], ids=short_name
)
def test_models_with_individual_raters_refuse_counts(model: CategoryModel) -> None:
    counts = rb.Ratings.from_counts(np.array([[3, 0], [1, 2]]))

    with pytest.raises(rb.RatingsError, match="it must be known who gave each rating"):
        model.em(counts)


def test_estimates_carry_the_ids_of_the_user() -> None:
    frame = pd.DataFrame(
        {
            "item": ["b", "b", "a", "a", "c", "c"],
            "rater": ["y", "x"] * 3,
            "rating": ["no", "no", "yes", "yes", "yes", "no"],
        }
    )

    estimate = rb.MACE().em(rb.Ratings.from_frame(frame))

    assert estimate.items().index.tolist() == ["a", "b", "c"]
    assert estimate.raters().index.tolist() == ["x", "y"]
    assert estimate.category_probabilities().columns.tolist() == ["no", "yes"]
    assert estimate.items().loc["a", "category"] == "yes"
    assert tuple(estimate.quantities) == rb.MACE.reports


def assert_is_converged_and_finite(estimate: PointEstimate) -> None:
    """EM converged, and every estimate is finite."""
    assert estimate.converged
    assert np.isfinite(estimate.path).all()
    assert np.isfinite(estimate.log_likelihood)
    assert np.isfinite(estimate.quantities.to_array()).all()
    items = estimate.items()
    assert items["probability"].between(1 / len(estimate.ratings.categories) - 1e-9, 1 + 1e-9).all()
    assert np.isfinite(items["entropy"]).all()


def linear_steps_to_one(rate: float) -> Callable[[Point], tuple[float, Callable[[], Point]]]:
    """An EM step towards 1 that multiplies the remaining distance by ``rate``."""

    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        remainder = point["x"] - 1
        return -float(remainder @ remainder), lambda: {"x": 1 + rate * remainder}

    return evaluate


def point_of(estimate: PointEstimate) -> dict[str, Array]:
    return {str(name): values.values for name, values in estimate.parameters.items()}


def free_values(model: CategoryModel, point: Mapping[str, Array]) -> dict[str, Array]:
    return {p.name: p.unconstrain(point[p.name]) for p in model.parameters()}


def objective(model: CategoryModel, free: Array, problem: CategoricalProblem) -> float:
    """Log-likelihood plus log-prior at a flat vector of unconstrained parameters."""
    shapes = {p.name: p.free_shape(problem.size) for p in model.parameters()}
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    parts = dict(zip(shapes, np.split(free, ends[:-1]), strict=True))
    point = {p.name: p.constrain(parts[p.name].reshape(shapes[p.name])) for p in model.parameters()}
    return model.log_likelihood(point, problem) + model.family.response.log_prior(point, problem)
