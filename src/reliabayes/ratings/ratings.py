"""Ratings: the one door by which data come in, and the user's ids come back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from scipy.sparse import csgraph

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.coding import coded_fields, kept, long_frame, read_only, table_of
from reliabayes.ratings.columns import Codes, Floats, Mask, Numbers, Scale, read_labels, read_values
from reliabayes.ratings.describing import description, value_range
from reliabayes.ratings.faults import check
from reliabayes.ratings.frames import named_columns
from reliabayes.ratings.shapes import Pools, table_from_counts, table_from_wide
from reliabayes.ratings.table import Replicates, Table
from reliabayes.wording import listed

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from reliabayes.agreement.interval import Method, Over
    from reliabayes.guidelines import Guideline

__all__ = ["Ratings", "Replicates", "Scale"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ratings:
    """Ratings of items by raters, checked, coded from 0 and sorted by item and rater.

    Build it with `from_frame`, `from_wide`, `from_counts` or `read_ratings`; nothing changes it
    afterwards. The order of the rows in the user's table leaves no trace.

    Attributes
    ----------
    item, rater : int32 array (N,)
        Position in `items` of what was rated, and in `raters` of who rated it.
    rating : float64 array (N,) or int32 array (N,)
        The number given if `scale` is "numeric", else the position in `categories`.
    items, raters : Index (I,), Index (R,)
        The user's ids, sorted where they can be.
    scale : {"nominal", "ordered", "numeric"}
        How categories relate: not at all, by order, or by distance.
    pools : Index (G,)
        The user's ids of the groups of raters; empty if the raters have none.
    rater_pool : int32 array (R,) or None
        Position in `pools` of each rater's pool.
    gold : float64 array (I,) or int32 array (I,) or None
        The known truth of each item, in the terms of `rating`; NaN or -1 where it is not known.
    given_categories : Index or None
        The categories that the table or the user declared, rated or not.
    anonymous_raters : bool
        True if only counts were known: then `rater` merely numbers the ratings of an item, category
        by category, and says nothing of who gave them.

    See Also
    --------
    read_ratings : the same from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from reliabayes.ratings.ratings import Ratings
    >>> frame = pd.DataFrame(
    ...     {"ad": ["a", "a", "b", "b"], "labeler": ["x", "y", "x", "y"], "score": [1, 2, 5, 5]}
    ... )
    >>> ratings = Ratings.from_frame(frame, item="ad", rater="labeler", rating="score")
    >>> ratings
    Ratings(4 ratings of 2 items by 2 raters, numeric 1..5)
    >>> ratings.raters[ratings.rater].tolist()
    ['x', 'y', 'x', 'y']
    """

    item: Codes
    rater: Codes
    rating: Floats | Codes
    items: pd.Index[Any]
    raters: pd.Index[Any]
    scale: Scale
    pools: pd.Index[Any]
    rater_pool: Codes | None
    gold: Floats | Codes | None
    given_categories: pd.Index[Any] | None
    anonymous_raters: bool

    @classmethod
    def from_frame(
        cls,
        frame: IntoDataFrame,
        *,
        item: str = "item",
        rater: str = "rater",
        rating: str = "rating",
        pool: str | None = None,
        gold: str | None = None,
        scale: Scale | None = None,
        categories: Iterable[Any] | None = None,
        replicates: Replicates = "error",
    ) -> Ratings:
        """Build ratings from a long table, one rating per row.

        Parameters
        ----------
        frame : pandas, polars, pyarrow or other eager data frame
            A table in memory; read through narwhals, no backend preferred.
        item, rater, rating : str
            Names of the table's columns of what was rated, who rated it, and the rating.
        pool : str, optional
            Name of the column of the rater's group.
        gold : str, optional
            Name of the column of the item's known truth; it may be missing, not contradict itself.
        scale : {"nominal", "ordered", "numeric"}, optional
            By default "numeric" for numbers, "ordered" for ordered categoricals, else "nominal".
        categories : iterable, optional
            All values a rating can have, lowest first if they are ordered. By default those of a
            categorical column, else those that occur.
        replicates : {"error", "keep"}
            Whether one rater may rate one item several times.

        Returns
        -------
        Ratings
            N ratings, one per row of the table.

        Raises
        ------
        RatingsError
            If the table breaks a rule; it tells all faults, with 0-based rows.

        Examples
        --------
        >>> import pandas as pd
        >>> from reliabayes.ratings.ratings import Ratings
        >>> frame = pd.DataFrame(
        ...     {"item": [1, 1, 2, 2], "rater": [7, 8, 7, 8], "rating": ["a", "b", "b", "b"]}
        ... )
        >>> Ratings.from_frame(frame).categories.tolist()
        ['a', 'b']
        """
        _check_options(scale, replicates)
        roles = {"item": item, "rater": rater, "rating": rating, "pool": pool, "gold": gold}
        columns = named_columns(frame, roles)
        table = Table.of(
            read_labels(columns["item"], item),
            read_labels(columns["rater"], rater),
            read_values(columns["rating"], rating),
            pool=None if pool is None else read_labels(columns["pool"], pool),
            gold=None if gold is None else read_values(columns["gold"], gold),
            scale=scale,
            categories=categories,
            replicates=replicates,
        )
        check(table)
        return cls._from_checked(table)

    @classmethod
    def from_wide(
        cls,
        frame: IntoDataFrame | npt.NDArray[Any],
        *,
        item: str | None = None,
        pool: Pools | None = None,
        gold: str | None = None,
        scale: Scale | None = None,
        categories: Iterable[Any] | None = None,
    ) -> Ratings:
        """Build ratings from a wide table: a row per item, a column per rater.

        An empty cell says that the rater did not rate the item. Items and raters without any rating
        are left out.

        Parameters
        ----------
        frame : data frame or array (items, raters)
            Cells are ratings; None or NaN where there is none.
        item : str, optional
            Name of the column of the items' ids. By default the index of a pandas frame, or the row
            number of an array; other frames need it.
        pool : mapping from rater to pool, optional
            The group of each rater, by the names of the raters' columns.
        gold : str, optional
            Name of the column of the items' known truth.
        scale, categories
            As for `from_frame`.

        Returns
        -------
        Ratings
            One rating per filled cell.

        Raises
        ------
        RatingsError
            If the table breaks a rule; it tells all faults, with 0-based rows.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings.ratings import Ratings
        >>> Ratings.from_wide(np.array([[1, 2], [np.nan, 5], [4, 4]]))
        Ratings(5 ratings of 3 items by 2 raters, numeric 1..5)
        """
        _check_options(scale, "error")
        table = table_from_wide(
            frame, item=item, pool=pool, gold=gold, scale=scale, categories=categories
        )
        return cls._from_checked(table)

    @classmethod
    def from_counts(
        cls,
        frame: IntoDataFrame | npt.NDArray[Any],
        *,
        item: str | None = None,
        scale: Scale = "nominal",
        categories: Iterable[Any] | None = None,
    ) -> Ratings:
        """Build ratings from counts: a row per item, a column per category, raters unknown.

        Who gave a rating is lost in counts. `anonymous_raters` is then True, and whatever needs to
        know a rater refuses the result. Items without any rating are left out.

        Parameters
        ----------
        frame : data frame or array (items, categories)
            Cells say how many raters put the item into the category.
        item : str, optional
            As for `from_wide`.
        scale : {"nominal", "ordered", "numeric"}
            How the categories relate; "numeric" reads their names as numbers.
        categories : iterable, optional
            The columns that hold counts, lowest category first if they are ordered; for an array,
            the names of its columns. By default all columns, numbered from 0 in an array.

        Returns
        -------
        Ratings
            As many ratings as the counts sum to.

        Raises
        ------
        RatingsError
            If a cell is no count, or the table breaks another rule.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings.ratings import Ratings
        >>> ratings = Ratings.from_counts(np.array([[3, 0], [1, 2]]), categories=["no", "yes"])
        >>> ratings.counts.tolist()
        [[3, 0], [1, 2]]
        """
        _check_options(scale, "error")
        table = table_from_counts(frame, item=item, scale=scale, categories=categories)
        return cls._from_checked(table)

    @classmethod
    def _from_checked(cls, table: Table) -> Ratings:
        return cls(**coded_fields(table))

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.item)

    def __repr__(self) -> str:
        raters = "anonymous raters" if self.anonymous_raters else f"{self.n_raters} raters"
        pools = f" in {len(self.pools)} pools" if len(self.pools) else ""
        levels = f"{self.scale} {value_range(self)}"
        return f"Ratings({len(self)} ratings of {self.n_items} items by {raters}{pools}, {levels})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ratings):
            return NotImplemented
        return all(
            _are_same(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
        )

    def __hash__(self) -> int:
        return hash((len(self), self.n_items, self.n_raters, self.scale))

    @property
    def n_ratings(self) -> int:
        """Number N of ratings."""
        return len(self.item)

    @property
    def n_items(self) -> int:
        """Number I of items that have a rating."""
        return len(self.items)

    @property
    def n_raters(self) -> int:
        """Number R of raters; of anonymous ones, the most that any item has."""
        return len(self.raters)

    @cached_property
    def n_pairs(self) -> int:
        """Number of (item, rater) pairs that have a rating, at most ``I * R``."""
        is_new = (np.diff(self.item) != 0) | (np.diff(self.rater) != 0)
        return 1 + int(np.count_nonzero(is_new))

    @property
    def is_complete(self) -> bool:
        """Whether every rater rated every item."""
        return self.n_pairs == self.n_items * self.n_raters

    @cached_property
    def categories(self) -> pd.Index[Any]:
        """Values (K,) a rating can have: those declared, else those that occur, sorted."""
        if self.given_categories is not None:
            return self.given_categories
        return Numbers("rating", self.values).labels().ids

    @cached_property
    def category(self) -> Codes:
        """Position (N,) of each rating in `categories`, int32, on any scale."""
        if self.scale != "numeric":
            return np.asarray(self.rating, np.int32)
        return read_only(Numbers("rating", self.values).labels().among(self.categories).codes)

    @property
    def values(self) -> Floats:
        """The ratings (N,) as float64 numbers.

        Raises
        ------
        RatingsError
            If the scale is not numeric.
        """
        if self.scale == "numeric":
            return np.asarray(self.rating, np.float64)
        remedy = 'Pass scale="numeric" when reading them, if the labels are numbers.'
        found = f"the {self.scale} categories {listed(self.categories)}"
        raise RatingsError([Fault("rating", "ratings must be numbers here", found, remedy)])

    @cached_property
    def gold_category(self) -> Codes | None:
        """Position (I,) of each item's gold in `categories`, -1 if unknown; None without gold.

        Raises
        ------
        RatingsError
            If a gold number is not one of the categories.
        """
        if self.gold is None:
            return None
        if self.scale != "numeric":
            return np.asarray(self.gold, np.int32)
        codes = np.asarray(self.categories.get_indexer(pd.Index(self.gold)), np.int32)
        is_outside = (codes < 0) & ~np.isnan(self.gold)
        if is_outside.any():
            rule = f"gold must be among the categories {listed(self.categories)} here"
            found = listed(np.unique(self.gold[is_outside]).tolist())
            remedy = "Pass categories=... with every value, or treat gold as a number."
            raise RatingsError([Fault("gold", rule, found, remedy)])
        return read_only(codes)

    @cached_property
    def ratings_per_item(self) -> npt.NDArray[np.int64]:
        """Number (I,) of ratings of each item, 1 or more."""
        return read_only(np.bincount(self.item))

    @cached_property
    def ratings_per_rater(self) -> npt.NDArray[np.int64]:
        """Number (R,) of ratings by each rater, 1 or more."""
        self.require_known_raters("ratings_per_rater")
        return read_only(np.bincount(self.rater))

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number (I, K) of ratings of each item in each category."""
        n_categories = len(self.categories)
        cell = self.item.astype(np.int64) * n_categories + self.category
        counts = np.bincount(cell, minlength=self.n_items * n_categories)
        return read_only(counts.reshape(self.n_items, n_categories))

    @cached_property
    def incidence(self) -> sp.csr_array:
        """Sparse matrix (I, R): how often each rater rated each item."""
        self.require_known_raters("incidence")
        ones = np.ones(len(self), np.int32)
        return sp.csr_array((ones, (self.item, self.rater)), shape=(self.n_items, self.n_raters))

    @cached_property
    def n_components(self) -> int:
        """Number of parts, 1 or more, that share neither an item nor a rater."""
        self.require_known_raters("n_components")
        n_nodes = self.n_items + self.n_raters
        links = np.ones(len(self), np.int32), (self.item, self.n_items + self.rater)
        graph = sp.csr_array(links, shape=(n_nodes, n_nodes))
        n_components, _ = csgraph.connected_components(graph, directed=False)
        return int(n_components)

    def require_known_raters(self, purpose: str) -> None:
        """Raise if the raters are anonymous, for what makes no sense without knowing them.

        Parameters
        ----------
        purpose : str
            What needs them, as the message's place.

        Raises
        ------
        RatingsError
            If `anonymous_raters` is True.
        """
        if self.anonymous_raters:
            rule = "it must be known who gave each rating"
            remedy = "Use what needs only counts, or read a table that names the raters."
            raise RatingsError([Fault(purpose, rule, "anonymous raters", remedy)])

    def describe(self) -> pd.Series[Any]:
        """Return the size and the design of the ratings, one line each.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings.ratings import Ratings
        >>> Ratings.from_wide(np.array([[1, 2], [4, 5]])).describe()["share of cells filled"]
        1.0
        """
        return description(self)

    def agreement(
        self,
        *,
        prob: float = 0.95,
        over: Over = "items",
        method: Method = "percentile",
        replicates: int = 2000,
        seed: int = 0,
        n_jobs: int = 1,
        guideline: str | Guideline | None = None,
    ) -> pd.DataFrame:
        """Return the classical coefficients that suit the scale and the design, with intervals.

        Nominal: percent agreement, kappas of Fleiss (of two raters Scott's pi) and Brennan &
        Prediger, AC1, alpha; of two raters Cohen's kappa and P_I, of more Conger's kappa. Ordered:
        kappas with linear and quadratic weights, AC2, ordinal alpha. Numeric: interval alpha and
        ICCs. Anonymous raters leave what need not know them. With two pools also kappa_x, plain and
        normalized; all others take both pools for one.

        Parameters
        ----------
        prob, over, method, replicates, seed, n_jobs
            As for `agreement.Coefficient.interval`. Percentile intervals of all coefficients come
            from the same samples, in about the time of one; other methods take each by itself.
        guideline : str or Guideline, optional
            Whose word to add, one of `guidelines.GUIDELINES`. By default none: words were made for
            other designs than most.

        Returns
        -------
        DataFrame
            Index coefficient; columns value, standard_error, lower_95, upper_95 (for
            ``prob=0.95``), and word if there is a guideline. What is undefined is NaN, what cannot
            be found is left out, and a warning says why. ``attrs`` holds over, method and, if there
            is a guideline, its name and the caution to quote with its words.

        Raises
        ------
        RatingsError
            Raters are to be drawn, but anonymous, or too few.
        ValueError
            An option is out of range, there is no such guideline, or the method has no answer to
            ``over``.

        Notes
        -----
        Ratings that are numbers of few categories, such as 1 to 5, have kappas if they are read
        with ``scale="ordered"``. In incomplete designs of more than 25 raters ICC(2, .) and
        ICC(3, .) are left out, as each sample would maximise a likelihood: `agreement.icc_table`
        has them. More coefficients, such as Light's kappa and iota, are in `agreement`. Which
        intervals hold what they promise, `agreement.Coefficient.interval` tells.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings.ratings import Ratings
        >>> table = np.array([["a", "a"], ["b", "b"], ["b", "a"], ["a", "a"], ["c", "c"]])
        >>> found = Ratings.from_wide(table).agreement(method="analytic", guideline="fleiss")
        >>> found.loc["Cohen's kappa", "word"]
        'fair'
        """
        from reliabayes.agreement.table import agreement_table

        return agreement_table(
            self,
            prob=prob,
            over=over,
            method=method,
            replicates=replicates,
            seed=seed,
            n_jobs=n_jobs,
            guideline=guideline,
        )

    def subset(
        self,
        *,
        items: Iterable[Any] | None = None,
        raters: Iterable[Any] | None = None,
        pools: Iterable[Any] | None = None,
    ) -> Ratings:
        """Return the ratings of some items, by some raters, of some pools; None keeps all.

        Categories stay what they are, rated or not.

        Parameters
        ----------
        items, raters, pools : iterable, optional
            The user's ids of what to keep.

        Raises
        ------
        RatingsError
            If an id is unknown, or what is left cannot be compared.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings.ratings import Ratings
        >>> ratings = Ratings.from_wide(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
        >>> ratings.subset(raters=[0, 2])
        Ratings(6 ratings of 3 items by 2 raters, numeric 1..9)
        """
        if raters is not None:
            self.require_known_raters("raters")
        rows = np.flatnonzero(
            kept("items", items, self.items)[self.item]
            & kept("raters", raters, self.raters)[self.rater]
            & self._kept_pools(pools)[self.rater]
        )
        table = table_of(self).take(rows)
        check(table)
        return self._from_checked(table)

    def to_frame(self) -> pd.DataFrame:
        """Return a long table in the user's ids, from which `from_frame` builds the same ratings.

        Returns
        -------
        DataFrame (N, 2 to 5)
            Columns item, rater unless they are anonymous, rating, and pool and gold where they are
            known; categories as a categorical column, ordered if the scale is.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings.ratings import Ratings
        >>> Ratings.from_wide(np.array([[1, 2], [4, 5]])).to_frame().columns.tolist()
        ['item', 'rater', 'rating']
        """
        return long_frame(self)

    def _kept_pools(self, pools: Iterable[Any] | None) -> Mask:
        is_kept = kept("pools", pools, self.pools)
        return np.ones(self.n_raters, bool) if self.rater_pool is None else is_kept[self.rater_pool]


def _check_options(scale: Scale | None, replicates: Replicates) -> None:
    options = (
        ("scale", scale, (None, *get_args(Scale))),
        ("replicates", replicates, get_args(Replicates)),
    )
    faults = [
        Fault(name, f"it must be one of {listed(allowed)}", repr(value), "Pass one of them.")
        for name, value, allowed in options
        if value not in allowed
    ]
    if faults:
        raise RatingsError(faults)


def _are_same(one: Any, other: Any) -> bool:
    if isinstance(one, pd.Index):
        return one.equals(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one == other)
