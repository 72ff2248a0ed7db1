"""Which model suits ratings, and why."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from reliabayes import models
from reliabayes.choices import Family
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets.suited_design import SuitedDesign, suited_design
from reliabayes.models import Beta, RatingModel
from reliabayes.partitions import AnyRatings, RatingsDataset, example_of, in_memory
from reliabayes.ratings import Ratings
from reliabayes.ratings.likely_scale import likely_scale, whole_numbers
from reliabayes.results.leading_raters import leading_raters
from reliabayes.results.model import as_counted
from reliabayes.results.stated import can_be_stated

PER_CELL = 20  # ratings of a rater for each probability of an error, which then is well known
MANY_RATERS = 8  # from which on they tell how raters differ
# From which on models of grades take a minute or more: of pools, facets or replicates; of others.
MANY_RATINGS, MANY_OF_ONE_POOL = 5_000, 50_000
MANY_CATEGORIES = 5  # from which on models of each error predict known answers worse than MACE
REPEATED = 0.1  # proportion of replicates from which on they tell how raters agree with themselves
# Of the probability that an item misleads, which was 0.01 to 0.22 in five sets with known answers:
# where nothing can be stated honestly.
MISLEADING = Beta(0.5, 9.5)
GRADES = 'if the numbers are grades (scale="ordered")'
GRADES_OF_TEXTS = 'if the categories have an order (scale="ordered")'


@dataclass(frozen=True, repr=False)
class Recommendation:
    """The model that suits ratings.

    Attributes
    ----------
    model : RatingModel
        With its default settings, but that models of true categories have ``stated="honest"``.
    reason : str
        Why, in one sentence.
    alternatives : tuple of (RatingModel, str)
        Other models that take the ratings, and when to prefer each.
    guess : str
        What the scale was guessed from, such as ``0 and 1 are probably categories``; empty if it
        was given.
    """

    model: RatingModel[Any]
    reason: str
    alternatives: tuple[tuple[RatingModel[Any], str], ...] = ()
    guess: str = ""

    def __repr__(self) -> str:
        return f"Recommendation({self._sentence()})"

    def __str__(self) -> str:
        others = (f"\n  {type(model).__name__}: {when}" for model, when in self.alternatives)
        return self._sentence() + "".join(others)

    def _sentence(self) -> str:
        reasons = "; ".join(filter(None, (self.guess, self.reason)))
        return f"{type(self.model).__name__}: {reasons}"


def recommend(ratings: AnyRatings) -> Recommendation:
    """The model to begin with, by the scale of the ratings, facets, pools, and numbers of raters.

    If the scale was guessed, two whole numbers are taken as categories, and so are a few that have
    known answers among them, or where disagreement ignores distances; up to seven others are taken
    as grades, unless they are more than 50,000, or 5,000 by pools or with facets.

    Numbers and ordered categories have a model of reliability: how much of the differences between
    ratings is due to the items. With facets, or with many replicates, they have one of the variance
    by source, in the design in which they were collected. Unordered categories have a model of the
    true categories: how accurate the raters are, and which category each item has. Among these,
    raters with few ratings learn from the others, and labels and raters are calibrated on other
    crowds with known answers (``stated="honest"``), because raters err together more than any of
    these models allows. That takes ratings in memory, by three or more known raters of an item on
    average; otherwise items may mislead their raters, with a probability of 5% by the
    prior (``prior_misleading=rb.Beta(0.5, 9.5)``), until known answers say more. Several ratings of
    an item by one rater count as one vote (``repeats="one_vote"``), because a rater who errs is
    likely to err again.

    Of ratings in parts, what the numbers mean is judged by the first part; and the recommended
    model is the first alternative that takes them, if the one that suits best needs all in memory.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The data.

    Returns
    -------
    Recommendation

    Raises
    ------
    TypeError
        ``ratings`` are neither.
    RatingsError
        They are in parts, and no model that takes these suits them.

    Examples
    --------
    >>> import reliabayes as rb
    >>> frame = rb.datasets.load("shrout_fleiss_1979")
    >>> print(rb.recommend(rb.Ratings.from_frame(frame, scale="ordered")))
    OrdinalICC: ratings in 10 ordered categories
      GaussianICC: if the distances between the categories mean something (scale="numeric")
    """
    if not isinstance(ratings, (Ratings, RatingsDataset)):
        raise TypeError(f"ratings must be Ratings, not {type(ratings).__name__}.")
    found = _by_scale(ratings)
    if isinstance(ratings, RatingsDataset):
        found = _of_parts(found, ratings)
    model = with_usual_options(found.model, ratings)
    others = ((with_usual_options(model, ratings), when) for model, when in found.alternatives)
    reason = found.reason
    if model.repeats == "one_vote":
        reason += "; several ratings of an item by one rater count as one vote"
    if model.has_true_categories and (leading := leading_raters(ratings)) is not None:
        reason += (
            f"; {leading.name} outvote the others on most items, and errors that they share would "
            "pass for the truth"
        )
        if len(ratings.pools) > 1:
            reason += ": rb.agreement.kappa_x compares the pools without assuming a truth"
    return replace(found, model=model, reason=reason, alternatives=(*others,))


def with_usual_options(model: RatingModel[Any], ratings: AnyRatings) -> RatingModel[Any]:
    """A model as it is recommended.

    Parameters
    ----------
    model : RatingModel
        With its default settings.
    ratings : Ratings or RatingsDataset
        The ratings that the model is chosen for.

    Returns
    -------
    RatingModel
        As of `stated_well`; of models of categories one in which a rater has one vote on an item,
        if the ratings have repeats.
    """
    counts_repeats = "repeats" in _options(model)
    votes = {"repeats": "one_vote"} if counts_repeats and ratings.has_repeats else {}
    return replace(stated_well(model, ratings), **votes)


def stated_well(model: RatingModel[Any], ratings: AnyRatings) -> RatingModel[Any]:
    """A model as it is used on the command line, where a user names it.

    Parameters
    ----------
    model : RatingModel
        With its default settings.
    ratings : Ratings or RatingsDataset
        The ratings that it is for.

    Returns
    -------
    RatingModel
        Of models of true categories one of which labels and raters are stated honestly; one in
        which items may mislead, where that is not possible (raters are unknown, fewer than three,
        in parts or without accuracies) or has not been tried on known answers (fewer than three
        raters of an item). Of others the same.
    """
    if "stated" not in _options(model):
        return model
    misled: dict[str, Any] = {"prior_misleading": MISLEADING}
    return replace(model, **({"stated": "honest"} if can_be_stated(model, ratings) else misled))


def _options(model: RatingModel[Any]) -> set[str]:
    return {field.name for field in fields(model)}


def takes(model: RatingModel[Any], ratings: Ratings) -> bool:
    """Whether a model can be fitted to ratings.

    Parameters
    ----------
    model : RatingModel
        The model.
    ratings : Ratings
        The ratings.

    Returns
    -------
    bool
    """
    try:
        model.problem(in_memory(as_counted(model, ratings), "recommend"))
    except RatingsError:
        return False
    return True


def _of_parts(found: Recommendation, dataset: RatingsDataset) -> Recommendation:
    """A recommendation with those of its models that take ratings in parts."""

    def is_possible(model: RatingModel[Any] | type[RatingModel[Any]]) -> bool:
        return model.takes_parts and (dataset.scale == "numeric" or not model.continuous)

    possible = (*(pair for pair in found.alternatives if is_possible(pair[0])),)
    if is_possible(found.model):
        return replace(found, alternatives=possible)
    name = type(found.model).__name__
    if not possible:
        others = [kind.__name__ for kind in models.MODELS if is_possible(kind)]
        raise RatingsError(
            [
                Fault(
                    "model",
                    "a model that takes ratings in parts must suit them",
                    f"that {name} does ({found.reason}), which needs all of them in memory",
                    f"Fit it to some of them; or name {', '.join(others)}; GaussianICC and "
                    'GaussianXCC take parts that were written with scale="numeric".',
                )
            ]
        )
    (model, when), *left = possible
    reason = f"{when}; {name}, the first choice ({found.reason}), needs all ratings in memory"
    return replace(found, model=model, reason=reason, alternatives=(*left,))


def _by_scale(ratings: AnyRatings) -> Recommendation:
    """The model and its alternatives, all with their default settings."""
    scale, guess = likely_scale(example_of(ratings))
    if scale == "numeric":
        return _of_numbers(ratings)
    if scale == "ordered":
        return replace(_of_grades(ratings) if guess else _of_ordered(ratings), guess=guess)
    found = _of_unordered(ratings)
    alternatives = found.alternatives
    has_pools = found.model.has_true_categories and len(ratings.pools) > 1
    if has_pools and leading_raters(ratings) is not None:  # what assumes no common truth is first
        grades = (models.OrdinalXCC(), f"to compare the pools, {GRADES_OF_TEXTS}")
        alternatives = (_else(ratings) if guess else grades, *alternatives)
    elif guess:
        alternatives = (*alternatives, _else(ratings))
    return replace(found, guess=guess, alternatives=alternatives)


def _of_grades(ratings: AnyRatings) -> Recommendation:
    """For numbers that are probably grades; many are taken as numbers, which takes less time."""
    design = _design(ratings)
    is_crossed = len(ratings.pools) <= 1 and design is None
    if len(ratings) <= (MANY_OF_ONE_POOL if is_crossed else MANY_RATINGS):
        return _of_ordered(ratings)
    grades = f"{len(ratings):,} grades{_by_pools(ratings)}"
    reason = f"{grades} are taken as numbers, because models of grades take minutes"
    if design is not None:
        reason += f"; their design is {design}"
    return replace(_of_numbers(ratings), reason=reason)


def _else(ratings: AnyRatings) -> tuple[RatingModel[Any], str]:
    """What numbers that are probably categories may be otherwise."""
    pools = len(ratings.pools) > 1
    if whole_numbers(example_of(ratings)) == 2:
        return _of_numbers(ratings).model, 'if the numbers are amounts (scale="numeric")'
    return models.OrdinalXCC() if pools else models.OrdinalICC(), GRADES


def _of_numbers(ratings: AnyRatings) -> Recommendation:
    pools = len(ratings.pools) > 1
    if (design := _design(ratings)) is not None:
        reason = f"the ratings are numbers, and their design is {design}"
        others = [
            _ignoring_facets(ratings, models.GaussianXCC() if pools else models.GaussianICC())
        ]
        if whole_numbers(example_of(ratings)):
            others.append((_study(design, "ordinal"), GRADES))
        return Recommendation(_study(design), reason, (*others,))
    alternatives: list[tuple[RatingModel[Any], str]] = []
    if whole_numbers(example_of(ratings)):
        alternatives.append((models.OrdinalXCC() if pools else models.OrdinalICC(), GRADES))
    if pools:
        alternatives.append((models.GaussianICC(), "if the pools are to count as one"))
        model: RatingModel[Any] = models.GaussianXCC()
    else:
        model = models.GaussianICC()
    return Recommendation(model, f"the ratings are numbers{_by_pools(ratings)}", (*alternatives,))


def _design(ratings: AnyRatings) -> SuitedDesign | None:
    """The design of ratings with facets, or of one pool with many replicates."""
    repeats = len(ratings) - ratings.n_pairs
    if not ratings.facets and (repeats < REPEATED * len(ratings) or len(ratings.pools) > 1):
        return None
    design = suited_design(example_of(ratings))
    has_more = design is not None and (repeats or design.text != "item x rater")
    return design if has_more else None


def _study(design: SuitedDesign, family: Family = "gaussian") -> models.GStudy:
    return models.GStudy(design=design.text, drop=design.drop, family=family)


def _ignoring_facets(ratings: AnyRatings, model: RatingModel[Any]) -> tuple[RatingModel[Any], str]:
    """A model without facets, and when to prefer it."""
    pools = "pools are to be compared, and " * (len(ratings.pools) > 1)
    counted = "as independent" if model.continuous else "as one vote"
    return model, f"if {pools}ratings of an item by a rater are to count {counted}"


def _of_ordered(ratings: AnyRatings) -> Recommendation:
    pools, number = len(ratings.pools) > 1, len(ratings.categories)
    kind = f"ratings in {'two' if number == 2 else number} ordered categories"
    if number == 2:
        model: RatingModel[Any] = models.LogitXCC() if pools else models.LogitICC()
        other: tuple[RatingModel[Any], str] = (
            models.DawidSkene(),
            "to ask which of the two is true of each item",
        )
    else:
        model = models.OrdinalXCC() if pools else models.OrdinalICC()
        amounts = 'if the distances between the categories mean something (scale="numeric")'
        other = (_of_numbers(ratings).model, amounts)
    if (design := _design(ratings)) is not None:
        return Recommendation(
            _study(design, "logit" if number == 2 else "ordinal"),
            f"{kind}, and their design is {design}",
            (_ignoring_facets(ratings, model), other),
        )
    return Recommendation(model, f"{kind}{_by_pools(ratings)}", (other,))


def _of_unordered(ratings: AnyRatings) -> Recommendation:
    number, raters = len(ratings.categories), ratings.n_raters
    harder = (models.LatentTAP(), "if items differ in difficulty: less overconfident, but slower")
    design = _design(ratings) if number == 2 else None
    reliability = models.LogitICC() if design is None else _study(design, "logit")
    logit: tuple[RatingModel[Any], str] = (reliability, "to ask how reliable the ratings are")
    if number == 2 and len(ratings.pools) > 1:
        one_truth = (models.DawidSkene(), "if one answer is true for all pools")
        alternatives: tuple[tuple[RatingModel[Any], str], ...] = (one_truth,)
        if (leading := leading_raters(ratings)) is not None:
            as_one = (models.LogitICC(), "if the pools are to count as one")
            independent = f"{one_truth[1]}, and {leading.name} err independently"
            alternatives = as_one, (one_truth[0], independent)
        return Recommendation(
            models.LogitXCC(),
            "ratings in two categories by pools, which may see different things",
            alternatives,
        )
    if raters <= 2 or ratings.anonymous_raters:
        which = "it is not known who rated" if ratings.anonymous_raters else "there are two raters"
        return Recommendation(
            models.TAP(),
            f"{which}, so that only their average accuracy can be told",
            (logit,) if number == 2 and not ratings.anonymous_raters else (),
        )
    typical = float(np.median(ratings.ratings_per_rater))
    others = (logit, harder) if number == 2 else (harder,)
    if raters < MANY_RATERS:
        return Recommendation(
            models.DawidSkene(), f"{raters} raters, whose errors may differ", others
        )
    if typical >= PER_CELL * number * (number - 1):
        reason = f"{raters} raters with {typical:,.0f} ratings each, enough for the errors of each"
        pooled = (models.HierarchicalDawidSkene(), "if raters are a sample of many")
        return Recommendation(models.DawidSkene(), reason, (pooled, *others))
    reason = f"{raters} raters with {typical:,.0f} ratings each"
    if number < MANY_CATEGORIES:
        return Recommendation(
            models.HierarchicalDawidSkene(),
            f"{reason}, so that each learns from the others",
            (
                (models.DawidSkene(), "if each rater is to count by itself; faster"),
                (models.MACE(), "if many raters guess, or always give the same answer"),
                *others,
            ),
        )
    return Recommendation(
        models.MACE(),
        f"{reason} in {number} categories, too few for the errors of each",
        ((models.DawidSkene(), "to see which categories are confused"), *others),
    )


def _by_pools(ratings: AnyRatings) -> str:
    return f" by raters in {len(ratings.pools)} pools" if len(ratings.pools) > 1 else ""
