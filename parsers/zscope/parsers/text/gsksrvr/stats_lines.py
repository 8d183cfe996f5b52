"""The kinds of lines in cache statistics: a label with its value, the heading of a block, dashes below it."""

from __future__ import annotations

from dataclasses import dataclass

import pyparsing as pp

USUAL_WIDTH = 48
"""From the first character of a label to the last one of its number."""
BLOCKS = ("Add statistics", "Update statistics", "Retrieval statistics")
_BY_LENGTH = {len(name): name for name in BLOCKS}


@dataclass(frozen=True, slots=True)
class Entry:
    """A label with a value."""

    label: str
    value: str
    width: int
    """From the first character of the label to the last one of the value."""


@dataclass(frozen=True, slots=True)
class BlockHeading:
    """The line that names the counters below it."""

    name: str
    width: int | None
    """None where blanks are not kept, so that it tells no place; the usual one where the line is cut."""


@dataclass(frozen=True, slots=True)
class Dashes:
    """The line below a block heading; its dashes are as long as that."""

    length: int
    width: int | None

    @property
    def block(self) -> str | None:
        """The block whose heading is so long."""
        return _BY_LENGTH.get(self.length)


_LABEL = pp.Regex(r"[A-Za-z][^:]{0,79}(?=:(\s|$))")("label")
_VALUE = pp.Regex(r".*")("value")
_NAME = pp.Regex(r"(?i)([A-Z]{1,20} ){1,4}statistics\b")("name")
_DASH_RUN = pp.Regex(r"-{6,80}(?!-)")("dashes")

_ENTRY = _LABEL + pp.Suppress(":") + _VALUE
_HEADING = _NAME + pp.Regex(r"(?i)(C(o(u(nt?)?)?)?)?")("count") + pp.StringEnd()
_DASHES = _DASH_RUN + pp.Regex(r"-{5}(?!\S)") + pp.StringEnd()
_LINE = pp.Group(_ENTRY)("entry") | pp.Group(_HEADING)("heading") | pp.Group(_DASHES)("rule")


def line_kind(text: str) -> Entry | BlockHeading | Dashes | None:
    """What a line without blanks around it is.

    >>> line_kind("Cache timeout:       10")
    Entry(label='Cache timeout', value='10', width=23)
    >>> line_kind("READY") is None
    True
    """
    try:
        parsed = _LINE.parse_string(text)
    except pp.ParseException:
        return None
    if "entry" in parsed:
        entry = parsed["entry"]
        return Entry(entry["label"], entry["value"], len(text))
    width = len(text) if "  " in text else None
    if "heading" in parsed:
        heading = parsed["heading"]
        whole = heading["count"].upper() == "COUNT"
        return BlockHeading(heading["name"], width if whole else USUAL_WIDTH)
    return Dashes(len(parsed["rule"]["dashes"]), width)
