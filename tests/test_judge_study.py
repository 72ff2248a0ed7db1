"""Judge studies: requirements, verdicts, and what is said in uncomfortable cases."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

import reliabayes as rb
from reliabayes.families.judges.replaceable import advantages
from reliabayes.families.judges.requirements import Requirement, labels_to_decide
from tests import judge_coverage, judge_ranks
from tests.calibration.ranks import FALSE_ALARMS
from tests.judge_answers import answers

pytestmark = pytest.mark.slow

FIT = {"seed": 1, "chains": 2, "draws": 500, "progress": False}
JUDGES = "judge 1", "judge 2"


@cache
def study() -> rb.JudgeStudy:
    return rb.JudgeStudy(answers(1, by_system=80, labelled=30).ratings, fit=FIT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate[v4] = 0.8 with 0.9", "a requirement must be written as"),
        ("rate[v4] rate[v3] > 0 with 0.9", "a requirement must be written as"),
        ("rate[v4] > 0.8", "a requirement must be written as"),
        ("speed[v4] > 0.8 with 0.9", "'speed' must be one of 'rate'"),
        ("rate[v4] > 0.8 with 0.5", "must exceed 0.5 and be less than 1, not 0.5"),
        ("rate[v4] > 0.8 with certainty", "must exceed 0.5 and be less than 1, not certainty"),
    ],
)
def test_a_requirement_that_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Requirement.parse(text)


def test_a_requirement_is_a_sum_a_bound_and_a_probability() -> None:
    found = Requirement.parse("rate[v4] - rate[v3, good] <-.02 with 0.95")

    assert [(term.sign, term.name, term.of) for term in found.terms] == [
        (1, "rate", ("v4",)),
        (-1, "rate", ("v3", "good")),
    ]
    assert (found.above, found.bound, found.prob) == (False, -0.02, 0.95)


def test_labels_decide_with_the_chance_that_simulated_ones_have() -> None:
    rng = np.random.default_rng(1)
    given, mean, sd, prob = 50, 0.03, 0.05, 0.95
    values = norm.ppf((np.arange(4000) + 0.5) / 4000, mean, sd)

    further = labels_to_decide(values, 0.0, prob, given)

    assert further is not None
    true = rng.normal(mean, sd, 20_000)
    label_sd = sd * np.sqrt(given)  # one label is worth a normal observation with this sd
    observed = rng.normal(true, label_sd / np.sqrt(further))
    after = (mean * given + observed * further) / (given + further)
    pr = norm.cdf(after * np.sqrt(given + further) / label_sd)
    assert np.mean((pr >= prob) | (pr <= 1 - prob)) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("rate[v3] > 0.3 with 0.95", "supported"),
        ("rate[v3] < 0.3 with 0.95", "contradicted"),
        ("kappa[judge 1, people] > -0.5 with 0.9", "supported"),
        ("sensitivity[judge 2] < 0.2 with 0.9", "contradicted"),
    ],
)
def test_requirements_are_supported_or_contradicted(text: str, outcome: str) -> None:
    found = study().supports(text)

    assert found.outcome == outcome
    assert bool(found) == (outcome == "supported")


def test_a_failed_assertion_tells_rate_probability_and_labels_needed() -> None:
    with pytest.raises(AssertionError) as failure:
        assert study().supports("sensitivity[judge 1] > 0.9 with 0.95")

    (said,) = re.findall("assert (.*)", str(failure.value).splitlines()[0])
    assert said.startswith("sensitivity[judge 1] > 0.9 with 0.95: undecided, Pr = 0.")
    assert re.search(r"; sensitivity\[judge 1\] is 0\.\d+ \(95% interval 0\.\d+ to 0", said)
    assert re.search(r"; about [0-9,]+ further human labels would decide with 80% chance$", said)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate[v5] > 0.5 with 0.9", "'v5' is no group. Choose from 'v3', 'v4'"),
        ("kappa[judge 9, people] > 0.5 with 0.9", "'judge 9' is no judge"),
        ("kappa[judge 1] > 0.5 with 0.9", "kappa takes a judge and people"),
    ],
)
def test_what_a_requirement_names_must_be_there(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        study().supports(text)


def small(table: pd.DataFrame, **options: Any) -> rb.JudgeStudy:
    """A study of a table, with few draws."""
    ratings = rb.Ratings.from_frame(
        table, pool="pool", facets=["run"], group="system", replicates="keep", missing="drop"
    )
    return rb.JudgeStudy(ratings, fit={**FIT, "draws": 300}, **options)


def panel(seed: int = 1, **options: Any) -> pd.DataFrame:
    given: dict[str, Any] = {"by_system": 40, "labelled": 20, "judges": 2, "runs": 1} | options
    return answers(seed, **given).table


def test_judges_without_people_and_gold_answer_nothing() -> None:
    table = panel()

    study = small(table[table["pool"] == "llm"], human=[])

    systems, judges = study.answerable()
    assert systems.startswith(
        "These files cannot answer whether a system is better: There are judges only, who may all "
        "err together."
    )
    assert judges.endswith("which takes 3 people, and there are 0.")


def test_one_person_tells_the_rates_of_people_only() -> None:
    table = panel()

    study = small(table[~table["rater"].isin(["person 2", "person 3"])])

    systems, judges = study.answerable()
    assert systems.endswith("the rates of ratings by people of 2 systems can be told.")
    assert judges.endswith("which takes 3 people, and there is 1.")
    with pytest.raises(ValueError, match="the rates of true categories cannot be told from these"):
        study.identified().require("truth")


def test_two_judges_of_one_family_are_one_view() -> None:
    table = panel()

    study = small(table[table["rater"] != "person 3"])

    assert study.identified().truth == "just"
    assert study.identified().why == (
        "No item has more than 2 people and 1 family of judges. Each person and each family is a "
        "view of its own. These just suffice."
    )
    assert (
        "Families of judges, by the providers in their names: llm: judge 1 and judge 2."
        in (study.cautions[0])
    )


def test_a_judge_that_always_says_yes_changes_nothing() -> None:
    table = panel()
    table.loc[table["pool"] == "llm", "rating"] = 1
    study = small(table[table["rater"] != "judge 2"])

    rates = study.rates()

    assert study.checks()[-1] == (
        "judge 1 always answers 1: it carries no information, and its kappa is undefined."
    )
    with pytest.raises(ValueError, match="kappa of judge 1 is undefined"):
        study.supports("kappa[judge 1, people] > 0 with 0.9")
    # 16,000 draws differ by 0.24 sds: a little of the prior, by which a judge errs rarely, is left.
    assert (rates["median"] - rates["people_only"]).abs().max() < 0.4 * rates["sd"].min()


def test_a_judge_worse_than_chance_is_named() -> None:
    table = panel(labelled=40)
    of_judge = table["rater"] == "judge 1"
    good = table[table["rater"] == "person 1"].set_index("item")["rating"]
    table.loc[of_judge, "rating"] = 1 - good.loc[table.loc[of_judge, "item"]].to_numpy()

    said = small(table).checks()

    assert any(text.startswith("judge 1 is worse than chance with probability ") for text in said)


def test_people_who_always_agree_and_a_system_that_never_fails_have_rates_below_one() -> None:
    table = panel()
    table.loc[(table["system"] == "v3"), "rating"] = 1
    first = table[table["rater"] == "person 1"].set_index("item")["rating"]
    of_people = table["pool"] == "human"
    table.loc[of_people, "rating"] = first.loc[table.loc[of_people, "item"]].to_numpy()
    study = small(table)

    rates = study.rates()

    assert 0.85 < rates["median"].iloc[0] < 1
    assert study.people_agreement()["observed"].eq(1).all()
    assert study.checks()[0].startswith("People agree pair by pair as the model has it")


@pytest.mark.proof
def test_many_systems_with_few_answers_have_ranks() -> None:
    table = panel(by_system=100, labelled=100)
    number = table["item"].str[3:].astype(int)
    study = small(table.assign(system=table["system"] + "-" + (number % 10).astype(str)))

    ranks = study.ranks()

    assert len(ranks) == 20
    assert ranks["pr_first"].sum() == pytest.approx(1)
    assert ranks["pr_first"].max() < 0.9


def test_systems_on_few_prompts_are_ranked_by_pooled_rates() -> None:
    found = judge_ranks.Study.simulated(4, 12, seed=2).ratings
    study = rb.JudgeStudy(found, human="human", family=dict.fromkeys(JUDGES, "one"), fit=FIT)

    ranks = study.ranks().sort_index()

    rates = study.results.rate_draws().sel(category=1).values
    assert ranks["blocks"].eq(0).all()
    share = np.bincount(rates.argmax(axis=1), minlength=4) / len(rates)
    assert ranks["pr_first"].tolist() == pytest.approx(share)
    with pytest.raises(ValueError, match="category must be one of 0, 1, not 2"):
        study.ranks(category=2)


@pytest.mark.proof
def test_the_first_of_many_systems_is_stated_with_its_chance() -> None:
    found = judge_ranks.scored(20, 10, range(60)).query("rates == 'pooled'")

    assert found["log score"].mean() > np.log(1 / 20) + 0.1
    chance = found["said"].mean()
    assert binomtest(int(found["right"].sum()), 60, chance).pvalue > FALSE_ALARMS


def scores(seed: int = 1) -> pd.DataFrame:
    """Scores from 1 to 10 of the answers of two systems, the second a point better."""
    rng = np.random.default_rng(seed)
    frames = []
    for system, shift in (("v3", 0), ("v4", 1)):
        true = rng.integers(2, 9, 40) + shift
        for rater, pool in (("p", "human"), ("q", "human"), ("judge", "llm")):
            rating = np.clip(true + rng.integers(-1, 2, 40), 1, 10)
            items = [f"{system}-{at}" for at in range(40)]
            own = {"rater": rater, "pool": pool, "run": 1, "system": system, "rating": rating}
            frames.append(pd.DataFrame({"item": items, **own}))
    return pd.concat(frames, ignore_index=True)


@pytest.mark.proof
@pytest.mark.parametrize("scale", ["nominal", "ordered"])
def test_ten_categories_and_scores_have_means(scale: Any) -> None:
    ratings = rb.Ratings.from_frame(
        scores(), pool="pool", group="system", scale=scale, categories=range(1, 11)
    )
    study = rb.JudgeStudy(ratings, fit={**FIT, "draws": 1000})

    means = study.means()

    by_people = scores().query("pool == 'human'").groupby("system")["rating"].mean()
    assert list(means.index) == ["v3", "v4"]
    assert ((means["median"] - by_people).abs() < 3 * means["sd"]).all()
    ranks = study.conclusions().better.ranks
    assert ranks["pr_first"].idxmax() == means["median"].idxmax()


def test_unreadable_answers_of_one_system_are_reported() -> None:
    table = panel(by_system=100)
    rng = np.random.default_rng(1)
    lost = (
        (table["rater"] == "judge 1") & (table["system"] == "v4") & (rng.random(len(table)) < 0.1)
    )

    said = small(table.assign(rating=table["rating"].mask(lost))).cautions

    assert re.fullmatch(
        r"Missing answers differ between groups: judge 1 left out \d+% of its answers on v4\. "
        "Rates are right only if what is missing does not depend on quality.",
        said[-1],
    )


def test_people_sent_where_judges_disagree_are_part_of_the_data() -> None:
    found = answers(2, by_system=150, labelled=50, where_judges_disagree=True)
    study = rb.JudgeStudy(found.ratings, fit=FIT)

    rates = study.rates("truth").droplevel("category")

    true = found.is_good.groupby(found.is_good.index.str[:2]).mean()
    assert true.between(rates["lower_90"], rates["upper_90"]).all()


@pytest.mark.proof
@pytest.mark.parametrize("kind", judge_coverage.KINDS)
def test_intervals_cover_over_panels_of_each_kind(kind: str) -> None:
    panels = pd.concat([judge_coverage.panel(kind, 1000 + seed) for seed in range(40)])

    held = panels.groupby("of")["coverage"].sum()

    assert set(held.index) == {"truth", "truth, difference", "people", "people, difference"}
    for number in held:
        assert binomtest(int(number), 40, 0.95).pvalue > FALSE_ALARMS


def test_people_who_never_met_are_not_checked() -> None:
    table = panel(labelled=40)
    late = table["item"].str[3:].astype(int) >= 20
    is_gone = ((table["rater"] == "person 1") & late) | ((table["rater"] == "person 2") & ~late)

    study = small(table[~is_gone])

    said = study.checks()

    assert study.rates()["people_only"].notna().all()
    assert said[0] == (
        "person 1 and person 2 never rated the same answer, so that their agreement is not checked."
    )


def test_people_who_err_together_are_noticed_if_there_is_gold() -> None:
    table = panel(labelled=40)
    first = table[table["rater"] == "person 1"].set_index("item")["rating"]
    of_people = table["pool"] == "human"
    table.loc[of_people, "rating"] = first.loc[table.loc[of_people, "item"]].to_numpy()
    rng = np.random.default_rng(1)
    gold = first ^ (rng.random(len(first)) < 0.25)
    ratings = rb.Ratings.from_frame(
        table.assign(gold=gold.loc[table["item"]].to_numpy()),
        pool="pool", facets=["run"], group="system", gold="gold",
    )  # fmt: skip

    said = rb.JudgeStudy(ratings, fit={**FIT, "draws": 300}).checks()

    assert said[0].endswith("people may err together, which looks like truth.")


def test_a_group_without_labels_is_said_to_have_the_width_of_the_prior() -> None:
    table = panel()

    study = small(table[(table["pool"] == "llm") | (table["system"] == "v3")])

    assert study.answerable()[0].endswith(
        "of 2 systems can be told, but no person labelled answers of v4, where judges are taken to "
        "err as elsewhere."
    )
    assert study.results.silences() == [
        "v4: no person labelled its answers; the data do not speak on how judges misread them, and "
        "the width of its rate is the prior's."
    ]


def test_systems_are_compared_within_prompts() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(100) < 0.5
    frames = []
    for system, rate in (("v3", 0.05), ("v4", 0.15)):
        good = ~hard ^ (rng.random(100) < rate)
        for rater in ("p", "q", "r"):
            rating = (good ^ (rng.random(100) < 0.05)) * 1
            items = [f"{system}-{at}" for at in range(100)]
            own = {"rater": rater, "prompt": range(100), "system": system, "rating": rating}
            frames.append(pd.DataFrame({"item": items, **own}))
    table = pd.concat(frames)
    fits = [
        rb.JudgeStudy(
            rb.Ratings.from_frame(table, group="system", block=block, scale="nominal"),
            human=["p", "q", "r"],
            fit=FIT,
        )
        for block in ("prompt", None)
    ]

    paired, apart = (study.contrast("v3", "v4", of="truth").summary().iloc[0] for study in fits)

    assert "paired by 100 blocks" in str(paired.name)
    assert paired["sd"] < 0.75 * apart["sd"]
    true = (table.groupby(["system", "item"])["rating"].mean() > 0.5).groupby("system").mean()
    assert paired["mean"] == pytest.approx(true["v3"] - true["v4"], abs=2 * paired["sd"])
    ranks = [study.ranks(of="truth") for study in fits]
    assert [found["blocks"].iloc[0] for found in ranks] == [100, 0]
    pr_first = [float(found["pr_first"]["v3"]) for found in ranks]
    assert pr_first[0] == pytest.approx(paired["pr_above_0"], abs=0.03)
    assert pr_first[0] < pr_first[1] < 0.5


def test_how_often_a_judge_is_as_close_to_the_others_equals_the_sum_over_all_answers() -> None:
    found, problem = study().results.matrices, study().problem
    said = problem.answers
    prevalence, misreading = (np.exp(x[-1]) for x in (found.prevalence, found.misreading))
    people, own, slip = (np.exp(x[-1]) for x in (found.people, found.own, found.slip))
    matrix = [group if len(misreading[0]) > 1 else 0 for group in range(2)]
    read = misreading[said.family[1]]
    lasts, runs = own[said.own_of[1]], slip[said.slip_of[1]]
    expected = np.zeros((2, 3))
    for group, true, reads, has, says, *ratings in product(range(2), repeat=8):
        pr = prevalence[group, true] * read[matrix[group], true, reads] / 2  # equal groups
        pr *= lasts[reads, has] * runs[has, says]
        pr *= np.prod([people[person, true, rating] for person, rating in enumerate(ratings)])
        for person in range(3):
            others = [rating for other, rating in enumerate(ratings) if other != person]
            of_judge, of_person = others.count(says), others.count(ratings[person])
            expected[:, person] += pr * (of_judge >= of_person), pr * (of_person >= of_judge)

    one, other = advantages(found, 1, problem)

    assert (said.own_of[1], said.slip_of[1]) >= (0, 0)
    assert np.array([one[-1], other[-1]]) == pytest.approx(expected, abs=1e-12)


def seen_alike(seed: int, spread: float) -> rb.Ratings:
    """Scores by three people of a third of the answers, and by three judges in two runs of all.

    Judges see 0.8 times what people see, and something else of a standard deviation alike.
    """
    rng = np.random.default_rng(seed)
    true = rng.normal(6, 2, 300)
    read = 0.8 * true + rng.normal(0, spread, 300)
    frames = []
    for number in range(3):
        rating = true + rng.normal(0, 0.8, 300)
        own = {"rater": f"person {number}", "pool": "human", "run": 1, "rating": rating}
        frames.append(pd.DataFrame({"item": range(300), **own})[:100])
        kept = read + rng.normal(0, 0.5, 300)
        for run in (1, 2):
            own = {"rater": f"gpt-{number}", "pool": "llm", "run": run}
            rating = kept + rng.normal(0, 0.4, 300)
            frames.append(pd.DataFrame({"item": range(300), **own, "rating": rating}))
    table = pd.concat(frames).round({"rating": 0})
    return rb.Ratings.from_frame(table, pool="pool", facets=["run"])


@pytest.mark.parametrize("spread", [pytest.param(0.4, marks=pytest.mark.proof), 1.2])
def test_what_a_family_sees_alike_and_people_do_not_is_recovered(spread: float) -> None:
    study = rb.JudgeStudy(seen_alike(1, spread), fit=FIT)

    table = study.family_variance()
    found, sd = table.loc["openai"], float(table["sd"].item())

    assert found["judges"] == 3
    assert found["median"] == pytest.approx(spread**2, abs=3 * sd)
    assert sd < 0.35 * (0.1 + spread**2)
    share = spread**2 / (spread**2 + 0.64 * 4)
    assert found["proportion"] == pytest.approx(share, abs=0.08)


def test_what_a_family_sees_alike_is_not_told_apart_from_the_errors_of_its_only_judge() -> None:
    ratings = seen_alike(1, 0.4).subset(raters=["person 0", "person 1", "gpt-0"])
    study = rb.JudgeStudy(ratings, fit=FIT)

    found = study.family_variance().loc["openai"]

    assert found["judges"] == 1
    assert found.drop("judges").isna().all()


@pytest.mark.parametrize(
    ("raters", "message"),
    [
        (["person 0", "gpt-0", "gpt-1"], "found 2 and 1"),
        (["person 0", "person 1"], "found 0 and 2"),
    ],
)
def test_the_view_of_a_family_needs_judges_and_two_people(raters: list[str], message: str) -> None:
    study = rb.JudgeStudy(seen_alike(1, 0.4).subset(raters=raters), human="human", fit=FIT)

    with pytest.raises(ValueError, match=message):
        study.family_variance()


def test_the_view_of_a_family_needs_scores() -> None:
    table = panel().replace({"rating": {0: "bad", 1: "good"}})

    with pytest.raises(ValueError, match="scores must be numbers, not 'bad'"):
        small(table).family_variance()
