"""Coverage: how often intervals over items contain the coefficient of the item population.

Each of many data sets is a sample of items that the same raters rate. The coefficient of all data
sets together serves as the true value: its error is 3% of that of a single data set, which lowers a
coverage of 0.95 by less than 0.0001.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from reliabayes import Ratings
from reliabayes.agreement import (
    Coefficient,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    icc,
    kappa_x,
    krippendorff_alpha,
    normalized_kappa_x,
    percent_agreement,
)
from reliabayes.arrays import Array
from reliabayes.choices import Method
from tests.agreement.coverage import rows
from tests.agreement.method_coverage import tables
from tests.conftest import ROOT

Simulated = Callable[[np.random.Generator, int], Ratings]

DATA_SETS, ITEMS, REPLICATES = 1000, 200, 1000
# With this many data sets the Monte Carlo error of a coverage of 0.95 is 0.007; the band is three
# of these errors to either side.
BAND = (0.93, 0.97)
PROPORTIONS, ACCURACY = (0.5, 0.3, 0.2), (0.85, 0.75, 0.65, 0.8)
SEVERITY = (-0.4, 0.0, 0.1, 0.5)


def categories(raters: int, rng: np.random.Generator, items: int) -> Array:
    """(items, raters) categories: raters know the true one with their accuracy, or guess."""
    true = rng.choice(3, p=PROPORTIONS, size=(items, 1))
    guess = rng.choice(3, p=PROPORTIONS, size=(items, raters))
    return np.where(rng.random((items, raters)) < ACCURACY[:raters], true, guess).astype(float)


def of_categories(raters: int, rng: np.random.Generator, items: int) -> Ratings:
    return Ratings.from_wide(categories(raters, rng, items), scale="nominal")


def of_pools(rng: np.random.Generator, items: int) -> Ratings:
    pool = {0: "a", 1: "a", 2: "b", 3: "b"}
    return Ratings.from_wide(categories(4, rng, items), scale="nominal", pool=pool)


def of_numbers(rng: np.random.Generator, items: int) -> Ratings:
    """Variances: 1 between items, 0.1367 between the four raters, 0.64 of residuals."""
    residual = 0.8 * rng.standard_normal((items, 4))
    return Ratings.from_wide(rng.standard_normal((items, 1)) + SEVERITY + residual)


def samples(whole: Coefficient) -> Iterator[Coefficient]:
    """The coefficient of each data set, from the rows of all data sets."""
    rows = np.asarray(whole.rows(None)).reshape(DATA_SETS, ITEMS, -1)
    for part in rows:
        yield replace(whole, items=whole.items[:ITEMS], rows=partial(_given, part))


def _given(rows: Array, weights: Array | None) -> Array:
    return rows


def coverage(
    coefficient: Callable[[Ratings], Coefficient], simulated: Simulated, method: Method
) -> float:
    """Proportion of data sets whose 95% interval contains the true value."""
    whole = coefficient(simulated(np.random.default_rng(1), DATA_SETS * ITEMS))
    intervals = [
        one.interval(method=method, replicates=REPLICATES, seed=seed)
        for seed, one in enumerate(samples(whole))
    ]
    covered = np.mean([each.lower <= whole.value <= each.upper for each in intervals])
    print(f"{whole!r}, {method}: {covered:.3f}")
    return float(covered)


TWO, FOUR = partial(of_categories, 2), partial(of_categories, 4)


@pytest.mark.calibration
def test_all_data_sets_together_have_the_true_value() -> None:
    items = DATA_SETS * ITEMS

    whole = icc(of_numbers(np.random.default_rng(1), items), "ICC(2,1)")

    error = whole.standard_error(method="jackknife")
    assert float(whole) == pytest.approx(1 / (1 + 0.1367 + 0.64), abs=4 * error)


@pytest.mark.calibration
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(
    ("coefficient", "simulated"),
    [
        (percent_agreement, FOUR),
        (cohen_kappa, TWO),
        (fleiss_kappa, FOUR),
        (gwet_ac1, FOUR),
        (conger_kappa, FOUR),
        (krippendorff_alpha, FOUR),
        (krippendorff_alpha, of_numbers),
        (kappa_x, of_pools),
        (normalized_kappa_x, of_pools),
        (partial(icc, name="ICC(1,1)"), of_numbers),
        (partial(icc, name="ICC(2,1)"), of_numbers),
    ],
)
def test_bootstrap_intervals_have_their_nominal_coverage(
    coefficient: Callable[[Ratings], Coefficient], simulated: Simulated, method: Method
) -> None:
    covered = coverage(coefficient, simulated, method)

    assert BAND[0] <= covered <= BAND[1]


@pytest.mark.calibration
@pytest.mark.parametrize("method", ["jackknife", "analytic"])
def test_normalized_kappa_x_has_nominal_coverage_without_a_bootstrap(method: Method) -> None:
    covered = coverage(normalized_kappa_x, of_pools, method)

    assert BAND[0] <= covered <= BAND[1]


def documented() -> dict[tuple[str, str, str], float]:
    """Coverage in the tables of the documentation, by design, coefficient and method."""
    found = {}
    for table in re.findall(r"(?:^\|.*\n)+", (ROOT / "docs" / "coverage.md").read_text(), re.M):
        lines = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]
        for design, *cells in lines[2:]:
            name = cells[0] if lines[0][1] == "coefficient" else None
            for column, cell in zip(lines[0][1:], cells, strict=True):
                if re.fullmatch(r"0?\.\d+|1\.0+", cell):
                    key = (column, "default") if name is None else (name, column)
                    found[design, *key] = float(cell)
    return found


def test_the_documentation_states_the_coverage_of_each_default() -> None:
    defaults = {key: value for key, value in documented().items() if key[2] == "default"}

    assert len(defaults) == 53
    assert min(defaults.values()) >= 0.91
    assert np.mean(list(defaults.values())) == pytest.approx(0.95, abs=0.01)


@pytest.mark.calibration
def test_intervals_cover_as_often_as_the_documentation_states() -> None:
    known = documented()

    measured = {
        (study, name, method): (value, n) for study, name, method, value, n in rows(400, 100)
    }

    assert set(measured) == set(known)
    for key, (value, n) in measured.items():
        n_known = 300 if "percentile" in key[2] else 1000
        error = np.sqrt(known[key] * (1 - known[key]) * (1 / n + 1 / n_known))
        assert value == pytest.approx(known[key], abs=4 * error), key


@pytest.mark.calibration
def test_two_methods_and_tests_do_as_the_documentation_states() -> None:
    stated = percentages((ROOT / "docs" / "coverage.md").read_text().splitlines())

    found = percentages(f"| {' | '.join(row)} |" for row in tables(400))

    assert set(found) == set(stated)
    for key, value in found.items():
        error = np.sqrt(stated[key] * (1 - stated[key]) * (1 / 400 + 1 / 1500))
        assert value == pytest.approx(stated[key], abs=4 * error), key


def percentages(lines: Iterable[str]) -> dict[tuple[str, str], float]:
    """Cells of tables that end with %, by the names of their row and column."""
    found, header = {}, [""]
    for line in lines:
        name, *cells = [cell.strip() for cell in line.split("|")[1:-1]] or [""]
        if cells and all(re.fullmatch(r"[0-9.]+%", cell) for cell in cells):
            for column, cell in zip(header[1:], cells, strict=True):
                found[name, column] = float(cell[:-1]) / 100
        elif cells and set(name) != {"-"}:
            header = [name, *cells]
    return found
