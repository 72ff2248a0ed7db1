"""The table of the six intraclass correlations, with tests and intervals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd

from reliabayes.agreement.count_table import require_once_per_rater
from reliabayes.agreement.icc_analysis import Analysis
from reliabayes.agreement.icc_names import NAMES, UNDEFINED, Averaged, IccName
from reliabayes.agreement.intraclass import icc_meaning
from reliabayes.agreement.spearman_brown import step_up
from reliabayes.finding_table import FindingTable
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Clause, MethodsSentence, Size
from reliabayes.reporting.numbers import estimate, number, p_value

SINGLE_AND_AVERAGED = tuple(zip(NAMES[:3], NAMES[3:], strict=True))


def icc_table(
    ratings: Ratings, *, prob: float = 0.95, k: Averaged = "ratings", null: float = 0.0
) -> pd.DataFrame:
    r"""The six intraclass correlations of Shrout & Fleiss, each with its test and interval.

    Parameters
    ----------
    ratings : Ratings
        Numeric, of any design.
    prob : float, default 0.95
        Nominal coverage of the intervals, strictly between 0 and 1.
    k : {"ratings", "columns"}, default "ratings"
        As for `icc`.
    null : float, default 0
        Value that F tests: of the ICC of single ratings in the rows of these, and of that of means
        in theirs; at least 0 and below 1.

    Returns
    -------
    DataFrame
        Index icc, columns value, F, df1, df2, p, lower_95, upper_95 (for ``prob=0.95``). F compares
        the variance between items with that within items (ICC(1, .)) or with residuals, where items
        are adjusted for their raters; p is the probability of a larger F if the ICC is ``null``,
        which is exact for normal ratings in any design, but for ICC(2, .) above 0: there F has
        Satterthwaite's degrees of freedom at ``null``, and exists in complete designs only. Where
        `icc` uses the published formulas, so do the intervals; otherwise they are likelihood-ratio
        intervals of the restricted likelihood. With anonymous raters there are only ICC(1,1) and
        ICC(1,k).

    Raises
    ------
    RatingsError
        As for `icc`, or a rater rated an item more than once.
    ValueError
        ``prob`` or ``null`` is out of range.

    References
    ----------
    Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420; McGraw & Wong (1996),
    tables 7 and 8, https://doi.org/10.1037/1082-989X.1.1.30. Test in incomplete designs: Wald
    (1941), https://doi.org/10.1214/aoms/1177731747.

    Examples
    --------
    >>> from reliabayes import Ratings, datasets
    >>> ratings = Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    >>> icc_table(ratings).loc["ICC(2,1)"].round(2).to_list()
    [0.29, 11.03, 5.0, 15.0, 0.0, 0.02, 0.76]
    >>> icc_table(ratings, null=0.2).loc["ICC(2,1)", ["F", "df2", "p"]].round(2).to_list()
    [1.54, 5.3, 0.32]
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    if not 0 <= null < 1:
        raise ValueError(f"null must be at least 0 and below 1, not {null}.")
    require_once_per_rater(ratings, "icc_table")
    rows: dict[IccName, list[float]] = {}
    has_severity = not ratings.anonymous_raters and len(ratings) > ratings.n_raters
    if not (has_severity or ratings.anonymous_raters):
        warnings.warn(
            "ICC(2, .) and ICC(3, .) are left out: with one rating by each rater, severity cannot "
            "be told from residuals.",
            stacklevel=2,
        )
    for single, averaged in SINGLE_AND_AVERAGED[: 3 if has_severity else 1]:
        model = Analysis.of(ratings, single, k)
        mean = float(step_up(model.value, model.k))
        limits = model.interval(prob)
        rows[single] = [model.value, *model.test(null), *limits]
        of_single = float(step_up(null, 1 / model.k))
        rows[averaged] = [mean, *model.test(of_single), *model.averaged(limits)]
    if any(np.isnan(value) for value, *_ in rows.values()):
        warnings.warn(f"At least one ICC is undefined: {UNDEFINED}.", stacklevel=2)
    if null and has_severity and np.isnan(rows["ICC(2,1)"][1]):
        warnings.warn(
            "ICC(2, .) has no F test against a value above 0 in an incomplete design. See whether "
            "its interval contains the value.",
            stacklevel=2,
        )
    level = f"{100 * prob:g}"
    columns = ["value", "F", "df1", "df2", "p", f"lower_{level}", f"upper_{level}"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    table = table.rename_axis("icc").loc[[name for name in NAMES if name in rows]]
    said = _said(rows, level, null, Size.of(ratings))
    return FindingTable.of(table, f"{said.statement}.", said)


def _said(
    rows: Mapping[IccName, list[float]], level: str, null: float, size: Size
) -> MethodsSentence:
    """What a paper says of ICC(2,1), or of ICC(1,1) if there is no other."""
    name: IccName = "ICC(2,1)" if "ICC(2,1)" in rows else "ICC(1,1)"
    value, f, df1, df2, p, lower, upper = rows[name]
    meaning = icc_meaning(name)
    if np.isnan(value):
        return MethodsSentence(Clause(f"{name} was undefined, because {UNDEFINED}"), size)
    found = estimate(value, lower, upper, f"{level}% CI", bounded=True)
    if not np.isnan(p):
        found += f", F({df1:.4g}, {df2:.4g}) = {number(f)}, {p_value(p)}"
    clauses = (
        Clause(f"{name} is {meaning.estimand}", meaning.references),
        Clause(
            f"F tests the hypothesis that it is {null:g}, and the interval is from the same model "
            "of normal effects",
            ("mcgraw1996",),
        ),
    )
    statement = Clause(f"{meaning.subject} was {name} = {found}")
    return MethodsSentence(statement, size, clauses, meaning.kind)
