"""A model as a Stan user takes it: data, starting points, program; and the fit that draws make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cmdstanpy
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes.models import RatingModel

pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")

SHORT: dict[str, Any] = {"chains": 2, "warmup": 150, "draws": 30, "seed": 3}
# Programs that sample standard deviations, scores of raters and probabilities.
MODELS: list[RatingModel] = [rb.GaussianICC(), rb.OrdinalICC(), rb.DawidSkene()]


def rated(categories: int = 3, items: int = 40, raters: int = 5) -> rb.Ratings:
    """Ratings of which 85% are right: whatever the model, the posterior has one mode."""
    rng = np.random.default_rng(1)
    truth = rng.integers(categories, size=(items, 1))
    guess = rng.integers(categories, size=(items, raters))
    right = rng.random((items, raters)) < 0.85
    return rb.Ratings.from_wide(np.where(right, truth, guess), scale="ordered")


def measured(seed: int = 1, items: int = 8) -> rb.Ratings:
    return rb.Ratings.from_wide(np.random.default_rng(seed).normal(size=(items, 3)))


def sampled(model: RatingModel, ratings: rb.Ratings, **arguments: Any) -> cmdstanpy.CmdStanMCMC:
    return model.cmdstan_model(ratings).sample(**arguments, show_progress=False)


@pytest.fixture(scope="module")
def mcmc(tmp_path_factory: pytest.TempPathFactory) -> cmdstanpy.CmdStanMCMC:
    """A run as a Stan user starts it, with eight digits in its tables."""
    folder = tmp_path_factory.mktemp("tables")
    model, ratings = rb.GaussianICC(), measured()
    data, inits = model.stan_data(ratings), model.inits(ratings, chains=2, seed=1)
    settings: dict[str, Any] = {"iter_warmup": 150, "iter_sampling": 50, "seed": 1, "chains": 2}
    return sampled(model, ratings, data=data, inits=inits, output_dir=folder, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [*MODELS, pytest.param(rb.LatentTAP(), marks=pytest.mark.proof)],
    ids=lambda model: model.name(),
)
def test_draws_by_cmdstanpy_are_those_of_a_fit_to_the_bit(model: RatingModel) -> None:
    ratings = measured() if model.continuous else rated()

    mcmc = sampled(model, ratings, **model.sample_arguments(ratings, **SHORT))

    fit, own = (
        model.fit(ratings, sampler="nuts", **SHORT),
        rb.Fit.from_cmdstan(mcmc, model, ratings),
    )
    xr.testing.assert_identical(own.posterior, fit.posterior)
    xr.testing.assert_identical(own.sample_stats, fit.sample_stats)
    assert own.settings == fit.settings
    pd.testing.assert_frame_equal(own.summary(), fit.summary())


@pytest.mark.slow
def test_from_dispersed_starts_the_sampler_adapts_as_stan_does_by_default() -> None:
    model, ratings = rb.Groupthink(), rated(2)

    arguments = model.sample_arguments(ratings, warm_start=False, **SHORT)

    assert arguments.keys() & {"metric", "step_size", "max_treedepth"} == set()
    mcmc = sampled(model, ratings, **arguments)
    fit = model.fit(ratings, sampler="nuts", warm_start=False, **SHORT)
    own = rb.Fit.from_cmdstan(mcmc, model, ratings)
    xr.testing.assert_identical(own.posterior, fit.posterior)


@pytest.mark.slow
def test_data_and_inits_are_those_of_all_arguments() -> None:
    model, ratings = rb.OrdinalICC(), rated(items=8)

    arguments = model.sample_arguments(ratings, seed=7)

    np.testing.assert_equal(model.stan_data(ratings), arguments["data"])
    np.testing.assert_equal(model.inits(ratings, seed=7), arguments["inits"])
    assert model.cmdstan_model(ratings).name == "ordinal_icc"


def test_ratings_in_parts_have_the_data_of_all(tmp_path: Path) -> None:
    model, ratings = rb.GaussianICC(), measured(items=20)
    parts = rb.partition(ratings.to_frame(), tmp_path / "parts", partitions=2)

    data, expected = model.stan_data(parts), model.stan_data(ratings)

    assert model.cmdstan_model(parts).name == "gaussian_icc"
    for name, value in expected.items():
        np.testing.assert_allclose(data[name], value, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.slow
def test_a_fit_knows_how_the_draws_were_made(mcmc: cmdstanpy.CmdStanMCMC) -> None:
    fit = rb.Fit.from_cmdstan(mcmc, rb.GaussianICC(), measured())

    settings = fit.settings
    assert (settings.chains, settings.warmup, settings.draws) == (2, 150, 50)
    assert (settings.seed, settings.sampler, settings.stan_version) == (1, "nuts", "2.35.0")


@pytest.mark.slow
def test_a_fit_has_all_results(mcmc: cmdstanpy.CmdStanMCMC, tmp_path: Path) -> None:
    ratings = measured()

    fit = rb.Fit.from_cmdstan(mcmc, rb.GaussianICC(), ratings)

    sd = {name: mcmc.stan_variable(name) for name in ("sd_item", "sd_rater", "sd_residual")}
    total = sum(x**2 for x in sd.values())
    assert fit.quantities["icc"].values.ravel() == pytest.approx(sd["sd_item"] ** 2 / total)
    assert list(fit.items().index) == list(ratings.items)
    assert list(fit.raters().index) == list(ratings.raters)
    fit.save(tmp_path / "fit.nc")
    xr.testing.assert_identical(rb.Fit.load(tmp_path / "fit.nc").posterior, fit.posterior)


@pytest.mark.slow
def test_tables_on_disk_make_the_same_fit(mcmc: cmdstanpy.CmdStanMCMC) -> None:
    paths = [Path(path) for path in mcmc.runset.csv_files]

    fits = [rb.Fit.from_cmdstan(each, rb.GaussianICC(), measured()) for each in (mcmc, paths)]

    xr.testing.assert_identical(*(fit.posterior for fit in fits))
    one = rb.Fit.from_cmdstan(paths[0], rb.GaussianICC(), measured())
    xr.testing.assert_identical(one.posterior, fits[0].posterior.isel(chain=slice(1)))


@pytest.mark.slow
def test_draws_of_the_warmup_are_left_out() -> None:
    model, ratings = rb.GaussianICC(), measured()
    arguments = model.sample_arguments(ratings, chains=1, warmup=60, draws=10, seed=3)

    with_warmup = sampled(model, ratings, **arguments, save_warmup=True)

    fit = rb.Fit.from_cmdstan(with_warmup, model, ratings)
    np.testing.assert_array_equal(
        fit.posterior["sd_item"].values.ravel(), with_warmup.stan_variable("sd_item")
    )


# What is refused.


def test_draws_by_another_program_are_refused(mcmc: cmdstanpy.CmdStanMCMC) -> None:
    message = "MACE samples by the program 'mace' here, and the draws are by 'gaussian_icc'"
    with pytest.raises(ValueError, match=message):
        rb.Fit.from_cmdstan(mcmc, rb.MACE(), rated(items=8))


@pytest.mark.slow
def test_draws_of_other_dimensions_are_refused() -> None:
    model, few, many = rb.TAP(), rated(2), rated(3)
    mcmc = sampled(model, few, **model.sample_arguments(few, **SHORT))

    with pytest.raises(ValueError, match=r"prevalence must have the shape \(3,\) .* have \(2,\)"):
        rb.Fit.from_cmdstan(mcmc, model, many)


@pytest.mark.parametrize(
    ("model", "seed"), [(rb.GaussianICC(), 2), (rb.GaussianICC(prior_mean=rb.Normal(0, 9)), 1)]
)
def test_draws_given_other_ratings_or_priors_are_refused(
    mcmc: cmdstanpy.CmdStanMCMC, model: RatingModel, seed: int
) -> None:
    with pytest.raises(ValueError, match=r"given these ratings: gaussian_icc has .* \(lp__\)"):
        rb.Fit.from_cmdstan(mcmc, model, measured(seed))


def test_draws_given_ratings_of_which_one_differs_are_refused(
    mcmc: cmdstanpy.CmdStanMCMC,
) -> None:
    frame = measured().to_frame()
    frame["rating"] += 0.1 * (np.arange(len(frame)) == 5)

    with pytest.raises(ValueError, match="given these ratings"):
        rb.Fit.from_cmdstan(mcmc, rb.GaussianICC(), rb.Ratings.from_frame(frame))


def test_what_is_no_run_of_the_sampler_is_refused(
    mcmc: cmdstanpy.CmdStanMCMC, tmp_path: Path
) -> None:
    table = Path(mcmc.runset.csv_files[0]).read_text()
    for name, old, new in [
        ("variational", "method = sample", "method = variational"),
        ("fixed_param", "algorithm = hmc", "algorithm = fixed_param"),
        ("none", "#", ""),
    ]:
        path = tmp_path / f"{name}.csv"
        path.write_text(table.replace(old, new))
        with pytest.raises(ValueError, match=rf"{name}\.csv must have .* found method .*{name}"):
            rb.Fit.from_cmdstan(path, rb.GaussianICC(), measured())


def test_runs_without_draws_are_refused(mcmc: cmdstanpy.CmdStanMCMC, tmp_path: Path) -> None:
    lines = Path(mcmc.runset.csv_files[0]).read_text().splitlines(keepends=True)
    ended, empty = tmp_path / "ended.csv", tmp_path / "empty.csv"
    ended.write_text("".join(lines[:-30]))
    empty.write_text("".join(lines).replace("num_samples = 50", "num_samples = 0"))

    for path in (ended, empty):
        with pytest.raises(ValueError, match=r"4 draws or more, and all .* rows"):
            rb.Fit.from_cmdstan(path, rb.GaussianICC(), measured())
    with pytest.raises(ValueError, match="there is none"):
        rb.Fit.from_cmdstan([], rb.GaussianICC(), measured())


def test_chains_of_two_runs_are_refused(mcmc: cmdstanpy.CmdStanMCMC, tmp_path: Path) -> None:
    first, other = Path(mcmc.runset.csv_files[0]), tmp_path / "other.csv"
    other.write_text(first.read_text().replace("thin = 1", "thin = 2"))

    with pytest.raises(ValueError, match="The 2 tables must be chains of one run"):
        rb.Fit.from_cmdstan([first, other], rb.GaussianICC(), measured())
