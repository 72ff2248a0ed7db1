"""Units of what raters have in common, by a few draws of it."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array

SHRINKAGE = 0.1  # of covariances of few draws


def units_of(mean: Array, root: Array, scores: Array) -> tuple[Array, Array]:
    """Mean (G,) and root (G, G) of the covariance of what has standard scores (N, G) in others."""
    covariance = np.cov(scores, rowvar=False)
    covariance[~np.eye(len(covariance), dtype=bool)] *= 1 - SHRINKAGE
    return mean + root @ scores.mean(axis=0), root @ np.linalg.cholesky(covariance)
