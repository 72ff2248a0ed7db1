"""How many labels by people, and answers of judges, make an interval as short as is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, softmax

from reliabayes.families.judges.identification import Of
from reliabayes.families.judges.results import SEED, PanelResults
from reliabayes.families.simulation import drawn_categories
from reliabayes.wording import listed

COSTS = ("human", "judge")
MOST_RUNS = 8  # of a judge on an answer that are compared
SIMULATED = 4000  # answers, of which the correlation of panel and person is known to 0.02


@dataclass(frozen=True)
class _Group:
    """What is at hand of a group, and what one more answer costs and tells.

    Attributes
    ----------
    labelled, judged : float
        Number of answers that people labelled, and of all.
    label, call : float
        Cost of the labels of an answer by as many people as now, and of the judges' answers to it.
    variance : float
        Of the mean rating of an answer by so many people.
    explained : float
        Squared correlation of what the judges' answers say with that.
    """

    labelled: float
    judged: float
    label: float
    call: float
    variance: float
    explained: float

    def error(self, labelled: float, judged: float) -> float:
        """Variance of the rate, up to a constant: 1 - r^2 (1 - n / N) times that by people."""
        return self.variance * ((1 - self.explained) / labelled + self.explained / judged)

    def best(self, effort: float) -> tuple[float, float]:
        """Numbers of labelled and judged answers with the least cost, of a precision."""
        labelled = effort * np.sqrt(self.variance * (1 - self.explained) / self.label)
        judged = effort * np.sqrt(self.variance * self.explained / max(self.call, 1e-12))
        if labelled > judged:  # all answers are labelled
            labelled = judged = effort * np.sqrt(self.variance / (self.label + self.call))
        labelled = max(labelled, self.labelled)
        return labelled, max(judged, self.judged, labelled)


def plan(
    results: PanelResults,
    width: float,
    cost: Mapping[str, float],
    one: Any,
    other: Any,
    of: Of,
    prob: float,
) -> pd.DataFrame:
    r"""Cheapest numbers of labels and judged answers for an interval of a width.

    Of n labelled answers and N judged ones, the variance of a rate is

    .. math:: c \, \sigma^2 \left(\frac{1 - r^2}{n} + \frac{r^2}{N}\right)

    with the variance of the mean rating of an answer by people, and the squared correlation r^2 of
    that with what the judges' answers say. It is 1 - r^2 (1 - n / N) times that by people alone. A
    posterior that is wider now has c > 1; one that is narrower has prior knowledge, whose precision
    is added.

    Parameters
    ----------
    results : PanelResults
        What the posterior tells.
    width : float
        Width of the interval, in (0, 1).
    cost : mapping of str to float
        Of a label by a person, ``"human"``, and of an answer by a judge, ``"judge"``.
    one, other : object
        Groups, by their names: of one the rate is estimated, of two the difference; of None the
        rate of each group.
    of : {"people", "truth"}
        Of ratings by a person drawn from those at hand, or of true categories.
    prob : float
        Probability of the interval, in (0, 1).
    """
    problem = results.problem
    if set(cost) != set(COSTS) or min(cost.values()) < 0 or cost["human"] <= 0:
        raise ValueError(f"cost must have {listed(COSTS)}, of which human exceeds 0: {cost!r}.")
    if not 0 < width < 1:
        raise ValueError(f"width must be between 0 and 1, not {width!r}.")
    if problem.n_categories != 2:
        raise ValueError(f"a plan needs two categories; found {problem.n_categories}.")
    rates = results.rate_draws(of)
    chosen = [group for group in (one, other) if group is not None]
    asked = [[name] for name in problem.coords["group"]] if one is None else [chosen]
    tables = []
    for groups in asked:
        at = results.positions(*groups)
        draws = rates.isel(category=1).values[:, at]
        if len(at) == 2 and results.is_paired(*at):
            draws = results.paired_draws(at[0], at[1], 1, of)[:, None]
        else:
            draws = draws @ np.array([1.0, -1.0][: len(at)])[:, None]
        ends = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
        tables.append(_planned(results, at, of, float(ends[1] - ends[0]), width, prob, cost))
    return pd.concat(tables)


def _planned(
    results: PanelResults,
    groups: list[int],
    of: Of,
    now: float,
    width: float,
    prob: float,
    cost: Mapping[str, float],
) -> pd.DataFrame:
    """The plan of least cost over numbers of runs; a row for each group."""
    runs, plans = _usual_runs(results), list[pd.DataFrame]()
    has_reruns = bool(len(results.problem.coords["run_judge"]))
    for number in range(runs, max(MOST_RUNS, runs) + 1) if has_reruns else [runs]:
        each = [_at_hand(results, group, number, of, cost) for group in groups]
        if not plans:  # the first has as many runs as there are now
            sds = 2 * float(ndtri((1 + prob) / 2))  # between the ends of an interval
            most = _variance_of_answers(each, now / sds, width / sds)
        effort = _least_effort(each, most)
        again = (number - runs) * results.problem.size("judge") * cost["judge"]
        found = pd.DataFrame([_row(group, effort, again) for group in each])
        found.index = results.problem.coords["group"][groups].rename("group")
        found.insert(4, "runs", number)
        found.insert(0, "width", now)
        plans.append(found)
    return min(plans, key=lambda found: found["cost"].sum())


def _variance_of_answers(groups: list[_Group], now: float, width: float) -> float:
    """Variance that answers alone may leave, with which the posterior has its width.

    A posterior narrower than answers explain has prior knowledge besides, such as that groups are
    alike, which stays; one that is wider needs more answers in proportion.
    """
    before = sum(group.error(group.labelled, group.judged) for group in groups)
    now, width = now**2, width**2
    if now >= before:
        return before * width / now
    return 1 / max(1 / width - 1 / now + 1 / before, 1e-12)


def _least_effort(groups: list[_Group], most: float) -> float:
    """Precision at which the sum of variances is as wanted."""

    def is_enough(effort: float) -> bool:
        return sum(group.error(*group.best(effort)) for group in groups) <= most

    low, high = 0.0, 1.0
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _row(group: _Group, effort: float, again: float) -> dict[str, Any]:
    """Numbers of the plan for a group, and what is to be added to those at hand."""
    labelled, judged = map(np.ceil, group.best(effort))
    added = judged - group.judged
    return {
        "labelled": int(labelled),
        "further_labelled": int(labelled - group.labelled),
        "judged": int(judged),
        "further_judged": int(added),
        "cost": (labelled - group.labelled) * group.label
        + added * group.call
        + again * group.judged,
    }


def _usual_runs(results: PanelResults) -> int:
    """How often a judge answered an item, usually."""
    ratings, is_person = results.posterior.ratings_in_memory, results.problem.roles.is_person
    rows = ~is_person[ratings.rater]
    pair = ratings.item[rows].astype(np.int64) * ratings.n_raters + ratings.rater[rows]
    return int(np.median(np.unique(pair, return_counts=True)[1])) if rows.any() else 1


def _at_hand(
    results: PanelResults, group: int, runs: int, of: Of, cost: Mapping[str, float]
) -> _Group:
    """What is at hand of a group, if judges answered so many times."""
    problem, ratings = results.problem, results.posterior.ratings_in_memory
    rows = problem.roles.is_person[ratings.rater] & (problem.group[ratings.item] == group)
    labelled = len(np.unique(ratings.item[rows]))
    if not labelled:
        name = problem.coords["group"][group]
        raise ValueError(f"no person labelled answers of {name!r}, from which to plan.")
    people = rows.sum() / labelled
    variance, explained = _explained(results, group, runs, of, people)
    return _Group(
        labelled=labelled,
        judged=int((problem.group == group).sum()),
        label=people * cost["human"],
        call=problem.size("judge") * runs * cost["judge"],
        variance=variance,
        explained=explained,
    )


def _explained(
    results: PanelResults, group: int, runs: int, of: Of, people: float
) -> tuple[float, float]:
    """Variance of the mean rating of an answer, and the part that judges explain, simulated."""
    found, problem = results.matrices, results.problem
    rng, k = np.random.default_rng(SEED), problem.n_categories
    chosen = rng.integers(len(found.prevalence), size=SIMULATED)
    prevalence = np.exp(found.prevalence[chosen, group])
    truth = drawn_categories(prevalence, rng)
    every = np.arange(SIMULATED)
    log = np.log(prevalence)
    read = np.exp(found.misreading[chosen][:, :, group if problem.by_group else 0])  # (N, F, K, K)
    for family in range(problem.size("family")):
        reads = drawn_categories(read[every, family, truth], rng)
        of_reading = np.zeros((SIMULATED, k))
        for judge in np.flatnonzero(problem.answers.family == family):
            own, slip = problem.answers.own_of[judge], problem.answers.slip_of[judge]
            none = np.broadcast_to(np.eye(k), (SIMULATED, k, k))
            lasting = np.exp(found.own[chosen, own]) if own >= 0 else none
            slips = np.exp(found.slip[chosen, slip]) if slip >= 0 else none
            kept = drawn_categories(lasting[every, reads], rng)
            of_lasting = np.ones((SIMULATED, k))
            for _ in range(runs if slip >= 0 else 1):
                of_lasting *= slips[every, :, drawn_categories(slips[every, kept], rng)]
            of_reading += np.log(np.maximum(np.einsum("nro,no->nr", lasting, of_lasting), 1e-300))
        likelihood = np.einsum("ntr,nr->nt", read[:, family], np.exp(of_reading))
        log += np.log(np.maximum(likelihood, 1e-300))
    says = np.ones((SIMULATED, k)) * np.arange(k)
    if of == "people" and problem.n_people:
        says = np.exp(found.people[chosen]).mean(axis=1)[..., 1]
    expected = (softmax(log, axis=1) * says).sum(axis=1)
    of_answer = says[every, truth]
    variance = float(of_answer.var() + (of_answer * (1 - of_answer)).mean() / people)
    return max(variance, 1e-6), float(np.clip(expected.var() / max(variance, 1e-6), 0.0, 0.999))
