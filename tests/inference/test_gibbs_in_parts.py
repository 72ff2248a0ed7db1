"""Gibbs sampling of items in parts: the posterior of all ratings in memory, for any parts."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.families.categories import parts, states_in_parts
from reliabayes.inference import gibbs_in_parts
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.models.priors import Beta
from reliabayes.partitions import processes
from reliabayes.results.summaries import scalars
from tests.monte_carlo import standard_errors
from tests.partitions.in_memory import PartInMemory, elsewhere, in_parts

pytestmark = pytest.mark.slow

MODELS = [
    rb.DawidSkene(),
    rb.MACE(),
    rb.MACE(prevalence="uniform"),
    rb.TAP(),
    rb.TAP(accuracy="by_category"),
    rb.RaterTAP(),
    rb.DawidSkene(prior_misleading=Beta(2.0, 8.0)),
]
FEW: dict[str, Any] = {"seed": 1, "chains": 2, "warmup": 5, "draws": 20, "progress": False}


@pytest.fixture(autouse=True)
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_COUNTS", 0)


def table(gold: bool = False, fewest: int = 2) -> pd.DataFrame:
    """400 items in three categories, each with ``fewest`` to 6 ratings by some of eight raters."""
    rng = np.random.default_rng(7)
    rows = []
    for item, truth in enumerate(rng.choice(3, 400, p=[0.5, 0.3, 0.2])):
        for rater in rng.choice(8, rng.integers(fewest, 7), replace=False):
            is_right = rng.random() < 0.55 + 0.05 * rater
            rating = truth if is_right else rng.integers(3)
            rows.append((item, rater, rating, truth if item % 5 == 0 else None))
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating", "gold"])
    return frame if gold else frame.drop(columns="gold")


def ratings_of(frame: pd.DataFrame) -> rb.Ratings:
    gold = "gold" if "gold" in frame else None
    return rb.Ratings.from_frame(frame, gold=gold, scale="nominal")


@pytest.mark.parametrize(
    ("model", "gold", "sampler", "draws"),
    [
        (MODELS[-1], True, "gibbs", 250),
        *(
            pytest.param(model, gold, "nuts", draws, marks=mark)
            for model in MODELS
            for gold in (False, True)
            for draws, mark in ((400, pytest.mark.proof), (1500, pytest.mark.calibration))
        ),
    ],
    ids=repr,
)
def test_posterior_is_that_in_memory(model: Any, gold: bool, sampler: Any, draws: int) -> None:
    ratings = ratings_of(table(gold))
    options: dict[str, Any] = {"draws": draws, "progress": False}

    found = model.fit(in_parts(ratings, 4), seed=1, **options)

    expected = model.fit(ratings, seed=2, sampler=sampler, **options)
    tables = found.summary(), expected.summary()
    for column in ("mean", "sd", "lower_90", "upper_90"):
        errors = [standard_errors(fit, column) for fit in (found, expected)]
        for quantity in tables[1].index:
            difference = tables[0][column][quantity] - tables[1][column][quantity]
            assert abs(difference) < 5.5 * math.hypot(*(each[quantity] for each in errors))


def test_two_readings_of_the_ratings_are_said_to_be_unweighed() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (2, 60)).repeat(5, axis=0)  # of two criteria, with five raters each
    rating = np.where(rng.random(truth.shape) < 0.85, truth, 1 - truth).T
    ratings = rb.Ratings.from_wide(pd.DataFrame(rating), scale="nominal")

    with pytest.warns(rb.ConvergenceWarning, match="2 modes, whose shares could not be estimated"):
        fit = rb.DawidSkene().fit(in_parts(ratings, 2), seed=1, draws=250, progress=False)

    assert len(fit.settings.modes) == 2


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_a_fit_says_that_modes_were_searched_among_some_items() -> None:
    ratings = ratings_of(table())

    found, expected = (
        rb.TAP().fit(each, sampler="gibbs", **FEW).diagnostics().notes
        for each in (in_parts(ratings, 3), ratings)
    )

    said = [note for note in found if note.startswith("other modes of the posterior were looked")]
    assert len(said) == 1
    assert "among some of the items" not in " ".join(expected)


def test_nuts_is_refused() -> None:
    with pytest.raises(ValueError, match=r"NUTS needs distinct items in memory.*400 items"):
        rb.TAP().fit(in_parts(ratings_of(table()), 3), sampler="nuts")


def test_fit_that_takes_too_long_is_ended() -> None:
    dataset = in_parts(ratings_of(table()), 3)

    with pytest.raises(rb.SamplingError, match="timeout"):
        rb.TAP().fit(dataset, draws=1_000_000, timeout=0.3, progress=False)


def test_em_ends_between_parts_when_its_time_is_over() -> None:
    computed = []

    def slow(function: Any, parts: Any) -> Any:
        for part in parts:
            time.sleep(0.1)
            computed.append(part)
            yield function(part)

    dataset = in_parts(ratings_of(table()), 64).on(slow)

    with pytest.raises(rb.SamplingError, match="took longer than its timeout"):
        rb.TAP().fit(dataset, timeout=0.2, progress=False)

    assert len(computed) < 64


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_interruption_ends_the_chains_at_once(n_jobs: int) -> None:
    compute, left = processes(n_jobs), iter(range(100))

    def interrupted(function: Any, parts: Any) -> Any:
        for result in compute(function, parts):
            if next(left, None) == 99:
                os.kill(os.getpid(), signal.SIGINT)
            yield result

    dataset = in_parts(ratings_of(table()), 7).on(interrupted)
    threads = set(threading.enumerate())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            rb.DawidSkene().fit(dataset, draws=2_000_000, progress=False)  # would take hours
    finally:
        signal.signal(signal.SIGINT, before)

    for thread in set(threading.enumerate()) - threads:
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(120)
            assert not thread.is_alive()


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_draws_do_not_depend_on_who_computes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model, dataset = rb.DawidSkene(), in_parts(ratings_of(table()), 7)

    in_turn = model.fit(dataset, **FEW)
    others = model.fit(dataset.on(elsewhere), **FEW)
    one_thread = model.fit(dataset, parallel_chains=1, **FEW)
    monkeypatch.setattr(states_in_parts, "MOST_KEPT", 0)
    read_anew = model.fit(dataset, **FEW)

    for found in others, one_thread, read_anew:
        assert found.posterior.identical(in_turn.posterior)
        assert found.sample_stats.identical(in_turn.sample_stats)


@pytest.mark.parametrize(("room", "reads"), [(1_000_000, 7), (0, 7 * 9)])
def test_parts_are_read_once_if_they_fit_in_memory(
    monkeypatch: pytest.MonkeyPatch, room: int, reads: int
) -> None:
    model = rb.DawidSkene()
    problem = model.problem_of_parts(in_parts(ratings_of(table()), 7))
    posterior, start = model.conjugate(problem), model.cold_start(problem, None)
    assert isinstance(posterior, ConjugateInParts)
    first: list[int] = []
    read = PartInMemory.read

    def counted(part: PartInMemory) -> rb.Ratings:
        first.append(part.first)
        return read(part)

    monkeypatch.setattr(PartInMemory, "read", counted)
    monkeypatch.setattr(states_in_parts, "MOST_KEPT", room)
    inits = start.create_inits(seed=1, chains=2)
    gibbs_in_parts.sample(
        posterior, chains=2, warmup=5, draws=4, seed=1, inits=inits, progress=False
    )

    assert len(first) == reads
    assert not states_in_parts._kept.parts  # all is forgotten after a fit


def test_few_draws_suffice_for_prevalence_and_accuracies() -> None:
    ratings = in_parts(ratings_of(table(fewest=6)), 3)

    found = rb.DawidSkene().fit(ratings, seed=1, progress=False)

    assert (found.settings.warmup, found.settings.draws) == (100, 250)
    for name in "prevalence", "accuracy":
        for _, draws in scalars(name, found.quantities[name]):
            assert az.ess(draws) > 400  # type: ignore[no-untyped-call]
