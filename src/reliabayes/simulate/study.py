"""Simulation studies: coefficients of many simulated matrices of many designs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd

from reliabayes.agreement import (
    Coefficient,
    brennan_prediger,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    information_agreement,
    krippendorff_alpha,
    light_kappa,
    percent_agreement,
)
from reliabayes.agreement.blocks import coefficient_by_block
from reliabayes.agreement.icc_names import NAMES
from reliabayes.agreement.intraclass import icc
from reliabayes.choices import Match
from reliabayes.jobs import run_jobs
from reliabayes.ratings import Ratings
from reliabayes.simulate.matrices import MatrixPlan, is_unanimous

Coefficients = Mapping[str, Callable[[Ratings], Coefficient]]

MATRICES_PER_STREAM = 50  # matrices that share a stream of random numbers
TENTHS = tuple(round(0.1 * tenth, 1) for tenth in range(1, 10))

COEFFICIENTS: Coefficients = MappingProxyType(
    {
        "percent agreement": percent_agreement,
        "Fleiss' kappa": fleiss_kappa,
        "Light's kappa": light_kappa,
        "Conger's kappa": conger_kappa,
        "Brennan & Prediger's S": brennan_prediger,
        "Gwet's AC1": gwet_ac1,
        "Gwet's AC2": gwet_ac2,
        "alpha (nominal)": partial(krippendorff_alpha, metric="nominal"),
        "alpha (ordinal)": partial(krippendorff_alpha, metric="ordinal"),
        "alpha (interval)": partial(krippendorff_alpha, metric="interval"),
        "P_I": information_agreement,
        **{name: partial(icc, name=name) for name in NAMES},
        "ICC(1,1), k = columns": partial(icc, name="ICC(1,1)", k="columns"),
    }
)


def reliability_study(
    *,
    agreement: Sequence[float] = TENTHS,
    categories: Sequence[int] = (3,),
    raters: Sequence[int] = (6,),
    ratings_per_item: Sequence[int | None] = (2,),
    items: Sequence[int] = (100,),
    distributions: Mapping[str, Sequence[float] | None] = MappingProxyType({"uniform": None}),
    match: Match | None = None,
    matrices: int = 100,
    coefficients: Coefficients = COEFFICIENTS,
    seed: int = 0,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Simulate matrices of every combination of designs, and compute coefficients of each matrix.

    Parameters
    ----------
    agreement : sequence of float, default 0.1, 0.2, ..., 0.9
        Values of the argument of `rating_matrix`; all combinations of arguments are simulated.
    categories, raters, items : sequence of int
        Likewise.
    ratings_per_item : sequence of int or None
        Likewise; combinations with more ratings per item than raters are skipped.
    distributions : mapping from str to sequence of float or None
        Category weights by name; None is uniform. A distribution is combined only with its own
        number of categories.
    match : {"observed"}, optional
        As for `rating_matrix`.
    matrices : int, default 100
        Number of matrices of each combination.
    coefficients : mapping from str to callable, default `COEFFICIENTS`
        Functions from ratings to a coefficient, by column name. By default all that suit numeric
        ratings of any design.
    seed : int, default 0
        The same seed gives the same table, for any ``n_jobs``.
    n_jobs : int, default 1
        Number of joblib workers; -1 for all processors.
    progress : bool, optional
        Whether to show a progress bar on standard error; by default in terminals only.

    Returns
    -------
    DataFrame
        One row per matrix: the design in columns categories, raters, ratings_per_item, items,
        distribution and agreement; observed_agreement, the proportion of items with unanimous
        ratings; then one column per coefficient, nan where it is undefined.

    Raises
    ------
    ValueError
        A value is out of the range of `rating_matrix`, or no combination is possible.

    Examples
    --------
    >>> study = reliability_study(agreement=[0.5, 0.8], matrices=10, seed=1)
    >>> study.groupby("agreement")["ICC(1,1)"].mean().round(1).to_dict()
    {0.5: 0.5, 0.8: 0.8}
    """
    plans = list(
        _plans(agreement, categories, raters, ratings_per_item, items, distributions, match)
    )
    if not plans:
        raise ValueError(
            "at least one combination of designs must be possible; found none. Pass "
            "ratings_per_item of at most raters, and distributions with one weight per category."
        )
    sizes = [
        min(MATRICES_PER_STREAM, matrices - start)
        for start in range(0, matrices, MATRICES_PER_STREAM)
    ]
    tasks = list(itertools.product(plans, sizes))
    streams = np.random.SeedSequence(seed).spawn(len(tasks))
    jobs = [
        partial(_block, name, plan, size, coefficients, stream)
        for ((name, plan), size), stream in zip(tasks, streams, strict=True)
    ]
    frames = _with_progress(run_jobs(jobs, n_jobs), len(tasks), progress)
    return pd.concat(frames, ignore_index=True)


def _plans(
    agreement: Sequence[float],
    categories: Sequence[int],
    raters: Sequence[int],
    ratings_per_item: Sequence[int | None],
    items: Sequence[int],
    distributions: Mapping[str, Sequence[float] | None],
    match: Match | None,
) -> Iterator[tuple[str, MatrixPlan]]:
    """Each possible combination, with the name of its distribution."""
    combined = itertools.product(
        categories, raters, ratings_per_item, items, distributions.items(), agreement
    )
    for n_categories, n_raters, per_item, n_items, (name, weights), target in combined:
        if (per_item or 0) > n_raters or (weights is not None and len(weights) != n_categories):
            continue
        plan = MatrixPlan(
            agreement=target,
            items=n_items,
            raters=n_raters,
            ratings_per_item=per_item or n_raters,
            categories=n_categories,
            distribution=None if weights is None else tuple(weights),
            match=match,
        )
        yield name, plan


def _block(
    name: str,
    plan: MatrixPlan,
    matrices: int,
    coefficients: Coefficients,
    stream: np.random.SeedSequence,
) -> pd.DataFrame:
    """Matrices of one design, one row each; all are computed as blocks of one table of items."""
    rater, category = plan.draw(matrices, np.random.default_rng(stream))
    ratings = plan.ratings(rater, category)
    design = asdict(plan) | {"distribution": name}
    columns = ("categories", "raters", "ratings_per_item", "items", "distribution", "agreement")
    values = {
        label: coefficient_by_block(function(ratings), matrices)
        for label, function in coefficients.items()
    }
    return pd.DataFrame(
        {
            **{column: design[column] for column in columns},
            "observed_agreement": is_unanimous(category).reshape(matrices, -1).mean(axis=1),
            **values,
        }
    )


def _with_progress(
    blocks: Iterable[pd.DataFrame], total: int, progress: bool | None
) -> Iterable[pd.DataFrame]:
    """The same blocks, with a progress bar on standard error."""
    if not (sys.stderr.isatty() if progress is None else progress):
        return blocks
    from rich.console import Console
    from rich.progress import track

    return track(blocks, "Simulating", total, console=Console(stderr=True))
