"""What a fit says of its draws, and how it is kept."""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes import datasets
from reliabayes.families.normal.crossed import CrossedProblem
from reliabayes.results.chain_statistics import measures
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.results.modes import Mode
from reliabayes.results.posterior import Posterior
from tests.faults import files_of_at_most

# What is tested is what a fit says of its draws, and some are few; tests of warnings ask for them.
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


class ByPool(rb.GaussianICC):
    def quantities(self, posterior: Posterior[CrossedProblem]) -> xr.Dataset:
        icc = super().quantities(posterior)[["icc"]]
        return icc.expand_dims(pool=["expert", "crowd"], axis=-1)


@pytest.fixture(scope="module")
def fit(of_judges: rb.Fit) -> rb.Fit:
    return of_judges


@pytest.fixture(scope="module")
def of_categories() -> rb.Fit:
    ratings = rb.Ratings.from_frame(datasets.load("dawid_skene_1979"), replicates="keep")
    return rb.TAP().fit(ratings, chains=2, seed=1)


def test_summary_describes_the_draws(fit: rb.Fit) -> None:
    icc = fit.quantities["icc"].values.ravel()

    row = fit.summary(prob=0.8).loc["icc"]

    assert row["mean"] == pytest.approx(icc.mean())
    assert row["sd"] == pytest.approx(icc.std(ddof=1))
    assert row["median"] == pytest.approx(np.median(icc))
    assert [row["lower_80"], row["upper_80"]] == pytest.approx(np.quantile(icc, [0.1, 0.9]))
    assert row["mcse"] == pytest.approx(row["sd"] / np.sqrt(row["ess_bulk"]), rel=0.2)


def test_summary_shows_the_interval_on_80_columns(fit: rb.Fit) -> None:
    narrow = fit.summary().to_string(line_width=None, max_cols=4)

    assert narrow.split()[:5] == ["median", "mean", "...", "lower_90", "upper_90"]


def test_printed_fit_shows_medians_and_intervals_rounded_on_80_columns(fit: rb.Fit) -> None:
    header, _, icc, *_ = printed_table(fit)

    found: Any = fit.summary().loc["icc"]
    assert header.split() == ["median", "lower_90", "upper_90", "r_hat"]
    assert 0.001 < found["mcse"] < 0.01  # which leaves two decimals
    numbers = [f"{found[name]:.2f}" for name in ("median", "lower_90", "upper_90")]
    assert icc.split() == ["icc", *numbers, f"{found['r_hat']:.3f}"]
    assert max(map(len, printed_table(fit))) <= 80


def printed_table(fit: rb.Fit) -> list[str]:
    """Lines of the table, which follows what is said first."""
    lines = str(fit).splitlines()
    return lines[[line.startswith("Fit(") for line in lines].index(True) + 1 :]


def test_notebooks_show_the_finding_above_a_small_table(fit: rb.Fit) -> None:
    words, table = fit._repr_html_().split("</p>")

    assert re.match(r"<p>Not yet: \d ratings an item give a reliability of 0\.\d\d; .*\.", words)
    shown = re.sub(r"<[^>]*>", " ", table).split()
    assert shown == [
        word
        for word in str(fit).split("Ratings(", 1)[1].split("\n", 1)[1].split()
        if word != "quantity"
    ]


def with_settings(fit: rb.Fit, **changed: Any) -> rb.Fit:
    return dataclasses.replace(fit, settings=dataclasses.replace(fit.settings, **changed))


@pytest.mark.slow
def test_fit_states_wherever_it_states_results_that_ratings_can_be_read_in_two_ways(
    of_categories: rb.Fit,
) -> None:
    modes = tuple(Mode(mass, 0.1, -10.0, 5) for mass in (0.6, 0.4))
    fit = with_settings(of_categories, modes=modes)

    text = "The ratings can be read in 2 ways, with posterior probabilities of 60% and 40%."
    assert " ".join(str(fit).split()).startswith(f"Caution: {text}")
    assert fit._repr_html_().startswith(f"<p><b>Caution:</b> {text}")
    tables = (fit.summary(), fit.items(), fit.raters(), fit.category_probabilities())
    assert all(table.attrs["caution"].startswith(text) for table in tables)


