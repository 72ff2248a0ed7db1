"""Seeds of the command line: fixed unless a random one is asked for, and said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from typer.testing import CliRunner

from reliabayes import datasets
from reliabayes.cli.app import app

pytestmark = pytest.mark.slow

JUDGES = str(datasets.about("shrout_fleiss_1979").path())
FIT = ("fit", JUDGES, "--model", "gaussian-icc", "--draws", "50", "--chains", "2")
SIMULATE = ("simulate", "--agreement", "0.5", "--items", "5")
BOOTSTRAP = ("agree", JUDGES, "--method", "percentile", "--over", "items", "--bootstrap", "10")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments])


@pytest.mark.parametrize("command", [FIT, SIMULATE, BOOTSTRAP])
def test_a_command_without_a_seed_prints_the_same_again(command: tuple[str, ...]) -> None:
    first, again = run(*command), run(*command)

    assert first.exit_code == 0
    assert first.stdout == again.stdout
    assert re.search(r"seed [01]\b", first.stderr)


@pytest.mark.parametrize("command", [SIMULATE, BOOTSTRAP])
def test_a_random_seed_is_said_and_gives_the_same_again(command: tuple[str, ...]) -> None:
    first, other = (run(*command, "--seed", "random") for _ in range(2))
    seeds = [re.findall(r"seed (\d+)", each.stderr)[0] for each in (first, other)]

    again = run(*command, "--seed", seeds[0])

    assert seeds[0] != seeds[1]
    assert again.stdout == first.stdout


def test_the_sampler_says_its_random_seed() -> None:
    result = run(*FIT, "--seed", "random")

    assert result.exit_code == 0
    assert not re.search(r"seed 1:", result.stderr)
    assert re.search(r"seed \d+:", result.stderr)


@pytest.mark.parametrize("seed", ["-1", "1.5", "2147483648", "often"])
@pytest.mark.parametrize("command", [FIT, SIMULATE, BOOTSTRAP])
def test_other_seeds_are_refused(command: tuple[str, ...], seed: str) -> None:
    result = run(*command, "--seed", seed)

    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.stderr
    assert "or random" in " ".join(result.stderr.split())
