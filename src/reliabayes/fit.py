"""Fit: draws from the posterior, and everything that is said of them. Alone knows arviz."""

from __future__ import annotations

import importlib
import json
import operator
import os
import secrets
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes import quantities, storage
from reliabayes.errors import ConvergenceWarning
from reliabayes.ratings import Ratings
from reliabayes.stan import Draws

if TYPE_CHECKING:
    from reliabayes.models.base import Margin, RatingModel

Interval = Literal["equal_tailed", "hdi"]

VERSION = version("reliabayes")


@dataclass(frozen=True)
class Settings:
    """How the draws were made."""

    chains: int
    warmup: int
    draws: int
    seed: int
    max_tree_depth: int = 10
    stan_version: str = ""
    version: str = VERSION

    @classmethod
    def checked(cls, *, chains: int, warmup: int, draws: int, seed: int | None) -> Settings:
        """Settings within their ranges, the seed drawn where there is none."""
        return cls(
            chains=whole_number("chains", chains, least=1),
            warmup=whole_number("warmup", warmup, least=0),
            draws=whole_number("draws", draws, least=4),
            seed=secrets.randbelow(2**31)
            if seed is None
            else whole_number("seed", seed, least=0, most=2**31 - 1),
        )


def whole_number(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """``value`` of the argument ``name`` as int, NumPy's integers included; or a `ValueError`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least or (most and number > most):
        limits = f"from {least}" + (f" to {most}" if most else "")
        raise ValueError(f"{name} must be a whole number {limits}, not {value!r}.")
    return number


@dataclass(frozen=True)
class Diagnostics:
    """Whether the draws can be trusted: the worst value over all quantities and chains.

    Attributes
    ----------
    r_hat : largest rank-normalised split R-hat; trusted up to 1.01
    ess_bulk, ess_tail : smallest effective sample sizes; trusted from 100 a chain
    divergences : transitions after warmup that diverged; trusted at 0
    tree_depth_hits : transitions that ended at the largest tree depth; slow, not wrong
    bfmi : smallest energy Bayesian fraction of missing information; trusted from 0.3
    chains : number of chains

    References
    ----------
    Vehtari et al. (2021), https://doi.org/10.1214/20-BA1221
    """

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    tree_depth_hits: int
    bfmi: float
    chains: int

    @property
    def problems(self) -> list[str]:
        """What cannot be trusted, with the numbers; empty if all is well."""
        enough = 100 * self.chains
        checks = [
            (self.chains == 1, "one chain alone cannot show whether it converged: take 4"),
            (
                self.chains > 1 and not self.r_hat <= 1.01,  # nan is no good either
                f"R-hat up to {self.r_hat:.3f} (at most 1.01): the chains disagree",
            ),
            (
                not self.ess_bulk >= enough,
                f"bulk ESS down to {self.ess_bulk:.0f} (at least {enough})",
            ),
            (
                not self.ess_tail >= enough,
                f"tail ESS down to {self.ess_tail:.0f} (at least {enough})",
            ),
            (self.divergences > 0, f"{self.divergences} divergent transitions (0)"),
            (not self.bfmi >= 0.3, f"E-BFMI down to {self.bfmi:.2f} (at least 0.3)"),
        ]
        return [problem for found, problem in checks if found]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Posterior of a model given ratings.

    Attributes
    ----------
    model : the model, with its hyperparameters
    ratings : the data
    posterior : Dataset of the Stan program's parameters, dims (chain, draw, ...)
    sample_stats : Dataset of the sampler's own figures, dims (chain, draw), names as in arviz
    settings : how the draws were made

    `quantities` holds what the model reports, draw by draw; `summary` sums it up.
    """

    model: RatingModel
    ratings: Ratings
    posterior: xr.Dataset
    sample_stats: xr.Dataset
    settings: Settings

    @classmethod
    def of(cls, model: RatingModel, ratings: Ratings, drawn: Draws, settings: Settings) -> Fit:
        """Name and label what the sampler left."""
        return cls(
            model,
            ratings,
            _dataset(drawn.parameters),
            _dataset(drawn.statistics),
            replace(
                settings,
                max_tree_depth=drawn.max_tree_depth,
                stan_version=drawn.stan_version,
            ),
        )

    def __repr__(self) -> str:
        made = f"{self.settings.chains} chains of {self.settings.draws} draws"
        return f"Fit({type(self.model).__name__}, {made}, {self.ratings!r})"

    @cached_property
    def quantities(self) -> xr.Dataset:
        """Reported quantities, draw by draw; dims (chain, draw, ...), the user's ids as coords."""
        return self.model.quantities(self.posterior)

    def summary(self, prob: float = 0.9, interval: Interval = "equal_tailed") -> pd.DataFrame:
        """Posterior of each quantity in a row: mean, sd, median, interval, and how well known.

        Parameters
        ----------
        prob : probability of the interval, in (0, 1); part of its columns' names
        interval : "equal_tailed", or "hdi" for the shortest interval

        Returns
        -------
        DataFrame
            Columns mean, sd, median, lower_90, upper_90 (for ``prob=0.9``), ess_bulk, ess_tail,
            r_hat, and mcse, the Monte Carlo standard error of the mean.
        """
        rows = {}
        for name, draws in self.quantities.items():
            for label, values in _scalars(str(name), draws):
                rows[label] = _describe(values.ravel(), prob, interval)
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")
        return table.join(self._convergence)

    @cached_property
    def _convergence(self) -> pd.DataFrame:
        az = _arviz()
        draws = self.quantities
        with np.errstate(all="ignore"):  # draws that never move give nan, which is told as such
            measures = {
                "ess_bulk": az.ess(draws, method="bulk"),
                "ess_tail": az.ess(draws, method="tail"),
                "r_hat": az.rhat(draws) if self.settings.chains > 1 else self._unknown,
                "mcse": az.mcse(draws, method="mean"),
            }
        return pd.DataFrame(
            {
                measure: {
                    label: float(value)
                    for name, values in found.items()
                    for label, value in _scalars(str(name), values)
                }
                for measure, found in measures.items()
            }
        )

    @property
    def _unknown(self) -> xr.Dataset:
        return xr.full_like(self.quantities.isel(chain=0, draw=0, drop=True), np.nan)

    def diagnostics(self) -> Diagnostics:
        """Worst convergence figures over all quantities and chains."""
        stats = self.sample_stats
        energy = stats["energy"]
        bfmi = (energy.diff("draw") ** 2).mean("draw") / energy.var("draw")
        return Diagnostics(
            r_hat=float(self._convergence["r_hat"].max(skipna=False)),
            ess_bulk=float(self._convergence["ess_bulk"].min(skipna=False)),
            ess_tail=float(self._convergence["ess_tail"].min(skipna=False)),
            divergences=int(stats["diverging"].sum()),
            tree_depth_hits=int((stats["tree_depth"] >= self.settings.max_tree_depth).sum()),
            bfmi=float(bfmi.min()),
            chains=self.settings.chains,
        )

    def warn_if_unreliable(self) -> None:
        """Warn, once and with the numbers, of draws that cannot be trusted."""
        if problems := self.diagnostics().problems:
            warnings.warn(
                f"{type(self.model).__name__}: the draws cannot be trusted yet: "
                f"{'; '.join(problems)}. Try warm_start=False with more draws, or tighter priors.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def icc_k(self, k: float) -> xr.DataArray:
        """Draws of the reliability of the mean of ``k`` ratings per item.

        Returns
        -------
        DataArray (chain, draw), in [0, 1]

        Raises
        ------
        ValueError
            ``k`` is below 1.
        AttributeError
            The model has no ICC.
        """
        return quantities.icc_k(self._icc(), k).rename("icc_k")

    def raters_needed(self, reliability: float) -> xr.DataArray:
        """Draws of the number of ratings per item whose mean reaches ``reliability``.

        Returns
        -------
        DataArray (chain, draw), whole numbers from 1; infinite where the ICC is 0

        Raises
        ------
        ValueError
            ``reliability`` is not strictly between 0 and 1.
        AttributeError
            The model has no ICC.
        """
        return quantities.raters_needed(self._icc(), reliability).rename("raters_needed")

    def _icc(self) -> xr.DataArray:
        if "icc" not in self.quantities:
            raise AttributeError(
                f"{type(self.model).__name__} has no ICC; its quantities are "
                f"{', '.join(map(str, self.quantities))}."
            )
        return self.quantities["icc"]

    def raters(self, prob: float = 0.9, draws: int | None = None) -> pd.DataFrame:
        """What the model says of each rater, by the user's ids; see `items`.

        Raters are few, so that all draws are used unless ``draws`` says otherwise.
        """
        return self._effects("rater", prob, draws)

    def items(self, prob: float = 0.9, draws: int | None = 400) -> pd.DataFrame:
        """What the model says of each item, by the user's ids.

        Parameters
        ----------
        prob : probability of the equal-tailed interval, in (0, 1)
        draws : posterior draws to use, spread evenly over the chains; None for all. Time grows
            with items times draws, memory does not

        Returns
        -------
        DataFrame
            Columns ratings (how many), mean, sd, median, lower_90, upper_90.
        """
        return self._effects("item", prob, draws)

    def _effects(self, margin: Margin, prob: float, draws: int | None) -> pd.DataFrame:
        if draws is None:
            draws = self.settings.chains * self.settings.draws
        wanted = -(-whole_number("draws", draws, least=1) // self.settings.chains)
        step = max(1, self.settings.draws // wanted)
        thinned = self.posterior.isel(draw=slice(None, None, step))
        rng = np.random.default_rng(self.settings.seed)
        parts = [
            pd.DataFrame(
                _describe(chunk.values.reshape(-1, chunk.sizes[margin]), prob, "equal_tailed"),
                index=pd.Index(chunk.indexes[margin], name=margin),
            )
            for chunk in self.model.effects(thinned, self.ratings, margin, rng)
        ]
        counts = {"item": "ratings_per_item", "rater": "ratings_per_rater"}[margin]
        table = pd.concat(parts)
        table.insert(0, "ratings", getattr(self.ratings, counts))
        return table

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """Starting points for another fit: draws taken at random, one dict for each chain."""
        return [
            {str(name): values[at].values for name, values in self._flat.items()}
            for rng in map(np.random.default_rng, ([seed, chain] for chain in range(chains)))
            for at in [dict(sample=rng.integers(self._flat.sizes["sample"]))]
        ]

    def to_arviz(self) -> Any:
        """The draws as arviz keeps them: InferenceData (0.x) or DataTree (1.x).

        Groups posterior (parameters and quantities) and sample_stats.
        """
        az = _arviz()
        groups = {
            "posterior": self.posterior.merge(self.quantities),
            "sample_stats": self.sample_stats,
        }
        if az.__version__.startswith("0."):
            return az.InferenceData(**groups)
        return xr.DataTree.from_dict(groups)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit, ratings included, to a netCDF file that arviz can read, too.

        The file appears whole or not at all. Ids that are neither numbers nor text are kept as
        text.
        """
        storage.write(
            path,
            {
                "posterior": self.posterior.merge(self.quantities),
                "sample_stats": self.sample_stats,
                "ratings": storage.pack(self.ratings),
            },
            {
                "model": json.dumps(storage.pack_model(self.model)),
                "settings": json.dumps(asdict(self.settings)),
                "parameters": list(map(str, self.posterior)),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fit:
        """Read a fit that `save` wrote.

        Raises
        ------
        FileNotFoundError
            There is no such file.
        ValueError
            The file is damaged, or something else.
        """
        with storage.read(path) as (groups, about):
            return cls(
                model=storage.unpack_model(json.loads(about["model"])),
                ratings=Ratings(**storage.unpack(groups["ratings"])),
                posterior=groups["posterior"][list(np.atleast_1d(about["parameters"]))],
                sample_stats=groups["sample_stats"],
                settings=Settings(**json.loads(about["settings"])),
            )

    @cached_property
    def _flat(self) -> xr.Dataset:
        return self.posterior.stack(sample=("chain", "draw"), create_index=False)


def _dataset(arrays: Mapping[str, NDArray[np.float64]]) -> xr.Dataset:
    for values in arrays.values():
        values.flags.writeable = False
    variables = {
        name: (("chain", "draw", *(f"{name}_dim_{i}" for i in range(values.ndim - 2))), values)
        for name, values in arrays.items()
    }
    data = xr.Dataset(variables)
    return data.assign_coords({dim: np.arange(size) for dim, size in data.sizes.items()})


def _scalars(name: str, values: xr.DataArray) -> Iterator[tuple[str, Any]]:
    """Each scalar quantity in an array of them, labelled by its coordinates: ``icc[expert]``."""
    dims = [dim for dim in values.dims if dim not in ("chain", "draw")]
    if not dims:
        yield name, values.values
        return
    for key, part in values.stack(entry=dims).groupby("entry"):
        label = ", ".join(map(str, key if isinstance(key, tuple) else (key,)))
        yield f"{name}[{label}]", part.squeeze("entry").values


def _describe(draws: NDArray[np.float64], prob: float, interval: Interval) -> dict[str, Any]:
    """Mean, sd, median and interval of draws, (S,) or (S, units)."""
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    if interval == "equal_tailed":
        lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    elif interval == "hdi":
        lower, upper = _shortest(np.sort(draws, axis=0), prob)
    else:
        raise ValueError(f"interval must be 'equal_tailed' or 'hdi', not {interval!r}.")
    return {
        "mean": draws.mean(axis=0),
        "sd": draws.std(axis=0, ddof=1),
        "median": np.median(draws, axis=0),
        f"lower_{100 * prob:g}": lower,
        f"upper_{100 * prob:g}": upper,
    }


def _shortest(ordered: NDArray[np.float64], prob: float) -> tuple[Any, Any]:
    """Shortest interval with a share ``prob`` of the (S,) ascending draws."""
    inside = int(np.floor(prob * len(ordered)))
    start = np.argmin(ordered[inside:] - ordered[: len(ordered) - inside])
    return ordered[start], ordered[start + inside]


def _arviz() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 0.23 announces 1.0 at import
        return importlib.import_module("arviz")
