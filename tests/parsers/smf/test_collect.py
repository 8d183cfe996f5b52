"""The tables do not depend on how a file is cut into windows, nor on which records are collected first."""

from __future__ import annotations

import io
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.dumps import generated
from tests.marking import deep_except
from tests.parsers.smf.decoders import default_decoder

from zscope.parsers.issues import Code, InputError, Issues
from zscope.parsers.options import Selection, everything, parse
from zscope.parsers.smf.dump import ENOUGH_RECORDS, decode_windows
from zscope.parsers.smf.framing import detect
from zscope.parsers.smf.walker import SMALLEST_WINDOW, FrameReader
from zscope.samples import Recipe
from zscope.schemas.tables import RAW_TABLE, RECORD_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

ALL_TABLES = Selection({**everything().columns, RECORD_TABLE: None, RAW_TABLE: None})


def _dump(framing: str, records: int = 2_000) -> bytes:
    return generated(Recipe(records=records, seed=5, framing=framing))


def _reader(data: bytes, issues: Issues, window: int) -> FrameReader:
    return FrameReader(io.BytesIO(data), detect(data, whole=True), issues, window=window)


def _tables(data: bytes, window: int, jobs: int = 1) -> dict[str, pa.Table]:
    issues = Issues()
    batches: dict[str, list[pa.RecordBatch]] = defaultdict(list)
    for _, part in decode_windows(_reader(data, issues, window), default_decoder(ALL_TABLES, issues), jobs):
        for name, batch in part:
            batches[name].append(batch)
    return {name: pa.Table.from_batches(parts).unify_dictionaries() for name, parts in batches.items()}


def _rows(table: pa.Table, order: Callable[[dict[str, Any]], Any] | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted(rows, key=order) if order else rows


def _place(row: dict[str, Any]) -> tuple[int, str, int]:
    return row["record_no"], row["part"], row["section_no"]


@pytest.mark.parametrize("jobs", deep_except([3], [1, 3]))
@pytest.mark.parametrize("framing", deep_except(["bdw-spanned"], ["rdw", "segments", "bdw-spanned"]))
def test_tables_do_not_depend_on_windows(framing: str, jobs: int) -> None:
    data = _dump(framing)
    assert len(data) > 4 * SMALLEST_WINDOW
    whole = _tables(data, len(data))
    cut = _tables(data, SMALLEST_WINDOW, jobs)
    assert whole.keys() == cut.keys()
    assert len(whole) > 20
    for name, table in whole.items():
        # Bytes that no layout describes come kind by kind in each window.
        order = _place if name == RAW_TABLE else None
        assert _rows(cut[name], order) == _rows(table, order), name


def test_a_frequent_kind_keeps_its_order_among_collected_records() -> None:
    """A few records of a kind, then a window full of them, then a few again."""
    records = 3 * ENOUGH_RECORDS
    data = generated(Recipe(records=records, seed=5, mix={"tcp-init": 1.0}))
    issues = Issues()
    decoder = default_decoder(parse("smf119_tcp_init[record_no]"), issues)
    numbers: list[int] = []
    sizes = []
    for _, part in decode_windows(_reader(data, issues, len(data) * 2 // 5), decoder, 1):
        for _, batch in part:
            numbers += batch["record_no"].to_pylist()
            sizes.append(batch.num_rows)
    # The dump has a header and a trailer of its own.
    assert numbers == list(range(2, records + 2))
    assert min(sizes) < ENOUGH_RECORDS < max(sizes)


def test_nobody_waits_for_a_consumer_that_stops_early() -> None:
    data = _dump("rdw")
    before = set(threading.enumerate())
    issues = Issues()
    windows = decode_windows(_reader(data, issues, SMALLEST_WINDOW), default_decoder(ALL_TABLES, issues), 2)
    next(windows)
    windows.close()
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_thread_reaches_the_consumer(jobs: int) -> None:
    """The date of every connection is spoiled, and issues are errors."""
    dump = generated(Recipe(records=3_000, seed=5, mix={"tcp-init": 1.0}))
    data = dump.replace(bytes.fromhex("0126061f"), bytes.fromhex("0126ff1f"))
    issues = Issues(strict=True)
    reader = _reader(dump, issues, SMALLEST_WINDOW)
    assert list(decode_windows(reader, default_decoder(parse("smf119_tcp_init"), issues), jobs))
    spoiled = FrameReader(io.BytesIO(data), detect(dump, whole=True), Issues(), window=SMALLEST_WINDOW)
    with pytest.raises(InputError) as caught:
        list(decode_windows(spoiled, default_decoder(parse("smf119_tcp_init"), issues), jobs))
    assert caught.value.issue.code is Code.BAD_DATE
