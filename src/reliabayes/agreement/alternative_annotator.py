"""Whether a judge may stand in for a person: the alternative annotator test."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtr

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Clause, MethodsSentence
from reliabayes.reporting.numbers import number
from reliabayes.wording import listed

Score: TypeAlias = Literal["accuracy", "neg_rmse"]
HALF = 0.5  # of the people, against which a judge must win


@dataclass(frozen=True)
class AltTest:
    """Result of the alternative annotator test of a judge.

    Attributes
    ----------
    judge : object
        Id of the judge.
    winning_rate : float
        Proportion of the people against whom the judge wins, in [0, 1].
    advantage_probability : float
        Proportion of a person's items on which the judge agrees with the others at least as well,
        averaged over people, in [0, 1].
    epsilon, q : float
        What a person costs more than the judge, and the false discovery rate.
    people : DataFrame
        A row for each person that was compared: number of items, ``advantage`` of the judge,
        ``p_value``, and whether the judge ``wins``.
    """

    judge: Any
    winning_rate: float
    advantage_probability: float
    epsilon: float
    q: float
    people: pd.DataFrame

    @property
    def passes(self) -> bool:
        """Whether the judge wins against at least half of the people."""
        return self.winning_rate >= HALF

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the test; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its reference.
        """
        wins = f"{int(self.people['wins'].sum())} of {len(self.people)} people"
        advantage, rate = (
            number(each, bounded=True) for each in (self.advantage_probability, self.winning_rate)
        )
        statement = Clause(
            "In the alternative annotator test",
            ("calderon2025",),
            f" {self.judge} won against {wins}, a winning rate of {rate}, and had a mean advantage "
            f"probability of {advantage}",
        )
        options = Clause(
            f"epsilon was {self.epsilon:g} and the false discovery rate {self.q:g}; "
            f"a judge passes with a winning rate of {HALF:g} or more"
        )
        return MethodsSentence(statement, clauses=(options,))

    def __str__(self) -> str:
        verb = "passes" if self.passes else "does not pass"
        return (
            f"{self.judge} {verb} the alternative annotator test: it wins against "
            f"{int(self.people['wins'].sum())} of {len(self.people)} people (epsilon "
            f"{self.epsilon:g}), and its mean advantage probability is "
            f"{self.advantage_probability:.2f}."
        )


def alt_test(
    ratings: Ratings,
    judge: Any,
    human: Any = "human",
    *,
    epsilon: float = 0.2,
    score: Score | None = None,
    q: float = 0.05,
    min_people: int = 2,
    min_items: int = 30,
) -> AltTest:
    r"""Alternative annotator test of whether a judge may stand in for a person.

    Each person in turn is left out. On each item, person and judge are scored against the other
    people who rated it, and the judge has an advantage if its score is at least as high. It wins
    against a person if, in a one-sided t test, the proportion of items on which the person is as
    good exceeds its own by less than epsilon; the tests of all people are corrected by the
    procedure of Benjamini and Yekutieli. The judge passes if it wins against half of the people.

    Parameters
    ----------
    ratings : Ratings
        By people and the judge, one rating of an item by each.
    judge : object
        Id of the judge.
    human : str or sequence, default "human"
        Names of the pools of people, or their ids.
    epsilon : float, default 0.2
        What a person costs more than the judge: the publication uses 0.2 for experts, 0.15 for
        skilled annotators and 0.1 for crowds.
    score : {"accuracy", "neg_rmse"}, optional
        Proportion of the others whose rating is the same; or the root of the mean squared
        difference from them, negative. By default the second if ratings are numeric.
    q : float, default 0.05
        False discovery rate.
    min_people : int, default 2
        Items that fewer people rated are left out.
    min_items : int, default 30
        People with fewer of the remaining items are left out.

    Returns
    -------
    AltTest

    Raises
    ------
    RatingsError
        There is no such judge, nobody is a person, one of them rated an item twice, or nobody has
        enough items.

    See Also
    --------
    reliabayes.JudgeStudy : ``replaceable`` is the posterior of what is tested here.

    References
    ----------
    Calderon, Reichart & Dror (2025). https://arxiv.org/abs/2501.10970

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, (40, 1))
    >>> answers = truth ^ (rng.random((40, 4)) < [0.2, 0.2, 0.2, 0.05])
    >>> wide = pd.DataFrame(answers * 1, columns=["Ann", "Bob", "Cem", "judge"])
    >>> found = alt_test(rb.Ratings.from_wide(wide), "judge", ["Ann", "Bob", "Cem"])
    >>> found.winning_rate
    1.0
    """
    ratings.require_known_raters("alt_test")
    person = _people(ratings, human)
    at = ratings.raters.get_indexer(pd.Index([judge]))[0]
    if at < 0 or person[at]:
        rule = "judge must be the id of a rater who is no person"
        remedy = f"Choose from {listed(list(ratings.raters[~person]))}."
        raise RatingsError([Fault("judge", rule, repr(judge), remedy)])
    used = person[ratings.rater] | (ratings.rater == at)
    pair = ratings.pair[used]
    if len(np.unique(pair)) < len(pair):
        rule = "person and judge must rate an item once"
        remedy = "Pass one run of each, such as ratings.subset(facets={...})."
        raise RatingsError([Fault("rater", rule, "several ratings of an item by one", remedy)])
    kind = score or ("neg_rmse" if ratings.scale == "numeric" else "accuracy")
    if kind not in ("accuracy", "neg_rmse"):
        raise ValueError(f"score must be 'accuracy' or 'neg_rmse', not {kind!r}.")
    rows, of_judge = _compared(ratings, person, at, min_people)
    judge_wins, person_wins = _at_least_as_good(ratings, rows, of_judge, person, kind)
    return _result(ratings, judge, rows, judge_wins, person_wins, epsilon, q, min_items)


