"""Write Postprocessor XML documents from rows of the report tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from textwrap import indent
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.rmf.crypto_columns import ICSF, TOTAL
from zscope.schemas.reports import PrintedFormat

if TYPE_CHECKING:
    from datetime import datetime


PACKED_WIDTH = 250
_STEP = "    "


@dataclass(frozen=True, slots=True)
class XmlTable:
    """Column headings with their types (N number, T text), and rows of printed cells."""

    headings: Sequence[tuple[str, str]]
    rows: Sequence[tuple[Sequence[str], bool]]
    """With whether the row is a total."""


def leaf(name: str, text: str = "", **attributes: str) -> list[str]:
    """Return an element that contains only text."""
    opening = name + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return [f"<{opening}>{escape(text)}</{name}>" if text else f"<{opening}/>"]


def inside(name: str, content: Iterable[str], **attributes: str) -> list[str]:
    """Return an element that contains others."""
    opening = name + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return [f"<{opening}>", *(indent(line, _STEP) for line in content), f"</{name}>"]


class XmlIds:
    """Numbers segments, parts, lists and tables."""

    def __init__(self) -> None:
        self._next = count(1)

    def segment(self, name: str, parts: Callable[[], Iterable[list[str]]]) -> list[str]:
        """Return a segment; its parts are numbered in order."""
        number = str(next(self._next))
        return inside(
            "segment", [*leaf("name", name), *(line for part in parts() for line in part)], id=number
        )

    def part(
        self, name: str, variables: Mapping[str, str] | None = None, table: XmlTable | None = None
    ) -> list[str]:
        """Return a part with values, a table, or both; the first part of a segment has no name."""
        number = str(next(self._next))
        content = leaf("name", name) if name else []
        if variables is not None:
            content += self._variables(variables)
        if table is not None:
            content += self._table(table)
        return inside("part", content, id=number)

    def _variables(self, variables: Mapping[str, str]) -> list[str]:
        content: list[str] = []
        for name, value in variables.items():
            content += inside("var", [*leaf("name", name), *leaf("value", value)])
        return inside("var-list", content, id=str(next(self._next)))

    def _table(self, table: XmlTable) -> list[str]:
        number = str(next(self._next))
        heads = [line for text, kind in table.headings for line in leaf("col", text, type=kind)]
        content = inside("column-headers", heads)
        for refno, (cells, total) in enumerate(table.rows, 1):
            attributes = {"refno": str(refno)} | ({"type": "SUM"} if total else {})
            content += inside("row", [line for cell in cells for line in leaf("col", cell)], **attributes)
        return inside("table", content, id=number)


def packed(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines without indentation, broken at ends of tags."""
    line = ""
    for piece in lines:
        text = piece.strip()
        if line and len(line) + len(text) > PACKED_WIDTH:
            yield line
            line = ""
        line += text
    if line:
        yield line


def by_interval(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, Any], list[Mapping[str, Any]]]:
    """Return the rows by system and start of the interval."""
    by_key: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_key.setdefault((row.get("system"), row.get("interval_start_local")), []).append(row)
    return by_key


CryptoTablesRow = Mapping[str, Any]

_TITLES = {
    "cca": "Cryptographic CCA Coprocessor",
    "pkcs11": "Cryptographic PKCS11 Coprocessor",
    "accelerator": "Cryptographic Accelerator",
    "icsf": "ICSF Services",
}
FIGURES = (
    ("operation_rate", "Rate", "{:.2f}"),
    ("execution_ms", "Exec Time", "{:.3f}"),
    ("utilisation_pct", "Util %", "{:.1f}"),
    ("key_generation_rate", "Key-Gen Rate", "{:.2f}"),
    ("average_size_bytes", "Size", "{:.2f}"),
)


def crypto_tables(rows: Sequence[CryptoTablesRow]) -> Iterator[tuple[str, XmlTable]]:
    """Yield the title and the table of each part of the crypto report."""
    for kind in dict.fromkeys(row["unit_kind"] for row in rows):
        yield _TITLES.get(kind, kind), _table(kind, [row for row in rows if row["unit_kind"] == kind])


