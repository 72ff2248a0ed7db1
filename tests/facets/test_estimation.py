"""Estimates of variance components, against published numbers and lme4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.estimation import anova, reml
from reliabayes.facets.normal_effects import NormalEffects
from tests.facets.test_effects import crossed
from tests.facets.test_normal_effects import covariance, ratings_of, variances

Load = Callable[[str], pd.DataFrame]

# lmer(rating ~ (1|item) + (1|rater) + (1|day) + ..., control = lmerControl(optimizer = "bobyqa",
# optCtrl = list(rhoend = 1e-9))) of lme4 1.1.31 on `unbalanced()`: variances of the sources in our
# order, and logLik.
LME4 = [
    (  # (1|item:rater) + (1|item:day) + (1|rater:day) + (1|item:rater:day)
        "item x rater x day",
        [0.7306117, 0.3088047, 0.1882281, 0.3183119, 0.0948499, 0, 0, 0.5029770],
        -603.342660485,
    ),
    (  # (1|item) + (1|day) + (1|item:day) + (1|rater:day) + (1|item:rater:day)
        "item x (rater:day)",
        [0.7675070, 0.1258419, 0.0670680, 0.3015988, 0.2747427, 0.5448290],
        -632.02712284,
    ),
    (  # (1|rater) + (1|day) + (1|item:rater) + (1|rater:day) + (1|item:rater:day)
        "(item:rater) x day",
        [0.2546835, 0.1831901, 1.0645969, 0, 0.0305060, 0.5522702],
        -646.629529876,
    ),
    (  # (1|item) + (1|rater) + (1|item:rater)
        "item x rater",
        [0.7373987, 0.2606067, 0.2896648, 0.7225508],
        -638.479921751,
    ),
]


def test_brennans_synthetic_data_have_their_published_components(dataset: Load) -> None:
    three, four = dataset("brennan_synthetic_3"), dataset("brennan_synthetic_4")

    crossed = sums_of(
        three, "item x rater x o", item="person", rater="i", rating="Response", facets=["o"]
    )
    nested = sums_of(
        four, "item x (rater:t)", item="person", rater="r", rating="Response", facets=["t"]
    )

    # In the order item, rater, o, item x rater, item x o, rater x o, residual.
    published = [0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352]
    assert anova(crossed).round(4).tolist() == published
    # In the order item, t, item x t, rater:t, residual.
    assert anova(nested).round(4).tolist() == [0.4731, 0.3252, 0.5596, 0.6475, 2.3802]


def test_restricted_likelihood_equals_the_analysis_of_variance_in_balanced_designs(
    dataset: Load,
) -> None:
    frame = dataset("brennan_synthetic_4")

    sums = sums_of(
        frame, "item x (rater:t)", item="person", rater="r", rating="Response", facets=["t"]
    )

    np.testing.assert_allclose(reml(NormalEffects(sums)), anova(sums), rtol=1e-6)


@pytest.mark.parametrize("name", ["crossed", "replicated", "nested", "holes", "holes, nested"])
def test_analysis_of_variance_is_unbiased(name: str) -> None:
    # Estimates are sums of products of ratings. If V = L L', those of the columns of L sum to what
    # is expected of ratings with covariance V.
    effects, _ = ratings_of(name)
    variance = variances(effects)
    factor = np.linalg.cholesky(covariance(effects, variance))

    found = sum(anova(EffectSums.of(effects, column)) for column in factor.T)

    np.testing.assert_allclose(found, variance, rtol=1e-8)


@pytest.mark.parametrize(("design", "by_lme4", "log_likelihood"), LME4)
def test_unbalanced_designs_have_the_estimates_of_lme4(
    design: str, by_lme4: list[float], log_likelihood: float
) -> None:
    model = NormalEffects(sums_of(unbalanced(), design, facets=["day"]))

    found = reml(model)

    np.testing.assert_allclose(found, by_lme4, atol=1e-5)
    assert model.log_density(found) == pytest.approx(log_likelihood, abs=1e-7)


@pytest.mark.posteriors
def test_evaluations_of_lecturers_have_the_estimates_of_lme4(dataset: Load) -> None:
    frame = dataset("insteval")
    frame["unit"] = frame["dept"].astype(str) + frame["service"].astype(str)
    columns = {"item": "lecturer", "rater": "student"}
    drop = ["item x rater", "item x unit", "rater x unit", "item x rater x unit"]

    two = NormalEffects(sums_of(frame, "item x rater", **columns))
    three = NormalEffects(sums_of(frame, "item x rater x unit", drop, facets=["unit"], **columns))

    sd, sd_with_unit = np.sqrt(reml(two)), np.sqrt(reml(three))
    np.testing.assert_allclose(sd, [0.5232, 0.3259, 1.1778], atol=1e-4)
    np.testing.assert_allclose(sd_with_unit, [0.5125, 0.3247, 0.1120, 1.1768], atol=1e-4)
    means = [
        model.at(found**2).effects[-1] + model.sums.centre
        for model, found in ((two, sd), (three, sd_with_unit))
    ]
    np.testing.assert_allclose(means, [3.2542, 3.2553], atol=1e-4)


def test_estimates_do_not_depend_on_the_unit_of_the_ratings() -> None:
    frame = unbalanced()
    small, large = (
        sums_of(frame.assign(rating=frame["rating"] * unit), "item x rater x day", facets=["day"])
        for unit in (1e-6, 1e6)
    )

    for estimate in (anova, lambda sums: reml(NormalEffects(sums))):
        np.testing.assert_allclose(1e12 * estimate(small), 1e-12 * estimate(large), atol=1e-6)


@pytest.mark.slow
def test_ratings_without_residual_variance_have_none() -> None:
    frame = crossed(item=6, rater=3)
    exact = sums_of(frame.assign(rating=1.0 * frame["item"] + frame["rater"]), "item x rater")

    np.testing.assert_allclose(anova(exact), [3.5, 1, 0], atol=1e-12)
    np.testing.assert_allclose(reml(NormalEffects(exact)), [3.5, 1, 0], atol=1e-4)  # rounding


def test_ratings_that_are_all_the_same_have_no_variance() -> None:
    effects, values = ratings_of("holes")
    sums = EffectSums.of(effects, np.full_like(values, 0.1))

    np.testing.assert_allclose([anova(sums), reml(NormalEffects(sums))], 0, atol=1e-30)


def sums_of(frame: pd.DataFrame, design: str, drop: Any = (), **columns: Any) -> EffectSums:
    ratings = rb.Ratings.from_frame(frame, replicates="keep", scale="numeric", **columns)
    effects = Effects.of(ratings, MeasurementDesign.parse(design), drop)
    return EffectSums.of(effects, ratings.values)


def unbalanced() -> pd.DataFrame:
    """Simulate 30 items x 6 raters x 3 days with holes and with repeated ratings."""
    rng = np.random.default_rng(20)
    frame = crossed(2, item=30, rater=6, day=3).sample(frac=0.4, random_state=20)
    level = {name: frame[name].to_numpy() for name in frame}
    rating = 5 + rng.normal(0, 1.0, 30)[level["item"]] + rng.normal(0, 0.5, 6)[level["rater"]]
    rating += rng.normal(0, 0.8, 3)[level["day"]] + rng.normal(0, 0.7, len(frame))
    rating += rng.normal(0, 0.6, (30, 6))[level["item"], level["rater"]]
    rating += rng.normal(0, 0.4, (30, 3))[level["item"], level["day"]]
    return frame.assign(rating=rating.round(3))
