"""Models of true categories whose items are in parts: expected counts add up over the parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from typing_extensions import TypeVar

from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.inference.time_limit import add_in_time
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected, ItemMixture
from reliabayes.models.bases import misleading
from reliabayes.models.bases.annotation import AnnotationModel
from reliabayes.models.bases.cells import Cells
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.modes import (
    ITERATIONS,
    TOLERANCE,
    Mode,
    heaviest,
    nearest,
    states_at,
)
from reliabayes.models.bases.states_in_parts import StatesInParts
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.plan import ByGibbs

P = TypeVar("P", bound=CategoricalProblem, default=Any)

MOST_COUNTS = 10_000_000  # of distinct items that are held in memory: 120 MB
MOST_SEARCHED = 200_000  # of distinct items among which modes of the posterior are searched for


class ItemsInParts(AnnotationModel[P]):
    """A model whose items may be in parts, if all that EM needs of them are expected counts."""

    takes_parts: ClassVar[bool] = True

    def problem_of_parts(self, dataset: RatingsDataset) -> P:
        """Distinct items of all parts, or where they are if they are too many for memory."""
        first = dataset.example
        base = self.problem(first)
        problem = replace(
            base,
            coords={**base.coords, "item": pd.RangeIndex(dataset.n_items)},
            cells=base.cells._replace(of_rating=np.empty(0, np.int32)),
        )
        merged = self._merged(dataset, base.mixture)
        if merged is not None:
            return replace(problem, mixture=merged)
        return replace(problem, mixture=base.mixture.part(slice(0)), parts=dataset)

    def _merged(self, dataset: RatingsDataset, first: ItemMixture) -> ItemMixture | None:
        """Distinct items of all parts; None if they are too many."""
        few_alike = 2 * len(first.multiplicity) > first.multiplicity.sum()
        if few_alike and len(dataset) > MOST_COUNTS:
            return None
        kept: list[ItemMixture] = []
        for each in dataset.map(partial(_distinct_items, self)):
            kept.append(each)
            if sum(some.counts.nnz for some in kept) > MOST_COUNTS:
                kept = [ItemMixture.merged(kept)]
            if sum(some.counts.nnz for some in kept) > MOST_COUNTS:
                return None
        return ItemMixture.merged(kept)

    def e_step(self, point: Point, problem: P) -> tuple[float, Callable[[], Expected]]:
        """Log-probability of all ratings, and sufficient statistics expected at a point."""
        if problem.parts is None:
            return super().e_step(point, problem)
        own = replace(problem, parts=None)
        found = _sum(problem.parts, partial(_e_step, self, own, point))
        return found.log_probability, lambda: found.expected

    def initial(self, problem: P, rng: np.random.Generator | None) -> Expected:
        """Sufficient statistics that EM starts from."""
        if problem.parts is None:
            return super().initial(problem, rng)
        if rng is not None:
            rule = "EM of so many ratings in parts starts from the votes"
            raise RatingsError([Fault("restarts", rule, "random starts", "Pass restarts=0.")])
        of_part = partial(_initial, self, replace(problem, parts=None))
        return _sum(problem.parts, of_part).expected

    def log_likelihood(self, point: Point, problem: P) -> float:
        """Log-probability of all ratings, with hidden states marginalised."""
        if problem.parts is None:
            return super().log_likelihood(point, problem)
        return self.e_step(point, problem)[0]

    def starts(self, problem: P) -> tuple[WarmStart, ...]:
        """A start at each mode that may hold a share of the posterior, the heaviest first.

        Of items in parts, modes are searched for among some items of the first part, and EM climbs
        over all parts: from the votes, and from modes found that are none of those it has reached.
        """
        if problem.parts is None:
            return super().starts(problem)
        whole = replace(problem, parts=replace(problem.parts, progress=False))
        some = replace(problem, parts=None, mixture=_sample(self, problem.parts.example))
        found = [self._mode(self.run_em(whole, None, ITERATIONS, TOLERANCE), whole, some)]
        for start in super().starts(some):
            known = [mode.state for mode in found]
            if nearest(known, states_at(self, start.point, some), some) is None:
                climb = self.climb_from(start.point, whole, ITERATIONS, TOLERANCE)
                if nearest(known, states_at(self, climb.point, some), some) is None:
                    found.append(self._mode(climb, whole, some))
        return tuple(mode.start for mode in heaviest(found))

    def _mode(self, climb: Climb, problem: P, some: P) -> Mode:
        """A mode of items in parts, with the states there of some of them."""
        start = self.start_at(climb, problem)
        # Sums over other parts differ in their last digits, and draws should not.
        mode, sd = ({k: np.round(x, 6) for k, x in y.items()} for y in (start.mode, start.sd))
        log_mass = climb.path[-1] + self.log_volume(start)
        start = replace(start, mode=mode, sd=sd)
        return Mode(climb, start, states_at(self, climb.point, some), log_mass, 1)

    def weighs_modes(self, problem: P) -> bool:
        """Not if items are in parts: it takes thousands of densities."""
        return problem.parts is None

    def conjugate(self, problem: P) -> ByGibbs | None:
        """What Gibbs sampling needs: the ratings, or where they are, and what they count for."""
        rest = super().conjugate(problem)
        if problem.parts is None or not isinstance(rest, Conjugate):
            return rest
        rest = replace(rest, n_ratings=float(len(problem.parts)), in_parts=True)
        states = StatesInParts(problem.parts, partial(_items_and_known, self))
        return ConjugateInParts(rest, states)

    def items_by_part(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> TableOfPart:
        """What makes the table of labels of a part, from the draws."""
        return partial(_labels_of_part, self, posterior.draws, _of_no_items(posterior.problem))

    def correct_ratings(self, posterior: Posterior[P], rng: np.random.Generator) -> Array:
        """Number (S, R) of each rater's ratings that equal true categories drawn with the draws."""
        if isinstance(posterior.ratings, Ratings):
            return super().correct_ratings(posterior, rng)
        own, seed = _of_no_items(posterior.problem), int(rng.integers(2**31))
        return posterior.ratings.sum(partial(_correct_of_part, self, posterior.draws, own, seed))

    def of_part(self, problem: P, part: Ratings) -> P:
        """The problem of a part, given that of all parts."""
        return replace(problem, mixture=_items(self, part))


