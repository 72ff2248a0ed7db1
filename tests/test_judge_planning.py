"""What to label next in judge studies: numbers of labels for a width, and which answers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from tests.judge_answers import RIGHT, SYSTEMS, TRUE_RATES, Answers, Kind, answers, flipped, part

pytestmark = pytest.mark.slow

FIT = {"seed": 1, "chains": 2, "draws": 400, "progress": False}
BY_LABELS = {"human": 1.0, "judge": 10.0}  # costs at which no further answers are judged
KINDS: list[Any] = ["shared", pytest.param("self-preferring", marks=pytest.mark.proof)]


def study(table: pd.DataFrame, **options: Any) -> rb.JudgeStudy:
    ratings = rb.Ratings.from_frame(table, pool="pool", facets=["run"], group="system")
    return rb.JudgeStudy(ratings, human="human", fit=FIT | options)


def small(**options: Any) -> Answers:
    given: dict[str, Any] = {"by_system": 200, "labelled": 30, "judges": 2, "runs": 1}
    return answers(1, **(given | options))


@cache
def one_study() -> rb.JudgeStudy:
    return study(small().table)


def labelled(found: Answers, number: int) -> pd.DataFrame:
    """The table with the labels of so many answers of each system."""
    table, of_people = found.table, found.table["pool"] == "human"
    kept = [
        np.random.default_rng(3).permutation(own["item"].unique())[:number]
        for _, own in table[of_people].groupby("system")
    ]
    return table[~of_people | table["item"].isin(np.concatenate(kept))]


def width(found: rb.JudgeStudy) -> float:
    """Of the 90% interval of the first system's rate."""
    draws = found.results.rate_draws().values[:, 0, 1]
    return float(np.ptp(np.quantile(draws, [0.05, 0.95])))


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_are_planned_make_the_interval_as_short_as_refits_have_it(kind: Kind) -> None:
    ratios = []
    for seed in (0, 1):
        found = answers(seed, kind, by_system=200, labelled=150, judges=2, runs=1)
        before = study(labelled(found, 30))
        aim = 0.7 * width(before)

        planned = before.plan(aim, BY_LABELS, SYSTEMS[0]).iloc[0]

        assert planned["further_judged"] == 0
        assert planned["cost"] == 3 * planned["further_labelled"]
        ratios.append(width(study(labelled(found, int(planned["labelled"])))) / aim)
    assert np.mean(ratios) == pytest.approx(1, abs=0.12)


def test_plans_are_of_least_cost() -> None:
    found = one_study()
    aim = 0.6 * width(found)

    dear, cheap, free = (
        found.plan(aim, {"human": 1.0, "judge": judge}, SYSTEMS[0]).iloc[0]
        for judge in (10.0, 0.02, 0.0002)
    )
    kept = found.plan(0.9, BY_LABELS)

    assert dear["judged"] == 200 < cheap["judged"] < free["judged"]
    assert dear["labelled"] > cheap["labelled"] > free["labelled"]
    assert dear["cost"] > cheap["cost"] > free["cost"]
    assert kept["cost"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("width", "cost", "group", "message"),
    [
        (1.2, BY_LABELS, None, "width must be between 0 and 1"),
        (0.1, {"human": 1.0}, None, "cost must have 'human', 'judge'"),
        (0.1, BY_LABELS, "v5", "'v5' is no group. Choose from 'v3', 'v4'"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(
    width: float, cost: dict[str, float], group: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        one_study().plan(width, cost, group)


def with_few_labels_of_one(found: Answers) -> pd.DataFrame:
    """The table without labels of the second system but for five answers."""
    of_people = found.table["pool"] == "human"
    own = found.table["system"] == SYSTEMS[1]
    left = found.table[of_people & own]["item"].unique()[5:]
    return found.table[~(of_people & found.table["item"].isin(left))]


def with_labels(table: pd.DataFrame, found: Answers, items: list[str]) -> pd.DataFrame:
    """The table with labels of further answers by three people."""
    rng, tables = np.random.default_rng(7), [table]
    for person, (right, wrong) in enumerate(RIGHT):
        for system in SYSTEMS:
            own = np.array([item for item in items if item.startswith(system)])
            good = found.is_good.loc[own].to_numpy()
            said = flipped(good, (1 - right, 1 - wrong), rng)
            tables.append(part(own, f"person {person + 1}", "human", 1, system, said))
    return pd.concat(tables)


def rates(table: pd.DataFrame, **options: Any) -> np.ndarray:
    """Draws (S, G) of the systems' rates."""
    return np.asarray(study(table, **options).results.rate_draws().values[..., 1])


def chosen_and_by_chance(seed: int, kind: Kind, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draws of rates given labels of 40 further answers that say most, and of 40 by lot."""
    found = answers(seed, kind, by_system=150, labelled=40, judges=2, runs=1)
    table = with_few_labels_of_one(found)
    chosen = study(table, **options).next_items(40)
    others = sorted(set(table["item"]) - set(table[table["pool"] == "human"]["item"]))
    by_lot = np.random.default_rng(seed).choice(others, 40, replace=False)
    one, other = (
        rates(with_labels(table, found, list(items)), **options) for items in (chosen.index, by_lot)
    )
    return one, other


@pytest.mark.proof
def test_labels_of_answers_that_are_chosen_tell_more_than_by_chance() -> None:
    found = [chosen_and_by_chance(seed, "shared") for seed in (1, 2)]

    chosen, by_chance = (
        np.mean([draws.var(axis=0).sum() for draws in each]) for each in zip(*found, strict=True)
    )

    assert chosen < 0.9 * by_chance


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["shared", "self-preferring"])
def test_intervals_cover_where_answers_were_chosen_for_what_they_tell(kind: Kind) -> None:
    right = np.mean(RIGHT, axis=0)
    true = np.array([rate * right[0] + (1 - rate) * (1 - right[1]) for rate in TRUE_RATES])
    found = [chosen_and_by_chance(seed, kind, chains=4, draws=1000) for seed in range(40)]

    ends = np.array([np.quantile(chosen, [0.025, 0.975], axis=0) for chosen, _ in found])
    chosen, by_chance = (
        np.mean([draws.var(axis=0).sum() for draws in each]) for each in zip(*found, strict=True)
    )

    holds = (ends[:, 0] <= true) & (true <= ends[:, 1])
    assert holds.mean() > 0.95 - 3 * np.sqrt(0.95 * 0.05 / holds.size)
    assert chosen < 0.96 * by_chance


def test_a_part_of_the_answers_is_drawn_by_lot() -> None:
    found = one_study()
    labelled = set(small().table.query("pool == 'human'")["item"])

    chosen, other = found.next_items(25, random=0.4), found.next_items(25, random=0.4, seed=2)

    assert chosen["chosen"].tolist() == ["informative"] * 15 + ["random"] * 10
    assert chosen.index.is_unique
    assert not set(chosen.index) & labelled
    assert chosen["reduction"].between(0, 1).all()
    assert chosen.equals(found.next_items(25, random=0.4))
    assert set(chosen.index[15:]) != set(other.index[15:])


def test_labels_for_the_rate_of_one_system_are_of_its_answers() -> None:
    chosen = one_study().next_items(20, "v4", random=0)

    assert (chosen["group"] == "v4").mean() > 0.8


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (400, {}, "n must be 1 to 340, the number of answers that no person labelled"),
        (10, {"random": 1.5}, "random must be a proportion from 0 to 1"),
        (10, {"one": "v5"}, "'v5' is no group"),
    ],
)
def test_answers_that_cannot_be_chosen_are_refused(
    n: int, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        one_study().next_items(n, **options)
