"""The choice of how to sample: by what, with what care, and what follows if draws are in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

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
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.results.modes import Combined
from reliabayes.results.plan import Plan
from reliabayes.results.settings import Settings
from reliabayes.sampling.thresholds import BUDGET, NEARLY_NORMAL, SLOW_ITERATIONS, WARMUP

WITHOUT: dict[Sampler, str] = {
    "gibbs": "Gibbs sampler, which needs posteriors of known form given what is hidden",
    "hmc": "normal distribution close to its posterior, or starts elsewhere than around its mode",
    "independence": "independence sampler for these ratings: `GaussianICC` has one unless items "
    "and raters are both many, `GStudy` where cells are empty or differ in their number of ratings",
}

ByGibbs: TypeAlias = Conjugate | ConjugateInParts | CrossedEffects


class AddedSampler(Protocol):
    """A posterior with a sampler that somebody adds: all that sampling asks of it."""

    @property
    def sampler(self) -> Literal["nuts", "hmc", "gibbs", "independence"]:
        """The kind of sampler, of which its draws have the diagnostics."""

    def sample(self, **options: Any) -> Draws:
        """Draws, given chains, warmup, draws, seed, inits, parallel_chains and progress."""


SamplerInput: TypeAlias = ByGibbs | NearNormal | AddedSampler


class SamplerOptions(NamedTuple):
    """What NUTS takes at least: acceptance rate, iterations a draw, warm-up and depth of trees.

    With a depth of trees it finds the covariances of few parameters anew.
    """

    acceptance: float = 0.0
    thinning: int = 1
    warmup: int = 0
    tree_depth: int = 0


AS_USUAL = SamplerOptions()
LONG_TREES = SamplerOptions(acceptance=0.6, tree_depth=10)  # where short ones seemed to do
SMALL_STEPS = SamplerOptions(acceptance=0.99, thinning=4, warmup=1000, tree_depth=10)


@dataclass(frozen=True, eq=False)
class Step:
    """One way to sample a posterior."""

    own: SamplerInput | None  # what a sampler of our own needs; None for the Stan program
    care: SamplerOptions = AS_USUAL  # how carefully NUTS samples


class SampledModel(Protocol):
    """What sampling asks of every model."""

    samples_in_numpy: ClassVar[bool]
    takes_parts: ClassVar[bool]

    def program(self, problem: Any) -> str:
        """Stan program."""

    def cold_start(self, problem: Any, centring: StanPart | None) -> WarmStart:
        """Dispersed starting points."""


# What only some models have: such a model has the methods, and needs to say nothing else.


@runtime_checkable
class HasConjugate(Protocol):
    """A model whose posteriors Gibbs sampling may suit."""

    def conjugate(self, problem: Any) -> ByGibbs | None:
        """What Gibbs sampling needs; None if it does not suit this posterior."""

    def prefers_gibbs(self, problem: Any) -> bool:
        """Whether it gives more effective draws a second than NUTS."""

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of Gibbs sampling, with the log density of the program."""


@runtime_checkable
class HasNearNormal(Protocol):
    """A model whose posteriors may be so simple that draws around the mode are independent."""

    def near_normal(self, problem: Any, mode: WarmStart) -> NearNormal | None:
        """What independence sampling needs; None if this posterior is not known to be so simple."""


