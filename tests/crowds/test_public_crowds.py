"""Labels of ten public crowds, stated with constants found on nine others, are as documented."""

from __future__ import annotations

from dataclasses import astuple
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from benchmarks.labels import AGGREGATORS, HONEST, METHODS, RESULTS, SETS, crowd, measured
from benchmarks.statement import Known, by_others, constants_of, known
from reliabayes.crowds.statement import OF_CROWDS


@cache
def crowds() -> dict[str, Known]:
    if not (rb.datasets.folder() / "crowds").exists():
        pytest.skip("the public crowds are missing")
    return {name: known(name) for name in SETS}


@pytest.mark.proof
def test_constants_are_those_with_the_best_log_score_on_ten_crowds() -> None:
    found = constants_of(list(crowds().values()))

    assert astuple(found) == pytest.approx(astuple(OF_CROWDS), abs=0.01)


@pytest.mark.proof
@pytest.mark.parametrize(("name", "title"), SETS.items())
def test_labels_of_a_crowd_stated_by_the_others_are_as_documented(name: str, title: str) -> None:
    _, methods = by_others(name, crowds())
    kept = pd.read_csv(RESULTS).set_index(["set", "method"])

    for method in HONEST:
        found, _ = measured(methods[method], crowd(name))
        row: Any = kept.loc[(title, method)]
        assert found["right"] == pytest.approx(row["right"], abs=0.005)
        assert found["log_score"] == pytest.approx(row["log_score"], abs=0.005)
        assert found["calibration_error"] == pytest.approx(row["calibration_error"], abs=0.01)


@pytest.mark.proof
def test_errors_of_raters_named_on_entity_links_correlate_given_the_experts_categories() -> None:
    links = crowds()["zencrowd_us"]

    (group,) = links.crowd.groups

    votes, gold = links.crowd.votes, links.gold
    has_gold = gold[votes.item] >= 0
    is_wrong = pd.Series(votes.category[has_gold] != gold[votes.item[has_gold]], dtype=float)
    errors = is_wrong.groupby([votes.item[has_gold], votes.rater[has_gold]]).first().unstack()
    between = errors[group.raters].corr().to_numpy()
    assert between.min() > 0.4
    assert between[~np.eye(len(between), dtype=bool)].mean() > 0.6


@pytest.mark.proof
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "title"), SETS.items())
def test_labels_by_crowd_kit_are_as_documented(name: str, title: str) -> None:
    pytest.importorskip("crowdkit.aggregation")
    kept = pd.read_csv(RESULTS).set_index(["set", "method"])

    for method in (f"crowd-kit {kind}" for kind in AGGREGATORS):
        found, _ = measured(METHODS[method], crowd(name))
        assert found["right"] == pytest.approx(kept.loc[(title, method), "right"], abs=0.005)
