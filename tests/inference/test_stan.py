"""The driver of the sampler names failing chains, and obeys interrupts and time limits."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cmdstanpy
import numpy as np
import psutil
import pytest

import reliabayes as rb
from reliabayes.inference import stan
from reliabayes.inference.stan import Geometry
from tests.conftest import ROOT

ENDLESS = """
import numpy as np
import reliabayes as rb
ratings = rb.Ratings.from_wide(np.random.default_rng(1).normal(size=(40, 30)))
rb.GaussianICC().fit(ratings, seed=1, chains=2, draws=10_000_000)
"""


@pytest.fixture
def data() -> dict[str, Any]:
    ratings = rb.Ratings.from_wide(np.random.default_rng(1).normal(size=(8, 3)))
    return rb.GaussianICC().stan_data(ratings)


def sample(data: dict[str, Any], **options: Any) -> stan.Draws:
    settings: dict[str, Any] = {"chains": 2, "warmup": 100, "draws": 50, "seed": 1} | options
    inits = [{"sd_item": 1.0, "sd_rater": 1.0, "sd_residual": 1.0}] * settings["chains"]
    return stan.sample("gaussian_icc", data, **{"inits": inits} | settings)


def test_draws_are_grouped_by_chain(data: dict[str, Any]) -> None:
    drawn = sample(data)

    assert drawn.parameters["sd_item"].shape == (2, 50)
    assert drawn.statistics["energy"].shape == (2, 50)
    assert drawn.stan_version == "2.35.0"


def test_thinning_keeps_one_in_so_many_draws(data: dict[str, Any], tmp_path: Path) -> None:
    drawn = sample(data, draws=25, thinning=4, output_dir=tmp_path)

    assert drawn.parameters["sd_item"].shape == (2, 25)
    assert "num_samples = 100\n" in next(tmp_path.glob("*_1.csv")).read_text()


def test_chains_are_those_of_their_numbers(data: dict[str, Any]) -> None:
    every = sample(data).parameters["sd_item"]
    last = sample(data, chains=1, first_chain=1).parameters["sd_item"]

    np.testing.assert_array_equal(last[0], every[1])
    assert (last[0] != every[0]).all()


def test_given_metric_and_step_size_are_kept(data: dict[str, Any], tmp_path: Path) -> None:
    sample(data, geometry=Geometry(np.array([0.5, 0.25, 0.125]), 0.8), output_dir=tmp_path)

    text = next(tmp_path.glob("*_1.csv")).read_text()

    assert "# 0.5, 0.25, 0.125" in text.replace("0.5,0.25,0.125", "0.5, 0.25, 0.125")


def test_given_metric_and_step_size_need_no_warmup(data: dict[str, Any]) -> None:
    drawn = sample(data, warmup=0, geometry=Geometry(np.array([0.5, 0.25, 0.125]), 0.7))

    assert set(drawn.statistics["step_size"].ravel()) == {0.7}


def test_error_names_failing_chains_and_quotes_stan(data: dict[str, Any]) -> None:
    faulty = data | {"moment": data["moment"][:-1]}

    with pytest.raises(
        rb.SamplingError, match=r"gaussian_icc: chain [12, ]+ of 2 failed:"
    ) as caught:
        sample(faulty)

    message = str(caught.value)
    assert "moment" in message
    assert "RunSet" not in message


@pytest.mark.slow
def test_time_limit_stops_the_chains(data: dict[str, Any]) -> None:
    with pytest.raises(rb.SamplingError, match="gaussian_icc: the fit took longer than its time"):
        sample(data, draws=10_000_000, timeout=0.5)

    assert not chains_below(os.getpid())


def test_message_about_a_missing_program_says_how_to_fix_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(tmp_path))

    with pytest.raises(rb.SamplingError, match=r"'gaussian_icc' is not in .* pip install"):
        stan.load("gaussian_icc")


@pytest.fixture
def cmdstan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What a full CmdStan is asked for, with a cache of its own."""
    asked: dict[str, Any] = {}
    shutil.copytree(ROOT / "stan", tmp_path / "programs" / "source")
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(tmp_path / "programs"))
    monkeypatch.setenv("RELIABAYES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELIABAYES_CMDSTAN", "path/of/cmdstan")
    monkeypatch.setattr(cmdstanpy, "set_cmdstan_path", lambda path: asked.update(path=path))
    monkeypatch.setattr(cmdstanpy, "cmdstan_path", lambda: asked["path"])
    monkeypatch.setattr(cmdstanpy, "cmdstan_version", lambda: (2, 36))
    monkeypatch.setattr(cmdstanpy, "CmdStanModel", lambda **options: asked.update(options))
    return asked


