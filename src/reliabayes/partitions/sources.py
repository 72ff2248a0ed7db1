"""Sources of ratings: Parquet files, and whatever can be written to them."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliabayes.choices import Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions.extra import needed_package
from reliabayes.partitions.paths import require_possible
from reliabayes.ratings.argument_checks import is_about_values
from reliabayes.ratings.column_reading import read_values
from reliabayes.ratings.columns import Labels
from reliabayes.ratings.file_formats import (
    DAMAGE_ERRORS,
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    open_text,
)
from reliabayes.ratings.frames import as_narwhals, refuse_comment, repeated_name_faults
from reliabayes.wording import listed

FRAMES = "a frame of polars, pandas, DuckDB, Dask or Spark"
DELIMITERS = ",;\t|"
COMPRESSED = (".gz", ".zst")
BLOCK = 2**20  # rows of a block of a Parquet file that is written anew
LARGEST_BLOCK = 2**23  # rows that are read at once, some 1.5 GB with what is made of them
ENDS = 2**20  # bytes at both ends of a file that its checksum is of


@dataclass(frozen=True)
class Source:
    """A table of ratings, outside of memory as a rule.

    Attributes
    ----------
    identity : dict
        What tells it from another one, or from itself after a change.
    names : list of str
        Names of its columns.
    is_text : bool
        Whether all its values are texts, some of which may be numbers.
    write : callable
        Writes some of its columns to a Parquet file, or to a folder of them, if `files` is empty.
    files : list of str
        Parquet files that hold it.
    declared : mapping from str to tuple
        Of categorical columns in memory, the scale and the categories.
    """

    identity: dict[str, Any]
    names: list[str]
    is_text: bool
    write: Callable[[Sequence[str], Path], None]
    files: Sequence[str] = ()
    declared: Mapping[str, tuple[Scale, list[Any]]] = field(default_factory=dict)

    @property
    def has_changed(self) -> bool:
        """Whether its files are others than when it was opened."""
        files = self.identity.get("files", [])
        return any(_identity(Path(file["path"])) != file for file in files)


def open_source(source: Any, delimiter: str | None = None, columns: Collection[str] = ()) -> Source:
    """Return the source that a user means.

    Parameters
    ----------
    source : str, path or data frame
        Files, by their path or a pattern; or a frame in memory or not.
    delimiter : str or None
        Character between fields of text files.
    columns : collection of str, default ()
        Names that tell the header of a text file from a comment.

    Returns
    -------
    Source

    Raises
    ------
    FileNotFoundError
        If there are no such files.
    RatingsError
        If it is none of these.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _of_frame(source)
    files = _files(os.fspath(source))
    suffixes = {_suffix(Path(file)) for file in files}
    identity = {"files": [_identity(Path(file)) for file in files]}
    if suffixes <= set(PARQUET_SUFFIXES):
        return _of_parquet(files, identity)
    if suffixes <= {
        f"{suffix}{packed}" for suffix in TEXT_SUFFIXES for packed in ("", *COMPRESSED)
    }:
        return _of_text(files, identity, delimiter, columns)
    rule = f"names of files must end in {listed((*TEXT_SUFFIXES, *PARQUET_SUFFIXES))}, all alike"
    remedy = f"Convert them to Parquet, or pass {FRAMES}."
    raise RatingsError([Fault("source", rule, listed(sorted(suffixes)), remedy)])


def _files(pattern: str) -> list[str]:
    path = Path(pattern)
    require_possible(path, "source")
    if path.is_dir():
        found = [str(file) for file in path.iterdir() if _suffix(file) in PARQUET_SUFFIXES]
    else:
        found = [pattern] if path.exists() else glob(pattern, recursive=True)
    if not found:
        raise FileNotFoundError(f"{pattern}: there is no such file")
    return sorted(found)


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return (
        "".join(suffixes[-2:])
        if suffixes[-1:] and suffixes[-1] in COMPRESSED
        else suffixes[-1]
        if suffixes
        else ""
    )


