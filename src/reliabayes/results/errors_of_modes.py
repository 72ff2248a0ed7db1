"""Monte Carlo errors of means over several modes, whose masses are estimates, too."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.results.chain_statistics import TAIL
from reliabayes.results.modes import Mode


def with_errors_of_modes(
    found: Mapping[str, Array], draws: Array, of_draw: Codes, modes: tuple[Mode, ...]
) -> dict[str, Array]:
    """Effective sizes and Monte Carlo errors that include the errors of the modes' masses.

    If masses are wrong, so is a mean over modes, and draws that are interleaved by these masses do
    not show it. The variance of a mean is that within modes, and that by the masses; it is not
    taken to be less than what draws show that pass between modes. Effective sizes are those that
    give such variances: the bulk's of the number itself, and the tails' of being beyond quantiles.

    Parameters
    ----------
    found : mapping of str to array of shape (U,)
        Those that draws show: as of `chain_statistics.measures`.
    draws : array of shape (U, chains, draws)
        Draws of U numbers.
    of_draw : array of int, shape (chains, draws)
        Mode of each draw.
    modes : tuple of Mode
        All of them, with their masses.
    """
    flat, is_at = draws.reshape(len(draws), -1), of_draw.ravel() == np.arange(len(modes))[:, None]
    error = np.array([mode.error for mode in modes])
    mean = _increase(flat, flat.var(axis=1) / found["mcse"] ** 2, is_at, error)
    bulk = _increase(flat, found["ess_bulk"], is_at, error)
    ends = np.quantile(flat, [TAIL, 1 - TAIL], axis=1)[..., None]
    tail = [_increase((flat <= end).astype(float), found["ess_tail"], is_at, error) for end in ends]
    return {
        **found,
        "ess_bulk": found["ess_bulk"] / bulk,
        "ess_tail": found["ess_tail"] / np.maximum(*tail),
        "mcse": found["mcse"] * np.sqrt(mean),
    }


def _increase(values: Array, size: Array, is_at: Array, error: Array) -> Array:
    """How many times as large variances of means (U,) are as effective sizes (U,) say."""
    share = is_at.mean(axis=1)
    sums = values @ is_at.T.astype(float)
    apart = sums / np.maximum(is_at.sum(axis=1), 1) - values.mean(axis=1, keepdims=True)
    variance = values.var(axis=1)
    with np.errstate(all="ignore"):  # numbers that never move have no errors
        within = 1 - apart**2 @ share / variance
        of_masses = (share * apart) ** 2 @ error**2 / variance
        found = np.maximum(within + of_masses * size, 1.0)
    return np.where(np.isfinite(found), found, 1.0)
