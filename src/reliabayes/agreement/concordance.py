"""Concordance of numeric ratings, and its parts: precision and accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.coefficient import Bounds, Coefficient
from reliabayes.agreement.conger import RaterSums
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.item_rows import Rows, join_columns, rows_from_entries
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.rater_pairs import PairedRatings
from reliabayes.agreement.scales import squared
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

MOST_PAIRS = 45  # of raters, up to which sums of their products are kept: those of ten raters
MOMENTS = 7  # sums of a pair of raters

NAME = "Concordance"
OF_TWO = Meaning(
    estimand="the concordance correlation, which is 1 if two {raters} give equal numbers",
    references=("lin1989",),
)
OF_SEVERAL = Meaning(
    estimand="the overall concordance correlation, which is 1 if all {raters} give equal numbers",
    references=("barnhart2002",),
)


@of_datasets
def concordance(ratings: Ratings) -> Coefficient:
    r"""Concordance correlation of numeric ratings, at most 1; 0 at chance level.

    .. math:: \rho_c = \frac{2 s_{12}}{s_1^2 + s_2^2 + (\bar{x}_1 - \bar{x}_2)^2} = \rho\, C_b

    for two raters, and for several the sum of the numerators over pairs of raters, divided by that
    of the denominators. Variances have the divisor n. It is 1 only if all ratings of each item are
    equal, and estimates the agreement of these raters, whose differences in level and in spread
    count as disagreement. It equals `iota` with squared distances, and nearly ICC(2,1).

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Numeric, by at least two known raters.

    Returns
    -------
    Coefficient
        With parts "observed disagreement" and "expected disagreement" and, for at most ten raters,

        - "precision": Pearson's correlation; of several pairs the mean, weighted by their expected
          disagreement.
        - "accuracy": C_b, the concordance divided by the precision, in [0, 1].
        - "location shift": of two raters the mean of the second less that of the first, divided by
          the geometric mean of their standard deviations.
        - "scale shift": of two raters the standard deviation of the second divided by that of the
          first.

        For two raters ``interval(method="lin")`` has the limits by Fisher's z. Raters are in the
        order of ``ratings.raters``.

    Raises
    ------
    RatingsError
        The ratings are no numbers, or the raters are anonymous.

    References
    ----------
    Lin (1989), https://doi.org/10.2307/2532051, with the error as corrected in (2000),
    https://doi.org/10.1111/j.0006-341X.2000.00324.x; several raters: Barnhart, Haber & Song (2002),
    https://doi.org/10.1111/j.0006-341X.2002.01020.x

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [2, 2], [3, 5], [4, 4], [6, 7]]))
    >>> found = rb.agreement.concordance(ratings)
    >>> found
    Concordance: 0.8333
    >>> found.part("precision"), found.part("accuracy")
    (Concordance, precision: 0.919, Concordance, accuracy: 0.9068)
    """
    ratings.values  # noqa: B018 - raises unless they are numbers
    ratings.require_known_raters("concordance")
    own = RaterSums.of(ratings, squared(ratings))
    width = own.width

    def whole(sums: Array) -> Array:
        return own.correction(sums[..., :width])

    parts: dict[str, Formula] = {
        "observed disagreement": lambda sums: own.observed(sums[..., :width]),
        "expected disagreement": lambda sums: own.expected(sums[..., :width]),
    }
    bounds: dict[str, Bounds] = dict.fromkeys(parts, (0.0, None))
    pairs = PairMoments.of(ratings)
    if pairs is None:
        return Coefficient.of(
            ratings,
            NAME,
            own.rows,
            whole,
            parts=parts,
            bounds_of_parts=bounds,
            meaning=OF_SEVERAL,
        )

    def rows(weights: Array | None) -> Rows:
        return join_columns([own.rows(weights), pairs.rows(weights)])

    def precision(sums: Array) -> Array:
        return pairs.precision(sums[..., width:])

    parts |= {
        "precision": precision,
        "accuracy": lambda sums: ratio(whole(sums), precision(sums)),
    }
    bounds |= {"precision": (-1.0, 1.0), "accuracy": (0.0, 1.0)}
    is_of_two = ratings.n_raters == 2
    if is_of_two:
        parts |= {
            "location shift": lambda sums: pairs.location_shift(sums[..., width:]),
            "scale shift": lambda sums: pairs.scale_shift(sums[..., width:]),
        }
        bounds |= {"location shift": (None, None), "scale shift": (0.0, None)}

    def error(sums: Array) -> float:
        return pairs.error_of_z(sums[width:], float(whole(sums)))

    return Coefficient.of(
        ratings,
        NAME,
        rows,
        whole,
        parts=parts,
        bounds_of_parts=bounds,
        least=-1.0,
        z_error=error if is_of_two else None,
        meaning=OF_TWO if is_of_two else OF_SEVERAL,
    )


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Sums of the products of two raters' ratings of the same item, for each pair of raters.

    Columns of each pair: number of items, with every rater counted once; then, with raters counted
    as often as they occur, the number, both sums, both sums of squares and the sum of products.

    Attributes
    ----------
    paired : PairedRatings
        Pairs of ratings.
    values : tuple of array of float, shape (M,)
        Both ratings, less the mean of all.
    """

    paired: PairedRatings
    values: tuple[Array, Array]

    @classmethod
    def of(cls, ratings: Ratings) -> PairMoments | None:
        """Moments of all pairs of raters who share an item; None if they are too many."""
        if len(whole_of(ratings).rater_pairs) > MOST_PAIRS:
            return None
        paired = PairedRatings.of(ratings)
        one, other = paired.positions
        centred = ratings.values - whole_of(ratings).mean
        return cls(paired, (centred[one], centred[other]))

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        paired, weight = self.paired, self.paired.times(weights)
        once = np.ones(len(paired.item))
        x, y = self.values
        moments = [once, *(weight * part for part in (once, x, y, x * x, y * y, x * y))]
        columns = paired.pair * MOMENTS + np.arange(MOMENTS)[:, None]
        return rows_from_entries(
            np.tile(paired.item, MOMENTS),
            columns.ravel(),
            np.concatenate(moments),
            (paired.n_items, paired.n_pairs * MOMENTS),
        )

    def precision(self, sums: Array) -> Array:
        """Mean correlation of pairs, weighted by the disagreement that chance gives."""
        moments = self._moments(sums)
        correlation = ratio(
            moments.covariance, np.sqrt(moments.variances[0] * moments.variances[1])
        )
        weight = moments.multiplicity * (sum(moments.variances) + moments.difference**2)
        is_defined = ~np.isnan(correlation)
        total = np.where(is_defined, weight * correlation, 0).sum(-1)
        return ratio(total, np.where(is_defined, weight, 0).sum(-1))

    def location_shift(self, sums: Array) -> Array:
        """Mean of the second rater less that of the first, in geometric mean deviations."""
        moments = self._moments(sums)
        product = moments.variances[0] * moments.variances[1]
        return ratio(moments.difference, np.sqrt(np.sqrt(product)))[..., 0]

    def scale_shift(self, sums: Array) -> Array:
        """Standard deviation of the second rater by that of the first."""
        moments = self._moments(sums)
        return np.asarray(np.sqrt(ratio(moments.variances[1], moments.variances[0]))[..., 0])

    def error_of_z(self, sums: Array, concordance: float) -> float:
        """Standard error of Fisher's z of the concordance of two raters: Lin (2000)."""
        r, c, u = self.precision(sums), concordance, self.location_shift(sums)
        squares = (
            (1 - r**2) * c**2 * (1 - c**2) / r**2
            + 2 * c**3 * (1 - c) * u**2 / r
            - c**4 * u**4 / (2 * r**2)
        )
        return float(np.sqrt(ratio(squares, sums[1] - 2)) / (1 - c**2))

    def _moments(self, sums: Array) -> _Moments:
        by_pair = sums.reshape(*sums.shape[:-1], self.paired.n_pairs, MOMENTS)
        once, n, x, y, xx, yy, xy = np.moveaxis(by_pair, -1, 0)
        x, y, xx, yy, xy = (ratio(part, n, 0.0) for part in (x, y, xx, yy, xy))
        return _Moments(
            multiplicity=ratio(n, once, 0.0),
            difference=y - x,
            variances=(xx - x * x, yy - y * y),
            covariance=xy - x * y,
        )


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments (..., P) of pairs of raters, with divisor n."""

    multiplicity: Array
    difference: Array
    variances: tuple[Array, Array]
    covariance: Array
