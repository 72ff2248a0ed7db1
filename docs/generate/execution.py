"""Outputs of notebooks and examples, made when the site is built.

They are kept in ``build/docs`` until the package, or what is executed, changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
from joblib import Memory  # type: ignore[import-untyped]
from nbclient import NotebookClient

import reliabayes as rb

from .files import ROOT

MEMORY = Memory(ROOT / "build" / "docs", verbose=0)
SOURCES = ("src", "stan")  # what outputs depend on
MODES: Mapping[str, tuple[str, str]] = {  # foreground and background, as on the pages
    "light": ("#1b1f27", "#ffffff"),
    "dark": ("#e2e4e9", "#1e2129"),
}
FOREGROUND = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")
BACKGROUND = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
OF_NOTEBOOKS = "figure.dpi: 144\n"  # settings of matplotlib: sharp on all screens


@cache
def version() -> str:
    """Hash of the package's sources, for results that are kept."""
    found = hashlib.sha256()
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*")):
        if path.suffix in (".py", ".toml", ".csv", ".html", ".css", ".js") or "stan" in path.parts:
            found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


@MEMORY.cache(ignore=["limit"])  # type: ignore[untyped-decorator]
def notebook_outputs(
    text: str, version: str, limit: float | None = None
) -> list[list[dict[str, Any]]]:
    """Outputs of each cell of a notebook, of any kind of cell; ``limit`` is in seconds for all."""
    notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder, _environment(folder):
        client = NotebookClient(notebook, resources={"metadata": {"path": folder}})
        asyncio.run(asyncio.wait_for(client.async_execute(), limit))
    return [[dict(output) for output in cell.get("outputs", [])] for cell in notebook.cells]


@MEMORY.cache  # type: ignore[untyped-decorator]
def printed_and_drawn(code: str, call: str, version: str) -> tuple[str, dict[str, bytes]]:
    """What code prints, and the plot that a call on its variables draws, by mode."""
    made: dict[str, Any] = {"rb": rb}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, made)
    return printed.getvalue(), {mode: drawn(call, made, mode)[1] for mode in MODES}


def drawn(call: str, made: dict[str, Any], mode: str) -> tuple[str, bytes]:
    """Title of the plot that a call draws, and its image, in light or dark mode."""
    mpl.use("Agg")
    foreground, background = MODES[mode]
    style: Any = dict.fromkeys(FOREGROUND, foreground) | dict.fromkeys(BACKGROUND, background)
    with mpl.rc_context(style):
        ax = eval(call, made)
        content = io.BytesIO()
        ax.figure.savefig(content, dpi=160, metadata={"Software": None})
        plt.close(ax.figure)
    return ax.get_title(loc="left").replace("\n", " "), content.getvalue()


def pictures(path: str, description: str) -> str:
    """Both images of a plot, of which the page shows one; ``path`` is without mode and suffix."""
    return "\n".join(
        f"![{description}]({path}_{mode}.png#only-{mode}){{ .picture }}" for mode in MODES
    )


def absent_data(text: str) -> Sequence[str]:
    """Names of the data sets that a text loads and that are not on this machine."""
    named = [name for name in rb.datasets.names() if f'"{name}"' in text]
    return [name for name in named if not _is_there(name)]


def _is_there(name: str) -> bool:
    try:
        rb.datasets.load(name)
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def _environment(folder: str) -> Any:
    """Settings of matplotlib for a kernel, and none of the user's for IPython."""
    settings = Path(folder, "matplotlibrc")
    settings.write_text(OF_NOTEBOOKS)
    changed = {"MATPLOTLIBRC": str(settings), "IPYTHONDIR": folder}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
