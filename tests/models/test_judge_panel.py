"""Judge panels: the density against sums over all that is hidden, and its gradients."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.judges import density, starts
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.simulation import drawn_from_prior
from reliabayes.inference import stan
from reliabayes.inference.problem import stan_data
from tests.designs import four_point_moves, four_point_slopes, gradients, log_densities
from tests.judge_answers import answers

PEOPLE = ["person 1", "person 2", "person 3"]
FAMILIES = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
PANEL = rb.JudgePanel(human="human", family=FAMILIES)


def panel(
    categories: int, seed: int = 1, scale: Any = "ordered", *, gold: bool = True
) -> rb.Ratings:
    """Some answers of two people and of four judges in three families, some of them in two runs."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"answer {item}", rater, "human" if rater in "pq" else "llm", run, "xy"[item % 2])
        for item in range(5)
        for rater in ("p", "q", *FAMILIES)
        for run in ((1, 2) if rater in ("a1", "b1") else (1,))
        if rng.random() < 0.8
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "pool", "run", "system"])
    frame["rating"] = np.append(
        np.arange(categories), rng.integers(0, categories, len(frame) - categories)
    )
    known = {"answer 2": 0.0, "answer 3": 1.0}
    return rb.Ratings.from_frame(
        frame.assign(gold=frame["item"].map(known)),
        pool="pool",
        gold="gold" if gold else None,
        facets=["run"],
        group="system",
        scale=scale,
        categories=range(categories),
    )


def drawn(problem: PanelProblem, seed: int) -> dict[str, Array]:
    return dict(drawn_from_prior(problem, np.random.default_rng(seed), {}))


@pytest.mark.parametrize(
    ("categories", "scale"),
    [
        (2, "nominal"),
        (3, "ordered"),
        pytest.param(5, "ordered", marks=pytest.mark.proof),
    ],
)
def test_density_is_the_sum_over_true_categories_and_all_readings(
    categories: int, scale: str
) -> None:
    ratings = panel(categories, scale=scale)
    problem = PANEL.problem(ratings)
    point = drawn(problem, 2)

    found = PANEL.log_likelihood(point, problem)

    assert found == pytest.approx(summed(point, problem, ratings), abs=1e-9)


def summed(point: dict[str, Array], problem: PanelProblem, ratings: rb.Ratings) -> float:
    """Log-probability of all answers, item by item, by every state of all that is hidden."""
    k, ids = problem.n_categories, problem.coords
    families = list(ids["family"])
    total = 0.0
    for item, name in enumerate(ratings.items):
        rows = np.flatnonzero(ratings.item == item)
        group = "xy".index("xy"[int(name.split()[1]) % 2])
        prevalence = softmax(problem.contrasts @ point["prevalence_log_odds"][group])
        gold = -1 if ratings.gold_category is None else ratings.gold_category[item]
        probability = 0.0
        for truth in range(k):
            if gold not in (-1, truth):
                continue
            of_truth = prevalence[truth]
            for row in rows:
                rater = ratings.raters[ratings.rater[row]]
                if rater in ("p", "q"):
                    level = point["people_log_odds"]["pq".index(rater)]
                    of_truth *= matrix(level, point, len(families), k)[truth, ratings.category[row]]
            for at, family in enumerate(families):
                misread = matrix(point["misreading_log_odds"][group, at], point, at, k)[truth]
                of_truth *= misread @ [
                    said_by_family(family, at, reading, rows, point, problem, ratings)
                    for reading in range(k)
                ]
            probability += of_truth
        total += float(np.log(probability))
    return total


def said_by_family(
    family: str,
    at: int,
    reading: int,
    rows: Any,
    point: dict[str, Array],
    problem: PanelProblem,
    ratings: rb.Ratings,
) -> float:
    """Probability of what all judges of a family say of an item that it reads as a category."""
    k, found = problem.n_categories, 1.0
    for judge in (name for name, own in FAMILIES.items() if own == family):
        of_judge = [row for row in rows if ratings.raters[ratings.rater[row]] == judge]
        own = np.eye(k)
        if family == "a":
            level = point["own_log_odds"][list(problem.coords["own_judge"]).index(judge)]
            own = matrix(level, point, at, k)
        slip = np.eye(k)
        if judge in problem.coords["run_judge"]:
            level = point["slip_log_odds"][list(problem.coords["run_judge"]).index(judge)]
            slip = matrix(level, point, at, k)
        found *= sum(
            own[reading, lasting]
            * np.prod([slip[lasting, ratings.category[row]] for row in of_judge])
            for lasting in range(k)
        )
    return found


