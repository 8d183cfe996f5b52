"""The entries of `make fuzz`: seed inputs and a check for each reader and parser.

The input of a reader is inserted between two valid parts of a file. The check reads the file and fails if an
undeclared error is raised, or if a row of a valid part is missing and no issue covers it. Entries without
rows, such as settings, fail only by an undeclared error.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from unittest.mock import patch
from urllib.parse import parse_qs

from tests.dumps import sample_records

from zscope.app.cli.nightly.document import example_settings
from zscope.app.cli.nightly.settings_file import read_nightly_settings
from zscope.parsers import Code, InputError, Issue, ReadOptions, Severity, read
from zscope.parsers.containers.terse_write import pack
from zscope.parsers.options import SelectionError, parse
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.record_writer import as_blocks, as_segments
from zscope.parsers.zones import zone_of
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.runs.read import parse_runs
from zscope.pipelines.settings import Settings, read_settings
from zscope.pipelines.written_days import parse_day
from zscope.schemas.errors import SettingsError
from zscope.schemas.tables import RECORD_TABLE

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data"
LIMITS = "bytes=64MB,seconds=20"
"""So that a packed input cannot take the time of all others."""
OPTIONS = ReadOptions(unpack_limits=LIMITS, jobs=1)
_OF_OTHERS = {
    *("file", "line_no", "record_no", "record_offset"),
    *("extra", "taken_local", "taken_time", "time_from", "system_from"),
    *("sample_no", "since_start_us", "series", "reset_since_previous"),
}
"""Columns that depend on what else is in a file."""

Row = tuple[tuple[str, str], ...]


class SilentLossError(AssertionError):
    """A row of a valid part is missing, and no issue covers it."""


@cache
def folder() -> Path:
    """Return a folder for the files that are read; it is in memory where the system has such a folder."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="zscope-fuzz-", dir=memory if memory.is_dir() else None))


def rows_of(
    name: str, content: bytes, tables: tuple[str, ...], options: ReadOptions
) -> tuple[Counter[tuple[str, Row]], list[Issue]]:
    """Return the rows of a file with this content, and its issues; a refused file has one issue."""
    path = folder() / name
    path.write_bytes(content)
    try:
        result = read(path, tables, options=options)
    except InputError as error:
        return Counter(), [error.issue]
    rows = Counter(
        (table, tuple((key, repr(value)) for key, value in row.items() if key not in _OF_OTHERS))
        for table in tables
        for row in result[table].to_pylist()
    )
    return rows, list(result.issues)


def issues_of(name: str, content: bytes, options: ReadOptions) -> list[Issue]:
    """Return the issues of a file with this content, about all tables."""
    path = folder() / name
    path.write_bytes(content)
    try:
        return list(read(path, None, options=options).issues)
    except InputError as error:
        return [error.issue]


