"""Answers of people and judges, reduced to what the likelihood needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Trust
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.category_checks import check_categories
from reliabayes.families.judges.roles import Roles
from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.ratings import Ratings
from reliabayes.wording import listed

MOST_FREE = 4  # categories up to which each error has a probability of its own
ALL = "all"  # name of the one group of items that have none


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """What judges say of items, each thing that some of them say stored once.

    Attributes
    ----------
    family : array of int, shape (J,)
        Family of each judge.
    own_of, slip_of : array of int, shape (J,)
        Position of a judge's lasting readings of its own, and of its slips; -1 where it has none,
        because it is alone in its family, or has one run on each item.
    runs : sparse array of shape (S, K)
        Runs of each reading by category. A reading is what a judge may say of an item; readings are
        ordered by judge.
    judge : array of int, shape (S,)
        Judge of each reading.
    entries : sparse array of shape (E, S)
        Readings of each entry: what all judges of a family say of an item.
    matrix_of : array of int, shape (E,)
        Misreading matrix of each entry: family by family, within these group by group.
    """

    family: Codes
    own_of: Codes
    slip_of: Codes
    runs: sp.csr_array
    judge: Codes
    entries: sp.csr_array
    matrix_of: Codes

    def stan_data(self) -> StanData:
        """Data for the Stan program; positions that may be missing count from 1 there, too."""
        first = np.searchsorted(self.judge, np.arange(len(self.family) + 1))
        return StanData(
            sizes={
                "J": len(self.family),
                "A": int((self.own_of >= 0).sum()),
                "B": int((self.slip_of >= 0).sum()),
                "S": self.runs.shape[0],
                "E": self.entries.shape[0],
                "N": self.entries.nnz,
            },
            positions={
                "family": self.family,
                "own_of": self.own_of,
                "slip_of": self.slip_of,
                "first_of_judge": first,
                "matrix_of": self.matrix_of,
                "first_reading": self.entries.indptr,
                "reading": self.entries.indices,
            },
            values={"runs": self.runs.toarray().T},
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class PanelProblem(Problem):
    """Answers of people and of families of judges, on items of some groups.

    Attributes
    ----------
    mixture : ItemMixture
        Distinct items. Cells are, person by person, people's ratings by category, and then entries
        of families. Kinds are the groups, and then by group the known true categories.
    answers : JudgeAnswers
        What judges say.
    group : array of int, shape (I,)
        Group of each item.
    roles : Roles
        Who is a person.
    by_group : bool
        Whether misreadings differ between groups.
    pooled : tuple of bool
        Whether prevalences of groups, errors of people, and misreadings in groups are pooled.
    is_ordered : bool
        Whether errors fall off with distance.
    trusts_person : bool
        Whether the ratings of the one person are true.
    n_dropped : int
        Repeated ratings of an item by one person, of which one vote counts.
    """

    mixture: ItemMixture
    answers: JudgeAnswers
    group: Codes
    roles: Roles
    by_group: bool
    pooled: tuple[bool, bool, bool]
    is_ordered: bool
    trusts_person: bool
    n_dropped: int

    @property
    def n_categories(self) -> int:
        """Number K of categories."""
        return self.size("category")

    @property
    def is_free(self) -> bool:
        """Whether each error has a probability of its own."""
        return self.n_categories <= MOST_FREE

    @property
    def n_levels(self) -> int:
        """Number L of levels of a matrix of errors."""
        return self.size("level")

    @property
    def n_matrices(self) -> int:
        """Number M of groups between which misreadings differ."""
        return self.size("read_group")

    @property
    def n_people(self) -> int:
        """Number P of people whose errors are estimated."""
        return self.size("person")

    @property
    def contrasts(self) -> Array:
        """Contrasts (K, K - 1) of log-probabilities; see `contrasts`."""
        return contrasts(self.n_categories)

    def stan_data(self) -> StanData:
        """Answers, sizes and priors."""
        k, groups = self.n_categories, self.size("group")
        has_known = bool((self.mixture.kind >= groups).any())
        sizes = {
            "K": k,
            "W": groups * (1 + k * has_known),
            "G": groups,
            "P": self.n_people,
            "F": self.size("family"),
            "L": self.n_levels,
            "M": self.n_matrices,
            "Y": self.size("population"),
            "is_ordered": int(self.is_ordered),
        }
        values = {"pooled": np.array(self.pooled, int), "contrasts": self.contrasts}
        return (
            self.prior_data
            | self.mixture.stan_data()
            | self.answers.stan_data()
            | StanData(sizes, {}, values)
        )


def contrasts(n_categories: int) -> Array:
    """Contrasts (K, K - 1) that turn independent numbers into log-probabilities, up to a constant.

    The difference between any two of these has the variance of one number; of two categories the
    number is the log odds of the second.
    """
    found = np.zeros((n_categories, n_categories - 1))
    for k in range(1, n_categories):
        found[:k, k - 1], found[k, k - 1] = -1, k
        found[:, k - 1] /= np.sqrt(2 * k * (k + 1))
    return found


def panel_problem(
    ratings: Ratings,
    *,
    roles: Roles,
    group: Codes,
    groups: pd.Index[Any],
    priors: Mapping[str, Array],
    pools_groups: bool,
    by_group: bool,
    trust: Trust,
) -> PanelProblem:
    """Reduce ratings to distinct items, and what judges say to distinct readings and entries.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    roles : Roles
        Who is a person, and the families of judges.
    group : array of int, shape (I,)
        Group of each item.
    groups : Index, shape (G,)
        Names of the groups.
    priors : mapping of str to array
        Numbers of the priors.
    pools_groups, by_group : bool
        Whether prevalences of groups are partially pooled, and whether misreadings differ between
        them.
    trust : {"none", "person"}
        Whether the ratings of the one person are true.

    Raises
    ------
    RatingsError
        The ratings do not suit the model.
    """
    ratings.require_known_raters("JudgePanel")
    check_categories(ratings)
    k, n_groups, n_families = len(ratings.categories), len(groups), len(roles.families)
    n_matrices = n_groups if by_group else 1
    is_by_person = roles.is_person[ratings.rater]
    people, judges = np.flatnonzero(roles.is_person), np.flatnonzero(~roles.is_person)
    item, person, vote, n_dropped = _votes(ratings, is_by_person)
    known = np.full(ratings.n_items, -1) if ratings.gold_category is None else ratings.gold_category
    if trust == "person":
        known = _trusted(ratings, people, item, vote, known)
        item, person, vote, people = item[:0], person[:0], vote[:0], people[:0]
    answers, entry_item, entry = _judge_answers(
        ratings, ~is_by_person, judges, roles.family[judges], group if by_group else 0 * group
    )
    n_cells = len(people) * k
    position = np.searchsorted(people, person)
    cell = np.concatenate([position * k + vote, n_cells + entry]).astype(np.int32)
    kind = np.where(known < 0, group, n_groups + group * k + known).astype(np.int32)
    of_items = np.concatenate([item, entry_item])
    mixture = ItemMixture.of(of_items, cell, n_cells + answers.entries.shape[0], kind)
    levels = k * (k - 1) if k <= MOST_FREE else k
    populations = [*roles.families, "people"][: n_families + bool(len(people))]
    coords: dict[str, pd.Index[Any]] = {
        "item": ratings.items,
        "rater": ratings.raters,
        "category": ratings.categories,
        "true_category": ratings.categories,
        "pool": ratings.pools,
        "group": groups,
        "person": ratings.raters[people],
        "judge": ratings.raters[judges],
        "family": roles.families,
        "contrast": pd.RangeIndex(k - 1),
        "level": pd.RangeIndex(levels),
        "read_group": groups if by_group else pd.Index([ALL]),
        "own_judge": ratings.raters[judges[answers.own_of >= 0]],
        "run_judge": ratings.raters[judges[answers.slip_of >= 0]],
        "population": pd.Index(populations if k > MOST_FREE else []),
        "all": pd.RangeIndex(1),
    }
    return PanelProblem(
        coords=coords,
        priors=priors,
        mixture=mixture,
        answers=answers,
        group=group,
        roles=roles,
        by_group=by_group,
        pooled=(
            pools_groups and n_groups > 1,
            len(people) > 1,
            n_matrices > 1 and n_families > 0,
        ),
        is_ordered=ratings.scale != "nominal" and k > MOST_FREE,
        trusts_person=trust == "person",
        n_dropped=n_dropped,
    )


def _votes(ratings: Ratings, rows: Any) -> tuple[Codes, Codes, Codes, int]:
    """Item, rater and category of one vote of each person on an item; how many repeats there are.

    A vote is the category that the person gave most often to the item, the first of several.
    """
    k = len(ratings.categories)
    pair = ratings.item[rows].astype(np.int64) * ratings.n_raters + ratings.rater[rows]
    pairs, of_pair = np.unique(pair, return_inverse=True)
    counts = np.bincount(of_pair * k + ratings.category[rows], minlength=len(pairs) * k)
    vote = counts.reshape(-1, k).argmax(axis=1)
    item, rater = np.divmod(pairs, ratings.n_raters)
    return item, rater, vote, len(pair) - len(pairs)


def _trusted(ratings: Ratings, people: Codes, item: Codes, vote: Codes, known: Codes) -> Codes:
    """True categories (I,), those known before first, that one person's ratings are."""
    if len(people) != 1:
        rule = "trust='person' needs exactly one person, whose ratings are then true"
        found = listed(list(ratings.raters[people])) if len(people) else "none"
        remedy = "Leave trust out, or name the ratings that are true as gold."
        raise RatingsError([Fault("trust", rule, found, remedy)])
    found_known = known.copy()
    found_known[item] = np.where(known[item] < 0, vote, known[item])
    return found_known


