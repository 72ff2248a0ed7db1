"""Tables of the page: columns of rounded numbers, all rows as JSON for the script."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.html_report.blocks import Column, Table

DIGITS = 3  # decimals of what has no standard deviation beside it
HEADERS = {
    "ess_bulk": "ESS, bulk",
    "ess_tail": "ESS, tail",
    "r_hat": "R-hat",
    "mcse": "MCSE",
    "p_loo": "p, loo",
    "n_high_k": "high Pareto k",
    "se": "SE",
    "se_difference": "SE of it",
    "pr_above_0": "Pr(> 0)",
}
# Nothing in a block of data may end it, whatever users call their items.
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
    """Table of a frame, its index in the first columns.

    Parameters
    ----------
    id, caption, note : of the table on the page
    frame : rows, their ids as index
    sort_by : column whose largest values come first
    decimals : of columns, other than the usual
    budget : bytes that the data may take; of more, rows with the least ``uncertainty`` are left
        out, and the note says so
    """
    flat = frame.reset_index()
    given = _decimals(frame) | dict(decimals or {})
    kept = flat.sort_values(sort_by, ascending=False, kind="stable") if sort_by else flat
    while True:
        columns = [_column(name, kept[name], given) for name in kept]
        data = encoded(columns, list(flat).index(sort_by) if sort_by else None)
        size = len(data.encode("utf-8", "replace"))
        if budget is None or size <= budget:
            break
        least = min(len(kept) - 1, int(0.95 * len(kept) * budget / size))
        ranked = kept[uncertainty].rank(method="first", ascending=False)
        kept = kept[ranked <= least]
    if len(kept) < len(flat):
        note = (
            f"The {len(kept):,} least certain of {len(flat):,} rows are here; the other "
            f"{len(flat) - len(kept):,}, of smaller {uncertainty}, are left out to bound the size "
            f"of the page. {note}"
        )
    return Table(id, caption, columns, data, note.strip(), sort_by and _header(sort_by))


def summary_table(id: str, caption: str, summary: pd.DataFrame, note: str = "") -> Table:
    """Table of quantities, each with digits that suit its own standard deviation."""
    own = [_places(sd, 2) for sd in summary["sd"]]
    columns = [Column(str(summary.index.name), list(map(str, summary.index)))]
    for name, values in summary.items():
        usual = {"ess_bulk": 0, "ess_tail": 0, "r_hat": 3, "mcse": None}.get(str(name), -1)
        places = [at + 2 if usual is None else at if usual < 0 else usual for at in own]
        shown = [
            f"{value + 0.0:,.{digits}f}" if np.isfinite(value) else "-"
            for value, digits in zip(values, places, strict=True)
        ]
        columns.append(Column(_header(str(name)), _plain(values.to_numpy(), None), shown=shown))
    return Table(id, caption, columns, encoded(columns, None), note)


def encoded(columns: Sequence[Column], sorted_by: int | None) -> str:
    """Columns as JSON that may stand in a page."""
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
    return Column(header, _plain(values.to_numpy(), places), places)


def _decimals(frame: pd.DataFrame) -> dict[str, int]:
    """Decimals of the columns that are numbers; ids, and what raters said, are texts."""
    described = re.compile(r"mean|sd|median|lower_.*|upper_.*")
    places = _places(float(frame["sd"].median()), 1) if "sd" in frame else DIGITS
    numbers = frame.drop(columns="category", errors="ignore").select_dtypes("number")
    return {
        str(name): 0
        if values.dtype.kind in "iu"
        else places
        if described.fullmatch(str(name))
        else DIGITS
        for name, values in numbers.items()
    }


def _places(sd: float, digits: int) -> int:
    """Decimals that show a standard deviation to so many digits and one more, six at most."""
    if not 0 < sd < math.inf:
        return DIGITS
    return min(6, max(0, digits - math.floor(math.log10(sd))))


def _plain(values: Any, places: int | None) -> list[Any]:
    """Numbers as JSON can have them, rounded if ``places`` says to how many decimals."""
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
    """Name of a column as it stands above it; ends of intervals by their quantile."""
    if found := re.fullmatch(r"(lower|upper)_([\d.]+)", name):
        tail = (100 - float(found[2])) / 2
        return f"{tail if found[1] == 'lower' else 100 - tail:g}%"
    return HEADERS.get(name, name.replace("_", " "))