def matrix(level: Array, point: dict[str, Array], population: int, k: int) -> Array:
    """Probabilities of answers, error by error."""
    found = np.zeros((k, k))
    for truth, category in product(range(k), repeat=2):
        if truth == category:
            found[truth, category] = 1.0
        elif k <= 4:
            found[truth, category] = np.exp(level[truth * (k - 1) + category - (category > truth)])
        else:
            decay = np.exp(point["log_decay"][population])
            to = softmax(
                [
                    -np.inf
                    if other == truth
                    else (rb_contrasts(k) @ point["popularity"][population])[other]
                    - decay * (abs(other - truth) - 1)
                    for other in range(k)
                ]
            )
            found[truth, category] = np.exp(level[truth]) * to[category]
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def rb_contrasts(k: int) -> Array:
    """Orthogonal columns that sum to 0, so that any two rows differ by a vector of length 1."""
    found = np.zeros((k, k - 1))
    for column in range(k - 1):
        found[: column + 1, column] = -1
        found[column + 1, column] = column + 1
        found[:, column] /= np.linalg.norm(found[:, column]) * np.sqrt(2)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("categories", [2, 5])
def test_derivatives_in_python_are_those_of_finite_differences(categories: int) -> None:
    problem = PANEL.problem(panel(categories))
    point = drawn(problem, 3)

    _, found = density.log_likelihood_with_gradient(point, problem)

    for name, slope in found.items():
        moves = four_point_moves(slope.size).reshape(-1, *slope.shape)
        values = [
            density.log_likelihood({**point, name: point[name] + move}, problem) for move in moves
        ]
        assert slope.ravel() == pytest.approx(four_point_slopes(values), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("categories", [2, 5])
def test_gradient_of_the_program_is_that_of_finite_differences(categories: int) -> None:
    found, expected = gradients(PANEL, panel(categories), 4)

    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_program_survives_points_where_the_density_is_no_number() -> None:
    ratings = panel(5)
    problem = PANEL.problem(ratings)
    start = PANEL.start(problem)
    number = sum(np.size(x) for x in start.mode.values())
    far_and_near = np.array([np.full(number, 1e3), np.zeros(number)])

    found = log_densities(
        stan.folder() / PANEL.program(problem),
        stan_data(problem, start.centring),
        unconstrained_params={"params_r": far_and_near},
    )

    assert found["lp__"].isna().tolist() == [True, False]


def test_answers_of_hundreds_of_runs_have_their_density() -> None:
    rows = [(item, rater, run) for item in range(3) for rater in "ab" for run in range(400)]
    table = pd.DataFrame(rows, columns=["item", "rater", "run"])
    table["rating"] = (table["run"] + table["item"]) % 2  # a probability of 1e-240
    people = pd.DataFrame({"item": [0, 1], "rater": "p", "run": 0, "rating": [0, 1]})
    ratings = rb.Ratings.from_frame(pd.concat([table, people]), facets=["run"], scale="nominal")
    model = rb.JudgePanel(human=["p"], family={"a": "one", "b": "one"})

    found, expected = gradients(model, ratings, 4)

    assert found == pytest.approx(expected, abs=1e-4, rel=1e-5)


@pytest.mark.slow
def test_centring_is_undone_by_its_inverse() -> None:
    problem = PANEL.problem(panel(3))
    start = PANEL.start(problem)
    point = drawn(problem, 5)
    centring = start.centring
    assert centring is not None

    back = starts.complete(centring.restored(centring.sampled(point)), problem)  # type: ignore[attr-defined]

    assert set(back) == set(point)
    for name, value in point.items():
        assert back[name] == pytest.approx(value)


def test_further_runs_of_a_judge_alone_in_its_family_merge_with_its_readings() -> None:
    problem = PANEL.problem(panel(2))

    assert list(problem.coords["own_judge"]) == ["a1", "a2"]
    assert list(problem.coords["run_judge"]) == ["a1", "b1"]


def test_people_are_never_guessed_in_silence() -> None:
    table = answers(1, by_system=5, labelled=3).table.replace({"human": "team"})
    ratings = rb.Ratings.from_frame(table, pool="pool", facets=["run"], group="system")

    with pytest.raises(rb.RatingsError, match="it must be clear which raters are people"):
        rb.JudgePanel().problem(ratings)

    assert list(rb.JudgePanel(human="team").problem(ratings).coords["person"]) == PEOPLE


def test_families_are_the_providers_in_names_of_judges_or_else_pools() -> None:
    names = {"judge 1": "openai/gpt-4o", "judge 2": "ChatGPT (2)", "judge 3": "other"}
    table = answers(1, by_system=5, labelled=3).table.replace(names)
    ratings = rb.Ratings.from_frame(table, pool="pool", facets=["run"], group="system")

    roles = rb.JudgePanel().problem(ratings).roles

    assert list(roles.families) == ["llm", "openai"]
    assert "llm: other; openai: ChatGPT (2) and openai/gpt-4o" in roles.how


@pytest.mark.parametrize(
    ("raters", "truth", "people"),
    [
        (PEOPLE, "yes", "yes"),
        (PEOPLE[:2], "no", "yes"),
        ([*PEOPLE[:2], "judge 1"], "just", "yes"),
        ([PEOPLE[0], "judge 1"], "no", "yes"),
        (["judge 1", "judge 2"], "no", "no"),
    ],
)
def test_answers_tell_what_as_many_independent_views_determine(
    raters: list[str], truth: str, people: str
) -> None:
    table = answers(1, by_system=5, labelled=3).table
    table = table[table["rater"].isin(raters)]
    ratings = rb.Ratings.from_frame(table, pool="pool", facets=["run"], group="system")
    human = [rater for rater in raters if rater in PEOPLE]

    found = rb.JudgeStudy(ratings, human=human).identified()

    assert (found.truth, found.people_rate) == (truth, people)


def test_ratings_of_a_trusted_person_are_true() -> None:
    table = answers(1, by_system=5, labelled=3).table
    table = table[~table["rater"].isin(PEOPLE[1:])]
    ratings = rb.Ratings.from_frame(table, pool="pool", facets=["run"], group="system")

    study = rb.JudgeStudy(ratings, trust="person")

    assert study.problem.n_people == 0
    assert (study.problem.mixture.kind >= 2).sum() > 0
    assert study.identified().truth == "yes"


@pytest.mark.slow
def test_rates_and_errors_are_recovered() -> None:
    found = answers(3, "self-preferring", by_system=1000, labelled=300)

    fit = rb.JudgePanel().fit(found.ratings, seed=1, chains=2, progress=False)

    table = fit.summary(names=["prevalence", "accuracy"])
    is_good = found.is_good.groupby(found.is_good.index.str[:2]).mean()
    for system, rate in is_good.items():
        mean, sd = map(float, table.loc[f"prevalence[{system}, 1]", ["mean", "sd"]])
        assert mean == pytest.approx(rate, abs=3 * sd)
    assert fit.diagnostics().problems == []


@pytest.mark.slow
def test_convergence_of_the_rates_of_systems_is_monitored() -> None:
    ratings = answers(1, by_system=40, labelled=20, judges=1, runs=1).ratings
    fit = rb.JudgePanel(human="human").fit(ratings, seed=1, draws=200, progress=False)
    stuck = fit.posterior.copy(deep=True)
    stuck["prevalence_log_odds"][0] += 3

    found = replace(fit, posterior=stuck).doubt

    assert re.search(
        r"the chains disagree: R-hat is up to [\d.]+, for (rate|prevalence)\[v\d, \d\]", found
    )
