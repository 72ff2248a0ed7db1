"""Hostile tables end with a message, within seconds of computing, and the session goes on.

That another page goes on is seen in ``test_in_browser.py``.
"""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from collections.abc import Iterator

import psutil
import pytest

from reliabayes.app import jobs, panels, tables
from reliabayes.app.given import Given
from reliabayes.app.jobs import TOO_LONG, Session
from reliabayes.app.memory import limited_memory
from reliabayes.app.reading import Head, Reading

pytestmark = pytest.mark.slow

MOST_CPU = 10.0  # seconds for a refusal, which takes a tenth of them unless the machine is busy
SHEET = b'<worksheet><sheetData><row r="%d"><c r="%s%d"/></row></sheetData></worksheet>'


def workbook(sheet: bytes) -> bytes:
    """A workbook of one sheet."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return written.getvalue()


HOSTILE = {
    "a cell in the last corner": (".xlsx", workbook(SHEET % (1048576, b"XFD", 1048576))),
    "a cell far below": (".xlsx", workbook(SHEET % (1048576, b"Z", 1048576))),
    "a row beyond any sheet": (".xlsx", workbook(SHEET % (999999999, b"Z", 999999999))),
    "a sheet packed to a thousandth": (".xlsx", workbook(b" " * 20_000_000)),
    "entities": (".xlsx", workbook(b"<!DOCTYPE x [<!ENTITY e 'eeee'>]><x>&e;</x>")),
    "five million commas": (".csv", b"," * 5_000_000),
    "one line of five million characters": (".csv", b"x" * 5_000_000),
    "an open quote": (".csv", b'item,rater,"' + b"x\n" * 2_000_000),
    "columns times lines": (".csv", b"item" + b",a" * 1_900 + b"\n" * 2_000_000),
    "lines without end": (".csv", b"a\n" * 11_000_000),
    "half a million columns": (".csv", ",".join(map(str, range(500_000))).encode() + b"\n1"),
    "a name of a million characters": (".csv", b"item,rater," + b"x" * 100_000 + b"\n1,2,3"),
    "compressed text": (".csv.gz", gzip.compress(b"1,2,3\n" * 1_000_000)),
    "compressed text by another name": (".csv", gzip.compress(b"1,2,3\n" * 1_000_000)),
    "deep JSON": (".jsonl", b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "a key a line": (".jsonl", b"\n".join(b'{"k%d":1}' % each for each in range(50_000))),
}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """The session of a page."""
    found = Session()
    yield found
    found.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tables_end_with_a_message_and_the_session_goes_on(
    session: Session, name: str
) -> None:
    suffix, content = HOSTILE[name]
    session.finished(abs, -1)  # the process is ready
    worker = session._worker
    assert worker is not None
    process = psutil.Process(worker.process.pid)
    before = sum(process.cpu_times()[:2])

    job = session.finished(tables.head, Given.dropped(f"table{suffix}", content))
    if isinstance(job.result, Head):
        job = session.finished(tables.table, Given.dropped("table.csv", content), Reading())

    assert sum(process.cpu_times()[:2]) - before < MOST_CPU
    assert session._worker is worker  # it has not died
    assert 'role="alert"' in panels.why_unusable(job)
    assert len(panels.why_unusable(job)) < 10_000
    assert session.finished(abs, -2).result == 2


def test_reading_has_a_limit_of_memory(session: Session) -> None:
    table = Given.pasted("item,rater,rating\n" + "1,Ann,3\n" * 300_000)

    job = session.finished(_head_with_little_memory, table)

    assert "must take at most 0 GB of memory" in panels.why_unusable(job)
    assert session.finished(abs, -3).result == 3


def test_memory_is_limited_and_then_free_again() -> None:
    with pytest.raises(MemoryError), limited_memory(20_000_000):
        bytearray(200_000_000)

    assert len(bytearray(200_000_000)) == 200_000_000


def test_a_table_that_takes_too_long_ends_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_SECONDS", 0.1)
    session = Session()

    job = session.finished(time.sleep, 600)

    assert job.failure == TOO_LONG
    assert session._worker is None
    assert session.job is None


def _head_with_little_memory(given: Given) -> object:
    tables.MOST_MEMORY = 1_000_000
    try:
        return tables.table(given, Reading(replicates="keep"))
    finally:
        tables.MOST_MEMORY = 3_000_000_000
