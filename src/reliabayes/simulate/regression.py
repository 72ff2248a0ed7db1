"""Regression of a coefficient on the observed agreement of simulated matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd
from scipy.special import fdtrc, stdtr, stdtrit

from reliabayes.arrays import Array, Codes
from reliabayes.plots.layout import add_title, axes_or_new, percent_ticks
from reliabayes.plots.palette import Palette
from reliabayes.simulate.study import TENTHS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = Literal["linear", "quadratic", "loess"]

SPAN = 0.75  # proportion of the matrices that are in the neighbourhood of a point of a loess curve
GRID = 200  # points from which curves are drawn and at which they are inverted
CURVE_NOUNS = {"linear": "straight line", "quadratic": "parabola", "loess": "loess curve"}


def agreement_regression(
    study: pd.DataFrame, coefficient: str = "ICC(1,1)", curve: Curve = "quadratic"
) -> AgreementRegression:
    r"""Regress a coefficient on the observed proportion of items with unanimous ratings.

    Parameters
    ----------
    study : DataFrame
        Result of `reliability_study`, or its rows of one design.
    coefficient : str, default "ICC(1,1)"
        A column of the study; matrices in which it is nan are left out.
    curve : {"linear", "quadratic", "loess"}, default "quadratic"
        Polynomial of degree 1 or 2; or a local polynomial of degree 2, fitted to the nearest three
        quarters of the matrices with tricube weights.

    Returns
    -------
    AgreementRegression
        The fitted curve, with its coefficients, predictions and a plot.

    Raises
    ------
    ValueError
        The study has no such column, or too few distinct agreements for the curve.

    References
    ----------
    Bryer, IRRsim, https://irrsim.bryer.org; Cleveland & Devlin (1988), loess,
    https://doi.org/10.1080/01621459.1988.10478639

    Examples
    --------
    >>> from reliabayes import simulate
    >>> study = simulate.reliability_study(matrices=5, seed=1)
    >>> simulate.agreement_regression(study, "ICC(1,1)", "linear").coefficients.round(1).to_dict()
    {'constant': -0.5, 'agreement': 1.5}
    """
    if coefficient not in study or curve not in get_args(Curve):
        raise ValueError(
            f"coefficient must be a column of the study and curve one of "
            f"{', '.join(get_args(Curve))}; found {coefficient!r} and {curve!r}."
        )
    points = study[["observed_agreement", coefficient]].dropna().to_numpy(float)
    agreement, place, multiplicity = np.unique(
        points[:, 0], return_inverse=True, return_counts=True
    )
    degree = 1 if curve == "linear" else 2
    if len(agreement) <= degree or len(points) <= degree + 1:
        raise ValueError(
            f"a {curve} curve requires more than {degree} distinct values of observed_agreement in "
            f"more than {degree + 1} matrices; found {len(agreement)} in {len(points)}."
        )
    return AgreementRegression(
        coefficient=coefficient,
        curve=curve,
        points=points,
        agreement=agreement,
        multiplicity=multiplicity,
        mean=np.bincount(place, points[:, 1]) / multiplicity,
    )


@dataclass(frozen=True, eq=False, repr=False)
class AgreementRegression:
    """A coefficient as a function of observed agreement.

    Attributes
    ----------
    coefficient : str
        Name of the coefficient.
    curve : {"linear", "quadratic", "loess"}
        Kind of curve.
    points : array of float, shape (N, 2)
        Observed agreement and coefficient of each matrix.
    agreement : array of float, shape (U,)
        Distinct observed agreements, ascending.
    multiplicity : array of int, shape (U,)
        Number of matrices with each agreement.
    mean : array of float, shape (U,)
        Mean coefficient of these matrices.
    """

    coefficient: str
    curve: Curve
    points: Array
    agreement: Array
    multiplicity: Codes
    mean: Array

    def __repr__(self) -> str:
        return (
            f"{self.coefficient} on agreement, {self.curve}: R2 {self.r_squared:.4f}, residual "
            f"standard error {self.residual_standard_error:.4f}, {len(self.points)} matrices"
        )

    @property
    def coefficients(self) -> pd.Series[float]:
        """Coefficients of the powers of agreement; a loess curve has none."""
        names = ["constant", "agreement", "agreement^2"][: 1 + self._degree]
        return pd.Series(self._of_powers @ self.mean, index=names)

    def summary(self) -> pd.DataFrame:
        """Tabulate the coefficients of the powers of agreement; a loess curve has none.

        Returns
        -------
        DataFrame
            Index constant, agreement and, for a parabola, agreement^2; columns estimate,
            standard_error, t and p_value, two-sided.

        Examples
        --------
        >>> from reliabayes import simulate
        >>> study = simulate.reliability_study(matrices=5, seed=1)
        >>> simulate.agreement_regression(study, "ICC(1,1)", "linear").summary().round(2)
                   estimate  standard_error      t  p_value
        constant      -0.51            0.03 -15.49      0.0
        agreement      1.52            0.05  31.61      0.0
        """
        estimate = self.coefficients
        error = self.residual_standard_error * np.sqrt(
            (self._of_powers**2 / self.multiplicity).sum(axis=1)
        )
        t = estimate / error
        p_value = 2 * stdtr(self.degrees_of_freedom, -abs(t))
        return pd.DataFrame(
            {"estimate": estimate, "standard_error": error, "t": t, "p_value": p_value}
        )

    @property
    def f_test(self) -> pd.Series[float]:
        """Test of the curve against a constant: F, df_curve, df_residual, p_value."""
        self._require_powers()
        degrees, rest = float(self._degree), self.degrees_of_freedom
        explained = self._total_square - self._residual_square
        f = float(explained / degrees / self.residual_standard_error**2)
        return pd.Series(
            {
                "F": f,
                "df_curve": degrees,
                "df_residual": rest,
                "p_value": float(fdtrc(degrees, rest, f)),
            }
        )

    @property
    def r_squared(self) -> float:
        """Proportion of the variance of the coefficient that the curve explains."""
        return float(1 - self._residual_square / self._total_square)

    @property
    def adjusted_r_squared(self) -> float:
        """R-squared from unbiased variances, residual and total."""
        self._require_powers()
        total = self._total_square / (len(self.points) - 1)
        return float(1 - self.residual_standard_error**2 / total)

    @property
    def residual_standard_error(self) -> float:
        """Root of the residual sum of squares divided by its degrees of freedom."""
        return float(np.sqrt(self._residual_square / self.degrees_of_freedom))

    @property
    def degrees_of_freedom(self) -> float:
        """Expected residual sum of squares divided by the residual variance."""
        weight = self._weights(self.agreement)
        own = np.trace(weight)
        others = (self.multiplicity[:, None] * weight**2 / self.multiplicity).sum()
        return float(len(self.points) - 2 * own + others)

    def predict(self, agreement: Sequence[float] = TENTHS, prob: float = 0.95) -> pd.DataFrame:
        """Predict the mean of the coefficient, with its confidence interval.

        Parameters
        ----------
        agreement : sequence of float, default 0.1, 0.2, ..., 0.9
            Observed agreements at which to predict.
        prob : float, default 0.95
            Nominal coverage of the interval.

        Returns
        -------
        DataFrame
            Index agreement, columns mean, lower_95, upper_95 (for ``prob=0.95``).
        """
        at = np.asarray(agreement, float)
        weight = self._weights(at)
        error = self.residual_standard_error * np.sqrt((weight**2 / self.multiplicity).sum(axis=1))
        reach = stdtrit(self.degrees_of_freedom, (1 + prob) / 2) * error
        mean = weight @ self.mean
        level = f"{100 * prob:g}"
        return pd.DataFrame(
            {"mean": mean, f"lower_{level}": mean - reach, f"upper_{level}": mean + reach},
            index=pd.Index(at, name="agreement"),
        )

    def agreement_at(self, values: Sequence[float]) -> pd.Series[float]:
        """Find the smallest simulated agreements at which the curve reaches values.

        Parameters
        ----------
        values : sequence of float
            Values of the coefficient.

        Returns
        -------
        Series
            Index value; the observed agreement, nan if the curve does not cross the value between
            the smallest and the largest agreement of the matrices.

        Examples
        --------
        >>> from reliabayes import simulate
        >>> study = simulate.reliability_study(matrices=5, seed=1)
        >>> simulate.agreement_regression(study).agreement_at([0.4, 0.75]).round(2).to_dict()
        {0.4: 0.6, 0.75: 0.83}
        """
        at = self._grid
        above = self._weights(at) @ self.mean - np.asarray(values, float)[:, None]
        crosses = np.sign(above[:, :-1]) != np.sign(above[:, 1:])
        first = crosses.argmax(axis=1)
        low, high = np.take_along_axis(above, first[:, None] + [0, 1], axis=1).T
        found = at[first] - low / (high - low) * (at[1] - at[0])
        return pd.Series(
            np.where(crosses.any(axis=1), found, np.nan),
            index=pd.Index(values, name="value"),
            name="agreement",
        )

    def plot(self, ax: Axes | None = None, prob: float = 0.95, *, at: Sequence[float] = ()) -> Axes:
        """Plot the matrices as points, and the curve with its confidence band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        prob : float, default 0.95
            Nominal coverage of the band.
        at : sequence of float
            Agreements at which to mark the curve, with lines to both axes.

        Returns
        -------
        Axes
            The axes of the plot.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from reliabayes import simulate
        >>> study = simulate.reliability_study(matrices=5, seed=1)
        >>> regression = simulate.agreement_regression(study, "ICC(1,1)", "linear")
        >>> regression.plot(ax=Figure().subplots()).get_title(loc="left")
        'A straight line in agreement explains 96% of the variance of ICC(1,1)'
        """
        ax = axes_or_new(ax)
        palette, colour = Palette.of(ax), Palette.of(ax).series[0]
        grid = self._grid
        mean, lower, upper = self.predict(list(grid), prob).to_numpy().T
        ax.plot(
            *self.points.T, color=palette.muted, linestyle="", marker="o", markersize=3,
            markeredgewidth=0, alpha=0.3,
        )  # fmt: skip
        ax.fill_between(grid, lower, upper, color=colour, alpha=0.25, linewidth=0)
        ax.plot(grid, mean, color=colour, linewidth=1.8)
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        for place, value in zip(at, self.predict(at)["mean"], strict=True):
            ax.plot(
                [place, place, left], [bottom, value, value],
                color=palette.text, linestyle=":", linewidth=1,
            )  # fmt: skip
            ax.annotate(
                f"{place:.0%}: {value:.2f}", (place, value), xytext=(-4, 4), color=palette.text,
                textcoords="offset points", horizontalalignment="right", fontsize="small",
            )  # fmt: skip
            ax.set(xlim=(left, right), ylim=(bottom, top))
        percent_ticks(ax)
        ax.set(xlabel="a, proportion of items with unanimous ratings", ylabel=self.coefficient)
        note = f"{self._equation}{len(self.points):,} simulated matrices, {100 * prob:g}% band"
        return add_title(ax, self._finding, note)

    @property
    def _finding(self) -> str:
        explained = f"{self.r_squared:.0%} of the variance of {self.coefficient}"
        return f"A {CURVE_NOUNS[self.curve]} in agreement explains {explained}"

    @property
    def _equation(self) -> str:
        """The polynomial in a; empty for a loess curve."""
        if self.curve == "loess":
            return ""
        constant, *slopes = self.coefficients
        terms = [
            f"{'+' if slope >= 0 else '-'} {abs(slope):.2f} {power}"
            for slope, power in zip(slopes, ("a", "a²"), strict=False)
        ]
        return f"{' '.join([f'{constant:.2f}', *terms])}. "

    @property
    def _degree(self) -> int:
        return 1 if self.curve == "linear" else 2

    @property
    def _grid(self) -> Array:
        """Agreements over the range of the matrices, at equal distances."""
        return np.linspace(self.agreement[0], self.agreement[-1], GRID)

    @property
    def _of_powers(self) -> Array:
        """(degree + 1, U) weights of the means in the coefficients of the powers of agreement."""
        self._require_powers()
        return np.asarray(self._local(np.zeros(1))[0])

    def _require_powers(self) -> None:
        if self.curve == "loess":
            raise ValueError("curve must be linear or quadratic to have coefficients; found loess.")

    @property
    def _total_square(self) -> float:
        return float(((self.points[:, 1] - self.points[:, 1].mean()) ** 2).sum())

    @property
    def _residual_square(self) -> float:
        fitted = self._weights(self.agreement) @ self.mean
        place = np.searchsorted(self.agreement, self.points[:, 0])
        return float(((self.points[:, 1] - fitted[place]) ** 2).sum())

    def _weights(self, at: Array) -> Array:
        """(A, U) weights of the means in the curve at given agreements (A,)."""
        return self._local(at)[:, 0]

    def _local(self, at: Array) -> Array:
        """(A, degree + 1, U) weights of the means in the polynomials around given agreements."""
        distance = self.agreement - at[:, None]
        weight = self.multiplicity * self._kernel(np.abs(distance))
        powers = distance[:, None, :] ** np.arange(self._degree + 1)[:, None]
        weighted = powers * weight[:, None, :]
        inverse = np.linalg.pinv(weighted @ np.swapaxes(powers, 1, 2), hermitian=True)
        return np.asarray(inverse @ weighted)

    def _kernel(self, distance: Array) -> Array:
        """(A, U) kernel weights of agreements at given distances."""
        if self.curve != "loess":
            return np.ones_like(distance)
        near = np.argsort(distance, axis=1)
        reached = np.cumsum(self.multiplicity[near], axis=1) >= np.floor(SPAN * len(self.points))
        last = np.take_along_axis(near, reached.argmax(axis=1)[:, None], axis=1)
        scaled = distance / np.take_along_axis(distance, last, axis=1)
        return np.clip(1 - scaled**3, 0, None) ** 3
