"""What is known of raters besides their ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.errors import Fault, RatingsError
from reliabayes.wording import listed


@dataclass(frozen=True)
class Covariates:
    """Numbers known of each rater, such as years of experience.

    Attributes
    ----------
    names : of the covariates
    raters : ids
    values : a tuple for each rater, with a finite number for each name

    Examples
    --------
    >>> import pandas as pd
    >>> from reliabayes.models import Covariates
    >>> Covariates.from_frame(pd.DataFrame({"rater": ["x", "y"], "years": [2, 10]}))
    Covariates(names=('years',), raters=('x', 'y'), values=((2.0,), (10.0,)))
    """

    names: tuple[str, ...]
    raters: tuple[Any, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        for name in ("names", "raters"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "values", tuple(tuple(map(float, row)) for row in self.values))
        shape = (len(self.raters), len(self.names))
        found = np.array(self.values, float)
        if found.shape != shape or not np.isfinite(found).all():
            raise ValueError(
                f"Covariates need a finite number for each of {shape[0]} raters and {shape[1]} "
                f"names; found shape {found.shape}. Drop or fill what is missing."
            )
        if len(set(self.raters)) < len(self.raters):
            raise ValueError("Covariates must have one row for each rater, and some have several.")

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, *, rater: str = "rater", names: Sequence[str] | None = None
    ) -> Covariates:
        """Columns of a table with one row for each rater; all but the ids by default."""
        names = [str(name) for name in frame if name != rater] if names is None else list(names)
        return cls(
            tuple(names),
            tuple(frame[rater].tolist()),
            tuple(frame[names].astype(float).itertuples(index=False, name=None)),
        )

    def of(self, raters: pd.Index[Any]) -> NDArray[np.float64]:
        """Values (R, X) of these raters.

        Raises
        ------
        RatingsError
            A rater has none.
        """
        position = pd.Index(list(self.raters)).get_indexer(raters)
        if (position < 0).any():
            rule = "each rater must have covariates"
            found = f"none for {listed(raters[position < 0])}"
            raise RatingsError([Fault("covariates", rule, found, "Add rows for these raters.")])
        return np.asarray(np.array(self.values)[position])
