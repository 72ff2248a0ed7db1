"""Texts of a file as ids and numbers, with a point or a comma before the decimals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reliabayes.choices import Decimal
from reliabayes.ratings.columns import NUMBER

LONG_NUMBER = 16  # digits, from which on floats may merge numbers
WHOLE_NUMBER = r"0|-?[1-9][0-9]{0,17}"  # 007 is an id or a label
ANY_WHOLE_NUMBER = r"0|-?[1-9][0-9]*"
COMMA_NUMBER = NUMBER.replace(r"\.", ",")
THOUSANDS = r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+"


def text_ids(texts: pd.Series[str]) -> pd.Categorical:
    """Ids of a column: int if all are whole numbers without leading zeros, otherwise text.

    Parameters
    ----------
    texts : Series of str, N rows
        The column; missing where the field is empty.

    Returns
    -------
    Categorical, N rows
    """
    codes, ids = pd.factorize(texts)
    are_whole = bool(ids.str.fullmatch(WHOLE_NUMBER).all())
    return pd.Categorical.from_codes(codes, ids.astype(np.int64) if are_whole else ids)


def text_values(
    texts: pd.Series[str], decimal: Decimal | None = None, *, are_labels: bool = False
) -> tuple[Any, Decimal]:
    """Ratings or gold of a column: numbers if all are, otherwise text.

    Parameters
    ----------
    texts : Series of str, N rows
        The column; missing where the field is empty.
    decimal : {".", ","}, optional
        What comes before the decimals. By default the comma if all values are numbers with it, some
        of which cannot be thousands such as 1,000.
    are_labels : bool, default False
        Whether they are labels even if all look like numbers, as gold is whose ratings are labels.

    Returns
    -------
    values : array of float64, array of Int64 for numbers of many digits, or the texts; N rows
    decimal : {".", ","}
    """
    codes, values = pd.factorize(texts)
    sign = decimal or _guessed_decimal(values)
    if sign == ",":
        is_number = values.str.fullmatch(COMMA_NUMBER)
        values = values.where(~is_number, values.str.replace(",", "."))
        texts = pd.Series(np.append(values.astype(object), np.nan)[codes], texts.index)
    if are_labels or not values.str.fullmatch(NUMBER).all():
        return texts, sign
    if values.str.len().max() >= LONG_NUMBER and values.str.fullmatch(ANY_WHOLE_NUMBER).all():
        whole = [*map(int, values)]
        is_small = all(abs(value) < 2**63 for value in whole)
        exact = pd.array(whole, dtype="Int64" if is_small else object)
        return exact.take(codes, allow_fill=True), sign
    return np.append(values.astype(np.float64), np.nan)[codes], sign


def _guessed_decimal(values: pd.Index[str]) -> Decimal:
    has_comma = values[values.str.contains(",", regex=False)]
    is_number = values.str.fullmatch(COMMA_NUMBER).all()
    is_comma = len(has_comma) and is_number and not has_comma.str.fullmatch(THOUSANDS).all()
    return "," if is_comma else "."
