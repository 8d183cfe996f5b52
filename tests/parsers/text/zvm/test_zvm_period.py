"""Screens of FCX112, and where the period of the figures is known from."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.zvm.listings import CHANNEL, CPU, SCREEN, USER, Row, extra, read_listing

from zscope.parsers import inventory
from zscope.parsers.issues import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DAY = date(2026, 3, 2)


def moment(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute)  # noqa: DTZ001 - local time has no zone


def when(rows: Sequence[Row]) -> set[tuple[datetime | None, float, str]]:
    return {(row["interval_start_local"], row["period_s"], row["time_from"]) for row in rows}


def test_a_screen_of_a_known_day(tmp_path: Path) -> None:
    result = read_listing(tmp_path, SCREEN, taken=DAY)
    assert result.problems == []
    assert result.cpu() == {name: seconds for name, seconds in CPU.items() if name != "OPERATOR"}
    assert when(result.users) == {(moment(2, 13, 20), 600.0, "option")}
    rscs = result.users[0]
    assert (rscs["source"], rscs["cpu_pct"], rscs["virtual_io_per_s"]) == ("terminal", 44.98, 61.2)
    assert extra(rscs) == {
        "Virtual IO/s DASD": "33.0",
        "Virtual IO/s Avoid": "2.1",
        "Virtual IO/s Diag98": ".0",
        "Virtual IO/s UR": ".3",
        "User Status": "ESA,CL1,DISP",
        "CPU": "2964",
        "SER": "51524",
    }


def test_a_screen_without_a_date(tmp_path: Path) -> None:
    result = read_listing(tmp_path, SCREEN)
    assert [(issue.code, issue.severity, issue.line_no) for issue in result.issues] == [
        (Code.NO_DATE, Severity.NOTE, 1)
    ]
    assert when(result.users) == {(None, 600.0, "none")}


def test_the_day_is_known_from_the_file_name(tmp_path: Path) -> None:
    result = read_listing(tmp_path, SCREEN, name="VMA-2026-03-02.txt")
    assert (result.problems, when(result.users)) == ([], {(moment(2, 13, 20), 600.0, "file-name")})


def test_the_run_of_a_listing_dates_its_interval(tmp_path: Path) -> None:
    heading = "1FCX112  Run 2026/03/02 14:20:11         USER     Interval 13:20:00 - 13:30:00"
    result = read_listing(tmp_path, [heading, *USER[5:]])
    assert (result.problems, when(result.users)) == ([], {(moment(2, 13, 20), 600.0, "report")})
    result = read_listing(tmp_path, [heading.replace("13:", "23:"), *USER[5:]])
    assert when(result.users) == {(moment(1, 23, 20), 600.0, "report")}, "of the day before"


@pytest.mark.parametrize(
    ("taken", "begin"),
    [(DAY, moment(1, 23, 55)), (datetime(2026, 3, 2, 0, 4), moment(28, 23, 55).replace(month=2))],  # noqa: DTZ001
)
def test_a_screen_past_midnight_ended_on_its_day(tmp_path: Path, taken: date, begin: datetime) -> None:
    lines = [line.replace("13:20:00 - 13:30:00", "23:55:00 - 00:05:00") for line in SCREEN]
    result = read_listing(tmp_path, lines, taken=taken)
    assert (result.problems, when(result.users)) == ([], {(begin, 600.0, "option")})


def test_screens_of_one_interval_are_one_report(tmp_path: Path) -> None:
    """Scrolled by two lines, so that one line is on both screens, with another report between."""
    other = [
        " FCX102      CPU 2964  SER 51524  Interval 13:20:00 - 13:30:00    Perf. Monitor",
        "",
        " CP 12.0",
    ]
    first = [line for line in SCREEN if "TCPIP" not in line]
    second = [line for line in SCREEN if "RSCS" not in line]
    result = read_listing(tmp_path, [*first, *other, *second, *second], taken=DAY)
    assert [issue.code for issue in result.issues] == [Code.OTHER_REPORT]
    assert [row["userid"] for row in result.users] == ["RSCS", "SSL00001", "TCPIP"]
    (group,) = inventory(tmp_path / "listing.txt").rows.to_pylist()
    assert (group["source"], group["records"]) == ("terminal", 1)


def test_different_screens_of_one_interval_are_reported(tmp_path: Path) -> None:
    changed = [line.replace("72.48", "72.49") for line in SCREEN]
    result = read_listing(tmp_path, [*SCREEN, *changed], taken=DAY)
    assert result.problems == [(Code.REPORT_REPEATED, 20, 1)]
    assert result.cpu()["SSL00001"] == 72.48


def test_a_screen_of_paths(tmp_path: Path) -> None:
    heading = " FCX215      CPU 2964  SER 51524  Interval 13:20:00 - 13:30:00    Perf. Monitor"
    result = read_listing(tmp_path, [heading, "", *CHANNEL[6:], "Command ===> "], taken=DAY)
    assert result.problems == []
    assert [(row["chpid"], row["write_bytes_per_s"]) for row in result.channels] == [
        ("32", 1.2e6),
        ("54", 12.9e6),
    ]
    assert extra(result.channels[0]) == {"CPU": "2964", "SER": "51524"}


PERIODS: dict[str, tuple[list[str], tuple[datetime | None, float, str], list[Code]]] = {
    "as it is": ([], (moment(2, 13, 20), 600.0, "report"), []),
    "without For": (["From", "To", ""], (moment(2, 13, 20), 600.0, "report"), []),
    "without To": (["From", "", "For"], (moment(2, 13, 20), 600.0, "report"), []),
    "without From": (["", "To", "For"], (moment(2, 13, 20), 600.0, "report"), []),
    "over midnight": (
        ["From 2026/03/01 23:55:00", "To   2026/03/02 00:05:00", "For    600 Secs 00:10:00"],
        (moment(1, 23, 55), 600.0, "report"), [],
    ),
    "until 24 o'clock": (
        ["From 2026/03/01 23:50:00", "To   2026/03/01 24:00:00", "For    600 Secs"],
        (moment(1, 23, 50), 600.0, "report"), [],
    ),
    "clocks over midnight": (
        ["From 23:55:00", "To   00:05:00", ""], (moment(1, 23, 55), 600.0, "report"), []
    ),
    "clocks over midnight with For": (
        ["From 23:55:00", "To   00:05:00", "For    600 Secs"], (moment(1, 23, 55), 600.0, "report"), []
    ),
    "more than a day": (
        ["From 12:00:00", "To   12:10:00", "For  87000 Secs"], (moment(1, 12), 87000.0, "report"), []
    ),
    "a second off": (["From", "To   2026/03/02 13:30:01", "For"], (moment(2, 13, 20), 600.0, "report"), []),
    "For and To differ": (
        ["From", "To   2026/03/02 13:40:00", "For"], (moment(2, 13, 20), 600.0, "report"), [Code.ARITHMETIC]
    ),
    "To before From": (
        ["From", "To   2026/03/02 13:10:00", "For"], (moment(2, 13, 20), 600.0, "report"), [Code.ARITHMETIC]
    ),
    "For without a number": (
        ["From", "To", "For    abc Secs"], (moment(2, 13, 20), 600.0, "report"), [Code.BAD_VALUE]
    ),
    "For nothing": (
        ["From", "To", "For      0 Secs"], (moment(2, 13, 20), 600.0, "report"), [Code.BAD_VALUE]
    ),
    "no such day": (
        ["From 2026/02/30 13:20:00", "To", "For"], (moment(2, 13, 20), 600.0, "report"), [Code.BAD_VALUE]
    ),
    "no such time": (
        ["From 2026/03/02 13:60:00", "To", "For"], (moment(2, 13, 20), 600.0, "report"), [Code.BAD_VALUE]
    ),
    "only For": (["", "", "For"], (None, 600.0, "none"), [Code.NO_DATE]),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "expected", "codes"), PERIODS.values(), ids=PERIODS.keys())
def test_where_the_period_is_known_from(
    tmp_path: Path, lines: list[str], expected: tuple[datetime | None, float, str], codes: list[Code]
) -> None:
    usual = {line.split()[0]: line for line in USER[2:5]}
    changed = [usual.get(line, line) for line in lines] or USER[2:5]
    spent = [
        row.replace("44.98", "  ...").replace("12.08", "  ...").replace(" 9.00", "  ...") for row in USER[5:]
    ]
    result = read_listing(tmp_path, [*USER[:2], *changed, *spent])
    assert when(result.users) == {expected}
    assert [issue.code for issue in result.issues] == codes


def test_cpu_time_of_an_unknown_period_is_left_out(tmp_path: Path) -> None:
    nothing = ["From yesterday", "To", "For a while"]
    result = read_listing(tmp_path, [USER[0], *nothing, *USER[5:], CHANNEL[0], *nothing, *CHANNEL[5:]])
    assert result.users == []
    assert [row["period_s"] for row in result.channels] == [None, None]
    problems = [(issue.code, issue.line_no) for issue in result.issues if issue.code is not Code.BAD_VALUE]
    assert problems == [(Code.REPORT_UNREADABLE, 1), (Code.NO_DATE, 1), (Code.REPORT_UNREADABLE, 15)]
    assert [issue.field for issue in result.issues if issue.code is Code.BAD_VALUE] == [
        "From",
        "To",
        "For",
    ] * 2


@pytest.mark.parametrize("interval", ["13:20:00", "13:20:00 - 13:61:00", "13:20:00 - 13:20:00"])
def test_invalid_intervals(tmp_path: Path, interval: str) -> None:
    lines = [line.replace("13:20:00 - 13:30:00", interval) for line in SCREEN]
    result = read_listing(tmp_path, lines, taken=DAY)
    assert result.users == []
    assert Code.REPORT_UNREADABLE in {issue.code for issue in result.issues}


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_the_first_and_the_last_possible_day(tmp_path: Path, year: str) -> None:
    day = f"{year}/01/01" if year == "0001" else f"{year}/12/31"
    times = ["From 23:50:00", f"To   {day} 24:00:00", "For 999999999 Secs"]
    result = read_listing(tmp_path, [USER[0].replace("2026/03/02", day), USER[1], *times, *USER[5:]])
    assert len(result.users) == 4
    assert Code.ARITHMETIC in {issue.code for issue in result.issues}
