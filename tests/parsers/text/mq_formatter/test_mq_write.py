"""The writer prints what the formatter prints, and the reader reads it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.smf.mq_composed import TABLES
from tests.parsers.text.mq_formatter.examples import (
    ADAPTER,
    ADAPTER_LINE,
    BUSY,
    CHANNEL,
    IDLE,
    RUNNING,
    SSL,
    read_csv,
)
from tests.parsers.text.reading import codes

from zscope.parsers.text.mq_formatter.formatter_files import csv_files, json_lines

UNTIL = datetime(2100, 1, 1)  # noqa: DTZ001 - hypothesis wants limits without a zone
SINCE = datetime(1990, 1, 1)  # noqa: DTZ001
NAMES = st.text("ABCXYZ019./_%", max_size=4).filter(lambda name: name.strip(".") or not name)
LOCAL = st.datetimes(SINCE, UNTIL)
MOMENTS = st.none() | st.datetimes(SINCE, UNTIL, timezones=st.just(UTC))
WORD = st.integers(0, (1 << 32) - 1)
LONG = st.integers(0, (1 << 63) - 1)
SPAN = st.integers(0, (1 << 52) - 1)


def test_written_lines_equal_those_of_the_formatter() -> None:
    files = {
        "SMF-QCTADP.csv": [ADAPTER, ADAPTER_LINE],
        "SMF-QCTSSL.csv": [SSL, BUSY, IDLE],
        "SMF-QCST.csv": [CHANNEL, RUNNING],
    }
    result = read_csv(*files.values())
    assert codes(result.issues) == []
    assert csv_files(result.tables) == files


def test_objects_have_a_key_on_each_line() -> None:
    result = read_csv([SSL, BUSY])
    lines = json_lines(result.tables)
    assert lines[:6] == [
        "{",
        '"recordType" : 115,',
        '"recordSubType" : 231,',
        '"structure" : "QCTSSL",',
        '"date": "2026/03/02",',
        '"time": "08:30:00.000000",',
    ]
    assert '"taskCpuTimeUs": 1954000,' in lines
    assert '"maxSslRequestTimeTime": "13:29:41.134500",' in lines
    assert lines[-2:] == ['"maxSslRequestDurationUs": 11204', "}"]
    assert json_lines({}) == []


def test_times_are_in_the_zone_of_the_workstation() -> None:
    east = timezone(timedelta(hours=1))
    (_, line) = csv_files(read_csv([SSL, BUSY]).tables, east)["SMF-QCTSSL.csv"]
    assert line == BUSY.replace("08:29:00", "09:29:00").replace("13:29:41", "14:29:41")


def as_printed(row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a row that the formatter prints: records before MQ 10.0 do not have all texts."""
    later = ("queue_sharing_group", "remote_product")
    old = len(row["mq_version"]) < 6
    return row | {name: None for name in later if old and name in row}


def _rows(**columns: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    lead = {
        "system": st.just("SYS1"),
        "written_local": LOCAL,
        "queue_manager": st.just("MQ5A"),
        "queue_sharing_group": NAMES,
        "mq_version": st.sampled_from(["800", "932", "100000"]),
    }
    return st.lists(st.fixed_dictionaries(lead | columns), min_size=1, max_size=4)


TASKS = _rows(
    task_type=st.sampled_from(["dispatcher", "adapter", "SSL", "DNS"]),
    interval_start_local=LOCAL,
    task_number=WORD,
    requests=WORD,
    cpu_us=SPAN,
    elapsed_us=SPAN,
    wait_us=SPAN,
    channels=WORD,
    longest_utc=MOMENTS,
    longest_us=SPAN,
)
CHANNELS = _rows(
    collected_utc=MOMENTS,
    channel_name=NAMES,
    disposition=st.none() | st.sampled_from([-1, 1, 2, 4, 5]),
    channel_type=st.none() | st.sampled_from([1, 2, 3, 4, 6, 7, 8, 9]),
    channel_state=st.none() | st.sampled_from([*range(10), 13, 14]),
    monitoring=st.none() | st.sampled_from([-3, -1, 0, 1, 17, 33, 65]),
    connection_name=NAMES,
    started_utc=MOMENTS,
    messages=WORD,
    message_bytes=LONG,
    sent_bytes=st.none() | LONG,
    exit_min_us=WORD,
    exit_max_utc=MOMENTS,
    remote_name=NAMES,
    peer_serial=st.binary(min_size=8, max_size=8).map(bytes.hex),
    peer_name=NAMES,
    cipher_code=WORD,
    dispatcher_number=st.integers(0, (1 << 16) - 1),
    remote_product=NAMES,
)


@given(TASKS)
def test_written_tasks_are_read(rows: list[dict[str, Any]]) -> None:
    written = [row | {"interval_us": row["elapsed_us"] + row["wait_us"]} for row in rows]
    for row in written:
        row["channels"] = row["channels"] if row["task_type"] == "dispatcher" else None
        if row["task_type"] in {"dispatcher", "adapter"}:
            row["longest_utc"] = row["longest_us"] = None
    result = read_csv(*csv_files({"mq_task": written}).values())
    assert codes(result.issues) == []
    kinds = [each["task_type"] for each in written]
    by_file = sorted(map(as_printed, written), key=lambda row: kinds.index(row["task_type"]))
    assert [{name: row[name] for name in written[0]} for row in result.rows] == by_file


@given(CHANNELS)
def test_written_channels_are_read(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["exit_max_utc"] is None:
            row["exit_min_us"] = None
    result = read_csv(*csv_files({"mq_channel": rows}).values())
    assert codes(result.issues) == []
    assert [{name: row[name] for name in rows[0]} for row in result.rows] == list(map(as_printed, rows))
    assert result.tables.keys() <= set(TABLES)
