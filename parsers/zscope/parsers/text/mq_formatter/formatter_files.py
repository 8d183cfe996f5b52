"""The files of the formatter: CSV with a block of a record in each line, and JSON objects.

They are read, and for sample data and tests written from rows of the tables, in the format of release 5.7 run
with `-g yes` unless the zone of the workstation is given.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.mq_formatter.blocks import MINIMUM, BlockRows, columns_of
from zscope.parsers.text.mq_formatter.layout import (
    STRUCTURES,
    MqItem,
    MqValueKind,
    Structure,
    json_key,
    plain,
    structure_of,
)
from zscope.parsers.text.mq_formatter.values import MICROSECONDS, cells
from zscope.parsers.text.report_rows import ReportRows, quoted
from zscope.parsers.text.spelling import misspelt, misspelt_text
from zscope.schemas import catalog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo

    from zscope.parsers.text.captured_report import CapturedReport, Line, Origin
    from zscope.parsers.text.mq_formatter.layout import Structure
    from zscope.parsers.text.report_rows import FileRows

Row = Mapping[str, Any]
JSON_FILE = "SMF-MQSMF.json"
_STRUCTURE = "structure"
_ABOUT_RECORD = frozenset({_STRUCTURE, "recordType", "recordSubType"})
_MOST_OTHERS = 100
"""More structures than MQ records have; a file with invalid structures must not fill the memory."""
_LIKE_A_NUMBER = re.compile(r"[0-9A-Fa-f\s]*", re.ASCII)
_LATER = frozenset({"QSG", "Remote_Product_ID", "Remote_Product_Version"})
"""Texts in records since MQ 10.0."""
_NOT_THERE = {"QSG": "...."}
_EXTENDED = 6
"""Digits of the version in records since MQ 10.0."""


class MqFormatter:
    """Reads the CSV files of the formatter."""

    def __init__(self, sheet: FileRows, zone: tzinfo | None = None) -> None:
        self._sheet = sheet
        self._blocks = BlockRows(sheet, zone)
        self._begun = 0
        """Line of the column names of the last part of a file: a long file is read in parts."""

    def read(self, report: CapturedReport) -> None:
        """Read the lines from the column names to the next column names, or the end of the file."""
        heading, *lines = report.lines
        out = ReportRows(self._sheet, report.origin)
        labels = cells(heading.text) or []
        structure = structure_of(map(plain, labels))
        if structure is None:
            message = "the columns belong to a block without tasks or channels of the channel initiator"
            out.issue(Code.OTHER_REPORT, f"{message}; the lines below are skipped", heading.no)
            out.skipped(lines)
            return
        names = [plain(label) for label in labels]
        if doubled := sorted({name for name in names if name and names.count(name) > 1}):
            message = f"the column {', '.join(doubled)} occurs twice; the lines below are skipped"
            out.issue(Code.REPORT_UNREADABLE, message, heading.no)
            out.skipped(lines)
            return
        out.furniture(heading.no)
        known = {plain(column): column for column in structure.columns}
        missing = {name: column for name, column in known.items() if name not in names}
        for at, column in misspelt(names, known, missing).items():
            text = misspelt_text(labels[at], column)
            out.issue(Code.UNKNOWN_COLUMN, text, heading.no, field=labels[at], table=structure.table)
        self._compare_with_file_name(out, structure, heading.no)
        filled = [line for line in lines if line.text.strip()]
        for line in filled:
            if (texts := _values(out, labels, line)) is not None:
                self._blocks.take(out, structure, line.no, texts)
        if filled:
            self._begun = heading.no
        elif heading.no != self._begun:
            out.issue(Code.REPORT_CUT, "no line follows the column names", heading.no)

    def finish(self) -> None:
        """Do nothing: each line is a row."""

    def _compare_with_file_name(self, out: ReportRows, structure: Structure, line: int) -> None:
        """Report a file name that the formatter gives to files with other columns."""
        name = PurePath(self._sheet.file).name.upper()
        named = next((other for other in STRUCTURES if f"SMF-{other}." in name), structure.name)
        if named != structure.name:
            message = (
                f"a file of this name has blocks {named}, but these columns are those of {structure.name}"
            )
            out.issue(Code.BAD_VALUE, f"{message}; they are read as such", line, table=structure.table)


def _values(out: ReportRows, labels: list[str], line: Line) -> dict[str, str] | None:
    """Return the values of a line by column name, or None if the line is damaged."""
    values = cells(line.text) if len(line.text) < LONGEST_LINE else None
    if values is not None and len(values) == len(labels):
        return {label: text for label, text in zip(labels, values, strict=True) if label}
    if values is None:
        message = f"the line {quoted(line.text)} has an unclosed quote or is too long"
    else:
        message = f"the line has {len(values)} values, but {len(labels)} columns are named"
    remedy = "the line is skipped: write the file again if it was cut off"
    out.issue(Code.UNKNOWN_LINE, f"{message}; {remedy}", line.no)
    return None


class MqObjects:
    """Reads the JSON objects of one file."""

    def __init__(self, sheet: FileRows, origin: Origin, zone: tzinfo | None = None) -> None:
        self._blocks = BlockRows(sheet, zone)
        self._out = ReportRows(sheet, origin)
        self._others: set[str] = set()
        """Structures that were skipped."""

    def take(self, line: int, values: Mapping[str, Any]) -> bool:
        """Write the row of an object of the formatter; return false for any other object."""
        if not values.keys() >= _ABOUT_RECORD:
            return False
        name = str(values[_STRUCTURE])
        if (structure := STRUCTURES.get(name)) is not None:
            texts = {key: _text(value) for key, value in values.items() if key not in _ABOUT_RECORD}
            self._blocks.take(self._out, structure, line, texts)
        elif name not in self._others and len(self._others) < _MOST_OTHERS:
            self._others.add(name)
            message = f"blocks {quoted(name)} contain no tasks or channels of the channel initiator"
            self._out.issue(Code.OTHER_REPORT, f"{message}; they are skipped", line)
        return True

    def finish(self) -> None:
        """Do nothing: each object is a row."""


def _text(value: object) -> str:
    """Return a value in the form of a CSV."""
    return "" if value is None else str(value).strip()


def csv_files(tables: Mapping[str, Iterable[Row]], zone: tzinfo = UTC) -> dict[str, list[str]]:
    """Return the lines of CSV files by file name, from rows by table name."""
    files: dict[str, list[str]] = {}
    for structure, values in _blocks(tables, zone):
        head = ["".join(f"{column}," for column in structure.columns)]
        printed = (_csv(item, value) for item, value in zip(structure.items, values[1:], strict=True))
        line = ",".join((_csv_moment(values[0]), *printed))
        files.setdefault(f"SMF-{structure.name}.csv", head).append(f"{line},")
    return files


def json_lines(tables: Mapping[str, Iterable[Row]], zone: tzinfo = UTC) -> list[str]:
    """Return the lines of the JSON file: one object after the other, with a key on each line."""
    lines = []
    for structure, (written, *values) in _blocks(tables, zone):
        record_type, subtype = structure.record
        about = (f'"recordType" : {record_type}', f'"recordSubType" : {subtype}')
        members = {"date": f"{written:%Y/%m/%d}", "time": f"{written:%H:%M:%S.%f}"}
        for item, value in zip(structure.items, values, strict=True):
            members |= _json(item, value)
        keys = [f'"{key}": {json.dumps(value)}' for key, value in members.items()]
        lines += ["{", ",\n".join((*about, f'"structure" : "{structure.name}"', *keys)), "}"]
    return "\n".join(lines).split("\n") if lines else []


def _blocks(tables: Mapping[str, Iterable[Row]], zone: tzinfo) -> Iterator[tuple[Structure, list[Any]]]:
    """Yield the structure of each row and its values: the time of writing, then the value of each item."""
    seen: Counter[tuple[Any, ...]] = Counter()
    for table, rows in tables.items():
        kinds = {each.task_type: each for each in STRUCTURES.values() if each.table == table}
        for row in rows:
            structure = kinds[row.get("task_type") or ""]
            about = (structure.name, row["system"], row["queue_manager"], row["written_local"])
            index = row.get("section_no")
            computed = {
                "Task_Index": seen[about] if index is None else index,
                "Interval_Duration": _seconds(row),
                "LPAR": row["system"],
                "QSG_Name": row["queue_sharing_group"] or "",
            }
            seen[about] += 1
            yield (
                structure,
                [
                    row["written_local"],
                    *(_value(structure, item, row, computed, zone) for item in structure.items),
                ],
            )


def _value(structure: Structure, item: MqItem, row: Row, computed: Mapping[str, Any], zone: tzinfo) -> Any:  # noqa: ANN401 - as the row has it
    """Return a value as in the record, as far as the row has it."""
    if item.name in computed:
        return computed[item.name]
    column = columns_of(structure.table)[plain(item.name)].name
    value = row.get(column)
    if value is None and column in MINIMUM:
        return 0
    if item.kind is MqValueKind.MOMENT and value is not None:
        return value.replace(tzinfo=UTC).astimezone(zone)
    if item.kind is MqValueKind.WORD and value is not None:
        return catalog().codes[item.codes].codes.get(value, "")
    if item.name in _LATER and len(row["mq_version"] or "") < _EXTENDED:
        return _NOT_THERE.get(item.name, ".....")
    return value


def _seconds(row: Row) -> int:
    """Return the whole seconds of the interval."""
    return int(row.get("interval_us") or 0) // MICROSECONDS


def _csv(item: MqItem, value: Any) -> str:  # noqa: ANN401 - the type depends on the kind
    match item.kind:
        case MqValueKind.NUMBER | MqValueKind.CIPHER:
            return str(-1 if value is None else value)
        case MqValueKind.SPAN:
            seconds, rest = divmod(value or 0, MICROSECONDS)
            return f"{seconds}, {rest} "
        case MqValueKind.MOMENT:
            return _csv_moment(value)
        case _:
            text = _padded(item, value)
            return f'{"=" if _LIKE_A_NUMBER.fullmatch(text) else ""}"{text}"'


def _json(item: MqItem, value: Any) -> dict[str, Any]:  # noqa: ANN401 - the type depends on the kind
    match item.kind:
        case MqValueKind.NUMBER | MqValueKind.CIPHER:
            return {json_key(item.name): -1 if value is None else value}
        case MqValueKind.SPAN:
            return {json_key(item.parts[1]): value or 0}
        case MqValueKind.MOMENT:
            when = value or datetime(1970, 1, 1, tzinfo=UTC)
            printed = (f"{when:%Y-%m-%d}", f"{when:%H:%M:%S.%f}")
            return dict(zip(map(json_key, item.parts), printed, strict=True))
        case _:
            return {json_key(item.name): _padded(item, value)}


def _csv_moment(value: datetime | None) -> str:
    return '"",""' if value is None else f'"{value:%Y/%m/%d}","{value:%H:%M:%S,%f}"'


def _padded(item: MqItem, value: str | None) -> str:
    if item.kind is MqValueKind.HEX:
        return (value or "").upper().rjust(item.width, "0")
    text = value or ""
    return text if set(text) == {"."} else text.ljust(item.width)
