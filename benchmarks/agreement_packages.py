"""The same coefficients in other packages, each given the input format that is fastest for it."""

# The packages are optional and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pingouin
from irrCAC.raw import CAC
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

import reliabayes as rb
from reliabayes.arrays import Array

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Table:
    """Complete ratings (I, R) of items by raters, and coefficients of resampled items."""

    rating: NDArray[Any]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Table:
        """Convert a long table."""
        return cls(frame.pivot(index="item", columns="rater", values="rating").to_numpy())

    def __str__(self) -> str:
        size = len(self.categories)
        return f"K={size}" if size < len(self.rating) else "all distinct"

    @cached_property
    def ratings(self) -> rb.Ratings:
        """The ratings in this package's format."""
        return rb.Ratings.from_wide(self.rating)

    @cached_property
    def categories(self) -> NDArray[Any]:
        """Categories (K,) that occur."""
        return np.unique(self.rating)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Counts (I, K) of ratings by item and category."""
        return np.stack([(self.rating == k).sum(axis=1) for k in self.categories], axis=1)

    @cached_property
    def pair(self) -> NDArray[np.int64]:
        """Code (I,) of the two categories that two raters gave an item."""
        one, other = np.searchsorted(self.categories, self.rating).T
        return np.asarray(one * len(self.categories) + other)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Table with a row per item and a column per rater."""
        return pd.DataFrame(self.rating)

    def krippendorff(self, metric: Any, drawn: Indices) -> float:
        """Krippendorff's alpha by krippendorff, from counts of categories."""
        counts = self.counts[drawn]
        found = krippendorff.alpha(
            value_counts=counts, value_domain=self.categories, level_of_measurement=metric
        )
        return float(found)

    def irrcac(self, coefficient: Callable[[CAC], Any], weights: str, drawn: Indices) -> float:
        """A coefficient by irrCAC, which also computes its standard error, from a row per item."""
        categories = self.categories.tolist()
        table = CAC(self.frame.iloc[drawn], weights=weights, categories=categories, digits=15)
        return float(coefficient(table)["est"]["coefficient_value"])

    def fleiss(self, drawn: Indices) -> float:
        """Fleiss' kappa by statsmodels, from counts of categories."""
        return float(fleiss_kappa(self.counts[drawn]))

    def statsmodels_cohen(self, weights: str | None, drawn: Indices) -> float:
        """Cohen's kappa by statsmodels, from a contingency table."""
        size = len(self.categories)
        table = np.bincount(self.pair[drawn], minlength=size**2).reshape(size, size)
        return float(cohens_kappa(table, wt=weights, return_results=False))

    def sklearn_cohen(self, weights: str | None, drawn: Indices) -> float:
        """Cohen's kappa by scikit-learn, from two ratings per item."""
        return float(cohen_kappa_score(*self.rating[drawn].T, weights=weights))

    def pingouin(self, drawn: Indices) -> Array:
        """All six ICCs with their intervals by pingouin, from a long table of distinct items."""
        items, raters = self.rating.shape
        frame = pd.DataFrame(
            {
                "item": np.repeat(np.arange(items), raters),
                "rater": np.tile(np.arange(raters), items),
                "rating": self.rating[drawn].ravel(),
            }
        )
        found = pingouin.intraclass_corr(frame, targets="item", raters="rater", ratings="rating")
        return np.asarray(found["ICC"], float)
