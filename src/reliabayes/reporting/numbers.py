"""Numbers as APA style writes them."""

from __future__ import annotations

import math

FEWEST, MOST = 2, 6  # decimals of estimates
LEAST_P = 0.001  # p values below it are not written out


def estimate(value: float, lower: float, upper: float, level: str, *, bounded: bool = False) -> str:
    """Write an estimate with its interval.

    Parameters
    ----------
    value, lower, upper : float
        The estimate and the limits of its interval, which may be nan.
    level : str
        What the interval is, such as "95% CI".
    bounded : bool, default False
        Whether it cannot exceed 1, so that there is no zero before the decimal point.

    Returns
    -------
    str
        With as many decimals as the first digit of the width of the interval has, two at least.

    Examples
    --------
    >>> estimate(0.2898, 0.01879, 0.7611, "95% CI", bounded=True)
    '.29, 95% CI [.02, .76]'
    >>> estimate(-2.118, -22.049, 17.813, "95% CI")
    '-2.12, 95% CI [-22.05, 17.81]'
    """
    decimals = decimals_for(upper - lower)
    text = number(value, decimals, bounded=bounded)
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return text
    low, high = (number(limit, decimals, bounded=bounded) for limit in (lower, upper))
    return f"{text}, {level} [{low}, {high}]"


def decimals_for(width: float) -> int:
    """Decimals of numbers that are known to within an interval of a width."""
    if not (math.isfinite(width) and width > 0):
        return FEWEST
    return min(MOST, max(FEWEST, -math.floor(math.log10(width))))


def number(value: float, decimals: int = FEWEST, *, bounded: bool = False) -> str:
    """Write a number with some decimals, without a zero before the point if it is bounded by 1.

    Examples
    --------
    >>> number(-0.5, bounded=True), number(1.0, bounded=True), number(-0.001)
    ('-.50', '1.00', '0.00')
    """
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if bounded and abs(float(text)) < 1 else text


def p_value(p: float) -> str:
    """Write a p value with its sign of equality.

    Examples
    --------
    >>> p_value(0.0314), p_value(0.00002)
    ('p = .031', 'p < .001')
    """
    return "p < .001" if p < LEAST_P else f"p = {number(p, 3, bounded=True)}"
