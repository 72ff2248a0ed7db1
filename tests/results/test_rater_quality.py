"""Columns of `raters()` by category, and raters who have not rated yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from tests.plots.test_plots import made_of


def rated(*rows: str, categories: str) -> rb.Ratings:
    """Ratings of items in columns by raters in rows, a letter each."""
    return rb.Ratings.from_wide(
        pd.DataFrame(map(list, rows), index=list("xyz")[: len(rows)]).T,
        scale="nominal",
        categories=list(categories),
    )


def same(values: Any) -> Any:
    """400 draws that are all the same."""
    return np.broadcast_to(np.asarray(values, float), (400, *np.shape(values)))


def test_raters_of_two_categories_have_their_rate_and_bias_of_the_second() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")
    drawn = {"a": [0.5, 0.2], "p": [[0.4, 0.6], [0.9, 0.1]], "prevalence": [[0.7, 0.3]]}
    fit = made_of(rb.RaterTAP(), ratings, **{name: same(x) for name, x in drawn.items()})

    table = fit.raters().loc[["x", "y"]]

    assert table["rate[y]"].tolist() == [0.75, 0.25]
    assert table["bias[y]"].tolist() == pytest.approx([0.3, -0.2])
    assert table["accuracy[n]"].tolist() == pytest.approx([0.5 + 0.5 * 0.4, 0.2 + 0.8 * 0.9])
    assert table["accuracy[y]"].tolist() == pytest.approx([0.5 + 0.5 * 0.6, 0.2 + 0.8 * 0.1])
    assert not {"rate[n]", "bias[n]"} & {*table}


def test_accuracies_by_true_category_are_the_diagonal_of_the_confusion_matrix() -> None:
    ratings = rated("abc", "abb", categories="abc")
    matrices = np.random.default_rng(1).dirichlet(np.ones(3), (2, 3))
    drawn = {"prevalence": np.full(3, 1 / 3), "confusion": matrices}
    fit = made_of(rb.DawidSkene(), ratings, **{name: same(x) for name, x in drawn.items()})

    table = fit.raters().loc[["x", "y"]]

    names = [f"accuracy[{category}]" for category in "abc"]
    assert table[names].to_numpy() == pytest.approx(matrices.diagonal(axis1=1, axis2=2))
    assert table.loc["y", ["rate[a]", "rate[b]", "rate[c]"]].tolist() == pytest.approx(
        [1 / 3, 2 / 3, 0]
    )
    assert not any(name.startswith("bias") for name in table)  # nobody guesses


def test_many_categories_have_no_columns_of_their_own() -> None:
    ratings = rated("abcde", "abcde", categories="abcde")

    table = rb.DawidSkene().em(ratings, priors=True).raters()

    assert [name for name in table if "[" in name] == []


def test_a_fixed_prevalence_has_no_bias() -> None:
    ratings = rated("nyyy", "nnny", categories="ny")

    table = rb.MACE(prevalence="uniform").em(ratings, priors=True).raters()

    assert "rate[y]" in table
    assert "bias[y]" not in table
