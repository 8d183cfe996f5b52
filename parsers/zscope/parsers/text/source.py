"""A text, XML or JSON file with reports as an input."""

from __future__ import annotations

import codecs
from collections import defaultdict
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from zscope.parsers.containers.streams import UNPACKED_CHUNK
from zscope.parsers.inputs import FileSummary, tell
from zscope.parsers.inventory import INVENTORY_SCHEMA
from zscope.parsers.issues import Code, InputError, Issue
from zscope.parsers.smf.refusal import refuse
from zscope.parsers.text.coding import read_lines, read_pieces
from zscope.parsers.text.families import (
    FAMILIES,
    OBJECT_FAMILIES,
    families_of,
    family_name,
    grammars,
    xml_grammar,
)
from zscope.parsers.text.file_name import day_of, system_of
from zscope.parsers.text.headings import RMF
from zscope.parsers.text.json_objects import looks_like_json as opens_object
from zscope.parsers.text.json_source import Objects
from zscope.parsers.text.out import Found, Sheet, shown
from zscope.parsers.text.report import Source, Told
from zscope.parsers.text.segment import Known, Segmenter
from zscope.parsers.text.supplied.forms import forms_for
from zscope.schemas.printed import report_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set

    from zscope.parsers.containers.source import Member
    from zscope.parsers.inputs import Options
    from zscope.parsers.issues import Issues
    from zscope.parsers.select import Selection
    from zscope.parsers.text.coding import Coding

TELL_EVERY = 10_000
"""Lines."""
_HEAD = 1 << 16
_OPENING = 1 << 12
_XML = (b"<?xml", b"<ddsml", b"<!DOCTYPE")
_READ_FROM: dict[str, Set[str]] = {"xml": {RMF}, "json": OBJECT_FAMILIES}
"""The families of which a kind of file can have reports; a text can have those of all."""
_XML_EBCDIC = tuple(mark.decode().encode("cp037") for mark in _XML)


def looks_like_json(head: bytes, coding: Coding) -> bool:
    """Whether a text in this coding that begins so holds JSON objects."""
    return opens_object("".join(read_pieces(BytesIO(head[:_OPENING]), coding)))


