"""Items of a fit: a table of them, in memory or in files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.fitted_decisions import FittedDecisions
from reliabayes.results.item_tables import of_table, write_table, write_tables
from reliabayes.results.label_table import label_table
from reliabayes.results.summaries import ratings_of

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class FittedItems(FittedDecisions):
    """Items of a fit: a base of `Fit`."""

    def items(self, prob: float = 0.9, draws: int | None = None) -> pd.DataFrame:
        """Estimates for each item, by the user's ids.

        Parameters
        ----------
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            Posterior draws to use, spread evenly over the chains. By default all of them for up to
            10,000 ratings and 4,000 draws, and for more ratings as many as take similar time, but
            at least 400. Time grows with ratings times draws, memory does not.

        Returns
        -------
        DataFrame
            Columns ratings (how many), and what the model estimates: effects as mean, sd, median,
            lower_90 and upper_90; true categories as the most probable category, its probability
            and the entropy in bits. Models of several pools have a row for each item and pool.
            ``attrs["draws"]`` says how many draws were used, ``attrs["caution"]`` as of `summary`.
        """
        ratings = self._items_in_memory("items")
        rng = np.random.default_rng(self.settings.seed)
        posterior = self._draws(self._affordable(draws))
        if self.model.has_true_categories:
            table = label_table(self.category_probabilities(draws))
        else:
            table = self.model.items(posterior, prob, rng)
        table.insert(0, "ratings", ratings_of(table.index, ratings))
        table.attrs["draws"] = posterior.n_draws
        table.attrs["caution"] = self._caution
        return table

    def write_items(
        self, folder: str | os.PathLike[str], prob: float = 0.9, draws: int | None = None
    ) -> None:
        """Write the tables of `items` to a folder, a Parquet file for each part of a dataset.

        One part at a time is in memory, of each process that computes with parts.

        Parameters
        ----------
        folder : str or path
            Is made if it does not exist, and must be empty. The files are ``part-00000.parquet``
            and so on, with the column item for the user's ids. All are there or none.
        prob : float, default 0.9
            Probability of the equal-tailed interval, in (0, 1).
        draws : int, optional
            As for `items`.

        Raises
        ------
        FileExistsError
            There is something in the folder already.

        Notes
        -----
        Labels are those of all ratings in memory. Effects of the items of a part are drawn with a
        seed of its own: with other parts they differ by chance, as they do with another seed.
        """
        if isinstance(self.ratings, RatingsDataset):
            rng = np.random.default_rng(self.settings.seed)
            posterior = self._draws(self._affordable(draws))
            table = self.model.items_by_part(posterior, prob, rng)
            if table is not None:
                write_tables(self.ratings, table, folder, self.settings.seed)
                return
        write_table(self.items(prob, draws), folder)

    def sum_over_items(
        self, function: Callable[[pd.DataFrame, Ratings], Result], draws: int | None = None
    ) -> Result:
        """Sum of a function of the tables of items of the parts of a dataset, and their ratings.

        Parameters
        ----------
        function : callable
            Takes the table `items` of a part, without the column ratings, and the ratings of the
            part. For other processes, it must be one that can be pickled.
        draws : int, optional
            As for `items`.

        Returns
        -------
        Any
            What the function returns, added by ``+``; of ratings in memory, of all of them.
        """
        if isinstance(self.ratings, RatingsDataset):
            rng = np.random.default_rng(self.settings.seed)
            posterior = self._draws(self._affordable(draws))
            table = self.model.items_by_part(posterior, 0.9, rng)
            if table is not None:
                of_part = partial(of_table, table, self.settings.seed, function)
                return self.ratings.sum(of_part)
        ratings = self._in_memory("items")
        return function(self.items(draws=draws).drop(columns="ratings"), ratings)
