"""Priors as a user passes them to a model: of the right kind, or as arrays of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from reliabayes.arrays import Array
from reliabayes.models.priors import Dirichlet, RestrictedNormal

SHAPES = "(categories, categories) or (raters, categories, categories)"


@dataclass(frozen=True)
class DirichletRows:
    """Dirichlet priors of the rows of confusion matrices, each with concentrations of its own.

    Models that take it also take the numbers as an array.

    Parameters
    ----------
    concentration : array-like of float, shape (K, K) or (R, K, K)
        Finite, above 0: a row for each true category and a column for each category, in the order
        of ``ratings.categories``; for all raters, or for each in the order of ``ratings.raters``.
    """

    concentration: tuple[Any, ...]

    def __post_init__(self) -> None:
        numbers = np.asarray(self.concentration, float)
        if numbers.ndim not in (2, 3) or numbers.shape[-1] != numbers.shape[-2]:
            alike = " Where all rows are alike: rb.Dirichlet([...])." if numbers.ndim == 1 else ""
            raise ValueError(
                f"The concentrations of rows must be an array of shape {SHAPES}, not "
                f"{numbers.shape}.{alike}"
            )
        if not (np.isfinite(numbers) & (numbers > 0)).all():
            raise ValueError("The concentrations of rows must be finite and above 0.")
        object.__setattr__(self, "concentration", _nested(numbers.tolist()))

    def rows(self, n_categories: int) -> Array:
        """Concentrations of a confusion matrix, or of one for each rater.

        Parameters
        ----------
        n_categories : int
            Number K of categories, at least 2.

        Returns
        -------
        array of float, shape (K, K) or (R, K, K)
            The concentrations.

        Raises
        ------
        ValueError
            The prior has concentrations for another number of categories.
        """
        numbers = np.asarray(self.concentration)
        if numbers.shape[-1] != n_categories:
            raise ValueError(
                f"prior_confusion has rows of {numbers.shape[-1]} concentrations for "
                f"{n_categories} categories. Give one for each."
            )
        return numbers


def check_priors(model: object) -> None:
    """Refuse priors of another kind than a model declares, and take arrays of concentrations.

    Parameters
    ----------
    model : dataclass
        A model, whose fields that begin with ``prior_`` name the classes of priors that they take.

    Raises
    ------
    TypeError
        A prior is neither of these classes nor, for Dirichlet priors, an array.
    ValueError
        An array has another shape than its prior, or numbers that are not above 0.
    """
    try:
        hints = get_type_hints(type(model))
    except NameError:  # of a class inside a function, whose names cannot be found from here
        return
    for name, hint in hints.items():
        if name.startswith("prior_"):
            kinds = get_args(hint) or (hint,)
            given = getattr(model, name)
            if not isinstance(given, kinds):
                object.__setattr__(model, name, _of_numbers(name, given, kinds))


def check_prevalence(prevalence: str, prior_t: object) -> None:
    """Refuse an unknown option, or a prior that a shared prevalence cannot have."""
    if prevalence not in ("item", "shared"):
        raise ValueError(f"prevalence must be 'item' or 'shared', not {prevalence!r}.")
    if prevalence == "shared" and not isinstance(prior_t, Dirichlet):
        raise TypeError(
            f"prior_t must be a Dirichlet if prevalence='shared', not {prior_t}. Pass a "
            "Dirichlet, or prevalence='item'."
        )


def prior_of_shared(prior_t: Dirichlet | RestrictedNormal, n_categories: int) -> Array:
    """Concentrations (K,) of the prevalence; of a fixed one they have no effect."""
    shared = prior_t if isinstance(prior_t, Dirichlet) else Dirichlet()
    return shared.of(n_categories)


def _of_numbers(name: str, given: object, kinds: tuple[type, ...]) -> object:
    """The prior that an array of concentrations stands for."""
    try:
        dimensions = np.asarray(given, float).ndim
    except (TypeError, ValueError):
        dimensions = 0
    takes_rows, takes_one = DirichletRows in kinds, Dirichlet in kinds
    if dimensions and takes_rows:
        return DirichletRows(given)  # type: ignore[arg-type]  # which takes arrays
    if dimensions == 1 and takes_one:
        return Dirichlet(given)  # type: ignore[arg-type]
    names = " or ".join(kind.__name__ for kind in kinds if kind is not DirichletRows)
    numbers = ""
    if takes_rows:
        numbers = f", or an array of concentrations, of shape {SHAPES}"
    elif takes_one:
        numbers = ", or a list of one concentration for each category"
    raise TypeError(f"{name} must be a prior of the kind {names}{numbers}, not {given!r}.")


def _nested(numbers: Any) -> Any:
    """Tuples for lists, within one another."""
    return tuple(map(_nested, numbers)) if isinstance(numbers, list) else numbers
