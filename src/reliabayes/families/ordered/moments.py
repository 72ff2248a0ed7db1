"""Estimates from how often ratings agree: a first guess, from which EM starts."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from reliabayes.arrays import Array
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.likelihoods.ordinal import RESIDUAL, tetrachoric_correlation


def moment_estimates(problem: OrderedProblem) -> dict[str, Array]:
    """Estimates from how often two ratings of an item agree, and two by a rater."""
    mixture, category, rater = problem.mixture, problem.cells.category, problem.cells.rater
    n_categories, n_raters = problem.n_categories, problem.n_raters
    by_cell = np.asarray(mixture.counts.T @ mixture.multiplicity)
    total = by_cell.sum()
    beyond = np.cumsum(np.bincount(category, by_cell, n_categories)[::-1])[-2::-1]
    proportion = np.clip(beyond / total, 0.5 / total, 1 - 0.5 / total)
    split = int(np.abs(proportion - 0.5).argmin())

    above = (category > split).astype(float)
    n_by_rater, above_by_rater = (
        np.bincount(rater, by_cell * weight, n_raters).astype(float) for weight in (1.0, above)
    )
    n_by_item, above_by_item = mixture.counts.sum(axis=1), mixture.counts @ above
    by_rater = (above_by_rater / n_by_rater)[rater]
    one, two = mixture.counts @ by_rater, mixture.counts @ by_rater**2
    by_chance = one**2 - two  # where few raters differ widely, chance agreement is lower
    item = tetrachoric_correlation(
        n_by_item, above_by_item, mixture.multiplicity, proportion[split], by_chance
    )
    severity = tetrachoric_correlation(
        n_by_rater, above_by_rater, np.ones(n_raters), proportion[split]
    )
    residual = max(1 - item - severity, 0.05)
    variance = RESIDUAL[problem.link] / residual
    cut = -ndtri(proportion) * np.sqrt(variance)
    return {
        "mean": np.array(-cut[0]),
        "step": np.maximum(np.diff(cut), 0.05),
        "sd_item": np.array(np.sqrt(item * variance)),
        "sd_rater": np.array(np.sqrt(severity * variance)),
        "level": np.full(n_raters, -cut[0]),
    }
