"""Judge studies: whether LLM judges may be trusted, and which system is better."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.agreement.judging import position
from reliabayes.errors import SamplingError
from reliabayes.families.judges.checking import agreement_in_words, judges_in_words
from reliabayes.families.judges.conclusions import Conclusions, answerable
from reliabayes.families.judges.identification import Identification, Of, identification
from reliabayes.families.judges.labelling import next_items
from reliabayes.families.judges.missing import missing_answers, warning_of_missing
from reliabayes.families.judges.planning import plan
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.rates import Items
from reliabayes.families.judges.requirements import Requirement, Verdict
from reliabayes.families.judges.results import PanelResults
from reliabayes.families.judges.scores import family_variances, pooled_scores
from reliabayes.models.gaussian_xcc import GaussianXCC
from reliabayes.models.judge_panel import JudgePanel
from reliabayes.ratings import Ratings
from reliabayes.ratings.coding import coded_fields, coded_table
from reliabayes.reporting.methods import MethodsSentence
from reliabayes.results.contrast import Contrast
from reliabayes.results.fit import Fit

MORE = 4  # times as many draws where the outcome of a requirement depends on which are drawn
MOST_DRAWS = 16_000  # of a chain


@dataclass(frozen=True, eq=False, init=False)
class JudgeStudy:
    """Answers of systems, judged by people and by LLM judges: rates, comparisons, and trust.

    Parameters
    ----------
    ratings : Ratings
        Ratings of items, each an answer of a system, by people and by judges; read with
        ``group=...``, the column of the systems.
    human : str or sequence, optional
        Names of the pools of people, or their ids, as of `JudgePanel`.
    family : mapping, optional
        Family of each judge; by default the provider in its name.
    fit : mapping, optional
        Arguments of `JudgePanel.fit`, such as ``{"seed": 1}``.
    **options : Any
        Further arguments of `JudgePanel`, such as ``misreading="shared"``.

    Attributes
    ----------
    ratings : Ratings
        The ratings.
    model : JudgePanel
        The model of people and judges.
    """

    ratings: Ratings
    model: JudgePanel = field(repr=False)
    arguments: Mapping[str, Any] = field(repr=False)

    def __init__(
        self,
        ratings: Ratings,
        human: Any = None,
        family: Any = None,
        *,
        fit: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        object.__setattr__(self, "ratings", ratings)
        object.__setattr__(self, "model", JudgePanel(human=human, family=family, **options))
        object.__setattr__(self, "arguments", dict(fit or {}))

    @cached_property
    def fit(self) -> Fit:
        """The posterior given all answers."""
        return self.model.fit(self.ratings, **self.arguments)

    @cached_property
    def people_only(self) -> Fit | None:
        """The posterior given the ratings by people alone; None if nobody rated."""
        is_person = self.problem.roles.is_person
        if not is_person.any():
            return None
        rows = np.flatnonzero(is_person[self.ratings.rater])
        people = Ratings(**coded_fields(coded_table(self.ratings).take(rows)))  # of one, or apart
        human = tuple(people.raters)
        return JudgePanel(**{**vars(self.model), "human": human, "family": ()}).fit(
            people, **self.arguments
        )

    @cached_property
    def problem(self) -> PanelProblem:
        """What the posterior depends on."""
        return self.model.problem(self.ratings)

    @property
    def results(self) -> PanelResults:
        """All that the posterior tells of the panel."""
        found: PanelResults = self.fit.panel
        return found

    def identified(self) -> Identification:
        """What the answers determine; costs no fit."""
        return identification(self.ratings, self.problem)

    def rates(
        self, of: Of = "people", items: Items = "population", prob: float = 0.9
    ) -> pd.DataFrame:
        """Rates of each group with judges, beside those by people alone.

        Parameters
        ----------
        of, items, prob
            As of `PanelResults.rates`.

        Returns
        -------
        DataFrame
            As of `PanelResults.rates`. If the ratings by people alone determine the same, also
            median and interval by these (``people_only``, ``people_only_lower_90``,
            ``people_only_upper_90``), and ``labels_saved``, how many further ratings by people
            would make that interval as short.
        """
        return self._beside_people("rates", of, items, prob)

    def means(
        self, of: Of = "people", items: Items = "population", prob: float = 0.9
    ) -> pd.DataFrame:
        """Mean scores of each group with judges, beside those by people alone.

        Parameters
        ----------
        of, items, prob
            As of `PanelResults.means`.

        Returns
        -------
        DataFrame
            As of `PanelResults.means`, with the columns that `rates` has for people alone.
        """
        return self._beside_people("means", of, items, prob)

    def _beside_people(self, name: str, of: Of, items: Items, prob: float) -> pd.DataFrame:
        """A table of results, with the same by people alone if these determine it."""
        table: pd.DataFrame = getattr(self.results, name)(of, items, prob)
        if self.people_only is None:
            return table
        if of == "truth" and self.people_only.panel.identified.truth == "no":
            return table
        alone = getattr(self.people_only.panel, name)(of, "population", prob).reindex(table.index)
        lower, upper = table.columns[-2:]
        width, own = alone[upper] - alone[lower], table[upper] - table[lower]
        is_label = self.problem.roles.is_person[self.ratings.rater]
        of_group = self.problem.group[self.ratings.item[is_label]]
        labels = np.bincount(of_group, minlength=self.problem.size("group"))
        labels = np.repeat(labels, len(table) // len(labels))
        return table.assign(
            people_only=alone["median"],
            **{f"people_only_{name}": alone[name] for name in (lower, upper)},
            labels_saved=(labels * ((width / own) ** 2 - 1)).round(),
        )

    def contrast(self, one: Any, other: Any, **options: Any) -> Contrast:
        """How much higher a rate is in one group than in another; see `PanelResults.contrast`."""
        return self.results.contrast(one, other, **options)

    def ranks(self, **options: Any) -> pd.DataFrame:
        """Ranks of groups by a rate; see `PanelResults.ranks`."""
        return self.results.ranks(**options)

    def plan(
        self,
        width: float,
        cost: Mapping[str, float],
        one: Any = None,
        other: Any = None,
        *,
        of: Of = "people",
        prob: float = 0.9,
    ) -> pd.DataFrame:
        """Cheapest numbers of labels and of judged answers for an interval of a width.

        The judges' answers explain a part of the variance of people's ratings, r^2. With n labelled
        answers of N judged ones, an interval is about sqrt(1 - r^2 (1 - n / N)) times as wide as by
        people alone; that it has its width now is taken into account.

        Parameters
        ----------
        width : float
            Width of the interval, in (0, 1).
        cost : mapping of str to float
            Of a label by a person, ``"human"``, and of an answer by a judge, ``"judge"``.
        one, other : object, optional
            Groups, by their names: of one the rate is planned for, of two the difference; by
            default the rate of each group.
        of : {"people", "truth"}, default "people"
            As of `PanelResults.rates`.
        prob : float, default 0.9
            Probability of the interval, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each group: width now; answers ``labelled`` in all, each by as many people as
            usual now, and how many of these are further ones; answers ``judged`` in all, and
            further ones; ``runs`` of each judge on each answer; and the ``cost`` of all that is
            added.

        Raises
        ------
        ValueError
            A width or a cost is out of range, categories are more than two, or nobody labelled
            answers of a group.
        """
        return plan(self.results, width, cost, one, other, of, prob)

    def next_items(
        self,
        n: int,
        one: Any = None,
        other: Any = None,
        *,
        of: Of = "people",
        random: float = 0.2,
        seed: int = 1,
    ) -> pd.DataFrame:
        """Answers that people should label next: those whose labels say most on rates.

        Rates given these labels, too, are estimated as before: which answers were chosen follows
        from the data alone. The random part shows whether the model holds where nobody looked.

        Parameters
        ----------
        n : int
            Number of answers, of those that no person labelled.
        one, other : object, optional
            Groups, by their names: labels are to tell the rate of one, or the difference of two; by
            default the rates of all groups.
        of : {"people", "truth"}, default "people"
            As of `PanelResults.rates`.
        random : float, default 0.2
            Proportion of the answers that is drawn by lot, in [0, 1].
        seed : int, default 1
            Seed of what is drawn.

        Returns
        -------
        DataFrame
            A row for each answer, by its id, the most informative first: ``group``; ``chosen``,
            "informative" or "random"; and ``reduction``, the proportion of the variance of the
            rates that a label of it alone is expected to take.

        Raises
        ------
        ValueError
            There are fewer answers without a label, or no such group.
        """
        return next_items(self.results, one, other, of, n, random, seed)

    def judges(self, prob: float = 0.9) -> pd.DataFrame:
        """Sensitivity, specificity and more of each judge; see `PanelResults.judges`."""
        return self.results.judges(prob)

    def misreadings(self, prob: float = 0.9) -> pd.DataFrame:
        """What families take for what; see `PanelResults.misreadings`."""
        return self.results.misreadings(prob)

    def effective_votes(self, kind: str = "kish", prob: float = 0.9) -> pd.Series[Any]:
        """How many independent votes judges are worth; see `PanelResults.effective_votes`."""
        return self.results.effective_votes(kind, prob)

    @cached_property
    def scores(self) -> Fit:
        """The posterior of `GaussianXCC` given scores, with people and each family as pools.

        The runs of a judge on an answer are averaged.
        """
        pools = pooled_scores(self.ratings, self.problem)
        return GaussianXCC(residual="per_pool").fit(pools, **self.arguments)

    def family_variance(self, prob: float = 0.9) -> pd.DataFrame:
        r"""Variance of scores that families of judges see alike in answers, and people do not.

        .. math:: \sigma_{item}^2 (1 - \rho^2)

        with the standard deviation of answers' true scores by the family, and their correlation
        with those by people. More judges of a family, and more runs, do not average it out.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        DataFrame
            A row for each family: number of ``judges``; median, mean, sd and interval of the
            variance, in squared points; and ``proportion``, the median of
            :math:`1 - \rho^2`, its share of the variance of the family's true scores. Of a single
            judge all are nan: its own errors and those of its family are not told apart.

        Raises
        ------
        ValueError
            Categories are no numbers, or there are no judges or fewer than two people.
        """
        return family_variances(self.scores.quantities, self.problem, prob)

    def replaceable(self, judge: Any, epsilon: float = 0.1, prob: float = 0.9) -> pd.Series[Any]:
        """Whether a judge may replace a person; see `PanelResults.replaceable`."""
        return self.results.replaceable(judge, epsilon, prob)

    def position(self, order: str, first: Mapping[Any, Any], *, prob: float = 0.9) -> pd.DataFrame:
        """How much judges prefer what is shown first; see `reliabayes.agreement.position`."""
        judges = self.problem.coords["judge"]
        return position(self.ratings, order, first, prob=prob).loc[judges]

    def supports(self, requirement: str) -> Verdict:
        """Whether the answers support a requirement.

        It compares a sum of quantities with a number: ``rate[v4] - rate[v3] > -0.02 with 0.95``.
        These are ``rate[group]``, by people; ``truth[group]``, of true categories, where these
        are determined; each of the second of two categories, or of one that is named:
        ``rate[v4, good]``; ``kappa[judge, people]`` of one run of a judge and one person; and
        ``sensitivity[judge]`` and ``specificity[judge]``.

        Parameters
        ----------
        requirement : str
            The requirement.

        Returns
        -------
        Verdict
            True only if the requirement has the probability that it asks for. As the condition of
            an ``assert``, it says in a failure what was found, and how many labels are missing.

        Raises
        ------
        ValueError
            The requirement cannot be read, or the answers do not determine its quantities.
        SamplingError
            The draws may not represent the posterior.
        """
        asked = Requirement.parse(requirement)
        found = asked.verdict(self.results)
        while found.may_turn and (draws := MORE * self.fit.settings.draws) <= MOST_DRAWS:
            arguments = {**self.arguments, "draws": draws}
            vars(self)["fit"] = self.model.fit(self.ratings, **arguments)
            found = asked.verdict(self.results)
        if self.fit.doubt:
            raise SamplingError(self.fit.doubt)
        return found

    def answerable(self) -> tuple[str, str]:
        """What the answers can tell of systems, and of judges, in two sentences; costs no fit."""
        return answerable(self.ratings, self.problem, self.identified())

    def answers(
        self, *, good: Any = None, epsilon: float = 0.1, prob: float = 0.9
    ) -> tuple[str, str]:
        """Which system is better, and which judge may stand in for a person, in two sentences.

        A question is decided if its answer has a probability of 0.95. If the ratings cannot answer
        it, the sentence says so, as that of `answerable` does.

        Parameters
        ----------
        good : object, optional
            The category that a better system has more often. By default the second of two, unless
            its name says that it is the worse one, such as "incorrect"; of more categories that are
            numbers, their mean counts.
        epsilon : float, default 0.1
            What a person costs more than a judge, as of `PanelResults.replaceable`.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).

        Returns
        -------
        tuple of two str

        Raises
        ------
        ValueError
            It is not known which category is good.
        """
        return self.conclusions(good=good, epsilon=epsilon, prob=prob).sentences

    def conclusions(self, **options: Any) -> Conclusions:
        """What both answers are based on; options are those of `answers`."""
        return Conclusions(self.results, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write an HTML report of the study, whose first two sentences answer both questions.

        Parameters
        ----------
        path : path-like
            Of the page, which appears whole or not at all.
        **options : Any
            As for `reliabayes.html_report.judge_page.judge_report`: ``require``, requirements to
            decide; ``good``, ``epsilon`` and ``prob`` as of `answers`; ``title``, ``source``,
            ``command`` and ``date``.
        """
        from reliabayes.html_report.judge_page import judge_report

        judge_report(self, path, **options)

    def people_agreement(self, prob: float = 0.9) -> pd.DataFrame:
        """How often two people agree, and should; see `PanelResults.people_agreement`."""
        return self.results.people_agreement(prob)

    def methods(self, prob: float = 0.9) -> MethodsSentence:
        """Say what a paper says of the rates of systems; see `reliabayes.methods` and `Fit`."""
        return self.fit.methods(prob)

    def checks(self) -> list[str]:
        """What to know beside each result: people's agreement, silent data, useless judges."""
        return [
            *agreement_in_words(self.people_agreement()),
            *self.results.silences(),
            *judges_in_words(self.results.posterior),
        ]

    @property
    def cautions(self) -> list[str]:
        """What to know before any number: who is who, what is determined, and what is missing."""
        return [self.problem.roles.how, self.identified().why, *self.warnings]

    @property
    def warnings(self) -> list[str]:
        """Repeated labels that were left out, and unequal shares of missing answers."""
        found = []
        if self.problem.n_dropped:
            found.append(
                f"{self.problem.n_dropped} ratings repeat a person's rating of an item; a person "
                "has one vote on each."
            )
        if self.problem.size("judge"):
            found.append(warning_of_missing(missing_answers(self.ratings, self.problem)))
        return [text for text in found if text]
