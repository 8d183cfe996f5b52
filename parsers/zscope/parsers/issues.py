"""Issues: what readers could not read or had to correct, with the place as attributes.

Readers never skip anything silently: they return what is valid and report the rest as issues. Programs can
filter by the attributes of an issue, and its text is for people.
"""

from __future__ import annotations

import traceback
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from html import escape
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from zscope.parsers.notebook_html import html_table
from zscope.schemas.described_columns import described
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "EACH_KIND", "ISSUE_SCHEMA", "Code", "EmptyInputError", "InputError", "Issue", "Issues", "Mark",
    "Severity", "failures_as_issues", "unexpected_errors",
]  # fmt: skip


class Severity(IntEnum):
    """The severity of an issue; the highest of a run determines the exit code."""

    NOTE = 0
    """For information; no data are lost."""
    WARNING = 1
    """Some data could not be decoded; everything else was."""
    REFUSED = 2
    """The input could not be used at all."""


class Code(StrEnum):
    """The causes of issues."""

    EMPTY = "empty"
    UNREADABLE = "unreadable"
    RDW_STRIPPED = "rdw-stripped"
    TEXT_MODE = "text-mode"
    LINE_ENDS = "line-ends"
    READER_FAILED = "reader-failed"
    XMIT = "xmit"
    MONITOR_III = "monitor-iii"
    TERSE_FOREIGN = "terse-foreign"
    PACKING_UNREAD = "packing-unread"
    UNKNOWN_DATA = "unknown-data"
    ARCHIVE_DAMAGED = "archive-damaged"
    UNPACK_LIMIT = "unpack-limit"
    FRAMING_WRONG = "framing-wrong"
    EXCLUSIVE_LENGTHS = "exclusive-lengths"
    TRUNCATED = "truncated"
    DAMAGED_RANGE = "damaged-range"
    ZERO_PADDING = "zero-padding"
    SEGMENT_ORDER = "segment-order"
    RECORD_TOO_LONG = "record-too-long"
    RECORD_TOO_SHORT = "record-too-short"
    EXTENDED_HEADER = "extended-header"
    TRAILER_MISSING = "trailer-missing"
    TRIPLETS_OUTSIDE = "triplets-outside"
    SECTION_OUTSIDE = "section-outside"
    SECTION_COUNT = "section-count"
    SECTION_EMPTY = "section-empty"
    SECTION_REPEATED = "section-repeated"
    SECTION_LONGER = "section-longer"
    SECTION_SHORTER = "section-shorter"
    ENTRY_LENGTH = "entry-length"
    BAD_DATE = "bad-date"
    BAD_TIME = "bad-time"
    BAD_PACKED = "bad-packed"
    BAD_SIZE = "bad-size"
    BAD_CERT_TIME = "bad-cert-time"
    NO_REPORT = "no-report"
    NOT_AN_INPUT = "not-an-input"
    BENCHMARK_RUNS = "benchmark-runs"
    ZVM_NETSTAT = "zvm-netstat"
    XML_DAMAGED = "xml-damaged"
    RMF_MESSAGE = "rmf-message"
    OTHER_REPORT = "other-report"
    REPORT_UNREADABLE = "report-unreadable"
    REPORT_CUT = "report-cut"
    LINE_END_MISSING = "line-end-missing"
    REPORT_REPEATED = "report-repeated"
    UNKNOWN_LINE = "unknown-line"
    UNKNOWN_COLUMN = "unknown-column"
    BAD_VALUE = "bad-value"
    UNUSED_STATEMENT = "unused-statement"
    NO_DATE = "no-date"
    HEADING_MISSING = "heading-missing"
    COUNT_DIFFERS = "count-differs"
    ARITHMETIC = "arithmetic"
    COUNTERS_RESET = "counters-reset"
    AMBIGUOUS_TIME = "ambiguous-time"
    CLOCK_DIFFERS = "clock-differs"
    IMPOSSIBLE_TIME = "impossible-time"
    INTERVAL_CONFLICT = "interval-conflict"
    OUT_OF_RANGE = "out-of-range"
    NO_TIME_ZONE = "no-time-zone"
    ZONE_CONFLICT = "zone-conflict"
    SHARED_PATH = "shared-path"
    SAME_SMFID = "same-smfid"
    LOCAL_IN_UTC = "local-in-utc"


