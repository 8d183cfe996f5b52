"""Rules of single supplied tables: round trips, virtual machines, channel paths."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.csv_and_json.reading import issues_of, read_lines, rows, texts, values

from zscope.parsers import inventory
from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from pathlib import Path

ROUND_TRIP = "mq_round_trip"
HEAD = "message_bytes,cipher,sslrkeyc,round_trip_us,cpu_us,round_trips,measured_at"
GOOD = "8192,TLS_RSA_WITH_AES_256_CBC_SHA256,1048576,1250.25,310,100000,2026-03-02T10:00:00+01:00"


def test_a_round_trip(tmp_path: Path) -> None:
    result = read_lines(
        tmp_path, ROUND_TRIP, [HEAD + ",channel_pairs,channel_bytes_per_message", GOOD + ",2,8595"]
    )
    assert issues_of(result) == []
    (row,) = rows(result)
    assert row | {"file": ""} == {
        "file": "",
        "line_no": 2,
        "object_no": None,
        "source": "csv",
        "system": None,
        "system_from": None,
        "run": None,
        "message_bytes": 8192,
        "cipher": "TLS_RSA_WITH_AES_256_CBC_SHA256",
        "sslrkeyc": 1048576,
        "round_trip_us": 1250.25,
        "cpu_us": 310.0,
        "round_trips": 100000,
        "channel_message_bytes": 8595.0,
        "channel_pairs": 2,
        "tcp_sends_per_message": None,
        "measured_utc": datetime(2026, 3, 2, 9, tzinfo=UTC),
        "extra": None,
    }


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("NONE", "none"),
        ("None", "none"),
        ("c028", "C028"),
        ("0xC028", "C028"),
        ("0000c028", "0000C028"),
        ("ECDHE_RSA_AES_128_CBC_SHA256", "ECDHE_RSA_AES_128_CBC_SHA256"),
        ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    ],
)
def test_a_cipher_has_one_spelling(tmp_path: Path, written: str, stored: str) -> None:
    result = read_lines(tmp_path, ROUND_TRIP, ["message_bytes,cipher,round_trip_us", f"64,{written},5"])
    assert values(result, "cipher") == [(stored,)]


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ("x,none,,5,,,", "message_bytes", "'x' is not a whole number; the line is skipped"),
        ("64,,,5,,,", "cipher", "cipher is missing; the line is skipped"),
        ("64,none,,,,,", "round_trip_us", "'' is not a number; the line is skipped"),
        ("64,none,,-5,,,", "round_trip_us", "'-5' is negative; the line is skipped"),
        ("64,none,1.5,5,,,", "sslrkeyc", "'1.5' is not a whole number; the column is null"),
        ("64,none,,5,-1,,", "cpu_us", "'-1' is negative; the column is null"),
        ("64,none,,5,,,10:00", "measured_at", "is not a time with an offset from UTC such as"),
        ("64,none,,5,,,2026-03-02T10:00", "measured_at", "has no offset from UTC: write it as"),
    ],
)
def test_a_wrong_required_value_skips_the_line_and_others_are_null(
    tmp_path: Path, line: str, field: str, message: str
) -> None:
    result = read_lines(tmp_path, ROUND_TRIP, [HEAD, line, GOOD])
    assert issues_of(result) == [(Code.BAD_VALUE, 2, field)]
    assert message in texts(result)
    line_nos = [3] if "line is skipped" in texts(result) else [2, 3]
    assert values(result, "line_no") == [(line_no,) for line_no in line_nos]


def test_the_cpu_time_of_virtual_machines(tmp_path: Path) -> None:
    lines = ["userid,period_s,tcpu_s,%CPU", "ssl00001,600,72.48,12.08", "RSCS,0,1,", ",600,1,", "TCPIP,600,,"]
    result = read_lines(tmp_path, "zvm_user", lines)
    columns = ("userid", "period_s", "tcpu_s", "cpu_pct", "time_from", "interval_start_local")
    assert values(result, *columns) == [("SSL00001", 600, 72.48, 12.08, "none", None)]
    assert issues_of(result) == [
        (Code.BAD_VALUE, 3, "period_s"),
        (Code.BAD_VALUE, 4, "userid"),
        (Code.BAD_VALUE, 5, "tcpu_s"),
    ]


def test_the_rates_of_channel_paths(tmp_path: Path) -> None:
    lines = ["chpid,write_bytes_per_s,read_bytes_per_s", "5a,12.9M,12800000", "5,1,2", "XY,1,2", "54,-1,2"]
    result = read_lines(tmp_path, "zvm_channel", lines)
    assert values(result, "chpid", "write_bytes_per_s", "read_bytes_per_s") == [
        ("5A", 12_900_000, 12_800_000)
    ]
    assert [line for _, line, _ in issues_of(result)] == [3, 4, 5]
    assert "'XY' is not a channel path: expected two hexadecimal digits" in texts(result)


def test_an_option_gives_the_start_of_a_period(tmp_path: Path) -> None:
    begun = datetime(2026, 3, 2, 13, 20)  # noqa: DTZ001 - local time has no zone
    result = read_lines(tmp_path, "zvm_user", ["userid,period_s,tcpu_s", "RSCS,600,1"], taken=begun)
    assert values(result, "interval_start_local", "time_from") == [(begun, "option")]


def test_supplied_tables_need_no_date(tmp_path: Path) -> None:
    read_lines(tmp_path, ROUND_TRIP, ["message_bytes,cipher,round_trip_us", "64,none,5"])
    result = inventory(tmp_path)
    assert list(result.issues) == []
    (row,) = result.rows.to_pylist()
    assert (row["kind"], row["report"], row["source"], row["first_local"]) == (
        "mq",
        "MQ ROUND TRIPS",
        "csv",
        None,
    )
