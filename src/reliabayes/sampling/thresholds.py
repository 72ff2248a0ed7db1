"""All thresholds of choices that `plan.py` and families make, each with how it was found.

That is the command of a benchmark; or "by eye", from a few fits.
"""

from __future__ import annotations

from typing import NamedTuple

# Raters of each pool: enough to be a population, for long steps, and for a posterior that may be
# nearly normal. By eye; python -m benchmarks.crowds, benchmarks.designs
CROWD, LARGE_CROWD, SEVERAL_RATERS = 20, 100, 6
FEW_PARAMETERS = 20  # whose covariances NUTS finds in any case. By eye
# Ratings from which on an iteration over crossed effects is as slow as a pass over parts. By eye
SLOW_ITERATIONS = 2_000_000


class Adaptation(NamedTuple):
    """How NUTS adapts to the posteriors of a model."""

    acceptance: float = 0.8  # rate that the step size is adapted to
    in_crowds: float | None = None  # the same for 20 raters or more, if different
    from_afar: float | None = None  # the same from dispersed starts, if different
    metric: bool = False  # whether it improves on EM's curvature; with few parameters it does
    thinning: int = 1  # iterations for each draw


USUAL_STEPS = Adaptation()
# Probabilities near 0 have long tails in log odds. python -m benchmarks.annotation samplers
LONG_TAILS = Adaptation(acceptance=0.95)
TAILS_OF_MANY_LENGTHS = Adaptation(acceptance=0.95, metric=True)  # of MACE, the same benchmark
# An iteration of TAP takes some 0.2 ms; where hardly any rating is known, four are worth one draw.
# python -m benchmarks.annotation samplers
QUICK_ITERATIONS = Adaptation(acceptance=0.95, thinning=4)
POPULATION = Adaptation(from_afar=0.95)  # of raters with confusion matrices. By eye
# Of raters with accuracies and guesses. python -m benchmarks.crowds LatentTAP
LATENT_POPULATION = Adaptation(acceptance=0.98, in_crowds=0.6, metric=True)


class Informed(NamedTuple):
    """Where the curvature at the mode of raters' log odds is a good guide to the posterior."""

    information: float = 0.75  # from which on, of what known true categories would give
    acceptance: float = 0.95  # where it is a poor guide
    tail: float = 0.5  # sd of a log spread of many raters, from which on paths are too short


INFORMED = Informed()  # by eye; python -m benchmarks.crowds HierarchicalDawidSkene


class FirstSteps(NamedTuple):
    """Steps of NUTS around the mode of standard deviations of normal effects.

    With little data the posterior is far from normal: curvature is a poor guide to it, and steps
    must be smaller. With next to none it has long tails towards standard deviations of 0.
    """

    step_size: float  # where the log of each sd has an sd of less than 0.3
    known: float  # acceptance there
    vague: float  # where one has 0.3 or more
    unknown: float  # where one has 0.6 or more, and from dispersed starts

    def of(self, widest: float) -> tuple[float | None, float]:
        """First step, or None to let NUTS adapt it and the metric; and acceptance rate."""
        if widest < 0.3:
            return self.step_size, self.known
        return None, self.vague if widest < 0.6 else self.unknown


CROSSED_STEPS = FirstSteps(0.9, 0.7, 0.95, 0.95)  # python -m benchmarks.gaussian_icc start
GIBBS_STEPS = FirstSteps(0.3, 0.8, 0.8, 0.95)  # where sds are a first guess. By eye
POOLED_STEPS = FirstSteps(0.9, 0.7, 0.9, 0.98)  # by eye: no divergences of the smallest designs
STUDY_STEPS = FirstSteps(0.8, 0.8, 0.95, 0.95)  # python -m benchmarks.facets


class CrossedNumbers(NamedTuple):
    """How crossed effects of items and raters on numbers are sampled.

    Densities are those of sums over pairs of columns, the fewer of items and raters.
    """

    sums_by_cell: int = 40  # for which effects of columns are integrated out
    most_sums: int = 150_000_000  # in memory: 1.2 GB
    integrated: int = 8_000_000  # work of a density for which they are integrated out, too
    interpolated: int = 125_000  # work from which on NUTS takes longer than independence sampling
    by_nuts: int = 30_000_000  # sums of which a step of NUTS takes more than a second
    most_cells: int = 20_000_000  # of sums, for independence sampling: 160 MB
    proposals: int = 8  # for each draw of an interpolated density
    at_once: int = 512
    single: int = 2_500  # cells of a matrix from which on a draw takes one proposal
    most_proposals: int = 32  # for each draw, of smaller matrices


CROSSED = CrossedNumbers()  # python -m benchmarks.switch


class StudyNumbers(NamedTuple):
    """How effects of several facets on numbers are sampled."""

    few_ratings: int = 1000  # for which NUTS takes seconds
    proposals: int = 4  # for each draw, where densities are quick
    at_once: int = 32
    nodes: int = 400  # at which all parts are summed, where there is no quicker way
    read: int = 200_000  # ratings of parts that are read into memory if patterns are too many


STUDY = StudyNumbers()  # python -m benchmarks.facets


class GradedSteps(NamedTuple):
    """Steps of NUTS for effects on categories: longer where ratings tell large sources apart."""

    levels: int = 100  # of a source that is large
    known: float = 30.0  # effects that its sd is known of, as it were
    acceptance: float = 0.7
    otherwise: float = 0.8
    from_afar: float = 0.95


GRADED_STEPS = GradedSteps()  # python -m benchmarks.facets


