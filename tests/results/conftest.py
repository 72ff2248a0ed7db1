"""Fits that tests of results only read."""

from __future__ import annotations

import pytest

import reliabayes as rb
from reliabayes import datasets


@pytest.fixture(scope="session")
def of_judges() -> rb.Fit:
    """Four chains of scores that four judges gave six targets."""
    ratings = rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    return rb.GaussianICC().fit(ratings, seed=1, progress=False)