def _identity(path: Path) -> dict[str, Any]:
    """Path, size, time of the last change, and a checksum of both ends.

    The end of a Parquet file has the place and the size of each block, and the extremes of each
    column. A change elsewhere that keeps the size has a time; reading all would cost minutes.
    """
    state = path.stat()
    with path.open("rb") as opened:
        digest = hashlib.blake2b(opened.read(ENDS), digest_size=16)
        opened.seek(max(0, state.st_size - ENDS))
        digest.update(opened.read(ENDS))
    return {
        "path": str(path.resolve()),
        "bytes": state.st_size,
        "changed": state.st_mtime_ns,
        "ends": digest.hexdigest(),
    }


def _of_parquet(files: list[str], identity: dict[str, Any]) -> Source:
    """Parquet files, which are written anew if they have blocks that would take too much memory."""

    def write(columns: Sequence[str], path: Path) -> None:
        first = pq.ParquetFile(files[0])
        schema = pa.schema([first.schema_arrow.field(name) for name in columns])
        with pq.ParquetWriter(path, schema) as writer:
            for file in files:
                opened = pq.ParquetFile(file, buffer_size=2**20)
                for batch in opened.iter_batches(BLOCK, columns=columns, use_threads=False):
                    writer.write_batch(batch.select(columns).cast(schema))

    try:
        names = pq.read_schema(files[0]).names
        is_coarse = max(map(_largest_block, files)) > LARGEST_BLOCK
    except Exception as error:
        if not is_about_values(error):
            raise
        rule, remedy = "it must hold Parquet files that can be read", "Export them again."
        raise RatingsError([Fault("source", rule, str(error), remedy)]) from error
    return Source(
        identity,
        names,
        False,
        write,
        () if is_coarse else files,
    )


def _largest_block(file: str) -> int:
    """Rows of the largest row group of a file."""
    metadata = pq.read_metadata(file)
    return max((metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)), default=0)


def _of_text(
    files: list[str], identity: dict[str, Any], delimiter: str | None, columns: Collection[str]
) -> Source:
    pl = needed_package("polars")
    first = _first_line(Path(files[0]))
    if delimiter is None:
        is_tab = ".tsv" in _suffix(Path(files[0]))
        delimiter = "\t" if is_tab else max(DELIMITERS, key=first.count)
    for file in files:
        line = _first_line(Path(file))
        header = [field.strip('"') for field in line.split(delimiter)]
        refuse_comment(line, header, columns)
        if faults := repeated_name_faults([name for name in header if name in columns]):
            raise RatingsError(faults)  # polars would rename the others
    try:
        frame = pl.scan_csv(files, separator=delimiter, infer_schema=False)
        names = frame.collect_schema().names()
    except pl.exceptions.PolarsError as error:
        raise _unreadable(error) from error

    def write(columns: Sequence[str], path: Path) -> None:
        try:
            frame.select(columns).sink_parquet(path)
        except pl.exceptions.PolarsError as error:
            raise _unreadable(error) from error

    return Source(identity | {"delimiter": delimiter}, names, True, write)


def _first_line(path: Path) -> str:
    """The first line that is not empty; none of a file that only polars can open or explain."""
    with (
        suppress(OSError, UnicodeError, RatingsError, *DAMAGE_ERRORS),
        open_text(path, "utf-8") as text,
    ):
        return next((line for line in text if line.strip()), "").rstrip("\r\n")
    return ""


def _unreadable(error: Exception) -> RatingsError:
    rule = "each line must have as many fields as the header, in UTF-8, and all quotes be closed"
    found = str(error).strip().partition("\n")[0]
    remedy = "Correct the file, or pass delimiter=... if fields have another one."
    return RatingsError([Fault("source", rule, found, remedy)])