NOTES = frozenset(
    {
        Code.ZERO_PADDING,
        Code.SECTION_LONGER,
        Code.SECTION_SHORTER,
        Code.EXCLUSIVE_LENGTHS,
        Code.TRAILER_MISSING,
        Code.NOT_AN_INPUT,
        Code.BENCHMARK_RUNS,
        Code.OTHER_REPORT,
        Code.NO_DATE,
        Code.HEADING_MISSING,
        Code.LINE_END_MISSING,
        Code.UNUSED_STATEMENT,
        Code.COUNTERS_RESET,
        Code.AMBIGUOUS_TIME,
        Code.NO_TIME_ZONE,
        Code.SHARED_PATH,
        Code.LOCAL_IN_UTC,
    }
)
"""Causes that lose no data."""
REFUSALS = frozenset(
    {
        Code.EMPTY,
        Code.UNREADABLE,
        Code.RDW_STRIPPED,
        Code.TEXT_MODE,
        Code.LINE_ENDS,
        Code.READER_FAILED,
        Code.XMIT,
        Code.MONITOR_III,
        Code.TERSE_FOREIGN,
        Code.PACKING_UNREAD,
        Code.UNKNOWN_DATA,
        Code.UNPACK_LIMIT,
        Code.FRAMING_WRONG,
        Code.NO_REPORT,
        Code.ZVM_NETSTAT,
    }
)
"""Causes for which an input cannot be used at all."""


def severity_of(code: Code) -> Severity:
    """Return the severity of a cause.

    >>> severity_of(Code.EMPTY).name, severity_of(Code.NO_DATE).name, severity_of(Code.BAD_DATE).name
    ('REFUSED', 'NOTE', 'WARNING')
    """
    if code in REFUSALS:
        return Severity.REFUSED
    return Severity.NOTE if code in NOTES else Severity.WARNING


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem in the data, with its place."""

    code: Code
    text: str
    file: str = ""
    record_no: int | None = None
    offset: int | None = None
    """First byte affected, in the file after unpacking."""
    end: int | None = None
    """First byte after the affected range."""
    section: str = ""
    field: str = ""
    table: str = ""
    line_no: int | None = None
    """Line of a text, counted from 1."""
    column_no: int | None = None
    """Character in that line, counted from 1."""

    @property
    def severity(self) -> Severity:
        """The severity of the cause."""
        return severity_of(self.code)

    def place(self) -> str:
        """Return the place as text.

        >>> Issue(Code.BAD_DATE, "", file="a.smf", record_no=3, offset=100, field="SMFxDTE").place()
        'a.smf, record 3, byte 100, field SMFxDTE'
        """
        parts = [self.file] if self.file else []
        if self.record_no is not None:
            parts.append(f"record {self.record_no}")
        if self.offset is not None:
            parts.append(f"byte {self.offset}" if self.end is None else f"bytes {self.offset} to {self.end}")
        if self.line_no is not None:
            parts.append(f"line {self.line_no}")
        if self.column_no is not None:
            parts.append(f"column {self.column_no}")
        if self.section:
            parts.append(f"section {self.section}")
        if self.field:
            parts.append(f"field {self.field}")
        return ", ".join(parts)

    def to_row(self) -> dict[str, object]:
        """Return the issue as a row of the issue table."""
        return {
            "file": self.file,
            "record_no": self.record_no,
            "byte_offset": self.offset,
            "byte_end": self.end,
            "line_no": self.line_no,
            "column_no": self.column_no,
            "section": self.section or None,
            "field": self.field or None,
            "severity": self.severity.name.lower(),
            "code": self.code.value,
            "text": self.text,
        }

    def __str__(self) -> str:
        place = self.place()
        return f"{place}: {self.text} [{self.code}]" if place else f"{self.text} [{self.code}]"


class InputError(Error):
    """An input that cannot be used; the issue has the file, the reason and the remedy."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(str(issue))
        self.issue = issue


