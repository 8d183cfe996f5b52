"""What is said about local times that fall on a change of the clock: once for each system."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.pipelines.offsets import offsets_of

if TYPE_CHECKING:
    from zscope.parsers.issues import Issues
    from zscope.pipelines.ingest.passes import Passes
    from zscope.pipelines.zones import Zones

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOOK = "if this system does not change its clock, give it a fixed offset such as +01:00"


@dataclass
class _Lost:
    """Times without a moment in UTC, of one system."""

    span: str
    records: int = 0
    rows: int = 0
    first_record: int | None = None


@dataclass
class ClockIssues:
    """Gathers what happened to the systems of one file and tells it."""

    zones: Zones
    issues: Issues
    file: str
    _lost: dict[str, _Lost] = field(default_factory=dict)

    def passes(self, system: str, moment: int, passes: Passes) -> None:
        """What the order of the records of a system told about a span that is shown twice."""
        records, first = passes.unknown()
        if records:
            lost = self._lost_of(system, moment)
            lost.records += records
            lost.first_record = min(lost.first_record or first, first)
        if passes.not_set_back:
            text = (
                f"the clock of {_named(system)} was not set back between {self._span(system, moment)} local "
                f"time, as those of {self.zones.of(system)} are: what it showed in that span is taken for "
                f"the time before the change; {_LOOK}"
            )
            self.issues.add(Issue(Code.CLOCK_DIFFERS, text, self.file))

    def orderless(self, system: str, moment: int, rows: int) -> None:
        """Rows in a span that is shown twice, without any order."""
        self._lost_of(system, moment).rows += rows

    def never(self, system: str, moment: int, count: int) -> None:
        """Times that the clock of the zone never shows."""
        text = (
            f"{_count(count, 'time')} of {_named(system)} between {self._span(system, moment)} local time, "
            f"which a clock of {self.zones.of(system)} skips: converted with the offset before the change, "
            f"as by a clock that was set late; {_LOOK}"
        )
        self.issues.add(Issue(Code.CLOCK_DIFFERS, text, self.file))

    def finish(self) -> None:
        """Tell what has no moment in UTC."""
        for system, lost in self._lost.items():
            counts = [_count(lost.records, "record")] if lost.records else []
            counts += [_count(lost.rows, "row")] if lost.rows else []
            text = (
                f"{' and '.join(counts)} of {_named(system)} between {lost.span} local time, which its clock "
                f"shows twice, and nothing tells which of the two it was: written_utc and the like are null "
                "there; the local times are as they were written"
            )
            self.issues.add(Issue(Code.AMBIGUOUS_TIME, text, self.file, lost.first_record))

    def _lost_of(self, system: str, moment: int) -> _Lost:
        return self._lost.setdefault(system, _Lost(self._span(system, moment)))

    def _span(self, system: str, moment: int) -> str:
        """The two local times between which a clock shows a span twice or never."""
        zone = self.zones.of(system) or ""
        changes = offsets_of(zone).changes(moment, moment)
        change = changes.moments.tolist().index(moment)
        first, last = sorted((int(changes.before[change]), int(changes.after[change])))
        begin, end = (_EPOCH + timedelta(microseconds=moment + offset) for offset in (first, last))
        return f"{begin:%Y-%m-%d %H:%M} and {end:%Y-%m-%d %H:%M}"


def _named(system: str) -> str:
    return system or "a system without a name"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"
