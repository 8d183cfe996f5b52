"""What the Partition Data report prints of an interval that an SMF 70 record tells of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zscope.parsers.synthetic.rmf_interval import IntervalRecord, Row, is_partition, percent, total_of
from zscope.parsers.synthetic.rmf_machine import DEDICATED


def partition_rows(record: IntervalRecord) -> Iterator[Row]:
    """The lines of the report in its order, without what all of an interval have."""
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
    made = _line(partition["partition_name"], "partition", kind) | {
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
        made["defined_capacity_msu"] = partition["defined_capacity_msu"]
        made["wlm_capping_pct"] = 0.0
        made["actual_msu_per_hour"] = int(
            record.interval["capacity_rating_msu_per_hour"]
            * total_of(cpus, "effective_us")
            / (record.physical(kind) * record.length_us)
            + 0.5
        )
        made["boost_type"] = "None" if record.has_boost else None
    return made


def _line(name: str, row_kind: str, kind: str | None) -> Row:
    return {"row_kind": row_kind, "partition_name": name, "cpu_type_name": kind}


def _physical_line(record: IntervalRecord, cpus: Sequence[Row], kind: str) -> Row:
    """Time of the machine itself: it is management, and none of it effective."""
    share = percent(total_of(cpus, "dispatch_us"), record.physical(kind) * record.length_us)
    made = {"physical_management_pct": share, "physical_total_pct": share}
    return made | {"dispatch_ms": _times(cpus)["dispatch_ms"]}


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
