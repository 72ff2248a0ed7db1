"""Point estimates: what a model reports at one point, without uncertainty."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.problem import Problem
from reliabayes.partitions import WRITE_ITEMS, AnyRatings, RatingsDataset, in_memory
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import MethodsSentence
from reliabayes.results import dependence, quantities
from reliabayes.results.headline import headline, how_maximised, of_point
from reliabayes.results.ignored_facets import cautions
from reliabayes.results.item_tables import TableOfPart, write_table, write_tables
from reliabayes.results.model import (
    HasTrueCategories,
    Model,
    TakesParts,
    no_true_categories,
    problem_of,
)
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import not_of_raters, ratings_of, scalars


@dataclass(frozen=True, eq=False, repr=False)
class PointEstimate:
    """Parameters of a model, most likely or given, and what follows from them without uncertainty.

    Attributes
    ----------
    model : RatingModel
        The model.
    ratings : Ratings or RatingsDataset
        The data.
    parameters : Dataset
        The parameters, with the user's ids as coords.
    log_likelihood : float
        Of all ratings, with true categories and effects of items marginalised, in nats.
    path : tuple of float
        Objective after each iteration, which never decreases; empty at given parameters.
    converged : bool
        Whether the last iteration changed no parameter by more than the tolerance; True at given
        parameters, which are not searched for.
    problem : Problem or None
        The ratings as the model sees them, if that is known.
    """

    model: Model
    ratings: AnyRatings
    parameters: xr.Dataset
    log_likelihood: float
    path: tuple[float, ...]
    converged: bool
    problem: Problem | None = None

    def __repr__(self) -> str:
        state = "at given parameters"
        if self.path:
            found = "converged" if self.converged else "not converged"
            state = f"{found} after {len(self.path) - 1} iterations"
        return (
            f"PointEstimate({type(self.model).__name__}, {state}, "
            f"log-likelihood {self.log_likelihood:.4f}, {self.ratings!r})"
        )

    @property
    def bits_per_rating(self) -> float:
        """Bits to encode a rating, given the model; lower is a better fit."""
        return quantities.bits_per_rating(self.log_likelihood, len(self.ratings))

    @cached_property
    def quantities(self) -> xr.Dataset:
        """Quantities that the model reports, at this point."""
        return self.model.quantities(self._posterior).isel(chain=0, draw=0, drop=True)

    @cached_property
    def common_errors(self) -> str:
        """As of `Fit`."""
        crowd = dependence.crowd_of_model(self.model, self.ratings)
        return dependence.common_errors(crowd, self.ratings)

    def summary(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Estimate of each quantity in a row.

        Parameters
        ----------
        names : sequence of str, optional
            Quantities; by default those that are not of single raters.

        Returns
        -------
        DataFrame
            Column estimate, by quantity; ``attrs["caution"]`` as of `Fit.summary`.
        """
        if names is None:
            names = not_of_raters(self.quantities)
        rows = dict(row for name in names for row in scalars(name, self.quantities[name]))
        table = pd.DataFrame({"estimate": pd.Series(rows, dtype=float)}).rename_axis("quantity")
        said = (self.common_errors, cautions(self.model, self.ratings))
        table.attrs["caution"] = " ".join(filter(None, said))
        return table

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the estimate; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, without an interval, and its references.
        """
        how = how_maximised(self.model, is_searched=bool(self.path))
        return headline(self.model, self.ratings, self.quantities, of_point, how)

    def items(self) -> pd.DataFrame:
        """Estimates for each item, by the user's ids; columns as of `Fit.items`, no intervals.

        Effects are those expected given the ratings and the parameters, in the column mean; of
        sampled scores in three pools or more, the most probable.
        """
        ratings = in_memory(self.ratings, "items", WRITE_ITEMS.format("estimate"))
        table = self.model.items(self._posterior, None, NoNoise())
        table.insert(0, "ratings", ratings_of(table.index, ratings))
        return table

    def write_items(self, folder: str | os.PathLike[str]) -> None:
        """Write the tables of `items` to a folder, a Parquet file for each part of a dataset.

        Parameters
        ----------
        folder : str or path
            Is made if it does not exist, and must be empty. The files are ``part-00000.parquet``
            and so on, with the column item for the user's ids. All are there or none.

        Raises
        ------
        FileExistsError
            There is something in the folder already.
        """
        if isinstance(self.ratings, RatingsDataset):
            assert isinstance(self.model, TakesParts)
            table = self.model.items_by_part(self._posterior, None, NoNoise())
            write_tables(self.ratings, partial(_without_noise, table), folder, 0)
            return
        write_table(self.items(), folder)

    def raters(self) -> pd.DataFrame:
        """Estimates for each rater, by the user's ids; columns as of `Fit.raters`, no intervals."""
        table = self.model.raters(self._posterior, None, NoNoise())
        table.insert(0, "ratings", self.ratings.ratings_per_rater)
        return table

    def category_probabilities(self) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, by the user's ids.

        Raises
        ------
        AttributeError
            The model has no true categories.
        """
        if not isinstance(self.model, HasTrueCategories):
            raise no_true_categories(self.model)
        in_memory(self.ratings, "category_probabilities", WRITE_ITEMS.format("estimate"))
        return self.model.category_probabilities(self._posterior)

    @cached_property
    def _posterior(self) -> Posterior[Any]:
        """The parameters as if they were a single draw."""
        known = self.parameters.assign(log_likelihood=self.log_likelihood)
        draws = known.expand_dims(("chain", "draw"))
        problem = self.problem or problem_of(self.model, self.ratings)
        return Posterior(draws, self.ratings, problem)


def _without_noise(table: TableOfPart, part: Ratings, rng: np.random.Generator) -> pd.DataFrame:
    """The table of a part, whatever source of randomness it has."""
    return table(part, NoNoise())
