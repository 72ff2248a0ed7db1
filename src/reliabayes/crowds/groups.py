"""Groups of raters whose errors are more dependent than chance explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import comb, ndtri

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.crowds.dependence import Dependence

FALSE_ALARMS = 0.02  # proportion of crowds of independent raters in which a pair is found
OF_LARGER = 0.005  # the same of each size of larger groups
LARGEST_GROUP = 6  # that is tested; others join it by their own pairs
JOINS = 3.0  # standard errors of the correlations of another rater with the members together
STARTS = 20  # pairs from which groups grow


@dataclass(frozen=True, eq=False)
class Group:
    """Raters who err together.

    Attributes
    ----------
    raters : array of int, shape (G,)
        Two or more.
    z : float
        How many standard errors the correlations of their errors lie above those of others.
    """

    raters: Codes
    z: float


def groups(found: Dependence, n_raters: int) -> tuple[Group, ...]:
    """Groups without common members, the clearest first; none if chance explains all.

    A pair is found if its z is one of which chance exceeds the largest in 2% of crowds. Of four
    raters who copy, each pair may be unclear where all six are clear: groups grow from the clearest
    pairs by the rater who adds most, and are held against the number of groups of their size.

    Parameters
    ----------
    found : Dependence
        Pairs of raters.
    n_raters : int
        Number of raters.

    Returns
    -------
    tuple of Group
    """
    one, two = found.raters.T
    z, met = (
        _symmetric(values, one, two, n_raters) for values in (found.z, np.ones(len(found.raters)))
    )
    pairs, result = len(found.raters), list[Group]()
    is_free = np.ones(n_raters, dtype=bool)
    while True:
        free = np.flatnonzero(is_free[one] & is_free[two])
        starts = free[np.argsort(-found.z[free], kind="stable")[:STARTS]]
        grown = [_grown(found.raters[at], z, met, is_free, pairs) for at in starts]
        excess, best = max(grown, key=lambda each: each[0], default=(0.0, None))
        if best is None or excess <= 0:
            return (*result,)
        result.append(_joined(best, z, met, is_free))
        is_free[result[-1].raters] = False


def _symmetric(values: Array, one: Codes, two: Codes, n_raters: int) -> sp.csr_array:
    """Values (R, R) of pairs: of many raters few have met."""
    at = np.concatenate([one, two]), np.concatenate([two, one])
    return sp.csr_array((np.concatenate([values, values]), at), shape=(n_raters, n_raters))


def _grown(
    pair: Codes, z: sp.csr_array, met: sp.csr_array, is_free: Mask, pairs: int
) -> tuple[float, Group]:
    """The clearest group that grows from a pair, and how far it exceeds its limit."""
    members, found, total = pair, [], _towards(pair, z)
    for size in range(2, min(LARGEST_GROUP, int(is_free.sum())) + 1):
        if size > 2:
            gain = np.where(is_free, total, -np.inf)
            gain[members] = -np.inf
            members = np.append(members, gain.argmax())
            total = _towards(members, z)
        score = _score(members, total, _towards(members, met))
        found.append((score - _limit(size, len(is_free), pairs), Group(members, score)))
    return max(found, key=lambda each: each[0])


def _joined(group: Group, z: sp.csr_array, met: sp.csr_array, is_free: Mask) -> Group:
    """A group with all raters whose errors clearly go with those of its members."""
    number = np.maximum(_towards(group.raters, met), 1)
    joins = is_free & (_towards(group.raters, z) / np.sqrt(number) > JOINS)
    joins[group.raters] = True
    members = np.flatnonzero(joins)
    score = _score(members, _towards(members, z), _towards(members, met))
    return Group(members, max(group.z, score))


def _towards(members: Codes, of: sp.csr_array) -> Array:
    """Sums (R,) over the pairs of each rater with the members."""
    return np.asarray(of[members].sum(axis=0), dtype=float)


def _score(members: Codes, total: Array, number: Array) -> float:
    """How clear a group is, given the z of all raters with its members, and how many they met."""
    return float(total[members].sum() / 2 / np.sqrt(max(number[members].sum() / 2, 1)))


def _limit(size: int, n_raters: int, pairs: int) -> float:
    """The z that one of all groups of a size exceeds by chance in few crowds."""
    chance = FALSE_ALARMS / pairs if size == 2 else OF_LARGER / comb(n_raters, size)
    return float(-ndtri(chance))
