"""Maximum likelihood estimates of models whose likelihood is a smooth function of few numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from reliabayes.arrays import Array, Mask
from reliabayes.errors import ConvergenceWarning
from reliabayes.inference.em import Point
from reliabayes.inference.maximum import Maximum, maximise

Criterion = Literal["likelihood", "restricted", "posterior"]


class Search(NamedTuple):
    """What is maximised, over numbers in units of about 1.

    Attributes
    ----------
    log_density : callable
        Of the numbers (P,), in nats. Standard deviations have either sign.
    start : array of shape (P,)
        Where the search starts.
    may_be_zero : array of bool, shape (P,)
        Which numbers are 0 if their source of variance has none.
    point : callable
        Parameters by name, of the numbers.
    """

    log_density: Callable[[Array], float]
    start: Array
    may_be_zero: Mask
    point: Callable[[Array], Point]


def criterion_of(model: str, *, priors: bool, reml: bool, has_restricted: bool) -> Criterion:
    """What an estimate maximises.

    Raises
    ------
    ValueError
        The model has no restricted likelihood, or ``priors`` is to go with it.
    """
    if reml and (priors or not has_restricted):
        reason = "with priors=True" if priors else f"for {model}"
        raise ValueError(f"reml=True must not be passed {reason}. Leave it out.")
    return "restricted" if reml else "posterior" if priors else "likelihood"


def highest(
    search: Search, criterion: Criterion, model: str, max_iterations: int, tolerance: float
) -> Maximum:
    """Where the search ends; a warning, where `em` is called, unless that is a maximum."""
    found = maximise(
        search.log_density,
        search.start,
        max_iterations=max_iterations,
        tolerance=tolerance,
        # Priors are on the scale of logarithms.
        may_be_zero=search.may_be_zero & np.array(criterion != "posterior"),
    )
    if not found.converged:
        reason = (
            f"em had not converged after {len(found.path) - 1} iterations. Raise max_iterations "
            "or tolerance."
        )
        if found.is_flat:
            reason = (
                "the ratings do not tell all parameters, as with one rater or one item in a pool: "
                "others are as likely. Call fit, or pass priors=True."
            )
        warnings.warn(f"{model}: {reason}", ConvergenceWarning, stacklevel=3)
    return found
