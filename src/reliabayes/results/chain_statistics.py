"""Effective sample sizes, R-hat and Monte Carlo error of many numbers, from their draws.

The definitions of Vehtari et al. (2021), and the numbers of arviz, whose import takes longer than
a small fit and which computes one number at a time.

References
----------
Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), https://doi.org/10.1214/20-BA1221
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import ndtri

from reliabayes.arrays import Array, Codes, blocks
from reliabayes.inference.threads import of_parts

MEASURES = ("ess_bulk", "ess_tail", "r_hat", "mcse")
TAIL = 0.05  # probability of the quantiles that stand for the tails
MIN_DRAWS = 4  # of a chain
BLOCK = 40_000  # draws of so many numbers at a time as fit into the processor's cache


def measures(draws: Array) -> dict[str, Array]:
    """Convergence of numbers; nan if a draw is nan, or if a chain has fewer than four.

    Parameters
    ----------
    draws : array of shape (U, chains, draws)
        Draws of U numbers.

    Returns
    -------
    dict of str to array of shape (U,)
        ess_bulk, the effective sample size of the rank-normalised draws; ess_tail, the smaller one
        of those of the 5% and 95% quantiles; r_hat, the rank-normalised split R-hat, 1 if the
        chains agree and nan for one chain; mcse, the Monte Carlo standard error of the mean.
    """
    found = {name: np.full(len(draws), np.nan) for name in MEASURES}
    if draws.shape[2] < MIN_DRAWS:
        return found
    complete = np.flatnonzero(~np.isnan(draws).any(axis=(1, 2)))

    def measure(some: slice) -> None:
        block = complete[some]
        for name, values in _measures(draws[block]).items():
            found[name][block] = values

    with np.errstate(all="ignore"):  # draws that never move have no R-hat
        of_parts(measure, blocks(len(complete), BLOCK // (draws.shape[1] * draws.shape[2])))
    return found


def _measures(draws: Array) -> dict[str, Array]:
    halves = _halves(draws)
    order, ordered = _sorted(halves.reshape(len(draws), -1))
    scores = _normal_scores(order, ordered).reshape(halves.shape)
    # Draws up to a quantile, which lies between two of them, are those up to the lower one.
    is_odd = draws.shape[2] % 2
    every = np.sort(draws.reshape(len(draws), -1), axis=1) if is_odd else ordered
    ends = (every[:, int(part * (every.shape[1] - 1)), None, None] for part in (TAIL, 1 - TAIL))
    found = {
        "ess_bulk": _ess(scores),
        "ess_tail": np.minimum(*(_ess((halves <= end).astype(float)) for end in ends)),
        "mcse": draws.std(axis=(1, 2), ddof=1) / np.sqrt(_ess(halves)),
    }
    if draws.shape[1] > 1:
        middle = ordered.shape[1] // 2
        median = ordered[:, middle - 1 : middle + 1].mean(axis=1, keepdims=True)
        # Along sorted draws, distances from the median fall and then rise: one merge sorts them.
        of_order, distances = _sorted(np.abs(ordered - median), "stable")
        folded = _normal_scores(order.ravel()[of_order], distances).reshape(halves.shape)
        found["r_hat"] = np.fmax(
            _potential_scale_reduction(scores), _potential_scale_reduction(folded)
        )
    return found


def _halves(draws: Array) -> Array:
    """Both halves of each chain, without the middle draw of an odd number."""
    half = draws.shape[2] // 2
    return np.concatenate([draws[:, :, :half], draws[:, :, -half:]], axis=1)


def _sorted(
    values: Array, kind: Literal["quicksort", "stable"] = "quicksort"
) -> tuple[Codes, Array]:
    """Positions among all values of the sorted ones of each row, and these."""
    order = values.argsort(axis=1, kind=kind)
    order += np.arange(0, values.size, values.shape[1])[:, None]
    return order, values.ravel()[order]


def _normal_scores(order: Codes, ordered: Array) -> Array:
    """Normal quantiles of the ranks of sorted values, at their positions; equal ones share one."""
    size = ordered.shape[1]
    rank = np.arange(1, size + 1, 0.5)  # ties have the mean of their ranks
    quantiles: Array = ndtri((rank - 3 / 8) / (size + 1 / 4))  # Blom's offset
    rises = np.ones((len(ordered), size + 1), bool)
    rises[:, 1:-1] = ordered[:, 1:] > ordered[:, :-1]
    place = np.arange(size)
    sorted_scores = quantiles[2 * place]
    if not rises.all():
        first = np.maximum.accumulate(np.where(rises[:, :-1], place, 0), axis=1)
        last = np.minimum.accumulate(np.where(rises[:, 1:], place, size)[:, ::-1], axis=1)
        sorted_scores = quantiles[first + last[:, ::-1]]
    scores = np.empty(ordered.size)
    scores[order] = sorted_scores
    return scores


def _potential_scale_reduction(draws: Array) -> Array:
    """Square root of the pooled variance of the draws over the variance within chains."""
    n = draws.shape[2]
    within = draws.var(axis=2, ddof=1).mean(axis=1)
    between = n * draws.mean(axis=2).var(axis=1, ddof=1)
    reduction: Array = np.sqrt((between / within + n - 1) / n)
    return reduction


def _ess(draws: Array) -> Array:
    """Effective sample size of the mean, with Geyer's truncation of the autocorrelations."""
    size = draws[0].size
    correlation = _autocorrelation(draws)
    # Sums of neighbours decrease and are positive, until the noise dominates.
    n_pairs = max(1, (correlation.shape[1] - 1) // 2)
    pairs = correlation[:, : 2 * n_pairs : 2] + correlation[:, 1 : 2 * n_pairs : 2]
    dominated = pairs <= 0
    dominated[:, -1] = True
    last = dominated.argmax(axis=1)
    units = np.arange(len(draws))
    remainder = correlation[units, 2 * last]
    remainder = np.where(pairs[units, last] < 0, np.maximum(remainder, 0), remainder)
    sums = np.cumsum(np.minimum.accumulate(pairs, axis=1), axis=1)
    before = np.where(last > 0, sums[units, last - 1], 0)
    ess: Array = size / np.maximum(-1 + 2 * before + remainder, 1 / np.log10(size))
    ess[np.isnan(correlation).any(axis=1)] = np.nan
    ess[np.ptp(draws, axis=(1, 2)) < np.finfo(float).resolution] = size
    return ess


def _autocorrelation(draws: Array) -> Array:
    """Correlation of draws with later ones of the same chain, by lag, from all chains together."""
    n = draws.shape[2]
    means = draws.mean(axis=2)
    length = 2 ** (2 * n - 1).bit_length()  # twice as long and more, so that no end wraps
    padded = np.zeros((*draws.shape[:2], length))
    np.subtract(draws, means[:, :, None], out=padded[:, :, :n])
    spectrum = np.fft.rfft(padded, axis=2)
    parts = spectrum.view(np.float64)  # real and imaginary ones in turn
    squares = np.einsum("ucf,ucf->uf", parts, parts)
    power = (squares[:, ::2] + squares[:, 1::2]) / draws.shape[1]
    covariance = np.fft.irfft(power, n=length, axis=1)[:, :n] / n
    within = covariance[:, :1] * n / (n - 1)
    variance = covariance[:, :1] + means.var(axis=1, ddof=1)[:, None]
    correlation: Array = 1 - (within - covariance) / variance
    correlation[:, 0] = 1
    return correlation
