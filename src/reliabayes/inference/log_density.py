"""Log density of a compiled Stan program, and its gradient, at any points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import SamplingError
from reliabayes.inference import stan
from reliabayes.inference.chain_failures import failure, system_failure
from reliabayes.inference.commands import write_json
from reliabayes.inference.processes import run_all
from reliabayes.inference.temporary import temporary_folder
from reliabayes.inference.time_limit import seconds_left


def log_densities(program: str, data: Mapping[str, Any], points: Array) -> Array:
    """Log density (N,) of a packaged program, as `log_gradients` has it."""
    return log_gradients(program, data, points)[0]


def log_gradients(program: str, data: Mapping[str, Any], points: Array) -> tuple[Array, Array]:
    """Log density of a packaged program at points of its unconstrained scale, and its gradient.

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
    log_density : array of shape (N,)
        In nats, with the Jacobian of the transform, as the sampler's ``lp``.
    gradient : array of shape (N, P)
        Its derivatives.

    Raises
    ------
    SamplingError
        The program failed.
    """
    executable, where = stan.executable_of(program), None
    try:
        with temporary_folder() as where:
            output, log = where / "output.csv", where / "log.txt"
            write_json(where / "data.json", data)
            write_json(where / "points.json", {"params_r": points})
            command = [str(executable), "log_prob"]
            command += [f"unconstrained_params={where}/points.json"]
            command += ["data", f"file={where}/data.json"]
            command += ["output", f"file={output}", "sig_figs=17"]
            status = run_all([command], [log], at_once=1, seconds=seconds_left())
            if any(status):
                raise SamplingError(f"{program}: log_prob: {failure(status, [log], where)}")
            table = pd.read_csv(output, comment="#").to_numpy(float)
            return table[:, 0], table[:, 1:]
    except TimeoutError:  # the fit's, which says so
        raise
    except OSError as error:
        raise SamplingError(f"{program}: {system_failure(error, where, executable)}") from error
