"""Spearman's rho of two raters, against SciPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from reliabayes import Ratings, RatingsError
from reliabayes.agreement import spearman_rho

# Few values, so that most are tied
SCORES = np.random.default_rng(1).integers(0, 5, (30, 1)) + np.random.default_rng(2).integers(
    0, 4, (30, 2)
)


def test_rho_of_tied_scores_is_that_of_scipy() -> None:
    found = spearman_rho(Ratings.from_wide(SCORES))

    assert float(found) == pytest.approx(spearmanr(*SCORES.T).statistic, abs=1e-12)


def test_items_that_only_one_rater_has_are_ignored() -> None:
    wide = pd.DataFrame(SCORES, columns=["Ann", "Bob"]).astype(float)
    wide.loc[[0, 7], "Ann"] = np.nan

    found = spearman_rho(Ratings.from_wide(wide))

    assert float(found) == pytest.approx(spearmanr(*SCORES[wide["Ann"].notna()].T).statistic)


def test_ordered_categories_have_ranks() -> None:
    sizes = ["small", "medium", "large"]
    codes = SCORES.clip(0, 2)

    found = spearman_rho(
        Ratings.from_wide(np.array(sizes)[codes], scale="ordered", categories=sizes)
    )

    assert float(found) == pytest.approx(spearmanr(*codes.T).statistic)


def test_a_bootstrap_sample_has_ranks_of_its_own() -> None:
    found = spearman_rho(Ratings.from_wide(SCORES))
    weights = np.bincount([0, 0, 3, 5, 5, 5, 9, 12, 20, 29, 29], minlength=30)

    replicate = found.formula(np.stack([weights, np.ones(30)]) @ found.rows(None))

    twice = [spearmanr(*np.repeat(SCORES, n, axis=0).T).statistic for n in (weights, 1)]
    assert replicate == pytest.approx(twice, abs=1e-12)


def test_the_delta_method_agrees_with_the_bootstrap() -> None:
    found = spearman_rho(
        Ratings.from_wide(np.random.default_rng(3).normal(size=(300, 2)) @ [[1, 0.7], [0, 0.7]])
    )

    errors = [found.standard_error(method=method) for method in ("analytic", "bootstrap")]

    # 2,000 replicates leave a relative error of 1 / sqrt(4000); the rest is of the order of 1 / 300
    assert errors[0] == pytest.approx(errors[1], rel=4 / np.sqrt(4000) + 0.01)


def test_rho_is_undefined_if_a_rater_gave_one_rating_only() -> None:
    constant = Ratings.from_wide(np.array([[1, 2], [1, 3], [1, 4]]))

    with pytest.warns(UserWarning, match="a rater gave all items the same rating"):
        assert np.isnan(float(spearman_rho(constant)))


def test_categories_without_order_have_no_rank() -> None:
    nominal = Ratings.from_wide(np.array([["a", "b"], ["b", "b"]]))

    with pytest.raises(RatingsError, match="ratings must be numbers or ordered categories"):
        spearman_rho(nominal)


def test_rho_needs_two_raters() -> None:
    with pytest.raises(RatingsError, match="there must be exactly two raters; found 3"):
        spearman_rho(Ratings.from_wide(np.eye(3)))
