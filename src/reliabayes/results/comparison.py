"""How well models foretell the ratings of an item they have not seen, and which does it best."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.errors import ConvergenceWarning, Fault, RatingsError
from reliabayes.inference.em import Point, climb
from reliabayes.ratings import Ratings

if TYPE_CHECKING:
    from reliabayes.results.fit import Fit
    from reliabayes.results.model import Model


N_NAMED = 3  # items that a warning names


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut:
    r"""How well a model foretells all ratings of an item from those of the other items.

    .. math:: \mathrm{elpd}_i = \log p(\text{ratings of } i \mid \text{ratings of other items})

    An item leaves with all its ratings, for given the parameters they hang together by its hidden
    state. The posterior without it is that of all items, reweighted (PSIS). Not to be confused with
    ``bits_per_rating`` of `Fit.quantities`, which is of ratings that the model has seen.

    Of ratings in categories p is a probability. Of numbers (`GaussianICC`, `GaussianXCC`) it is a
    density per unit of the ratings: of ratings in cents elpd is lower by log(100) a rating than of
    the same in euros, and bits are more by 6.6. They may even be below 0. So differences between
    models of the same ratings mean something, their level does not.

    Attributes
    ----------
    elpd_by_item : Series (I,) by the user's ids, in nats
    pareto_k : Series (I,) by the user's ids
        Shape of the tail of an item's weights; where it is above ``good_k``, leaving the item out
        changes the posterior too much for its draws to tell.
    good_k : largest trusted Pareto k, 0.7 or, of less than 2200 draws, 1 - 1 / log10(draws)
    p_loo : effective number of parameters
    n_ratings : number N of ratings

    References
    ----------
    Vehtari, Gelman & Gabry (2017). https://doi.org/10.1007/s11222-016-9696-4
    Vehtari, Simpson, Gelman, Yao & Gabry (2024), on k. https://jmlr.org/papers/v25/19-556.html
    """

    elpd_by_item: pd.Series[float]
    pareto_k: pd.Series[float]
    good_k: float
    p_loo: float
    n_ratings: int

    def __repr__(self) -> str:
        return (
            f"LeaveOneOut({self.bits_per_rating:.4f} bits per rating (se "
            f"{self.bits_per_rating_se:.4f}), elpd {self.elpd:.1f} (se {self.elpd_se:.1f}), p_loo "
            f"{self.p_loo:.1f}, {self.n_high_k} of {len(self.pareto_k)} items with Pareto k above "
            f"{self.good_k:.2f})"
        )

    @property
    def elpd(self) -> float:
        """Sum over items, in nats: the higher, the better."""
        return float(self.elpd_by_item.sum(skipna=False))

    @property
    def elpd_se(self) -> float:
        """Standard error of ``elpd`` in nats, items being a sample; nan of a single one."""
        return standard_error(self.elpd_by_item)

    @property
    def bits_per_rating(self) -> float:
        """Bits needed to tell a rating of an unseen item: the lower, the better."""
        return -self.elpd / self._nats

    @property
    def bits_per_rating_se(self) -> float:
        """Standard error of ``bits_per_rating``, items being a sample."""
        return self.elpd_se / self._nats

    @property
    def _nats(self) -> float:
        return self.n_ratings * math.log(2)

    @property
    def n_high_k(self) -> int:
        """Number of items whose Pareto k is above ``good_k``."""
        return int((~(self.pareto_k <= self.good_k)).sum())  # nan is no good either

    @property
    def problem(self) -> str:
        """What cannot be trusted, with the numbers; empty if all is well."""
        if not self.n_high_k:
            return ""
        worst = self.pareto_k.sort_values(ascending=False, na_position="first", kind="stable")
        named = ", ".join(map(repr, worst.index[: min(N_NAMED, self.n_high_k)].tolist()))
        return (
            f"Pareto k up to {worst.iloc[0]:.2f} (at most {self.good_k:.2f}) in {self.n_high_k} of "
            f"{len(worst)} items, worst in {named}"
        )


def compare(fits: Mapping[str, Fit], draws: int | None = None) -> pd.DataFrame:
    """Compare models by how well they foretell the ratings of an item left out.

    Parameters
    ----------
    fits : at least two fits of the same ratings, by the names they shall have in the table
    draws : posterior draws of each to use; see `Fit.loo`

    Returns
    -------
    DataFrame
        A row for each model, the best first. Columns:

        - bits_per_rating, of ratings of items left out, and its standard error se; of numbers it
          depends on their unit, see `LeaveOneOut`
        - difference from the best in bits per rating, 0 or above, and its standard error
          se_difference, items being paired; one below about twice its error may be chance
        - p_loo, effective number of parameters
        - weight of the model in the mixture of all that foretells best (stacking); models that say
          the same share one
        - n_high_k, items for which PSIS cannot be trusted

    Raises
    ------
    RatingsError
        The fits are of different ratings.
    ValueError
        There are less than two; or one takes part of the ratings for given, as `Groupthink` does
        the shares of an item's votes: what it gives is not the probability of the ratings; or some
        give densities of numbers and others probabilities of categories.

    Warns
    -----
    ConvergenceWarning
        Pareto k is too high for some items.

    Notes
    -----
    Standard errors are too small where models say much the same, where a few items make all of the
    difference, and of less than about 100 items (Sivula et al.).

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
    behind = [best.elpd_by_item - loo.elpd_by_item for loo in found.values()]
    nats = best.n_ratings * math.log(2)
    table = {
        "bits_per_rating": [loo.bits_per_rating for loo in found.values()],
        "se": [loo.bits_per_rating_se for loo in found.values()],
        "difference": [(best.elpd - loo.elpd) / nats for loo in found.values()],
        "se_difference": [standard_error(by_item) / nats for by_item in behind],
        "p_loo": [loo.p_loo for loo in found.values()],
        "weight": stacking_weights(np.array([loo.elpd_by_item for loo in found.values()]).T),
        "n_high_k": [loo.n_high_k for loo in found.values()],
    }
    return pd.DataFrame(table, index=pd.Index(list(found), name="model"))


