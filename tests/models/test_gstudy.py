"""GStudy: its Stan programs match the dense density, its posteriors REML and published numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import halfnorm, multivariate_normal, t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.inference import stan
from reliabayes.models.bases.random_effects import EffectsProblem
from tests.designs import slopes

Load = Callable[[str], pd.DataFrame]

REPEATED = "item x rater"
DESIGNS = ("item x rater x day", "item x (rater:day)", "(item:day) x rater", REPEATED)


def rated(design: str, share: float = 1.0) -> rb.Ratings:
    """Small ratings of a design, of which a share is kept."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        list(product(range(4), range(3), range(2))), columns=["item", "rater", "day"]
    )
    effects = [rng.normal(size=4)[table["item"]], rng.normal(0, 0.7, 3)[table["rater"]]]
    table["rating"] = np.sum(effects, axis=0) + rng.normal(0, 0.5, len(table))
    if share < 1:
        table = table.sample(frac=share, random_state=2)
    facets = [] if design == REPEATED else ["day"]
    return rb.Ratings.from_frame(table, facets=facets, replicates="keep")


def dense(model: rb.GStudy, problem: EffectsProblem, ratings: rb.Ratings, log_sd: Array) -> float:
    """Log density by a covariance matrix of all ratings, log priors and Jacobian."""
    variance = np.exp(2 * log_sd)
    mean, sd_mean = problem.priors["mean"]
    levels = problem.effects.level
    covariance = variance[-1] * np.eye(len(ratings)) + (0 if math.isinf(sd_mean) else sd_mean**2)
    for level, own in zip(levels, variance, strict=False):
        covariance += own * (level[:, None] == level)
    found = multivariate_normal(np.full(len(ratings), mean), covariance).logpdf(ratings.values)
    for value, (df, scale) in zip(np.exp(log_sd), problem.priors["sd"], strict=True):
        prior = halfnorm(scale=scale) if math.isinf(df) else t(df, scale=scale)
        found += prior.logpdf(value) + (0 if math.isinf(df) else math.log(2))
    return float(found + log_sd.sum())


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("share", [1.0, 0.8])
def test_density_equals_the_dense_density(design: str, share: float) -> None:
    prior = rb.HalfNormal(1.5) if share < 1 else rb.HalfStudentT(4, 0.7)
    model = rb.GStudy(design=design, prior_mean=rb.Normal(0.4, 2.0), prior_sd=prior)
    ratings = rated(design, share)
    problem = model.problem(ratings)
    assert (problem.squares is None) == (share < 1)
    log_sd = np.random.default_rng(1).normal(-0.3, 0.6, problem.size("source"))

    value, gradient = evaluate(model, ratings, np.exp(log_sd))

    def of(point: Array) -> float:
        return dense(model, problem, ratings, point)

    assert value == pytest.approx(of(log_sd), rel=1e-8, abs=1e-8)
    assert gradient == pytest.approx(slopes(of, log_sd), rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("design", DESIGNS)
def test_sums_by_effect_give_the_density_of_mean_squares(design: str) -> None:
    problem = rb.GStudy(design=design).problem(rated(design))
    assert problem.squares is not None
    variance = np.random.default_rng(2).gamma(2, 1, problem.size("source"))

    by_sums = problem.sums.log_density(variance, problem.mean_prior._replace(offset=0.0))

    assert problem.log_density(variance) == pytest.approx(by_sums, rel=1e-10)


def evaluate(model: rb.GStudy, ratings: rb.Ratings, sd: Array) -> tuple[float, Array]:
    """Log density and gradient by the log standard deviations."""
    program = stan.load(model.program(model.problem(ratings)))
    table = program.log_prob({"sd": sd.tolist()}, data=model.stan_data(ratings), sig_figs=17)
    value, *gradient = table.iloc[0]
    return float(value), np.array(gradient)
