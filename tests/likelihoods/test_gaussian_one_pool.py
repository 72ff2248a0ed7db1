"""Likelihoods and conditional draws from sufficient statistics match dense computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from reliabayes.arrays import Array
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums, Deviations
from tests.designs import LongTable, dense_covariance, long_tables, slopes

SD = Deviations(row=0.8, column=0.5, residual=1.2)
PRIOR = MeanPrior(offset=0.3, precision=0.25)

sds = st.builds(Deviations, *[st.floats(0.05, 5)] * 3)


@given(table=long_tables(), sd=sds)
def test_log_likelihood_equals_the_dense_normal_density(table: LongTable, sd: Deviations) -> None:
    sums = CrossedSums.of(CrossedDesign.of(*table))

    log_likelihood = sums.log_likelihood(sd, PRIOR)

    covariance = dense_covariance(table, sd) + 1 / PRIOR.precision
    dense = multivariate_normal(np.full(len(table.ratings), PRIOR.offset), covariance)
    assert log_likelihood == pytest.approx(dense.logpdf(table.ratings), rel=1e-8, abs=1e-8)


@given(table=long_tables())
def test_flat_prior_is_the_limit_of_wide_priors(table: LongTable) -> None:
    sums = CrossedSums.of(CrossedDesign.of(*table))
    wide = 1e7

    flat = sums.log_likelihood(SD, MeanPrior(0.0, 0.0))

    density_of_the_mean = -0.5 * np.log(2 * np.pi * wide**2)
    proper = sums.log_likelihood(SD, MeanPrior(0.0, wide**-2))
    assert flat == pytest.approx(proper - density_of_the_mean, rel=1e-8, abs=1e-8)


@given(table=long_tables(), sd=sds)
def test_em_step_never_decreases_the_likelihood(table: LongTable, sd: Deviations) -> None:
    sums = CrossedSums.of(CrossedDesign.of(*table))

    better = sums.em_step(sd, PRIOR)

    before, after = (sums.log_likelihood(at, PRIOR) for at in (sd, better))
    assert after >= before - 1e-9 * abs(before)


@pytest.mark.slow
def test_em_converges_to_a_stationary_point_of_the_likelihood() -> None:
    table = LongTable.simulated(items=12, raters=10, ratings=150, seed=3)
    sums = CrossedSums.of(CrossedDesign.of(*table))
    sd = SD
    for _ in range(2000):
        sd = sums.em_step(sd, PRIOR)

    def log_likelihood(x: Array) -> float:
        return sums.log_likelihood(Deviations(*x), PRIOR)

    gradient = slopes(log_likelihood, np.array(sd))

    assert gradient == pytest.approx(np.zeros(3), abs=1e-3)


@given(table=long_tables(), cut=st.integers(1, 7))
def test_sums_of_parts_add_up_to_the_sums_of_all_ratings(table: LongTable, cut: int) -> None:
    first = table.row < min(cut, table.row.max())
    column = int(table.column.max()) + 1

    parts = [
        CrossedSums.of(CrossedDesign.of(*part, n_columns=column))
        for part in (table.part(first), table.part(~first))
    ]

    combined, whole = parts[0] + parts[1], CrossedSums.of(CrossedDesign.of(*table))
    for name in ("n", "multiplicity", "gram", "moment", "square"):
        assert getattr(combined, name) == pytest.approx(getattr(whole, name))


@pytest.mark.slow
def test_column_effects_are_drawn_from_their_conditional_distribution() -> None:
    table = LongTable.simulated(items=6, raters=3, ratings=20, seed=1)
    mean = 0.7
    given_data = CrossedSums.of(CrossedDesign.of(*table)).given(SD, PRIOR)
    rng = np.random.default_rng(0)

    draws = np.array([given_data.draw(np.array([mean]), rng) for _ in range(10_000)])

    expected, covariance = _column_effects_given_mean(table, mean)
    assert draws[:, -1] == pytest.approx(np.full(len(draws), mean))
    assert draws[:, :-1].mean(axis=0) == pytest.approx(expected, abs=0.02)
    assert np.cov(draws[:, :-1].T) == pytest.approx(covariance, abs=0.02)


def test_row_effects_are_drawn_from_their_conditional_distribution() -> None:
    table = LongTable.simulated(items=6, raters=3, ratings=20, seed=1)
    design = CrossedDesign.of(*table)
    column = np.array([0.3, -0.2, 0.1, 0.7])  # the last is the mean
    column_draws = np.tile(column, (40_000, 1))
    sd = Deviations(*(np.full(40_000, s) for s in SD))
    rng = np.random.default_rng(0)

    chunks = list(design.draw_rows(sd, column_draws, 100_000, rng))

    remainder = table.ratings - column[-1] - column[table.column]
    n = np.bincount(table.row)
    precision = n / SD.residual**2 + SD.row**-2
    expected = np.bincount(table.row, remainder) / SD.residual**2 / precision
    draws = np.hstack(chunks)
    assert len(chunks) > 1
    assert draws.mean(axis=0) == pytest.approx(expected, abs=0.02)
    assert draws.std(axis=0) == pytest.approx(precision**-0.5, abs=0.01)


def _column_effects_given_mean(table: LongTable, mean: float) -> tuple[Array, Array]:
    """Mean and covariance of the column effects by dense normal conditioning."""
    column = np.eye(table.column.max() + 1)[table.column]
    covariance = dense_covariance(table, SD)
    gain = SD.column**2 * column.T @ np.linalg.inv(covariance)
    return gain @ (table.ratings - mean), SD.column**2 * (np.eye(column.shape[1]) - gain @ column)
