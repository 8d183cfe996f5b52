"""The hour that a clock shows twice in autumn: the order of the reports tells the two apart."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.parsers.text.rmf.listings import TABLES, read_pages

from zscope.parsers.issues import Code, Issues
from zscope.parsers.text.report_rows import FileRows
from zscope.parsers.text.rmf.cpu import cpu_pages
from zscope.parsers.text.rmf.page_write import RmfPrintForm
from zscope.parsers.text.rmf.partition import partition_pages
from zscope.parsers.text.rmf.xml import RmfXml
from zscope.parsers.text.rmf.xml_write import rmf_xml

Row = dict[str, Any]
Pages = list[list[str]]
SUNDAY, MONDAY = datetime.fromisoformat("2026-10-25T02:00"), datetime.fromisoformat("2026-10-26T02:00")


def reports(start: datetime, busy: float, system: str = "SYSA", minutes: int = 15) -> tuple[Row, Row, Row]:
    """An interval with a processor and a partition."""
    interval: Row = {"system": system, "interval_start_local": start, "interval_ms": minutes * 60_000}
    interval["interval_end_local"] = start + timedelta(minutes=minutes)
    interval |= {"cycle_length_ms": 1000, "partition_name": system, "configured_partitions": 1}
    interval |= {"machine_type": "3931", "capacity_model": "704", "physical_model": "A01", "physical_cpus": 1}
    interval |= {"capacity_rating_msu_per_hour": 100, "physical_cps": 1, "dispatch_interval": "DYNAMIC"}
    names = {"system": system, "interval_start_local": start}
    cpu = names | {"row_kind": "processor", "cpu_id": 0, "cpu_type_name": "CP", "online_pct": 100.0}
    cpu |= {"lpar_busy_pct": busy, "mvs_busy_pct": busy, "parked_pct": 0.0, "share_pct": 100.0}
    cpu |= {"priority": "HIGH", "io_interrupt_rate": 1.0, "tpi_pct": 1.0}
    spent = round(minutes * 600 * busy)
    partition = names | {"row_kind": "partition", "partition_name": system, "partition_status": "active"}
    partition |= {"weight": 10, "dedicated": False, "defined_capacity_msu": 0, "actual_msu_per_hour": 1}
    partition |= {"capping": "N N N", "wlm_capping_pct": 0.0, "logical_cpus": 1.0, "cpu_type_name": "CP"}
    partition |= {"effective_ms": spent, "dispatch_ms": spent, "logical_effective_pct": busy}
    partition |= {"logical_total_pct": busy, "physical_management_pct": 0.0, "physical_effective_pct": busy}
    partition |= {"physical_total_pct": busy}
    return interval, cpu, partition


def two_hours(start: datetime, minutes: int) -> list[tuple[Row, Row, Row]]:
    """The intervals of an hour, and of the same hour again with other figures."""
    steps = [start + timedelta(minutes=at) for at in range(0, 60, minutes)]
    return [reports(at, 10.0 + number, minutes=minutes) for number, at in enumerate([*steps, *steps])]


def pages_of(intervals: list[tuple[Row, Row, Row]], *, by_report: bool) -> Pages:
    cpus = [cpu_pages(interval, [cpu], RmfPrintForm()) for interval, cpu, _ in intervals]
    partitions = [
        partition_pages(interval, [partition], RmfPrintForm()) for interval, _, partition in intervals
    ]
    groups = (
        [*cpus, *partitions]
        if by_report
        else [p for pair in zip(cpus, partitions, strict=True) for p in pair]
    )
    return [page for group in groups for page in group]


@pytest.mark.parametrize(
    ("minutes", "by_report"), [(15, False), (15, True), (30, False), (60, False), (60, True), (5, False)]
)
def test_the_second_hour_of_a_listing(minutes: int, by_report: bool) -> None:
    intervals = two_hours(SUNDAY, minutes)
    tables, issues = read_pages(*pages_of(intervals, by_report=by_report))
    half = len(intervals) // 2
    for name, column, at in (("rmf_cpu", "lpar_busy_pct", 1), ("rmf_partition", "logical_total_pct", 2)):
        rows = [row for row in tables[name] if row["row_kind"] in {"processor", "partition"}]
        rows.sort(key=lambda row: row["line_no"])
        assert [(row["interval_start_local"], row[column], row["second_hour"]) for row in rows] == [
            (found[0]["interval_start_local"], found[at][column], True if number >= half else None)
            for number, found in enumerate(intervals)
        ]
    rows = sorted(tables["rmf_interval"], key=lambda row: row["line_no"])
    assert [row["second_hour"] for row in rows] == [None] * half + [True] * half
    assert [row["partition_name"] for row in rows] == ["SYSA"] * 2 * half
    assert [issue.code for issue in issues if issue.code is Code.AMBIGUOUS_TIME] == [
        Code.AMBIGUOUS_TIME
    ] * half
    assert Code.REPORT_REPEATED not in {issue.code for issue in issues}


def test_two_systems_in_turn() -> None:
    first = [reports(SUNDAY, 10.0, system) for system in ("SYSA", "SYSB")]
    second = [reports(SUNDAY, 20.0, system) for system in ("SYSA", "SYSB")]
    tables, _ = read_pages(*pages_of([*first, *second], by_report=False))
    rows = [row for row in tables["rmf_cpu"] if row["row_kind"] == "processor"]
    assert {(row["system"], row["lpar_busy_pct"], row["second_hour"]) for row in rows} == {
        ("SYSA", 10.0, None), ("SYSB", 10.0, None), ("SYSA", 20.0, True), ("SYSB", 20.0, True),
    }  # fmt: skip


def test_on_other_days_the_interval_is_repeated() -> None:
    tables, issues = read_pages(*pages_of(two_hours(MONDAY, 15), by_report=False))
    assert {row["second_hour"] for rows in tables.values() for row in rows} == {None}
    assert Code.REPORT_REPEATED in {issue.code for issue in issues}


def test_the_same_pages_again_are_no_second_hour() -> None:
    once = pages_of(two_hours(SUNDAY, 15)[:4], by_report=False)
    assert read_pages(*once, *once)[0] == read_pages(*once)[0]


@pytest.mark.parametrize("start", [SUNDAY, MONDAY])
def test_the_second_hour_of_a_document(start: datetime) -> None:
    intervals = two_hours(start, 15)
    documents = [rmf_xml([i], [c], [p], log=()) for i, c, p in intervals]
    parts = [text[text.index("<postprocessor") : text.index("</ddsml>")] for text in documents]
    sheet = FileRows(dict.fromkeys(TABLES), Issues(), "cpu.xml")
    list(RmfXml(sheet).read(iter([f"<ddsml>{''.join([*parts, *parts])}</ddsml>".encode()])))
    rows = {table: batch.to_pylist() for table, batch in sheet.remaining_batches()}["rmf_interval"]
    codes = [issue.code for issue in sheet.issues]
    if start is SUNDAY:
        assert [row["second_hour"] for row in rows] == [None] * 4 + [True] * 4
        assert codes.count(Code.AMBIGUOUS_TIME) == 4
        assert codes.count(Code.REPORT_REPEATED) == 8
    else:
        assert [row["second_hour"] for row in rows] == [None] * 4
        assert codes.count(Code.REPORT_REPEATED) == 12
