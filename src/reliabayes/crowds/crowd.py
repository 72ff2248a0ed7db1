"""What votes say of true categories once raters who err together count as fewer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.crowds.dependence import Dependence, Together, dependence, together
from reliabayes.crowds.estimates import Estimate, hierarchy, one_coin
from reliabayes.crowds.groups import Group, groups
from reliabayes.crowds.votes import PairsOfVotes, Votes
from reliabayes.crowds.weights import weights

MOST_MEAN = 0.9  # correlation beyond which others are compared with it
MOST_OF_VOTES = 0.5  # by those who err together, of all: beyond, votes cannot say who is right
MOST_LOOKS = 3  # at who errs together, given weights by the look before
CLEAR = 3.0  # z from which on a pair's correlation is not shrunk to the mean


@dataclass(frozen=True, eq=False)
class Crowd:
    """True categories by weighted votes.

    Attributes
    ----------
    votes : Votes
        The votes.
    found : Dependence
        That of the errors of pairs of raters, by weighted votes of others in the hierarchy.
    groups : tuple of Group
        Raters who err together.
    equal : Estimate
        The hierarchy with equal votes.
    estimate : Estimate
        The hierarchy with weighted votes; the same one if nobody errs together, or most do.
    weight : array of shape (N,)
        How many independent votes each counts as in the estimate.
    """

    votes: Votes
    found: Dependence
    groups: tuple[Group, ...]
    equal: Estimate
    estimate: Estimate
    weight: Array

    @property
    def outvoting(self) -> Group | None:
        """Those who err together and cast most of the votes, so that these cannot say who is right.

        Their votes are not weighted.
        """
        return _outvoting(self.votes, self.groups)

    @property
    def changed(self) -> Codes:
        """Positions of the items whose most probable category the weights change."""
        one, two = (each.probability.argmax(axis=1) for each in (self.equal, self.estimate))
        return np.flatnonzero(one != two)


def crowd_of(votes: Votes) -> Crowd:
    """Compare all pairs of raters, and weight the votes if some err together.

    A hierarchy tells whether some do, because it allows for thresholds of raters' own; but it takes
    errors that a few share for the truth, and those who do not share them for the group. So votes
    are weighted first by the correlations of raters with one accuracy each, and the hierarchy names
    who errs together given these weights. Dependence of all raters alike changes no weight, nor
    does that of raters who cast most of the votes.

    Parameters
    ----------
    votes : Votes
        The votes.

    Returns
    -------
    Crowd
    """
    one, pairs = np.ones(len(votes.item)), PairsOfVotes.of(votes)
    equal = hierarchy(votes, one)
    found, err_together = _grouped(votes, pairs, equal, one)
    if not err_together or _outvoting(votes, err_together) is not None:
        return Crowd(votes, found, err_together, equal, equal, one)
    of_errors = dependence(votes, pairs, one_coin(votes, one), one)
    mean = float(np.clip(of_errors.mean, 0, MOST_MEAN))
    beyond = (of_errors.correlation - mean) / (1 - mean)
    by_pair = np.maximum(beyond, of_errors.of_clear_pairs(CLEAR))
    correlation, before = by_pair, None
    for _ in range(MOST_LOOKS):
        weight = weights(votes, of_errors, correlation)
        estimate = hierarchy(votes, weight)
        again, err_together = _grouped(votes, pairs, estimate, weight)
        if not err_together:  # with better labels nobody does
            return Crowd(votes, found, (), equal, equal, one)
        names = [group.raters.tolist() for group in err_together]
        if names == before:
            break
        before, correlation = names, by_pair.copy()
        for group in err_together:
            inside = np.isin(pairs.raters, group.raters).all(axis=1)
            correlation[inside] = np.maximum(correlation[inside], group.correlation)
    return Crowd(votes, again, err_together, equal, estimate, weight)


def _outvoting(votes: Votes, err_together: tuple[Group, ...]) -> Group | None:
    most = MOST_OF_VOTES * len(votes.item)
    found = (each for each in err_together if votes.per_rater[each.raters].sum() > most)
    return next(found, None)


def _grouped(
    votes: Votes, pairs: PairsOfVotes, estimate: Estimate, weight: Array
) -> tuple[Dependence, tuple[Group, ...]]:
    """All pairs of raters, and groups of them who err together, by weighted votes of others."""
    found = dependence(votes, pairs, estimate, weight)

    @cache  # groups grow from several of their pairs
    def compared(members: tuple[int, ...]) -> Together:
        return together(np.array(members), votes, pairs, estimate, weight, found)

    return found, groups(found, votes.per_rater, compared)
