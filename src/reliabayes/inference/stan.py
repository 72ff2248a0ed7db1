"""Compiled Stan programs and their sampler; cmdstanpy compiles and opens them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import secrets
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reliabayes.arrays import Array
from reliabayes.caches import private_folder, require_private_tree
from reliabayes.errors import SamplingError
from reliabayes.inference.chain_failures import failure, system_failure
from reliabayes.inference.commands import Geometry, sampler_commands
from reliabayes.inference.host import IN_BROWSER
from reliabayes.inference.iterations import iterations
from reliabayes.inference.processes import run_all
from reliabayes.inference.stan_csv import read_metric, read_settings, read_variables
from reliabayes.inference.temporary import temporary_folder
from reliabayes.inference.time_limit import TOO_LONG, seconds_left
from reliabayes.progress import progress_bar

if TYPE_CHECKING:
    import cmdstanpy

__all__ = ["Draws", "Geometry", "draws_of", "executable_of", "folder", "load", "sample"]

DEFAULT_DEPTH = 10  # of trees, if nothing is known of the posterior
SAMPLER_COLUMNS = {  # of Stan's CSV -> names arviz gives them
    "lp__": "lp",
    "accept_stat__": "acceptance_rate",
    "stepsize__": "step_size",
    "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps",
    "divergent__": "diverging",
    "energy__": "energy",
}


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of one run of the sampler, and how they were made.

    Attributes
    ----------
    parameters, statistics : mapping of str to array of shape (chains, draws, ...)
        Variables of the program, and the sampler's own, by name.
    max_tree_depth : int
        Largest depth of the trees of NUTS; 0 if it made none.
    stan_version : str
        Version of Stan, if it made them.
    adapted : tuple of Geometry
        Metric and step size of each chain of NUTS at its end, with which it can go on.
    iterations : int
        Sweeps of each chain of Gibbs sampling until its end.
    """

    parameters: Mapping[str, Array]
    statistics: Mapping[str, Array]
    max_tree_depth: int = 0
    stan_version: str = ""
    adapted: tuple[Geometry, ...] = ()
    iterations: int = 0


def sample(
    program: str,
    data: Mapping[str, Any],
    *,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    inits: Sequence[Mapping[str, Any]],
    geometry: Geometry | Sequence[Geometry] | None = None,
    rough: Mapping[str, Any] | None = None,
    acceptance: float = 0.8,
    thinning: int = 1,
    parallel_chains: int | None = None,
    progress: bool | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    timeout: float | None = None,
    first_chain: int = 0,
) -> Draws:
    """Draws from the posterior of a packaged program, one process a chain.

    By Stan's NUTS; where geometry says that the posterior is nearly normal, without trees, by
    trajectories along its ellipses.

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
    geometry : Geometry or sequence of Geometry, optional
        Metric and first step, if known; of each chain, if they are those of draws before.
    rough : mapping of str to Any, optional
        Data of a quicker density close to that of the program, whose gradient trajectories without
        trees follow between their ends.
    acceptance : float, default 0.8
        Acceptance rate that the step size is adapted to; closer to 1 for smaller, safer steps.
    thinning : int, default 1
        Iterations for each draw.
    parallel_chains : int, optional
        Chains run at once; by default as many as there are processors.
    progress : bool, optional
        Show progress bars; by default in terminals and notebooks.
    output_dir : path-like, optional
        Folder that keeps Stan's files; by default they are removed.
    timeout : float, optional
        Seconds that all chains together may take.
    first_chain : int, default 0
        Number of the first chain; each number has random numbers of its own.

    Returns
    -------
    Draws

    Raises
    ------
    SamplingError
        A chain failed (the message names it, with Stan's message) or timed out.
    """
    executable = executable_of(program)
    is_of_all = geometry is None or isinstance(geometry, Geometry)
    geometries: Any = [geometry] * chains if is_of_all else geometry
    if uses_cmdstan():
        geometries = [each and each.for_nuts for each in geometries]
    chosen = None if output_dir is None else _made(Path(output_dir).absolute())
    where = chosen
    try:
        with temporary_folder() as temporary:
            where = chosen or temporary
            # Named by time and chance: fits may share a folder.
            name = f"{program}-{datetime.now():%Y%m%d%H%M%S%f}-{secrets.token_hex(4)}"
            tables = [where / f"{name}_{chain + 1}.csv" for chain in range(chains)]
            logs = [where / f"{name}_{chain + 1}-stdout.txt" for chain in range(chains)]
            commands = sampler_commands(
                executable,
                temporary,
                tables,
                data,
                inits,
                as_text=chosen is not None or uses_cmdstan(),
                warmup=warmup,
                draws=draws * thinning,
                thinning=thinning,
                seed=seed,
                geometries=geometries,
                rough=rough,
                acceptance=acceptance,
                first_chain=first_chain,
            )
            total = chains * (warmup + draws * thinning)
            with progress_bar(program, total, lambda: iterations(logs), progress) as watch:
                status = run_all(
                    commands,
                    logs,
                    at_once=parallel_chains or os.cpu_count() or 1,
                    seconds=seconds_left(timeout),
                    watch=watch,
                )
            if any(status):
                raise SamplingError(f"{program}: {failure(status, logs, where)}")
            found = draws_of(read_variables(tables), read_settings(tables[0]))
            return replace(found, adapted=adapted_geometries(tables, geometries[0]))
    except TimeoutError as error:
        raise SamplingError(f"{program}: {TOO_LONG}") from error
    except OSError as error:
        raise SamplingError(f"{program}: {system_failure(error, where, executable)}") from error


