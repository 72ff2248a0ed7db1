"""Seconds that one gradient takes, as a Stan program itself counts them."""

from __future__ import annotations

import csv
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cmdstanpy

DEPTH = 7  # one trajectory of 2^7 - 1 steps, each a gradient
STEP = 1e-5  # so small that no trajectory turns back sooner


def seconds_per_gradient(program: Path, data: Mapping[str, Any], start: Mapping[str, Any]) -> float:
    """Time of one trajectory over its number of leapfrog steps: no warmup, one draw written."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.json") for name in ("data", "start")}
        cmdstanpy.write_stan_json(str(files["data"]), data)
        cmdstanpy.write_stan_json(str(files["start"]), start)
        draws = Path(folder, "draws.csv")
        subprocess.run(
            [
                program,
                *("sample", "num_warmup=0", "num_samples=1", "adapt", "engaged=0"),
                *("algorithm=hmc", "engine=nuts", f"max_depth={DEPTH}", f"stepsize={STEP}"),
                *("data", f"file={files['data']}", f"init={files['start']}"),
                *("random", "seed=1", "output", f"file={draws}"),
            ],
            check=True,
            capture_output=True,
        )
        return _read(draws.read_text())


def _read(written: str) -> float:
    lines = [line for line in written.splitlines() if not line.startswith("#")]
    steps = sum(int(draw["n_leapfrog__"]) for draw in csv.DictReader(lines))
    sampling = re.search(r"([\d.e+-]+) seconds \(Sampling\)", written)
    if sampling is None:
        raise ValueError("the program did not write how long it sampled")
    return float(sampling[1]) / steps
