"""What raters know and guess, and the scores that a program samples in place of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, roots_hermitenorm, softmax

from reliabayes.arrays import Array
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.parameters import Parameter, from_free, to_free
from reliabayes.inference.widening import WIDENING

RNG = np.random.default_rng(1)
ROOT = np.tril(RNG.normal(size=(9, 9))) / 3 + np.eye(9)
CENTRING = KnowledgeCentring(
    alpha_mean=np.array([0.5, -4.0]),
    alpha_precision=np.array([3.0, 0.01]),
    guessed=np.array([[0.0, 0.0, 0.0], [3.0, 0.5, 7.0]]),
    spread_scale=np.array([0.2, 0.5, 5.0]),
    core_mean=RNG.normal(size=9),
    core_root=ROOT,
    known_sd_delta=0.8,
    widening=0.35,
)
PARAMETERS = (
    Parameter("prevalence", "simplex", ("category",)),
    Parameter("mean_alpha", "real"),
    Parameter("sd_alpha", "positive"),
    Parameter("sd_delta", "positive", ("all",)),
    Parameter("eta", "real", ("covariate",)),
    Parameter("mean_p", "simplex", ("category",)),
    Parameter("concentration", "positive"),
    Parameter("alpha", "real", ("rater",)),
    Parameter("p", "simplex", ("rater", "category")),
)
SAMPLED = tuple(
    Parameter(p.name, "real" if p.support == "positive" else p.support, p.dims) for p in PARAMETERS
)
SIZES = {"category": 3, "all": 1, "covariate": 1, "rater": 2}.__getitem__


def point(draws: tuple[int, ...] = ()) -> Mapping[str, Any]:
    """Parameters of two raters and three categories."""
    rng = np.random.default_rng(2)
    return {
        "prevalence": softmax(rng.normal(size=(*draws, 3)), axis=-1),
        "mean_alpha": rng.normal(size=draws),
        "sd_alpha": rng.uniform(0.01, 1, draws),
        "sd_delta": rng.uniform(0.5, 2, (*draws, 1)),
        "eta": rng.normal(size=(*draws, 1)),
        "mean_p": softmax(rng.normal(size=(*draws, 3)), axis=-1),
        "concentration": rng.uniform(1, 20, draws),
        "alpha": rng.normal(size=(*draws, 2)),
        "p": softmax(rng.normal(size=(*draws, 2, 3)), axis=-1),
    }


def test_points_are_restored() -> None:
    drawn = point((5,))

    found = CENTRING.restored(CENTRING.sampled(drawn))

    assert set(found) == set(drawn)
    for name, values in drawn.items():
        assert found[name] == pytest.approx(values, abs=1e-10), name


def test_slope_is_the_determinant_of_the_map_from_scores() -> None:
    at = to_free(SAMPLED, CENTRING.sampled(point()))

    def free(x: Array) -> Array:
        found = CENTRING.restored(from_free(SAMPLED, x, SIZES))
        # Those of guesses are log odds of a category against all later ones.
        return to_free(PARAMETERS, found)

    moves = 1e-5 * np.eye(len(at))
    slopes = [(free(at + move) - free(at - move)) / 2e-5 for move in moves]

    expected = np.linalg.slogdet(np.array(slopes)).logabsdet
    assert CENTRING.log_slope(point()) == pytest.approx(expected, abs=1e-6)


def test_program_has_the_scores_of_a_point() -> None:
    sampled = to_free(SAMPLED, CENTRING.sampled(point()))

    declared = CENTRING.for_program(point())

    assert np.concatenate(
        [declared["core"], declared["score"].ravel(), sampled[11:]]
    ) == pytest.approx(sampled, abs=1e-12)


def test_without_difficulty_and_covariates_the_rest_is_centred() -> None:
    few = {name: x for name, x in point().items() if name not in ("sd_delta", "eta")}
    centring = KnowledgeCentring(
        CENTRING.alpha_mean,
        CENTRING.alpha_precision,
        CENTRING.guessed,
        CENTRING.spread_scale,
        CENTRING.core_mean[:7],
        ROOT[:7, :7],
    )

    found = centring.restored(centring.sampled(few))

    for name, values in few.items():
        assert found[name] == pytest.approx(values, abs=1e-10), name


def test_accuracies_lie_farther_out_where_difficulties_differ_more() -> None:
    # Where a rater's ratings say how often they know, that stays, whatever the sd of difficulties.
    certain = replace(CENTRING, alpha_precision=np.full(2, 1e9), widening=WIDENING["logit"])
    node, weight = roots_hermitenorm(80)

    def known(sd_delta: float) -> Array:
        at = {**point(), "sd_delta": np.array([sd_delta])}
        zero, one = (certain.sampled({**at, "alpha": np.full(2, x)})["alpha"] for x in (0, 1))
        alpha = zero / (zero - one)  # whose score is 0
        return np.asarray(expit(alpha[:, None] - sd_delta * node) @ weight / weight.sum())

    for sd_delta in (0.1, 1.5, 2.5):
        assert known(sd_delta) == pytest.approx(known(0.8), abs=0.02)
