"""G studies of ratings in parts: the draws in memory, and what is refused."""

from __future__ import annotations

import functools
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.facets.normal_effects import NormalEffects
from reliabayes.families.normal import effects_in_parts, facets, levels
from reliabayes.inference import independence
from reliabayes.inference.independence import NearNormal
from reliabayes.likelihoods import item_moments, split_effects
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.sampling.thresholds import STUDY
from tests.partitions.in_memory import elsewhere, in_parts

pytestmark = pytest.mark.slow

SAMPLING: dict[str, Any] = {"seed": 1, "chains": 2, "warmup": 20, "draws": 20, "progress": False}
CROSSED = "item x rater x day"
NESTED = "item x (rater:day)"
OF_ITEMS = "(rater:item) x day"
DESIGNS = {  # the design, how raters are told apart, replicates, and the share of ratings kept
    "crossed": (CROSSED, "crossed", 1, 1.0),
    "crossed, empty cells": (CROSSED, "crossed", 1, 0.9),
    "replicated": (CROSSED, "crossed", 2, 1.0),
    "replicated, empty cells": (CROSSED, "crossed", 2, 0.8),
    "nested": (NESTED, "nested", 1, 1.0),
    "nested, empty cells": (NESTED, "nested", 1, 0.9),
    "raters of items": (OF_ITEMS, "of items", 1, 1.0),
    "raters of items, empty cells": (OF_ITEMS, "of items", 1, 0.9),
    "two facets, empty cells": ("item x rater", "crossed", 1, 0.9),
}


def designs(*names: str) -> list[Any]:
    """These designs, and all others as proofs."""
    others = (name for name in DESIGNS if name not in names)
    return [*names, *(pytest.param(name, marks=pytest.mark.proof) for name in others)]


slow_to_agree = pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning")


def table_of(name: str, *, whole: bool = False) -> pd.DataFrame:
    """Ratings of 200 items by three raters on two days."""
    _, raters, repeats, share = DESIGNS[name]
    cells = list(product(range(200), range(3), range(2), range(repeats)))
    table = pd.DataFrame(cells, columns=["item", "rater", "day", "repeat"]).drop(columns="repeat")
    rng = np.random.default_rng(7)
    item, rater, day = (table[each].to_numpy() for each in ("item", "rater", "day"))
    score = rng.normal(0, 1, 200)[item] + rng.normal(0, 0.5, 3)[rater] + rng.normal(0, 0.3, 2)[day]
    score += rng.normal(0, 0.4, (200, 3))[item, rater] + rng.normal(0, 0.5, (200, 2))[item, day]
    score += rng.normal(0, 0.2, (3, 2))[rater, day] + rng.normal(0, 0.6, len(table))
    table["rating"] = np.rint(50 + 10 * score) if whole else 5 + score
    if raters != "crossed":
        table["rater"] += 3 * table["day" if raters == "nested" else "item"]
    return table if share == 1 else table.sample(frac=share, random_state=3)


def study(name: str, **options: Any) -> tuple[rb.GStudy, rb.Ratings]:
    design = DESIGNS[name][0]
    facets = [facet for facet in ("day",) if facet in design]
    ratings = rb.Ratings.from_frame(
        table_of(name, **options), facets=facets, replicates="keep", scale="numeric"
    )
    return rb.GStudy(design=design), ratings


@functools.cache
def in_memory(name: str, *, whole: bool = False, **options: int) -> rb.Fit:
    """Fit of the ratings in memory, which tests share."""
    model, ratings = study(name, whole=whole)
    return model.fit(ratings, **{**SAMPLING, **options})


@pytest.mark.parametrize("name", designs("crossed", "nested, empty cells"))
@pytest.mark.parametrize("number", [1, 7, pytest.param(64, marks=pytest.mark.proof)])
@slow_to_agree
def test_draws_of_whole_numbers_are_those_in_memory(name: str, number: int) -> None:
    model, ratings = study(name, whole=True)
    expected = in_memory(name, whole=True)

    found = model.fit(in_parts(ratings, number), **SAMPLING)

    assert found.posterior.identical(expected.posterior)
    assert found.summary().equals(expected.summary())
    assert found.settings == expected.settings


