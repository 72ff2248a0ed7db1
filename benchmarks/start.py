"""CPU seconds of small commands, imports and all: how long a first answer takes.

Any environment will do: ``python -m benchmarks.start PYTHON``; dask and others that xarray imports
where they are installed count.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

ITEMS, RATERS, ACCURACY = 200, 5, 0.75
RUNS = 5  # of which the shortest counts
COMMANDS = (
    '-c "import pandas"',
    '-c "import reliabayes"',
    "--help",
    "fit numbers.csv --model gaussian-icc",
    "fit labels.csv --model dawid-skene",
    "report numbers.csv --models gaussian-icc",
)


def main(python: str) -> None:
    """Print a row for each command.

    Parameters
    ----------
    python : str
        That of an environment with reliabayes.
    """
    with TemporaryDirectory() as folder:
        write_tables(Path(folder))
        for command in COMMANDS:
            shortest = min(_seconds(python, command, folder) for _ in range(RUNS))
            print(f"| `{command}` | {shortest:.2f} |", flush=True)


def write_tables(folder: Path) -> None:
    """Write a thousand numbers and a thousand labels.

    Parameters
    ----------
    folder : Path
        Where to.
    """
    rng = np.random.default_rng(1)
    item, rater = np.divmod(np.arange(ITEMS * RATERS), RATERS)
    effects = rng.normal(size=ITEMS)[item] + 0.5 * rng.normal(size=RATERS)[rater]
    truth = rng.integers(0, 3, ITEMS)[item]
    guesses = rng.integers(0, 3, len(item))
    labels = np.where(rng.random(len(item)) < ACCURACY, truth, guesses)
    design = pd.DataFrame({"item": item, "rater": rater})
    numbers = design.assign(rating=effects + rng.normal(size=len(item)))
    numbers.to_csv(folder / "numbers.csv", index=False)
    design.assign(rating=np.array([*"abc"])[labels]).to_csv(folder / "labels.csv", index=False)


def _seconds(python: str, command: str, folder: str) -> float:
    """CPU seconds of a process and those that it starts."""
    program = "" if command.startswith("-c") else "-c 'from reliabayes.cli import main; main()'"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        f"{python} {program} {command}", shell=True, cwd=folder, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
