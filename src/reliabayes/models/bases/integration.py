"""Error of a quadrature: what log-likelihoods change by with closer nodes that reach farther."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from reliabayes.inference.em import Point
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.results.posterior import Posterior

P = TypeVar("P", bound=Any)


def quadrature_error(
    posterior: Posterior[P],
    sd: str,
    log_likelihood: Callable[[Point, P], float],
    refined: Callable[[Nodes], Nodes],
) -> tuple[int, float]:
    """Number of nodes, and the error of the log-likelihood in nats.

    It is the larger one of the errors at the draws whose sd of what is integrated out is at the 1%
    and at the 99% quantile: a large sd needs close nodes, a small one needs nodes that reach far.
    """
    drawn = sorted(posterior.points(), key=lambda point: float(np.max(point[sd])))
    problem = posterior.problem
    finer = replace(problem, nodes=refined(problem.nodes))
    ends = drawn[int(0.01 * len(drawn))], drawn[int(0.99 * len(drawn))]
    error = max(abs(log_likelihood(at, finer) - log_likelihood(at, problem)) for at in ends)
    return problem.nodes.number, error
