"""Checks and designs that all simulations share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Scale
from reliabayes.ratings import Ratings


def require_known(given: Iterable[str], names: Iterable[str], model: object) -> None:
    """Raise if parameters are given that the model does not have."""
    if unknown := set(given).difference(names := list(names)):
        raise ValueError(
            f"parameters: {type(model).__name__} has no {', '.join(sorted(unknown))}; its "
            f"parameters are {', '.join(names)}."
        )


def rated(design: pd.DataFrame | Ratings, rating: Any, **reading: Any) -> Ratings:
    """Ratings of a design: a table with the columns item and rater, and pool if there are pools.

    Of ratings the facets are kept; a table has none.
    """
    facets: list[str] = []
    if isinstance(design, Ratings):
        facets, design = list(design.facets), design.to_frame()
    kept = [name for name in ("item", "rater", "pool", *facets) if name in design]
    return Ratings.from_frame(
        design[kept].assign(rating=rating),
        pool="pool" if "pool" in design else None,
        replicates="keep",
        facets=facets,
        **reading,
    )


def blank_ratings(design: pd.DataFrame | Ratings, categories: Iterable[Any]) -> Ratings:
    """Ratings of a design, with arbitrary categories."""
    scale: Scale | None = None
    if isinstance(design, Ratings):
        categories, scale = design.categories, design.scale
    values = pd.Index(list(categories))
    arbitrary = values[np.arange(len(design)) % len(values)]
    return rated(design, arbitrary, scale=scale, categories=values)


def drawn_categories(probability: Array, rng: np.random.Generator) -> Codes:
    """A category (N,) drawn from each row of probabilities (N, K), which need not sum to 1."""
    edges = probability.cumsum(axis=1)
    point = rng.random(len(edges)) * edges[:, -1]
    return np.asarray((point[:, None] >= edges[:, :-1]).sum(axis=1, dtype=np.int32))
