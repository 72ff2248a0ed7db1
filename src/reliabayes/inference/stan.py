"""Compiled Stan programs and their sampler; the only file that uses cmdstanpy."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import logging
import math
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import platformdirs
import psutil

from reliabayes.arrays import Array
from reliabayes.errors import SamplingError
from reliabayes.inference.progress import is_interactive

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "IProgress")  # tqdm's, in notebooks without ipywidgets
    import cmdstanpy

Result = TypeVar("Result")

write_json = cmdstanpy.write_stan_json

MAX_DENSE = 80  # parameters up to which the sampler adapts a dense metric

SAMPLER_COLUMNS = {  # of Stan's CSV -> names arviz gives them
    "lp__": "lp",
    "accept_stat__": "acceptance_rate",
    "stepsize__": "step_size",
    "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps",
    "divergent__": "diverging",
    "energy__": "energy",
}


class Geometry(NamedTuple):
    """Metric and first step of the sampler, on the unconstrained scale.

    Attributes
    ----------
    inverse_metric : array of shape (P,) or (P, P)
        Posterior variances, or covariances.
    step_size : float
        First step, in units of the posterior standard deviations.
    adapt : bool
        Whether the metric is only a first guess, which the sampler improves on.
    """

    inverse_metric: Array
    step_size: float
    adapt: bool = False


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of one run of the sampler, and how they were made.

    Attributes
    ----------
    parameters, statistics : mapping of str to array of shape (chains, draws, ...)
        Variables of the program, and the sampler's own, by name.
    max_tree_depth : int
        Largest depth of the trees of NUTS.
    stan_version : str
        Version of Stan, if it made them.
    """

    parameters: Mapping[str, Array]
    statistics: Mapping[str, Array]
    max_tree_depth: int = 0
    stan_version: str = ""


def sample(
    program: str,
    data: Mapping[str, Any],
    *,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    inits: Sequence[Mapping[str, Any]],
    geometry: Geometry | None = None,
    acceptance: float = 0.8,
    parallel_chains: int | None = None,
    progress: bool | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
) -> Draws:
    """Draws from the posterior of a packaged program by Stan's NUTS, one process a chain.

    Parameters
    ----------
    program : str
        Name of the program.
    data : mapping of str to Any
        Values by the names of its data block.
    chains, warmup, draws : int
        Markov chains, and the iterations of each, discarded and kept.
    seed : int
        Seed of all chains.
    inits : sequence of mapping of str to Any
        Starting values of each chain.
    geometry : Geometry, optional
        Metric and first step, if known.
    acceptance : float, default 0.8
        Acceptance rate that the step size is adapted to; closer to 1 for smaller, safer steps.
    parallel_chains : int, optional
        Chains run at once; by default as many as there are processors.
    progress : bool, optional
        Show progress bars; by default in terminals and notebooks.
    output_dir : path-like, optional
        Folder that keeps Stan's files; by default they are removed.
    timeout : float, optional
        Seconds that all chains together may take.

    Returns
    -------
    Draws

    Raises
    ------
    SamplingError
        A chain failed (the message names it, with Stan's message) or timed out.
    """
    model = load(program)
    with contextlib.ExitStack() as stack:
        folder = output_dir or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="reliabayes-")
        )
        folder = Path(folder).absolute()
        _make_folder(folder)
        progress = is_interactive() if progress is None else progress
        if progress:  # the bars' last line goes where the bars went
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        stack.enter_context(_silent)
        sampler = partial(
            model.sample,
            data=data,
            chains=chains,
            parallel_chains=parallel_chains,
            seed=seed,
            inits=list(inits),
            iter_warmup=warmup,
            iter_sampling=draws,
            adapt_engaged=warmup > 0,
            adapt_delta=acceptance if warmup > 0 else None,
            **_metric_arguments(geometry, adapted=warmup > 0),
            show_progress=progress,
            time_fmt="%Y%m%d%H%M%S%f",  # names of files: no two fits share a microsecond
            output_dir=folder,
            sig_figs=17,
        )
        try:
            result = _interruptible(sampler, folder, timeout)
        except TimeoutError as error:
            raise SamplingError(f"{program}: {error}") from error
        except RuntimeError as error:
            raise SamplingError(f"{program}: {_failure_message(error, chains)}") from error
        return _to_draws(result)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SamplingError(f"output_dir: cannot make the folder {folder}: {error}") from error


def _metric_arguments(geometry: Geometry | None, *, adapted: bool) -> dict[str, Any]:
    """Arguments that start from a known metric, and keep it unless it is to adapt."""
    if geometry is None:
        return {}
    metric = geometry.inverse_metric
    # With few parameters the sampler can adapt their covariances, too.
    if geometry.adapt and adapted and metric.ndim == 1 and len(metric) <= MAX_DENSE:
        metric = np.diag(metric)
    kept = adapted and not geometry.adapt
    phases = ("adapt_init_phase", "adapt_metric_window", "adapt_step_size") if kept else ()
    return {"inv_metric": metric, "step_size": geometry.step_size, **dict.fromkeys(phases, 0)}


