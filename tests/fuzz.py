"""Random bad input to every way in: each is to be answered, or refused with a clear error.

``make fuzz`` runs all for ten minutes; ``python -m tests.fuzz --seed 5 --examples 1000`` repeats a
run. The suite has a short tier of the same.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli.app import app
from reliabayes.inference import stan

SLOW, HOPELESS = 5.0, 60.0  # seconds
OF_FITS = (rb.RatingsError, rb.SamplingError, ValueError, TypeError)
WORDS = [
    "",
    " ",
    "a",
    "a ",
    "á",
    "a\u0301",
    "1",
    "01",
    "1e999",
    "nan",
    "None",
    "True",
    "\0",
    "\x1b[31m",
]
WORDS += [
    "a" * 5000,
    '"',
    "'",
    ",",
    ";",
    "\n",
    "\r",
    "\t",
    "=1+1",
    "-",
    "--",
    "../x",
    "\ud800",
    "💥",
]
NUMBERS: list[Any] = [
    0,
    1,
    2,
    3,
    -1,
    2**31,
    2**53,
    2**63,
    2**64,
    10**400,
    0.5,
    1e-320,
    1e200,
    1e308,
    -0.0,
]
NUMBERS += [float("nan"), float("inf"), float("-inf"), True, False, 1j]
OTHERS = [None, b"a", [1], (1, 2), {"a": 1}, {1, 2}, frozenset({1}), object(), pd.NaT, pd.NA]
SUFFIXES = [
    *[".csv"] * 9,
    ".tsv",
    ".txt",
    ".csv.gz",
    ".csv.zip",
    ".csv.xz",
    ".csv.bz2",
    ".parquet",
    ".x",
]
TEXT = b"item,rater,rating\na,x,1\na,y,2\nb,x,4\nb,y,4\nc,x,1\nc,y,1\n"

word = st.sampled_from(WORDS) | st.text(max_size=6)
number = st.sampled_from(NUMBERS) | st.integers(-5, 5) | st.floats()
anything = word | number | st.sampled_from(OTHERS)
column = st.sampled_from([word, st.sampled_from("ab"), number, st.integers(0, 3), anything])


class Hang(BaseException):
    """An example took too long."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what takes longer; code that never returns to Python ends the run, with a traceback."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    faulthandler.dump_traceback_later(HOPELESS, exit=True, file=2)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again, as Python may lose an exception
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


