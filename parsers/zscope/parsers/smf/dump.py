"""A dump as an input: decoded, counted or rewritten, window by window."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.inputs import FileSummary, tell
from zscope.parsers.issues import Code
from zscope.parsers.smf.frames import FrameReader, Window
from zscope.parsers.smf.groups import RecordGroup
from zscope.parsers.smf.inventory import Inventory
from zscope.parsers.smf.scan import Decoder, decode_windows
from zscope.parsers.smf.unpack import write_plain
from zscope.schemas.tables import record_table_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.source import Member
    from zscope.parsers.inputs import Options
    from zscope.parsers.issues import Issues
    from zscope.parsers.select import Selection
    from zscope.parsers.smf.framing import Framing

TIME_OFFSET = 6
"""Of the time in a record header; the date follows."""


@dataclass
class Dump:
    """One dump."""

    member: Member
    framing: Framing
    options: Options
    issues: Issues
    summary: FileSummary = field(init=False)
    _counted: Inventory = field(default_factory=Inventory, init=False)

    def __post_init__(self) -> None:
        self.summary = FileSummary(self.member.name, self.member.packing, "smf", self.framing.value)

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of the selected tables; without any that SMF data can fill, nothing is read."""
        if not selection.columns.keys() & set(record_table_names()):
            self.summary.skipped = True
            return
        decoder = Decoder(selection, self.issues, self.member.name, self.options.page)
        with closing(decode_windows(self._reader(), decoder, self.options.jobs)) as windows:
            for window, batches in windows:
                self._advance(window)
                if self.options.count:
                    self._counted.add(window)
                for table, rows in batches:
                    yield table, _with_system(rows, self.options.system)

    def inventory(self) -> pa.Table:
        """One row for each system, type and subtype."""
        for window in self._reader():
            invalid = self._counted.add(window)
            group = RecordGroup(window, invalid, self.issues, self.member.name)
            text = "the date and time of the header are not a packed date and a time of day"
            group.flag(Code.BAD_DATE, np.arange(len(invalid)), text, "header", at=TIME_OFFSET)
            self._advance(window)
        return self.contents()

    def contents(self) -> pa.Table:
        """One row for each system, type and subtype of what was counted."""
        packing = ", ".join(self.summary.packing)
        return self._counted.rows(self.member.name, packing, self.framing.value, self.options.page)

    def unpacked(self, out: BinaryIO) -> int:
        """Write the records with length words and nothing else."""
        written = 0
        for window in self._reader():
            written += write_plain(window, out)
            self._advance(window)
        return written

    def _reader(self) -> Iterator[Window]:
        """All windows are shown to whoever watches, those that are left out as well."""
        for window in FrameReader(self.member.stream, self.framing, self.issues, self.member.name):
            if self.options.watch:
                self.options.watch(window)
            if (wanted := window.behind(self.options.begin_at)) is not None:
                yield wanted

    def _advance(self, window: Window) -> None:
        self.summary.records += len(window.starts)
        self.summary.spanned += int(window.spanned.sum())
        self.summary.bytes = window.end_offset
        tell(self.summary, self.member, self.options)


def _with_system(rows: pa.RecordBatch, system: str | None) -> pa.RecordBatch:
    """Fill in the name where the record has none; what a record tells is never overruled."""
    place = rows.schema.get_field_index("system")
    if system is None or place < 0:
        return rows
    known = rows.column(place).dictionary_decode()
    absent = pc.fill_null(pc.equal(known, ""), fill_value=True)
    named = pc.if_else(absent, pa.scalar(system), known).dictionary_encode()
    return rows.set_column(place, rows.schema.field(place), named)
