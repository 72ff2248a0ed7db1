"""Normal effects widen a curve of probabilities, and what it says lies farther out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reliabayes.arrays import Array

# Of the curve by the variance of the effects, in squares of its own width.
WIDENING = {"logit": (16 * np.sqrt(3) / (15 * np.pi)) ** 2, "probit": 1.0}


def stretch_of(sd: ArrayLike, known_sd: ArrayLike, widening: ArrayLike) -> Array:
    """How much farther out lies what was found with another sd of the effects."""
    wide, known = (1 + np.asarray(widening) * np.asarray(each) ** 2 for each in (sd, known_sd))
    return np.asarray(np.sqrt(wide / known))
