"""What is known about a file from options, its name or its envelope, and its reports do not show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zscope.parsers.text.captured_report import KnownFrom

if TYPE_CHECKING:
    from datetime import date, time

    from zscope.parsers.text.captured_report import Origin
    from zscope.parsers.text.report_family import ColumnNames


@dataclass(frozen=True, slots=True)
class FileDefaults:
    """What is known about a file from options or its name."""

    system: str | None = None
    system_from: KnownFrom | None = None
    day: date | None = None
    clock: time | None = None
    day_from: KnownFrom = KnownFrom.NOTHING
    run: str | None = None
    renamed_columns: ColumnNames = ()
    """What the file calls some columns."""

    def shown_by_envelope(self, system: str | None, day: date | None, clock: time | None) -> FileDefaults:
        """Return what is known about a text whose envelope can show the system and the time."""
        defaults = self
        if system:
            defaults = replace(defaults, system=system, system_from=KnownFrom.PREFIX)
        if day:
            defaults = replace(defaults, day=day, clock=clock, day_from=KnownFrom.PREFIX)
        return defaults

    def complete(self, origin: Origin) -> Origin:
        """Fill in what the capture does not contain."""
        if origin.system is None:
            origin.system, origin.system_from = self.system, self.system_from
        origin.run = origin.run or self.run
        if origin.day is None and self.day:
            origin.day, origin.time_from = self.day, self.day_from
            if origin.clock is None:
                origin.clock = self.clock
        if origin.day is None and origin.clock:
            origin.time_from = KnownFrom.NO_DATE
        return origin
