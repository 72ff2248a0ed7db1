"""Models whose parameters are all probabilities, with conjugate Beta and Dirichlet priors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.inference.conjugate import NONE, Conjugate, Hierarchy, Outcomes, Slots
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases import misleading
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.multimodal import MultimodalModel
from reliabayes.sampling.plan import ByGibbs

P = TypeVar("P", bound=CategoricalProblem, default=Any)


class ConjugateModel(MultimodalModel[P]):
    """A model whose parameters are all probabilities, so that expected ratings count for them."""

    has_cheap_climbs: ClassVar[bool] = True

    @abstractmethod
    def pseudo_counts(self, point: Point, expected: Expected, problem: P) -> Point:
        """Parameters of the Beta (..., 2) and Dirichlet (..., K) posteriors, by parameter.

        Priors count as they do on Stan's unconstrained scale, where the mode of a Dirichlet is its
        mean; so there always is one, inside the simplex.
        """

    def maximise(self, point: Point, expected: Expected, problem: P) -> Point:
        """Normalised pseudo-counts; uniform where there are none."""
        counts = self._all_counts(point, expected, problem)
        return {p.name: _normalised(p, counts[p.name]) for p in self.parameters()}

    def _all_counts(self, point: Point, expected: Expected, problem: P) -> Point:
        own = self.pseudo_counts(point, expected, problem)
        return {**own, **misleading.counts(expected, problem)}

    def posterior_sd(self, point: Point, expected: Expected, problem: P) -> Point:
        """Those of the posteriors if the expected ratings were observed."""
        counts = self._all_counts(point, expected, problem)
        return {p.name: p.unconstrained_sd(counts[p.name]) for p in self.parameters()}

    def log_prior(self, point: Point, problem: P) -> float:
        """Prior counts times log-probabilities."""
        priors = problem.priors
        return sum(
            float(xlogy(priors[p.name], _outcomes(p, point[p.name])).sum())
            for p in self.parameters()
        )

    def outcomes(self, at: Mapping[str, Codes], problem: P) -> Outcomes | None:
        """What ratings are outcomes of, given positions of probabilities by parameter.

        None if the model does not say, so that only NUTS can sample from its posterior.
        """
        return None

    def conjugate(self, problem: P) -> ByGibbs | None:
        """What Gibbs sampling needs: the ratings, and what they count for."""
        slots = Slots.of(self.parameters(), problem.size)
        outcomes = self.outcomes(slots.at, problem)
        if outcomes is None:
            return None
        fixed = None if "prevalence" in slots.at else self.prevalence_at({}, problem)
        return conjugate_of(problem, slots, outcomes, fixed)

    def draw_from_prior(self, problem: P, rng: np.random.Generator, given: Point) -> Point:
        """Parameters drawn from their priors."""
        none = np.zeros((problem.n_categories, problem.n_cells))
        counts = self._all_counts(self.midpoint(problem), Expected(none, none[:, 0]), problem)
        gammas = {name: rng.standard_gamma(np.maximum(x, 1e-300)) for name, x in counts.items()}
        return {p.name: _normalised(p, gammas[p.name]) for p in self.parameters()}


def conjugate_of(
    problem: CategoricalProblem,
    slots: Slots,
    outcomes: Outcomes,
    fixed: Array | None = None,
    hierarchy: Hierarchy | None = None,
) -> Conjugate:
    """What Gibbs sampling needs.

    Parameters
    ----------
    problem : CategoricalProblem
        Ratings and priors.
    slots : Slots
        Positions of parameters.
    outcomes : Outcomes
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
        slots.at["prevalence"].ravel() if fixed is None else np.full_like(fixed, NONE, np.int32)
    )
    if problem.misleads and (problem.n_kinds > 1 or problem.parts is not None):
        at = slots.at["misleading"].ravel()
        known = np.ones(n_categories) if fixed is None else fixed
        outcomes = misleading.with_known(outcomes, at, weight, known)
        mixture = misleading.known_as_ratings(mixture, n_categories)
    return Conjugate(
        slots,
        slots.prior(problem.priors),
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


def hierarchical(parameters: Sequence[Parameter], problem: CategoricalProblem) -> Conjugate:
    """What Gibbs sampling needs where each rating is one of a row of log odds in a hierarchy."""
    size, priors = (problem.n_raters, problem.n_categories), problem.priors
    hierarchy = Hierarchy(*size, priors["location"], priors["spread"])
    slots = Slots.of(parameters, problem.size)
    rows = hierarchy.rows(slots).transpose(1, 2, 0).reshape(problem.n_categories, -1)
    outcomes = Outcomes(rows, (), np.zeros(problem.n_cells))
    return conjugate_of(problem, slots, outcomes, hierarchy=hierarchy)


def _normalised(parameter: Parameter, counts: Array) -> Array:
    total = counts.sum(axis=-1, keepdims=True)
    uniform = np.full_like(counts, 1 / counts.shape[-1])
    proportions = np.divide(counts, total, out=uniform, where=total > 0)
    return np.asarray(proportions if parameter.support == "simplex" else proportions[..., 0])


def _outcomes(parameter: Parameter, value: Array) -> Array:
    """Probabilities of all outcomes, along the last axis."""
    return value if parameter.support == "simplex" else np.stack([value, 1 - value], axis=-1)
