"""Nodes over which effects of items are integrated out: how close, how far out, and how many."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from reliabayes.arrays import Array
from reliabayes.families.integration import LEAST_REACH, with_spacing, within
from reliabayes.families.ordered.density import log_likelihood
from reliabayes.families.ordered.moments import moment_estimates
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.inference.em import Point
from reliabayes.likelihoods.ordinal import INFORMATION, MAX_SPACING, RESIDUAL
from reliabayes.likelihoods.quadrature import MAX_REACH, REACH, Nodes, number_of_nodes

REACH_BEYOND = 4.5  # of the nodes beyond the farthest mode of an item, in standard deviations
# Nodes around a mode: at sds so many posterior sds away, if these are known to a factor, an error
# of so many nats, below what diagnostics note.
SDS_AWAY, KNOWN_TO, TOLERANCE = 5.0, 2.0, 3e-4
# What is tried: from the least reach on, and then farther and farther apart, to so few nodes.
FARTHER, WIDER, FEWEST = 0.5, 1.1, 3


def nodes_of(problem: OrderedProblem) -> Nodes:
    """Nodes that do for one population, whatever its standard deviations are."""
    reach = _reach(problem)
    return Nodes.of(problem.given_nodes or number_of_nodes(_spacing(problem), reach), reach)


def _reach(problem: OrderedProblem) -> float:
    """Standard deviations of item effects that the nodes have to cover on either side.

    An item whose ratings differ much from the others' has a mode at z with z / sd = the slope of
    its log-likelihood in its effect x = sd z. So z^2 is x times the slope, which has a maximum over
    all effects, and hence over all sds. Ratings may differ from those of all raters, or from the
    other ratings of the same rater.
    """
    mixture, rater, n_raters = problem.mixture, problem.cells.rater, problem.n_raters
    by_cell = mixture.counts.T @ mixture.multiplicity
    by_rater = np.bincount(rater, by_cell, n_raters)[rater]
    slope = 1.0 if problem.link == "logit" else np.pi / np.sqrt(3)
    effect, farthest = slope * np.linspace(0, 8, 41), 0.0
    for cut in range(problem.n_categories - 1):
        above = problem.cells.category > cut
        average = (by_cell @ above + 0.5) / (by_cell.sum() + 1)
        own = np.bincount(rater, by_cell * above, n_raters)[rater]
        others = np.maximum(own - above, 0)
        own_average = (others + average) / np.maximum(by_rater, others + 1)
        for expected in (average, own_average):
            centre = np.reshape(logit(expected), (-1, 1))
            for part, location in ((above, centre), (~above, -centre)):
                left = mixture.counts @ (part[:, None] - expit(effect + location))
                farthest = max(farthest, float((effect * left).max()))
    return min(max(REACH, float(np.sqrt(farthest)) + REACH_BEYOND), MAX_REACH)


def _spacing(problem: OrderedProblem) -> float:
    """Spacing of nodes that resolves the effect of the item with most ratings.

    With m ratings its posterior sd is 1 / sqrt(1 + sd^2 m information) of its prior sd. Items may
    differ far more than they seem to where few of them have a second rating.
    """
    likely = float(moment_estimates(problem)["sd_item"])
    per_item, link = problem.mixture.counts.sum(axis=1), problem.link
    second_ratings = max(float(problem.mixture.multiplicity @ (per_item - 1)), 1.0)
    sd = 1.2 * likely + 10 * np.sqrt(RESIDUAL[link] / second_ratings)
    most = float(per_item.max())
    narrowest = 1 / np.sqrt(1 + sd**2 * INFORMATION[link] * most)
    return float(min(1.1 * narrowest, MAX_SPACING[link] / sd))


def enough_nodes(point: Point, sd_of_log: Array, problem: OrderedProblem) -> Nodes:
    """The fewest nodes with a small error around a mode, of those that do for all sds of items.

    Parameters
    ----------
    point : mapping of str to array
        The mode.
    sd_of_log : array
        Posterior standard deviations of the logs of ``sd_item``.
    problem : OrderedProblem
        With nodes that do whatever the sds.

    Returns
    -------
    Nodes
        The problem's, where sds are hardly known.
    """
    nodes = problem.nodes
    away = np.exp(SDS_AWAY * np.asarray(sd_of_log))
    if np.max(away) > KNOWN_TO:
        return nodes
    ends = [{**point, "sd_item": point["sd_item"] * far} for far in (1 / away, away)]
    is_enough = within(TOLERANCE, ends, problem, log_likelihood)
    spacing, reaches = nodes.spacing, np.arange(LEAST_REACH, nodes.reach, FARTHER)
    found = next(filter(is_enough, (with_spacing(spacing, reach) for reach in reaches)), nodes)
    while found.number > FEWEST:
        spacing *= WIDER
        if not is_enough(wider := with_spacing(spacing, found.reach)):
            break
        found = wider
    return found
