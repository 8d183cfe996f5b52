"""Declarations of records: TOML files that say what is in each field of the records of one layout.

A declaration names the type of the records, who writes them, and values and sections:

    type = 119
    subtypes = [20]
    triplets = 2
    subsystem = "TCP"
    writer = { component = "TN3270S", job = "TN3270", user = "TCPIP" }

    [lists]
    devices = ["IBM-3278-2-E", "IBM-3279-4-E"]

    [values]
    device = "integers(0, 2)"

    [[section]]
    key = "session"
    only_if = "device > 0"
    constants = { local_port = 992 }

    [section.columns]
    telnet_device_type = "pick(devices, device)"
    start_local = "local(start)"

Constants are the same in all records. Values and columns are expressions of Python with one value for each
record: they use the arrays that the caller gives, the lists, the site and earlier values. Columns
also use `ipl`, the number of the latest IPL of the system. Values are computed
in the order of the file, so that is the order in which random numbers are drawn. A column that a layout does
not have is left out, so one declaration can describe several subtypes. `writer` fills the identification
section of TCP/IP, which is the first one; the others follow in the order of the file. `writers` has one for
each subtype.

A section can have more keys:

- `only_if`: which records have it
- `subtypes`: which subtypes have it
- `each`: how many times every record has it; a value has a row for each record, a column for each occurrence
- `same_text`: its whole content
- `text`: its whole content, which differs in length
- `length`: an expression that uses `known`, its usual length, or `at_level("3.2")`
- `block`: the number of the certificates whose names are its content, -1 for none
- `tables`: several columns whose names begin in the same way
- `as_in`: another declaration whose section of this key has the same columns, with other values for constants
  that are given here
- `computed`: more columns by name, which the caller gives
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from zscope.samples.declaration_files import read_declared
from zscope.schemas.declared import Declared

Expression = str
"""An expression of Python."""


class RecordWriter(Declared, frozen=True):
    """Who writes records: a part of the identification section of TCP/IP."""

    component: str
    job: str = "TCPIP"
    user: str = "TCPIP"
    reason: int = 0x08
    """Why the records are written; usually for an event."""


class DeclaredRecordSection(Declared, frozen=True):
    """One section of a declaration."""

    key: str
    subtypes: tuple[int, ...] | None = None
    constants: Mapping[str, int | float | str] = {}
    columns: Mapping[str, Expression] = {}
    tables: Mapping[str, Expression] = {}
    """Several columns at once, by the beginning of their names."""
    computed: Expression = ""
    """Columns by their names."""
    as_in: str = ""
    same_text: str = ""
    each: Expression = ""
    """Number of times that each record has it."""
    only_if: Expression = ""
    text: Expression = ""
    block: Expression = ""
    length: Expression = ""


class RecordDeclaration(Declared, frozen=True):
    """A declaration of the records of some subtypes."""

    type: int
    subtypes: tuple[int, ...]
    triplets: int | Expression
    subsystem: str
    """In the header; in place of it the name of a given text."""
    section: tuple[DeclaredRecordSection, ...]
    writer: RecordWriter | None = None
    writers: Mapping[int, RecordWriter] = {}
    shape: Expression = ""
    """Numbers the kinds of records that have the same sections; they are written in this order."""
    lists: Mapping[str, Any] = {}
    values: Mapping[str, Expression] = {}

    def writer_of(self, subtype: int) -> RecordWriter | None:
        """Return who writes records of a subtype; None without an identification section of TCP/IP."""
        return self.writers.get(subtype, self.writer)

    def section_of(self, key: str) -> DeclaredRecordSection:
        """Return the section with a key."""
        return next(section for section in self.section if section.key == key)


@cache
def read_declaration(path: str) -> RecordDeclaration:
    """Read a declaration, by its path in this package."""
    declared = read_declared(path, RecordDeclaration)
    return replace(
        declared,
        section=tuple(_completed(section) for section in declared.section),
        lists={name: _listed(values) for name, values in declared.lists.items()},
    )


def _completed(section: DeclaredRecordSection) -> DeclaredRecordSection:
    """Return a section with the columns of the one that it refers to."""
    if not section.as_in:
        return section
    other = read_declaration(section.as_in).section_of(section.key)
    constants = {**other.constants, **section.constants}
    return replace(section, constants=constants, columns=other.columns, tables=other.tables)


def _listed(values: dict[str, Any] | list[Any]) -> Any:  # noqa: ANN401 - what an expression uses
    """Return numbers as an array; texts stay a list, and a table stays as it is."""
    if isinstance(values, dict) or isinstance(values[0], str):
        return values
    return np.array(values)
