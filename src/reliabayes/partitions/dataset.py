"""Ratings in parts, of which one at a time is in memory, and sums over all parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.choices import Method, Over, Scale
from reliabayes.partitions.executors import Executor, in_turn
from reliabayes.ratings import Ratings

if TYPE_CHECKING:
    from reliabayes.guidelines import Guideline

Result = TypeVar("Result")


class Part(Protocol):
    """All ratings of some of the items, in a file or elsewhere; small, and can be pickled."""

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    def read(self) -> Ratings:
        """Return the ratings, with the raters and the categories of all parts.

        Items are numbered from 0 in the part, and their ids are their positions in the data set.
        """

    def item_ids(self) -> pd.Index[Any]:
        """Return the user's ids of the items of the part."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatingsDataset:
    """Ratings in parts, each with all ratings of its items.

    Attributes
    ----------
    parts : sequence of Part
        Where the ratings are. Items have the same order for any number of parts.
    raters : Index, shape (R,)
        The user's ids of the raters.
    categories : Index, shape (K,), or None
        Values that a rating can have; None for numbers of a continuous scale.
    scale : {"nominal", "ordered", "numeric"}
        How ratings relate.
    pools : Index, shape (G,)
        The user's ids of the pools.
    rater_pool : array of int32, shape (R,), or None
        Position in ``pools`` of each rater's pool.
    executor : Executor
        What calls a function for every part.
    """

    parts: Sequence[Part]
    raters: pd.Index[Any]
    categories: Any
    scale: Scale
    pools: pd.Index[Any] = field(default_factory=lambda: pd.Index([]))
    rater_pool: Codes | None = None
    executor: Executor = in_turn

    def __len__(self) -> int:
        return sum(part.n_ratings for part in self.parts)

    @property
    def n_items(self) -> int:
        """Number I of items."""
        return sum(part.n_items for part in self.parts)

    @property
    def n_raters(self) -> int:
        """Number R of raters."""
        return len(self.raters)

    @property
    def n_ratings(self) -> int:
        """Number N of ratings."""
        return len(self)

    @property
    def anonymous_raters(self) -> bool:
        """False: parts know who gave each rating."""
        return False

    def agreement(
        self,
        *,
        prob: float = 0.95,
        over: Over | None = None,
        method: Method | None = None,
        replicates: int = 2000,
        seed: int = 0,
        guideline: str | Guideline | None = None,
    ) -> pd.DataFrame:
        """Return the classical coefficients that suit the scale and the design, with intervals.

        Parameters
        ----------
        prob, over, method, replicates, seed, guideline
            As for `Ratings.agreement`.

        Returns
        -------
        DataFrame
            As of `Ratings.agreement`.

        Notes
        -----
        Values and intervals are those of all ratings in memory, except for ``over="both"`` with
        ``method="percentile"`` or ``"bca"``: the number of times that an item occurs in a sample
        then has a Poisson distribution, and follows from the hash of its position. Whether a
        guessed scale is likely is judged by the first part.

        References
        ----------
        Owen & Eckles (2012), bootstrap of items and raters. https://doi.org/10.1214/12-AOAS547
        """
        from reliabayes.agreement.table import agreement_table

        return agreement_table(
            self,
            prob=prob,
            over=over,
            method=method,
            replicates=replicates,
            seed=seed,
            n_jobs=1,
            guideline=guideline,
        )

    def on(self, executor: Executor) -> RatingsDataset:
        """Return the same ratings, with functions of parts called by another executor."""
        return replace(self, executor=executor)

    def map(self, function: Callable[[Ratings], Result]) -> Iterator[Result]:
        """Yield a function of each part, in the order of the parts."""
        return self.executor(partial(_of_part, function), self.parts)

    def sum(self, function: Callable[[Ratings], Result]) -> Result:
        """Return the sum of a function of the parts, added in their order by ``+``."""
        return reduce(add, self.map(function))

    def __getattr__(self, name: str) -> Any:
        """Say what to do instead, where only ratings in memory have an attribute."""
        if hasattr(Ratings, name) or name in Ratings.__dataclass_fields__:
            raise AttributeError(
                f"A RatingsDataset has no {name}, which needs all ratings in memory. Use map or "
                f"sum to compute it part by part, or dataset.parts[0].read().{name}."
            )
        raise AttributeError(f"A RatingsDataset has no {name!r}.")


def _of_part(function: Callable[[Ratings], Result], part: Part) -> Result:
    return function(part.read())
