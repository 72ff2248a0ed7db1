"""How far results depend on the priors, by weighting the draws instead of fitting again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import scalars

POWERS = 0.8, 1.25  # of the prior, for its sensitivity
MAX_K = 0.7  # Pareto k above which weights do not represent the other posterior
FEW = 10  # raters or items that say little about how much they differ


def sensitivity(posterior: Posterior[Any], quantities: xr.Dataset) -> pd.DataFrame:
    """Medians under half and twice the scale of each prior of an sd, and power-scaling."""
    draws = {
        label: np.ravel(values)
        for name, each in quantities.items()
        for label, values in scalars(str(name), each)
    }
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for prior, log_density in _log_priors(posterior).items():
        at, half, twice = (log_density[scale] for scale in (1.0, 0.5, 2.0))
        weights = {"half_scale": smoothed(half - at), "twice_scale": smoothed(twice - at)}
        powers = [smoothed((power - 1) * at) for power in POWERS]
        worst = max(k for _, k in [*weights.values(), *powers])
        for name, values in draws.items():
            distance = sum(_distance(values, weight) for weight, _ in powers)
            rows[prior, name] = {
                "median": float(np.median(values)),
                **{key: _median(values, weight) for key, (weight, _) in weights.items()},
                "sensitivity": distance / (2 * np.log2(POWERS[1])),
                "pareto_k": worst,
            }
    index = pd.MultiIndex.from_tuples(rows, names=["prior", "quantity"])
    return pd.DataFrame(list(rows.values()), index=index)


def note_on_priors(posterior: Posterior[Any], quantities: xr.Dataset) -> str:
    """What the ICC would be under other priors of an sd that few raters or items inform; or ''."""
    name = next((each for each in ("icc_observed", "icc") if each in quantities), "")
    few = {
        "sd_rater": (posterior.ratings.n_raters, "raters"),
        "sd_item": (posterior.ratings.n_items, "items"),
    }
    few = {prior: found for prior, found in few.items() if found[0] < FEW}
    if not name or not few or quantities[name].ndim > 2:
        return ""
    table = sensitivity(posterior, quantities[[name]]).xs(name, level="quantity")
    sentences = []
    for prior, (number, units) in few.items():
        row = table.loc[prior]
        start = (
            f"{number} {units} say little about how much {units} differ, so the prior of {prior} "
            f"counts for the {name}"
        )
        end = (
            f": its median is {row['median']:.2f}, with half the prior's scale "
            f"{row['half_scale']:.2f}, with twice {row['twice_scale']:.2f}."
        )
        unknown = "; how much, only a fit with another prior can tell."
        sentences.append(start + (end if row["pareto_k"] <= MAX_K else unknown))
    return " ".join(sentences)


def smoothed(log_ratio: Array) -> tuple[Array, float]:
    """Importance weights (S,) that sum to 1, Pareto-smoothed, and the Pareto k of their tail.

    Vehtari et al. (2024), https://www.jmlr.org/papers/v25/19-556.html
    """
    weight = np.exp(log_ratio - log_ratio.max())
    size = int(min(len(weight) / 5, 3 * np.sqrt(len(weight))))
    order = np.argsort(weight, kind="stable")
    tail, cutoff = order[-size:], weight[order[-size - 1]]
    excess = weight[tail] - cutoff
    if size < 5 or excess.max() <= 1e-12:
        return weight / weight.sum(), -np.inf
    k, scale = _generalised_pareto(excess)
    at = (np.arange(size) + 0.5) / size
    spread = -np.log1p(-at) if abs(k) < 1e-9 else np.expm1(-k * np.log1p(-at)) / k
    weight[tail] = np.minimum(cutoff + scale * spread, 1.0)
    return weight / weight.sum(), k


def _generalised_pareto(excess: Array) -> tuple[float, float]:
    """Shape and scale by the estimator of Zhang & Stephens (2009), with a weak prior of the shape.

    https://doi.org/10.1198/tech.2009.08017
    """
    n, points = len(excess), 30 + int(np.sqrt(len(excess)))
    quartile = excess[int(n / 4 + 0.5) - 1]
    theta = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    theta = theta / (3 * max(quartile, 1e-300)) + 1 / excess[-1]
    shape = np.log1p(-theta[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-theta / shape) - shape - 1)
    weight = 1 / np.exp(profile - profile[:, None]).sum(axis=1)
    best = float(theta @ weight / weight.sum())
    k = float(np.log1p(-best * excess).mean())
    return (n * k + 10 * 0.5) / (n + 10), -k / best


def _log_priors(posterior: Posterior[Any]) -> dict[str, dict[float, Array]]:
    """Log density (S,) of each half-t prior of an sd, at 1, 0.5 and 2 times its scale."""
    found = {}
    for name, prior in posterior.problem.priors.items():
        if name.startswith("sd_") and name in posterior.draws:
            draws = posterior.draws[name].transpose("chain", "draw", ...).values
            flat = draws.reshape(draws.shape[0] * draws.shape[1], -1)
            df, scale = np.asarray(prior, float)
            found[name] = {
                times: (log_half_t(flat, (df, times * scale)) - np.log(times)).sum(axis=1)
                for times in (1.0, 0.5, 2.0)
            }
    return found


def _median(values: Array, weight: Array) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weight[order]), 0.5)])


def _distance(values: Array, weight: Array) -> float:
    """Cumulative Jensen-Shannon distance of draws and weighted draws, from 0 to 1."""
    order = np.argsort(values)
    step = np.diff(values[order])
    one = (np.arange(1, len(values)) / len(values))[:, None]
    other = np.cumsum(weight[order])[:-1, None]
    p, q = np.clip([one[:, 0], other[:, 0]], 1e-300, 1.0)
    middle = np.log2((p + q) / 2)
    divergence = step @ (p * (np.log2(p) - middle) + q * (np.log2(q) - middle))
    return float(np.sqrt(max(divergence, 0.0) / (step @ (p + q))))
