"""The command that plans a study."""

from __future__ import annotations

from typer.testing import CliRunner

from reliabayes.cli.app import app


def test_design_prints_the_items_and_where_the_formula_is_from() -> None:
    found = CliRunner().invoke(app, ["design", "kappa", "--value", ".7", "--null", ".4"])

    assert found.exit_code == 0
    assert [line.split() for line in found.stdout.splitlines()] == [
        ["raters", "items"],
        ["2", "64"],
        ["cantor:", "https://doi.org/10.1037/1082-989X.1.2.150"],
    ]


def test_design_compares_numbers_of_raters() -> None:
    goal = ["design", "icc", "--value", ".75", "--null", ".5", "--tails", "1"]

    found = CliRunner().invoke(app, [*goal, "--raters", "2", "--raters", "3"])

    assert [line.split() for line in found.stdout.splitlines()[1:3]] == [["2", "36"], ["3", "24"]]


def test_coefficients_without_a_formula_are_simulated() -> None:
    goal = ["design", "gwet-ac1", "--value", ".7", "--width", ".3", "--prevalence", ".2"]

    found = CliRunner().invoke(app, [*goal, "--replicates", "50", "--seed", "1"])

    header, row, last = found.stdout.splitlines()
    assert header.split() == ["raters", "items", "Monte", "Carlo", "error"]
    raters, items, error = row.split()
    assert raters == "2"
    assert 75 < int(items) < 110
    assert 0 < float(error) < 10
    assert last == "simulation: 50 studies, seed 1"


def test_bad_goals_are_messages() -> None:
    lacking = CliRunner().invoke(app, ["design", "icc", "--value", ".75"])
    words = CliRunner().invoke(
        app, ["design", "kappa", "--value", ".7", "--null", ".4", "--prevalence", "half"]
    )

    assert lacking.exit_code == words.exit_code == 2
    assert "one of null, width, and lower or upper must be given" in lacking.stderr
    assert "it must be numbers with commas between them" in words.stderr
