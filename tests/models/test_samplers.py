"""Which sampler a fit uses, and that results are the same whichever it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.inference import gibbs as gibbs_sampling
from reliabayes.inference import stan
from reliabayes.inference.stan import Draws
from reliabayes.models import RatingModel
from reliabayes.models.bases import better_draws
from reliabayes.models.bases.sampling import chosen_starts, own_sampler, sampler_of_program
from tests.conftest import load_or_skip
from tests.html_report.test_report import CHECKS, DRAWN, make_quick
from tests.inference.test_gibbs import crowd
from tests.models.gibbs_runs import Run, noted_runs
from tests.models.test_alarms import study
from tests.monte_carlo import standard_error, standard_errors

QUICK: dict[str, Any] = {"chains": 2, "parallel_chains": 2, "draws": 100, "seed": 3}
BY_GIBBS: list[RatingModel] = [
    rb.DawidSkene(),
    rb.HierarchicalDawidSkene(),
    rb.MACE(),
    rb.TAP(),
    rb.RaterTAP(),
    rb.RaterGroupthink(),
]

pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


def choice(model: RatingModel, ratings: rb.Ratings) -> str:
    """Sampler of a fit."""
    problem, modes = model.prepared(ratings)
    own = own_sampler(model, "auto", problem, modes[0], True, None)
    starts = chosen_starts(model, True, modes, problem)
    return own.sampler if own else sampler_of_program(model, "auto", starts, None)


@pytest.mark.parametrize("model", BY_GIBBS, ids=lambda model: model.name())
def test_gibbs_sampling_is_used_where_it_is_faster(model: RatingModel) -> None:
    assert choice(model, crowd(40, 8, 4, 2)) == "gibbs"


def test_a_fit_by_gibbs_sampling_says_so() -> None:
    fit = rb.TAP().fit(crowd(40, 8, 4, 2), **QUICK)

    assert fit.settings.sampler == "gibbs"
    assert fit.settings.warmup == 200
    assert set(fit.sample_stats) == {"lp"}


@pytest.mark.parametrize(
    "model",
    [rb.Groupthink(), rb.TAP(accuracy="by_category")],
    ids=lambda model: model.name(),
)
def test_nuts_is_used_elsewhere(model: RatingModel) -> None:
    assert choice(model, crowd(40, 8, 4, 2)) == "nuts"


@pytest.mark.parametrize(("raters", "sampler"), [(8, "hmc"), (5, "nuts")])
def test_latent_tap_has_no_trees_but_for_few_parameters(raters: int, sampler: str) -> None:
    assert choice(rb.LatentTAP(), crowd(40, raters, 4, 2)) == sampler


@pytest.mark.proof
def test_nuts_is_used_where_gibbs_sampling_mixes_badly() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, (200, 1))
    weak = np.where(rng.random((200, 3)) < 0.6, truth, 1 - truth)
    ratings = rb.Ratings.from_wide(pd.DataFrame(weak), scale="nominal")
    with pytest.warns(rb.ConvergenceWarning, match="R-hat|ESS"):
        gibbs = rb.MACE().fit(ratings, seed=1, sampler="gibbs")

    fit = rb.MACE().fit(ratings, seed=1)

    assert (gibbs.settings.sampler, fit.settings.sampler) == ("gibbs", "nuts")
    assert fit.diagnostics().ess_bulk > 2 * gibbs.diagnostics().ess_bulk


@pytest.mark.slow
def test_more_sweeps_make_a_draw_where_few_mix_badly() -> None:
    # Three raters near chance and a category that may be all but empty: a ridge with a sharp bend.
    ratings = study(rb.DawidSkene(), (200, 3), seed=69)
    with pytest.warns(rb.ConvergenceWarning, match="ESS"):
        rb.DawidSkene().fit(ratings, seed=1, sampler="gibbs")

    fit = rb.DawidSkene().fit(ratings, seed=1)

    assert fit.settings.sampler == "gibbs"
    assert not fit.diagnostics().problems


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "n_raters", "few", "samplers"),
    [
        (rb.DawidSkene(), 8, 20_000, ["gibbs", "gibbs", "gibbs", "nuts"]),
        (rb.DawidSkene(), 60, 20_000, ["gibbs", "gibbs", "gibbs"]),  # 720 parameters
        (rb.MACE(), 8, 20_000, ["gibbs", "nuts", "gibbs"]),
        (rb.DawidSkene(), 8, 1_000, ["gibbs", "gibbs", "gibbs"]),
        (rb.MACE(), 8, 1_000, ["gibbs", "gibbs"]),
        (rb.HierarchicalDawidSkene(), 8, 1_000, ["gibbs", "gibbs", "gibbs"]),
    ],
    ids=[
        *("few parameters", "many parameters", "guesses"),
        *("many ratings", "guesses of many", "hierarchy of many"),
    ],
)
def test_samplers_are_tried_in_turn_where_draws_are_in_doubt(
    model: RatingModel,
    n_raters: int,
    few: int,
    samplers: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(better_draws, "FEW_RATINGS", few)
    monkeypatch.setattr(better_draws, "_mixes_badly", lambda fit: True)
    tried: list[str] = []
    by_sweeps, by_nuts = gibbs_sampling.sample, stan.sample

    def swept(own: Any, **options: Any) -> Draws:
        tried.append("gibbs")
        return by_sweeps(replace(own, thinning=1), **options)  # as many as usual, to be quick

    def sampled(*args: Any, **options: Any) -> Draws:
        tried.append("nuts")
        return by_nuts(*args, **options)

    monkeypatch.setattr(gibbs_sampling, "sample", swept)
    monkeypatch.setattr(stan, "sample", sampled)

    model.fit(crowd(400, n_raters, 3, 4), **QUICK)

    assert tried == samplers


def test_chains_in_doubt_go_on_where_they_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(better_draws, "_mixes_badly", lambda fit: True)
    runs = noted_runs(monkeypatch)

    rb.DawidSkene().fit(crowd(400, 60, 3, 4), **QUICK | {"draws": 20})

    (_, first, drawn), (_, second, _), (_, third, _) = runs
    assert 0 < second["goes_on"] < third["goes_on"]
    assert not first.get("goes_on")
    for chain, point in enumerate(second["inits"]):
        for name, value in point.items():
            np.testing.assert_array_equal(value, drawn.parameters[name][chain, -1])


def test_draws_in_doubt_are_kept_in_part_where_not_many_more_sweeps_are_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(better_draws, "_more_sweeps", lambda own, fit: 4)
    ratings = crowd(400, 60, 3, 4)

    def draws_after(doubts: int) -> Array:
        answers = [True] * doubts + [False]
        monkeypatch.setattr(better_draws, "_mixes_badly", lambda fit: answers.pop(0))
        fit = rb.DawidSkene().fit(ratings, **QUICK | {"draws": 40})
        return fit.posterior["confusion"].to_numpy()

    first, second, third = (draws_after(doubts) for doubts in range(3))

    for old, new, every in ((first, second, 4), (second, third, 2)):
        kept = old.shape[1] // every
        assert new.shape == old.shape
        np.testing.assert_array_equal(new[:, :kept], old[:, every - 1 :: every][:, :kept])
        assert not np.isin(new[:, kept:], old).any()


def lengths(runs: Sequence[Run]) -> list[tuple[int, int, int]]:
    """Times the usual sweeps of a draw, warm-up and draws of each run."""
    return [(int(own.thinning), given["warmup"], given["draws"]) for own, given, _ in runs]


@pytest.mark.parametrize(
    ("r_hat", "more", "then", "warmup"),
    [
        (9.0, 10, (1, 0, 400), 200),
        (1.0, 1, (1, 0, 400), 200),  # no others are worth trying
        (1.0, 10, (10, 20, 500), 20),
        (1.0, 3, (3, 20, 500), 20),  # none of the few are kept
    ],
)
def test_few_draws_tell_whether_all_would_be_in_doubt(
    r_hat: float,
    more: int,
    then: tuple[int, int, int],
    warmup: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings, options = crowd(400, 60, 3, 4), {**QUICK, "draws": 500}
    few = rb.DawidSkene().fit(ratings, **{**options, "draws": 100})
    monkeypatch.setattr(better_draws, "LARGEST_R_HAT", r_hat)
    monkeypatch.setattr(better_draws, "_mixes_badly", lambda fit: False)
    monkeypatch.setattr(better_draws, "_more_sweeps", lambda own, fit: more)
    runs = noted_runs(monkeypatch)

    fit = rb.DawidSkene().fit(ratings, **options)

    assert lengths(runs) == [(1, 200, 100), then]
    assert fit.posterior.sizes["draw"] == 500
    assert fit.settings.warmup == warmup
    first = fit.posterior.isel(draw=slice(100))
    assert first.equals(few.posterior) == (warmup == 200)


def test_few_draws_of_a_hierarchy_that_could_not_move_otherwise_are_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(better_draws, "LARGEST_R_HAT", 0.0)
    monkeypatch.setattr(better_draws, "_mixes_badly", lambda fit: False)
    runs = noted_runs(monkeypatch)

    rb.HierarchicalDawidSkene().fit(crowd(100, 20, 3, 2), **{**QUICK, "draws": 500})

    assert lengths(runs) == [(1, 200, 500)]


@pytest.mark.parametrize(
    ("name", "model", "in_doubt"),
    [
        pytest.param("wine", rb.DawidSkene(), True, marks=pytest.mark.proof),
        ("dawid_skene_1979", rb.DawidSkene(), False),
        pytest.param("vision", rb.HierarchicalDawidSkene(), True, marks=pytest.mark.proof),
        ("irrsim_seed_test2", rb.HierarchicalDawidSkene(), False),
    ],
)
def test_few_draws_of_real_ratings_tell_whether_all_would_be_in_doubt(
    name: str,
    model: rb.DawidSkene | rb.HierarchicalDawidSkene,
    in_doubt: bool,
    dataset: Callable[[str], pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings = rb.Ratings.from_frame(dataset(name), scale="nominal", replicates="keep")
    runs = noted_runs(monkeypatch)

    fit = model.fit(ratings, seed=1)

    draws = [(own.is_usual, options["draws"]) for own, options, _ in runs]
    assert draws[0] == (True, 100)
    assert any(is_usual and n > 100 for is_usual, n in draws) != in_doubt
    assert any(not is_usual for is_usual, _ in draws) == in_doubt
    assert not fit.diagnostics().problems


@pytest.mark.slow
def test_nuts_in_doubt_is_repeated_in_smaller_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ratings = rb.LogitICC(), study(rb.LogitICC(), (30, 5), seed=1)
    options: dict[str, Any] = {"seed": 1, "chains": 1, "draws": 50}
    usual = model.fit(ratings, **options)
    answers = [True, False]
    monkeypatch.setattr(better_draws, "_mixes_badly", lambda fit: answers.pop(0))

    again = model.fit(ratings, **options)
    asked = model.fit(ratings, **options, sampler="nuts")

    assert not answers
    assert again.settings.warmup == 1000 > usual.settings.warmup
    assert again.sample_stats["acceptance_rate"].mean() > 0.97
    assert again.posterior.sizes["draw"] == 50
    assert asked.posterior.equals(usual.posterior)


def test_short_trees_in_doubt_are_followed_by_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ratings = rb.LogitICC(), study(rb.LogitICC(), (300, 12), seed=1)
    usual = model.fit(ratings, **QUICK)
    answers = [True]
    monkeypatch.setattr(
        better_draws, "_mixes_badly", lambda fit: answers.pop(0) if answers else False
    )

    again = model.fit(ratings, **QUICK)

    assert usual.settings.max_tree_depth < again.settings.max_tree_depth == 10
    assert usual.sample_stats["n_steps"].max() < again.sample_stats["n_steps"].max()


@pytest.mark.slow
def test_a_hierarchy_in_doubt_is_swept_more_often_before_nuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[rb.Fit] = []

    def in_doubt(fit: rb.Fit) -> bool:
        checked.append(fit)
        return True

    monkeypatch.setattr(better_draws, "_mixes_badly", in_doubt)
    runs = noted_runs(monkeypatch)

    fit = rb.HierarchicalDawidSkene().fit(crowd(40, 8, 4, 2), **QUICK)

    checks = checked[0].diagnostics()
    more = max(2, math.ceil(better_draws.AIM_PER_CHAIN * 2 / min(checks.ess_bulk, checks.ess_tail)))
    assert more <= 13
    assert [run.own.sweeps for run in runs] == [10, 10 * more, 30 * more]
    assert fit.settings.sampler == "nuts"


@pytest.mark.calibration
def test_ridges_of_three_raters_are_drawn_well() -> None:
    ratings = study(rb.HierarchicalDawidSkene(), (200, 3), seed=61)
    with pytest.warns(rb.ConvergenceWarning, match="ESS"):
        rb.HierarchicalDawidSkene().fit(ratings, seed=1, sampler="nuts")

    assert not rb.HierarchicalDawidSkene().fit(ratings, seed=1).diagnostics().problems


def test_nuts_is_used_where_its_files_are_kept(tmp_path: Path) -> None:
    fit = rb.TAP().fit(crowd(40, 8, 4, 2), output_dir=tmp_path, **QUICK)

    assert fit.settings.sampler == "nuts"
    assert list(tmp_path.glob("*.csv"))


def test_files_of_stan_cannot_be_kept_of_gibbs_sampling(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="output_dir keeps Stan's files"):
        rb.TAP().fit(crowd(40, 8, 4, 2), output_dir=tmp_path, sampler="gibbs")


def test_model_without_gibbs_sampling_says_so() -> None:
    with pytest.raises(ValueError, match="LatentTAP has no Gibbs sampler"):
        rb.LatentTAP().fit(crowd(40, 8, 4, 2), sampler="gibbs")


def test_independence_sampling_is_refused_where_it_does_not_suit() -> None:
    with pytest.raises(
        ValueError, match=r"TAP has no independence sampler for these ratings: .GaussianICC"
    ):
        rb.TAP().fit(crowd(40, 8, 4, 2), sampler="independence")
    with pytest.raises(ValueError, match="leave warm_start out"):
        rb.TAP().fit(crowd(40, 8, 4, 2), sampler="independence", warm_start=False)


def test_unknown_sampler_is_refused() -> None:
    with pytest.raises(
        ValueError, match="must be 'auto', 'nuts', 'hmc', 'gibbs' or 'independence', not 'mcmc'"
    ):
        rb.TAP().fit(crowd(40, 8, 4, 2), sampler="mcmc")  # type: ignore[arg-type]


@pytest.mark.proof
@pytest.mark.parametrize(
    "model", [rb.DawidSkene(), rb.HierarchicalDawidSkene()], ids=lambda model: model.name()
)
def test_both_samplers_have_the_same_results_within_their_errors(model: RatingModel) -> None:
    ratings = crowd(100, 8, 4, 3)
    gibbs, nuts = (
        model.fit(ratings, chains=2, draws=600, seed=1, sampler=sampler)
        for sampler in ("gibbs", "nuts")
    )

    for column in ("mean", "sd", "lower_90", "upper_90"):
        errors = [standard_errors(fit, column) for fit in (gibbs, nuts)]
        one, other = gibbs.summary(prob=0.9)[column], nuts.summary(prob=0.9)[column]
        z = [(one[x] - other[x]) / np.hypot(errors[0][x], errors[1][x]) for x in one.index]
        assert np.abs(z).max() < 4
    probability = [fit.items()["probability"].to_numpy() for fit in (gibbs, nuts)]
    assert np.abs(probability[0] - probability[1]).max() < 0.1  # four Monte Carlo errors
    loo = [fit.loo(warn=False) for fit in (gibbs, nuts)]
    assert loo[0].elpd == pytest.approx(loo[1].elpd, rel=0.005)  # a nat or two of 800
    assert list(gibbs.posterior) == list(nuts.posterior)
    assert gibbs.posterior.sizes == nuts.posterior.sizes


REAL: dict[str, tuple[RatingModel, ...]] = {  # and the models for which NUTS takes minutes at most
    "dawid_skene_1979": (*BY_GIBBS,),
    "bluebirds": (*BY_GIBBS,),
    "caries": (*BY_GIBBS,),
    "diagnoses": (rb.TAP(), rb.Groupthink(shares="earlier")),
    "snow2008_temp": (*BY_GIBBS,),
    "snow2008_rte": (rb.TAP(), rb.RaterTAP(), rb.HierarchicalDawidSkene()),
}


@pytest.mark.posteriors
@pytest.mark.parametrize(
    ("name", "model"),
    [(name, model) for name, models in REAL.items() for model in models],
    ids=lambda x: x if isinstance(x, str) else x.name(),
)
def test_both_samplers_agree_on_real_ratings(name: str, model: RatingModel) -> None:
    """Differences over all parameters in standard errors: none is large, and they are about 1."""
    table = load_or_skip(name)[["item", "rater", "rating"]]
    ratings = rb.Ratings.from_frame(table, scale="nominal", replicates="keep")
    draws = {"gibbs": 8000, "nuts": 2000}

    fits = [
        model.fit(ratings, seed=4, sampler=each, draws=number, progress=False)  # type: ignore[arg-type]
        for each, number in draws.items()
    ]

    values = [parameter_draws(fit) for fit in fits]
    for column in COLUMNS:
        found = [np.array([statistic(x, column) for x in own]) for own in values]
        error = [np.array([standard_error(x, column) for x in own]) for own in values]
        z = (found[0] - found[1]) / np.hypot(*error)
        rms, most = np.sqrt(np.mean(z**2)), np.abs(z).max()
        print(f"{name} {model.name()} {column}: {len(z)} values, rms z {rms:.2f}, most {most:.1f}")
        assert most < norm.isf(1e-5 / len(z))
        assert rms < 1.35 + 2 / np.sqrt(len(z))  # values of few parameters go together


COLUMNS = {"mean": np.mean, "sd": np.std, "lower_90": 0.05, "upper_90": 0.95}


def statistic(draws: Array, column: str) -> float:
    of = COLUMNS[column]
    return float(np.quantile(draws, of) if isinstance(of, float) else of(draws))  # type: ignore[operator]


def parameter_draws(fit: rb.Fit) -> list[Array]:
    """Draws (chain, draw) of every value of every parameter; of two that sum to 1, of one."""
    return [
        values.values[(..., *at)]
        for name, values in fit.posterior.items()
        for at in np.ndindex(values.shape[2:])
        if not at or values.sizes[values.dims[-1]] > 2 or at[-1] == 0
    ]


@pytest.mark.slow
def test_fit_by_gibbs_sampling_is_saved_reported_and_started_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_quick(monkeypatch, *DRAWN, *CHECKS)
    fit = rb.MACE().fit(crowd(40, 8, 4, 2), **QUICK)

    fit.save(tmp_path / "fit.nc")
    fit.report(tmp_path / "report.html")
    loaded = rb.Fit.load(tmp_path / "fit.nc")
    again = rb.MACE().fit(fit.ratings, warm_start=loaded, **QUICK)

    page = (tmp_path / "report.html").read_text()
    assert "by Gibbs sampling" in page
    assert "divergent" not in page
    assert loaded.settings == fit.settings
    assert again.settings.sampler == "gibbs"
    assert "sample_stats" in fit.to_arviz().groups() or "/sample_stats" in fit.to_arviz().groups