class NearlyNormal(NamedTuple):
    """When a posterior counts as nearly normal, and how NUTS then samples it.

    Deviations are those of gradients, a standard deviation away from the mode, in units of those of
    a normal density. Three steps go round a third of its ellipse: far enough that a draw is nearly
    independent of the one before, where a tree that doubles until it turns back takes seven.
    """

    most_parameters: int = 200  # each takes four gradients, a step their product with a matrix
    deviation: float = 0.35  # largest
    turned: float = 0.25  # the same without trees, whose trajectories stay in wide tails
    shift: float = 2.0  # largest distance of the mean from the mode, in sds, without trees
    tree_depth: int = 2
    acceptance: float = 0.7
    step_size: float = 0.7
    turn_acceptance: float = 0.8  # without trees


NEARLY_NORMAL = NearlyNormal()  # python -m benchmarks.reliability peers


class Sweeps(NamedTuple):
    """How many sweeps of Gibbs sampling a draw of a model of categories takes."""

    most: int = 10
    if_guessed: int = 2  # at least so many where ratings may be guessed
    per_parameter: int = 4  # more, by parameters per rating
    repeats: int = 8  # draws of who guessed, and of all probabilities, for each of the states
    few_repeats: int = 4  # the same with fewer ratings per parameter than
    few_ratings: int = 10
    parameter: int = 8  # ratings whose item's state is drawn as fast as a probability
    log_odds: int = 12  # the same for log odds
    equal: int = 2  # times the ratings of a sweep that make equal items many
    least_prior: float = 1e-6  # where an item is left out of counts, smaller ones lose digits
    swept: int = 10_000  # ratings and log odds, in sweeps of a hierarchy, for each draw
    hierarchy: int = 4  # at least so many sweeps of it
    slow_hierarchy: int = 5  # the same where more ratings than log odds slow the chain


SWEEPS = Sweeps()  # python -m benchmarks.annotation samplers; python -m benchmarks.crowds


class Warmup(NamedTuple):
    """Iterations of warm-up of each chain."""

    unknown: int = 1000  # of NUTS, where nothing is known of the metric
    guessed: int = 500  # where it improves on a metric
    known: int = 150  # where it adapts only the step size
    gibbs: int = 200  # which has nothing to adapt, but starts wider apart than the posterior
    independence: int = 220  # which adapts by what all chains have found together
    passes: int = 100  # over ratings in parts, or over so many
    passes_kept: int = 250  # draws of these


WARMUP = Warmup()  # python -m benchmarks.gaussian_icc start; passes: python -m benchmarks.large


class Budget(NamedTuple):
    """What chains that go on may take, in ratings that are visited: some twenty seconds."""

    gibbs: float = 5e9
    nuts: float = 1e9  # by gradients
    step: int = 500  # what a step of NUTS takes besides the ratings that it visits
    proposals: int = 200_000  # of independence sampling, of which each takes 0.1 ms or more
    retried: int = 20_000  # ratings up to which other samplers follow if draws are in doubt
    in_small_steps: int = 2_000  # ratings up to which NUTS follows in small steps


BUDGET = Budget()  # by eye


class Lengthening(NamedTuple):
    """How chains go on."""

    least: int = 2  # times as many iterations, from one look at draws to the next
    most: int = 32
    spare: float = 1.25  # times what draws so far say is needed
    saturated: float = 0.8  # of draws: if as many are effective, iterations between help no more
    for_each: int = 2  # draws for each effective one: fewer must be many iterations apart
    telling: int = 1_000  # draws of all chains that tell a bad sampler from few draws
    part: int = 100  # draws of each chain that tell whether they pass between modes


LONGER = Lengthening()  # by eye; python -m benchmarks.real


class DifficultyNodes(NamedTuple):
    """How many nodes the difficulty of items has."""

    reach: float = 8.0  # standard deviations of difficulty that nodes cover on either side, at most
    information: float = 0.15  # of a rating, whose sd is about 1.5, relative to the prior
    spacing: float = 0.4  # at most, which resolves an accuracy if difficulties have an sd of 2.5
    coarse: int = 8  # at least, and half of all, for a coarser density


DIFFICULTY = DifficultyNodes()  # by eye; fit.diagnostics().integration_error says what is left


class Climbs(NamedTuple):
    """How modes of true categories are searched for, by climbs of EM."""

    starts: int = 20  # random ones besides the votes
    finished: int = 8  # of their ends
    more: int = 100  # starts in all if they end at several places, where climbs are cheap
    few_counts: int = 100_000  # of distinct items, over which there are fewer starts
    counts: int = 5_000  # of a part of the items, which rough climbs take if there are more
    counts_of_parts: int = 200_000  # of items in parts


CLIMBS = Climbs()  # python -m pytest -m calibration tests/models/test_modes.py


class Mixing(NamedTuple):
    """When draws of chains around several modes are pooled, or weighed by the modes' masses."""

    r_hat: float = 1.02  # largest, if chains agree on the share of each mode
    ess: float = 40  # smallest effective number of draws of a chain, if they do
    rare: float = 0.02  # share of a mode with too few visits to say either, if no chain stayed
    stayed: float = 0.25  # of a run's draws at its mode, below which those of other runs are added
    few: int = 100  # draws of all runs at a mode, below which its mass is not estimated
    kept: float = 0.001  # least share of the posterior at a mode that is kept: one draw of 1000
    most: int = 6  # modes that are sampled
    lightest: float = 7.0  # nats below the heaviest: 5, and the error of their approximation


MIXING = Mixing()  # python -m pytest -m calibration tests/models/test_modes.py
