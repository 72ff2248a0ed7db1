"""How far results depend on the priors, by weighting the draws instead of fitting again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import softmax

from reliabayes.arrays import Array
from reliabayes.inference.conjugate import GROUPED
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.parameters import Parameter
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import scalars
from reliabayes.wording import counted, joined, several

POWERS = 0.8, 1.25  # of the prior, for its sensitivity
MAX_K = 0.7  # Pareto k above which weights do not represent the other posterior
FEW = 10  # raters or items that leave uncertain how much they differ
NOTICEABLE = 0.05  # sensitivity to a prior
MEAN_ACCURACY = "mean accuracy"
BLOCK, TINY = 1_000_000, np.finfo(float).tiny  # logs at a time; of probabilities, at least
UNKNOWN = "; how much, only a fit with another prior can tell."

# By parameter, and times its scale or weight: log density (S,).
Priors = dict[str, dict[float, Array]]


def sensitivity(
    posterior: Posterior[Any], quantities: xr.Dataset, parameters: Sequence[Parameter] = ()
) -> pd.DataFrame:
    """Medians under half and twice each prior's scale or weight, and power-scaling."""
    draws = {
        label: np.ravel(values)
        for name, each in quantities.items()
        for label, values in scalars(str(name), each)
    }
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for prior, log_density in _log_priors(posterior, parameters).items():
        at = log_density[1.0]
        weights = dict(zip(("half", "twice"), _scaled(log_density), strict=True))
        powers = [smoothed((power - 1) * at) for power in POWERS]
        worst = max(k for _, k in [*weights.values(), *powers])
        for name, values in draws.items():
            distance = sum(_distance(values, weight) for weight, _ in powers)
            rows[prior, name] = {
                "median": float(np.median(values)),
                **{key: _quantile(values, weight, 0.5) for key, (weight, _) in weights.items()},
                "sensitivity": distance / (2 * np.log2(POWERS[1])),
                "pareto_k": worst,
            }
    index = pd.MultiIndex.from_tuples(rows, names=["prior", "quantity"])
    return pd.DataFrame(list(rows.values()), index=index)


def note_on_priors(
    posterior: Posterior[Any], quantities: xr.Dataset, parameters: Sequence[Parameter] = ()
) -> str:
    """What the result would be under other priors, if few raters, items or levels inform it."""
    if "accuracy" in quantities:
        return _note_on_accuracy(posterior, quantities, parameters)
    if "mdc" in quantities:
        return _note_on_facets(posterior, quantities)
    return _note_on_icc(posterior, quantities)


def _note_on_icc(posterior: Posterior[Any], quantities: xr.Dataset) -> str:
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
            f"{number} {units} leave uncertain how much {units} differ, so the prior of {prior} "
            f"counts for the {name}"
        )
        sentences.append(start + _medians(row, "scale"))
    return " ".join(sentences)


def _note_on_facets(posterior: Posterior[Any], quantities: xr.Dataset) -> str:
    """How far the end of an interval to which a facet of few levels pulls depends on its prior."""
    name, end, verb = "mdc", 0.95, "ends at"
    if "phi_observed" in quantities:
        name, end, verb = "phi_observed", 0.05, "begins at"
    values, priors = np.ravel(quantities[name]), _log_priors(posterior, ())
    sentences, unsure = [], []
    for facet, source, number in _facets_of_few_levels(posterior.problem.effects):
        weights = _scaled(priors[f"sd[{source}]"])
        half, twice = (_quantile(values, weight, end) for weight, _ in weights)
        at = float(np.quantile(values, end))
        is_known = max(k for _, k in weights) <= MAX_K
        if is_known and abs(twice - half) < NOTICEABLE * at:
            continue
        ends = (
            f"; its 90% interval {verb} {at:.2f}, or at {half:.2f} with half the prior's scale and "
            f"{twice:.2f} with twice the scale."
        )
        sentences.append(
            f"{counted(number, facet)} leave the variance between {several(facet)} uncertain, so "
            f"{name} depends on the prior of sd[{source}]{ends if is_known else UNKNOWN}"
        )
        unsure.append(facet)
    if unsure:
        same = joined([several(facet) for facet in unsure])
        sentences.append(
            f"If all measurements have the same {same}, GStudy(..., fixed={unsure}) leaves their "
            "differences out of the error."
        )
    return " ".join(sentences)


def _facets_of_few_levels(effects: Any) -> Iterator[tuple[str, str, int]]:
    """Facets with the source of their differences and their number of levels, if that is small."""
    design = effects.design
    for source in effects.sources[:-1]:
        primary = design.primary(source.facets)
        if len(primary) > 1 or source.facets & design.measured:
            continue  # of ratings in parts, levels of the object are not counted
        (facet,), number = primary, effects.cells[source.facets][1]
        if number < FEW:
            yield facet, source.name, number


