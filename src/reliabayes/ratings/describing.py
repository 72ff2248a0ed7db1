"""What ratings look like at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.wording import listed

if TYPE_CHECKING:
    from reliabayes.ratings.ratings import Ratings


def value_range(ratings: Ratings) -> str:
    """Return the numbers' range, or how many categories there are."""
    if ratings.scale == "numeric":
        return f"{ratings.rating.min():g}..{ratings.rating.max():g}"
    return f"in {len(ratings.categories)} categories"


def description(ratings: Ratings) -> pd.Series[Any]:
    """Return the size and the design of the ratings, one line each."""
    is_numeric = ratings.scale == "numeric"
    lines: dict[str, Any] = {
        "items": ratings.n_items,
        "raters": "anonymous" if ratings.anonymous_raters else ratings.n_raters,
        "ratings": len(ratings),
        **_spread("ratings per item", ratings.ratings_per_item),
        **({} if ratings.anonymous_raters else _rater_lines(ratings)),
        "scale": ratings.scale,
        "range" if is_numeric else "categories": (
            value_range(ratings) if is_numeric else listed(ratings.categories, 10)
        ),
        "pools": listed(ratings.pools, 10),
    }
    return pd.Series(lines, name="ratings", dtype=object)


def _rater_lines(ratings: Ratings) -> dict[str, Any]:
    return {
        **_spread("ratings per rater", ratings.ratings_per_rater),
        "share of cells filled": ratings.n_pairs / (ratings.n_items * ratings.n_raters),
        "replicates": len(ratings) - ratings.n_pairs,
        "connected parts": ratings.n_components,
    }


def _spread(name: str, counts: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {
        f"{name} (min)": int(counts.min()),
        f"{name} (median)": float(np.median(counts)),
        f"{name} (max)": int(counts.max()),
    }
