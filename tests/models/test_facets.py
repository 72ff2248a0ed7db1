"""Models that take no account of facets keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

ROWS = [
    (i, r, day) for i in range(8) for r in "xyz" for day in ("pre", "post") if (i, r) != (0, "x")
]
TABLE = pd.DataFrame(ROWS, columns=["item", "rater", "day"])

PRIORS: Any = {f"prior_sd_{name}": rb.HalfNormal(1) for name in ("item", "rater", "residual")} | {
    "prior_mean": rb.Normal(0, 1)
}


@pytest.mark.parametrize(
    "model",
    [
        rb.GaussianICC(**PRIORS),
        rb.GaussianXCC(**PRIORS),
        rb.OrdinalICC(),
        rb.TAP(),
        rb.Groupthink(),
        rb.Groupthink(shares="earlier"),
    ],
    ids=repr,
)
def test_simulated_ratings_have_the_facets_of_their_design(model: Any) -> None:
    rating = np.arange(len(TABLE)) % 3
    pool = TABLE["rater"].isin(["x", "y"]).map({True: "one", False: "two"})
    design = rb.Ratings.from_frame(
        TABLE.assign(rating=rating, team=pool), facets=["day"], pool="team", scale="numeric"
    )

    found = model.simulate(design, np.random.default_rng(1))

    assert found.facets == design.facets
    assert (found.item == design.item).all()
    assert (found.facet["day"] == design.facet["day"]).all()
