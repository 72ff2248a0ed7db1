"""Probabilities of each rater's ratings by state of the item, draw by draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.models.bases.hidden_state import CategoricalProblem, HiddenStateModel
from reliabayes.results.posterior import Posterior
from reliabayes.results.rating_probabilities import RatingProbabilities


def rater_tables(
    model: HiddenStateModel[Any],
    posterior: Posterior[Any],
    truth: Callable[[Point, Any], Array] | None = None,
) -> Iterator[RatingProbabilities]:
    """Tables of a model whose cells are a category and a rater each.

    ``truth`` gives the probabilities of true categories in each state; a state is one by itself
    where items have none.
    """
    problem: CategoricalProblem = posterior.problem
    for point in posterior.points():
        table, weight = model.table(point, problem), model.log_weight(point, problem)
        by_rater = table.reshape(len(table), problem.n_categories, -1).transpose(0, 2, 1)
        of_state = np.eye(len(table)) if truth is None else truth(point, problem)
        yield RatingProbabilities(weight, by_rater, of_state)
