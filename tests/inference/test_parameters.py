"""Parameters reach Stan's unconstrained scale by Stan's own transforms, and come back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_expit
from scipy.stats import kurtosis

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from tests.designs import slopes
from tests.inference.test_runner import run

Compiled = Callable[[str], Path]

EFFECT = Parameter("effect", "real")
SCALE = Parameter("scale", "positive")
CHANCE = Parameter("chance", "unit")
SHARES = Parameter("shares", "simplex", ("category",))

numbers = st.floats(-8, 8)
vectors = st.integers(1, 5).flatmap(lambda size: st.lists(numbers, min_size=size, max_size=size))


@pytest.mark.parametrize("parameter", [EFFECT, SCALE, CHANCE, SHARES], ids=lambda p: p.support)
@given(free=vectors)
def test_values_come_back_from_the_unconstrained_scale(
    parameter: Parameter, free: list[float]
) -> None:
    value = parameter.constrain(np.array(free))

    back = parameter.unconstrain(value)

    assert parameter.holds(value)
    assert back == pytest.approx(np.array(free), abs=1e-11)  # rounding over 1 - expit(8)


@given(free=vectors)
def test_shares_sum_to_one(free: list[float]) -> None:
    shares = SHARES.constrain(np.array([free, free[::-1]]))

    assert shares.shape == (2, len(free) + 1)
    assert shares.sum(axis=-1) == pytest.approx(np.ones(2), abs=1e-15)


@settings(max_examples=20)
@given(free=vectors, seed=st.integers(0, 99))
def test_constrained_values_are_those_of_stan(
    compiled: Compiled, tmp_path_factory: pytest.TempPathFactory, free: list[float], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("point")
    at = np.array([0.3, -0.6, *free])
    direction = np.random.default_rng(seed).normal(size=len(at) + 1)

    def density(x: Array) -> float:
        return float(direction @ constrained(x))

    value, *gradient = log_prob(
        compiled, folder, direction, "jacobian=0", unconstrained_params={"params_r": at.tolist()}
    )

    assert value == pytest.approx(density(at), abs=1e-13)
    assert gradient == pytest.approx(slopes(density, at), abs=1e-9)


@settings(max_examples=20)
@given(counts=st.lists(st.floats(0.1, 50), min_size=2, max_size=6), seed=st.integers(0, 99))
def test_unconstrained_values_are_those_of_stan(
    compiled: Compiled, tmp_path_factory: pytest.TempPathFactory, counts: list[float], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("point")
    direction = np.random.default_rng(seed).normal(size=len(counts) + 2)
    scale, chance, shares = 2.5, 0.2, np.array(counts) / sum(counts)
    free = [SCALE.unconstrain(np.array(scale)), CHANCE.unconstrain(np.array(chance))]
    params_r = [*np.array(free).tolist(), *SHARES.unconstrain(shares).tolist()]
    named = {"scale": scale, "chance": chance, "shares": shares.tolist()}

    by_stan = log_prob(compiled, folder, direction, constrained_params=named)
    ours = log_prob(compiled, folder, direction, unconstrained_params={"params_r": params_r})

    assert ours == pytest.approx(by_stan, abs=1e-12)


@pytest.mark.parametrize(
    ("parameter", "shape"),
    [
        (Parameter("x", "real"), ()),
        (Parameter("x", "positive", ("all",)), (1,)),
        (Parameter("x", "unit", ("rater",)), (7,)),
        (Parameter("x", "unit", ("true_category",)), (4,)),
        (Parameter("x", "real", ("covariate",)), (2,)),
        (Parameter("x", "real", ("rater", "error")), (7, 12)),
        (Parameter("x", "simplex", ("all", "category")), (1, 3)),
        (Parameter("x", "simplex", ("rater", "true_category", "category")), (7, 4, 3)),
    ],
    ids=lambda value: str(getattr(value, "dims", "")),
)
def test_free_values_are_as_many_as_the_sizes_of_dimensions_say(
    parameter: Parameter, shape: tuple[int, ...]
) -> None:
    sizes = {"all": 1, "category": 4, "true_category": 4, "rater": 7, "covariate": 2, "error": 12}

    assert parameter.free_shape(sizes.__getitem__) == shape


def test_zero_is_the_middle() -> None:
    zero = np.zeros(3)

    assert EFFECT.constrain(zero).tolist() == [0, 0, 0]
    assert SCALE.constrain(zero).tolist() == [1, 1, 1]
    assert CHANCE.constrain(zero).tolist() == [0.5, 0.5, 0.5]
    assert SHARES.constrain(zero) == pytest.approx(np.full(4, 0.25), abs=1e-16)


@pytest.mark.parametrize(
    ("parameter", "inside", "outside"),
    [
        (EFFECT, [-1e300, 0, 1], [math.nan, math.inf, -math.inf]),
        (SCALE, [1e-300, 1, 1e300], [0, -1, math.nan]),
        (CHANCE, [0, 0.5, 1], [-1e-9, 1 + 1e-9, math.nan]),
        (SHARES, [0, 0.5, 1], [-1e-9, 1 + 1e-9, math.nan]),
    ],
    ids=["real", "positive", "unit", "simplex"],
)
def test_one_value_outside_is_enough(
    parameter: Parameter, inside: list[float], outside: list[float]
) -> None:
    held = [parameter.holds(np.array([*inside, wrong])) for wrong in outside]

    assert parameter.holds(np.array(inside))
    assert held == [False, False, False]


@pytest.mark.parametrize("counts", [(0.3, 2.0), (1.0, 1.0), (40.0, 3.0), (700.0, 900.0)])
def test_spread_of_a_chance_is_that_of_the_log_odds_of_its_beta(
    counts: tuple[float, float],
) -> None:
    log_odds = np.arange(-200, 200, 0.005)
    log_density = counts[0] * log_expit(log_odds) + counts[1] * log_expit(-log_odds)
    weight = np.exp(log_density - log_density.max())

    spread = CHANCE.unconstrained_sd(np.array(counts))

    mean = np.average(log_odds, weights=weight)
    variance = np.average((log_odds - mean) ** 2, weights=weight)
    assert float(spread) == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("counts", [(2.0, 5.0), (0.5, 3.0, 1.0), (30.0, 1.0, 8.0, 2.0)])
def test_spread_of_shares_is_that_of_draws_of_their_dirichlet(counts: tuple[float, ...]) -> None:
    draws = SHARES.unconstrain(np.random.default_rng(1).dirichlet(counts, 100_000))

    spread = SHARES.unconstrained_sd(np.array(counts))

    error = np.sqrt((kurtosis(draws, fisher=False) - 1) / (4 * len(draws)))
    assert (abs(draws.std(axis=0) / spread - 1) < 4 * error).all()


def test_spread_of_many_is_that_of_each() -> None:
    counts = np.random.default_rng(2).gamma(2, size=(3, 2, 4))

    spread = SHARES.unconstrained_sd(counts)

    assert spread.shape == (3, 2, 3)
    assert spread[2, 1] == pytest.approx(SHARES.unconstrained_sd(counts[2, 1]))
    assert CHANCE.unconstrained_sd(counts[..., :2]).shape == (3, 2)


def constrained(free: Array) -> Array:
    """Parameters of the test program in its order, one beside the other."""
    scale, chance, *breaks = free
    return np.array(
        [
            SCALE.constrain(np.array(scale)),
            CHANCE.constrain(np.array(chance)),
            *SHARES.constrain(np.array(breaks)),
        ]
    )


def log_prob(
    compiled: Compiled, folder: Path, direction: Array, *words: str, **point: object
) -> list[float]:
    """Log density, which is linear in the parameters, and gradient by Stan."""
    data = {"K": len(direction) - 2, "direction": direction.tolist()}
    (folder / "data.json").write_text(json.dumps(data))
    for name, values in point.items():
        (folder / f"{name}.json").write_text(json.dumps(values))
    given = [f"{name}={name}.json" for name in point]
    command = ["log_prob", *words, *given, "data file=data.json output sig_figs=18"]
    result = run(compiled("transformed"), folder, " ".join(command))
    assert result.returncode == 0, result.stderr
    found: list[float] = pd.read_csv(folder / "output.csv", comment="#").iloc[0].tolist()
    return found
