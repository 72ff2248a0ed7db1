"""What models make of a rater's repeated ratings of an item."""

from __future__ import annotations

import numpy as np

from reliabayes.facets.suited_design import suited_design
from reliabayes.partitions import AnyRatings, RatingsDataset, example_of
from reliabayes.ratings import Ratings
from reliabayes.ratings.facet_design import has_one
from reliabayes.results.model import Cautions, HasPanel, Model
from reliabayes.wording import joined

WEIGHTY = 0.1  # proportion of repeated ratings from which on they change results


def cautions(model: Model, ratings: AnyRatings) -> str:
    """What to say beside the results of a model, in sentences; empty if there is nothing to say.

    Parameters
    ----------
    model : Model
        Any model.
    ratings : Ratings or RatingsDataset
        The data of the fit.
    """
    return " ".join(filter(None, (ignored_facets(model, ratings), own_caution(model, ratings))))


def own_caution(model: Model, ratings: AnyRatings) -> str:
    """What the model says beside its results; of ratings in parts, what it says of the first part.

    Parameters
    ----------
    model : Model
        Any model.
    ratings : Ratings or RatingsDataset
        The data of the fit.
    """
    return model.caution(example_of(ratings)) if isinstance(model, Cautions) else ""


def ignored_facets(model: Model, ratings: AnyRatings) -> str:
    """That a model takes repeated ratings of an item by a rater as independent, or nothing.

    Models of true categories say so of any repeats, if these are many; others of those that differ
    in facets.

    Parameters
    ----------
    model : Model
        Any model.
    ratings : Ratings or RatingsDataset
        The data of the fit.
    """
    if isinstance(model, HasPanel):
        return ""
    if model.has_true_categories:
        return _repeated_votes(model, ratings)
    if isinstance(ratings, RatingsDataset) or model.has_facets:
        return ""
    if not ratings.facets or ratings.n_pairs == ratings.n_cells:
        return ""
    pair = ratings.pair.astype(np.int32)
    names = [name for name, codes in ratings.facet.items() if not has_one(pair, codes)]
    return (
        f"{type(model).__name__} takes ratings of an item by the same rater as independent, though "
        f"they are repeated under several levels of {joined(names)}: its intervals are too narrow "
        f"if raters repeat themselves. {_remedy(ratings)} does not."
    )


def _repeated_votes(model: Model, ratings: AnyRatings) -> str:
    repeats = 0 if ratings.anonymous_raters else len(ratings) - ratings.n_pairs
    if repeats < max(1, WEIGHTY * len(ratings)):
        return ""
    name = type(model).__name__
    return (
        f"{repeats:,} of {len(ratings):,} ratings repeat a rater's rating of an item, and {name} "
        "counts them as independent: labels are less certain than stated if raters repeat their "
        f'errors. With {name}(repeats="one_vote") a rater has one vote on an item.'
    )


def _remedy(ratings: Ratings) -> str:
    """The model that does not, for numbers, two categories or grades."""
    study = f"GStudy with the design {suited_design(ratings)}"
    if ratings.scale == "numeric":
        return study
    family = "logit" if len(ratings.categories) == 2 else "ordinal"
    return f'{study} and family="{family}"'
