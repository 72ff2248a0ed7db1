"""Short descriptions of ratings: their size, design and scale."""

from __future__ import annotations

from collections.abc import Mapping
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
        **_groups(ratings),
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
        **({"left out": left_out_in_words(ratings.left_out)} if ratings.left_out else {}),
    }
    return pd.Series(lines, name="ratings", dtype=object)


def _known_answers(ratings: CodedRatings) -> dict[str, int]:
    if ratings.gold is None:
        return {}
    is_known = ~np.isnan(ratings.gold) if ratings.scale == "numeric" else ratings.gold >= 0
    return {"items with a known answer": int(is_known.sum())}


def left_out_in_words(left_out: Mapping[str, int]) -> str:
    """Return what was left out of a tool's file, such as ``3 cancelled, 1 draft``."""
    return ", ".join(f"{number:,} {reason}" for reason, number in left_out.items())


def _groups(ratings: CodedRatings) -> dict[str, int]:
    """The numbers of groups and blocks, of blocks in all groups, and of items in none."""
    group, block = ratings.item_group, ratings.item_block
    found: dict[str, int] = {}
    for name, codes, ids in (("group", group, ratings.groups), ("block", block, ratings.blocks)):
        if codes is not None:
            found[f"{name}s"] = len(ids)
            if n_unknown := int(np.count_nonzero(codes < 0)):
                found[f"items without a {name}"] = n_unknown
    if group is not None and block is not None:
        pairs = np.unique(np.stack([block, group])[:, (group >= 0) & (block >= 0)], axis=1)
        groups_of_block = np.bincount(pairs[0], minlength=len(ratings.blocks))
        found["blocks in all groups"] = int((groups_of_block == len(ratings.groups)).sum())
    return found


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
