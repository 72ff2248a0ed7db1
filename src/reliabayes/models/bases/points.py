"""Points, which are parameters by name: those of draws, and those that ratings are simulated at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


def stacked(posterior: xr.Dataset) -> dict[str, Array]:
    """Draws (S, ...) of each parameter by name, chain by chain."""
    flat = posterior.stack(sample=("chain", "draw"), create_index=False)
    return {str(name): x.transpose("sample", ...).values for name, x in flat.items()}


def points(posterior: xr.Dataset) -> Iterator[dict[str, Array]]:
    """Each draw of a posterior, as a point."""
    values = stacked(posterior)
    for sample in range(posterior.sizes["chain"] * posterior.sizes["draw"]):
        yield {name: draws[sample] for name, draws in values.items()}


def require_known(given: Iterable[str], names: Iterable[str], model: object) -> None:
    """Raise if parameters are given that the model does not have."""
    if unknown := set(given).difference(names := list(names)):
        raise ValueError(
            f"parameters: {', '.join(sorted(unknown))} are not among the parameters of "
            f"{type(model).__name__}: {', '.join(names)}."
        )


def rated(design: pd.DataFrame, rating: Any, **reading: Any) -> Ratings:
    """Ratings of a design: a table with the columns item and rater, and pool if there are pools."""
    kept = [name for name in ("item", "rater", "pool") if name in design]
    return Ratings.from_frame(
        design[kept].assign(rating=rating),
        pool="pool" if "pool" in design else None,
        replicates="keep",
        **reading,
    )
