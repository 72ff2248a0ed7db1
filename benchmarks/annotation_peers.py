"""DawidSkene and MACE sampled by numpyro, and as textbook Stan programs by the same runner."""

# numpyro is optional and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
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
from numpyro.contrib.funsor import config_enumerate
from numpyro.infer import MCMC, NUTS, init_to_value
from numpyro.ops.indexing import Vindex

import reliabayes as rb
from benchmarks.speed import Sampler
from benchmarks.textbook import textbook_data
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.models.category_model import CategoryModel

CHAINS, WARMUP, DRAWS = 4, 1000, 1000

numpyro.set_host_device_count(CHAINS)  # before JAX looks for devices

Inits = Sequence[Mapping[str, Any]]  # parameters by name, one mapping per chain


def ours(model: CategoryModel, chains: int, sampler: Any = "auto") -> Sampler:
    """A fit of this package with default options, from a warm start."""

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        fit = model.fit(ratings, chains=chains, seed=seed, sampler=sampler, progress=False)
        return fit.posterior[[parameter.name for parameter in model.parameters()]]

    return sample


def textbook_sampler(
    model: CategoryModel, problem: CategoricalProblem, program: Path, inits: Inits
) -> Sampler:
    """The compiled textbook program, sampled by cmdstanpy with one chain per starting point."""
    cmdstanpy.disable_logging()
    chains = len(inits)
    compiled = cmdstanpy.CmdStanModel(exe_file=program)

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        with tempfile.TemporaryDirectory() as folder:
            fit = compiled.sample(
                textbook_data(problem, ratings),
                chains=chains,
                iter_warmup=WARMUP,
                iter_sampling=DRAWS,
                seed=seed,
                inits=list(inits),
                show_progress=False,
                output_dir=folder,
            )
            drawn = {name: fit.stan_variable(name) for name in model.dims()}
        shaped = {name: x.reshape(chains, DRAWS, *x.shape[1:]) for name, x in drawn.items()}
        return model.labelled(shaped, problem)

    return sample


def numpyro_sampler(
    model: CategoryModel,
    problem: CategoricalProblem,
    start: Mapping[str, Any],
    chains: int,
    draws: int = DRAWS,
) -> Sampler:
    """NUTS of numpyro, a chain per device, as much warmup as draws; every call compiles anew."""
    jax.config.update("jax_enable_x64", True)
    mode = init_to_value(values={name: jnp.asarray(value) for name, value in start.items()})

    def sample(ratings: rb.Ratings, seed: int) -> xr.Dataset:
        program = partial(_PROGRAMS[model.name()], problem.priors, problem.n_raters)
        kernel = NUTS(config_enumerate(program), init_strategy=mode)
        mcmc = MCMC(
            kernel,
            num_warmup=draws,
            num_samples=draws,
            num_chains=chains,
            chain_method="parallel",
            progress_bar=False,
        )
        order = np.argsort(ratings.item, kind="stable").reshape(ratings.n_items, -1)
        by_item = (jnp.asarray(codes[order]) for codes in (ratings.rater, ratings.category))
        mcmc.run(jax.random.PRNGKey(seed), *by_item)
        drawn = mcmc.get_samples(group_by_chain=True)
        return model.labelled({name: np.array(drawn[name]) for name in model.dims()}, problem)

    return sample


def _dawid_skene(priors: Mapping[str, Any], raters: int, rater: Any, category: Any) -> None:
    items, per_item = rater.shape
    truths = len(priors["prevalence"])
    prevalence = numpyro.sample("prevalence", dist.Dirichlet(priors["prevalence"]))
    with numpyro.plate("rater", raters, dim=-2), numpyro.plate("truth", truths, dim=-1):
        confusion = numpyro.sample("confusion", dist.Dirichlet(priors["confusion"]))
    with numpyro.plate("item", items, dim=-2):
        truth = numpyro.sample("state", dist.Categorical(prevalence))
        with numpyro.plate("rating", per_item, dim=-1):
            probability = Vindex(confusion)[rater, truth, :]
            numpyro.sample("category", dist.Categorical(probability), obs=category)


def _mace(priors: Mapping[str, Any], raters: int, rater: Any, category: Any) -> None:
    items, per_item = rater.shape
    truths = len(priors["xi"])
    with numpyro.plate("rater", raters, dim=-1):
        theta = numpyro.sample("theta", dist.Beta(*priors["theta"]))
        xi = numpyro.sample("xi", dist.Dirichlet(priors["xi"]))
    with numpyro.plate("item", items, dim=-2):
        truth = numpyro.sample("state", dist.DiscreteUniform(high=truths - 1))
        with numpyro.plate("rating", per_item, dim=-1):
            spams = numpyro.sample("spams", dist.Bernoulli(1 - theta[rater]))
            copied = jax.nn.one_hot(truth, truths)
            probability = jnp.where(spams[..., None] == 0, copied, xi[rater])
            numpyro.sample("category", dist.Categorical(probability), obs=category)


_PROGRAMS: Mapping[str, Callable[..., None]] = {"dawid-skene": _dawid_skene, "mace": _mace}
