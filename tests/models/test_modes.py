"""Posteriors with several modes: all are found, each has its share, and the fit says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.cli.fit_results import print_diagnostics
from reliabayes.families.categories import combination, modes
from reliabayes.families.categories.labels import nearest, relabel
from reliabayes.models.category_model import CategoryModel
from reliabayes.sampling.thresholds import CLIMBS
from tests.html_report.test_report import CHECKS, DRAWN, make_quick

# These tests are of modes; with so few draws R-hat may be too high.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]

EVERY = (
    rb.DawidSkene(),
    rb.MACE(),
    rb.RaterTAP(),
    # With Dirichlet(1) and so few draws the error of a mass may be up to 0.3.
    rb.HierarchicalDawidSkene(prior_prevalence=rb.Dirichlet(3.0)),
)
Load = Callable[[str], pd.DataFrame]
every_model = pytest.mark.parametrize("model", EVERY, ids=lambda model: model.name())
MISLEADING = [replace(model, prior_misleading=rb.Beta(0.5, 9.5)) for model in EVERY]
published_or_recommended = pytest.mark.parametrize(
    "model",
    [*EVERY, *MISLEADING],
    ids=lambda model: model.name() + ("-misleading" if model.prior_misleading else ""),
)


def rated(categories: Array) -> rb.Ratings:
    """Complete ratings (items, raters)."""
    item, rater = np.indices(categories.shape)
    long = {"item": item.ravel(), "rater": rater.ravel(), "rating": categories.ravel()}
    return rb.Ratings.from_frame(
        pd.DataFrame(long), item="item", rater="rater", rating="rating", scale="nominal"
    )


def by_raters_of(accuracy: Array, rng: np.random.Generator) -> Array:
    """Categories 0 and 1 (60, raters) by raters who are right with given probabilities."""
    return judged(accuracy, rng)[0]


def judged(accuracy: Array, rng: np.random.Generator) -> tuple[Array, Any]:
    """The same, and the true categories (60, 1)."""
    truth = rng.integers(0, 2, (60, 1))
    is_right = rng.random((60, len(accuracy))) < accuracy
    return np.where(is_right, truth, 1 - truth), truth


def mirrored_camps(seed: int, accuracy: float = 0.85) -> rb.Ratings:
    """Two camps of five raters; items in pairs, of which one camp rates one as the other the other.

    If the camps change places and the items of each pair, too, the ratings are the same. So the
    modes in which one camp is right and in which the other is have the same mass.
    """
    rng = np.random.default_rng(seed)
    one = by_raters_of(np.full(5, accuracy), rng)
    pair = rng.permutation(60).reshape(30, 2)
    partner = np.empty(60, int)
    partner[pair] = pair[:, ::-1]
    return rated(np.hstack([one, one[partner]]))


def ratings_of_camps(ratings: rb.Ratings) -> tuple[Array, Array]:
    """How many of each camp rate an item 1."""
    table = np.zeros((ratings.n_items, ratings.n_raters))
    table[ratings.item, ratings.rater] = ratings.category
    return table[:, :5].sum(axis=1), table[:, 5:].sum(axis=1)


FAMILIES = {  # accuracies of raters, by criterion
    "camps": [np.full(5, 0.85)] * 2,
    "near chance": [np.full(6, 0.55)],
    "worse than chance": [np.repeat([0.8, 0.25], [4, 3])],
}


def with_criteria(family: str, seed: int) -> tuple[rb.Ratings, Any]:
    """Ratings of a family, and the categories (60, criteria) that are true by each criterion."""
    rng = np.random.default_rng(seed)
    table, truth = zip(*(judged(accuracy, rng) for accuracy in FAMILIES[family]), strict=True)
    return rated(np.hstack(table)), np.hstack(truth)


def camps(seed: int) -> rb.Ratings:
    """Two camps of five raters, each right in 85% of the items about a criterion of its own."""
    return with_criteria("camps", seed)[0]


def near_chance(seed: int) -> rb.Ratings:
    """Six raters who are right in 55% of the items."""
    return with_criteria("near chance", seed)[0]


def worse_than_chance(seed: int) -> rb.Ratings:
    """Four good raters, and three who are wrong in three of four items."""
    return with_criteria("worse than chance", seed)[0]


@pytest.mark.parametrize(
    ("model", "draws"),
    [
        (EVERY[0], 250),
        pytest.param(EVERY[2], 250, marks=pytest.mark.proof),
        pytest.param(EVERY[1], 1000, marks=pytest.mark.calibration),
        # A hundredth of its posterior are two more modes, which chains of 250 draws may miss.
        pytest.param(EVERY[3], 1000, marks=pytest.mark.calibration),
    ],
    ids=lambda value: value.name() if isinstance(value, CategoryModel) else "",
)
def test_modes_of_mirrored_camps_have_half_of_the_posterior_each(
    model: CategoryModel, draws: int
) -> None:
    ratings = mirrored_camps(seed=4)

    fit = model.fit(ratings, seed=1, draws=draws)

    heavy = fit.modes[fit.modes["mass"] > 0.05]
    assert len(heavy) == 2
    error = heavy["error"].max()
    assert heavy["mass"].to_numpy() == pytest.approx(0.5, abs=4 * error + 0.01)
    assert error < 0.35
    assert fit.diagnostics().r_hat < 1.03
    one, other = ratings_of_camps(ratings)
    opposed = np.abs(one - other) >= 4
    assert opposed.sum() > 5
    assert fit.items()["probability"].to_numpy()[opposed].max() < 0.75


def test_file_report_and_command_line_have_the_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_quick(monkeypatch, *DRAWN, *CHECKS)
    fit = rb.DawidSkene().fit(mirrored_camps(seed=4), seed=1, draws=100)
    fit.save(tmp_path / "fit.nc")
    fit.report(tmp_path / "report.html")

    pd.testing.assert_frame_equal(rb.Fit.load(tmp_path / "fit.nc").modes, fit.modes)
    print_diagnostics(fit)
    page = (tmp_path / "report.html").read_text()
    assert "the ratings can be read in 2 ways" in page
    differs = f"Reading 2, with {fit.modes['mass'][1]:.0%}: {fit.modes['items'][1]} items"
    assert differs in page
    printed = " ".join(capsys.readouterr().err.split())
    assert "The ratings can be read in 2 ways" in printed
    assert differs in printed


def test_modes_that_chains_pass_between_have_the_share_of_their_draws() -> None:
    fit = rb.DawidSkene().fit(near_chance(seed=0), seed=1)

    assert not fit.diagnostics().problems
    share = [float((fit.sample_stats["mode"] == mode).mean()) for mode in range(2)]
    mass, error = fit.modes["mass"].to_numpy(), fit.modes["error"].to_numpy()
    assert mass.sum() == pytest.approx(1)
    assert (np.abs(np.log(share) - np.log(mass)) < 4 * error).all()
    assert (np.diff(fit.sample_stats["mode"]) != 0).sum() > 40


def test_posterior_of_good_raters_has_one_mode() -> None:
    ratings = rated(by_raters_of(np.full(5, 0.85), np.random.default_rng(1)))

    fit = rb.DawidSkene().fit(ratings, seed=1, draws=100, warmup=50)

    assert fit.modes.empty
    assert "can be read" not in f"{fit}{fit.items().attrs}"
    assert "mode" not in fit.sample_stats


def test_modes_that_no_climb_of_a_hierarchy_from_votes_like_these_ends_at_are_found() -> None:
    # Of sixty climbs by its own EM none ends at the mode at which raters are alike.
    model = EVERY[3]

    found = modes.find_modes(model.family, model.problem(camps(48)))

    points = [mode.climb.point for mode in found]
    differ = [np.hypot(at["spread"].max(), at["ability_spread"]) for at in points]
    assert len(found) >= 3
    assert np.sort(differ)[0] < 0.6 < np.sort(differ)[1]


def test_points_of_a_level_ridge_are_one_mode(dataset: Load) -> None:
    # Raters who follow the others have an accuracy near 0, at which the prevalence hardly matters.
    ratings = rb.Ratings.from_frame(dataset("caries"), scale="nominal")
    model = rb.Groupthink()

    assert len(model.starts(model.problem(ratings))) == 1


def test_dispersed_starts_do_not_weigh_modes_and_say_so() -> None:
    with pytest.warns(rb.ConvergenceWarning, match="may have 2 modes"):
        fit = rb.DawidSkene().fit(mirrored_camps(seed=4), seed=1, draws=200, warm_start=False)

    assert fit.modes["mass"].isna().all()


def at_modes(model: rb.DawidSkene, ratings: rb.Ratings) -> tuple[Any, Any, dict[str, Array]]:
    """Problem, start, and a chain of two draws at the start and at each mode found after it."""
    problem = model.problem(ratings)
    starts = model.starts(problem)
    points = [start.point for start in starts]
    drawn = {name: np.array([[at[name]] * 2 for at in points]) for name in points[0]}
    return problem, starts[0], drawn


def test_chain_whose_labels_the_priors_rule_out_takes_those_of_the_priors() -> None:
    model = rb.DawidSkene()
    ratings = rated(by_raters_of(np.full(5, 0.85), np.random.default_rng(1)))
    problem, start, drawn = at_modes(model, ratings)
    inverted = {
        "prevalence": drawn["prevalence"][..., ::-1],
        "confusion": drawn["confusion"][..., ::-1, :],
    }

    labelled, switched = relabel(model.family, inverted, start, problem)

    assert switched == (0,)
    assert labelled["confusion"] == pytest.approx(drawn["confusion"])
    assert labelled["prevalence"] == pytest.approx(drawn["prevalence"])


def test_chain_at_another_mode_keeps_its_labels() -> None:
    problem, start, drawn = at_modes(rb.DawidSkene(), mirrored_camps(seed=4))
    assert len(drawn["prevalence"]) == 2

    labelled, switched = relabel(rb.DawidSkene().family, drawn, start, problem)

    assert switched == ()
    assert labelled["confusion"] == pytest.approx(drawn["confusion"])


def test_labels_that_priors_do_not_know_are_no_modes() -> None:
    flat = rb.DawidSkene(prior_confusion=rb.Dirichlet(1.0), prior_prevalence=rb.Dirichlet(1.0))
    ratings = rated(by_raters_of(np.full(5, 0.85), np.random.default_rng(2)))

    assert len(flat.starts(flat.problem(ratings))) == 1


@pytest.mark.calibration
@pytest.mark.parametrize("simulate", [mirrored_camps, camps, near_chance, worse_than_chance])
@published_or_recommended
def test_no_fit_is_silent_about_a_mode_that_many_more_climbs_find(
    model: CategoryModel, simulate: Callable[[int], rb.Ratings], monkeypatch: pytest.MonkeyPatch
) -> None:
    missed, silent = [], []
    for seed in range(100):
        ratings = simulate(seed)
        problem = model.problem(ratings)
        found = modes.find_modes(model.family, problem)
        with monkeypatch.context() as many:
            many.setattr(modes, "CLIMBS", CLIMBS._replace(starts=100))
            many.setattr(modes, "SEED", 7)
            every = modes.find_modes(model.family, problem)
        heavy = max(mode.log_mass for mode in [*found, *every]) - 3
        known = [mode.state for mode in found]
        others = [
            mode.state
            for mode in every
            if mode.log_mass > heavy
            and nearest(known, mode.state, problem) is None
            and modes._on_a_ridge(model.family, found, mode.climb.point, problem) is None
        ]
        if others:
            missed.append(seed)
        if others and len(found) == 1 and not reaches(model, ratings, known + others):
            silent.append(seed)

    # What the climbs miss at times is a third mode, or one that 1 in 100 climbs ends at.
    assert len(missed) <= 1
    assert not silent


def reaches(model: CategoryModel, ratings: rb.Ratings, states: list[Array]) -> bool:
    """Whether each chain of a fit has draws whose true categories come closest to each of these."""
    fit, problem = model.fit(ratings, seed=1), model.problem(ratings)
    draws = {
        parameter.name: fit.posterior[parameter.name].values for parameter in model.parameters()
    }
    at = combination._nearest(model.family.response, draws, states, problem)
    return all((at == mode).mean(axis=1).min() > 0.1 for mode in range(len(states)))


@pytest.mark.calibration
@pytest.mark.parametrize("family", FAMILIES)
@published_or_recommended
def test_items_are_right_by_some_criterion_or_uncertain(model: CategoryModel, family: str) -> None:
    stated, right = [], []
    for seed in range(20):
        ratings, criteria = with_criteria(family, seed)
        items = model.fit(ratings, seed=1, draws=250).items()
        stated.append(float(items["probability"].mean()))
        hits = items["category"].to_numpy()[:, None] == criteria[items.index]
        right.append(float(hits.mean(axis=0).max()))

    over = np.array(stated) - right

    # Raters near chance are expected to be better than they are: 0.132 by sixty times the sweeps.
    assert over.mean() < 0.14
    # Never confidently half: where 0.9 are right, chance leaves 45 of 60 or fewer in 1 of 1,000.
    assert (np.array(right)[np.array(stated) > 0.9] > 0.75).all()
