"""Command lines of a program's chains, and the files that they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.stan_csv import numbers_beside

MAX_DENSE = 80  # parameters up to which the sampler adapts a dense metric
ALL_DIGITS = 17  # with which numbers are written exactly
MESSAGES = 100  # of the progress of a chain
# Trajectories in a nearly normal posterior, in radians around its ellipses: after a quarter of a
# turn a draw of a normal one is independent of that before. Those of one length may come back.
TURN, JITTER = 2.0, 0.3
LONGEST_STEP = TURN * (1 + JITTER) / 2  # two steps, if as many are accepted
# Stan's gamma, of how steps are adapted: by 0.05 they swing from 0.1 to 1, and end too short.
TURN_SHRINKAGE = 0.2
STEP_SIZE_ONLY = ["init_buffer=0", "window=0", "term_buffer=0"]


class Geometry(NamedTuple):
    """Metric and first step of the sampler, on the unconstrained scale.

    Attributes
    ----------
    inverse_metric : array of shape (P,) or (P, P)
        Posterior variances, or covariances.
    step_size : float
        First step of NUTS, in units of the posterior standard deviations.
    mean : array of shape (P,) or None
        Of the normal distribution with these covariances, where it is close to the posterior:
        trajectories then follow its ellipses, for a random angle.
    adapt : bool
        Whether the metric is only a first guess, which the sampler improves on.
    max_tree_depth : int
        Largest depth of the trees of NUTS.
    """

    inverse_metric: Array
    step_size: float
    mean: Array | None = None
    adapt: bool = False
    max_tree_depth: int = 10

    @property
    def for_nuts(self) -> Geometry:
        """The same for trees of NUTS, which find covariances of few parameters, if not known."""
        adapts = self.mean is not None and self.has_few_variances
        return self._replace(mean=None, adapt=self.adapt or adapts)

    def with_trees(self, depth: int) -> Geometry:
        """The same for NUTS with trees of at least this largest depth, because others did not do.

        Variances of few parameters did not do either, and it finds all covariances.
        """
        return self._replace(
            mean=None,
            adapt=self.adapt or self.has_few_variances,
            max_tree_depth=max(self.max_tree_depth, depth),
        )

    def first_metric(self, *, adapted: bool) -> Array:
        """Variances or covariances that the sampler starts with; with few it adapts covariances."""
        metric = self.inverse_metric
        return np.diag(metric) if self.adapt and adapted and self.has_few_variances else metric

    @property
    def has_few_variances(self) -> bool:
        """Whether variances are all that is known of so few parameters that NUTS adapts more."""
        return self.inverse_metric.ndim == 1 and len(self.inverse_metric) <= MAX_DENSE


def sampler_commands(
    program: Path,
    inputs: Path,
    tables: Sequence[Path],
    data: Mapping[str, Any],
    inits: Sequence[Mapping[str, Any]],
    *,
    as_text: bool,
    warmup: int,
    draws: int,
    thinning: int,
    seed: int,
    geometries: Sequence[Geometry | None],
    rough: Mapping[str, Any] | None,
    acceptance: float,
    first_chain: int,
) -> list[list[str]]:
    """Write what the chains read, and return their command lines.

    Parameters
    ----------
    program : Path
        The executable, which takes CmdStan's arguments.
    inputs : Path
        Folder for the files that the chains read.
    tables : sequence of Path
        File for the draws of each chain.
    data, inits : mappings by the names in the program
        Data, and starting values of each chain.
    as_text : bool
        Whether tables have the numbers; if not, files beside them do, which are read sooner.
    geometries : sequence of Geometry or None
        Metric and first step of each chain, if known.
    warmup, draws, thinning, seed, rough, acceptance, first_chain
        As of `reliabayes.inference.stan.sample`, but draws before thinning.

    Returns
    -------
    list of list of str
        Program and arguments of each chain.
    """
    words = ["data", f"file={_written(inputs / 'data.json', data)}", "random", f"seed={seed}"]
    words += [
        "output",
        f"sig_figs={ALL_DIGITS}",
        f"refresh={max(MESSAGES, (warmup + draws) // MESSAGES)}",
    ]
    method = ["method=sample", f"num_samples={draws}", f"num_warmup={warmup}", f"thin={thinning}"]
    method += ["algorithm=hmc"]
    return [
        [
            str(program),
            f"id={chain}",
            *words,
            f"file={table}",
            *([] if as_text else [f"numbers_file={numbers_beside(table)}"]),
            f"init={_written(inputs / f'init_{chain}.json', init)}",
            *method,
            *_metric(inputs, chain, geometry, rough, adapted=warmup > 0),
            *_adaptation(geometry, acceptance, adapted=warmup > 0),
        ]
        for chain, (init, table, geometry) in enumerate(
            zip(inits, tables, geometries, strict=True), first_chain + 1
        )
    ]


def _metric(
    inputs: Path,
    chain: int,
    geometry: Geometry | None,
    rough: Mapping[str, Any] | None,
    *,
    adapted: bool,
) -> list[str]:
    """Arguments that start from a known metric."""
    if geometry is None:
        return []
    metric = geometry.first_metric(adapted=adapted)
    kind = "diag_e" if metric.ndim == 1 else "dense_e"
    if geometry.mean is None:
        known = {"inv_metric": metric}
        engine = ["engine=nuts", f"max_depth={geometry.max_tree_depth}"]
        step_size = float(geometry.step_size)
    else:
        known = {"inv_metric": metric, "mean": geometry.mean}
        engine, step_size = ["engine=static", f"int_time={TURN}"], LONGEST_STEP
        if rough is not None:
            engine.append(f"rough_data_file={_written(inputs / 'rough.json', rough)}")
        engine.append(f"stepsize_jitter={JITTER}")
    file = _written(inputs / f"metric_{chain}.json", known)
    return [*engine, f"stepsize={step_size}", f"metric={kind}", f"metric_file={file}"]


def _adaptation(geometry: Geometry | None, acceptance: float, *, adapted: bool) -> list[str]:
    """Arguments of the adaptation, which keeps a metric that is no mere guess."""
    if not adapted:
        return ["adapt", "engaged=0"]
    words = ["adapt", "engaged=1", f"delta={acceptance}"]
    if geometry is not None and not geometry.adapt:
        words += STEP_SIZE_ONLY
    if geometry is not None and geometry.mean is not None:
        words.append(f"gamma={TURN_SHRINKAGE}")
    return words


def cmdstanpy_arguments(
    data: Mapping[str, Any],
    inits: Sequence[Mapping[str, Any]],
    *,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    geometry: Geometry | None,
    acceptance: float,
    thinning: int,
) -> dict[str, Any]:
    """Arguments with which ``sample`` of cmdstanpy draws by NUTS as `sampler_commands` say."""
    words: dict[str, Any] = {
        "data": dict(data),
        "inits": [dict(init) for init in inits],
        "chains": chains,
        "seed": seed,
        "iter_warmup": warmup,
        "iter_sampling": draws * thinning,
        "thin": thinning,
        "adapt_engaged": warmup > 0,
        "sig_figs": ALL_DIGITS,
    }
    if warmup > 0:
        words["adapt_delta"] = acceptance
    if geometry is None:
        return words
    metric = geometry.first_metric(adapted=warmup > 0)
    words["metric"] = "diag_e" if metric.ndim == 1 else "dense_e"
    words["inv_metric"] = metric
    words["step_size"] = float(geometry.step_size)
    words["max_treedepth"] = geometry.max_tree_depth
    if warmup > 0 and not geometry.adapt:
        words |= {"adapt_init_phase": 0, "adapt_metric_window": 0, "adapt_step_size": 0}
    return words


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write values as Stan reads them."""
    import stanio  # no browser needs it

    # Its writing to files goes through another encoder, which takes twice as long.
    path.write_text(stanio.dump_stan_json(dict(values)))


def _written(path: Path, values: Mapping[str, Any]) -> Path:
    write_json(path, values)
    return path
