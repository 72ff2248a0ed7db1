"""Which sampler a fit uses, and that results are the same whichever it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.models import RatingModel
from reliabayes.sampling.plan import chosen_starts, first_step, sampler_of_program
from tests.conftest import load_or_skip
from tests.html_report.test_report import CHECKS, DRAWN, make_quick
from tests.inference.test_gibbs import crowd
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

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


def choice(model: RatingModel, ratings: rb.Ratings) -> str:
    """Sampler of a fit."""
    problem, modes = model.prepared(ratings)
    own = first_step(model, "auto", problem, modes[0], True, None).own
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


@pytest.mark.calibration
def test_ridges_of_three_raters_are_drawn_well() -> None:
    ratings = study(rb.HierarchicalDawidSkene(), (200, 3), seed=61)

    fit = rb.HierarchicalDawidSkene().fit(ratings, seed=1)

    assert fit.settings.sampler == "gibbs"
    assert not fit.diagnostics().problems


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
