"""What only some models have, with what the others answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic

import numpy as np
import pandas as pd
from typing_extensions import TypeVar

from reliabayes.arrays import Array
from reliabayes.choices import Repeats
from reliabayes.facets import Decision
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.sampling.plan import ByGibbs

P = TypeVar("P", bound=Problem, default=Any)


class OptionalResults(Generic[P]):
    """Base of all models: what a model without these answers."""

    has_true_categories: ClassVar[bool] = False  # whether items have a hidden true category
    has_facets: ClassVar[bool] = False  # whether it has effects of occasions and other facets
    takes_parts: ClassVar[bool] = False  # whether ratings may be a `RatingsDataset`
    samples_in_numpy: ClassVar[bool] = False  # whether posteriors may do without compiled code
    repeats: Repeats = "independent"  # what several ratings of an item by one rater count as
    covariates: Any = None  # of raters

    def problem_of_parts(self, dataset: RatingsDataset) -> P | None:
        """As `problem`, of ratings in parts; None unless the model takes them."""
        return None

    def settled(self, problem: P, centring: StanPart | None) -> P:
        """The problem as the program takes it from a start; by default as it is."""
        return problem

    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the program, where the model works with their supports."""
        return ()

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it; by default as the model does."""
        return point

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with the parameters; by default what it has."""
        return run

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of another sampler, with the log density of the program; by default what it has."""
        return run

    def items_by_part(
        self, posterior: Posterior[P], prob: Any, rng: np.random.Generator
    ) -> TableOfPart | None:
        """What makes the table `items` of a part, with what all parts share already drawn.

        None unless the model takes ratings in parts.
        """
        return None

    def category_probabilities(self, posterior: Posterior[P]) -> pd.DataFrame | None:
        """Probability (I, K) of each true category of each item; None if items have none."""
        return None

    def correct_ratings(self, posterior: Posterior[P], rng: np.random.Generator) -> Array | None:
        """Number (S, R) of each rater's correct ratings; None if items have no true category."""
        return None

    def new_rater(
        self, posterior: Posterior[P], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array] | None:
        """Draws (S,) of what a rater drawn from their population has; None if there is none."""
        return None

    def rating_probabilities(self, posterior: Posterior[P]) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw; None unless ratings are categories of their own."""
        return None

    def conjugate(self, problem: P) -> ByGibbs | None:
        """What Gibbs sampling needs; None if only NUTS can sample from the posterior."""
        return None

    def near_normal(self, problem: P, mode: WarmStart) -> NearNormal | None:
        """What independence sampling needs; None if the posterior is not known to be so simple."""
        return None

    def prefers_gibbs(self, problem: P) -> bool:
        """Whether Gibbs sampling, where there is one, gives more effective draws a second."""
        return True

    def weighs_modes(self, problem: P) -> bool:
        """Whether the masses of several modes of the posterior can be compared."""
        return True

    def passes_between(self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: P) -> bool:
        """Whether chains from all modes pass between them, and agree on how often."""
        return False

    def decision(
        self, posterior: Posterior[P], fixed: frozenset[str] | None = None
    ) -> Decision | None:
        """Measurement by single ratings, draw by draw; None if the model has no facets.

        Facets are fixed as the model says, unless ``fixed`` does.
        """
        return None

    def effects_of_levels(
        self, posterior: Posterior[P], facet: str, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame | None:
        """Effects of the levels of a facet; None if the model has no facets."""
        return None

    def caution(self, ratings: Ratings) -> str:
        """What to say beside the results, in sentences; empty if there is nothing to say."""
        return ""

    def integration_error(self, posterior: Posterior[P]) -> tuple[int, float]:
        """Number of nodes of a quadrature, and its error of the log-likelihood in nats."""
        return 0, 0.0
