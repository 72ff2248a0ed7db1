"""Chains end together, whatever happens, and what ended them is said."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import psutil
import pytest

import reliabayes as rb
from reliabayes.inference import gibbs, stan
from reliabayes.inference.processes import run_all
from tests.faults import files_of_at_most, fork, on_small_disk

SLEEP = ["sleep", "3600.7"]  # longer than any test waits


def drawn(_: int = 0, **options: Any) -> float:
    """Mean of some draws, in whatever process this runs."""
    ratings = rb.Ratings.from_wide(np.random.default_rng(1).normal(size=(8, 3)))
    data = rb.GaussianICC().stan_data(ratings)
    inits = [{"sd_item": 1.0, "sd_rater": 1.0, "sd_residual": 1.0}] * 2
    settings: dict[str, Any] = {"chains": 2, "warmup": 100, "draws": 50, "seed": 1, "inits": inits}
    draws = stan.sample("gaussian_icc", data, **settings | options)
    return float(draws.parameters["sd_item"].mean())


def logs(folder: Path, count: int) -> list[Path]:
    return [folder / f"log{at}" for at in range(count)]


def sleeping() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.cmdline() == SLEEP]


def test_the_first_failure_ends_the_others(tmp_path: Path) -> None:
    status = run_all([SLEEP, ["false"], SLEEP], logs(tmp_path, 3), at_once=2)

    assert status == [None, 1, None]
    assert sleeping() == []


def test_processes_run_one_after_the_other(tmp_path: Path) -> None:
    append = ["sh", "-c", f"echo start >> {tmp_path}/all; sleep 0.02; echo end >> {tmp_path}/all"]

    assert run_all([append] * 3, logs(tmp_path, 3), at_once=1) == [0, 0, 0]

    assert (tmp_path / "all").read_text().split() == ["start", "end"] * 3


def test_processes_one_after_the_other_share_the_time_limit(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        run_all([["sleep", "0.1"]] * 200, logs(tmp_path, 200), at_once=1, seconds=0.3)

    assert len(list(tmp_path.iterdir())) < 200


@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGTERM, signal.SIGHUP])
def test_an_exception_of_a_signal_handler_ends_all(tmp_path: Path, number: int) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(3)

    before = signal.signal(number, stop)
    try:
        with pytest.raises(SystemExit):
            run_all(
                [SLEEP] * 2,
                logs(tmp_path, 2),
                at_once=2,
                watch=lambda: os.kill(os.getpid(), number),
            )
    finally:
        signal.signal(number, before)

    assert sleeping() == []


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Replace the compiled program by a shell script."""

    def replace(script: str) -> None:
        path = tmp_path / "gaussian_icc"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("RELIABAYES_PROGRAMS", str(tmp_path))

    return replace


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("kill -9 $$", r"was ended by SIGKILL: .* memory runs out.*parallel_chains=1"),
        ("kill -11 $$", r"was ended by SIGSEGV: the program crashed"),
        ("kill -15 $$", r"was ended by SIGTERM: another program, or you, asked it"),
        (
            "echo libtbb.so.2: cannot open shared object file; exit 127",
            r"could not be started: libtbb.so.2: cannot open shared object file Install",
        ),
        ("exit 1", "failed: it gave no reason"),
        ("echo 'Exception: x'; kill -9 $$", "was ended by SIGKILL"),
    ],
)
def test_what_ended_a_chain_is_said(
    program: Callable[[str], None], script: str, message: str
) -> None:
    program(f'[ "$1" = id=1 ] && exec {" ".join(SLEEP)}; {script}')

    with pytest.raises(rb.SamplingError, match=rf"gaussian_icc: chain 2 of 2 {message}"):
        drawn()

    assert sleeping() == []


@pytest.mark.parametrize("limit", [100, 5_000])
def test_a_full_temporary_folder_is_said(limit: int) -> None:
    with (
        files_of_at_most(limit),
        pytest.raises(rb.SamplingError, match=r"there is no space left in .*reliabayes-.*TMPDIR"),
    ):
        drawn(draws=2000)


