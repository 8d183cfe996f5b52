"""What RMF tells of a world: SMF 70 records, and reports about some hours, partly instead of records."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.parsers.api import read
from zscope.parsers.synthetic.reports.files import RMF_TABLES, ReportFile, listing, xml_report
from zscope.parsers.synthetic.rmf_cpu import CpuRecords
from zscope.parsers.synthetic.rmf_record import Interval
from zscope.parsers.synthetic.rmf_rows import rmf_rows
from zscope.parsers.synthetic.world.machine import world_machine
from zscope.parsers.synthetic.world.plan import RUN_CLIENT, RUN_SERVER
from zscope.parsers.synthetic.world.recipe import INTERVALS_A_DAY, NAMES, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.synthetic.batch import Batch, Scene
    from zscope.parsers.synthetic.world.meter import Meter
    from zscope.parsers.synthetic.world.plan import PlannedRun


@dataclass(frozen=True, slots=True)
class Span:
    """Some intervals of a system on one day, by their numbers in it."""

    system: int
    day: int
    first: int
    count: int

    def numbers(self) -> range:
        """Their numbers in the world."""
        first = self.day * INTERVALS_A_DAY + self.first
        return range(first, first + self.count)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which source tells of which intervals."""

    days: int

    @property
    def xml(self) -> Span:
        """An hour and a half of a client."""
        return Span(0, 0, 40, 6)

    @property
    def text(self) -> Span:
        """An hour and a half of a server."""
        return Span(2, 0, 52, 6)

    @property
    def without_records(self) -> tuple[Span, ...]:
        """The second half of each report, and half an hour nobody tells of."""
        reported = tuple(Span(s.system, s.day, s.first + 3, 3) for s in (self.xml, self.text))
        return (*reported, self.gap)

    @property
    def gap(self) -> Span:
        """Neither records nor reports."""
        return Span(1, self.days - 1, 12, 2)

    def has_record(self, system: int, number: int) -> bool:
        """Whether there is an SMF 70 record of an interval."""
        return not any(s.system == system and number in s.numbers() for s in self.without_records)


@dataclass(frozen=True)
class RmfFiles:
    """Makes the records and reports about a grid of intervals."""

    scene: Scene
    meter: Meter

    @cached_property
    def _makers(self) -> CpuRecords:
        return CpuRecords(self.scene, self.meter, world_machine)

    def records(self, system: int, numbers: Sequence[int]) -> Batch:
        """The records of a system about these intervals."""
        return self._makers.make([self._interval(system, number) for number in numbers])

    def _interval(self, system: int, number: int) -> Interval:
        return Interval(number, system, self.meter.begin(number), self.meter.length_us)

    def reports(self, coverage: Coverage) -> Iterator[ReportFile]:
        """The reports: what they would print of records that are partly missing."""
        forms = ((coverage.xml, "xml", xml_report), (coverage.text, "txt", listing))
        for span, ending, written in forms:
            with tempfile.TemporaryDirectory(prefix="zscope-") as folder:
                dump = Path(folder, "dump")
                dump.write_bytes(b"".join(self.records(span.system, span.numbers()).in_order()))
                rows = rmf_rows(read(dump, RMF_TABLES).tables)
            name, day = NAMES[span.system], moment(self.meter.begin(span.numbers()[0]))
            what = f"CPU report of {name}, {span.count} intervals"
            yield ReportFile(f"rmf-cpu.{name}.{day:%Y-%m-%d}.{ending}", written(rows), what)


def measured_minutes(runs: Sequence[PlannedRun], night: int, meter: Meter) -> dict[int, list[int]]:
    """Of each system with runs, the intervals of a night that RMF measured: those of runs and around them."""
    mine = [run for run in runs if run.night == night]
    if not mine:
        return {}
    first = (min(run.begin_us for run in mine) - meter.first_us) // meter.length_us - 1
    last = (max(run.end_us for run in mine) - meter.first_us) // meter.length_us
    return {system: list(range(first, last + 1)) for system in (RUN_CLIENT, RUN_SERVER)}
