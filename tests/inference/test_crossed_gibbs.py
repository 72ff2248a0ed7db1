"""Gibbs sampling of crossed effects gives exact posteriors, in memory and in parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.normal import crossed, gaussian_parts
from reliabayes.inference.crossed_effects import RowState
from reliabayes.inference.crossed_gibbs import levels_given
from reliabayes.inference.slice_sampling import slice_sampled
from reliabayes.likelihoods import row_effects
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, Deviations
from reliabayes.likelihoods.row_effects import RowEffects
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.thresholds import CROSSED
from tests.monte_carlo import standard_errors
from tests.partitions.in_memory import in_parts

pytestmark = pytest.mark.slow

QUIET: dict[str, Any] = {"seed": 3, "progress": False}


def simulated(items: int, raters: int, n: int, sds: tuple[float, float, float]) -> rb.Ratings:
    """Ratings of pairs drawn at random, some of them twice, each item and rater at least once."""
    rng = np.random.default_rng([items, raters, n])
    item = np.append(np.arange(items), rng.integers(0, items, n - items))
    rater = np.append(rng.permutation(np.arange(n - items) % raters), np.arange(items) % raters)
    effects = (
        sds[0] * rng.standard_normal(items)[item] + sds[1] * rng.standard_normal(raters)[rater]
    )
    table = {"item": item, "rater": rater, "rating": 7 + effects + sds[2] * rng.standard_normal(n)}
    return rb.Ratings.from_frame(pd.DataFrame(table), replicates="keep")


DESIGNS = {
    "few ratings an item": (300, 60, 900, (0.6, 0.4, 0.8)),
    "more raters than items": (40, 200, 800, (1.0, 0.5, 0.5)),
    "items all alike": (200, 50, 1000, (0.0, 0.5, 1.0)),
    "hardly any residual": (100, 40, 600, (1.0, 1.0, 0.02)),
    "two raters": (150, 2, 300, (1.0, 0.3, 0.7)),
}


@pytest.mark.parametrize(
    ("draws", "name"),
    [
        (200, "two raters"),
        *(
            pytest.param(draws, name, marks=mark)
            for name in DESIGNS
            for draws, mark in ((700, pytest.mark.proof), (3000, pytest.mark.calibration))
        ),
    ],
)
def test_posterior_is_that_with_effects_integrated_out(draws: int, name: str) -> None:
    ratings = simulated(*DESIGNS[name])
    model = rb.GaussianICC(prior_sd_rater=rb.HalfNormal(0.5))

    found = model.fit(ratings, sampler="gibbs", draws=draws, **QUIET)

    expected = model.fit(ratings, sampler="nuts", draws=draws, **QUIET)
    tables = found.summary(), expected.summary()
    for column in ("mean", "sd", "lower_90", "upper_90"):
        errors = [standard_errors(fit, column) for fit in (found, expected)]
        for quantity in tables[1].index:
            difference = tables[0][column][quantity] - tables[1][column][quantity]
            assert abs(difference) < 5 * math.hypot(*(each[quantity] for each in errors))


def test_row_effects_have_their_conditional_distribution() -> None:
    ratings = simulated(30, 6, 90, (1.0, 1.0, 1.0))
    design = CrossedDesign.of(ratings.item, ratings.rater, ratings.values - 7)
    rng = np.random.default_rng(1)
    level, sds, sweeps = rng.standard_normal((6, 3)), rng.uniform(0.5, 2, (2, 3)), 4000

    totals = [
        RowEffects.of(design).draw(RowState(1, k, sds[0], sds[1], level)) for k in range(sweeps)
    ]

    left = design.total[:, None] - design.counts @ level
    precision = design.n[:, None] / sds[1] ** 2 + sds[0] ** -2
    mean, variance = left / sds[1] ** 2 / precision, 1 / precision
    second, third = mean**2 + variance, 4 * mean**2 * variance + 2 * variance**2
    expected = {0: (mean, variance), 1: (second, third)}
    for column, (means, variances) in expected.items():
        drawn = np.array([each.sums[:, column] for each in totals])
        error = np.sqrt(variances.sum(axis=0) / sweeps)
        assert (abs(drawn.mean(axis=0) - means.sum(axis=0)) < 5 * error).all()
    crossed = np.array([each.crossed for each in totals])
    error = np.sqrt(design.counts.power(2).T @ variance / sweeps)
    assert (abs(crossed.mean(axis=0) - design.counts.T @ mean) < 5 * error).all()
    spread = crossed.std(axis=0) / (error * math.sqrt(sweeps))
    assert (abs(spread - 1) < 5 / math.sqrt(2 * sweeps)).all()


def test_sums_are_those_of_the_same_effects() -> None:
    ratings = simulated(25, 4, 60, (1.0, 1.0, 1.0))
    design = CrossedDesign.of(ratings.item, ratings.rater, ratings.values - 7)
    state = RowState(5, 2, np.ones(2), np.ones(2), np.zeros((4, 2)))
    one_row = [
        RowEffects.of(CrossedDesign.of(part.item, part.rater, part.values - 7, 4), first).draw(
            state
        )
        for first in range(25)
        for part in [in_parts(ratings, 25).parts[first].read()]
    ]

    whole = RowEffects.of(design).draw(state)

    effect = np.array([each.sums[:, 0] for each in one_row])
    sums = [effect, effect**2, design.n[:, None] * effect**2, design.total[:, None] * effect]
    np.testing.assert_allclose(whole.sums, np.array(sums).sum(axis=1).T)
    np.testing.assert_allclose(whole.crossed, design.counts.T @ effect)


def test_draws_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_effects, "MANY_CELLS", 10)
    ratings, model = simulated(60, 20, 300, (1.0, 0.5, 1.0)), rb.GaussianICC()
    options = {"sampler": "gibbs", "warmup": 20, "draws": 20, "chains": 3, **QUIET}

    one, two = (fit_quietly(model, ratings, parallel_chains=n, **options) for n in (1, 2))

    assert one.posterior.identical(two.posterior)


@pytest.fixture
def by_gibbs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over pairs of raters take too long, and so do those that Stan needs."""
    monkeypatch.setattr(crossed, "are_cheap_sums", lambda *sizes: False)
    monkeypatch.setattr(crossed, "CROSSED", CROSSED._replace(by_nuts=0))
    monkeypatch.setattr(gaussian_parts, "are_cheap_sums", lambda *sizes: False)


