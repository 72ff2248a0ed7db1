"""What Gibbs sampling needs of ratings with true categories, in memory or in parts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.categories import misleading
from reliabayes.families.categories.family import Response
from reliabayes.families.categories.parts import items_for_gibbs
from reliabayes.families.categories.problem import MISLEADING, CategoricalProblem
from reliabayes.families.categories.states_in_parts import StatesInParts
from reliabayes.inference.conjugate import NONE, Conjugate, Hierarchy, ParameterLayout, RatingEvents
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.sampling.sweeps import with_sweeps


def by_gibbs(
    response: Response, problem: CategoricalProblem
) -> Conjugate | ConjugateInParts | None:
    """The ratings, or where they are, and what they count for; None if only NUTS can sample."""
    found = response.conjugate(problem)
    if found is None:
        return None
    if problem.parts is None:
        return with_sweeps(found)
    rest = with_sweeps(replace(found, n_ratings=float(len(problem.parts)), in_parts=True))
    reader = partial(items_for_gibbs, problem.has_raters, problem.misleads)
    return ConjugateInParts(rest, StatesInParts(problem.parts, reader))


def conjugate_of(
    problem: CategoricalProblem,
    layout: ParameterLayout,
    outcomes: RatingEvents,
    fixed: Array | None = None,
    hierarchy: Hierarchy | None = None,
) -> Conjugate:
    """What Gibbs sampling needs.

    Parameters
    ----------
    problem : CategoricalProblem
        Ratings and priors.
    layout : ParameterLayout
        Positions of parameters.
    outcomes : RatingEvents
        What ratings are outcomes of.
    fixed : array of float, shape (H,), optional
        Probabilities of the states, if there is no parameter ``prevalence``.
    hierarchy : Hierarchy, optional
        What rows of confusion matrices follow from, if they are no parameters.

    Returns
    -------
    Conjugate
    """
    mixture, n_categories = problem.mixture, problem.n_categories
    weight = (
        layout.at["prevalence"].ravel() if fixed is None else np.full_like(fixed, NONE, np.int32)
    )
    if problem.misleads and (problem.n_gold_states > 1 or problem.parts is not None):
        at = layout.at[MISLEADING.name].ravel()
        known = np.ones(n_categories) if fixed is None else fixed
        outcomes = misleading.with_known(outcomes, at, weight, known)
        mixture = misleading.known_as_ratings(mixture, n_categories)
    return Conjugate(
        layout,
        layout.prior(problem.priors),
        weight,
        np.zeros(n_categories) if fixed is None else fixed,
        outcomes,
        mixture.counts.indptr,
        mixture.counts.indices,
        mixture.counts.data,
        mixture.kind,
        mixture.multiplicity.astype(np.int64),
        problem.mixture.n_ratings,
        hierarchy,
    )
