"""Expected effects in place of drawn ones, for estimates without uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np

from reliabayes.arrays import Array


class NoNoise(np.random.Generator):
    """A source of standard normal numbers that are all 0, their mean.

    Normal effects drawn with it are those expected given the ratings and the parameters: the
    conditional modes, or best linear unbiased predictions, of a mixed model.
    """

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_normal(self, size: Any = ()) -> Array:  # type: ignore[override]
        """Zeros in place of random numbers."""
        return np.zeros(size)
