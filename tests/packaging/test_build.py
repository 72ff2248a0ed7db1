"""The build compiles once, reuses its objects, and names what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hatch_build
from hatch_build import BuildError, Toolchain, build
from tests.conftest import ROOT

NORMAL = ROOT / "tests" / "stan" / "normal_mean.stan"


def test_second_build_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: object
) -> None:
    commands: list[str] = []
    run = hatch_build.run

    def record(*command: str | Path) -> str:
        commands.append(" ".join(map(str, command)))
        return run(*command)

    monkeypatch.setattr(hatch_build, "run", record)

    build([NORMAL], tmp_path)

    assert not [command for command in commands if " -c " in command]
    assert os.access(tmp_path / "normal_mean", os.X_OK)


def test_executables_run_after_moving_them_with_their_library(
    tmp_path: Path, compiled: object
) -> None:
    build([NORMAL], tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")

    answer = subprocess.run(
        [tmp_path / "there" / "normal_mean", "info"],
        env={},
        check=True,
        capture_output=True,
        text=True,
    )

    assert "stan_version_minor = 35" in answer.stdout


def test_programs_do_not_reveal_where_they_were_compiled(compiled: Callable[[str], Path]) -> None:
    program = compiled("item_mixture").read_bytes()

    assert b"functions/item_mixture.stanfunctions" in program
    assert str(hatch_build.STAN).encode() not in program


def test_message_about_a_missing_compiler_says_how_to_install_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    source = tmp_path / "wrong.cpp"
    source.write_text("int main() { return nothing; }")

    with pytest.raises(BuildError, match=r"nothing.* was not declared"):
        Toolchain.find().compile(source, [source])

    assert list((tmp_path / "objects").iterdir()) == []
