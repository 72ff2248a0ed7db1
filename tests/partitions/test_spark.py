"""A frame of Spark is a source of parts; for this, pyspark and Java must be installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import reliabayes as rb
from reliabayes.partitions import sources
from tests.partitions.test_partition import COLUMNS, as_parquet, files_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session of two threads that no other machine can reach; its Java ends with it."""
    pyspark = pytest.importorskip("pyspark")
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    session = sql.SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    yield session
    session.stop()
    gateway = pyspark.SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()  # which Java waits for
    gateway.proc.wait()
    pyspark.SparkContext._gateway = pyspark.SparkContext._jvm = None


def test_a_frame_of_spark_has_the_bytes_of_the_table_in_memory(
    spark: Any, frame: pd.DataFrame, tmp_path: Path
) -> None:
    rb.partition(frame, tmp_path / "usual", **COLUMNS, partitions=4)
    scanned = spark.read.parquet(str(as_parquet(frame, tmp_path)))

    dataset = rb.partition(scanned.repartition(3), tmp_path / "other", **COLUMNS, partitions=4)

    assert files_of(tmp_path / "other") == files_of(tmp_path / "usual")
    assert dataset.to_ratings() == rb.Ratings.from_frame(frame, **COLUMNS)


def test_faults_are_those_of_the_table_in_memory(
    spark: Any, frame: pd.DataFrame, tmp_path: Path
) -> None:
    scanned = spark.read.parquet(str(as_parquet(frame, tmp_path)))

    with pytest.raises(rb.RatingsError) as found:
        rb.partition(scanned.withColumn("team", scanned.who), tmp_path / "out", item="add")
    with pytest.raises(rb.RatingsError) as expected:
        rb.partition(frame, tmp_path / "out", item="add")

    assert str(found.value) == str(expected.value)
    assert not (tmp_path / "out").exists()


def test_the_same_query_goes_on_and_another_one_is_refused(
    spark: Any, frame: pd.DataFrame, tmp_path: Path
) -> None:
    def scanned(least: int) -> Any:
        return spark.read.parquet(str(tmp_path / "ratings.parquet")).where(f"score >= {least}")

    as_parquet(frame, tmp_path)
    dataset = rb.partition(scanned(2), tmp_path / "out", **COLUMNS)

    assert len(rb.partition(scanned(2), tmp_path / "out", **COLUMNS)) == len(dataset)
    with pytest.raises(rb.RatingsError, match="source"):
        rb.partition(scanned(3), tmp_path / "out", **COLUMNS)


def test_blocks_that_spark_writes_are_small(
    spark: Any, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "BLOCK", 150)
    scanned = spark.read.parquet(str(as_parquet(frame, tmp_path)))

    sources.open_source(scanned).write(["ad", "who"], tmp_path / "out")

    (file,) = (tmp_path / "out").glob("*.parquet")
    metadata = pq.read_metadata(file)
    rows = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert sum(rows) == 500
    assert max(rows) <= 200  # they are counted now and then