@dataclass(frozen=True)
class Between:
    """An entry whose inputs are inserted between two valid parts of a file."""

    name: str
    """File name, which can say something about the content."""
    before: bytes
    after: bytes
    tables: tuple[str, ...]
    seeds: tuple[bytes, ...]
    options: ReadOptions = OPTIONS
    heading: bytes = b""
    """What the second good part needs in front of it to be read alone."""
    ending: bytes = b""
    """What the first good part needs after it to be read alone."""
    begins: bytes = b""
    """How the first line of a report begins, as a regular expression. The reports next to the damage can be
    damaged by it, as it can continue the one before it and end in the heading of the one after it: their rows
    are covered by an issue in the damage. So each good part has several reports.
    """

    @property
    def after_next(self) -> bytes:
        """The second good part without its first report."""
        return self.after[self._starts(self.after)[1] :] if self.begins else self.after

    @property
    def before_last(self) -> bytes:
        """The first good part without its last report."""
        return self.before[: self._starts(self.before)[-1]] if self.begins else self.before

    def _starts(self, part: bytes) -> list[int]:
        return [match.start() for match in re.finditer(self.begins, part, re.MULTILINE)]

    @cached_property
    def good(self) -> tuple[Counter[tuple[str, Row]], Counter[tuple[str, Row]]]:
        """The rows of each of the good parts, read alone."""
        parts = []
        for part in (self.before + self.ending, self.heading + self.after):
            rows, issues = rows_of(self.name, part, self.tables, self.options)
            assert rows, f"{self.name}: a good part has no rows"
            assert all(issue.severity is Severity.NOTE for issue in issues), issues
            parts.append(rows)
        return parts[0], parts[1]

    def check(self, damage: bytes) -> None:
        """Read the file with the damage."""
        content = self.before + damage + self.after
        rows, issues = rows_of(self.name, content, self.tables, self.options)
        try:
            self._check(content, damage, rows, issues)
        except SilentLossError:
            # The damage can be a heading of another report, whose issues are about other tables.
            self._check(content, damage, rows, issues_of(self.name, content, self.options))

    def _check(
        self, content: bytes, damage: bytes, rows: Counter[tuple[str, Row]], issues: list[Issue]
    ) -> None:
        before, after = self.good
        missing_before, missing_after = before - rows, after - (rows - before)
        near_before = self.before[len(self.before_last) :]
        near_after = self.after[: len(self.after) - len(self.after_next)]
        damaged = any(
            _is_about(issue, self.before_last, near_before + damage + near_after) for issue in issues
        )
        self._compare(missing_before, b"", self.before_last, issues, near=damaged)
        if missing_after and self._is_inside_record(content, len(self.before) + len(damage)):
            return
        in_front = self.before + damage + near_after
        self._compare(missing_after, in_front, self.after_next, issues, near=damaged)

    def _is_inside_record(self, content: bytes, place: int) -> bool:
        """Tell whether a record of a dump begins before a place and ends after it.

        Damage can be a length word that makes the records after it the data of one longer record.
        """
        if RECORD_TABLE not in self.tables:
            return False
        path = folder() / self.name
        path.write_bytes(content)
        records = read(path, [RECORD_TABLE], options=self.options)[RECORD_TABLE]
        extents = records.select(["record_offset", "record_length"]).to_pylist()
        return any(
            each["record_offset"] < place < each["record_offset"] + each["record_length"] for each in extents
        )

    def _compare(
        self,
        missing: Counter[tuple[str, Row]],
        in_front: bytes,
        part: bytes,
        issues: list[Issue],
        *,
        near: bool,
    ) -> None:
        """Raise an error if rows of a part, or near the damage, are missing and no issue covers them."""
        firm = missing
        if missing and self.begins:
            alone = self.heading + part if in_front else part + self.ending
            firm = missing & rows_of(self.name, alone, self.tables, self.options)[0]
        if missing - firm and not near:
            raise SilentLossError(f"rows next to the damage: {sorted(missing - firm)[:2]}")
        if firm and not any(_is_about(issue, in_front, part) for issue in issues):
            where = "after" if in_front else "before"
            raise SilentLossError(f"rows {where} the damage: {sorted(firm)[:2]}")


def _is_about(issue: Issue, in_front: bytes, part: bytes) -> bool:
    """Tell whether an issue is about a part of a file, or does not say where it is."""
    if issue.severity is Severity.NOTE:
        return False
    if issue.code is Code.REPORT_REPEATED:
        return True  # the later of two is used, so it is about both
    if issue.line_no is not None:
        first = 1 + _line_ends(in_front)
        return first <= issue.line_no <= first + _line_ends(part)
    if issue.offset is None:
        return True
    end = len(in_front) + len(part)
    return issue.offset < end and (end if issue.end is None else issue.end) > len(in_front)


def _line_ends(content: bytes) -> int:
    return len(re.findall(rb"\r\n|\r|\n", content))


