"""Density of the standard deviations of Gaussian ratings, with all effects integrated out."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.interpolated_density import InterpolatedDensity
from reliabayes.inference.time_limit import check_time
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_one_pool import Deviations
from reliabayes.likelihoods.swept_sums import SweptSums
from reliabayes.models.bases.gaussian import SDS
from reliabayes.models.bases.gaussian_crossed import CrossedProblem

MANY, MANY_AT_ONCE = 8, 512  # iterations for each draw of an interpolated density, and at once
# Cells of the sums at most, 160 MB; of precision matrices at once, 4 MB; and proposals for each
# draw, which are more where the matrices are small.
MOST_CELLS, CHUNK_OF_CELLS, THINNED_CELLS, MOST_THINNING = 20_000_000, 500_000, 2_500, 32


def near_normal(problem: CrossedProblem, mode: WarmStart) -> NearNormal | None:
    """Independence sampling of the log standard deviations, unless columns are very many.

    Their density is quick, and found for many points at once, so that proposals need not be
    good: chains of hundreds of thousands of them give a thousand draws. With hundreds of
    columns it is slow, and interpolated.
    """
    if isinstance(problem.sums, SweptSums):
        return None
    is_large = problem.is_large
    cells = (problem.sums.n_columns + 1) ** 2
    if not is_large and cells * (problem.sums.n_patterns + 1) > MOST_CELLS:
        return None
    prior, center = problem.mean_prior, problem.center

    def evaluate(log_sd: Array) -> tuple[Array, Array]:
        check_time()
        sds = np.exp(log_sd).T
        log_prior = sum(map(log_half_t, sds, (problem.priors[name] for name in SDS)))
        found = problem.crossed.marginal(Deviations(*sds).swap(problem.swapped), prior)
        return (
            found.log_density + log_prior + log_sd.sum(axis=1),
            np.column_stack([center + found.mean, found.sd_mean]),
        )

    def finish(log_sd: Array, mean: Array, rng: np.random.Generator) -> dict[str, Array]:
        drawn = mean[..., 0] + mean[..., 1] * rng.standard_normal(mean.shape[:2])
        sds = np.moveaxis(np.exp(log_sd), -1, 0)
        return dict(zip(SDS, sds, strict=True)) | {"mean": drawn}

    at, sd = (np.array([each[name] for name in SDS]) for each in (mode.mode, mode.sd))
    quick = InterpolatedDensity.of(evaluate, at, sd) if is_large else None
    if quick:
        return NearNormal(quick, finish, at, np.diag(sd**2), thinning=MANY, block=MANY_AT_ONCE)
    return NearNormal(
        evaluate,
        finish,
        at,
        np.diag(sd**2),
        prefers_nuts=not is_large,
        thinning=int(np.clip(THINNED_CELLS // cells, 1, MOST_THINNING)),
        block=max(1, CHUNK_OF_CELLS // cells),
    )
