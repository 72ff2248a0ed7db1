"""Fits from draws that cmdstanpy has made with the program of a model."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.log_density import log_gradients_at
from reliabayes.inference.problem import stan_data
from reliabayes.inference.stan import draws_of
from reliabayes.inference.stan_csv import read_settings, read_variables
from reliabayes.models.rating_model import RatingModel
from reliabayes.partitions import AnyRatings
from reliabayes.results.fit import Fit
from reliabayes.results.model import as_counted
from reliabayes.results.settings import Settings
from reliabayes.sampling.arguments import check_kind
from reliabayes.sampling.plan import for_program, from_program

LEAST_DRAWS = 4  # of each chain, as of a fit
CHECKED = 4  # draws at which log densities are compared, from the first to the last
ELSEWHERE = 1e-6  # relative difference of log densities by other processors and compilers
DIGITS = 8  # of numbers in tables that do not say how many they have


def fit_of_cmdstan(mcmc: Any, model: RatingModel[Any], ratings: AnyRatings) -> Fit:
    """The fit that draws by cmdstanpy make, as `Fit.from_cmdstan` says."""
    check_kind(model, ratings)
    ratings = as_counted(model, ratings)
    tables = _Tables.of(mcmc)
    problem, modes = model.prepared(ratings)
    program, centring = model.program(problem), modes[0].centring
    if tables.program != program:
        raise ValueError(
            f"{type(model).__name__} samples by the program {program!r} here, and the draws are by "
            f"{tables.program!r}. Pass the model that they belong to, or sample by "
            "model.cmdstan_model(ratings)."
        )
    drawn = tables.drawn()
    declared = for_program(model, modes[0].point, centring)
    for name, value in declared.items():
        found = np.shape(drawn[name])[2:] if name in drawn else "none"
        if found != np.shape(value):
            raise ValueError(
                f"{name} must have the shape {np.shape(value)} for these ratings, and the draws "
                f"have {found}. Pass the ratings and the model that the draws belong to."
            )
    at = {name: drawn[name] for name in (*declared, "lp__")}
    _check_density(program, stan_data(problem, centring), at, tables.digits)
    run = from_program(model, draws_of(drawn, tables.stated[0]), centring)
    fit = model.fit_of_runs(ratings, problem, modes, [run], tables.settings)
    fit.warn_if_unreliable()
    return fit


class _Tables(NamedTuple):
    """Tables of draws, one for each chain, and what is stated at their heads."""

    paths: Sequence[Path]
    stated: Sequence[Mapping[str, str]]

    @classmethod
    def of(cls, mcmc: Any) -> _Tables:
        """Those of a result of cmdstanpy, or of paths; all but chains of one run are refused."""
        given = mcmc.runset.csv_files if hasattr(mcmc, "runset") else mcmc
        paths = [given] if isinstance(given, (str, os.PathLike)) else list(given)
        if not paths:
            raise ValueError("There must be a table of draws for each chain, and there is none.")
        stated = [read_settings(Path(path)) for path in paths]
        for path, each in zip(paths, stated, strict=True):
            method = each.get("method", "none")
            if method != "sample" or each.get("algorithm") == "fixed_param":
                found = method if method != "sample" else "sample with algorithm=fixed_param"
                raise ValueError(
                    f"{path} must have draws of the posterior by Stan's method sample, and found "
                    f"method {found}. Pass what `sample` of cmdstanpy returns."
                )
        same = ("model", "num_samples", "num_warmup", "thin", "save_warmup")
        if len({tuple(each.get(name) for name in same) for each in stated}) > 1:
            raise ValueError(
                f"The {len(paths)} tables must be chains of one run, and differ in program, "
                "iterations or thinning. Pass one run at a time."
            )
        return cls([Path(path) for path in paths], stated)

    @property
    def program(self) -> str:
        """Name of the program."""
        return self.stated[0]["model"].removesuffix("_model")

    @property
    def digits(self) -> int:
        """Significant digits of the numbers."""
        stated = int(self.stated[0].get("sig_figs", DIGITS))
        return stated if stated > 0 else DIGITS

    @property
    def settings(self) -> Settings:
        """How the draws were made."""
        stated = self.stated[0]
        return Settings(
            chains=len(self.paths),
            warmup=int(stated["num_warmup"]),
            draws=self._rows("num_samples"),
            seed=int(stated["seed"]),
            warm_start=stated["init"].endswith(".json"),
            sampler="nuts" if stated["engine"] == "nuts" else "hmc",
        )

    def _rows(self, name: str) -> int:
        return math.ceil(int(self.stated[0][name]) / int(self.stated[0]["thin"]))

    def drawn(self) -> dict[str, Array]:
        """Draws (chains, draws, ...) after warm-up, by the names in the tables."""
        draws, saved = self._rows("num_samples"), self.stated[0]["save_warmup"] in ("1", "true")
        expected = draws + (self._rows("num_warmup") if saved else 0)
        found = read_variables(self.paths)
        rows = len(found["lp__"][0])
        if rows != expected or draws < LEAST_DRAWS:
            raise ValueError(
                f"Chains must have {LEAST_DRAWS} draws or more, and all {expected} rows that their "
                f"tables tell of; found {rows}. Sample again."
            )
        return {name: x[:, rows - draws :] for name, x in found.items()}


def _check_density(
    program: str, data: Mapping[str, Any], drawn: Mapping[str, Array], digits: int
) -> None:
    """Refuse draws whose log density in the tables is not that given these data.

    It may differ by the rounding of the tables: of itself, and to first order of the parameters.
    """
    every = {name: x.reshape(-1, *x.shape[2:]) for name, x in drawn.items()}
    stated = every.pop("lp__")
    checked = np.linspace(0, len(stated) - 1, CHECKED).astype(int)
    rounding = 0.5 * 10.0 ** (1 - digits)
    points = [{name: _exact(x[at], rounding) for name, x in every.items()} for at in checked]
    found, gradient = log_gradients_at(program, data, points)
    size = np.array([max(1.0, *(np.abs(x).max(initial=0.0) for x in p.values())) for p in points])
    rounded = rounding * (np.abs(found) + size * np.abs(gradient).sum(axis=1))
    differs = ~(np.abs(found - stated[checked]) <= rounded + ELSEWHERE * (1 + np.abs(found)))
    if differs.any():
        at = int(differs.argmax())
        raise ValueError(
            f"Draws must be of the posterior given these ratings: {program} has the log density "
            f"{found[at]:.6g} at draw {checked[at]} of all chains, and the table says "
            f"{stated[checked][at]:.6g} (lp__). Pass the ratings and priors that `stan_data` had."
        )


def _exact(value: Array, rounding: float) -> Array:
    """Simplexes, and rows of length 1, which Stan refuses if they are rounded."""
    if not value.ndim:
        return value
    total, length = value.sum(axis=-1, keepdims=True), np.linalg.norm(value, axis=-1, keepdims=True)
    for size in (total, length):
        if (np.abs(size - 1) <= rounding * value.shape[-1]).all():
            return np.asarray(value / size)
    return value