def _judge_answers(
    ratings: Ratings, rows: Any, judges: Codes, family: Codes, group: Codes
) -> tuple[JudgeAnswers, Codes, Codes]:
    """What judges say; and the item and the entry of all that a family says of an item."""
    k, n_judges = len(ratings.categories), len(judges)
    judge = np.searchsorted(judges, ratings.rater[rows])
    pair = ratings.item[rows].astype(np.int64) * max(n_judges, 1) + judge
    pairs, of_pair = np.unique(pair, return_inverse=True)
    pair_item, pair_judge = np.divmod(pairs, max(n_judges, 1))
    said = _distinct(of_pair, ratings.category[rows], k, pair_judge)
    n_readings = said.counts.shape[0]
    # What a family says of an item is all readings of its judges.
    n_families = int(family.max(initial=-1)) + 1
    couple = pair_item * max(n_families, 1) + family[pair_judge]
    couples, of_couple = np.unique(couple, return_inverse=True)
    entry_item, entry_family = np.divmod(couples, max(n_families, 1))
    n_groups = int(group.max(initial=0)) + 1
    matrix = entry_family * n_groups + group[entry_item]
    entries = _distinct(of_couple, said.distinct, n_readings, matrix)
    has_runs = np.zeros(n_judges, bool)
    np.logical_or.at(has_runs, said.kind, np.asarray(said.counts.sum(axis=1)) > 1)
    is_alone = np.bincount(family, minlength=n_families)[family] == 1
    answers = JudgeAnswers(
        family=family,
        own_of=_numbered(~is_alone),
        slip_of=_numbered(has_runs),
        runs=said.counts,
        judge=said.kind,
        entries=entries.counts,
        matrix_of=entries.kind,
    )
    return answers, entry_item, entries.distinct


def _distinct(row: Codes, column: Codes, n_columns: int, kind: Codes) -> ItemMixture:
    """Distinct rows of a table of counts and kinds, ordered by kind."""
    if not len(kind):
        none = np.zeros(0, np.int32)
        return ItemMixture(sp.csr_array((0, n_columns)), np.zeros(0), none, none)
    found = ItemMixture.of(row, column, n_columns, kind.astype(np.int32))
    order = np.argsort(found.kind, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ItemMixture(
        found.counts[order], found.multiplicity[order], found.kind[order], place[found.distinct]
    )


def _numbered(has: Any) -> Codes:
    """Position of each that has something among those that have it; -1 for the others."""
    return np.where(has, np.cumsum(has) - 1, -1).astype(np.int32)
