"""Intraclass correlations of any design, as formulas of sums over items."""

from __future__ import annotations

from functools import cache
from typing import get_args

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import require_once_per_rater
from reliabayes.agreement.icc_analysis import Analysis
from reliabayes.agreement.icc_between_raters import BetweenRaterSums
from reliabayes.agreement.icc_names import NAMES, UNDEFINED, Averaged, IccName
from reliabayes.agreement.icc_names import single as single_of
from reliabayes.agreement.icc_sums import (
    ColumnSums,
    IccSums,
    OneWaySums,
    RestrictedSums,
    TwoWaySums,
    require_several_items_per_rater,
)
from reliabayes.agreement.interval import NormalModel
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.spearman_brown import step_up
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

OF_FORM = {  # by the first number of the name
    "1": "whoever rated them",
    "2": "with {raters} drawn from a population, in absolute agreement",
    "3": "of these {raters}, in consistency",
}


@of_datasets
def icc(ratings: Ratings, name: IccName = "ICC(2,1)", *, k: Averaged = "ratings") -> Coefficient:
    r"""Intraclass correlation: proportion of the variance that is between items, at most 1.

    .. math:: \mathrm{ICC}(1) = \frac{\sigma_i^2}{\sigma_i^2 + \sigma_w^2},\quad
       \mathrm{ICC}(2) = \frac{\sigma_i^2}{\sigma_i^2 + \sigma_r^2 + \sigma_e^2},\quad
       \mathrm{ICC}(3) = \frac{\sigma_i^2}{\sigma_i^2 + \sigma_e^2}

    with variances between items (i), between raters (r), within items regardless of the rater (w)
    and of residuals (e). These are ICCs of single ratings; ICC(., k) is that of the mean of k
    ratings by the Spearman-Brown formula. `which_icc` helps to choose, `icc_table` shows all six.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Numeric, of any design. Raters may be anonymous for ICC(1, .). If raters rated items more
        than once, only pairs of different raters say how far raters agree: ICC(., 1) is then that
        of one rating by one rater, as from the analysis of variance with an interaction (`g_study`
        with "item x rater"), ICC(., k) that of the mean of k raters with one rating each, and k the
        harmonic mean of the raters per item.
    name : {"ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"}
        One of the six of Shrout & Fleiss. Default "ICC(2,1)".
    k : {"ratings", "columns"}, default "ratings"
        "ratings" uses the actual number of ratings per item. In balanced designs, where all items
        have the same number of ratings (ICC(1, .)) or every rater rated every item once (ICC(2, .)
        and ICC(3, .)), the variances are those of the published analysis of variance, and may be
        negative. Other designs have estimates by restricted maximum likelihood, none negative, and
        k is the harmonic mean of the ratings per item; no rating is discarded.
        "columns" applies the published formulas as if every rater had rated every item, with k the
        number of raters, as simulations in the literature do. It is too small in other designs.

    Returns
    -------
    Coefficient
        The ICC. Its default interval follows from the model of normal effects, in any design; if
        raters rated items more than once, it is that of other coefficients. The bootstrap over
        raters requires a balanced design, or raters who rated items more than once.

    Raises
    ------
    RatingsError
        The ratings are not numeric, no item has two ratings, there are too many raters or distinct
        numbers of ratings per item for the memory, or ``k="columns"`` is asked for and a rater
        rated an item more than once.

    References
    ----------
    Shrout & Fleiss (1979). https://doi.org/10.1037/0033-2909.86.2.420

    Examples
    --------
    >>> from reliabayes import Ratings, datasets
    >>> ratings = Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    >>> icc(ratings, "ICC(2,1)")
    ICC(2,1): 0.2898
    """
    if name not in NAMES or k not in get_args(Averaged):
        known = ", ".join(NAMES)
        raise ValueError(
            f"name must be one of {known}, and k one of {', '.join(get_args(Averaged))}; "
            f"found {name!r} and {k!r}."
        )
    ratings.values  # noqa: B018 - raises unless they are numbers
    sums = _sums(ratings, name, k)

    def formula(totals: Array) -> Array:
        single = sums.single(totals)
        return single if name.endswith("1)") else step_up(single, sums.ratings_averaged(totals))

    @cache
    def analysis() -> Analysis:
        return Analysis.of(ratings, single_of(name), k)

    def limits(prob: float) -> tuple[float, float]:
        single = analysis().covering_interval(prob)
        return single if name.endswith("1)") else analysis().averaged(single)

    model = NormalModel(
        over="items" if name.startswith("ICC(3") else "both",
        limits=limits,
        error=lambda: analysis().standard_error(averaged=name.endswith("k)")),
    )
    shown = f"{name}, k = {ratings.n_raters} columns" if k == "columns" else name
    return Coefficient.of(
        ratings,
        shown,
        sums.rows,
        formula,
        total=sums.total,
        undefined=UNDEFINED,
        model=None if isinstance(sums, BetweenRaterSums) else model,
        meaning=icc_meaning(name),
    )


def icc_meaning(name: IccName) -> Meaning:
    """What a paper says of an ICC."""
    what = "a single rating" if name.endswith("1)") else "the mean rating"
    return Meaning(
        "Inter-rater reliability",
        f"the proportion of the variance of {what} that is between {{items}}, {OF_FORM[name[4]]}",
        ("shrout1979",),
        "icc",
    )


def _sums(ratings: Ratings, name: IccName, k: Averaged) -> IccSums:
    is_one_way = name.startswith("ICC(1")
    if not is_one_way:
        ratings.require_known_raters(name)
        require_several_items_per_rater(ratings, name)
    if k == "columns":
        require_once_per_rater(ratings, f'{name}, k="columns"')
        return ColumnSums(ratings, name)
    if whole_of(ratings).has_repeats:
        return BetweenRaterSums(ratings, name)
    if is_one_way and len(whole_of(ratings).sizes) == 1:
        return OneWaySums(ratings)
    if not is_one_way and whole_of(ratings).is_once_each:
        return TwoWaySums(ratings, name)
    return RestrictedSums(ratings, name)