@pytest.mark.usefixtures("by_gibbs_alone")
@pytest.mark.parametrize("parts", [1, 7, pytest.param(20, marks=pytest.mark.proof)])
@pytest.mark.parametrize("most_in_memory", [0, 10_000])
def test_draws_of_parts_are_those_in_memory(
    parts: int, most_in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian_parts, "MOST_IN_MEMORY", most_in_memory)
    ratings, model = simulated(70, 30, 400, (1.0, 0.5, 1.0)), rb.GaussianICC()
    options = {"warmup": 20, "draws": 20, "chains": 2, **QUIET}
    expected = fit_quietly(model, ratings, **options)

    found = fit_quietly(model, in_parts(ratings, parts), **options)

    assert found.settings.sampler == expected.settings.sampler == "gibbs"
    for name, values in expected.posterior.items():
        np.testing.assert_allclose(found.posterior[name], values, rtol=1e-7, atol=1e-9)


@pytest.mark.proof
def test_nuts_has_the_same_posterior_where_gibbs_sampling_is_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crossed, "integrates_out", lambda design: False)
    ratings, model = simulated(70, 30, 400, (1.0, 0.5, 1.0)), rb.GaussianICC()
    expected = model.fit(ratings, draws=400, **QUIET)

    found = model.fit(ratings, sampler="nuts", draws=400, **QUIET)

    assert (expected.settings.sampler, found.settings.sampler) == ("gibbs", "nuts")
    one, other = found.summary(), expected.summary()
    error = 5 * np.hypot(one["mcse"], other["mcse"])
    assert (abs(one["mean"] - other["mean"]) < error).all()
    # Sds are at most 0.5, and draws count for some hundreds.
    for one, other in ((found.raters(), expected.raters()), (found.items(), expected.items())):
        np.testing.assert_allclose(one["mean"], other["mean"], atol=0.12)
        np.testing.assert_allclose(one["sd"], other["sd"], rtol=0.2)
    posterior = Posterior(found.posterior, ratings, model.problem(ratings))
    levels = np.mean(list(model.normal_family.levels(posterior, np.random.default_rng(1))), axis=0)
    severity = expected.raters()["mean"] + expected.quantities["mean"].values.mean()
    np.testing.assert_allclose(levels, severity, atol=0.12)


