"""The stage: rows by table and day, in the order of time, in bounded memory, whatever the rows are."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zscope.pipelines.store import parquet_files
from zscope.pipelines.store.parquet_files import Stage, file_schema, parquet_schema

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.store.parquet_files import StagedFile

TABLE = "record_digest"
BEGIN = datetime(2026, 3, 2, 23, 0)  # noqa: DTZ001 - local time has no zone


def rows(first: int, times: list[datetime | None], system: str = "SYSA") -> pa.RecordBatch:
    """Rows of the smallest table there is."""
    columns = {
        "load_id": pa.array([1] * len(times), pa.int64()),
        "record_no": pa.array(range(first, first + len(times)), pa.int64()),
        "system": pa.array([system] * len(times)).dictionary_encode(),
        "written_local": pa.array(times, pa.timestamp("us")),
        "digest": pa.array(np.arange(first, first + len(times), dtype=np.int64)),
    }
    schema = parquet_schema(TABLE)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def every_minute(count: int, begin: datetime = BEGIN) -> list[datetime | None]:
    return [begin + timedelta(minutes=minute) for minute in range(count)]


def read(files: list[StagedFile]) -> dict[str | None, list[int]]:
    """Record numbers by day, in the order of the files."""
    found: dict[str | None, list[int]] = {}
    for file in sorted(files, key=lambda file: file.path):
        table = pq.read_table(file.path, partitioning=None)
        assert table.schema.equals(file_schema(TABLE), check_metadata=True)
        assert (table.num_rows, file.path.stat().st_size) == (file.rows, file.bytes)
        found.setdefault(file.day, []).extend(table["record_no"].to_pylist())
    return found


def test_rows_are_partitioned_by_day(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 1, writers=2)
    stage.add(TABLE, rows(1, [*every_minute(120), None]))
    found = read(stage.finish())
    assert found == {"2026-03-02": list(range(1, 61)), "2026-03-03": list(range(61, 121)), None: [121]}


@pytest.mark.parametrize("writers", [1, 3])
def test_row_groups_are_sorted_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writers: int) -> None:
    monkeypatch.setattr(parquet_files, "ROW_GROUP_ROWS", 50)
    stage = Stage(tmp_path, 1, writers)
    times = every_minute(1000, BEGIN.replace(hour=0))
    for place in range(0, 1000, 20):
        # Two systems that were dumped one after the other, window by window.
        stage.add(TABLE, rows(place + 1, times[place : place + 20][::-1]))
    files = stage.finish()
    assert len(files) <= writers
    assert sorted(chain(*read(files).values())) == list(range(1, 1001))
    for file in files:
        with pq.ParquetFile(file.path) as parquet:
            assert parquet.num_row_groups <= file.rows // 50 + 1
            for group in range(parquet.num_row_groups):
                written = parquet.read_row_group(group)["written_local"].to_pylist()
                assert written == sorted(written)


def test_number_of_days_and_open_files_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged dates: every record of another day."""
    monkeypatch.setattr(parquet_files, "MAX_DAYS", 7)
    monkeypatch.setattr(parquet_files, "MAX_OPEN_FILES", 3)
    monkeypatch.setattr(parquet_files, "BUFFER_BYTES", 2000)
    stage = Stage(tmp_path, 1, writers=2)
    for number in range(100):
        stage.add(TABLE, rows(number + 1, [BEGIN + timedelta(days=number)]))
    found = read(stage.finish())
    assert len(found) == 8
    assert sorted(chain(*found.values())) == list(range(1, 101))
    assert sorted(found[None]) == list(range(8, 101))


def test_buffers_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "BUFFER_BYTES", 50_000)
    stage = Stage(tmp_path, 1, writers=1)
    for number in range(0, 20_000, 100):
        stage.add(TABLE, rows(number + 1, every_minute(100)))
        assert sum(gathered.bytes for gathered in stage._buffers.values()) <= 50_000
    assert sum(len(numbers) for numbers in read(stage.finish()).values()) == 20_000


def test_row_groups_are_limited_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [rows(number + 1, every_minute(100)) for number in range(0, 2_000, 100)]
    monkeypatch.setattr(parquet_files, "ROW_GROUP_BYTES", batches[0].nbytes * 3)
    stage = Stage(tmp_path, 1, writers=1)
    stage.add_all((TABLE, batch) for batch in batches)
    files = stage.finish()
    groups = []
    for file in files:
        with pq.ParquetFile(file.path) as parquet:
            groups += [parquet.metadata.row_group(at).num_rows for at in range(parquet.num_row_groups)]
    assert sum(groups) == 2_000
    assert max(groups) <= 400  # the limit, and the batch that exceeds it


def test_a_full_buffer_waits_until_a_writer_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "ROW_GROUP_ROWS", 10)
    stage = Stage(tmp_path, 1, writers=2)
    for number in range(0, 300, 10):
        stage.add(TABLE, rows(number + 1, every_minute(10)))
        assert len(stage._busy) <= 2
    assert sum(file.rows for file in stage.finish()) == 300


def test_write_error_is_raised(tmp_path: Path) -> None:
    (tmp_path / TABLE).write_text("in the way of the folder")
    stage = Stage(tmp_path, 1, writers=1)
    stage.add(TABLE, rows(1, every_minute(3)))
    with pytest.raises(OSError, match=TABLE):
        stage.finish()
    stage.abandon()


def test_abandoned_stage_ignores_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "ROW_GROUP_ROWS", 10)
    stage = Stage(tmp_path, 1, writers=2)
    for number in range(0, 100, 10):
        stage.add(TABLE, rows(number + 1, every_minute(10)))
    stage.abandon()
    stage.abandon()
