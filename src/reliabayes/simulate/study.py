"""Studies: what coefficients come to over many simulated matrices of many designs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from types import MappingProxyType
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

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
from reliabayes.agreement.intraclass import NAMES, icc
from reliabayes.ratings import Ratings
from reliabayes.simulate.matrices import Match, Plan, alike

Coefficients = Mapping[str, Callable[[Ratings], Coefficient]]

BLOCK = 50  # matrices drawn from one stream of random numbers
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
    agreement, categories, raters, ratings_per_item, items : sequence
        Values of the arguments of `rating_matrix` to combine. A combination with more ratings of an
        item than there are raters is left out.
    distributions : mapping from name to weights
        Distributions to combine them with; one with other weights than a number of categories
        needs is left out of their combinations. None is uniform for any number.
    match
        As for `rating_matrix`.
    matrices : int
        Matrices of each combination.
    coefficients : mapping from name to function
        Each gives the coefficient of some ratings; by default all that suit numbers rated by any
        design.
    seed : int
        The same seed gives the same table, for any ``n_jobs``.
    n_jobs : int
        Processes of joblib; -1 for all processors.
    progress : bool, optional
        Show a bar on standard error; None does so in terminals.

    Returns
    -------
    DataFrame
        A row for each matrix: the design in columns categories, raters, ratings_per_item, items,
        distribution and agreement; observed_agreement, the share of items whose ratings are all
        alike; then a column for each coefficient, nan where it is undefined.

    Raises
    ------
    ValueError
        A value is out of the range that `rating_matrix` takes, or no combination is left.

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
            "some combination of ratings_per_item and raters, and of distributions and categories, "
            "must be possible; found none. Pass other values."
        )
    sizes = [min(BLOCK, matrices - start) for start in range(0, matrices, BLOCK)]
    tasks = list(itertools.product(plans, sizes))
    streams = np.random.SeedSequence(seed).spawn(len(tasks))
    blocks = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(_block)(name, plan, size, coefficients, stream)
        for ((name, plan), size), stream in zip(tasks, streams, strict=True)
    )
    frames: Iterable[pd.DataFrame] = _watched(blocks, len(tasks), progress)
    return pd.concat(frames, ignore_index=True)


def _plans(
    agreement: Sequence[float],
    categories: Sequence[int],
    raters: Sequence[int],
    ratings_per_item: Sequence[int | None],
    items: Sequence[int],
    distributions: Mapping[str, Sequence[float] | None],
    match: Match | None,
) -> Iterator[tuple[str, Plan]]:
    """Each combination that is possible, with the name of its distribution."""
    combined = itertools.product(
        categories, raters, ratings_per_item, items, distributions.items(), agreement
    )
    for levels, crew, per_item, rows, (name, weights), wanted in combined:
        if (per_item or 0) > crew or (weights is not None and len(weights) != levels):
            continue
        plan = Plan(
            agreement=wanted,
            items=rows,
            raters=crew,
            ratings_per_item=per_item or crew,
            categories=levels,
            distribution=None if weights is None else tuple(weights),
            match=match,
        )
        yield name, plan


def _block(
    name: str,
    plan: Plan,
    matrices: int,
    coefficients: Coefficients,
    stream: np.random.SeedSequence,
) -> pd.DataFrame:
    """Some matrices of one design, a row each: all are computed as one table of items."""
    rater, category = plan.draw(matrices, np.random.default_rng(stream))
    ratings = plan.ratings(rater, category)
    design = asdict(plan) | {"distribution": name}
    columns = ("categories", "raters", "ratings_per_item", "items", "distribution", "agreement")
    found = {
        label: coefficient_by_block(of(ratings), matrices) for label, of in coefficients.items()
    }
    return pd.DataFrame(
        {
            **{column: design[column] for column in columns},
            "observed_agreement": alike(category).reshape(matrices, -1).mean(axis=1),
            **found,
        }
    )


def _watched(blocks: Iterable[Any], total: int, progress: bool | None) -> Iterable[Any]:
    """The same blocks, with a bar on standard error that tells how many have come."""
    if not (sys.stderr.isatty() if progress is None else progress):
        return blocks
    return track(blocks, "Simulating", total, console=Console(stderr=True))