@pytest.mark.parametrize(
    "name", [each for each in designs("crossed, empty cells") if "empty" in str(each)]
)
@slow_to_agree
def test_draws_of_other_numbers_differ_by_rounding_of_sums(name: str) -> None:
    model, ratings = study(name)
    expected = in_memory(name)

    found = model.fit(in_parts(ratings, 7), **SAMPLING)

    for variable, draws in expected.posterior.items():
        np.testing.assert_allclose(found.posterior[variable], draws, rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in DESIGNS if "empty" not in name])
def test_mean_squares_are_those_in_memory(name: str) -> None:
    """NUTS amplifies the rounding of sums; what it is given does not."""
    model, ratings = study(name)
    expected = MeanSquares.of(model.study.effects(ratings), ratings.values)

    problem = model.problem_of_parts(in_parts(ratings, 7))

    found = problem.squares
    assert found is not None
    assert expected is not None
    assert problem.effects.names == model.study.effects(ratings).names
    assert found.df.tolist() == expected.df.tolist()
    assert found.coefficient.tolist() == expected.coefficient.tolist()
    assert found.sum_of_squares == pytest.approx(expected.sum_of_squares, rel=1e-11)
    assert found.mean == pytest.approx(expected.mean, rel=1e-14)


@slow_to_agree
def test_parts_on_disk_are_summed_elsewhere(tmp_path: Path) -> None:
    table = table_of("crossed, empty cells", whole=True)
    dataset = rb.partition(table, tmp_path / "parts", facets=["day"], scale="numeric", partitions=5)
    expected = in_memory("crossed, empty cells", whole=True)

    found = expected.model.fit(dataset.on(elsewhere), **SAMPLING)

    np.testing.assert_allclose(found.posterior["sd"], expected.posterior["sd"], rtol=1e-6)


@pytest.mark.parametrize("name", ["crossed", "nested, empty cells"])
@slow_to_agree
def test_results_that_follow_from_variances_are_those_in_memory(name: str) -> None:
    model, ratings = study(name, whole=True)
    expected = in_memory(name, whole=True)

    found = model.fit(in_parts(ratings, 7), **SAMPLING)

    levels = {"rater": [1, 3], "day": [1, 2]}
    assert found.d_study(levels).draws.equals(expected.d_study(levels).draws)
    assert found.quantities.equals(expected.quantities)
    assert found.diagnostics().problems == expected.diagnostics().problems
    assert found.cheapest({"rater": 1}, g=0.6, prob=0.5).equals(
        expected.cheapest({"rater": 1}, g=0.6, prob=0.5)
    )


@pytest.mark.parametrize(
    "name",
    [
        "crossed, empty cells",
        pytest.param("crossed", marks=pytest.mark.proof),
        pytest.param("replicated, empty cells", marks=pytest.mark.proof),
    ],
)
@slow_to_agree
def test_effects_of_raters_have_their_distribution_given_the_ratings(name: str) -> None:
    model, ratings = study(name)
    many = {"warmup": 200, "draws": 400}
    expected = in_memory(name, **many).levels("rater")

    fit = model.fit(in_parts(ratings, 7), **{**SAMPLING, **many})

    found = fit.levels("rater")
    assert found.index.equals(expected.index)
    error = (found["mean"] - expected["mean"]) / expected["sd"]
    assert np.abs(error).max() < 5 * np.sqrt(2 / 160)
    assert found["sd"].to_numpy() == pytest.approx(expected["sd"].to_numpy(), rel=0.5)
    assert fit.raters()["ratings"].sum() == len(ratings)


@slow_to_agree
def test_effects_of_items_and_of_what_is_nested_in_them_need_ratings_in_memory() -> None:
    model, ratings = study("crossed, empty cells")
    fit = model.fit(in_parts(ratings, 3), **SAMPLING)

    for result in (fit.items, fit.loo, lambda: fit.levels("item")):
        with pytest.raises(rb.RatingsError, match="must be in memory"):
            result()


