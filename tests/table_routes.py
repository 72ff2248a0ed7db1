"""One truth for all ways in: the same random table by every route gives the same ratings.

``make fuzz`` sends 4,000 tables; ``python -m tests.table_routes --seed 5 --case 17`` repeats one.
The suite has a short tier of the same.

Two tables are the same if their cells are, under three rules:

1. A text file knows no types. Each of its columns is what its spelling says: ids are whole numbers
   if all are, of at most 18 digits and without leading zeros; ratings are numbers if all are, and
   gold if they are; and all else is text.
2. A sheet of a workbook has numbers where all cells of a column are numbers (or bools); any other
   column is read as rule 1 says.
3. Frames, Parquet and JSON lines are what their types say; JSON has texts for dates.

Names of columns are texts everywhere, 1 and 1.0 are one number, and a date is its ISO text.
Refusals are the same if they have a rule in common: where a column cannot be read, some routes
stop, and others list all faults.
"""

from __future__ import annotations

import argparse
import re
import secrets
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from tests.table_writers import ROUTES, Route

WHOLE = re.compile(r"0|-?[1-9][0-9]*")
ID = re.compile(r"0|-?[1-9][0-9]{0,17}")
NUMBER = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
IDS: Mapping[str, list[Any]] = {
    "whole": list(range(1, 9)),
    "with zero": [0, -1, 10, 2, 33, 4, 5, 6],
    "zeros in front": ["01", "1", "001", "02", "2", "10", "3", "03"],
    "exponents": ["1e5", "100000", "1E05", "1e400", "2e5", "1e-3", "5", "6"],
    "missing words": ["None", "NA", "nan", "null", "N/A", "-", "NULL", "<NA>"],
    "truth words": ["TRUE", "FALSE", "yes", "no", "True", "T", "F", "0"],
    "unicode": ["é", "日本", "ß", "Ω", "a\u0301b", "🙂", "ñ", "я"],
    "spaces": [" a", "b ", "c d", " e ", "f\u00a0", "g", "h", "i"],
    "marks": ["a,b", 'say "x"', "c;d", "e|f", "'g'", "#h", "i\tj", "k\nl"],
    "formulas": ["=1+1", "+a", "-b", "@c", "=A1", "-", "+1", "--"],
    "dates as text": [f"2024-01-0{day}" for day in range(1, 9)],
    "large": [2**53, 2**53 + 1, 2**53 + 2, 2**62, 7, 8, 9, 10],
    "beyond int64": [2**63, 2**63 + 1, 2**64 - 1, 7, 8, 9, 10, 11],
    "beyond uint64": [2**64, 2**64 + 1, 2**70, 10**30, 8, 9, 10, 11],
    "long digits": [str(2**64 + n) for n in range(8)],
    "floats": [0.1, 0.3, 1.5, 2.5, 1e-7, 3.25, 1e15 + 0.5, 7.0],
    "dates": [date(2024, 1, day) for day in range(1, 9)],
    "words": ["x", "y", "z", "u", "v", "w", "X", "Y"],
}
VALUES: Mapping[str, list[Any]] = {
    "grades": [1, 2, 3, 4, 5],
    "binary": [0, 1],
    "scores": [0.3, 0.1, 0.7, 1.1, 2.0, 1e-5, 1234.5],
    "whole floats": [1.0, 2.0, 3.0],
    "decimals": [Decimal("0.3"), Decimal("0.10"), Decimal("2.25")],
    "bools": [True, False],
    "labels": ["a", "b", "c"],
    "missing words": ["None", "NA", "ok"],
    "truth words": ["TRUE", "FALSE"],
    "zeros in front": ["01", "02", "10"],
    "number texts": ["1", "2", "3"],
    "exponents": ["1e5", "1e3", "7"],
    "numbers and words": ["1", "2", "unsure", "none"],
    "twins": ["yes", "Yes", "no"],
    "unicode": ["é", "日本", "ß"],
    "marks": ["a,b", 'c"d', "e;f"],
    "large": [2**53, 2**53 + 1, 2**53 + 3],
    "beyond int64": [2**63, 2**63 + 2, 5],
    "beyond uint64": [2**64, 2**64 + 1, 5],
    "dates": [date(2024, 1, 5), date(2024, 2, 5), date(2024, 3, 1)],
}


