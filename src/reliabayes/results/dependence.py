"""Raters who err together, in words and tables; and labels stated with that in mind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.crowds.crowd import Crowd, crowd_of
from reliabayes.crowds.groups import Group
from reliabayes.crowds.statement import OF_CROWDS, Constants, Statement
from reliabayes.crowds.votes import Votes
from reliabayes.partitions import AnyRatings, example_of
from reliabayes.partitions.some_items import some_items
from reliabayes.ratings import Ratings
from reliabayes.ratings.one_vote import one_vote_each
from reliabayes.results.label_table import label_table
from reliabayes.results.leading_raters import leading_raters
from reliabayes.results.model import HasPanel, Model
from reliabayes.wording import rater_names, sentence_start

ENOUGH = 50_000  # votes in which dependence is looked for without being asked
LEAST_RATERS = 3  # two and one who sees what they have in common


def crowd_of_ratings(ratings: AnyRatings, most: int | None = None) -> Crowd | None:
    """The votes of ratings in categories, and whose errors are dependent.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Ratings. Several by a rater on an item are one vote.
    most : int, optional
        Number of ratings beyond which some of the items are compared, as of
        `reliabayes.partitions.some_items.some_items`.

    Returns
    -------
    Crowd or None
        None without three known raters.
    """
    return crowd_of(votes_of(some_items(ratings, most))) if _are_votes(ratings) else None


def has_crowd(model: Model, ratings: AnyRatings) -> bool:
    """Whether a model has raters with accuracies, and ratings tell whose errors are dependent.

    Parameters
    ----------
    model : Model
        Of a fit. One of a panel says itself how raters err.
    ratings : Ratings or RatingsDataset
        What it is fitted to.

    Returns
    -------
    bool
    """
    has_accuracy = "accuracy" in model.reports and model.has_true_categories
    return has_accuracy and not isinstance(model, HasPanel) and _are_votes(ratings)


def crowd_of_model(model: Model, ratings: AnyRatings) -> Crowd | None:
    """The crowd of a fit, or of a part of many ratings; None as by `has_crowd`."""
    return crowd_of_ratings(ratings, ENOUGH) if has_crowd(model, ratings) else None


def common_errors(crowd: Crowd | None, ratings: AnyRatings) -> str:
    """Who errs together; else on whom most labels rest. In sentences; empty if nobody.

    Parameters
    ----------
    crowd : Crowd or None
        Of the ratings, if the model has raters with accuracies.
    ratings : Ratings or RatingsDataset
        The ratings.

    Returns
    -------
    str
    """
    if crowd is None:
        return ""
    if crowd.groups:
        return in_words(crowd, example_of(ratings).raters)
    leading = leading_raters(ratings)
    return "" if leading is None else leading.caution


def votes_of(ratings: Ratings) -> Votes:
    """Ratings in categories as votes."""
    ratings = one_vote_each(ratings)
    shape = ratings.n_items, ratings.n_raters, len(ratings.categories)
    return Votes(ratings.item, ratings.rater, ratings.category, shape)


def _are_votes(ratings: AnyRatings) -> bool:
    """Whether three known raters or more gave categories, two or more."""
    if ratings.anonymous_raters or ratings.n_raters < LEAST_RATERS:
        return False
    return ratings.categories is not None and len(ratings.categories) >= 2


def table_of_groups(crowd: Crowd, raters: pd.Index[Any]) -> pd.DataFrame:
    """A row for each group of raters who err together, as `Fit.dependence` describes it."""
    rows = [
        {
            "raters": ", ".join(map(str, raters[group.raters])),
            "n_raters": len(group.raters),
            "items": group.items,
            "correlation": group.correlation,
            "z": group.z,
            "effective_votes": group.effective_votes,
        }
        for group in crowd.groups
    ]
    columns = ["raters", "n_raters", "items", "correlation", "z", "effective_votes"]
    return pd.DataFrame(rows, columns=columns).rename_axis("group")


def in_words(crowd: Crowd, raters: pd.Index[Any]) -> str:
    """Who errs together, and what that means for labels, in sentences; empty if nobody does."""
    if not crowd.groups:
        return ""
    said = [_group_in_words(group, raters) for group in crowd.groups]
    if crowd.outvoting is not None:
        said.append(
            "They cast most of the votes, so that votes cannot say who is right: labels and "
            "accuracies are less certain than stated until some items have known answers (gold)."
        )
    else:
        said.append(
            "The model takes their errors as independent. With their votes weighted accordingly "
            f'(fit.items(stated="honest")), {len(crowd.changed):,} of {crowd.votes.shape[0]:,} '
            "items have another label."
        )
    return " ".join(said)


def statement_of(crowd: Crowd, known: Codes | None, constants: Constants = OF_CROWDS) -> Statement:
    """What to state of the items of a crowd, given true categories where they are known."""
    found = Statement.of(crowd, constants)
    return found if known is None else found.given(known)


def stated_table(statement: Statement, ratings: Ratings) -> pd.DataFrame:
    """Stated probabilities (I, K), by the user's ids; 1 where the category is known."""
    values, known = statement.probabilities(), ratings.gold_category
    if known is not None:
        rows = np.flatnonzero(known >= 0)
        values[rows] = np.eye(values.shape[1])[known[rows]]
    return pd.DataFrame(values, ratings.items, ratings.categories).rename_axis(index="item")


def next_items(
    statement: Statement, ratings: Ratings, number: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Items whose true category to find out next, as `Fit.next_items` describes it."""
    table = label_table(stated_table(statement, ratings))
    known = ratings.gold_category
    open_items = np.arange(len(table)) if known is None else np.flatnonzero(known < 0)
    number = min(number, len(open_items))
    by_chance = rng.choice(open_items, (number + 1) // 2, replace=False)
    others = np.setdiff1d(open_items, by_chance)
    doubtful = others[np.argsort(table["probability"].to_numpy()[others], kind="stable")]
    chosen = np.concatenate([by_chance, doubtful[: number - len(by_chance)]])
    found = table.iloc[chosen][["category", "probability"]]
    found.insert(
        0, "chosen", ["at random"] * len(by_chance) + ["doubtful"] * (number - len(by_chance))
    )
    found.attrs["note"] = gain_in_words(statement, number)
    return found


def gain_in_words(statement: Statement, number: int) -> str:
    """What so many more known answers are expected to bring, in a sentence."""
    then = statement.with_answers(number)
    one, other = (f"{each.log_score:.2f}" for each in (statement, then))
    falls = f"stay at {one}" if one == other else f"fall from {one} to {other}"
    return (
        f"With the true category of {number} more items, the stated probabilities of the others "
        f"are expected to lie {then.calibration_error:.3f} from the right ones instead of "
        f"{statement.calibration_error:.3f}, and their log score to {falls} nats."
    )


def _group_in_words(group: Group, raters: pd.Index[Any]) -> str:
    names = sentence_start(rater_names(raters[group.raters]))
    return (
        f"{names} make the same errors: on {group.items:,} items that two of them and others "
        f"rated, their errors correlate {group.correlation:.2f}, so that "
        f"{len(group.raters)} votes of theirs count as {group.effective_votes:.1f}."
    )
