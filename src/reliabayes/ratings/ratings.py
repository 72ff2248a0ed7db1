"""Ratings: the class through which data enter the package and the user's ids come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.choices import Method, Missing, Over, Replicates, Scale, Twins
from reliabayes.ratings.argument_checks import value_errors_as_faults
from reliabayes.ratings.checks import check
from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.ratings.coding import coded_fields, coded_table, long_frame
from reliabayes.ratings.describing import description, value_range
from reliabayes.ratings.facets import Facets, facets_in_words
from reliabayes.ratings.label_sets import options_of_sets, with_joined_sets
from reliabayes.ratings.selection import selection
from reliabayes.ratings.shapes import Pools, table_from_counts, table_from_long, table_from_wide
from reliabayes.ratings.square_table import table_from_square, table_of_two_raters

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from reliabayes.guidelines import Guideline


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ratings(CodedRatings):
    """Ratings of items by raters, checked, coded from 0, and sorted by item, rater and facets.

    Build them with `from_frame`, `from_wide`, `from_counts`, `from_table` or `read_ratings`. They
    cannot be changed afterwards, and do not depend on the order of the rows in the user's table.

    Attributes
    ----------
    item : array of int32, shape (N,)
        Position in `items` of the item that was rated.
    rater : array of int32, shape (N,)
        Position in `raters` of the rater.
    rating : array of float64 or int32, shape (N,)
        The number given if `scale` is "numeric", else the position in `categories`.
    items : Index, shape (I,)
        The user's ids of the items, sorted if they can be sorted.
    raters : Index, shape (R,)
        The user's ids of the raters, sorted if they can be sorted.
    scale : {"nominal", "ordered", "numeric"}
        How categories relate: not at all, by order, or by distance.
    pools : Index, shape (G,)
        The user's ids of the pools of raters; empty if there are none.
    rater_pool : array of int32, shape (R,), or None
        Position in `pools` of each rater's pool.
    gold : array of float64 or int32, shape (I,), or None
        The known true value of each item, coded like `rating`; NaN or -1 where it is unknown.
    given_categories : Index or None
        The categories that the table or the user declared, whether they were used or not.
    anonymous_raters : bool
        True if only counts were known. `rater` then numbers the ratings of an item, category by
        category, and does not say who gave them.
    n_missing : int
        Number of rows without a rating that were left out, because ``missing="drop"``.
    notes : tuple of str
        What was joined or guessed when the table was read, a sentence each.
    scale_is_guess : bool
        Whether the scale was inferred from the values. `describe` says what they probably are.
    facets : mapping from str to Index
        The user's ids of the levels of each facet, sorted if they can be sorted; empty if there are
        no facets.
    facet : mapping from str to array of int32, shape (N,)
        Position in ``facets[name]`` of each rating's level, by the name of the facet.
    whole : object
        What a coefficient knows of all ratings, while it reads a part of them; else None.
    groups : Index
        The user's ids of what items belong to, such as systems, documents or months; empty if there
        are none.
    item_group : array of int32, shape (I,), or None
        Position in `groups` of each item's group; -1 where it is unknown.
    blocks : Index
        The user's ids of what items of several groups share, such as prompts; empty if there are
        none.
    item_block : array of int32, shape (I,), or None
        Position in `blocks` of each item's block; -1 where it is unknown.
    left_out : mapping from str to int
        How many entries of a tool's file were left out, by reason; see `readers`.
    separator : str or None
        What is between the labels of a category, if each rating is a set of labels.

    See Also
    --------
    read_ratings : Build ratings from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from reliabayes.ratings import Ratings
    >>> frame = pd.DataFrame(
    ...     {"ad": ["a", "a", "b", "b"], "labeler": ["x", "y", "x", "y"], "score": [1, 2, 5, 5]}
    ... )
    >>> ratings = Ratings.from_frame(frame, item="ad", rater="labeler", rating="score")
    >>> ratings
    Ratings(4 ratings of 2 items by 2 raters, numeric 1..5)
    >>> ratings.raters[ratings.rater].tolist()
    ['x', 'y', 'x', 'y']
    """

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
        missing: Missing = "error",
        twins: Twins = "error",
        facets: Facets | None = None,
        group: str | None = None,
        block: str | None = None,
        separator: str | None = None,
    ) -> Self:
        """Build ratings from a long table, with one rating per row.

        Parameters
        ----------
        frame : pandas, polars, pyarrow or other eager data frame, N rows
            A table in memory. It is read through narwhals, so no backend is preferred.
        item : str, default "item"
            Name of the column that says what was rated.
        rater : str, default "rater"
            Name of the column that says who rated it.
        rating : str, default "rating"
            Name of the column of the ratings.
        pool : str, optional
            Name of the column of the rater's pool.
        gold : str, optional
            Name of the column of the item's known true value. Values may be missing, but those of
            one item must agree.
        scale : {"nominal", "ordered", "numeric"}, optional
            How the values of a rating relate. By default "numeric" for numbers, "ordered" for
            ordered categoricals, and "nominal" for all else.
        categories : iterable, optional
            All values that a rating can have, lowest first if they are ordered. By default those of
            a categorical column, or else those that occur.
        replicates : {"error", "keep"}, default "error"
            Whether a rater may rate an item more than once.
        missing : {"error", "drop"}, default "error"
            Whether rows without a rating are left out, as empty cells of a wide table are.
            `n_missing` of the ratings says how many they were.
        twins : {"error", "join"}, default "error"
            Whether values that differ only in how they are written, such as "yes", "Yes " and
            "YES", are refused or joined under the form that is most frequent or declared. In
            ratings and gold, y, yes, true and 1 are one answer, and n, no, false and 0 another; 1
            and 0 are numbers if there are others. Values in `categories` stay apart, and capitals
            count in ids. `notes` of the ratings says what was joined.
        facets : sequence of str, or mapping from str to str, optional
            Names of further columns that describe a rating, such as its occasion or prompt; or a
            mapping from the names that the facets are to have to these columns. A rater may rate an
            item once at each combination of their levels. Models and coefficients without facets
            take these ratings for independent replicates.
        group : str, optional
            Name of the column of what the item belongs to, such as the system that wrote it, a
            document or a month. Values may be missing, but those of one item must agree.
        block : str, optional
            Name of the column of what items of several groups share, such as the prompt. Values
            may be missing, but those of one item must agree.
        separator : str, optional
            What is between the labels in a text, such as ";", if each rating is a set of labels;
            lists need none. A category is the text of sorted labels, or "(none)" of none.

        Returns
        -------
        Ratings
            N ratings, one per row of the table that has one.

        Raises
        ------
        RatingsError
            If the table breaks a rule. The message lists all faults, with 0-based rows.

        Examples
        --------
        >>> import pandas as pd
        >>> from reliabayes.ratings import Ratings
        >>> frame = pd.DataFrame(
        ...     {"item": [1, 1, 2, 2], "rater": [7, 8, 7, 8], "rating": ["a", "b", "b", "b"]}
        ... )
        >>> Ratings.from_frame(frame).categories.tolist()
        ['a', 'b']
        >>> retest = pd.concat([frame.assign(day=1), frame.assign(day=2)])
        >>> Ratings.from_frame(retest, facets=["day"])
        Ratings(8 ratings of 2 items by 2 raters, facet day (2), nominal in 2 categories)
        """
        roles = {"item": item, "rater": rater, "rating": rating, "pool": pool, "gold": gold}
        roles |= {"group": group, "block": block}
        with value_errors_as_faults():
            frame, separator = with_joined_sets(frame, separator, (rating, gold))
            options = options_of_sets(scale, categories, separator)
            table = table_from_long(
                frame,
                roles,
                **options,
                replicates=replicates,
                missing=missing,
                twins=twins,
                facets=facets,
            )
            return cls(**coded_fields(table), separator=separator)

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
        twins: Twins = "error",
        separator: str | None = None,
    ) -> Self:
        """Build ratings from a wide table, with a row per item and a column per rater.

        An empty cell means that the rater did not rate the item. Items and raters without any
        rating are left out.

        Parameters
        ----------
        frame : data frame or array, shape (items, raters)
            The cells are ratings; None or NaN where there is none.
        item : str, optional
            Name of the column of item ids. By default the index of a pandas frame, or the row
            number of an array. It is required for other frames.
        pool : mapping from rater to pool, optional
            The pool of each rater. Its keys are the names of the raters' columns.
        gold : str, optional
            Name of the column of the items' known true values.
        scale : {"nominal", "ordered", "numeric"}, optional
            As for `from_frame`.
        categories, twins, separator : iterable and str, optional
            As for `from_frame`.

        Returns
        -------
        Ratings
            One rating per filled cell.

        Raises
        ------
        RatingsError
            If the table breaks a rule. The message lists all faults, with 0-based rows.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings import Ratings
        >>> Ratings.from_wide(np.array([[1, 2], [np.nan, 5], [4, 4]]))
        Ratings(5 ratings of 3 items by 2 raters, numeric 1..5)
        """
        with value_errors_as_faults():
            frame, separator = with_joined_sets(frame, separator, (item,), are_left_out=True)
            options = options_of_sets(scale, categories, separator)
            table = table_from_wide(frame, item=item, pool=pool, gold=gold, twins=twins, **options)
            return cls(**coded_fields(table), separator=separator)

    @classmethod
    def from_counts(
        cls,
        frame: IntoDataFrame | npt.NDArray[Any],
        *,
        item: str | None = None,
        scale: Scale = "nominal",
        categories: Iterable[Any] | None = None,
    ) -> Self:
        """Build ratings from counts, with a row per item and a column per category.

        Counts do not say who gave a rating. `anonymous_raters` is therefore True, and methods that
        need to know the raters refuse these ratings. Items without any rating are left out.

        Parameters
        ----------
        frame : data frame or array, shape (items, categories)
            The cells are the numbers of raters who put the item into the category.
        item : str, optional
            As for `from_wide`.
        scale : {"nominal", "ordered", "numeric"}, default "nominal"
            How the categories relate. With "numeric" their names are read as numbers.
        categories : iterable, optional
            Names of the columns that hold counts, lowest category first if they are ordered; for
            an array, names for its columns. By default all columns, numbered from 0 in an array.

        Returns
        -------
        Ratings
            As many ratings as the counts sum to.

        Raises
        ------
        RatingsError
            If a cell is not a count, or the table breaks another rule.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings import Ratings
        >>> ratings = Ratings.from_counts(np.array([[3, 0], [1, 2]]), categories=["no", "yes"])
        >>> ratings.counts.tolist()
        [[3, 0], [1, 2]]
        """
        with value_errors_as_faults():
            table = table_from_counts(frame, item=item, scale=scale, categories=categories)
            return cls(**coded_fields(table))

    @classmethod
    def from_table(
        cls,
        table: IntoDataFrame | npt.NDArray[Any],
        *,
        categories: Iterable[Any] | None = None,
        raters: Iterable[Any] | None = None,
        scale: Scale = "nominal",
    ) -> Self:
        """Build the ratings of two raters from the table of their categories.

        Such a table, which `table` returns, is also called a crosstab or a contingency table. Items
        are numbered from 0, row by row of the table.

        Parameters
        ----------
        table : data frame or array, shape (K, K)
            How many items the first rater put into the category of the row and the second into
            that of the column. A frame has the categories as index and as columns, in any order; a
            frame without index has the categories of the rows in its first column.
        categories : iterable, optional
            All categories, lowest first if they are ordered; for an array, names for its rows and
            columns. By default those of the rows of a frame, numbered from 0 in an array. Rows and
            columns that a frame does not have count 0.
        raters : iterable of two, optional
            Ids of the raters, that of the rows first. By default the names of a frame's index and
            of its columns, or "first" and "second".
        scale : {"nominal", "ordered", "numeric"}, default "nominal"
            How the categories relate. With "numeric" their names are read as numbers.

        Returns
        -------
        Ratings
            Two for each item that the table counts.

        Raises
        ------
        RatingsError
            If rows and columns differ, a cell is not a count, or the table breaks another rule.

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_table(np.array([[20, 5], [10, 15]]), categories=["no", "yes"])
        >>> ratings
        Ratings(100 ratings of 50 items by 2 raters, nominal in 2 categories)
        """
        with value_errors_as_faults():
            found = table_from_square(table, categories=categories, raters=raters, scale=scale)
            return cls(**coded_fields(found))

    def __repr__(self) -> str:
        raters = "anonymous raters" if self.anonymous_raters else f"{self.n_raters} raters"
        pools = f" in {len(self.pools)} pools" if len(self.pools) else ""
        levels = f"{self.scale} {value_range(self)}"
        size = f"{len(self)} ratings of {self.n_items} items by {raters}{pools}"
        return f"Ratings({size}{facets_in_words(self.facets)}, {levels})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.describe().to_frame().to_html(header=False)}"

    def describe(self) -> pd.Series[Any]:
        """Return the size and the design of the ratings.

        Returns
        -------
        Series of object
            One entry per property, such as "items", "ratings per rater (median)" or "scale".

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings import Ratings
        >>> Ratings.from_wide(np.array([[1, 2], [4, 5]])).describe()["share of cells filled"]
        1.0
        """
        return description(self)

    def agreement(
        self,
        *,
        prob: float = 0.95,
        over: Over | None = None,
        method: Method | None = None,
        replicates: int = 2000,
        seed: int = 0,
        n_jobs: int = 1,
        guideline: str | Guideline | None = None,
    ) -> pd.DataFrame:
        """Return the classical coefficients that suit the scale and the design, with intervals.

        For nominal ratings: percent agreement, Fleiss' kappa (Scott's pi for two raters), the
        kappa of Brennan and Prediger, AC1 and alpha, of single ratings and, by the Spearman-Brown
        formula, of the shares of an item's votes; also Cohen's kappa and P_I for two raters, and
        Conger's kappa for more. For ordered ratings: kappas with linear and quadratic weights, AC2
        and ordinal alpha. For numeric ratings: interval alpha and ICCs. If raters are anonymous,
        coefficients that need to know them are left out. With two pools, kappa_x and normalized
        kappa_x are added; all other coefficients treat the two pools as one.

        If raters rated items more than once, as under several facets, all coefficients compare
        ratings by different raters, ICC(., k) is that of k raters with one rating each, and rows
        that end with "within raters" compare the ratings of an item by the same rater.

        Parameters
        ----------
        prob : float, default 0.95
            Probability of the intervals, strictly between 0 and 1.
        over : {"items", "raters", "both"}, optional
            What is a sample from a larger population; see `agreement.Coefficient.interval`. By
            default both, as far as the design and the coefficient allow.
        method : {"model", "log", "percentile", "bca", "jackknife", "analytic"}, optional
            How intervals are computed; see `agreement.Coefficient.interval`. By default "model" for
            ICCs and "log" for all others. Percentile intervals come from the same bootstrap
            samples, and so take about as long as one.
        replicates : int, default 2000
            Number of bootstrap samples.
        seed : int, default 0
            Seed of the bootstrap.
        n_jobs : int, default 1
            Number of processes; -1 for all processors.
        guideline : str or Guideline, optional
            Guideline whose words for sizes are added, one of `guidelines.GUIDELINES`. By default
            none, because most guidelines were written for other designs.

        Returns
        -------
        DataFrame
            Index coefficient; columns value, standard_error, lower_95 and upper_95 (for
            ``prob=0.95``), over and method of the interval, and word if there is a guideline.
            Undefined values are NaN. Coefficients that cannot be computed are left out, and a
            warning says why. If there is a guideline, ``attrs`` holds its name and the caution to
            quote with its words; ``attrs["pairs"]`` says which pairs of ratings are compared if
            raters rated items more than once.

        Raises
        ------
        RatingsError
            If raters are to be resampled, but are anonymous or too few.
        ValueError
            If an option is out of range, there is no such guideline, or the method does not support
            ``over``.

        Notes
        -----
        If the scale was guessed, two distinct whole numbers are treated as unordered categories, as
        are a few where disagreement ignores distances; up to ten others get the coefficients of
        ordered categories and those of numbers. ``scale=`` says what they are.

        ICC(2, .) and ICC(3, .) are left out for incomplete designs with more than 300 raters, or 25
        with a bootstrap, each sample of which needs a likelihood to be maximised. `agreement` has
        more coefficients, such as Light's kappa and iota. The documentation has a table of the
        coverage of the intervals.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings import Ratings
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

    def table(self, one: Any = None, other: Any = None) -> pd.DataFrame:
        """Return how often two raters gave each pair of categories to the same item.

        Kappas of two raters are formulas of this table. It is also called a crosstab, a contingency
        table or a confusion matrix, although neither rater need be right.

        Parameters
        ----------
        one, other : any, optional
            The user's ids of the raters, which may be left out if there are two. `raters` has their
            order.

        Returns
        -------
        DataFrame of int, shape (K, K)
            Number of items that the first rater put into the category of the row and the second
            into that of the column. Items that only one of them rated do not count. If a rater
            rated an item several times, each pair of their ratings of the item counts.

        Raises
        ------
        RatingsError
            If a rater is unknown, or left out though there are several, raters are anonymous, or
            there are more than 1,000 categories.

        Examples
        --------
        >>> import pandas as pd
        >>> from reliabayes.ratings import Ratings
        >>> wide = pd.DataFrame({"Ann": ["yes", "yes", "no"], "Bob": ["yes", "no", "no"]})
        >>> table = Ratings.from_wide(wide).table("Ann", "Bob")
        >>> table.loc["yes"].to_dict()
        {'no': 1, 'yes': 1}
        """
        return table_of_two_raters(self, one, other)

    def subset(
        self,
        *,
        items: Iterable[Any] | None = None,
        raters: Iterable[Any] | None = None,
        pools: Iterable[Any] | None = None,
        facets: Mapping[str, Iterable[Any]] | None = None,
    ) -> Ratings:
        """Return the ratings of some items, by some raters, from some pools, at some levels.

        The categories stay the same, whether they still occur or not. Of a facet those levels stay
        that still occur.

        Parameters
        ----------
        items : iterable, optional
            The user's ids of the items to keep. By default all.
        raters : iterable, optional
            The user's ids of the raters to keep. By default all.
        pools : iterable, optional
            The user's ids of the pools to keep. By default all.
        facets : mapping from str to iterable, optional
            The user's ids of the levels to keep, by facet. By default all.

        Returns
        -------
        Ratings
            The ratings that meet all conditions.

        Raises
        ------
        RatingsError
            If an id or a facet is unknown, or if no agreement can be computed from the ratings that
            remain.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings import Ratings
        >>> ratings = Ratings.from_wide(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
        >>> ratings.subset(raters=[0, 2])
        Ratings(6 ratings of 3 items by 2 raters, numeric 1..9)
        """
        rows = np.flatnonzero(selection(self, items, raters, pools, facets))
        table = coded_table(self).take(rows)
        check(table)
        same = {"scale_is_guess": self.scale_is_guess, "separator": self.separator}
        return Ratings(**coded_fields(table) | same)

    def to_frame(self) -> pd.DataFrame:
        """Return a long table in the user's ids, from which `from_frame` builds the same ratings.

        Returns
        -------
        DataFrame, N rows
            Columns item, rater unless raters are anonymous, rating, pool and gold if they are
            known, and the facets, to be named again. Categories are a categorical column, ordered
            if the scale is.

        Examples
        --------
        >>> import numpy as np
        >>> from reliabayes.ratings import Ratings
        >>> Ratings.from_wide(np.array([[1, 2], [4, 5]])).to_frame().columns.tolist()
        ['item', 'rater', 'rating']
        """
        return long_frame(self)
