"""The table of items with true categories."""

from __future__ import annotations

import pandas as pd

from reliabayes.results.quantities import entropy


def label_table(probability: pd.DataFrame) -> pd.DataFrame:
    """Most probable category of each item, its probability, and the entropy in bits.

    Parameters
    ----------
    probability : DataFrame of shape (I, K)
        Probability of each true category of each item.

    Returns
    -------
    DataFrame
        A row for each item.
    """
    values = probability.to_numpy()
    best = values.argmax(axis=1)
    columns = {
        "category": probability.columns[best],
        "probability": values.max(axis=1),
        "entropy": entropy(values),
    }
    return pd.DataFrame(columns, index=probability.index)
