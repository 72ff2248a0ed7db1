"""Raters with confusion matrices, whose rows are parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import CategoricalProblem, by_rater
from reliabayes.inference.conjugate import RatingEvents
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected

ROWS = PREVALENCE, Parameter("confusion", "simplex", ("rater", "true_category", "category"))


def probabilities(point: Point, problem: CategoricalProblem) -> Array:
    """Probabilities of ratings (..., R, K, K) by true category: the parameter."""
    return point["confusion"]


def outcomes(at: Mapping[str, Codes], problem: CategoricalProblem) -> RatingEvents:
    """Each rating is one of a row of its rater's matrix."""
    return RatingEvents(
        known=at["confusion"].transpose(1, 2, 0).reshape(problem.n_categories, -1),
        guessed=(),
        proportion=np.zeros(problem.n_cells),
    )


def pseudo_counts(point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
    """Expected items and ratings besides the priors'."""
    return {
        "prevalence": expected.items + problem.priors["prevalence"],
        "confusion": by_rater(expected, problem) + problem.priors["confusion"],
    }
