"""What the columns of single supplied tables must be: round trips, virtual machines, channel paths."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.parsers.text.supplied.reading import read_lines, rows, texts, told, values

from zscope.parsers import inventory
from zscope.parsers.issues import Code

ROUND_TRIP = "mq_round_trip"
HEAD = "message_bytes,cipher,sslrkeyc,round_trip_us,cpu_us,round_trips,measured_at"
GOOD = "8192,TLS_RSA_WITH_AES_256_CBC_SHA256,1048576,1250.25,310,100000,2026-03-02T10:00:00+01:00"


def test_a_round_trip(tmp_path: Path) -> None:
    found = read_lines(
        tmp_path, ROUND_TRIP, [HEAD + ",channel_pairs,channel_bytes_per_message", GOOD + ",2,8595"]
    )
    assert told(found) == []
    (row,) = rows(found)
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
    ("written", "kept"),
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
def test_a_cipher_has_one_spelling(tmp_path: Path, written: str, kept: str) -> None:
    found = read_lines(tmp_path, ROUND_TRIP, ["message_bytes,cipher,round_trip_us", f"64,{written},5"])
    assert values(found, "cipher") == [(kept,)]


@pytest.mark.parametrize(
    ("line", "field", "says"),
    [
        ("x,none,,5,,,", "message_bytes", "'x' is no whole number; the line is left out"),
        ("64,,,5,,,", "cipher", "no cipher is named; the line is left out"),
        ("64,none,,,,,", "round_trip_us", "'' is no number; the line is left out"),
        ("64,none,,-5,,,", "round_trip_us", "'-5' is below 0; the line is left out"),
        ("64,none,1.5,5,,,", "sslrkeyc", "'1.5' is no whole number; the column is null"),
        ("64,none,,5,-1,,", "cpu_us", "'-1' is below 0; the column is null"),
        ("64,none,,5,,,10:00", "measured_at", "is no time with an offset from UTC such as"),
        ("64,none,,5,,,2026-03-02T10:00", "measured_at", "has no offset from UTC: write it as"),
    ],
)
def test_a_value_that_must_be_there_costs_the_line_and_another_itself(
    tmp_path: Path, line: str, field: str, says: str
) -> None:
    found = read_lines(tmp_path, ROUND_TRIP, [HEAD, line, GOOD])
    assert told(found) == [(Code.BAD_VALUE, 2, field)]
    assert says in texts(found)
    kept = [3] if "line is left out" in texts(found) else [2, 3]
    assert values(found, "line_no") == [(line_no,) for line_no in kept]


def test_the_cpu_time_of_virtual_machines(tmp_path: Path) -> None:
    lines = ["userid,period_s,tcpu_s,%CPU", "ssl00001,600,72.48,12.08", "RSCS,0,1,", ",600,1,", "TCPIP,600,,"]
    found = read_lines(tmp_path, "zvm_user", lines)
    columns = ("userid", "period_s", "tcpu_s", "cpu_pct", "time_from", "interval_start_local")
    assert values(found, *columns) == [("SSL00001", 600, 72.48, 12.08, "none", None)]
    assert told(found) == [
        (Code.BAD_VALUE, 3, "period_s"),
        (Code.BAD_VALUE, 4, "userid"),
        (Code.BAD_VALUE, 5, "tcpu_s"),
    ]


def test_the_rates_of_channel_paths(tmp_path: Path) -> None:
    lines = ["chpid,write_bytes_per_s,read_bytes_per_s", "5a,12.9M,12800000", "5,1,2", "XY,1,2", "54,-1,2"]
    found = read_lines(tmp_path, "zvm_channel", lines)
    assert values(found, "chpid", "write_bytes_per_s", "read_bytes_per_s") == [("5A", 12_900_000, 12_800_000)]
    assert [line for _, line, _ in told(found)] == [3, 4, 5]
    assert "'XY' is no channel path: expected are two hexadecimal digits" in texts(found)


def test_a_period_of_a_table_without_times_begins_when_an_option_says_so(tmp_path: Path) -> None:
    begun = datetime(2026, 3, 2, 13, 20)  # noqa: DTZ001 - local time has no zone
    found = read_lines(tmp_path, "zvm_user", ["userid,period_s,tcpu_s", "RSCS,600,1"], taken=begun)
    assert values(found, "interval_start_local", "time_from") == [(begun, "option")]


def test_figures_need_no_date(tmp_path: Path) -> None:
    read_lines(tmp_path, ROUND_TRIP, ["message_bytes,cipher,round_trip_us", "64,none,5"])
    found = inventory(tmp_path)
    assert list(found.issues) == []
    (row,) = found.rows.to_pylist()
    assert (row["kind"], row["report"], row["source"], row["first_local"]) == (
        "mq",
        "MQ ROUND TRIPS",
        "csv",
        None,
    )