@dataclass(frozen=True, eq=False)
class Table:
    """Cells by column, None where empty, and how they are to be read."""

    columns: Mapping[str, list[Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    is_wide: bool = False
    kinds: tuple[str, ...] = ()

    @property
    def values(self) -> list[str]:
        """Names of the columns of ratings and gold."""
        ids = ("item",) if self.is_wide else ("item", "rater", "pool", "day")
        return [name for name in self.columns if name not in ids]


def table(rng: np.random.Generator) -> Table:
    """A random table, mostly of a kind that is answered."""
    is_wide = bool(rng.random() < 0.25)
    names = list(IDS)
    of_item, of_rater = rng.choice(names, 2).tolist()
    if is_wide or rng.random() < 0.5:
        of_rater = str(rng.choice(["words", "unicode", "missing words", "zeros in front"]))
    of_value = str(rng.choice(list(VALUES)))
    items = rng.permutation(np.array(IDS[of_item], object))[: rng.integers(2, 9)].tolist()
    raters = rng.permutation(np.array(IDS[of_rater], object))[: rng.integers(2, 6)].tolist()
    values = VALUES[of_value]
    n_rows, n_columns = len(items), len(raters)
    cells = [[values[rng.integers(len(values))] for _ in raters] for _ in items]
    if rng.random() < 0.5:
        for at in np.flatnonzero(rng.random(n_rows * n_columns) < 0.15):
            cells[at // n_columns][at % n_columns] = None
    golds = [values[rng.integers(len(values))] if rng.random() < 0.7 else None for _ in items]
    has_gold = bool(rng.random() < 0.3) and any(gold is not None for gold in golds)
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["scale"] = str(rng.choice(["nominal", "ordered", "numeric"]))
        if options["scale"] != "numeric" and rng.random() < 0.5:
            options["categories"] = [*values]
    if has_gold:
        options["gold"] = "gold"
    kinds = (of_item, of_rater, of_value)
    if is_wide:
        columns = {"item": items} | {
            str(name): [row[at] for row in cells] for at, name in enumerate(raters)
        }
        return Table(columns | ({"gold": golds} if has_gold else {}), options, True, kinds)
    rows = [(i, j) for i in range(n_rows) for j in range(n_columns)]
    rows = [rows[at] for at in rng.permutation(len(rows))]
    columns = {
        "item": [items[i] for i, _ in rows],
        "rater": [raters[j] for _, j in rows],
        "rating": [cells[i][j] for i, j in rows],
    }
    if rng.random() < 0.25:
        pools = IDS[str(rng.choice(names))][:2]
        columns["pool"] = [pools[j % 2] for _, j in rows]
        options["pool"] = "pool"
    if has_gold:
        columns["gold"] = [golds[i] for i, _ in rows]
    if rng.random() < 0.25:
        days = IDS[str(rng.choice(names))][:2]
        columns["day"] = [days[(i + j) % 2] for i, j in rows]
        options["facets"] = ["day"]
    if rng.random() < 0.7:
        options["missing"] = "drop"
    if rng.random() < 0.05:
        columns["item"][0] = None
    return Table(columns, options, False, kinds)


def outcome(run: Callable[[], rb.Ratings]) -> Any:
    """What was read, or the rules that were broken; anything else that is raised is a fault."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return seen(run())
    except rb.RatingsError as error:
        return frozenset(fault.rule for fault in error.faults)
    except Exception as error:
        return f"stray {type(error).__name__}: {error}"[:300]


def seen(ratings: rb.Ratings) -> dict[str, Any]:
    """All that ratings hold, in plain values."""
    is_numeric = ratings.scale == "numeric"
    return {
        "scale": ratings.scale,
        "guess": ratings.scale_is_guess,
        "categories": [*map(plain, ratings.categories)],
        "items": [*map(plain, ratings.items)],
        "raters": [*map(plain, ratings.raters)],
        "pools": [*map(plain, ratings.pools)],
        "facets": {name: [*map(plain, ids)] for name, ids in ratings.facets.items()},
        "item": ratings.item.tolist(),
        "rater": ratings.rater.tolist(),
        "rating": [*map(plain, ratings.rating)] if is_numeric else ratings.rating.tolist(),
        "rater_pool": None if ratings.rater_pool is None else ratings.rater_pool.tolist(),
        "gold": None if ratings.gold is None else [*map(plain, ratings.gold)],
        "facet": {name: codes.tolist() for name, codes in ratings.facet.items()},
        "missing": ratings.n_missing,
    }


def plain(value: Any) -> tuple[str, Any]:
    """A value with its type, where 1 and 1.0 are one number and dates are texts."""
    if isinstance(value, (bool, np.bool_)):
        return "bool", bool(value)
    if isinstance(value, (int, np.integer)):
        return "number", int(value)
    if isinstance(value, (float, np.floating, Decimal)):
        number = float(value)
        if np.isnan(number):
            return "missing", None
        return "number", int(number) if number == np.floor(number) else number
    if isinstance(value, (date, datetime)):
        return "text", value.isoformat().removesuffix("T00:00:00")
    return "text", str(value)


def spelled(value: Any) -> str | None:
    """How a text file writes a value."""
    return None if value is None else repr(value) if isinstance(value, float) else str(value)


def as_text(given: Table, only: Callable[[list[Any]], bool] = lambda cells: True) -> Table:
    """The table as rule 1 reads it; by rule 2, only columns with texts."""
    ratings = [name for name in given.values if name != "gold"]
    together = [cell for name in ratings for cell in given.columns[name]]
    read = _numbers(together) if only(together) else together
    size = len(given.columns["item"])
    columns = {
        name: _whole(cells, ID) if only(cells) else cells for name, cells in given.columns.items()
    }
    columns |= {name: read[at * size : (at + 1) * size] for at, name in enumerate(ratings)}
    if "gold" in columns:
        golds = given.columns["gold"]
        are_texts = any(isinstance(cell, str) for cell in read)
        if are_texts:
            columns["gold"] = [*map(spelled, golds)]
        else:
            columns["gold"] = _numbers(golds) if only(golds) else golds
    return Table(columns, given.options, given.is_wide, given.kinds)


def _whole(cells: list[Any], whole: re.Pattern[str]) -> list[Any]:
    texts = [*map(spelled, cells)]
    are_whole = all(whole.fullmatch(text) for text in texts if text is not None)
    return [None if text is None else int(text) for text in texts] if are_whole else texts


def _numbers(cells: list[Any]) -> list[Any]:
    read = _whole(cells, WHOLE)
    are_numbers = all(NUMBER.fullmatch(cell) for cell in read if isinstance(cell, str))
    return (
        [float(cell) if isinstance(cell, str) else cell for cell in read] if are_numbers else read
    )


def has_texts(cells: list[Any]) -> bool:
    """Whether some cells of a column are neither numbers nor bools."""
    kinds = {type(cell) for cell in cells if cell is not None}
    are_numbers = kinds <= {int, float, Decimal}
    return not (are_numbers or kinds <= {bool} or kinds <= {date})


def with_iso_dates(given: Table) -> Table:
    """The table as JSON has it, which knows no dates."""
    columns = {
        name: [cell.isoformat() if isinstance(cell, date) else cell for cell in cells]
        for name, cells in given.columns.items()
    }
    return Table(columns, given.options, given.is_wide, given.kinds)


FLAVOURS: Mapping[str, Callable[[Table], Table]] = {
    "text": as_text,
    "sheet": lambda given: as_text(given, has_texts),
    "json": with_iso_dates,
    "typed": lambda given: given,
}


def reference(given: Table) -> Any:
    """What a plain frame of Python objects gives, found to hold each cell of the table."""
    frame = pd.DataFrame(
        {name: pd.Series(cells, dtype=object) for name, cells in given.columns.items()}
    )
    if given.is_wide:
        found = outcome(lambda: rb.Ratings.from_wide(frame, item="item", **given.options))
    else:
        found = outcome(lambda: rb.Ratings.from_frame(frame, **given.options))
    if isinstance(found, dict) and (rows := _rows(found)) != (truth := _truth(given, found)):
        return f"wrong cells {sorted(rows ^ truth, key=str)[:6]}"
    return found


def _rows(found: Mapping[str, Any]) -> set[Any]:
    """Item, rater, rating, pool, gold and levels of each row, from the codes."""
    categories = found["categories"]
    is_numeric = found["scale"] == "numeric"
    golds = found["gold"] or [None] * len(found["items"])
    known = [
        None
        if gold is None or gold == ("missing", None) or (not is_numeric and gold[1] < 0)
        else gold
        if is_numeric
        else categories[gold[1]]
        for gold in golds
    ]
    pools = found["rater_pool"]
    return {
        (
            found["items"][i],
            found["raters"][j],
            rating if is_numeric else categories[rating],
            None if pools is None else found["pools"][pools[j]],
            known[i],
            *(found["facets"][name][codes[row]] for name, codes in found["facet"].items()),
        )
        for row, (i, j, rating) in enumerate(
            zip(found["item"], found["rater"], found["rating"], strict=True)
        )
    }


def _truth(given: Table, found: Mapping[str, Any]) -> set[Any]:
    as_value = _number if found["scale"] == "numeric" else plain
    columns = given.columns
    golds = columns.get("gold", [None] * len(columns["item"]))
    gold = [None if cell is None else as_value(cell) for cell in golds]
    if given.is_wide:
        return {
            (plain(item), plain(name), as_value(columns[name][row]), None, gold[row])
            for row, item in enumerate(columns["item"])
            for name in given.values
            if name != "gold" and columns[name][row] is not None
        }
    return {
        (
            plain(columns["item"][row]),
            plain(columns["rater"][row]),
            as_value(rating),
            plain(columns["pool"][row]) if "pool" in columns else None,
            gold[row],
            *((plain(columns["day"][row]),) if "day" in columns else ()),
        )
        for row, rating in enumerate(columns["rating"])
        if rating is not None
    }


def _number(value: Any) -> tuple[str, Any]:
    return plain(float(value))


def _tidy(given: Table) -> Table:
    """The table as the app reads it, which leaves out rows without a rating."""
    if given.is_wide:
        return given
    return replace(given, options={"missing": "drop", **given.options})


def differences(seed: int, case: int, n_routes: int | None) -> list[str]:
    """What went wrong with a table on some routes, or on all."""
    rng = np.random.default_rng([seed, case])
    given = table(rng)
    routes = [route for route in ROUTES if route.takes(given)]
    if n_routes is not None:
        routes = [routes[at] for at in rng.permutation(len(routes))[:n_routes]]
    expected: dict[tuple[str, bool], Any] = {}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for number, route in enumerate(routes):
            key = route.flavour, route.tidy is not None
            if key not in expected:
                flavoured = FLAVOURS[route.flavour](given)
                expected[key] = reference(_tidy(flavoured) if key[1] else flavoured)
            own = Path(folder, str(number))
            own.mkdir()
            found = outcome(partial(route.read, given, own))
            difference = _difference(route, expected[key], found)
            if difference is not None and route.tidy is not None:
                difference = _difference(route, outcome(partial(route.tidy, given, own)), found)
            if difference is not None:
                wrong.append(
                    f"case {case}, {route.name}, {given.kinds} {given.options}: {difference}"
                )
    return wrong


def _difference(route: Route, expected: Any, found: Any) -> str | None:
    if isinstance(expected, str):
        return f"from_frame: {expected}"
    if isinstance(found, str):
        return found
    if found == expected:
        return None
    if isinstance(found, dict) and isinstance(expected, dict):
        return "; ".join(
            f"{name} {found[name]} for {expected[name]}"[:300]
            for name in found
            if found[name] != expected[name]
        )
    if isinstance(found, frozenset):
        are_alike = isinstance(expected, frozenset) and found & expected
        if are_alike or route.may_refuse(found):
            return None
    return f"{_shown(found)} for {_shown(expected)}"


def _shown(result: Any) -> str:
    return f"refused: {sorted(result)}" if isinstance(result, frozenset) else "answered"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--case", type=int, help="only this one, by all routes")
    parser.add_argument("--routes", type=int, default=4, help="of each table")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    if given.case is not None:
        print(table(np.random.default_rng([given.seed, given.case])))
        wrong = differences(given.seed, given.case, None)
    else:
        wrong = [
            each
            for case in range(given.cases)
            for each in differences(given.seed, case, given.routes)
        ]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
