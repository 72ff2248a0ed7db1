"""GaussianXCC: its Stan program matches the dense density, its posteriors published ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import halfnorm, t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.normal import pooled
from reliabayes.inference import correlation, stan
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import Components, PooledDesign
from reliabayes.likelihoods.gaussian_pools_many_raters import PooledCrowdSums
from reliabayes.models import gaussian_xcc
from tests.designs import PooledTable, normal_log_density, pooled_tables, slopes
from tests.monte_carlo import standard_error

pytestmark = pytest.mark.slow

PRIOR_MEAN = np.array([[0.9, 2.0], [-0.3, 1.5], [0.1, 3.0]])
PRIORS: dict[str, Any] = {
    "prior_sd_item": [4.0, 1.0],
    "prior_sd_rater": [math.inf, 1.5],
    "prior_sd_residual": [3.0, 2.0],
    "prior_lkj": 1.7,
}
CENTERS = np.array(
    [0.4, -0.2, 0.0]
)  # subtracted from the ratings; any value gives the same density

REFERENCE: dict[str, dict[str, dict[str, float]]] = {
    "shared": {
        "normalized_xcc[amt_snow2008, ws353]": {
            "mean": 0.986, "sd": 0.012, "lower_90": 0.962, "median": 0.989, "upper_90": 0.999,
        },
        "unnormalized_xcc[amt_snow2008, ws353]": {
            "mean": 0.672, "sd": 0.062, "lower_90": 0.565, "median": 0.673, "upper_90": 0.768,
        },
        "icc[amt_snow2008]": {"mean": 0.655},
        "icc[ws353]": {"mean": 0.710},
        "sd_item[amt_snow2008]": {"mean": 3.10},
        "sd_item[ws353]": {"mean": 2.99},
        "sd_rater[amt_snow2008]": {"mean": 1.35},
        "sd_rater[ws353]": {"mean": 0.70},
        "sd_residual": {"mean": 1.741},
    },
    "per_pool": {
        "normalized_xcc[amt_snow2008, ws353]": {"mean": 0.986},
        "unnormalized_xcc[amt_snow2008, ws353]": {"mean": 0.669},
        "icc[amt_snow2008]": {"mean": 0.619},
        "icc[ws353]": {"mean": 0.744},
        "sd_residual[amt_snow2008]": {"mean": 1.96},
        "sd_residual[ws353]": {"mean": 1.56},
    },
}  # fmt: skip

Load = Callable[[str], pd.DataFrame]
QUICK: dict[str, Any] = {"chains": 2, "warmup": 200, "draws": 100}
short_chains = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


@settings(max_examples=4)
@given(table=pooled_tables(), per_pool=st.booleans(), seed=st.integers(0, 2**16))
def test_density_equals_the_dense_density(table: PooledTable, per_pool: bool, seed: int) -> None:
    pools = int(table.pool.max()) + 1
    sizes = np.cumsum([pools, pools, pools if per_pool else 1])
    rng = np.random.default_rng(seed)
    free = rng.normal(0, 0.7, sizes[-1] + correlation.n_free(pools))

    def dense(x: Array) -> float:
        item, rater, residual, corr = np.split(x, sizes)
        sds = np.exp(np.concatenate([item, rater, residual]))
        root = np.exp(item)[:, None] * correlation.factor(corr, pools)
        return (
            log_ratings(table, root, np.exp(rater), np.exp(np.resize(residual, pools)))
            + log_sd_priors(*np.split(sds, sizes[:-1]))
            + float(x[: sizes[-1]].sum())
            + correlation.log_lkj(corr, pools, PRIORS["prior_lkj"])
        )

    value, gradient = evaluate(table, free, sizes)

    assert value == pytest.approx(dense(free), rel=1e-8, abs=1e-8)
    assert gradient == pytest.approx(slopes(dense, free), rel=1e-6, abs=1e-5)


@settings(max_examples=3)
@given(table=pooled_tables(), per_pool=st.booleans(), seed=st.integers(0, 2**16))
def test_density_with_sampled_raters_equals_the_dense_density(
    table: PooledTable, per_pool: bool, seed: int
) -> None:
    pools = int(table.pool.max()) + 1
    design = PooledDesign.of(table.item, table.rater, table.ratings, table.pool)
    sums, pool = PooledCrowdSums.of(design), table.pool
    prior = MeanPrior.of(PRIOR_MEAN[:pools].T, CENTERS[:pools])
    sizes = np.cumsum([pools, pools, pools if per_pool else 1, correlation.n_free(pools)])
    free = np.random.default_rng(seed).normal(0, 0.7, sizes[-1] + len(pool))

    def dense(x: Array) -> float:
        item, rater, residual, corr, score = np.split(x, sizes)
        at = Components(
            np.exp(item)[:, None] * correlation.factor(corr, pools),
            np.exp(rater),
            np.exp(np.resize(residual, pools)),
        )
        origin = sums.levels(np.zeros(len(pool)), at, prior)
        moved = np.array([sums.levels(unit, at, prior) for unit in np.eye(len(pool))]) - origin
        level = sums.levels(score, at, prior)
        mean, sd = prior.offset, prior.precision**-0.5
        spread = np.where(pool[:, None] == pool, sd[pool] ** 2, 0) + np.diag(at.rater[pool] ** 2)
        given = table.covariance(at.root @ at.root.T, np.zeros(pools), at.residual)
        sds = [np.exp(part) for part in (item, rater, residual)]
        return (
            normal_log_density(table.ratings, level[table.rater], given)
            + normal_log_density(level, mean[pool], spread)
            + float(np.linalg.slogdet(moved)[1])
            + log_sd_priors(*sds)
            + float(x[: sizes[2]].sum())
            + correlation.log_lkj(corr, pools, PRIORS["prior_lkj"])
        )

    value, gradient = evaluate(table, free, sizes, sums)

    assert value == pytest.approx(dense(free), rel=1e-8, abs=1e-8)
    assert gradient == pytest.approx(slopes(dense, free), rel=1e-6, abs=1e-5)


@given(table=pooled_tables(), seed=st.integers(0, 2**16))
def test_scores_are_the_inverse_of_levels(table: PooledTable, seed: int) -> None:
    pools, rng = int(table.pool.max()) + 1, np.random.default_rng(seed)
    sums = PooledCrowdSums.of(PooledDesign.of(table.item, table.rater, table.ratings, table.pool))
    root = np.tril(rng.normal(size=(5, pools, pools))) + np.eye(pools)
    at = Components(root, *np.exp(rng.normal(size=(2, 5, pools))))
    prior = MeanPrior(np.zeros(pools), np.full(pools, 0.3))
    score = rng.normal(size=(5, len(table.pool)))

    levels = sums.levels(score, at, prior)

    for one, level, expected in zip(zip(*at, strict=True), levels, score, strict=True):
        assert sums.scores(level, Components(*one), prior) == pytest.approx(expected, abs=1e-9)


@given(table=pooled_tables(), shared=st.booleans())
def test_mean_field_em_increases_its_bound(table: PooledTable, shared: bool) -> None:
    pools = int(table.pool.max()) + 1
    sums = PooledCrowdSums.of(PooledDesign.of(table.item, table.rater, table.ratings, table.pool))
    start = Components(np.eye(pools), np.ones(pools), np.ones(pools))

    field, path = sums.approximate(start, shared=shared)

    assert np.diff(path).min() >= -1e-9 * (1 + abs(path[-1]))
    assert len(set(field.at.residual)) == 1 or not shared


@pytest.mark.posteriors
@pytest.mark.parametrize("residual", ["shared", "per_pool"])
def test_posterior_matches_the_reference(dataset: Load, residual: Any) -> None:
    ratings = rb.Ratings.from_frame(dataset("wordsim_two_pools"), pool="pool")
    prior = rb.HalfNormal(2.5)
    model = rb.GaussianXCC(
        residual=residual,
        prior_mean=rb.Normal(float(ratings.values.mean()), 5),
        prior_sd_item=prior,
        prior_sd_rater=prior,
        prior_sd_residual=prior,
    )

    fit = model.fit(ratings, seed=11)

    summary = fit.summary()
    assert fit.diagnostics().problems == []
    for quantity, figures in REFERENCE[residual].items():
        found = summary.loc[quantity].to_dict()
        # several thousand draws each; at most half of the reference's are effective
        error = 0.0006 + 4 * found["sd"] / math.sqrt(1000)
        for column, figure in figures.items():
            # The Monte Carlo error of the end of a 90% interval is 2.1 times that of the mean for a
            # normal posterior, and larger for one with a long tail.
            factor = 3 if column.startswith(("lower", "upper")) else 1
            assert found[column] == pytest.approx(figure, abs=factor * error), (quantity, column)


@pytest.mark.proof
def test_warm_start_changes_the_speed_and_not_the_posterior() -> None:
    ratings = simulated(items=40, raters=4, per_item=3)

    warm = rb.GaussianXCC().fit(ratings, seed=1, draws=400).summary()
    cold = rb.GaussianXCC().fit(ratings, seed=2, draws=400, warm_start=False).summary()

    error = 5 * np.hypot(warm["mcse"], cold["mcse"])
    assert (abs(warm["mean"] - cold["mean"]) < error).all()


def test_warm_start_sets_the_metric_if_there_are_enough_ratings() -> None:
    small = simulated(items=8, raters=3, per_item=2)
    large = simulated(items=300, raters=30, per_item=3)

    starts = [rb.GaussianXCC().starts(rb.GaussianXCC().problem(x))[0] for x in (small, large)]

    assert starts[0].geometry is None
    assert starts[1].geometry is not None


@short_chains
def test_pools_and_pairs_have_the_ids_of_the_user() -> None:
    fit = of_three_pools()

    assert fit.quantities["icc"].coords["pool"].values.tolist() == ["A", "B", "C"]
    assert fit.quantities["normalized_xcc"].coords["pair"].values.tolist() == [
        "A, B", "A, C", "B, C",
    ]  # fmt: skip
    assert "unnormalized_xcc[B, C]" in fit.summary().index


@short_chains
def test_residual_has_a_pool_dimension_only_if_it_differs_between_pools() -> None:
    ratings = simulated(items=20, raters=4, per_item=2)

    shared, per_pool = (
        rb.GaussianXCC(residual=residual).fit(ratings, seed=1, **QUICK).quantities
        for residual in ("shared", "per_pool")
    )

    assert shared["sd_residual"].dims == ("chain", "draw")
    assert per_pool["sd_residual"].dims == ("chain", "draw", "pool")


@short_chains
def test_quantities_follow_from_the_parameters() -> None:
    draws = of_three_pools().quantities.isel(chain=0, draw=0)

    item, rater, residual = (draws[f"sd_{name}"].values for name in ("item", "rater", "residual"))
    icc = item**2 / (item**2 + rater**2 + residual**2)
    assert draws["icc"].values == pytest.approx(icc)
    assert draws["icc_consistency"].values == pytest.approx(item**2 / (item**2 + residual**2))
    assert draws["unnormalized_xcc"].values == pytest.approx(
        draws["normalized_xcc"].values * np.sqrt(icc[[0, 0, 1]] * icc[[1, 2, 2]])
    )


@short_chains
def test_agreement_is_invariant_to_the_order_of_pools() -> None:
    ratings = simulated(items=60, raters=6, per_item=3)
    frame = ratings.to_frame()
    swapped = rb.Ratings.from_frame(
        frame.assign(pool=frame["pool"].map({"A": "z", "B": "b"})), pool="pool"
    )

    one, other = (rb.GaussianXCC().fit(x, seed=1, **QUICK).summary() for x in (ratings, swapped))

    for name, of in (("icc[A]", "icc[z]"), ("normalized_xcc[A, B]", "normalized_xcc[b, z]")):
        error = 5 * math.hypot(one["mcse"][name], other["mcse"][of])
        assert one["mean"][name] == pytest.approx(other["mean"][of], abs=error)


@short_chains
def test_items_have_an_effect_for_each_pool_and_raters_only_one() -> None:
    ratings = simulated(items=40, raters=6, per_item=3, severity={"A": 0.0, "B": 1.0})

    fit = rb.GaussianXCC().fit(ratings, seed=1, **QUICK)

    items, raters = fit.items(), fit.raters()
    assert items.index.names == ["item", "pool"]
    assert items.index[:3].tolist() == [(0, "A"), (0, "B"), (1, "A")]
    assert items["ratings"].tolist() == [3] * 80
    assert raters["pool"].tolist() == ["A"] * 6 + ["B"] * 6
    means = ratings.to_frame().groupby(["item", "pool"])["rating"].mean()
    assert np.corrcoef(items["mean"], means - means.groupby("pool").transform("mean"))[0, 1] > 0.95


def test_effect_of_an_item_that_one_pool_did_not_rate_is_predicted_from_the_other() -> None:
    frame = simulated(items=60, raters=6, per_item=4, rho=0.8).to_frame()
    ratings = rb.Ratings.from_frame(
        frame[(frame["item"] > 0) | (frame["pool"] == "A")], pool="pool"
    )

    items = rb.GaussianXCC().fit(ratings, seed=1, chains=2).items(draws=1000)

    assert items["ratings"].loc[0].tolist() == [4, 0]
    assert np.sign(items["mean"][0, "B"]) == np.sign(items["mean"][0, "A"])
    # Given the other pool the variance is still 1 - 0.8^2: sds of 0.6 and 0.34, each with 3% error.
    assert items["sd"][0, "B"] > 1.3 * items["sd"][0, "A"]


def test_correlation_of_pools_without_common_items_keeps_its_prior() -> None:
    frame = simulated(items=60, raters=6, per_item=3).to_frame()
    ratings = rb.Ratings.from_frame(
        frame[(frame["item"] < 30) == (frame["pool"] == "A")], pool="pool"
    )

    fit = rb.GaussianXCC().fit(ratings, seed=1, chains=2)

    draws = fit.quantities["normalized_xcc"].values[..., 0]
    mean, sd = (5 * standard_error(draws, column) for column in ("mean", "sd"))
    assert draws.mean() == pytest.approx(0, abs=mean)
    assert draws.std() == pytest.approx(1 / math.sqrt(3), abs=sd)
    assert fit.diagnostics().divergences == 0


@short_chains
def test_larger_prior_lkj_shrinks_the_correlation() -> None:
    ratings = simulated(items=10, raters=3, per_item=2, rho=0.9)

    wide, narrow = (
        rb.GaussianXCC(prior_lkj=shape).fit(ratings, seed=1, **QUICK).quantities
        for shape in (1.0, 50.0)
    )

    means = [fit["normalized_xcc"].values.mean() for fit in (wide, narrow)]
    assert means[1] < means[0] - 0.1


@short_chains
@pytest.mark.parametrize("raters", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_smallest_designs_are_fitted(raters: int) -> None:
    ratings = simulated(items=12, raters=raters, per_item=1)

    fit = rb.GaussianXCC(residual="per_pool").fit(ratings, seed=1, chains=2)

    assert fit.diagnostics().r_hat < 1.02
    assert fit.diagnostics().divergences <= 2


@short_chains
def test_agreement_is_invariant_to_shifting_and_scaling_ratings() -> None:
    ratings = simulated(items=60, raters=6, per_item=3)
    frame = ratings.to_frame()
    rescaled = rb.Ratings.from_frame(frame.assign(rating=1e7 + 1e5 * frame["rating"]), pool="pool")

    one, other = (rb.GaussianXCC().fit(x, seed=1, **QUICK).summary() for x in (ratings, rescaled))

    invariant = ["normalized_xcc[A, B]", "icc[A]", "icc[B]"]
    scaled = ["sd_item[A]", "sd_item[B]"]
    for names, unit in ((invariant, 1.0), (scaled, 1e5)):
        difference = other["mean"][names] / unit - one["mean"][names]
        error = np.hypot(one["mcse"][names], other["mcse"][names] / unit)
        assert (abs(difference) < 5 * error).all()


@pytest.mark.parametrize(
    ("pool", "found"), [(None, "found no pools"), ("team", "found one pool, 'all'")]
)
def test_ratings_without_two_pools_are_refused(pool: str | None, found: str) -> None:
    frame = simulated(items=10, raters=3, per_item=2).to_frame().assign(team="all")

    with pytest.raises(rb.RatingsError, match=rf"{found}. Pass pool=\.\.\. with the column"):
        rb.GaussianXCC().fit(rb.Ratings.from_frame(frame, pool=pool))


@pytest.mark.parametrize("residual", ["shared", "per_pool"])
@pytest.mark.parametrize(
    "rating",
    [
        lambda item, rater, noise: item + 0.1 * rater,
        lambda item, rater, noise: np.where(rater < 3, item, (item * 7) % 5) + 0.1 * rater,
    ],
    ids=["between pools", "within pools"],
)
def test_perfect_agreement_is_refused(residual: Any, rating: Callable[..., Array]) -> None:
    frame = crossed(rating)

    with pytest.raises(rb.RatingsError, match="every rating is the sum of an item's and a rater"):
        rb.GaussianXCC(residual=residual).fit(frame)


@short_chains
def test_perfect_agreement_in_one_pool_is_accepted_with_a_shared_residual() -> None:
    ratings = crossed(lambda item, rater, noise: item + (rater > 2) * noise)

    fit = rb.GaussianXCC().fit(ratings, seed=1, **QUICK)

    with pytest.raises(rb.RatingsError, match="every rating is the sum of an item's and a rater"):
        rb.GaussianXCC(residual="per_pool").fit(ratings)
    assert np.isfinite(fit.quantities["icc"]).all()


@pytest.mark.parametrize(
    ("raters", "per_item", "program"),
    [(10, 6, "gaussian_xcc"), (60, 3, "gaussian_xcc_crowd")],
)
def test_cheaper_program_is_chosen(raters: int, per_item: int, program: str) -> None:
    problem = rb.GaussianXCC().problem(simulated(items=200, raters=raters, per_item=per_item))

    assert rb.GaussianXCC().program(problem) == program


def test_raters_are_sampled_where_sums_would_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pooled, "MAX_SIZE", 100)

    problem = rb.GaussianXCC().problem(simulated(items=10, raters=3, per_item=2))

    assert rb.GaussianXCC().program(problem) == "gaussian_xcc_crowd"


@pytest.mark.proof
@pytest.mark.parametrize("residual", ["shared", "per_pool"])
def test_integrating_raters_out_and_sampling_them_agree(
    residual: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = simulated(items=80, raters=15, per_item=3, pools=3, rho=0.6)
    model = rb.GaussianXCC(residual=residual)

    monkeypatch.setattr(gaussian_xcc, "integrates_out", lambda design: True)
    integrated_out = model.fit(ratings, seed=1, chains=2, draws=500)
    monkeypatch.setattr(gaussian_xcc, "integrates_out", lambda design: False)
    sampled = model.fit(ratings, seed=1, chains=2, draws=500)

    one, other = integrated_out.summary(), sampled.summary()
    assert "score" in sampled.posterior
    assert (abs(one["mean"] - other["mean"]) < 5 * np.hypot(one["mcse"], other["mcse"])).all()
    # Posterior sds are at most 0.4: with 1000 draws means differ by about 0.018 and sds by 4%.
    items = (integrated_out.items(draws=1000), sampled.items(draws=1000))
    for found, expected in ((integrated_out.raters(), sampled.raters()), items):
        assert found["mean"].to_numpy() == pytest.approx(expected["mean"].to_numpy(), abs=0.1)
        assert found["sd"].to_numpy() == pytest.approx(expected["sd"].to_numpy(), rel=0.25)


@pytest.mark.parametrize("residual", ["shared", "per_pool"])
def test_simulated_pools_have_the_given_parameters(residual: Any) -> None:
    item, rater = np.indices((400, 200)).reshape(2, -1)
    design = pd.DataFrame({"item": item, "rater": rater, "pool": np.where(rater < 100, "a", "b")})
    sd_residual = {"shared": [0.5], "per_pool": [0.5, 2.0]}[residual]
    parameters = {
        "mean": [5, 9],
        "sd_item": [2, 1],
        "sd_rater": [0, 1],
        "sd_residual": sd_residual,
        "factor_item": [[1, 0], [0.6, 0.8]],
    }

    ratings = rb.GaussianXCC(residual=residual).simulate(
        design, np.random.default_rng(1), parameters=parameters
    )

    frame = ratings.to_frame()
    by_item = frame.pivot_table(index="item", columns="pool", values="rating")
    by_rater = frame.groupby(["pool", "rater"])["rating"].mean()
    remainder = frame["rating"] - frame.groupby(["item", "pool"])["rating"].transform("mean")
    remainder -= remainder.groupby(frame["rater"]).transform("mean")
    # 4 standard errors for 400 items and 100 raters; residuals hardly change their mean ratings.
    assert by_item.mean().tolist() == pytest.approx([5, 9], abs=0.5)
    assert by_item.std().tolist() == pytest.approx([2, 1], rel=0.15)
    assert by_item.corr().loc["a", "b"] == pytest.approx(0.6, abs=0.14)
    assert by_rater.groupby("pool").std().tolist() == pytest.approx([0, 1], abs=0.3)
    assert remainder.groupby(frame["pool"]).std().tolist() == pytest.approx(
        np.resize(sd_residual, 2).tolist(), rel=0.03
    )


def test_missing_parameters_are_drawn_from_their_priors() -> None:
    normal, half = rb.Normal(3, 2), rb.HalfNormal(1)
    model = rb.GaussianXCC(
        prior_mean=normal, prior_sd_item=half, prior_sd_rater=half, prior_sd_residual=half
    )
    ratings = simulated(items=6, raters=2, per_item=1, pools=3)
    rng = np.random.default_rng(1)

    drawn = [model.draw_parameters(ratings, rng) for _ in range(60)]

    shapes = {name: values.shape for name, values in drawn[0].items()}
    correlations = [draw["factor_item"][[1, 2], 0] for draw in drawn]
    assert shapes == {
        "mean": (3,), "sd_item": (3,), "sd_rater": (3,), "sd_residual": (1,), "factor_item": (3, 3),
    }  # fmt: skip
    # Under LKJ(1) each correlation is 2 Beta(1.5, 1.5) - 1, with an sd of 0.5, estimated to 0.03.
    assert np.std(correlations) == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"residual": "own"}, ValueError, "must be 'shared' or 'per_pool', not 'own'"),
        ({"prior_lkj": 0.0}, ValueError, "prior_lkj must be finite and above 0"),
        ({"prior_mean": rb.HalfNormal(1)}, TypeError, "prior_mean must be a Normal"),
        ({"prior_sd_rater": 0.5}, TypeError, "prior_sd_rater must be a HalfNormal"),
    ],
)
def test_invalid_hyperparameters_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rb.GaussianXCC(**arguments)


def test_prior_mean_that_contradicts_the_ratings_of_a_pool_is_refused() -> None:
    ratings = simulated(items=20, raters=3, per_item=2, severity={"A": 0.0, "B": 100.0})

    with pytest.raises(ValueError, match="prior_mean must not contradict the ratings"):
        rb.GaussianXCC(prior_mean=rb.Normal(0, 1)).fit(ratings)


def test_priors_lists_given_and_default_priors() -> None:
    ratings = simulated(items=20, raters=3, per_item=2)
    values, pool = ratings.values, ratings.to_frame()["pool"].to_numpy()
    sd = values.std()

    priors = rb.GaussianXCC(prior_sd_rater=rb.HalfStudentT(4, 1)).priors(ratings)

    means = [prior.mean for prior in priors["mean"]]
    assert means == pytest.approx([values[pool == name].mean() for name in "AB"], rel=1e-12)
    assert priors == {
        "mean": tuple(rb.Normal(mean, 2.5 * sd) for mean in means),
        "sd_item": rb.HalfStudentT(3, sd),
        "sd_rater": rb.HalfStudentT(4, 1),
        "sd_residual": rb.HalfStudentT(3, sd),
        "lkj": 1.0,
    }


def simulated(
    *,
    items: int,
    raters: int,
    per_item: int,
    pools: int = 2,
    rho: float = 0.8,
    severity: Mapping[str, float] | None = None,
    seed: int = 5,
) -> rb.Ratings:
    """Ratings of each item by ``per_item`` raters of each pool."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, math.sqrt(rho), items)
    parts = []
    for pool in "ABC"[:pools]:
        rater = np.concatenate([rng.choice(raters, per_item, replace=False) for _ in range(items)])
        item = np.repeat(np.arange(items), per_item)
        specific = rng.normal(0, math.sqrt(1 - rho), items)
        rating = (common + specific)[item] + rng.normal(0, 0.4, raters)[rater]
        rating += (severity or {}).get(pool, 0.0) + rng.normal(0, 0.7, len(item))
        names = [f"{pool}{number:02}" for number in rater]
        parts.append(pd.DataFrame({"item": item, "rater": names, "rating": rating, "pool": pool}))
    return rb.Ratings.from_frame(pd.concat(parts), pool="pool")


