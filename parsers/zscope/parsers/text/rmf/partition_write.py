"""The Partition Data report from rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.rmf.heading import PARTITION
from zscope.parsers.text.rmf.heading_write import Form, Row, ended, knows_boost, paged, placed
from zscope.schemas.printed import PrintedFormat

_OWN = (
    ("MVS PARTITION NAME", "partition_name"),
    ("IMAGE CAPACITY", "image_capacity_msu_per_hour"),
    ("NUMBER OF CONFIGURED PARTITIONS", "configured_partitions"),
    ("WAIT COMPLETION", "wait_completion"),
    ("DISPATCH INTERVAL", "dispatch_interval"),
)
_PHYSICAL = (
    ("PHYS PROC NUM", "physical_cpus"),
    ("CP", "physical_cps"),
    ("AAP", "physical_zaaps"),
    ("IFL", "physical_ifls"),
    ("ICF", "physical_icfs"),
    ("IIP", "physical_ziips"),
)
_GROUP = (
    ("GROUP NAME", "capacity_group_name"),
    ("LIMIT", "capacity_group_limit_msu"),
    ("AVAILABLE", "capacity_group_available_msu"),
)
_CAPS = (
    ("INITIAL CAP", "initial_capping"),
    ("LPAR HW CAP", "lpar_hardware_capping"),
    ("HW GROUP CAP", "hardware_group_capping"),
    ("ABS MSU CAP", "absolute_msu_capping"),
)


@dataclass(frozen=True, slots=True)
class _Front:
    """Where the first columns stand: they moved when the boost column came."""

    status: int
    weight: int
    defined: int
    actual: int
    capping: int
    boost: int = 0
    """0 where there is none."""


_USUAL = _Front(12, 17, 23, 30, 33)
_BOOST_BEHIND = _Front(10, 20, 26, 31, 34, 12)
_BOOST_FIRST = _Front(15, 20, 26, 31, 34, 10)
_NAMES_BEHIND = "NUM  TYPE  EFFECTIVE       TOTAL      EFFECTIVE    TOTAL  LPAR MGMT  EFFECTIVE  TOTAL"
_PARTS = (
    "--------- PARTITION DATA ----------------    -- LOGICAL PARTITION PROCESSOR DATA -- "
    "-- AVERAGE PROCESSOR UTILIZATION PERCENTAGES --"
)
_SPANS = {69: "effective_ms", 83: "dispatch_ms"}
_PERCENTAGES = {
    94: "logical_effective_pct",
    103: "logical_total_pct",
    114: "physical_management_pct",
    125: "physical_effective_pct",
    132: "physical_total_pct",
}


def partition_pages(interval: Row, partitions: Sequence[Row], form: Form, page: int = 1) -> list[list[str]]:
    """The pages of the report; rows of a kind of processor stand together, its total last."""
    with_boost = _BOOST_FIRST if form.boost_first else _BOOST_BEHIND
    front = with_boost if knows_boost(interval) else _USUAL
    rows = [_with_rules(row, front) for row in partitions]
    return paged(PARTITION, interval, form, page, ["", *_block(interval)], [_headings(front), *rows])


def _block(interval: Row) -> list[str]:
    """What is told of the own partition, in four columns of labels and values."""
    lines: list[dict[int, str]] = [{} for _ in _PHYSICAL]
    for line, (label, column) in zip(lines, _OWN, strict=False):
        line.update({1: label} | ended({42: _value(interval, column)}))
    physical = [pair for pair in _PHYSICAL if interval.get(pair[1]) is not None]
    for line, (label, column) in zip(lines, physical, strict=False):
        line.update(ended({65: label, 70: _value(interval, column)}))
    for line, (label, column) in zip(lines, _GROUP, strict=False):
        line.update({80: label, 93: _value(interval, column) or "N/A"})
    for line, (label, column) in zip(lines, _CAPS, strict=False):
        line.update({104: label, 119: _value(interval, column)})
    return [placed(line) for line in lines if line]


def _value(interval: Row, column: str) -> str:
    value = interval.get(column)
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return "" if value is None else str(value)


def _headings(front: _Front) -> list[str]:
    names = {1: "NAME", front.status: "S", front.capping: "DEF", 41: "WLM%", 48: _NAMES_BEHIND}
    names |= ended({front.weight: "WGT", front.defined: "DEF", front.actual: "ACT"})
    if front.boost:
        names[front.boost] = "BT"
    msu = f"{'MSU':-^{front.actual - front.defined + 5}}"
    groups = ended({front.actual: msu, 42: f"{'CAPPING':-^{43 - front.capping}}"})
    groups |= {47: "PROCESSOR- ----DISPATCH TIME DATA----  LOGICAL PROCESSORS  --- PHYSICAL PROCESSORS ---"}
    return [_PARTS, placed(groups), placed(names)]


def _with_rules(row: Row, front: _Front) -> list[str]:
    """A row; a total with the line that underlines what is summed up, and a blank one behind it."""
    line = _row(row, front)
    if row["row_kind"] != "total":
        return [line]
    widths = {front.weight: 6, 69: 12, 83: 12, 114: 5, 125: 5, 132: 5}
    return [placed(ended({end: "-" * width for end, width in widths.items()})), line, ""]


def _row(row: Row, front: _Front) -> str:
    begins = {1: row["partition_name"]}
    ends = {
        front.weight: "DED" if row.get("dedicated") else _whole(row, "weight"),
        front.defined: _whole(row, "defined_capacity_msu"),
        front.actual: _whole(row, "actual_msu_per_hour"),
        44: "" if row.get("wlm_capping_pct") is None else f"{row['wlm_capping_pct']:.1f}",
        49: "" if row.get("logical_cpus") is None else f"{row['logical_cpus']:g}",
    }
    if row["row_kind"] == "partition":
        begins |= {
            front.status: {"active": "A", "deactivated": "D"}.get(row["partition_status"], "?"),
            front.capping: row.get("capping") or "",
            54: row.get("cpu_type_name") or "",
        }
        if front.boost:
            begins[front.boost] = row.get("boost_type") or ""
    for end, column in _SPANS.items():
        ends[end] = "" if row.get(column) is None else CODECS[PrintedFormat.SPAN].encode(row[column])
    for end, column in _PERCENTAGES.items():
        ends[end] = "" if row.get(column) is None else f"{row[column]:.2f}"
    return placed(begins | ended(ends))


def _whole(row: Row, column: str) -> str:
    return "" if row.get(column) is None else str(row[column])