def _of_frame(frame: Any) -> Source:
    if type(frame).__module__.partition(".")[0] == "dask" and hasattr(frame, "to_parquet"):
        return _of_dask(frame)
    known = as_narwhals(frame)
    if isinstance(known, nw.DataFrame):
        return _of_memory(known)
    if not isinstance(known, nw.LazyFrame):
        rule = f"it must be a file, a pattern of files, or {FRAMES}"
        fault = Fault("source", rule, f"a {type(frame).__name__}", "Pass the path of a file.")
        raise RatingsError([fault])
    schema = known.collect_schema()
    identity = {
        "frame": type(frame).__name__,
        "query": _query(known),
        "schema": {name: str(kind) for name, kind in schema.items()},
    }

    def write(columns: Sequence[str], path: Path) -> None:
        some = known.select(*columns)
        if _is_of_spark(known):
            # A URL, because Spark takes a bare path for one of its own file system.
            writer = some.to_native().write.option("parquet.block.row.count.limit", BLOCK)
            writer.parquet(path.absolute().as_uri())
        else:
            some.sink_parquet(path)

    return Source(identity, list(schema.names()), False, write)


def _of_dask(frame: Any) -> Source:
    """A frame of Dask, whose name is a checksum of what it does."""
    schema = {name: str(kind) for name, kind in frame.dtypes.items()}
    identity = {"frame": "dask", "query": str(frame._name), "schema": schema}

    def write(columns: Sequence[str], path: Path) -> None:
        frame[list(columns)].to_parquet(path, write_index=False)

    return Source(identity, list(schema), False, write)


def _query(frame: nw.LazyFrame[Any]) -> str:
    """What a frame that is not computed yet will do; its result may differ later."""
    native: Any = frame.to_native()
    if frame.implementation.is_polars():
        return str(native.explain(optimized=False))
    if frame.implementation.is_duckdb():
        return str(native.sql_query())
    if _is_of_spark(frame):
        with redirect_stdout(io.StringIO()) as plan:
            native.explain(mode="extended")
        logical = plan.getvalue().partition("== Optimized")[0]
        # Numbers of expressions differ between sessions.
        return re.sub(r"#\d+L?", "", logical) + " ".join(sorted(native.inputFiles()))
    return ""


def _is_of_spark(frame: nw.LazyFrame[Any]) -> bool:
    """Whether Spark computes a frame, in this process or elsewhere."""
    of = frame.implementation
    return bool(of.is_pyspark() or of.is_pyspark_connect())


def _of_memory(frame: nw.DataFrame[Any]) -> Source:
    digest = hashlib.blake2b(digest_size=16)
    names = list(frame.columns)
    if others := [name for name in names if not isinstance(name, str)]:
        rule, remedy = "names of columns must be texts", "Rename them: frame.columns = [...]."
        raise RatingsError([Fault("columns", rule, listed(others), remedy)])

    def table_of(columns: Sequence[str]) -> Any:
        with _arrow_errors_as_faults():
            return frame.select(*columns).to_arrow()

    def write(columns: Sequence[str], path: Path) -> None:
        table = table_of(columns)
        with _arrow_errors_as_faults():
            pq.write_table(table, path)

    for batch in table_of(names).to_batches():
        digest.update(batch.serialize())
    identity = {"frame": names, "checksum": digest.hexdigest()}
    return Source(identity, names, False, write, declared=_declared(frame))


@contextmanager
def _arrow_errors_as_faults() -> Iterator[None]:
    """Turn errors about values that Arrow, or Parquet, has no type for into a fault."""
    try:
        yield
    except Exception as error:
        if not is_about_values(error):
            raise
        rule = "all values of a column must have the same type, and Parquet must support it"
        remedy = "Convert the column, such as to text."
        raise RatingsError([Fault("source", rule, str(error), remedy)]) from error


def _declared(frame: nw.DataFrame[Any]) -> dict[str, tuple[Scale, list[Any]]]:
    found: dict[str, tuple[Scale, list[Any]]] = {}
    for name, kind in frame.schema.items():
        if isinstance(kind, (nw.Categorical, nw.Enum)):
            column = read_values(frame.get_column(name), name)
            if isinstance(column, Labels) and column.declared is not None:
                found[name] = column.declared, column.ids.tolist()
    return found
