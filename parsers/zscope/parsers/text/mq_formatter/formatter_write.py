"""Write rows of the tables as the formatter prints their blocks: CSV files, or one JSON file.

The inverse of the reader, for sample data and tests. The format is that of release 5.7, run with `-g yes`
unless the zone of the workstation is given.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from zscope.parsers.text.mq_formatter.blocks import MINIMUM, columns_of
from zscope.parsers.text.mq_formatter.layout import (
    STRUCTURES,
    MqItem,
    MqValueKind,
    Structure,
    json_key,
    plain,
)
from zscope.parsers.text.mq_formatter.values import MICROSECONDS
from zscope.schemas import catalog

Row = Mapping[str, Any]
JSON_FILE = "SMF-MQSMF.json"
_LIKE_A_NUMBER = re.compile(r"[0-9A-Fa-f\s]*", re.ASCII)
_LATER = frozenset({"QSG", "Remote_Product_ID", "Remote_Product_Version"})
"""Texts in records since MQ 10.0."""
_NOT_THERE = {"QSG": "...."}
_EXTENDED = 6
"""Digits of the version in records since MQ 10.0."""


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
