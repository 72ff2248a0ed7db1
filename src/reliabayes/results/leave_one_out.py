"""Leave-one-item-out cross-validation: how well a model predicts held-out items."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import pandas as pd
import xarray as xr

from reliabayes.arrays import Codes
from reliabayes.errors import ConvergenceWarning
from reliabayes.ratings import Ratings
from reliabayes.results.arviz_bridge import psis_loo

N_NAMED = 3  # items that a warning names


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut:
    r"""How well a model predicts the ratings of a held-out item from those of the other items.

    .. math:: \mathrm{elpd}_i = \log p(\text{ratings of } i \mid \text{ratings of other items})

    An item is held out with all of its ratings, because they share its hidden state and are
    therefore dependent given the parameters. The posterior without the item is that of all items,
    reweighted by Pareto-smoothed importance sampling (PSIS). Not to be confused with
    ``bits_per_rating`` of `Fit.quantities`, which measures ratings that the model was fitted to.

    For ratings in categories, p is a probability. For numbers (`GaussianICC`, `GaussianXCC`) it is
    a density and depends on their unit: for ratings in cents, elpd is lower by log(100) per rating
    than for the same ratings in euros, and the bits are higher by 6.6; bits can be negative. Only
    differences between models of the same ratings can be interpreted, not the level.

    Attributes
    ----------
    elpd_by_item : Series of float, shape (I,)
        Expected log predictive density of each item in nats, indexed by the user's ids.
    pareto_k : Series of float, shape (I,)
        Tail shape of the importance weights of each item, indexed by the user's ids. Above
        ``good_k``, leaving the item out changes the posterior too much for PSIS to be reliable.
    good_k : float
        Largest reliable Pareto k: 0.7, or 1 - 1 / log10(draws) for fewer than 2200 draws.
    p_loo : float
        Effective number of parameters.
    n_ratings : int
        Number N of ratings.

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

    @classmethod
    def of(cls, log_likelihood: xr.DataArray, distinct: Codes, ratings: Ratings) -> LeaveOneOut:
        """Leave-one-out from log-likelihoods (chain, draw, distinct_item).

        Parameters
        ----------
        log_likelihood : DataArray (chain, draw, distinct_item)
            Log-likelihood of the ratings of each distinct item at each draw.
        distinct : array of int, shape (I,)
            Which of the distinct items each item is.
        ratings : Ratings
            The ratings.

        Returns
        -------
        LeaveOneOut
        """
        elpd, p_loo, pareto_k = psis_loo(log_likelihood)
        items = ratings.items.rename("item")
        return cls(
            elpd_by_item=pd.Series(elpd[distinct], items, name="elpd"),
            pareto_k=pd.Series(pareto_k[distinct], items, name="pareto_k"),
            good_k=min(0.7, 1 - 1 / math.log10(log_likelihood[..., 0].size)),
            p_loo=float(p_loo[distinct].sum()),
            n_ratings=ratings.n_ratings,
        )

    def __repr__(self) -> str:
        return (
            f"LeaveOneOut({self.bits_per_rating:.4f} bits per rating (se "
            f"{self.bits_per_rating_se:.4f}), elpd {self.elpd:.1f} (se {self.elpd_se:.1f}), p_loo "
            f"{self.p_loo:.1f}, {self.n_high_k} of {len(self.pareto_k)} items with Pareto k above "
            f"{self.good_k:.2f})"
        )

    @property
    def elpd(self) -> float:
        """Expected log predictive density of all items in nats; higher is better."""
        return float(self.elpd_by_item.sum(skipna=False))

    @property
    def elpd_se(self) -> float:
        """Standard error of ``elpd`` in nats, over a sample of items; nan for a single item."""
        return standard_error_of_sum(self.elpd_by_item)

    @property
    def bits_per_rating(self) -> float:
        """Bits needed to encode a rating of a held-out item; lower is better."""
        return -self.elpd / self._nats_per_bit

    @property
    def bits_per_rating_se(self) -> float:
        """Standard error of ``bits_per_rating``, over a sample of items; nan for a single item."""
        return self.elpd_se / self._nats_per_bit

    @property
    def _nats_per_bit(self) -> float:
        """Nats in all ratings that correspond to one bit per rating."""
        return self.n_ratings * math.log(2)

    @property
    def n_high_k(self) -> int:
        """Number of items whose Pareto k is above ``good_k``."""
        return int((~(self.pareto_k <= self.good_k)).sum())  # counts nan as high

    @property
    def problem(self) -> str:
        """Why the estimates are unreliable, with the numbers; empty if they are reliable."""
        if not self.n_high_k:
            return ""
        worst = self.pareto_k.sort_values(ascending=False, na_position="first", kind="stable")
        named = ", ".join(map(repr, worst.index[: min(N_NAMED, self.n_high_k)].tolist()))
        return (
            f"Pareto k up to {worst.iloc[0]:.2f} (at most {self.good_k:.2f}) in {self.n_high_k} of "
            f"{len(worst)} items, worst in {named}"
        )


def standard_error_of_sum(by_item: pd.Series[float]) -> float:
    """Standard error of a sum over a sample of items.

    Parameters
    ----------
    by_item : Series of float, shape (I,)
        The terms of the sum.

    Returns
    -------
    float
        The standard error; nan for a single item.
    """
    return math.sqrt(len(by_item)) * float(by_item.std(skipna=False))


def warn_of_high_k(problem: str, stacklevel: int = 4) -> None:
    """Warn that importance sampling is unreliable for some items.

    Parameters
    ----------
    problem : str
        The model and its `LeaveOneOut.problem`.
    stacklevel : int, default 4
        Number of calls between `warnings.warn` and the user's code.
    """
    warnings.warn(
        f"Leave-one-out estimates are unreliable: {problem}. Leaving these items out changes the "
        "posterior too much for importance sampling, as happens when raters rated few other items. "
        "Set tighter priors; model.priors(ratings) shows those in force.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
