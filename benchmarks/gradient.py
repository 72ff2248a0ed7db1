"""Time of one gradient, as reported by a Stan program."""

from __future__ import annotations

import csv
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cmdstanpy

TREE_DEPTH = 7  # a trajectory of 2^7 - 1 leapfrog steps, each with one gradient
STEP_SIZE = 1e-5  # small enough to prevent a U-turn before the largest tree depth


def seconds_per_gradient(program: Path, data: Mapping[str, Any], start: Mapping[str, Any]) -> float:
    """Seconds of one trajectory without warmup, divided by its number of leapfrog steps."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.json") for name in ("data", "start")}
        cmdstanpy.write_stan_json(str(files["data"]), data)
        cmdstanpy.write_stan_json(str(files["start"]), start)
        draws = Path(folder, "draws.csv")
        subprocess.run(
            [
                program,
                *("sample", "num_warmup=0", "num_samples=1", "adapt", "engaged=0"),
                *("algorithm=hmc", "engine=nuts"),
                *(f"max_depth={TREE_DEPTH}", f"stepsize={STEP_SIZE}"),
                *("data", f"file={files['data']}", f"init={files['start']}"),
                *("random", "seed=1", "output", f"file={draws}"),
            ],
            check=True,
            capture_output=True,
        )
        return _seconds_per_step(draws.read_text())


def _seconds_per_step(written: str) -> float:
    lines = [line for line in written.splitlines() if not line.startswith("#")]
    steps = sum(int(draw["n_leapfrog__"]) for draw in csv.DictReader(lines))
    sampling = re.search(r"([\d.e+-]+) seconds \(Sampling\)", written)
    if sampling is None:
        raise ValueError("the program did not report its sampling time")
    return float(sampling[1]) / steps