@dataclass(frozen=True)
class Packed:
    """An entry whose inputs are whole packed files.

    With a check sum in the container, a change that no issue reports must leave all rows as they are.
    """

    name: str
    content: bytes
    """The good file."""
    tables: tuple[str, ...]
    has_checksum: bool

    @property
    def seeds(self) -> tuple[bytes, ...]:
        """The good file, and its first half."""
        return self.content, self.content[: len(self.content) // 2]

    @cached_property
    def good(self) -> Counter[tuple[str, Row]]:
        """The rows of the good file."""
        return rows_of(self.name, self.content, self.tables, OPTIONS)[0]

    def check(self, content: bytes) -> None:
        """Read the packed file."""
        rows, issues = rows_of(self.name, content, self.tables, OPTIONS)
        is_of_good = content[:2] == self.content[:2] and len(content) == len(self.content)
        if self.has_checksum and is_of_good and not issues and rows and self.good - rows:
            raise SilentLossError(f"{sum((self.good - rows).values())} rows")


@dataclass(frozen=True)
class Text:
    """An entry whose inputs are texts that people write."""

    parse: Callable[[str], object]
    declared: tuple[type[Exception], ...]
    """The errors that an input may raise."""
    seeds: tuple[bytes, ...]

    def check(self, content: bytes) -> None:
        """Parse the text."""
        with suppress(*self.declared):
            self.parse(content.decode("utf-8", "surrogateescape"))


Entry = Between | Packed | Text


def sample(name: str) -> bytes:
    """Return a file of the sample data."""
    content = (SAMPLE / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


SMF_TABLES = ("smf119_tcp_term", "smf119_zert_detail", "smf70_cpu", RECORD_TABLE)


def smf() -> Between:
    """Records between records."""
    good = [*sample_records()[119, 2], *sample_records()[119, 11]]
    seeds = tuple(record for found in sample_records().values() for record in found[:1])
    return Between("dump.smf", b"".join(good), b"".join(reversed(good)), SMF_TABLES, seeds)


def smf_blocks() -> Between:
    """Blocks with spanned records between such blocks."""
    good = [*sample_records()[119, 2], *sample_records()[119, 11]]
    before, after = (b"".join(as_blocks(some, 700, spanned=True)) for some in (good, good[::-1]))
    some = [found[0] for found in islice(sample_records().values(), 8)]
    seeds: tuple[bytes, ...] = (b"".join(as_blocks(some, 2000)), b"".join(as_blocks(some, 500, spanned=True)))
    seeds += (b"".join(as_segments(some, 300)),)
    return Between("dump.smf", before, after, SMF_TABLES, seeds, replace(OPTIONS, framing=Framing.BLOCKS))


def lines_of(name: str, first: int = 0, count: int = 10_000) -> bytes:
    """Return some lines of a file of the sample data."""
    return b"".join(sample(name).splitlines(keepends=True)[first : first + count])


def replies(name: str, first: int, last: int | None = None) -> bytes:
    """Return the replies in a log from one command of SYSA to another, or to the end."""
    lines = sample(name).splitlines(keepends=True)
    commands = [at for at, line in enumerate(lines) if line.startswith(b"NC0000000 SYSA")]
    return b"".join(lines[commands[first] : None if last is None else commands[last]])


def reports(
    name: str,
    begins: bytes,
    before: bytes,
    after: bytes,
    tables: tuple[str, ...],
    options: ReadOptions = OPTIONS,
) -> Between:
    """Text between reports, which are different: a report that is repeated has no rows of its own."""
    seeds = [
        b"".join(lines[at : at + 40])
        for lines in (before.splitlines(keepends=True), after.splitlines(keepends=True))
        for at in range(0, min(len(lines), 160), 40)
    ]
    return Between(name, before + b"\n", b"\n" + after, tables, tuple(seeds), options, begins=begins)


def rows_of_csv(name: str, file: str, table: str) -> Between:
    """Lines between the lines of a table."""
    comment, names, *lines = sample(file).splitlines(keepends=True)
    heading = comment + names
    return Between(
        name, heading + b"".join(lines[:5]), b"\n" + b"".join(lines[5:10]), (table,), (lines[0], lines[3]),
        heading=heading,
    )  # fmt: skip


def rmf_xml() -> Between:
    """XML between intervals of an RMF report."""
    intervals = sample("reports/rmf-cpu.SYSA.xml").split(b"    <postprocessor>\n")
    heading, ending = intervals[0], b"</ddsml>\n"
    before, after = (
        b"".join(b"    <postprocessor>\n" + each for each in some)
        for some in (intervals[1:3], intervals[3:5])
    )
    lines = intervals[5].splitlines(keepends=True)
    seeds = [b"".join(lines[at : at + 40]) for at in range(0, 160, 40)]
    return Between(
        "rmf.SYSA.xml", heading + before, after + ending, ("rmf_interval", "rmf_cpu", "rmf_partition"),
        tuple(seeds), heading=heading, ending=ending, begins=rb"^    <postprocessor>",
    )  # fmt: skip


def mq_json() -> Between:
    """Text between the objects of a file that the MQ formatter writes."""
    objects = sample("systems/mq/formatter/SMF-MQSMF.json").split(b"}\n")
    before, after = (b"".join(each + b"}\n" for each in some) for some in (objects[:6], objects[6:12]))
    return Between(
        "SMF-MQSMF.json", before, after, ("mq_task",),
        tuple(each + b"}\n" for each in objects[12:16]), begins=rb"^\{",
    )  # fmt: skip


def packed(name: str) -> Packed:
    """A small dump in a container."""
    dump = b"".join([*sample_records()[119, 2], *sample_records()[119, 11]])
    if name == "gzip":
        content = gzip.compress(dump, mtime=0)
    elif name == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("dump.smf"), dump)
        content = buffer.getvalue()
    else:
        records_alone = [record[4:] for found in sample_records().values() for record in found[:1]]
        longest = max(map(len, records_alone))
        content = pack(records_alone, variable=True, record_length=longest, form="PACK")
    return Packed(f"dump.{name}", content, SMF_TABLES, has_checksum=name == "gzip")


def _settings(text: str) -> object:
    path = folder() / "zscope.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return read_settings(path)


_SETTINGS = (
    b'[systems.SYSA]\ntimezone = "Europe/Berlin"\n',
    b'[ingest]\ndefault_timezone = "+00:00"\nunpack_limits = "ratio=1000"\nlock_wait_s = 600\n',
    b'[store]\nreadable_by = "all"\nsummarise_from_rows = 1000\n[publish]\niceberg = true\n',
)


def _nightly(text: str) -> object:
    path = folder() / "nightly.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return read_nightly_settings(path)


def _toml_seeds(*paths: str) -> tuple[bytes, ...]:
    return tuple(block.encode() for path in paths for block in sample(path).decode().split("\n\n")[:12])


@cache
def _store() -> Path:
    """Return a store with the sample dump and reports."""
    store = folder() / "store"
    settings = Settings(summarise_from_rows=0).merge(["+01:00"])
    ingest(
        store,
        [SAMPLE / "smf-sample.bin", SAMPLE / "reports"],
        IngestOptions(selection=row_selection(None), settings=settings),
    )
    return store


def _draw(name: str) -> None:
    """The script that Streamlit runs."""
    from zscope.app.dashboard.shell import show

    show(name)


@cache
def _components() -> object:
    """Return the components of the installed packages, for which Streamlit searches before each page."""
    from streamlit.components.v2.manifest_scanner import scan_component_manifests

    return scan_component_manifests()


def _open_address(text: str) -> None:
    """Draw the page of an address such as `ciphers?system=SYSA` and raise the error that it shows."""
    # Imported here: Streamlit takes seconds to import, and no other entry needs it.
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import AppTest

    from zscope.app.dashboard.registry import registered_pages
    from zscope.app.shared.dashboard_server import STORE

    address = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    path, _, query = address.partition("?")
    pages = [page.name for page in registered_pages()]
    name = path if path in pages else pages[len(path) % len(pages)]
    page = AppTest.from_function(_draw, args=(name,), default_timeout=60)
    for key, values in parse_qs(query, keep_blank_values=True).items():
        page.query_params[key] = values
    os.environ[STORE] = str(_store())
    found = _components()
    with patch.object(manifest_scanner, "scan_component_manifests", lambda: found):
        page.run()
    if page.exception:
        raise AssertionError(page.exception[0].message)


_ADDRESSES = (
    b"overview?period=last+week&system=SYSA&role=server&overview_counted_by=records",
    b"ciphers?period=2026-03-02&period=2026-03-03&stack=TCPIP&port=443&job=WEBPROD&ciphers_measure=bytes",
    b"connections?connections_source=smf119_zert_detail&connections_key=SYSA~TCPIP~4382~2026-03-02T10:46:33.73Z",
    b"benchmark?benchmark_document=zos&benchmark_verdict=worse&flood_begin=2026-03-02",
    b"posture?posture_part=Practices&posture_by=Job+name&posture_severity=2",
    b"compare?compare_side=a&period=2026-03-02T00:00:00Z&period=2026-03-02T12:00Z",
    b"ranking?ranking_by=rule&ranking_of=%00%ff&job=%3Cb%3E%2A_%60%24%5B",
    b"workbench?workbench_seconds=1e400&tls_price_by=job&zvm_from=-1",
)

GSK_TABLES = ("gsk_cache_status", "gsk_crypto", "gsk_cache_stats")
ENTRIES: Mapping[str, Callable[[], Entry]] = {
    "smf": smf,
    "smf-blocks": smf_blocks,
    "gzip": lambda: packed("gzip"),
    "zip": lambda: packed("zip"),
    "terse": lambda: packed("trs"),
    "netstat": lambda: reports(
        "netstat.2026-03-02.txt",
        rb"^(MVS TCP/IP NETSTAT|ConnID)",
        sample("reports/netstat.SYSA.2026-03-02.txt"),
        sample("reports/netstat.SYSB.2026-03-02.txt"),
        ("netstat_conn", "netstat_ttls"),
        replace(OPTIONS, system="SYSA"),
    ),
    "syslog": lambda: reports(
        "syslog.txt",
        rb"^MR", replies("reports/syslog.txt", 0, 1), replies("reports/syslog.txt", 4), GSK_TABLES
    ),
    "rmf": lambda: reports(
        "rmf.SYSB.txt",
        rb"^1 ",
        lines_of("reports/rmf-cpu.SYSB.txt", 1, 72),
        lines_of("reports/rmf-cpu.SYSB.txt", 73, 72),
        ("rmf_interval", "rmf_cpu", "rmf_partition"),
    ),
    "attls-messages": lambda: reports(
        "syslogd.2026-03-15.log",
        rb"^", sample("world/logs/syslogd.SRV1.2026-03-15.log"),
        sample("world/logs/syslogd.SRV2.2026-03-15.log"), ("tls_message",),
    ),
    "attls-policy": lambda: reports(
        "policy.conf",
        rb"^TTLS", sample("world/policy/policy.CLI2.conf"), sample("world/policy/policy.SRV2.conf"),
        ("tls_rule", "tls_action"),
    ),
    "pasearch": lambda: reports(
        "pasearch.txt",
        rb"^policyRule", sample("world/policy/pasearch.CLI1.txt"), sample("world/policy/pasearch.SRV1.txt"),
        ("tls_rule", "tls_action"),
    ),
    "zvm": lambda: reports(
        "rscs.VMA1.2026-03-14.txt",
        rb"^1FCX", sample("systems/zvm/rscs-case-1.VMA1.2026-03-14.txt"),
        sample("systems/zvm/rscs-case-2A.VMA1.2026-03-14.txt"), ("zvm_user", "zvm_channel"),
    ),
    "csv": lambda: rows_of_csv("starts.TPF1.csv", "systems/ztpf/ztpf-starts-with.TPF1.csv", "ztpf_series"),
    "rmf-xml": rmf_xml,
    "mq-json": mq_json,
    "selection": lambda: Text(
        parse, (SelectionError,), (b"119(2,11:12),70", b"TYPE(119(2),70)", b"smf70_cpu[cpu_id, wait_us]")
    ),
    "zone": lambda: Text(zone_of, (ValueError,), (b"+01:00", b"Europe/Berlin", b"UTC", b"-05:30")),
    "day": lambda: Text(parse_day, (ValueError,), (b"2026-03-02", b"2026.061", b"2026061")),
    "settings": lambda: Text(_settings, (SettingsError,), _SETTINGS),
    "nightly-settings": lambda: Text(_nightly, (SettingsError,), (example_settings().encode(),)),
    "address": lambda: Text(_open_address, (), _ADDRESSES),
    "runs": lambda: Text(parse_runs, (), _toml_seeds("systems/runs.toml", "world/runs.toml")),
}  # fmt: skip
"""The entries by name."""
