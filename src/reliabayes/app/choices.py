"""Models that answer the question of each tab, the recommended one first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from reliabayes.app.faults import with_controls
from reliabayes.models import TAP, RatingModel
from reliabayes.ratings import Ratings
from reliabayes.ratings.likely_scale import likely_scale
from reliabayes.recommendation import recommend, takes, with_usual_options

Question: TypeAlias = Literal["reliability", "truth", "pools"]
MOST_CATEGORIES = 50  # of which one may be true

NONE: dict[Question, str] = {
    "reliability": "These ratings are in unordered categories, of which reliability has no model: "
    "see the tabs Agreement and Who is right. If the categories are grades, choose “Kind of "
    "ratings: grades” on the first tab.",
    "truth": "These ratings have no true category that could be found: they are numbers with many "
    "values. If they are categories, choose “Kind of ratings: categories” on the first tab.",
    "pools": "This tab compares pools of raters, such as experts and crowd workers. Choose the "
    "column “Pool” on the first tab; the table must have two or more pools.",
}
NO_XCC = (
    "For unordered categories the agreement of pools has no model. The tab Agreement has their "
    "kappa_x, and the tab Who is right the accuracy of each pool."
)


@dataclass(frozen=True)
class ModelChoice:
    """A model, and when to choose it.

    Attributes
    ----------
    model : RatingModel
        The model.
    reason : str
        Why it suits, or when.
    is_recommended : bool, default False
        Whether it is the one to begin with.
    """

    model: RatingModel[Any]
    reason: str
    is_recommended: bool = False

    @property
    def name(self) -> str:
        """Name of the model."""
        return type(self.model).__name__

    @property
    def sentence(self) -> str:
        """What the model is, and why or when to choose it."""
        why = f"Recommended: {self.reason}" if self.is_recommended else _capital(self.reason)
        return with_controls(f"{why}. {self.name}: {self.model.summary}.")


def model_choices(ratings: Ratings, question: Question) -> tuple[ModelChoice, ...]:
    """Models of ratings that answer a question.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    question : {"reliability", "truth", "pools"}
        How reliable ratings are, what is true of each item, or how pools agree.

    Returns
    -------
    tuple of ModelChoice
        The recommended one first; none if no model suits, and `why_none` says why.
    """
    found: dict[str, ModelChoice] = {}
    for choice in _candidates(ratings, question):
        name = type(choice.model).__name__
        if name not in found and _answers(choice.model, question) and takes(choice.model, ratings):
            found[name] = choice
    first, *others = found.values() if found else (None,)
    return () if first is None else (replace(first, is_recommended=True), *others)


def why_none(ratings: Ratings, question: Question) -> str:
    """Why no model answers a question.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    question : {"reliability", "truth", "pools"}
        The question.

    Returns
    -------
    str
    """
    return NO_XCC if question == "pools" and len(ratings.pools) > 1 else NONE[question]


def _candidates(ratings: Ratings, question: Question) -> Iterator[ModelChoice]:
    """What is recommended for the ratings, and if they are read as the question suggests."""
    yield from _recommended(ratings)
    if question == "reliability" and len(ratings.pools) > 1:
        yield from _recommended(_again(ratings, pool=None))
    is_number = likely_scale(ratings).scale == "numeric"
    if question == "truth" and not is_number and len(ratings.categories) <= MOST_CATEGORIES:
        yield from _recommended(_again(ratings, scale="nominal"))
        yield ModelChoice(with_usual_options(TAP(), ratings), TAP.summary)


def _recommended(ratings: Ratings) -> Iterator[ModelChoice]:
    found = recommend(ratings)
    yield ModelChoice(found.model, "; ".join(filter(None, (found.guess, found.reason))))
    for model, when in found.alternatives:
        yield ModelChoice(model, when)


def _again(ratings: Ratings, **changed: Any) -> Ratings:
    """The same ratings, read in another way."""
    frame = ratings.to_frame()
    given = {
        "pool": "pool" if "pool" in frame else None,
        "gold": "gold" if "gold" in frame else None,
        "facets": list(ratings.facets) or None,
        "scale": None if ratings.scale_is_guess else ratings.scale,
        "replicates": "keep",
    }
    if "rater" not in frame:
        return ratings
    return Ratings.from_frame(frame, **given | changed)


def _answers(model: RatingModel[Any], question: Question) -> bool:
    return QUESTIONS[question](model)


QUESTIONS: dict[Question, Callable[[RatingModel[Any]], bool]] = {
    "truth": lambda model: model.has_true_categories,
    "pools": lambda model: "normalized_xcc" in model.reports,
    "reliability": lambda model: (
        not model.has_true_categories and "normalized_xcc" not in model.reports
    ),
}


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
