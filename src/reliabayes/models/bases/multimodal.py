"""Base class of models of true categories whose posterior may have several modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.inference.em import Point
from reliabayes.inference.stan import Draws
from reliabayes.inference.threads import of_parts
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.annotation import AnnotationModel
from reliabayes.models.bases.combination import combine, not_weighed, pass_between
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.modes import best_assignment, find_modes, matched, nearest, states_at
from reliabayes.results.modes import Combined
from reliabayes.results.settings import Settings

P = TypeVar("P", bound=CategoricalProblem, default=Any)

NO_SHARE = 5.0  # nats of the prior, from which on labels hold no share of the posterior


class MultimodalModel(AnnotationModel[P]):
    """A model of true categories: chains start at every mode, and draws have the share of each."""

    permutable: ClassVar[bool] = False  # whether the likelihood allows categories to switch labels

    def starts(self, problem: P) -> tuple[WarmStart, ...]:
        """A start at each mode that may hold a share of the posterior, the heaviest first."""
        modes = find_modes(self, problem)
        return tuple(replace(mode.start, climbs=mode.climbs) for mode in modes)

    def combine(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: P, settings: Settings
    ) -> Combined:
        """Draws of all runs, in proportion to the masses of their modes."""
        runs, relabelled = self._relabelled(modes, runs, problem)
        if len(runs) < len(modes):
            found = not_weighed(modes, runs[0])
        else:
            found = combine(self, modes, runs, problem, settings.seed, settings.draws)
        return found._replace(relabelled=relabelled)

    def passes_between(self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: P) -> bool:
        """Whether chains from all modes pass between them, and agree on how often."""
        return pass_between(self, modes, self._relabelled(modes, runs, problem)[0], problem)

    def _relabelled(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: P
    ) -> tuple[list[Draws], tuple[int, ...]]:
        """Runs whose true categories have the labels that the priors ask for, and which had not."""
        labelled = [
            self.relabel(run.parameters, mode, problem)
            for run, mode in zip(runs, modes, strict=False)
        ]
        found = [replace(run, parameters=own) for run, (own, _) in zip(runs, labelled, strict=True)]
        return found, tuple(sorted({x for _, own in labelled for x in own}))

    # Label switching.

    def relabel(
        self, drawn: Mapping[str, Array], start: WarmStart, problem: P
    ) -> tuple[Mapping[str, Array], tuple[int, ...]]:
        """Draws with true categories labelled as the priors say, and the chains that had switched.

        A chain takes other labels if the priors hold them to be at least e^5 times as probable, so
        that those it has hold no share of the posterior. If true categories are exchangeable, it
        takes the labels of the start, provided that it is at the same mode.
        """
        if not self.permutable or problem.n_kinds > 1:
            return drawn, ()
        draws, switched = drawn, list[int]()

        def labels(chain: int) -> Codes:
            of_chain = {p.name: drawn[p.name][chain] for p in self.parameters()}
            return self._labels(of_chain, start, problem)

        for chain, order in enumerate(of_parts(labels, range(len(drawn["prevalence"])))):
            if (order == np.arange(len(order))).all():
                continue
            if not switched:
                draws = {name: values.copy() for name, values in drawn.items()}
            switched.append(chain)
            for name, dims in self.dims().items():
                draws[name][chain] = self._taken(draws[name][chain], order, dims, 1)
        return draws, tuple(switched)

    def _labels(self, drawn: Point, start: WarmStart, problem: P) -> Codes:
        """Which of the true categories of a chain's draws (S, ...) takes the place of each."""
        same = np.arange(problem.n_categories, dtype=np.int32)
        if self._is_exchangeable(problem):
            end = self.climb_from({name: x[-1] for name, x in drawn.items()}, problem, 300, 1e-3)
            found, known = (states_at(self, x, problem) for x in (end.point, start.point))
            order = matched(known, found, problem)
            return order if nearest([known], found[:, order], problem) is not None else same
        confusion = self.confusion(drawn)
        assert confusion is not None
        prior = np.broadcast_to(problem.priors["confusion"], confusion.shape[1:])
        gain = np.einsum("rgk,rhk->gh", prior, np.log(confusion).mean(axis=0))
        gain += np.outer(problem.priors["prevalence"], np.log(drawn["prevalence"]).mean(axis=0))
        order = best_assignment(gain)
        gained = gain[same, order].sum() - gain.trace()
        return order if gained > NO_SHARE else same

    def _is_exchangeable(self, problem: P) -> bool:
        """Whether nothing tells true categories apart: no gold, and the same priors of all."""
        if not self.permutable or problem.n_kinds > 1:
            return False
        confusion, prevalence = problem.priors["confusion"], problem.priors["prevalence"]
        return not np.ptp(confusion, axis=-2).any() and not np.ptp(prevalence).any()

    def aligned(self, point: Point, like: Point, problem: P) -> Point:
        """A point whose true categories, if exchangeable, come closest to those at another."""
        if not self._is_exchangeable(problem):
            return point
        known, found = (states_at(self, each, problem) for each in (like, point))
        order = matched(known, found, problem)
        return {
            name: self._taken(point[name], order, dims, 0) for name, dims in self.dims().items()
        }

    def _taken(self, values: Array, order: Codes, dims: tuple[str, ...], first: int) -> Array:
        """Values with true categories in another order; dims start at axis ``first``."""
        for axis in (i for i, dim in enumerate(dims) if dim == "true_category"):
            values = values.take(order, axis=first + axis)
        return values
