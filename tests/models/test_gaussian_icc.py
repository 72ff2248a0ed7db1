"""GaussianICC: its Stan programs match the dense density, its posteriors published ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import halfnorm, t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.inference import stan
from reliabayes.inference.log_density import log_densities
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums, Deviations
from reliabayes.likelihoods.moments import Moments
from tests.designs import (
    LongTable,
    dense_covariance,
    long_tables,
    normal_log_density,
    slopes,
)
from tests.monte_carlo import standard_error, standard_errors

SDS = ("sd_item", "sd_rater", "sd_residual")
CENTER = 0.4  # subtracted from the ratings; any value gives the same density
PRIORS: dict[str, list[float]] = {
    "prior_mean": [0.9, 2.0],
    "prior_sd_item": [4.0, 1.0],
    "prior_sd_rater": [math.inf, 1.5],
    "prior_sd_residual": [3.0, 2.0],
}

REFERENCE: dict[str, dict[str, dict[str, float]]] = {
    "shrout_fleiss_1979": {
        "icc": {"mean": 0.328, "sd": 0.175, "lower_90": 0.086, "median": 0.303, "upper_90": 0.653},
        "labeler_icc": {"mean": 0.547},
        "sd_item": {"mean": 1.887},
        "sd_rater": {"mean": 2.552},
        "sd_residual": {"mean": 1.111},
    },
    "anxiety": {
        "icc": {"mean": 0.149, "sd": 0.120, "lower_90": 0.004, "median": 0.126, "upper_90": 0.377},
        "labeler_icc": {"mean": 0.259},
        "sd_item": {"mean": 0.592},
        "sd_rater": {"mean": 0.891},
        "sd_residual": {"mean": 1.263},
    },
    "wordsim353_set1": {
        "icc": {"mean": 0.660, "sd": 0.036, "lower_90": 0.598, "median": 0.663, "upper_90": 0.711},
        "labeler_icc": {"mean": 0.073, "lower_90": 0.034, "median": 0.065, "upper_90": 0.137},
        "sd_item": {"mean": 2.463},
        "sd_rater": {"mean": 0.801},
        "sd_residual": {"mean": 1.563},
    },
}

COMPLETE, SMALL = (
    pd.DataFrame(np.indices((size, size)).reshape(2, -1).T, columns=["item", "rater"])
    for size in (300, 3)
)

points = st.tuples(*[st.floats(0.1, 4)] * 3)
Load = Callable[[str], pd.DataFrame]


@pytest.mark.slow
@given(table=long_tables(), sds=points, swapped=st.booleans())
def test_density_with_raters_integrated_out_equals_the_dense_density(
    table: LongTable, sds: tuple[float, float, float], swapped: bool
) -> None:
    data = program_data(table, swapped)

    value, gradient = evaluate("gaussian_icc", data, dict(zip(SDS, sds, strict=True)))

    def dense(log_sds: Array) -> float:
        return log_joint(table, np.exp(log_sds), swapped) + float(log_sds.sum())

    assert value == pytest.approx(dense(np.log(sds)), rel=1e-8, abs=1e-8)
    assert gradient == pytest.approx(slopes(dense, np.log(sds)), rel=1e-6, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), REFERENCE.items())
def test_posterior_matches_the_reference(
    dataset: Load, name: str, expected: Mapping[str, Mapping[str, float]]
) -> None:
    ratings = rb.Ratings.from_frame(dataset(name))
    prior = rb.HalfNormal(2.5)
    model = rb.GaussianICC(
        prior_mean=rb.Normal(float(ratings.values.mean()), 5),
        prior_sd_item=prior,
        prior_sd_rater=prior,
        prior_sd_residual=prior,
    )

    summary = model.fit(ratings, seed=11, draws=4000).summary()

    for quantity, figures in expected.items():
        found = summary.loc[quantity].to_dict()
        # 16,000 draws here, several thousand in the reference, which is printed to three digits
        error = 0.0006 + 5 * found["sd"] / math.sqrt(4000)
        for column, figure in figures.items():
            # The Monte Carlo error of the end of a 90% interval is 2.1 times that of the mean for a
            # normal posterior, and larger for one with a long tail.
            factor = 3 if column.startswith(("lower", "upper")) else 1
            assert found[column] == pytest.approx(figure, abs=factor * error), (quantity, column)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_two_raters_of_many_items_leave_no_divergences(seed: int) -> None:
    ratings = two_raters(1800, seed)
    classical = rb.agreement.icc_table(ratings).loc["ICC(3,1)"]

    fit = rb.GaussianICC().fit(ratings, seed=1)

    row = fit.summary(0.95).loc["icc_consistency"]
    assert fit.diagnostics().divergences == 0
    # Two raters determine how consistent they are, to two decimals. Half a unit of the third
    # decimal allows for the prior.
    assert row["median"] == pytest.approx(classical["value"], abs=0.003)
    assert row["lower_95"] == pytest.approx(classical["lower_95"], abs=0.003)
    assert row["upper_95"] == pytest.approx(classical["upper_95"], abs=0.003)


def two_raters(items: int, seed: int) -> rb.Ratings:
    """Ratings by two raters of the same severity, whose ICC is 0.8."""
    rng = np.random.default_rng(seed)
    item, residual = rng.standard_normal((items, 1)), rng.standard_normal((items, 2))
    return rb.Ratings.from_wide(math.sqrt(0.8) * item + math.sqrt(0.2) * residual)


@pytest.mark.slow
def test_posterior_under_half_t_and_flat_priors_matches_a_grid(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("shrout_fleiss_1979"))
    model = rb.GaussianICC(
        prior_mean=rb.Normal(0, math.inf),
        prior_sd_item=rb.HalfStudentT(4, 1),
        prior_sd_rater=rb.HalfStudentT(4, 1),
        prior_sd_residual=rb.HalfStudentT(3, 3),
    )

    fit = model.fit(ratings, seed=12, draws=4000)

    summary = fit.summary(prob=0.95)
    icc = {"mean": 0.311, "lower_95": 0.061, "median": 0.291, "upper_95": 0.667}
    for column, figure in icc.items():
        error = standard_errors(fit, column)["icc"]
        assert summary.loc["icc", column] == pytest.approx(figure, abs=0.0005 + 5 * error), column
    icc_4 = fit.icc_k(4).values
    error = standard_error(icc_4)
    assert icc_4.mean() == pytest.approx(0.600, abs=0.0005 + 5 * error)
    error = standard_errors(fit, "mean")["labeler_icc"]
    assert summary["mean"]["labeler_icc"] == pytest.approx(0.512, abs=0.0005 + 5 * error)


@pytest.mark.slow
def test_warm_start_changes_the_speed_and_not_the_posterior() -> None:
    ratings = simulated(items=60, raters=15, per_item=4)

    warm = rb.GaussianICC().fit(ratings, seed=1, draws=400).summary()
    cold = rb.GaussianICC().fit(ratings, seed=2, draws=400, warm_start=False).summary()

    error = 5 * np.hypot(warm["mcse"], cold["mcse"])
    assert (abs(warm["mean"] - cold["mean"]) < error).all()


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize(
    ("items", "raters", "per_item", "sampler"),
    [
        (500, 20, 4, "nuts"),
        (20, 500, 4, "nuts"),
        (300, 100, 4, "independence"),
        (400, 300, 3, "gibbs"),
    ],
)
def test_cheaper_sampler_is_chosen(items: int, raters: int, per_item: int, sampler: str) -> None:
    ratings = simulated(items=items, raters=raters, per_item=per_item)

    fit = rb.GaussianICC().fit(ratings, seed=1, chains=1, draws=4)

    assert fit.settings.sampler == sampler


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_saved_fits_with_sampled_levels_of_raters_still_load(tmp_path: Path) -> None:
    ratings = simulated(items=60, raters=15, per_item=4)
    fit = rb.GaussianICC().fit(ratings, seed=1, draws=20)
    score = xr.DataArray(np.ones((4, 20, 15)), dims=("chain", "draw", "column"))
    replace(fit, posterior=fit.posterior.assign(score=score)).save(tmp_path / "earlier.nc")

    earlier = rb.Fit.load(tmp_path / "earlier.nc")

    pd.testing.assert_frame_equal(earlier.summary(), fit.summary())
    pd.testing.assert_frame_equal(earlier.raters(), fit.raters())
    rb.GaussianICC().fit(ratings, warm_start=earlier, seed=2, chains=1, draws=4)


@pytest.mark.slow
def test_items_and_raters_swap_roles_if_there_are_more_raters() -> None:
    ratings = simulated(items=60, raters=15, per_item=4)
    mirrored = rb.Ratings.from_frame(
        ratings.to_frame().rename(columns={"item": "rater", "rater": "item"})
    )

    model = rb.GaussianICC(prior_sd_item=rb.HalfNormal(1), prior_sd_rater=rb.HalfNormal(1))

    fit = model.fit(ratings, seed=1, draws=500)
    mirror = model.fit(mirrored, seed=1, draws=500)

    assert rb.GaussianICC().problem(mirrored).swapped
    one = fit.summary().drop(index="icc_consistency")
    other = (
        mirror.summary()
        .drop(index="icc_consistency")
        .rename(
            {
                "icc": "labeler_icc",
                "labeler_icc": "icc",
                "sd_item": "sd_rater",
                "sd_rater": "sd_item",
            }
        )
    )
    error = 5 * np.hypot(one["mcse"], other["mcse"])
    assert (abs(one["mean"] - other["mean"]) < error).all()
    # Posterior sds are at most 0.4: with 2000 draws means differ by about 0.013.
    assert fit.items(draws=2000)["mean"].to_numpy() == pytest.approx(
        mirror.raters()["mean"].to_numpy(), abs=0.1
    )


@pytest.mark.slow
def test_icc_is_invariant_to_shifting_and_scaling_ratings() -> None:
    ratings = simulated(items=60, raters=15, per_item=4)
    frame = ratings.to_frame()
    rescaled = rb.Ratings.from_frame(frame.assign(rating=1e9 + 1e6 * frame["rating"]))

    one = rb.GaussianICC().fit(ratings, seed=1).summary()
    other = rb.GaussianICC().fit(rescaled, seed=1).summary()

    back = other["mean"] / pd.Series({name: 1e6 for name in SDS}).reindex(other.index).fillna(1)
    back["mean"] = (other["mean"]["mean"] - 1e9) / 1e6
    error = 5 * np.sqrt(2) * one["mcse"]
    assert (abs(back - one["mean"]) < error).all()


def test_default_prior_of_raters_has_a_smaller_scale_and_a_longer_tail_than_the_others() -> None:
    ratings = simulated(items=60, raters=15, per_item=4)

    priors = rb.GaussianICC().priors(ratings)

    assert priors["sd_rater"] == rb.HalfStudentT(1, 0.25 * ratings.values.std())


def test_priors_lists_given_and_default_priors() -> None:
    ratings = simulated(items=60, raters=15, per_item=4)
    moments = Moments.of(ratings.values)
    mean, sd = moments.mean, moments.sd

    priors = rb.GaussianICC(prior_sd_rater=rb.HalfStudentT(4, 1)).priors(ratings)

    assert (mean, sd) == pytest.approx((ratings.values.mean(), ratings.values.std()), rel=1e-14)
    assert priors == {
        "mean": rb.Normal(mean, 2.5 * sd),
        "sd_item": rb.HalfStudentT(3, sd),
        "sd_rater": rb.HalfStudentT(4, 1),
        "sd_residual": rb.HalfStudentT(3, sd),
    }


@pytest.mark.parametrize(
    "rating",
    [
        lambda item, rater: item,
        lambda item, rater: rater,
        lambda item, rater: item + 0.1 * rater,
    ],
    ids=["agreement", "severity only", "agreement up to severity"],
)
def test_ratings_without_residual_are_refused(
    rating: Callable[[Array, Array], Array],
) -> None:
    item, rater = (codes.ravel() for codes in np.mgrid[:9, :3])
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating(item, rater)})

    with pytest.raises(rb.RatingsError, match="every rating is the sum of an item's and a rater"):
        rb.GaussianICC().fit(rb.Ratings.from_frame(frame))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_design_with_as_many_effects_as_ratings_is_fitted() -> None:
    fit = rb.GaussianICC().fit(three_ratings(), seed=1)

    # One chain in 40 is stuck at a spike of the density caused by rounding: see the next test.
    assert all(np.isfinite(values).all() for values in fit.quantities.values())
    assert ((fit.quantities["icc"] >= 0) & (fit.quantities["icc"] <= 1)).all()


def test_density_is_constant_near_zero_residual_if_effects_are_as_many_as_ratings() -> None:
    data = rb.GaussianICC().stan_data(three_ratings())

    # Without the Jacobian. Near a residual of 0 the likelihood and the prior are constant.
    small, smaller = (
        evaluate("gaussian_icc", data, {"sd_item": 1.0, "sd_rater": 1.0, "sd_residual": sd})[0]
        - math.log(sd)
        for sd in (1e-3, 1e-6)
    )

    assert smaller == pytest.approx(small, abs=1e-3)


@pytest.mark.parametrize(
    "log_sds", [(85.0, 51.0, -41.0), (-26.0, 88.0, -45.0), (7.0, -42.0, -34.0), (0.0, 0.0, -30.0)]
)
def test_residuals_too_small_for_the_digits_are_refused(
    log_sds: tuple[float, float, float],
) -> None:
    model, ratings = rb.GaussianICC(), rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))

    with pytest.raises(rb.SamplingError, match="the density has too few digits"):
        log_densities("gaussian_icc", model.stan_data(ratings), np.array([log_sds]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_small_sparse_designs_have_few_divergences(seed: int) -> None:
    ratings = simulated(items=6, raters=6, per_item=2, seed=seed)

    fit = rb.GaussianICC().fit(ratings, seed=1)

    assert fit.diagnostics().divergences <= 4


def test_simulated_ratings_have_the_given_parameters() -> None:
    parameters = {"mean": 5, "sd_item": 2, "sd_rater": 1, "sd_residual": 0.5}

    ratings = rb.GaussianICC().simulate(COMPLETE, np.random.default_rng(1), parameters=parameters)

    wide = ratings.to_frame().pivot(index="item", columns="rater", values="rating")
    by_item, by_rater = wide.mean(axis=1), wide.mean(axis=0)
    residual = wide.sub(by_item, axis=0).sub(by_rater, axis=1)
    error = 4 / math.sqrt(2 * 300)  # relative, of a standard deviation estimated from 300 values
    assert ratings.scale == "numeric"
    assert by_item.mean() == pytest.approx(5, abs=4 * math.hypot(2, 1) / math.sqrt(300))
    assert by_item.std() == pytest.approx(2, rel=error)
    assert by_rater.std() == pytest.approx(1, rel=error)
    assert residual.to_numpy().std() == pytest.approx(0.5, rel=0.02)


def test_missing_parameters_are_drawn_from_their_priors() -> None:
    model = rb.GaussianICC(
        prior_mean=rb.Normal(3, 2),
        prior_sd_item=rb.HalfNormal(1),
        prior_sd_rater=rb.HalfStudentT(30, 2),
        prior_sd_residual=rb.HalfNormal(3),
    )
    rng = np.random.default_rng(1)

    drawn = pd.DataFrame([model.draw_parameters(SMALL, rng) for _ in range(200)], dtype=float)

    # The mean of a half-normal is 0.8 scales, that of a half-t slightly more; 4 standard errors.
    assert drawn["mean"].mean() == pytest.approx(3, abs=0.57)
    assert drawn["sd_item"].mean() == pytest.approx(0.798, abs=0.17)
    assert drawn["sd_rater"].mean() == pytest.approx(1.64, abs=0.36)
    assert drawn["sd_residual"].mean() == pytest.approx(2.394, abs=0.52)


@pytest.mark.parametrize("model", [rb.GaussianICC(), rb.GaussianXCC()])
def test_few_whole_numbers_are_noted_as_possible_grades(model: rb.GaussianICC) -> None:
    cells = np.arange(24).reshape(6, 4)
    grades, amounts, many = map(rb.Ratings.from_wide, (cells % 5, cells % 5 + 0.5, cells))

    assert model.caution(grades).startswith("The ratings are 5 whole numbers. If they are grades")
    assert model.caution(amounts) == model.caution(many) == ""
    assert model.caution(rb.Ratings.from_wide(cells % 2)) == (
        "0 and 1 are probably categories; models of categories, such as DawidSkene, suit better."
    )
    given = rb.Ratings.from_wide(cells % 2, scale="numeric")
    assert model.caution(given).startswith("The ratings are 2 whole numbers. If they are grades")


@pytest.mark.slow
def test_ratings_are_simulated_for_the_design_of_existing_ratings() -> None:
    ratings = simulated(items=20, raters=5, per_item=3)
    parameters = {"mean": 50, "sd_item": 2, "sd_rater": 1, "sd_residual": 0.5}

    again = rb.GaussianICC().simulate(ratings, np.random.default_rng(1), parameters=parameters)

    assert again.values.min() > 40
    assert again.items.equals(ratings.items)
    np.testing.assert_array_equal(again.rater, ratings.rater)
    assert rb.GaussianICC().fit(again, seed=1, chains=2).check(draws=10).replicates == 10


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        (rb.GaussianICC(), {}, "prior_mean must be set, and not be flat, for mean to be drawn"),
        (
            rb.GaussianICC(prior_mean=rb.Normal(0, math.inf)),
            {},
            r"found Normal\(mean=0, sd=inf\). Set it, or pass parameters=\{'mean'",
        ),
        (rb.GaussianICC(), {"sd": 1}, "parameters: GaussianICC has no sd"),
    ],
)
def test_simulation_without_proper_prior_or_known_parameter_is_refused(
    model: rb.GaussianICC, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        model.simulate(SMALL, np.random.default_rng(1), parameters=parameters)


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        ("prior_sd_item", rb.Normal(3, 0.1)),
        ("prior_mean", rb.HalfNormal(1)),
        ("prior_sd_rater", 0.5),
    ],
)
def test_prior_of_the_wrong_kind_is_refused(name: str, prior: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a (Half)?Normal"):
        rb.GaussianICC(**{name: prior})


def test_prior_mean_that_contradicts_the_ratings_is_refused() -> None:
    ratings = simulated(items=60, raters=15, per_item=4)

    with pytest.raises(ValueError, match="prior_mean must not contradict the ratings"):
        rb.GaussianICC(prior_mean=rb.Normal(1000, 1)).fit(ratings)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_ratings_whose_squares_overflow_or_underflow_are_refused(scale: float) -> None:
    with pytest.raises(rb.RatingsError, match="Rescale the ratings"):
        rb.GaussianICC().fit(rb.Ratings.from_wide(scale * np.arange(12.0).reshape(4, 3) ** 2))


def test_anonymous_raters_are_refused() -> None:
    counts = rb.Ratings.from_counts(np.array([[3, 0], [1, 2]]), scale="numeric")

    with pytest.raises(rb.RatingsError, match="GaussianICC: it must be known who gave each"):
        rb.GaussianICC().fit(counts)


def three_ratings() -> rb.Ratings:
    frame = pd.DataFrame({"item": [1, 1, 2], "rater": ["a", "b", "b"], "rating": [1.0, 2.0, 4.0]})
    return rb.Ratings.from_frame(frame)


def simulated(*, items: int, raters: int, per_item: int, seed: int = 5) -> rb.Ratings:
    rng = np.random.default_rng(seed)
    rater = np.concatenate([rng.choice(raters, per_item, replace=False) for _ in range(items)])
    item = np.repeat(np.arange(items), per_item)
    effects = rng.normal(0, 1, items)[item] + rng.normal(0, 0.6, raters)[rater]
    rating = 3 + effects + rng.normal(0, 0.9, len(item))
    return rb.Ratings.from_frame(pd.DataFrame({"item": item, "rater": rater, "rating": rating}))


def program_data(table: LongTable, swapped: bool) -> dict[str, Any]:
    return {
        **CrossedSums.of(CrossedDesign.of(*table)).stan_data().to_dict(),
        "center": CENTER,
        "swapped": int(swapped),
        **PRIORS,
    }


def evaluate(
    program: str, data: Mapping[str, Any], point: Mapping[str, Any]
) -> tuple[float, Array]:
    """Log density and gradient by Stan on the unconstrained scale."""
    table = stan.load(program).log_prob(dict(point), dict(data), sig_figs=17)
    return float(table["lp__"].iloc[0]), table.iloc[0, 1:].to_numpy(float)


def log_joint(table: LongTable, sds: Array, swapped: bool) -> float:
    """Joint log density of ratings and standard deviations with a dense covariance matrix."""
    mean, sd = PRIORS["prior_mean"]
    covariance = dense_covariance(table, Deviations(*sds).swap(swapped)) + sd**2
    means = np.full(len(table.ratings), mean - CENTER)
    return normal_log_density(table.ratings, means, covariance) + log_sd_priors(sds)


def log_sd_priors(sds: Array) -> float:
    halves = t.logpdf(sds[0], 4) + t.logpdf(sds[2], 3, scale=2) + 2 * math.log(2)
    return float(halves + halfnorm.logpdf(sds[1], scale=1.5))
