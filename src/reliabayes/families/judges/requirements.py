"""Requirements such as ``rate[v4] - rate[v3] > -0.02 with 0.95``, and what answers say of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from reliabayes.arrays import Array, Mask
from reliabayes.families.judges.identification import Of
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.reports import judge_confusion, judge_matrices, share_of_groups
from reliabayes.families.judges.results import PanelResults
from reliabayes.results.chain_statistics import measures
from reliabayes.wording import listed

Outcome: TypeAlias = Literal["supported", "contradicted", "undecided"]

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
TERM = r"(?P<sign>[-+]?)\s*(?P<name>[a-z_]+)\[(?P<of>[^\]]+)\]"
WHOLE = re.compile(rf"(?P<terms>.+?)\s*(?P<sign>[<>])\s*(?P<bound>{NUMBER})\s+with\s+(?P<prob>\S+)")
EXAMPLE = "rate[v4] - rate[v3] > -0.02 with 0.95"
RATES = ("rate", "truth")
QUANTITIES = (*RATES, "kappa", "sensitivity", "specificity")
PEOPLE = ("people", "human", "humans")
POWER = 0.8  # probability with which further labels are to decide
MOST_LABELS = 10**7


@dataclass(frozen=True)
class Term:
    """A quantity with its sign, such as ``- rate[v3]``.

    Attributes
    ----------
    sign : {1, -1}
        Whether it is added or subtracted.
    name : str
        One of `QUANTITIES`.
    of : tuple of str
        What it is a quantity of: a group, and perhaps a category; or a judge, and people.
    """

    sign: int
    name: str
    of: tuple[str, ...]

    def draws(self, results: PanelResults) -> Array:
        """Draws (S,) of the quantity, without its sign."""
        if self.name in RATES:
            return self._rate(results)
        judge = _position(self.of[0], results.problem.coords["judge"], "judge")
        if self.name == "kappa":
            if len(self.of) != 2 or self.of[1] not in PEOPLE:
                raise ValueError(f"kappa takes a judge and people: kappa[{self.of[0]}, people].")
            return _kappa(results, judge)
        if results.problem.n_categories != 2 or len(self.of) != 1:
            raise ValueError(f"{self.name} takes a judge, and needs two categories.")
        at = 1 if self.name == "sensitivity" else 0
        return np.asarray(judge_confusion(results.matrices, results.problem)[:, judge, at, at])

    def _rate(self, results: PanelResults) -> Array:
        draws = results.rate_draws("people" if self.name == "rate" else "truth")
        group = _position(self.of[0], draws.indexes["group"], "group")
        categories = draws.indexes["category"]
        if len(self.of) == 1 and len(categories) > 2:
            raise ValueError(
                f"with {len(categories)} categories, {self.name} needs one: "
                f"{self.name}[{self.of[0]}, {categories[-1]}]."
            )
        category = 1 if len(self.of) == 1 else _position(self.of[1], categories, "category")
        return np.asarray(draws.values[:, group, category])

    def least_variance(self, draws: Array, problem: PanelProblem) -> float:
        """Variance that labels on all the items at hand would leave: that of a sample of items."""
        if self.name not in RATES:
            return 0.0
        group = _position(self.of[0], problem.coords["group"], "group")
        mean = float(draws.mean())
        return mean * (1 - mean) / int((problem.group == group).sum())


@dataclass(frozen=True)
class Requirement:
    """That a quantity exceeds a bound, or stays below it, with a probability.

    Attributes
    ----------
    text : str
        As it was written.
    terms : tuple of Term
        The quantity, as a sum.
    above : bool
        Whether it must exceed the bound.
    bound : float
        The bound.
    prob : float
        Probability that suffices, in (0.5, 1).
    """

    text: str
    terms: tuple[Term, ...]
    above: bool
    bound: float
    prob: float

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read a requirement.

        Raises
        ------
        ValueError
            It cannot be read; the message has an example.
        """
        whole = WHOLE.fullmatch(text.strip())
        terms = [] if whole is None else list(re.finditer(TERM, whole["terms"]))
        left = "" if whole is None else re.sub(TERM, "", whole["terms"]).strip()
        if whole is None or not terms or left or any(not each["sign"] for each in terms[1:]):
            raise ValueError(f"a requirement must be written as {EXAMPLE!r}, not {text!r}.")
        for each in terms:
            if each["name"] not in QUANTITIES:
                raise ValueError(f"{each['name']!r} must be one of {listed(QUANTITIES)}.")
        try:
            prob = float(whole["prob"])
        except ValueError:
            prob = np.nan
        if not 0.5 < prob < 1:
            raise ValueError(
                f"the probability of a requirement must exceed 0.5 and be less than 1, not "
                f"{whole['prob']}: {text!r}."
            )
        found = tuple(
            Term(
                -1 if each["sign"] == "-" else 1,
                each["name"],
                tuple(part.strip() for part in each["of"].split(",")),
            )
            for each in terms
        )
        return cls(text.strip(), found, whole["sign"] == ">", float(whole["bound"]), prob)

    def verdict(self, results: PanelResults) -> Verdict:
        """What the posterior says."""
        each = [term.draws(results) for term in self.terms]
        values = self._paired(results)
        if values is None:
            signed = [term.sign * x for term, x in zip(self.terms, each, strict=True)]
            values = np.sum(signed, axis=0)
        holds: Mask = np.asarray(values > self.bound if self.above else values < self.bound)
        pr = float(holds.mean())
        outcome: Outcome = (
            "supported" if pr >= self.prob else "contradicted" if pr <= 1 - self.prob
            else "undecided"
        )  # fmt: skip
        labels = None
        if outcome == "undecided":
            least = sum(
                term.least_variance(x, results.problem)
                for term, x in zip(self.terms, each, strict=True)
            )
            labels = labels_to_decide(
                values, self.bound, self.prob, number_of_labels(results), least
            )
        ends = np.quantile(values, [0.025, 0.975])
        return Verdict(
            self, outcome, pr, float(np.median(values)), (float(ends[0]), float(ends[1])), labels,
            _error(holds.reshape(results.posterior.shape)),
        )  # fmt: skip

    def _paired(self, results: PanelResults) -> Array | None:
        """Draws of a difference of two rates within blocks, if it is one and there are blocks."""
        if [term.sign for term in self.terms] not in ([1, -1], [-1, 1]):
            return None
        one, other = sorted(self.terms, key=lambda term: -term.sign)
        if one.name != other.name or one.name not in RATES or one.of[1:] != other.of[1:]:
            return None
        coords = results.problem.coords
        first, second = (_position(x.of[0], coords["group"], "group") for x in (one, other))
        if not results.is_paired(first, second):
            return None
        category = 1 if len(one.of) == 1 else _position(one.of[1], coords["category"], "category")
        of: Of = "people" if one.name == "rate" else "truth"
        return results.paired_draws(first, second, category, of)


