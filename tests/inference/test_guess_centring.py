"""Guesses of raters and the scores that a program samples in place of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit, softmax
from scipy.stats import skew

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


SCORES = np.linspace(-8, 8, 33)
# Of a rater and two categories: own guesses and those of the other category.
EXTREMES = [(0.0, 0.0), (0.0, 1e4), (1e4, 0.0), (0.0, 3.0), (5.0, 5.0), (1e4, 1e4), (0.0, 30.0)]


def declared(score: Array, centring: GuessCentring, **shared: Array) -> dict[str, Array]:
    """Points of two categories whose log odds have these scores (N, R, 1)."""
    shared = {"concentration": np.array(1e-3), "mean_p": np.array([0.1, 0.9])} | shared
    drawn = {name: np.multiply.outer(np.ones(len(score)), x) for name, x in shared.items()}
    return centring.from_program({**drawn, "guess_score": score})


@pytest.mark.parametrize("concentration", [0.0, 1e-3, 7.0, 500.0])
@pytest.mark.parametrize("guessed", EXTREMES)
def test_scores_of_extreme_guesses_are_restored(
    guessed: tuple[float, float], concentration: float
) -> None:
    centring = GuessCentring(np.array([guessed]))
    points = declared(SCORES[:, None, None], centring, concentration=np.array(concentration))

    found = centring.for_program(points)["guess_score"]

    # A probability's rounding error counts where the later categories have little.
    error = 1e-10 + 1e-15 / points["p"].min(axis=-1)[..., None]
    assert (np.abs(found - SCORES[:, None, None]) <= error).all()


@pytest.mark.parametrize("guessed", EXTREMES)
def test_log_odds_increase_with_scores(guessed: tuple[float, float]) -> None:
    points = declared(SCORES[:, None, None], GuessCentring(np.array([guessed])))

    log_odds = -np.diff(np.log(points["p"][:, 0]))
    assert (np.diff(log_odds[:, 0]) > 0).all()


@pytest.mark.parametrize("guessed", EXTREMES)
def test_slope_is_the_derivative_of_log_odds(guessed: tuple[float, float]) -> None:
    centring, step = GuessCentring(np.array([guessed])), 1e-4
    around = SCORES[:, None, None] + np.array([-step, 0, step])[:, None, None, None]
    below, here, above = (declared(score, centring) for score in around)

    found = [
        centring.log_slope({name: x[n] for name, x in here.items()}) for n in range(len(SCORES))
    ]

    log_odds = [-np.diff(np.log(points["p"][:, 0])) for points in (below, above)]
    assert np.exp(found) == pytest.approx((log_odds[1] - log_odds[0])[:, 0] / (2 * step), rel=1e-6)


@pytest.mark.parametrize(
    ("own", "other", "bound"),
    [(1, 5, 0.4), (1, 20, 0.2), (5, 1, 0.4), (2, 5, 0.2), (3, 20, 0.1), (20, 2, 0.1)],
)
def test_scores_are_less_skewed_than_log_odds(own: float, other: float, bound: float) -> None:
    p = np.random.default_rng(3).beta(own, other, (20_000, 1, 1))
    simplexes = np.concatenate([p, 1 - p], axis=-1)
    centring = GuessCentring(np.array([[own - 1.0, other - 1.0]]))
    none = {"concentration": np.zeros(20_000), "mean_p": np.full((20_000, 2), 0.5)}

    scores = centring.for_program({**none, "p": simplexes})["guess_score"]

    assert abs(skew(scores.ravel())) < min(bound, 0.4 * abs(skew(logit(p.ravel()))))
