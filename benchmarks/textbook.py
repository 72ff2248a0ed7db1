"""The reference programs of ``stan/reference/``: compilation with our toolchain, and data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import reliabayes as rb
from hatch_build import STAN, build
from reliabayes.inference.problem import Problem


def build_textbook(model: type[rb.RatingModel], out: Path, *options: str) -> Path:
    """Compile the reference program of a model with options of stanc, linked with our runner."""
    name = model.name().replace("-", "_")
    folder = out / "-".join([f"textbook_{name}", *options])
    build([STAN / "reference" / f"{name}.stan"], folder, options=options)
    return folder / name


def textbook_data(problem: Problem, ratings: rb.Ratings) -> dict[str, Any]:
    """Data of a reference program, with one element per rating."""
    data = {
        "N": len(ratings),
        "I": ratings.n_items,
        "R": ratings.n_raters,
        "item": ratings.item + 1,
        "rater": ratings.rater + 1,
        **textbook_priors(problem),
    }
    if ratings.rater_pool is not None:
        data |= {"G": len(ratings.pools), "pool": ratings.rater_pool + 1}
    if "category" not in problem.coords:
        return data | {"rating": ratings.values}
    first = 0 if "cut" in problem.priors else 1  # binary ratings of logit models are 0 or 1
    return data | {"K": problem.size("category"), "rating": ratings.category + first}


def textbook_priors(problem: Problem) -> dict[str, Any]:
    """Numbers of the priors as reference programs read them: half normals by their scale.

    Of the models with cut points only those of two categories are measured; their programs have a
    mean, which is the negative cut point.
    """
    priors = dict(problem.priors)
    if "cut" in priors:
        priors["mean"] = priors.pop("cut") * [-1, 1]
    return {
        f"prior_{name}": prior[1] if np.isinf(np.ravel(prior)[0]) else prior
        for name, prior in priors.items()
    }


def chain_seconds(path: str) -> tuple[float, float]:
    """Seconds of warmup and of sampling, from the CSV file that Stan wrote."""
    written = Path(path).read_text()
    warmup, sampling = re.findall(r"([\d.e+-]+) seconds \([WS]", written)
    return float(warmup), float(sampling)
