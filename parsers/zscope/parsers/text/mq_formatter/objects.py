"""The JSON of the formatter: one object for each block of a record, in a file for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from zscope.parsers.issues import Code
from zscope.parsers.text.mq_formatter.layout import STRUCTURES
from zscope.parsers.text.mq_formatter.rows import Blocks
from zscope.parsers.text.out import Out, shown

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Origin

_STRUCTURE = "structure"
_ABOUT_RECORD = frozenset({_STRUCTURE, "recordType", "recordSubType"})


_MOST_OTHERS = 100
"""More structures than records of MQ have; a file of invented ones must not fill memory."""


class MqObjects:
    """Takes the objects of one file."""

    def __init__(self, sheet: Sheet, origin: Origin, zone: tzinfo | None = None) -> None:
        self._blocks = Blocks(sheet, zone)
        self._out = Out(sheet, origin)
        self._others: set[str] = set()
        """Structures that were passed over."""

    def take(self, line: int, found: Mapping[str, Any]) -> bool:
        """Make a row of an object that begins in this line, unless it is none that the formatter writes."""
        if not found.keys() >= _ABOUT_RECORD:
            return False
        name = str(found[_STRUCTURE])
        if (structure := STRUCTURES.get(name)) is not None:
            told = {key: _text(value) for key, value in found.items() if key not in _ABOUT_RECORD}
            self._blocks.take(self._out, structure, line, told)
        elif name not in self._others and len(self._others) < _MOST_OTHERS:
            self._others.add(name)
            told_once = f"blocks {shown(name)} have no tasks or channels of the channel initiator"
            self._out.issue(Code.OTHER_REPORT, f"{told_once}: they were passed over", line)
        return True

    def finish(self) -> None:
        """There are no more in this file."""


def _text(value: object) -> str:
    """A value as a CSV would have it."""
    return "" if value is None else str(value).strip()
