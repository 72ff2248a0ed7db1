"""Random corruptions of good tables: each is read as its clean twin, or refused with a remedy.

``make fuzz`` corrupts 1,000 tables; ``python -m tests.corruptions --seed 5 --case 17`` repeats one.
The suite has a short tier of the same.

A table is corrupted as people and programs do it: rows above, below and within it, headers of two
rows, duplicates, other encodings and delimiters, other spellings of numbers and of no rating, and
cells that are mistyped. It is read with ``tidy=True``, and once more with the arguments that the
error names. Each rating is compared with that of the clean table; a cell that was emptied or
mistyped has none.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import secrets
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import reliabayes as rb

Key = tuple[str, ...]  # item, rater and occasion of a rating
SEPARATORS = (",", ";", "\t", "|")
ITEMS: tuple[Callable[[int], str], ...] = (
    lambda n: f"e{n}",
    lambda n: str(100 + n),
    lambda n: f"Essay {n}: Ärger über Straßen" if n % 2 else f"Essay {n}",
    lambda n: ("gut", "böse", "süß", "zäh", "klug", "öd", "neu", "alt", "rau", "fein")[n],
    lambda n: f"00{n}",
)
RATERS = (
    ("ann", "bob", "cy"),
    ("Jürgen", "Zoë", "François"),
    ("1", "2", "3"),
    ("w_a", "w_b", "w_c"),
    ("Ann Lee", "Bob Lee", "Cy Lee"),
)
NOTES = (
    "Ratings of essays",
    "exported on Friday, by Anna",
    "Source: second round",
    "# version 2",
    "confidential",
)
SUMMARIES = ("Total", "Mean", "Average", "Summe", "Mittelwert", "Moyenne", "Media", "TOTAL:")
NO_RATING = ("NA", "n/a", "-", ".", "N/A", "nan", "k.A.", "None", "?")
MISTYPED = ("3x", "o", "four", "#REF!", "--3", "3;", "see note", "l", "1.2.3", "?!")


@dataclass
class Messy:
    """A table while it is corrupted, and what its ratings are."""

    ratings: dict[Key, str]
    is_wide: bool
    header: list[str]
    rows: list[list[str]]
    cells: list[tuple[list[str], int, Key]]  # row, column and key of each rating
    occasions: tuple[str, ...] = ()
    kind: str = "grades"
    above: list[list[str]] = field(default_factory=list)
    below: list[list[str]] = field(default_factory=list)
    delimiter: str = ","
    encoding: str = "utf-8"
    is_workbook: bool = False
    merged: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


def good_table(rng: random.Random) -> Messy:
    """A table of 6 to 10 items by 3 raters, long or wide."""
    item, raters = rng.choice(ITEMS), rng.choice(RATERS)
    kind = rng.choice(
        ["grades", "grades", "decimals", "labels", "answers", "hundreds", "thousands"]
    )
    value: Callable[[], str] = {
        "grades": lambda: str(rng.randint(1, 5)),
        "decimals": lambda: f"{rng.randint(0, 9)}.{rng.choice(['5', '25', '75'])}",
        "labels": lambda: rng.choice(["cat", "dog", "fox"]),
        "answers": lambda: rng.choice(["yes", "no"]),
        "hundreds": lambda: str(rng.randint(0, 100)),
        "thousands": lambda: f"{rng.randint(1000, 9999)}.{rng.choice('123456789')}",
    }[kind]
    items = [item(n) for n in range(rng.randint(6, 10))]
    ratings: dict[Key, str] = {(i, rater): value() for i in items for rater in raters}
    if rng.random() < 0.5:
        rows = [[*key, text] for key, text in ratings.items()]
        cells = [(row, 2, key) for row, key in zip(rows, ratings, strict=True)]
        return Messy(ratings, False, ["item", "rater", "rating"], rows, cells, kind=kind)
    rows = [[i, *(ratings[i, rater] for rater in raters)] for i in items]
    cells = [(row, at, (row[0], rater)) for row in rows for at, rater in enumerate(raters, 1)]
    return Messy(ratings, True, ["item", *raters], rows, cells, kind=kind)


def notes_above(table: Messy, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 4)):
        table.above.append([rng.choice(NOTES), *rng.choice([[], [], ["2024"]])])
        if rng.random() < 0.4:
            table.above.append([])


def notes_below(table: Messy, rng: random.Random) -> None:
    table.below += [[], [rng.choice(NOTES)]][rng.randint(0, 1) :]
    if rng.random() < 0.5:
        table.below.append([rng.choice(NOTES)])


def empty_rows(table: Messy, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 4)):
        table.rows.insert(rng.randint(0, len(table.rows)), [""] * len(table.header))


def empty_columns(table: Messy, rng: random.Random) -> None:
    at = rng.choice([len(table.header), len(table.header), 1])
    for row in (table.header, *table.rows, *(row for row in table.above if len(row) > 3)):
        row.insert(at, "")
    if at == 1:
        table.merged = [re.sub("[B-Y]", _next_letter, cells) for cells in table.merged]


def _next_letter(found: re.Match[str]) -> str:
    return chr(ord(found[0]) + 1)


def repeated_header(table: Messy, rng: random.Random) -> None:
    table.rows.insert(rng.randint(1, len(table.rows)), list(table.header))


def total(table: Messy, rng: random.Random) -> None:
    name = rng.choice(SUMMARIES)
    if table.is_wide:
        columns = [[float(row[at]) for row in table.rows] for at in range(1, len(table.header))]
        is_sum = name.lower().startswith(("t", "su"))
        figures = [sum(x) if is_sum else sum(x) / len(x) for x in columns]
        table.below.insert(0, [name, *(f"{figure:.2f}" for figure in figures)])
    else:
        table.below.insert(0, [name, "", str(len(table.rows))])


def wrong_total(table: Messy, rng: random.Random) -> None:
    if table.is_wide:
        table.below.insert(0, [rng.choice(SUMMARIES), *("4" for _ in table.header[1:])])
    else:
        table.below.insert(0, [rng.choice(SUMMARIES), "all", "4"])


def averages(table: Messy, rng: random.Random) -> None:
    table.header.append(rng.choice(["Mean", "Average", "Mittelwert", "Sum"]))
    is_sum = table.header[-1] == "Sum"
    for row in table.rows:
        numbers = [float(text) for text in row[1:]]
        figure = sum(numbers) if is_sum else sum(numbers) / len(numbers)
        row.append(f"{figure:.2f}")


def duplicates(table: Messy, rng: random.Random) -> None:
    for row, column, key in rng.sample(table.cells, rng.randint(1, 4)):
        again = list(row)
        table.cells.append((again, column, key))
        table.rows.insert(rng.randint(0, len(table.rows)), again)


def no_rating(table: Messy, rng: random.Random) -> None:
    word = rng.choice(NO_RATING)
    for row, column, key in rng.sample(table.cells, rng.randint(1, 3)):
        row[column] = word
        table.ratings.pop(key, None)


def empty_cells(table: Messy, rng: random.Random) -> None:
    for row, column, key in rng.sample(table.cells, rng.randint(1, 3)):
        row[column] = ""
        table.ratings.pop(key, None)


def mistyped(table: Messy, rng: random.Random) -> None:
    row, column, key = rng.choice(table.cells)
    row[column] = rng.choice(MISTYPED)
    table.ratings.pop(key, None)


def respelled(table: Messy, form: Callable[[str], str]) -> None:
    for row, column, _ in table.cells:
        row[column] = form(row[column])


def percentages(table: Messy, rng: random.Random) -> None:
    sign = rng.choice(["%", " %"])
    respelled(table, lambda text: text + sign)


def units(table: Messy, rng: random.Random) -> None:
    unit = rng.choice([" mm", "mm", " points", "/100", " €", " Punkte"])
    respelled(table, lambda text: text + unit)


def commas(table: Messy, rng: random.Random) -> None:
    respelled(table, lambda text: text.replace(".", ","))


def some_commas(table: Messy, rng: random.Random) -> None:
    respelled(table, lambda text: text.replace(".", ",") if rng.random() < 0.5 else text)


def thousands(table: Messy, rng: random.Random) -> None:
    marks = rng.choice([",.", ".,", "'.", " ,", "\u00a0,"])
    swap = {",": marks[0], ".": marks[1]}
    respelled(table, lambda text: "".join(swap.get(sign, sign) for sign in f"{float(text):,.1f}"))


def whole_thousands(table: Messy, rng: random.Random) -> None:
    for key, text in table.ratings.items():
        table.ratings[key] = str(int(float(text)))
    respelled(table, lambda text: f"{int(float(text)):,}")


def spaces(table: Messy, rng: random.Random) -> None:
    respelled(table, lambda text: f" {text} " if rng.random() < 0.3 else text)


def twins(table: Messy, rng: random.Random) -> None:
    forms: list[Callable[[str], str]] = [str.upper, str.title, lambda text: f"{text} "]
    if table.kind == "answers":
        forms.append(lambda text: text[0])
    for row, column, _ in rng.sample(table.cells, len(table.cells) // 5):
        row[column] = rng.choice(forms)(row[column])


def two_row_header(table: Messy, rng: random.Random) -> None:
    """A banner above the raters, merged in a workbook."""
    last = len(table.header) - 1
    table.above += [["", "Raters", *[""] * (last - 1)]]
    if table.is_workbook:
        at = len(table.above)
        table.merged.append(f"B{at}:{chr(ord('A') + last)}{at}")


def occasions(table: Messy, rng: random.Random) -> None:
    """Two columns a rater, named in one row or in two."""
    table.occasions = ("t1", "t2")
    raters, old = table.header[1:], dict(table.ratings)
    table.ratings, table.cells = {}, []
    for row in table.rows:
        cells = []
        for rater, text in zip(raters, row[1:], strict=True):
            other = rng.choice([*old.values()])
            cells += [text, other]
            table.ratings |= {(row[0], rater, "t1"): text, (row[0], rater, "t2"): other}
        row[1:] = cells
        keys = [(row[0], rater, day) for rater in raters for day in table.occasions]
        table.cells += [(row, at, key) for at, key in enumerate(keys, 1)]
    if rng.random() < 0.5:
        table.header = ["item", *(f"{rater}_{day}" for rater in raters for day in ("t1", "t2"))]
        return
    table.above.append(["", *(text for rater in raters for text in (rater, ""))])
    if table.is_workbook:
        at = len(table.above)
        table.merged += [f"{chr(66 + 2 * n)}{at}:{chr(67 + 2 * n)}{at}" for n in range(len(raters))]
    table.header = ["item", *["t1", "t2"] * len(raters)]


def merged_items(table: Messy, rng: random.Random) -> None:
    """Items that are written once for their three rows."""
    first = len(table.above) + 2
    for at in range(0, len(table.rows), 3):
        table.rows[at + 1][0] = table.rows[at + 2][0] = ""
        table.merged.append(f"A{first + at}:A{first + at + 2}")


def other_names(table: Messy, rng: random.Random) -> None:
    names = [
        ("Aufsatz", "Bewerter", "Note"),
        ("document", "annotator", "score"),
        ("Texte", "Évaluateur", "Note"),
        ("documento", "evaluador", "puntuación"),
        ("HITId", "WorkerId", "Answer.quality"),
    ]
    table.header[:3] = rng.choice(names)
    table.options["guess"] = True


IS: Mapping[str, Callable[[Messy], bool]] = {
    "number": lambda t: t.kind in ("grades", "decimals", "hundreds", "thousands"),
    "wide": lambda t: t.is_wide and not t.occasions,
    "long": lambda t: not t.is_wide,
    "decimals": lambda t: t.kind == "decimals",
    "thousands": lambda t: t.kind == "thousands",
    "labels": lambda t: t.kind in ("labels", "answers"),
    "whole": lambda t: t.kind in ("grades", "hundreds"),
    "workbook": lambda t: t.is_workbook,
}
# What may be done, in this order, and to which tables; of each group at most one.
CORRUPTIONS: Sequence[Sequence[tuple[Callable[[Messy, random.Random], None], Sequence[str]]]] = (
    [(notes_above, [])],
    [(occasions, ["wide", "number"])],
    [(averages, ["wide", "number"])],
    [(total, ["wide", "number"]), (wrong_total, ["number"]), (total, ["long"])],
    [(duplicates, ["long"])],
    [
        (percentages, ["whole"]),
        (units, ["number"]),
        (commas, ["decimals"]),
        (some_commas, ["decimals"]),
        (thousands, ["thousands"]),
        (whole_thousands, ["thousands"]),
        (spaces, ["number"]),
        (twins, ["labels"]),
    ],
    [(no_rating, []), (empty_cells, []), (mistyped, ["number"])],
    [(other_names, ["long"])],
    [(empty_columns, [])],
    [(two_row_header, ["wide"])],
    [(merged_items, ["workbook", "long"])],
    [(repeated_header, [])],
    [(empty_rows, [])],
    [(notes_below, [])],
)
# Of each of these sets at most one, because together they leave open what the ratings are.
APART = (
    {"duplicates", "no_rating", "empty_cells", "mistyped"},
    {"merged_items", "duplicates"},
    {"merged_items", "total"},
    {"merged_items", "wrong_total"},
    {"averages", "occasions"},
)


def corrupted(seed: int, case: int) -> Messy:
    """A table with one to four corruptions."""
    rng = random.Random(f"{seed} {case}")
    table = good_table(rng)
    table.is_workbook = rng.random() < 0.25
    chosen = set(rng.sample(range(len(CORRUPTIONS)), rng.randint(1, 4)))
    for at in sorted(chosen):
        possible = [
            change for change, needs in CORRUPTIONS[at] if all(IS[need](table) for need in needs)
        ]
        if not possible:
            continue
        change = rng.choice(possible)
        names = {*table.done, change.__name__}
        if any(len(names & apart) > 1 for apart in APART) or "merged_items" in table.done:
            continue
        change(table, rng)
        table.done.append(change.__name__)
    if not table.is_workbook:
        table.delimiter = rng.choice(SEPARATORS)
        table.encoding = rng.choice(
            ["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "mac-roman"]
        )
    return table


def written(table: Messy, folder: Path) -> Path:
    """The table as a file."""
    rows = [*table.above, table.header, *table.rows, *table.below]
    if table.is_workbook:
        import openpyxl  # type: ignore[import-untyped]

        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([_cell(text) for text in row])
        for cells in table.merged:
            book.active.merge_cells(cells)
        book.save(folder / "r.xlsx")
        return folder / "r.xlsx"
    path = folder / ("r.tsv" if table.delimiter == "\t" else "r.csv")
    text = io.StringIO()
    csv.writer(text, delimiter=table.delimiter, lineterminator="\n").writerows(rows)
    path.write_bytes(text.getvalue().encode(table.encoding))
    return path


def _cell(text: str) -> Any:
    if not text:
        return None
    if re.fullmatch(r"0|[1-9][0-9]*", text):
        return int(text)
    return float(text) if re.fullmatch(r"(0|[1-9][0-9]*)\.[0-9]+", text) else text


def outcome(seed: int, case: int) -> tuple[str, str]:
    """What became of a corrupted table, and what to show if it went wrong."""
    table = corrupted(seed, case)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = written(table, Path(folder))
        content = path.read_bytes().decode(table.encoding) if not table.is_workbook else str(table)
        about = f"{table.done} {table.encoding} {table.delimiter!r}\n{content}"
        try:
            return _outcome(path, table, about)
        except Exception:
            return "stray", f"{about}\n{traceback.format_exc()}"


def _outcome(path: Path, table: Messy, about: str) -> tuple[str, str]:
    given: dict[str, Any] = {"tidy": True, **table.options}
    try:
        ratings = rb.read_ratings(path, **given)
    except rb.RatingsError as error:
        remedy = error.arguments
        if not remedy:
            return "refused without a remedy", f"{about}\n{error}"
        try:
            ratings = rb.read_ratings(path, **given | remedy)
        except rb.RatingsError as again:
            return "remedy that does not work", f"{about}\n{error}\n{remedy}\n{again}"
        is_right = are_equal(ratings, table)
        named = f"{about}\n{remedy}\n{ratings}"
        return ("refused with a remedy" if is_right else "remedy that reads wrongly"), named
    return (
        "read" if are_equal(ratings, table) else "read wrongly"
    ), f"{about}\n{ratings}\n{ratings.notes}"


def are_equal(ratings: rb.Ratings, table: Messy) -> bool:
    """Whether these are the ratings of the clean table."""
    frame = ratings.to_frame()
    columns = ["item", "rater", *ratings.facets]
    found = Counter(
        (*map(str, key), value)
        for *key, value in frame[[*columns, "rating"]].itertuples(index=False)
    )
    are_numbers = IS["number"](table)
    expected = Counter(
        (*key, float(text) if are_numbers else text.casefold())
        for key, text in table.ratings.items()
    )
    if not are_numbers:
        found = Counter(
            {(*key, str(value).strip().casefold()): n for (*key, value), n in found.items()}
        )
        if table.kind == "answers":
            answers = {"y": "yes", "n": "no"}
            found = Counter({(*key, answers.get(v, v)): n for (*key, v), n in found.items()})
    is_scale = (ratings.scale == "numeric") == are_numbers
    return found == expected and is_scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--case", type=int, help="show one case")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    if given.case is not None:
        print(*outcome(given.seed, given.case), sep="\n")
        return
    counts: Counter[str] = Counter()
    for case in range(given.cases):
        kind, about = outcome(given.seed, case)
        counts[kind] += 1
        if kind not in GOOD:
            print(f"case {case}: {kind}\n{about}\n")
    for kind, count in sorted(counts.items()):
        print(f"{count:7} {kind}")
    sys.exit(bool(counts.keys() - GOOD))


GOOD = {"read", "refused with a remedy"}

if __name__ == "__main__":
    main()
