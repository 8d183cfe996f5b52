"""What records of all kinds have in common: the recipe, the site, random numbers, common sections."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import encode_headers, encode_section, plain_records
from zscope.samples.dump.arrays import local, pick, same
from zscope.samples.dump.recipe import SystemClockChange, microseconds
from zscope.samples.dump.site import (
    MACHINES,
    RELEASES,
    STACK,
    SYSPLEX,
    USUAL_MACHINE,
    ZOS_LEVELS,
    Site,
)
from zscope.samples.dump.site_names import site_names
from zscope.schemas import Section, catalog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.smf.codecs.base import ByteRows
    from zscope.samples.dump.arrays import Choice, Numbers
    from zscope.samples.dump.manifest import ExpectedCounts
    from zscope.samples.dump.recipe import Recipe
    from zscope.samples.dump.record_declaration import RecordWriter

FILLER_BYTES = 1 << 18
_NEVER = datetime.max.replace(tzinfo=UTC)
_IPL_BEFORE_US = 9 * 86_400_000_000
"""Time between the IPL of the systems and the start of the dump."""


class IplOfSystem(NamedTuple):
    """The machine and the release that a system has from an IPL on."""

    system: int
    level: str
    machine: str
    at_us: int


@dataclass(frozen=True)
class SiteContext:
    """The recipe of a dump, the site that it simulates, and what records of all kinds have."""

    recipe: Recipe

    @cached_property
    def site_names(self) -> dict[str, Any]:
        """What declarations of records can use of the site, by name."""
        machines = [MACHINES[ipl.machine] for ipl in self.ipls_of_systems]
        return {
            **site_names(self.site, self.names, newest=self.newest, tls13=self.recipe.tls13),
            "zos_levels": [ZOS_LEVELS[ipl.level] for ipl in self.ipls_of_systems],
            "machine_types": [machine_type for machine_type, _ in machines],
            "machine_models": [model for _, model in machines],
            "ipls_us": np.array([ipl.at_us for ipl in self.ipls_of_systems]),
        }

    @cached_property
    def site(self) -> Site:
        """Applications, certificates, cipher suites and addresses."""
        return Site(self.recipe)

    @cached_property
    def ipls_of_systems(self) -> tuple[IplOfSystem, ...]:
        """The IPLs of all systems; the first ones, in the order of the systems, are before the dump."""
        at_us = self.recipe.start_us - _IPL_BEFORE_US
        return tuple(
            IplOfSystem(number, system.level, USUAL_MACHINE, at_us)
            for number, system in enumerate(self.recipe.systems)
        )

    def latest_ipl(self, systems: Choice, times: Numbers) -> Choice:  # noqa: ARG002 - others have several
        """Return the number of the latest IPL of the systems at these times."""
        return systems

    @cached_property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [system.name for system in self.recipe.systems]

    @cached_property
    def _clocks(self) -> tuple[Numbers, Numbers, Numbers]:
        """For each system, the offset of its local clock from UTC, when it changes, and the offset then."""
        clocks = []
        for system in self.recipe.systems:
            change = system.clock_change or SystemClockChange(_NEVER, system.utc_offset_minutes)
            minutes = system.utc_offset_minutes, change.utc_offset_minutes
            before, after = (60_000_000 * each for each in minutes)
            clocks.append((before, microseconds(change.at), after))
        before_us, change_us, after_us = np.array(clocks, np.int64).T
        return before_us, change_us, after_us

    @cached_property
    def newest(self) -> NDArray[np.bool_]:
        """For each system, whether it writes zERT records of level 3.2."""
        return np.array([system.level == "3.2" for system in self.recipe.systems])

    def random(self, *key: int) -> np.random.Generator:
        """Return the random numbers for one purpose; other parts of the recipe do not shift them."""
        return np.random.default_rng([self.recipe.seed, *key])

    def local_us(self, systems: Choice, times: Numbers) -> Numbers:
        """Convert UTC times to the local time of the systems."""
        return times + self.offset_us(systems, times)

    def offset_us(self, systems: Choice, times: Numbers) -> Numbers:
        """Return the offset of the local clock of the systems from UTC at these times."""
        before_us, change_us, after_us = self._clocks
        offset: Numbers = np.where(times >= change_us[systems], after_us[systems], before_us[systems])
        return offset

    @cached_property
    def filler(self) -> bytes:
        """Random bytes; the contents of records that nobody decodes are slices of it."""
        return self.random(3).bytes(FILLER_BYTES)

    def length(self, section: Section, known: int | None = None) -> int:
        """Return the length in which a section is written.

        The extra bytes of the recipe are only appended to sections of the newest known level.
        """
        if known is not None and known < section.known_length:
            return known
        return section.known_length + self.recipe.section_extra

    def plain_record(self, record_type: int, system: int, time: int, expected: ExpectedCounts) -> list[bytes]:
        """Return the header or trailer that the dump program writes on a system, and count it."""
        systems, times = np.array([system]), np.array([time])
        columns = {
            "system": pick(self.names, systems),
            "written_local": local(self.local_us(systems, times)),
        }
        expected.count(str(record_type), systems, times)
        return plain_records(record_type, columns, 1)

    def headers(
        self, record_type: int, subtype: int | None, systems: Choice, written: Numbers, subsystem: str
    ) -> ByteRows:
        """Encode standard SMF headers."""
        columns = {
            "system": pick(self.names, systems),
            "written_local": local(self.local_us(systems, written)),
            "subsystem": same(subsystem, len(systems)),
        }
        return encode_headers(record_type, subtype, columns, len(systems))

    def identification(self, writer: RecordWriter) -> ByteRows:
        """Encode the identification section of type 119, one row for each IPL of a system."""
        section = catalog().records[119, 2].section("identification")
        count = len(self.ipls_of_systems)
        systems = np.array([ipl.system for ipl in self.ipls_of_systems])
        releases = [RELEASES[ipl.level] for ipl in self.ipls_of_systems]
        columns = {
            "system_name": pick(self.names, systems),
            "sysplex": same(SYSPLEX, count),
            "stack": same(STACK, count),
            "release": pick(releases, np.arange(count)),
            "component": same(writer.component, count),
            "writer_job": same(writer.job, count),
            "writer_user": same(writer.user, count),
            "writer_asid": pa.array(np.full(count, 0x52, np.uint16)),
            "record_reason": pa.array(np.full(count, writer.reason, np.uint8)),
        }
        return encode_section(section, columns, count, self.length(section))
