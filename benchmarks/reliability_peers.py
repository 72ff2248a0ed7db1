"""LogitICC and the xCCs sampled by numpyro, and as textbook Stan programs by the same runner."""

# numpyro is optional and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import cmdstanpy
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import xarray as xr
from numpyro.infer import MCMC, NUTS, init_to_value

import reliabayes as rb
from benchmarks.speed import Sampler, comparable
from benchmarks.textbook import chain_seconds, textbook_data, textbook_priors
from reliabayes.families.pools import agreement
from reliabayes.inference.problem import Problem
from reliabayes.models.rating_model import RatingModel
from reliabayes.results import quantities

CHAINS, WARMUP, DRAWS = 4, 1000, 1000

numpyro.set_host_device_count(CHAINS)  # before JAX looks for devices

PARAMETERS = ("sd_item", "sd_rater", "sd_residual", "factor_item", "mean")
SD_LOGISTIC = math.pi / math.sqrt(3)


def textbook_sampler(model: RatingModel, problem: Problem, program: Path) -> Sampler:
    """The compiled textbook program, sampled by cmdstanpy."""
    cmdstanpy.disable_logging()
    compiled = cmdstanpy.CmdStanModel(exe_file=program)

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        with tempfile.TemporaryDirectory() as folder:
            fit = compiled.sample(
                textbook_data(problem, ratings),
                chains=CHAINS,
                iter_warmup=WARMUP,
                iter_sampling=DRAWS,
                seed=seed,
                show_progress=False,
                output_dir=folder,
            )
            drawn = {name: fit.stan_variable(name) for name in _parameters(model)}
        shape = CHAINS, DRAWS
        shaped = {name: x.reshape(*shape, *x.shape[1:]) for name, x in drawn.items()}
        return _quantities(model, shaped, problem)

    return sample


def textbook_gradients(problem: Problem, ratings: rb.Ratings, program: Path) -> float:
    """Gradients of the textbook program per second, from trajectories of one step."""
    cmdstanpy.disable_logging()
    with tempfile.TemporaryDirectory() as folder:
        fit = cmdstanpy.CmdStanModel(exe_file=program).sample(
            textbook_data(problem, ratings),
            chains=1,
            iter_warmup=0,
            iter_sampling=DRAWS // 50,
            adapt_engaged=False,
            step_size=1e-6,
            max_treedepth=1,
            seed=1,
            show_progress=False,
            output_dir=folder,
        )
        steps = fit.method_variables()["n_leapfrog__"].sum()
        return float(steps / chain_seconds(fit.runset.csv_files[0])[1])


def numpyro_sampler(model: RatingModel, problem: Problem, ratings: rb.Ratings) -> Sampler:
    """NUTS of numpyro, non-centred, with one chain per device; every call compiles again."""
    jax.config.update("jax_enable_x64", True)
    sizes, data = _numpyro_data(problem, ratings)

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        mcmc = MCMC(
            NUTS(partial(_PROGRAMS[model.name()], sizes)),
            num_warmup=WARMUP,
            num_samples=DRAWS,
            num_chains=CHAINS,
            chain_method="parallel",
            progress_bar=False,
        )
        mcmc.run(jax.random.PRNGKey(seed), data)
        drawn = mcmc.get_samples(group_by_chain=True)
        arrays = {name: np.array(drawn[name]) for name in _parameters(model)}
        return _quantities(model, arrays, problem)

    return sample


def numpyro_chain(
    model: RatingModel,
    ratings: rb.Ratings,
    start: Mapping[str, Any],
    metric: Any,
    warmup: int,
    draws: int,
) -> MCMC:
    """A chain with a given starting point and diagonal metric that adapts its step size only."""
    jax.config.update("jax_enable_x64", True)
    sizes, data = _numpyro_data(model.problem(ratings), ratings)
    kernel = NUTS(
        partial(_PROGRAMS[model.name()], sizes, data),
        init_strategy=init_to_value(values=dict(start)),
        inverse_mass_matrix=jnp.asarray(metric),
        adapt_mass_matrix=False,
        step_size=0.1,
    )
    return MCMC(kernel, num_warmup=warmup, num_samples=draws, progress_bar=False)