def test_cmdstan_is_used_if_requested(cmdstan: dict[str, Any], tmp_path: Path) -> None:
    stan.load("gaussian_icc")

    assert cmdstan["path"] == "path/of/cmdstan"
    assert cmdstan["stan_file"].read_text() == (ROOT / "stan" / "gaussian_icc.stan").read_text()
    assert cmdstan["stan_file"].is_relative_to(tmp_path / "cache")
    assert cmdstan["user_header"].exists()
    assert cmdstan["stanc_options"]["allow-undefined"]


def test_sources_in_a_cache_that_others_can_write_are_not_compiled(cmdstan: dict[str, Any]) -> None:
    stan.load("gaussian_icc")
    program = cmdstan.pop("stan_file")
    stan.load("gaussian_icc")
    assert cmdstan.pop("stan_file") == program
    program.chmod(0o666)

    with pytest.raises(rb.SamplingError, match=r"gaussian_icc\.stan: .* by other users"):
        stan.load("gaussian_icc")

    assert "stan_file" not in cmdstan


def test_missing_cmdstan_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIABAYES_CMDSTAN", "no/such/folder")

    with pytest.raises(rb.SamplingError, match="RELIABAYES_CMDSTAN=no/such/folder: no CmdStan"):
        stan.load("gaussian_icc")


@pytest.mark.slow
def test_fits_in_threads_give_the_same_draws(data: dict[str, Any]) -> None:
    with ThreadPoolExecutor(3) as pool:
        drawn = list(pool.map(lambda _: sample(data), range(3)))

    assert len({drawn.parameters["sd_item"].sum() for drawn in drawn}) == 1


def test_two_fits_share_a_folder(data: dict[str, Any], tmp_path: Path) -> None:
    for _ in range(2):
        sample(data, output_dir=tmp_path)

    assert len(list(tmp_path.glob("*.csv"))) == 4


@contextlib.contextmanager
def endless_fit(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[psutil.Process]]]:
    """A process that fits without end, and its chains; all are ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process, wait_for_chains(process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.slow
def test_interrupting_only_the_parent_stops_the_chains(tmp_path: Path) -> None:
    with endless_fit(tmp_path) as (process, children):
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)

    assert process.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in stderr
    assert not still_running(children)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("reliabayes-")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere chains outlive a killed parent")
def test_killing_only_the_parent_ends_the_chains(tmp_path: Path) -> None:
    with endless_fit(tmp_path) as (process, children):
        process.kill()

        assert not still_running(children)


def still_running(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended after two minutes; whoever inherits them may not wait for them."""
    for _ in range(2400):
        if not (left := [each for each in processes if not has_ended(each)]):
            break
        time.sleep(0.05)
    return left


def has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE or not process.is_running()
    except psutil.NoSuchProcess:
        return True


def wait_for_chains(pid: int) -> list[psutil.Process]:
    for _ in range(2400):  # two minutes, where many processes run
        if found := chains_below(pid):
            return found
        time.sleep(0.05)
    raise AssertionError("no chain was started")


def chains_below(pid: int) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # the process has just ended
            if child.name() == "reliabayes-stan":
                found.append(child)
    return found
