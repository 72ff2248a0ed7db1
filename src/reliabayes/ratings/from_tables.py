"""The constructors of Ratings: from a long table, a wide table, or counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from reliabayes.choices import Missing, Replicates, Scale, Twins
from reliabayes.ratings.argument_checks import value_errors_as_faults
from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.ratings.coding import coded_fields
from reliabayes.ratings.facets import Facets
from reliabayes.ratings.shapes import Pools, table_from_counts, table_from_long, table_from_wide

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class RatingsFromTables(CodedRatings):
    """Ratings that are built from the user's tables, which are checked first."""

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
        with value_errors_as_faults():
            table = table_from_long(
                frame,
                roles,
                scale=scale,
                categories=categories,
                replicates=replicates,
                missing=missing,
                twins=twins,
                facets=facets,
            )
            return cls(**coded_fields(table))

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
        categories : iterable, optional
            As for `from_frame`.
        twins : {"error", "join"}, default "error"
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
            table = table_from_wide(
                frame,
                item=item,
                pool=pool,
                gold=gold,
                scale=scale,
                categories=categories,
                twins=twins,
            )
            return cls(**coded_fields(table))

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
