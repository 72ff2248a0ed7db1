"""Scores by people and by families of judges, and what families see that people do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.ratings import Ratings
from reliabayes.results.quantities import family_variance
from reliabayes.results.summaries import describe
from reliabayes.wording import listed

PEOPLE = "people"  # name of their pool; those of families begin with another word
LEAST_RATERS = 2  # of a pool, without whom one rater's errors and what all see are not told apart


def pool_of(family: object) -> str:
    """Name of the pool of a family of judges."""
    return f"family {family}"


def have_views(problem: PanelProblem) -> bool:
    """Whether there are scores, and people and judges enough to tell what a family sees alike."""
    judges = np.bincount(problem.answers.family) if problem.size("judge") else np.zeros(1)
    has_raters = min(problem.n_people, int(judges.max())) >= LEAST_RATERS
    return has_raters and problem.n_categories > 2 and not np.isnan(_numbers(problem)).any()


def pooled_scores(ratings: Ratings, problem: PanelProblem) -> Ratings:
    """Scores with people as one pool and each family as another; the runs of a judge are averaged.

    Raises
    ------
    ValueError
        Categories are no numbers, or people or judges are too few.
    """
    roles, value = problem.roles, _numbers(problem)
    if np.isnan(value).any():
        raise ValueError(f"scores must be numbers, not {listed(list(problem.coords['category']))}.")
    if problem.n_people < LEAST_RATERS or not problem.size("judge"):
        raise ValueError(
            "what a family of judges sees alike in items takes judges, and two people or more, "
            f"whose common view is known; found {problem.size('judge')} and {problem.n_people}."
        )
    given = ratings.values if ratings.scale == "numeric" else value[ratings.rating.astype(int)]
    frame = pd.DataFrame({"item": ratings.item, "rater": ratings.rater, "rating": given})
    mean = frame.groupby(["item", "rater"], as_index=False).mean()
    names = np.array([*map(pool_of, roles.families), PEOPLE], object)  # the last of family -1
    return Ratings.from_frame(
        pd.DataFrame(
            {
                "item": ratings.items[mean["item"]],
                "rater": ratings.raters[mean["rater"]],
                "pool": names[roles.family[mean["rater"]]],
                "rating": mean["rating"],
            }
        ),
        pool="pool",
        scale="numeric",
    )


def family_variances(found: xr.Dataset, problem: PanelProblem, prob: float) -> pd.DataFrame:
    """A row for each family; ``found`` has the quantities of a model of pools."""
    rows = {}
    for at, family in enumerate(problem.coords["family"]):
        judges = int((problem.answers.family == at).sum())
        pool = pool_of(family)
        correlation = found["normalized_xcc"].sel(pair=f"{pool}, {PEOPLE}").values.ravel()
        sd = found["sd_item"].sel(pool=pool).values.ravel()
        variance = describe(family_variance(sd, correlation), prob)
        own = {"proportion": np.median(1 - correlation**2), **variance}
        if judges < LEAST_RATERS:
            own = dict.fromkeys(own, np.nan)
        rows[family] = {"judges": judges, **own}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("family")


def _numbers(problem: PanelProblem) -> Array:
    """Categories (K,) as numbers; nan if they are none."""
    categories = pd.Series(problem.coords["category"])
    return np.asarray(pd.to_numeric(categories, errors="coerce"), float)
