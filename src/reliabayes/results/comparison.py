"""Model comparison: which model predicts the ratings of held-out items best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Protocol

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.finding_table import FindingTable
from reliabayes.inference.em import Point, climb
from reliabayes.partitions import AnyRatings, in_memory
from reliabayes.ratings import Ratings
from reliabayes.results.leave_one_out import LeaveOneOut, standard_error_of_sum, warn_of_high_k
from reliabayes.results.model import Model

STANDARD_ERRORS = 2  # of a difference, within which it may be due to chance


class ComparableFit(Protocol):
    """What `compare` needs of a fit."""

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def ratings(self) -> AnyRatings:
        """The ratings that it was fitted to."""

    def loo(self, draws: int | None = None, *, warn: bool = True) -> LeaveOneOut:
        """Leave-one-item-out cross-validation."""


def compare(fits: Mapping[str, ComparableFit], draws: int | None = None) -> pd.DataFrame:
    """Compare models by how well they predict the ratings of held-out items.

    Parameters
    ----------
    fits : mapping of str to Fit
        At least two fits to the same ratings, by the names that the table gives them.
    draws : int, optional
        Posterior draws of each fit to use, at least 1; all by default. See `Fit.loo`.

    Returns
    -------
    DataFrame
        A row for each model, the best first. Columns:

        - bits_per_rating, for ratings of held-out items, and its standard error se; for numbers it
          depends on their unit, see `LeaveOneOut`
        - difference from the best model in bits per rating, 0 or above, and its standard error
          se_difference, from paired items; a difference below about twice its standard error may
          be due to chance
        - p_loo, effective number of parameters
        - weight of the model in the mixture of all models that predicts best (stacking); models
          with the same predictions split one weight between them
        - n_high_k, number of items for which PSIS is unreliable

        ``attrs["finding"]`` says it in a sentence, which notebooks show.

    Raises
    ------
    RatingsError
        The fits are to different ratings.
    ValueError
        There are fewer than two fits; or a model conditions on part of the ratings, as `Groupthink`
        does on the proportions of an item's votes, so that it gives no probability of all ratings;
        or some models give densities of numbers and others probabilities of categories.

    Warns
    -----
    ConvergenceWarning
        Pareto k is too high for some items.

    Notes
    -----
    Standard errors are too small when the models predict almost the same, when a few items cause
    all of the difference, and for fewer than about 100 items (Sivula et al.).

    References
    ----------
    Vehtari, Gelman & Gabry (2017). https://doi.org/10.1007/s11222-016-9696-4
    Yao, Vehtari, Simpson & Gelman (2018), on weights. https://doi.org/10.1214/17-BA1091
    Sivula, Magnusson, Matamoros & Vehtari (2020). https://doi.org/10.48550/arXiv.2008.10296
    """
    _check(fits)
    found = {name: fit.loo(draws, warn=False) for name, fit in fits.items()}
    found = dict(sorted(found.items(), key=lambda entry: -entry[1].elpd))
    _warn(found)
    best = next(iter(found.values()))
    deficits = [best.elpd_by_item - loo.elpd_by_item for loo in found.values()]
    nats_per_bit = best.n_ratings * math.log(2)
    table = {
        "bits_per_rating": [loo.bits_per_rating for loo in found.values()],
        "se": [loo.bits_per_rating_se for loo in found.values()],
        "difference": [(best.elpd - loo.elpd) / nats_per_bit for loo in found.values()],
        "se_difference": [standard_error_of_sum(deficit) / nats_per_bit for deficit in deficits],
        "p_loo": [loo.p_loo for loo in found.values()],
        "weight": stacking_weights(np.array([loo.elpd_by_item for loo in found.values()]).T),
        "n_high_k": [loo.n_high_k for loo in found.values()],
    }
    compared = pd.DataFrame(table, index=pd.Index(list(found), name="model"))
    return FindingTable.of(compared, comparison_in_words(compared))


def comparison_in_words(table: pd.DataFrame) -> str:
    """Which model predicts best, and whether the next one may be as good.

    Parameters
    ----------
    table : DataFrame
        Result of `compare`.

    Returns
    -------
    str
    """
    first, second = map(str, table.index[:2])
    bits, (more, error) = (
        table["bits_per_rating"].iloc[0],
        table[["difference", "se_difference"]].iloc[1],
    )
    if f"{more:.3f}" == "0.000":
        found = f"{first} and {second} predict held-out items equally well"
        return f"{found}, with {bits:.3f} bits per rating"
    doubt = "" if more > STANDARD_ERRORS * error else ", which may be due to chance"
    found = f"{first} predicts held-out items best, with {bits:.3f} bits per rating"
    return f"{found}; {second} needs {more:.3f} more{doubt}"


def stacking_weights(elpd: Array) -> Array:
    r"""Weights of the models in the mixture that predicts best.

    .. math:: \arg\max_w \sum_i \log \sum_m w_m \exp(\mathrm{elpd}_{im})

    Parameters
    ----------
    elpd : array of float, shape (I, M)
        Log predictive density of each item by each model, in nats.

    Returns
    -------
    array of float, shape (M,)
        Weights in [0, 1] that sum to 1.

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018). https://doi.org/10.1214/17-BA1091

    Examples
    --------
    >>> stacking_weights(np.log([[0.5, 0.5], [0.5, 0.1]])).round(4).tolist()
    [1.0, 0.0]
    """
    # A factor common to all models of an item does not change the optimum; dividing by the largest
    # density prevents underflow.
    density = np.exp(elpd - elpd.max(axis=1, keepdims=True))

    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        weight = point["weight"]
        mixture = density @ weight
        gain = (density / mixture[:, None]).mean(axis=0)
        return float(np.log(mixture).mean()), lambda: {"weight": weight * gain}

    def is_inside(point: Point) -> bool:
        return bool((point["weight"] > 0).all())

    equal = {"weight": np.full(elpd.shape[1], 1 / elpd.shape[1])}
    return climb(evaluate, equal, max_iterations=5000, tolerance=1e-7, is_allowed=is_inside).point[
        "weight"
    ]


def refuses_comparison(models: Mapping[str, Model]) -> str:
    """Why the likelihoods of models cannot be compared.

    Parameters
    ----------
    models : mapping of str to Model
        The models, by the names that the reason gives them.

    Returns
    -------
    str
        The reason as a sentence; empty if the models can be compared.
    """
    for name, model in models.items():
        if model.conditional:
            kind = type(model).__name__
            return (
                f"{name} cannot be compared: {kind} conditions on the proportions of an item's own "
                "votes instead of predicting them."
            )
    of_numbers = [name for name, model in models.items() if model.continuous]
    of_categories = [name for name in models if name not in of_numbers]
    if of_numbers and of_categories:
        return (
            f"{of_numbers[0]} models numbers and {of_categories[0]} models categories: densities, "
            "which depend on the unit of the ratings, cannot be compared with probabilities. "
            "Compare models of the same kind."
        )
    return ""


def _check(fits: Mapping[str, ComparableFit]) -> None:
    if not isinstance(fits, Mapping):
        raise TypeError(
            f'fits must be a dict such as {{"DawidSkene": fit}}, not {type(fits).__name__}.'
        )
    if len(fits) < 2:
        raise ValueError(f"fits must contain at least two fits by name, not {len(fits)}.")
    for name, fit in fits.items():
        if not hasattr(fit, "loo"):
            raise TypeError(f"fits: {name!r} must be a Fit, not {type(fit).__name__}.")
    if reason := refuses_comparison({name: fit.model for name, fit in fits.items()}):
        raise ValueError(f"fits: {reason}")
    of = {name: in_memory(fit.ratings, "fits") for name, fit in fits.items()}
    (name, first), *others = of.items()
    for other, ratings in others:
        if ratings != first:
            rule = "all models must be fitted to the same ratings"
            found = (
                f"{first!r} in {name!r} and {ratings!r} in {other!r}, which differ in "
                f"{', '.join(_differing_fields(first, ratings))}"
            )
            remedy = "Fit all models to one Ratings object."
            raise RatingsError([Fault("fits", rule, found, remedy)])


def _differing_fields(one: Ratings, other: Ratings) -> list[str]:
    names = (field.name for field in fields(Ratings))
    return [name for name in names if replace(one, **{name: getattr(other, name)}) != one]


def _warn(found: Mapping[str, LeaveOneOut]) -> None:
    problems = [f"{name} has {loo.problem}" for name, loo in found.items() if loo.problem]
    if problems:
        warn_of_high_k("; ".join(problems))
