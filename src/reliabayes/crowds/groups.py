"""Groups of raters whose errors are more dependent than chance explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri_exp

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.crowds.dependence import Dependence, Together

FALSE_ALARMS = 0.02  # proportion of crowds of independent raters in which a pair is found
OF_LARGER = 0.001  # the same of each size of larger groups
BY_VOTES = 2  # power of raters' numbers of votes by which these false alarms are spread over groups
LARGEST_GROUP = 6  # that is tested; others join it by their own pairs
JOINS = 3.0  # standard errors of the correlations of another rater with the members together
STARTS = 10  # pairs from which groups grow


@dataclass(frozen=True, eq=False)
class Group:
    """Raters who err together.

    Attributes
    ----------
    raters : array of int, shape (G,)
        Two or more.
    z : float
        How many standard errors the correlations of their errors lie above those of others.
    items : int
        Number of comparisons of two of them.
    correlation : float
        Mean correlation of their errors, 0 to 1.
    """

    raters: Codes
    z: float
    items: int
    correlation: float

    @property
    def effective_votes(self) -> float:
        """Number of independent votes that one vote of each member counts as."""
        size = len(self.raters)
        return size / (1 + (size - 1) * self.correlation)


def groups(
    found: Dependence, per_rater: Codes, compare: Callable[[tuple[int, ...]], Together]
) -> tuple[Group, ...]:
    """Groups without common members, the clearest first; none if chance explains all.

    A pair is found if its z is one that chance exceeds for some pair in 2% of crowds. These false
    alarms are spread over the pairs by the squared products of both raters' numbers of votes,
    because pairs who met rarely show little and change few labels. Of four raters who copy, two
    confirm what the other two say. So groups grow from the clearest pairs by the rater who adds
    most, are compared by the votes of all others, and are held against all groups of their size
    in the same way. They grow while others outvote them: who errs is what the majority decides.

    Parameters
    ----------
    found : Dependence
        Pairs of raters.
    per_rater : array of int, shape (R,)
        Number of votes by each rater.
    compare : callable
        Compares some raters, in ascending order, by the votes of the others.

    Returns
    -------
    tuple of Group

    References
    ----------
    Genovese, Roeder & Wasserman (2006), https://doi.org/10.1093/biomet/93.3.509: weighted tests.
    """
    limits, result = _Limits.of(found, per_rater), list[Group]()
    excess = found.z - limits.of_groups(found.raters)
    is_free = np.ones(len(per_rater), dtype=bool)
    while True:
        free = np.flatnonzero(is_free[found.raters].all(axis=1))
        starts = free[np.argsort(-excess[free], kind="stable")[:STARTS]]
        grown = [_grown(found.raters[at], compare, is_free, limits) for at in starts]
        most, best = max(grown, key=lambda each: each[0], default=(0.0, None))
        if best is None or most <= 0:
            return (*result,)
        result.append(best)
        is_free[best.raters] = False


def _grown(
    members: Codes, compare: Callable[[tuple[int, ...]], Together], is_free: Mask, limits: _Limits
) -> tuple[float, Group]:
    """The clearest group that grows from a pair, and how far it exceeds its limit."""
    best = -np.inf, Group(members, 0.0, 0, 0.0)
    while True:
        found = compare((*np.sort(members).tolist(),))
        group = _group(members, found)
        excess = float(group.z - limits.of_groups(members))
        if excess <= best[0] or (len(members) > 2 and not found.are_outvoted):
            return best
        best = excess, group
        total, met = found.of_others(len(is_free))
        is_candidate = is_free & (met > 0)
        if len(members) == LARGEST_GROUP:
            joins = np.flatnonzero(is_candidate & (total > JOINS * np.sqrt(met)))
            members = np.sort(np.append(members, joins))
            return excess, _group(members, compare((*members.tolist(),)))
        if not is_candidate.any():
            return best
        inside = found.inside
        gain = (found.z[inside].sum() + total) / np.sqrt(inside.sum() + met)
        members = np.append(members, np.where(is_candidate, gain, -np.inf).argmax())


def _group(members: Codes, found: Together) -> Group:
    z, raw, items = (each[found.inside] for each in (found.z, found.raw, found.items))
    correlation = np.average(np.clip(raw, 0, 1), weights=np.maximum(items, 1))
    score = float(z.sum() / np.sqrt(len(z)))
    return Group(np.sort(members), score, int(items.sum()), float(correlation))


@dataclass(frozen=True, eq=False)
class _Limits:
    """The z that one of all groups of a size exceeds by chance in few crowds."""

    log_votes: Array  # (R,) logarithms of powers of numbers of votes, up to a constant
    log_chance: Array  # of each size, less the log of products of votes summed over all groups

    @classmethod
    def of(cls, found: Dependence, per_rater: Codes) -> _Limits:
        votes = (per_rater / max(per_rater.max(initial=0), 1)) ** BY_VOTES
        sums = np.zeros(LARGEST_GROUP + 1)  # elementary symmetric polynomials
        sums[0] = 1
        for each in votes:
            sums[1:] += each * sums[:-1]
        sums[2] = votes[found.raters].prod(axis=1).sum()  # of those who met
        chance = np.full(len(sums), OF_LARGER)
        chance[2] = FALSE_ALARMS
        tiny = np.finfo(float).tiny
        return cls(np.log(np.maximum(votes, tiny)), np.log(chance / np.maximum(sums, tiny)))

    def of_groups(self, members: Codes) -> Array:
        """Limits (...) of groups (..., G)."""
        log_chance = self.log_chance[members.shape[-1]] + self.log_votes[members].sum(axis=-1)
        return np.asarray(-ndtri_exp(np.minimum(log_chance, 0.0)))