def looks_like_xml(head: bytes) -> bool:
    """Whether these bytes begin a document, in ASCII, UTF-8 or EBCDIC."""
    opening = head[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x40\x15\x25")
    return opening.startswith((*_XML, *_XML_EBCDIC)) or _wide(opening).startswith(_XML)


def _wide(opening: bytes) -> bytes:
    """The first characters of a text in UTF-16; the rest of it is not looked at."""
    if not opening.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return b""
    return opening[:256].decode("utf-16", "ignore").lstrip().encode("ascii", "ignore")


@dataclass
class Reports:
    """One file with reports."""

    member: Member
    coding: Coding
    options: Options
    issues: Issues
    kind: str = "text"
    """`text`, `xml` or `json`."""
    summary: FileSummary = field(init=False)
    _found: list[Found] = field(default_factory=list, init=False)
    """The reports in it, as far as it was read."""
    _begin: str = field(default="", init=False)
    """The first line that is not empty."""

    def __post_init__(self) -> None:
        self.summary = FileSummary(self.member.name, self.member.packing, self.kind, str(self.coding))

    def batches(self, selection: Selection) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of the selected tables; reports from which none of them is made are passed over."""
        tables = report_tables()
        wanted = {name: columns for name, columns in selection.columns.items() if name in tables}
        sheet = Sheet(wanted, self.issues, self.member.name)
        yield from self._read(sheet, families_of(wanted))

    def inventory(self) -> pa.Table:
        """One row for each system, report and form of it."""
        sheet = Sheet({}, self.issues, self.member.name)
        for _ in self._read(sheet, set(FAMILIES)):
            pass
        return self.contents()

    def contents(self) -> pa.Table:
        """One row for each system, report and form of it that was found."""
        groups: dict[tuple[str, str, str], list[Found]] = defaultdict(list)
        for found in self._found:
            groups[found.system or "", found.name, found.source].append(found)
        packing = ", ".join(self.summary.packing) or None
        rows = []
        for (system, name, source), reports in sorted(groups.items()):
            times = [report.when_local for report in reports if report.when_local]
            rows.append(
                {
                    "file": self.member.name,
                    "kind": family_name(name),
                    "packing": packing,
                    "framing": self.summary.form,
                    "system": system or None,
                    "report": name,
                    "source": source,
                    "records": len(reports),
                    "percent": round(100 * len(reports) / len(self._found), 2),
                    "first_local": min(times, default=None),
                    "last_local": max(times, default=None),
                }
            )
        return pa.Table.from_pylist(rows, schema=INVENTORY_SCHEMA)

    def unpacked(self, out: BinaryIO) -> int:
        """The bytes as they are: there is nothing to undo but the packing.

        A zip archive can hold other files, and text must not get between the records of a dump.
        """
        if not self.member.packing or self.member.packing[-1] == "zip":
            text = "is text, not a dump or a packed file: there is nothing to undo in it"
            raise InputError(Issue(Code.UNKNOWN_DATA, text, self.member.name))
        written = 0
        while piece := self.member.stream.read(UNPACKED_CHUNK):
            written += out.write(piece)
        return written

    def _read(self, sheet: Sheet, families: Set[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        if self.kind in _READ_FROM and families.isdisjoint(_READ_FROM[self.kind]):
            self.summary.skipped = True
            return
        head = self.member.stream.peek(_HEAD)
        self._found = sheet.found
        match self.kind:
            case "xml":
                yield from self._read_xml(sheet)
            case "json":
                yield from self._read_json(sheet)
            case _:
                yield from self._read_text(sheet, families)
        yield from sheet.rest()
        tell(self.summary, self.member, self.options)
        if not self.summary.reports and not sheet.told:
            self.summary.useless = True
            self.issues.add(self._no_report(head))
        if undated := [found.line for found in sheet.found if _should_have_date(found)]:
            shows = "1 display shows" if len(undated) == 1 else f"{len(undated):,} displays show"
            text = f"{shows} no date, and neither do the rows: tell it by option or in the name of the file"
            self.issues.add(Issue(Code.NO_DATE, text, self.member.name, line_no=undated[0]))

    def _read_text(self, sheet: Sheet, families: Set[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        by_family = grammars(sheet, self.options)
        others = 0
        segmenter = Segmenter(self._known(), self._tell_lost(sheet), self._tell_headless)
        for report in segmenter.reports(self._lines()):
            if report.family in families:
                by_family[report.family].read(report)
                yield from sheet.full()
            else:
                others += 1
        for grammar in by_family.values():
            grammar.finish()
        self.summary.reports = len(sheet.found) + others

    def _read_xml(self, sheet: Sheet) -> Iterator[tuple[str, pa.RecordBatch]]:
        grammar = xml_grammar(sheet)
        for done in grammar.read(iter(lambda: self.member.stream.read(UNPACKED_CHUNK), b"")):
            self.summary.bytes = done
            tell(self.summary, self.member, self.options)
            yield from sheet.full()
        self.summary.reports = len(sheet.found)

    def _read_json(self, sheet: Sheet) -> Iterator[tuple[str, pa.RecordBatch]]:
        objects = Objects(sheet, self.options, self._known(), held=not self.member.named)
        for done in objects.read(self.member.stream, self.coding):
            self.summary.lines, self.summary.bytes = done
            tell(self.summary, self.member, self.options)
            yield from sheet.full()
        self.summary.reports = len(sheet.found)

    def _tell_lost(self, sheet: Sheet) -> Callable[[int, str], None]:
        def tell_lost(line: int, text: str) -> None:
            sheet.tell(Issue(Code.UNKNOWN_LINE, text, self.member.name, line_no=line))

        return tell_lost

    def _tell_headless(self, line: int, text: str) -> None:
        self.issues.add(Issue(Code.HEADING_MISSING, text, self.member.name, line_no=line))

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(read_lines(self.member.stream, self.coding), 1):
            if number % TELL_EVERY == 0:
                tell(self.summary, self.member, self.options)
            self.summary.lines = number
            self.summary.bytes += len(line) + 1
            self._begin = self._begin or line.strip()
            yield line

    def _known(self) -> Known:
        """What the options say, or else the name of the file."""
        options, name = self.options, self.member.name
        system, system_from = options.system, Told.OPTION
        if system is None:
            system, system_from = system_of(name), Told.FILE_NAME
        day, day_from = options.day, Told.OPTION
        if day is None:
            day, day_from = day_of(name), Told.FILE_NAME
        told = system_from if system else None
        forms = forms_for(options.mapping)
        return Known(system, told, day, options.clock, day_from, options.run, forms)

    def _no_report(self, head: bytes) -> Issue:
        refused = refuse(head, self.member.name)
        if refused.code is not Code.UNKNOWN_DATA:
            return refused
        begin = self._begin or head[:200].decode("utf-8", "replace").partition("\n")[0]
        text = f"readable text without a report that zscope knows (it begins {shown(begin)})"
        if not self.member.named:
            return Issue(Code.NOT_AN_INPUT, f"was passed over: {text}", self.member.name)
        looked_for = (
            "name an SMF dump, an RMF listing or XML with CPU reports, a listing or screen of Performance "
            "Toolkit (FCX112, FCX215), a capture that has the heading of "
            "NETSTAT or of a GSKSRVR display (GSK01...), or a CSV or JSON of figures whose columns have the "
            "names that docs/inputs.md tells or --map says"
        )
        return Issue(Code.NO_REPORT, f"the file is {text}; {looked_for}", self.member.name)


def _should_have_date(found: Found) -> bool:
    """Whether a report without a date lacks one: supplied figures need none."""
    return found.when_local is None and found.source not in {Source.CSV, Source.JSON}