def _quantities(model: RatingModel, drawn: Mapping[str, Any], problem: Problem) -> xr.Dataset:
    """Quantities by which samplers are compared: ICCs, xCCs, standard deviations and means."""
    dims = {name: 2 + len(model.dims().get(name, ())) for name in drawn}
    ones = {name: (1,) * (dims[name] - x.ndim) for name, x in drawn.items()}  # dims of size 1
    shaped = {name: x.reshape(*x.shape, *ones[name]) for name, x in drawn.items()}
    posterior = model.labelled(shaped, problem)
    found = posterior[[name for name in posterior if str(name).startswith("sd_")]]
    found = found.squeeze("all", drop=True) if "all" in found.dims else found
    sds = found["sd_item"], found["sd_rater"], found.get("sd_residual", xr.DataArray(SD_LOGISTIC))
    found = found.assign(
        mean=posterior["mean"], icc=quantities.icc(*sds), labeler_icc=quantities.labeler_icc(*sds)
    )
    if "factor_item" in posterior:
        found = found.assign(
            agreement(posterior["factor_item"], found["icc"], problem.coords["pool"])
        )
    return comparable(found)


def _parameters(model: RatingModel) -> list[str]:
    return [name for name in PARAMETERS if name in model.dims()]


def _numpyro_data(problem: Problem, ratings: rb.Ratings) -> tuple[dict[str, int], dict[str, Any]]:
    """Sizes; and arrays of priors and of ratings, with positions from 0."""
    sizes = {"I": ratings.n_items, "R": ratings.n_raters, "G": len(ratings.pools)}
    arrays = {
        **textbook_priors(problem),
        "item": ratings.item,
        "rater": ratings.rater,
        "rating": ratings.category if "category" in problem.coords else ratings.values,
    }
    if ratings.rater_pool is not None:
        arrays["pool"] = ratings.rater_pool
    return sizes, {name: jnp.asarray(values) for name, values in arrays.items()}


def _half(prior: Any) -> Any:
    """Half-normal distribution by its scale, or half-t by its degrees of freedom and scale."""
    if prior.ndim == 0:
        return dist.HalfNormal(prior)
    return dist.FoldedDistribution(dist.StudentT(prior[0], 0.0, prior[1]))


def _logit_icc(sizes: Mapping[str, int], data: Mapping[str, Any]) -> None:
    mean = numpyro.sample("mean", dist.Normal(*data["prior_mean"]))
    sd_item = numpyro.sample("sd_item", _half(data["prior_sd_item"]))
    sd_rater = numpyro.sample("sd_rater", _half(data["prior_sd_rater"]))
    item_score = numpyro.sample("item_score", _standard(sizes["I"]))
    rater_score = numpyro.sample("rater_score", _standard(sizes["R"]))
    logit = mean + sd_item * item_score[data["item"]] + sd_rater * rater_score[data["rater"]]
    numpyro.sample("rating", dist.Bernoulli(logits=logit).to_event(1), obs=data["rating"])


def _logit_xcc(sizes: Mapping[str, int], data: Mapping[str, Any]) -> None:
    mean = numpyro.sample("mean", dist.Normal(*data["prior_mean"]).expand([sizes["G"]]).to_event(1))
    logit = _level(sizes, data, mean)
    numpyro.sample("rating", dist.Bernoulli(logits=logit).to_event(1), obs=data["rating"])


def _gaussian_xcc(sizes: Mapping[str, int], data: Mapping[str, Any]) -> None:
    mean = numpyro.sample("mean", dist.Normal(*data["prior_mean"].T).to_event(1))
    sd_residual = numpyro.sample("sd_residual", _half(data["prior_sd_residual"]))
    rating = dist.Normal(_level(sizes, data, mean), sd_residual)
    numpyro.sample("rating", rating.to_event(1), obs=data["rating"])


def _level(sizes: Mapping[str, int], data: Mapping[str, Any], mean: Any) -> Any:
    """Sum of the mean, item effects that are correlated between pools, and rater effects."""
    pools, pool = sizes["G"], data["pool"][data["rater"]]
    sd_item, sd_rater = (
        numpyro.sample(name, _half(data[f"prior_{name}"]).expand([pools]).to_event(1))
        for name in ("sd_item", "sd_rater")
    )
    factor = numpyro.sample("factor_item", dist.LKJCholesky(pools, data["prior_lkj"]))
    item_score = numpyro.sample("item_score", _standard(sizes["I"], pools))
    rater_score = numpyro.sample("rater_score", _standard(sizes["R"]))
    item = item_score @ (sd_item[:, None] * factor).T
    return mean[pool] + item[data["item"], pool] + sd_rater[pool] * rater_score[data["rater"]]


def _standard(*shape: int) -> Any:
    return dist.Normal().expand(shape).to_event(len(shape))


_PROGRAMS: Mapping[str, Callable[..., None]] = {
    "logit-icc": _logit_icc,
    "logit-xcc": _logit_xcc,
    "gaussian-xcc": _gaussian_xcc,
}
