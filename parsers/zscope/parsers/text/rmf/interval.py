"""The pages of one interval of a system in a listing, and the rows that come of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code
from zscope.parsers.text.out import Out
from zscope.parsers.text.report import Origin, Report, Told
from zscope.parsers.text.rmf.arithmetic import check_interval
from zscope.parsers.text.rmf.cpu import CpuPages
from zscope.parsers.text.rmf.crypto import read_crypto
from zscope.parsers.text.rmf.facts import TABLE, Facts
from zscope.parsers.text.rmf.heading import CPU, CRYPTO, PARTITION, Heading, Identity
from zscope.parsers.text.rmf.partition import PartitionPages

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet

REPORTS = {
    CPU: "RMF CPU Activity",
    PARTITION: "RMF Partition Data",
    CRYPTO: "RMF Crypto Hardware Activity",
}
"""Titles and the names that people know the reports by."""
_CARDS_LATER_MS = 2_000


@dataclass(slots=True)
class Interval:
    """The pages of one interval of a system."""

    identity: Identity
    first: Heading
    out: Out
    facts: Facts
    cpu: CpuPages
    partition: PartitionPages
    crypto: list[Report] = field(default_factory=list)
    crypto_heading: Heading | None = None
    begun: dict[str, int] = field(default_factory=dict)
    """Titles so far, each with the line of its first page."""
    last: Heading | None = None
    pages: int = 0

    @classmethod
    def begin(cls, sheet: Sheet, origin: Origin, heading: Heading, identity: Identity) -> Interval:
        """What the page says of system and time holds; what the capture says only where the page does not."""
        own = Origin(
            origin.source,
            identity.system,
            Told.REPORT if heading.tells_system else origin.system_from,
            identity.start.date(),
            identity.start.time(),
            Told.REPORT,
        )
        lead = {"interval_start_local": identity.start, "interval_ms": identity.interval_ms}
        out = Out(sheet, own, lead)
        facts = Facts()
        return cls(identity, heading, out, facts, CpuPages(out, facts), PartitionPages(out, facts))

    def compare(self, heading: Heading, identity: Identity) -> None:
        """Tell where a page says something else of the interval than the first one; take what that lacks."""
        length, end = self.identity.interval_ms, self.identity.end
        if length is None:
            length = self.out.lead["interval_ms"] = identity.interval_ms
        elif identity.interval_ms is not None:
            # Records about cards are not written in the very moment in which those about processors are.
            wandering = _CARDS_LATER_MS if CRYPTO in (heading.title, self.first.title) else 0
            if abs(length - identity.interval_ms) > wandering:
                here = f"{identity.interval_ms / 1000:g} s"
                self._contradicts(heading, "INTERVAL", here, f"{length / 1000:g} s")
        if end is None:
            end = identity.end
        elif identity.end not in {None, end}:
            self._contradicts(heading, "END", str(identity.end), str(end))
        self.identity = self.identity._replace(end=end, interval_ms=length)

    def _contradicts(self, heading: Heading, label: str, here: str, first: str) -> None:
        problem = f"{label} comes to {here} here and to {first} on the first page; the first is kept"
        self.out.issue(Code.BAD_VALUE, problem, heading.line_no, field=label, table=TABLE)

    def add(self, page: Report, heading: Heading) -> None:
        """Take one page."""
        if heading.title not in self.begun:
            self.begun[heading.title] = heading.line_no
            self.out.found(REPORTS[heading.title], heading.line_no)
        elif self._pages_missing(heading):
            self.cpu.pages_missing()
            self.partition.pages_missing()
        self.last = heading
        self.pages += 1
        width = max(len(line.text) for line in page.lines)
        if heading.title == CPU:
            self.cpu.read(heading, width)
        elif heading.title == PARTITION:
            self.partition.read(heading, width)
        else:
            self.crypto_heading = self.crypto_heading or heading
            self.crypto.append(
                Report(page.family, [page.lines[0], *heading.body], page.origin, page.complete)
            )

    def _pages_missing(self, heading: Heading) -> bool:
        before = self.last.page if self.last else None
        if before is None or heading.page is None or heading.page <= before + 1:
            return False
        problem = f"nothing is there of the pages from {before + 1} to {heading.page - 1} of this interval"
        self.out.issue(Code.REPORT_CUT, problem, heading.line_no, 1)
        return True

    def write(self) -> None:
        """Read the cards, which need all their pages; write the row of the interval and check its figures."""
        if self.crypto_heading is not None:
            read_crypto(self.crypto, self.crypto_heading, self.out)
        if CPU not in self.begun and PARTITION not in self.begun:
            return
        first, facts = self.first, self.facts
        values = {
            "interval_end_local": self.identity.end,
            "cycle_length_ms": first.cycle_ms,
            "zos_level": first.zos_level,
            "report_level": first.report_level,
            "changed_labels": ",".join(facts.changed) or None,
            **facts.values,
        }
        row = self.out.row(TABLE, first.line_no, values, facts.extra, facts.lines)
        self._tell_empty()
        self.cpu.table.tell_end()
        self.partition.table.tell_end()
        check_interval(row, self.cpu.table.rows, self.partition.table.rows, self.out)

    def _tell_empty(self) -> None:
        for title, pages in ((CPU, self.cpu), (PARTITION, self.partition)):
            if title in self.begun and pages.tells_nothing:
                expected = pages.table.first_headings
                problem = f"{REPORTS[title]} has no table: column headings ({expected}) were expected"
                self.out.issue(Code.REPORT_UNREADABLE, problem, self.begun[title], 1)
