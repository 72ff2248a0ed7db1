"""Error of a quadrature: what log-likelihoods change by with closer nodes that reach farther."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from reliabayes.inference.em import Point
from reliabayes.inference.time_limit import check_time
from reliabayes.likelihoods.quadrature import REACH, Nodes, number_of_nodes
from reliabayes.results.posterior import Posterior

P = TypeVar("P", bound=Any)

LEAST_REACH = 4.5
ROUGH_SPACING, LESS_REACH = 1.4, 1.0  # of nodes for a rough density
MANY_NODES = 128  # from which on EM takes fewer


def quadrature_error(
    posterior: Posterior[P],
    sd: str,
    log_likelihood: Callable[[Point, P], float],
    refined: Callable[[Nodes], Nodes],
) -> tuple[int, float]:
    """Number of nodes, and the error of the log-likelihood in nats.

    It is the largest of the errors at the draws whose sd of what is integrated out is at the 1%,
    50% and 99% quantile: a large sd needs close nodes, a smaller one nodes that reach far.
    """
    draws, problem = posterior.stacked(), posterior.problem
    order = np.argsort(draws[sd].reshape(len(draws[sd]), -1).max(axis=1), kind="stable")
    chosen = [order[int(part * len(order))] for part in (0.01, 0.5, 0.99)]
    some = [{name: values[draw] for name, values in draws.items()} for draw in chosen]
    finer = replace(problem, nodes=refined(problem.nodes))
    error = max(abs(log_likelihood(at, finer) - log_likelihood(at, problem)) for at in some)
    return problem.nodes.number, error


def within(
    tolerance: float,
    points: Sequence[Point],
    fine: Any,
    log_likelihood: Callable[[Point, Any], float],
) -> Callable[[Nodes], bool]:
    """Whether nodes err by at most so many nats at all points, relative to a fine problem."""
    exact = [log_likelihood(point, fine) for point in points]

    def is_enough(nodes: Nodes) -> bool:
        check_time()
        coarse = replace(fine, nodes=nodes)
        found = (log_likelihood(point, coarse) for point in points)
        return all(abs(x - y) <= tolerance for x, y in zip(found, exact, strict=True))

    return is_enough


def rough_nodes(nodes: Nodes) -> Nodes:
    """Fewer nodes, whose error hardly changes around a mode."""
    return with_spacing(ROUGH_SPACING * nodes.spacing, max(nodes.reach - LESS_REACH, LEAST_REACH))


def coarse_nodes(nodes: Nodes) -> Nodes:
    """Nodes that tell where a mode is: fewer, where many are needed for all that an sd may be."""
    if nodes.number <= MANY_NODES:
        return nodes
    reach = max(nodes.reach / 2, REACH)
    return with_spacing(max(nodes.spacing, 2 * reach / MANY_NODES), reach)


def with_spacing(spacing: float, reach: float) -> Nodes:
    """Nodes as far as ``reach`` that are no farther apart than ``spacing``."""
    return Nodes.of(number_of_nodes(spacing, reach), reach)
