"""The routes by which `tests.table_routes` sends a table: how each writes and reads it."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import zstandard

import reliabayes as rb
from reliabayes.app.given import Given
from reliabayes.app.reading import Reading

if TYPE_CHECKING:
    from tests.table_routes import Table

Read = Callable[["Table", Path], rb.Ratings]


@dataclass(frozen=True)
class Route:
    """A way into the package, the rule by which it reads types, and the tables that it takes."""

    name: str
    flavour: str
    read: Read
    takes: Callable[[Table], bool]
    may_refuse: Callable[[frozenset[str]], bool] = lambda rules: False
    tidy: Read | None = None  # what repairs the same table as this one does


def any_table(table: Table) -> bool:
    return True


def long(table: Table) -> bool:
    return not table.is_wide


# Text files.


def text(table: Table, delimiter: str = ",", decimal: str = ".", **options: Any) -> str:
    """The table as delimited text."""
    written = io.StringIO()
    options = {"lineterminator": "\n"} | options
    writer = csv.writer(written, delimiter=delimiter, **options)
    writer.writerow(table.columns)
    signs = [decimal if name in table.values else "." for name in table.columns]
    for row in zip(*table.columns.values(), strict=True):
        writer.writerow([_field(cell, sign) for cell, sign in zip(row, signs, strict=True)])
    return written.getvalue()


def _field(cell: Any, decimal: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (float, Decimal)):
        return str(cell).replace(".", decimal)
    return str(cell)


def of_file(name: str, content: Callable[[Table], bytes], **options: Any) -> Read:
    """Read a file of this name."""

    def read(table: Table, folder: Path) -> rb.Ratings:
        path = folder / name
        path.write_bytes(content(table))
        return rb.read_ratings(path, **{**options, **_for_files(table)})

    return read


def _for_files(table: Table) -> dict[str, Any]:
    return dict(table.options) | {"shape": "wide" if table.is_wide else "long"}


def _zipped(content: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("ratings.csv", content)
    return written.getvalue()


def by_app(
    name: str,
    flavour: str,
    file: str,
    content: Callable[[Table], bytes],
    takes: Callable[[Table], bool] = any_table,
) -> Route:
    """Drop a file into the app, which reads it as the library does with ``tidy=True``."""
    return Route(
        name,
        flavour,
        lambda table, folder: _by_app(table, Given.dropped(file, content(table))),
        lambda table: "categories" not in table.options and takes(table),
        tidy=of_file(file, content, tidy=True, missing="drop"),
    )


def pasted(table: Table, folder: Path) -> rb.Ratings:
    return _by_app(table, Given.pasted(text(table)))


def _by_app(table: Table, given: Given) -> rb.Ratings:
    options: dict[str, Any] = _for_files(table)
    if "facets" in options:
        options["facets"] = tuple(options["facets"])
    return Reading(**options).ratings(given)


def with_comma(table: Table) -> bool:
    """Whether all ratings are numbers, so that a comma can only stand before decimals."""
    cells = [cell for name in table.values for cell in table.columns[name]]
    return all(type(cell) in (int, float, Decimal, type(None)) for cell in cells)


# Workbooks and JSON lines.


def workbook(table: Table) -> bytes:
    """The table as a workbook, with texts as texts and numbers as numbers."""
    from openpyxl import Workbook  # type: ignore[import-untyped]

    book = Workbook()
    sheet = book.active
    for at, row in enumerate([[*table.columns], *zip(*table.columns.values(), strict=True)], 1):
        for place, value in enumerate(row, 1):
            if value is None:
                continue
            cell = sheet.cell(at, place, value)
            if isinstance(value, str):
                cell.data_type = "s"
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def for_workbook(table: Table) -> bool:
    """Whether all numbers have at most 15 digits, which is what workbooks keep."""
    cells = [cell for column in table.columns.values() for cell in column]
    return all(abs(cell) < 10**15 for cell in cells if isinstance(cell, (int, float)))


def json_lines(table: Table) -> bytes:
    rows = [
        dict(zip(table.columns, map(_json_value, row), strict=True))
        for row in zip(*table.columns.values(), strict=True)
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def zipped_lines(table: Table) -> bytes:
    return gzip.compress(json_lines(table))


def _json_value(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return float(cell)
    return cell.isoformat() if isinstance(cell, date) else cell


# Frames in memory.


def objects(table: Table) -> pd.DataFrame:
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=object) for name, cells in table.columns.items()}
    )


def inferred(table: Table) -> pd.DataFrame:
    return objects(table).infer_objects()


def lossless(table: Table) -> bool:
    """Whether pandas keeps all numbers, which it does not if whole ones become floats."""
    return typed(table) and not any(
        None in cells and any(abs(cell) >= 2**53 for cell in cells if isinstance(cell, int))
        for cells in table.columns.values()
    )


def nullable(table: Table) -> pd.DataFrame:
    return inferred(table).convert_dtypes()


def arrow_dtypes(table: Table) -> pd.DataFrame:
    frame: pd.DataFrame = arrow(table).to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def categories(table: Table) -> pd.DataFrame:
    frame = inferred(table)
    return frame.astype({name: "category" for name in _coded_columns(table)})


def strings(kind: Literal["python", "pyarrow"]) -> Callable[[Table], pd.DataFrame]:
    def frame(table: Table) -> pd.DataFrame:
        texts = [name for name, cells in table.columns.items() if kinds(cells) == {str}]
        return inferred(table).astype({name: pd.StringDtype(kind) for name in texts})

    return frame


def arrow(table: Table) -> Any:
    return pa.table({name: pa.array(cells) for name, cells in table.columns.items()})


def arrow_dictionary(table: Table) -> Any:
    return pa.table(
        {
            name: column.dictionary_encode() if name in _coded_columns(table) else column
            for name, column in zip(table.columns, arrow(table).columns, strict=True)
        }
    )


def arrow_views(table: Table) -> Any:
    whole = arrow(table)
    return pa.table(
        {
            name: column.cast(pa.string_view()) if pa.types.is_string(column.type) else column
            for name, column in zip(whole.column_names, whole.columns, strict=True)
        }
    )


def chunked(table: Table) -> Any:
    whole = arrow(table)
    return pa.concat_tables([whole.slice(0, 1), whole.slice(1)])


def polars(table: Table) -> pl.DataFrame:
    return pl.from_arrow(arrow(table))  # type: ignore[return-value]


def polars_categories(table: Table) -> pl.DataFrame:
    texts = [name for name in _coded_columns(table) if kinds(table.columns[name]) == {str}]
    return polars(table).with_columns(pl.col(texts).cast(pl.Categorical))


def duck(table: Table) -> Any:
    import duckdb

    return duckdb.from_arrow(arrow(table))


def for_duckdb(table: Table) -> bool:
    """Whether names differ by more than capitals, which do not count in names of DuckDB."""
    return len({name.casefold() for name in table.columns}) == len(table.columns)


def _coded_columns(table: Table) -> list[str]:
    """Columns whose values may be categories, which for ratings would say their scale."""
    return [name for name in table.columns if name not in table.values]


def kinds(cells: list[Any]) -> set[type]:
    return {type(cell) for cell in cells if cell is not None}


@lru_cache(maxsize=1)
def typed(table: Table) -> bool:
    """Whether Arrow holds each column with one type."""
    try:
        whole = arrow(table)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return False
    mixed = any(len(kinds(cells)) > 1 for cells in table.columns.values())
    return not mixed and len(whole) > 0


def in_memory(make: Callable[[Table], Any]) -> Read:
    def read(table: Table, folder: Path) -> rb.Ratings:
        if table.is_wide:
            return rb.Ratings.from_wide(make(table), item="item", **table.options)
        return rb.Ratings.from_frame(make(table), **table.options)

    return read


# Parquet and parts.


def parquet(make: Callable[[Table], Any], **options: Any) -> Callable[[Table], bytes]:
    def content(table: Table) -> bytes:
        written = io.BytesIO()
        made = make(table)
        if isinstance(made, pl.DataFrame):
            made.write_parquet(written)
        elif isinstance(made, pd.DataFrame):
            made.to_parquet(written)
        else:
            pq.write_table(made, written, **options)
        return written.getvalue()

    return content


def parts(make: Callable[[Table, Path], Any]) -> Read:
    """Partition what is made, and read all parts."""

    def read(table: Table, folder: Path) -> rb.Ratings:
        source = make(table, folder)
        whole = rb.partition(
            source, folder / "parts", partitions=2, progress=False, **table.options
        )
        return whole.to_ratings()

    return read


def part_file(name: str, content: Callable[[Table], bytes]) -> Callable[[Table, Path], Any]:
    def write(table: Table, folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content(table))
        return path

    return write


def _of_table(make: Callable[[Table], Any]) -> Callable[[Table, Path], Any]:
    return lambda table, folder: make(table)


def _encoded(encoding: str) -> Callable[[Table], bytes]:
    return lambda table: text(table).encode(encoding)


def _bytes(**options: Any) -> Callable[[Table], bytes]:
    return lambda table: text(table, **options).encode()


CSV = _bytes()
TEXT_FILES: Mapping[str, Read] = {
    "csv": of_file("r.csv", CSV),
    "csv, all quoted": of_file("r.csv", _bytes(quoting=csv.QUOTE_ALL)),
    "csv, CRLF": of_file("r.csv", _bytes(lineterminator="\r\n")),
    "csv, bars": of_file("r.txt", _bytes(delimiter="|"), delimiter="|"),
    "csv, semicolons": of_file("r.csv", _bytes(delimiter=";")),
    "tsv": of_file("r.tsv", _bytes(delimiter="\t")),
    "csv.gz": of_file("r.csv.gz", lambda table: gzip.compress(CSV(table))),
    "csv.bz2": of_file("r.csv.bz2", lambda table: bz2.compress(CSV(table))),
    "csv.xz": of_file("r.csv.xz", lambda table: lzma.compress(CSV(table))),
    "csv.zip": of_file("r.csv.zip", lambda table: _zipped(CSV(table))),
    "csv.zst": of_file("r.csv.zst", lambda table: zstandard.compress(CSV(table))),
    "csv, byte order mark": of_file("r.csv", _encoded("utf-8-sig")),
    "csv, utf-16": of_file("r.csv", _encoded("utf-16"), encoding="utf-16"),
}
FRAMES: Mapping[str, Callable[[Table], Any]] = {
    "pandas, inferred": inferred,
    "pandas, nullable": nullable,
    "pandas, arrow": arrow_dtypes,
    "pandas, categories": categories,
    "pandas, python strings": strings("python"),
    "pandas, arrow strings": strings("pyarrow"),
    "arrow": arrow,
    "arrow, chunks": chunked,
    "arrow, views": arrow_views,
    "arrow, dictionary": arrow_dictionary,
    "polars": polars,
    "polars, categories": polars_categories,
    "duckdb to arrow": lambda table: duck(table).to_arrow_table(),
    "duckdb to pandas": lambda table: duck(table).df(),
    "duckdb to polars": lambda table: duck(table).pl(),
}
PARQUET: Mapping[str, Callable[[Table], bytes]] = {
    "parquet": parquet(arrow, use_dictionary=False),
    "parquet, dictionary": parquet(arrow_dictionary),
    "parquet, pandas": parquet(inferred),
    "parquet, pandas categories": parquet(categories),
    "parquet, polars": parquet(polars),
}
SOURCES: Mapping[str, Callable[[Table, Path], Any]] = {
    "parquet": part_file("r.parquet", PARQUET["parquet"]),
    "parquet, dictionary": part_file("r.parquet", PARQUET["parquet, dictionary"]),
    "pandas": _of_table(inferred),
    "pandas, categories": _of_table(categories),
    "polars": _of_table(polars),
    "polars, lazy": _of_table(lambda table: polars(table).lazy()),
    "arrow": _of_table(arrow),
    "duckdb": _of_table(duck),
}
TEXT_SOURCES: Mapping[str, Callable[[Table, Path], Any]] = {
    "csv": part_file("r.csv", CSV),
    "tsv": part_file("r.tsv", _bytes(delimiter="\t")),
    "csv.gz": part_file("r.csv.gz", lambda table: gzip.compress(CSV(table))),
    "csv.zst": part_file("r.csv.zst", lambda table: zstandard.compress(CSV(table))),
}


def _is_of_types(rules: frozenset[str]) -> bool:
    """Whether only types of columns are refused, which parts check before values."""
    return rules <= {
        "ids of items must be texts or whole numbers",
        "values must be texts, numbers or bools",
        "parts can hold texts, numbers and bools",
    }


def _takes(name: str) -> Callable[[Table], bool]:
    """Tables that a library holds as they are."""
    if "pandas" in name:
        return lambda table: lossless(table) and ("duckdb" not in name or for_duckdb(table))
    return (lambda table: typed(table) and for_duckdb(table)) if "duckdb" in name else typed


ROUTES = (
    *(Route(name, "text", read, any_table) for name, read in TEXT_FILES.items()),
    Route(
        "csv, decimal comma",
        "text",
        of_file("r.csv", _bytes(delimiter=";", decimal=","), decimal=","),
        with_comma,
    ),
    by_app("app, csv", "text", "r.csv", CSV),
    replace(by_app("app, pasted", "text", "r.csv", CSV), read=pasted),
    Route("xlsx", "sheet", of_file("r.xlsx", workbook), for_workbook),
    by_app("app, xlsx", "sheet", "r.xlsx", workbook, for_workbook),
    Route("json lines", "json", of_file("r.jsonl", json_lines), any_table),
    Route("json lines, gz", "json", of_file("r.ndjson.gz", zipped_lines), any_table),
    by_app("app, json lines", "json", "r.jsonl", json_lines),
    *(Route(name, "typed", in_memory(make), _takes(name)) for name, make in FRAMES.items()),
    *(
        Route(name, "typed", of_file("r.parquet", content), _takes(name))
        for name, content in PARQUET.items()
    ),
    *(
        Route(
            f"parts of {name}",
            "typed",
            parts(make),
            lambda table: long(table) and lossless(table),
            _is_of_types,
        )
        for name, make in SOURCES.items()
    ),
    *(
        Route(f"parts of {name}", "text", parts(make), long, _is_of_types)
        for name, make in TEXT_SOURCES.items()
    ),
)
