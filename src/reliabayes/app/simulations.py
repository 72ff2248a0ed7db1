"""Simulations of the app: coefficients by agreement, and how well t-a-p parameters come back."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.app.where_it_runs import runs_stan
from reliabayes.html_report.blocks import Heading, Text
from reliabayes.html_report.fragment import blocks_fragment
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.sections.data import coefficients
from reliabayes.html_report.tables import table
from reliabayes.models import TAP
from reliabayes.ratings import Ratings
from reliabayes.simulate import (
    COEFFICIENTS,
    AgreementRegression,
    agreement_regression,
    crossed,
    rating_matrix,
    reliability_study,
)
from reliabayes.simulate.regression import Curve


@dataclass(frozen=True)
class MatrixDesign:
    """Matrices of ratings, as `rating_matrix` simulates them.

    Attributes
    ----------
    agreement : float
        Probability that the raters of an item agree other than by chance.
    items, raters, ratings_per_item, categories : int
        Numbers of them.
    distribution : str
        Weights of the categories, with commas, semicolons or spaces between them; empty for equal
        weights.
    seed : int
        Seed of all random numbers.
    """

    agreement: float = 0.6
    items: int = 100
    raters: int = 6
    ratings_per_item: int = 2
    categories: int = 3
    distribution: str = ""
    seed: int = 1

    @property
    def weights(self) -> tuple[float, ...] | None:
        """Weights of the categories; None for equal ones."""
        given = self.distribution.strip(",; ")
        try:
            return tuple(map(float, re.split(r"[,; ]+", given))) if given else None
        except ValueError as error:
            raise ValueError(
                f"The response distribution must be numbers with commas between them, one for each "
                f"of the {self.categories} categories; found {self.distribution!r}. Leave it empty "
                "for equal weights."
            ) from error


@dataclass(frozen=True)
class OwnResult:
    """What somebody found in ratings of the same design, to compare with simulated ones.

    Attributes
    ----------
    coefficient : float or None
        Value of the coefficient.
    agreement : float or None
        Proportion of items whose ratings are unanimous.
    """

    coefficient: float | None = None
    agreement: float | None = None

    def check(self) -> None:
        """Raise a ValueError if a value is out of range."""
        if self.coefficient is not None and not self.coefficient <= 1:
            raise ValueError(
                f"Your coefficient must be at most 1; found {self.coefficient:g}. Change it, or "
                "leave it empty."
            )
        if self.agreement is not None and not 0 <= self.agreement <= 1:
            raise ValueError(
                f"Your agreement must lie between 0 and 1; found {self.agreement:g}. Change it, or "
                "leave it empty."
            )


NOTHING_FOUND = OwnResult()


def matrix(design: MatrixDesign) -> Ratings:
    """One matrix.

    Parameters
    ----------
    design : MatrixDesign
        What it is like.

    Returns
    -------
    Ratings
    """
    return rating_matrix(
        agreement=design.agreement,
        rng=np.random.default_rng(design.seed),
        items=design.items,
        raters=design.raters,
        ratings_per_item=design.ratings_per_item,
        categories=design.categories,
        distribution=design.weights,
    )


def matrix_coefficients(design: MatrixDesign) -> str:
    """Coefficients of one matrix with their intervals, as HTML.

    Parameters
    ----------
    design : MatrixDesign
        What the matrix is like.

    Returns
    -------
    str
    """
    finding, blocks = coefficients(matrix(design), 0.9)
    return blocks_fragment([Heading(finding, "matrix-finding"), *blocks])


def study_picture(
    design: MatrixDesign,
    coefficient: str,
    curve: Curve,
    own: OwnResult = NOTHING_FOUND,
    matrices: int = 20,
) -> str:
    """Regression of a coefficient on the agreement of many matrices, as HTML.

    Parameters
    ----------
    design : MatrixDesign
        What matrices are like, apart from their agreement, which takes all tenths.
    coefficient : str
        One of `COEFFICIENTS`.
    curve : {"linear", "quadratic", "loess"}
        Kind of curve.
    own : OwnResult
        What to mark on the curve.
    matrices : int, default 20
        Matrices of each agreement.

    Returns
    -------
    str
    """
    own.check()
    matrix(design)  # says what is wrong with the design, where a study would skip it
    study = reliability_study(
        categories=[design.categories],
        raters=[design.raters],
        ratings_per_item=[design.ratings_per_item],
        items=[design.items],
        distributions={"wanted": design.weights},
        matrices=matrices,
        coefficients={coefficient: COEFFICIENTS[coefficient]},
        seed=design.seed,
        progress=False,
    )
    regression = agreement_regression(study, coefficient, curve)
    drawn = picture(partial(regression.plot, at=_agreements(regression, own)))
    return blocks_fragment([drawn, *map(Text, correspondences(regression, own))])


def correspondences(regression: AgreementRegression, own: OwnResult) -> list[str]:
    """Which agreement a coefficient corresponds to, and the reverse.

    Parameters
    ----------
    regression : AgreementRegression
        Of simulated matrices.
    own : OwnResult
        What was found in other ratings.

    Returns
    -------
    list of str
        A sentence for each value that was found.
    """
    name, scatter = regression.coefficient, regression.residual_standard_error
    low, high = regression.agreement[[0, -1]]
    simulated = f"simulated matrices agree on {low:.0%} to {high:.0%} of the items"
    sentences = []
    if own.coefficient is not None:
        found, value = regression.agreement_at([own.coefficient]).item(), own.coefficient
        sentences.append(
            f"{name} of {value:.2f} is beyond the curve: {simulated}."
            if math.isnan(found)
            else f"{name} of {value:.2f} corresponds to agreement on {found:.0%} of items."
        )
    if own.agreement is not None:
        [mean] = regression.predict([own.agreement])["mean"]
        sentences.append(
            f"Agreement on {own.agreement:.0%} of items corresponds to {name} of {mean:.2f}; that "
            f"of single matrices has a standard deviation of {scatter:.2f} around the curve."
            if low <= own.agreement <= high
            else f"Agreement on {own.agreement:.0%} of items is beyond the curve: {simulated}."
        )
    return sentences


def _agreements(regression: AgreementRegression, own: OwnResult) -> list[float]:
    """Agreements to mark on the curve, all within its range."""
    values = [] if own.coefficient is None else [own.coefficient]
    low, high = regression.agreement[[0, -1]]
    is_inside = own.agreement is not None and low <= own.agreement <= high
    return [*regression.agreement_at(values).dropna(), *([own.agreement] if is_inside else [])]


@dataclass(frozen=True)
class TAPDesign:
    """Ratings of two categories by raters who know the true one or guess.

    Attributes
    ----------
    t : float
        Proportion of items whose true category is 1.
    a : float
        Probability that a rater knows the true category.
    p : float
        Probability that a guess is 1.
    items, raters : int
        Numbers of them; all raters rate all items.
    seed : int
        Seed of all random numbers.
    """

    t: float = 0.5
    a: float = 0.6
    p: float = 0.5
    items: int = 200
    raters: int = 5
    seed: int = 1

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters as the model has them."""
        return {
            "prevalence": [1 - self.t, self.t],
            "a": [self.a],
            "p": [1 - self.p, self.p],
        }

    @property
    def truth(self) -> pd.Series[float]:
        """What is to come back, by the names of quantities."""
        return pd.Series({"prevalence[1]": self.t, "a": self.a, "p[1]": self.p}, name="true")