def load(program: str) -> cmdstanpy.CmdStanModel:
    """Compiled program of the package; CmdStan's own where ``RELIABAYES_CMDSTAN`` asks for it."""
    if cmdstan := os.environ.get("RELIABAYES_CMDSTAN"):
        return _compile_with_cmdstan(program, cmdstan)
    executable = folder() / program
    if not executable.exists():
        raise SamplingError(
            f"The compiled Stan program {program!r} is not in {folder()}. It comes with "
            "installation: pip install reliabayes, or make in a checkout."
        )
    return cmdstanpy.CmdStanModel(exe_file=executable)


def folder() -> Path:
    """Folder of the compiled programs; ``RELIABAYES_PROGRAMS`` names another."""
    if chosen := os.environ.get("RELIABAYES_PROGRAMS"):
        return Path(chosen)
    # The installed files, which for an editable install are not beside the imported sources.
    installed = importlib.metadata.distribution("reliabayes")
    return Path(str(installed.locate_file("reliabayes/_stan")))


def _to_draws(result: cmdstanpy.CmdStanMCMC) -> Draws:
    chains = result.chains

    def by_chain(values: Array) -> Array:
        return values.reshape(chains, -1, *values.shape[1:])

    return Draws(
        parameters={name: by_chain(v) for name, v in result.stan_variables().items()},
        statistics={
            SAMPLER_COLUMNS[name]: np.ascontiguousarray(values.T)
            for name, values in result.method_variables().items()
        },
        max_tree_depth=int(result.metadata.cmdstan_config["max_depth"]),
        stan_version=".".join(
            str(result.metadata.cmdstan_config[f"stan_version_{part}"])
            for part in ("major", "minor", "patch")
        ),
    )


def _failure_message(error: RuntimeError, chains: int) -> str:
    """Stan's message without the driver's, and the chains that failed."""
    text = str(error).partition("Command and output files:")[0]
    lines = text.removeprefix("Error during sampling:").strip().splitlines()
    failed = re.search(r"retcodes=\[([^]]*)]", str(error))
    codes = failed[1].split(", ") if failed else []
    which = ", ".join(str(chain) for chain, code in enumerate(codes, start=1) if code != "0")
    failure = f"chain {which} of {chains} failed" if which else "sampling failed"
    return f"{failure}: " + "\n".join(dict.fromkeys(lines))


def _compile_with_cmdstan(program: str, cmdstan: str) -> cmdstanpy.CmdStanModel:
    """Program compiled by a full CmdStan, in a cache folder of its own for these sources."""
    try:
        if cmdstan != "1":
            cmdstanpy.set_cmdstan_path(cmdstan)
        path = cmdstanpy.cmdstan_path()
    except ValueError as error:
        raise SamplingError(
            f"RELIABAYES_CMDSTAN={cmdstan}: no CmdStan there: {error}. Unset the variable to use "
            "the compiled programs of the package."
        ) from error
    source = _cached_sources(folder() / "source", path)
    return cmdstanpy.CmdStanModel(
        stan_file=source / f"{program}.stan",
        stanc_options={"O1": True, "allow-undefined": True, "include-paths": [str(source)]},
        user_header=source / "cpp" / "densities.hpp",
    )


def _cached_sources(source: Path, cmdstan: str) -> Path:
    """Copy of a folder of sources, under the hash of their texts and of CmdStan's path."""
    texts = [path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file()]
    made_by = f"{cmdstan} {cmdstanpy.cmdstan_version()}".encode()
    digest = hashlib.sha256(b"\0".join([made_by, *texts])).hexdigest()
    chosen = os.environ.get("RELIABAYES_CACHE") or platformdirs.user_cache_dir("reliabayes")
    target = Path(chosen) / "cmdstan" / digest[:20]
    if not target.exists():
        partial = target.with_suffix(f".{os.getpid()}.partial")
        shutil.copytree(source, partial)
        try:
            partial.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(partial)
    return target


class _Silence(logging.Filter):
    """Keeps cmdstanpy's log from the user while any fit is running, in whatever thread."""

    def __init__(self) -> None:
        super().__init__()
        self.lock, self.running = threading.Lock(), 0
        logging.getLogger("cmdstanpy").addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        return self.running == 0

    def __enter__(self) -> None:
        with self.lock:
            self.running += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.running -= 1


_silent = _Silence()


def _interruptible(run: Callable[[], Result], output: Path, timeout: float | None) -> Result:
    """Result of ``run``; an interrupt, or the end of its time, also ends the chains it started.

    It runs in a thread of its own: a main thread that waits without limit may miss a signal.
    """
    others, end = _child_processes(), time.monotonic() + (math.inf if timeout is None else timeout)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        try:
            while not future.done():
                if time.monotonic() > end:
                    raise TimeoutError("the fit took longer than its timeout: raise it.")
                wait([future], timeout=0.05)
        except (KeyboardInterrupt, TimeoutError):
            # cmdstanpy starts a waiting chain as soon as one ends, so end them until it gives up.
            while not future.done():
                with contextlib.suppress(KeyboardInterrupt):
                    _terminate(_child_processes() - others, output)
                    wait([future], timeout=0.02)
            raise
    return future.result()


def _child_processes() -> set[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return set(psutil.Process().children())
    return set()


def _terminate(processes: Iterable[psutil.Process], output: Path) -> None:
    """End the processes that write into a folder; those of other fits go on."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if any(str(output) in argument for argument in process.cmdline()):
                process.terminate()