@pytest.mark.slow
def test_modes_that_are_not_weighed_are_a_problem_of_the_draws(of_categories: rb.Fit) -> None:
    modes = tuple(Mode(0.5, error, -10.0, 5) for error in (0.1, 0.6))
    fit = with_settings(of_categories, modes=modes)

    assert "may have 2 modes" in " ".join(str(fit).split("Fit(")[0].split())
    assert "can be read" not in f"{fit}{fit.items().attrs}"


def test_printed_fit_starts_with_what_is_in_doubt(fit: rb.Fit) -> None:
    alone = with_settings(fit, chains=1)

    assert str(alone).startswith("Warning: the draws may not represent the posterior: one chain")
    assert max(map(len, str(alone).split("Fit(")[0].splitlines())) <= 80
    assert alone._repr_html_().startswith("<p><b>Warning:</b> the draws may not")
    assert str(fit).startswith("Caution: With probability 0.6")  # raters differ more than items


def test_summary_agrees_with_arviz(fit: rb.Fit) -> None:
    table = fit.summary()

    r_hat = az.rhat(fit.quantities)  # type: ignore[no-untyped-call]

    assert table["r_hat"].to_dict() == pytest.approx({k: float(v) for k, v in r_hat.items()})


def test_shortest_interval_holds_the_share_and_is_shorter(fit: rb.Fit) -> None:
    equal_tailed = fit.summary().loc["icc"]
    icc = fit.quantities["icc"].values

    shortest = fit.summary(interval="hdi").loc["icc"]

    inside = (icc >= shortest["lower_90"]) & (icc <= shortest["upper_90"])
    widths = [row["upper_90"] - row["lower_90"] for row in (shortest, equal_tailed)]
    assert inside.mean() == pytest.approx(0.9, abs=0.001)
    assert widths[0] < widths[1]


def test_quantities_with_coordinates_are_told_apart_by_them(fit: rb.Fit) -> None:
    by_pool = dataclasses.replace(fit, model=ByPool())

    table = by_pool.summary()

    assert table.index.tolist() == ["icc[expert]", "icc[crowd]"]
    assert table["mean"].tolist() == pytest.approx([fit.summary()["mean"]["icc"]] * 2)
    assert table["r_hat"].notna().all()


@pytest.mark.parametrize("prob", [0, 1, 90])
def test_impossible_probability_is_refused(fit: rb.Fit, prob: float) -> None:
    with pytest.raises(ValueError, match="prob must lie strictly between 0 and 1"):
        fit.summary(prob=prob)


def test_names_in_place_of_a_probability_are_refused(fit: rb.Fit) -> None:
    with pytest.raises(TypeError, match="prob must be a number, not 'icc'"):
        fit.summary("icc")  # type: ignore[arg-type]


def test_reliability_of_means_is_spearman_brown_draw_by_draw(fit: rb.Fit) -> None:
    icc = fit.quantities["icc"]

    four = fit.icc_k(4)

    assert four.dims == ("chain", "draw")
    xr.testing.assert_allclose(four, (4 * icc / (1 + 3 * icc)).rename("icc_k"))


def test_raters_needed_are_just_enough(fit: rb.Fit) -> None:
    needed = fit.raters_needed(0.8)

    icc = fit.quantities["icc"]
    reached = needed * icc / (1 + (needed - 1) * icc)
    one_less = (needed - 1) * icc / (1 + (needed - 2) * icc)
    assert bool((reached >= 0.8 - 1e-9).all())
    assert bool(((one_less < 0.8) | (needed == 1)).all())


def test_effects_come_with_the_users_ids(fit: rb.Fit) -> None:
    raters, items = fit.raters(), fit.items()

    assert raters.index.tolist() == ["J1", "J2", "J3", "J4"]
    assert raters["mean"].idxmax() == "J1"
    assert items["ratings"].tolist() == [4] * 6
    assert items.columns.tolist() == ["ratings", "mean", "sd", "median", "lower_90", "upper_90"]


@pytest.mark.slow
def test_too_few_draws_bring_one_warning_with_the_numbers() -> None:
    ratings = rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))

    with pytest.warns(
        rb.ConvergenceWarning, match=r"bulk ESS is as low as \d+, for \w+ \(at least 160\)"
    ) as seen:
        rb.GaussianICC().fit(ratings, seed=1, draws=20)

    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_one_chain_alone_is_not_trusted(fit: rb.Fit) -> None:
    with pytest.warns(rb.ConvergenceWarning, match="one chain cannot show"):
        alone = fit.model.fit(fit.ratings, seed=1, chains=1)

    assert alone.summary()["r_hat"].isna().all()


