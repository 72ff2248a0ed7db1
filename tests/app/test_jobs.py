"""Jobs of a session: one at a time, with progress, and cancelled without a trace."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import reliabayes as rb
from reliabayes.app import jobs, tasks, where_it_runs, worker
from reliabayes.app.jobs import ENDED, Job, Session
from reliabayes.errors import SamplingError
from reliabayes.progress import progress_bar, progress_told

LONG = 120.0  # seconds that nothing here takes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where processes of sessions keep their temporary files, which they have time to remove."""
    found = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TMPDIR", str(found))
        patched.setattr(jobs, "GENTLY", LONG)
        yield found


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    """A session that is closed in the end; its process starts again whenever it has ended."""
    found = Session()
    yield found
    found.close()


@pytest.fixture
def ratings() -> rb.Ratings:
    """The table of Shrout & Fleiss."""
    return rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def finished(session: Session) -> Job:
    def is_over() -> bool:
        job = session.poll()
        return job is not None and not job.is_running

    wait_until(is_over)
    assert session.job is not None
    return session.job


def own_processes() -> list[psutil.Process]:
    """Processes of sessions with their chains; other tests may have left some of their own."""
    workers = [
        child for child in psutil.Process().children() if "reliabayes.app.worker" in _command(child)
    ]
    found = [*workers, *(each for worker in workers for each in worker.children(recursive=True))]
    return [each for each in found if _command(each)]


def long_job(session: Session, ratings: rb.Ratings) -> list[psutil.Process]:
    """A job whose chains run."""
    model = rb.OrdinalICC()
    session.start("long", _long_fit, model, ratings)
    wait_until(lambda: any("ordinal_icc" in _command(each) for each in own_processes()))
    return own_processes()


def _command(process: psutil.Process) -> str:
    """Its command; empty if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _long_fit(model: rb.OrdinalICC, ratings: rb.Ratings) -> rb.Fit:
    return model.fit(ratings, draws=1_000_000, chains=2, seed=1)


@pytest.mark.slow
def test_a_job_has_a_result(session: Session, ratings: rb.Ratings) -> None:
    session.start("reliability", tasks.fitted, rb.GaussianICC(), ratings)

    job = finished(session)

    assert job.failure == ""
    assert job.result.fit.ratings == ratings
    assert job.result.fit.settings.seed == tasks.SEED


@pytest.mark.slow
def test_a_job_tells_of_its_progress_and_leaves_no_chain_and_no_file_when_it_is_cancelled(
    session: Session, ratings: rb.Ratings, folder: Path
) -> None:
    running = long_job(session, ratings)
    wait_until(lambda: (job := session.poll()) is not None and job.done > 0)
    job = session.job
    assert job is not None
    assert job.title == "ordinal_icc"
    assert 0 < job.done < 1
    assert list(folder.iterdir())

    session.cancel()

    wait_until(lambda: not any(each.is_running() for each in running))
    assert len(running) >= 2  # the worker and a chain
    assert session.job is None
    assert list(folder.iterdir()) == []
    wait_until(lambda: len(own_processes()) == 1)


@pytest.mark.slow
def test_another_job_ends_the_one_before(session: Session) -> None:
    session.start("first", time.sleep, LONG)
    session.start("second", _double, 21)

    job = finished(session)

    assert (job.name, job.result) == ("second", 42)


@pytest.mark.slow
def test_errors_come_in_the_words_of_the_package(session: Session, ratings: rb.Ratings) -> None:
    session.start("truth", tasks.fitted, rb.LogitICC(), ratings)

    job = finished(session)

    assert job.result is None
    assert "LogitICC" in job.failure
    assert "10" in job.failure


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SamplingError(f"tap: see {Path.home()}/secret/file"), "tap: see secret/file"),
        (ValueError("agreement must be at most 1."), "agreement must be at most 1."),
        (KeyError("/srv/secret"), "This should not happen, please report it: KeyError."),
        (MemoryError(), "There is not enough memory."),
    ],
)
def test_failures_name_no_folder_of_this_computer(error: Exception, text: str) -> None:
    assert worker.failure_text(error) == text


@pytest.mark.slow
def test_a_worker_that_is_killed_is_a_failure(session: Session) -> None:
    session.start("killed", os.abort)

    assert finished(session).failure == ENDED
    session.start("next", _double, 1)
    assert finished(session).result == 2


def test_a_session_ends_with_its_page() -> None:
    left = threading.Event()
    page = threading.Thread(target=left.wait)
    page.start()
    session = Session()
    session.keep(page)
    session.start("long", time.sleep, LONG)
    held = session._worker
    assert held is not None

    left.set()

    wait_until(lambda: session.job is None)
    assert held.process.poll() is not None


@pytest.mark.slow
def test_a_worker_ends_when_its_parent_is_killed(session: Session, ratings: rb.Ratings) -> None:
    running = long_job(session, ratings)
    held = session._worker
    assert held is not None
    assert held.process.stdin is not None

    held.process.stdin.close()  # as the system does when the parent has gone

    held.process.wait(LONG)
    wait_until(lambda: not any(each.is_running() for each in running))


def test_inside_a_browser_jobs_need_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    session, before = Session(), own_processes()
    session.keep(threading.current_thread())

    found = session.start("here", _double, 3)
    failed = session.start("here", _refuse)

    assert own_processes() == before
    assert (found.result, found.is_running) == (6, False)
    assert failed.failure == "no."


def test_inside_a_browser_models_that_need_stan_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    here = where_it_runs.refusal(rb.DawidSkene())
    monkeypatch.setattr(sys, "platform", "emscripten")

    assert here == ""
    assert where_it_runs.refusal(rb.GaussianICC()) == ""
    assert "DawidSkene is sampled by Stan" in where_it_runs.refusal(rb.DawidSkene())
    assert "inside your browser" in where_it_runs.privacy()


def test_the_page_says_where_ratings_go(monkeypatch: pytest.MonkeyPatch) -> None:
    here = where_it_runs.privacy()
    monkeypatch.setattr(where_it_runs, "_host", "0.0.0.0")

    assert here.startswith("Nothing leaves this computer")
    assert "the computer that serves this page" in where_it_runs.privacy()


def test_a_listener_hears_of_progress_that_nobody_switched_off() -> None:
    heard: list[tuple[str, float]] = []

    with progress_told(lambda *news: heard.append(news)):
        with progress_bar("a program", 200, lambda: 150, show=None) as update:
            update()
        with progress_bar("a pilot", 200, lambda: 150, show=False) as update:
            update()

    assert heard == [("a program", 0.75)]


def _double(number: int) -> int:
    return 2 * number


def _refuse() -> None:
    raise ValueError("no.")