@runtime_checkable
class SamplesOtherNumbers(Protocol):
    """A model whose program samples other numbers than the parameters, relative to a centring."""

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with the parameters."""


@runtime_checkable
class WeighsModes(Protocol):
    """A model whose posteriors may have several modes, of which it can tell the masses."""

    def weighs_modes(self, problem: Any) -> bool:
        """Whether the masses of the modes of this posterior can be compared."""

    def chains_mix_modes(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: Any
    ) -> bool:
        """Whether chains from all modes pass between them, and agree on how often."""

    def combine(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: Any, settings: Settings
    ) -> Combined:
        """One set of draws from runs of the sampler at each mode, or from one run."""


def for_program(
    model: SampledModel, point: Mapping[str, Any], centring: StanPart | None
) -> Mapping[str, Any]:
    """A point as the program declares it; as the model does unless it samples other numbers."""
    return model.for_program(point, centring) if isinstance(model, SamplesOtherNumbers) else point


def from_program(model: SampledModel, run: Draws, centring: StanPart | None) -> Draws:
    """A run of the program, with the parameters."""
    return model.from_program(run, centring) if isinstance(model, SamplesOtherNumbers) else run


def first_step(
    model: SampledModel,
    sampler: Sampler,
    problem: Any,
    mode: WarmStart,
    warm_start: object,
    output_dir: object,
) -> Step:
    """The sampler that gives most effective draws a second, or the one that is asked for.

    Raises
    ------
    ValueError
        The sampler that is asked for does not suit the posterior, or other arguments.
    """
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
    found: SamplerInput | None = None
    if isinstance(model, HasConjugate) and (
        sampler == "gibbs"
        or (sampler == "auto" and not keeps_files and model.prefers_gibbs(problem))
    ):
        found = model.conjugate(problem)
    if isinstance(model, HasNearNormal) and (
        sampler == "independence"
        or (sampler == "auto" and not keeps_files and from_mode and found is None)
    ):
        near_normal = model.near_normal(problem, mode)
        if near_normal and (
            sampler == "independence" or IN_BROWSER or not near_normal.prefers_nuts
        ):
            found = near_normal
    if found is None and sampler in ("gibbs", "independence"):
        raise _without(model, sampler)
    return Step(found)


def later_steps(first: Step, starts: Sequence[Start], n_ratings: int) -> list[Step]:
    """What follows, in turn, if draws are in doubt.

    Gibbs sampling is exact, and only goes on. Where a normal distribution or short trees did not
    do, NUTS has long trees, and where ratings are few, small steps at last.
    """
    own = first.own
    if IN_BROWSER or isinstance(own, (Conjugate, ConjugateInParts, CrossedEffects)):
        return []
    if n_ratings > BUDGET.retried or (isinstance(own, NearNormal) and own.is_only):
        return []
    found = [] if own is None else [Step(None)]
    if own is None and any(_is_short(geometry_of(start)) for start in starts):
        found.append(Step(None, LONG_TREES))
    if n_ratings <= BUDGET.in_small_steps:
        found.append(Step(None, SMALL_STEPS))
    return found


def _is_short(geometry: Geometry | None) -> bool:
    """Whether there are no trees, or short ones."""
    if geometry is None:
        return False
    return geometry.mean is not None or geometry.max_tree_depth < LONG_TREES.tree_depth


@dataclass(frozen=True, eq=False)
class Way:
    """How a posterior is sampled.

    Attributes
    ----------
    model : SampledModel
        The model.
    problem : Problem
        What the posterior depends on.
    places : sequence of pair of Start and WarmStart
        Where chains start, and the mode that they start around.
    steps : sequence of Step
        What draws first, and what follows if draws are in doubt.
    may_change : bool
        Whether the sampler is free, so that chains may go on and others follow.
    settings : Settings
        Numbers of chains and iterations; the sampler is that of the Stan program.
    """

    model: SampledModel
    problem: Any
    places: Sequence[tuple[Start, WarmStart]]
    steps: Sequence[Step]
    may_change: bool
    settings: Settings

    def settings_of(self, step: Step, warmup: int | None, draws: int | None) -> Settings:
        """Settings of a step, with the iterations that are given, or that suit it."""
        starts = [start for start, _ in self.places]
        return chosen_settings(self.settings, step, starts, warmup, draws)

    def plan(self, ess: float, warmup: int | None, draws: int | None) -> Plan:
        """The plan in words and numbers, for an effective sample size that is aimed at."""
        first, *later = self.steps
        settings = self.settings_of(first, warmup, draws)
        own, start = first.own, self.places[0][0]
        is_warm = isinstance(start, WarmStart) and settings.warm_start
        known = geometry_of(start, settings.sampler, first.care)
        every, acceptance = 1, 0.0
        if isinstance(own, Conjugate):
            every = own.sweeps + own.passes
        elif isinstance(own, NearNormal):
            every = own.thinning
        elif own is None:
            every = start.thinning if isinstance(start, WarmStart) else 1
            acceptance = acceptance_of(start, settings.sampler, first.care)
        nodes = getattr(self.problem, "nodes", None)
        return Plan(
            model=type(self.model).__name__,
            sampler=settings.sampler,
            program=self.model.program(self.problem) if own is None else "",
            starts=len(self.places) if is_warm else 0,
            chains=settings.chains,
            warmup=settings.warmup,
            draws=settings.draws,
            every=every,
            acceptance=acceptance,
            nodes=int(getattr(nodes, "number", 0)),
            ess=ess,
            then=tuple(LATER[step.care] for step in later),
            reasons={"sampler": _why(settings.sampler, known), "warmup": _adapted(own, known)},
        )


def way_of(
    model: SampledModel,
    problem: Any,
    modes: Sequence[WarmStart],
    settings: Settings,
    *,
    n_ratings: int,
    sampler: Sampler = "auto",
    warm_start: bool | Start = True,
    output_dir: object = None,
) -> Way:
    """How a posterior is sampled: by what gives most effective draws a second, or as asked for.

    Parameters
    ----------
    model : SampledModel
        The model.
    problem : Problem
        What the posterior depends on.
    modes : sequence of WarmStart
        Starts at each of its modes.
    settings : Settings
        Numbers of chains and iterations.
    n_ratings : int
        Number of ratings.
    sampler, warm_start, output_dir
        As of `RatingModel.fit`.

    Raises
    ------
    ValueError
        The sampler that is asked for does not suit the posterior, or other arguments.
    """
    first = first_step(model, sampler, problem, modes[0], warm_start, output_dir)
    starts = chosen_starts(model, warm_start, modes, problem)
    by_program = sampler_of_program(model, sampler, starts, output_dir)
    may_change = sampler == "auto" and output_dir is None
    later = later_steps(first, starts, n_ratings) if may_change else []
    return Way(
        model,
        problem,
        [*zip(starts, modes, strict=False)],
        [first, *later],
        may_change,
        replace(settings, sampler=by_program, warm_start=warm_start is not False),
    )


LATER: dict[SamplerOptions, str] = {
    AS_USUAL: "NUTS follows",
    LONG_TREES: "NUTS follows with long trees",
    SMALL_STEPS: "NUTS follows in small steps",
}


def _why(sampler: str, known: Geometry | None) -> str:
    """Why a posterior is sampled by this."""
    if sampler == "gibbs":
        return "because parameters have known distributions given what is hidden"
    if sampler == "independence":
        return "because few parameters have a nearly normal posterior, and a density is quick"
    if sampler == "hmc":
        return "along the ellipses of a normal distribution, to which the posterior is close"
    if known is not None and known.max_tree_depth < LONG_TREES.tree_depth:
        return "in short trees, because the posterior is close to a normal distribution"
    return "which suits any posterior"


def _adapted(own: SamplerInput | None, known: Geometry | None) -> str:
    """What warm-up is for."""
    if isinstance(own, NearNormal):
        return "to adapt the proposals"
    if own is not None:
        return "because chains start wider apart than the posterior"
    if known is None:
        return "to adapt metric and step size"
    if known.adapt:
        return "to improve on the metric that the curvature at the mode gives"
    return "to adapt the step size only: the curvature at the mode gives the metric"


def acceptance_of(start: Start, sampler: str, care: SamplerOptions) -> float:
    """Acceptance rate that steps are adapted to."""
    own = start.target_acceptance if isinstance(start, WarmStart) else 0.8
    return max(NEARLY_NORMAL.turn_acceptance if sampler == "hmc" else own, care.acceptance)


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
    are_weighed = not isinstance(model, WeighsModes) or model.weighs_modes(problem)
    return modes if are_weighed else modes[:1]


def chosen_settings(
    settings: Settings,
    step: Step,
    starts: Sequence[Start],
    warmup: int | None,
    draws: int | None,
) -> Settings:
    """Settings with the sampler, and with iterations that suit it where none are given."""
    own, care = step.own, step.care
    sampler = own.sampler if own else settings.sampler if care == AS_USUAL else "nuts"
    in_parts = isinstance(own, ConjugateInParts)
    chosen = replace(settings, sampler=sampler, searches_all=not in_parts)
    if in_parts or (isinstance(own, CrossedEffects) and own.n_ratings >= SLOW_ITERATIONS):
        warmup = WARMUP.passes if warmup is None else warmup
        return replace(chosen, warmup=warmup, draws=WARMUP.passes_kept if draws is None else draws)
    if warmup is not None:
        return chosen
    known = (geometry_of(start, sampler, care) for start in starts)
    longest = max(_warmup(geometry, sampler) for geometry in known)
    return replace(chosen, warmup=max(longest, care.warmup))


def _warmup(geometry: Geometry | None, sampler: str) -> int:
    """Iterations to adapt: few where metric and step size are known, more where one is not."""
    if sampler == "independence":
        return WARMUP.independence
    if geometry is None:
        return WARMUP.unknown
    if sampler == "gibbs":
        return WARMUP.gibbs
    return WARMUP.guessed if geometry.adapt else WARMUP.known


def geometry_of(
    start: Start, sampler: str = "hmc", care: SamplerOptions = AS_USUAL
) -> Geometry | None:
    """Metric and step size, where the start knows them; those for NUTS as it takes them."""
    known = start.geometry if isinstance(start, WarmStart) else None
    if known is None or sampler != "nuts":
        return known
    return known.with_trees(care.tree_depth) if care.tree_depth else known.for_nuts


def _without(model: SampledModel, sampler: Sampler) -> ValueError:
    return ValueError(
        f"{type(model).__name__} has no {WITHOUT[sampler]}. Pass sampler='auto' or sampler='nuts'."
    )
