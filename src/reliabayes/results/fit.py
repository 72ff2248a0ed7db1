"""Fits: posterior draws of a model given ratings, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Codes
from reliabayes.partitions import AnyRatings
from reliabayes.results import arviz_bridge, storage
from reliabayes.results.fitted_items import FittedItems
from reliabayes.results.ignored_facets import ignored_facets
from reliabayes.results.leave_one_out import LeaveOneOut, warn_of_high_k
from reliabayes.results.model import problem_of
from reliabayes.results.new_rater import covariates_of_new_rater, table_of_new_rater
from reliabayes.results.predictive import PredictiveChecks
from reliabayes.results.rater_variance import raters_outweigh_items
from reliabayes.results.saved_file import check_model
from reliabayes.results.settings import chain_number, whole_number
from reliabayes.results.summaries import rounded


@dataclass(frozen=True, eq=False, repr=False)
class Fit(FittedItems):
    """Posterior of a model given ratings.

    `quantities` holds what the model reports, draw by draw; `summary` summarises it.

    Attributes
    ----------
    model : RatingModel
        The model, with its hyperparameters.
    ratings : Ratings or RatingsDataset
        The data, in memory or in parts.
    posterior : Dataset
        Parameters of the Stan program, dims (chain, draw, ...).
    sample_stats : Dataset
        The sampler's statistics, dims (chain, draw), with arviz's names.
    settings : Settings
        How the draws were made.
    centring : object or None
        Location and scale relative to which the program samples, if they depend on the data.
    """

    def __str__(self) -> str:
        said = self._said_first(raters_outweigh_items(self.quantities))
        first = [fill(f"{label}: {text}", 80) for label, text in said.items()]
        return "\n".join([*first, f"{self!r}", rounded(self.summary()).to_string()])

    def _repr_html_(self) -> str:
        from reliabayes.html_report.answers import answer

        table = rounded(self.summary()).rename_axis(None).to_html()
        first = [
            f"<p><b>{label}:</b> {escape(text)}</p>" for label, text in self._said_first().items()
        ]
        return f"{''.join(first)}<p>{escape(answer(self).verdict)}</p>{table}"

    def _said_first(self, of_raters: str = "") -> dict[str, str]:
        """What to print above the results, by label.

        The caution of models of scores is left out: it is a hint at other models. What is to be
        said ``of_raters`` is given where no verdict follows, which says it, too.
        """
        caution = self._caution
        if not self.model.has_true_categories:
            caution = " ".join(filter(None, (of_raters, ignored_facets(self.model, self.ratings))))
        said = {"Warning": self.doubt, "Caution": caution}
        return {label: text for label, text in said.items() if text}

    def raters(self, prob: float = 0.9, draws: int | None = None) -> pd.DataFrame:
        """Estimates for each rater, by the user's ids.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            Posterior draws to use, spread evenly over chains; by default all that fit in memory.

        Returns
        -------
        DataFrame
            Columns ratings (how many), and what the model estimates. Models of scores: effects as
            mean, sd, median, lower_90 and upper_90. Models of true categories: medians, the worst
            rater first. information_lost is how many bits less a rating tells than one by a typical
            rater, the median of all; pr_poor the probability that it tells less than half of that;
            most_used the category that the rater gives most, share_most_used its proportion. With
            up to four categories: ``accuracy[k]``, how often a rating is correct if k is true;
            ``rate[k]``, the proportion of the rater's ratings that are k; ``bias[k]``, how much
            more often the rater guesses k than it is true (p - t), where raters guess and the
            prevalence is estimated. Of two categories rate and bias are those of the second.
            ``attrs["draws"]`` says how many draws were used, ``attrs["caution"]`` as of `summary`.
        """
        rng = np.random.default_rng(self.settings.seed)
        posterior = self._draws(draws)
        if draws is None:
            posterior = replace(posterior, quantities=self.quantities)
        table = self.model.raters(posterior, prob, rng)
        table.insert(0, "ratings", self.ratings.ratings_per_rater)
        if "information_lost" in table:
            table = table.sort_values("information_lost", ascending=False, kind="stable")
        table.attrs = {"draws": posterior.n_draws, **table.attrs}
        table.attrs["caution"] = self._caution
        return table

    def new_rater(
        self, prob: float = 0.9, covariates: Mapping[str, float] | None = None
    ) -> pd.DataFrame:
        """Quantities of a rater who has not rated yet, drawn from the population of raters.

        At each posterior draw the parameters of a rater are drawn from what the model says of all
        raters there, so that the intervals cover both how much raters differ and how far that is
        unknown.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        covariates : mapping of str to float, optional
            Those of the rater by name, for a model that has covariates of raters.

        Returns
        -------
        DataFrame
            A row for each quantity that `raters` has of a rater, such as accuracy, or the effect
            of models of scores, for several pools one of each; columns median, mean, sd, lower_90
            and upper_90. ``attrs["caution"]`` as of `summary`.

        Raises
        ------
        AttributeError
            Raters of the model are not drawn from a population whose distribution is estimated.
        ValueError
            ``covariates`` are not those of the model, or ``prob`` is out of range.
        """
        given = covariates_of_new_rater(self.model.covariates, covariates)
        rng = np.random.default_rng(self.settings.seed)
        drawn = self.model.new_rater(self._draws(), given, rng)
        if drawn is None:
            raise AttributeError(
                f"{type(self.model).__name__} estimates no population of raters, so that its "
                "ratings say nothing of a rater who gave none. Fit a model that does: "
                "HierarchicalDawidSkene or LatentTAP for categories, or one of scores."
            )
        table = table_of_new_rater(drawn, prob)
        table.attrs["caution"] = self._caution
        return table

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
        return by_item.assign_coords(item=self._in_memory("log_likelihood").items)

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
        ratings = self._in_memory("loo")
        found = LeaveOneOut.of(*self._log_likelihood(draws), ratings)
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
        ratings = self._in_memory("check")
        if seed is None:
            seed = self.settings.seed
        rng = np.random.default_rng(whole_number("seed", seed, least=0))
        replicates = self.model.replicates(self._draws(draws), rng)
        if self.model.continuous:
            return PredictiveChecks.of_numbers(ratings, replicates, prob)
        return PredictiveChecks.of_categories(ratings, replicates, prob)

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """Starting points for another fit: random draws, one dict for each chain."""
        base, number = whole_number("seed", seed, least=0), chain_number(chains)
        return [
            {str(name): values[at].values for name, values in self._flat.items()}
            for rng in map(np.random.default_rng, ([base, chain] for chain in range(number)))
            for at in [dict(sample=rng.integers(self._flat.sizes["sample"]))]
        ]

    def to_arviz(self, *, log_likelihood: bool = False, posterior_predictive: int = 0) -> Any:
        """The draws as arviz keeps them: InferenceData (0.x) or DataTree (1.x).

        Groups posterior (parameters and quantities) and sample_stats.

        Parameters
        ----------
        log_likelihood : bool, default False
            Add a group of that name for `arviz.loo` and `arviz.compare`: the variable ratings
            (chain, draw, item), the log-probability of all ratings of an item. It takes 8 bytes
            for each item and draw: 1.3 GB for 40,000 items and 4000 draws. `Fit.loo` and `compare`
            need less.
        posterior_predictive : int, default 0
            Add a group of that name for posterior predictive plots, and observed_data: the variable
            ratings (chain, draw, rating), replicates as of `check` for so many draws, spread evenly
            over the chains. Categories are their positions, from 0.

        Returns
        -------
        InferenceData or DataTree
        """
        groups = {"posterior": self._everything, "sample_stats": self.sample_stats}
        if log_likelihood:
            groups["log_likelihood"] = self.log_likelihood().to_dataset(name="ratings")
        if posterior_predictive:
            groups |= self._predictive(posterior_predictive)
        return arviz_bridge.for_arviz(groups)

    def _predictive(self, draws: int) -> dict[str, xr.Dataset]:
        """Replicates at some draws, and the ratings, by the names that arviz has for them."""
        posterior = self._draws(whole_number("posterior_predictive", draws, least=1))
        ratings, rng = self._in_memory("to_arviz"), np.random.default_rng(self.settings.seed)
        drawn = np.array([*self.model.replicates(posterior, rng)]).reshape(*posterior.shape, -1)
        coords = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        observed = ratings.values if self.model.continuous else ratings.category
        return {
            "posterior_predictive": xr.Dataset({"ratings": ((*coords, "rating"), drawn)}, coords),
            "observed_data": xr.Dataset({"ratings": ("rating", observed)}),
        }

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write an HTML report of the fit, the answer first.

        Parameters
        ----------
        path : path-like
            Of the page, which appears whole or not at all.
        **options : Any
            As for `reliabayes.report`, which also takes several fits.
        """
        from reliabayes.html_report.page import report

        report(self.ratings, self, path, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit, ratings included, to a netCDF file that arviz can read, too.

        The file appears whole or not at all, and has a checksum. Ids that are neither numbers nor
        text are kept as text. The model is kept as the name of its class, with its module, and its
        hyperparameters.

        Parameters
        ----------
        path : path-like
            Of the file.

        Raises
        ------
        OSError
            It cannot be written; the message names the path, and on a full disk the missing space.
        """
        storage.save(
            path,
            storage.SavedFit(
                self.model,
                self.ratings,
                self._everything,
                tuple(map(str, self.posterior)),
                self.sample_stats,
                self.settings,
                self.centring,
            ),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, trust: bool = False) -> Fit:
        """Read a fit that `save` wrote.

        The file names the classes of its model, of the priors and of the centring. Those of the
        package are built, and those derived from them that are defined in a module that is imported
        already; nothing is imported that the file names.

        Parameters
        ----------
        path : path-like
            Of the file.
        trust : bool, default False
            Whether the file may name any other dataclass. Its module is then imported, which runs
            code of the module; pass True only if you know who wrote the file.

        Returns
        -------
        Fit

        Raises
        ------
        FileNotFoundError
            There is no such file.
        ValueError
            The file was damaged or changed after it was saved, or is no fit, or names a class that
            is not known here.
        """
        from reliabayes.models.saved_classes import saved_classes

        with storage.load(path, saved_classes(), trust) as saved:
            drawn = {name: saved.draws[name].values for name in saved.parameters}
            problem = problem_of(saved.model, saved.ratings, saved.centring)
            posterior = saved.model.labelled(drawn, problem)
            fit = cls(
                saved.model,
                saved.ratings,
                posterior,
                saved.sample_stats,
                saved.settings,
                saved.centring,
            )
            vars(fit)["problem"] = problem  # the cached property, already known
            check_model(saved.model, fit._draws(), saved.draws, saved.parameters)
            return fit

    @classmethod
    def from_cmdstan(cls, mcmc: Any, model: Any, ratings: AnyRatings) -> Fit:
        """The fit that draws by cmdstanpy make, with all results.

        The draws must be of the model's program given these ratings: name, shapes, and the log
        density at some of the draws are compared.

        Parameters
        ----------
        mcmc : cmdstanpy.CmdStanMCMC, path-like, or sequence of path-like
            What ``sample`` returned, or the tables (CSV) of its chains.
        model : RatingModel
            The model whose `cmdstan_model` made the draws.
        ratings : Ratings or RatingsDataset
            The data that `stan_data` of the model was made from.

        Returns
        -------
        Fit
            Warm-up, seed, sampler and version of Stan are those that the tables state.

        Raises
        ------
        ValueError
            The draws are by another program, of other dimensions, or given other ratings or priors;
            or they are too few, or not by Stan's sampler.

        Warns
        -----
        ConvergenceWarning
            The chains disagree, are too short, or diverged.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [4, 4], [2, 3]]))
        >>> model = rb.GaussianICC()
        >>> arguments = model.sample_arguments(ratings, seed=1)
        >>> mcmc = model.cmdstan_model(ratings).sample(**arguments, show_progress=False)
        >>> rb.Fit.from_cmdstan(mcmc, model, ratings).settings.seed
        1
        """
        from reliabayes.models.cmdstan_fit import fit_of_cmdstan

        return fit_of_cmdstan(mcmc, model, ratings)

    @property
    def _everything(self) -> xr.Dataset:
        """Parameters, and quantities by names that no parameter has."""
        return self.posterior.merge(self.quantities.drop_vars(self.posterior, errors="ignore"))

    @cached_property
    def _flat(self) -> xr.Dataset:
        return self.posterior.stack(sample=("chain", "draw"), create_index=False)
