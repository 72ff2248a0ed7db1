"""A short run of the sampler before a fit, and what it finds that raters have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families import pilot
from reliabayes.families.categories.latent_starts import in_found_units, with_crowd_settings
from reliabayes.families.categories.modes import find_modes
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference import stan
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.warm_start import WarmStart
from tests.by_program import draws_by_program

pytestmark = pytest.mark.slow

MODEL, CATEGORIES = rb.LatentTAP(), 3


def ratings_of(raters: int, items: int) -> rb.Ratings:
    """Items that three raters rate, drawn at random."""
    rng = np.random.default_rng(3)
    rater = np.concatenate([rng.choice(raters, 3, replace=False) for _ in range(items)])
    design = pd.DataFrame({"item": np.repeat(np.arange(items), 3), "rater": rater})
    truth = {"sd_alpha": np.array(1.0)}
    ratings: rb.Ratings = MODEL.simulate(
        design, rng, parameters=truth, categories=range(CATEGORIES)
    )
    return ratings


def problem_of(raters: int, items: int) -> CategoricalProblem:
    return MODEL.problem(ratings_of(raters, items))


def mode_of(problem: CategoricalProblem) -> WarmStart:
    """The heaviest mode, in units of EM."""
    return find_modes(MODEL.family, problem)[0].start


@pytest.fixture(scope="module")
def crowd() -> tuple[CategoricalProblem, WarmStart, WarmStart]:
    """A problem of 40 raters, its mode, and the same after a short run."""
    problem = problem_of(raters=40, items=200)
    mode = mode_of(problem)
    return problem, mode, in_found_units(mode, problem)


def test_what_raters_have_in_common_is_nearly_standard_normal_after_a_short_run(
    crowd: tuple[CategoricalProblem, WarmStart, WarmStart],
) -> None:
    problem, _, after = crowd

    run = draws_by_program(MODEL, problem, after, chains=2, draws=750, seed=5)
    core = np.concatenate(run.parameters["core"])

    # Of 240 dependent draws, means err by some .15 sds and variances by a third.
    assert np.abs(core.mean(axis=0)).max() < 0.7
    spread = np.linalg.eigvalsh(np.cov(core, rowvar=False))
    assert spread.min() > 0.2
    assert spread.max() < 4


def test_scores_have_means_and_variances_in_the_order_of_stan() -> None:
    problem = problem_of(raters=32, items=60)
    scores = np.arange(2 * 32).reshape(32, 2) / 64  # two for the guesses of each rater

    def sample(*_: Any, chains: int, draws: int, **__: Any) -> stan.Draws:
        rng, shape = np.random.default_rng(1), (chains, draws)
        found: dict[str, Array] = {
            "core": rng.normal(size=(*shape, 2 * 3 + 2)),
            "score": -np.ones((*shape, 32, 1)),
            "guess_score": np.broadcast_to(scores, (*shape, 32, 2)),
        }
        return stan.Draws(found, {"lp": np.zeros(shape)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stan, "sample", sample)
        after = in_found_units(mode_of(problem), problem)

    assert after.mean is not None
    assert after.covariance is not None
    # 240 draws of each, against 60 that say 0 and 1; matrices column by column.
    np.testing.assert_allclose(after.mean[-96:], 0.8 * np.r_[-np.ones(32), scores.T.ravel()])
    np.testing.assert_allclose(after.covariance[-96:], 0.2)
    np.testing.assert_array_equal(after.mean[:-96], 0)
    np.testing.assert_array_equal(after.covariance[:-96], 1)


def test_a_short_run_changes_units_and_not_what_is_sampled(
    crowd: tuple[CategoricalProblem, WarmStart, WarmStart],
) -> None:
    _, mode, after = crowd
    before, found = mode.centring, after.centring
    assert isinstance(before, KnowledgeCentring)
    assert isinstance(found, KnowledgeCentring)

    point = mode.create_inits(seed=1, chains=1)[0]

    # The same point in both units differs by the linear map between them alone.
    shift = np.linalg.solve(found.core_root, before.core_mean - found.core_mean)
    turn = np.linalg.solve(found.core_root, before.core_root)
    assert found.core(point) == pytest.approx(shift + turn @ before.core(point), abs=1e-8)
    for name in ("alpha_mean", "alpha_precision", "guessed", "spread_scale"):
        assert getattr(found, name) is getattr(before, name)
    assert not after.adapt_metric


def test_chains_start_around_what_a_short_run_found(
    crowd: tuple[CategoricalProblem, WarmStart, WarmStart],
) -> None:
    _, _, after = crowd
    assert isinstance(after.centring, KnowledgeCentring)

    core = np.array([after.centring.core(p) for p in after.create_inits(seed=2, chains=4)])

    assert np.abs(core).max() < 2.01  # twice the posterior sd of 1
    assert np.ptp(core, axis=0).min() > 0.1


def test_trajectories_follow_half_the_nodes_where_the_density_is_nearly_the_same(
    crowd: tuple[CategoricalProblem, WarmStart, WarmStart], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, mode, after = crowd

    monkeypatch.setattr(pilot, "LARGEST_DIFFERENCE", 1e-9)
    strict = in_found_units(mode, problem)

    assert isinstance(after.rough, CategoricalProblem)
    assert after.rough.nodes is not None
    assert problem.nodes is not None
    assert after.rough.nodes.number == problem.nodes.number // 2
    assert strict.rough is None
    at = after.point
    apart = MODEL.log_likelihood(at, after.rough) - MODEL.log_likelihood(at, problem)
    assert abs(apart) < 0.1


def test_the_same_ratings_have_the_same_start() -> None:
    problem = problem_of(raters=32, items=60)
    mode = mode_of(problem)

    one, other = (in_found_units(mode, problem).centring for _ in range(2))

    assert isinstance(one, KnowledgeCentring)
    assert isinstance(other, KnowledgeCentring)
    assert (one.core_root == other.core_root).all()
    assert (one.core_mean == other.core_mean).all()


@pytest.mark.parametrize(("raters", "is_run"), [(3, False), (4, True)])
def test_few_parameters_need_no_short_run(raters: int, is_run: bool) -> None:
    (start,) = MODEL.starts(problem_of(raters, items=40))

    assert start.size == 8 + 3 * raters  # in common, accuracies and guesses
    assert (start.mean is not None) == is_run


@pytest.mark.parametrize(
    ("raters", "items", "depth", "thinning"),
    [(100, 1400, 3, 1), (100, 1000, 3, 2), (100, 900, 10, 2), (99, 1000, 10, 1)],
)
def test_trees_are_short_and_draws_far_apart_as_ratings_of_many_raters_ask_for(
    raters: int, items: int, depth: int, thinning: int
) -> None:
    problem = problem_of(raters, items)

    start = with_crowd_settings(WarmStart({}, {}, dict), problem)

    assert (start.max_tree_depth, start.thinning) == (depth, thinning)


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_draws_of_a_crowd_with_few_ratings_each_are_two_iterations_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thinning: list[int] = []
    sample = stan.sample

    def noted(*args: Any, **options: Any) -> Any:
        thinning.append(options.get("thinning", 1))
        return sample(*args, **options)

    monkeypatch.setattr(stan, "sample", noted)
    ratings = ratings_of(raters=100, items=300)

    fit = MODEL.fit(ratings, chains=2, draws=50, seed=1, progress=False)

    assert thinning == [1, 2]  # of the short run, and of the draws
    assert fit.posterior.sizes["draw"] == 50
