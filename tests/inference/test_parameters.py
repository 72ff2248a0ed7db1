"""Parameters are transformed to the unconstrained scale and back exactly as in Stan."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
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
PROBABILITY = Parameter("chance", "unit")
SIMPLEX = Parameter("shares", "simplex", ("category",))

numbers = st.floats(-8, 8)
vectors = st.integers(1, 5).flatmap(lambda size: st.lists(numbers, min_size=size, max_size=size))


@pytest.mark.parametrize(
    "parameter", [EFFECT, SCALE, PROBABILITY, SIMPLEX], ids=lambda p: p.support
)
@given(free=vectors)
def test_unconstraining_and_constraining_returns_the_value(
    parameter: Parameter, free: list[float]
) -> None:
    value = parameter.constrain(np.array(free))

    back = parameter.unconstrain(value)

    assert parameter.holds(value)
    assert back == pytest.approx(np.array(free), abs=1e-11)  # rounding / (1 - expit(8))


@given(free=vectors)
def test_simplexes_sum_to_one(free: list[float]) -> None:
    simplexes = SIMPLEX.constrain(np.array([free, free[::-1]]))

    assert simplexes.shape == (2, len(free) + 1)
    assert simplexes.sum(axis=-1) == pytest.approx(np.ones(2), abs=1e-15)


@given(free=vectors, seed=st.integers(0, 99))
def test_constrained_values_match_stan(
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


@given(counts=st.lists(st.floats(0.1, 50), min_size=2, max_size=6), seed=st.integers(0, 99))
def test_unconstrained_values_match_stan(
    compiled: Compiled, tmp_path_factory: pytest.TempPathFactory, counts: list[float], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("point")
    direction = np.random.default_rng(seed).normal(size=len(counts) + 2)
    scale, probability, simplex = 2.5, 0.2, np.array(counts) / sum(counts)
    free = [SCALE.unconstrain(np.array(scale)), PROBABILITY.unconstrain(np.array(probability))]
    params_r = [*np.array(free).tolist(), *SIMPLEX.unconstrain(simplex).tolist()]
    named = {"scale": scale, "chance": probability, "shares": simplex.tolist()}

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
def test_number_of_unconstrained_values_follows_from_the_sizes_of_dims(
    parameter: Parameter, shape: tuple[int, ...]
) -> None:
    sizes = {"all": 1, "category": 4, "true_category": 4, "rater": 7, "covariate": 2, "error": 12}

    assert parameter.free_shape(sizes.__getitem__) == shape


def test_zero_maps_to_the_centre_of_the_support() -> None:
    zero = np.zeros(3)

    assert EFFECT.constrain(zero).tolist() == [0, 0, 0]
    assert SCALE.constrain(zero).tolist() == [1, 1, 1]
    assert PROBABILITY.constrain(zero).tolist() == [0.5, 0.5, 0.5]
    assert SIMPLEX.constrain(zero) == pytest.approx(np.full(4, 0.25), abs=1e-16)


@pytest.mark.parametrize(
    ("parameter", "inside", "outside"),
    [
        (EFFECT, [-1e300, 0, 1], [math.nan, math.inf, -math.inf]),
        (SCALE, [1e-300, 1, 1e300], [0, -1, math.nan]),
        (PROBABILITY, [0, 0.5, 1], [-1e-9, 1 + 1e-9, math.nan]),
        (SIMPLEX, [0, 0.5, 1], [-1e-9, 1 + 1e-9, math.nan]),
    ],
    ids=["real", "positive", "unit", "simplex"],
)
def test_one_value_outside_the_support_is_detected(
    parameter: Parameter, inside: list[float], outside: list[float]
) -> None:
    inside_support = [parameter.holds(np.array([*inside, wrong])) for wrong in outside]

    assert parameter.holds(np.array(inside))
    assert inside_support == [False, False, False]


@pytest.mark.parametrize("counts", [(0.3, 2.0), (1.0, 1.0), (40.0, 3.0), (700.0, 900.0)])
def test_sd_of_a_probability_is_that_of_the_log_odds_of_a_beta(
    counts: tuple[float, float],
) -> None:
    log_odds = np.arange(-200, 200, 0.005)
    log_density = counts[0] * log_expit(log_odds) + counts[1] * log_expit(-log_odds)
    weight = np.exp(log_density - log_density.max())

    sd = PROBABILITY.unconstrained_sd(np.array(counts))

    mean = np.average(log_odds, weights=weight)
    variance = np.average((log_odds - mean) ** 2, weights=weight)
    assert float(sd) == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("counts", [(2.0, 5.0), (0.5, 3.0, 1.0), (30.0, 1.0, 8.0, 2.0)])
def test_sd_of_a_simplex_matches_draws_from_its_dirichlet(counts: tuple[float, ...]) -> None:
    draws = SIMPLEX.unconstrain(np.random.default_rng(1).dirichlet(counts, 100_000))

    sd = SIMPLEX.unconstrained_sd(np.array(counts))

    error = np.sqrt((kurtosis(draws, fisher=False) - 1) / (4 * len(draws)))
    assert (abs(draws.std(axis=0) / sd - 1) < 4 * error).all()


def test_sds_of_an_array_equal_those_of_its_elements() -> None:
    counts = np.random.default_rng(2).gamma(2, size=(3, 2, 4))

    sd = SIMPLEX.unconstrained_sd(counts)

    assert sd.shape == (3, 2, 3)
    assert sd[2, 1] == pytest.approx(SIMPLEX.unconstrained_sd(counts[2, 1]))
    assert PROBABILITY.unconstrained_sd(counts[..., :2]).shape == (3, 2)


def constrained(free: Array) -> Array:
    """Parameters of the test program in its order, concatenated."""
    scale, probability, *breaks = free
    return np.array(
        [
            SCALE.constrain(np.array(scale)),
            PROBABILITY.constrain(np.array(probability)),
            *SIMPLEX.constrain(np.array(breaks)),
        ]
    )


def log_prob(
    compiled: Compiled, folder: Path, direction: Array, *words: str, **point: object
) -> list[float]:
    """Log density, which is linear in the parameters, and its gradient by Stan."""
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
