"""Tables made from reports in text or XML: what a report calls a value, how it is printed, our column.

The declarations are the TOML files in `reports/`, one for each table. Where a value stands in its report is
the business of the grammar that reads it; nothing here knows about lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from zscope.schemas.load import LayoutError, read_toml
from zscope.schemas.model import Evidence

SHARED_FILE = "lead.toml"
"""Columns that several tables begin with: where a row is from, and when it was true."""


class PrintedFormat(StrEnum):
    """How a value is written in a report."""

    TEXT = "text"
    COUNT = "count"
    """A whole number, with or without leading zeros."""
    NUMBER = "number"
    """A decimal number, with or without a percent sign."""
    HEX_NUMBER = "hex_number"
    """Hexadecimal digits that are a number, such as a connection id."""
    HEX = "hex"
    """Hexadecimal digits that stay digits, with blanks between groups of them."""
    PORT = "port"
    ADDRESS = "address"
    """IPv4 or IPv6; `*` is no address."""
    YES_NO = "yes_no"
    """YES and NO, ON and OFF, Y and N, in any case."""
    TLS_VERSION = "tls_version"
    """`TLS Version 1.3`, `TLSv1.2` or `SSLV3`; becomes the number on the wire."""
    MEGABYTES = "megabytes"
    """A whole number with or without `M` behind it."""
    SPAN = "span"
    """An elapsed time: hh.mm.ss.ttt, mm.ss.ttt or mm:ss:ttt. Becomes milliseconds."""
    TIME = "time"
    """Date and time of day of the system's own clock."""
    MOMENT = "moment"
    """ISO 8601 with an offset from UTC."""
    MADE = "made"
    """Not printed: put there by the reader as it is."""


@dataclass(frozen=True, slots=True)
class PrintedField:
    """One value of a report and the column it becomes."""

    column: str
    format: PrintedFormat
    meaning: str
    label: str = ""
    """What the report calls it; empty for what the reader adds."""
    aliases: tuple[str, ...] = ()
    """What other forms and releases of the report call it."""
    unit: str = ""
    codes: str = ""
    """Name of the code table whose values it takes."""
    evidence: Evidence = Evidence.IBM_DOC
    source: str = ""
    many: bool = False
    """Most rows have a value of their own: a dictionary would cost more than it saves."""
    type: str = ""
    """Type of the column where the format does not decide it: `uint16`, `local` and the like."""
    required: bool = False
    """Never null."""
    since: str = ""
    """First release that prints it, where it is known."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Every name it is known by in a report."""
        return (self.label, *self.aliases) if self.label else self.aliases


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table that reports fill."""

    name: str
    meaning: str
    family: str
    """Kind of report: `rmf`, `netstat`, `gsksrvr`, `zvm`, `mq` or `supplied`."""
    title: str
    """The report that people know."""
    grain: tuple[str, ...]
    """Columns that together tell one row from all others."""
    lead: tuple[PrintedField, ...]
    """Made by the reader: file, line, system, time."""
    columns: tuple[PrintedField, ...]
    """What the report says."""
    trail: tuple[PrintedField, ...] = ()
    """Made by the reader: what the report says beyond that."""
    csv: tuple[str, ...] = ()
    """Labels of the columns that a CSV which someone supplies must name; empty: nobody supplies it so."""
    csv_one_of: tuple[str, ...] = ()
    """Labels of which it must name one."""

    @property
    def fields(self) -> tuple[PrintedField, ...]:
        """All columns, in order."""
        return (*self.lead, *self.columns, *self.trail)

    def by_label(self) -> Mapping[str, PrintedField]:
        """The columns by every label in upper case without blanks and colons: reports differ in both.

        >>> report_table("netstat_conn").by_label()["USERID"].column
        'job_name'
        """
        return {plain_label(label): field for field in self.columns for label in field.labels}


def plain_label(label: str) -> str:
    """A label as labels are compared: in upper case, without blanks and the colon at its end.

    >>> plain_label("Smooth trip time:")
    'SMOOTHTRIPTIME'
    """
    return "".join(label.split()).rstrip(":").upper()


@cache
def report_tables() -> Mapping[str, ReportTable]:
    """Every table that reports can fill, in the order of the files."""
    return read_report_tables(files("zscope.schemas") / "reports")


def report_table(name: str) -> ReportTable:
    """The table of this name."""
    return report_tables()[name]


def read_report_tables(folder: Traversable) -> Mapping[str, ReportTable]:
    """Read every declaration in a folder."""
    shared = {
        key: tuple(_field(SHARED_FILE, key, {"format": "made"} | raw) for raw in content["columns"])
        for key, content in read_toml(folder / SHARED_FILE).items()
    }
    found = {}
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".toml") and file.name != SHARED_FILE:
            table = _table(file.name, read_toml(file), shared)
            found[table.name] = table
    return found


def _table(file: str, raw: dict[str, Any], shared: Mapping[str, tuple[PrintedField, ...]]) -> ReportTable:
    raw = dict(raw)
    defaults = {name: raw.pop(name) for name in ("evidence", "source") if name in raw}
    try:
        lead = tuple(field for key in raw.pop("lead") for field in shared[key])
        columns = tuple(_field(file, raw["name"], defaults | entry) for entry in raw.pop("columns"))
        listed = {key: tuple(raw.pop(key, ())) for key in ("csv", "csv_one_of")}
        grain = tuple(raw.pop("grain"))
        return ReportTable(lead=lead, columns=columns, trail=shared["trail"], grain=grain, **(raw | listed))
    except KeyError as error:
        raise LayoutError(file, "table", f"{error.args[0]!r} is missing") from error
    except TypeError as error:
        raise LayoutError(file, "table", str(error)) from error


def _field(file: str, table: str, raw: dict[str, Any]) -> PrintedField:
    key = f"{table}.{raw.get('column', 'column without name')}"
    raw = dict(raw)
    try:
        raw["format"] = PrintedFormat(raw["format"])
        if "evidence" in raw:
            raw["evidence"] = Evidence(raw["evidence"])
        raw["aliases"] = tuple(raw.get("aliases", ()))
        return PrintedField(**raw)
    except KeyError as error:
        raise LayoutError(file, key, f"{error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise LayoutError(file, key, str(error)) from error