@pytest.mark.usefixtures("by_gibbs_alone")
def test_nuts_is_refused_where_it_would_take_hours() -> None:
    ratings = simulated(70, 30, 400, (1.0, 0.5, 1.0))

    with pytest.raises(ValueError, match=r"too slow for effects of 70 and 30.*sampler='auto'"):
        rb.GaussianICC().fit(ratings, sampler="nuts")


@pytest.mark.usefixtures("by_gibbs_alone")
def test_fit_that_takes_too_long_is_ended() -> None:
    ratings = simulated(70, 30, 400, (1.0, 0.5, 1.0))

    with pytest.raises(rb.SamplingError, match="timeout"):
        rb.GaussianICC().fit(ratings, sampler="gibbs", draws=1_000_000, timeout=0.5)


@pytest.mark.proof
@pytest.mark.usefixtures("by_gibbs_alone")
def test_levels_that_were_not_kept_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, model = simulated(70, 30, 400, (1.0, 0.5, 1.0)), rb.GaussianICC()
    options = {"sampler": "gibbs", "warmup": 100, "draws": 250, **QUIET}
    kept = model.fit(ratings, **options)
    monkeypatch.setattr("reliabayes.inference.crossed_gibbs.MOST_LEVELS", 0)
    anew = model.fit(ratings, **options)
    assert "level" in kept.posterior
    assert "level" not in anew.posterior

    for found, expected in ((anew.raters(), kept.raters()), (anew.items(), kept.items())):
        # Sds are at most 0.5; draws of the mean are shared, and count for about 250.
        np.testing.assert_allclose(found["mean"], expected["mean"], atol=0.16)
        np.testing.assert_allclose(found["sd"], expected["sd"], rtol=0.24)


def test_levels_given_parameters_have_their_joint_distribution() -> None:
    ratings, model = simulated(40, 5, 200, (1.0, 0.5, 1.0)), rb.GaussianICC()
    problem, draws = model.problem(ratings), 4000
    assert problem.effects is not None
    sds, mean = np.tile([[0.9], [0.6], [1.1]], draws), np.full(draws, 7.0)

    found = levels_given(problem.effects, sds, mean, 1) - (mean - problem.center)

    rng = np.random.default_rng(1)
    given = Deviations(*sds)
    exact = problem.crossed.draw_columns(given, mean - problem.center, problem.mean_prior, rng)
    expected: Array = exact[:, :5].T
    error = expected.std(axis=1) * math.sqrt(2 / draws)
    assert (abs(found.mean(axis=1) - expected.mean(axis=1)) < 5 * error).all()
    np.testing.assert_allclose(np.cov(found), np.cov(expected), atol=0.15 * np.cov(expected).max())


def test_slice_sampling_has_its_density() -> None:
    rng, x, found = np.random.default_rng(1), 0.0, []
    for _ in range(20_000):
        x = slice_sampled(x, 1.5, rng, lambda at: -(abs(at) ** 3))
        found.append(x)

    draws = np.array(found[::10])
    share_below = stats.gengamma(1 / 3, 3).cdf(abs(draws))
    assert stats.kstest(share_below, "uniform").pvalue > 1e-4
    assert abs(np.mean(draws > 0) - 0.5) < 5 * 0.5 / math.sqrt(len(draws))


def fit_quietly(model: rb.GaussianICC, ratings: Any, **options: Any) -> rb.Fit:
    """A fit of few draws, which are compared and not used."""
    with pytest.warns(rb.ConvergenceWarning):
        return model.fit(ratings, **options)
