"""Log density of a compiled Stan program, and its gradient, at any points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import SamplingError
from reliabayes.inference import stan
from reliabayes.inference.chain_failures import failure, system_failure
from reliabayes.inference.commands import ALL_DIGITS, write_json
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
    return _evaluated(program, data, "unconstrained_params", [{"params_r": points}])


def log_gradients_at(
    program: str, data: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> tuple[Array, Array]:
    """The same at points (N,) of the parameters as the program declares them, by name."""
    return _evaluated(program, data, "constrained_params", points)


def _evaluated(
    program: str, data: Mapping[str, Any], kind: str, inputs: Sequence[Mapping[str, Any]]
) -> tuple[Array, Array]:
    """Log densities and gradients at each point, a command for each of the inputs."""
    executable, where = stan.executable_of(program), None
    try:
        with temporary_folder() as where:
            write_json(where / "data.json", data)
            outputs = [where / f"output_{at}.csv" for at in range(len(inputs))]
            logs = [where / f"log_{at}.txt" for at in range(len(inputs))]
            commands = []
            for at, (values, output) in enumerate(zip(inputs, outputs, strict=True)):
                write_json(where / f"points_{at}.json", values)
                command = [str(executable), "log_prob", f"{kind}={where}/points_{at}.json"]
                command += ["data", f"file={where}/data.json"]
                commands.append([*command, "output", f"file={output}", f"sig_figs={ALL_DIGITS}"])
            status = run_all(commands, logs, at_once=1, seconds=seconds_left())
            if any(status):
                raise SamplingError(f"{program}: log_prob: {failure(status, logs, where)}")
            tables = [pd.read_csv(output, comment="#").to_numpy(float) for output in outputs]
            table = np.concatenate(tables)
            return table[:, 0], table[:, 1:]
    except TimeoutError:  # the fit's, which says so
        raise
    except OSError as error:
        raise SamplingError(f"{program}: {system_failure(error, where, executable)}") from error
