"""The build compiles once, reuses its objects, and names what is missing."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hatch_build
from hatch_build import (
    CPP,
    STAN,
    BuildError,
    Toolchain,
    Unit,
    build,
    densities_of,
    registered,
    started,
    sums_of,
    units_of,
)
from tests.conftest import build_programs


@pytest.fixture(scope="module")
def rebuilt(compiled: object, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Programs that were built a second time and then moved, and the commands of this build."""
    commands: list[str] = []
    run, folder = hatch_build.run, tmp_path_factory.mktemp("rebuilt")

    def record(*command: str | Path) -> str:
        commands.append(" ".join(map(str, command)))
        return run(*command)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hatch_build, "run", record)
        build_programs(folder / "here")
    shutil.move(folder / "here", folder / "there")
    return folder / "there", commands


@pytest.mark.slow
def test_second_build_compiles_nothing(rebuilt: tuple[Path, list[str]]) -> None:
    moved, commands = rebuilt

    assert not [command for command in commands if " -c " in command]
    assert os.access(moved / "normal_mean", os.X_OK)


@pytest.mark.slow
def test_executables_run_after_moving_them_with_their_library(
    rebuilt: tuple[Path, list[str]],
) -> None:
    moved, _ = rebuilt

    answer = subprocess.run(
        [moved / "normal_mean", "info"],
        env={},
        check=True,
        capture_output=True,
        text=True,
    )

    assert "stan_version_minor = 35" in answer.stdout


@pytest.mark.slow
def test_library_of_gibbs_sampling_needs_nothing_but_its_file(
    rebuilt: tuple[Path, list[str]], tmp_path: Path
) -> None:
    moved, _ = rebuilt

    library = str(shutil.copy2(moved / hatch_build.LIBRARY, tmp_path))

    assert ctypes.CDLL(library).reliabayes_gibbs
    assert str(hatch_build.STAN).encode() not in Path(library).read_bytes()


def test_programs_do_not_reveal_where_they_were_compiled(compiled: Callable[[str], Path]) -> None:
    executable = compiled("item_mixture").with_name("reliabayes-stan").read_bytes()

    assert b"functions/item_mixture.stanfunctions" in executable
    assert str(hatch_build.STAN).encode() not in executable


def test_executable_lists_its_programs_if_given_an_unknown_one(
    compiled: Callable[[str], Path],
) -> None:
    executable = compiled("echo").with_name("reliabayes-stan")

    result = subprocess.run([executable, "ecko"], check=False, capture_output=True, text=True)

    assert result.returncode == 1
    assert result.stderr.startswith("Error: program=ecko: expected one of correlated, ")
    assert " echo, " in result.stderr


def test_programs_with_the_same_data_and_densities_share_translation_units() -> None:
    programs = hatch_build.packaged([])

    units = [unit.name for unit in units_of(programs, [""] * len(programs))]

    assert {
        "gaussian_icc",
        "gaussian_xcc",
        "groupthink-rater_groupthink",
        "ordinal_xcc",
    } < set(units)
    assert [len(unit.split("-")) for unit in units if "tap" in unit] == [4, 1]


def test_only_packaged_programs_do_without_parts_of_the_language(tmp_path: Path) -> None:
    own = tmp_path / "own.stan"
    own.write_text("")

    paths = own, STAN / "reference" / "tap.stan", STAN / "tap.stan"
    of_own, of_tests, of_packaged = (unit.text for path in paths for unit in units_of([path], [""]))

    assert of_own.startswith("#include <stan/model/model_header.hpp>\n")
    assert of_tests.startswith('#include "tests_language.hpp"\n')
    assert of_packaged.startswith('#include "stan_language.hpp"\n')


def test_many_programs_with_the_same_data_and_densities_make_several_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hatch_build, "MAX_PROGRAMS", 3)
    programs = hatch_build.packaged([])

    units = [unit.name for unit in units_of(programs, [""] * len(programs))]

    assert [len(unit.split("-")) for unit in units if "tap" in unit] == [2, 2, 1]


def test_sums_of_densities_are_compiled_by_themselves() -> None:
    programs = hatch_build.packaged([])
    units = list(units_of(programs, [""] * len(programs)))

    sums = sums_of(units)

    densities = {name for path in programs for name in densities_of(path)}
    passes = {f"{name}_pass" for name in densities if (CPP / f"{name}_pass.cpp").exists()}
    found = {unit.name for unit in sums}
    assert passes <= found
    inside = {path.stem for unit in sums if unit.name in passes for path in unit.headers}
    assert found <= passes | inside  # some are parts of others
    read = {path.name for unit in units for path in unit.headers}
    assert not read & {"ordinal_table.hpp", "score_quadrature.hpp", "item_mixture_pass.cpp"}
    assert CPP / "ordinal_table.hpp" in {path for unit in sums for path in unit.headers}


