"""Ratings in parts, of which one at a time is in memory, and sums over all parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from html import escape
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.choices import Method, Over, Scale
from reliabayes.partitions.describing import Design
from reliabayes.partitions.executors import Executor, in_turn
from reliabayes.partitions.gathering import together
from reliabayes.progress import progress_bar
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import NO_FACETS, facets_in_words
from reliabayes.ratings.likely_scale import likely_scale
from reliabayes.wording import listed

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

    `partition` writes them, and `scan_ratings` opens what it has written.

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
    facets : mapping from str to Index
        The user's ids of the levels of each facet.
    limits : tuple of float, or None
        The smallest and the largest rating, if they are numbers and this is known.
    n_missing : int
        Number of rows without a rating that were left out.
    scale_is_guess : bool
        Whether the scale was inferred from the values.
    categories_are_given : bool
        Whether the user declared the numbers that a rating can have.
    progress : bool or None
        Whether a bar shows how many parts are done; by default in terminals and notebooks.
    """

    parts: Sequence[Part]
    raters: pd.Index[Any]
    categories: Any
    scale: Scale
    pools: pd.Index[Any] = field(default_factory=lambda: pd.Index([]))
    rater_pool: Codes | None = None
    executor: Executor = in_turn
    facets: Mapping[str, pd.Index[Any]] = field(default_factory=lambda: NO_FACETS)
    limits: tuple[float, float] | None = None
    n_missing: int = 0
    scale_is_guess: bool = False
    categories_are_given: bool = False
    progress: bool | None = None

    def __len__(self) -> int:
        return self.n_ratings

    def __repr__(self) -> str:
        pools = f" in {len(self.pools)} pools" if len(self.pools) else ""
        size = f"{len(self)} ratings of {self.n_items} items by {self.n_raters} raters{pools}"
        parts = f"in {len(self.parts)} part{'s' * (len(self.parts) != 1)}"
        values = f"{self.scale} {self._values}".rstrip()
        return f"RatingsDataset({size}{facets_in_words(self.facets)}, {values}, {parts})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"

    @property
    def n_ratings(self) -> int:
        """Number N of ratings."""
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
    def anonymous_raters(self) -> bool:
        """False: parts know who gave each rating."""
        return False

    @cached_property
    def design(self) -> Design:
        """Who rated how much, for which all parts are read once."""
        return self.sum(Design.of)

    @cached_property
    def example(self) -> Ratings:
        """The ratings of the first part, which show what all mean; they are kept."""
        return self.parts[0].read()

    @property
    def ratings_per_rater(self) -> Codes:
        """Number (R,) of ratings by each rater."""
        return self.design.per_rater

    @property
    def n_pairs(self) -> int:
        """Number of (item, rater) pairs that have a rating."""
        return self.design.n_pairs

    @property
    def n_cells(self) -> int:
        """Number of combinations of item, rater and levels of facets that have a rating."""
        return self.design.n_cells

    @property
    def has_repeats(self) -> bool:
        """Whether a rater rated an item more than once."""
        return self.n_pairs < len(self)

    @property
    def is_complete(self) -> bool:
        """Whether every rater rated every item."""
        return self.n_pairs == self.n_items * self.n_raters

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
        """Yield a function of each part, in the order of the parts.

        Parameters
        ----------
        function : callable
            Takes the ratings of a part. For other processes, it must be one that can be pickled.

        Yields
        ------
        Any
            What the function returns. An error that it raises has a note that names the part.
        """
        done, number = 0, len(self.parts)
        with progress_bar("parts", number, lambda: done, self.progress, "parts") as update:
            for result in self.executor(partial(_of_part, function), self.parts):
                done += 1
                update()
                yield result

    def sum(self, function: Callable[[Ratings], Result]) -> Result:
        """Return the sum of a function of the parts, added in their order by ``+``."""
        return reduce(add, self.map(function))

    def describe(self) -> pd.Series[Any]:
        """Return the size and the design of the ratings, for which all parts are read.

        Returns
        -------
        Series of object
            The entries of `Ratings.describe` except the design of facets, and the number of parts.
        """
        design = self.design
        sizes = {"items": self.n_items, "raters": self.n_raters, "ratings": len(self)}
        facets = [
            f"{name} ({len(ids):,} level{'s' * (len(ids) > 1)})"
            for name, ids in self.facets.items()
        ]
        lines: dict[str, Any] = {
            "parts": len(self.parts),
            **sizes,
            **({"facets": ", ".join(facets)} if facets else {}),
            **({"rows without a rating": self.n_missing} if self.n_missing else {}),
            **({"items with a known answer": design.n_known} if design.n_known else {}),
            **design.per_item(),
            **design.of_raters(),
            "share of cells filled": design.n_pairs / (self.n_items * self.n_raters),
            "replicates": len(self) - design.n_cells,
            "connected parts": design.n_components,
            "scale": self.scale,
            **self._guess(),
            "range" if self.scale == "numeric" else "categories": self._values
            if self.scale == "numeric"
            else listed(self.categories if self.categories is not None else [], 10),
            "pools": listed(self.pools, 10),
        }
        return pd.Series(lines, name="ratings", dtype=object)

    def to_ratings(self) -> Ratings:
        """Return all ratings in memory, as `Ratings.from_frame` builds them from the same table.

        Numbers of a continuous scale are as exact as parts hold them, to 7 digits.

        Returns
        -------
        Ratings
            Items in the order of their ids.
        """
        is_kept = self.scale != "numeric" or self.categories_are_given
        return together(
            list(self.map(_itself)),
            [part.item_ids() for part in self.parts],
            n_missing=self.n_missing,
            given_categories=self.categories if is_kept else None,
        )

    @property
    def _values(self) -> str:
        """Range of numbers, or number of categories."""
        if self.scale != "numeric":
            return f"in {len(self.categories if self.categories is not None else [])} categories"
        return "" if self.limits is None else f"{self.limits[0]:g}..{self.limits[1]:g}"

    def _guess(self) -> dict[str, str]:
        """That the scale was guessed, and what the ratings are more probably, from one part."""
        if not self.scale_is_guess:
            return {}
        return {"scale guessed": likely_scale(self.example).reason or "from the values"}

    def __getattr__(self, name: str) -> Any:
        """Say what to do instead, where only ratings in memory have an attribute."""
        if hasattr(Ratings, name) or name in Ratings.__dataclass_fields__:
            raise AttributeError(
                f"A RatingsDataset has no {name}, which needs all ratings in memory. Use map or "
                f"sum to compute it part by part, or dataset.parts[0].read().{name}."
            )
        raise AttributeError(f"A RatingsDataset has no {name!r}.")


def _itself(part: Ratings) -> Ratings:
    return part


def _of_part(function: Callable[[Ratings], Result], part: Part) -> Result:
    try:
        return function(part.read())
    except Exception as error:
        error.add_note(f"This happened in {part}.")
        raise
