"""Whether people agree as the model has it, and on what the data do not speak."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.families.judges.matrices import matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.reports import judge_confusion
from reliabayes.families.judges.starts import complete
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe
from reliabayes.wording import joined

MOST_PAIRS = 45  # of people, whose agreement is checked pair by pair
EXTREME = 0.975  # probability of less agreement, from which on people agree too often
SILENT = 0.95  # sd of the posterior by that of the prior, from which on data do not speak
MOVED = 0.15  # sds of the prior that a posterior mean may move in that case
SINGLE = ("own", "slip")  # numbers whose prior is a normal one of their own


def people_agreement(
    posterior: Posterior[PanelProblem], prob: float, rng: np.random.Generator
) -> pd.DataFrame:
    """How often two people agree, and how often they would on new items of the same groups.

    Parameters
    ----------
    posterior : Posterior
        Draws with their problem.
    prob : float
        Probability of the equal-tailed interval, in (0, 1).
    rng : Generator
        Source of randomness.

    Returns
    -------
    DataFrame
        A row for each pair of people: number of common ``items``; ``observed`` share of agreement;
        median, mean, sd and interval of the predicted one; and ``pr_less``, the probability that it
        is lower than the observed one, where ties count half. nan if they have no common item.
    """
    problem, ratings = posterior.problem, posterior.ratings_in_memory
    found = matrices(complete(posterior.stacked(), problem), problem)
    raters = np.flatnonzero(problem.roles.is_person)
    answers = np.full((len(raters), ratings.n_items), -1)
    for at, rater in enumerate(raters):
        rows = ratings.rater == rater
        answers[at, ratings.item[rows]] = ratings.category[rows]
    pairs = list(combinations(range(problem.n_people), 2))[:MOST_PAIRS]
    prevalence, people = np.exp(found.prevalence), np.exp(found.people)
    rows = []
    for one, other in pairs:
        common = (answers[one] >= 0) & (answers[other] >= 0)
        number = int(common.sum())
        if not number:
            rows.append({"items": 0})
            continue
        share = np.bincount(problem.group[common], minlength=problem.size("group")) / number
        agree = (people[:, one] * people[:, other]).sum(axis=-1)  # (S, K) by true category
        predicted = rng.binomial(
            number, np.einsum("g,sgk,sk->s", share, prevalence, agree).clip(0, 1)
        )
        same = int((answers[one] == answers[other])[common].sum())
        less = float((predicted < same).mean() + 0.5 * (predicted == same).mean())
        rows.append(
            {"items": number, "observed": same / number}
            | describe(predicted / number, prob)
            | {"pr_less": less}
        )
    names: list[Any] = list(problem.coords["person"]) if problem.n_people else []
    index = pd.MultiIndex.from_tuples(
        [(names[one], names[other]) for one, other in pairs], names=["one", "other"]
    ) if pairs else None  # fmt: skip
    return pd.DataFrame(rows, index=index)


def agreement_in_words(table: pd.DataFrame) -> list[str]:
    """What the check of people's agreement says, in sentences; never empty."""
    if table.empty:
        return ["There are not two people whose agreement could be checked."]
    apart = [f"{one} and {other}" for one, other in table.index[table["items"] == 0]]
    said = [
        f"{joined(apart)} never rated the same answer, so that their agreement is not checked."
    ] if apart else []  # fmt: skip
    met = table[table["items"] > 0]
    if met.empty:
        return said
    at = int(np.argmax(np.abs(met["pr_less"].to_numpy() - 0.5)))
    one, other = met.index[at]
    worst = met.iloc[at]
    numbers = (
        f"{one} and {other} agree on {worst['observed']:.0%} of {worst['items']:.0f} answers, and "
        f"the model expects {worst['median']:.0%}"
    )
    if worst["pr_less"] > EXTREME:
        return [*said, f"{numbers}: people may err together, which looks like truth."]
    if worst["pr_less"] < 1 - EXTREME:
        return [*said, f"{numbers}: they differ more than the model has it."]
    return [*said, f"People agree pair by pair as the model has it; at the most apart, {numbers}."]


def disagrees(table: pd.DataFrame) -> bool:
    """Whether two people agree clearly more, or less, often than the model has it."""
    if table.empty or not table["items"].any():
        return False
    return bool(((table["pr_less"] - 0.5).abs() > EXTREME - 0.5).any())


def judges_in_words(posterior: Posterior[PanelProblem]) -> list[str]:
    """Judges that carry no information, or are worse than chance, in sentences."""
    problem, ratings = posterior.problem, posterior.ratings_in_memory
    found = matrices(complete(posterior.stacked(), problem), problem)
    said = []
    for judge, rater in enumerate(np.flatnonzero(~problem.roles.is_person)):
        name = ratings.raters[int(rater)]
        answers = np.unique(ratings.category[ratings.rater == rater])
        if len(answers) == 1:
            said.append(
                f"{name} always answers {ratings.categories[int(answers[0])]}: it carries no "
                "information, and its kappa is undefined."
            )
        elif problem.n_categories == 2:
            own = judge_confusion(found, problem)[:, judge]
            tells = float((own[:, 0, 0] + own[:, 1, 1] > 1).mean())
            if tells < 1 - EXTREME:
                said.append(f"{name} is worse than chance with probability {1 - tells:.3f}.")
    return said


def silences(posterior: Posterior[PanelProblem]) -> list[str]:
    """On what the data do not speak, so that the posterior is the prior, in sentences."""
    return [*_unlabelled_groups(posterior), *_unmoved(posterior)]


def _unlabelled_groups(posterior: Posterior[PanelProblem]) -> list[str]:
    problem, ratings = posterior.problem, posterior.ratings_in_memory
    groups = problem.coords["group"]
    labelled = problem.group[ratings.item[problem.roles.is_person[ratings.rater]]]
    number = np.bincount(labelled, minlength=len(groups))
    if ratings.gold_category is not None:
        number += np.bincount(problem.group[ratings.gold_category >= 0], minlength=len(groups))
    if not problem.by_group or not problem.size("judge") or not number.any():
        return []
    few = (number > 0).sum() < 2
    return [
        f"{group}: no person labelled its answers; the data do not speak on how judges misread "
        "them, and the width of its rate is the prior's."
        if few
        else f"{group}: no person labelled its answers; the errors of judges there are those in "
        "the other groups, as far as these differ."
        for group in groups[number == 0]
    ]


def _unmoved(posterior: Posterior[PanelProblem]) -> list[str]:
    """Errors of single judges whose posterior is the prior."""
    said = []
    for name in SINGLE:
        draws = posterior.draws.get(f"{name}_log_odds")
        if draws is None:
            continue
        mean, sd = (float(x) for x in posterior.problem.priors[name])
        by_level = draws.std(("chain", "draw")) / sd > SILENT
        moved = abs(draws.mean(("chain", "draw")) - mean) / sd > MOVED
        judge = next(str(dim) for dim in draws.dims if str(dim).endswith("_judge"))
        rest = [dim for dim in by_level.dims if dim != judge]
        silent = (by_level & ~moved).all(rest)
        what = "its own misreadings" if name == "own" else "how its runs differ"
        said += [
            f"{each}: the data do not speak on {what}."
            for each in silent.coords[judge].values[silent.values]
        ]
    return said
