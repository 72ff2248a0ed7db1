"""What the page of errata says of the likelihood of MACE and of the M step of t-a-p."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest

import reliabayes as rb

THETA, XI = [0.8, 0.3], [[0.4, 0.6], [0.7, 0.3]]


def probability(table: tuple[tuple[int, ...], ...], truths: tuple[int, ...]) -> float:
    """Of ratings by item and rater given the true categories, summed over who spams where."""
    return prod(
        THETA[j] * (rating == truth) + (1 - THETA[j]) * XI[j][rating]
        for row, truth in zip(table, truths, strict=True)
        for j, rating in enumerate(row)
    )


def test_sum_over_all_true_categories_is_the_likelihood_of_mace() -> None:
    model, table = rb.MACE(prevalence="uniform"), ((0, 1), (1, 1), (0, 0))
    ratings = rb.Ratings.from_wide(np.array(table), scale="nominal")
    point = {"theta": np.array(THETA), "xi": np.array(XI)}

    found = model.log_likelihood(point, model.problem(ratings))

    expected = sum(0.5**3 * probability(table, truths) for truths in product(range(2), repeat=3))
    assert found == pytest.approx(np.log(expected), rel=1e-12)


def test_sum_over_one_true_category_of_all_items_is_no_distribution() -> None:
    tables = product(product(range(2), repeat=2), repeat=3)

    total = sum(0.5**3 * probability(t, (truth,) * 3) for t in tables for truth in range(2))

    assert total == pytest.approx(1 / 4)


def test_m_step_divides_proportions_of_all_ratings_by_those_of_true_categories() -> None:
    truth = {"a": [0.7, 0.5, 0.4], "p": [[0.3, 0.7], [0.5, 0.5], [0.6, 0.4]]}
    truth |= {"prevalence": [[0.6, 0.4]]}
    design, rng = rb.simulate.crossed(500, 3), np.random.default_rng(1)
    model = rb.RaterTAP()
    ratings = model.simulate(design, rng, parameters=truth)
    point = model.em(ratings, tolerance=1e-10)

    t = point.category_probabilities()[1].to_numpy()[:, None]
    yes = ratings.to_frame().pivot(index="item", columns="rater", values="rating").to_numpy()
    true_positives, false_positives = (t * yes).mean(axis=0), ((1 - t) * yes).mean(axis=0)
    a = true_positives / t.mean() - false_positives / (1 - t.mean())
    p = false_positives / (1 - t.mean()) / (1 - a)

    assert point.quantities["a"].values == pytest.approx(a, abs=1e-6)
    assert point.quantities["p"].sel(category=1).values == pytest.approx(p, abs=1e-6)
    as_rates = true_positives / t.mean() ** 2 - false_positives / (1 - t.mean()) ** 2
    assert (as_rates > 1).any()  # no probability