def adapted_geometries(tables: Sequence[Path], first: Geometry | None) -> tuple[Geometry, ...]:
    """Metric and step size with which chains of NUTS have ended; none if there were no trees."""
    if first is not None and first.mean is not None:
        return ()
    depth = first.max_tree_depth if first else DEFAULT_DEPTH
    known = filter(None, map(read_metric, tables))
    return tuple(Geometry(*each, max_tree_depth=depth) for each in known)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SamplingError(f"output_dir: cannot make the folder {folder}: {error}") from error
    return folder


def draws_of(variables: Mapping[str, Array], settings: Mapping[str, str]) -> Draws:
    """Draws by the names in Stan's tables, whose settings are those at their heads."""
    known = {name: column for column, name in SAMPLER_COLUMNS.items() if column in variables}
    return Draws(
        parameters={name: x for name, x in variables.items() if not name.endswith("__")},
        statistics={
            name: variables[column].astype(bool if name == "diverging" else float, copy=False)
            for name, column in known.items()  # arviz selects draws by what diverges
        },
        max_tree_depth=int(settings.get("max_depth", 0)),
        stan_version=".".join(
            settings[f"stan_version_{part}"] for part in ("major", "minor", "patch")
        ),
    )


def uses_cmdstan() -> bool:
    """Whether programs are compiled by a full CmdStan, whose steps are NUTS's alone."""
    return bool(os.environ.get("RELIABAYES_CMDSTAN"))


def executable_of(program: str) -> Path:
    """Executable of a packaged program, or of one that CmdStan has compiled, as for `load`."""
    require_computer(f"The compiled Stan program {program!r}")
    if uses_cmdstan():
        return Path(str(load(program).exe_file))
    executable = folder() / program
    if not executable.exists():
        raise SamplingError(
            f"The compiled Stan program {program!r} is not in {folder()}. It comes with "
            "installation: pip install reliabayes, or make in a checkout."
        )
    return executable


def load(program: str) -> cmdstanpy.CmdStanModel:
    """Compiled program of the package; CmdStan's own where ``RELIABAYES_CMDSTAN`` asks for it."""
    if cmdstan := os.environ.get("RELIABAYES_CMDSTAN"):
        return _compile_with_cmdstan(program, cmdstan)
    model: cmdstanpy.CmdStanModel = _cmdstanpy().CmdStanModel(exe_file=executable_of(program))
    return model


def _cmdstanpy() -> Any:
    """The module, which is slow to import, and which a fit does not need."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress")  # tqdm's, in notebooks without ipywidgets
        import cmdstanpy
    return cmdstanpy


def require_computer(what: str) -> None:
    """Refuse what needs compiled code of the package where no process can start.

    Raises
    ------
    SamplingError
        This is a browser.
    """
    if IN_BROWSER:
        raise SamplingError(
            f"{what} cannot run in a browser. Install reliabayes on a computer: pip install "
            "reliabayes. A browser can fit GaussianICC, compute classical coefficients, and "
            "estimate true categories by em()."
        )


def folder() -> Path:
    """Folder of the compiled programs; ``RELIABAYES_PROGRAMS`` names another."""
    if chosen := os.environ.get("RELIABAYES_PROGRAMS"):
        return Path(chosen)
    # The installed files, which for an editable install are not beside the imported sources.
    installed = importlib.metadata.distribution("reliabayes")
    return Path(str(installed.locate_file("reliabayes/_stan")))


def _compile_with_cmdstan(program: str, cmdstan: str) -> cmdstanpy.CmdStanModel:
    """Program compiled by a full CmdStan, in a cache folder of its own for these sources."""
    driver = _cmdstanpy()
    try:
        if cmdstan != "1":
            driver.set_cmdstan_path(cmdstan)
        path = driver.cmdstan_path()
    except ValueError as error:
        raise SamplingError(
            f"RELIABAYES_CMDSTAN={cmdstan}: no CmdStan there: {error}. Unset the variable to use "
            "the compiled programs of the package."
        ) from error
    try:
        source = _cached_sources(folder() / "source", path)
    except PermissionError as error:
        raise SamplingError(str(error)) from error
    model: cmdstanpy.CmdStanModel = driver.CmdStanModel(
        stan_file=source / f"{program}.stan",
        stanc_options={"O1": True, "allow-undefined": True, "include-paths": [str(source)]},
        user_header=source / "cpp" / "densities.hpp",
    )
    return model


def _cached_sources(source: Path, cmdstan: str) -> Path:
    """Copy of a folder of sources, under the hash of their texts and of CmdStan's path."""
    import platformdirs

    texts = [path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file()]
    made_by = f"{cmdstan} {_cmdstanpy().cmdstan_version()}".encode()
    digest = hashlib.sha256(b"\0".join([made_by, *texts])).hexdigest()
    chosen = os.environ.get("RELIABAYES_CACHE") or platformdirs.user_cache_dir("reliabayes")
    target = private_folder(Path(chosen) / "cmdstan") / digest[:20]
    if target.exists():
        require_private_tree(target)  # CmdStan compiles it, and keeps programs beside the sources
    else:
        partial = target.with_suffix(f".{os.getpid()}.partial")
        shutil.copytree(source, partial)
        try:
            partial.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(partial)
    return target
