"""What raters' own ratings say of their accuracy: slope and curvature of the log-likelihood."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.categories.em import run_em
from reliabayes.families.categories.starts import start_at
from reliabayes.inference.knowledge_centring import KnowledgeCentring


def crowd(seed: int) -> rb.Ratings:
    """60 items with 4 ratings each by 12 raters in 3 categories."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(60), 4)
    rater = np.concatenate([rng.choice(12, 4, replace=False) for _ in range(60)])
    design = pd.DataFrame({"item": item, "rater": rater})
    truth = {"mean_alpha": 1.0, "sd_alpha": 1.0, "sd_delta": [1.0]}
    ratings: rb.Ratings = rb.LatentTAP().simulate(
        design, rng, categories=range(3), parameters=truth
    )
    return ratings


def test_precision_and_mean_are_those_of_the_likelihood_of_the_accuracy() -> None:
    model, ratings = rb.LatentTAP(), crowd(1)
    problem = model.problem(ratings)
    climb = run_em(model.family, problem, None, 300, 1e-4)
    at = climb.point

    centring = start_at(model.family, climb, problem).centring

    assert isinstance(centring, KnowledgeCentring)

    def log_likelihood(alpha: Array) -> float:
        return model.log_likelihood({**at, "alpha": alpha}, problem)

    step = 1e-3
    for rater in range(12):
        move = step * np.eye(12)[rater]
        below, here, above = (log_likelihood(at["alpha"] + x * move) for x in (-1, 0, 1))
        slope, bend = (above - below) / (2 * step), (above - 2 * here + below) / step**2
        precision = centring.alpha_precision[rater]
        assert precision == pytest.approx(max(-bend, 1e-3), abs=2e-5)
        away = precision * (centring.alpha_mean[rater] - at["alpha"][rater])
        assert away == pytest.approx(slope, abs=1e-5)
