"""Each advice of a warning or a note helps: where it is followed, what it was given for is gone."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.results.diagnostics import Finding
from tests.models.test_alarms import study
from tests.models.test_modes import by_raters_of, mirrored_camps, rated

# What fits warn of is looked up in their findings.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


def findings(fit: rb.Fit, seen: str) -> list[Finding]:
    return [each for each in fit.diagnostics().findings if seen in each.seen]


def remedy(fit: rb.Fit, seen: str) -> str:
    """Advice of the one finding in whose text a word occurs."""
    (found,) = findings(fit, seen)
    return found.remedy


def test_more_draws_where_the_ess_is_low(of_judges: rb.Fit) -> None:
    few = rb.GaussianICC().fit(of_judges.ratings, seed=1, draws=15)

    assert remedy(few, "bulk ESS") == remedy(few, "tail ESS") == "fit with more draws"
    assert not findings(of_judges, "ESS")


def test_more_chains_where_there_is_one(of_judges: rb.Fit) -> None:
    alone = rb.GaussianICC().fit(of_judges.ratings, seed=1, chains=1)

    assert remedy(alone, "one chain") == "use chains=4"
    assert of_judges.settings.chains == 4
    assert not of_judges.diagnostics().problems


def test_more_warmup_and_draws_or_a_warm_start_where_cold_chains_disagree(
    of_judges: rb.Fit,
) -> None:
    def cold(**options: Any) -> rb.Fit:
        return rb.GaussianICC().fit(of_judges.ratings, seed=1, warm_start=False, **options)

    advice = remedy(cold(warmup=20, draws=50), "the chains disagree")

    assert advice.startswith("fit with more warmup and draws, or with warm_start=True")
    for followed in (cold(warmup=1000), of_judges):
        assert not followed.diagnostics().problems


def test_more_draws_and_a_cold_start_where_warm_chains_disagree() -> None:
    ratings = study(rb.LogitICC(), (30, 5), seed=1)
    warm = rb.LogitICC().fit(ratings, seed=1, warmup=1, draws=50)

    assert remedy(warm, "the chains disagree").startswith("fit with more draws, and with warm_st")
    cold = rb.LogitICC().fit(ratings, seed=1, warm_start=False, warmup=300, draws=300)
    assert not cold.diagnostics().problems


def test_tighter_priors_where_transitions_diverge_and_the_energy_mixes_slowly() -> None:
    ratings = study(rb.LogitICC(), (10, 3), seed=4)
    wide = rb.HalfStudentT(1, 300.0)
    model = rb.LogitICC(prior_sd_item=wide, prior_sd_rater=wide)
    diagnostics = model.fit(ratings, seed=1, chains=6, draws=150, warmup=100).diagnostics()
    seen = dataclasses.replace(diagnostics, divergences=20, bfmi=0.1).findings

    assert diagnostics.divergences > 0  # how many is chance
    for word in ("divergent transitions", "E-BFMI"):
        (found,) = (each for each in seen if word in each.seen)
        assert found.remedy.startswith("set tighter priors")
    tighter = rb.LogitICC().fit(ratings, seed=1, chains=2, draws=150)
    assert not findings(tighter, "divergent") + findings(tighter, "E-BFMI")


def test_nothing_to_do_where_a_few_transitions_diverge(of_judges: rb.Fit) -> None:
    diagnostics = of_judges.diagnostics()

    few, many = (
        dataclasses.replace(diagnostics, divergences=number).findings for number in (20, 21)
    )

    assert [each.remedy for each in few if "divergent" in each.seen] == ["nothing to do"]
    assert not any(each.serious for each in few)
    assert many[0].remedy.startswith("set tighter priors")


TIGHT = rb.DawidSkene(prior_confusion=rb.DiagonalDirichlet(weight=40.0))


@pytest.mark.parametrize(
    ("followed", "options"),
    [(rb.DawidSkene(), {"warm_start": True}), (TIGHT, {"warm_start": False})],
    ids=["warm start", "tighter priors"],
)
def test_a_warm_start_or_tighter_priors_where_chains_were_relabelled(
    followed: rb.DawidSkene, options: dict[str, Any]
) -> None:
    ratings = rated(by_raters_of(np.full(5, 0.85), np.random.default_rng(1)))
    cold = rb.DawidSkene().fit(ratings, seed=1, draws=200, warm_start=False, sampler="nuts")

    advice = remedy(cold, "relabelled 3 chains")
    assert advice.startswith("fit with warm_start=True, or set tighter priors")
    assert not findings(followed.fit(ratings, seed=1, draws=200, **options), "relabelled")


def test_a_warm_start_where_dispersed_chains_do_not_weigh_modes() -> None:
    ratings = mirrored_camps(seed=4)
    cold, warm = (
        rb.DawidSkene().fit(ratings, seed=1, draws=100, warm_start=start) for start in (False, True)
    )

    assert remedy(cold, "may have 2 modes").startswith("fit with warm_start=True")
    assert not findings(warm, "modes")
    assert {"items", "rater"} <= set(warm.modes)  # how they differ


def test_more_draws_where_these_are_too_few_to_weigh_modes() -> None:
    ratings = mirrored_camps(seed=4)
    few, more = (rb.RaterTAP().fit(ratings, seed=1, draws=draws) for draws in (4, 100))

    advice = remedy(few, "may have 2 modes")
    assert advice == "fit with more draws; fit.modes says how they differ"
    assert not findings(more, "modes")
    assert {"items", "rater"} <= set(few.modes)


def test_as_many_nodes_as_are_advised_where_the_quadrature_is_coarse() -> None:
    ratings = study(rb.LogitICC(), (30, 5), seed=1)
    model = rb.LogitICC(nodes=5)

    while found := findings(model.fit(ratings, seed=1, draws=100), "quadrature"):
        nodes = int(found[0].remedy.removeprefix("set nodes="))
        assert nodes == 2 * (model.nodes or 0)
        model = dataclasses.replace(model, nodes=nodes)

    assert model.nodes in (10, 20, 40)


@pytest.mark.parametrize("followed", [{"max_iterations": 2000}, {"tolerance": 0.05}], ids=str)
def test_more_iterations_or_tolerance_where_em_has_not_converged(
    followed: dict[str, Any],
) -> None:
    ratings = study(rb.DawidSkene(), (30, 5), seed=1)

    with pytest.warns(rb.ConvergenceWarning, match="Raise max_iterations or tolerance"):
        rb.DawidSkene().em(ratings, max_iterations=10)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rb.DawidSkene().em(ratings, **{"max_iterations": 10, **followed}).converged


@pytest.mark.parametrize("followed", [{"method": "log"}, {"over": "items"}], ids=str)
def test_other_intervals_where_raters_are_too_few_for_a_bootstrap(followed: dict[str, Any]) -> None:
    table = np.random.default_rng(1).integers(0, 3, (20, 4))
    alpha = rb.agreement.krippendorff_alpha(rb.Ratings.from_wide(table, scale="nominal"))
    asked: dict[str, Any] = {"over": "raters", "method": "percentile"}

    with pytest.warns(UserWarning, match=r'Pass method="log", or over="items"'):
        alpha.interval(**asked)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alpha.interval(**{**asked, **followed})


def test_tighter_priors_where_leaving_out_an_item_changes_the_posterior() -> None:
    rng = np.random.default_rng(0)
    rows = [(i, j, int(rng.random() < 0.7)) for i in range(12) for j in rng.permutation(12)[:3]]
    table = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    ratings = rb.Ratings.from_frame(table, scale="nominal")
    loose, tight = (
        rb.DawidSkene(prior_confusion=prior).fit(ratings, seed=1, draws=400, sampler="gibbs")
        for prior in (rb.DiagonalDirichlet(weight=0.5), rb.DiagonalDirichlet())
    )

    with pytest.warns(rb.ConvergenceWarning, match="Set tighter priors"):
        loose.loo()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tight.loo()
