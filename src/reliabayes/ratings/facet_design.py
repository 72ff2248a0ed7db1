"""How facets are arranged: constant, nested, or confounded with items, raters or each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reliabayes.arrays import Codes
from reliabayes.ratings.coded_ratings import CodedRatings


def facet_description(ratings: CodedRatings) -> dict[str, str]:
    """Return the sizes and the arrangement of facets in words.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.

    Returns
    -------
    dict from str to str
        Entries of `Ratings.describe`; none if there are no facets.
    """
    if not ratings.facets:
        return {}
    sizes = {name: len(ids) for name, ids in ratings.facets.items()}
    levels = [f"{name} ({n:,} level{'s' * (n > 1)})" for name, n in sizes.items()]
    relations = "; ".join(_relations(ratings)) or "none is constant, nested or confounded"
    return {"facets": ", ".join(levels), "design of facets": relations}


def _relations(ratings: CodedRatings) -> Iterator[str]:
    known = {"item": ratings.item, "rater": ratings.rater}
    has_repeats = ratings.n_pairs < len(ratings)
    pair = ratings.pair.astype(np.int32)
    for name, codes in ratings.facet.items():
        if len(ratings.facets[name]) == 1:
            yield f"{name} is constant"
            continue
        is_one_of = {other: has_one(known[other], codes) for other in known}
        for other, is_nested in is_one_of.items():
            is_nesting = has_one(codes, known[other])
            if is_nested and is_nesting:
                yield f"{name} is one to one with {other}: their effects are confounded"
            elif is_nested:
                yield f"{other} is nested in {name}: each {other} has one {name}"
            elif is_nesting:
                yield f"{name} is nested in {other}: each {name} has one {other}"
        if has_repeats and not (is_one_of["item"] or is_one_of["rater"]) and has_one(pair, codes):
            yield f"each pair of item and rater has one {name}"
        known[name] = codes


def has_one(group: Codes, codes: Codes) -> bool:
    """Whether all rows of each group have the same code.

    Parameters
    ----------
    group : array of int, shape (N,)
        Group of each row, from 0.
    codes : array of int, shape (N,)
        Code of each row.
    """
    first = np.empty(group.max() + 1, codes.dtype)
    first[group] = codes
    return bool((first[group] == codes).all())