def test_only_sums_that_a_program_reads_are_compiled() -> None:
    programs = hatch_build.packaged(["tap"])

    sums = sums_of(list(units_of(programs, [""])))

    assert [unit.name for unit in sums] == ["item_mixture_pass"]


class Compiler:
    """Notes what it compiles, and with which headers."""

    precompiles = True

    def __init__(self) -> None:
        self.compiled: dict[str, Path | None] = {}

    def precompile(self, language: str, folder: Path) -> Path:
        assert language == hatch_build.OUR_LANGUAGE
        return folder / "language.hpp"

    def compile(self, unit: Unit, headers: Future[Path] | None = None) -> None:
        self.compiled[unit.name] = None if headers is None else headers.result()


@pytest.mark.parametrize(
    ("number", "free", "once"), [(3, 3e9, True), (2, 3e9, False), (3, 1e9, False)]
)
def test_headers_are_read_once_for_many_programs_if_there_is_room(
    number: int, free: float, once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    programs = [Unit.of(f"program {k}", hatch_build.OUR_LANGUAGE) for k in range(number)]
    tools: Any = Compiler()

    with ThreadPoolExecutor(1) as pool:
        jobs = started(pool, tools, tools, [*programs, hatch_build.RUNNER], programs, tmp_path)

    headers = tmp_path / "language.hpp" if once else None
    assert len(jobs) == number + 1
    assert tools.compiled == {unit.name: headers for unit in programs} | {"runner": None}


def test_headers_include_those_that_headers_include() -> None:
    text = '#include "ordinal_pair_mixture.hpp"'

    found = {path.stem for path in Unit.of("any", text).headers}

    assert found >= {"ordinal_pair_mixture", "ordinal_pair_mixture_pass", "gradient"}
    assert "crossed_normal" not in found


def test_only_the_named_programs_are_packaged() -> None:
    assert [path.stem for path in hatch_build.packaged(["tap", "mace"])] == ["tap", "mace"]
    with pytest.raises(BuildError, match=r"no such program: tip. Choose from dawid_skene, "):
        hatch_build.packaged(["tip"])


def test_message_about_a_missing_compiler_says_how_to_install_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)

    with pytest.raises(BuildError, match=r"found none of g\+\+, clang\+\+. Install g\+\+"):
        Toolchain.find()


def test_invalid_program_fails_with_the_message_of_stanc(tmp_path: Path) -> None:
    program = tmp_path / "faulty.stan"
    program.write_text("parameters { real x; } model { x ~ nrmal(0, 1); }")

    with pytest.raises(BuildError, match=r"stanc failed with code 1:\s(.|\s)*nrmal"):
        build([program], tmp_path / "out")


def test_invalid_cpp_fails_with_the_message_of_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIABAYES_CACHE", str(tmp_path))
    text = registered("wrong", "int main() { return nothing; }\nusing stan_model")

    with pytest.raises(BuildError, match=r"wrong\.cpp:1.*nothing"):
        Toolchain.find().compile(Unit.of("several-wrong", text))

    assert list((tmp_path / "objects").iterdir()) == []


def test_objects_that_others_can_write_are_not_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIABAYES_CACHE", str(tmp_path))
    kept = hatch_build.cache() / "tap-1234.o"
    assert not hatch_build.is_kept(kept)
    kept.touch(0o600)
    assert hatch_build.is_kept(kept)
    kept.chmod(0o666)

    with pytest.raises(BuildError, match=r"tap-1234\.o: .* can be written by other users"):
        hatch_build.is_kept(kept)


def test_a_cache_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIABAYES_CACHE", str(tmp_path))
    hatch_build.cache().chmod(0o777)

    with pytest.raises(BuildError, match=r"set RELIABAYES_CACHE to a folder of your own"):
        hatch_build.cache()


@pytest.mark.parametrize(
    ("system", "library", "option"),
    [
        ("linux", "libtbb.so.2", "-Wl,-rpath,$ORIGIN"),
        ("darwin", "libtbb.dylib", "-Wl,-rpath,@loader_path"),
    ],
)
def test_executable_finds_its_library_beside_itself(
    system: str, library: str, option: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(hatch_build, "run", lambda *words: commands.append(list(map(str, words))))
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")

    tools = Toolchain.find()
    tools.link([tmp_path / "one.o", tmp_path / "two.o"], tmp_path / "reliabayes-stan")

    command = commands[0]
    assert command[0] == "/usr/bin/g++"
    assert command[-2:] == ["-o", str(tmp_path / "reliabayes-stan")]
    assert option in command
    assert str(tools.httpstan / "lib" / library) in command


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(BuildError, match=r"this is win32\. On Windows, use the Windows Subsystem"):
        Toolchain.find()
