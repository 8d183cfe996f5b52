"""Rows of the RMF report tables, computed from SMF 70 records.

The values follow from the decoded records by the formulas of the reports and are rounded as printed, so a
report agrees with its records.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from zscope.samples.dump.records.rmf_machine import DEDICATED, HIGH, LOW, MEDIUM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa


Row = dict[str, Any]

TABLES_NEEDED = (
    "smf70_interval",
    "smf70_cpu",
    "smf70_partition",
    "smf70_logical_cpu",
    "smf70_cpu_type",
)
_PHYSICAL = "PHYSICAL"
_TYPE_NAMES = {"IFA": "AAP"}
"""Reports use another name for Java processors than the records."""
_FIRST_WITH_BOOST = "V2R4"


@dataclass(frozen=True, slots=True)
class IntervalRecord:
    """One interval of one system with its sections in order, decoded from an SMF 70 record."""

    interval: Row
    cpus: list[Row]
    partitions: list[Row]
    logical: list[Row]
    types: list[Row]

    @property
    def length_us(self) -> int:
        """Length of the interval in microseconds."""
        return int(self.interval["interval_ms"]) * 1000

    @property
    def own_partition(self) -> Row:
        """The partition of the system that wrote the record."""
        number = self.interval["partition_number"]
        return next(p for p in self.partitions if p["partition_number"] == number and is_partition(p))

    @property
    def release(self) -> str:
        """Release of z/OS in the usual notation."""
        return zos_release(self.interval["zos_level"])

    @property
    def has_boost(self) -> bool:
        """Whether reports of this release have boost columns."""
        return self.release >= _FIRST_WITH_BOOST or self.release[0].isdigit()

    def type_names(self) -> list[str]:
        """Return the types of processors that the machine has."""
        return [type_name(row) for row in self.types if row["physical_cpu_count"]]

    def physical(self, kind: str) -> int:
        """Return the number of physical processors of a type."""
        return sum(row["physical_cpu_count"] for row in self.types if type_name(row) == kind)

    def processors(self, partition: Row, kind: str) -> list[Row]:
        """Return the logical processors of a partition."""
        first = partition["logical_cpu_skip"]
        listed = self.logical[first : first + partition["logical_cpu_count"]]
        return [cpu for cpu in listed if type_name(self.types[cpu["cpu_type_index"] - 1]) == kind]

    def weight(self, kind: str) -> int:
        """Return the total weight of all partitions that share processors of a type."""
        listed = [self.processors(p, kind) for p in self.partitions if is_partition(p)]
        return sum(cpus[0]["weight"] for cpus in listed if cpus and cpus[0]["weight"] != DEDICATED)


def interval_records(tables: Mapping[str, pa.Table]) -> Iterator[IntervalRecord]:
    """Yield each record with its sections; the tables are those in `TABLES_NEEDED`."""
    sections: dict[tuple[Any, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for name in TABLES_NEEDED[1:]:
        for row in sorted(tables[name].to_pylist(), key=lambda row: row["section_no"]):
            sections[_record_of(row)][name].append(row)
    for interval in tables["smf70_interval"].to_pylist():
        parts = sections[_record_of(interval)]
        yield IntervalRecord(interval, *(parts[name] for name in TABLES_NEEDED[1:]))


def _record_of(row: Row) -> tuple[Any, ...]:
    """Identify the record of a row, also among tables from several files."""
    return tuple(row[name] for name in ("system", "interval_start_local", "record_no", "record_offset"))


def zos_release(level: str) -> str:
    """Return the release in the usual notation.

    >>> zos_release("ZV020500"), zos_release("ZV030200")
    ('V2R5', '3.2')
    """
    version, release = int(level[2:4]), int(level[4:6])
    return f"V{version}R{release}" if version < 3 else f"{version}.{release}"


def total_of(rows: Iterable[Row], column: str) -> int:
    """Return the sum of a column."""
    return sum(row[column] for row in rows)


def percent(part: float, whole: float) -> float:
    """Return a percentage with two decimal places, as reports print it."""
    return round(100 * part / whole, 2) if whole else 0.0


def is_partition(row: Row) -> bool:
    """Return whether a row is a partition and not the machine itself."""
    return bool(row["partition_name"] != _PHYSICAL)


def type_name(row: Row) -> str:
    """Return the type of processor as reports print it."""
    name = str(row["cpu_type_name"])
    return _TYPE_NAMES.get(name, name)


def partition_rows(record: IntervalRecord) -> Iterator[Row]:
    """Yield the lines of the Partition Data report in order, without the columns of the interval."""
    active: set[str] = set()
    for kind in record.type_names():
        of_kind = [(p, cpus) for p in record.partitions if (cpus := record.processors(p, kind))]
        shared = [(p, cpus) for p, cpus in of_kind if is_partition(p)]
        for partition, cpus in shared:
            active.add(partition["partition_name"])
            yield _partition(record, partition, cpus, kind)
        every = [cpu for _, cpus in of_kind for cpu in cpus]
        own_time = [cpu for partition, cpus in of_kind if not is_partition(partition) for cpu in cpus]
        if own_time:
            yield _line("*PHYSICAL*", "physical", kind) | _physical_line(record, own_time, kind)
        yield _line("TOTAL", "total", kind) | {
            "weight": record.weight(kind),
            **_times(every),
            **_of_machine(record, every, kind),
        }
    for partition in record.partitions:
        if is_partition(partition) and partition["partition_name"] not in active:
            yield _line(partition["partition_name"], "partition", None) | {"partition_status": "deactivated"}


def _partition(record: IntervalRecord, partition: Row, cpus: Sequence[Row], kind: str) -> Row:
    dedicated = cpus[0]["weight"] == DEDICATED
    online = sum(cpu["online_us"] for cpu in cpus)
    times = {"logical_effective_pct": "effective_us", "logical_total_pct": "dispatch_us"}
    rows = _line(partition["partition_name"], "partition", kind) | {
        "partition_status": "active",
        "weight": None if dedicated else cpus[0]["weight"],
        "dedicated": dedicated,
        "capping": "N N N",
        "logical_cpus": round(online / record.length_us, 1),
        **_times(cpus),
        **{name: percent(total_of(cpus, time), online) for name, time in times.items()},
        **_of_machine(record, cpus, kind),
    }
    if kind == "CP":
        rows["defined_capacity_msu"] = partition["defined_capacity_msu"]
        rows["wlm_capping_pct"] = 0.0
        rows["actual_msu_per_hour"] = int(
            record.interval["capacity_rating_msu_per_hour"]
            * total_of(cpus, "effective_us")
            / (record.physical(kind) * record.length_us)
            + 0.5
        )
        rows["boost_type"] = "None" if record.has_boost else None
    return rows


def _line(name: str, row_kind: str, kind: str | None) -> Row:
    return {"row_kind": row_kind, "partition_name": name, "cpu_type_name": kind}


def _physical_line(record: IntervalRecord, cpus: Sequence[Row], kind: str) -> Row:
    """Return the line of PR/SM itself: all of its time is management, none of it effective."""
    share = percent(total_of(cpus, "dispatch_us"), record.physical(kind) * record.length_us)
    rows = {"physical_management_pct": share, "physical_total_pct": share}
    return rows | {"dispatch_ms": _times(cpus)["dispatch_ms"]}


def _times(cpus: Sequence[Row]) -> Row:
    columns = {"effective_ms": "effective_us", "dispatch_ms": "dispatch_us"}
    return {name: round(total_of(cpus, column) / 1000) for name, column in columns.items()}


def _of_machine(record: IntervalRecord, cpus: Sequence[Row], kind: str) -> Row:
    whole = record.physical(kind) * record.length_us
    effective, dispatched = total_of(cpus, "effective_us"), total_of(cpus, "dispatch_us")
    return {
        "physical_management_pct": percent(dispatched - effective, whole),
        "physical_effective_pct": percent(effective, whole),
        "physical_total_pct": percent(dispatched, whole),
    }


_COUNTS = {"CP": "cps", "AAP": "zaaps", "IIP": "ziips", "ICF": "icfs", "IFL": "ifls"}
_SYSTEM_TYPES = ("CP", "AAP", "IIP")
"""Types of processors that z/OS can use."""
_PRIORITIES = {HIGH: "HIGH", MEDIUM: "MED", LOW: "LOW"}
_POLARISED = 0xC0
_WAIT_COMPLETION = 0x80
_HIPERDISPATCH_ACTIVE = 0x40


@dataclass(frozen=True, slots=True)
class RmfRows:
    """Rows of the three report tables about processors."""

    intervals: list[Row] = field(default_factory=list)
    cpus: list[Row] = field(default_factory=list)
    partitions: list[Row] = field(default_factory=list)


def rmf_rows(tables: Mapping[str, pa.Table]) -> RmfRows:
    """Return the rows of reports about these records; the tables are those in `TABLES_NEEDED`."""
    rows = RmfRows()
    for record in interval_records(tables):
        common = {name: record.interval[name] for name in ("system", "interval_start_local", "interval_ms")}
        common["interval_start_local"] = common["interval_start_local"].replace(microsecond=0)
        rows.intervals.append(common | _interval(record))
        rows.cpus.extend(common | row for row in _cpus(record))
        rows.partitions.extend(common | row for row in partition_rows(record))
    return rows


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
        "partition_name": record.own_partition["partition_name"],
        "image_capacity_msu_per_hour": interval["image_capacity_msu_per_hour"],
        "configured_partitions": sum(map(is_partition, record.partitions)),
        "wait_completion": any(
            cpu["logical_cpu_flags"] & _WAIT_COMPLETION
            for cpu in record.processors(record.own_partition, "CP")
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
        own = record.processors(record.own_partition, kind)
        logical = [cpu for cpu in own if cpu["logical_cpu_address"] in seen]
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
    """Return the columns that a single processor and the total of a type have in common."""
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
    """Return the busy time: a dedicated processor is always dispatched, so it is the time without wait."""
    worked = cpu["online_us"] - zos["wait_us"] if cpu["weight"] == DEDICATED else cpu["dispatch_us"]
    return int(worked)


def _shares(record: IntervalRecord, logical: Sequence[Row], kind: str) -> list[float]:
    """Return the share that the weight guarantees, divided among the processors by their class."""
    whole = record.weight(kind)
    if not whole or logical[0]["weight"] == DEDICATED:
        return [100.0] * len(logical)
    left = 100 * logical[0]["weight"] / whole * record.physical(kind)
    classes = [cpu["polarisation_flags"] & _POLARISED for cpu in logical]
    left -= 100.0 * classes.count(HIGH)
    sharing = sum(each not in {HIGH, LOW} for each in classes)
    fixed = {HIGH: 100.0, LOW: 0.0}
    return [fixed.get(each, left / sharing if sharing else 0.0) for each in classes]
