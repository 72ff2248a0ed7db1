"""Models that are not named on the command line: those that suit the ratings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer

import reliabayes as rb
from reliabayes.cli.output import print_message

if TYPE_CHECKING:
    from reliabayes.models import RatingModel
    from reliabayes.partitions import AnyRatings

Models = list["RatingModel[Any]"]


def recommended_model(ratings: AnyRatings, option: str) -> RatingModel[Any]:
    """Return the recommended model, and say why and what else there is.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.
    option : str
        The option that was not given.

    Returns
    -------
    RatingModel
        With the design of the ratings, if they have facets.
    """
    found = rb.recommend(ratings)
    _say(option, [found.model], found)
    return found.model


def recommended_models(ratings: rb.Ratings, option: str) -> Models:
    """Return the recommended model and the alternatives that can be compared with it, and say so.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    option : str
        The option that was not given.

    Returns
    -------
    list of RatingModel
        Two or more.

    Raises
    ------
    typer.BadParameter
        There is no such alternative.
    """
    from reliabayes.recommendation import takes
    from reliabayes.results.comparison import refuses_comparison

    found = rb.recommend(ratings)
    chosen = [found.model]
    for model, _ in found.alternatives:
        pair = {"recommended": found.model, "other": model}  # names may be the same
        if not refuses_comparison(pair) and takes(model, ratings):
            chosen.append(model)
    if len(chosen) < 2:
        raise typer.BadParameter(
            f"{found.model.name()} suits these ratings, and no alternative to it that takes them "
            f"as they are read can be compared with it. Name two or more models with {option}."
        )
    _say(option, chosen, found)
    return chosen


def _say(option: str, chosen: Models, found: rb.Recommendation) -> None:
    """Say which models are used and why; the guess of the scale was said when it was read."""
    names = ", ".join(model.name() for model in chosen)
    others = ", ".join(
        f"{model.name()} ({when})" for model, when in found.alternatives if model not in chosen
    )
    text = f"{option} is not given; recommended and used: {names} ({found.reason})."
    text += f" Alternatives: {others}." if others else ""
    print_message(re.sub(r' \(scale="(\w+)"\)', r"; --scale \1", text))
