"""Tables of the report: columns of rounded numbers, with all rows as JSON for the script."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.html_report.blocks import Column, Table

DECIMALS = 3  # of numbers without a standard deviation
HEADERS = {
    "ess_bulk": "bulk ESS",
    "ess_tail": "tail ESS",
    "r_hat": "R-hat",
    "mcse": "MCSE",
    "p_loo": "p_loo",
    "n_high_k": "high Pareto k",
    "se": "SE",
    "se_difference": "SE of difference",
    "pr_above_0": "Pr(> 0)",
    "pr_lowest": "Pr(lowest)",
    "pr_poor": "Pr(poor)",
}
# Names chosen by users must not end the script element that holds the data.
ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def table(
    id: str,
    caption: str,
    frame: pd.DataFrame,
    *,
    sort_by: str = "",
    decimals: Mapping[str, int] | None = None,
    note: str = "",
    budget: int | None = None,
    uncertainty: str = "",
) -> Table:
    """Table of a frame, with its index as the first columns.

    Parameters
    ----------
    id : str
        Id on the page.
    caption : str
        Caption of the table.
    frame : DataFrame
        Rows, with ids as index.
    sort_by : str, optional
        Column by which rows are sorted, largest first.
    decimals : mapping of str to int, optional
        Decimals of columns, where they differ from the default.
    note : str, optional
        Note below the table.
    budget : int, optional
        Bytes that the data may take. If they take more, rows with the smallest ``uncertainty`` are
        left out, and the note says so.
    uncertainty : str, optional
        Column that decides which rows are left out.

    Returns
    -------
    Table
    """
    flat = frame.reset_index()
    given = _decimals(frame) | dict(decimals or {})
    kept = flat.sort_values(sort_by, ascending=False, kind="stable") if sort_by else flat
    while True:
        columns = [_column(name, kept[name], given) for name in kept]
        data = encoded(columns, list(flat).index(sort_by) if sort_by else None)
        size = len(data.encode("utf-8", "replace"))
        if budget is None or size <= budget or len(kept) <= 1:
            break
        least = max(1, min(len(kept) - 1, int(0.95 * len(kept) * budget / size)))
        ranked = kept[uncertainty].rank(method="first", ascending=False)
        kept = kept[ranked <= least]
    if len(kept) < len(flat):
        note = (
            f"Shows the {len(kept):,} most uncertain of {len(flat):,} rows; the other "
            f"{len(flat) - len(kept):,}, with smaller {uncertainty}, are left out to limit the "
            f"size of the page. {note}"
        )
    return Table(id, caption, columns, data, note.strip(), sort_by and _header(sort_by))


def summary_table(id: str, caption: str, summary: pd.DataFrame, note: str = "") -> Table:
    """Table of quantities, each with decimals that suit its own standard deviation.

    Parameters
    ----------
    id : str
        Id on the page.
    caption : str
        Caption of the table.
    summary : DataFrame
        Result of `Fit.summary`.
    note : str, optional
        Note below the table.

    Returns
    -------
    Table
    """
    own = [_places(sd, 2) for sd in summary["sd"]]
    columns = [Column(str(summary.index.name), list(map(str, summary.index)))]
    for name, values in summary.items():
        usual = {"ess_bulk": 0, "ess_tail": 0, "r_hat": 3, "mcse": None}.get(str(name), -1)
        places = [at + 2 if usual is None else at if usual < 0 else usual for at in own]
        shown = [
            f"{value + 0.0:,.{digits}f}" if np.isfinite(value) else "-"
            for value, digits in zip(values, places, strict=True)
        ]
        columns.append(
            Column(_header(str(name)), _json_numbers(values.to_numpy(), None), shown=shown)
        )
    return Table(id, caption, columns, encoded(columns, None), note)


def encoded(columns: Sequence[Column], sorted_by: int | None) -> str:
    """Columns as JSON that is safe inside a script element.

    Parameters
    ----------
    columns : sequence of Column
        All columns of a table.
    sorted_by : int or None
        Number of the column by which rows are sorted.

    Returns
    -------
    str
    """
    described = [
        {
            "name": column.name,
            "values": column.values,
            **({"decimals": column.decimals} if column.decimals is not None else {}),
            **({"shown": column.shown} if column.shown is not None else {}),
        }
        for column in columns
    ]
    text = json.dumps(
        {"columns": described, "sorted": sorted_by},
        ensure_ascii=False, allow_nan=False, separators=(",", ":"),
    )  # fmt: skip
    return text.translate(ESCAPED)


def _column(name: Any, values: pd.Series[Any], decimals: Mapping[str, int]) -> Column:
    header = _header(str(name))
    if name not in decimals:
        return Column(header, list(map(str, values)))
    places = decimals[str(name)]
    return Column(header, _json_numbers(values.to_numpy(), places), places)


def _decimals(frame: pd.DataFrame) -> dict[str, int]:
    """Decimals of numeric columns; ids and categories are texts."""
    estimates = re.compile(r"mean|sd|median|lower_.*|upper_.*")
    places = _places(float(frame["sd"].median()), 1) if "sd" in frame else DECIMALS
    numbers = frame.drop(columns="category", errors="ignore").select_dtypes("number")
    return {
        str(name): 0
        if values.dtype.kind in "iu"
        else places
        if estimates.fullmatch(str(name))
        else DECIMALS
        for name, values in numbers.items()
    }


def _places(sd: float, digits: int) -> int:
    """Decimals that show a standard deviation to ``digits + 1`` digits, at most six."""
    if not 0 < sd < math.inf:
        return DECIMALS
    return min(6, max(0, digits - math.floor(math.log10(sd))))


def _json_numbers(values: Any, places: int | None) -> list[Any]:
    """Numbers as JSON values, rounded to ``places`` decimals unless None; None if not finite."""
    numbers = np.asarray(values, float) + 0.0
    if places is not None:
        numbers = np.round(numbers, places) + 0.0
    listed: list[Any] = (
        numbers.astype(int).tolist()
        if places == 0 and np.isfinite(numbers).all()
        else numbers.tolist()
    )
    return [value if math.isfinite(value) else None for value in listed]


def _header(name: str) -> str:
    """Header of a column; ends of intervals are named by their quantile."""
    if found := re.fullmatch(r"(lower|upper)_([\d.]+)", name):
        tail = (100 - float(found[2])) / 2
        return f"{tail if found[1] == 'lower' else 100 - tail:g}%"
    return HEADERS.get(name, name.replace("_", " "))
