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
record: they use the arrays that the caller gives, the lists, the site and earlier values. Values are computed
in the order of the file, so that is the order in which random numbers are drawn. A column that a layout does
not have is left out, so one declaration can describe several subtypes. `writer` fills the identification
section of TCP/IP, which is the first one; the others follow in the order of the file.

A section can have more keys:

- `only_if`: which records have it
- `subtypes`: which subtypes have it
- `each`: how many times every record has it; a value has a row for each record, a column for each occurrence
- `same_text`: its whole content
- `text`: its whole content, which differs in length
- `length`: an expression that uses `known`, its usual length, or `at_level("3.2")`
- `block`: the number of one of several ready sections, -1 for none
- `tables`: several columns whose names begin in the same way
- `as_in`: another declaration whose section of this key has the same columns, with other values for constants
  that are given here
- `computed`: more columns by name, which the caller gives
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.declaration_files import check_keys, read_declared

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = {"type", "subtypes", "triplets", "subsystem", "writer", "shape", "lists", "values", "section"}
SECTION_KEYS = {
    "key",
    "subtypes",
    "constants",
    "columns",
    "tables",
    "as_in",
    "computed",
    "only_if",
    "text",
    "same_text",
    "block",
    "each",
    "length",
}


@dataclass(frozen=True, slots=True)
class DeclaredRecordSection:
    """One section of a declaration."""

    key: str
    subtypes: tuple[int, ...] | None
    constants: Mapping[str, Any]
    columns: Mapping[str, CodeType]
    tables: Mapping[str, CodeType]
    """Several columns at once, by the beginning of their names."""
    computed: CodeType | None
    """Columns by their names."""
    same_text: str | None
    each: CodeType | None
    """Number of times that each record has it."""
    only_if: CodeType | None
    text: CodeType | None
    block: CodeType | None
    length: CodeType | None


@dataclass(frozen=True, slots=True)
class RecordDeclaration:
    """A declaration with compiled expressions."""

    type: int
    subtypes: tuple[int, ...]
    triplets: CodeType
    subsystem: str
    """In the header; in place of it the name of a given text."""
    writers: Mapping[int, Mapping[str, Any]]
    """The identification section, by subtype; empty for records that do not have the one of TCP/IP."""
    shape: CodeType | None
    """Numbers the kinds of records that have the same sections; they are written in this order."""
    lists: Mapping[str, Any]
    values: Mapping[str, CodeType]
    sections: tuple[DeclaredRecordSection, ...]

    def section(self, key: str) -> DeclaredRecordSection:
        """Return the section with a key."""
        return next(section for section in self.sections if section.key == key)


@cache
def read_declaration(path: str) -> RecordDeclaration:
    """Read a declaration, by its path in this package."""
    content = read_declared(path)
    check_keys(path, content, KEYS)

    def compiled(name: str, text: object) -> CodeType:
        return compile(str(text), f"{path}: {name}", "eval")

    def expressions(texts: Mapping[str, str]) -> dict[str, CodeType]:
        return {name: compiled(name, text) for name, text in texts.items()}

    def expression(owner: Mapping[str, Any], name: str) -> CodeType | None:
        return compiled(name, owner[name]) if name in owner else None

    sections = []
    for section in content["section"]:
        check_keys(path, section, SECTION_KEYS)
        other = read_declaration(section["as_in"]).section(section["key"]) if "as_in" in section else None
        sections.append(
            DeclaredRecordSection(
                section["key"],
                tuple(section["subtypes"]) if "subtypes" in section else None,
                {**(other.constants if other else {}), **section.get("constants", {})},
                other.columns if other else expressions(section.get("columns", {})),
                other.tables if other else expressions(section.get("tables", {})),
                expression(section, "computed"),
                section.get("same_text"),
                expression(section, "each"),
                *(expression(section, name) for name in ("only_if", "text", "block", "length")),
            )
        )
    subtypes = tuple(content["subtypes"])
    writer = content.get("writer", {})
    return RecordDeclaration(
        content["type"],
        subtypes,
        compiled("triplets", content["triplets"]),
        content["subsystem"],
        {subtype: writer.get(str(subtype), writer) for subtype in subtypes},
        expression(content, "shape"),
        {name: _listed(values) for name, values in content.get("lists", {}).items()},
        expressions(content.get("values", {})),
        tuple(sections),
    )


def _listed(values: dict[str, Any] | list[Any]) -> Any:  # noqa: ANN401 - what an expression uses
    """Return numbers as an array; texts stay a list, and a table stays as it is."""
    if isinstance(values, dict) or isinstance(values[0], str):
        return values
    return np.array(values)
