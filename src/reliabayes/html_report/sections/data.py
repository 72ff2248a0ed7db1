"""Section on the ratings: their design, and classical coefficients of agreement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from reliabayes import plots
from reliabayes.errors import RatingsError
from reliabayes.html_report.blocks import Block, Facts, Heading, Section, Text
from reliabayes.html_report.fits import recorded_warnings
from reliabayes.html_report.pictures import picture
from reliabayes.html_report.tables import table
from reliabayes.partitions import RatingsDataset, example_of
from reliabayes.ratings.likely_scale import likely_scale

if TYPE_CHECKING:
    from reliabayes.partitions import AnyRatings

NO_PICTURES = (
    "Pictures of who rated what and of the agreement of pairs of raters need all ratings in memory "
    "and are left out."
)


def data(ratings: AnyRatings, source: Mapping[str, str], prob: float) -> Section:
    """Size and design of the ratings, and classical coefficients.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings of the report.
    source : mapping of str to str
        More facts about the data, by name.
    prob : float
        Probability of the intervals.

    Returns
    -------
    Section
    """
    blocks: list[Block] = [Facts([*source.items(), *facts(ratings)])]
    if isinstance(ratings, RatingsDataset):
        blocks.append(Text(NO_PICTURES))
    elif not ratings.anonymous_raters:
        if ratings.is_complete:
            blocks.append(Text("Every rater rated every item."))
        else:
            blocks.append(picture(partial(plots.design, ratings)))
        blocks += _picture_or_reason(partial(plots.agreement, ratings))
    finding, found = coefficients(ratings, prob)
    said = [Text(f"{finding}.")] if finding else []
    blocks += [Heading("Classical agreement", "agreement"), *said, *found]
    return Section("data", "Data and design", blocks)


def coefficients(
    ratings: AnyRatings, prob: float, guideline: str | None = None
) -> tuple[str, list[Block]]:
    """Coefficients that suit the ratings, with the words of a guideline, and warnings.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.
    prob : float
        Probability of the intervals.
    guideline : str, optional
        Whose words to use; by default one that suits the scale.

    Returns
    -------
    finding : str
        What the table says, in a sentence; empty if there is none.
    blocks : list of blocks
        The table and warnings, or why there is none.
    """
    if guideline is None:
        is_numeric = likely_scale(example_of(ratings)).scale == "numeric"
        guideline = "koo_li" if is_numeric else "landis_koch"
    with recorded_warnings() as messages:
        try:
            found = ratings.agreement(prob=prob, guideline=guideline)
        except RatingsError as error:
            return "", [Text(str(error))]
    note = (
        f"{100 * prob:g}% intervals. The column over says what is a sample of more, method how the "
        f"interval was computed. {found.attrs['caution']}"
    )
    caption = "Coefficients that suit the scale and the design"
    said = [*map(Text, filter(None, [found.attrs["pairs"], *dict.fromkeys(messages)]))]
    return found.attrs["finding"], [table("agreement-0", caption, found, note=note), *said]


def facts(ratings: AnyRatings) -> Iterator[tuple[str, str]]:
    """Size and design; minimum, median and maximum of a number in one line.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.

    Yields
    ------
    pair of str
        Name and value of each fact.
    """
    known = ratings.describe().to_dict()
    known["scale"] = known.pop("scale guessed", known["scale"])
    for name, value in known.items():
        fact, _, end = str(name).partition(" (")
        if not end:
            yield fact, f"{value:,.4g}" if isinstance(value, float) else _fact_text(value)
        elif end == "min)":
            least, middle, most = (known[f"{fact} ({each})"] for each in ("min", "median", "max"))
            yield (
                fact,
                f"{least:,} to {most:,}, median {middle:,g}" if least < most else f"{most:,}",
            )


def _fact_text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _picture_or_reason(draw: Callable[[], Any]) -> list[Block]:
    """A picture, or the reason why there is none."""
    try:
        return [picture(draw)]
    except ValueError as error:
        return [Text(str(error))]
