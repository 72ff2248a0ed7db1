"""Likelihoods and conditional draws from sums by pool match dense computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliabayes.arrays import Array
from reliabayes.inference import correlation
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import Components, PooledDesign
from tests.designs import PooledTable, normal_log_density, pooled_tables, slopes

numbers = st.floats(0.05, 4)
seeds = st.integers(0, 2**16)


def design_of(table: PooledTable) -> PooledDesign:
    return PooledDesign.of(table.item, table.rater, table.ratings, table.pool)


def pools_of(table: PooledTable) -> int:
    return int(table.pool.max()) + 1


def random_components(pools: int, seed: int) -> Components:
    rng = np.random.default_rng(seed)
    item, rater, residual = np.exp(rng.normal(0, 0.7, (3, pools)))
    factor = correlation.factor(rng.normal(0, 1.5, correlation.n_free(pools)), pools)
    return Components(item[:, None] * factor, rater, residual)


def mean_prior(pools: int) -> MeanPrior:
    return MeanPrior(offset=np.linspace(-0.3, 0.8, pools), precision=np.linspace(0.2, 0.5, pools))


def covariance(table: PooledTable, at: Components) -> Array:
    return table.covariance(at.root @ at.root.T, at.rater, at.residual)


def dense(table: PooledTable, at: Components, prior: MeanPrior) -> float:
    pool = table.pool[table.rater]
    mean_covariance = np.where(pool[:, None] == pool, 1 / prior.precision[pool], 0)
    whole = covariance(table, at) + mean_covariance
    return normal_log_density(table.ratings, prior.offset[pool], whole)


@given(table=pooled_tables(), seed=seeds)
def test_log_likelihood_equals_the_dense_normal_density(table: PooledTable, seed: int) -> None:
    at, prior = random_components(pools_of(table), seed), mean_prior(pools_of(table))

    log_likelihood = PooledSums.of(design_of(table)).log_likelihood(at, prior)

    assert log_likelihood == pytest.approx(dense(table, at, prior), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    "root",
    [[[0.8, 0.0], [0.5, 0.0]], [[0.8, 0.0], [-0.5, 0.0]], [[0.0, 0.0], [0.0, 0.7]]],
    ids=["correlation 1", "correlation -1", "no effects in a pool"],
)
def test_log_likelihood_is_exact_for_singular_covariances_of_item_effects(
    root: list[list[float]],
) -> None:
    table = PooledTable.simulated(items=8, raters=3, pools=2, ratings=40, seed=1)
    at, prior = random_components(2, 3)._replace(root=np.array(root)), mean_prior(2)

    log_likelihood = PooledSums.of(design_of(table)).log_likelihood(at, prior)

    assert log_likelihood == pytest.approx(dense(table, at, prior), rel=1e-8)


@given(table=pooled_tables(), seed=seeds)
def test_flat_prior_is_the_limit_of_wide_priors(table: PooledTable, seed: int) -> None:
    pools = pools_of(table)
    sums, at = PooledSums.of(design_of(table)), random_components(pools, seed)
    wide = 1e7

    flat = sums.log_likelihood(at, MeanPrior(np.zeros(pools), np.zeros(pools)))

    density_of_the_means = -0.5 * pools * np.log(2 * np.pi * wide**2)
    proper = sums.log_likelihood(at, MeanPrior(np.zeros(pools), np.full(pools, wide**-2)))
    assert flat == pytest.approx(proper - density_of_the_means, rel=1e-8, abs=1e-8)


@given(table=pooled_tables(), seed=seeds, shared=st.booleans())
def test_em_step_never_decreases_the_likelihood(
    table: PooledTable, seed: int, shared: bool
) -> None:
    sums, prior = PooledSums.of(design_of(table)), mean_prior(pools_of(table))
    at = random_components(pools_of(table), seed)
    if shared:
        at = at._replace(residual=np.full(pools_of(table), at.residual[0]))

    better = sums.em_step(at, prior, shared=shared)

    before, after = (sums.log_likelihood(point, prior) for point in (at, better))
    assert after >= before - 1e-9 * abs(before)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [pytest.param(True, marks=pytest.mark.proof), False])
def test_em_converges_to_a_stationary_point_of_the_likelihood(shared: bool) -> None:
    table = PooledTable.simulated(items=20, raters=6, pools=2, ratings=300, seed=3)
    sums, prior = PooledSums.of(design_of(table)), mean_prior(2)
    at = Components(np.array([[1.0, 0.0], [0.3, 0.9]]), np.full(2, 0.7), np.ones(2))
    for _ in range(1500):
        at = sums.em_step(at, prior, shared=shared)

    def log_likelihood(x: Array) -> float:
        residual = np.resize(x[5:], 2)
        root = np.array([[x[0], 0], [x[1], x[2]]])
        return sums.log_likelihood(Components(root, x[3:5], residual), prior)

    found = [at.root[np.tril_indices(2)], at.rater, at.residual[: 1 if shared else 2]]
    gradient = slopes(log_likelihood, np.concatenate(found))

    assert gradient == pytest.approx(np.zeros(len(gradient)), abs=1e-3)


@given(table=pooled_tables(), cut=st.integers(1, 7))
def test_sums_of_parts_add_up_to_the_sums_of_all_ratings(table: PooledTable, cut: int) -> None:
    first = table.item < min(cut, table.item.max())

    parts = [PooledSums.of(design_of(part)) for part in (table.part(first), table.part(~first))]

    combined, whole = parts[0] + parts[1], PooledSums.of(design_of(table))
    for name in ("pool", "n", "multiplicity", "gram", "moment", "square"):
        assert getattr(combined, name) == pytest.approx(getattr(whole, name))


@given(table=pooled_tables())
def test_design_predicts_the_size_of_the_sums(table: PooledTable) -> None:
    design = design_of(table)

    size = design.size

    assert size == PooledSums.of(design).stan_data().values["gram"].size


@pytest.mark.slow
def test_effects_are_drawn_from_their_conditional_distribution() -> None:
    table = PooledTable.simulated(items=5, raters=2, pools=2, ratings=24, seed=1)
    design, at = design_of(table), random_components(2, 8)
    means, draws = np.array([0.4, -0.2]), 2_500
    repeated = Components(*(np.tile(x, (draws, *[1] * x.ndim)) for x in at))
    rng = np.random.default_rng(0)

    rater_draws = PooledSums.of(design).draw_raters(
        repeated, np.tile(means, (draws, 1)), mean_prior(2), rng
    )
    chunks = list(design.draw_items(repeated, rater_draws, 25_000, rng))

    raters, items = rater_draws[:, :4], np.concatenate(chunks, axis=1)
    drawn = np.hstack([raters, items.reshape(draws, -1)])
    expected, expected_covariance = conditional(table, at, means)
    assert len(chunks) > 1
    assert rater_draws[:, 4:] == pytest.approx(np.tile(means, (draws, 1)))
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.1)
    assert np.cov(drawn.T) == pytest.approx(expected_covariance, abs=0.16)


def conditional(table: PooledTable, at: Components, means: Array) -> tuple[Array, Array]:
    """Mean and covariance of the effects of raters, then of items in each pool, given ratings."""
    pool = table.pool[table.rater]
    cells = table.item * pools_of(table) + pool
    items = int(table.item.max()) + 1
    design = np.hstack(
        [np.eye(len(table.pool))[table.rater], np.eye(items * pools_of(table))[cells]]
    )
    item_covariance = np.kron(np.eye(items), at.root @ at.root.T)
    prior = np.zeros((design.shape[1],) * 2)
    prior[: len(table.pool), : len(table.pool)] = np.diag(at.rater[table.pool] ** 2)
    prior[len(table.pool) :, len(table.pool) :] = item_covariance
    gain = prior @ design.T @ np.linalg.inv(covariance(table, at))
    return gain @ (table.ratings - means[pool]), prior - gain @ design @ prior
