"""Draws as Stan's programs write them: comments, a header, and a row of numbers for each draw.

Our own programs write the rows into another file, as they are in memory, if asked to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.inference.threads import of_parts

# From pandas 3.1 on, numbers are always read exactly.
EXACT: dict[str, Any] = (
    {}
    if [*map(int, pd.__version__.split(".")[:2])] >= [3, 1]
    else {"float_precision": "round_trip"}
)


def numbers_beside(table: Path) -> Path:
    """File of the numbers of a table that has only the header."""
    return table.with_suffix(".numbers")


def read_variables(tables: Sequence[Path]) -> dict[str, Array]:
    """Draws of all variables.

    Parameters
    ----------
    tables : sequence of Path
        Table of each chain.

    Returns
    -------
    dict of str to array of shape (chains, draws, ...)
        By the names in the program; those of the sampler end with two underscores.
    """
    import stanio

    with open(tables[0], encoding="utf-8") as opened:
        header = next(line.strip() for line in opened if not line.startswith("#"))
    has_numbers = numbers_beside(tables[0]).exists()
    read = partial(_map_numbers, columns=header.count(",") + 1) if has_numbers else _read_table
    draws = of_parts(read, tables)
    return {
        name: np.stack([variable.extract_reshape(each) for each in draws])
        for name, variable in stanio.parse_header(header).items()
    }


def _map_numbers(table: Path, columns: int) -> Array:
    """Numbers in the file, which need no memory."""
    return np.memmap(numbers_beside(table), np.float64, "r").reshape(-1, columns)


def _read_table(table: Path) -> Array:
    # With pandas: polars would read faster, but its threads do not survive a fork.
    return np.asarray(pd.read_csv(table, comment="#", dtype=np.float64, **EXACT))


def read_metric(table: Path) -> tuple[Array, float] | None:
    """Inverse metric and step size that a chain has adapted; None if it has not."""
    rows, step_size = list[Array](), 0.0
    with open(table, encoding="utf-8") as opened:
        comments = (line[1:].strip() for line in opened if line.startswith("#"))
        for line in comments:
            if line.startswith("Step size ="):
                step_size = float(line.partition("=")[2])
            elif "inverse mass matrix" in line:
                break
        for line in comments:
            if not re.match(r"-?[\d.]", line):
                break
            rows.append(np.array(line.split(","), float))
    if not rows:
        return None
    return (rows[0] if len(rows) == 1 else np.array(rows)), step_size


def read_settings(table: Path) -> dict[str, str]:
    """Values of the comments such as ``# max_depth = 10`` at the head of a table."""
    settings = {}
    with open(table, encoding="utf-8") as opened:
        for line in opened:
            if not line.startswith("#"):
                break
            if found := re.match(r"#\s*(\w+) = (\S*)", line):
                settings[found[1]] = found[2]
    return settings
