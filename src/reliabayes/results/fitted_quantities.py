"""Quantities of a fit: draws of the posterior, and what summarises them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import xarray as xr

from reliabayes.errors import ConvergenceWarning
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.partitions import READ_A_PART, AnyRatings, in_memory
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.contrast import Contrast
from reliabayes.results.convergence import Convergence
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.results.ignored_facets import cautions
from reliabayes.results.model import Model, problem_of
from reliabayes.results.modes import (
    are_weighed,
    differences_in_words,
    modes_in_words,
    table_of_modes,
)
from reliabayes.results.posterior import Posterior
from reliabayes.results.rater_quality import by_pool
from reliabayes.results.rater_variance import raters_outweigh_items
from reliabayes.results.sensitivity import note_on_priors, sensitivity
from reliabayes.results.settings import Settings, whole_number
from reliabayes.results.shared_errors import SharedErrors, errors_of_leading_raters
from reliabayes.results.summaries import Interval, chosen_names, describe, scalars

MAX_WORK = 40_000_000  # ratings times draws that estimates of items may cost: about a second
LEAST_DRAWS = 400  # for estimates of items, however many ratings there are


@dataclass(frozen=True, eq=False, repr=False)
class FittedQuantities:
    """Quantities of a fit and their summaries: a base of `Fit`, which documents the fields."""

    model: Model
    ratings: AnyRatings
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
        found: Problem = problem_of(self.model, self.ratings, self.centring)
        return found

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
        """Posterior of each quantity in a row: median, mean, sd, convergence, and interval.

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
            Columns median, mean, sd, ess_bulk, ess_tail, r_hat, mcse (the Monte Carlo standard
            error of the mean), lower_90 and upper_90 (for ``prob=0.9``). A quantity with several
            values has a row for each, ``prevalence[yes]``. ``attrs["caution"]`` says what the model
            cannot know and these numbers depend on, whether the ratings can be read in more than
            one way, and whether raters differ more than items do; ``attrs["note"]`` how far the ICC
            depends on a prior where raters or items are few; both are empty for most fits.
            Sentences and plots state medians.

        Raises
        ------
        ValueError
            There is no such quantity, or ``prob`` is out of range.
        """
        names = chosen_names(names, self.quantities, type(self.model).__name__)
        rows = {
            label: describe(values.ravel(), prob, interval)
            for name in names
            for label, values in scalars(name, self.quantities[name])
        }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")
        bounds = table.columns[-2:]  # last: terminals leave out the columns in the middle
        table = table[["median", "mean", "sd"]].join(
            [self._convergence.table(names), table[bounds]]
        )
        table.attrs["caution"] = self._caution
        table.attrs["note"] = self.note
        return table

    @cached_property
    def _caution(self) -> str:
        """What to say beside the results, in sentences; empty if there is nothing to say."""
        said = [raters_outweigh_items(self.quantities), cautions(self.model, self.ratings)]
        if self.shared_errors is not None:
            said = [self.shared_errors.caution, *said]
        if modes := modes_in_words(self.settings.modes):
            said = [modes, "fit.modes says how they differ.", *said]
        return " ".join(filter(None, said))

    @cached_property
    def shared_errors(self) -> SharedErrors | None:
        """Whether raters on whom most labels rest make the same errors; None if labels rest on all.

        See `reliabayes.results.shared_errors.SharedErrors`.
        """
        return errors_of_leading_raters(self.model.reports, self.ratings, lambda: self.quantities)

    @cached_property
    def note(self) -> str:
        """What the ICC or accuracy would be under other priors, with few raters or items."""
        return note_on_priors(self._draws(), self.quantities, self.model.parameters())

    def sensitivity(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """How far quantities depend on the priors of standard deviations and of probabilities.

        The draws are weighted, with Pareto smoothing; nothing is fitted again.

        Parameters
        ----------
        names : sequence of str, optional
            Quantities; by default those that are not of single raters.

        Returns
        -------
        DataFrame
            A row for each prior and quantity: median; half and twice, the median with half and
            with twice the scale of the prior of a standard deviation, or the weight of a Beta or
            Dirichlet prior (its concentrations); sensitivity, the distance (0 to 1) that the
            posterior moves per doubling of the prior's power or weight (0.05 is noticeable); and
            pareto_k, above 0.7 where only another fit can tell.

        References
        ----------
        Kallioinen et al. (2023). https://doi.org/10.1007/s11222-023-10366-5
        """
        chosen = chosen_names(names, self.quantities, type(self.model).__name__)
        return sensitivity(self._draws(), self.quantities[chosen], self.model.parameters())

    @cached_property
    def _convergence(self) -> Convergence:
        return Convergence(self.quantities)

    def diagnostics(self) -> Diagnostics:
        """Worst convergence diagnostics over all quantities and chains."""
        nodes, error = self._integration
        return Diagnostics.of(
            self._convergence.monitored, self.sample_stats, self.settings, error, nodes
        )

    @cached_property
    def _integration(self) -> tuple[int, float]:
        return self.model.integration_error(self._draws())

    @property
    def modes(self) -> pd.DataFrame:
        """Modes of the posterior of true categories, where it has several; else no rows.

        Chains start at every mode that climbs of EM from 21 to 101 starts have found and that may
        hold more than e^-5 of the posterior. The draws have each mode's share of the posterior, by
        bridge sampling; ``sample_stats["mode"]`` says which mode a draw is from.

        Returns
        -------
        DataFrame
            A row for each mode, the heaviest first. Columns: mass, its share of posterior and
            draws (nan if chains did not start at it); error, the standard error of the log of the
            mass in nats; log_posterior, the log density in nats up to a constant; climbs, how many
            of EM ended there; items, how many have another most probable category than at the
            heaviest mode; rater, whose accuracy differs most from that at the heaviest mode, with
            accuracy and accuracy_first, the mean accuracies at both.

        References
        ----------
        Meng & Wong (1996). https://www.jstor.org/stable/24306045
        """
        of_draw = self.sample_stats["mode"].values if "mode" in self.sample_stats else None
        return table_of_modes(self.model, self._draws(), of_draw, self.settings.modes)

    @cached_property
    def readings(self) -> list[str]:
        """How other modes differ from the heaviest, a sentence each; none if there is one."""
        return differences_in_words(self.modes) if are_weighed(self.settings.modes) else []

    @cached_property
    def doubt(self) -> str:
        """What puts the results in doubt, with numbers and remedies; empty if nothing does."""
        problems = "; ".join(self.diagnostics().problems)
        return f"the draws may not represent the posterior: {problems}." if problems else ""

    def warn_if_unreliable(self) -> None:
        """Warn of the `doubt`, if there is one."""
        if self.doubt:
            text = f"{type(self.model).__name__}: {self.doubt}"
            warnings.warn(text, ConvergenceWarning, stacklevel=4)

    def icc_k(self, k: float) -> xr.DataArray:
        """Draws of the reliability of the mean of ``k`` ratings per item by different raters.

        For binary and ordinal ratings it is the reliability of the observed ratings, from
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

    def _icc(self) -> xr.DataArray:
        if "icc" not in self.quantities:
            name = type(self.model).__name__
            if "phi" in self.quantities:
                raise AttributeError(
                    f"{name} reports g and phi, ICCs of single ratings; d_study({{'rater': 4}}) "
                    "has those of means of ratings, for any numbers of levels."
                )
            remedy = " Pass raters_needed(accuracy=0.95)." * self.model.has_true_categories
            raise AttributeError(
                f"{name} has no ICC; its quantities are "
                f"{', '.join(map(str, self.quantities))}.{remedy}"
            )
        return self.quantities.get("icc_observed", self.quantities["icc"])

    def contrast(self, name: str, one: Any, other: Any, *, prob: float = 0.9) -> Contrast:
        """How much larger a quantity is in one pool, or pair of pools, than in another.

        Parameters
        ----------
        name : str
            A quantity of pools or of pairs of pools; "xcc" for normalized and unnormalized xCC; or
            one of raters, such as "accuracy": for a pool it is the mean over the ratings of its
            raters.
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
        comparable = self.quantities.assign(by_pool(self.quantities, self.ratings))
        return Contrast.of(comparable, name, one, other, prob)

    def _draws(self, wanted: int | None = None) -> Posterior[Problem]:
        """The posterior as the model takes it, thinned to as many draws as are wanted."""
        posterior = Posterior(self.posterior, self.ratings, self.problem, self.centring)
        if wanted is None:
            return posterior
        return posterior.thinned(whole_number("draws", wanted, least=1))

    def _in_memory(self, purpose: str, remedy: str = READ_A_PART) -> Ratings:
        """The ratings, for what needs all of them at once; those in parts are refused."""
        return in_memory(self.ratings, purpose, remedy)

    def _affordable(self, wanted: int | None) -> int | None:
        """The wanted number of draws; by default all, or fewer if there are many ratings."""
        if wanted is not None:
            return wanted
        return min(self._draws().n_draws, max(LEAST_DRAWS, MAX_WORK // len(self.ratings)))
