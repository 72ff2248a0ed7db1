"""Densities of what raters or items have in common, up to constants, and draws from them."""

from __future__ import annotations

from typing import Any

import numpy as np


def half_t(prior: Any, rng: np.random.Generator) -> float:
    """A draw from a half t, given as degrees of freedom and scale."""
    df, scale = prior
    draw = rng.standard_normal() if np.isinf(df) else rng.standard_t(df)
    return float(scale * abs(draw))


def log_normal(x: Any, mean: Any, sd: Any) -> Any:
    """Log density of a normal distribution."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd)


def log_half_t(x: Any, prior: Any) -> Any:
    """Log density of a half t, given as degrees of freedom and scale."""
    df, scale = prior
    ratio = np.square(np.divide(x, scale))
    return -0.5 * (ratio if np.isinf(df) else (df + 1) * np.log1p(ratio / df))


def slope_half_t(x: float, prior: Any) -> float:
    """Slope of the log density of a half t."""
    df, scale = prior
    if np.isinf(df):
        return float(-x / scale**2)
    return float(-(df + 1) * x / (df * scale**2 + x**2))
