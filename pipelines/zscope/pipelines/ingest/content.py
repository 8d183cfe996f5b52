"""What is noted about an input while its rows go by."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from zscope.pipelines.ingest.gaps import INTERVAL_COLUMNS, INTERVAL_TABLES, find_gaps
from zscope.pipelines.store.loads import Gap, Kind

if TYPE_CHECKING:
    from zscope.parsers.smf.frames import Window
    from zscope.pipelines.ingest.clocks import Clocks

MOST_KINDS = 1000
"""Systems and types together. A damaged dump can have one of its own for each record, and what is kept about
a load is read by every later run.
"""
MOST_GAPS = 1000


@dataclass
class Content:
    """Where the records end, which intervals there are, and in the end what was counted."""

    clocks: Clocks
    last_offset: int | None = None
    """Where the last record begins."""
    contents: pa.Table | None = None
    _intervals: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)

    def watch(self, window: Window) -> None:
        """See the records of a dump in their order."""
        self.clocks.observe(window)
        self.last_offset = int(window.offsets[-1])

    def take(self, table: str, rows: pa.RecordBatch) -> None:
        """See the rows of a table."""
        if table in INTERVAL_TABLES:
            self._intervals.setdefault(table, []).append(rows.select(INTERVAL_COLUMNS))

    def kinds(self) -> tuple[Kind, ...]:
        """The records and reports by kind; of more kinds than there can be, those with most records."""
        counted = sorted(self._counted(), key=lambda row: -int(row["records"]))[:MOST_KINDS]
        return tuple(
            Kind(
                system=row["system"],
                record_type=row["record_type"],
                record_subtype=row["record_subtype"],
                report=row["report"],
                records=row["records"],
                bytes=row["total_bytes"],
                first_local=_text(row["first_local"]),
                last_local=_text(row["last_local"]),
            )
            for row in counted
        )

    @property
    def first_local(self) -> str | None:
        """The earliest local time of any record or report."""
        return _text(min((r["first_local"] for r in self._counted() if r["first_local"]), default=None))

    @property
    def last_local(self) -> str | None:
        """The latest one."""
        return _text(max((r["last_local"] for r in self._counted() if r["last_local"]), default=None))

    def zones(self) -> dict[str, str]:
        """The zones of the systems in it, as far as they are known."""
        systems = {kind.system for kind in self.kinds() if kind.system}
        known = ((system, self.clocks.zones.of(system)) for system in sorted(systems))
        return {system: zone for system, zone in known if zone}

    def gaps(self) -> tuple[Gap, ...]:
        """Stretches of missing intervals, table by table."""
        found = []
        for table, batches in self._intervals.items():
            for row in find_gaps(pa.Table.from_batches(batches), table, self.clocks.zones).to_pylist():
                times = {name: row[name].isoformat() for name in ("from_local", "to_local")}
                found.append(Gap(**(row | times)))
        return tuple(found[:MOST_GAPS])

    def _counted(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.contents.to_pylist() if self.contents else []
        return rows


def _text(time: datetime | None) -> str | None:
    return time.isoformat() if time else None
