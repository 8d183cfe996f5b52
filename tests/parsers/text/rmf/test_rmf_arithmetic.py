"""Relations between the figures of an interval: they hold within rounding, and reveal altered figures."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from zscope.parsers import read
from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.text.captured_report import Origin, ReportSource
from zscope.parsers.text.report_rows import FileRows, ReportRows
from zscope.parsers.text.rmf.arithmetic import check_interval, sum_tolerance
from zscope.parsers.text.rmf.xml import RmfXml
from zscope.samples.reports.rmf import TABLES_NEEDED, rmf_rows

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
SAMPLE = "sample-data/smf-sample.bin"

INTERVAL: Row = {
    "line_no": 1,
    "interval_ms": 600_000,
    "capacity_rating_msu_per_hour": 500,
    "partition_name": "PRDA",
    "configured_partitions": 3,
    "wait_completion": False,
    "physical_cps": 3,
    "physical_ziips": 1,
    "physical_cpus": 4,
}


def _cpu(line: int, kind: str, row_kind: str = "processor", **figures: float | None) -> Row:
    return {"line_no": line, "row_kind": row_kind, "cpu_type_name": kind, "cpu_id": None, **figures}


def _processor(line: int, cpu_id: int, figures: str) -> Row:
    names = ("online", "lpar_busy", "mvs_busy", "parked", "share")
    values = [None if text == "-" else float(text) for text in figures.split()]
    kind = "CP" if cpu_id < 3 else "IIP"
    row = _cpu(line, kind) | {f"{name}_pct": value for name, value in zip(names, values[:5], strict=True)}
    more = ("io_interrupt_rate", "tpi_pct") if kind == "CP" else ("mt_productivity_pct", "mt_utilisation_pct")
    return row | {"cpu_id": cpu_id, "thread": 0} | dict(zip(more, values[5:], strict=True))


CPUS: list[Row] = [
    _processor(10, 0, "100.00 40.00 41.00 0.00 100.0 120.00 2.00"),
    _processor(11, 1, "100.00 20.00 30.00 50.00 50.0 30.00 5.00"),
    _processor(12, 2, "100.00 0.00 - 100.00 0.0 0.00 0.00"),
    _cpu(
        13,
        "CP",
        "total",
        lpar_busy_pct=20.0,
        mvs_busy_pct=37.33,
        share_pct=150.0,
        io_interrupt_rate=150.0,
        tpi_pct=2.6,
    ),
    _processor(14, 3, "100.00 10.00 16.00 0.00 100.0 80.00 8.00"),
    _cpu(15, "IIP", "thread", mvs_busy_pct=8.0, parked_pct=0.0),
    _cpu(
        16,
        "IIP",
        "total",
        lpar_busy_pct=10.0,
        mvs_busy_pct=12.0,
        share_pct=100.0,
        mt_productivity_pct=80.0,
        mt_utilisation_pct=8.0,
    ),
]


def _partition(line: int, name: str, kind: str, figures: str, row_kind: str = "partition") -> Row:
    names = (
        *("weight", "actual_msu_per_hour", "logical_cpus", "effective_ms", "dispatch_ms"),
        *("logical_effective_pct", "logical_total_pct"),
        *("physical_management_pct", "physical_effective_pct", "physical_total_pct"),
    )
    values = [None if text == "-" else float(text) for text in figures.split()]
    row = {"line_no": line, "row_kind": row_kind, "partition_name": name, "cpu_type_name": kind}
    return row | dict(zip(names, values, strict=True))


PARTITIONS: list[Row] = [
    _partition(20, "PRDA", "CP", "300 99 3 354600 360000 19.70 20.00 0.30 19.70 20.00"),
    _partition(21, "PRDB", "CP", "300 66 2 237600 240000 19.80 20.00 0.13 13.20 13.33"),
    _partition(22, "*PHYSICAL*", "CP", "- - - - 9000 - - 0.50 - 0.50", "physical"),
    _partition(23, "TOTAL", "CP", "600 - - 592200 609000 - - 0.93 32.90 33.83", "total"),
    _partition(24, "PRDA", "IIP", "100 - 1 59400 60000 9.90 10.00 0.10 9.90 10.00"),
    _partition(25, "*PHYSICAL*", "IIP", "- - - - 600 - - 0.10 - 0.10", "physical"),
    _partition(26, "TOTAL", "IIP", "100 - - 59400 60600 - - 0.20 9.90 10.10", "total"),
    {"line_no": 27, "row_kind": "partition", "partition_name": "TESTX", "cpu_type_name": None},
]


def check(interval: Row, cpus: list[Row], partitions: list[Row]) -> list[Issue]:
    sheet = FileRows({}, Issues(), "cpu.txt")
    check_interval(interval, cpus, partitions, ReportRows(sheet, Origin(ReportSource.TEXT)))
    return list(sheet.issues)


def changed(line: int, **figures: float | bool | str | None) -> tuple[Row, list[Row], list[Row]]:
    """Return the interval with other figures in the row of this line."""
    interval, cpus, partitions = deepcopy((INTERVAL, CPUS, PARTITIONS))
    (row,) = (row for row in (interval, *cpus, *partitions) if row["line_no"] == line)
    row.update(figures)
    return interval, cpus, partitions


def test_sound_figures_agree() -> None:
    assert check(INTERVAL, CPUS, PARTITIONS) == []


ALTERED = {
    "average of LPAR BUSY": (13, "lpar_busy_pct", 20.05, "LPAR BUSY", "weighted with ONLINE"),
    "average of MVS BUSY": (13, "mvs_busy_pct", 37.4, "MVS BUSY", "online and not parked"),
    "average of MVS BUSY over threads": (16, "mvs_busy_pct", 16.0, "MVS BUSY", "online and not parked"),
    "sum of shares": (13, "share_pct", 151.0, "LOG PROC SHARE %", "sum of the shares"),
    "shares and weights": (16, "share_pct", 99.0, "LOG PROC SHARE %", "weight / sum of weights"),
    "sum of rates": (13, "io_interrupt_rate", 151.0, "RATE", "sum of the rates"),
    "average of TPI": (13, "tpi_pct", 3.5, "% VIA TPI", "weighted with RATE"),
    "multithreading": (14, "mt_utilisation_pct", 8.1, "UTIL", "PROD x LPAR BUSY"),
    "own partition": (13, "lpar_busy_pct", 20.04, "LOGICAL TOTAL", "LPAR BUSY average"),
    "logical effective": (21, "logical_effective_pct", 19.85, "LOGICAL EFFECTIVE", "processors and the"),
    "logical total": (21, "logical_total_pct", 20.03, "LOGICAL TOTAL", "processors and the interval"),
    "logical processors": (21, "logical_cpus", 4.0, "LOGICAL TOTAL", "processors and the interval"),
    "management": (21, "physical_management_pct", 0.15, "LPAR MGMT", "physical processors"),
    "management of the machine": (22, "physical_management_pct", 0.55, "LPAR MGMT", "physical processors"),
    "physical effective": (20, "physical_effective_pct", 19.68, "PHYSICAL EFFECTIVE", "physical processors"),
    "physical total": (20, "physical_total_pct", 20.03, "PHYSICAL TOTAL", "physical processors"),
    "physical total of all": (23, "physical_total_pct", 33.86, "PHYSICAL TOTAL", "physical processors"),
    "capacity": (20, "actual_msu_per_hour", 100, "MSU ACT", "CPC CAPACITY"),
    "capacity of the other": (21, "actual_msu_per_hour", 67, "MSU ACT", "CPC CAPACITY"),
    "sum of weights": (23, "weight", 601, "WGT", "sum of the lines above"),
    "sum of effective times": (23, "effective_ms", 592_205, "DISPATCH TIME EFFECTIVE", "sum of the lines"),
    "sum of times": (23, "dispatch_ms", 609_005, "DISPATCH TIME TOTAL", "sum of the lines above"),
    "sum of management": (23, "physical_management_pct", 0.99, "LPAR MGMT", "sum of the lines above"),
    "sum of effective": (23, "physical_effective_pct", 32.95, "PHYSICAL EFFECTIVE", "sum of the lines above"),
    "sum of totals": (26, "physical_total_pct", 10.15, "PHYSICAL TOTAL", "sum of the lines above"),
    "a figure that is summed": (21, "weight", 30, "WGT", "sum of the lines above"),
    "a time": (21, "dispatch_ms", 204_000, "LOGICAL TOTAL", "processors and the interval"),
    "a processor": (10, "lpar_busy_pct", 4.0, "LPAR BUSY", "weighted with ONLINE"),
    "length of the interval": (1, "interval_ms", 601_000, "LOGICAL TOTAL", "processors and the interval"),
    "processors of the machine": (1, "physical_cps", 4, "PHYSICAL TOTAL", "physical processors"),
    "all processors of the machine": (1, "physical_cpus", 7, "PHYS PROC NUM", "the kinds of processors"),
    "logical processors of this system": (20, "logical_cpus", 4.0, "NUM", "online throughout"),
    "a few more logical processors": (24, "logical_cpus", 1.1, "NUM", "online throughout"),
    "more than always online": (12, "online_pct", 300.0, "ONLINE", "all of the time"),
    "more than always busy": (10, "lpar_busy_pct", 140.0, "LPAR BUSY", "all of the time"),
    "more than always at work": (10, "mvs_busy_pct", 100.1, "MVS BUSY", "all of the time"),
    "more than always parked": (12, "parked_pct", 300.0, "PARKED", "all of the time"),
    "productivity of all": (16, "mt_productivity_pct", 85.0, "PROD", "its cores"),
    "multithreading of all": (16, "mt_utilisation_pct", 9.0, "UTIL", "PROD x LPAR BUSY"),
    "capacity of the machine": (1, "capacity_rating_msu_per_hour", 510, "MSU ACT", "CPC CAPACITY"),
}


@pytest.mark.parametrize(
    ("line", "column", "value", "label", "relation"), ALTERED.values(), ids=ALTERED.keys()
)
def test_an_altered_figure_shows(line: int, column: str, value: float, label: str, relation: str) -> None:
    issues = check(*changed(line, **{column: value}))
    assert {issue.code for issue in issues} == {Code.ARITHMETIC}
    assert [issue for issue in issues if issue.field == label and relation in issue.text and issue.line_no]


def test_an_issue_contains_the_printed_and_the_computed_figure() -> None:
    (issue,) = check(*changed(21, actual_msu_per_hour=67))
    assert str(issue) == (
        "cpu.txt, line 21, field MSU ACT: MSU ACT of PRDB (CP) is 67, but CPC CAPACITY x effective time / "
        "(physical CPs x interval) gives 66.00 [arithmetic]"
    )
    assert issue.table == "rmf_partition"


@pytest.mark.parametrize(
    ("line", "column", "value"),
    [
        (13, "lpar_busy_pct", 20.01),
        (13, "mvs_busy_pct", 37.34),
        (13, "tpi_pct", 2.61),
        (13, "share_pct", 150.1),
        (21, "logical_total_pct", 19.99),
        (22, "physical_total_pct", 0.51),
        (23, "dispatch_ms", 609_002),
        (20, "actual_msu_per_hour", 98),
    ],
)
def test_rounding_is_allowed_for(line: int, column: str, value: float) -> None:
    assert check(*changed(line, **{column: value})) == []


@pytest.mark.parametrize("missing", ["interval_ms", "physical_cps", "capacity_rating_msu_per_hour"])
def test_relations_with_a_missing_figure_are_skipped(missing: str) -> None:
    assert check(*changed(1, **{missing: None})) == []


@pytest.mark.parametrize("line", [10, 11, 20, 21, 22, 23])
def test_missing_figures_are_no_violations(line: int) -> None:
    (row,) = (row for row in (*CPUS, *PARTITIONS) if row["line_no"] == line)
    for column, value in row.items():
        if isinstance(value, float):
            assert check(*changed(line, **{column: None})) == [], column


def test_processors_that_were_online_for_a_part_weigh_less() -> None:
    interval, cpus, partitions = changed(10, online_pct=50.0)
    cpus[3]["mvs_busy_pct"] = 35.5
    assert {issue.field for issue in check(interval, cpus, partitions)} == {"LPAR BUSY"}
    cpus[3]["lpar_busy_pct"] = 16.0
    assert check(interval, cpus, partitions) == []


def test_time_online_may_be_the_base_of_the_own_partition() -> None:
    interval, cpus, partitions = changed(12, online_pct=0.0)
    cpus[3]["lpar_busy_pct"] = 30.0
    partitions[0] |= {"logical_effective_pct": 29.55, "logical_total_pct": 30.0}
    assert check(interval, cpus, partitions) == []
    partitions[0]["logical_total_pct"] = 25.0
    assert [issue.field for issue in check(interval, cpus, partitions)] == ["LOGICAL TOTAL"]


@pytest.mark.parametrize("count", [2.0, 3.5, 6.0])
def test_time_online_is_no_base_where_it_is_more_than_the_processors(count: float) -> None:
    interval, cpus, partitions = changed(12, online_pct=99.0)
    cpus[3]["lpar_busy_pct"] = 20.07
    assert check(interval, cpus, partitions) == []
    partitions[0]["logical_cpus"] = count
    assert bool(check(interval, cpus, partitions)) == (count < 2.99)


def test_logical_processors_that_are_not_whole_were_rounded() -> None:
    figures = {"logical_cpus": 2.3, "logical_effective_pct": 17.4, "logical_total_pct": 17.58}
    assert check(*changed(21, **figures)) == []
    assert check(*changed(21, **figures | {"logical_total_pct": 19.0}))


def test_dedicated_processors_may_be_in_the_total_weight_or_not() -> None:
    interval, cpus, partitions = changed(21, weight=None, dedicated=True)
    cpus[3]["share_pct"] = 150.0
    for weight in (300, 600):
        partitions[3]["weight"] = weight
        assert check(interval, cpus, partitions) == []
    partitions[3]["weight"] = 299
    assert [issue.field for issue in check(interval, cpus, partitions)] == ["WGT"]


@pytest.mark.parametrize(
    "waiting", [(1, {"wait_completion": True}), (20, {"dedicated": True, "weight": None})]
)
def test_where_waiting_counts_lpar_busy_may_differ(waiting: tuple[int, dict[str, Any]]) -> None:
    interval, cpus, partitions = changed(waiting[0], **waiting[1])
    cpus[0]["lpar_busy_pct"], cpus[3]["lpar_busy_pct"] = 34.0, 18.0
    assert check(interval, cpus, partitions) == []


@pytest.mark.parametrize(
    ("line", "labels", "altered"),
    [
        (1, "CP", {"physical_cps": 4}),
        (1, "PHYS PROC NUM", {"physical_cpus": 5}),
        (1, "CPC CAPACITY,CP", {"capacity_rating_msu_per_hour": 510, "physical_cps": 4}),
        (20, "NUM", {"logical_cpus": 2.0}),
        (21, "WGT", {"weight": 250.0}),
        (21, "NUM, WGT", {"weight": 250.0, "logical_cpus": 1.0}),
        (10, "ONLINE", {"online_pct": 50.0}),
    ],
)
def test_figures_that_changed_are_not_relied_on(line: int, labels: str, altered: dict[str, Any]) -> None:
    assert check(*changed(line, **altered))
    mark = {"changed_labels": labels} if line == 1 else {"extra": json.dumps({"changed": labels})}
    assert check(*changed(line, **altered, **mark)) == []


def test_partitions_that_are_configured_must_be_there() -> None:
    (issue,) = check(INTERVAL, CPUS, [])
    assert (issue.code, issue.line_no) == (Code.COUNT_DIFFERS, 1)


def test_the_number_of_partitions() -> None:
    (issue,) = check(*changed(1, configured_partitions=4))
    assert (issue.code, issue.line_no) == (Code.COUNT_DIFFERS, 1)


def test_many_errors_of_rounding_cancel_out() -> None:
    assert sum_tolerance(1, 0.01) == 0.01
    assert sum_tolerance(4, 0.01) == pytest.approx(0.04)
    assert sum_tolerance(400, 0.01) == pytest.approx(0.26)


def test_the_real_report_agrees(real_data: Path) -> None:
    sheet = FileRows({}, Issues(), "cpu.xml")
    list(RmfXml(sheet).read(iter([(real_data / "rmf" / "zebra-cpu-small.xml").read_bytes()])))
    assert Code.ARITHMETIC not in {issue.code for issue in sheet.issues}
    assert Code.COUNT_DIFFERS not in {issue.code for issue in sheet.issues}


def test_a_real_report_with_another_figure_does_not(real_data: Path) -> None:
    document = (real_data / "rmf" / "zebra-cpu-small.xml").read_bytes()
    sheet = FileRows({}, Issues(), "cpu.xml")
    list(RmfXml(sheet).read(iter([document.replace(b"00.00.30.899", b"00.00.31.899")])))
    assert {issue.field for issue in sheet.issues} == {
        "LOGICAL EFFECTIVE",
        "LPAR MGMT",
        "PHYSICAL EFFECTIVE",
        "DISPATCH TIME EFFECTIVE",
    }


def test_rows_computed_from_smf_records_agree() -> None:
    made = rmf_rows(read(SAMPLE, TABLES_NEEDED).tables)
    assert len(made.intervals) > 100
    for interval in made.intervals:
        key = interval["system"], interval["interval_start_local"]
        cpus, partitions = (
            [row | {"line_no": 1} for row in rows if (row["system"], row["interval_start_local"]) == key]
            for rows in (made.cpus, made.partitions)
        )
        assert cpus
        assert partitions
        assert check(interval | {"line_no": 1}, cpus, partitions) == []
