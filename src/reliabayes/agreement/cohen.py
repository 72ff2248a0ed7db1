"""Kappas of two raters, and Light's, their mean over all pairs of raters."""

from __future__ import annotations

from reliabayes.agreement.cells import ratio
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.corrected import corrected
from reliabayes.agreement.pairs import PairTables
from reliabayes.agreement.resampling import Formula
from reliabayes.agreement.scales import Weights, weight_table
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings


def cohen_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Cohen's kappa of two raters, at most 1; 0 is what chance gives.

    .. math:: \kappa = (P_o - P_e) / (1 - P_e),\quad P_o = \sum_{kl} w_{kl} p_{kl},\quad
       P_e = \sum_{kl} w_{kl} p_{k+} p_{+l}

    with p_kl the share of items that the first rater put into k and the second into l. Items that
    only one of them rated have no part in it.

    Parameters
    ----------
    ratings : Ratings
        By two raters; pick them with ``ratings.subset(raters=[...])``.
    weights : {"linear", "quadratic"} or array (K, K), optional
        Agreement of two categories: 1 if they are the same and, by default, else 0. Linear weights
        fall with the distance from 1 to 0, quadratic ones with its square; distances are those of
        numbers, or steps between ordered categories.

    Returns
    -------
    Coefficient
        Parts "observed agreement" and "expected agreement". The standard error of Fleiss, Cohen &
        Everitt is that of ``interval(method="analytic")``.

    Raises
    ------
    RatingsError
        There are not two raters, or nominal categories are to have linear or quadratic weights.

    References
    ----------
    Cohen (1960), https://doi.org/10.1177/001316446002000104; (1968), on weights,
    https://doi.org/10.1037/h0026256. Fleiss, Cohen & Everitt (1969), eq. 8 and 13,
    https://doi.org/10.1037/h0028106

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a"], ["b", "b"], ["b", "a"], ["a", "a"]]))
    >>> rb.agreement.cohen_kappa(ratings)
    Cohen's kappa: 0.5
    """
    return _of_two(ratings, "Cohen's kappa", _cohen_parts(ratings, weights))


def scott_pi(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Scott's pi of two raters, at most 1; 0 is what chance gives.

    .. math:: \pi = (P_o - P_e) / (1 - P_e),\quad
       P_e = \sum_{kl} w_{kl} \bar{p}_k \bar{p}_l,\quad \bar{p}_k = (p_{k+} + p_{+k}) / 2

    As Cohen's kappa, but chance ratings of both raters come from one distribution.

    Parameters
    ----------
    ratings, weights
        As for `cohen_kappa`.

    Returns
    -------
    Coefficient
        Parts "observed agreement" and "expected agreement".

    Raises
    ------
    RatingsError
        As `cohen_kappa`.

    References
    ----------
    Scott (1955). https://doi.org/10.1086/266577

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_wide(np.array([["a", "a"], ["b", "b"], ["b", "a"], ["a", "a"]]))
    >>> rb.agreement.scott_pi(ratings)
    Scott's pi: 0.4667
    """
    agreement = weight_table(ratings, weights)

    def expected(table: Array) -> Array:
        size = table.sum((-2, -1))
        both = table.sum(-1) + table.sum(-2)
        return ratio(((both @ agreement) * both).sum(-1), 4 * size**2)

    observed, _ = _cohen_parts(ratings, weights)
    return _of_two(ratings, "Scott's pi", (observed, expected))


def light_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Light's kappa: Cohen's kappa, averaged over all pairs of raters, at most 1.

    .. math:: \binom{R}{2}^{-1} \sum_{r < s} \kappa_{rs}

    Each pair is compared on the items that both rated; pairs whose kappa is undefined, for they
    share no item or use one category only, are left out.

    Parameters
    ----------
    ratings : Ratings
        By two raters or more.
    weights
        As for `cohen_kappa`.

    Returns
    -------
    Coefficient

    Raises
    ------
    RatingsError
        The raters are anonymous, or nominal categories are to have linear or quadratic weights.

    References
    ----------
    Light (1971). https://doi.org/10.1037/h0031643

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([["a", "a", "a"], ["b", "b", "a"], ["b", "a", "b"], ["a", "a", "a"]])
    >>> rb.agreement.light_kappa(rb.Ratings.from_wide(table))
    Light's kappa: 0.2222
    """
    observed, expected = _cohen_parts(ratings, weights)
    pairs = PairTables.of(ratings, "light_kappa")

    def kappas(tables: Array) -> Array:
        return 1 - ratio(1 - observed(tables), 1 - expected(tables))

    return Coefficient.of(ratings, "Light's kappa", pairs.rows, pairs.averaged(kappas))


def _of_two(ratings: Ratings, name: str, parts: tuple[Formula, Formula]) -> Coefficient:
    _require_two(ratings)
    pairs = PairTables.of(ratings, name)
    observed, expected = (
        lambda sums, part=part: part(pairs.tables(sums)[0][..., 0, :, :]) for part in parts
    )
    return corrected(
        ratings,
        name,
        pairs.rows,
        observed=observed,
        expected=expected,
        of="agreement",
        degrees_lost=0,
    )


def _require_two(ratings: Ratings) -> None:
    """Raise unless there are two raters."""
    if ratings.n_raters != 2:
        rule = "there must be two raters here"
        remedy = "Pick them with ratings.subset(raters=[...]), or use what suits more: light_kappa."
        raise RatingsError([Fault("rater", rule, f"{ratings.n_raters}", remedy)])


def _cohen_parts(ratings: Ratings, weights: Weights | None) -> tuple[Formula, Formula]:
    """Observed and expected agreement of tables (..., K, K)."""
    agreement = weight_table(ratings, weights)

    def observed(table: Array) -> Array:
        return ratio((agreement * table).sum((-2, -1)), table.sum((-2, -1)))

    def expected(table: Array) -> Array:
        product = ((table.sum(-1) @ agreement) * table.sum(-2)).sum(-1)
        return ratio(product, table.sum((-2, -1)) ** 2)

    return observed, expected
