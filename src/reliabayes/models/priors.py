"""Prior distributions that a user may set.

Priors of means, cut points and standard deviations are on the scale of the model: in the units of
the ratings for the Gaussian models; in log odds, or in standard deviations of the latent residual
with the probit link, for models of categories.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_args, get_type_hints

import numpy as np
from scipy.special import log_ndtr

from reliabayes.arrays import Array

# Of the default prior of confusion matrices, by the comparison in docs/known_answers.md.
LEAST_WEIGHT = 4.0  # ratings for each true category
LEAST_PER_ERROR = 0.35  # ratings for each true category and wrong category
SHAPES = "(categories, categories) or (raters, categories, categories)"


@dataclass(frozen=True)
class Normal:
    """Normal prior of a mean, a cut point or another location.

    Parameters
    ----------
    mean : float
        Prior mean, finite, on the scale of the model.
    sd : float
        Prior standard deviation, above 0, on the scale of the model; the parameter lies within
        2 ``sd`` of the mean with probability 0.95. ``math.inf`` makes the prior flat. On the log
        odds scale, ``Normal(0, 1.5)`` expects a probability between 0.05 and 0.95.
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and self.sd > 0):
            raise ValueError(f"A normal prior needs a finite mean and an sd above 0, not {self}.")

    @property
    def stan(self) -> Array:
        """Mean and sd, in the order of Stan's data."""
        return np.array([self.mean, self.sd], float)


@dataclass(frozen=True)
class HalfNormal:
    """Half-normal prior of a standard deviation or another positive parameter.

    Parameters
    ----------
    scale : float
        Standard deviation of the normal distribution that is cut at 0; finite, above 0, on the
        scale of the model. The prior median is 0.67 ``scale``, and 95% of the prior lies below
        1.96 ``scale``.
    """

    scale: float

    def __post_init__(self) -> None:
        _check_scale(self, self.scale)

    @property
    def stan(self) -> Array:
        """Infinite degrees of freedom, which make a half-t half-normal, and scale."""
        return np.array([math.inf, self.scale], float)


@dataclass(frozen=True)
class HalfStudentT:
    """Half-t prior of a standard deviation or another positive parameter, with a heavy tail.

    Parameters
    ----------
    df : float
        Degrees of freedom, finite, above 0; fewer give a heavier tail. 1 is the half-Cauchy prior.
    scale : float
        Scale of the t distribution that is cut at 0; finite, above 0, on the scale of the model.
    """

    df: float
    scale: float

    def __post_init__(self) -> None:
        _check_scale(self, self.scale)
        if not 0 < self.df < math.inf:
            raise ValueError(
                f"df must be finite and above 0, not {self}. Use HalfNormal for infinite df."
            )

    @property
    def stan(self) -> Array:
        """Degrees of freedom and scale, in the order of Stan's data."""
        return np.array([self.df, self.scale], float)


SdPrior: TypeAlias = HalfNormal | HalfStudentT


@dataclass(frozen=True)
class Beta:
    """Beta prior of a probability; ``Beta(1, 1)`` is uniform.

    Parameters
    ----------
    a, b : float
        Shapes, finite, above 0. The prior mean is a / (a + b), and the prior counts as a + b
        observations, of which a are successes.
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        _check_scale(self, self.a)
        _check_scale(self, self.b)

    @property
    def stan(self) -> Array:
        """Both shapes, in the order of Stan's data."""
        return np.array([self.a, self.b], float)

    @property
    def mean(self) -> float:
        """Mean of the prior."""
        return self.a / (self.a + self.b)


@dataclass(frozen=True)
class Dirichlet:
    """Dirichlet prior of the probabilities of K categories; ``Dirichlet(1.0)`` is uniform.

    Parameters
    ----------
    concentration : float or tuple of float, default 1.0
        Finite, above 0: one number for all categories, or a tuple with one for each. The prior mean
        is proportional to the concentrations, and the prior counts as their sum of observations.
    """

    concentration: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.concentration, (int, float)):
            object.__setattr__(self, "concentration", tuple(map(float, self.concentration)))
        for number in np.atleast_1d(self.concentration):
            _check_scale(self, float(number))

    def of(self, n_categories: int) -> Array:
        """Concentrations of all categories.

        Parameters
        ----------
        n_categories : int
            Number K of categories, at least 2.

        Returns
        -------
        array of float, shape (K,)
            The concentrations.

        Raises
        ------
        ValueError
            The prior has concentrations for another number of categories.
        """
        numbers = np.atleast_1d(np.asarray(self.concentration, float))
        if len(numbers) not in (1, n_categories):
            raise ValueError(
                f"{self} has {len(numbers)} numbers for {n_categories} categories. Give one number "
                "for all categories, or one for each."
            )
        return np.resize(numbers, n_categories)

    def rows(self, n_categories: int) -> Array:
        """Concentrations of a confusion matrix whose rows have the same prior.

        Parameters
        ----------
        n_categories : int
            Number K of categories, at least 2.

        Returns
        -------
        array of float, shape (K, K)
            The concentrations, a row for each true category.
        """
        return np.tile(self.of(n_categories), (n_categories, 1))

    def mean(self, n_categories: int) -> Array:
        """Prior mean of the probabilities.

        Parameters
        ----------
        n_categories : int
            Number K of categories, at least 2.

        Returns
        -------
        array of float, shape (K,)
            Probabilities that sum to 1.
        """
        numbers = self.of(n_categories)
        return np.asarray(numbers / numbers.sum())


