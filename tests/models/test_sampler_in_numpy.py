"""GaussianICC without Stan: the same posterior by independence sampling of three deviations."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.results.chain_statistics import measures
from reliabayes.sampling.thresholds import CROSSED
from tests.monte_carlo import standard_error

pytestmark = pytest.mark.slow


def simulated(items: int, raters: int, per_item: tuple[int, int], sds: Array) -> rb.Ratings:
    """Ratings of a design in which each item has a random number of ratings in a range."""
    rng = np.random.default_rng(7)
    item, rater = (sd * rng.standard_normal(n) for sd, n in zip(sds, (items, raters), strict=False))
    rows = [
        (i, j, item[i] + rater[j] + sds[2] * rng.standard_normal())
        for i in range(items)
        for j in rng.choice(raters, rng.integers(*per_item, endpoint=True), replace=False)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    return rb.Ratings.from_frame(table, scale="numeric")


def of_design(name: str) -> rb.Ratings:
    if name == "Shrout & Fleiss":
        return rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    return simulated(*DESIGN[name])


DESIGN = {
    "unbalanced": (40, 8, (1, 6), np.array([1.0, 0.5, 0.7])),
    "two raters": (15, 2, (2, 2), np.array([1.0, 0.05, 0.7])),
    "many items": (2000, 12, (2, 4), np.array([1.0, 0.4, 0.6])),
    "more raters than items": (6, 40, (15, 30), np.array([1.0, 0.4, 0.6])),
}


@pytest.mark.parametrize(
    "name", ["Shrout & Fleiss", *(pytest.param(name, marks=pytest.mark.proof) for name in DESIGN)]
)
def test_posterior_is_that_of_stan(name: str) -> None:
    ratings = of_design(name)
    own = rb.GaussianICC().fit(ratings, sampler="independence", draws=4000, seed=5)
    stan = rb.GaussianICC().fit(ratings, sampler="nuts", draws=4000, seed=5, parallel_chains=2)

    assert (own.settings.sampler, stan.settings.sampler) == ("independence", "nuts")
    for quantity in rb.GaussianICC.reports:
        draws, others = (fit.quantities[quantity].values for fit in (own, stan))
        # Logs, because the standard error of an sd says nothing where tails are heavy.
        draws, others = (x if quantity == "mean" else np.log(x) for x in (draws, others))
        for column in ("mean", "sd"):
            error = math.hypot(standard_error(draws, column), standard_error(others, column))
            assert abs(figure(draws, column) - figure(others, column)) < 4 * error, quantity
        for prob in (0.05, 0.95):
            below = np.mean(draws < np.quantile(others, prob))
            sizes = [measures(x[None])["ess_tail"][0] for x in (draws, others)]
            error = math.sqrt(prob * (1 - prob) * sum(1 / size for size in sizes))
            assert abs(below - prob) < 4 * error, (quantity, prob)


def figure(draws: Array, column: str) -> float:
    return float(draws.mean() if column == "mean" else draws.std())


@pytest.mark.parametrize(
    "name", ["Shrout & Fleiss", *(pytest.param(name, marks=pytest.mark.proof) for name in DESIGN)]
)
def test_draws_are_nearly_independent(name: str) -> None:
    fit = rb.GaussianICC().fit(of_design(name), sampler="independence", seed=2)

    assert not fit.diagnostics().problems
    assert fit.summary()[["ess_bulk", "ess_tail"]].to_numpy().min() > 1000


def test_of_many_raters_it_is_the_default_and_has_the_posterior_of_stan() -> None:
    ratings = simulated(150, 50, (4, 4), np.array([1.0, 0.5, 0.7]))
    model = rb.GaussianICC()

    own = model.fit(ratings, seed=3, draws=500)
    stan = model.fit(ratings, sampler="nuts", seed=3, draws=500)

    assert own.settings.sampler == "independence"
    for quantity in rb.GaussianICC.reports:
        draws, others = (fit.quantities[quantity].values for fit in (own, stan))
        error = math.hypot(standard_error(draws), standard_error(others))
        assert abs(draws.mean() - others.mean()) < 4 * error, quantity
    effects, others = (fit.raters()["mean"].to_numpy() for fit in (own, stan))
    assert np.corrcoef(effects, others)[0, 1] > 0.998


def test_where_stan_runs_it_is_not_the_default() -> None:
    ratings = of_design("Shrout & Fleiss")

    assert rb.GaussianICC().fit(ratings, seed=1, draws=300).settings.sampler == "nuts"


def test_too_many_raters_and_items_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    few = CROSSED._replace(most_cells=40)
    monkeypatch.setattr("reliabayes.families.normal.crossed.CROSSED", few)

    with pytest.raises(ValueError, match="GaussianICC has no independence sampler for these"):
        rb.GaussianICC().fit(of_design("Shrout & Fleiss"), sampler="independence")
