"""Opening files: their format, their compression, and the faults of their bytes."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.excel import Sheet, read_sheet
from reliabayes.ratings.frames import repeated_name_faults
from reliabayes.ratings.json_lines import read_json_lines
from reliabayes.wording import did_you_mean, listed

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
JSON_SUFFIXES = (".jsonl", ".ndjson")
EXCEL_SUFFIX = ".xlsx"
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, EXCEL_SUFFIX, *PARQUET_SUFFIXES)

DAMAGE_ERRORS = (EOFError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


def format_suffix(path: Path) -> str:
    """Return the suffix that gives a file's format, such as ``.csv`` for ``votes.csv.gz``.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        One of `SUFFIXES`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    IsADirectoryError
        If it is a folder.
    RatingsError
        If files with this suffix cannot be read.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path}: it is a folder; name a file in it")
    if not path.is_file():
        raise FileNotFoundError(_missing_file(path))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    inner = suffixes[:-1] if suffixes and suffixes[-1] in OPENERS else suffixes
    suffix = inner[-1] if inner else ""
    is_packed = inner != suffixes and suffix in (*PARQUET_SUFFIXES, EXCEL_SUFFIX)
    if suffix not in SUFFIXES or is_packed:
        rule = f"its name must end in {listed(SUFFIXES)}"
        rule += f"; text files may be compressed ({listed(tuple(OPENERS))})"
        remedy = "Rename it, or load it with pandas and pass the frame to Ratings.from_frame."
        raise RatingsError([Fault(path.name, rule, repr("".join(suffixes)), remedy)])
    return suffix


def read_records(path: Path, suffix: str) -> pd.DataFrame:
    """Read a file whose values have types of their own: Parquet, JSON lines or a spreadsheet.

    Parameters
    ----------
    path : Path
        The file.
    suffix : str
        Its `format_suffix`.

    Returns
    -------
    DataFrame
        One row per record; of a workbook, those of its first sheet that shows, whose numbers are
        the index.

    Raises
    ------
    RatingsError
        If the file is not what its suffix says.
    ImportError
        If the package that reads the format is not installed.
    """
    if suffix == EXCEL_SUFFIX:
        return read_workbook(path).frame()
    is_parquet = suffix in PARQUET_SUFFIXES
    what = "a Parquet file" if is_parquet else "one JSON object per line"
    with other_formats_as_faults(path, what):
        if is_parquet:
            return _read_parquet(path)
        with open_text(path, "utf-8") as opened:
            return read_json_lines(opened, path.name)


def read_workbook(path: Path, name: str | None = None) -> Sheet:
    """Read a sheet of a workbook.

    Parameters
    ----------
    path : Path
        The file.
    name : str, optional
        Name of the sheet. By default the first that is not hidden.

    Returns
    -------
    Sheet

    Raises
    ------
    RatingsError
        If the file is no workbook or too large, or that sheet is no table.
    ImportError
        If openpyxl is not installed.
    """
    with other_formats_as_faults(path, "a spreadsheet"):
        return read_sheet(path, name=name)


@contextmanager
def other_formats_as_faults(path: Path, what: str) -> Iterator[None]:
    """Turn errors of libraries about a damaged file into faults.

    Parameters
    ----------
    path : Path
        The file that is read in the context.
    what : str
        What it must be.

    Raises
    ------
    RatingsError
        If it is none.
    """
    try:
        yield
    except (ImportError, MemoryError, RatingsError):
        raise
    except Exception as error:  # whatever damaged files make the libraries raise
        rule, remedy = f"it must be {what}", "Export it again, or correct its suffix."
        raise RatingsError([Fault(path.name, rule, str(error), remedy)]) from error


