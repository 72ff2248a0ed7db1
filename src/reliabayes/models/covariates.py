"""Covariates of raters."""

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
    """Numeric covariates of raters, such as years of experience.

    Parameters
    ----------
    names : tuple of str
        Names of the X covariates.
    raters : tuple
        Ids of the raters, each once.
    values : tuple of tuple of float
        A tuple for each rater, with a finite number for each covariate.

    Raises
    ------
    ValueError
        A value is missing or not finite, or a rater has several rows.

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
                f"Covariates need a finite number for each of {shape[0]} raters and each of "
                f"{shape[1]} names; found shape {found.shape}. Drop or fill missing values."
            )
        if len(set(self.raters)) < len(self.raters):
            raise ValueError(
                "Covariates must have one row for each rater; some raters have several."
            )

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, *, rater: str = "rater", names: Sequence[str] | None = None
    ) -> Covariates:
        """Take covariates from a table with one row for each rater.

        Parameters
        ----------
        frame : DataFrame
            A row for each rater.
        rater : str, default "rater"
            Column of the raters' ids.
        names : sequence of str, optional
            Columns of the covariates; by default all columns but the ids.

        Returns
        -------
        Covariates
            The covariates of all raters of the table.
        """
        names = [str(name) for name in frame if name != rater] if names is None else list(names)
        return cls(
            tuple(names),
            tuple(frame[rater].tolist()),
            tuple(frame[names].astype(float).itertuples(index=False, name=None)),
        )

    def of(self, raters: pd.Index[Any]) -> NDArray[np.float64]:
        """Covariates of some raters, in their order.

        Parameters
        ----------
        raters : Index, shape (R,)
            Ids of the raters.

        Returns
        -------
        array of float, shape (R, X)
            The covariates.

        Raises
        ------
        RatingsError
            A rater has no covariates.
        """
        position = pd.Index(list(self.raters)).get_indexer(raters)
        if (position < 0).any():
            rule = "each rater must have covariates"
            found = f"none for {listed(raters[position < 0])}"
            raise RatingsError([Fault("covariates", rule, found, "Add rows for these raters.")])
        return np.asarray(np.array(self.values)[position])