def test_good_draws_bring_none(fit: rb.Fit) -> None:
    rng = np.random.default_rng(1)
    independent = fit.posterior.map(lambda x: x.copy(data=rng.lognormal(size=x.shape)))
    steady = fit.sample_stats.assign(
        diverging=xr.zeros_like(fit.sample_stats["diverging"]),
        energy=fit.sample_stats["energy"].copy(data=rng.normal(size=(4, 1000))),
    )
    good = dataclasses.replace(fit, posterior=independent, sample_stats=steady)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good.warn_if_unreliable()

    assert good.diagnostics().problems == []


def test_arviz_takes_the_fit(fit: rb.Fit) -> None:
    data = fit.to_arviz()

    assert {"icc", "sd_item"} <= set(data["posterior"].data_vars)
    assert data["sample_stats"]["diverging"].dtype == bool  # by which arviz selects draws
    assert "icc" in az.summary(data, var_names=["icc"]).index


@pytest.mark.slow
def test_arviz_takes_the_log_likelihood_of_items(of_categories: rb.Fit) -> None:
    data = of_categories.to_arviz(log_likelihood=True)

    by_item = data["log_likelihood"]["ratings"]
    assert by_item.dims == ("chain", "draw", "item")
    assert by_item["item"].values.tolist() == of_categories.ratings.items.tolist()
    xr.testing.assert_equal(by_item["draw"], of_categories.posterior["draw"])
    assert not hasattr(of_categories.to_arviz(), "log_likelihood")


