"""What RMF reports print of intervals that SMF 70 records tell of: rows of the report tables.

The figures follow from the decoded records by the formulas of the reports and are rounded as printed, so a
report made from them agrees with the records, and its figures with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from zscope.parsers.synthetic.rmf_interval import (
    IntervalRecord,
    Row,
    interval_records,
    is_partition,
    percent,
)
from zscope.parsers.synthetic.rmf_machine import DEDICATED, HIGH, LOW, MEDIUM
from zscope.parsers.synthetic.rmf_partition_rows import partition_rows

if TYPE_CHECKING:
    import pyarrow as pa

_COUNTS = {"CP": "cps", "AAP": "zaaps", "IIP": "ziips", "ICF": "icfs", "IFL": "ifls"}
_SYSTEM_TYPES = ("CP", "AAP", "IIP")
"""Types that z/OS can use."""
_PRIORITIES = {HIGH: "HIGH", MEDIUM: "MED", LOW: "LOW"}
_POLARISED = 0xC0
_WAIT_COMPLETION = 0x80
_HIPERDISPATCH_ACTIVE = 0x40


@dataclass(frozen=True, slots=True)
class RmfRows:
    """Rows of the three tables about processors."""

    intervals: list[Row] = field(default_factory=list)
    cpus: list[Row] = field(default_factory=list)
    partitions: list[Row] = field(default_factory=list)


def rmf_rows(tables: Mapping[str, pa.Table]) -> RmfRows:
    """The rows that reports about these records would have; needs what `interval_records` does."""
    made = RmfRows()
    for record in interval_records(tables):
        lead = {name: record.interval[name] for name in ("system", "interval_start_local", "interval_ms")}
        lead["interval_start_local"] = lead["interval_start_local"].replace(microsecond=0)
        made.intervals.append(lead | _interval(record))
        made.cpus.extend(lead | row for row in _cpus(record))
        made.partitions.extend(lead | row for row in partition_rows(record))
    return made


def _interval(record: IntervalRecord) -> Row:
    interval, boost = record.interval, "NONE" if record.has_boost else None
    start = interval["interval_start_local"].replace(microsecond=0)
    slice_ms = interval["dispatch_interval_ms"]
    return {
        "interval_end_local": start + timedelta(seconds=round(interval["interval_ms"] / 1000)),
        "cycle_length_ms": interval["cycle_ms"],
        "zos_level": record.release,
        "report_level": record.release,
        "machine_type": interval["machine_type"],
        "capacity_model": interval["capacity_model"],
        "physical_model": interval["physical_model"],
        "machine_sequence_code": interval["machine_sequence_code"],
        "hiperdispatch": "YES" if interval["hiperdispatch_flags"] & _HIPERDISPATCH_ACTIVE else "NO",
        "capacity_rating_msu_per_hour": interval["capacity_rating_msu_per_hour"],
        "change_reason": "NONE",
        "boost_type": boost,
        "boost_class": boost,
        "partition_name": record.own["partition_name"],
        "image_capacity_msu_per_hour": interval["image_capacity_msu_per_hour"],
        "configured_partitions": sum(map(is_partition, record.partitions)),
        "wait_completion": any(
            cpu["logical_cpu_flags"] & _WAIT_COMPLETION for cpu in record.processors(record.own, "CP")
        ),
        "dispatch_interval": str(slice_ms) if slice_ms else "DYNAMIC",
        "initial_capping": False,
        "lpar_hardware_capping": False,
        "hardware_group_capping": False,
        "absolute_msu_capping": False,
        "physical_cpus": sum(row["physical_cpu_count"] for row in record.types),
        **{f"physical_{name}": record.physical(kind) for kind, name in _COUNTS.items()},
    }


def _cpus(record: IntervalRecord) -> Iterator[Row]:
    seen = {cpu["cpu_id"]: cpu for cpu in record.cpus}
    for kind in _SYSTEM_TYPES:
        logical = [cpu for cpu in record.processors(record.own, kind) if cpu["logical_cpu_address"] in seen]
        if not logical:
            continue
        pairs = [(cpu, seen[cpu["logical_cpu_address"]]) for cpu in logical]
        shares = _shares(record, logical, kind)
        for (cpu, zos), share in zip(pairs, shares, strict=True):
            yield {
                "row_kind": "processor",
                "cpu_id": cpu["logical_cpu_address"],
                "thread": 0,
                "online_pct": percent(cpu["online_us"], record.length_us),
                "parked_pct": percent(zos["parked_us"], cpu["online_us"]),
                "share_pct": round(share, 1),
                "priority": _PRIORITIES.get(cpu["polarisation_flags"] & _POLARISED),
                **_busy([(cpu, zos)], kind, record),
            }
        yield {"row_kind": "total", "share_pct": round(sum(shares), 1), **_busy(pairs, kind, record)}


def _busy(pairs: Sequence[tuple[Row, Row]], kind: str, record: IntervalRecord) -> Row:
    """The figures that a processor has as well as all of a type together."""
    online = sum(cpu["online_us"] for cpu, _ in pairs)
    unparked = sum(cpu["online_us"] - zos["parked_us"] for cpu, zos in pairs)
    waited = sum(zos["wait_us"] for cpu, zos in pairs if cpu["online_us"] > zos["parked_us"])
    tested = sum(zos["tpi_interrupts"] for _, zos in pairs)
    interrupts = tested + sum(zos["io_interrupts"] for _, zos in pairs)
    with_io = kind == "CP"
    return {
        "cpu_type_name": kind,
        "lpar_busy_pct": percent(sum(_worked(cpu, zos) for cpu, zos in pairs), online),
        "mvs_busy_pct": percent(unparked - waited, unparked) if unparked else None,
        "io_interrupt_rate": round(interrupts * 1_000_000 / record.length_us, 2) if with_io else None,
        "tpi_pct": percent(tested, interrupts) if with_io else None,
    }


def _worked(cpu: Row, zos: Row) -> int:
    """A dedicated processor is always dispatched: what it worked is the time in which it did not wait."""
    worked = cpu["online_us"] - zos["wait_us"] if cpu["weight"] == DEDICATED else cpu["dispatch_us"]
    return int(worked)


def _shares(record: IntervalRecord, logical: Sequence[Row], kind: str) -> list[float]:
    """What the weight guarantees, spread over the processors by their class."""
    whole = record.weight(kind)
    if not whole or logical[0]["weight"] == DEDICATED:
        return [100.0] * len(logical)
    left = 100 * logical[0]["weight"] / whole * record.physical(kind)
    classes = [cpu["polarisation_flags"] & _POLARISED for cpu in logical]
    left -= 100.0 * classes.count(HIGH)
    sharing = sum(each not in {HIGH, LOW} for each in classes)
    fixed = {HIGH: 100.0, LOW: 0.0}
    return [fixed.get(each, left / sharing if sharing else 0.0) for each in classes]
