"""Guesses of raters and the scores that a program samples in place of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from reliabayes.arrays import Array
from reliabayes.inference.guess_centring import GUESSES, GuessCentring

GUESSED = np.array([[0.0, 0.0, 0.0], [3.0, 0.5, 7.0]])
SHARED = {"concentration": np.array(4.0), "mean_p": np.array([0.2, 0.5, 0.3])}
P = softmax(np.random.default_rng(1).normal(size=(5, 2, 3)), axis=-1)


def test_points_are_restored() -> None:
    centring, draws = GuessCentring(GUESSED), np.ones(5)
    point = {name: np.multiply.outer(draws, x) for name, x in SHARED.items()} | {"p": P}

    found = centring.restored(centring.sampled(point))

    assert found["p"] == pytest.approx(P, abs=1e-12)
    assert found["p"].sum(axis=-1) == pytest.approx(np.ones((5, 2)), abs=1e-12)


def test_slope_is_the_determinant_of_the_map_from_scores() -> None:
    centring = GuessCentring(GUESSED)
    free = GUESSES.unconstrain(centring.sampled({**SHARED, "p": P[0]})["p"]).ravel()

    def guesses(x: Array) -> Array:
        scores = {**SHARED, "p": GUESSES.constrain(x.reshape(2, 2))}
        return np.asarray(centring.restored(scores)["p"][:, :-1]).ravel()

    moves = 1e-5 * np.eye(4)
    slopes = [(guesses(free + move) - guesses(free - move)) / 2e-5 for move in moves]

    expected = np.linalg.slogdet(np.array(slopes)).logabsdet
    found = centring.log_slope({**SHARED, "p": P[0]}) + np.log(P[0]).sum()
    assert found == pytest.approx(expected, abs=1e-7)


def test_scores_of_many_known_guesses_are_nearly_standard_normal() -> None:
    rng = np.random.default_rng(2)
    shape = 1 + SHARED["concentration"] * SHARED["mean_p"]
    p = rng.dirichlet(shape + GUESSED[1], (4000, 1))
    draws = {name: np.multiply.outer(np.ones(4000), x) for name, x in SHARED.items()}

    scores = GUESSES.unconstrain(GuessCentring(GUESSED[1:]).sampled({**draws, "p": p})["p"])

    assert np.abs(scores.mean(axis=0)).max() < 0.1
    assert scores.std(axis=0) == pytest.approx(np.ones((1, 2)), abs=0.1)