def _table(kind: str, rows: Sequence[CryptoTablesRow]) -> XmlTable:
    leading = [("ICSF Service", "T")] if kind == ICSF else [("Type", "T"), ("ID", "T"), ("Function", "T")]
    scopes = list(dict.fromkeys(row.get("crypto_scope_name") for row in rows))
    figures = [
        (scope, column, _figure_heading(kind, scope, name), printed)
        for scope in scopes
        for column, name, printed in FIGURES
        if any(row.get(column) is not None for row in rows if row.get("crypto_scope_name") == scope)
    ]
    lines: dict[tuple[str, ...], dict[str | None, CryptoTablesRow]] = {}
    for row in rows:
        lines.setdefault(_names(kind, row), {})[row.get("crypto_scope_name")] = row
    headings = [*leading, *((name, "N") for _, _, name, _ in figures)]
    return XmlTable(
        headings,
        [([*names, *_crypto_tables_cells(by_scope, figures)], False) for names, by_scope in lines.items()],
    )


def _figure_heading(kind: str, scope: str | None, name: str) -> str:
    total = "Total " if kind == "cca" and not name.startswith("Key-Gen") else ""
    return f"{total}{name}" + (f" ({scope})" if scope else "")


def _names(kind: str, row: CryptoTablesRow) -> tuple[str, ...]:
    if kind == ICSF:
        return (row["operation"],)
    label = "" if row["operation"] == TOTAL else row["operation"]
    return (row.get("card_type_name") or "", row.get("card_id") or "", label)


def _crypto_tables_cells(
    by_scope: Mapping[str | None, CryptoTablesRow], figures: Iterable[tuple[str | None, str, str, str]]
) -> list[str]:
    cells = []
    for scope, column, _, printed in figures:
        value = by_scope.get(scope, {}).get(column)
        cells.append("" if value is None else printed.format(value))
    return cells


Row = Mapping[str, Any]

OPTIONS_IN_EFFECT = (
    ("ERB103I", " PPS: OPTIONS IN EFFECT"),
    ("ERB103I", " PPS:   REPORTS(CPU)  -- SYSIN"),
)
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_STYLE = '<?xml-stylesheet type="text/xsl" href="include/ddsml-pp.xsl"?>'
_SCHEMA = {
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:noNamespaceSchemaLocation": "include/ddsml.xsd",
}
_SERVER = {"name": "RMF-DDS-Server", "version": "ZOSV2R5", "functionality": "3500", "platform": "z/OS"}

Printer = Callable[[Any], str]
_SPAN: Printer = CODECS[PrintedFormat.SPAN].encode


def _two(value: float) -> str:
    return f"{value:.2f}"


def _one(value: float) -> str:
    return f"{value:.1f}"


def _count(value: float) -> str:
    return f"{value:g}" if value % 1 else f"{value:.0f}"


def _yes_no(value: bool) -> str:
    return "YES" if value else "NO"


