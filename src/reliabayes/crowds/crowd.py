"""What votes say of true categories once raters who err together count as fewer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.crowds.dependence import Dependence, dependence
from reliabayes.crowds.estimates import Estimate, hierarchy, one_coin
from reliabayes.crowds.groups import Group, groups
from reliabayes.crowds.votes import PairsOfVotes, Votes
from reliabayes.crowds.weights import weights

MOST_MEAN = 0.9  # correlation beyond which others are compared with it
SUSPECT = 2.0  # z of pairs whose votes count less at the second look
MOST_OF_VOTES = 0.5  # by those who err together, of all: beyond, votes cannot say who is right
CLEAR = 3.0  # z from which on a pair's correlation is not shrunk to the mean


@dataclass(frozen=True, eq=False)
class Crowd:
    """True categories by weighted votes.

    Attributes
    ----------
    votes : Votes
        The votes.
    found : Dependence
        That of the errors of pairs of raters, by the hierarchy.
    groups : tuple of Group
        Raters who err together.
    left : Dependence
        What the weights leave.
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
    left: Dependence
    equal: Estimate
    estimate: Estimate
    weight: Array

    @property
    def changed(self) -> Codes:
        """Positions of the items whose most probable category the weights change."""
        one, two = (each.probability.argmax(axis=1) for each in (self.equal, self.estimate))
        return np.flatnonzero(one != two)


def crowd_of(votes: Votes) -> Crowd:
    """Compare all pairs of raters, and weight the votes if some err together.

    A hierarchy finds them, because it allows for thresholds of raters' own. Where nobody stands
    out, the others are compared again with less weight on suspect pairs: of four raters who copy,
    the two that are left out are else confirmed by the other two. Weights come from raters with
    one accuracy each, because a hierarchy takes errors that a few share for the truth. Dependence
    of all raters alike changes no weight, nor that of raters who cast most of the votes.

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
    found = dependence(votes, pairs, equal, one)
    together = groups(found, votes.shape[1])
    if not together and found.z.max(initial=0) >= SUSPECT:
        less = weights(votes, found, found.of_clear_pairs(SUSPECT), 0.0)
        again = dependence(votes, pairs, hierarchy(votes, less), less)
        together = groups(again, votes.shape[1])
        found = again if together else found
    members = [rater for group in together for rater in group.raters]
    if not together or votes.per_rater[members].sum() > MOST_OF_VOTES * len(votes.item):
        return Crowd(votes, found, together, found, equal, equal, one)
    of_errors = dependence(votes, pairs, one_coin(votes, one), one)
    mean = float(np.clip(of_errors.mean, 0, MOST_MEAN))
    beyond = (of_errors.correlation - mean) / (1 - mean)
    weight = weights(votes, of_errors, np.maximum(beyond, of_errors.of_clear_pairs(CLEAR)), 0.0)
    estimate = hierarchy(votes, weight)
    left = dependence(votes, pairs, estimate, weight)
    return Crowd(votes, found, together, left, equal, estimate, weight)
