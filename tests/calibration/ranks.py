"""Simulation-based calibration: a check that posteriors are correct on average over the prior.

Draw parameters from the prior, ratings given the parameters, and posterior draws given the
ratings. If the posterior is correct, the rank of the true value of any quantity among the posterior
draws is uniformly distributed.

Talts et al. (2018), https://doi.org/10.48550/arXiv.1804.06788
Modrák et al. (2023), https://doi.org/10.1214/23-BA1404
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from reliabayes import ConvergenceWarning, Ratings
from reliabayes.models.rating_model import RatingModel
from reliabayes.results.posterior import Posterior

Parameters = Mapping[str, Any]

FALSE_ALARMS = 1e-4  # upper bound for each test, under a new seed
CHAINS = 2
DRAWS = 250  # per chain, between which there are more iterations until as many are effective
RANKED = 63  # posterior draws among which a true value is ranked


@dataclass(frozen=True, eq=False)
class Calibration:
    """Ranks of true values among draws from their posteriors.

    Attributes
    ----------
    relative_ranks : DataFrame, shape (data sets, quantities)
        Ranks scaled to (0, 1), made continuous by adding uniform noise. They are uniform, and
        independent between rows, if the posterior is correct.
    """

    relative_ranks: pd.DataFrame

    @property
    def p_values(self) -> pd.DataFrame:
        """P-values of three tests per quantity, each exact for any number of data sets.

        After transformation to normal scores, the mean of the ranks tests for shifted posteriors
        (location) and their sum of squares for posteriors that are too narrow or too wide
        (spread). The Kolmogorov-Smirnov test compares the whole distribution function (shape).
        """
        normal = np.asarray(stats.norm.ppf(self.relative_ranks))
        n = len(normal)
        below = stats.chi2.cdf((normal**2).sum(axis=0), n)
        return pd.DataFrame(
            {
                "location": 2 * stats.norm.sf(np.abs(normal.mean(axis=0)) * np.sqrt(n)),
                "spread": 2 * np.minimum(below, 1 - below),
                "shape": [
                    stats.kstest(column, "uniform", method="exact").pvalue
                    for _, column in self.relative_ranks.items()
                ],
            },
            index=self.relative_ranks.columns,
        )

    @property
    def p_value(self) -> float:
        """Smallest p-value with Bonferroni's correction for the number of tests."""
        found = self.p_values.to_numpy()
        return min(1.0, float(found.min() * found.size))

    def __str__(self) -> str:
        table = self.p_values.round(4).to_string()
        return f"{len(self.relative_ranks)} data sets, p = {self.p_value:.2g}\n{table}"


def calibrate(
    model: RatingModel,
    simulate: Callable[[np.random.Generator], tuple[Parameters, Ratings]],
    n: int,
    *,
    seed: int,
    **options: Any,
) -> Calibration:
    """Rank the true quantities of ``n`` simulated data sets among posterior draws.

    Parameters
    ----------
    model : RatingModel
        A model whose priors do not depend on the ratings.
    simulate : callable
        Draws the parameters of the Stan program from the model's priors, and ratings given them.
    n : int
        Number of data sets. If a posterior of 20 quantities is so many sds off in one of them, or
        so many times too wide, four of five seeds find it at `FALSE_ALARMS`:

        ==== === =====
           n off  wide
        ==== === =====
         100 0.6  1.55
         150 0.5  1.42
         200 0.4  1.35
         500 0.3  1.20
        ==== === =====
    seed : int
        Seed of the simulation and of the sampler.
    **options : Any
        Other arguments of the fits.
    """
    rows = []
    for rng in map(np.random.default_rng, ([seed, data_set] for data_set in range(n))):
        truth, ratings = simulate(rng)
        options["seed"] = int(rng.integers(2**31))
        drawn = nearly_independent_draws(model, ratings, **options)
        one_draw = {name: np.asarray(value, float)[None, None] for name, value in truth.items()}
        problem = model.problem(ratings)
        true = model.quantities(Posterior(model.labelled(one_draw, problem), ratings, problem))
        lower = (flat(drawn) < flat(true.isel(chain=0, draw=[0])).iloc[0]).sum()
        rows.append((lower + rng.random(len(lower))) / (RANKED + 1))
    return Calibration(pd.DataFrame(rows))


def flat(draws: xr.Dataset) -> pd.DataFrame:
    """Table with a row for each draw and a column for each element of each quantity."""
    arrays = {str(name): x.values.reshape(len(x), -1) for name, x in draws.items()}
    return pd.DataFrame(
        {
            f"{name}[{i}]": column
            for name, array in arrays.items()
            for i, column in enumerate(array.T)
        }
    )


def nearly_independent_draws(model: RatingModel, ratings: Ratings, **options: Any) -> xr.Dataset:
    """`RANKED` posterior draws, thinned so that they are nearly independent.

    If the effective number of draws is too small, chains go on. If it is in the end, the data set
    still counts: omitting data sets because of warnings or long autocorrelations would bias the
    check.
    """
    lengths = {"chains": CHAINS, "draws": DRAWS, "ess": 2 * RANKED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = model.fit(ratings, **{**lengths, **options})
    drawn = fit.quantities.stack(sample=("chain", "draw"), create_index=False)
    spaced = np.linspace(0, drawn.sizes["sample"] - 1, RANKED).astype(int)
    return drawn.isel(sample=spaced).transpose("sample", ...)
