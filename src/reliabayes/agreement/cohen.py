"""Kappas of two raters, and Light's kappa, their mean over all pairs of raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.chance_correction import ChanceCorrection
from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.null_errors import (
    cohen_null_error,
    fleiss_null_error,
    refuse_repeats,
)
from reliabayes.agreement.over_parts import of_datasets
from reliabayes.agreement.rater_pairs import RaterPairTables
from reliabayes.agreement.scales import (
    Weights,
    agreement_weights,
    least_weight,
    with_weights,
)
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Meaning

COHEN = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} beyond chance, given how often each used the categories",
    ("cohen1960",),
    "kappa",
    of_null=("fleiss1969",),
)
SCOTT = Meaning(
    "Inter-rater agreement",
    "the agreement of two {raters} beyond chance, given how often both used the categories",
    ("scott1955",),
    "kappa",
    of_null=("fleiss1979",),
)
LIGHT = Meaning(
    "Inter-rater agreement",
    "the mean of Cohen's kappa over pairs of {raters}",
    ("light1971",),
    "kappa",
)


@of_datasets
def cohen_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Cohen's kappa of two raters, at most 1; 0 at chance level.

    .. math:: \kappa = (P_o - P_e) / (1 - P_e),\quad P_o = \sum_{kl} w_{kl} p_{kl},\quad
       P_e = \sum_{kl} w_{kl} p_{k+} p_{+l}

    where p_kl is the proportion of items that the first rater put into category k and the second
    into l. Items that only one of them rated are ignored.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By two raters; select them with ``ratings.subset(raters=[...])``.
    weights : str or array (K, K), optional
        Agreement weight of two categories. By default 1 for the same category and 0 otherwise.
        "linear", "quadratic", "ordinal", "radical", "ratio", "circular" and "bipolar" weights
        decrease from 1 to 0 with a distance of the categories, for which `weight_table` has the
        formulas; distances are differences of numbers, or ranks of ordered categories. An array
        has the categories of the first rater in rows, and need not be symmetric.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement". ``interval(method="analytic")``
        has the standard error of Fleiss, Cohen & Everitt.

    Raises
    ------
    RatingsError
        There are not exactly two raters, or the weights need an order or numbers, and the
        categories have none.

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
    agreement = agreement_weights(ratings, weights, is_symmetric=False)
    error = partial(cohen_null_error, agreement=agreement)
    kappa = _cohen(ratings, weights, is_symmetric=False)
    meaning = with_weights(COHEN, weights, "cohen1968")
    return _of_two_raters(ratings, "Cohen's kappa", kappa, error, meaning)


@of_datasets
def scott_pi(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Scott's pi of two raters, at most 1; 0 at chance level.

    .. math:: \pi = (P_o - P_e) / (1 - P_e),\quad
       P_e = \sum_{kl} w_{kl} \bar{p}_k \bar{p}_l,\quad \bar{p}_k = (p_{k+} + p_{+k}) / 2

    It differs from Cohen's kappa in that both raters share one distribution of chance ratings.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By two raters.
    weights : str or array (K, K), optional
        As for `cohen_kappa`, but symmetric.

    Returns
    -------
    Coefficient
        With parts "observed agreement" and "expected agreement".

    Raises
    ------
    RatingsError
        As for `cohen_kappa`.

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
    agreement = agreement_weights(ratings, weights)

    def expected(table: Array) -> Array:
        size = table.sum((-2, -1))
        both = table.sum(-1) + table.sum(-2)
        return ratio(((both @ agreement) * both).sum(-1), 4 * size**2)

    correction = replace(_cohen(ratings, weights), expected=expected)

    def error(table: Array) -> float:
        return fleiss_null_error(table.sum(0) + table.sum(1), int(table.sum()), 2)

    meaning = with_weights(SCOTT, weights, "cohen1968")
    of_null = error if weights is None else None
    return _of_two_raters(ratings, "Scott's pi", correction, of_null, meaning)


@of_datasets
def light_kappa(ratings: Ratings, weights: Weights | None = None) -> Coefficient:
    r"""Light's kappa: Cohen's kappa, averaged over all pairs of raters, at most 1.

    .. math:: \binom{R}{2}^{-1} \sum_{r < s} \kappa_{rs}

    Each pair is compared on the items that both rated. Pairs whose kappa is undefined, because
    they share no item or use a single category, are left out.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By at least two raters.
    weights : str or array (K, K), optional
        As for `cohen_kappa`, but symmetric.

    Returns
    -------
    Coefficient
        The mean kappa, with methods for its intervals.

    Raises
    ------
    RatingsError
        The raters are anonymous, or the weights need an order or numbers, and the categories have
        none.

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
    kappas = _cohen(ratings, weights)
    pairs = RaterPairTables.of(ratings, "light_kappa")
    mean = pairs.mean_over_pairs(kappas)
    meaning = with_weights(LIGHT, weights, "cohen1968")
    return Coefficient.of(ratings, "Light's kappa", pairs.rows, mean, meaning=meaning)


def _of_two_raters(
    ratings: Ratings,
    name: str,
    of_tables: ChanceCorrection,
    error: Callable[[Array], float] | None,
    meaning: Meaning,
) -> Coefficient:
    """Coefficient of the only pair of raters, given the chance correction and error of a table."""
    _require_two_raters(ratings)
    pairs = RaterPairTables.of(ratings, name)

    def of_only_pair(formula: Formula) -> Formula:
        return lambda sums: formula(pairs.tables(sums)[0][..., 0, :, :])

    correction = replace(
        of_tables,
        observed=of_only_pair(of_tables.observed),
        expected=of_only_pair(of_tables.expected),
    )

    def null_error(sums: Array) -> float:
        assert error is not None
        refuse_repeats(ratings, 'error="null"')
        return error(pairs.tables(sums)[0][0])

    return correction.coefficient(
        ratings,
        name,
        pairs.rows,
        degrees_lost=0,
        null_error=error and null_error,
        meaning=meaning,
    )


def _require_two_raters(ratings: Ratings) -> None:
    if ratings.n_raters != 2:
        rule = "there must be exactly two raters"
        remedy = "Select two with ratings.subset(raters=[...]), or use light_kappa."
        raise RatingsError([Fault("rater", rule, f"{ratings.n_raters}", remedy)])


def _cohen(
    ratings: Ratings, weights: Weights | None, *, is_symmetric: bool = True
) -> ChanceCorrection:
    """Cohen's kappa of tables (..., K, K)."""
    agreement = agreement_weights(ratings, weights, is_symmetric=is_symmetric)

    def observed(table: Array) -> Array:
        return ratio((agreement * table).sum((-2, -1)), table.sum((-2, -1)))

    def expected(table: Array) -> Array:
        product = ((table.sum(-1) @ agreement) * table.sum(-2)).sum(-1)
        return ratio(product, table.sum((-2, -1)) ** 2)

    return ChanceCorrection(observed, expected, "agreement", least_weight(weights))