def _note_on_accuracy(
    posterior: Posterior[Any], quantities: xr.Dataset, parameters: Sequence[Parameter]
) -> str:
    n_raters = posterior.ratings.n_raters
    if n_raters >= FEW or not _log_priors(posterior, parameters):
        return ""
    accuracy = quantities["accuracy"]
    mean = accuracy.mean("rater") if "rater" in accuracy.dims else accuracy
    table = sensitivity(posterior, mean.to_dataset(name=MEAN_ACCURACY), parameters)
    prior, row = max(table.xs(MEAN_ACCURACY, level="quantity").iterrows(), key=_moves)
    kind = "weight" if _is_probability(str(prior), parameters) else "scale"
    looks_alike = row["pareto_k"] <= MAX_K and f"{row['half']:.2f}" == f"{row['twice']:.2f}"
    if row["sensitivity"] < NOTICEABLE or looks_alike:
        return ""
    start = f"With {n_raters} raters the prior of {prior} counts for their {MEAN_ACCURACY}"
    return start + _medians(row, kind)


def _medians(row: Any, kind: str) -> str:
    """The end of a sentence: medians under other scales or weights, as far as draws tell them."""
    if row["pareto_k"] > MAX_K:
        return UNKNOWN
    return (
        f": its median is {row['median']:.2f}, with half the prior's {kind} {row['half']:.2f}, "
        f"with twice {row['twice']:.2f}."
    )


def _moves(row: tuple[Any, Any]) -> float:
    return float(row[1]["sensitivity"])


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
    with np.errstate(over="ignore"):  # of a tail without end, which is cut off
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
    best = float(theta @ softmax(profile))
    k = float(np.log1p(-best * excess).mean())
    return (n * k + 10 * 0.5) / (n + 10), -k / best


def _log_priors(posterior: Posterior[Any], parameters: Sequence[Parameter]) -> Priors:
    """Log density of each prior, up to constants, at 1, 0.5 and 2 times its scale or weight.

    That of probabilities is on the unconstrained scale, where a power of it is one of its weight.
    """
    found = {}
    for name, numbers in posterior.problem.priors.items():
        if name not in posterior.draws:
            continue
        draws = posterior.draws[name].transpose("chain", "draw", ...).values
        draws, prior = draws.reshape(-1, *draws.shape[2:]), np.asarray(numbers, float)
        if _is_probability(name, parameters):
            if _support(name, parameters) == "unit":
                draws = np.stack([draws, 1 - draws], axis=-1)
            log_density = _log_probabilities(draws, np.broadcast_to(prior, draws.shape[1:]))
            found[name] = {times: times * log_density for times in (1.0, 0.5, 2.0)}
        elif name == "sd":  # by source, each with a prior of its own
            for k, (label, own) in enumerate(
                zip(posterior.draws[name].source.values, prior, strict=False)
            ):
                found[f"sd[{label}]"] = _log_half_t(draws[:, k], own)
        elif name.startswith("sd_") or _support(name, parameters) == "positive":
            found[name] = _log_half_t(draws, prior)
    return found


def _log_half_t(draws: Array, prior: Array) -> dict[float, Array]:
    """Log densities (S,) of draws (S, ...) by factors of the scale."""
    flat, (df, scale) = draws.reshape(len(draws), -1), prior
    return {times: log_half_t(flat, (df, times * scale)).sum(axis=1) for times in (1.0, 0.5, 2.0)}


def _log_probabilities(draws: Array, concentration: Array) -> Array:
    """Log densities (S,) of Dirichlet distributions, up to constants, in blocks of draws."""
    flat, weight = draws.reshape(len(draws), -1), concentration.ravel()
    blocks = np.array_split(flat, 1 + flat.size // BLOCK)
    return np.concatenate([np.log(np.maximum(block, TINY)) @ weight for block in blocks])


def _support(name: str, parameters: Sequence[Parameter]) -> str:
    return next((each.support for each in parameters if each.name == name), "")


def _is_probability(name: str, parameters: Sequence[Parameter]) -> bool:
    return _support(name, parameters) in GROUPED


def _scaled(log_density: Mapping[float, Array]) -> tuple[tuple[Array, float], ...]:
    """Weights with their Pareto k, under half and twice the scale or weight of a prior."""
    half, twice = (smoothed(log_density[times] - log_density[1.0]) for times in (0.5, 2.0))
    return half, twice


def _quantile(values: Array, weight: Array, probability: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weight[order]), probability)])


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
