"""Forms of the tab on which ratings are simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import marimo as mo

from reliabayes.app.simulations import MatrixDesign, OwnResult, TAPDesign
from reliabayes.simulate import COEFFICIENTS
from reliabayes.simulate.regression import Curve

WHOLE = ("items", "raters", "ratings_per_item", "categories", "seed")


def matrix_form() -> mo.ui.dictionary:
    """What matrices are like, and what is regressed on their agreement.

    Returns
    -------
    dictionary of elements
    """
    return mo.ui.dictionary(
        {
            "agreement": mo.ui.slider(
                0.0, 1.0, 0.05, value=0.6, show_value=True, label="Agreement of the matrix"
            ),
            "items": mo.ui.number(5, 2000, 1, value=100, label="Items"),
            "raters": mo.ui.number(2, 50, 1, value=6, label="Raters (k)"),
            "ratings_per_item": mo.ui.number(2, 50, 1, value=2, label="Ratings per item (k_m)"),
            "categories": mo.ui.number(2, 10, 1, value=3, label="Categories"),
            "distribution": mo.ui.text(
                label="Response distribution", placeholder="equal, or e.g. 0.1, 0.1, 0.8"
            ),
            "coefficient": mo.ui.dropdown(
                list(COEFFICIENTS), value="ICC(1,1)", label="Coefficient", allow_select_none=False
            ),
            "curve": mo.ui.dropdown(
                list(get_args(Curve)), value="quadratic", label="Curve", allow_select_none=False
            ),
            "seed": mo.ui.number(0, 10**6, 1, value=1, label="Seed"),
            # Without bounds, which marimo would fill in
            "own_coefficient": mo.ui.number(step=0.01, label="Your coefficient (optional)"),
            "own_agreement": mo.ui.number(step=0.01, label="Your agreement (optional)"),
        }
    )


def matrix_design(value: Mapping[str, Any]) -> tuple[MatrixDesign, str, Curve, OwnResult]:
    """What the form of matrices says.

    Parameters
    ----------
    value : mapping of str to Any
        Its value.

    Returns
    -------
    design : MatrixDesign
    coefficient : str
    curve : {"linear", "quadratic", "loess"}
    own : OwnResult
    """
    given = dict(value)
    coefficient, curve, distribution = (
        given.pop(name) for name in ("coefficient", "curve", "distribution")
    )
    own = OwnResult(given.pop("own_coefficient"), given.pop("own_agreement"))
    design = MatrixDesign(**_whole(given), distribution=distribution)
    return design, coefficient, curve, own


def tap_form() -> mo.ui.dictionary:
    """What ratings by raters are like who know or guess.

    Returns
    -------
    dictionary of elements
    """
    sliders = {
        name: mo.ui.slider(0.05, 0.95, 0.05, value=value, show_value=True, label=name)
        for name, value in {"t": 0.5, "a": 0.6, "p": 0.5}.items()
    }
    return mo.ui.dictionary(
        {
            **sliders,
            "items": mo.ui.number(10, 5000, 1, value=200, label="Items"),
            "raters": mo.ui.number(2, 50, 1, value=5, label="Raters"),
            "seed": mo.ui.number(0, 10**6, 1, value=1, label="Seed"),
        }
    )


def tap_design(value: Mapping[str, Any]) -> TAPDesign:
    """What the form of raters who know or guess says.

    Parameters
    ----------
    value : mapping of str to Any
        Its value.

    Returns
    -------
    TAPDesign
    """
    return TAPDesign(**_whole(dict(value)))


def in_rows(form: mo.ui.dictionary) -> mo.Html:
    """Elements side by side, as many as there is room for.

    Parameters
    ----------
    form : dictionary of elements
        The elements.

    Returns
    -------
    Html
    """
    elements = [form[name] for name in form.value]
    return mo.hstack(elements, justify="start", wrap=True, gap=1)


def _whole(given: dict[str, Any]) -> dict[str, Any]:
    """Numbers of things and seeds as whole numbers, as which the page sends them or not.

    Fields that were emptied are left out, so that they have their default.
    """
    return {
        name: int(value) if name in WHOLE else float(value)
        for name, value in given.items()
        if value is not None
    }
