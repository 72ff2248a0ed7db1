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

    It is the largest of the errors at the draws whose sd of what is integrated out is at the 1%,
    50% and 99% quantile: a large sd needs close nodes, a smaller one nodes that reach far.
    """
    drawn = sorted(posterior.points(), key=lambda point: float(np.max(point[sd])))
    problem = posterior.problem
    finer = replace(problem, nodes=refined(problem.nodes))
    some = [drawn[int(part * len(drawn))] for part in (0.01, 0.5, 0.99)]
    error = max(abs(log_likelihood(at, finer) - log_likelihood(at, problem)) for at in some)
    return problem.nodes.number, error