@pytest.mark.parametrize("name", ["fit", "of_categories"])
def test_arviz_takes_replicates_beside_the_ratings(
    name: str, request: pytest.FixtureRequest
) -> None:
    fit: rb.Fit = request.getfixturevalue(name)

    data = fit.to_arviz(posterior_predictive=8)

    drawn, observed = (data[x]["ratings"] for x in ("posterior_predictive", "observed_data"))
    assert drawn.dims == ("chain", "draw", "rating")
    assert drawn.shape == (fit.settings.chains, 8 // fit.settings.chains, len(fit.ratings))
    numeric = fit.model.continuous
    np.testing.assert_array_equal(observed, fit.ratings.values if numeric else fit.ratings.category)
    # As in the check: as many raters rate, so that each category or mean is about as frequent.
    assert float(drawn.mean()) == pytest.approx(float(observed.mean()), abs=float(observed.std()))
    assert not hasattr(fit.to_arviz(), "posterior_predictive")


@pytest.mark.slow
def test_arviz_reads_the_saved_fit(fit: rb.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit.nc")

    data = az.from_netcdf(tmp_path / "fit.nc")  # type: ignore[no-untyped-call]

    assert float(data["posterior"]["icc"].mean()) == pytest.approx(
        float(fit.quantities["icc"].mean())
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "raters"),
    [(["á", "b", "c"], [1, 2, 3]), ([0.5, 1.5, 2.5], [True, False, True])],
    ids=["text and whole", "decimal and logical"],
)
def test_ids_survive_on_disk(tmp_path: Path, items: list[Any], raters: list[Any]) -> None:
    item, rater = np.indices((3, 3)).reshape(2, -1)
    rating = [9, 2, 5, 6, 1, 3, 8, 4, 6]
    frame = pd.DataFrame(
        {"item": pd.Series(items)[item].array, "rater": pd.Series(raters)[rater].array}
    )
    ratings = rb.Ratings.from_frame(frame.assign(rating=rating), replicates="keep")
    rb.GaussianICC().fit(ratings, seed=1, chains=1, draws=10).save(tmp_path / "fit.nc")

    loaded = rb.Fit.load(tmp_path / "fit.nc")

    assert loaded.ratings == ratings


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file_and_nothing_else(fit: rb.Fit, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_text("old")

    with files_of_at_most(50_000), pytest.raises(OSError, match=r"needs .* bytes.*fit\.nc"):
        fit.save(path)

    assert [file.name for file in tmp_path.iterdir()] == ["fit.nc"]
    assert path.read_text() == "old"


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    text, foreign = tmp_path / "text.nc", tmp_path / "other.nc"
    text.write_text("not netCDF")
    xr.Dataset({"x": 1}).to_netcdf(foreign, engine="h5netcdf")

    for path in (text, foreign):
        with pytest.raises(ValueError, match=rf"{path.name}' is not a readable fit"):
            rb.Fit.load(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.nc"):
        rb.Fit.load(tmp_path / "nowhere.nc")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chains": 0}, "chains must be a whole number from 1 to 1000, not 0"),
        ({"draws": 2.5}, "draws must be a whole number from 4 to 2147483647, not 2.5"),
        ({"chains": True}, "chains must be a whole number from 1 to 1000, not True"),
        ({"parallel_chains": 0}, "parallel_chains must be a whole number from 1, not 0"),
        ({"timeout": 0}, "timeout must be a finite number of seconds above 0, not 0"),
        ({"timeout": "5"}, "timeout must be a finite number of seconds above 0, not '5'"),
        ({"timeout": 10**400}, "timeout must be a finite number of seconds above 0, not 1000"),
        ({"timeout": math.nan}, "timeout must be a finite number of seconds above 0, not nan"),
        ({"timeout": math.inf}, "timeout must be a finite number of seconds above 0, not inf"),
        ({"warmup": -1}, "warmup must be a whole number from 0 to 2147483647, not -1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": "x"}, "seed must be a whole number from 0"),
    ],
)
def test_impossible_settings_are_refused(
    fit: rb.Fit, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fit.model.fit(fit.ratings, **options)


@pytest.mark.parametrize("names", [[], "icc", b"icc", ["nothing"], 5])
def test_names_of_no_quantities_are_refused(fit: rb.Fit, names: Any) -> None:
    with pytest.raises(ValueError, match="names"):
        fit.summary(names=names)
    with pytest.raises(ValueError, match="names"):
        fit.sensitivity(names)


@pytest.mark.parametrize("wrong", [{"chains": 2**64}, {"chains": 0.5}, {"seed": -1}])
def test_starts_of_impossible_numbers_are_refused(fit: rb.Fit, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a whole number"):
        fit.create_inits(**{"seed": 1, "chains": 2} | wrong)


def test_integers_of_numpy_are_integers(fit: rb.Fit) -> None:
    seed = np.random.default_rng(1).integers(2**31)

    options: dict[str, Any] = {"seed": seed, "draws": np.int64(50), "chains": np.int32(2)}

    again = fit.model.fit(fit.ratings, **options)

    assert again.settings.seed == seed
    assert again.posterior.sizes == {"chain": 2, "draw": 50}


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([pd.DataFrame()], {}, "ratings must be Ratings, not DataFrame. Make them with"),
        ([], {"warm_start": None}, "warm_start must be True, False or a fit, not None"),
    ],
)
def test_things_of_the_wrong_kind_are_refused(
    fit: rb.Fit, arguments: list[Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        fit.model.fit(*(arguments or [fit.ratings]), **options)


def graded(**found: Any) -> Diagnostics:
    """Diagnostics of 4,000 good draws of 7 quantities, but for what was found."""
    good = {"r_hat": 1.002, "ess_bulk": 2000, "ess_tail": 1500, "divergences": 0, "bfmi": 1.0}
    rest = {"tree_depth_hits": 0, "chains": 4, "draws": 4000, "monitored": 7}
    return Diagnostics(**{**good, **rest, **found})


@pytest.mark.parametrize(
    ("found", "serious"),
    [
        ({"divergences": 13}, False),
        ({"divergences": 200}, True),
        ({"r_hat": 1.02}, False),
        ({"r_hat": 1.2}, True),
        ({"r_hat": math.nan}, True),
        ({"ess_bulk": 320}, False),
        ({"ess_bulk": 60}, True),
        ({"bfmi": 0.25}, False),
        ({"bfmi": 0.1}, True),
        ({"integration_error": 0.002}, False),
        ({"integration_error": 0.1}, True),
        ({"relabelled": (1,)}, True),
    ],
)
def test_only_what_is_in_doubt_is_a_problem(found: dict[str, Any], serious: bool) -> None:
    diagnostics = graded(**found)

    (finding,) = diagnostics.findings
    assert finding.serious is serious
    assert (diagnostics.problems, diagnostics.notes)[not serious] == [str(finding)]


def test_advice_is_not_what_was_done_already() -> None:
    warm, cold = (graded(r_hat=1.2, warm_start=own).findings[0] for own in (True, False))

    assert "warm_start=False" in warm.remedy
    assert "warm_start=False" not in cold.remedy


@pytest.mark.slow
def test_limit_of_r_hat_is_what_chance_gives_for_so_many_quantities_and_draws() -> None:
    rng = np.random.default_rng(1)
    largest = measures(rng.normal(size=(2100, 4, 100)))["r_hat"].reshape(300, 7).max(axis=1)

    limit = graded(draws=400).max_r_hat

    # One in 1,000 by chance, of independent draws: at most 3 in 300 but for one case in 10^4
    assert (largest > limit).sum() <= 3
    assert limit < 1.05
    assert graded(draws=400, monitored=1).max_r_hat < limit
    assert graded(draws=400_000).max_r_hat == 1.01


def test_a_number_and_its_limit_never_look_alike() -> None:
    text = graded(r_hat=1.01004).notes[0]

    assert "R-hat is up to 1.01004, for some quantity (above 1.01000, though chance" in text


def test_draws_that_are_no_numbers_are_not_trusted(fit: rb.Fit) -> None:
    broken = dataclasses.replace(
        fit, posterior=fit.posterior.assign(mean=np.nan * fit.posterior["mean"])
    )

    problems = broken.diagnostics().problems

    assert problems[0].startswith("the chains disagree: R-hat is up to nan")


def test_draws_that_never_move_are_not_trusted(fit: rb.Fit) -> None:
    still = xr.zeros_like(fit.posterior) + 1.0
    stuck = dataclasses.replace(fit, posterior=still)

    problems = stuck.diagnostics().problems

    assert problems[0].startswith("the chains disagree: R-hat is up to nan")


def test_items_need_a_draw(fit: rb.Fit) -> None:
    with pytest.raises(ValueError, match="draws must be a whole number from 1, not 0"):
        fit.items(draws=0)


@pytest.mark.slow
def test_true_categories_have_probabilities_by_the_users_ids(of_categories: rb.Fit) -> None:
    table = of_categories.category_probabilities()

    assert table.index.equals(of_categories.ratings.items)
    assert table.columns.equals(of_categories.ratings.categories)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    assert table.idxmax(axis=1).tolist() == of_categories.items()["category"].tolist()


@pytest.mark.slow
def test_probabilities_of_categories_average_all_draws(of_categories: rb.Fit) -> None:
    tables = [of_categories.items(), of_categories.category_probabilities()]

    every = of_categories.category_probabilities(draws=10**6)

    settings = of_categories.settings
    assert {table.attrs["draws"] for table in tables} == {settings.chains * settings.draws}
    pd.testing.assert_frame_equal(tables[1], every)
    assert of_categories.raters().attrs["draws"] == settings.chains * settings.draws


def test_tables_say_how_many_draws_were_used_of_too_many(
    of_categories: rb.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reliabayes.results.fit.MAX_WORK", len(of_categories.ratings))

    table = of_categories.items()

    assert table.attrs["draws"] == 400


@pytest.mark.slow
def test_fewer_draws_are_as_many_as_asked_for_and_spread_evenly(of_categories: rb.Fit) -> None:
    draws = of_categories.log_likelihood(draws=6)["draw"].values

    assert draws.tolist() == [0, 333, 666]
    assert of_categories.log_likelihood(draws=10**6).sizes["draw"] == 1000


def test_what_a_model_cannot_tell_is_said(fit: rb.Fit) -> None:
    with pytest.raises(
        AttributeError, match=r"GaussianICC has no true categories\. Fit a model that has them"
    ):
        fit.category_probabilities()


def test_draws_cannot_be_changed(fit: rb.Fit) -> None:
    with pytest.raises(ValueError, match="read-only"):
        fit.posterior["sd_item"].values[:] = 0


@pytest.mark.slow
def test_fresh_seed_is_kept(fit: rb.Fit) -> None:
    fresh = fit.model.fit(fit.ratings, draws=20)

    again = fit.model.fit(fit.ratings, draws=20, seed=fresh.settings.seed)

    xr.testing.assert_identical(fresh.posterior, again.posterior)


def test_fit_is_frozen_and_shows_what_it_is(fit: rb.Fit) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.model = rb.GaussianICC()  # type: ignore[misc]

    assert repr(fit).startswith("Fit(GaussianICC, 4 chains of 1000 draws, Ratings(24 ratings")