@functools.cache
def of_three_pools() -> rb.Fit:
    """Short fit that tests share."""
    ratings = simulated(items=20, raters=4, per_item=2, pools=3)
    return rb.GaussianXCC().fit(ratings, seed=1, **QUICK)


def crossed(rating: Callable[..., Array]) -> rb.Ratings:
    """Complete ratings of 9 items by 3 raters in each of two pools."""
    item, rater = (codes.ravel() for codes in np.mgrid[:9, :6])
    noise = np.random.default_rng(1).normal(size=len(item))
    return rb.Ratings.from_frame(
        pd.DataFrame(
            {
                "item": item,
                "rater": rater,
                "rating": rating(item, rater, noise),
                "pool": np.where(rater < 3, "A", "B"),
            }
        ),
        pool="pool",
    )


def evaluate(
    table: PooledTable, free: Array, sizes: Array, sums: PooledCrowdSums | None = None
) -> tuple[float, Array]:
    """Log density and gradient by Stan on the unconstrained scale; with sums, by the crowd's."""
    pools = int(table.pool.max()) + 1
    item, rater, residual, corr, *score = np.split(free, sizes)
    data = {
        **(sums or PooledSums.of(PooledDesign.of(*table))).stan_data().to_dict(),
        "E": len(residual),
        "center": CENTERS[:pools],
        "prior_mean": PRIOR_MEAN[:pools],
        **PRIORS,
    }
    point = {
        "sd_item": np.exp(item),
        "sd_rater": np.exp(rater),
        "sd_residual": np.exp(residual),
        "factor_item": correlation.factor(corr, pools),
        "score": np.concatenate([*score, []]),
    }
    program = "gaussian_xcc_crowd" if sums else "gaussian_xcc"
    found = stan.load(program).log_prob(point, data, sig_figs=17)
    return float(found["lp__"].iloc[0]), found.iloc[0, 1:].to_numpy(float)


def log_ratings(table: PooledTable, root: Array, rater: Array, residual: Array) -> float:
    """Log density of the ratings with effects and means integrated out, by a dense covariance."""
    pool = table.pool[table.rater]
    mean, sd = PRIOR_MEAN[pool].T
    covariance = table.covariance(root @ root.T, rater, residual)
    mean_covariance = np.where(pool[:, None] == pool, sd**2, 0)
    return normal_log_density(table.ratings, mean - CENTERS[pool], covariance + mean_covariance)


def log_sd_priors(item: Array, rater: Array, residual: Array) -> float:
    halves = (t.logpdf(item, 4), halfnorm.logpdf(rater, scale=1.5))
    log_residual = t.logpdf(residual, 3, scale=2)
    folded = (len(item) + len(residual)) * math.log(2)
    return float(sum(half.sum() for half in halves) + log_residual.sum() + folded)
