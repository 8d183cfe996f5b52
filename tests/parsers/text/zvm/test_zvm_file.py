"""Files with listings: several reports, encodings, where the system is known from, and other texts."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from tests.parsers.text.zvm.listings import (
    BEGIN,
    CHANNEL,
    EXPECTED,
    TABLES,
    TOP,
    TRAFFIC,
    USER,
    USERS,
    ZvmReading,
    figures,
    read_listing,
    traffic,
)

from zscope.parsers import inventory, read
from zscope.parsers.issues import Code, Severity
from zscope.parsers.text.capture_writer import as_bytes

if TYPE_CHECKING:
    from pathlib import Path


def test_other_reports_between_are_skipped(tmp_path: Path) -> None:
    other = [
        "1FCX103  Run 2026/03/02 14:20:11         STORAGE",
        *TOP[2:],
        "Userid    %CPU  TCPU",
        USERS[0],
        "54 Yes 1",
    ]
    result = read_listing(tmp_path, [*other, *USER, *other, *CHANNEL, *other])
    assert figures(result.users) == EXPECTED
    assert traffic(result.channels) == TRAFFIC
    assert [(issue.code, issue.severity, issue.section) for issue in result.issues] == [
        (Code.OTHER_REPORT, Severity.NOTE, "FCX103")
    ]


def test_several_intervals_in_one_file(tmp_path: Path) -> None:
    later = [line.replace("13:3", "13:4").replace("13:2", "13:3") for line in (*USER, *CHANNEL)]
    result = read_listing(tmp_path, [*USER, *CHANNEL, *later])
    assert result.problems == []
    starts = [row["interval_start_local"] for row in result.users]
    assert starts == [BEGIN] * 4 + [BEGIN.replace(minute=30)] * 4
    kinds = inventory(tmp_path / "listing.txt").rows.to_pylist()
    assert [(kind["kind"], kind["report"], kind["records"]) for kind in kinds] == [
        ("zvm", "ZVM FCX112 USER", 2),
        ("zvm", "ZVM FCX215 FCHANNEL", 2),
    ]


def test_the_same_listing_twice_counts_once(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [*USER, *CHANNEL, *USER, *CHANNEL])
    assert result.problems == [(Code.REPORT_REPEATED, 34, 1), (Code.REPORT_REPEATED, 49, 1)]
    assert (len(result.users), len(result.channels)) == (4, 2)


@pytest.mark.parametrize("coding", ["utf-16", "ebcdic", "ebcdic-records", "ebcdic-lengths"])
@pytest.mark.parametrize("control", [False, True])
def test_codings_and_carriage_control(tmp_path: Path, coding: str, control: bool) -> None:
    lines = [*USER, *CHANNEL]
    if control:
        lines = [line if line[0] == "1" else f" {line}" for line in lines]
        lines[-1] = f"0{lines[-1][1:]}"
    path = tmp_path / "listing"
    path.write_bytes(as_bytes(lines, coding))
    result = ZvmReading(read(path, TABLES))
    assert result.problems == []
    assert figures(result.users) == EXPECTED
    assert traffic(result.channels) == TRAFFIC


@pytest.mark.parametrize("front", ["\f", "", " ", "0"])
def test_pages_whose_carriage_control_was_changed(tmp_path: Path, front: str) -> None:
    lines = [f"{front}{line[1:]}" if line[0] == "1" else line for line in (*USER, *CHANNEL)]
    result = read_listing(tmp_path, lines)
    assert result.problems == []
    assert figures(result.users) == EXPECTED
    assert traffic(result.channels) == TRAFFIC


def test_tabs_become_blanks(tmp_path: Path) -> None:
    lines = [line.replace("To   2026", "To\t2026").replace("RSCS    ", "RSCS\t") for line in USER]
    result = read_listing(tmp_path, lines)
    assert (result.problems, figures(result.users)) == ([], EXPECTED)


@pytest.mark.parametrize(
    ("name", "system", "problems"),
    [
        ("VMA-FCX112-2026-03-02.txt", "VMA", "file-name"),
        ("ZVM.FCX.USER.FCHANNEL.txt", None, None),
        ("PERFKIT-MONWRITE-RSCS.txt", None, None),
    ],
)
def test_the_name_of_the_file_can_contain_the_system(
    tmp_path: Path, name: str, system: str | None, problems: str | None
) -> None:
    result = read_listing(tmp_path, USER, name=name)
    assert {(row["system"], row["system_from"]) for row in result.users} == {(system, problems)}


MENTIONS = [
    "FCX112 shows the CPU seconds of each virtual machine; FCX215 those of channels.",
    "FCX112",
    "  FCX112  CPU load and what else there is",
    "1FCX112 and FCX215 are reports of Performance Toolkit",
    "see the report FCX112  Run 2026/03/02 14:20:11         USER",
    "FCX112A Run 2026/03/02",
    "FCX1120  Run 2026/03/02 14:20:11         USER",
    "09.45.00 STC01234  FCX112  Run 2026/03/02 14:20:11",
]


@pytest.mark.parametrize("mention", MENTIONS)
def test_a_text_that_mentions_a_report_is_not_one(tmp_path: Path, mention: str) -> None:
    result = read_listing(tmp_path, [mention, *USERS])
    assert result.problems == [(Code.UNKNOWN_LINE, 2, None)]
    assert result.users == []


def test_a_report_without_heading_is_reported(tmp_path: Path) -> None:
    result = read_listing(tmp_path, [*USER[1:], *CHANNEL[1:]])
    assert result.problems == [(Code.UNKNOWN_LINE, 8, None), (Code.UNKNOWN_LINE, 23, None)]
    assert "inside of a report whose heading is missing" in result.issues[0].text


def test_a_day_from_elsewhere_is_not_joined_with_a_listing(tmp_path: Path) -> None:
    result = read_listing(tmp_path, USER, taken=date(2025, 1, 1))
    assert {(row["interval_start_local"], row["time_from"]) for row in result.users} == {(BEGIN, "report")}