@dataclass(frozen=True, repr=False)
class Verdict:
    """Whether answers support a requirement; true only if they do.

    Attributes
    ----------
    requirement : Requirement
        What is required.
    outcome : {"supported", "contradicted", "undecided"}
        Contradicted if the opposite has the probability that would suffice.
    pr : float
        Probability that the requirement holds.
    estimate : float
        Posterior median of the quantity.
    interval : tuple of float
        Its 95% interval.
    labels : int, optional
        If undecided: about how many further labels by people would decide with a probability of
        80%; None if no number would on these items.
    error : float
        Monte Carlo standard error of ``pr``.
    """

    requirement: Requirement
    outcome: Outcome
    pr: float
    estimate: float
    interval: tuple[float, float]
    labels: int | None
    error: float

    def __bool__(self) -> bool:
        return self.outcome == "supported"

    def __repr__(self) -> str:
        lower, upper = self.interval
        quantity = re.split("[<>]", self.requirement.text)[0].strip()
        found = (
            f"{self.requirement.text}: {self.outcome}, Pr = {self.pr:.3f}; {quantity} is "
            f"{self.estimate:.3f} (95% interval {lower:.3f} to {upper:.3f})"
        )
        return found if self.outcome != "undecided" else f"{found}; {self.needs}"

    @property
    def needs(self) -> str:
        """What would decide; empty unless undecided."""
        if self.outcome != "undecided":
            return ""
        if self.labels is None:
            return "no number of labels on these items would decide with 80% chance"
        return f"about {self.labels:,} further human labels would decide with 80% chance"

    @property
    def may_turn(self) -> bool:
        """Whether another sample of draws might give another outcome."""
        limits = self.requirement.prob, 1 - self.requirement.prob
        return any(abs(self.pr - limit) < 2 * self.error for limit in limits)