def stacking_weights(elpd: Array) -> Array:
    r"""Weights of models whose mixture foretells best.

    .. math:: \arg\max_w \sum_i \log \sum_m w_m \exp(\mathrm{elpd}_{im})

    Parameters
    ----------
    elpd : (I, M), of each item by each model, in nats

    Returns
    -------
    (M,), none negative, their sum 1

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018). https://doi.org/10.1214/17-BA1091

    Examples
    --------
    >>> stacking_weights(np.log([[0.5, 0.5], [0.5, 0.1]])).round(4).tolist()
    [1.0, 0.0]
    """
    # A factor that an item has under all models changes nothing, and would underflow.
    density = np.exp(elpd - elpd.max(axis=1, keepdims=True))

    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        weight = point["weight"]
        mixture = density @ weight
        share = (density / mixture[:, None]).mean(axis=0)
        return float(np.log(mixture).mean()), lambda: {"weight": weight * share}

    def is_inside(point: Point) -> bool:
        return bool((point["weight"] > 0).all())

    equal = {"weight": np.full(elpd.shape[1], 1 / elpd.shape[1])}
    return climb(evaluate, equal, max_iterations=5000, tolerance=1e-7, is_allowed=is_inside).point[
        "weight"
    ]


def standard_error(by_item: pd.Series[float]) -> float:
    """Standard error of a sum over items, these being a sample; nan of a single one."""
    return math.sqrt(len(by_item)) * float(by_item.std(skipna=False))


def _check(fits: Mapping[str, Fit]) -> None:
    if not isinstance(fits, Mapping):
        raise TypeError(f'fits must be a dict such as {{"DS": fit}}, not {type(fits).__name__}.')
    if len(fits) < 2:
        raise ValueError(f"fits must be at least two, by name, not {len(fits)}.")
    for name, fit in fits.items():
        if not hasattr(fit, "loo"):
            raise TypeError(f"fits: {name!r} must be a Fit, not {type(fit).__name__}.")
    if refusal := refuses_comparison({name: type(fit.model) for name, fit in fits.items()}):
        raise ValueError(f"fits: {refusal}")
    (name, first), *others = fits.items()
    for other, fit in others:
        if fit.ratings != first.ratings:
            rule = "all must be of the same ratings"
            found = (
                f"{first.ratings!r} in {name!r}, and in {other!r} {fit.ratings!r}, with other "
                f"{', '.join(_differences(first.ratings, fit.ratings))}"
            )
            remedy = "Fit all models to one Ratings object."
            raise RatingsError([Fault("fits", rule, found, remedy)])


def refuses_comparison(models: Mapping[str, type[Model]]) -> str:
    """Why likelihoods of these models, by name, cannot be compared; empty where they can."""
    for name, model in models.items():
        if model.conditional:
            return (
                f"{name} cannot be compared: {model.__name__} takes the shares of an item's own "
                "votes for given, and does not foretell them."
            )
    of_numbers = [name for name, model in models.items() if model.continuous]
    of_categories = [name for name in models if name not in of_numbers]
    if of_numbers and of_categories:
        return (
            f"{of_numbers[0]} is no model of categories: densities of numbers, which depend on "
            f"their unit, cannot be compared with probabilities, as of {of_categories[0]}. "
            "Compare models of one kind."
        )
    return ""


def _differences(one: Ratings, other: Ratings) -> list[str]:
    """Attributes in which ratings differ."""
    names = (field.name for field in fields(Ratings))
    return [name for name in names if replace(one, **{name: getattr(other, name)}) != one]


def _warn(found: Mapping[str, LeaveOneOut]) -> None:
    problems = [f"{name} has {loo.problem}" for name, loo in found.items() if loo.problem]
    if problems:
        warn_of_high_k("; ".join(problems))


def warn_of_high_k(problem: str, stacklevel: int = 4) -> None:
    """Warn of items whose leaving changes the posterior too much to be told from its draws."""
    warnings.warn(
        f"leave-one-out cannot be trusted: {problem}. These items change the posterior too much "
        "when left out, as where raters have few others. Take more draws, or give tighter priors.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
