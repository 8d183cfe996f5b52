"""MQ records: two composed ones against the values they were composed of, real ones, and written ones.

The public formatter printed the composed records as well; the expected values are its output.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.parsers.smf.mq_composed import ACCOUNTING, STATISTICS, TABLES, decoded

from zscope.parsers import Code, read
from zscope.parsers.smf.record_writer import (
    SectionBytes,
    SectionRows,
    cut_rows,
    encode_alike,
    encode_heads,
    encode_records,
    encode_section,
    triplet_count,
)
from zscope.schemas import Format, catalog
from zscope.schemas.arrow import arrow_type, table_schema

if TYPE_CHECKING:
    from pathlib import Path

MINUTE_US = 60_000_000


def _local(hour: int, minute: int) -> datetime:
    return datetime(2026, 3, 2, hour, minute, tzinfo=UTC).replace(tzinfo=None)


def _utc(hour: int, minute: int, second: int = 0, microsecond: int = 0) -> datetime:
    return datetime(2026, 3, 2, hour, minute, second, microsecond, tzinfo=UTC)


LEAD: dict[str, Any] = {
    "source": "smf", "file": None, "line_no": None, "system_from": None, "extra": None, "system": "SYS1",
    "written_local": _local(8, 30), "queue_manager": "MQ5A", "queue_sharing_group": "QSG1",
    "mq_version": "100000", "interval_start_local": _local(8, 29), "interval_end_utc": _utc(13, 30),
    "interval_us": MINUTE_US,
}  # fmt: skip
"""Values of all rows of the composed records."""
IDLE = {"requests": 0, "cpu_us": 0, "elapsed_us": 0, "wait_us": MINUTE_US, "longest_us": 0}
TASKS: list[dict[str, Any]] = [
    {"task_type": "dispatcher", "section_no": 0, "task_number": 10268672, "requests": 48210,
     "cpu_us": 1206400, "elapsed_us": 1455900, "wait_us": 58544100, "channels": 6},
    {"task_type": "dispatcher", "section_no": 1, "task_number": 10269328, "requests": 31904, "cpu_us": 799750,
     "elapsed_us": 960020, "wait_us": 59039980, "channels": 2},
    {"task_type": "adapter", "section_no": 0, "task_number": 10291200, "requests": 20110, "cpu_us": 402300,
     "elapsed_us": 611870, "wait_us": 59388130},
    {"task_type": "SSL", "section_no": 0, "task_number": 10244624, "requests": 24400, "cpu_us": 1954000,
     "elapsed_us": 8882000, "wait_us": 51118000, "longest_us": 11204,
     "longest_utc": _utc(13, 29, 41, 134500)},
    {"task_type": "SSL", "section_no": 1, "task_number": 10244072, **IDLE},
    {"task_type": "DNS", "section_no": 0, "task_number": 10292384, **IDLE},
]  # fmt: skip
CHANNEL: dict[str, Any] = LEAD | {
    "record_no": 2, "record_offset": 456, "section_no": 0, "collected_utc": _utc(13, 30),
    "channel_name": "MQ5A.TO.MQ5B", "disposition": 4, "channel_type": 1, "channel_state": 3, "monitoring": 33,
    "connection_name": "10.1.2.3", "started_utc": _utc(11, 59, 59, 799296), "stopped_utc": None,
    "last_message_utc": _utc(13, 29, 58, 917120), "batch_size": 50, "messages": 12200,
    "persistent_messages": 12200, "batches": 12200, "full_batches": 0, "buffers_sent": 24420,
    "buffers_received": 12210, "shared_conversations": 0, "message_bytes": 99942400,
    "persistent_message_bytes": 99942400, "sent_bytes": 104858100, "received_bytes": 488400,
    "compression_rate": 0, "exit_avg_us": 0, "exit_min_us": None, "exit_max_us": 0, "exit_max_utc": None,
    "dns_us": 0, "network_avg_us": 180, "network_min_us": 151, "network_max_us": 2210,
    "network_max_utc": _utc(13, 29, 41), "remote_name": "MQ5B", "peer_serial": "0000000000001a2b",
    "peer_name": "MQ5B", "cipher_code": 49192, "put_retries": 0, "transmission_queue_empty": 12100,
    "batch_interval": 0, "batch_data_limit_kb": 5000, "dispatcher_number": 0, "remote_product": "MQMV",
    "remote_version": "10000000",
}  # fmt: skip
"""The formatter prints 0 for an exit time that was not measured."""


def test_tasks_of_a_composed_record(tmp_path: Path) -> None:
    result = decoded(tmp_path, [STATISTICS, ACCOUNTING])
    absent = {"channels": None, "longest_utc": None, "longest_us": None}
    place = {"record_no": 1, "record_offset": 0}
    units = [
        {
            "interval_tod": MINUTE_US << 12,
            "elapsed_tod": t["elapsed_us"] << 12,
            "wait_tod": t["wait_us"] << 12,
        }
        for t in TASKS
    ]
    expected = [LEAD | place | absent | task | tod for task, tod in zip(TASKS, units, strict=True)]
    assert result["mq_task"].to_pylist() == expected
    assert len(result.issues) == 0


def test_channel_of_a_composed_record(tmp_path: Path) -> None:
    result = decoded(tmp_path, [STATISTICS, ACCOUNTING])
    assert result["mq_channel"].to_pylist() == [CHANNEL]


def test_channel_initiator_of_a_composed_record(tmp_path: Path) -> None:
    (row,) = decoded(tmp_path, [STATISTICS, ACCOUNTING])["mq_channel_initiator"].to_pylist()
    assert row == LEAD | {
        "record_no": 1, "record_offset": 0, "job_name": "MQ5ACHIN", "current_channels_high": 12,
        "current_channels_max": 200, "active_channels_high": 8, "active_channels_max": 200,
        "tcp_channels_max": 200, "lu62_channels_max": 200, "storage_below_mb": 41, "storage_above_mb": 210,
        "storage_above_limit_mb": 17592186040320,
    }  # fmt: skip


def test_codes_read_in_the_words_of_the_formatter() -> None:
    schema = table_schema("mq_channel")
    words = {
        name: catalog().codes[schema.field(name).metadata[b"codes"].decode()].text(CHANNEL[name])
        for name in ("disposition", "channel_type", "channel_state", "monitoring")
    }
    assert list(words.values()) == ["Private", "Sender", "Running", "Medium"]


@pytest.mark.parametrize(
    ("select", "tables"),
    [
        ("115", {"mq_task": 6, "mq_channel_initiator": 1, "mq_record": 2}),
        ("115(231)", {"mq_task": 6, "mq_channel_initiator": 1, "mq_record": 2}),
        ("116(10)", {"mq_channel": 1, "mq_record": 2}),
        ("mq_task[task_type,longest_us]", {"mq_task": 6}),
    ],
)
def test_selections(tmp_path: Path, select: str, tables: dict[str, int]) -> None:
    result = decoded(tmp_path, [STATISTICS, ACCOUNTING], select)
    assert {name: rows.num_rows for name, rows in result.tables.items()} == tables


def test_rows_of_one_record_stay_together(tmp_path: Path) -> None:
    rows = decoded(tmp_path, [STATISTICS, ACCOUNTING] * 3, "mq_task[record_no,task_type,section_no]")
    kinds = [(task["task_type"], task["section_no"]) for task in TASKS]
    assert [tuple(row.values()) for row in rows["mq_task"].to_pylist()] == [
        (number, *kind) for number in (1, 3, 5) for kind in kinds
    ]


def test_nothing_of_a_described_record_is_raw(tmp_path: Path) -> None:
    """The text of the release is at the offset where other records have the number of triplets."""
    assert decoded(tmp_path, [STATISTICS, ACCOUNTING], "smf_raw")["smf_raw"].num_rows == 0


def test_real_tasks(real_data: Path) -> None:
    result = read(real_data / "mq" / "TESTCHL.dat", (*TABLES, "smf_record"))
    assert len(result.issues) == 0
    tasks = result["mq_task"].to_pylist()
    assert len(tasks) == 224
    assert len({task["record_no"] for task in tasks}) == result["mq_channel_initiator"].num_rows == 16
    kinds = [task["task_type"] for task in tasks]
    assert {kind: kinds.count(kind) for kind in kinds} == {"dispatcher": 80, "adapter": 128, "DNS": 16}
    for task in tasks:
        assert task["elapsed_tod"] + task["wait_tod"] == task["interval_tod"]
        assert abs(task["elapsed_us"] + task["wait_us"] - task["interval_us"]) <= 1
        began = task["interval_end_utc"] - timedelta(microseconds=task["interval_us"])
        # The start is by the local clock: four hours after UTC on that system.
        local = task["interval_start_local"].replace(tzinfo=UTC) + timedelta(hours=4)
        assert abs(began - local) < timedelta(seconds=1)
        assert (task["mq_version"], task["queue_sharing_group"]) == ("800", "QSGM")


def test_real_channels(real_data: Path) -> None:
    rows = read(real_data / "mq" / "TESTCHL.dat", "mq_channel")["mq_channel"].to_pylist()
    assert len(rows) == 23
    assert len({row["record_no"] for row in rows}) == 8
    assert {row["channel_type"] for row in rows} == {7}
    assert {row["channel_state"] for row in rows} == {0, 3}
    assert {row["exit_min_us"] for row in rows} == {None}, "no exit ran"
    assert {row["remote_product"] for row in rows} == {None}, "MQ V8 does not tell it"
    # The same work in one interval, and spread over two: the counters are those of the interval.
    totals = {(row["messages"], row["sent_bytes"]) for row in rows}
    assert {(105, 43540), (102, 43408), (3, 132)} <= totals


def test_real_records_without_channels(real_data: Path) -> None:
    result = read(real_data / "mq" / "TEST115.dat", TABLES)
    assert [table.num_rows for table in result.tables.values()] == [0, 0, 0]
    assert {issue.code for issue in result.issues} <= {Code.TRAILER_MISSING}


def _sections(kind: tuple[int, int], count: int) -> dict[str, dict[str, pa.Array]]:
    """Columns of every section of some records, different in each row; the MQ header is the last section."""
    layout = catalog().records[kind]
    random_numbers = np.random.default_rng(kind[1])
    result = {}
    for section in sorted(layout.sections, key=lambda s: (s.triplet or 6) % 6 if s.triplet else 9):
        columns = {}
        for field in section.columns:
            if field.format is Format.UINT and field.column not in {"record_type", "record_subtype"}:
                most = min(256 ** (field.length or 0) - 1, 1 << 30)
                columns[field.column] = pa.array(random_numbers.integers(1, most, count), arrow_type(field))
            elif field.format is Format.TEXT:
                texts = [f"{chr(65 + row)}{field.offset % 9}" for row in range(count)]
                columns[field.column] = pa.array(texts).dictionary_encode()
            elif field.format is Format.TOD:
                # Without a time of the longest, nothing was measured.
                times = [_utc(8, row, field.offset % 60) for row in range(count)]
                columns[field.column] = pa.array(times, arrow_type(field))
        result[section.key] = columns
    return result


@pytest.mark.parametrize(
    ("kind", "tables"), [((115, 231), ["mq_task", "mq_channel_initiator"]), ((116, 10), ["mq_channel"])]
)
def test_written_records_come_back(tmp_path: Path, kind: tuple[int, int], tables: list[str]) -> None:
    """One by one and all at once they are written the same, with the number of triplets of their layout."""
    count = 3
    layout, columns = catalog().records[kind], _sections(kind, count)
    header = columns.pop("header") | {"mq_version": pa.array(["932"] * count).dictionary_encode()}
    header["written_local"] = pa.array([_local(8, 30)] * count, pa.timestamp("us"))
    rows = {
        key: encode_section(layout.section(key), values, count, layout.section(key).known_length)
        for key, values in columns.items()
    }
    parts = [SectionBytes(layout.section(key), [[r] for r in cut_rows(b)]) for key, b in rows.items()]
    one_by_one = encode_records(layout, header, parts, count)
    alike = [SectionRows(layout.section(key), block, block.shape[1]) for key, block in rows.items()]
    at_once = encode_alike(layout, encode_heads(layout, header, count), alike, triplet_count(layout))
    assert one_by_one == at_once
    assert {record[24:27] for record in one_by_one} == {"932".encode("cp037")}
    result = decoded(tmp_path, one_by_one)
    assert len(result.issues) == 0
    for table in tables:
        shown = result[table]
        assert set(shown["mq_version"].to_pylist()) == {"932"}
        kinds = catalog().table(table)[1].rows
        for name in shown.column_names:
            written = [columns[key][name].to_pylist() for key in kinds if name in columns[key]]
            if len(written) == len(kinds) and name != "queue_sharing_group":
                assert shown[name].to_pylist() == [
                    value for row in zip(*written, strict=True) for value in row
                ]


def test_every_real_record_has_its_header(real_data: Path) -> None:
    """All 319 records, of which only 24 have a layout; those of 115-231 measure intervals in other units."""
    result = read(real_data / "mq" / "TESTCHL.dat", ("mq_record", "smf_record"))
    rows = result["mq_record"].to_pylist()
    kinds = Counter((row["record_type"], row["record_subtype"]) for row in rows)
    assert kinds == {
        (115, 1): 16, (115, 2): 16, (115, 215): 16, (115, 231): 16,
        (116, 0): 45, (116, 1): 200, (116, 10): 8,
    }  # fmt: skip
    others = [row for row in result["smf_record"].to_pylist() if row["record_type"] not in {115, 116}]
    assert len(rows) + len(others) == result["smf_record"].num_rows == 319
    assert {(row["queue_manager"], row["mq_version"], row["system"]) for row in rows} == {
        ("QML1", "800", rows[0]["system"])
    }
    intervals = [row for row in rows if row["record_type"] == 115]
    for row in intervals:
        began = row["interval_end_utc"] - timedelta(microseconds=row["interval_us"])
        local = row["interval_start_local"].replace(tzinfo=UTC) + timedelta(hours=4)
        assert abs(began - local) < timedelta(seconds=1), row["record_subtype"]
    tasks = [row for row in rows if row["record_subtype"] in {0, 1} and row["record_type"] == 116]
    assert {row["mq_header_length"] for row in tasks} == {36}
    assert {(row["interval_us"], row["interval_start_local"]) for row in tasks} == {(None, None)}


def test_the_data_of_records_without_a_layout_stay_bytes(real_data: Path) -> None:
    result = read(real_data / "mq" / "TESTCHL.dat", ("smf_raw", "mq_record"))
    parts = {row["part"] for row in result["smf_raw"].to_pylist() if row["record_type"] == 115}
    assert parts
    assert all(part.startswith("triplet_") for part in parts)
