"""How many sweeps of Gibbs sampling a draw of a model of categories takes, and what it costs."""

from __future__ import annotations

from dataclasses import replace

from reliabayes.inference.conjugate import Conjugate
from reliabayes.sampling.thresholds import SWEEPS


def with_sweeps(posterior: Conjugate, times: int = 1) -> Conjugate:
    """The posterior with its sweeps for each draw, so many times the usual number.

    One is hardly a step where parameters are many for the data. Where states are drawn given one
    another, passes over them follow one sweep. Where items are equal, those in each state are drawn
    at once given probabilities.
    """
    number, is_sum = times * _usual_sweeps(posterior), bool(posterior.outcomes.guessed)
    is_sum = is_sum or posterior.hierarchy is not None
    is_collapsed = not (
        is_sum
        or posterior.in_parts
        or posterior.prior.min() < SWEEPS.least_prior
        or posterior.n_ratings > SWEEPS.equal * _work_of_sweep(posterior)
    )
    sweeps, passes = (1, number - 1) if is_collapsed else (number, 0)
    return replace(posterior, sweeps=sweeps, passes=passes, repeats=_repeats(posterior))


def work_of_draw(posterior: Conjugate) -> float:
    """What a draw of a chain costs, in numbers of ratings."""
    repeated = 1 + posterior.repeats // SWEEPS.few_repeats
    of_passes = posterior.passes * len(posterior.cell)
    return posterior.sweeps * _work_of_sweep(posterior) * repeated + of_passes


def _work_of_sweep(posterior: Conjugate) -> float:
    """What a sweep costs, in numbers of ratings."""
    if posterior.hierarchy is not None:
        return len(posterior.cell) + SWEEPS.log_odds * posterior.hierarchy.n_log_odds
    return len(posterior.cell) + SWEEPS.parameter * posterior.layout.size


def _usual_sweeps(posterior: Conjugate) -> int:
    if posterior.hierarchy is not None:
        n_ratings, n_log_odds = len(posterior.cell), posterior.hierarchy.n_log_odds
        least = SWEEPS.slow_hierarchy if n_ratings > n_log_odds else SWEEPS.hierarchy
        return min(max(least, int(SWEEPS.swept / (n_ratings + n_log_odds))), SWEEPS.most)
    least = SWEEPS.if_guessed if posterior.outcomes.guessed else 1
    more = int(SWEEPS.per_parameter * posterior.n_parameters / posterior.n_ratings)
    return min(least + more, SWEEPS.most)


def _repeats(posterior: Conjugate) -> int:
    if posterior.hierarchy is not None or not posterior.outcomes.guessed:
        return 1
    are_few = posterior.n_ratings < SWEEPS.few_ratings * posterior.n_parameters
    return SWEEPS.few_repeats if are_few else SWEEPS.repeats