def number_of_labels(results: PanelResults) -> int:
    """Number of ratings by people."""
    ratings = results.posterior.ratings_in_memory
    return int(results.problem.roles.is_person[ratings.rater].sum())


def labels_to_decide(
    values: Array, bound: float, prob: float, given: int, least: float = 0.0
) -> int | None:
    """About how many further labels decide with a probability of 80%; None if no number does.

    What labels can remove of the posterior variance is taken to be in inverse proportion to their
    number, and the posterior to be normal before and after.

    Parameters
    ----------
    values : array, shape (S,)
        Draws of the quantity.
    bound : float
        What it must exceed, or stay below.
    prob : float
        Probability that suffices.
    given : int
        Number of labels now.
    least : float, default 0
        Variance that no labels remove.
    """
    mean, variance = float(values.mean()), float(values.var())
    least = min(least, variance)
    if not given or variance == 0:
        return None

    def decides(further: int) -> bool:
        after = least + (variance - least) * given / (given + further)
        moves, far = np.sqrt(max(variance - after, 1e-300)), ndtri(prob) * np.sqrt(after)
        chance = ndtr((mean - bound - far) / moves) + ndtr((bound - mean - far) / moves)
        return bool(chance >= POWER)

    low, high = 0, 1
    while not decides(high):
        low, high = high, 2 * high
        if high > MOST_LABELS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high if high < 100 else int(round(high, -1))


def _position(name: str, known: pd.Index[Any], what: str) -> int:
    names = list(map(str, known))
    if name not in names:
        raise ValueError(f"{name!r} is no {what}. Choose from {listed(names)}.")
    return names.index(name)


def _kappa(results: PanelResults, judge: int) -> Array:
    """Cohen's kappa (S,) of a judge in one run and a person drawn from those at hand."""
    problem, ratings = results.problem, results.posterior.ratings_in_memory
    rater = np.flatnonzero(~problem.roles.is_person)[judge]
    if len(np.unique(ratings.category[ratings.rater == rater])) < 2:
        raise ValueError(
            f"kappa of {ratings.raters[rater]} is undefined: it always gives the same answer."
        )
    if not problem.n_people:
        raise ValueError("kappa needs the ratings of people; there are none.")
    found = results.matrices
    prevalence = np.exp(found.prevalence)  # (S, G, K)
    answer = judge_matrices(found, problem)[:, judge]  # (S, M, K, K)
    people = np.exp(found.people).mean(axis=1)  # (S, K, K)
    weight = share_of_groups(problem)[:, None] * prevalence
    if not problem.by_group:
        weight = weight.sum(axis=1, keepdims=True)
    both = np.einsum("sgt,sgta,stb->sab", weight, answer, people)
    agree = np.trace(both, axis1=1, axis2=2)
    chance = (both.sum(axis=1) * both.sum(axis=2)).sum(axis=1)
    return np.asarray((agree - chance) / (1 - chance))


def _error(holds: Mask) -> float:
    """Monte Carlo standard error of a probability, of whether draws (chains, draws) meet it."""
    if holds.all() or not holds.any():
        return 1.0 / holds.size
    return float(measures(holds[None].astype(float))["mcse"][0])
