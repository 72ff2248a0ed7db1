"""Simulations of the app: coefficients by agreement, and how well t-a-p parameters come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.app.where_it_runs import runs_stan
from reliabayes.html_report.blocks import Heading
from reliabayes.html_report.fragment import blocks_fragment
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.sections.data import coefficients
from reliabayes.html_report.tables import table
from reliabayes.models import TAP
from reliabayes.ratings import Ratings
from reliabayes.simulate import (
    COEFFICIENTS,
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
    items, raters, categories : int
        Numbers of them.
    missing : float
        Proportion of cells of the matrix that stay empty.
    seed : int
        Seed of all random numbers.
    """

    agreement: float = 0.6
    items: int = 100
    raters: int = 4
    categories: int = 3
    missing: float = 0.0
    seed: int = 1

    @property
    def ratings_per_item(self) -> int:
        """Ratings of an item, at least two, that leave about the wanted proportion of cells empty.

        Returns
        -------
        int
        """
        return max(2, round(self.raters * (1 - self.missing)))


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


def study_picture(design: MatrixDesign, coefficient: str, curve: Curve, matrices: int = 20) -> str:
    """Regression of a coefficient on the agreement of many matrices, as HTML.

    Parameters
    ----------
    design : MatrixDesign
        What matrices are like, apart from their agreement, which takes all tenths.
    coefficient : str
        One of `COEFFICIENTS`.
    curve : {"linear", "quadratic", "loess"}
        Kind of curve.
    matrices : int, default 20
        Matrices of each agreement.

    Returns
    -------
    str
    """
    study = reliability_study(
        categories=[design.categories],
        raters=[design.raters],
        ratings_per_item=[design.ratings_per_item],
        items=[design.items],
        matrices=matrices,
        coefficients={coefficient: COEFFICIENTS[coefficient]},
        seed=design.seed,
        progress=False,
    )
    return blocks_fragment([picture(agreement_regression(study, coefficient, curve).plot)])


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
