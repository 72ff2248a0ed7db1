"""One run of the sampler from a start, and the arguments of a fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, get_args

from reliabayes.choices import Sampler
from reliabayes.inference import stan
from reliabayes.inference.commands import Geometry
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.gibbs_in_parts import ConjugateInParts
from reliabayes.inference.host import IN_BROWSER
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import Start, WarmStart, default_warmup
from reliabayes.models.bases.optional_results import ByGibbs, OptionalResults
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.settings import Settings, whole_number
from reliabayes.wording import joined

# Iterations of each chain where each is a pass over ratings in parts, or over so many.
PASSES_OF_WARMUP, PASSES_KEPT, MANY_RATINGS = 100, 250, 2_000_000
LATER_WARMUP = 20  # iterations that chains discard which go on where those in doubt ended
WITHOUT: dict[Sampler, str] = {
    "gibbs": "Gibbs sampler, which needs posteriors of known form given what is hidden",
    "hmc": "normal distribution close to its posterior, or starts elsewhere than around its mode",
    "independence": "independence sampler for these ratings: `GaussianICC` has one unless items "
    "and raters are both many, `GStudy` where cells are empty or differ in their number of ratings",
}

Own: TypeAlias = ByGibbs | NearNormal


class Care(NamedTuple):
    """How to sample in other ways than usual.

    What NUTS takes at least where draws are in doubt: acceptance rate, iterations a draw, warm-up
    and depth of trees, with which it finds the covariances of few parameters anew. How many draws
    each chain has, if a few are to tell whether all would be in doubt.
    """

    acceptance: float = 0.0
    thinning: int = 1
    warmup: int = 0
    tree_depth: int = 0
    draws: int = 0


AS_USUAL = Care()
FEW_DRAWS = Care(draws=100)  # which tell whether all would be in doubt
LONG_TREES = Care(acceptance=0.6, tree_depth=10)  # where short ones seemed to do
SMALL_STEPS = Care(acceptance=0.99, thinning=4, warmup=1000, tree_depth=10)


class SampledModel(Protocol):
    """What sampling asks of a model."""

    samples_in_numpy: ClassVar[bool]
    takes_parts: ClassVar[bool]

    def program(self, problem: Any) -> str:
        """Stan program."""

    def prefers_gibbs(self, problem: Any) -> bool:
        """Whether it gives more effective draws a second than NUTS."""

    def conjugate(self, problem: Any) -> ByGibbs | None:
        """What Gibbs sampling needs."""

    def near_normal(self, problem: Any, mode: WarmStart) -> NearNormal | None:
        """What independence sampling needs."""

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with the parameters."""

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of another sampler, with the log density of the program."""

    def weighs_modes(self, problem: Any) -> bool:
        """Whether the masses of several modes can be compared."""

    def passes_between(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: Any
    ) -> bool:
        """Whether chains from all modes pass between them, and agree on how often."""

    def cold_start(self, problem: Any, centring: StanPart | None) -> WarmStart:
        """Dispersed starting points."""


def geometry_of(start: Start, sampler: str = "hmc", care: Care = AS_USUAL) -> Geometry | None:
    """Metric and step size, where the start knows them; those for NUTS as it takes them."""
    known = start.geometry if isinstance(start, WarmStart) else None
    if known is None or sampler != "nuts":
        return known
    return known.with_trees(care.tree_depth) if care.tree_depth else known.for_nuts


def chosen_settings(
    settings: Settings,
    own: Own | None,
    starts: Sequence[Start],
    warmup: int | None,
    draws: int | None,
    care: Care,
    earlier: Sequence[Sequence[Draws]],
) -> Settings:
    """Settings with the sampler, and with iterations that suit it where none are given."""
    sampler = own.sampler if own else settings.sampler if care == AS_USUAL else "nuts"
    in_parts = isinstance(own, ConjugateInParts)
    chosen = replace(settings, sampler=sampler, searches_all=not in_parts)
    if care.draws:
        chosen = replace(chosen, draws=care.draws)
    if in_parts or (isinstance(own, CrossedEffects) and own.n_ratings >= MANY_RATINGS):
        warmup = PASSES_OF_WARMUP if warmup is None else warmup
        return replace(chosen, warmup=warmup, draws=PASSES_KEPT if draws is None else draws)
    if warmup is not None:
        return chosen
    if earlier and isinstance(own, Conjugate) and not own.is_usual:
        return replace(chosen, warmup=LATER_WARMUP)
    known = (geometry_of(start, sampler, care) for start in starts)
    longest = max(default_warmup(geometry, sampler) for geometry in known)
    return replace(chosen, warmup=max(longest, care.warmup))


def sampler_of_program(
    model: SampledModel, sampler: Sampler, starts: Sequence[Start], output_dir: object
) -> Literal["nuts", "hmc"]:
    """What samples by the Stan program: NUTS, or HMC without trees near a normal one."""
    known = [geometry_of(start) for start in starts]
    is_normal = all(each is not None and each.mean is not None for each in known)
    if sampler == "hmc" and stan.uses_cmdstan():
        raise ValueError("A full CmdStan (RELIABAYES_CMDSTAN) has sampler='nuts' only.")
    if sampler == "hmc" and not is_normal:
        raise _without(model, sampler)
    is_free = sampler == "auto" and output_dir is None and not stan.uses_cmdstan()
    return "hmc" if sampler == "hmc" or (is_free and is_normal) else "nuts"


def chosen_starts(
    model: SampledModel, warm_start: bool | Start, modes: Sequence[WarmStart], problem: Any
) -> Sequence[Start]:
    """Where chains start: at every mode, at the heaviest, dispersed, or from an earlier fit."""
    if not isinstance(warm_start, bool):
        return (warm_start,)
    if not warm_start:
        return (model.cold_start(problem, modes[0].centring),)
    return modes if model.weighs_modes(problem) else modes[:1]


def own_sampler(
    model: SampledModel,
    sampler: Sampler,
    problem: Any,
    mode: WarmStart,
    warm_start: object,
    output_dir: object,
) -> Own | None:
    """What the sampler needs that suits this posterior, if it is to be used; None for NUTS."""
    keeps_files, from_mode = output_dir is not None, warm_start is not False
    if sampler in WITHOUT and keeps_files:
        raise ValueError(
            f"output_dir keeps Stan's files: leave it out, or pass sampler='nuts', not {sampler!r}."
        )
    if sampler == "independence" and not from_mode:
        raise ValueError(
            "Independence sampling draws around the mode: leave warm_start out, or pass "
            "sampler='nuts'."
        )
    found: Own | None = None
    if sampler == "gibbs" or (
        sampler == "auto" and not keeps_files and model.prefers_gibbs(problem)
    ):
        found = model.conjugate(problem)
    if sampler == "independence" or (
        sampler == "auto" and not keeps_files and from_mode and found is None
    ):
        near_normal = model.near_normal(problem, mode)
        if near_normal and (
            sampler == "independence" or IN_BROWSER or not near_normal.prefers_nuts
        ):
            found = near_normal
    if found is None and sampler in ("gibbs", "independence"):
        raise _without(model, sampler)
    return found


def _without(model: SampledModel, sampler: Sampler) -> ValueError:
    return ValueError(
        f"{type(model).__name__} has no {WITHOUT[sampler]}. Pass sampler='auto' or sampler='nuts'."
    )


def check_arguments(
    model: SampledModel,
    ratings: object,
    warm_start: object,
    parallel_chains: int | None,
    timeout: float | None,
    sampler: str,
) -> None:
    """Refuse arguments of a fit that mean nothing, and models that cannot be fitted here."""
    if not model.samples_in_numpy:
        stan.require_computer(f"The sampler of {type(model).__name__}")
    check_kind(model, ratings)
    if not isinstance(warm_start, bool) and not hasattr(warm_start, "create_inits"):
        raise TypeError(f"warm_start must be True, False or a fit, not {warm_start!r}.")
    if parallel_chains is not None:
        whole_number("parallel_chains", parallel_chains, least=1)
    if sampler not in get_args(Sampler):
        raise ValueError(
            f"sampler must be 'auto', 'nuts', 'hmc', 'gibbs' or 'independence', not {sampler!r}."
        )
    if timeout is not None and not _is_positive(timeout):
        raise ValueError(f"timeout must be a finite number of seconds above 0, not {timeout!r}.")


def check_kind(model: SampledModel, ratings: object) -> None:
    """Refuse what are no ratings, and ratings in parts where a model needs them in memory."""
    if isinstance(ratings, RatingsDataset) and not model.takes_parts:
        names = sorted(kind.__name__ for kind in _models() if kind.takes_parts)
        raise TypeError(
            f"{type(model).__name__} needs all ratings in memory, and found a RatingsDataset. "
            f"Models of ratings in parts are {joined(names)}."
        )
    if not isinstance(ratings, (Ratings, RatingsDataset)):
        raise TypeError(
            f"ratings must be Ratings, not {type(ratings).__name__}. Make them with "
            "Ratings.from_frame(table, item=..., rater=..., rating=...)."
        )


def _models() -> set[type[Any]]:
    """The models of the package: their bases have no summary."""
    found: list[type[Any]] = [OptionalResults]
    for each in found:
        found += each.__subclasses__()
    own = (each for each in found if each.__module__.startswith("reliabayes.models."))
    return {each for each in own if "summary" in vars(each)}


def _is_positive(number: object) -> bool:
    if not isinstance(number, Real) or isinstance(number, bool):
        return False
    try:
        return 0 < float(number) < math.inf
    except OverflowError:  # an integer beyond all floats
        return False
