"""GaussianICC sampled by numpyro, and as a textbook Stan program by the same runner."""

# numpyro is optional and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import cmdstanpy
import jax
import numpy as np
import numpyro
import numpyro.distributions as dist

import reliabayes as rb
from benchmarks.textbook import textbook_data
from reliabayes.arrays import Array
from reliabayes.inference.problem import Problem

CHAINS, WARMUP, DRAWS = 4, 1000, 1000
CONFUSION_QUANTITIES = ("sd_item", "sd_rater", "sd_residual", "mean")

numpyro.set_host_device_count(CHAINS)  # before JAX looks for devices

Draws = Mapping[str, Array]  # by name, shape (chain, draw)


def numpyro_sampler(
    items: int, raters: int, draws: int = DRAWS
) -> Callable[[rb.Ratings, int], Draws]:
    """NUTS of numpyro with one chain per device and as many warmup iterations as draws."""
    jax.config.update("jax_enable_x64", True)
    kernel = numpyro.infer.NUTS(partial(_crossed, items, raters))
    mcmc = numpyro.infer.MCMC(
        kernel,
        num_warmup=draws,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="parallel",
        progress_bar=False,
    )

    def sample(ratings: rb.Ratings, seed: int) -> Draws:
        mcmc.run(
            jax.random.PRNGKey(seed),
            ratings.item,
            ratings.rater,
            ratings.values,
        )
        drawn = mcmc.get_samples(group_by_chain=True)
        return {name: np.asarray(drawn[name]) for name in CONFUSION_QUANTITIES}

    return sample


def textbook_sampler(problem: Problem, program: Path) -> Callable[[rb.Ratings, int], Draws]:
    """The compiled textbook program, sampled by cmdstanpy."""
    logging.getLogger("cmdstanpy").setLevel(logging.ERROR)  # hides rejections in warmup
    model = cmdstanpy.CmdStanModel(exe_file=program)

    def sample(ratings: rb.Ratings, seed: int) -> Draws:
        with tempfile.TemporaryDirectory() as folder:
            fit = model.sample(
                textbook_data(problem, ratings),
                chains=CHAINS,
                iter_warmup=WARMUP,
                iter_sampling=DRAWS,
                seed=seed,
                show_progress=False,
                output_dir=folder,
            )
            return {
                name: fit.stan_variable(name).reshape(CHAINS, -1) for name in CONFUSION_QUANTITIES
            }

    return sample


def _crossed(items: int, raters: int, item: Any, rater: Any, rating: Any) -> None:
    scale = rating.std()
    mean = numpyro.sample("mean", dist.Normal(rating.mean(), 2.5 * scale))
    sd_item = numpyro.sample("sd_item", _half_t(3, scale))
    sd_rater = numpyro.sample("sd_rater", _half_t(1, 0.25 * scale))
    sd_residual = numpyro.sample("sd_residual", _half_t(3, scale))
    item_score = numpyro.sample("item_score", dist.Normal().expand([items]).to_event(1))
    rater_score = numpyro.sample("rater_score", dist.Normal().expand([raters]).to_event(1))
    expected = mean + sd_item * item_score[item] + sd_rater * rater_score[rater]
    numpyro.sample("rating", dist.Normal(expected, sd_residual).to_event(1), obs=rating)


def _half_t(df: float, scale: Any) -> Any:
    return dist.FoldedDistribution(dist.StudentT(df, 0.0, scale))
