"""What arviz computes of draws, alike for its 0.x and 1.x lines: the only file that knows arviz.

Its import takes a second, so that no fit needs it: `chain_statistics` has its convergence measures.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from reliabayes.arrays import Array, blocks

BLOCK = 4_000_000  # log-likelihoods that arviz copies at once: 32 MB a copy


def for_arviz(groups: Mapping[str, xr.Dataset]) -> Any:
    """Groups of draws as arviz keeps them: InferenceData (0.x) or DataTree (1.x)."""
    az = _arviz()
    if az.__version__.startswith("0."):
        return az.InferenceData(**groups)
    return xr.DataTree.from_dict(dict(groups))


def psis_loo(log_likelihood: xr.DataArray) -> tuple[Array, Array, Array]:
    """Log predictive density of each held-out item, effective parameters, Pareto k; each (D,).

    Parameters
    ----------
    log_likelihood : DataArray (chain, draw, distinct_item)
        Log-likelihood of the ratings of each distinct item at each draw.
    """
    az = _arviz()
    n_draws = log_likelihood[..., 0].size
    elpd, in_sample, pareto_k = (np.empty(log_likelihood.sizes["distinct_item"]) for _ in range(3))
    for part in blocks(len(elpd), BLOCK // n_draws):
        of_part = log_likelihood.isel(distinct_item=part)
        groups = for_arviz({"log_likelihood": of_part.to_dataset(name="ratings")})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about high Pareto k, of which `Fit.loo` warns
            found = az.loo(groups, pointwise=True, reff=1.0)
        elpd[part] = found.loo_i if az.__version__.startswith("0.") else found.elpd_i
        pareto_k[part] = found.pareto_k
        in_sample[part] = logsumexp(of_part.values, axis=(0, 1)) - np.log(n_draws)
    return elpd, in_sample - elpd, pareto_k


def _arviz() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 0.23 announces 1.0 at import
        return importlib.import_module("arviz")