def _people(ratings: Ratings, human: Any) -> Mask:
    """Which raters are people: those of pools with these names, or with these ids."""
    one = isinstance(human, str) or not isinstance(human, Collection)
    wanted = [human] if one else list(human)
    if ratings.rater_pool is not None and set(wanted) <= set(ratings.pools):
        return np.asarray(ratings.pools.isin(wanted)[ratings.rater_pool])
    if wanted and set(wanted) <= set(ratings.raters):
        return np.asarray(ratings.raters.isin(wanted))
    rule = "human must name pools or raters"
    remedy = "Name the pools of people, or those who are people."
    raise RatingsError([Fault("human", rule, listed(wanted) or "none", remedy)])


def _compared(ratings: Ratings, person: Mask, judge: int, min_people: int) -> tuple[Codes, Codes]:
    """Rows of people on items that the judge and enough of them rated; the judge's row of each."""
    by_person = person[ratings.rater]
    of_item = np.full(ratings.n_items, -1)
    rows = np.flatnonzero(ratings.rater == judge)
    of_item[ratings.item[rows]] = rows
    number = np.bincount(ratings.item[by_person], minlength=ratings.n_items)
    kept = (of_item >= 0) & (number >= max(min_people, 2))
    found = np.flatnonzero(by_person & kept[ratings.item])
    return found, of_item[ratings.item[found]]


def _at_least_as_good(
    ratings: Ratings, rows: Codes, of_judge: Codes, person: Mask, score: Score
) -> tuple[Mask, Mask]:
    """Whether the judge is at least as good as the person of a row, and the reverse."""
    item = ratings.item[rows]
    if score == "accuracy":
        k = len(ratings.categories)
        count = np.bincount(item.astype(np.int64) * k + ratings.category[rows], minlength=0)
        count = np.append(count, np.zeros(ratings.n_items * k - len(count), count.dtype))
        own, other = ratings.category[rows], ratings.category[of_judge]
        of_person = count[item.astype(np.int64) * k + own] - 1
        of_other = count[item.astype(np.int64) * k + other] - (own == other)
        return of_other >= of_person, of_person >= of_other
    if ratings.scale == "nominal":
        rule = "score='neg_rmse' needs ratings that are numbers"
        raise RatingsError([Fault("score", rule, "categories", "Pass score='accuracy'.")])
    value = np.asarray(ratings.values, float)
    own, other = value[rows], value[of_judge]
    number = np.bincount(item, minlength=ratings.n_items)[item]
    others = (np.bincount(item, own, ratings.n_items)[item] - own) / (number - 1)
    # Both have the same others, so that the one closer to their mean has the smaller error.
    gap = np.abs(other - others) - np.abs(own - others)
    slack = 1e-9 * np.maximum(1.0, np.abs(others))
    return gap <= slack, gap >= -slack


def _result(
    ratings: Ratings,
    judge: Any,
    rows: Codes,
    judge_wins: Mask,
    person_wins: Mask,
    epsilon: float,
    q: float,
    min_items: int,
) -> AltTest:
    rater, size = ratings.rater[rows], ratings.n_raters
    number = np.bincount(rater, minlength=size)
    kept = np.flatnonzero(number >= max(min_items, 2))
    if not len(kept):
        rule = f"at least one person must share {max(min_items, 2)} items with others and the judge"
        found = f"at most {number.max(initial=0)}"
        raise RatingsError([Fault("item", rule, found, "Pass a smaller min_items.")])
    n = number[kept]
    gap = 1.0 * person_wins - judge_wins
    mean = np.bincount(rater, gap, size)[kept] / n
    square = np.bincount(rater, gap**2, size)[kept] / n
    p_value = _below(mean, np.maximum(square - mean**2, 0.0) * n / (n - 1), n, epsilon)
    table = pd.DataFrame(
        {
            "items": n,
            "advantage": np.bincount(rater, judge_wins, size)[kept] / n,
            "p_value": p_value,
            "wins": _discovered(p_value, q),
        },
        index=ratings.raters[kept].rename("person"),
    )
    rates = float(table["wins"].mean()), float(table["advantage"].mean())
    return AltTest(judge, *rates, epsilon, q, table)


def _below(mean: Array, variance: Array, n: Codes, bound: float) -> Array:
    """P values of one-sided t tests that means are below a bound."""
    gap, error = mean - bound, np.sqrt(variance / n)
    sure = np.where(gap < 0, -np.inf, np.inf)
    return np.asarray(stdtr(n - 1, np.divide(gap, error, out=sure, where=error > 1e-12)))


def _discovered(p_value: Array, q: float) -> Mask:
    """Which tests reject by the procedure of Benjamini and Yekutieli."""
    rank = np.arange(1, len(p_value) + 1)
    order = np.argsort(p_value)
    below = np.flatnonzero(p_value[order] <= rank * q / (len(rank) * (1 / rank).sum()))
    found = np.zeros(len(rank), bool)
    found[order[: below[-1] + 1 if len(below) else 0]] = True
    return found
