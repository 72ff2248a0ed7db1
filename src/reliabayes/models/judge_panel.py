"""Judge panels: people and families of judges who err together, on items of several groups."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Trust
from reliabayes.errors import ConvergenceWarning
from reliabayes.families.judges import density, reports, starts
from reliabayes.families.judges.centring import PanelCentring
from reliabayes.families.judges.groups import groups_of
from reliabayes.families.judges.parameters import ALL_PARAMETERS, declared
from reliabayes.families.judges.problem import MOST_FREE, PanelProblem, panel_problem
from reliabayes.families.judges.results import PanelResults
from reliabayes.families.judges.roles import Roles, roles_of
from reliabayes.families.judges.simulation import answered, drawn_from_prior
from reliabayes.families.simulation import CategorySimulation
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal, own_priors
from reliabayes.models.rating_model import RatingModel
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results.model import problem_of
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.posterior import Posterior
from reliabayes.results.rating_probabilities import RatingProbabilities
from reliabayes.sampling.arguments import check_kind

Pooling = Literal["partial", "none"]
Misreading = Literal["by_group", "shared"]


@dataclass(frozen=True, kw_only=True)
class JudgePanel(RatingModel[PanelProblem]):
    r"""People and LLM judges of answers, where judges of a family err together.

    .. math:: T \sim \text{prevalence}_{g}, \quad y_p \sim C_p[T], \quad F \sim M_{fg}[T],
        \quad O_j \sim W_j[F], \quad y_{jr} \sim S_j[O_j]

    An item of group g, such as a system, has a true category T. A person p answers to it. A family
    f of judges reads the item as category F; each judge j of the family has a lasting reading O of
    its own, and each of its runs answers to that. So further runs and further judges of a family
    are more answers, but not as many independent ones. All sums over T, F and O are exact.

    A judge with one run on each item has no slips (S), and a judge alone in its family no readings
    of its own (W): neither can be estimated. Each of up to four categories has a probability of
    being taken for each other one. With more, an error is made with a probability that depends on
    the right category, and leads to categories in proportion to their popularity; if these are
    ordered, errors also become rarer with distance.

    Quantities: ``rate`` (group, category), the expected proportion of ratings by the people at
    hand; ``prevalence`` (group, true_category); of each rater ``confusion`` (K, K),
    ``accuracy``, ``informativeness`` in bits and ``random_share``, of a single rating of items like
    all those at hand; ``reruns_flip`` of each judge with several runs, the probability that two of
    them differ; ``log_likelihood`` in nats and ``bits_per_rating``. `Fit.panel` compares groups and
    tells how far judges can be trusted.

    Parameters
    ----------
    human : str or sequence, optional
        Names of the pools of people, or ids of people. By default the pool named human, humans or
        people, or else all raters whose names are not those of models.
    family : mapping, optional
        Family of each judge. By default the provider in the judge's name; judges without one are
        one family, by the name of their pool.
    pooling : {"partial", "none"}, default "partial"
        Whether prevalences of the groups come from a population.
    misreading : {"by_group", "shared"}, default "by_group"
        Whether misreadings differ between groups, as where a judge prefers its own answers. What
        differs is partially pooled.
    trust : {"none", "person"}, default "none"
        Whether the ratings of the only person are true.
    prior_prevalence_location, prior_prevalence_spread : Normal; HalfNormal or HalfStudentT
        Of the log odds of true categories, and of their standard deviation between groups.
    prior_people_location, prior_people_spread : Normal; HalfNormal or HalfStudentT
        Of the mean log odds of people's errors against right ratings, if there were one wrong
        category, and of their standard deviation between people.
    prior_misreading_location, prior_misreading_spread : Normal; HalfNormal or HalfStudentT
        The same of misreadings, between groups.
    prior_own, prior_slip : Normal
        Of the log odds of a judge's own misreadings, and of slips of its runs.
    prior_popularity, prior_log_decay : Normal
        With more than four categories: of the log odds of wrong categories, and of the logarithm of
        the rate at which errors become rarer with each further step.

    Notes
    -----
    Ratings by people and by judges may be missing on any items, and people may be sent where
    judges disagree: this is ignorable as long as the ratings that it depends on are among the data.
    Several ratings of an item by one person are one vote.

    References
    ----------
    Dawid & Skene (1979). https://doi.org/10.2307/2346806
    """

    summary: ClassVar[str] = "true categories, people, and families of judges that err together"
    references: ClassVar[tuple[str, ...]] = ("dawid1979",)
    reports: ClassVar[tuple[str, ...]] = (
        "rate",
        "prevalence",
        "confusion",
        "accuracy",
        "informativeness",
        "random_share",
        "reruns_flip",
        "log_likelihood",
        "bits_per_rating",
    )
    has_true_categories: ClassVar[bool] = True

    human: Any = None
    family: Any = None
    pooling: Pooling = "partial"
    misreading: Misreading = "by_group"
    trust: Trust = "none"
    prior_prevalence_location: Normal = Normal(0.0, 1.5)
    prior_prevalence_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_people_location: Normal = Normal(-2.0, 1.0)
    prior_people_spread: HalfNormal | HalfStudentT = HalfNormal(0.5)
    prior_misreading_location: Normal = Normal(-1.5, 1.5)
    prior_misreading_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)
    prior_own: Normal = Normal(-2.5, 1.5)
    prior_slip: Normal = Normal(-3.0, 1.5)
    prior_popularity: Normal = Normal(0.0, 1.0)
    prior_log_decay: Normal = Normal(0.0, 0.7)

    def __post_init__(self) -> None:
        for name, choices in (
            ("pooling", Pooling), ("misreading", Misreading), ("trust", Trust)
        ):  # fmt: skip
            if (found := getattr(self, name)) not in get_args(choices):
                words = " or ".join(map(repr, get_args(choices)))
                raise ValueError(f"{name} must be {words}, not {found!r}.")
        if self.human is not None:
            one = isinstance(self.human, str) or not hasattr(self.human, "__iter__")
            object.__setattr__(self, "human", (self.human,) if one else tuple(self.human))
        if self.family is not None:
            pairs = self.family.items() if isinstance(self.family, Mapping) else self.family
            object.__setattr__(self, "family", tuple((key, str(name)) for key, name in pairs))
        for name, prior in own_priors(self).items():
            kinds = (HalfNormal, HalfStudentT) if name.endswith("_spread") else (Normal,)
            if not isinstance(prior, kinds):
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise TypeError(f"prior_{name} must be a {wanted}, not {prior!r}.")
            if isinstance(prior, Normal) and not np.isfinite(prior.sd):
                raise ValueError(f"prior_{name} must have a finite sd; found {prior!r}.")

    # From ratings to draws.

    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter."""
        return own_priors(self)

    def problem(self, ratings: Ratings) -> PanelProblem:
        """Distinct items by what people and families of judges say of them, and priors."""
        k = len(ratings.categories)
        numbers = {name: prior.stan for name, prior in own_priors(self).items()}
        if k <= MOST_FREE:  # each of K - 1 errors has its part of the odds
            for name in ("people_location", "misreading_location", "own", "slip"):
                mean, sd = numbers[name]
                numbers[name] = np.array([mean - np.log(k - 1), sd])
        group, groups = groups_of(ratings)
        return panel_problem(
            ratings,
            roles=self._roles(ratings),
            group=group,
            groups=groups,
            priors=numbers,
            pools_groups=self.pooling == "partial",
            by_group=self.misreading == "by_group",
            trust=self.trust,
        )

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the parameters."""
        return {each.name: each.dims for each in ALL_PARAMETERS}

    def program(self, problem: PanelProblem) -> str:
        """Stan program."""
        return "judge_panel"

    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters that the program may have."""
        return ALL_PARAMETERS

    def declared(self, problem: PanelProblem) -> tuple[Parameter, ...]:
        """Parameters, as `simulate` takes them."""
        return declared(problem)

    def start(self, problem: PanelProblem) -> WarmStart:
        """Mode of the posterior given the spreads that explain it best, by quasi-Newton steps."""
        return starts.start_at_mode(problem)

    def starts(self, problem: PanelProblem) -> tuple[WarmStart, ...]:
        """The same, as the only start."""
        return (self.start(problem),)

    def cold_start(self, problem: PanelProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit of what the program samples."""
        return starts.cold_start(problem, centring)

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""
        assert isinstance(centring, PanelCentring)
        return starts.for_program(point, centring)

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with the parameters in place of what it sampled."""
        assert isinstance(centring, PanelCentring)
        return replace(run, parameters=starts.from_program(run.parameters, centring))

    def log_likelihood(self, point: Point, problem: PanelProblem) -> float:
        """Log-probability of all answers, what is hidden marginalised."""
        return density.log_likelihood(starts.complete(point, problem), problem)

    def em(self, ratings: AnyRatings) -> PointEstimate:
        """Mode of the posterior density of levels, given the spreads that explain them best.

        Parameters
        ----------
        ratings : Ratings
            The data.

        Returns
        -------
        PointEstimate
            The last number of its ``path`` is what was maximised.

        Raises
        ------
        RatingsError
            The ratings do not suit the model.

        Warns
        -----
        ConvergenceWarning
            The search had not converged.
        """
        check_kind(self, ratings)
        problem: PanelProblem = problem_of(self, ratings)
        found = starts.mode(problem)
        if not found.converged:
            text = f"{type(self).__name__}: the search of the mode had not converged. Call fit."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self.estimate_at(found.point, ratings, problem, found.path, found.converged)

    # Results.

    def quantities(self, posterior: Posterior[PanelProblem]) -> xr.Dataset:
        """Rates, prevalences, probabilities of answers, and what follows from them."""
        return reports.quantities(posterior, self.reports)

    def items(
        self, posterior: Posterior[PanelProblem], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Most probable category of each item, its probability, and the entropy in bits."""
        return reports.items(posterior)

    def raters(
        self, posterior: Posterior[PanelProblem], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Each rater's accuracy."""
        return reports.raters(posterior, self.reports, prob)

    def category_probabilities(self, posterior: Posterior[PanelProblem]) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, averaged over draws."""
        return reports.category_probabilities(posterior)

    def correct_ratings(
        self, posterior: Posterior[PanelProblem], rng: np.random.Generator
    ) -> Array:
        """Number (S, R) of each rater's ratings that equal true categories drawn with the draws."""
        return reports.correct_ratings(posterior, rng)

    def rating_probabilities(
        self, posterior: Posterior[PanelProblem]
    ) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw, in one run."""
        return reports.rating_probabilities(posterior)

    def pointwise(self, posterior: Posterior[PanelProblem]) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
        return reports.pointwise(posterior)

    def replicates(
        self, posterior: Posterior[PanelProblem], rng: np.random.Generator
    ) -> Iterator[Codes]:
        """Categories (N,) of answers on new items of the same groups, one draw at a time."""
        return reports.replicates(posterior, rng)

    def panel(self, posterior: Posterior[PanelProblem]) -> PanelResults:
        """Rates of groups, and how far judges can be trusted."""
        return PanelResults(posterior)

    def caution(self, ratings: Ratings) -> str:
        """Who was taken for a person, and for a family, where the caller did not say so."""
        return "" if self.human and self.family is not None else self._roles(ratings).how

    # Simulation.

    @property
    def simulation(self) -> CategorySimulation[PanelProblem]:
        """How answers are drawn."""
        return CategorySimulation(self, drawn_from_prior, answered)

    def _roles(self, ratings: Ratings) -> Roles:
        return roles_of(ratings, self.human, None if self.family is None else dict(self.family))