_MACHINE: dict[str, tuple[str, Printer]] = {
    "CPU": ("machine_type", str),
    "Model": ("capacity_model", str),
    "H/W Model": ("physical_model", str),
    "Sequence Code": ("machine_sequence_code", str),
    "HiperDispatch": ("hiperdispatch", str),
    "CPC Capacity": ("capacity_rating_msu_per_hour", str),
    "Change Reason": ("change_reason", str),
    "Boost Type": ("boost_type", str),
    "Boost Class": ("boost_class", str),
}
_OWN_PARTITION: dict[str, tuple[str, Printer]] = {
    "MVS Partition Name": ("partition_name", str),
    "Image Capacity": ("image_capacity_msu_per_hour", str),
    "Number of Configured Partitions": ("configured_partitions", str),
    "Wait Completion": ("wait_completion", _yes_no),
    "Dispatch Interval": ("dispatch_interval", str),
    "Group Name": ("capacity_group_name", str),
    "Group Limit": ("capacity_group_limit_msu", str),
    "Group Capacity Available": ("capacity_group_available_msu", str),
    "Initial Capping": ("initial_capping", _yes_no),
    "LPAR Hardware Capping": ("lpar_hardware_capping", _yes_no),
    "Hardware Group Capping": ("hardware_group_capping", _yes_no),
    "Absolute MSU Capping": ("absolute_msu_capping", _yes_no),
}
_PHYSICAL = {
    "General purpose processor (CP)": "physical_cps",
    "Application Assist Processor (zAAP)": "physical_zaaps",
    "Integrated Information Processor (zIIP)": "physical_ziips",
    "Internal Coupling Facility (ICF) processor": "physical_icfs",
    "Integrated Facility for Linux (IFL) processor": "physical_ifls",
    "Total": "physical_cpus",
}
Columns = Sequence[tuple[str, str, str, Printer]]
_CPUS: Columns = (
    ("CPU Number", "T", "cpu_id", "{:X}".format),
    ("CPU Type", "T", "cpu_type_name", str),
    ("Time% Online", "N", "online_pct", _two),
    ("Time% LPAR Busy", "N", "lpar_busy_pct", _two),
    ("Time% MVS Busy", "N", "mvs_busy_pct", _two),
    ("Time% Parked", "N", "parked_pct", _two),
)
_MULTITHREADING: Columns = (
    ("MT% PROD", "N", "mt_productivity_pct", _two),
    ("MT% UTIL", "N", "mt_utilisation_pct", _two),
)
_CPUS_GO_ON: Columns = (
    ("LOG PROC Share%", "N", "share_pct", _one),
    ("HiperDispatch Priority", "T", "priority", str),
    ("I/O Interrupts Rate", "N", "io_interrupt_rate", _two),
    ("I/O Interrupts% via TPI", "N", "tpi_pct", _two),
)
_PARTITIONS: Columns = (
    ("Partition Name", "T", "partition_name", str),
    ("Partition Status", "T", "partition_status", str.capitalize),
    ("Boost Type", "T", "boost_type", str),
    ("Partition Weight", "N", "weight", str),
    ("MSU Defined", "N", "defined_capacity_msu", str),
    ("MSU Actual", "N", "actual_msu_per_hour", str),
    ("Capping Defined", "T", "capping", str),
    ("Capping WLM%", "N", "wlm_capping_pct", _one),
    ("Num of LOG PROCs", "N", "logical_cpus", _count),
    ("PROC Type", "T", "cpu_type_name", str),
    ("Effective Dispatch Time", "T", "effective_ms", _SPAN),
    ("Total Dispatch Time", "T", "dispatch_ms", _SPAN),
    ("Avg Util%: LOG PROC Effective", "N", "logical_effective_pct", _two),
    ("Avg Util%: LOG PROC Total", "N", "logical_total_pct", _two),
    ("Avg Util%: PHYS PROC LPAR MGMT", "N", "physical_management_pct", _two),
    ("Avg Util%: PHYS PROC Effective", "N", "physical_effective_pct", _two),
    ("Avg Util%: PHYS PROC Total", "N", "physical_total_pct", _two),
)


def rmf_xml(
    intervals: Iterable[Row],
    cpus: Iterable[Row] = (),
    partitions: Iterable[Row] = (),
    crypto: Iterable[Row] = (),
    *,
    on_few_lines: bool = False,
    log: Sequence[tuple[str, str]] = OPTIONS_IN_EFFECT,
) -> str:
    """Return a document with the reports of these intervals, indented or with 250 characters in a line.

    The other rows belong to the interval of their system and start. Without partitions the report has no
    segment for them, as on a system without PR/SM.
    """
    of_cpus, of_partitions, of_crypto = by_interval(cpus), by_interval(partitions), by_interval(crypto)
    content: list[str] = []
    for interval in intervals:
        key = interval["system"], interval["interval_start_local"]
        content += _cpu_report(interval, of_cpus.get(key, []), of_partitions.get(key, []))
        if key in of_crypto:
            content += _crypto_report(interval, of_crypto[key])
    if log:
        messages = [line for name, text in log for line in leaf("mfpmsg", text, id=name)]
        content += inside("rmf-mfpmsg", messages)
    return document(content, on_few_lines=on_few_lines)


def message_xml(name: str, description: str, severity: int) -> str:
    """Return a document in which the data server explains why there are no data."""
    content = [*leaf("description", description), *leaf("severity", str(severity))]
    return document(inside("postprocessor", inside("message", content, id=name)))


def monitor_three_xml() -> str:
    """Return a similar document with a Monitor III report."""
    report = [*leaf("metric", "CPC capacity", id="8D1110"), *leaf("resource", "SYSA")]
    return document(inside("report", report))


def document(content: list[str], *, on_few_lines: bool = False) -> str:
    """Return a document with these elements."""
    server = inside("server", [line for name, text in _SERVER.items() for line in leaf(name, text)])
    lines = inside("ddsml", [*server, *content], **_SCHEMA)
    return "\n".join([_DECLARATION, _STYLE, *(packed(lines) if on_few_lines else lines), ""])


