"""Sampling distributions of formulas of sums over items: bootstrap, jackknife, delta method.

A sample of items is a row of weights, and its sums are ``weights @ rows``: no sample costs another
pass over the ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.agreement.distinct_rows import DistinctRows, Formula, HasGradient
from reliabayes.arrays import Array, Codes
from reliabayes.jobs import run_jobs

Sampler = Callable[[np.random.Generator, int], Array]

MAX_GROUPS = 30  # of raters that are left out together, or of items in an interaction
COMPLEX_STEP = 1e-100  # so small that the complex-step derivative has no truncation error


def bootstrap(sample: Sampler, replicates: int, block_size: int, seed: int, n_jobs: int) -> Array:
    """Draw bootstrap replicates in blocks, each with its own stream of random numbers.

    Parameters
    ----------
    sample : callable
        Takes a generator and a number of replicates, and returns their values.
    replicates : int
        Number of replicates.
    block_size : int
        Replicates of each block.
    seed : int
        The same seed gives the same values, for any ``n_jobs``.
    n_jobs : int
        Number of joblib workers.

    Returns
    -------
    array of float, shape (replicates,)
        The values; nan where the formula is undefined.
    """
    sizes = np.full(math.ceil(replicates / block_size), block_size)
    sizes[-1] -= sizes.sum() - replicates
    streams = np.random.SeedSequence(seed).spawn(len(sizes))
    tasks = [
        partial(sample, np.random.default_rng(stream), int(size))
        for stream, size in zip(streams, sizes, strict=True)
    ]
    return np.concatenate(list(run_jobs(tasks, n_jobs)))


def resample_raters(pools: Codes, rng: np.random.Generator, replicates: int) -> NDArray[np.int64]:
    """Resample raters with replacement within their pools.

    Parameters
    ----------
    pools : array of int, shape (R,)
        Pool of each rater.
    rng : Generator
        Source of randomness.
    replicates : int
        Number of samples.

    Returns
    -------
    array of int, shape (replicates, R)
        Count of each rater in each sample; every pool keeps its size.
    """
    drawn = np.empty((replicates, len(pools)), np.int64)
    for pool in np.unique(pools):
        members = np.flatnonzero(pools == pool)
        probabilities = np.full(len(members), 1 / len(members))
        drawn[:, members] = rng.multinomial(len(members), probabilities, size=replicates)
    return drawn


def groups_of_raters(pools: Codes) -> tuple[Codes, Codes]:
    """Divide raters into groups that are left out together, each of one pool.

    Parameters
    ----------
    pools : array of int, shape (R,)
        Pool of each rater.

    Returns
    -------
    group : array of int, shape (R,)
        Group of each rater; every rater is a group as long as there are 30 or fewer.
    pool : array of int, shape (G,)
        Pool of each group.
    """
    sizes = np.bincount(pools)
    n_groups = np.minimum(sizes, np.maximum(2, MAX_GROUPS * sizes // len(pools)))
    position = pd.Series(pools).groupby(pools).cumcount().to_numpy()
    first = np.cumsum(n_groups) - n_groups
    group = first[pools] + position % n_groups[pools]
    return group, np.repeat(np.arange(len(sizes)), n_groups)


def leave_one_out(distinct: DistinctRows, formula: Formula) -> Array:
    """Evaluate a formula without each item.

    Parameters
    ----------
    distinct : DistinctRows
        Statistics of the items.
    formula : callable
        Function of sums (..., S).

    Returns
    -------
    array of float, shape (I,)
        The values; items with the same row stand together.
    """
    values = distinct.perturbed(formula, -1.0, distinct.total)
    return np.repeat(values, distinct.multiplicity)


def influence(distinct: DistinctRows, formula: Formula) -> Array:
    """Differentiate a formula with respect to the weight of each item, exactly up to rounding.

    Parameters
    ----------
    distinct : DistinctRows
        Statistics of the items.
    formula : callable
        Analytic function of sums (..., S): products, quotients, powers and logarithms.

    Returns
    -------
    array of float, shape (I,)
        The derivatives; items with the same row stand together.

    References
    ----------
    Squire & Trapp (1998), complex-step derivatives. https://doi.org/10.1137/S003614459631241X
    """
    return np.repeat(slopes(distinct, formula, distinct.total), distinct.multiplicity)


def slopes(distinct: DistinctRows, formula: Formula, total: Array) -> Array:
    """Differentiate a formula in the direction of each row.

    Parameters
    ----------
    distinct : DistinctRows
        The directions.
    formula : callable
        Analytic function of sums (..., S), unless it has a gradient.
    total : array of float, shape (S,)
        Where to differentiate.

    Returns
    -------
    array of float, shape (D,)
        The derivatives.
    """
    if isinstance(formula, HasGradient):
        return np.asarray(distinct.rows @ formula.gradient(total))
    at = total.astype(complex)
    return distinct.perturbed(formula, COMPLEX_STEP * 1j, at).imag / COMPLEX_STEP


def jackknife_influence(values: Array) -> Array:
    """Return how far each unit moves the estimate, according to the jackknife.

    Parameters
    ----------
    values : array of float, shape (n,)
        The estimate without each unit.

    Returns
    -------
    array of float, shape (n,)
        Empirical influence of each unit.
    """
    n = len(values)
    return np.asarray((n - 1) / n * (values.mean() - values))
