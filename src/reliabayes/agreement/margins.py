"""Tests of whether raters use the categories equally often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtr

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.hypothesis_test import Test
from reliabayes.agreement.interval import check_choice
from reliabayes.agreement.null_errors import refuse_repeats
from reliabayes.agreement.whole import Whole, ratings_in_memory, require_shared_categories
from reliabayes.arrays import Array
from reliabayes.choices import MarginTest
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning, Size

if TYPE_CHECKING:
    from reliabayes.partitions import RatingsDataset

PURPOSE = "marginal_homogeneity"


def marginal_homogeneity(
    ratings: Ratings | RatingsDataset, test: MarginTest = "stuart-maxwell"
) -> Test:
    r"""Test whether raters use the categories equally often.

    Raters may agree no better than by chance and have equal margins, or agree well and differ in
    them: kappas do not tell this apart. For two raters with n_kl items in category k of the first
    and l of the second,

    .. math:: X^2 = d' S^- d,\quad d_k = n_{k+} - n_{+k},\quad
       S_{kl} = -(n_{kl} + n_{lk}),\quad S_{kk} = n_{k+} + n_{+k} - 2 n_{kk}

    is the statistic of Stuart and Maxwell.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By two raters, or any number for "cochran". Items that only one of two rated do not count.
    test : str, default "stuart-maxwell"
        What is tested, and how.

        - "stuart-maxwell": equal margins, with the variances that hold if they are equal.
        - "bhapkar": equal margins, with those at the estimate; X^2 / (1 - X^2 / n) of n items.
        - "bowker": symmetry of the table: every two categories are confused equally often in both
          directions, of which equal margins follow.
        - "mcnemar": equal margins of two categories, without a correction for continuity.
        - "mcnemar-exact": the same by the binomial distribution.
        - "rater-bias": that of two raters neither gives the higher of two ordered categories more
          often. ``estimate`` is how often the second does, among items on which they differ.
        - "cochran": equal proportions of two categories among any number of raters, each of whom
          rated each item.

    Returns
    -------
    Test
        Statistic, distribution, degrees of freedom and p. Raters who never differ have a statistic
        of 0 with 0 degrees of freedom, and p is 1.

    Raises
    ------
    RatingsError
        The test is for other numbers of raters or categories, or for ordered ones; a rater rated an
        item more than once; or an item lacks a rating, for "cochran".
    ValueError
        There is no such test.

    Notes
    -----
    Categories on which the raters never differ add nothing to the statistic, nor do categories
    that nobody used. Degrees of freedom of "stuart-maxwell" and "bhapkar" are the rank of S: the
    categories, less one for each set of categories which is not confused with others. Bowker's are
    the pairs of categories that occur, whether they were confused or not.

    References
    ----------
    Stuart (1955), https://doi.org/10.1093/biomet/42.3-4.412; Maxwell (1970),
    https://doi.org/10.1192/bjp.116.535.651; Bhapkar (1966),
    https://doi.org/10.1080/01621459.1966.10502021; Bowker (1948),
    https://doi.org/10.1080/01621459.1948.10483284; McNemar (1947),
    https://doi.org/10.1007/BF02295996; Cochran (1950),
    https://doi.org/10.1093/biomet/37.3-4.256. "rater-bias": Bishop, Fienberg & Holland (1975),
    Discrete multivariate analysis, chapter 11, ISBN 978-0387728056.

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_table(np.array([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> rb.agreement.marginal_homogeneity(ratings)
    Test(chi-squared = 13.76, df 2, p = 0.001026)
    >>> rb.agreement.marginal_homogeneity(ratings, "bowker")
    Test(chi-squared = 13.77, df 3, p = 0.003237)
    """
    check_choice("test", test, get_args(MarginTest))
    whole = Whole(ratings)
    example = ratings_in_memory(whole)
    example.require_known_raters(PURPOSE)
    require_shared_categories(example)
    refuse_repeats(example, PURPOSE)
    if test == "cochran":
        return replace(_cochran(example, whole), meaning=MEANINGS[test], size=Size.of(ratings))
    if example.n_raters != 2:
        rule = f'test="{test}" is for two raters'
        remedy = "Select two with ratings.subset(raters=[...])."
        raise RatingsError([Fault(PURPOSE, rule, f"{example.n_raters}", remedy)])
    if test == "rater-bias" and example.scale == "nominal":
        rule, found = "categories must be ordered or numeric", "categories without order"
        remedy = 'Pass scale="ordered" and categories=..., lowest first, when reading them.'
        raise RatingsError([Fault(PURPOSE, rule, found, remedy)])
    table = np.sum(list(whole.each(_table)), axis=0)
    if test in ("mcnemar", "mcnemar-exact"):
        _require_two_categories(example, f'test="{test}"', 'Use test="bowker" or "stuart-maxwell".')
    size = Size(int(table.sum()), 2)
    return replace(OF_TABLES[test](table), meaning=MEANINGS[test], size=size)


def _stuart_maxwell(table: Array) -> Test:
    statistic, df = _stuart_maxwell_statistic(table)
    return Test.of_chi_squared(statistic, df)


def _bhapkar(table: Array) -> Test:
    statistic, df = _stuart_maxwell_statistic(table)
    return Test.of_chi_squared(float(ratio(statistic, 1 - statistic / table.sum(), np.inf)), df)


def _stuart_maxwell_statistic(table: Array) -> tuple[float, int]:
    """X^2 and the rank of S, which is the Laplacian of the graph of confused categories."""
    confused = table + table.T
    np.fill_diagonal(confused, 0)
    _, component = connected_components(confused > 0, directed=False)
    _, first = np.unique(component, return_index=True)
    free = np.delete(np.arange(len(table)), first)
    covariance = (np.diag(confused.sum(axis=1)) - confused)[np.ix_(free, free)]
    difference = (table.sum(axis=1) - table.sum(axis=0))[free]
    return float(difference @ np.linalg.solve(covariance, difference)), len(free)


def _bowker(table: Array) -> Test:
    n_used = int(np.count_nonzero(table.sum(axis=0) + table.sum(axis=1)))
    terms = ratio((table - table.T) ** 2, table + table.T, 0.0)
    df = n_used * (n_used - 1) // 2 if _differ(table) else 0
    return Test.of_chi_squared(float(terms.sum() / 2), df)


def _mcnemar(table: Array) -> Test:
    one, other = np.triu(table, 1).sum(), np.tril(table, -1).sum()
    statistic = float(ratio((one - other) ** 2, one + other, 0.0))
    share = float(ratio(one, one + other))
    return Test.of_chi_squared(statistic, int(_differ(table)), estimate=share)


def _mcnemar_exact(table: Array) -> Test:
    one, other = np.triu(table, 1).sum(), np.tril(table, -1).sum()
    least, n = float(min(one, other)), float(one + other)
    p = min(1.0, 2 * float(bdtr(least, int(n), 0.5)))
    share = float(ratio(one, n))
    return Test(statistic=least, distribution="binomial", df=n, p=p, estimate=share)


OF_TABLES: Mapping[str, Callable[[Array], Test]] = {
    "stuart-maxwell": _stuart_maxwell,
    "bhapkar": _bhapkar,
    "bowker": _bowker,
    "mcnemar": _mcnemar,
    "mcnemar-exact": _mcnemar_exact,
    "rater-bias": _mcnemar,  # of the two sides of the diagonal
}


MEANINGS: Mapping[MarginTest, Meaning] = {
    "stuart-maxwell": Meaning(
        "A Stuart-Maxwell test",
        "that both {raters} use each category equally often",
        ("stuart1955", "maxwell1970"),
    ),
    "bhapkar": Meaning(
        "Bhapkar's test", "that both {raters} use each category equally often", ("bhapkar1966",)
    ),
    "bowker": Meaning(
        "Bowker's test",
        "that the {raters} disagree on each pair of categories equally often either way",
        ("bowker1948",),
    ),
    "mcnemar": Meaning(
        "McNemar's test", "that both {raters} use each category equally often", ("mcnemar1947",)
    ),
    "mcnemar-exact": Meaning(
        "McNemar's exact test",
        "that both {raters} use each category equally often",
        ("mcnemar1947",),
    ),
    "rater-bias": Meaning(
        "A test of rater bias",
        "that neither of the {raters} gives the higher category more often",
        ("bishop1975",),
    ),
    "cochran": Meaning(
        "Cochran's test", "that all {raters} use both categories equally often", ("cochran1950",)
    ),
}


def _cochran(example: Ratings, whole: Whole) -> Test:
    _require_two_categories(example, 'test="cochran"', "Merge categories.")
    if not whole.is_once_each:
        rule = 'test="cochran" needs a rating of each item by each rater'
        found = f"{whole.n_ratings} ratings of {whole.n_items} items by {example.n_raters} raters"
        remedy = "Select the items that all rated, or compare two raters at a time."
        raise RatingsError([Fault(PURPOSE, rule, found, remedy)])
    sums = np.sum(list(whole.each(_sums_of_raters)), axis=0)
    by_rater, squares = sums[:-1], sums[-1]
    k, total = len(by_rater), by_rater.sum()
    varying = k * total - squares  # that of items on which raters differ
    statistic = float(ratio((k - 1) * (k * (by_rater**2).sum() - total**2), varying, 0.0))
    return Test.of_chi_squared(statistic, k - 1 if varying > 0 else 0)


def _require_two_categories(ratings: Ratings, purpose: str, remedy: str) -> None:
    if len(ratings.categories) != 2:
        rule = f"{purpose} is for two categories"
        raise RatingsError([Fault(PURPOSE, rule, f"{len(ratings.categories)}", remedy)])


def _differ(table: Array) -> bool:
    return bool(table.sum() > np.trace(table))


def _table(part: Ratings) -> Array:
    return part.table().to_numpy(np.float64)


def _sums_of_raters(part: Ratings) -> Array:
    """(R + 1,) ratings of each rater in the second category, and their squared sums over items."""
    chosen = (part.category == 1).astype(float)
    by_rater = np.bincount(part.rater, chosen, part.n_raters)
    return np.append(by_rater, (np.bincount(part.item, chosen) ** 2).sum())
