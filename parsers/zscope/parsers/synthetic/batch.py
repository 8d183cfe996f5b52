"""What the makers of records share: the scene they play in, and the records they hand over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zscope.parsers.smf.write import (
    SectionBytes,
    SectionRows,
    cut_rows,
    encode_alike,
    encode_headers,
    encode_records,
    encode_section,
)
from zscope.parsers.synthetic.cast import RELEASES, STACK, SYSPLEX, Cast
from zscope.parsers.synthetic.manifest import Tally
from zscope.schemas import RecordLayout, Section, catalog
from zscope.schemas.arrow import LOCAL, UTC

if TYPE_CHECKING:
    from zscope.parsers.smf.codecs.raw import ByteRows
    from zscope.parsers.synthetic.recipe import Recipe

Numbers = NDArray[np.int64]
Choice = NDArray[Any]
"""Which of several values each row has."""


def pick(values: Sequence[str | None], choice: Choice) -> pa.DictionaryArray:
    """A column of texts by their numbers."""
    return pa.DictionaryArray.from_arrays(pa.array(choice.astype(np.int32)), pa.array(values, pa.string()))


def pick_few(values: Sequence[str | None], choice: Choice) -> pa.DictionaryArray:
    """The same for many values of which few occur: only those are converted."""
    distinct, index = np.unique(choice, return_inverse=True)
    return pick([values[at] for at in distinct.tolist()], index)


def same(value: str, count: int) -> pa.DictionaryArray:
    """A column of one text."""
    return pick([value], np.zeros(count, np.int32))


def utc(microseconds: Numbers, absent: NDArray[np.bool_] | None = None) -> pa.Array:
    """Points in time in UTC."""
    return pa.array(microseconds, mask=absent).view(UTC)


def local(microseconds: Numbers) -> pa.Array:
    """Points in time by a local clock."""
    return pa.array(microseconds).view(LOCAL)


@dataclass(frozen=True)
class Scene:
    """Everything the makers of records have in common."""

    recipe: Recipe

    @cached_property
    def cast(self) -> Cast:
        """Applications, certificates, partners."""
        return Cast(self.recipe)

    @cached_property
    def names(self) -> list[str]:
        """The systems' names."""
        return [system.name for system in self.recipe.systems]

    @cached_property
    def offsets_us(self) -> Numbers:
        """How far each system's local clock is ahead of UTC."""
        return np.array([s.utc_offset_minutes * 60_000_000 for s in self.recipe.systems], np.int64)

    @cached_property
    def newest(self) -> NDArray[np.bool_]:
        """Which systems write zERT records of level 3.2."""
        return np.array([system.level == "3.2" for system in self.recipe.systems])

    def random(self, *key: int) -> np.random.Generator:
        """Random numbers of one purpose, so that nothing else in the recipe shifts them."""
        return np.random.default_rng([self.recipe.seed, *key])

    def local_us(self, systems: Choice, times: Numbers) -> Numbers:
        """UTC times by the systems' local clocks."""
        shifted: Numbers = times + self.offsets_us[systems]
        return shifted

    def length(self, section: Section, known: int | None = None) -> int:
        """How long a section is written; what is beyond the newest known level is only behind that one."""
        if known is not None and known < section.known_length:
            return known
        return section.known_length + self.recipe.section_extra

    def headers(
        self, record_type: int, subtype: int | None, systems: Choice, written: Numbers, subsystem: str
    ) -> ByteRows:
        """Standard headers."""
        columns = {
            "system": pick(self.names, systems),
            "written_local": local(self.local_us(systems, written)),
            "subsystem": same(subsystem, len(systems)),
        }
        return encode_headers(record_type, subtype, columns, len(systems))

    def identification(self, component: str, job: str = STACK, user: str = STACK) -> ByteRows:
        """The identification section of type 119, one for each system."""
        section = catalog().records[119, 2].section("identification")
        count = len(self.names)
        levels = [RELEASES[system.level] for system in self.recipe.systems]
        columns = {
            "system_name": pick(self.names, np.arange(count)),
            "sysplex": same(SYSPLEX, count),
            "stack": same(STACK, count),
            "release": pick(levels, np.arange(count)),
            "component": same(component, count),
            "writer_job": same(job, count),
            "writer_user": same(user, count),
            "writer_asid": pa.array(np.full(count, 0x52, np.uint16)),
            "record_reason": pa.array(np.full(count, 0x08, np.uint8)),
        }
        return encode_section(section, columns, count, self.length(section))


@dataclass
class Batch:
    """Some records with the times of their headers, and what they add to the known answers."""

    records: list[bytes] = field(default_factory=list)
    written: list[Numbers] = field(default_factory=list)
    """UTC; pieces that together are as long as the records."""
    tally: Tally = field(default_factory=Tally)

    def take(
        self, kind: tuple[int, int | None], records: list[bytes], systems: Choice, written: Numbers
    ) -> None:
        """Take records of one type and subtype."""
        record_type, subtype = kind
        self.records += records
        self.written.append(written)
        name = str(record_type) if subtype is None else f"{record_type}-{subtype}"
        self.tally.count(name, systems.astype(np.int64), written)

    def join(self, other: Batch) -> None:
        """Take all of another batch."""
        self.records += other.records
        self.written += other.written
        self.tally.add(other.tally)

    def in_order(self) -> list[bytes]:
        """The records by the times of their headers."""
        if not self.records:
            return []
        order = np.argsort(np.concatenate(self.written), kind="stable")
        records = self.records
        return [records[at] for at in order.tolist()]


@dataclass(frozen=True, slots=True)
class RecordMaker:
    """Puts records of one layout together from the sections of a whole set."""

    scene: Scene
    layout: RecordLayout
    triplets: int

    def alike(
        self,
        batch: Batch,
        shapes: Choice,
        heads: ByteRows,
        sections: Callable[[Choice], list[SectionRows]],
        systems: Choice,
        written: Numbers,
        triplets: Callable[[Choice], int] | None = None,
    ) -> None:
        """Make all records of each shape at once; `sections` gives those of the rows it is asked for."""
        for shape in np.unique(shapes):
            rows = np.flatnonzero(shapes == shape)
            number = self.triplets if triplets is None else triplets(rows)
            records = encode_alike(heads[rows], sections(rows), number)
            batch.take((self.layout.type, self.layout.subtype), records, systems[rows], written[rows])

    def varied(
        self,
        batch: Batch,
        columns: Mapping[str, pa.Array],
        sections: Sequence[SectionBytes],
        systems: Choice,
        written: Numbers,
    ) -> None:
        """Make records whose sections differ in length, one by one."""
        records = encode_records(self.layout, columns, sections, len(systems), self.triplets)
        batch.take((self.layout.type, self.layout.subtype), records, systems, written)


def once(section: Section, rows: ByteRows) -> SectionBytes:
    """A section that every record of a set has once."""
    return SectionBytes(section, [[row] for row in cut_rows(rows)])


def texts(section: Section, items: Sequence[bytes | None]) -> SectionBytes:
    """A section of varying length that some records of a set have."""
    return SectionBytes(section, [[] if item is None else [item] for item in items])
