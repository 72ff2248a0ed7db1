"""Answers to the two questions of a study of judges, each as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.families.judges.identification import Identification, Of
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.requirements import Requirement, Term
from reliabayes.families.judges.results import PanelResults
from reliabayes.ratings import Ratings
from reliabayes.ratings.role_names import word_set
from reliabayes.results.estimates import median_interval
from reliabayes.wording import joined, listed, named

DECIDED = 0.95  # probability from which on a question counts as decided
UNDECIDED = (np.nextafter(1 - DECIDED, 1), np.nextafter(DECIDED, 0))
LEAST_PEOPLE = 3  # whose agreement a judge is compared with
# Second categories in the order of sorting that are the worse one of two.
WORSE = word_set(
    "i n no f false fail failed failing incorrect wrong bad worse invalid unsafe unfaithful "
    "unhelpful harmful toxic rejected loss lose"
)


@dataclass(frozen=True, eq=False)
class Better:
    """Which of two or more systems is better, by their rates or their mean scores.

    Attributes
    ----------
    results : PanelResults
        What the posterior tells.
    good : object, optional
        The category that a better system has more often. By default the second of two, unless its
        name says that it is the worse one; of more categories that are numbers, the mean counts.
    prob : float, default 0.9
        Probability of the equal-tailed interval, in (0, 1).
    """

    results: PanelResults
    good: Any = None
    prob: float = 0.9

    @property
    def of(self) -> Of:
        """Of ratings by people, if these are determined; otherwise of true categories."""
        return "people" if self.results.identified.people_rate != "no" else "truth"

    @cached_property
    def score(self) -> Array:
        """What each category counts for, shape (K,)."""
        categories = self.results.problem.coords["category"]
        names, good = list(map(str, categories)), self.good
        if good is None and len(names) == 2:
            good = names[0] if names[1].strip().lower() in WORSE else names[1]
        if good is not None:
            if str(good) not in names:
                raise ValueError(f"good must be one of {listed(list(categories))}, not {good!r}.")
            return np.array([name == str(good) for name in names], float)
        scores = pd.to_numeric(pd.Series(categories), errors="coerce").to_numpy(float)
        if np.isnan(scores).any():
            raise ValueError(
                "which system is better depends on which category is good: pass good=..., one of "
                f"{listed(list(categories))}."
            )
        return scores

    @property
    def is_rate(self) -> bool:
        """Whether one category counts, and not the mean of numbers."""
        return set(self.score.tolist()) == {0.0, 1.0} and self.score.sum() == 1

    @property
    def category(self) -> Any:
        """The category that counts."""
        return self.results.problem.coords["category"][int(self.score.argmax())]

    @cached_property
    def order(self) -> list[int]:
        """Positions of the groups, the best first."""
        return list(map(int, (-self._values.mean(axis=0)).argsort(kind="stable")))

    @cached_property
    def _values(self) -> Array:
        """Draws (S, G) of the rate or mean of each group."""
        draws = self.results.rate_draws(self.of).transpose("sample", "group", "category")
        return np.asarray(draws.values @ self.score)

    def difference(self, one: int, other: int) -> Array:
        """Draws (S,) of a difference between groups, by their positions; paired if blocks allow."""
        if not self.results.is_paired(one, other):
            return np.asarray(self._values[:, one] - self._values[:, other])
        found = [
            weight * self.results.paired_draws(one, other, at, self.of)
            for at, weight in enumerate(self.score)
            if weight
        ]
        return np.asarray(np.sum(found, axis=0))

    @property
    def ranks(self) -> pd.DataFrame:
        """Ranks of groups by what counts, as of `PanelResults.ranks`."""
        return self.results.ranks_by(self.score, self.of, prob=self.prob)

    @property
    def lead(self) -> Array:
        """Draws (S,) of the difference between the best group and the next."""
        return self.difference(*self.order[:2])

    def value(self, position: int) -> Array:
        """Draws (S,) of the rate or mean of a group."""
        return np.asarray(self._values[:, position])

    def name(self, position: int) -> str:
        """Name of a group."""
        return str(self.results.problem.coords["group"][position])

    @property
    def sentence(self) -> str:
        """Which system is better, without a full stop."""
        best, second, *others = self.order
        draws = self.lead
        pr = float(np.mean(draws > 0))
        if pr < 0.5:  # paired draws may reverse the order of two that are close
            best, second, draws, pr = second, best, -draws, 1 - pr
        one, other = self.name(best), self.name(second)
        beside = f"{other}, the next of {len(self.order)} systems" if others else other
        if pr >= DECIDED:
            claim = f"{one} is better than {beside} with probability {chance(pr)}"
        else:
            claim = (
                f"It is undecided whether {one} is better than {beside} (probability {chance(pr)})"
            )
        return f"{claim}: {self._size(draws)}"

    @property
    def needs(self) -> str:
        """How many labels would decide, as a sentence; empty if that is decided or not known."""
        if not self.is_rate or self.of != "people":
            return ""
        one, other = (self.name(at) for at in self.order[:2])
        terms = tuple(
            Term(sign, "rate", (name, str(self.category))) for sign, name in ((1, one), (-1, other))
        )
        text = f"that {one} is better than {other}"
        needs = Requirement(text, terms, True, 0.0, DECIDED).verdict(self.results).needs
        return f"Whether {one} is better than {other}: {needs}." if needs else ""

    def _size(self, draws: Array) -> str:
        """How large a difference is."""
        median, lower, upper = median_interval(draws, self.prob)
        percent = f"{100 * self.prob:g}% interval"
        if not self.is_rate:
            return (
                f"its mean score differs by {median:+.2f} ({percent} {lower:+.2f} to {upper:+.2f})"
            )
        number = f"{100 * median:.0f}"
        points = f"{number} percentage point{'s' * (number != '1')} more of its answers"
        ends = f"({percent} {100 * lower:+.0f} to {100 * upper:+.0f})"
        if self.of == "people":
            return f"people rate {points} as {self.category} {ends}"
        return f"{points} are truly {self.category} {ends}"


@dataclass(frozen=True, eq=False)
class Conclusions:
    """Answers to both questions, with what they are based on.

    Attributes
    ----------
    results : PanelResults
        What the posterior tells.
    good : object, optional
        As of `Better`.
    epsilon : float, default 0.1
        As of `PanelResults.replaceable`.
    prob : float, default 0.9
        Probability of the equal-tailed intervals, in (0, 1).
    """

    results: PanelResults
    good: Any = None
    epsilon: float = 0.1
    prob: float = 0.9

    @property
    def is_comparing(self) -> bool:
        """Whether there are several systems, and the answers determine their rates."""
        found = self.results.identified
        determined = {found.people_rate, found.truth} != {"no"}
        return self.results.problem.size("group") > 1 and determined

    @property
    def is_testing(self) -> bool:
        """Whether there are judges, and enough people with whom to compare them."""
        problem = self.results.problem
        return problem.size("judge") > 0 and problem.n_people >= LEAST_PEOPLE

    @cached_property
    def better(self) -> Better:
        """Which system is better."""
        return Better(self.results, self.good, self.prob)

    @cached_property
    def stand_ins(self) -> pd.DataFrame:
        """A row of `PanelResults.replaceable` for each judge, the best first."""
        judges = self.results.problem.coords["judge"].rename("judge")
        rows = [self.results.replaceable(judge, self.epsilon, self.prob) for judge in judges]
        by = ["pr_replaceable", "winning_rate"]
        return pd.DataFrame(rows, index=judges).sort_values(by, ascending=False, kind="stable")

    @property
    def sentences(self) -> tuple[str, str]:
        """Which system is better, and which judge may stand in for a person."""
        ratings = self.results.posterior.ratings_in_memory
        systems, judges = answerable(ratings, self.results.problem, self.results.identified)
        if self.is_comparing:
            systems = f"{self.better.sentence}."
        if self.is_testing:
            judges = f"{_in_words(self.stand_ins['pr_replaceable'])}."
        return systems, judges


def chance(pr: float) -> str:
    """A probability with two decimals, which never says that something is certain.

    Parameters
    ----------
    pr : float
        The probability.

    Returns
    -------
    str
    """
    return "above 0.99" if pr > 0.99 else "below 0.01" if pr < 0.01 else f"{pr:.2f}"


def answerable(ratings: Ratings, problem: PanelProblem, found: Identification) -> tuple[str, str]:
    """What answers can tell of systems, and of judges, in two sentences; costs no fit.

    Parameters
    ----------
    ratings : Ratings
        The answers.
    problem : PanelProblem
        What the model makes of them.
    found : Identification
        What they determine.
    """
    return _of_systems(ratings, problem, found), _of_judges(problem)


def _in_words(pr: pd.Series[float]) -> str:
    """Which judges may stand in for a person, without a full stop, by the probability of each."""
    parts: list[str] = []
    for form, chosen in (
        ("{0} may{1} with probability {2}", pr[pr >= DECIDED]),
        ("it is undecided whether {0} may{1} (probability {2})", pr[pr.between(*UNDECIDED)]),
        ("{0} may not{1} with probability {2}", 1 - pr[pr <= 1 - DECIDED]),
    ):
        if len(chosen):
            chances = dict.fromkeys(chance(each) for each in (chosen.iloc[0], chosen.iloc[-1]))
            what = "" if parts else " stand in for a person"
            parts.append(form.format(named(chosen.index), what, " to ".join(chances)))
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}" if text.startswith("it ") else text


def _of_systems(ratings: Ratings, problem: PanelProblem, found: Identification) -> str:
    groups = problem.size("group")
    rates = [
        name
        for name, verdict in (
            ("ratings by people", found.people_rate), ("true categories", found.truth)
        )
        if verdict != "no"
    ]  # fmt: skip
    if not rates:
        return f"These files cannot answer whether a system is better: {found.why}"
    if groups < 2:
        return (
            "These files have one system, or no column that names them, so that none is "
            f"compared; the rates of {joined(rates)} can be told."
        )
    return (
        f"These files can answer whether a system is better: the rates of {joined(rates)} "
        f"of {groups} systems can be told{_but_for_unlabelled(ratings, problem)}."
    )


def _of_judges(problem: PanelProblem) -> str:
    people = int(problem.roles.is_person.sum())
    if not problem.size("judge"):
        return "They have no judges."
    if people >= LEAST_PEOPLE:
        return (
            f"They can answer whether a judge may stand in for a person: {people} people can "
            "be compared with each other and with it."
        )
    return (
        "They cannot answer whether a judge may stand in for a person: each is compared with "
        f"the agreement of the others, which takes {LEAST_PEOPLE} people, and there "
        f"{'is' if people == 1 else 'are'} {people}."
    )


def _but_for_unlabelled(ratings: Ratings, problem: PanelProblem) -> str:
    """That nobody labelled answers of some groups, if so."""
    labelled = problem.group[ratings.item[problem.roles.is_person[ratings.rater]]]
    names = problem.coords["group"]
    without = [str(name) for at, name in enumerate(names) if at not in set(labelled.tolist())]
    if not without or not len(labelled):
        return ""
    return (
        f", but no person labelled answers of {named(without)}, where judges are taken to err "
        "as elsewhere"
    )
