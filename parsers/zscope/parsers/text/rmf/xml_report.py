"""What all Postprocessor reports have in common as XML: system, interval, tables with headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.out import Out, shown
from zscope.parsers.text.report import Origin, Source, Told
from zscope.schemas.printed import PrintedField, PrintedFormat, plain_label

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.rmf.xml_tree import Element

_HOURS = re.compile(r"(\d{1,4})[.:](\d\d)[.:](\d\d)", re.ASCII)
_NEARLY_MS = 2_000
"""So much the interval may differ from the distance of its rounded ends."""
_WANDERING_S = 5
"""More than that is no rounding any more, but a figure that is not the report's."""

_NAMING = 2
"""Cells at the beginning of a row that name what it is about."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table by its column headings."""

    line: int
    cells: dict[str, str]
    total: bool
    """Whether the document says that it is a total."""


def open_report(unit: Element, sheet: Sheet) -> Out:
    """Where the rows of this report go, with its system and interval filled in."""
    out = Out(sheet, Origin(Source.XML))
    start = _time(unit.text_at("time-data", "display-start"))
    resource = unit.at("resource", "resname")
    if system := one_line(resource, out):
        out.origin.system, out.origin.system_from = system, Told.REPORT
    else:
        line = resource.line if resource else unit.line
        out.issue(Code.BAD_VALUE, "the report names no system; the column is null", line, field="resname")
    if start:
        out.origin.time_from = Told.REPORT
    length = unit.at("time-data", "report-interval")
    out.lead["interval_start_local"] = start
    end = _time(unit.text_at("time-data", "display-end"))
    out.lead["interval_ms"] = _length(length, start, end, out)
    _compare(unit, start, end, out)
    if start is None:
        printed = unit.at("time-data", "display-start")
        text = f"{shown(printed.text if printed else '')} is not the start of an interval; the column is null"
        out.issue(Code.BAD_VALUE, text, printed.line if printed else unit.line, field="display-start")
    return out


def _compare(unit: Element, start: datetime | None, end: datetime | None, out: Out) -> None:
    """The end must be behind the start, and as far as the length says."""
    if start is None or end is None:
        return
    apart = (end - start).total_seconds()
    length = out.lead["interval_ms"]
    if apart <= 0:
        text = "display-end is not behind display-start"
    elif length is not None and abs(length / 1000 - apart) > _WANDERING_S:
        text = f"the interval has {length / 1000:g} s, but its start and end are {apart:g} s apart"
    else:
        return
    printed = unit.at("time-data", "display-end")
    line = printed.line if printed else unit.line
    out.issue(Code.ARITHMETIC, text, line, field="display-end", table="rmf_interval")


def _time(text: str) -> datetime | None:
    try:
        found: datetime = CODECS[PrintedFormat.TIME].decode(text)
    except ValueError:
        return None
    return found


def _length(element: Element | None, start: datetime | None, end: datetime | None, out: Out) -> int | None:
    if element is None:
        return None
    try:
        found: int = CODECS[PrintedFormat.SPAN].decode(element.text)
    except ValueError:
        pass
    else:
        return found
    if start and end and (parts := _HOURS.fullmatch(element.text)):
        # Without milliseconds: believed if it is what the ends say.
        hours, minutes, seconds = map(int, parts.groups())
        length = ((hours * 60 + minutes) * 60 + seconds) * 1000
        if abs(length - (end - start).total_seconds() * 1000) <= _NEARLY_MS:
            return length
    text = f"{shown(element.text)} is not the length of the interval; the column is null"
    out.issue(Code.BAD_VALUE, text, element.line, field="report-interval")
    return None


def one_line(element: Element | None, out: Out) -> str:
    """The text of an element; no value goes over a line end, unless a tool put it there."""
    if element is None:
        return ""
    if "\n" in element.text:
        text = f"{shown(element.text)} is broken by a line end; it was left out"
        out.issue(Code.BAD_VALUE, text, element.line)
        return ""
    return element.text


def table_rows(table: Element, out: Out) -> Iterator[TableRow]:
    """The rows of a table that have something in them."""
    heads = table.at("column-headers")
    headings = [cell.text for cell in heads.all("col")] if heads else []
    for row in table.all("row"):
        cells = [one_line(cell, out) for cell in row.all("col")]
        if not any(cells):
            continue
        if _only_begun(cells) and len(cells) < len(headings):
            # As real documents have them for deactivated partitions: one cell less than there are headings.
            cells += [""] * (len(headings) - len(cells))
        if len(cells) != len(headings):
            text = f"a row has {len(cells)} cells under {len(headings)} column headings; it was left out"
            out.issue(Code.REPORT_UNREADABLE, text, row.line, 1)
            continue
        named: dict[str, str] = {}
        for heading, cell in zip(headings, cells, strict=True):
            named[_another(heading, named)] = cell
        yield TableRow(row.line, named, row.attributes.get("type", "").upper() == "SUM")


def _only_begun(cells: list[str]) -> bool:
    """Whether only the cells that say what the row is about are filled: then none can be shifted."""
    return len(cells) > _NAMING and not any(cells[_NAMING:])


def _another(heading: str, taken: Mapping[str, Any]) -> str:
    """The heading; with a number where there is one like it before, to tell them apart."""
    number, name = 1, heading
    while name in taken:
        number += 1
        name = f"{heading} ({number})"
    return name


def by_column(
    cells: Mapping[str, str], labels: Mapping[str, PrintedField]
) -> tuple[dict[str, Any], dict[str, str]]:
    """What is declared as columns, and the rest as it is printed."""
    values: dict[str, Any] = {}
    extra: dict[str, str] = {}
    for heading, text in cells.items():
        field = labels.get(plain_label(heading))
        if field is not None and field.column not in values:
            values[field.column] = text
        elif text:
            extra[heading] = text
    return values, extra
