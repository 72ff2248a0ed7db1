"""Raters who err together are found without known answers, and their votes count as fewer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reliabayes.arrays import Array, Codes
from reliabayes.crowds.crowd import crowd_of
from reliabayes.crowds.dependence import Dependence, Together, dependence
from reliabayes.crowds.estimates import one_coin
from reliabayes.crowds.groups import groups
from reliabayes.crowds.votes import PairsOfVotes, Votes
from reliabayes.crowds.weights import weights
from tests.crowds.simulated import PROLIFIC, REPEATS, Kind, crowd


def complete(n_raters: int) -> Votes:
    """Votes by all raters on three items."""
    item, rater = (at.ravel() for at in np.indices((3, n_raters)))
    return Votes(item, rater, item % 2, (3, n_raters, 2))


def pairs_of(n_raters: int, correlation: Array) -> Dependence:
    raters = np.stack(np.triu_indices(n_raters, 1), axis=1)
    zero = np.zeros(len(raters))
    return Dependence(raters, zero.astype(int), zero, zero, correlation, zero, 0.0, 0.0)


def test_votes_of_equally_dependent_raters_count_as_in_the_spearman_brown_formula() -> None:
    found = pairs_of(4, np.full(6, 0.3))

    weight = weights(complete(4), found, found.correlation)

    assert weight == pytest.approx(1 / (1 + 3 * 0.3))


def test_two_dependent_raters_share_a_vote_and_an_independent_one_keeps_hers() -> None:
    found = pairs_of(3, np.array([0.6, 0, 0]))

    weight = weights(complete(3), found, found.correlation).reshape(3, 3)

    assert weight[0] == pytest.approx([1 / 1.6, 1 / 1.6, 1])


def test_correlation_is_that_of_errors_where_the_truth_is_known() -> None:
    votes, truth = crowd("shared criterion", 1)
    one = np.ones(len(votes.item))
    as_known = np.where(np.eye(2, dtype=bool)[truth[votes.item]], 0.0, -50.0)
    estimate = replace(one_coin(votes, one), log_vote=as_known)

    found = dependence(votes, PairsOfVotes.of(votes), estimate, one)

    errors = np.full(votes.shape[:2], np.nan)
    errors[votes.item, votes.rater] = votes.category != truth[votes.item]
    met = errors[~np.isnan(errors[:, :PROLIFIC]).any(axis=1), :PROLIFIC]
    assert found.raters[0].tolist() == [0, 1]
    assert found.raw[0] == pytest.approx(np.corrcoef(met.T)[0, 1], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("categories", [2, pytest.param(4, marks=pytest.mark.proof)])
def test_a_shared_criterion_is_found_and_more_items_are_right(categories: int) -> None:
    votes, truth = crowd("shared criterion", 3, categories)

    found = crowd_of(votes)

    assert found.groups
    assert found.groups[0].raters.tolist() == [0, 1]
    equal, weighted = (
        np.mean(each.probability.argmax(axis=1) == truth) for each in (found.equal, found.estimate)
    )
    assert weighted >= equal


@pytest.mark.parametrize("kind", ["independent", "own thresholds"])
def test_raters_who_err_independently_keep_their_votes(kind: Kind) -> None:
    votes, _ = crowd(kind, 3)

    found = crowd_of(votes)

    assert not found.groups
    assert (found.weight == 1).all()
    assert found.changed.size == 0


@pytest.mark.slow
def test_dependence_does_not_change_with_the_order_of_votes_and_the_names_of_categories() -> None:
    votes, _ = crowd("shared criterion", 2, 4)
    order = np.random.default_rng(1).permutation(len(votes.item))
    other = Votes(votes.item[order], votes.rater[order], 3 - votes.category[order], votes.shape)

    one, two = crowd_of(votes), crowd_of(other)

    assert two.found.z == pytest.approx(one.found.z, abs=1e-3)
    assert two.weight == pytest.approx(one.weight[order], abs=1e-3)


def test_two_raters_alone_are_no_pair_because_nobody_sees_the_truth_besides() -> None:
    item, rater = (at.ravel() for at in np.indices((30, 2)))
    votes = Votes(item, rater, item % 2, (30, 2, 2))

    found = crowd_of(votes)

    assert len(found.found.raters) == 0
    assert not found.groups


def groups_of(n_raters: int, z: Array, per_rater: Codes) -> list[list[int]]:
    """Groups of raters whose pairs have these z, whoever else is compared."""
    found = replace(pairs_of(n_raters, np.zeros(len(z))), z=z)

    def compare(members: tuple[int, ...]) -> Together:
        is_member = np.isin(found.raters, members)
        some = is_member.any(axis=1)
        items, raw = np.ones(some.sum(), dtype=int), np.zeros(some.sum())
        return Together(found.raters[some], is_member[some], items, raw, z[some], True)

    return [group.raters.tolist() for group in groups(found, per_rater, compare)]


def test_a_group_is_found_whose_pairs_are_unclear_one_by_one() -> None:
    are_together = (np.stack(np.triu_indices(20, 1), axis=1) < 4).all(axis=1)
    equal = np.full(20, 30)

    # A pair must exceed 3.7; four raters 5.1, which is 2.1 for each of their pairs.
    assert groups_of(20, np.where(are_together, 3.0, 0.0), equal) == [[0, 1, 2, 3]]
    assert groups_of(20, np.where(are_together, 1.5, 0.0), equal) == []


def test_raters_who_cast_most_votes_are_held_against_the_lowest_limit() -> None:
    z = np.where(np.arange(10) == 0, 2.3, 0.0)  # of raters 0 and 1

    # Of the squared products of votes they have 625 in 778: chance exceeds 2.1 in 2% of crowds.
    assert groups_of(5, z, np.array([500, 500, 100, 100, 100])) == [[0, 1]]
    assert groups_of(5, z, np.array([100, 100, 500, 500, 500])) == []


@pytest.mark.slow
def test_raters_who_copy_are_found_though_two_of_them_confirm_what_the_others_say() -> None:
    votes, truth = crowd("copies", 9)

    found = crowd_of(votes)

    assert [group.raters.tolist() for group in found.groups] == [[0, 1, 2, 3]]
    equal, weighted = (
        np.mean(each.probability.argmax(axis=1) == truth) for each in (found.equal, found.estimate)
    )
    assert weighted > equal + 0.05


@pytest.mark.slow
def test_two_groups_are_named_apart() -> None:
    votes, _ = crowd("two groups of copies", 3)

    found = crowd_of(votes)

    assert sorted(group.raters.tolist() for group in found.groups) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.proof
@pytest.mark.parametrize("categories", [2, 4])
@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("independent", 0, 1),
        ("own thresholds", 0, 1),
        ("shared criterion", 50, 50),
        ("copies", 45, 50),
        ("two groups of copies", 45, 50),
    ],
)
def test_how_many_crowds_are_flagged(kind: Kind, least: int, most: int, categories: int) -> None:
    flagged = sum(
        crowd_of(crowd(kind, seed, categories)[0]).groups != () for seed in range(REPEATS)
    )

    assert least <= flagged <= most