def _cpu_report(interval: Row, cpus: Sequence[Row], partitions: Sequence[Row]) -> list[str]:
    ids = XmlIds()
    content = _about(interval, "CPU", "CPU Activity Report")
    threads = any(row.get("mt_productivity_pct") is not None for row in cpus)
    columns = (*_CPUS, *(_MULTITHREADING if threads else ()), *_CPUS_GO_ON)
    table = XmlTable(
        [(heading, kind) for heading, kind, _, _ in columns],
        [(_cpu_cells(row, columns), row["row_kind"] == "total") for row in cpus],
    )
    content += ids.segment("CPU Activity", lambda: [ids.part("", _variables(interval, _MACHINE), table)])
    if partitions:
        content += ids.segment("Partition Data Report", lambda: _partition_parts(ids, interval, partitions))
    return inside("postprocessor", content)


def _partition_parts(ids: XmlIds, interval: Row, partitions: Sequence[Row]) -> Iterator[list[str]]:
    yield ids.part("", _variables(interval, _OWN_PARTITION))
    counts = [
        ([name, str(interval[column])], name == "Total")
        for name, column in _PHYSICAL.items()
        if interval.get(column) is not None
    ]
    yield ids.part("Number of Physical Processors", table=XmlTable([("Type", "T"), ("Number", "N")], counts))
    rows = [(_partition_cells(row), row["row_kind"] == "total") for row in partitions]
    headings = [(heading, kind) for heading, kind, _, _ in _PARTITIONS]
    yield ids.part("Partition Data", table=XmlTable(headings, rows))


def _crypto_report(interval: Row, crypto: Sequence[Row]) -> list[str]:
    ids = XmlIds()
    content = _about(interval, "CRYPTO", "Crypto Hardware Activity Report")
    for title, table in crypto_tables(crypto):
        content += ids.segment(title, partial(_table_parts, ids, table))
    return inside("postprocessor", content)


def _table_parts(ids: XmlIds, table: XmlTable) -> list[list[str]]:
    return [ids.part("", table=table)]


def _about(interval: Row, metric: str, description: str) -> list[str]:
    content = [*leaf("description", description), *leaf("type", "Interval")]
    levels = {"smf-data": interval.get("zos_level"), "rmf-report": interval.get("report_level")}
    level = [line for name, text in levels.items() if text for line in leaf(name, f"z/OS {text}")]
    resource = [*leaf("resname", interval["system"]), *leaf("restype", "SYSTEM")]
    return [
        *inside("metric", content, id=metric),
        *inside("version", level),
        *inside("resource", resource),
        *inside("time-data", report_times(interval)),
    ]


def report_times(interval: Row) -> list[str]:
    """Return the elements with the times of an interval."""
    times: list[str] = []
    for name, column in (("display-start", "interval_start_local"), ("display-end", "interval_end_local")):
        if (moment := interval.get(column)) is not None:
            times += leaf(name, _moment(moment), locale="en-us")
    minutes, rest = divmod(interval["interval_ms"], 60_000)
    length = f"{minutes:02}:{rest // 1000:02}:{rest % 1000:03}"
    times += leaf("report-interval", length, unit="minutes")
    if (cycle := interval.get("cycle_length_ms")) is not None:
        times += leaf("cycle", str(cycle), unit="milliseconds")
    return times


def _moment(moment: datetime) -> str:
    return f"{moment:%m/%d/%Y-%H.%M.%S}"


def _variables(interval: Row, labels: Mapping[str, tuple[str, Printer]]) -> dict[str, str]:
    changed = (interval.get("changed_labels") or "").split(",")
    content = {}
    for label, (column, printer) in labels.items():
        value = interval.get(column)
        mark = "*" if label.upper() in changed else ""
        content[label] = "N/A" if value is None else printer(value) + mark
    return content


def _cpu_cells(row: Row, columns: Columns) -> list[str]:
    cells = _cells(row, columns)
    if row["row_kind"] == "total":
        cells[0] = "TOTAL/AVERAGE"
    elif row["row_kind"] == "thread":
        cells[:2] = ["", ""]
    return cells


def _partition_cells(row: Row) -> list[str]:
    cells = _cells(row, _PARTITIONS)
    if row.get("dedicated"):
        cells[3] = "DED"
    return cells


def _cells(row: Row, columns: Columns) -> list[str]:
    return ["" if row.get(column) is None else printer(row[column]) for _, _, column, printer in columns]
