"""Tables from reports in text or XML: label, printed format and column of every value.

The declarations are the TOML files in `reports/`, one for each table. The place of a value in its report is
defined by the grammar that reads the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.load import with_proof
from zscope.schemas.model import ConnectionRows, Evidence

if TYPE_CHECKING:
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


class PrintedField(Declared, frozen=True):
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


class SharedColumns(Declared, frozen=True):
    """Columns of `lead.toml`, which several tables have."""

    columns: tuple[PrintedField, ...]


class ReportDeclaration(Declared, frozen=True, kw_only=True):
    """The file of a table that reports fill."""

    name: str
    meaning: str
    family: str
    """Kind of report: `rmf`, `netstat`, `gsksrvr`, `attls`, `macro`, `zvm`, `mq` or `supplied`."""
    title: str
    """Name of the report for display."""
    grain: tuple[str, ...]
    """Columns that together identify a row."""
    lead: tuple[str, ...]
    """The groups of `lead.toml` that the table begins with: file, line, system, time."""
    columns: tuple[PrintedField, ...]
    """Columns of the report."""
    csv: tuple[str, ...] = ()
    """Labels of the columns that a supplied CSV file must have; empty: it cannot be supplied as CSV."""
    csv_one_of: tuple[str, ...] = ()
    """Labels of which it must have one."""
    reports: tuple[str, ...] = ()
    """Names of the reports that fill the table, as an inventory has them; without it, the title."""
    shown_as: str = ""
    """The kind of data under which its reports are counted; without it, the title."""
    report_prefix: str = ""
    """With what the names of these reports begin in `load_kind`; without it, they are the title."""
    connection: ConnectionRows | None = None
    """None: its rows are not about single connections."""
    evidence: Evidence = Evidence.IBM_DOC
    """That of columns without their own."""
    source: str = ""
    """That of columns without their own."""


class ReportTable(ReportDeclaration, frozen=True, kw_only=True):
    """A table that reports fill, with the columns that it shares with others."""

    fields: tuple[PrintedField, ...]
    """All columns, in order."""

    def by_label(self) -> Mapping[str, PrintedField]:
        """Return the columns by each of their labels, in the form of `plain_label`.

        >>> report_table("netstat_conn").by_label()["USERID"].column
        'job_name'
        """
        return {plain_label(label): field for field in self.columns for label in field.labels}


@lru_cache(maxsize=4096)  # reports repeat their labels in each row
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
    shared = _shared_columns(TomlFile.read(folder / SHARED_FILE))
    tables = {}
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.endswith(".toml") and path.name != SHARED_FILE:
            table = _table(TomlFile.read(path), shared)
            tables[table.name] = table
    return tables


def _shared_columns(file: TomlFile) -> Mapping[str, SharedColumns]:
    """The columns of `lead.toml` by the name of their group; the reader adds them."""
    added: dict[str, object] = dict(file.content)
    for name, group in file.content.items():
        if isinstance(group, dict) and isinstance(group.get("columns"), list):
            added[name] = group | {"columns": [{"format": "made"} | column for column in group["columns"]]}
    return file.typed(dict[str, SharedColumns], added)


def _table(file: TomlFile, shared: Mapping[str, SharedColumns]) -> ReportTable:
    """A table with the columns that the reader adds before and after those of the report."""
    declared = file.typed(ReportDeclaration, with_proof(file.content, "columns"))
    for number, name in enumerate(declared.lead):
        if name not in shared:
            raise file.error(("lead", number), f"{name!r} is not one of {', '.join(shared)}")
    lead = [column for name in declared.lead for column in shared[name].columns]
    values = {name: getattr(declared, name) for name in declared.__struct_fields__}
    values |= {"shown_as": declared.shown_as or declared.title}
    return ReportTable(**values, fields=(*lead, *declared.columns, *shared["trail"].columns))
