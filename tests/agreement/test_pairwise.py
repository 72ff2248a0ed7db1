"""A coefficient of every pair of raters."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes import Ratings, RatingsError, agreement

# The help page of cohen.kappa of psych
NAN = np.nan
MISSING = [[1, NAN, 1, 1], [1, 2, NAN, 2], [3, 1, 3, NAN], [4, 4, 1, 4], [5, 5, 5, 5]]


def test_mean_of_the_pairs_is_lights_kappa() -> None:
    ratings = Ratings.from_wide(np.array(MISSING), scale="nominal")

    table = agreement.pairwise(ratings, agreement.cohen_kappa)

    assert table["value"].mean() == pytest.approx(0.56013431013431)  # psych 2.2.9
    assert table["value"].mean() == pytest.approx(float(agreement.light_kappa(ratings)))
    assert table["items"].tolist() == [4, 4, 4, 3, 3, 3]


@pytest.mark.slow
def test_row_is_what_the_two_raters_alone_have() -> None:
    ratings = Ratings.from_wide(np.array([[1, 2, 2], [3, 3, 5], [4, 6, 4], [5, 5, 7], [8, 6, 9]]))

    table = agreement.pairwise(ratings, agreement.icc, prob=0.9)

    two = agreement.icc(ratings.subset(raters=[0, 2]))
    limits = two.interval(0.9)
    row = table[(table["one"] == 0) & (table["other"] == 2)]
    assert row[["value", "lower", "upper"]].to_numpy() == pytest.approx(
        np.array([[two.value, limits.lower, limits.upper]])
    )


def test_pairs_without_a_coefficient_have_none() -> None:
    wide = np.array([[1, 1, NAN], [1, 1, NAN], [1, NAN, 2], [1, NAN, 1], [NAN, 2, 2]])
    ratings = Ratings.from_wide(wide, scale="numeric")

    with pytest.warns(UserWarning, match=r"undefined for 1 of 3 pairs of raters: '0 and 1'"):
        table = agreement.pairwise(ratings, agreement.krippendorff_alpha)

    assert table["items"].tolist() == [2, 2, 1]
    assert table["value"].isna().tolist() == [True, False, True]


def test_anonymous_raters_form_no_known_pairs() -> None:
    ratings = Ratings.from_counts(np.array([[2, 1], [0, 3], [1, 2]]))

    with pytest.raises(RatingsError, match=r"pairwise: it must be known who gave each rating"):
        agreement.pairwise(ratings, agreement.cohen_kappa)
