"""Models of categories, and draws of their parameters and ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from reliabayes import HalfNormal, Normal, Ratings
from reliabayes.arrays import Array
from reliabayes.inference.problem import Problem
from tests.calibration.numbers import complete_design
from tests.calibration.ranks import Parameters

SDS: dict[str, Any] = {"prior_sd_item": HalfNormal(1.5), "prior_sd_rater": HalfNormal(1)}

ANNOTATION: dict[str, tuple[Any, int]] = {
    "tap": (rb.TAP(), 2),
    "tap, by category": (rb.TAP(accuracy="by_category", guessing="by_category"), 2),
    "rater-tap": (rb.RaterTAP(), 3),
    "rater-tap, by item": (rb.RaterTAP(prevalence="item"), 2),
    "dawid-skene": (rb.DawidSkene(), 3),
    "hierarchical-dawid-skene": (rb.HierarchicalDawidSkene(), 2),
    "mace": (rb.MACE(), 2),
    "mace, uniform": (rb.MACE(prevalence="uniform"), 3),
    "latent-tap": (rb.LatentTAP(), 2),
    "latent-tap, equally difficult": (rb.LatentTAP(difficulty=False), 2),
    "logit-icc": (rb.LogitICC(prior_mean=Normal(0, 1), **SDS), 2),
    "logit-icc, probit": (rb.LogitICC(link="probit", prior_mean=Normal(0, 1), **SDS), 2),
    "ordinal-icc": (rb.OrdinalICC(prior_cut=Normal(0, 1.5), **SDS), 3),
    "logit-xcc": (rb.LogitXCC(prior_mean=Normal(0, 1), **SDS), 2),
    "ordinal-xcc": (rb.OrdinalXCC(prior_cut=Normal(0, 1.5), **SDS), 3),
}


def polled(ratings: Ratings) -> Array:
    """Proportions of votes in an earlier poll."""
    return np.tile([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]], (20, 1))[: ratings.n_items]


class Polled(rb.Groupthink):
    """Groupthink whose raters follow an earlier poll instead of their own vote proportions."""

    def program(self, problem: Problem) -> str:
        return "groupthink"


class RaterPolled(rb.RaterGroupthink):
    """As `Polled`, with an accuracy for each rater."""

    def program(self, problem: Problem) -> str:
        return "rater_groupthink"


ANNOTATION |= {
    "groupthink": (Polled(), 2),
    "rater-groupthink": (RaterPolled(), 2),
    "groupthink, earlier": (rb.Groupthink(shares="earlier"), 2),
    "rater-groupthink, earlier": (rb.RaterGroupthink(shares="earlier"), 3),
}


def few_raters() -> pd.DataFrame:
    """Three of four raters for each of 20 items; most models ignore the pools."""
    design = complete_design(20, 4).query("item % 4 != rater")
    return design.assign(pool=design["rater"] // 2)


def annotated(
    model: Any, n_categories: int, design: pd.DataFrame, rng: np.random.Generator
) -> tuple[Parameters, Ratings]:
    """Simulated ratings, redrawn if all of them are equal."""
    categories = range(n_categories)
    while True:
        truth = model.draw_parameters(design, rng, categories=categories)
        try:
            return truth, model.simulate(design, rng, categories=categories, parameters=truth)
        except rb.RatingsError:
            continue
