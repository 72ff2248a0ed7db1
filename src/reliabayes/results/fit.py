"""Fit: draws from the posterior, and everything that is said of them. Alone knows arviz."""

from __future__ import annotations

import importlib
import json
import operator
import os
import secrets
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import logsumexp

from reliabayes.arrays import Array, Codes
from reliabayes.errors import ConvergenceWarning
from reliabayes.ratings import Ratings
from reliabayes.results import quantities, storage
from reliabayes.results.comparison import LeaveOneOut, warn_of_high_k
from reliabayes.results.contrast import Contrast
from reliabayes.results.predictive import PredictiveChecks
from reliabayes.results.summaries import Interval, describe, scalars

if TYPE_CHECKING:
    from reliabayes.models.bases.rating_model import RatingModel

VERSION = version("reliabayes")
BLOCK = 4_000_000  # log-likelihoods that arviz copies at once: 32 MB a copy


@dataclass(frozen=True)
class Settings:
    """How the draws were made.

    ``relabelled`` are the chains whose true categories had to take the names of the others'.
    """

    chains: int
    warmup: int
    draws: int
    seed: int
    max_tree_depth: int = 10
    stan_version: str = ""
    version: str = VERSION
    relabelled: tuple[int, ...] = ()

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
    relabelled : chains, from 0, whose true categories had other names than at the mode
    integration_error : of the log-likelihood, in nats, where sums stand in for integrals; trusted
        up to 1e-3
    nodes : how many such a sum has; 0 if there is none

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
    relabelled: tuple[int, ...] = ()
    integration_error: float = 0.0
    nodes: int = 0

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
            (
                bool(self.relabelled),
                f"chains {', '.join(map(str, self.relabelled))} had swapped the names of true "
                "categories, which the ratings and priors do not hold apart, and were relabelled",
            ),
            (
                not self.integration_error <= 1e-3,
                f"the sum over nodes misses the log-likelihood by {self.integration_error:.2g} (at "
                f"most 0.001): set nodes={2 * self.nodes}",
            ),
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

    def __repr__(self) -> str:
        made = f"{self.settings.chains} chains of {self.settings.draws} draws"
        return f"Fit({type(self.model).__name__}, {made}, {self.ratings!r})"

    @cached_property
    def quantities(self) -> xr.Dataset:
        """Reported quantities, draw by draw; dims (chain, draw, ...), the user's ids as coords."""
        return self.model.quantities(self.posterior, self.ratings)

    def summary(
        self,
        prob: float = 0.9,
        interval: Interval = "equal_tailed",
        names: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Posterior of each quantity in a row: mean, sd, median, interval, and how well known.

        Parameters
        ----------
        prob : probability of the interval, in (0, 1); part of its columns' names
        interval : "equal_tailed", or "hdi" for the shortest interval
        names : quantities to sum up; by default those that are not of single raters

        Returns
        -------
        DataFrame
            Columns mean, sd, median, lower_90, upper_90 (for ``prob=0.9``), ess_bulk, ess_tail,
            r_hat, and mcse, the Monte Carlo standard error of the mean. A quantity with several
            values has a row for each, ``prevalence[yes]``.
        """
        if names is None:
            names = [str(name) for name, x in self.quantities.items() if "rater" not in x.dims]
        elif unknown := [name for name in names if name not in self.quantities]:
            raise ValueError(
                f"names: {', '.join(unknown)} must be among the quantities of "
                f"{type(self.model).__name__}: {', '.join(map(str, self.quantities))}."
            )
        rows = {
            label: describe(values.ravel(), prob, interval)
            for name in names
            for label, values in scalars(name, self.quantities[name])
        }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")
        return table.join(pd.concat([self._convergence(name) for name in names]))

    def _convergence(self, name: str) -> pd.DataFrame:
        """Effective sample sizes, R-hat and Monte Carlo error of a quantity, a row a value."""
        if name not in self._converged:
            az, draws = _arviz(), self.quantities[[name]]
            with np.errstate(all="ignore"):  # draws that never move give nan, which is told as such
                measures = {
                    "ess_bulk": az.ess(draws, method="bulk"),
                    "ess_tail": az.ess(draws, method="tail"),
                    "r_hat": az.rhat(draws) if self.settings.chains > 1 else _unknown(draws),
                    "mcse": az.mcse(draws, method="mean"),
                }
            self._converged[name] = pd.DataFrame(
                {
                    measure: {label: float(value) for label, value in scalars(name, found[name])}
                    for measure, found in measures.items()
                }
            )
        return self._converged[name]

    @cached_property
    def _converged(self) -> dict[str, pd.DataFrame]:
        return {}

    @cached_property
    def _monitored(self) -> pd.DataFrame:
        """Convergence of all quantities but matrices, which say no more of a rater than others."""
        small = [str(name) for name, draws in self.quantities.items() if draws.ndim <= 3]
        return pd.concat([self._convergence(name) for name in small])

    def diagnostics(self) -> Diagnostics:
        """Worst convergence figures over all quantities and chains."""
        stats = self.sample_stats
        energy = stats["energy"]
        bfmi = (energy.diff("draw") ** 2).mean("draw") / energy.var("draw")
        return Diagnostics(
            r_hat=float(self._monitored["r_hat"].max(skipna=False)),
            ess_bulk=float(self._monitored["ess_bulk"].min(skipna=False)),
            ess_tail=float(self._monitored["ess_tail"].min(skipna=False)),
            divergences=int(stats["diverging"].sum()),
            tree_depth_hits=int((stats["tree_depth"] >= self.settings.max_tree_depth).sum()),
            bfmi=float(bfmi.min()),
            chains=self.settings.chains,
            relabelled=self.settings.relabelled,
            **self._integration,
        )

    @cached_property
    def _integration(self) -> dict[str, Any]:
        """Error of sums over nodes, and their number, of a model that has them."""
        measure = getattr(self.model, "integration_error", None)
        if measure is None:
            return {}
        nodes, error = measure(self.posterior, self.ratings)
        return {"integration_error": error, "nodes": nodes}

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
        """Draws of the reliability of the mean of ``k`` ratings per item by different raters.

        Of models of categories it is that of the ratings as given, from ``icc_observed``.

        Returns
        -------
        DataArray (chain, draw), in [0, 1]; (chain, draw, pool) for several pools

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

        Of models of categories it is that of the ratings as given, from ``icc_observed``.

        Returns
        -------
        DataArray (chain, draw), whole numbers from 1; infinite where the ICC is 0; (chain, draw,
            pool) for several pools

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
        return self.quantities.get("icc_observed", self.quantities["icc"])

    def contrast(self, name: str, one: Any, other: Any, *, prob: float = 0.9) -> Contrast:
        """How much larger a quantity is in one pool, or pair of pools, than in another.

        Parameters
        ----------
        name : a quantity of pools or of pairs of pools; "xcc" for normalized and unnormalized xCC
        one, other : pools by their ids, or pairs as two pools each in any order:
            ``fit.contrast("xcc", ("treatment", "expert"), ("control", "expert"))``
        prob : probability of the equal-tailed interval, in (0, 1); part of its columns' names

        Returns
        -------
        Contrast
            ``summary()`` with the probability that the difference is above 0, and ``draws``.

        Raises
        ------
        ValueError
            There is no such quantity, pool or pair; the message names those there are.
        """
        return Contrast.of(self.quantities, name, one, other, prob)

    def raters(self, prob: float = 0.9, draws: int | None = None) -> pd.DataFrame:
        """What the model says of each rater, by the user's ids; see `items`.

        Raters are few, so that all draws are used unless ``draws`` says otherwise.
        """
        rng = np.random.default_rng(self.settings.seed)
        table = self.model.raters(self._thinned(draws), self.ratings, prob, rng)
        table.insert(0, "ratings", self.ratings.ratings_per_rater)
        return table

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
            Columns ratings (how many), and what the model says: effects as mean, sd, median,
            lower_90 and upper_90; true categories as the most probable category, its probability
            and the entropy in bits. Models of several pools have a row for each item and pool.
        """
        rng = np.random.default_rng(self.settings.seed)
        table = self.model.items(self._thinned(draws), self.ratings, prob, rng)
        table.insert(0, "ratings", self._ratings_of(table.index))
        return table

    def _ratings_of(self, index: pd.Index[Any]) -> NDArray[np.int64]:
        """Numbers of ratings of each item, or of each item by each pool."""
        ratings = self.ratings
        if "pool" not in index.names or ratings.rater_pool is None:
            return ratings.ratings_per_item[ratings.items.get_indexer(index)]
        item, pool = (
            ids.get_indexer(index.get_level_values(level))
            for level, ids in (("item", ratings.items), ("pool", ratings.pools))
        )
        counts = np.zeros((ratings.n_items, len(ratings.pools)), np.int64)
        np.add.at(counts, (ratings.item, ratings.rater_pool[ratings.rater]), 1)
        return counts[item, pool]

    def category_probabilities(self, draws: int | None = 400) -> pd.DataFrame:
        """Probability of each true category of each item.

        Parameters
        ----------
        draws : posterior draws to use, spread evenly over the chains; None for all

        Returns
        -------
        DataFrame (I, K), the user's ids of the items by categories; each row sums to 1

        Raises
        ------
        AttributeError
            The model has no true categories.
        """
        of_model: Callable[..., pd.DataFrame] | None = getattr(
            self.model, "category_probabilities", None
        )
        if of_model is None:
            raise AttributeError(
                f"{type(self.model).__name__} has no true categories; models of categories have, "
                "such as DawidSkene."
            )
        return of_model(self._thinned(draws), self.ratings)

    def log_likelihood(self, draws: int | None = None) -> xr.DataArray:
        """Draws of the log-probability of all ratings of an item, its hidden state summed out.

        Of the Gaussian models, draws of their log density: it depends on the unit of the ratings.
        Effects of raters that Stan has summed out are drawn.

        Parameters
        ----------
        draws : posterior draws to use, spread evenly over the chains; None for all

        Returns
        -------
        DataArray (chain, draw, item), in nats
            8 bytes for each item and draw: 1.3 GB for 40,000 items and 4000 draws.
        """
        distinct, member = self._log_likelihood(draws)
        by_item = distinct.isel(distinct_item=xr.DataArray(member, dims="item"))
        return by_item.assign_coords(item=self.ratings.items)

    def _log_likelihood(self, draws: int | None) -> tuple[xr.DataArray, Codes]:
        """Log-likelihood of items that differ in their ratings, and which of them each item is."""
        posterior = self._thinned(draws)
        values, member = self.model.pointwise(posterior, self.ratings)
        shape = posterior.sizes["chain"], posterior.sizes["draw"], -1
        coords = {dim: posterior.coords[dim] for dim in ("chain", "draw")}
        return xr.DataArray(values.reshape(shape), coords, (*coords, "distinct_item")), member

    def loo(self, draws: int | None = None, *, warn: bool = True) -> LeaveOneOut:
        """How well the model foretells the ratings of an item left out, from those of the others.

        Items with the same ratings by the same raters count as often as they occur, but cost time
        and memory once.

        Parameters
        ----------
        draws : posterior draws to use, spread evenly over the chains; None for all. Each takes
            8 bytes for each distinct item: 1.3 GB, and 40 s, for 40,000 of them and 4000 draws. Of
            few draws, more Pareto k are too high by chance
        warn : False leaves it to you to look at ``problem`` of the result

        Warns
        -----
        ConvergenceWarning
            Pareto k is too high for some items.

        References
        ----------
        Vehtari, Gelman & Gabry (2017). https://doi.org/10.1007/s11222-016-9696-4
        """
        log_likelihood, member = self._log_likelihood(draws)
        elpd, p_loo, pareto_k = _psis_loo(log_likelihood)
        items = self.ratings.items.rename("item")
        found = LeaveOneOut(
            elpd_by_item=pd.Series(elpd[member], items, name="elpd"),
            pareto_k=pd.Series(pareto_k[member], items, name="pareto_k"),
            good_k=min(0.7, 1 - 1 / np.log10(log_likelihood[..., 0].size)),
            p_loo=float(p_loo[member].sum()),
            n_ratings=self.ratings.n_ratings,
        )
        if warn and found.problem:
            warn_of_high_k(f"{type(self.model).__name__} has {found.problem}", stacklevel=3)
        return found

    def check(
        self, draws: int = 200, seed: int | None = None, prob: float = 0.9
    ) -> PredictiveChecks:
        """Compare the ratings with replicates that the model gives: posterior predictive checks.

        A replicate is of as many new items, each rated by the same raters as an item of the data,
        at the parameters of one draw. True categories that are known stay.

        Parameters
        ----------
        draws : replicates, a posterior draw each, spread evenly over the chains. Time grows with
            draws times ratings: 4 to 6 s for 200 draws of 200,000. Memory holds one replicate at a
            time, and some 32 bytes for each draw and row of the tables
        seed : of the replicates; None takes that of the fit
        prob : probability of the equal-tailed intervals, in (0, 1); part of their columns' names

        References
        ----------
        Gelman, Meng & Stern (1996). https://www.jstor.org/stable/24306036
        """
        if seed is None:
            seed = self.settings.seed
        rng = np.random.default_rng(whole_number("seed", seed, least=0))
        replicates = self.model.replicates(self._thinned(draws), self.ratings, rng)
        if self.model.continuous:
            return PredictiveChecks.of_numbers(self.ratings, replicates, prob)
        return PredictiveChecks.of_categories(self.ratings, replicates, prob)

    def _thinned(self, draws: int | None) -> xr.Dataset:
        """The posterior, or as many draws of it as are wanted, spread evenly over the chains."""
        if draws is None:
            return self.posterior
        wanted = -(-whole_number("draws", draws, least=1) // self.settings.chains)
        wanted = min(wanted, self.settings.draws)
        return self.posterior.isel(draw=np.arange(wanted) * self.settings.draws // wanted)

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """Starting points for another fit: draws taken at random, one dict for each chain."""
        return [
            {str(name): values[at].values for name, values in self._flat.items()}
            for rng in map(np.random.default_rng, ([seed, chain] for chain in range(chains)))
            for at in [dict(sample=rng.integers(self._flat.sizes["sample"]))]
        ]

    def to_arviz(self, *, log_likelihood: bool = False) -> Any:
        """The draws as arviz keeps them: InferenceData (0.x) or DataTree (1.x).

        Groups posterior (parameters and quantities) and sample_stats.

        Parameters
        ----------
        log_likelihood : add a group of that name for `arviz.loo` and `arviz.compare`: the variable
            ratings (chain, draw, item), the log-probability of all ratings of an item. It takes
            8 bytes for each item and draw: 1.3 GB for 40,000 items and 4000 draws. `Fit.loo` and
            `compare` need less
        """
        groups = {"posterior": self._everything, "sample_stats": self.sample_stats}
        if log_likelihood:
            groups["log_likelihood"] = self.log_likelihood().to_dataset(name="ratings")
        return _for_arviz(groups)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write one HTML page that tells all that the fit says, the answer first.

        Parameters
        ----------
        path : of the page, which appears whole or not at all
        options : as for `reliabayes.report`, which also takes several fits
        """
        from reliabayes.html_report import report

        report(self.ratings, self, path, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit, ratings included, to a netCDF file that arviz can read, too.

        The file appears whole or not at all. Ids that are neither numbers nor text are kept as
        text.
        """
        storage.write(
            path,
            {
                "posterior": self._everything,
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
            model = storage.unpack_model(json.loads(about["model"]))
            ratings = Ratings(**storage.unpack(groups["ratings"]))
            settings = Settings(**json.loads(about["settings"]))
            parameters = groups["posterior"][list(np.atleast_1d(about["parameters"]))]
            return cls(
                model,
                ratings,
                model.labelled({str(name): x.values for name, x in parameters.items()}, ratings),
                groups["sample_stats"],
                replace(settings, relabelled=tuple(settings.relabelled)),
            )

    @property
    def _everything(self) -> xr.Dataset:
        """Parameters, and quantities by names that no parameter has."""
        return self.posterior.merge(self.quantities.drop_vars(self.posterior, errors="ignore"))

    @cached_property
    def _flat(self) -> xr.Dataset:
        return self.posterior.stack(sample=("chain", "draw"), create_index=False)


def _unknown(draws: xr.Dataset) -> xr.Dataset:
    return xr.full_like(draws.isel(chain=0, draw=0, drop=True), np.nan)


def _arviz() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 0.23 announces 1.0 at import
        return importlib.import_module("arviz")


def _for_arviz(groups: dict[str, xr.Dataset]) -> Any:
    az = _arviz()
    if az.__version__.startswith("0."):
        return az.InferenceData(**groups)
    return xr.DataTree.from_dict(groups)


def _psis_loo(log_likelihood: xr.DataArray) -> tuple[Array, Array, Array]:
    """Of each item left out: log predictive density, effective parameters, Pareto k, each (D,).

    Parameters
    ----------
    log_likelihood : (chain, draw, distinct_item)
    """
    az = _arviz()
    n_draws = log_likelihood[..., 0].size
    elpd, seen, pareto_k = (np.empty(log_likelihood.sizes["distinct_item"]) for _ in range(3))
    block = max(1, BLOCK // n_draws)
    for start in range(0, len(elpd), block):
        part = slice(start, start + block)
        of_part = log_likelihood.isel(distinct_item=part)
        groups = _for_arviz({"log_likelihood": of_part.to_dataset(name="ratings")})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of high Pareto k: that is for `Fit.loo` to tell
            found = az.loo(groups, pointwise=True, reff=1.0)
        elpd[part] = found.loo_i if az.__version__.startswith("0.") else found.elpd_i
        pareto_k[part] = found.pareto_k
        seen[part] = logsumexp(of_part.values, axis=(0, 1)) - np.log(n_draws)
    return elpd, seen - elpd, pareto_k
