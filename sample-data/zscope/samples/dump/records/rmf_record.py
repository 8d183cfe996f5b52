"""The common part of all RMF records: the interval and the product section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.codecs.numbers_and_times import TOD_EPOCH_US
from zscope.parsers.smf.record_writer import SectionRows, encode_alike, encode_section
from zscope.samples.dump.arrays import local, utc
from zscope.samples.dump.site import SYSPLEX
from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.samples.dump.assemble import SmfBatch
    from zscope.samples.dump.context import RecordContext
    from zscope.schemas import RecordLayout, Section

Values = dict[str, Sequence[int | float | str]]
ZOS_LEVELS = {"V2R3": "ZV020300", "3.2": "ZV030200"}
RMF_VERSION = 796
SYNCHRONISED_WITH_SMF = 0x1000
MACHINE_FLAGS = 0x17
"""z/Architecture mode, zIIP installed, enhanced DAT."""
WRITTEN_AFTER_US = 1_000_000


def columns_for(section: Section, values: Values) -> dict[str, pa.Array]:
    """Convert values to columns of the types that a section declares."""
    kinds = {field.column: arrow_type(field) for field in section.columns}
    return {name: _typed(items, kinds[name]) for name, items in values.items()}


def _typed(items: Sequence[int | float | str], kind: pa.DataType) -> pa.Array:
    return pa.array(items, kind.value_type if pa.types.is_dictionary(kind) else kind)


@dataclass(frozen=True, slots=True)
class RmfInterval:
    """One RMF interval of one system."""

    number: int
    system: int
    begin: int
    length: int

    @property
    def end(self) -> int:
        """End of the interval."""
        return self.begin + self.length

    @property
    def samples(self) -> int:
        """RMF takes one sample per second."""
        return self.length // 1_000_000


@dataclass(frozen=True, slots=True)
class RmfRecords:
    """Encodes the RMF records of many intervals at once."""

    context: RecordContext
    layout: RecordLayout
    triplets: int
    intervals: Sequence[RmfInterval]

    def once(self, key: str, columns: Mapping[str, pa.Array], known: int | None = None) -> SectionRows:
        """Encode a section that each record has once."""
        section = self.layout.section(key)
        length = self.context.length(section, known)
        rows = encode_section(section, columns, len(self.intervals), length)
        return SectionRows(section, rows, length)

    def several(self, key: str, values: Values) -> SectionRows:
        """Encode a section that each record has equally often; the values are in the order of the records."""
        section = self.layout.section(key)
        count = len(next(iter(values.values())))
        length = self.context.length(section)
        rows = encode_section(section, columns_for(section, values), count, length)
        number = count // len(self.intervals)
        return SectionRows(section, rows.reshape(len(self.intervals), -1), length, number)

    def product(self, level: int) -> SectionRows:
        """Encode the product section."""
        recipe, count = self.context.recipe, len(self.intervals)
        systems = [recipe.systems[interval.system] for interval in self.intervals]
        offsets = self.context.offsets_us[[interval.system for interval in self.intervals]]
        begins = np.array([interval.begin for interval in self.intervals])
        ends = np.array([interval.end for interval in self.intervals])
        values: Values = {
            "rmf_version": [RMF_VERSION] * count,
            "product_name": ["RMF"] * count,
            "interval_ms": [recipe.interval_us // 1_000] * count,
            "sample_count": [interval.samples for interval in self.intervals],
            "interval_flags": [SYNCHRONISED_WITH_SMF] * count,
            "cycle_ms": [1_000] * count,
            "zos_level": [ZOS_LEVELS[system.level] for system in systems],
            "processor_complex_kind": [3] * count,
            "processor_flags": [MACHINE_FLAGS] * count,
            "partition_number": [interval.system + 1 for interval in self.intervals],
            "record_level": [level] * count,
            "interval_token": [f"{(end + TOD_EPOCH_US) << 12:016x}" for end in ends.tolist()],
            "local_offset_us": offsets.tolist(),
            "configured_interval_s": [recipe.interval_us // 1_000_000] * count,
            "sysplex": [SYSPLEX] * count,
            "system_name": [system.name for system in systems],
        }
        columns = columns_for(self.layout.section("product"), values)
        columns |= {"interval_start_local": local(begins + offsets), "interval_end_utc": utc(ends)}
        return self.once("product", columns)

    def put(self, batch: SmfBatch, parts: list[SectionRows]) -> None:
        """Assemble the records and add them to a batch."""
        systems = np.array([interval.system for interval in self.intervals])
        written = np.array([interval.end for interval in self.intervals]) + WRITTEN_AFTER_US
        heads = self.context.headers(70, self.layout.subtype, systems, written, "RMF")
        records = encode_alike(self.layout, heads, parts, self.triplets)
        batch.add((70, self.layout.subtype), records, systems, written)
