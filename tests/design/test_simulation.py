"""Numbers of items from simulated studies."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import reliabayes as rb
from reliabayes import design

ag = rb.agreement
DESIGNS: list[tuple[Any, dict[str, Any]]] = [
    ("kappa", {"value": 0.6, "null": 0.3, "prevalence": 0.3}),
    ("kappa", {"value": 0.7, "width": 0.2, "method": "cantor"}),
    ("kappa", {"value": 0.7, "null": 0.5, "prevalence": [0.25] * 4}),
    ("icc", {"value": 0.75, "null": 0.5, "tails": 1, "raters": 3}),
    ("icc", {"value": 0.8, "width": 0.2}),
    ("alpha", {"value": 0.8, "null": 0.7, "raters": 5}),
]


@pytest.mark.proof
@pytest.mark.parametrize(("what", "goal"), DESIGNS)
def test_formulas_need_nearly_the_items_that_simulated_studies_need(
    what: Any, goal: dict[str, Any]
) -> None:
    """Within a tenth, as the formulas are for many items, and three Monte Carlo errors."""
    interval: Any = "analytic" if what == "kappa" else None
    method = design.Simulation(replicates=4000, seed=1, interval=interval)

    formula = design.items_needed(what, **goal)
    simulated = design.items_needed(what, **goal | {"method": method})

    assert formula.method != "simulation" == simulated.method
    assert formula.exact == pytest.approx(
        simulated.exact, abs=0.1 * formula.exact + 3 * simulated.error
    )


@pytest.mark.slow
def test_simulated_items_have_the_width_that_they_were_planned_for() -> None:
    goal: dict[str, Any] = {"value": 0.7, "prevalence": [0.5, 0.3, 0.2], "raters": 3}
    method = design.Simulation(replicates=200, seed=1)
    needed = design.items_needed(ag.gwet_ac1, width=0.2, **goal, method=method)

    other = design.Simulation(replicates=200, seed=2)
    found = design.width(ag.gwet_ac1, items=needed.items, **goal, method=other)

    assert needed.method == "simulation"
    assert needed.doi == ""
    assert isinstance(found, design.Estimate)
    assert 0 < found.error < 0.01
    # The number of items is a whole number, and known up to its error: half of it in the width.
    assert found == pytest.approx(0.2, abs=3 * found.error + 0.2 * 0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coefficient", "value", "prevalence", "agreement"),
    [
        # Agreement by chance is .38 and .31 with these proportions: (.38, .31) + a (.62, .69)
        (ag.percent_agreement, 0.69, [0.5, 0.3, 0.2], 0.5),
        pytest.param(
            ag.gwet_ac1, (0.69 - 0.31) / (1 - 0.31), [0.5, 0.3, 0.2], 0.5, marks=pytest.mark.proof
        ),
        (ag.krippendorff_alpha, 0.6, [0.5, 0.3, 0.2], 0.6),
        pytest.param(ag.concordance, 0.6, None, 0.6, marks=pytest.mark.proof),
    ],
)
def test_expected_values_are_those_of_simulated_ratings(
    coefficient: Any, value: float, prevalence: Any, agreement: float
) -> None:
    method = design.Simulation(replicates=60, seed=1)
    goal: dict[str, Any] = {"value": value, "prevalence": prevalence, "raters": 2}

    lower, upper = design.limits(coefficient, items=400, **goal, method=method)
    power = design.power(coefficient, items=400, null=value - 0.3, **goal, method=method)

    assert 0 < upper - lower < 0.25
    assert lower < value < upper
    assert power == 1
    rng = np.random.default_rng(1)
    wide = _drawn(20_000, agreement, prevalence, rng)
    scale: Any = "nominal" if prevalence else "numeric"
    assert float(coefficient(rb.Ratings.from_wide(wide, scale=scale))) == pytest.approx(
        value, abs=0.02
    )


@pytest.mark.slow
def test_coefficients_with_weights_need_ordered_categories() -> None:
    weighted = partial(ag.cohen_kappa, weights="quadratic")
    goal: dict[str, Any] = {"value": 0.6, "prevalence": [0.4, 0.3, 0.3], "items": 100}

    ordered = design.Simulation(replicates=20, seed=1, scale="ordered")
    assert design.width(weighted, **goal, method=ordered) < 0.5
    with pytest.raises(rb.RatingsError, match="ordered"):
        design.width(weighted, **goal, method=design.Simulation(replicates=20))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_number() -> None:
    found = [
        design.power("icc", items=30, value=0.7, null=0.5, method=design.Simulation(40, seed))
        for seed in (1, 1, 2)
    ]

    assert found[0] == found[1] != found[2]


def test_more_raters_than_formulas_take_are_simulated() -> None:
    with pytest.raises(ValueError, match=r'found 7 and 2\. Pass method="simulation"'):
        design.items_needed("kappa", value=0.7, null=0.4, raters=7)

    method = design.Simulation(replicates=20, seed=1)
    assert design.width("kappa", items=60, value=0.7, raters=7, method=method) < 0.4


@pytest.mark.parametrize(
    ("what", "change", "message"),
    [
        ("limits", {"width": 0.5}, "one of shieh, jan-shieh for 'limits'"),
        ("kappa", {"prevalence": [0.2, 0.3], "width": 0.2}, "the same proportions"),
        (ag.percent_agreement, {"prevalence": 0.5, "value": 0.4, "width": 0.2}, "from 0.5 to 1"),
        ("icc", {"value": -0.1, "width": 0.2}, "value must be 0 or more"),
    ],
)
def test_goals_that_cannot_be_simulated_are_refused(
    what: Any, change: dict[str, Any], message: str
) -> None:
    goal: dict[str, Any] = {"value": 0.5, "method": "simulation", **change}

    with pytest.raises(ValueError, match=message):
        design.items_needed(what, **goal)


@pytest.mark.parametrize(
    ("what", "goal", "title"),
    [
        ("kappa", {"value": 0.7, "null": 0.4}, "64 items reject a kappa of 0.4 with power 0.8"),
        ("icc", {"value": 0.8, "width": 0.2}, "55 items give an interval 0.2 wide"),
        (
            "kappa",
            {"value": 0.4, "lower": 0.3, "upper": 0.6, "raters": 3, "prevalence": [0.3, 0.2, 0.5]},
            "125 items keep the interval of kappa above 0.3 and below 0.6",
        ),
        (
            "limits",
            {"value": 1.0, "lower": -2.5, "upper": 2.5},
            "items show that differences are within -2.5 and 2.5 with power 0.8",
        ),
    ],
)
def test_a_plot_shows_what_other_numbers_of_items_would_give(
    what: Any, goal: dict[str, Any], title: str
) -> None:
    size = design.items_needed(what, **goal)

    ax = size.plot(ax=Figure().subplots())

    assert ax.get_title(loc="left").endswith(title)
    assert ax.get_xlabel() == "items"
    assert size.items in np.asarray(ax.lines[-1].get_xdata())


def test_the_curve_of_power_goes_through_the_number_of_items() -> None:
    size = design.items_needed("kappa", value=0.7, null=0.4)

    ax = size.plot(ax=Figure().subplots(), items=[size.items - 1, size.items, size.items + 1])

    before, at, _ = np.asarray(ax.lines[0].get_ydata(), float)
    assert before < 0.8 <= at


def _drawn(items: int, agreement: float, prevalence: Any, rng: np.random.Generator) -> Any:
    """Ratings by two raters who agree with some probability, or whose scores correlate so."""
    if prevalence is None:
        return rng.multivariate_normal([0, 0], [[1, agreement], [agreement, 1]], items)
    each = rng.choice(len(prevalence), (items, 2), p=prevalence)
    return np.where(rng.random((items, 1)) < agreement, each[:, :1], each)
