"""Reads the objects of a JSON file with the grammars that take such, and tells what none of them knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.issues import Code, Issue
from zscope.parsers.text.coding import read_pieces
from zscope.parsers.text.families import object_grammars
from zscope.parsers.text.json_objects import json_objects
from zscope.parsers.text.report import Origin, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.parsers.containers.streams import ByteSource
    from zscope.parsers.inputs import Options
    from zscope.parsers.text.coding import Coding
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.segment import Known

TELL_EVERY = 10_000
"""Objects."""
_MOST_HELD = 1_000


class Objects:
    """The objects of one file."""

    def __init__(self, sheet: Sheet, options: Options, known: Known, *, held: bool) -> None:
        self._sheet = sheet
        self._grammars = object_grammars(sheet, options, known.complete(Origin(Source.JSON)))
        self._held: list[Issue] | None = [] if held else None
        """What is wrong with a file of which it is not known yet whether it is one of ours: others in a
        folder may be as they like.
        """
        self._others = 0
        self._first_other = 0
        self._lines = 1
        self._bytes = 0

    def read(self, stream: ByteSource, coding: Coding) -> Iterator[tuple[int, int]]:
        """Tell now and then how many lines and bytes were read so far."""
        for number, (line, found) in enumerate(json_objects(self._pieces(stream, coding), self._tell), 1):
            if any(grammar.take(line, found) for grammar in self._grammars):
                self._tell_held()
            else:
                self._others += 1
                self._first_other = self._first_other or line
            if number % TELL_EVERY == 0:
                yield self._lines, self._bytes
        for grammar in self._grammars:
            grammar.finish()
        if self._others and (self._sheet.found or self._sheet.told):
            self._tell_others()
        yield self._lines, self._bytes

    def _pieces(self, stream: ByteSource, coding: Coding) -> Iterator[str]:
        for piece in read_pieces(stream, coding):
            self._lines += piece.count("\n")
            self._bytes += len(piece)
            yield piece

    def _tell(self, line: int, text: str) -> None:
        issue = Issue(Code.UNKNOWN_LINE, text, self._sheet.file, line_no=line)
        if self._held is None:
            self._sheet.tell(issue)
        elif len(self._held) < _MOST_HELD:
            self._held.append(issue)

    def _tell_held(self) -> None:
        held, self._held = self._held or (), None
        for issue in held:
            self._sheet.tell(issue)

    def _tell_others(self) -> None:
        are = "1 object has" if self._others == 1 else f"{self._others:,} objects have"
        text = f"{are} the keys of no table that zscope knows, from this line on; left out"
        self._sheet.tell(Issue(Code.UNKNOWN_LINE, text, self._sheet.file, line_no=self._first_other))
