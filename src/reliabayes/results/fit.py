"""Fits: posterior draws of a model given ratings, and what follows from them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from textwrap import fill
from typing import Any, ClassVar, Literal, TypeVar, get_args

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Codes
from reliabayes.choices import LabelFormat, Stated
from reliabayes.crowds.crowd import Crowd
from reliabayes.crowds.statement import Statement
from reliabayes.errors import ConvergenceWarning
from reliabayes.facets import Decision, as_names, numbers_of_levels
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.partitions import (
    READ_A_PART,
    WRITE_ITEMS,
    AnyRatings,
    RatingsDataset,
    example_of,
    in_memory,
)
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import MethodsSentence
from reliabayes.results import (
    arviz_bridge,
    dependence,
    known_answers,
    quantities,
    rating_probabilities,
    storage,
)
from reliabayes.results.contrast import Contrast
from reliabayes.results.convergence import Convergence
from reliabayes.results.decision_study import DStudy, cheapest
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.results.headline import STATED_HONESTLY, headline, how_sampled, of_draws
from reliabayes.results.ignored_facets import cautions, ignored_facets
from reliabayes.results.item_tables import TableOfPart, of_table, write_table, write_tables
from reliabayes.results.label_files import write_labels
from reliabayes.results.label_table import label_table
from reliabayes.results.leave_one_out import LeaveOneOut, warn_of_high_k
from reliabayes.results.model import (
    ChoosesNodes,
    HasFacets,
    HasNewRaters,
    HasPanel,
    HasTrueCategories,
    Model,
    RatesInCategories,
    TakesParts,
    no_facets,
    no_panel,
    no_true_categories,
    problem_of,
    supports,
)
from reliabayes.results.modes import (
    are_weighed,
    differences_in_words,
    modes_in_words,
    table_of_modes,
)
from reliabayes.results.near_chance import near_chance
from reliabayes.results.new_rater import covariates_of_new_rater, table_of_new_rater
from reliabayes.results.plan import Plan
from reliabayes.results.posterior import Posterior
from reliabayes.results.predictive import PredictiveChecks
from reliabayes.results.rater_quality import (
    by_pool,
    known_pools,
    pool_quality,
    proportion_correct,
    share_of_ratings,
)
from reliabayes.results.rater_variance import raters_outweigh_items
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.results.saved_file import check_model
from reliabayes.results.sensitivity import note_on_priors, sensitivity
from reliabayes.results.settings import Settings, chain_number, whole_number
from reliabayes.results.stated import MOST_DRAWS, correct_ratings, with_stated_accuracy
from reliabayes.results.summaries import (
    Interval,
    chosen_names,
    describe,
    ratings_of,
    rounded,
    scalars,
    size_text,
)

Result = TypeVar("Result")

MAX_WORK = 40_000_000  # ratings times draws that estimates of items may cost: about a second
LEAST_DRAWS = 400  # for estimates of items, however many ratings there are
SIMULATIONS = 100  # draws for which ratings of new items are simulated


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
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

    model: Model
    ratings: AnyRatings
    posterior: xr.Dataset
    sample_stats: xr.Dataset
    settings: Settings
    centring: StanPart | None = None
    _remembered: ClassVar[dict[tuple[object, ...], Any] | None] = None

    def __repr__(self) -> str:
        made = f"{self.settings.chains} chains of {self.settings.draws} draws"
        return f"Fit({type(self.model).__name__}, {made}, {self.ratings!r})"

    def __str__(self) -> str:
        said = self._warnings_first(raters_outweigh_items(self.quantities))
        first = [fill(f"{label}: {text}", 80) for label, text in said.items()]
        return "\n".join([*first, f"{self!r}", rounded(self.summary()).to_string()])

    def _repr_html_(self) -> str:
        from reliabayes.html_report.answers import answer

        table = rounded(self.summary()).rename_axis(None).to_html()
        first = [
            f"<p><b>{label}:</b> {escape(text)}</p>"
            for label, text in self._warnings_first().items()
        ]
        return f"{''.join(first)}<p>{escape(answer(self, details=False).verdict)}</p>{table}"

    @cached_property
    def problem(self) -> Problem:
        """What the posterior depends on: data reduced to what the likelihood needs, and priors."""
        found: Problem = problem_of(self.model, self.ratings, self.centring)
        return found

    @property
    def plan(self) -> Plan | None:
        """How the posterior was to be sampled, and why; None if cmdstanpy made the draws."""
        return self.settings.plan

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
    def note(self) -> str:
        """What the ICC or accuracy would be under other priors, with few raters or items."""
        return note_on_priors(self._draws(), self.quantities, supports(self.model))

    @cached_property
    def near_chance(self) -> str:
        """What it means that raters are hardly better than chance; empty if they are better."""
        is_panel = isinstance(self.model, HasPanel)  # which says what is determined
        return "" if is_panel else near_chance(self.quantities, self.ratings)

    @cached_property
    def crowd(self) -> Crowd | None:
        """Votes, and whose errors are dependent; None if the model has no raters with accuracies.

        See `reliabayes.crowds.crowd.Crowd`. Of more than 50,000 ratings, in memory or in parts, a
        random sample of the items is taken that has so many: the same by any route.
        """
        return dependence.crowd_of_model(self.model, self.ratings)

    @cached_property
    def common_errors(self) -> str:
        """Who errs together, or on whom most labels rest, in sentences; empty if nobody."""
        return dependence.common_errors(self.crowd, self.ratings)

    def dependence(self) -> pd.DataFrame:
        """Groups of raters who make the same errors, the clearest first; no rows if none do.

        Each pair of raters is compared on the items that others rated, too: how often both agree
        beyond what independent errors would give, with the true categories as the others see them
        and the errors of both estimated again against these. In 2% of sets of independent raters
        some pair is found by chance.

        Returns
        -------
        DataFrame
            Columns raters (their ids), n_raters, items (comparisons of two of them), correlation
            (of their errors, 0 to 1), z (standard errors above that of other raters) and
            effective_votes (how many independent votes one of each counts as).
            ``attrs["caution"]`` says what that means for labels; ``attrs["mean_correlation"]`` is
            that of all pairs, nan if there are none. Of more than 50,000 ratings, in memory or in
            parts, those of a random sample of the items are compared, the same by any route.

        Raises
        ------
        AttributeError
            The model has no true categories, or raters without accuracies.
        ValueError
            There are fewer than three raters, or it is not known who rated.

        See Also
        --------
        reliabayes.plots.dependence : All pairs in a picture.
        """
        found = self._known_crowd()
        raters = example_of(self.ratings).raters
        table = dependence.table_of_groups(found, raters)
        pairs = len(found.found.raters)
        table.attrs["caution"] = dependence.in_words(found, raters)
        table.attrs["mean_correlation"] = found.found.mean if pairs else float("nan")
        return table

    @cached_property
    def statement(self) -> Statement:
        """What to state of items, from votes weighted by dependence: as of ``stated="honest"``."""
        ratings, found = self._items_in_memory("statement"), self._known_crowd()
        if len(ratings) > dependence.ENOUGH:
            found = dependence.crowd_of_ratings(ratings) or found
        return dependence.statement_of(found, ratings.gold_category)

    def states_honestly(self, stated: Stated | None = None) -> bool:
        """Whether results are calibrated on other crowds with known answers, if that is possible.

        Parameters
        ----------
        stated : {"model", "honest"}, optional
            What is wanted; by default what the model is set to.

        Returns
        -------
        bool
        """
        if stated is not None and stated not in get_args(Stated):
            raise ValueError(f"stated must be 'model' or 'honest', not {stated!r}.")
        if stated is not None or self.model.stated == "model":
            return stated == "honest"
        return isinstance(self.ratings, Ratings) and dependence.has_crowd(self.model, self.ratings)

    def next_items(self, number: int = 50) -> pd.DataFrame:
        """Items whose true category to find out next, and what their answers would bring.

        Parameters
        ----------
        number : int, default 50
            How many, from 1.

        Returns
        -------
        DataFrame
            A row for each item: chosen ("at random" for half of them, which tell how often stated
            labels are right, or "doubtful", the least certain of the others), category and
            probability, as stated now. ``attrs["note"]`` says what calibration error and log score
            are expected with their answers.

        Raises
        ------
        AttributeError, ValueError, RatingsError
            As of `dependence`; or the ratings are in parts.
        """
        number = whole_number("number", number, least=1)
        ratings = self._items_in_memory("next_items")
        return dependence.next_items(self.statement, ratings, number, self._rng())

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
        return sensitivity(self._draws(), self.quantities[chosen], supports(self.model))

    def contrast(
        self, name: str, one: Any, other: Any, *, prob: float = 0.9, stated: Stated | None = None
    ) -> Contrast:
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
        stated : {"model", "honest"}, optional
            Whose accuracies, as for `pools`.

        Returns
        -------
        Contrast
            ``summary()`` with the probability that the difference is above 0, and ``draws``.

        Raises
        ------
        ValueError
            There is no such quantity, pool or pair; the message names those there are.
        """
        of_pools = by_pool(self.quantities, self.ratings)
        comparable = self.quantities.assign(of_pools)
        if name == "accuracy" and name in of_pools and self.states_honestly(stated):
            comparable = xr.Dataset({name: self.accuracies("pool", stated=stated)})
        return Contrast.of(comparable, name, one, other, prob)

    @cached_property
    def panel(self) -> Any:
        """Rates of groups, and how far judges can be trusted: `PanelResults`, of `JudgePanel`."""
        if not isinstance(self.model, HasPanel):
            raise no_panel(self.model)
        return self.model.panel(self._draws())

    def identified(self) -> pd.DataFrame:
        """What the answers of people and judges determine, of `JudgePanel`.

        Returns
        -------
        DataFrame
            A row for the rates of true categories, and one for those of people's ratings:
            independent views of an item, whether they suffice, and why.
        """
        table: pd.DataFrame = self.panel.identified.table()
        return table

    @property
    def modes(self) -> pd.DataFrame:
        """Modes of the posterior of true categories, where it has several; else no rows.

        Chains start at every mode that climbs of EM from 21 to 101 starts have found and that may
        hold more than 0.1% of the posterior. The draws have each mode's share of the posterior, by
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

    def diagnostics(self) -> Diagnostics:
        """Worst convergence diagnostics over all quantities and chains."""
        nodes, error = self._integration
        return Diagnostics.of(
            self._convergence.monitored, self.sample_stats, self.settings, error, nodes
        )

    @cached_property
    def doubt(self) -> str:
        """What puts the results in doubt, with numbers and remedies; empty if nothing does."""
        problems = "; ".join(self.diagnostics().problems)
        return f"the draws may not represent the posterior: {problems}." if problems else ""

    def warn_if_unreliable(self, missed: str = "") -> None:
        """Warn of the `doubt`, if there is one, and of a precision that was ``missed``."""
        if missed:
            missed = f"{missed}: fit with more draws, or ask for less."
        if said := " ".join(filter(None, (self.doubt, missed))):
            text = f"{type(self.model).__name__}: {said}"
            warnings.warn(text, ConvergenceWarning, stacklevel=4)

    def raters(
        self, prob: float = 0.9, draws: int | None = None, *, stated: Stated | None = None
    ) -> pd.DataFrame:
        """Estimates for each rater, by the user's ids.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            Posterior draws to use, spread evenly over chains; by default all that fit in memory.
        stated : {"model", "honest"}, optional
            "honest": accuracies are the proportions of raters' ratings that are right by labels as
            `items` states them, with what crowds and raters differ by from that in the intervals.
            The other columns are those of the model. By default what the model is set to.

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
        is_honest = self.states_honestly(stated)

        def table() -> pd.DataFrame:
            posterior = self._draws(draws)
            if draws is None:
                posterior = replace(posterior, quantities=self.quantities)
            found = self.model.raters(posterior, prob, self._rng())
            if is_honest:
                accuracy = self.correct_share("rater", draws, stated="honest").values
                found = with_stated_accuracy(found, accuracy.reshape(-1, len(found)), prob)
            found.insert(0, "ratings", self.ratings.ratings_per_rater)
            if "information_lost" in found:
                found = found.sort_values("information_lost", ascending=False, kind="stable")
            found.attrs = {"draws": posterior.n_draws, **found.attrs, "caution": self._caution}
            return found

        return self._once(("raters", prob, draws, is_honest), table)

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
        drawn = None
        if isinstance(self.model, HasNewRaters):
            drawn = self.model.new_rater(self._draws(), given, self._rng())
        if drawn is None:
            raise AttributeError(
                f"{type(self.model).__name__} estimates no population of raters, so that its "
                "ratings do not inform a rater who gave none. Fit a model that does: "
                "HierarchicalDawidSkene or LatentTAP for categories, or one of scores."
            )
        table = table_of_new_rater(drawn, prob)
        table.attrs["caution"] = self._caution
        return table

    def pools(self, prob: float = 0.9, *, stated: Stated | None = None) -> pd.DataFrame:
        """Accuracy, information and agreement of each pool of raters, the worst first.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        stated : {"model", "honest"}, optional
            Whose accuracies, as for `raters`.

        Returns
        -------
        DataFrame
            A row for each pool. Columns raters and ratings (how many); accuracy, the median
            probability that a rating of the pool is correct, with lower_90 and upper_90; pr_lowest,
            the probability that no other pool has a lower accuracy; informativeness, the median
            information of a rating in bits; agreement, the proportion of pairs of ratings of an
            item, one of them of the pool, that are equal. ``attrs["caution"]`` as of `summary`.

        Raises
        ------
        AttributeError
            The model has no accuracy of raters.
        ValueError
            The ratings have no pools.
        """
        accuracy = self.accuracies("pool", stated=stated)
        information = by_pool(self.quantities, self.ratings)["informativeness"]
        table = pool_quality(accuracy, information, self.ratings, prob)
        table.attrs["caution"] = self._caution
        return table

    def accuracies(
        self, by: Literal["pool", "rater"], *, stated: Stated | None = None
    ) -> xr.DataArray:
        """Draws of the accuracies that `pools` and `raters` state.

        Parameters
        ----------
        by : {"pool", "rater"}
            Of each pool, which is that of a rating by any of its raters, or of each rater.
        stated : {"model", "honest"}, optional
            Whose accuracies, as for `raters`.

        Returns
        -------
        DataArray (chain, draw, pool) or (chain, draw, rater), in [0, 1]

        Raises
        ------
        AttributeError
            The model has no accuracy of raters.
        ValueError
            ``by`` is unknown, or it is "pool" and the ratings have no pools.
        """
        if by not in ("pool", "rater"):
            raise ValueError(f"by must be 'pool' or 'rater', not {by!r}.")
        found = self.quantities
        if by == "pool":
            known_pools(self.ratings)
            found = by_pool(found, self.ratings)
        if "accuracy" not in found or found["accuracy"].dims[2:] != (by,):
            raise no_true_categories(self.model)
        if self.states_honestly(stated):
            return self.correct_share(by, stated="honest")
        return found["accuracy"]

    def items(
        self,
        prob: float = 0.9,
        draws: int | None = None,
        *,
        stated: Stated | None = None,
    ) -> pd.DataFrame:
        """Estimates for each item, by the user's ids.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            Posterior draws to use, spread evenly over the chains. By default all of them for up to
            10,000 ratings and 4,000 draws, and for more ratings as many as take similar time, but
            at least 400. Time grows with ratings times draws, memory does not.
        stated : {"model", "honest"}, optional
            "honest": labels by votes in which raters who err together count as fewer, with
            probabilities that are calibrated on known answers of other crowds, and on those at hand
            (see `reliabayes.crowds.statement`). They do not depend on the model and its draws. By
            default what the model is set to, which is "honest" where `recommend` named it.

        Returns
        -------
        DataFrame
            Columns ratings (how many), and what the model estimates: effects as mean, sd, median,
            lower_90 and upper_90; true categories as the most probable category, its probability
            and the entropy in bits. Models of several pools have a row for each item and pool.
            ``attrs["draws"]`` says how many draws were used, ``attrs["caution"]`` as of `summary`.
        """
        ratings = self._items_in_memory("items")
        is_honest = self.states_honestly(stated)

        def table() -> pd.DataFrame:
            posterior = self._draws(self._affordable(draws))
            if is_honest or self.model.has_true_categories:
                choice: Stated = "honest" if is_honest else "model"
                found = label_table(self.category_probabilities(draws, stated=choice))
            else:
                found = self.model.items(posterior, prob, self._rng())
            found.insert(0, "ratings", ratings_of(found.index, ratings))
            found.attrs |= {"draws": posterior.n_draws, "caution": self._caution}
            return found

        return self._once(("items", prob, draws, is_honest), table)

    def write_items(
        self, folder: str | os.PathLike[str], prob: float = 0.9, draws: int | None = None
    ) -> None:
        """Write the tables of `items` to a folder, a Parquet file for each part of a dataset.

        One part at a time is in memory, of each process that computes with parts.

        Parameters
        ----------
        folder : str or path
            Is made if it does not exist, and must be empty. The files are ``part-00000.parquet``
            and so on, with the column item for the user's ids. All are there or none.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            As for `items`.

        Raises
        ------
        FileExistsError
            There is something in the folder already.

        Notes
        -----
        Labels are those of all ratings in memory. Effects of the items of a part are drawn with a
        seed of its own: with other parts they differ by chance, as they do with another seed.
        """
        by_part = self._items_by_part(prob, draws)
        if by_part is None:
            write_table(self.items(prob, draws), folder)
        else:
            write_tables(*by_part, folder, self.settings.seed)

    def write_labels(
        self,
        path: str | os.PathLike[str],
        format: LabelFormat | None = None,
        *,
        source: str | os.PathLike[str] | None = None,
        question: str | None = None,
        draws: int | None = None,
    ) -> None:
        """Write the most probable category of each item, with its probability, to import it again.

        Texts that begin with ``=``, ``+``, ``-`` or ``@`` are written so that no spreadsheet
        computes them.

        Parameters
        ----------
        path : str or path
            The file, which is written as a whole or not at all.
        format : {"label_studio", "argilla", "csv", "xlsx"}, optional
            Tasks of Label Studio with a prediction each, records of Argilla with a suggestion each,
            as ``dataset.records.from_json`` takes them, or a table with the columns item, rater,
            rating and probability, whose rater is the model. By default what the name of the file
            ends in. A workbook needs the package openpyxl.
        source : str or path, optional
            The export that the ratings were read from, in JSON. Its tasks or records are written
            with all that they hold; those without a label are left out. By default they have their
            ids only.
        question : str, optional
            The question that the labels answer. By default the one of the source, or else
            ``"label"``.
        draws : int, optional
            As for `items`.

        Raises
        ------
        AttributeError
            The model has no true categories.
        ValueError
            There is no such format.
        RatingsError
            The source is no such file, or has several questions.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_frame(rb.datasets.load("dawid_skene_1979"), replicates="keep")
        >>> fit = rb.DawidSkene().fit(ratings, seed=1)
        >>> with TemporaryDirectory() as folder:
        ...     fit.write_labels(Path(folder, "labels.csv"))
        ...     print(Path(folder, "labels.csv").read_text().splitlines()[0])
        item,rater,rating,probability
        """
        write_labels(
            label_table(self.category_probabilities(draws)),
            path,
            format=format,
            model=type(self.model).__name__,
            source=source,
            question=question,
        )

    def sum_over_items(
        self, function: Callable[[pd.DataFrame, Ratings], Result], draws: int | None = None
    ) -> Result:
        """Sum of a function of the tables of items of the parts of a dataset, and their ratings.

        Parameters
        ----------
        function : callable
            Takes the table `items` of a part, without the column ratings, and the ratings of the
            part. For other processes, it must be one that can be pickled.
        draws : int, optional
            As for `items`.

        Returns
        -------
        Any
            What the function returns, added by ``+``; of ratings in memory, of all of them.
        """
        by_part = self._items_by_part(0.9, draws)
        if by_part is None:
            ratings = self._in_memory("items")
            return function(self.items(draws=draws).drop(columns="ratings"), ratings)
        dataset, table = by_part
        return dataset.sum(partial(of_table, table, self.settings.seed, function))

    def category_probabilities(
        self, draws: int | None = None, *, stated: Stated | None = None
    ) -> pd.DataFrame:
        """Probability of each true category of each item.

        Parameters
        ----------
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; by default as for `items`.
        stated : {"model", "honest"}, optional
            As for `items`.

        Returns
        -------
        DataFrame of shape (I, K)
            The user's ids of the items by categories; each row sums to 1. ``attrs["draws"]`` says
            how many draws were used, ``attrs["caution"]`` as of `summary`.

        Raises
        ------
        AttributeError
            The model has no true categories.
        RatingsError
            The ratings are in parts.
        """
        model = self.model
        if not isinstance(model, HasTrueCategories):
            raise no_true_categories(model)
        ratings = self._items_in_memory("category_probabilities")
        is_honest = self.states_honestly(stated)

        def probabilities() -> pd.DataFrame:
            posterior = self._draws(self._affordable(draws))
            if is_honest:
                found = dependence.stated_table(self.statement, ratings)
            else:
                found = model.category_probabilities(posterior)
            found.attrs |= {"draws": posterior.n_draws, "caution": self._caution}
            return found

        return self._once(("category_probabilities", draws, is_honest), probabilities)

    def correct_share(
        self,
        by: Literal["all", "pool", "rater"] = "all",
        draws: int | None = None,
        *,
        stated: Stated | None = None,
    ) -> xr.DataArray:
        """Draws of the proportion of the ratings at hand that equal the item's true category.

        The quantity ``accuracy`` is the probability of a correct rating of an item drawn at random.
        This is the proportion among the items that were rated, with true categories drawn given
        their ratings. It depends less on the priors of raters.

        Parameters
        ----------
        by : {"all", "pool", "rater"}
            Of all ratings together, of those of each pool, or of those of each rater.
        draws : int, optional
            Posterior draws to use, spread evenly over the chains; by default as for `items`.
        stated : {"model", "honest"}, optional
            Whether true categories are drawn as the model holds them, or as `items` states them
            honestly, with what crowds differ by from that; by default what the model is set to.

        Returns
        -------
        DataArray (chain, draw), (chain, draw, pool) or (chain, draw, rater), in [0, 1]

        Raises
        ------
        AttributeError
            The model has no true categories.
        ValueError
            ``by`` is unknown, or it is "pool" and the ratings have no pools.
        """
        if by not in ("all", "pool", "rater"):
            raise ValueError(f"by must be 'all', 'pool' or 'rater', not {by!r}.")
        if by == "pool" and self.ratings.rater_pool is None:
            raise ValueError("by='pool' needs ratings with pools: pass pool=... with the ratings.")
        if not isinstance(self.model, HasTrueCategories):
            raise no_true_categories(self.model)
        is_honest = self.states_honestly(stated)
        wanted = self._affordable(draws)
        if is_honest and draws is None:
            wanted = min(self._draws().n_draws, MOST_DRAWS, wanted or MOST_DRAWS)
        posterior = self._draws(wanted)
        if is_honest:
            ratings, number = self._in_memory("correct_share"), posterior.n_draws
            draw = partial(correct_ratings, self.statement, ratings, number, self._rng())
            correct = self._once(("correct_share", number), draw)
        else:
            correct = self.model.correct_ratings(posterior, self._rng())
        coords = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        by_rater = xr.DataArray(
            correct.reshape(*posterior.shape, -1), coords, (*coords, "rater"), "correct_share"
        )
        return proportion_correct(by_rater, self.ratings, by)

    def against_gold(self, prob: float = 0.9) -> pd.DataFrame:
        """How often labels and raters equal the known true categories, with intervals.

        The model's label of an item is the most probable category that it would have had if its
        true category had not been known, by importance weights of the draws. Ties of majority votes
        count in proportion.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed intervals, in (0, 1): Jeffreys intervals for
            independent items.

        Returns
        -------
        DataFrame
            Rows ("labels", "model"), ("labels", "majority vote"), a row for each pool if there are
            pools, and one for each rater, the worst first. Columns ratings (how many of items with
            a known category), correct, accuracy, lower_90 and upper_90.

        Raises
        ------
        AttributeError
            The model has no true categories.
        ValueError
            No true category is known.
        """
        ratings = self._in_memory("against_gold")
        if not len(known_answers.known_items(ratings)):
            raise ValueError("no true category is known: pass gold=... with the ratings.")

        def table() -> pd.DataFrame:
            drawn, _ = self._rating_probabilities(LEAST_DRAWS)
            return known_answers.accuracy_table(ratings, drawn, prob)

        return self._once(("against_gold", prob), table)

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

    def raters_needed(
        self,
        reliability: float | None = None,
        *,
        accuracy: float | None = None,
        adaptive: bool = False,
        pool: Any = None,
    ) -> xr.DataArray:
        """Draws of the number of ratings that an item needs.

        Models with an ICC: the number of ratings by different raters whose mean reaches a
        ``reliability``. For binary and ordinal ratings it is the reliability of the observed
        ratings, from ``icc_observed``.

        Models of true categories: the number of ratings after which the most probable category of
        an item is correct with a probability of ``accuracy``, on average over items. For 100 draws,
        a thousand new items each are rated by these raters, drawn in proportion to their ratings.
        That raters are known only from these ratings is in the spread of the draws; that they may
        err together is not, and takes more ratings or cannot be made up for by any number of them.

        Parameters
        ----------
        reliability : float, optional
            Wanted reliability, strictly between 0 and 1.
        accuracy : float, optional
            Wanted proportion of correct categories, strictly between 0 and 1.
        adaptive : bool, default False
            With ``accuracy``: an item gets no more ratings as soon as its most probable category is
            as probable as that; the draws are then mean numbers of ratings per item.
        pool : object, optional
            With ``accuracy``: the pool whose raters rate; by default all.

        Returns
        -------
        DataArray (chain, draw), from 1; infinite where the ICC is 0, or where 50 ratings are not
            enough for the accuracy; (chain, draw, pool) for ICCs of several pools

        Raises
        ------
        ValueError
            Not exactly one of ``reliability`` and ``accuracy`` is given, it is not strictly between
            0 and 1, or there is no such pool.
        AttributeError
            The model has no ICC, or no true categories.
        """
        if accuracy is None:
            if reliability is None or adaptive or pool is not None:
                raise ValueError(
                    "pass either reliability, for models with an ICC, or accuracy, for models of "
                    "true categories; adaptive and pool go with accuracy."
                )
            return quantities.raters_needed(self._icc(), reliability).rename("raters_needed")
        if reliability is not None:
            raise ValueError("pass either reliability or accuracy, not both.")
        if not 0 < accuracy < 1:
            raise ValueError(f"accuracy must lie strictly between 0 and 1, not {accuracy}.")
        draws, coords = self._rating_probabilities(SIMULATIONS)
        share = share_of_ratings(self.ratings, pool)
        found = rating_probabilities.ratings_needed(
            draws, share, accuracy, adaptive=adaptive, rng=self._rng()
        )
        shape = [len(values) for values in coords.values()]
        return xr.DataArray(found.reshape(shape), coords, list(coords), "raters_needed")

    def decision(self, fixed: Collection[str] | None = None) -> Decision:
        """Measurement by single ratings, draw by draw: a D study of one level of each facet.

        Parameters
        ----------
        fixed : collection of str, optional
            Facets with the same levels in every measurement; by default those of the model.

        Returns
        -------
        Decision
            Variances of universe scores and errors, and coefficients (chains, draws).

        Raises
        ------
        ValueError
            The model has no facets, or a facet is unknown.
        """
        if not isinstance(self.model, HasFacets):
            raise no_facets(self.model)
        chosen = None if fixed is None else frozenset(as_names(fixed))
        return self.model.decision(self._draws(), chosen)

    def d_study(
        self,
        levels: Mapping[str, int | Sequence[int]],
        fixed: Collection[str] | None = None,
    ) -> DStudy:
        """Reliability of the mean of ratings under so many levels of each facet.

        Parameters
        ----------
        levels : mapping of str to int or sequence of int
            Numbers of levels, 1 or more, of facets other than the object of measurement; 1 of
            those not named. Of a nested facet, within each level of the other. "replicate" is the
            number of ratings that agree in all facets.
        fixed : collection of str, optional
            Facets with the same levels in every measurement; by default those of the model.

        Returns
        -------
        DStudy
            Draws of g, phi and standard errors for each combination, and tables of them.

        Raises
        ------
        ValueError
            The model has no facets, or a facet is unknown.

        References
        ----------
        Brennan (2001), chapter 4. https://doi.org/10.1007/978-1-4757-3456-0
        """
        source = f"{type(self.model).__name__}, {size_text(self.ratings)}"
        return DStudy.of(self.decision(fixed), numbers_of_levels(levels), source)

    def cheapest(
        self,
        cost: Mapping[str, float],
        *,
        phi: float | None = None,
        g: float | None = None,
        prob: float = 0.9,
        fixed: Collection[str] | None = None,
    ) -> pd.Series[Any]:
        """The least expensive numbers of levels whose mean is reliable enough.

        Parameters
        ----------
        cost : mapping of str to float
            Cost of a level of each facet to be used more than once, above 0. The levels of a
            nested facet count in each level of the other.
        phi, g : float
            Reliability to reach, strictly between 0 and 1: one of them.
        prob : float, default 0.9
            Posterior probability with which it is to be reached, strictly between 0 and 1.
        fixed : collection of str, optional
            As for `d_study`.

        Returns
        -------
        Series
            Number of levels of each facet, ``cost``, and ``probability`` of the reliability.

        Raises
        ------
        ValueError
            An argument is out of its range, or no number of levels suffices.
        """
        return cheapest(self.decision(fixed), cost, phi=phi, g=g, prob=prob)

    def levels(self, facet: str, prob: float = 0.9, seed: int | None = None) -> pd.DataFrame:
        """Effects of the levels of a facet, such as severities of raters or occasions.

        Parameters
        ----------
        facet : str
            A facet of the design.
        prob : float, default 0.9
            Probability of the intervals, in (0, 1).
        seed : int, optional
            Seed of the effects, which are drawn given the standard deviations.

        Returns
        -------
        DataFrame
            A row for each level, by the user's ids: mean, sd, median and interval, in units of the
            rating.

        Raises
        ------
        ValueError
            The model has no such facet.
        """
        if not isinstance(self.model, HasFacets):
            raise no_facets(self.model)
        rng = np.random.default_rng(self.settings.seed if seed is None else seed)
        return self.model.effects_of_levels(self._draws(), facet, prob, rng)

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

    def methods(self, prob: float = 0.9) -> MethodsSentence:
        """Say what a paper says of the fit; see `reliabayes.methods`.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, strictly between 0 and 1.

        Returns
        -------
        MethodsSentence
            One sentence in APA style on the quantity that the model is for, with the posterior
            median, the design, the model, its sampler and diagnostics, and its references.
        """
        how = how_sampled(self.model, self.settings, self.diagnostics())
        found = self.quantities
        if self.states_honestly():
            found = xr.Dataset({"accuracy": self.correct_share("rater")})
            how = [STATED_HONESTLY, *how]
        write = partial(of_draws, prob)
        return headline(self.model, self.ratings, found, write, how, self.settings.version)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a report of the fit, the answer first: an HTML page, or one printed page.

        Parameters
        ----------
        path : path-like
            Of the page, which appears whole or not at all.
        **options : Any
            As for `reliabayes.report`, which also takes several fits; ``one_page=True`` and a path
            that ends with ``.pdf`` make one printed page.
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
    def is_remembering(self) -> bool:
        """Whether the fit keeps its tables of items and raters."""
        return self._remembered is not None

    def remembering(self) -> Fit:
        """The same fit, which keeps its tables of items and raters once they are computed."""
        found = replace(self)
        vars(found).update(vars(self), _remembered={})
        return found

    def _warnings_first(self, of_raters: str = "") -> dict[str, str]:
        """What to print above the results, by label.

        The caution of models of scores is left out: it is a hint at other models. What is to be
        said ``of_raters`` is given where no verdict follows, which says it, too.
        """
        caution = self._caution
        if not self.model.has_true_categories:
            caution = " ".join(filter(None, (of_raters, ignored_facets(self.model, self.ratings))))
        said = {"Warning": self.doubt, "Caution": caution}
        return {label: text for label, text in said.items() if text}

    @cached_property
    def _caution(self) -> str:
        """What to say beside the results, in sentences; empty if there is nothing to say."""
        said = [self.common_errors, raters_outweigh_items(self.quantities)]
        said.append(cautions(self.model, self.ratings))
        if modes := modes_in_words(self.settings.modes):
            said = [modes, "fit.modes says how they differ.", *said]
        return " ".join(filter(None, [self.near_chance, *said]))

    def _known_crowd(self) -> Crowd:
        """The crowd; an error if there is none."""
        if self.crowd is not None:
            return self.crowd
        if not self.model.has_true_categories or "accuracy" not in self.model.reports:
            raise no_true_categories(self.model)
        raise ValueError(
            "errors of raters can be compared if three or more are known, and the model treats "
            "them as independent: name the column of raters, or read fit.raters()."
        )

    @cached_property
    def _convergence(self) -> Convergence:
        of_draw = self.sample_stats["mode"].values if "mode" in self.sample_stats else None
        return Convergence(self.quantities, of_draw, self.settings.modes)

    @cached_property
    def _integration(self) -> tuple[int, float]:
        if not isinstance(self.model, ChoosesNodes):
            return 0, 0.0
        return self.model.integration_error(self._draws())

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

    def _rating_probabilities(
        self, wanted: int | None
    ) -> tuple[Iterator[RatingProbabilities], dict[str, Any]]:
        """How raters rate at some of the draws, and the coordinates of these draws."""
        posterior = self._draws(self._affordable(wanted))
        found = None
        if isinstance(self.model, HasTrueCategories) and isinstance(self.model, RatesInCategories):
            found = self.model.rating_probabilities(posterior)
        if found is None:
            raise no_true_categories(self.model)
        return found, {dim: posterior.draws.coords[dim].values for dim in ("chain", "draw")}

    def _items_by_part(
        self, prob: float, draws: int | None
    ) -> tuple[RatingsDataset, TableOfPart] | None:
        """Ratings in parts, and what makes the table of items of a part; None if in memory."""
        if not isinstance(self.ratings, RatingsDataset):
            return None
        assert isinstance(self.model, TakesParts)
        posterior = self._draws(self._affordable(draws))
        return self.ratings, self.model.items_by_part(posterior, prob, self._rng())

    def _log_likelihood(self, draws: int | None) -> tuple[xr.DataArray, Codes]:
        """Log-likelihood of distinct items, and which of them each item is."""
        posterior = self._draws(draws)
        values, distinct = self.model.pointwise(posterior)
        coords = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        by_chain = values.reshape(*posterior.shape, -1)
        return xr.DataArray(by_chain, coords, (*coords, "distinct_item")), distinct

    def _predictive(self, draws: int) -> dict[str, xr.Dataset]:
        """Replicates at some draws, and the ratings, by the names that arviz has for them."""
        posterior = self._draws(whole_number("posterior_predictive", draws, least=1))
        ratings, rng = self._in_memory("to_arviz"), self._rng()
        drawn = np.array([*self.model.replicates(posterior, rng)]).reshape(*posterior.shape, -1)
        coords = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        observed = ratings.values if self.model.continuous else ratings.category
        return {
            "posterior_predictive": xr.Dataset({"ratings": ((*coords, "rating"), drawn)}, coords),
            "observed_data": xr.Dataset({"ratings": ("rating", observed)}),
        }

    @property
    def _everything(self) -> xr.Dataset:
        """Parameters, and quantities by names that no parameter has."""
        return self.posterior.merge(self.quantities.drop_vars(self.posterior, errors="ignore"))

    @cached_property
    def _flat(self) -> xr.Dataset:
        return self.posterior.stack(sample=("chain", "draw"), create_index=False)

    def _draws(self, wanted: int | None = None) -> Posterior[Problem]:
        """The posterior as the model takes it, thinned to as many draws as are wanted."""
        posterior = Posterior(self.posterior, self.ratings, self.problem, self.centring)
        if wanted is None:
            return posterior
        return posterior.thinned(whole_number("draws", wanted, least=1))

    def _affordable(self, wanted: int | None) -> int | None:
        """The wanted number of draws; by default all, or fewer if there are many ratings."""
        if wanted is not None:
            return wanted
        return min(self._draws().n_draws, max(LEAST_DRAWS, MAX_WORK // len(self.ratings)))

    def _in_memory(self, purpose: str, remedy: str = READ_A_PART) -> Ratings:
        """The ratings, for what needs all of them at once; those in parts are refused."""
        return in_memory(self.ratings, purpose, remedy)

    def _items_in_memory(self, purpose: str) -> Ratings:
        """The ratings, for results that have a row for each item."""
        return self._in_memory(purpose, WRITE_ITEMS.format("fit"))

    def _rng(self) -> np.random.Generator:
        """The same randomness each time, so that results do not depend on which are asked for."""
        return np.random.default_rng(self.settings.seed)

    def _once(self, key: tuple[object, ...], compute: Callable[[], Result]) -> Result:
        """A result: the one computed before if the fit remembers, else a new one."""
        if self._remembered is None:
            return compute()
        if key not in self._remembered:
            self._remembered[key] = compute()
        found: Result = self._remembered[key]
        return found
