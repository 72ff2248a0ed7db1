"""The wheel works on any supported Python without a compiler or CmdStan."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.packaging

PROGRAMS = sorted(path.stem for path in (ROOT / "stan").glob("*.stan"))
INTERPRETERS = os.environ.get("RELIABAYES_INTERPRETERS", "").split() or [sys.executable]
TESTED_WITH = [
    *("hypothesis", "polars", "pyarrow", "pytest", "pytest-xdist", "zstandard"),
    *("hatchling", "httpstan==4.13.0"),  # to compile the test programs
    *("latex2mathml", "nbclient", "nbformat"),  # to read notebooks and the documentation
]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    return next(folder.glob("*.whl"))


def test_wheel_is_tagged_for_this_platform_and_any_python(wheel: Path) -> None:
    assert wheel.name.startswith("reliabayes-")
    assert "-py3-none-linux_" in wheel.name


def test_wheel_contains_executable_programs_and_their_sources(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}

    for name in PROGRAMS:
        assert modes[f"reliabayes/_stan/{name}"] & 0o111
        assert f"reliabayes/_stan/source/{name}.stan" in modes
    assert "reliabayes/_stan/libtbb.so.2" in modes
    assert {"reliabayes/py.typed", "reliabayes/data/shrout_fleiss_1979.csv"} <= set(modes)
    assert not [name for name in modes if name.endswith((".o", ".pyc"))]


def test_wheel_does_not_require_build_dependencies(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        required = [
            line
            for line in archive.read(name).decode().splitlines()
            if line.startswith("Requires-Dist") and "extra ==" not in line
        ]

    assert required
    assert not [line for line in required if "httpstan" in line or "hatch" in line]


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_wheel_works_in_a_fresh_environment_without_a_compiler(
    wheel: Path, tmp_path: Path, interpreter: str
) -> None:
    python = environment(tmp_path, interpreter)
    run(python, "-m", "pip", "install", "--quiet", wheel)
    bare = {"PATH": str(python.parent), "HOME": str(tmp_path)}

    shown = run(python.parent / "reliabayes", "demo", env=bare, cwd=tmp_path)

    assert "icc" in shown
    assert "sd_residual" in shown


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_tests_pass_on_the_installed_wheel(wheel: Path, tmp_path: Path, interpreter: str) -> None:
    python = environment(tmp_path, interpreter)
    run(python, "-m", "pip", "install", "--quiet", wheel, *TESTED_WITH)

    how = ["-q", "--numprocesses", "2", "--dist", "loadfile"]
    if interpreter != INTERPRETERS[-1]:  # the newest interpreter runs all tests
        how.append("--quick")
    output = run(python, "-m", "pytest", *how, ROOT / "tests", cwd=ROOT)

    assert " passed" in output


def test_editable_install_finds_its_programs(tmp_path: Path) -> None:
    python = environment(tmp_path, sys.executable)
    run(python, "-m", "pip", "install", "--quiet", "--editable", ROOT)

    shown = run(python.parent / "reliabayes", "demo", cwd=tmp_path)

    assert "icc" in shown
    assert not list((ROOT / "src").rglob("_stan"))


def environment(folder: Path, interpreter: str) -> Path:
    """Create a fresh environment and return its interpreter."""
    run(interpreter, "-m", "venv", folder / "venv")
    return folder / "venv" / "bin" / "python"


def run(*command: str | Path, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)}:\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)
