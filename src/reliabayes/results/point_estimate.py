"""Point estimates: what EM finds, without uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.summaries import scalars

if TYPE_CHECKING:
    from reliabayes.models.bases.annotation import AnnotationModel


@dataclass(frozen=True, eq=False, repr=False)
class PointEstimate:
    """Most likely parameters of a model given ratings, without uncertainty.

    Attributes
    ----------
    model : the model
    ratings : the data
    parameters : Dataset of the parameters, the user's ids as coords
    log_likelihood : of all ratings, true categories summed out, in nats
    path : objective after each iteration, which never goes down
    converged : whether the last iteration gained too little to go on
    """

    model: AnnotationModel
    ratings: Ratings
    parameters: xr.Dataset
    log_likelihood: float
    path: tuple[float, ...]
    converged: bool

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (
            f"PointEstimate({type(self.model).__name__}, {state} after {len(self.path) - 1} "
            f"iterations, log-likelihood {self.log_likelihood:.4f}, {self.ratings!r})"
        )

    @property
    def bits_per_rating(self) -> float:
        """Bits needed to tell a rating, if one knows the model: the lower, the better it fits."""
        return quantities.bits_per_rating(self.log_likelihood, len(self.ratings))

    @cached_property
    def quantities(self) -> xr.Dataset:
        """What the model reports, at this point."""
        found = self.model.quantities(self._draw, self.ratings)
        return found.isel(chain=0, draw=0, drop=True)

    def summary(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Estimate of each quantity in a row; by default of those that are not of single raters."""
        if names is None:
            names = [str(name) for name, x in self.quantities.items() if "rater" not in x.dims]
        rows = dict(row for name in names for row in scalars(name, self.quantities[name]))
        return pd.DataFrame({"estimate": pd.Series(rows, dtype=float)}).rename_axis("quantity")

    def items(self) -> pd.DataFrame:
        """What is known of each item, by the user's ids; columns as of `Fit.items`."""
        table = self.model.items(self._draw, self.ratings, prob=None)
        table.insert(0, "ratings", self.ratings.ratings_per_item)
        return table

    def raters(self) -> pd.DataFrame:
        """What is known of each rater, by the user's ids; columns as of `Fit.raters`."""
        table = self.model.raters(self._draw, self.ratings, prob=None)
        table.insert(0, "ratings", self.ratings.ratings_per_rater)
        return table

    def category_probabilities(self) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, by the user's ids."""
        return self.model.category_probabilities(self._draw, self.ratings)

    @property
    def _draw(self) -> xr.Dataset:
        """The parameters as if they were a single draw."""
        known = self.parameters.assign(log_likelihood=self.log_likelihood)
        return known.expand_dims(("chain", "draw"))
