"""Checks and designs that all simulations share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

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
