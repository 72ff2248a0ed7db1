"""What the posterior of raters depends on whose errors resemble one another."""

from __future__ import annotations

from dataclasses import dataclass

from reliabayes.arrays import Array
from reliabayes.models.bases.hidden_state import CategoricalProblem


@dataclass(frozen=True, eq=False, kw_only=True)
class HierarchicalProblem(CategoricalProblem):
    """Ratings in categories; errors are pairs of a true category and a wrong one.

    Attributes
    ----------
    precision : array of shape (E, R)
        Precision of raters' log odds for the Laplace approximation in EM; zeros until EM sets it.
    """

    precision: Array