@dataclass(frozen=True)
class DiagonalDirichlet:
    """Dirichlet priors of the rows of a confusion matrix that favour correct ratings.

    They make the true categories identifiable, because flat priors allow label switching.

    Parameters
    ----------
    weight : float or None
        Number of ratings per true category that the prior counts as; finite, above 0. By default
        4, or so many that each wrong category counts as 0.35 ratings: 4.67 for five categories,
        22.2 for twenty.
    accuracy : float, default 0.7
        Prior mean of the probability of a correct rating, strictly between 0 and 1.

    Notes
    -----
    A small weight lets the ratings decide how accurate a rater is. With many categories it would
    also make each single error all but impossible until it has been seen, which makes the
    probabilities of items overconfident and the posterior hard to sample. The page on known answers
    of the documentation has the comparison.
    """

    weight: float | None = None
    accuracy: float = 0.7

    def __post_init__(self) -> None:
        if self.weight is not None:
            _check_scale(self, self.weight)
        if not 0 < self.accuracy < 1:
            raise ValueError(f"accuracy must lie strictly between 0 and 1, not {self}.")

    def rows(self, n_categories: int) -> Array:
        """Concentrations of a confusion matrix.

        Parameters
        ----------
        n_categories : int
            Number K of categories, at least 2.

        Returns
        -------
        array of float, shape (K, K)
            The concentrations, a row for each true category.
        """
        errors, inaccuracy = n_categories - 1, 1 - self.accuracy
        weight = self.weight or max(LEAST_WEIGHT, LEAST_PER_ERROR * errors / inaccuracy)
        rows = np.full((n_categories, n_categories), weight * inaccuracy / errors)
        np.fill_diagonal(rows, weight * self.accuracy)
        return rows


@dataclass(frozen=True)
class RestrictedNormal:
    """Normal prior truncated to [0, 1], of the probability of the second of two categories.

    Parameters
    ----------
    location : float
        Mean of the normal distribution before truncation; finite.
    sd : float
        Standard deviation of the normal distribution before truncation; finite, above 0.
    """

    location: float
    sd: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.location):
            raise ValueError(f"The location of a prior must be finite, not {self}.")
        _check_scale(self, self.sd)

    def mean(self, n_categories: int) -> Array:
        """Prior mean of the probabilities of both categories.

        Parameters
        ----------
        n_categories : int
            Number K of categories, which must be 2.

        Returns
        -------
        array of float, shape (2,)
            Probabilities that sum to 1.

        Raises
        ------
        ValueError
            There are not 2 categories.
        """
        if n_categories != 2:
            raise ValueError(f"{self} is a prior for 2 categories, not {n_categories}.")
        second = self.location + self.sd * _truncated_normal_mean(
            (0 - self.location) / self.sd, (1 - self.location) / self.sd
        )
        return np.array([1 - second, second])


def _truncated_normal_mean(lower: float, upper: float) -> float:
    """Mean of a standard normal truncated to an interval, accurate far in the tails."""
    if lower + upper < 0:
        return -_truncated_normal_mean(-upper, -lower)
    # Density and tail probability at ``lower`` may underflow; their ratio and changes do not.
    hazard = math.exp(-0.5 * lower**2 - 0.5 * math.log(2 * math.pi) - log_ndtr(-lower))
    density_change = math.expm1(0.5 * (lower**2 - upper**2))
    tail_change = math.expm1(log_ndtr(-upper) - log_ndtr(-lower))
    return hazard * density_change / tail_change


def check_proper(name: str, prior: Normal) -> None:
    """Refuse a flat prior where the posterior needs a proper one."""
    if math.isinf(prior.sd):
        raise ValueError(
            f"{name} must have a finite sd, because the model needs a proper prior; found {prior}. "
            f"Pass a wide one, such as Normal({prior.mean:g}, 10)."
        )


def _check_scale(prior: object, scale: float) -> None:
    if not 0 < scale < math.inf:
        raise ValueError(f"The parameters of this prior must be finite and above 0, not {prior}.")


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


def own_priors(model: Any) -> dict[str, Any]:
    """Values of a model's fields that are priors, by parameter.

    Parameters
    ----------
    model : RatingModel
        A dataclass; its priors are the fields ``prior_*``.

    Returns
    -------
    dict
        Without the prefix.
    """
    names = [each.name for each in fields(model) if each.name.startswith("prior_")]
    return {name.removeprefix("prior_"): getattr(model, name) for name in names}
