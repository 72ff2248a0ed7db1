"""Short descriptions of ratings: their size, design and scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.wording import listed

FEW_VALUES = 10  # of whole numbers that may be grades


def value_range(ratings: CodedRatings) -> str:
    """Return the range of numeric ratings, or the number of categories.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    str
        Such as ``1..5`` or ``in 3 categories``.
    """
    if ratings.scale == "numeric":
        return f"{ratings.rating.min():g}..{ratings.rating.max():g}"
    return f"in {len(ratings.categories)} categories"


def whole_numbers(ratings: CodedRatings) -> int:
    """Return the number of distinct ratings if they are few whole numbers, which may be grades.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    int
        At most 10; 0 if there are more, or others than whole numbers, or if these are categories.
    """
    if ratings.scale != "numeric":
        return 0
    values = np.unique(ratings.rating)
    return len(values) if len(values) <= FEW_VALUES and (values == np.rint(values)).all() else 0


def description(ratings: CodedRatings) -> pd.Series[Any]:
    """Return the size and the design of ratings; see `Ratings.describe`.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    Series of object
        One entry per property.
    """
    is_numeric = ratings.scale == "numeric"
    lines: dict[str, Any] = {
        "items": ratings.n_items,
        "raters": "anonymous" if ratings.anonymous_raters else ratings.n_raters,
        "ratings": len(ratings),
        **({"rows without a rating": ratings.n_missing} if ratings.n_missing else {}),
        **_distribution("ratings per item", ratings.ratings_per_item),
        **({} if ratings.anonymous_raters else _design(ratings)),
        "scale": ratings.scale,
        "range" if is_numeric else "categories": (
            value_range(ratings) if is_numeric else listed(ratings.categories, 10)
        ),
        "pools": listed(ratings.pools, 10),
    }
    return pd.Series(lines, name="ratings", dtype=object)


def _design(ratings: CodedRatings) -> dict[str, Any]:
    return {
        **_distribution("ratings per rater", ratings.ratings_per_rater),
        "share of cells filled": ratings.n_pairs / (ratings.n_items * ratings.n_raters),
        "replicates": len(ratings) - ratings.n_pairs,
        "connected parts": ratings.n_components,
    }


def _distribution(name: str, counts: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {
        f"{name} (min)": int(counts.min()),
        f"{name} (median)": float(np.median(counts)),
        f"{name} (max)": int(counts.max()),
    }
