"""Covariances of posteriors that are nearly normal, in which few steps of the sampler suffice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.log_density import log_gradients
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.thresholds import NEARLY_NORMAL

SMALL = 0.1  # step of the finite differences in sds, for the curvature at the mode
MOST_CURVATURE, LEAST_CURVATURE = 100.0, 0.01  # in units of the variances that are known before
# On the unconstrained scale, whose exponentials overflow at 700; normal posteriors stay nearer.
FARTHEST = 50.0


def with_covariance(start: WarmStart, program: str, data: Mapping[str, Any]) -> WarmStart:
    """The start with the covariance of a posterior that is nearly normal, if closely its mean.

    Gradients are compared a standard deviation to either side of the mode along each principal
    axis. Those of a normal density are as large as the distance. What they have in common on both
    sides says how far the mean is from the mode: the gradient is zero on average around the mean.
    """
    at = start.centre
    root = np.diag(np.concatenate([np.ravel(sd) for sd in start.sd.values()]))
    before, after, here = _gradients(program, data, at, root, SMALL)
    root, move = _whitened(root, (before - after) / (2 * SMALL), here)
    if not np.abs(at + move).max() + np.abs(root).max() < FARTHEST:
        return start
    before, after, here = _gradients(program, data, at + move, root, 1.0)
    bend, skew = (before - after) / 2, (before + after) / 2
    deviation = max(np.abs(bend - np.eye(len(at))).max(), np.abs(skew).max())
    if not deviation < NEARLY_NORMAL.deviation:
        return start
    shift = here + (skew - here).sum(axis=0)
    is_close = deviation < NEARLY_NORMAL.turned and np.abs(shift).max() < NEARLY_NORMAL.shift
    mean = at + move + root @ shift if is_close else None
    root, _ = _whitened(root, bend, here)
    return replace(
        start,
        mean=mean,
        covariance=root @ root.T,
        step_size=NEARLY_NORMAL.step_size,
        max_tree_depth=NEARLY_NORMAL.tree_depth,
        target_acceptance=NEARLY_NORMAL.acceptance,
    )


def _gradients(
    program: str, data: Mapping[str, Any], at: Array, root: Array, step: float
) -> tuple[Array, Array, Array]:
    """Gradients (P, P) before and after a point along each column of a root, and (P,) at it."""
    moves = step * root.T
    _, found = log_gradients(program, data, np.concatenate([at - moves, at + moves, [at]]))
    before, after, here = np.split(found @ root, [len(at), 2 * len(at)])
    return before, after, here[0]


def _whitened(root: Array, curvature: Array, gradient: Array) -> tuple[Array, Array]:
    """Root of the covariance along principal axes, and the move to the mode."""
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    values = np.clip(values, LEAST_CURVATURE, MOST_CURVATURE)
    new = root @ vectors / np.sqrt(values)
    return new, new @ (vectors.T @ gradient / np.sqrt(values))