NESTED_ITEMS = "(item:day) x rater"


@pytest.mark.parametrize(
    "name",
    [
        *designs("crossed, empty cells"),
        pytest.param(NESTED_ITEMS, marks=pytest.mark.proof),
    ],
)
@slow_to_agree
def test_effects_of_items_are_written_part_by_part(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, ratings = study("crossed, empty cells" if name == NESTED_ITEMS else name)
    if name == NESTED_ITEMS:
        frame = ratings.to_frame()
        frame["item"] += 1000 * frame["day"]
        ratings = rb.Ratings.from_frame(frame, facets=["day"], scale="numeric")
        model = rb.GStudy(design=NESTED_ITEMS)
    monkeypatch.setattr(levels, "IN_MEMORY", 200 * 30)  # some items of a part at a time
    options = {**SAMPLING, "warmup": 200, "draws": 200}
    expected = model.fit(ratings, **options).items()

    model.fit(in_parts(ratings, 3), **options).write_items(tmp_path / "items")

    found = pd.concat(map(pd.read_parquet, sorted((tmp_path / "items").iterdir())))
    found = found.set_index(expected.index.names).loc[expected.index]
    assert found["ratings"].tolist() == expected["ratings"].tolist()
    # 400 effects are drawn of each item. Those of two days, in which items are nested, move all.
    away = (found["mean"] - expected["mean"]) / expected["sd"] * np.sqrt(400 / 2)
    assert away.std() < 1.3
    assert abs(away.mean()) < 4
    assert found["sd"].to_numpy() == pytest.approx(expected["sd"].to_numpy(), rel=0.25)


@slow_to_agree
def test_dropped_effects_of_items_are_not_written(tmp_path: Path) -> None:
    _, ratings = study("crossed")
    model = rb.GStudy(design=CROSSED, drop=("item",))

    with pytest.raises(ValueError, match="whose effects were not dropped"):
        model.fit(in_parts(ratings, 3), **SAMPLING).write_items(tmp_path / "items")


def test_faults_of_the_design_are_those_in_memory() -> None:
    _, ratings = study("nested")

    for design in (CROSSED, "item x rater:day x hour"):
        with pytest.raises(rb.RatingsError) as expected:
            rb.GStudy(design=design).problem(ratings)
        with pytest.raises(rb.RatingsError) as found:
            rb.GStudy(design=design).fit(in_parts(ratings, 3))
        assert str(found.value) == str(expected.value)


def test_ratings_without_a_residual_are_refused() -> None:
    for name in ("crossed", "crossed, empty cells"):
        table = table_of(name)
        table["rating"] = table["item"] + 2.5 * table["rater"] + 0.3 * table["day"]
        ratings = rb.Ratings.from_frame(table, facets=["day"], scale="numeric")

        with pytest.raises(rb.RatingsError, match="must have a residual besides the effects"):
            rb.GStudy(design=CROSSED).fit(in_parts(ratings, 3))


@pytest.mark.parametrize("family", ["logit", "ordinal"])
def test_families_of_categories_need_ratings_in_memory(family: Any) -> None:
    _, ratings = study("crossed")
    model = rb.GStudy(design=CROSSED, family=family)

    with pytest.raises(rb.RatingsError, match=r"must be in memory for family.*part\.subset"):
        model.fit(in_parts(ratings, 2))


def test_stan_needs_ratings_in_memory_where_cells_are_empty() -> None:
    model, ratings = study("crossed, empty cells")

    for options in ({"sampler": "nuts"}, {"warm_start": False}):
        with pytest.raises(rb.RatingsError, match=r"all ratings must be in memory.*independence"):
            model.fit(in_parts(ratings, 2), **{**SAMPLING, **options})


@slow_to_agree
def test_draws_in_doubt_are_repeated_by_more_proposals_where_nuts_cannot_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of("crossed, empty cells")
    few = rb.Ratings.from_frame(table[table["item"] < 12], facets=["day"], scale="numeric")
    runs: list[NearNormal] = []

    def sample(posterior: NearNormal, **options: Any) -> Any:
        runs.append(posterior)
        return original(posterior, **options)

    original = independence.sample
    monkeypatch.setattr(independence, "sample", sample)

    fit = rb.GStudy(design=CROSSED).fit(in_parts(few, 2), seed=1, draws=250, progress=False)

    assert fit.settings.sampler == "independence"
    assert [run.thinning for run in runs] == [4, 16]


def own_ways() -> rb.Ratings:
    """Ratings on three days of which half are missing, so that each item has its own way."""
    rng = np.random.default_rng(1)
    items, raters, days = shape = 300, 8, 3
    score = rng.normal(0, 1, (items, 1, 1)) + rng.normal(0, 0.5, (raters, 1))
    score = score + rng.normal(0, 0.3, days) + rng.normal(0, 0.4, (items, raters, 1))
    score = score + rng.normal(0, 0.5, (items, 1, days)) + rng.normal(0, 0.6, shape)
    table = pd.DataFrame(list(np.ndindex(shape)), columns=["item", "rater", "day"])
    table = table.assign(rating=5 + score.ravel()).sample(frac=0.5, random_state=1)
    return rb.Ratings.from_frame(table, facets=["day"], scale="numeric")


@pytest.mark.proof
@slow_to_agree
def test_few_items_that_were_rated_in_many_ways_have_the_draws_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(item_moments, "MOST_WORK", 1000)
    ratings, model = own_ways(), rb.GStudy(design=CROSSED)
    expected = model.fit(ratings, **SAMPLING)

    found = model.fit(in_parts(ratings, 7), **SAMPLING)

    assert found.posterior.identical(expected.posterior)
    assert found.levels("rater").equals(expected.levels("rater"))
    for result in (found.items, found.loo, lambda: found.levels("item")):
        with pytest.raises(rb.RatingsError, match="must be in memory"):
            result()


@pytest.fixture
def by_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each way be one too many, and read no parts, and few ratings of a part, together."""
    monkeypatch.setattr(item_moments, "MOST_WORK", 1000)
    monkeypatch.setattr(facets, "STUDY", STUDY._replace(read=0))
    monkeypatch.setattr(split_effects, "PIECE", 700)


@pytest.mark.parametrize(
    ("design", "drop", "number"),
    [
        (CROSSED, (), 7),
        pytest.param(CROSSED, ("item x rater", "rater x day"), 7, marks=pytest.mark.proof),
        pytest.param("item x rater", (), 1, marks=pytest.mark.proof),
        pytest.param("item x rater", (), 20, marks=pytest.mark.proof),
    ],
)
def test_densities_of_many_ways_are_those_in_memory(
    design: str, drop: tuple[str, ...], number: int, by_passes: None
) -> None:
    ratings = own_ways()
    if design == "item x rater":
        ratings = replicated(ratings)
    model = rb.GStudy(design=design, drop=drop, prior_mean=rb.Normal(4, 2))
    values, effects = ratings.values, model.study.effects(ratings)

    problem = model.problem_of_parts(in_parts(ratings, number))

    assert isinstance(problem.marginal, InterpolatedEffects)
    assert problem.effects.names == effects.names
    found = problem.marginal
    expected = NormalEffects.of(effects, values)
    close = found.box.variance * np.random.default_rng(2).uniform(0.98, 1.02, (3, 1))
    for variance in (*close, 3 * found.box.variance[::-1]):
        density = expected.log_density(variance, 4, 2)
        exact = found.exact.at_many(variance[None]).log_density[0]
        assert exact == pytest.approx(density, rel=1e-12)
    for variance in close:
        density = expected.log_density(variance, 4, 2)
        assert found.at(variance).log_density == pytest.approx(density, abs=1e-3)


def replicated(ratings: rb.Ratings) -> rb.Ratings:
    """The same without days, so that raters rate items up to three times."""
    table = ratings.to_frame().drop(columns="day")
    return rb.Ratings.from_frame(table, replicates="keep", scale="numeric")


@pytest.mark.proof
@pytest.mark.usefixtures("by_passes")
def test_parts_of_many_ways_may_be_empty() -> None:
    ratings, model = replicated(own_ways().subset(items=range(100))), rb.GStudy()
    one, several = (model.problem_of_parts(in_parts(ratings, n)).marginal for n in (1, 110))
    variance = np.array([1.0, 0.3, 0.2, 0.7])

    assert several.at(variance) == pytest.approx(one.at(variance), rel=1e-11)


@pytest.mark.proof
@pytest.mark.usefixtures("by_passes")
@slow_to_agree
def test_draws_of_many_ways_are_from_the_posterior_in_memory() -> None:
    ratings, model = own_ways(), rb.GStudy(design=CROSSED)
    options = {**SAMPLING, "warmup": 1000, "draws": 1000}
    expected = model.fit(ratings, **options)

    found = model.fit(in_parts(ratings, 7), **options)

    assert found.settings.sampler == "independence"
    for name in ("g", "phi", "sd", "mean"):
        one, other = found.quantities[name], expected.quantities[name]
        error = abs(one.mean(("chain", "draw")) - other.mean(("chain", "draw")))
        assert (error < 5 * other.std(("chain", "draw")) * np.sqrt(2 / 700)).all()
    raters, others = found.levels("rater"), expected.levels("rater")
    assert np.abs((raters["mean"] - others["mean"]) / others["sd"]).max() < 5 * np.sqrt(2 / 400)
    assert raters["sd"].to_numpy() == pytest.approx(others["sd"].to_numpy(), rel=0.3)
    with pytest.raises(rb.RatingsError, match="must be in memory"):
        found.levels("item")


@pytest.mark.usefixtures("by_passes")
@slow_to_agree
def test_draws_of_many_ways_do_not_depend_on_the_parts() -> None:
    ratings, model = own_ways(), rb.GStudy(design=CROSSED)
    expected = model.fit(in_parts(ratings, 1), **SAMPLING)

    found = model.fit(in_parts(ratings, 7), **SAMPLING)

    assert found.settings.sampler == "independence"
    for variable, draws in expected.posterior.items():
        np.testing.assert_allclose(found.posterior[variable], draws, rtol=1e-5)
    with pytest.raises(rb.RatingsError, match="must be in memory"):
        found.levels("item")


@pytest.mark.usefixtures("by_passes")
def test_faults_of_a_design_with_many_ways_are_those_in_memory() -> None:
    ratings = own_ways()
    vendor = (ratings.to_frame()["rater"] % 2).to_numpy()
    table = ratings.to_frame().assign(vendor=vendor, hour=1)
    ratings = rb.Ratings.from_frame(table, facets=["day", "vendor", "hour"], scale="numeric")

    for design in ("item x rater x day x vendor", "item x rater x hour", "item x rater x week"):
        with pytest.raises(rb.RatingsError) as expected:
            rb.GStudy(design=design).problem(ratings)
        with pytest.raises(rb.RatingsError) as found:
            rb.GStudy(design=design).problem_of_parts(in_parts(ratings, 3))
        assert str(found.value) == str(expected.value)


@pytest.mark.usefixtures("by_passes")
def test_many_ways_are_refused_where_no_density_can_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset = in_parts(own_ways(), 3)

    def fit(**options: Any) -> rb.Fit:
        return rb.GStudy(design=CROSSED, **options).fit(dataset, seed=1)

    with pytest.raises(rb.RatingsError, match=r"items must have effects.*to_ratings"):
        fit(drop=("item", "item x rater", "item x day"))
    monkeypatch.setattr(effects_in_parts, "STUDY", STUDY._replace(nodes=20))
    with pytest.raises(rb.RatingsError, match=r"found 3 sources of 300 items.*Drop some of them"):
        fit()
    monkeypatch.setattr(split_effects, "MOST_SHARED", 10)
    with pytest.raises(rb.RatingsError, match=r"must be 999 at most.*found 35"):
        fit()