def tap_ratings(design: TAPDesign) -> Ratings:
    """Ratings of a design.

    Parameters
    ----------
    design : TAPDesign
        The design.

    Returns
    -------
    Ratings
    """
    rng = np.random.default_rng(design.seed)
    return TAP().simulate(crossed(design.items, design.raters), rng, parameters=design.parameters)


def tap_recovery(design: TAPDesign) -> pd.DataFrame:
    """True parameters and their estimates: by EM, and where Stan runs with an interval.

    Parameters
    ----------
    design : TAPDesign
        The design.

    Returns
    -------
    DataFrame
        Index parameter; columns true, em, and median, lower_90 and upper_90 of the posterior.
    """
    ratings, truth = tap_ratings(design), design.truth
    estimate = TAP().em(ratings).summary()["estimate"]
    found = pd.DataFrame({"true": truth, "EM": estimate.reindex(truth.index)})
    if runs_stan():
        summary = TAP().fit(ratings, seed=design.seed).summary()
        found = found.join(summary[["median", "lower_90", "upper_90"]])
    return found.set_axis(["t", "a", "p"]).rename_axis("parameter")


def tap_recovery_table(design: TAPDesign) -> str:
    """The same as HTML.

    Parameters
    ----------
    design : TAPDesign
        The design.

    Returns
    -------
    str
    """
    note = (
        "t is the proportion of items that are truly 1, a the probability that a rater knows the "
        "true category, p the probability that a guess is 1."
    )
    caption = "True parameters of the simulation, and what comes back"
    return blocks_fragment([table("tap", caption, tap_recovery(design), note=note)])