class EmptyInputError(Error):
    """Not one byte of a file could be read; its stream has reported this as an issue."""


@contextmanager
def unexpected_errors(file: str) -> Iterator[None]:
    """Turn an exception that no reader expects into an `InputError`, so that it ends one file only.

    Errors of the operating system pass: they are about the store or the output, and not about the file.
    """
    try:
        yield
    except (InputError, EmptyInputError, OSError):
        raise
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # as DuckDB reports it
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        text = f"zscope failed while reading the file ({problem}); this is a defect in zscope: report it"
        raise InputError(Issue(Code.READER_FAILED, text, file)) from error


@contextmanager
def failures_as_issues(file: str, issues: Issues) -> Iterator[None]:
    """Add an exception that no reader expects to the issues, so that the next file can be read."""
    try:
        with unexpected_errors(file):
            yield
    except InputError as error:
        if error.issue.code is not Code.READER_FAILED:
            raise
        issues.add(error.issue)


EACH_KIND = 1000
"""Number of issues of one code, section and field in a file that are stored; further ones are counted."""


_SHOWN = 10
"""Issues that notebooks list; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of a collection of issues at one time, for `Issues.since`."""

    stored: int
    counts: Counter[tuple[str, Code, str, str]]


class Issues:
    """Collects issues from all threads, and stores only a limited number of each kind.

    A strict collection raises the first issue that is more than a note, as an `InputError`.
    """

    def __init__(self, each_kind: int = EACH_KIND, *, strict: bool = False) -> None:
        self._stored: dict[Issue, None] = {}
        self._counts: Counter[tuple[str, Code, str, str]] = Counter()
        self._once: dict[tuple[str, Code, str, str], tuple[int, Issue]] = {}
        """The only issues of their kind, with their rank."""
        self._each_kind = each_kind
        self._strict = strict
        self._lock = Lock()

    def add(self, issue: Issue, times: int = 1) -> None:
        """Add an issue; with `times` it also counts further issues of the same kind.

        An issue that was added before is ignored: two tables can be decoded from the same bytes.
        """
        if self._strict and issue.severity > Severity.NOTE:
            raise InputError(issue)
        key = (issue.file, issue.code, issue.section, issue.field)
        with self._lock:
            if times == 1 and issue in self._stored:
                return
            if self._counts[key] < self._each_kind:
                self._stored[issue] = None
            self._counts[key] += times

    def add_once(self, issue: Issue, rank: int = 0) -> None:
        """Add an issue that is the only one of its kind: one note per file, not per record.

        Of several, the first with the highest rank remains, in whatever parts the file is decoded.
        """
        key = (issue.file, issue.code, issue.section, issue.field)
        with self._lock:
            known = self._once.get(key)
            if known is not None and known[0] >= rank:
                return
            self._once[key] = rank, issue
            if known is not None and self._stored.pop(known[1], self) is None:
                self._counts[key] -= 1
        self.add(issue)

    def extend(self, others: Issues) -> None:
        """Add the issues of another collection, with those that it only counted.

        If both have stored the same issue, a file was read twice. Further issues of its kind, which are only
        counted, are then the same ones too as far as their numbers agree.
        """
        stored = _by_kind(others._stored)
        again = _by_kind(issue for issue in others._stored if issue in self._stored)
        before = {
            kind: self._counts[kind]
            for kind in again
            if others._counts[kind] > stored[kind] or self._counts[kind] >= self._each_kind
        }
        for issue in others._stored:
            rank, once = others._once.get((issue.file, issue.code, issue.section, issue.field), (0, None))
            if issue == once:
                self.add_once(issue, rank)
            else:
                self.add(issue)
        with self._lock:
            self._counts += others._counts - stored
            for kind, count in before.items():
                self._counts[kind] = max(count, others._counts[kind])

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _lock=Lock())

    def mark(self) -> Mark:
        """Return the current state, for `since`."""
        return Mark(len(self._stored), self._counts.copy())

    def since(self, mark: Mark) -> Issues:
        """Return the issues added after a mark."""
        later = Issues(self._each_kind, strict=self._strict)
        later._stored = dict.fromkeys(islice(self._stored, mark.stored, None))
        later._counts = self._counts - mark.counts
        later._once = {key: once for key, once in self._once.items() if once[1] in later._stored}
        return later

    def room(self, issue: Issue) -> bool:
        """Return whether another issue of this kind would be stored and not only counted."""
        return self._counts[issue.file, issue.code, issue.section, issue.field] < self._each_kind

    @property
    def worst(self) -> Severity | None:
        """The highest severity so far; None without issues."""
        return max((i.severity for i in self._stored), default=None)

    def counts(self) -> Counter[Code]:
        """Return how often each code occurred, including issues that were only counted."""
        totals: Counter[Code] = Counter()
        for (_, code, _, _), count in self._counts.items():
            totals[code] += count
        return totals

    def __iter__(self) -> Iterator[Issue]:
        """Return the stored issues by place, and a summary for each kind with further issues."""
        yield from sorted(
            self._stored, key=lambda i: (i.file, i.record_no or 0, i.line_no or 0, i.offset or 0)
        )
        stored = _by_kind(self._stored)
        last = {(i.file, i.code, i.section, i.field): i for i in self._stored}
        for key, count in self._counts.items():
            if count > stored[key]:
                more = f"{count - stored[key]:,} more like this are counted but not listed"
                yield replace(
                    last[key], text=more, record_no=None, offset=None, end=None, line_no=None, column_no=None
                )

    def __len__(self) -> int:
        return self._counts.total()

    def to_arrow(self) -> pa.Table:
        """Return the issues as a table."""
        return pa.Table.from_pylist([issue.to_row() for issue in self], schema=ISSUE_SCHEMA)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the issues as an Arrow stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """Return the first issues as a table, for notebooks."""
        first = list(islice(self, _SHOWN))
        rows = [(issue.severity.name.lower(), issue.code.value, issue.place(), issue.text) for issue in first]
        listed = html_table(("severity", "code", "place", "text"), rows) if rows else ""
        more = len(self) - len(first)
        rest = f"<p>and {more:,} more</p>" if more > 0 else ""
        return f"<p>{escape(repr(self))}</p>{listed}{rest}"

    def __repr__(self) -> str:
        """Return how often each code occurred.

        >>> issues = Issues()
        >>> issues.add(Issue(Code.BAD_DATE, "", "a.smf", 3))
        >>> issues
        1 issue (bad-date)
        """
        codes = [
            f"{count:,} {code}" if count > 1 else f"{code}" for code, count in self.counts().most_common()
        ]
        number = "1 issue" if len(self) == 1 else f"{len(self):,} issues"
        return f"{number} ({', '.join(codes)})" if codes else "no issues"


def _by_kind(issues: Iterable[Issue]) -> Counter[tuple[str, Code, str, str]]:
    return Counter((issue.file, issue.code, issue.section, issue.field) for issue in issues)


ISSUE_SCHEMA = pa.schema(
    [
        described("file", pa.string(), "Path of the file, with the member of an archive."),
        described("record_no", pa.uint64(), "Number of the record in the file, from 1."),
        described("byte_offset", pa.uint64(), "Place of the first byte."),
        described("byte_end", pa.uint64(), "Place after the last byte."),
        described("line_no", pa.uint64(), "Number of the line in a text, from 1."),
        described("column_no", pa.uint32(), "Number of the first character in the line, from 1."),
        described("section", pa.string(), "Section of the record, or part of the report."),
        described("field", pa.string(), "Name of the field in the documentation of IBM."),
        described("severity", pa.string(), "How much it matters: note, warning or refused."),
        described("code", pa.string(), "Kind of issue."),
        described("text", pa.string(), "What is wrong, in words."),
    ]
)
