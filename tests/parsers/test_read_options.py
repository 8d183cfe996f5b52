"""The options of reading: validation, and that every function uses them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from datetime import UTC, date, datetime, time
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from zscope.parsers import Framing, InputError, ProgressState, ReadOptions, inventory, read, scan, unpack
from zscope.parsers.options import parse

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = "sample-data/smf-sample.bin"
DISPLAY = """\
MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           09:41:07
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
WEBSRV   0000002A 10.1.2.3..443          10.9.8.7..50001        Establsh
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"code_page": "850"}, "code page '850'"),
        ({"framing": "vbs"}, "'vbs'"),
        ({"jobs": 0}, "jobs is 0"),
        ({"taken": "2026-03-02"}, "taken must be a date"),
        ({"mapping": {"colour": "red"}}, "'colour' is not a column"),
        ({"mapping": {"time": "t", "ecbs_in_use": "t"}}, "'t' is given to two columns"),
        ({"time_format": "hours"}, "'hours' is not a time format"),
        ({"formatter_zone": "Mars/Olympus"}, "Mars/Olympus"),
    ],
)
def test_wrong_options_raise_a_value_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReadOptions(**options)
    with pytest.raises(ValueError, match=message):
        replace(ReadOptions(), **options)


def test_options_are_immutable_and_comparable() -> None:
    options = ReadOptions(mapping={"time": "Time", "ecbs_in_use": "ECBs"}, framing=Framing("rdw"))
    assert options == ReadOptions(mapping=(("ecbs_in_use", "ECBs"), ("time", "Time")), framing=Framing.RDW)
    assert hash(options) != hash(ReadOptions())
    assert replace(options, jobs=2).renamed_columns == (("ecbs_in_use", "ECBs"), ("time", "Time"))
    with pytest.raises(FrozenInstanceError):
        options.jobs = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("taken", "day", "clock"),
    [
        (None, None, None),
        (date(2026, 3, 2), date(2026, 3, 2), None),
        (datetime(2026, 3, 2, 9, 41, tzinfo=UTC), date(2026, 3, 2), time(9, 41)),
    ],
)
def test_day_and_clock_of_a_capture(taken: date | None, day: date | None, clock: time | None) -> None:
    options = ReadOptions(taken=taken)
    assert (options.day, options.clock) == (day, clock)


def test_displays_get_system_and_day_from_the_options(tmp_path: Path) -> None:
    path = tmp_path / "netstat.txt"
    path.write_text(DISPLAY)
    options = ReadOptions(system="SYSA", taken=date(2026, 3, 2))
    [row] = read(path, "netstat_conn", options)["netstat_conn"].to_pylist()
    assert (row["system"], row["taken_local"]) == ("SYSA", datetime(2026, 3, 2, 9, 41, 7))  # noqa: DTZ001
    [counted] = inventory(path, options).rows.to_pylist()
    assert (counted["system"], counted["first_local"]) == ("SYSA", row["taken_local"])
    assert [str(issue.code) for issue in read(path, "netstat_conn").issues] == ["no-date"]


def test_strict_reading_raises_the_first_issue(tmp_path: Path) -> None:
    path = tmp_path / "netstat.txt"
    path.write_text(DISPLAY.replace("0000002A", "2A"))
    with pytest.raises(InputError, match="2A"):
        read(path, "netstat_conn", ReadOptions(strict=True))


def test_every_function_reports_progress() -> None:
    states: list[ProgressState] = []
    options = ReadOptions(progress=states.append)
    for action in (
        lambda: list(scan(SAMPLE, "smf70_cpu", options)),
        lambda: inventory(SAMPLE, options),
        lambda: unpack(SAMPLE, BytesIO(), options),
    ):
        states.clear()
        action()
        assert states[-1].bytes_done == states[-1].bytes_total


def test_a_parsed_selection_can_be_read() -> None:
    tables = "smf70_cpu[system,cpu_id]"
    assert read(SAMPLE, parse(tables)).tables == read(SAMPLE, tables).tables
