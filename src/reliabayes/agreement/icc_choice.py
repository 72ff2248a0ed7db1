"""Choice of an intraclass correlation."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from reliabayes.agreement.icc_names import IccName


class IccChoice(NamedTuple):
    """A recommended ICC.

    Attributes
    ----------
    name : str
        Name, as `icc` takes it.
    reason : str
        Why this ICC suits the study.
    """

    name: IccName
    reason: str


def which_icc(
    *,
    same_raters: bool,
    raters_are_a_sample: bool,
    absolute_agreement: bool,
    mean_of_k: bool,
) -> IccChoice:
    """Choose the intraclass correlation that suits a study, with the reason in words.

    Parameters
    ----------
    same_raters : bool
        Whether the same raters rate all items, or identified raters rate many items each, so that
        a rater's severity can be separated from the merit of the items.
    raters_are_a_sample : bool
        Whether other raters will rate in future; False if the raters of the study are the only
        ones of interest.
    absolute_agreement : bool
        Whether differences in severity between raters count as disagreement; False if only the
        order and the distances of items matter.
    mean_of_k : bool
        Whether means of as many ratings as in the study will be used; False for single ratings.

    Returns
    -------
    IccChoice
        Name and reason.

    Raises
    ------
    ValueError
        Consistency is asked for, but severity cannot be separated from merit.

    References
    ----------
    Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420; McGraw & Wong (1996),
    https://doi.org/10.1037/1082-989X.1.1.30

    Examples
    --------
    >>> choice = which_icc(
    ...     same_raters=True, raters_are_a_sample=True, absolute_agreement=True, mean_of_k=False
    ... )
    >>> choice.name
    'ICC(2,1)'
    >>> print(choice.reason)
    The same raters rate all items, so severity can be separated from merit. Differences in severity
    count as disagreement, and other raters will rate in future: two-way random effects, absolute
    agreement. Single ratings will be used.
    """
    if not (same_raters or absolute_agreement):
        raise ValueError(
            "absolute_agreement must be True if each item has its own raters; found False with "
            "same_raters=False. Let raters overlap, so that severity can be separated from merit."
        )
    used = "Means of k ratings" if mean_of_k else "Single ratings"
    names: tuple[IccName, IccName]
    if not same_raters:
        names, why = ("ICC(1,1)", "ICC(1,k)"), ONE_WAY
    elif absolute_agreement:
        names, why = ("ICC(2,1)", "ICC(2,k)"), AGREEMENT[raters_are_a_sample]
    else:
        names, why = ("ICC(3,1)", "ICC(3,k)"), CONSISTENCY[raters_are_a_sample]
    return IccChoice(names[mean_of_k], textwrap.fill(f"{why} {used} will be used.", 96))


ONE_WAY = (
    "Each item has its own raters, so severity cannot be separated from merit and counts as "
    "disagreement along with all other differences: one-way random effects."
)
SAME_RATERS = "The same raters rate all items, so severity can be separated from merit. "
AGREEMENT = {
    True: SAME_RATERS
    + "Differences in severity count as disagreement, and other raters will rate in future: "
    "two-way random effects, absolute agreement.",
    False: SAME_RATERS
    + "Differences in severity count as disagreement, and these raters are the only ones of "
    "interest: two-way mixed effects, absolute agreement, whose value equals that of random "
    "effects.",
}
CONSISTENCY = {
    True: SAME_RATERS
    + "Differences in severity do not count, and other raters will rate in future: two-way random "
    "effects, consistency, whose value equals that of mixed effects.",
    False: SAME_RATERS
    + "Differences in severity do not count, and these raters are the only ones of interest: "
    "two-way mixed effects, consistency.",
}
