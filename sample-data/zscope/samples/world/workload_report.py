"""Workload Activity reports of a world, with the CPU time of the classes that SMF 72 records have, too."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from zscope.parsers.text.capture_writer import as_bytes
from zscope.parsers.text.rmf.workload.workload_listing_write import workload_pages
from zscope.parsers.text.rmf.workload.workload_rows import PERIOD
from zscope.parsers.text.rmf.workload.xml_report import workload_xml
from zscope.samples.reports.files import LABEL, ReportFile, labelled
from zscope.samples.world.workload import (
    PERIODS,
    RESPONSE_US,
    WORKLOAD_SYSTEM,
    WORKLOADS,
    ClassUse,
    captured_time,
    class_uses,
)
from zscope.samples.world.world_recipe import NAMES, moment
from zscope.samples.world.world_scenario import SCENARIO

if TYPE_CHECKING:
    from zscope.samples.reports.displays import LocalClock
    from zscope.samples.world.cpu_time import CpuTimeGrid

LISTED_SYSTEM = NAMES.index(SCENARIO.reports.workload_listing)
"""This server has no SMF 72 records."""
INTERVALS = range(52, 54)
"""Intervals of the first day, which have SMF 70 and 72 records."""
SYSPLEX = "SYNTHPLX"
Row = dict[str, Any]


def workload_report(cpu_time: CpuTimeGrid, clock: LocalClock) -> ReportFile:
    """Return the report of a server."""
    reports = _intervals(cpu_time, clock, WORKLOAD_SYSTEM, INTERVALS)
    content = labelled(workload_xml(reports, on_few_lines=True)).encode()
    return _file(cpu_time, WORKLOAD_SYSTEM, content, "xml", len(reports))


def workload_listing(cpu_time: CpuTimeGrid, clock: LocalClock) -> ReportFile:
    """Return the report of the other server as a listing, without periods, which have only goals."""
    (rows,) = _intervals(cpu_time, clock, LISTED_SYSTEM, INTERVALS[:1])
    classes = [row | {"system": NAMES[LISTED_SYSTEM]} for row in rows if row["class_kind"] != PERIOD]
    lines = [LABEL, *(line for page in workload_pages(classes) for line in page)]
    return _file(cpu_time, LISTED_SYSTEM, as_bytes(lines), "txt", 1)


def _file(cpu_time: CpuTimeGrid, system: int, content: bytes, ending: str, count: int) -> ReportFile:
    day = moment(cpu_time.begin(INTERVALS[0]))
    name = f"rmf-workload.{NAMES[system]}.{day:%Y-%m-%d}.{ending}"
    return ReportFile(name, content, f"Workload Activity of {NAMES[system]}, {count} intervals")


def _intervals(cpu_time: CpuTimeGrid, clock: LocalClock, system: int, intervals: range) -> list[list[Row]]:
    """Return the rows of each interval of a system."""
    uses = dict(class_uses(captured_time(cpu_time, system, intervals)))
    return [_interval(cpu_time, clock, system, at, number, uses) for at, number in enumerate(intervals)]


def _interval(
    cpu_time: CpuTimeGrid,
    clock: LocalClock,
    system: int,
    at: int,
    number: int,
    uses: dict[str, ClassUse],
) -> list[Row]:
    """Return the rows of an interval; `at` is its position in the columns of the classes."""
    start = clock.local(moment(cpu_time.begin(number)))
    length_s = cpu_time.length_us / 1_000_000
    shared: Row = {
        "interval_start_local": start,
        "interval_end_local": start + timedelta(seconds=length_s),
        "interval_ms": round(1_000 * length_s),
        "sysplex": SYSPLEX,
        "systems": NAMES[system],
        "report_option": "WGPER",
        "policy_name": "SYNTHPOL",
        "ziip_factor": 1.0,
    }
    rows: list[Row] = []
    for workload in dict.fromkeys(WORKLOADS.values()):
        members = []
        for name in (each for each, owner in WORKLOADS.items() if owner == workload and each in uses):
            facts = {"class_kind": "service class", "class_name": name, "workload_name": workload}
            row = shared | facts | _of_class(name, uses[name], at, length_s)
            members.append(row)
            rows += [row, shared | facts | {"class_kind": PERIOD, **_period(row)}]
        parts = ("tcb_s", "srb_s", "ziip_s", "transactions_ended")
        total = {name: round(sum(row[name] for row in members), 3) for name in parts}
        rows.append(shared | {"class_kind": "workload", "class_name": workload} | _figures(total, length_s))
    for name, use in uses.items():
        if use.is_report:
            report_class: Row = {"class_kind": "report class", "class_name": name, "workload_name": None}
            rows.append(shared | report_class | _of_class(name, use, at, length_s))
    return rows


def _of_class(name: str, use: ClassUse, at: int, length_s: float) -> Row:
    seconds, srb, ziip = (float(part[at]) / 1_000_000 for part in (use.time, use.srb, use.ziip))
    # The report adds the time on zIIPs to that of tasks, as the record does.
    of_class = {"tcb_s": round(seconds - srb + ziip, 3), "srb_s": round(srb, 3), "ziip_s": round(ziip, 3)}
    ended = sum(int(use.ended(name, part)[at]) for part in PERIODS.get(name, (1.0,)))
    return _figures(of_class | {"transactions_ended": ended}, length_s)


def _figures(row: Row, length_s: float) -> Row:
    ended = int(row["transactions_ended"])
    return row | {
        "transactions_average": 1.0,
        "transactions_mpl": 1.0,
        "transactions_ended": ended,
        "transactions_ended_per_s": round(ended / length_s, 2),
        "transactions_executed": 0,
        "actual_us": RESPONSE_US if ended else 0,
        "execution_us": RESPONSE_US // 2 if ended else 0,
        "rct_s": 0.0,
        "io_interrupt_s": 0.0,
        "hiperspace_s": 0.0,
        "cp_pct": round(100 * (row["tcb_s"] + row["srb_s"] - row["ziip_s"]) / length_s, 2),
        "ziip_pct": round(100 * row["ziip_s"] / length_s, 2),
    }


def _period(row: Row) -> Row:
    return {
        "period_no": 1,
        "goal_importance": "1",
        "performance_index": 0.8,
        "transactions_ended": row["transactions_ended"],
        "using_pct": 20.0,
        "execution_delay_pct": 5.0,
    }
