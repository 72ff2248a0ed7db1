"""What a panel of people and judges tells, as tables with intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.agreement.judging import kish_votes
from reliabayes.arrays import Array
from reliabayes.families.judges.checking import people_agreement, silences
from reliabayes.families.judges.identification import Identification, Of, identification
from reliabayes.families.judges.matrices import Matrices, matrices
from reliabayes.families.judges.missing import missing_answers
from reliabayes.families.judges.pairing import (
    LEAST_RANKED,
    LEAST_SHARED,
    least_shared,
    paired_rates,
    shared_blocks,
)
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.rates import Items, rate_draws
from reliabayes.families.judges.replaceable import advantages, numbers_of_a_draw
from reliabayes.families.judges.reports import judge_confusion, reruns_flip
from reliabayes.families.judges.starts import complete
from reliabayes.families.judges.votes import error_correlation, informative_votes
from reliabayes.results.contrast import Contrast
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe
from reliabayes.wording import listed

MOST_NUMBERS = 2**25  # of all draws, of which a judge is compared with people
FEW_DRAWS = 200  # that take a simulation or a sum over all answers each
SEED = 1  # of what is drawn given the draws


@dataclass(frozen=True, eq=False)
class PanelResults:
    """Rates of groups, and how far judges can be trusted.

    Attributes
    ----------
    posterior : Posterior
        Draws with their problem.
    """

    posterior: Posterior[PanelProblem]

    @property
    def problem(self) -> PanelProblem:
        """What the posterior depends on."""
        return self.posterior.problem

    @cached_property
    def identified(self) -> Identification:
        """What the answers determine, before any numbers."""
        return identification(self.posterior.ratings_in_memory, self.problem)

    def rate_draws(self, of: Of = "people", items: Items = "population") -> xr.DataArray:
        """Draws (sample, group, category) of rates.

        Parameters
        ----------
        of : {"people", "truth"}, default "people"
            Of ratings by a person drawn from those at hand, or of true categories.
        items : {"population", "these"}, default "population"
            Of items like those at hand, or of these themselves.

        Raises
        ------
        ValueError
            The answers do not determine these rates, or an argument is none of those.
        """
        for name, value, choices in (
            ("of", of, ("people", "truth")), ("items", items, ("population", "these"))
        ):  # fmt: skip
            if value not in choices:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, choices))}, not {value!r}."
                )
        self.identified.require(of)
        draws = rate_draws(self.posterior, of, items, np.random.default_rng(SEED))
        coords = {
            "group": self.problem.coords["group"],
            "category": self.problem.coords["category"],
        }
        return xr.DataArray(draws, coords, ("sample", "group", "category"), name=f"rate of {of}")

    def rates(
        self, of: Of = "people", items: Items = "population", prob: float = 0.9
    ) -> pd.DataFrame:
        """Rate of each category in each group: of the second of two, or of each of more.

        Parameters
        ----------
        of, items
            As of `rate_draws`.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each group and category: of and items, which say what is estimated; median,
            mean, sd, lower_90 and upper_90 (for ``prob=0.9``).
        """
        draws = self._reported(self.rate_draws(of, items))
        values = draws.transpose("sample", "group", "category")
        flat = values.values.reshape(len(values), -1)
        index = pd.MultiIndex.from_product(
            [values.indexes["group"], values.indexes["category"]], names=["group", "category"]
        )
        return _estimates(flat, prob, index, of, items)

    def _reported(self, draws: xr.DataArray) -> xr.DataArray:
        """Rates of the second of two categories, or of all of more."""
        return draws.isel(category=[1]) if self.problem.n_categories == 2 else draws

    def contrast(
        self,
        one: Any,
        other: Any,
        *,
        category: Any = None,
        of: Of = "people",
        items: Items = "population",
        prob: float = 0.9,
    ) -> Contrast:
        """How much higher a rate is in one group than in another.

        Where items of both groups share blocks, such as prompts, the rates on all items of like
        blocks are compared within these, and the name of the difference says so.

        Parameters
        ----------
        one, other : object
            Groups, by their names.
        category : object, optional
            Category of the rate; by default the second of two.
        of, items
            As of `rate_draws`.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        Contrast

        Raises
        ------
        ValueError
            There is no such group or category, or it must be chosen among several.
        """
        draws = self.rate_draws(of, items)
        first, second = self.positions(one, other)
        at = self._position_of(category)
        values = draws.values[:, :, at]
        difference, how = values[:, first] - values[:, second], ""
        if items == "population" and self.is_paired(first, second):
            difference = self.paired_draws(first, second, at, of)
            how = f", paired by {shared_blocks(self.posterior, first, second)} blocks"
        by_draw = xr.DataArray(difference[None], dims=("chain", "draw"))
        name = f"rate of {self.problem.coords['category'][at]} ({of}, {items}{how})"
        return Contrast(str(one), str(other), xr.Dataset({name: by_draw}), prob)

    def positions(self, *groups: Any) -> list[int]:
        """Positions of groups, by their names."""
        names = self.problem.coords["group"].tolist()
        for group in groups:
            if group not in names:
                raise ValueError(f"{group!r} is no group. Choose from {listed(names)}.")
        return [names.index(group) for group in groups]

    def is_paired(self, one: int, other: int) -> bool:
        """Whether groups, by their positions, have enough blocks in common to be compared there."""
        return shared_blocks(self.posterior, one, other) >= LEAST_SHARED

    def paired_draws(self, one: int, other: int, category: int, of: Of = "people") -> Array:
        """Draws (S,) of the difference of a rate, compared within blocks; all by positions."""
        draws = self._paired_rates(category, of)
        return np.asarray(draws[:, one] - draws[:, other])

    def _paired_rates(self, category: int, of: Of) -> Array:
        """Draws (S, G) of a rate on the same blocks, which are simulated once."""
        if (category, of) not in self._paired:
            rng = np.random.default_rng(SEED)
            self._paired[category, of] = paired_rates(self.posterior, category, of, rng)
        return self._paired[category, of]

    @cached_property
    def _paired(self) -> dict[tuple[int, Of], Array]:
        return {}

    def means(
        self, of: Of = "people", items: Items = "population", prob: float = 0.9
    ) -> pd.DataFrame:
        """Mean score of each group, if categories are numbers.

        Parameters
        ----------
        of, items, prob
            As of `rates`.

        Returns
        -------
        DataFrame
            A row for each group: of and items; median, mean, sd and interval of the mean score.

        Raises
        ------
        ValueError
            Categories are no numbers, or the answers do not determine these rates.
        """
        draws = self.rate_draws(of, items)
        scores = pd.to_numeric(pd.Series(draws.indexes["category"]), errors="coerce")
        if scores.isna().any():
            names = listed(list(draws.indexes["category"]))
            raise ValueError(f"means need categories that are numbers, not {names}.")
        values = draws.transpose("sample", "group", "category").values @ scores.to_numpy(float)
        index = draws.indexes["group"].rename("group")
        return _estimates(values, prob, index, of, items)

    def people_agreement(self, prob: float = 0.9) -> pd.DataFrame:
        """How often two people agree, and how often the model expects it.

        People who err together look like truth. So this belongs beside each result.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each pair of people: common ``items``, ``observed`` agreement, median, mean,
            sd and interval of the predicted one, and ``pr_less``, the probability that this is
            lower.
        """
        return people_agreement(self.posterior, prob, np.random.default_rng(SEED))

    def silences(self) -> list[str]:
        """On what the data do not speak, so that the posterior is the prior, in sentences."""
        return silences(self.posterior)

    def ranks(
        self, *, category: Any = None, of: Of = "people", items: Items = "population",
        prob: float = 0.9,
    ) -> pd.DataFrame:  # fmt: skip
        """Ranks of groups by the rate of a category, the highest first.

        Where any two groups share 50 blocks or more, such as prompts, ranks are those on the same
        blocks, as in `contrast`. With fewer, ranks are by rates that are partially pooled: how much
        a few blocks vary is hardly known, so that the probability of being first would be
        overstated.

        Parameters
        ----------
        category, of, items, prob
            As of `contrast`.

        Returns
        -------
        DataFrame
            A row for each group, by median rank: of and items; ``blocks``, how many any two groups
            share at least, or 0 if ranks are not by these; median, mean, sd and interval of the
            rank, 1 for the highest rate; and ``pr_first``, the probability of rank 1.
        """
        score = np.eye(self.problem.n_categories)[self._position_of(category)]
        return self.ranks_by(score, of, items, prob)

    def ranks_by(
        self, score: Array, of: Of = "people", items: Items = "population", prob: float = 0.9
    ) -> pd.DataFrame:
        """Ranks of groups by the mean of a score (K,) of categories; as of `ranks`."""
        values, blocks = self.rate_draws(of, items).values @ score, least_shared(self.posterior)
        if blocks < LEAST_RANKED or items != "population":
            blocks = 0
        else:
            paired = [x * self._paired_rates(at, of) for at, x in enumerate(score) if x]
            values = np.sum(paired, axis=0)
        tied = np.random.default_rng(SEED).random(values.shape)  # equal rates are ranked by lot
        rank: Array = np.lexsort((tied, -values)).argsort(axis=1).astype(float) + 1
        groups = self.problem.coords["group"].rename("group")
        table = _estimates(rank, prob, groups, of, items)
        table.insert(2, "blocks", blocks)
        table["pr_first"] = (rank == 1).mean(axis=0)
        return table.sort_values(["median", "mean"], kind="stable")

    def _position_of(self, category: Any) -> int:
        """Position of a category; by default the second of two."""
        categories = self.problem.coords["category"].tolist()
        if category is None and len(categories) > 2:
            raise ValueError(f"category must be one of {listed(categories)}.")
        chosen = categories[1] if category is None else category
        if chosen not in categories:
            raise ValueError(f"category must be one of {listed(categories)}, not {chosen!r}.")
        return categories.index(chosen)

    def judges(self, prob: float = 0.9) -> pd.DataFrame:
        """How single answers of each judge relate to true categories, on items like these.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed intervals, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each judge: family; of two categories ``sensitivity`` and ``specificity``, the
            probabilities that it recognises the second and the first; of more ``accuracy[k]`` of
            each; with intervals; ``reruns_flip``, the probability that two runs differ, nan with
            one run; ``informative``, the probability that the judge tells more than nothing in the
            direction of the truth (its sensitivity exceeds its false alarms), of two categories;
            and ``missing``, the share of its answers that is missing.
        """
        problem, said = self.problem, self.problem.answers
        found = self.matrices
        average = judge_confusion(found, problem)
        names = (
            {1: "sensitivity", 0: "specificity"}
            if problem.n_categories == 2
            else {at: f"accuracy[{name}]" for at, name in enumerate(problem.coords["category"])}
        )
        percent = f"{100 * prob:g}"
        columns: dict[str, Any] = {"family": problem.coords["family"][said.family]}
        for at, name in names.items():
            values = describe(average[:, :, at, at], prob)
            columns[name] = values["median"]
            for end in ("lower", "upper"):
                columns[f"{name}_{end}_{percent}"] = values[f"{end}_{percent}"]
        flips = np.full(len(said.family), np.nan)
        flips[said.slip_of >= 0] = np.median(reruns_flip(found, problem), axis=0)
        columns["reruns_flip"] = flips
        if problem.n_categories == 2:
            tells = average[:, :, 1, 1] + average[:, :, 0, 0] > 1
            columns["informative"] = tells.mean(axis=0)
        missing = self.missing().groupby("judge", sort=False)[["missing", "expected"]].sum()
        columns["missing"] = (missing["missing"] / missing["expected"]).to_numpy()
        return pd.DataFrame(columns, index=problem.coords["judge"].rename("judge"))

    def misreadings(self, prob: float = 0.9) -> pd.DataFrame:
        """How often each family reads a true category as another, in each group.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each family, group, true category and other category.
        """
        coords = self.problem.coords
        values = np.exp(self.matrices.misreading)
        names = [coords["family"], coords["read_group"], coords["category"], coords["category"]]
        labels = ["family", "group", "true_category", "read_as"]
        index = pd.MultiIndex.from_product(names, names=labels)
        table = pd.DataFrame(describe(values.reshape(len(values), -1), prob), index=index)
        other = index.get_level_values("true_category") != index.get_level_values("read_as")
        return table[other]

    def missing(self) -> pd.DataFrame:
        """How many answers of each judge are missing in each group; see `missing_answers`."""
        return missing_answers(self.posterior.ratings_in_memory, self.problem)

    def effective_votes(self, kind: str = "kish", prob: float = 0.9) -> pd.Series[Any]:
        """How many independent votes the judges' answers are worth, in one run of each.

        Parameters
        ----------
        kind : {"kish", "information"}, default "kish"
            k / (1 + (k - 1) r), where r is the mean correlation of error indicators; or how many
            independent copies of the mean judge tell as much on the true category.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        Series
            Number of judges, and median, mean, sd and interval of the votes.

        References
        ----------
        arXiv 2605.29800
        """
        number = self.problem.size("judge")
        if number < 2:
            raise ValueError(f"effective votes need two judges or more; found {number}.")
        if kind == "kish":
            draws = kish_votes(number, error_correlation(self.matrices, self.problem))
        elif kind == "information":
            rng, few = np.random.default_rng(SEED), self._few
            draws = np.array(
                [informative_votes(each, few.problem, rng) for each in few._each_matrices()]
            )
        else:
            raise ValueError(f"kind must be 'kish' or 'information', not {kind!r}.")
        return pd.Series({"judges": number, **describe(draws, prob)}, name=kind)

    def replaceable(self, judge: Any, epsilon: float = 0.1, prob: float = 0.9) -> pd.Series[Any]:
        """Whether a judge agrees with the people at hand as well as each of them, less epsilon.

        The posterior of what the alternative annotator test tests. For each person the advantage of
        the judge is the probability that it agrees with the other people at least as often as the
        person does; it wins against the person if that exceeds the person's own less epsilon.

        Parameters
        ----------
        judge : object
            Id of the judge.
        epsilon : float, default 0.1
            What a person costs more than the judge, as a share of the ratings.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        Series
            ``pr_replaceable``, the probability that the judge wins against at least half of the
            people; ``winning_rate``, its expected share of them; and median, mean, sd and interval
            of the ``advantage`` of the judge, averaged over people.

        Raises
        ------
        ValueError
            There is no such judge, or there are fewer than three people.

        References
        ----------
        Calderon, Reichart & Dror (2025). https://arxiv.org/abs/2501.10970
        """
        judges = self.problem.coords["judge"]
        if judge not in judges:
            raise ValueError(f"{judge!r} is no judge. Choose from {listed(list(judges))}.")
        if self.problem.n_people < 3:
            raise ValueError(
                "whether a judge may replace a person needs three people or more, because each is "
                f"compared with the agreement of the others; found {self.problem.n_people}."
            )
        some = self._of_draws(max(FEW_DRAWS, MOST_NUMBERS // numbers_of_a_draw(self.problem)))
        at = judges.tolist().index(judge)
        of_judge, of_person = advantages(some.matrices, at, self.problem)
        rate = (of_judge > of_person - epsilon).mean(axis=1)
        found = {"pr_replaceable": (rate >= 0.5).mean(), "winning_rate": rate.mean()}
        return pd.Series({**found, **describe(of_judge.mean(axis=1), prob)}, name=judge)

    @cached_property
    def matrices(self) -> Matrices:
        """Log-probabilities of categories, at all draws."""
        return matrices(complete(self.posterior.stacked(), self.problem), self.problem)

    @cached_property
    def _few(self) -> PanelResults:
        return self._of_draws(FEW_DRAWS)

    def _of_draws(self, number: int) -> PanelResults:
        return replace(self, posterior=self.posterior.thinned(number))

    def _each_matrices(self) -> list[Matrices]:
        """Log-probabilities of categories, draw by draw."""
        found = self.matrices

        def at(x: Array, draw: int) -> Array:
            return np.asarray(x[draw if len(x) > 1 else 0])

        names = ("prevalence", "people", "misreading", "own", "slip")
        return [
            Matrices(**{name: at(getattr(found, name), draw) for name in names})
            for draw in range(self.posterior.n_draws)
        ]


def _estimates(
    draws: Array, prob: float, index: pd.Index[Any], of: Of, items: Items
) -> pd.DataFrame:
    """Estimates of each column of draws (S, n), after what is estimated."""
    table = pd.DataFrame(describe(draws, prob), index=index)
    table.insert(0, "of", of)
    table.insert(1, "items", items)
    return table