def _read_parquet(path: Path) -> pd.DataFrame:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    if faults := repeated_name_faults(parquet.read_schema(path).names):
        raise RatingsError(faults)
    # By default they become floats where values are missing, which merges numbers of many digits.
    whole = {arrow.int64(): pd.Int64Dtype(), arrow.uint64(): pd.UInt64Dtype()}
    frame: pd.DataFrame = parquet.read_table(path).to_pandas(types_mapper=whole.get)
    return frame


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, and decompress it.

    Parameters
    ----------
    path : Path
        The file. Its suffix says how it is compressed.

    Returns
    -------
    binary file
        The decompressed content.
    """
    opened: IO[bytes] = OPENERS.get(path.suffix.lower(), _open_plain)(path)
    return opened


def open_text(path: Path, encoding: str) -> IO[str]:
    """Open a text file for reading, decompress it, and drop a byte order mark.

    Parameters
    ----------
    path : Path
        The file. Its suffix says how it is compressed.
    encoding : str
        The encoding of the text.

    Returns
    -------
    text file
        The decompressed text, with its line ends as they are.
    """
    return io.TextIOWrapper(open_bytes(path), encoding=without_mark(encoding), newline="")


def without_mark(encoding: str) -> str:
    """Return the encoding that drops a byte order mark, where the one that was named keeps it.

    Parameters
    ----------
    encoding : str
        Any name of an encoding, such as ``utf_8``.

    Returns
    -------
    str
        ``utf-8-sig`` for UTF-8, and other names as they are.
    """
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


@contextmanager
def read_errors_as_faults(path: Path, encoding: str) -> Iterator[None]:
    """Turn errors from reading a text file into faults.

    Parameters
    ----------
    path : Path
        The file that is read in the context.
    encoding : str
        The encoding of the text.

    Raises
    ------
    RatingsError
        If the file is damaged, wrongly encoded, or its lines differ in their number of fields.
    """
    try:
        yield
    except UnicodeError as error:
        rule = f"its text must be encoded as {encoding}"
        remedy = 'Pass encoding=..., for example "latin-1" or "utf-16".'
        raise RatingsError([Fault(path.name, rule, str(error), remedy)]) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        if "out of memory" in str(error):  # which pandas raises as a fault of the text
            raise MemoryError from error
        rule = "each line must have as many fields as the header, and all quotes must be closed"
        is_warning = isinstance(error, pd.errors.ParserWarning)
        found = "too many fields in the line below the header" if is_warning else str(error).strip()
        remedy = "Quote fields that hold the delimiter, or pass another delimiter=..."
        raise RatingsError([Fault(path.name, rule, found, remedy)]) from error
    except csv.Error as error:  # of the header, since pandas reads the rest
        rule = f"its first line must name columns, in at most {csv.field_size_limit():,} characters"
        remedy = "Check how the file was exported, or pass another delimiter=..."
        raise RatingsError([Fault(path.name, rule, str(error), remedy)]) from error
    except Exception as error:
        if not is_damage(error):
            raise
        rule, remedy = "it must be readable to its end", "Export, compress or download it again."
        raise RatingsError([Fault(path.name, rule, str(error), remedy)]) from error


def is_damage(error: Exception) -> bool:
    """Return whether an error says that bytes are damaged.

    Parameters
    ----------
    error : Exception
        What reading raised; an OSError with an errno is one of access or disk.

    Returns
    -------
    bool
    """
    if isinstance(error, OSError):
        return error.errno is None
    zstandard = sys.modules.get("zstandard")
    others = () if zstandard is None else (zstandard.ZstdError,)
    return isinstance(error, (*DAMAGE_ERRORS, *others))


def _open_plain(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_zip(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if len(names) != 1:
        rule, remedy = "a zip file must hold one file", "Unpack it and pass the file of the table."
        raise RatingsError([Fault(path.name, rule, listed(names), remedy)])
    try:
        return archive.open(names[0])
    except RuntimeError as error:  # encrypted, or compressed in a way that Python does not know
        rule = "a zip file must open without a password, and be compressed in a usual way"
        remedy = "Unpack it and pass the table."
        raise RatingsError([Fault(path.name, rule, str(error), remedy)]) from error


def _open_zst(path: Path) -> IO[bytes]:
    try:
        zstandard = import_module("zstandard")
    except ImportError as error:
        rule, remedy = "reading .zst needs the package zstandard", "Run pip install zstandard."
        raise RatingsError([Fault(path.name, rule, "it not installed", remedy)]) from error
    opened: IO[bytes] = io.BufferedReader(zstandard.open(path, "rb"))
    return opened


OPENERS: Mapping[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
    ".zst": _open_zst,
}


def _missing_file(path: Path) -> str:
    folder = path.parent
    if path.exists():
        return f"{path}: it is a pipe or a device; write its content to a file and pass that"
    if path.is_symlink():
        return f"{path}: it is a link to {str(path.readlink())!r}, which leads to no file"
    if not folder.is_dir():
        return f"{path}: there is no folder {str(folder)!r}"
    guess = did_you_mean(path.name, sorted(other.name for other in folder.iterdir()))
    return f"{path}: there is no such file" + (f"; did you mean {guess!r}?" if guess else "")
