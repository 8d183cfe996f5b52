"""An interval as an SMF 70 record tells of it, its sections put together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.parsers.synthetic.rmf_machine import DEDICATED

if TYPE_CHECKING:
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
"""Reports call processors for Java by another name than the records do."""
_FIRST_WITH_BOOST = "V2R4"


@dataclass(frozen=True, slots=True)
class IntervalRecord:
    """One interval of one system, with its sections in order."""

    interval: Row
    cpus: list[Row]
    partitions: list[Row]
    logical: list[Row]
    types: list[Row]

    @property
    def length_us(self) -> int:
        """Length of the interval."""
        return int(self.interval["interval_ms"]) * 1000

    @property
    def own(self) -> Row:
        """The partition of the system that wrote the record."""
        number = self.interval["partition_number"]
        return next(p for p in self.partitions if p["partition_number"] == number and is_partition(p))

    @property
    def release(self) -> str:
        """Of z/OS, as people write it."""
        return zos_release(self.interval["zos_level"])

    @property
    def has_boost(self) -> bool:
        """Whether reports of this release tell of boosts."""
        return self.release >= _FIRST_WITH_BOOST or self.release[0].isdigit()

    def type_names(self) -> list[str]:
        """Types of which the machine has processors."""
        return [type_name(row) for row in self.types if row["physical_cpu_count"]]

    def physical(self, kind: str) -> int:
        """How many of a type the machine has."""
        return sum(row["physical_cpu_count"] for row in self.types if type_name(row) == kind)

    def processors(self, partition: Row, kind: str) -> list[Row]:
        """The logical processors of a partition."""
        first = partition["logical_cpu_skip"]
        listed = self.logical[first : first + partition["logical_cpu_count"]]
        return [cpu for cpu in listed if type_name(self.types[cpu["cpu_type_index"] - 1]) == kind]

    def weight(self, kind: str) -> int:
        """Of all partitions together that share processors of a type."""
        listed = [self.processors(p, kind) for p in self.partitions if is_partition(p)]
        return sum(cpus[0]["weight"] for cpus in listed if cpus and cpus[0]["weight"] != DEDICATED)


def interval_records(tables: Mapping[str, pa.Table]) -> Iterator[IntervalRecord]:
    """Each record with its sections; needs the tables in `TABLES_NEEDED`."""
    sections: dict[tuple[Any, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for name in TABLES_NEEDED[1:]:
        for row in sorted(tables[name].to_pylist(), key=lambda row: row["section_no"]):
            sections[_record_of(row)][name].append(row)
    for interval in tables["smf70_interval"].to_pylist():
        parts = sections[_record_of(interval)]
        yield IntervalRecord(interval, *(parts[name] for name in TABLES_NEEDED[1:]))


def _record_of(row: Row) -> tuple[Any, ...]:
    """Which record a row is from, also if the tables were read from several files."""
    return tuple(row[name] for name in ("system", "interval_start_local", "record_no", "record_offset"))


def zos_release(level: str) -> str:
    """The release as people write it.

    >>> zos_release("ZV020500"), zos_release("ZV030200")
    ('V2R5', '3.2')
    """
    version, release = int(level[2:4]), int(level[4:6])
    return f"V{version}R{release}" if version < 3 else f"{version}.{release}"


def total_of(rows: Iterable[Row], column: str) -> int:
    """Sum of a column."""
    return sum(row[column] for row in rows)


def percent(part: float, whole: float) -> float:
    """As reports print it."""
    return round(100 * part / whole, 2) if whole else 0.0


def is_partition(row: Row) -> bool:
    """Whether it is a partition, and not the machine itself."""
    return bool(row["partition_name"] != _PHYSICAL)


def type_name(row: Row) -> str:
    """Type of processor as reports call it."""
    name = str(row["cpu_type_name"])
    return _TYPE_NAMES.get(name, name)
