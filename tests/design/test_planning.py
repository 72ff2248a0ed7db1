"""Numbers of items that studies need, against what other packages and publications print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from reliabayes import design
from reliabayes.design.kappas import cantor_error

KAPPA: dict[str, Any] = {"what": "kappa", "value": 0.7, "null": 0.4}


@pytest.mark.parametrize(
    ("goal", "items", "method"),
    [
        ({"value": 0.7, "null": 0.85, "tails": 1}, 96, "cantor"),  # irr: N.cohen.kappa
        ({"value": 0.6, "null": 0.4, "tails": 1, "prevalence": [0.2, 0.25, 0.55]}, 101, "flack"),
        ({"value": 0.7, "null": 0.5, "prevalence": [0.25] * 4}, 76, "flack"),
        ({"value": 0.8, "null": 0.6, "tails": 1, "method": "flack"}, 83, "flack"),
        # kappaSize: CI3Cats, CI4Cats, CI5Cats
        (
            {"value": 0.4, "lower": 0.3, "upper": 0.6, "raters": 3, "prevalence": [0.3, 0.2, 0.5]},
            125,
            "chi-squared",
        ),
        (
            {"value": 0.4, "lower": 0.3, "upper": 0.5, "prevalence": [0.3, 0.2, 0.2, 0.3]},
            174,
            "chi-squared",
        ),
        (
            {"value": 0.4, "lower": 0.3, "upper": 0.5, "prevalence": [0.13, 0.17, 0.2, 0.2, 0.3]},
            153,
            "chi-squared",
        ),
    ],
)
def test_kappas_need_the_items_of_irr_and_kappasize(goal: Any, items: int, method: str) -> None:
    found = design.items_needed("kappa", **goal)

    assert (found.items, found.method) == (items, method)
    assert found.doi.startswith("https://doi.org/10.")


@pytest.mark.parametrize(
    ("prevalence", "exact"),
    [(0.3, 190.456402398022), ([0.3, 0.2, 0.1, 0.3, 0.1], 82.7284881072882)],
)
def test_power_by_goodness_of_fit_is_that_of_kappasize(prevalence: Any, exact: float) -> None:
    """PowerBinary and Power5Cats, which find noncentralities to four digits."""
    found = design.items_needed(
        "kappa", value=0.6, null=0.4, prevalence=prevalence, method="chi-squared"
    )

    assert found.exact == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("prevalence", [[0.33, 0.34, 0.33], [0.4, 0.4, 0.1, 0.1]])
def test_expected_lower_limits_are_those_of_kappasize(prevalence: Any) -> None:
    """FixedN3Cats and FixedN4Cats, in steps of .001."""
    lower, _ = design.limits("kappa", value=0.7, items=80, raters=5, prevalence=prevalence, tails=1)

    assert lower == pytest.approx(0.623, abs=0.0011)


@pytest.mark.parametrize(
    ("goal", "items"),
    [
        ({"value": 0.75, "null": 0.5, "tails": 1}, 36),
        ({"value": 0.75, "null": 0.5, "tails": 1, "raters": 3}, 24),
        ({"value": 0.8, "null": 0.6}, 49),  # ICC.Sample.Size 1.1
        ({"value": 0.9, "null": 0.7, "raters": 3, "tails": 1, "power": 0.9}, 18),
        ({"value": 0.75, "null": 0.5, "power": 0.9}, 60),
        ({"value": 0.85, "null": 0.8, "raters": 5}, 177),
        ({"value": 0.85, "width": 0.2, "raters": 4}, 20),
        ({"value": 0.8, "width": 0.2}, 55),
        ({"value": 0.5, "width": 0.3, "raters": 3}, 58),  # presize 0.3.7
        ({"value": 0.9, "width": 0.1, "raters": 3}, 42),
    ],
)
def test_iccs_need_the_items_of_walter_and_bonett(goal: Any, items: int) -> None:
    assert design.items_needed("icc", **goal).items == items


def test_widths_of_iccs_are_those_of_presize_but_for_a_sign() -> None:
    """It adds 5 ICC to the items that there are, as to those that are needed."""
    assert design.width("icc", value=0.85, raters=4, items=25) == pytest.approx(0.17394680362793)
    theirs = design.width("icc", value=0.7, items=60, method="presize")
    assert theirs == pytest.approx(0.252876373180261)
    # The mean width of the F interval in 4,000 simulated studies is .2658, within .0005.
    assert design.width("icc", value=0.7, items=60) == pytest.approx(0.2658, abs=0.003)


@pytest.mark.parametrize(
    ("goal", "items"),
    [
        ({"value": 0.8, "raters": 7, "width": 0.1}, 147),  # presize 0.3.7: prec_cronb
        ({"value": 0.9, "raters": 10, "width": 0.05}, 140),
    ],
)
def test_cronbachs_alpha_needs_the_persons_of_bonett_and_wright(goal: Any, items: int) -> None:
    assert design.items_needed("alpha", **goal).items == items


@pytest.mark.parametrize(
    ("bias", "sd", "bound", "agree", "items"),
    [(0.011, 0.044, 0.1, 0.8, 14), (0.5, 2.5, 7, 0.95, 34), (0.5, 2.7, 7, 0.95, 62)],
)
def test_differences_within_bounds_need_the_pairs_of_shieh(
    bias: float, sd: float, bound: float, agree: float, items: int
) -> None:
    found = design.items_needed(
        "limits", value=sd, bias=bias, lower=-bound, upper=bound, agree=agree
    )

    assert (found.items, found.method) == (items, "shieh")


@pytest.mark.parametrize(
    ("half", "agree", "items"), [(2.2, 0.9, 42), (2.3, 0.9, 32), (2.4, 0.95, 74), (2.5, 0.9, 21)]
)
def test_intervals_of_the_central_range_need_the_pairs_of_jan_and_shieh(
    half: float, agree: float, items: int
) -> None:
    assert design.items_needed("limits", value=1, width=2 * half, agree=agree).items == items


def test_power_of_shiehs_test_is_that_of_simplyagree() -> None:
    found = design.power(
        "limits", items=15, value=0.044, bias=0.011, lower=-0.1, upper=0.1, agree=0.8
    )

    assert found == pytest.approx(0.831533172898561, abs=1e-6)


@pytest.mark.parametrize(
    ("what", "goal"),
    [
        ("kappa", {"value": 0.7, "null": 0.4}),
        ("kappa", {"value": 0.7, "null": 0.5, "prevalence": [0.2, 0.3, 0.5]}),
        ("kappa", {"value": 0.5, "null": 0.7, "raters": 4, "prevalence": 0.2}),
        ("icc", {"value": 0.8, "null": 0.6, "raters": 3}),
        ("alpha", {"value": 0.8, "null": 0.7, "raters": 6}),
        ("limits", {"value": 1, "lower": -3, "upper": 3, "bias": 0.1}),
    ],
)
def test_power_inverts_the_number_of_items(what: Any, goal: Any) -> None:
    items = design.items_needed(what, power=0.9, **goal).items

    assert (
        design.power(what, items=items - 1, **goal) < 0.9 <= design.power(what, items=items, **goal)
    )


@pytest.mark.parametrize(
    ("what", "goal", "width"),
    [
        ("kappa", {"value": 0.7, "prevalence": 0.3, "method": "cantor"}, 0.2),
        ("kappa", {"value": 0.6, "prevalence": [0.2, 0.3, 0.5], "method": "flack"}, 0.2),
        ("icc", {"value": 0.8}, 0.15),
        ("icc", {"value": 0.6, "raters": 4}, 0.15),
        ("alpha", {"value": 0.8, "raters": 6}, 0.1),
        ("limits", {"value": 2}, 10),
    ],
)
def test_width_inverts_the_number_of_items(what: Any, goal: Any, width: float) -> None:
    items = design.items_needed(what, width=width, **goal).items

    assert design.width(what, items=items, **goal) <= width
    assert design.width(what, items=items - 1, **goal) > width


def test_a_table_has_other_numbers_of_raters() -> None:
    table = design.items_needed("icc", value=0.75, null=0.5, tails=1).table(raters=[2, 3, 5])

    assert table["items"].tolist() == [36, 24, 18]
    assert table["ratings"].tolist() == [72, 72, 90]


def test_two_proportions_are_of_raters_unless_they_sum_to_one() -> None:
    by_rater = design.items_needed("kappa", value=0.6, null=0.4, prevalence=[0.2, 0.3])
    rows = design.items_needed("kappa", value=0.6, null=0.4, prevalence=[[0.2, 0.8], [0.3, 0.7]])
    shared = design.items_needed("kappa", value=0.6, null=0.4, prevalence=[0.2, 0.8])

    assert by_rater.items == rows.items
    one = design.items_needed("kappa", value=0.6, null=0.4, prevalence=0.2)
    assert shared.items == one.items != by_rater.items


@pytest.mark.slow
@pytest.mark.parametrize(("value", "null", "prevalence"), [(0.7, 0.4, 0.5), (0.6, 0.3, 0.3)])
def test_cantors_items_have_about_the_power_in_simulated_studies(
    value: float, null: float, prevalence: float
) -> None:
    """Of the test that divides by the error at the null value, which the formula supposes."""
    items = design.items_needed("kappa", value=value, null=null, prevalence=prevalence).items
    rng = np.random.default_rng(1)
    by_chance = prevalence**2 + (1 - prevalence) ** 2
    observed = value + by_chance * (1 - value)
    both = (observed + 2 * prevalence - 1) / 2
    cells = [both, prevalence - both, prevalence - both, 1 - 2 * prevalence + both]
    counts = rng.multinomial(items, cells, size=4000).reshape(-1, 2, 2) / items

    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    chance = (rows * columns).sum(axis=1)
    kappa = (np.trace(counts, axis1=1, axis2=2) - chance) / (1 - chance)
    shares = np.array([[prevalence, 1 - prevalence]] * 2)
    z = (kappa - null) / cantor_error(null, shares) * np.sqrt(items)
    assert (z > 1.96).mean() == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": 0.9, "prevalence": [0.1, 0.5]}, "at most 0.2 of raters with these proportions"),
        ({"null": 1.0}, "null must be above -1 and below 1.*found 1.0"),
        ({"null": 0.7}, "null must differ from value"),
        ({"null": None, "width": 0.7}, "width must be above 0 and below 0.6; found 0.7"),
        ({"null": None, "width": -0.1}, "width must be above 0"),
        ({"null": None}, "one of null, width, and lower or upper must be given, not none of them"),
        ({"width": 0.1}, "must be given, not null and width"),
        ({"power": 0.01}, "power must be above 0.025 and below 1; found 0.01"),
        ({"prevalence": [0.3, 0.3, 0.3]}, "which sum to 1; found"),
        ({"prevalence": 1.2}, "a proportion between 0 and 1"),
        ({"raters": 7}, "up to 6 raters and 5 categories; found 7 and 2"),
        ({"raters": 2.5}, "raters must be a whole number from 2, not 2.5"),
        ({"tails": 3}, "tails must be 1 or 2, not 3"),
        ({"method": "cantor", "raters": 3}, "for two raters and two categories; found 3 raters"),
        (
            {"method": "walter"},
            "method must be one of cantor, flack, chi-squared, simulation for 'kappa'",
        ),
        (
            {"what": "rho"},
            "what must be one of kappa, icc, alpha, limits, or a function of .*, not 'rho'",
        ),
        ({"null": None, "lower": 0.8}, "lower must be above -1 and below value, 0.7; found 0.8"),
    ],
)
def test_goals_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rb.design.items_needed(**KAPPA | change)


def test_methods_without_power_or_interval_name_those_with() -> None:
    with pytest.raises(ValueError, match="method 'walter' has no interval"):
        design.width("icc", value=0.7, items=50, method="walter")
    with pytest.raises(ValueError, match="method 'bonett' has no power"):
        design.power("icc", value=0.7, null=0.5, items=50, method="bonett")
