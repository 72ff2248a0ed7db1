"""How many labels of items are nearly certain, in memory or in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reliabayes.choices import Stated
from reliabayes.partitions import RatingsDataset
from reliabayes.results.stated import can_be_stated

if TYPE_CHECKING:
    from reliabayes.ratings import Ratings
    from reliabayes.results.fit import Fit

SURE = 0.95  # probability of a category from which on a label is trusted
DRAWS = 500  # from which the proportion of correct ratings is computed
LEAST_DRAWS = 50  # from which labels and correct ratings are computed of ratings in parts
MOST_WORK = 400_000_000  # ratings in parts times draws, which take a quarter of a minute


@dataclass(frozen=True)
class Labels:
    """Numbers of items.

    Attributes
    ----------
    items : int
        All.
    unknown : int
        Those whose true category was not given.
    by_model : int
        Of these, those whose most probable category is nearly certain by the model.
    honest : int or None
        The same as stated by votes of raters who err together, where that is known.
    """

    items: int
    unknown: int
    by_model: int
    honest: int | None = None

    def __add__(self, other: Labels) -> Labels:
        return Labels(
            self.items + other.items, self.unknown + other.unknown, self.by_model + other.by_model
        )

    @property
    def trusted(self) -> int:
        """Those that are nearly certain by what is stated to readers."""
        return self.by_model if self.honest is None else self.honest

    @classmethod
    def of(cls, fit: Fit, items: pd.DataFrame | None = None) -> Labels:
        """Labels of a fit, of whose items the table may be known already."""
        if isinstance(fit.ratings, RatingsDataset):
            return fit.sum_over_items(cls.of_table, draws_for(fit))
        by_model = fit.items(stated="model") if items is None else items
        found = cls.of_table(by_model, fit.ratings)
        if fit.crowd is None:
            return found
        honest = cls.of_table(fit.items(stated="honest"), fit.ratings)
        return replace(found, honest=honest.by_model)

    @classmethod
    def of_table(cls, items: pd.DataFrame, ratings: Ratings) -> Labels:
        """Labels of the table of all items of ratings."""
        gold: Any = ratings.gold_category
        is_unknown = np.ones(len(items), bool) if gold is None else gold < 0
        is_sure = items["probability"].to_numpy() >= SURE
        return cls(len(items), int(is_unknown.sum()), int((is_unknown & is_sure).sum()))


def stated_in(fit: Fit) -> Stated:
    """How reports state labels and raters: calibrated on other crowds, where that is possible."""
    return "honest" if can_be_stated(fit.model, fit.ratings) else "model"


def draws_for(fit: Fit) -> int | None:
    """Number of draws for what is computed of each item: fewer of very many ratings in parts."""
    if isinstance(fit.ratings, RatingsDataset):
        return int(np.clip(MOST_WORK // len(fit.ratings), LEAST_DRAWS, DRAWS))
    return None if stated_in(fit) == "honest" else DRAWS  # those of the tables
