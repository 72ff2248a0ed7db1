"""Judge studies: requirements, verdicts, and what is said in uncomfortable cases."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

import reliabayes as rb
from reliabayes.families.judges.requirements import Requirement, labels_to_decide
from tests.judge_answers import answers

FIT = {"seed": 1, "chains": 2, "draws": 500, "progress": False}


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_failed_assertion_tells_rate_probability_and_labels_needed() -> None:
    with pytest.raises(AssertionError) as failure:
        assert study().supports("sensitivity[judge 1] > 0.9 with 0.95")

    (said,) = re.findall("assert (.*)", str(failure.value).splitlines()[0])
    assert said.startswith("sensitivity[judge 1] > 0.9 with 0.95: undecided, Pr = 0.")
    assert re.search(r"; sensitivity\[judge 1\] is 0\.\d+ \(95% interval 0\.\d+ to 0", said)
    assert re.search(r"; about [0-9,]+ further human labels would decide with 80% chance$", said)


@pytest.mark.slow
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
