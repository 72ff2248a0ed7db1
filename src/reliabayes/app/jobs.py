"""Long computations of a session: one at a time, with progress, and cancelled without a trace."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reliabayes.app.where_it_runs import runs_stan
from reliabayes.app.worker import outcome

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

GENTLY = 2.0  # seconds that a cancelled worker has, to remove its temporary files
MOST_SECONDS = 120.0  # that the page waits for a table of the largest size to be read
TOO_LONG = "Reading this table takes too long. Use `reliabayes report` on the command line."
ENDED = "The computation ended before its time. Perhaps there is not enough memory."


@dataclass
class Job:
    """A computation.

    Attributes
    ----------
    name : str
        What it is for.
    title : str
        What runs now.
    done : float
        How much of that is done, from 0 to 1.
    result : Any
        The result, if there is one.
    failure : str
        Why there is none; empty if nothing failed.
    is_running : bool
        Whether it runs.
    """

    name: str
    title: str = ""
    done: float = 0.0
    result: Any = None
    failure: str = ""
    is_running: bool = True


class Session:
    """The process of a session, which computes one job at a time.

    Where there are no processes, as inside a browser, a job is computed when it is started.
    """

    def __init__(self) -> None:
        self.job: Job | None = None
        self._worker: _Worker | None = None
        self._is_closed = False

    def keep(self, thread: threading.Thread) -> None:
        """Stand ready until a thread has ended, in which the page runs, and then end everything.

        Parameters
        ----------
        thread : Thread
            The thread.
        """
        if not runs_stan():
            return
        self.prepare()

        def wait() -> None:
            thread.join()
            self.close()

        threading.Thread(target=wait, daemon=True).start()

    def prepare(self) -> None:
        """Start the process, which takes a second or two, before there is a job."""
        if runs_stan() and self._worker is None and not self._is_closed:
            self._worker = _Worker()

    def start(self, name: str, function: Callable[..., Any], *arguments: Any) -> Job:
        """Start a job, and cancel the one that runs.

        Parameters
        ----------
        name : str
            What it is for.
        function : callable
            A function of a module.
        *arguments : Any
            Its arguments.

        Returns
        -------
        Job
        """
        self.cancel()
        job = self.job = Job(name)
        if runs_stan():
            self.prepare()
            assert self._worker is not None
            self._worker.connection.send((function, arguments))
        else:
            _note(job, *outcome(function, arguments))
        return job

    def finished(self, function: Callable[..., Any], *arguments: Any) -> Job:
        """Do a job, cancel the one that runs, and wait for the end.

        Only the thread of this session waits, for at most `MOST_SECONDS`.

        Parameters
        ----------
        function : callable
            A function of a module.
        *arguments : Any
            Its arguments.

        Returns
        -------
        Job
            A job with a result or a failure.
        """
        job = self.start("", function, *arguments)
        until = time.monotonic() + MOST_SECONDS
        while job.is_running and self._worker is not None:
            if not self._worker.connection.poll(max(0.0, until - time.monotonic())):
                _note(job, "failure", TOO_LONG)
                self._end_worker()
            self.poll()
        self.job = None
        return job

    def poll(self) -> Job | None:
        """The job, brought up to date."""
        job, worker = self.job, self._worker
        if job is None or worker is None or not job.is_running:
            return job
        try:
            while job.is_running and worker.connection.poll():
                _note(job, *worker.connection.recv())
        except (EOFError, OSError):
            _note(job, "failure", ENDED)
            self._end_worker()
        return job

    def cancel(self) -> None:
        """End the job, its chains and its process; a new process stands ready."""
        if self.job is not None and self.job.is_running:
            self.job.is_running = False
            self._end_worker()
            self.prepare()
        self.job = None

    def close(self) -> None:
        """End everything, for good."""
        self._is_closed = True
        self._end_worker()
        self.job = None

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None


@dataclass
class _Worker:
    """A process that serves a connection."""

    connection: Connection = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        import multiprocessing  # no browser has it

        self.connection, there = multiprocessing.Pipe()
        with there:
            command = [sys.executable, "-m", "reliabayes.app.worker", str(there.fileno())]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[there.fileno()]
            )

    def end(self) -> None:
        """End it and its children: first with an interrupt, on which it tidies up."""
        import psutil  # no browser has it

        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(2)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GENTLY)
        self.process.kill()
        self.process.wait()
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()
        self.connection.close()
        if self.process.stdin is not None:
            self.process.stdin.close()


def _note(job: Job, kind: str, value: Any) -> None:
    if kind == "progress":
        job.title, job.done = value
        return
    job.is_running = False
    if kind == "result":
        job.result = value
    else:
        job.failure = value