class _Step(NamedTuple):
    """What the E step finds in one part, or in several."""

    log_probability: float
    expected: Expected

    def __add__(self, other: Any) -> _Step:
        return _Step(
            self.log_probability + other.log_probability, self.expected.plus(other.expected)
        )


def _sum(dataset: RatingsDataset, function: Callable[[Ratings], _Step]) -> _Step:
    """The sum of a function of the parts, unless the time of a fit is over before its end."""
    found: _Step = reduce(add_in_time, dataset.map(function))
    return found


def _of_no_items(problem: Any) -> Any:
    """What the problems of all parts share."""
    return replace(problem, mixture=problem.mixture.part(slice(0)), parts=None)


def _mixture(model: ItemsInParts[Any], part: Ratings) -> ItemMixture:
    cells = Cells.of(part, exchangeable_raters=model.exchangeable_raters)
    return ItemMixture.of(part.item, cells.of_rating, len(cells.category), model.kinds(part))


def _distinct_items(model: ItemsInParts[Any], part: Ratings) -> ItemMixture:
    return replace(_mixture(model, part), distinct=np.empty(0, np.int32))


def _posterior_of_part(
    model: ItemsInParts[Any], draws: xr.Dataset, problem: Any, part: Ratings
) -> Posterior[Any]:
    return Posterior(draws, part, replace(problem, mixture=_mixture(model, part)))


def _labels_of_part(
    model: ItemsInParts[Any],
    draws: xr.Dataset,
    problem: Any,
    part: Ratings,
    rng: np.random.Generator,
) -> pd.DataFrame:
    return model.items(_posterior_of_part(model, draws, problem, part), None, rng)


def _correct_of_part(
    model: ItemsInParts[Any], draws: xr.Dataset, problem: Any, seed: int, part: Ratings
) -> Array:
    rng = np.random.default_rng([seed, part.items[0]])  # the position of the first item
    return model.correct_ratings(_posterior_of_part(model, draws, problem, part), rng)


def _items(model: ItemsInParts[Any], part: Ratings) -> ItemMixture:
    cells = Cells.of(part, exchangeable_raters=model.exchangeable_raters)
    return ItemMixture.unmerged(part.item, cells.of_rating, len(cells.category), model.kinds(part))


def _e_step(model: ItemsInParts[Any], problem: Any, point: Point, part: Ratings) -> _Step:
    own = model.of_part(problem, part)
    log_probability, expected = model.e_step(point, own)
    return _Step(log_probability, expected())


def _items_and_known(model: ItemsInParts[Any], part: Ratings) -> ItemMixture:
    """Items of a part for Gibbs sampling."""
    found = _items(model, part)
    return misleading.known_as_ratings(found, len(part.categories)) if model.misleads else found


def _sample(model: ItemsInParts[Any], part: Ratings) -> ItemMixture:
    """Distinct items among the first of a part, which items are in by chance."""
    every = _distinct_items(model, part)
    most = max(1, int(MOST_SEARCHED / every.counts.nnz * len(every.multiplicity)))
    return every if most >= len(every.multiplicity) else every.part(slice(most))


def _initial(model: ItemsInParts[Any], problem: Any, part: Ratings) -> _Step:
    return _Step(0.0, model.initial(model.of_part(problem, part), None))
