"""Effective sample sizes, R-hat and Monte Carlo error of one number, from its draws.

The definitions of Vehtari et al. (2021), and the numbers of arviz, whose import takes longer than
a small fit. All functions take draws of shape (chains, draws), and return nan if one is nan or if
a chain has fewer than four.

References
----------
Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), https://doi.org/10.1214/20-BA1221
"""

from __future__ import annotations

import numpy as np
import scipy.fft
from scipy.special import ndtri

from reliabayes.arrays import Array

TAIL = 0.05  # probability of the quantiles that stand for the tails
MIN_DRAWS = 4  # of a chain


def ess_bulk(draws: Array) -> float:
    """Effective sample size of rank-normalised draws."""
    return _ess(_normal_scores(_halves(draws))) if _valid(draws) else np.nan


def ess_tail(draws: Array) -> float:
    """Smaller one of the effective sample sizes of the 5% and 95% quantiles."""
    if not _valid(draws):
        return np.nan
    limits = np.quantile(draws, [TAIL, 1 - TAIL])
    return min(_ess(_halves((draws <= limit).astype(float))) for limit in limits)


def r_hat(draws: Array) -> float:
    """Rank-normalised split R-hat, 1 if the chains agree; nan for one chain."""
    if len(draws) < 2 or not _valid(draws):
        return np.nan
    halves = _halves(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_potential_scale_reduction(_normal_scores(x)) for x in (halves, folded))


def mcse_mean(draws: Array) -> float:
    """Monte Carlo standard error of the mean of the draws."""
    return float(draws.std(ddof=1) / np.sqrt(_ess(_halves(draws)))) if _valid(draws) else np.nan


def _valid(draws: Array) -> bool:
    return draws.shape[1] >= MIN_DRAWS and not np.isnan(draws).any()


def _halves(draws: Array) -> Array:
    """Both halves of each chain, without the middle draw of an odd number."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Array) -> Array:
    """Normal quantiles of the ranks of the draws among all; equal draws have equal ranks."""
    _, position, counts = np.unique(draws.ravel(), return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    scores: Array = ndtri((ranks - 3 / 8) / (draws.size + 1 / 4))  # Blom's offset
    return scores[position].reshape(draws.shape)


def _potential_scale_reduction(draws: Array) -> float:
    """Square root of the pooled variance of the draws over the variance within chains."""
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean()
    between = n * draws.mean(axis=1).var(ddof=1)
    return float(np.sqrt((between / within + n - 1) / n))


def _ess(draws: Array) -> float:
    """Effective sample size of the mean, with Geyer's truncation of the autocorrelations."""
    if np.ptp(draws) < np.finfo(float).resolution:
        return float(draws.size)
    correlation = _autocorrelation(draws)
    if np.isnan(correlation).any():
        return np.nan
    # Sums of neighbours decrease and are positive, until the noise dominates.
    n_pairs = max(1, (len(correlation) - 1) // 2)
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    last = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else n_pairs - 1
    remainder = correlation[2 * last]
    if pairs[last] < 0:
        remainder = max(remainder, 0.0)
    time = -1 + 2 * np.minimum.accumulate(pairs[:last]).sum() + remainder
    return float(draws.size / max(time, 1 / np.log10(draws.size)))


def _autocorrelation(draws: Array) -> Array:
    """Correlation of draws with later ones of the same chain, by lag, from all chains together."""
    n = draws.shape[1]
    means = draws.mean(axis=1)
    length = scipy.fft.next_fast_len(2 * n, real=True)  # twice as long, so that no end wraps
    spectrum = scipy.fft.rfft(draws - means[:, None], n=length, axis=1)
    power = (np.abs(spectrum) ** 2).mean(axis=0)
    covariance = scipy.fft.irfft(power, n=length)[:n] / n
    within = covariance[0] * n / (n - 1)
    variance = covariance[0] + means.var(ddof=1)
    correlation: Array = 1 - (within - covariance) / variance
    correlation[0] = 1
    return correlation
