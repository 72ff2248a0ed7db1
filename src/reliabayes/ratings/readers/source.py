"""Files of tools: their size, compression, records and tables, checked before they are read."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import IO, Any

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.file_formats import (
    JSON_SUFFIXES,
    OPENERS,
    PARQUET_SUFFIXES,
    is_damage,
    open_bytes,
    without_mark,
)
from reliabayes.ratings.table_size import UNREADABLE
from reliabayes.wording import listed

MOST_BYTES = 1_000_000_000  # of a file, or of a member of an archive, when it is unpacked
ALWAYS_UNPACKED = 100_000_000  # bytes that do no harm, however densely they are packed
MOST_OF_TABLE = 1_999_999_999  # bytes of a table, which needs less memory than records
MOST_PACKED = 100  # times that an export may be larger than it is packed
MOST_ARCHIVED = 300  # the same of an archive, whose files repeat what others say
DENSEST_GZIP = 1100  # times that a file can be larger than it is packed by gzip
READ_AT_ONCE = 1 << 22
ZSTANDARD = 93  # the method of a member of a zip file
DELIMITERS = ",;\t|"
EXPORT_AGAIN = "Export it again, or pass another format=..."
Record = Mapping[str, Any]

_SPACE = re.compile(r"[\s\ufeff]*")


class Source:
    """A file of a tool.

    Parameters
    ----------
    path : str or path
        The file, which may be compressed.
    encoding : str, default "utf-8"
        The encoding of its text.
    most : int, default 1,000,000,000
        How many bytes it may have, unpacked.

    Attributes
    ----------
    at : int
        Number of the record that was read last, from 1.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If it is too large.
    """

    def __init__(
        self, path: str | PathLike[str], encoding: str = "utf-8", most: int = MOST_BYTES
    ) -> None:
        self.path = Path(path)
        self.encoding = encoding
        self.at = 0
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path}: there is no such file")
        self.size, self.most = self.path.stat().st_size, most
        self.refuse_size(self.size)
        if self.path.suffix.lower() == ".gz":
            size = _size_in_gzip(self.path)
            if size < DENSEST_GZIP * self.size:  # otherwise it is damaged
                self.refuse_density(size)
        if self.path.suffix.lower() in (".zip", ".eval"):
            sizes = _sizes_in_archive(self.path)
            self.refuse_size(max(sizes, default=0))
            self.refuse_density(sum(sizes), MOST_ARCHIVED)

    @classmethod
    def of(cls, path: str | PathLike[str] | Source, encoding: str = "utf-8") -> Source:
        """Return the file itself, if it was opened already."""
        return path if isinstance(path, Source) else cls(path, encoding)

    @property
    def name(self) -> str:
        """Name of the file, as messages have it."""
        return self.path.name

    @cached_property
    def suffix(self) -> str:
        """What its name ends in, without that of a compression."""
        suffixes = [suffix.lower() for suffix in self.path.suffixes]
        if len(suffixes) > 1 and suffixes[-1] in OPENERS:
            return suffixes[-2]
        return suffixes[-1] if suffixes else ""

    @property
    def is_records(self) -> bool:
        """Whether it holds JSON, by its first character."""
        return self.start.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")

    @cached_property
    def start(self) -> str:
        """The first 64 KB of its text; none where the encoding cannot tell."""
        with self.opened() as file:
            try:
                return file.read(1 << 16).decode(without_mark(self.encoding), errors="replace")
            except UnicodeError:  # of encodings that replace nothing
                return ""

    @cached_property
    def text(self) -> str:
        """Its text.

        Raises
        ------
        RatingsError
            If it is too large when it is unpacked, damaged, or encoded in another way.
        """
        with self.opened() as file:
            content = b"".join(self._pieces(file))
        try:
            return content.decode(without_mark(self.encoding))
        except UnicodeError as error:
            rule, remedy = f"its text must be encoded as {self.encoding}", "Pass encoding=..."
            raise self.fault(rule, str(error), remedy) from error

    @cached_property
    def first(self) -> Record:
        """Its first record."""
        start = self.start.lstrip("\ufeff \t\r\n[")
        try:
            found, _ = json.JSONDecoder().raw_decode(start)
            if isinstance(found, dict):
                return found
        except (ValueError, RecursionError):  # it is longer, or no JSON
            pass
        return next(self._records(), {})

    def records(self) -> Iterator[Record]:
        """Yield the objects of a JSON list or of JSON lines, or the one that is the file.

        Yields
        ------
        mapping
            One object at a time, so that not all are in memory.

        Raises
        ------
        RatingsError
            If it is no JSON of objects, or not whole.
        """
        self.at = 0
        for record in self._records():
            self.at += 1
            yield record

    def all_records(self) -> list[Record]:
        """Return the records of JSON, or the rows of a table."""
        if self.suffix in PARQUET_SUFFIXES:
            rows: list[Any] = self.table().to_dict("records")
            return rows
        return list(self.records())

    def _records(self) -> Iterator[Record]:
        text, decode = self.text, json.JSONDecoder().raw_decode
        place = _end_of_space(text, 0)
        if place == len(text):
            raise self.fault("it must hold ratings", "an empty file", EXPORT_AGAIN)
        is_list = text[place] == "["
        place += is_list
        while True:
            place = _end_of_space(text, place)
            if (is_list and text[place : place + 1] == "]") or (not is_list and place == len(text)):
                return
            try:
                found, place = decode(text, place)
            except (ValueError, RecursionError) as error:
                raise self.fault("it must be whole JSON", str(error), EXPORT_AGAIN) from error
            if not isinstance(found, dict):
                kind = type(found).__name__
                raise self.fault("each entry must be an object", f"a {kind}", EXPORT_AGAIN)
            yield found
            place = _end_of_space(text, place)
            if is_list and text[place : place + 1] == ",":
                place += 1
            elif is_list and text[place : place + 1] != "]":
                found_too = "an end before the list is closed" if place == len(text) else "more"
                raise self.fault("it must be whole JSON", found_too, EXPORT_AGAIN)

    @cached_property
    def header(self) -> list[str]:
        """Names of the columns of a table."""
        if self.suffix in PARQUET_SUFFIXES:
            with self.damage_as_faults():
                return list(import_module("pyarrow.parquet").read_schema(self.path).names)
        if self.suffix in JSON_SUFFIXES or self.is_records:
            return list(self.first)
        line = next((each for each in io.StringIO(self.start) if each.strip()), "")
        try:
            return next(csv.reader([line], delimiter=self.delimiter), [])
        except csv.Error:
            return []

    @property
    def delimiter(self) -> str:
        """What is between its fields: the most frequent candidate of its first line."""
        line = self.start.lstrip("\ufeff\r\n").partition("\n")[0]
        return max(DELIMITERS, key=line.count)

    def table(self) -> pd.DataFrame:
        """Return its table: texts of a text file, and values of records or Parquet."""
        if self.suffix in PARQUET_SUFFIXES:
            with self.damage_as_faults():
                return pd.read_parquet(self.path)
        if self.is_records:
            return pd.DataFrame(list(self.records()))
        with self.damage_as_faults(), self.opened() as file:
            text = io.TextIOWrapper(file, without_mark(self.encoding), newline="")
            frame: pd.DataFrame = pd.read_csv(
                text, sep=self.delimiter, index_col=False, dtype=str, keep_default_na=False,
                na_values=[""], engine="c",
            )  # fmt: skip
            return frame

    @cached_property
    def archive(self) -> zipfile.ZipFile:
        """The archive that it is."""
        try:
            return zipfile.ZipFile(self.path)
        except (*UNREADABLE, ValueError) as error:
            rule = "it must be a whole zip file"
            raise self.fault(rule, str(error), EXPORT_AGAIN) from error

    @property
    def members(self) -> list[str]:
        """Names of the files in the archive."""
        return [name for name in self.archive.namelist() if not name.endswith("/")]

    def member(self, name: str) -> bytes:
        """Return a file of the archive.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        bytes

        Raises
        ------
        RatingsError
            If it is not there, cannot be unpacked, or if that needs the package zstandard.
        """
        try:
            info = self.archive.getinfo(name)
        except KeyError:
            rule = f"it must hold the member {name}"
            raise self.fault(rule, listed(self.members), EXPORT_AGAIN) from None
        try:
            if info.compress_type == ZSTANDARD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
                return self._unpacked(info)
            return self.archive.read(info)
        except UNREADABLE as error:
            rule = f"its member {name} must be whole"
            raise self.fault(rule, str(error), EXPORT_AGAIN) from error

    def _unpacked(self, info: zipfile.ZipInfo) -> bytes:
        """A member that Python before 3.14 cannot unpack."""
        try:
            zstandard = import_module("zstandard")
        except ImportError as error:
            rule = f"its member {info.filename} is packed with Zstandard, which needs a package"
            remedy = "Run pip install 'reliabayes[zstd]'."
            raise self.fault(rule, "no zstandard installed", remedy) from error
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            header = file.read(30)
            if len(header) < 30 or header[:4] != b"PK\3\4":
                raise zipfile.BadZipFile(f"no header of {info.filename}")
            file.seek(sum(struct.unpack("<HH", header[26:])), io.SEEK_CUR)
            packed = file.read(info.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                content: bytes = reader.read(info.file_size + 1)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from error
        if len(content) != info.file_size:
            raise zipfile.BadZipFile(f"{info.filename} has another size than the archive says")
        return content

    def json_of(self, name: str) -> Any:
        """Return a file of the archive that holds JSON.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        any
        """
        try:
            return json.loads(self.member(name))
        except (ValueError, RecursionError) as error:
            rule = f"its member {name} must be whole JSON"
            raise self.fault(rule, str(error), EXPORT_AGAIN) from error

    @contextmanager
    def read_as(self, tool: str) -> Iterator[None]:
        """Turn what a record of another form raises into a fault that names the field.

        Parameters
        ----------
        tool : str
            The tool that the file should be of, for messages.

        Raises
        ------
        RatingsError
            If a field is missing, or has another form.
        """
        where = f"in entry {self.at or 1} of {self.name}"
        try:
            yield
        except KeyError as error:
            where = f"in entry {self.at or 1} of {self.name}"
            rule = f"a file of {tool} must have this field"
            fault = Fault(str(error.args[0]), rule, f"none {where}", EXPORT_AGAIN)
            raise RatingsError([fault]) from error
        except RatingsError:
            raise
        except (TypeError, AttributeError, IndexError, ValueError) as error:
            where = f"entry {self.at or 1} in another form ({error})"
            raise self.fault(f"it must be a file of {tool}", where, EXPORT_AGAIN) from error

    @contextmanager
    def damage_as_faults(self) -> Iterator[None]:
        """Turn what a damaged file makes libraries raise into faults."""
        try:
            yield
        except (RatingsError, ImportError, MemoryError):
            raise
        except Exception as error:
            raise self.fault("it must be readable to its end", str(error), EXPORT_AGAIN) from error

    def refuse_size(self, size: int) -> None:
        """Refuse what is too large to be read at once."""
        if size > self.most:
            rule = f"a file must have at most {self.most:,} bytes when it is unpacked"
            remedy = "Export fewer tasks at a time, or write a table in parts with rb.partition."
            raise RatingsError([Fault(self.name, rule, f"{size:,}", remedy)])

    def refuse_density(self, size: int, most: int = MOST_PACKED) -> None:
        """Refuse what grows too much when it is unpacked."""
        if size > max(ALWAYS_UNPACKED, most * self.size):
            rule = f"it must not grow more than {most} times when it is unpacked"
            found, remedy = f"{size:,} bytes from {self.size:,}", "Unpack it if you trust it."
            raise RatingsError([Fault(self.name, rule, found, remedy)])

    def fault(self, rule: str, found: str, remedy: str) -> RatingsError:
        """Return the error of the file as a whole."""
        return RatingsError([Fault(self.name, rule, found, remedy)])

    def no_rater(self, field: str, tool: str) -> RatingsError:
        """Return the error of a file that does not say who rated."""
        rule = f"{tool} must say who rated, or the argument rater must"
        found = f"no {field} in entry {self.at} of {self.name}"
        return RatingsError([Fault("rater", rule, found, "Pass rater='a name'.")])

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open it, and decompress it."""
        try:
            with open_bytes(self.path) as file:
                yield file
        except Exception as error:
            if not is_damage(error):
                raise
            raise self.fault("it must be whole", str(error), EXPORT_AGAIN) from error

    def _pieces(self, file: IO[bytes]) -> Iterator[bytes]:
        size = 0
        while piece := file.read(READ_AT_ONCE):
            size += len(piece)
            self.refuse_size(size)
            if self.path.suffix.lower() in OPENERS:
                self.refuse_density(size)
            yield piece


def _size_in_gzip(path: Path) -> int:
    """The size that a gzip file says it has, up to 4 GB."""
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), io.SEEK_END)
        return int.from_bytes(file.read(), "little")


def _sizes_in_archive(path: Path) -> list[int]:
    """The sizes that the files in a zip file have; none if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [member.file_size for member in archive.infolist()]
    except (*UNREADABLE, ValueError):
        return []


def _end_of_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()
