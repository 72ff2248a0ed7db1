"""Fits: posterior draws of a model given ratings, and what follows from them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes.arrays import Codes
from reliabayes.errors import ConvergenceWarning
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.ratings import Ratings
from reliabayes.results import arviz_bridge, quantities, storage
from reliabayes.results.contrast import Contrast
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.results.leave_one_out import LeaveOneOut, warn_of_high_k
from reliabayes.results.model import Model
from reliabayes.results.posterior import Posterior
from reliabayes.results.predictive import PredictiveChecks
from reliabayes.results.settings import Settings, whole_number
from reliabayes.results.summaries import Interval, describe, scalars


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Posterior of a model given ratings.

    `quantities` holds what the model reports, draw by draw; `summary` summarises it.

    Attributes
    ----------
    model : RatingModel
        The model, with its hyperparameters.
    ratings : Ratings
        The data.
    posterior : Dataset
        Parameters of the Stan program, dims (chain, draw, ...).
    sample_stats : Dataset
        The sampler's statistics, dims (chain, draw), with arviz's names.
    settings : Settings
        How the draws were made.
    centring : object or None
        Where and on what scale the program sampled its parameters, if that depends on the data.
    """

    model: Model
    ratings: Ratings
    posterior: xr.Dataset
    sample_stats: xr.Dataset
    settings: Settings
    centring: StanPart | None = None

    def __repr__(self) -> str:
        made = f"{self.settings.chains} chains of {self.settings.draws} draws"
        return f"Fit({type(self.model).__name__}, {made}, {self.ratings!r})"

    @cached_property
    def problem(self) -> Problem:
        """What the posterior depends on: data reduced to what the likelihood needs, and priors."""
        return self.model.problem(self.ratings)

    @cached_property
    def quantities(self) -> xr.Dataset:
        """Reported quantities, draw by draw; dims (chain, draw, ...), the user's ids as coords."""
        return self.model.quantities(self._draws())

    def summary(
        self,
        prob: float = 0.9,
        interval: Interval = "equal_tailed",
        names: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Posterior of each quantity in a row: mean, sd, median, interval, and convergence.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the interval, in (0, 1); it is part of the columns' names.
        interval : {"equal_tailed", "hdi"}
            "hdi" is the shortest interval.
        names : sequence of str, optional
            Quantities to summarise; by default those that are not of single raters.

        Returns
        -------
        DataFrame
            Columns mean, sd, median, lower_90, upper_90 (for ``prob=0.9``), ess_bulk, ess_tail,
            r_hat, and mcse, the Monte Carlo standard error of the mean. A quantity with several
            values has a row for each, ``prevalence[yes]``.

        Raises
        ------
        ValueError
            There is no such quantity, or ``prob`` is out of range.
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
            measures = arviz_bridge.convergence(self.quantities[[name]])
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
        """Convergence of all quantities but matrices, which repeat what others say of a rater."""
        small = [str(name) for name, draws in self.quantities.items() if draws.ndim <= 3]
        return pd.concat([self._convergence(name) for name in small])

    def diagnostics(self) -> Diagnostics:
        """Worst convergence diagnostics over all quantities and chains."""
        stats = self.sample_stats
        energy = stats["energy"]
        bfmi = (energy.diff("draw") ** 2).mean("draw") / energy.var("draw")
        nodes, error = self._integration
        return Diagnostics(
            r_hat=float(self._monitored["r_hat"].max(skipna=False)),
            ess_bulk=float(self._monitored["ess_bulk"].min(skipna=False)),
            ess_tail=float(self._monitored["ess_tail"].min(skipna=False)),
            divergences=int(stats["diverging"].sum()),
            tree_depth_hits=int((stats["tree_depth"] >= self.settings.max_tree_depth).sum()),
            bfmi=float(bfmi.min()),
            chains=self.settings.chains,
            draws=self.settings.chains * self.settings.draws,
            relabelled=self.settings.relabelled,
            integration_error=error,
            nodes=nodes,
        )

    @cached_property
    def _integration(self) -> tuple[int, float]:
        return self.model.integration_error(self._draws())

    def warn_if_unreliable(self) -> None:
        """Warn, once and with the numbers, if the draws may not represent the posterior."""
        if problems := self.diagnostics().problems:
            warnings.warn(
                f"{type(self.model).__name__}: the draws may not represent the posterior: "
                f"{'; '.join(problems)}. Try warm_start=False with more draws, or tighter priors.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def icc_k(self, k: float) -> xr.DataArray:
        """Draws of the reliability of the mean of ``k`` ratings per item by different raters.

        For models of categories it is the reliability of the observed ratings, from
        ``icc_observed``.

        Parameters
        ----------
        k : float
            Ratings per item, at least 1.

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

        For models of categories it is the reliability of the observed ratings, from
        ``icc_observed``.

        Parameters
        ----------
        reliability : float
            Wanted reliability, strictly between 0 and 1.

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
        name : str
            A quantity of pools or of pairs of pools; "xcc" for normalized and unnormalized xCC.
        one, other : object or tuple of object
            Pools by their ids, or pairs as two pools each in any order:
            ``fit.contrast("xcc", ("treatment", "expert"), ("control", "expert"))``.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

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
        """Estimates for each rater, by the user's ids.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; all of them by default.

        Returns
        -------
        DataFrame
            Columns ratings (how many), and what the model estimates; see `items`.
        """
        rng = np.random.default_rng(self.settings.seed)
        table = self.model.raters(self._draws(draws), prob, rng)
        table.insert(0, "ratings", self.ratings.ratings_per_rater)
        return table

    def items(self, prob: float = 0.9, draws: int | None = 400) -> pd.DataFrame:
        """Estimates for each item, by the user's ids.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int or None, default 400
            Posterior draws to use, spread evenly over the chains; None for all. Time grows with
            items times draws, memory does not.

        Returns
        -------
        DataFrame
            Columns ratings (how many), and what the model estimates: effects as mean, sd, median,
            lower_90 and upper_90; true categories as the most probable category, its probability
            and the entropy in bits. Models of several pools have a row for each item and pool.
        """
        rng = np.random.default_rng(self.settings.seed)
        table = self.model.items(self._draws(draws), prob, rng)
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
        draws : int or None, default 400
            Posterior draws to use, spread evenly over the chains; None for all.

        Returns
        -------
        DataFrame of shape (I, K)
            The user's ids of the items by categories; each row sums to 1.

        Raises
        ------
        AttributeError
            The model has no true categories.
        """
        found = self.model.category_probabilities(self._draws(draws))
        if found is None:
            raise AttributeError(
                f"{type(self.model).__name__} has no true categories; models of categories have, "
                "such as DawidSkene."
            )
        return found

    def log_likelihood(self, draws: int | None = None) -> xr.DataArray:
        """Draws of the log-probability of all ratings of an item, its hidden state marginalised.

        For the Gaussian models these are log densities, which depend on the unit of the ratings.
        Effects of raters that Stan has integrated out are drawn.

        Parameters
        ----------
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; all of them by default.

        Returns
        -------
        DataArray (chain, draw, item)
            In nats; 8 bytes for each item and draw: 1.3 GB for 40,000 items and 4000 draws.
        """
        by_distinct, distinct = self._log_likelihood(draws)
        by_item = by_distinct.isel(distinct_item=xr.DataArray(distinct, dims="item"))
        return by_item.assign_coords(item=self.ratings.items)

    def _log_likelihood(self, draws: int | None) -> tuple[xr.DataArray, Codes]:
        """Log-likelihood of distinct items, and which of them each item is."""
        posterior = self._draws(draws)
        values, distinct = self.model.pointwise(posterior)
        coords = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        by_chain = values.reshape(*posterior.shape, -1)
        return xr.DataArray(by_chain, coords, (*coords, "distinct_item")), distinct

    def loo(self, draws: int | None = None, *, warn: bool = True) -> LeaveOneOut:
        """Predictive accuracy for the ratings of held-out items (leave-one-item-out, PSIS).

        Items with the same ratings by the same raters count as often as they occur, but cost time
        and memory once.

        Parameters
        ----------
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; all of them by default. Each
            takes 8 bytes for each distinct item: 1.3 GB, and 40 s, for 40,000 of them and 4000
            draws. With few draws, more Pareto k are too high by chance.
        warn : bool, default True
            Whether to warn of high Pareto k; ``problem`` of the result has the same text.

        Returns
        -------
        LeaveOneOut

        Warns
        -----
        ConvergenceWarning
            Pareto k is too high for some items.

        References
        ----------
        Vehtari, Gelman & Gabry (2017). https://doi.org/10.1007/s11222-016-9696-4
        """
        log_likelihood, distinct = self._log_likelihood(draws)
        elpd, p_loo, pareto_k = arviz_bridge.psis_loo(log_likelihood)
        items = self.ratings.items.rename("item")
        found = LeaveOneOut(
            elpd_by_item=pd.Series(elpd[distinct], items, name="elpd"),
            pareto_k=pd.Series(pareto_k[distinct], items, name="pareto_k"),
            good_k=min(0.7, 1 - 1 / np.log10(log_likelihood[..., 0].size)),
            p_loo=float(p_loo[distinct].sum()),
            n_ratings=self.ratings.n_ratings,
        )
        if warn and found.problem:
            warn_of_high_k(f"{type(self.model).__name__} has {found.problem}", stacklevel=3)
        return found

    def check(
        self, draws: int = 200, seed: int | None = None, prob: float = 0.9
    ) -> PredictiveChecks:
        """Posterior predictive checks: compare the ratings with replicates from the model.

        A replicate has as many new items, each rated by the same raters as an item of the data, at
        the parameters of one draw. Known true categories are kept.

        Parameters
        ----------
        draws : int, default 200
            Replicates, one for each of so many posterior draws, spread evenly over the chains. Time
            grows with draws times ratings: 4 to 6 s for 200 draws of 200,000 ratings. Memory holds
            one replicate at a time, and some 32 bytes for each draw and row of the tables.
        seed : int, optional
            Seed of the replicates; by default that of the fit.
        prob : float, default 0.9
            Probability of the equal-tailed intervals, in (0, 1).

        Returns
        -------
        PredictiveChecks

        References
        ----------
        Gelman, Meng & Stern (1996). https://www.jstor.org/stable/24306036
        """
        if seed is None:
            seed = self.settings.seed
        rng = np.random.default_rng(whole_number("seed", seed, least=0))
        replicates = self.model.replicates(self._draws(draws), rng)
        if self.model.continuous:
            return PredictiveChecks.of_numbers(self.ratings, replicates, prob)
        return PredictiveChecks.of_categories(self.ratings, replicates, prob)

    def _draws(self, wanted: int | None = None) -> Posterior[Problem]:
        """The posterior as the model takes it, thinned to as many draws as are wanted."""
        posterior = Posterior(self.posterior, self.ratings, self.problem, self.centring)
        if wanted is None:
            return posterior
        return posterior.thinned(whole_number("draws", wanted, least=1))

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """Starting points for another fit: random draws, one dict for each chain."""
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
        log_likelihood : bool, default False
            Add a group of that name for `arviz.loo` and `arviz.compare`: the variable ratings
            (chain, draw, item), the log-probability of all ratings of an item. It takes 8 bytes
            for each item and draw: 1.3 GB for 40,000 items and 4000 draws. `Fit.loo` and `compare`
            need less.

        Returns
        -------
        InferenceData or DataTree
        """
        groups = {"posterior": self._everything, "sample_stats": self.sample_stats}
        if log_likelihood:
            groups["log_likelihood"] = self.log_likelihood().to_dataset(name="ratings")
        return arviz_bridge.for_arviz(groups)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write an HTML report of the fit, the answer first.

        Parameters
        ----------
        path : path-like
            Of the page, which appears whole or not at all.
        **options : Any
            As for `reliabayes.report`, which also takes several fits.
        """
        from reliabayes.html_report import report

        report(self.ratings, self, path, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit, ratings included, to a netCDF file that arviz can read, too.

        The file appears whole or not at all. Ids that are neither numbers nor text are kept as
        text. The model is kept as the name of its class, with its module, and its hyperparameters.

        Parameters
        ----------
        path : path-like
            Of the file.
        """
        groups = {
            "posterior": self._everything,
            "sample_stats": self.sample_stats,
            "ratings": storage.pack(self.ratings),
        }
        if self.centring is not None:
            groups["centring"] = storage.pack_arrays(self.centring)
        storage.write(
            path,
            groups,
            {
                "model": json.dumps(storage.pack_fields(self.model)),
                "settings": json.dumps(asdict(self.settings)),
                "parameters": list(map(str, self.posterior)),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fit:
        """Read a fit that `save` wrote.

        Parameters
        ----------
        path : path-like
            Of the file.

        Returns
        -------
        Fit

        Raises
        ------
        FileNotFoundError
            There is no such file.
        ValueError
            The file is damaged or no fit, or the class of its model cannot be imported.
        """
        with storage.read(path) as (groups, about):
            model: Model = storage.unpack_fields(json.loads(about["model"]))
            ratings = Ratings(**storage.unpack(groups["ratings"]))
            settings = Settings(**json.loads(about["settings"]))
            parameters = groups["posterior"][list(np.atleast_1d(about["parameters"]))]
            return cls(
                model,
                ratings,
                model.labelled(
                    {str(name): x.values for name, x in parameters.items()}, model.problem(ratings)
                ),
                groups["sample_stats"],
                replace(settings, relabelled=tuple(settings.relabelled)),
                storage.unpack_arrays(groups["centring"]) if "centring" in groups else None,
            )

    @property
    def _everything(self) -> xr.Dataset:
        """Parameters, and quantities by names that no parameter has."""
        return self.posterior.merge(self.quantities.drop_vars(self.posterior, errors="ignore"))

    @cached_property
    def _flat(self) -> xr.Dataset:
        return self.posterior.stack(sample=("chain", "draw"), create_index=False)
