"""Reliability of means of ratings, against published numbers."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes.facets import Decision, MeasurementDesign

# Brennan (2001), synthetic data sets 3 and 4: components of variance in the order of the sources.
CROSSED = {
    "p": 0.5528, "i": 0.4417, "o": 0.0074, "p x i": 0.5750, "p x o": 0.1009, "i x o": 0.1565,
    "p x i x o": 0.9352,
}  # fmt: skip
NESTED = {"p": 0.4731, "t": 0.3252, "r:t": 0.6475, "p x t": 0.5596, "p x r:t": 2.3802}


def decision(text: str, variance: dict[str, float], fixed: str = "", **levels: int) -> Decision:
    design = MeasurementDesign.parse(text)
    sources = design.sources()
    values = np.array([variance[source.name] for source in sources])
    return Decision(design, sources, values, levels, frozenset(fixed.split()))


def test_coefficients_of_brennans_synthetic_data() -> None:
    crossed = decision("p x i x o", CROSSED, i=4, o=2)
    nested = decision("p x (r:t)", NESTED, t=3, r=4)

    assert (round(float(crossed.g), 2), round(float(crossed.phi), 2)) == (0.64, 0.55)
    assert (round(float(nested.g), 2), round(float(nested.phi), 2)) == (0.55, 0.46)


def test_fixed_facets_belong_to_the_universe_score() -> None:
    # Brennan (2001), section 4.4, with o fixed: po / n_o belongs to universe scores, and what has
    # io but not p to the errors of absolute decisions only.
    found = decision("p x i x o", CROSSED, fixed="o", i=4, o=2)

    assert found.universe == pytest.approx(0.5528 + 0.1009 / 2)
    assert found.relative == pytest.approx(0.5750 / 4 + 0.9352 / 8)
    assert found.absolute == pytest.approx(0.5750 / 4 + 0.9352 / 8 + 0.4417 / 4 + 0.1565 / 8)


def test_objects_nested_in_others_are_compared_across_them() -> None:
    design = MeasurementDesign.parse("(item:document) x rater")
    names = [source.name for source in design.sources()]
    variance = dict(zip(names, (1.0, 2.0, 4.0, 8.0, 16.0), strict=True))
    found = decision("(item:document) x rater", variance, rater=2)

    assert names == [
        "document", "rater", "item:document", "document x rater", "item:document x rater"
    ]  # fmt: skip
    errors = (found.universe, found.relative, found.absolute)
    assert [float(error) for error in errors] == [5.0, 12.0, 13.0]


def test_errors_of_measurement_and_the_smallest_change_that_exceeds_them() -> None:
    found = decision("p x i x o", CROSSED, i=1, o=1)

    assert found.sem_absolute == pytest.approx(np.sqrt(sum(CROSSED.values()) - 0.5528))
    # Two measurements with normal errors differ by more than this in 5% of all pairs.
    rng = np.random.default_rng(1)
    error = rng.normal(0, found.sem_absolute, (2, 200_000))
    assert np.mean(np.abs(error[0] - error[1]) > found.mdc) == pytest.approx(0.05, abs=0.002)


def test_variances_and_numbers_of_levels_may_be_arrays() -> None:
    design = MeasurementDesign.parse("p x i x o")
    values = np.multiply.outer([1.0, 2.0], list(CROSSED.values()))[:, None]
    found = Decision(design, design.sources(), values, {"i": np.array([1, 2, 4])})

    assert found.g.shape == (2, 3)
    np.testing.assert_allclose(found.g[0], found.g[1])
    assert (np.diff(found.g[0]) > 0).all()


def test_coefficients_are_undefined_where_nothing_varies() -> None:
    found = decision("p x i x o", dict.fromkeys(CROSSED, 0.0))

    assert np.isnan(found.g)
    assert np.isnan(found.phi)


def test_facets_must_exist_and_not_be_the_object() -> None:
    with pytest.raises(ValueError, match="levels must name facets other than the object"):
        decision("p x i x o", CROSSED, p=3)
    with pytest.raises(ValueError, match="fixed must name facets"):
        decision("p x i x o", CROSSED, fixed="q")
    with pytest.raises(ValueError, match="must be above 0"):
        decision("p x i x o", CROSSED, i=0)
