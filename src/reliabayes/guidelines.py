"""Published guidelines for the size of a coefficient, and the caution they require."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from reliabayes.wording import did_you_mean

__all__ = ["GUIDELINES", "Guideline", "catalogue", "interpret", "named"]


@dataclass(frozen=True, kw_only=True)
class Guideline:
    """Published words for ranges of a coefficient.

    Attributes
    ----------
    name : str
        The authors, as cited in a text.
    lower : tuple of float
        Lower limit of each range, ascending; the limit belongs to the range.
    words : tuple of str
        Word for each range; the first also applies below the first limit.
    made_for : str
        The coefficients for which it was proposed.
    source : str
        The publication.
    """

    name: str
    lower: tuple[float, ...]
    words: tuple[str, ...]
    made_for: str
    source: str

    @property
    def caution(self) -> str:
        """What a reader should know before quoting a word of it, in two sentences."""
        return (
            f"The words of {self.name} were proposed for {self.made_for}, not for every design. At "
            "the same percent agreement a coefficient depends on the number of categories, their "
            "prevalence and the number of ratings averaged: report the design and an interval "
            "along with the word."
        )

    def word(self, value: float) -> str:
        """Word for a value; see `interpret`."""
        if math.isnan(value):
            return "undefined"
        return self.words[max(bisect_right(self.lower, value) - 1, 0)]


def interpret(value: float, guideline: str | Guideline) -> str:
    """Return the word of a guideline for the size of a coefficient.

    A value on the border of two ranges belongs to the upper one. Guidelines were proposed for
    specific designs: read `Guideline.caution` before quoting one.

    Parameters
    ----------
    value : float
        A coefficient of agreement or reliability, at most 1; anything that `float` accepts.
    guideline : str or Guideline
        A key of `GUIDELINES`, or a guideline of your own.

    Returns
    -------
    str
        The word; "undefined" if the value is NaN.

    Raises
    ------
    ValueError
        There is no such guideline, or the value is above 1.

    Examples
    --------
    >>> interpret(0.55, "landis_koch")
    'moderate'
    >>> interpret(0.55, "cicchetti")
    'fair'
    >>> GUIDELINES["koo_li"].made_for
    'intraclass correlations'
    """
    size = float(value)
    if size > 1 + 1e-9:
        raise ValueError(f"value: a coefficient must be at most 1; found {size:g}.")
    return named(guideline).word(size)


def catalogue() -> pd.DataFrame:
    """Tabulate all guidelines.

    Returns
    -------
    DataFrame
        One row per range, with columns guideline, lower, word, made_for and source.

    Examples
    --------
    >>> catalogue().query("guideline == 'fleiss'")[["lower", "word"]].to_numpy().tolist()
    [[0.0, 'poor'], [0.4, 'fair'], [0.75, 'excellent']]
    """
    return pd.DataFrame(
        [
            (key, lower, word, each.made_for, each.source)
            for key, each in GUIDELINES.items()
            for lower, word in zip(each.lower, each.words, strict=True)
        ],
        columns=["guideline", "lower", "word", "made_for", "source"],
    )


def named(guideline: str | Guideline) -> Guideline:
    """Look up a guideline by name.

    Parameters
    ----------
    guideline : str or Guideline
        A key of `GUIDELINES`, or a guideline of your own, which is returned as it is.

    Returns
    -------
    Guideline
        The guideline.

    Raises
    ------
    ValueError
        There is no guideline of that name.

    Examples
    --------
    >>> named("koo_li").name
    'Koo & Li'
    """
    if isinstance(guideline, Guideline):
        return guideline
    if guideline in GUIDELINES:
        return GUIDELINES[guideline]
    guess = did_you_mean(guideline, GUIDELINES)
    hint = f"There are {', '.join(GUIDELINES)}." if guess is None else f"Did you mean {guess!r}?"
    raise ValueError(f"guideline must be the name of a guideline; found {guideline!r}. {hint}")


FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8)
KAPPA, ICC = "kappas of categories", "intraclass correlations"

GUIDELINES: Mapping[str, Guideline] = MappingProxyType(
    {
        "altman": Guideline(
            name="Altman",
            lower=FIFTHS,
            words=("poor", "fair", "moderate", "good", "very good"),
            made_for=KAPPA,
            source="Altman (1990), Practical Statistics for Medical Research",
        ),
        "cicchetti": Guideline(
            name="Cicchetti",
            lower=(0.0, 0.4, 0.6, 0.75),
            words=("poor", "fair", "good", "excellent"),
            made_for=f"{KAPPA} and {ICC} in clinical tests",
            source="Cicchetti & Sparrow (1981), Am. J. Mental Deficiency 86, 127-137; Cicchetti"
            " (1994), https://doi.org/10.1037/1040-3590.6.4.284",
        ),
        "fleiss": Guideline(
            name="Fleiss",
            lower=(0.0, 0.4, 0.75),
            words=("poor", "fair", "excellent"),
            made_for=KAPPA,
            source="Fleiss (1981), https://doi.org/10.1002/0471445428",
        ),
        "koo_li": Guideline(
            name="Koo & Li",
            lower=(0.0, 0.5, 0.75, 0.9),
            words=("poor", "moderate", "good", "excellent"),
            made_for=ICC,
            source="Koo & Li (2016), https://doi.org/10.1016/j.jcm.2016.02.012",
        ),
        "landis_koch": Guideline(
            name="Landis & Koch",
            lower=(-math.inf, *FIFTHS),
            words=("poor", "slight", "fair", "moderate", "substantial", "almost perfect"),
            made_for=KAPPA,
            source="Landis & Koch (1977), https://doi.org/10.2307/2529310",
        ),
        "portney_watkins": Guideline(
            name="Portney & Watkins",
            lower=(0.0, 0.75),
            words=("poor to moderate", "reasonable"),
            made_for=f"{ICC} of clinical measurements",
            source="Portney & Watkins (2009), Foundations of Clinical Research",
        ),
        "shrout": Guideline(
            name="Shrout",
            lower=(0.0, 0.1, 0.4, 0.6, 0.8),
            words=("virtually none", "slight", "fair", "moderate", "substantial"),
            made_for="reliability of psychiatric diagnoses",
            source="Shrout (1998), https://doi.org/10.1177/096228029800700306",
        ),
    }
)
