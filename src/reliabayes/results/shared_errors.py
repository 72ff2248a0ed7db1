"""Raters on whom most labels rest, and whether they make the same errors.

Models of true categories take raters as independent. Where a few raters rate nearly all items, and
others a part, errors that the few share pass for the truth: the ratings of the others are too few
to outvote them. But they show it, where they have rated the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import xarray as xr

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.partitions import AnyRatings, example_of
from reliabayes.ratings import Ratings
from reliabayes.ratings.one_vote import one_vote_each
from reliabayes.wording import rater_names

NEARLY_ALL = 0.9  # proportion of the items that leading raters have rated at least
A_PART = 0.5  # proportion that others rate on average at most, where no pool says who they are
CLEARLY = 2.05  # z from which on they agree too much, by chance in 2% of fits
MOST_ITEMS = 2_000  # that are compared, which is enough for any excess that matters
REPLICATES = 200  # of which the standard error of z is 5%
STEPS = 20  # of EM, after which accuracies change by less than 0.001
PRIOR_RATINGS = 2.0  # by each rater and true category, at the errors of the fit


@dataclass(frozen=True, eq=False)
class LeadingRaters:
    """Two raters or more who have rated nearly all items, and outvote the others on most.

    Attributes
    ----------
    members : array of bool, shape (R,)
        Who they are.
    name : str
        ``the raters of llm`` if they are a pool, else the raters' ids.
    n_items : int
        Number of items.
    n_alone : int
        How many of these have ratings by no one else.
    """

    members: Mask
    name: str
    n_items: int
    n_alone: int


@dataclass(frozen=True)
class SharedErrors:
    """How often leading raters agree, given what other raters say of the same items.

    Attributes
    ----------
    leading : LeadingRaters
        Who is compared.
    n_items : int
        Number of items that others have rated, too.
    agreement : float
        Proportion of pairs of their ratings of these items that are equal; nan without such pairs.
    expected : float
        The same if they erred independently.
    sd : float
        Standard deviation of the proportion, if they did.
    """

    leading: LeadingRaters
    n_items: int = 0
    agreement: float = np.nan
    expected: float = np.nan
    sd: float = np.nan

    @property
    def are_clear(self) -> bool:
        """Whether they agree more than raters who err independently."""
        return self.agreement - self.expected > CLEARLY * self.sd

    @property
    def caution(self) -> str:
        """What this means for labels and accuracies, in sentences."""
        name = self.leading.name
        if self.are_clear:
            return (
                f"On {self.n_items:,} items that others rated, too, {self.agreement:.0%} of pairs "
                f"of ratings by {name} are equal; if they erred independently, "
                f"{self.expected:.0%} would be. The errors that they share pass for the truth: "
                "labels, and the accuracies of all raters, are less certain than stated."
            )
        checked = "no other ratings show whether they do"
        if self.n_items:
            checked = f"the ratings of {self.n_items:,} items by others do not show that they do"
        return (
            f"{self.leading.n_alone:,} of {self.leading.n_items:,} items were rated only by "
            f"{name}, who outvote the others on most items. If they share errors, labels and "
            f"accuracies are less certain than stated; {checked}."
        )


def leading_raters(ratings: AnyRatings) -> LeadingRaters | None:
    """Raters on whom most labels rest, if there are others to compare them with.

    They are a pool whose raters have rated nearly all items beside raters who have not; or, where
    no pool is like that, raters who have rated nearly all items beside others who have rated half
    of them at most, on average.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The data; those in parts are judged by the first part.

    Returns
    -------
    LeadingRaters or None
    """
    found = one_vote_each(example_of(ratings))
    if found.anonymous_raters:
        return None
    covered = np.bincount(found.rater, minlength=found.n_raters) / found.n_items
    of_pool = np.zeros(found.n_raters) if found.rater_pool is None else found.rater_pool
    for pool, name in enumerate(found.pools):
        members = np.asarray(of_pool == pool)
        others = covered[~members]
        if len(others) > 1 and covered[members].min() >= NEARLY_ALL > others.mean():
            return _of_members(members, found, f"the raters of {name}")
    members = covered >= NEARLY_ALL
    if not members.all() and covered[~members].mean() <= A_PART:
        return _of_members(members, found)
    return None


def _of_members(members: Mask, ratings: Ratings, name: str = "") -> LeadingRaters | None:
    """Leading raters, if these are two or more and outvote the others on most items."""
    votes = np.bincount(ratings.item, members[ratings.rater], ratings.n_items)
    others = ratings.ratings_per_item - votes
    if members.sum() < 2 or np.mean(votes > others) < 0.5:
        return None
    name = name or rater_names(ratings.raters[members])
    return LeadingRaters(members, name, ratings.n_items, int((others == 0).sum()))


def errors_of_leading_raters(
    reports: Collection[str], ratings: AnyRatings, quantities: Callable[[], xr.Dataset]
) -> SharedErrors | None:
    """Whether raters on whom most labels rest make the same errors; None if labels rest on all.

    Parameters
    ----------
    reports : collection of str
        Quantities of the model; without confusion matrices there is nothing to compare.
    ratings : Ratings or RatingsDataset
        The data.
    quantities : callable
        Returns prevalence and confusion, as for `shared_errors`; called only where that is needed.

    Returns
    -------
    SharedErrors or None
    """
    leading = leading_raters(ratings) if "confusion" in reports else None
    return None if leading is None else shared_errors(leading, quantities(), ratings)


def shared_errors(
    leading: LeadingRaters, quantities: xr.Dataset, ratings: AnyRatings
) -> SharedErrors:
    """Compare the agreement of leading raters with what independent errors would give.

    The true category of an item has the probabilities that follow from the ratings of the others
    alone. The errors of the leading raters are estimated again against these, because those of the
    fit treat what they agree on as true; their ratings are then simulated.

    Parameters
    ----------
    leading : LeadingRaters
        Who is compared.
    quantities : Dataset
        Prevalence and confusion: draws, or a point estimate.
    ratings : Ratings or RatingsDataset
        The data of the fit; of those in parts the first part is compared.

    Returns
    -------
    SharedErrors
    """
    ratings = one_vote_each(example_of(ratings))
    prevalence, confusion = _at_means(quantities, ratings)
    item, rater, category = ratings.item, ratings.rater, ratings.category
    is_other = ~leading.members[rater]
    compared = np.unique(item[is_other])
    compared = compared[:: -(-len(compared) // MOST_ITEMS)]
    place = np.full(ratings.n_items, -1)
    place[compared] = np.arange(len(compared))
    of_other = is_other & (place[item] >= 0)
    score = np.tile(np.log(prevalence), (len(compared), 1))
    log_confusion = np.log(confusion)
    np.add.at(score, place[item[of_other]], log_confusion[rater[of_other], :, category[of_other]])
    truth = np.exp(score - score.max(axis=1, keepdims=True))
    truth /= truth.sum(axis=1, keepdims=True)
    rows = ~is_other & (place[item] >= 0)
    at, who, given = place[item[rows]], rater[rows], category[rows]
    pairs = _equal_pairs(at, np.zeros_like(given), 1)
    if not pairs:
        return SharedErrors(leading)
    own = _errors(truth[at], who, given, confusion)
    simulated = np.array(
        [
            _equal_pairs(at, _drawn(truth, own, at, who, rng), len(prevalence))
            for rng in map(np.random.default_rng, range(REPLICATES))
        ]
    )
    return SharedErrors(
        leading,
        len(np.unique(at)),
        _equal_pairs(at, given, len(prevalence)) / pairs,
        float(simulated.mean() / pairs),
        float(simulated.std() / pairs),
    )


def _at_means(quantities: xr.Dataset, ratings: Ratings) -> tuple[Array, Array]:
    """Posterior means of prevalence (K,) and confusion (R, K, K), nowhere 0."""
    drawn = quantities[["prevalence", "confusion"]]
    means = drawn.mean([dim for dim in ("chain", "draw") if dim in drawn.dims])
    confusion, n_categories = means["confusion"].values, len(ratings.categories)
    shape = (ratings.n_raters, n_categories, n_categories)
    smallest = np.finfo(float).tiny
    prevalence = means["prevalence"].values.reshape(-1)
    return np.maximum(prevalence, smallest), np.maximum(np.broadcast_to(confusion, shape), smallest)


def _errors(truth: Array, rater: Codes, category: Codes, confusion: Array) -> Array:
    """Confusion matrices (R, K, K) of raters given probabilities (n, K) of true categories."""
    found = confusion
    for _ in range(STEPS):
        weight = truth * found[rater, :, category]
        weight /= weight.sum(axis=1, keepdims=True)
        count = PRIOR_RATINGS * confusion.swapaxes(1, 2)  # (R, category, true category)
        np.add.at(count, (rater, category), weight)
        found = (count / count.sum(axis=1, keepdims=True)).swapaxes(1, 2)
    return found


def _drawn(
    truth: Array, confusion: Array, item: Codes, rater: Codes, rng: np.random.Generator
) -> Codes:
    """Categories (n,) that raters give independently, given a true category of each item."""
    state = (rng.random((len(truth), 1)) > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    edges = confusion.cumsum(axis=2)[rater, state[item], :-1]
    return np.asarray((rng.random((len(item), 1)) > edges).sum(axis=1))


def _equal_pairs(item: Codes, category: Codes, n_categories: int) -> float:
    """Number of pairs of ratings of an item that are equal."""
    count = np.bincount(item * n_categories + category).astype(float)
    return float((count * (count - 1) / 2).sum())
