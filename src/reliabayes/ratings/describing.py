"""Short descriptions of ratings: their size, design and scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.ratings.facet_design import facet_description
from reliabayes.ratings.likely_scale import likely_scale
from reliabayes.wording import listed


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
        **facet_description(ratings),
        **({"rows without a rating": ratings.n_missing} if ratings.n_missing else {}),
        **_known_answers(ratings),
        **_distribution("ratings per item", ratings.ratings_per_item),
        **({} if ratings.anonymous_raters else _design(ratings)),
        "scale": ratings.scale,
        **_guess(ratings),
        "range" if is_numeric else "categories": (
            value_range(ratings) if is_numeric else listed(ratings.categories, 10)
        ),
        "pools": listed(ratings.pools, 10),
    }
    return pd.Series(lines, name="ratings", dtype=object)


def _known_answers(ratings: CodedRatings) -> dict[str, int]:
    if ratings.gold is None:
        return {}
    is_known = ~np.isnan(ratings.gold) if ratings.scale == "numeric" else ratings.gold >= 0
    return {"items with a known answer": int(is_known.sum())}


def _guess(ratings: CodedRatings) -> dict[str, str]:
    """That the scale was guessed, and what the ratings are more probably."""
    if not ratings.scale_is_guess:
        return {}
    return {"scale guessed": likely_scale(ratings).reason or "from the values"}


def _design(ratings: CodedRatings) -> dict[str, Any]:
    return {
        **_distribution("ratings per rater", ratings.ratings_per_rater),
        "share of cells filled": ratings.n_pairs / (ratings.n_items * ratings.n_raters),
        "replicates": len(ratings) - ratings.n_cells,
        "connected parts": ratings.n_components,
    }


def _distribution(name: str, counts: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {
        f"{name} (min)": int(counts.min()),
        f"{name} (median)": float(np.median(counts)),
        f"{name} (max)": int(counts.max()),
    }
