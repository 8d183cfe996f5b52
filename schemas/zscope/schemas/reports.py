"""Tables from reports in text or XML: label, printed format and column of every value.

The declarations are the TOML files in `reports/`, one for each table. The place of a value in its report is
defined by the grammar that reads the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from zscope.schemas.errors import DeclarationError
from zscope.schemas.load import read_toml
from zscope.schemas.model import ConnectionRows, Evidence, connection_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

SHARED_FILE = "lead.toml"
"""Columns that several tables begin with: origin and time of a row."""


class PrintedFormat(StrEnum):
    """The format of a value in a report."""

    TEXT = "text"
    COUNT = "count"
    """A whole number, with or without leading zeros."""
    NUMBER = "number"
    """A decimal number, with or without a percent sign."""
    HEX_NUMBER = "hex_number"
    """Hexadecimal digits that are a number, such as a connection id."""
    HEX = "hex"
    """Hexadecimal digits as text; blanks between groups are allowed."""
    PORT = "port"
    ADDRESS = "address"
    """IPv4 or IPv6; `*` is no address."""
    YES_NO = "yes_no"
    """YES and NO, ON and OFF, Y and N, in any case."""
    TLS_VERSION = "tls_version"
    """`TLS Version 1.3`, `TLSv1.2` or `SSLV3`; decoded to the number on the wire."""
    MEGABYTES = "megabytes"
    """A whole number, with or without a following `M`."""
    SPAN = "span"
    """An elapsed time: hh.mm.ss.ttt, mm.ss.ttt or mm:ss:ttt. Decoded to milliseconds."""
    TIME = "time"
    """Date and time of day of the system's own clock."""
    MOMENT = "moment"
    """ISO 8601 with an offset from UTC."""
    MADE = "made"
    """Not printed: added by the reader."""


@dataclass(frozen=True, slots=True)
class PrintedField:
    """One value of a report and the column it becomes."""

    column: str
    format: PrintedFormat
    meaning: str
    label: str = ""
    """Its label in the report; empty for columns that the reader adds."""
    aliases: tuple[str, ...] = ()
    """Its labels in other forms and releases of the report."""
    unit: str = ""
    codes: str = ""
    """Name of the code table for its values."""
    evidence: Evidence = Evidence.IBM_DOC
    source: str = ""
    many: bool = False
    """Most rows have different values, so the column is not dictionary-encoded."""
    type: str = ""
    """Type of the column where the format does not decide it, such as `uint16` or `local`."""
    required: bool = False
    """Never null."""
    since: str = ""
    """First release that prints it, where it is known."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return all its labels."""
        return (self.label, *self.aliases) if self.label else self.aliases


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table that reports fill."""

    name: str
    meaning: str
    family: str
    """Kind of report: `rmf`, `netstat`, `gsksrvr`, `attls`, `zvm`, `mq` or `supplied`."""
    title: str
    """Name of the report for display."""
    grain: tuple[str, ...]
    """Columns that together identify a row."""
    lead: tuple[PrintedField, ...]
    """Added by the reader: file, line, system, time."""
    columns: tuple[PrintedField, ...]
    """Columns of the report."""
    trail: tuple[PrintedField, ...] = ()
    """Added by the reader: further content of the report."""
    csv: tuple[str, ...] = ()
    """Labels of the columns that a supplied CSV file must have; empty: it cannot be supplied as CSV."""
    csv_one_of: tuple[str, ...] = ()
    """Labels of which it must have one."""
    reports: tuple[str, ...] = ()
    """Names of the reports that fill the table, as an inventory has them; without it, the title."""
    shown_as: str = ""
    """The kind of data under which its reports are counted; several tables can have the same."""
    report_prefix: str = ""
    """With what the names of these reports begin in `load_kind`; without it, they are the title."""
    connection: ConnectionRows | None = None
    """None: its rows are not about single connections."""

    @property
    def fields(self) -> tuple[PrintedField, ...]:
        """Return all columns, in order."""
        return (*self.lead, *self.columns, *self.trail)

    def by_label(self) -> Mapping[str, PrintedField]:
        """Return the columns by each of their labels, in the form of `plain_label`.

        >>> report_table("netstat_conn").by_label()["USERID"].column
        'job_name'
        """
        return {plain_label(label): field for field in self.columns for label in field.labels}


def plain_label(label: str) -> str:
    """Return a label in the form for comparison: upper case, without blanks and the colon at its end.

    >>> plain_label("Smooth trip time:")
    'SMOOTHTRIPTIME'
    """
    return "".join(label.split()).rstrip(":").upper()


@cache
def report_tables() -> Mapping[str, ReportTable]:
    """Return all tables that reports can fill, in the order of the files."""
    return read_report_tables(files("zscope.schemas") / "reports")


def report_table(name: str) -> ReportTable:
    """Return the table with this name."""
    return report_tables()[name]


def read_report_tables(folder: Traversable) -> Mapping[str, ReportTable]:
    """Read every declaration in a folder."""
    shared = {
        key: tuple(_field(SHARED_FILE, key, {"format": "made"} | raw) for raw in content["columns"])
        for key, content in read_toml(folder / SHARED_FILE).items()
    }
    tables = {}
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".toml") and file.name != SHARED_FILE:
            table = _table(file.name, read_toml(file), shared)
            tables[table.name] = table
    return tables


def _table(file: str, raw: dict[str, Any], shared: Mapping[str, tuple[PrintedField, ...]]) -> ReportTable:
    raw = dict(raw)
    defaults = {name: raw.pop(name) for name in ("evidence", "source") if name in raw}
    try:
        lead = tuple(field for key in raw.pop("lead") for field in shared[key])
        columns = tuple(_field(file, raw["name"], defaults | entry) for entry in raw.pop("columns"))
        listed = {key: tuple(raw.pop(key, ())) for key in ("csv", "csv_one_of", "reports")}
        grain = tuple(raw.pop("grain"))
        if "connection" in raw:
            raw["connection"] = connection_rows(raw["connection"])
        raw.setdefault("shown_as", raw.get("title", ""))
        return ReportTable(lead=lead, columns=columns, trail=shared["trail"], grain=grain, **(raw | listed))
    except KeyError as error:
        raise DeclarationError(file, "table", f"{error.args[0]!r} is missing") from error
    except TypeError as error:
        raise DeclarationError(file, "table", str(error)) from error


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
        raise DeclarationError(file, key, f"{error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise DeclarationError(file, key, str(error)) from error
