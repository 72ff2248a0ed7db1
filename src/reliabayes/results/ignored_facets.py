"""What a model without facets makes of ratings that have them."""

from __future__ import annotations

import numpy as np

from reliabayes.facets.suited_design import suited_design
from reliabayes.partitions import AnyRatings, RatingsDataset, example_of
from reliabayes.ratings import Ratings
from reliabayes.ratings.facet_design import has_one
from reliabayes.results.model import Model
from reliabayes.wording import joined


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
    return model.caution(example_of(ratings))


def ignored_facets(model: Model, ratings: AnyRatings) -> str:
    """That a model takes ratings as independent that differ in facets only; empty if none do.

    Parameters
    ----------
    model : Model
        Any model.
    ratings : Ratings or RatingsDataset
        The data of the fit.
    """
    if isinstance(ratings, RatingsDataset) or model.has_facets:
        return ""
    if not ratings.facets or ratings.n_pairs == ratings.n_cells:
        return ""
    pair = np.unique(
        ratings.item.astype(np.int64) * ratings.n_raters + ratings.rater, return_inverse=True
    )[1].astype(np.int32)
    names = [name for name, codes in ratings.facet.items() if not has_one(pair, codes)]
    return (
        f"{type(model).__name__} takes ratings of an item by the same rater as independent, though "
        f"they are repeated under several levels of {joined(names)}: its intervals are too narrow "
        f"if raters repeat themselves. {_remedy(ratings)} does not."
    )


def _remedy(ratings: Ratings) -> str:
    """The model that does not, for numbers, two categories or grades."""
    study = f"GStudy with the design {suited_design(ratings)}"
    if ratings.scale == "numeric":
        return study
    if len(ratings.categories) == 2:
        return f'{study} and family="logit"'
    grades = "" if ratings.scale == "ordered" else 'For grades (scale="ordered"), '
    return f'{grades}{study} and family="ordinal"'
