"""Log density of a compiled Stan program at points that the sampler has not been to."""

from __future__ import annotations

import math
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any

import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import SamplingError
from reliabayes.inference import stan
from reliabayes.inference.time_limit import seconds_left


def log_densities(program: str, data: Mapping[str, Any], points: Array) -> Array:
    """Log density of a packaged program at points of its unconstrained scale.

    Parameters
    ----------
    program : str
        Name of the program.
    data : mapping of str to Any
        Values by the names of its data block.
    points : array of shape (N, P)
        The points.

    Returns
    -------
    array of shape (N,)
        In nats, with the Jacobian of the transform, as the sampler's ``lp``.

    Raises
    ------
    SamplingError
        The program failed.
    """
    with tempfile.TemporaryDirectory(prefix="reliabayes-") as folder:
        stan.write_json(f"{folder}/data.json", dict(data))
        stan.write_json(f"{folder}/points.json", {"params_r": points})
        words = "log_prob unconstrained_params=points.json data file=data.json output sig_figs=17"
        command = [str(stan.executable_of(program)), *words.split()]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_seconds(), check=False
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        if done.returncode:
            raise SamplingError(f"{program}: log_prob failed: {done.stderr.strip()}")
        table = pd.read_csv(f"{folder}/output.csv", comment="#", usecols=["lp__"])
        return table["lp__"].to_numpy(float)


def _seconds() -> float | None:
    left = seconds_left()
    return left if math.isfinite(left) else None