@pytest.mark.parametrize("size", [1, 5_000, 40_000])
def test_a_small_temporary_folder_is_said(size: int) -> None:
    def run(disk: Path) -> tuple[str, list[str]]:
        tempfile.tempdir = str(disk)
        with pytest.raises(rb.SamplingError) as raised:
            drawn(draws=2000)
        return str(raised.value), os.listdir(disk)

    message, left = on_small_disk(size, run)

    assert re.search(r"there is no space left in .*reliabayes-.*TMPDIR", message)
    assert left == []


def test_a_missing_temporary_folder_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))

    with pytest.raises(rb.SamplingError, match=r"could not be run: .*absent.*TMPDIR"):
        drawn()


@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_a_program_that_the_system_cannot_run_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    (tmp_path / "gaussian_icc").write_bytes(b"\0damaged")
    (tmp_path / "gaussian_icc").chmod(mode)
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(tmp_path))

    with pytest.raises(rb.SamplingError, match=r"program could not be started: .*Install relia"):
        drawn()


def test_a_start_that_stan_refuses_comes_with_its_reason() -> None:
    impossible = [{"sd_item": 1.0, "sd_rater": 1.0, "sd_residual": 0.0}] * 2

    with pytest.raises(rb.SamplingError, match=r"Initialization failed.*\s.*the residual sd"):
        drawn(inits=impossible)


@pytest.mark.slow
def test_a_forked_child_fits_after_its_parent() -> None:
    expected = drawn()
    child = fork()
    if child == 0:
        try:
            os._exit(0 if drawn() == expected else 1)
        finally:
            os._exit(2)

    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
def test_a_forked_child_that_exits_as_usual_leaves_its_parent_able_to_fit() -> None:
    expected = drawn()
    context = multiprocessing.get_context("fork")

    with context.Pool(2) as pool:
        found = pool.map_async(drawn, range(3)).get(timeout=120)

    assert [*found, drawn()] == [expected] * 4


@pytest.mark.slow
def test_spawned_processes_fit() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map_async(drawn, range(2)).get(timeout=120)

    assert found == [drawn()] * 2


@pytest.mark.proof
def test_workers_of_joblib_fit() -> None:
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(drawn)(at) for at in range(2))

    assert found == [drawn()] * 2


class Fits(BaseHTTPRequestHandler):
    """Answers each request with a fit, in a thread of its own."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(repr(drawn()).encode())

    def log_message(self, *_: object) -> None:
        pass


def answers(port: int, count: int) -> list[float]:
    """Answers to requests that are sent at once."""

    def ask(_: int) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=120) as answer:
            return float(answer.read())

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(ask, range(count)))


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Fits) as server:
        yield server


@pytest.mark.slow
def test_threads_of_a_web_server_fit(server: ThreadingHTTPServer) -> None:
    expected = drawn()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()

    found = answers(server.server_port, 3)
    server.shutdown()
    thread.join()

    assert found == [expected] * 3


@pytest.mark.slow
def test_forked_workers_of_a_web_server_fit_after_their_parent(
    server: ThreadingHTTPServer,
) -> None:
    expected = drawn()
    workers = []
    for _ in range(2):  # which share the socket, as those of gunicorn do
        worker = fork()
        if worker == 0:
            try:
                server.serve_forever(0.01)
            finally:
                os._exit(1)
        workers.append(worker)

    found = answers(server.server_port, 4)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)

    assert found == [expected] * 4


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # of few draws
@pytest.mark.parametrize("timeout", [1e300, np.float32(600), 600])
def test_any_finite_time_limit_will_do(timeout: float) -> None:
    ratings = rb.Ratings.from_wide(np.random.default_rng(1).normal(size=(40, 3)))

    fit = rb.GaussianICC().fit(ratings, seed=1, chains=1, draws=20, timeout=timeout)

    assert fit.settings.seed == 1


def test_the_time_limit_is_for_the_warm_start_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rating = np.random.default_rng(1).integers(1, 6, size=(30, 20))
    ratings = rb.Ratings.from_wide(rating, scale="nominal")
    chains = list[object]()
    monkeypatch.setattr(gibbs, "sample", lambda *_, **options: chains.append(options))

    with pytest.raises(rb.SamplingError, match="the fit took longer than its timeout"):
        rb.DawidSkene().fit(ratings, seed=1, timeout=1e-9)

    assert chains == []