@dataclass
class Outcomes:
    """How many examples of each door were answered, refused, or went wrong, and those that did."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def of(
        self,
        door: str,
        example: object,
        run: Callable[[], object],
        refusals: tuple[type[Exception], ...] = (rb.RatingsError,),
    ) -> None:
        started, outcome = time.monotonic(), "answered"
        try:
            with warnings.catch_warnings(), at_most(SLOW):
                warnings.simplefilter("ignore")
                run()
        except Hang:
            outcome = f"hang: ended after {SLOW:.0f} s"
        except refusals as error:
            outcome = "refused" if str(error) else "refused without a word"
        except Exception as error:
            outcome = f"stray {type(error).__name__}: {error}"[:200]
        if outcome in ("answered", "refused") and time.monotonic() - started > SLOW:
            outcome = f"slow: {time.monotonic() - started:.0f} s"
        self.counts[f"{door}: {outcome.partition(':')[0]}"] += 1
        if outcome not in ("answered", "refused"):
            self.wrong.append(f"{door}: {outcome}\n    {str(example)[:500]!r}")


def options(data: Any) -> dict[str, Any]:
    """Some options of the ways in, right or wrong."""
    possible: dict[str, Any] = {
        "scale": st.sampled_from([None, "nominal", "ordered", "numeric", "x", 5, []]),
        "categories": st.none() | st.lists(anything, max_size=4) | anything,
        "replicates": st.sampled_from(["error", "keep", "x", {}]),
        "twins": st.sampled_from(["error", "join", "x", []]),
        "item": st.just("item") | anything,
        "facets": st.lists(st.just("pool") | anything, max_size=3) | anything,
    }
    names = data.draw(st.sets(st.sampled_from(sorted(possible)), max_size=2))
    return {name: data.draw(possible[name]) for name in sorted(names)}


def frame(data: Any, outcomes: Outcomes) -> None:
    size = data.draw(st.integers(0, 8))
    others = data.draw(st.sampled_from([[], ["pool"], ["gold"], ["day"], ["day", "form"]]))
    names = ["item", "rater", "rating", *others]
    cells = {
        name: data.draw(st.lists(data.draw(column), min_size=size, max_size=size)) for name in names
    }
    try:
        table = pd.DataFrame({name: pd.Series(own) for name, own in cells.items()})
        if data.draw(st.booleans()):
            table = table.astype({data.draw(st.sampled_from(names)): "category"})
    except Exception:  # pandas cannot hold it
        hypothesis.reject()
    are_facets = "day" in others
    chosen = options(data) | ({"facets": others} if are_facets else {name: name for name in others})
    outcomes.of(
        "from_frame",
        (cells, chosen),
        lambda: rb.Ratings.from_frame(table, **chosen).describe(),
    )


def array(data: Any, outcomes: Outcomes) -> None:
    rows, columns = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    size = rows * columns
    cells = data.draw(st.lists(data.draw(column), min_size=size, max_size=size))
    table = np.empty(size, object)
    table[:] = cells
    table = table.reshape(rows, columns)
    chosen = {k: v for k, v in options(data).items() if k not in ("replicates", "facets")}
    make = data.draw(st.sampled_from([rb.Ratings.from_wide, rb.Ratings.from_counts]))
    if make == rb.Ratings.from_counts:
        chosen.pop("twins", None)
    outcomes.of(make.__name__, (cells, rows, chosen), lambda: make(table, **chosen).describe())


def file(data: Any, folder: Path) -> Path:
    """A file with whole, damaged or random content."""
    path = folder / f"r{data.draw(st.sampled_from(SUFFIXES))}"
    content = bytearray(TEXT)
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(content)))
        new = data.draw(word).encode("utf-8", "surrogatepass")
        content[place : place + data.draw(st.integers(0, 20))] = new
    if data.draw(st.integers(0, 9)) == 0:
        content = bytearray(data.draw(st.binary(max_size=50)))
    path.write_bytes(content)
    return path


def read(data: Any, outcomes: Outcomes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = file(data, Path(folder))
        chosen = options(data)
        if data.draw(st.integers(0, 3)) == 0:
            chosen["delimiter"] = data.draw(st.sampled_from([",", ";", "\t"]) | anything)
        if data.draw(st.integers(0, 3)) == 0:
            chosen["encoding"] = data.draw(st.sampled_from(["utf-8", "utf-16", "idna"]) | anything)
        if data.draw(st.booleans()):
            chosen["shape"] = data.draw(st.sampled_from(["wide", "long", None, 5]))
            chosen["decimal"] = data.draw(st.sampled_from([",", ".", None]) | anything)
        example = (path.name, path.read_bytes(), chosen)
        outcomes.of("read_ratings", example, lambda: rb.read_ratings(path, **chosen).describe())


def command(data: Any, outcomes: Outcomes) -> None:
    # In a folder of its own, because `--json` may name any file.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = file(data, Path(folder))
        words = [*data.draw(st.sampled_from(COMMANDS))]
        words = [x.replace("FILE", str(path)).replace("OUT", f"{folder}/out") for x in words]
        for _ in range(data.draw(st.integers(0, 2))):
            words += [data.draw(st.sampled_from(OPTIONS)), data.draw(word)]
        outcomes.of("command line", (words, path.read_bytes()), lambda: _run(words), (ValueError,))


COMMANDS = [
    ["describe", "FILE"],
    ["agree", "FILE", "--bootstrap", "2", "--json", "OUT"],
    ["fit", "FILE", "--model", "dawid-skene", "--method", "em", "--items", "OUT"],
    ["simulate", "--agreement", "0.5", "--items", "5", "--out", "OUT"],
]
OPTIONS = ["--item", "--rating", "--scale", "--categories", "--delimiter", "--encoding", "--pool"]
OPTIONS += [
    "--json",
    "--seed",
    "--model",
    "--prob",
    "--distribution",
    "--guideline",
    "--replicates",
    "--twins",
    "--shape",
    "--decimal",
    "--facet",
]


def _run(words: list[str]) -> None:
    result = CliRunner().invoke(app, words)
    is_bad = not isinstance(result.exception, (SystemExit, type(None)))
    if is_bad or "should not happen" in result.output or "Traceback" in result.output:
        raise RuntimeError(f"{result.exception!r} {result.output[-200:]}")
    if result.exit_code and not result.output.strip():
        raise RuntimeError("no message")
    if result.exit_code:
        raise ValueError(result.output)


def load(data: Any, outcomes: Outcomes) -> None:
    content = bytearray(_saved())
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "random"]))
    place = data.draw(st.integers(0, len(content) - 1))
    if kind == "flip":
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del content[place:]
    elif kind == "insert":
        content[place:place] = data.draw(st.binary(min_size=1, max_size=9))
    else:
        content = bytearray(data.draw(st.binary(max_size=200)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fit.nc")
        path.write_bytes(content)

        def run() -> None:
            rb.Fit.load(path)
            raise AssertionError("it was loaded")

        outcomes.of("Fit.load", (kind, place), run, (ValueError,))


def runner(data: Any, outcomes: Outcomes) -> None:
    """Arguments and data of the compiled program, which must refuse them and never crash."""
    with tempfile.TemporaryDirectory() as folder:
        values: dict[str, Any] = json.loads(json.dumps(_stan_data(), default=np.ndarray.tolist))
        name = data.draw(st.sampled_from(sorted(values)))
        wrong: list[Any] = [
            None,
            -1,
            0,
            2**40,
            1e300,
            "a",
            [],
            [[]],
            [1, 2],
            {"a": 1},
            [None],
            True,
        ]
        values[name] = data.draw(st.sampled_from(wrong))
        text = json.dumps(values)
        text = text[: data.draw(st.sampled_from([None, 5, len(text) // 2]))]
        Path(folder, "data.json").write_text(text)
        words = ["sample", "num_samples=3", "num_warmup=3", "data", "file=data.json"]
        for _ in range(data.draw(st.integers(0, 2))):
            new = data.draw(
                st.sampled_from(["sample", "id=-1", "adapt", "metric=x", "output"]) | word
            )
            words.insert(data.draw(st.integers(0, len(words))), new.replace("\0", ""))

        def run() -> None:
            executable = str(stan.executable_of("gaussian_icc"))
            encoded = [each.encode("utf-8", "surrogatepass") for each in words]
            done = subprocess.run([executable, *encoded], cwd=folder, capture_output=True)
            if done.returncode not in (0, 1):
                raise RuntimeError(f"status {done.returncode}")
            if done.returncode:
                raise ValueError(done.stderr or done.stdout)

        outcomes.of("program", (words, name, values[name]), run, (ValueError,))


def arguments(data: Any, outcomes: Outcomes) -> None:
    """Arguments of a fit; those that are right are few and small."""
    possible: dict[str, Any] = {
        "chains": anything,
        "draws": st.sampled_from([*OTHERS, "a", -1, 0, 3, 4, 1.5, True, 2**40]),
        "warmup": st.sampled_from([*OTHERS, "a", -1, 1.5, True, 10, 2**40]),
        "seed": anything,
        "timeout": anything,
        "parallel_chains": anything,
        "warm_start": anything,
    }
    chosen: dict[str, Any] = {"chains": 1, "draws": 4, "warmup": 4, "progress": False}
    for name in data.draw(st.lists(st.sampled_from(sorted(possible)), min_size=1, max_size=2)):
        chosen[name] = data.draw(possible[name])
    outcomes.of("fit", chosen, lambda: rb.GaussianICC().fit(_ratings(), **chosen), OF_FITS)


DOORS = (frame, array, read, command, load, runner, arguments)


def fuzz(door: Callable[[Any, Outcomes], None], examples: int, seed: int) -> Outcomes:
    """Try a way in with so many random examples."""
    outcomes = Outcomes()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.data())
    def run(data: Any) -> None:
        door(data, outcomes)

    run()
    return outcomes


@cache
def _ratings() -> rb.Ratings:
    return rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))


@cache
def _stan_data() -> dict[str, Any]:
    return rb.GaussianICC().stan_data(_ratings())


@cache
def _saved() -> bytes:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "fit.nc")
        rb.GaussianICC().fit(_ratings(), seed=1, chains=1, draws=10, progress=False).save(path)
        return path.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument(
        "--examples", type=int, help="of each way in; by default until the time is over"
    )
    parser.add_argument("--minutes", type=float, default=10)
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    end, total = time.monotonic() + 60 * given.minutes, Outcomes()
    for turn in range(1 if given.examples else 10**6):
        for door in DOORS:
            found = fuzz(door, given.examples or 100, given.seed + turn)
            total.counts.update(found.counts)
            total.wrong += found.wrong
        if time.monotonic() > end:
            break
    for outcome, count in sorted(total.counts.items()):
        print(f"{count:7} {outcome}")
    print("\n".join(dict.fromkeys(total.wrong)))
    sys.exit(bool(total.wrong))


if __name__ == "__main__":
    main()
