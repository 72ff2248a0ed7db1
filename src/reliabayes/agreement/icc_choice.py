"""Which intraclass correlation to take."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from reliabayes.agreement.intraclass import IccName


class IccChoice(NamedTuple):
    """An ICC, and why it is the one to take."""

    name: IccName
    reason: str


def which_icc(
    *,
    same_raters: bool,
    raters_are_a_sample: bool,
    absolute_agreement: bool,
    mean_of_k: bool,
) -> IccChoice:
    """Which of the six intraclass correlations suits a study, and the reason in words.

    Parameters
    ----------
    same_raters : bool
        Whether the same raters rate all items, or raters are known and rate many items each, so
        that a rater's severity can be told from an item's merit.
    raters_are_a_sample : bool
        Whether others will rate in future; False if the raters of the study are all there are.
    absolute_agreement : bool
        Whether it counts against raters that one is stricter than another; False if only the order
        and the distances of items matter.
    mean_of_k : bool
        Whether means of k ratings will be used, as many as in the study; False for single ratings.

    Returns
    -------
    IccChoice
        Name, as `icc` takes it, and reason.

    Raises
    ------
    ValueError
        Consistency is asked for, but severity cannot be told from merit.

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
    The same raters rate the items, so severity can be told from merit; differences in severity
    count against agreement, and others will rate in future: two-way random effects, absolute
    agreement. Single ratings will be used.
    """
    if not (same_raters or absolute_agreement):
        raise ValueError(
            "absolute_agreement must be True if items have other raters each: found False with "
            "same_raters=False. Severity cannot be told from merit then; let raters overlap."
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
    "Items have other raters each, so severity cannot be told from merit, and counts against "
    "agreement with all other differences: one-way random effects."
)
TOLD_APART = "The same raters rate the items, so severity can be told from merit; "
AGREEMENT = {
    True: TOLD_APART
    + "differences in severity count against agreement, and others will rate in future: two-way "
    "random effects, absolute agreement.",
    False: TOLD_APART
    + "differences in severity count against agreement, though these raters are all there are: "
    "two-way mixed effects, absolute agreement, whose number is that of random effects.",
}
CONSISTENCY = {
    True: TOLD_APART
    + "differences in severity do not count, though others will rate in future: two-way random "
    "effects, consistency, whose number is that of mixed effects.",
    False: TOLD_APART
    + "differences in severity do not count, and these raters are all there are: two-way mixed "
    "effects, consistency.",
}
