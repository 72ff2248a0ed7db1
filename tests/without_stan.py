"""A Python process such as a browser has: WebAssembly without processes, threads and Stan."""

from __future__ import annotations

import subprocess
import sys

# What the package does without in a browser: what no wheel of Pyodide has, or is slow to load.
REFUSED = (
    "arviz",
    "cmdstanpy",
    "h5netcdf",
    "h5py",
    "jinja2",
    "joblib",
    "matplotlib",
    "numba",
    "platformdirs",
    "pooch",
    "psutil",
    "rich",
    "stanio",
    "tqdm",
    "typer",
)
PRELUDE = f"""
import sys
import threading


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {REFUSED!r} or name == "fcntl":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


def refuse_to_start(*args, **options):
    raise RuntimeError("can't start new thread")


sys.meta_path.insert(0, Refuse())
import pandas, scipy.sparse  # of this machine

sys.platform = "wasi"
threading.Thread.start = refuse_to_start
"""


def run(code: str) -> str:
    """Output of code in such a process.

    Raises
    ------
    AssertionError
        It failed.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
