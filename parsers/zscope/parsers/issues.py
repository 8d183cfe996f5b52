"""Everything that could not be read as it stands, with the place as attributes.

Readers never drop anything silently: they deliver what is good and describe the rest here. The text is
composed from the attributes, so a program can filter on them and a person can read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock

import pyarrow as pa

from zscope.parsers.issue_codes import Code, Severity, severity_of

__all__ = ["EACH_KIND", "ISSUE_SCHEMA", "Code", "InputError", "Issue", "Issues", "Mark", "Severity"]


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that was not as it should be, and where."""

    code: Code
    text: str
    file: str = ""
    record_no: int | None = None
    offset: int | None = None
    """First byte concerned, in the file after unpacking."""
    end: int | None = None
    """First byte behind the range concerned."""
    section: str = ""
    field: str = ""
    table: str = ""
    line_no: int | None = None
    """Line of a text, counted from 1."""
    column_no: int | None = None
    """Character in that line, counted from 1."""

    @property
    def severity(self) -> Severity:
        """How bad the cause is."""
        return severity_of(self.code)

    def place(self) -> str:
        """Where it is, as a person reads it.

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
        """By the columns of the table of issues."""
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


class InputError(Exception):
    """An input that cannot be used; the issue says which, why, and what to do about it."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(str(issue))
        self.issue = issue


EACH_KIND = 1000
"""So many issues of one code, section and field are kept one by one; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in the life of a collector."""

    kept: int
    counts: Counter[tuple[str, Code, str, str]]


class Issues:
    """Collects issues from all threads of one load and keeps a flood of one kind from filling memory."""

    def __init__(self, each_kind: int = EACH_KIND, *, strict: bool = False) -> None:
        self._kept: dict[Issue, None] = {}
        self._counts: Counter[tuple[str, Code, str, str]] = Counter()
        self._once: set[tuple[str, Code, str, str]] = set()
        self._each_kind = each_kind
        self._strict = strict
        self._lock = Lock()

    def add(self, issue: Issue, times: int = 1) -> None:
        """Take one issue; `times` counts further ones of the same kind that are not told one by one.

        One that is known already, because two tables are made from the same bytes, is not taken again.
        A strict collector raises the first that is more than a note.
        """
        if self._strict and issue.severity > Severity.NOTE:
            raise InputError(issue)
        key = (issue.file, issue.code, issue.section, issue.field)
        with self._lock:
            if times == 1 and issue in self._kept:
                return
            if self._counts[key] < self._each_kind:
                self._kept[issue] = None
            self._counts[key] += times

    def add_once(self, issue: Issue) -> None:
        """Take an issue unless one of its kind was taken already: one note per file, not per record."""
        key = (issue.file, issue.code, issue.section, issue.field)
        with self._lock:
            if key in self._once:
                return
            self._once.add(key)
        self.add(issue)

    def mark(self) -> Mark:
        """How far it has come, for `since`."""
        return Mark(len(self._kept), self._counts.copy())

    def since(self, mark: Mark) -> Issues:
        """What was taken since, by itself."""
        later = Issues()
        later._kept = dict.fromkeys(islice(self._kept, mark.kept, None))
        later._counts = self._counts - mark.counts
        return later

    def room(self, issue: Issue) -> bool:
        """Whether another issue of this kind would still be kept one by one."""
        return self._counts[issue.file, issue.code, issue.section, issue.field] < self._each_kind

    @property
    def worst(self) -> Severity | None:
        """The highest severity so far; None when there was nothing."""
        return max((i.severity for i in self._kept), default=None)

    def counts(self) -> Counter[Code]:
        """How often each code occurred, the ones not kept included."""
        totals: Counter[Code] = Counter()
        for (_, code, _, _), count in self._counts.items():
            totals[code] += count
        return totals

    def __iter__(self) -> Iterator[Issue]:
        """The kept issues by place, and one line for those of a kind that were only counted."""
        yield from sorted(self._kept, key=lambda i: (i.file, i.record_no or 0, i.line_no or 0, i.offset or 0))
        kept = Counter((i.file, i.code, i.section, i.field) for i in self._kept)
        last = {(i.file, i.code, i.section, i.field): i for i in self._kept}
        for key, count in self._counts.items():
            if count > kept[key]:
                more = f"{count - kept[key]:,} more like this are counted but not listed"
                yield replace(
                    last[key], text=more, record_no=None, offset=None, end=None, line_no=None, column_no=None
                )

    def __len__(self) -> int:
        return self._counts.total()

    def to_arrow(self) -> pa.Table:
        """The issues as a table."""
        return pa.Table.from_pylist([issue.to_row() for issue in self], schema=ISSUE_SCHEMA)


ISSUE_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("record_no", pa.uint64()),
        ("byte_offset", pa.uint64()),
        ("byte_end", pa.uint64()),
        ("line_no", pa.uint64()),
        ("column_no", pa.uint32()),
        ("section", pa.string()),
        ("field", pa.string()),
        ("severity", pa.string()),
        ("code", pa.string()),
        ("text", pa.string()),
    ]
)
