"""One byte of a dump changes: no row vanishes or changes in another record unless an issue covers it.

Values of the changed record can become other values, which no reader can detect. Its rows may vanish without
an issue only if it becomes a record of another type, which `smf_record` shows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.dumps import sample_records
from tests.parsers.single_fault import Fault

from zscope.parsers import InputError, Issue, Severity, read
from zscope.parsers.smf.record_writer import as_blocks, as_segments, as_stream
from zscope.schemas import catalog
from zscope.schemas.tables import RAW_TABLE, RECORD_TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

SHARES = 4
"""Parts of the faults of a dump, for several processes."""

Place = tuple[str, int]
"""A table, and the offset of a record before the fault."""


def tables_by_kind() -> dict[tuple[int, int], list[str]]:
    """Return the tables of each type and subtype that the sample has."""
    tables = defaultdict(list)
    for record, table in catalog().tables():
        if record.subtype is not None and (record.type, record.subtype) in sample_records():
            tables[record.type, record.subtype].append(table.name)
    return dict(tables)


@dataclass(frozen=True)
class DumpSample:
    """A dump of few records, of which every byte of the part from `begin` to `end` is changed."""

    content: bytes
    tables: tuple[str, ...]
    begin: int
    end: int

    def faults(self) -> Iterator[Fault]:
        """Yield all different faults; of equal bytes in a row only the first is deleted."""
        for position in range(self.begin, self.end):
            byte = self.content[position]
            changes = {b"X", b"\x40", b"\0", b"\xff", bytes([byte ^ 1])} - {bytes([byte])}
            if not position or self.content[position - 1] != byte:
                changes.add(b"")
            yield from (Fault(position, change) for change in sorted(changes))


def one_kind(kind: tuple[int, int]) -> DumpSample:
    """Return a record between two others of its kind."""
    first, *more = sample_records()[kind]
    others = more or [first]
    content = b"".join(as_stream([others[0], first, others[-1]]))
    begin = len(others[0])
    return DumpSample(content, tuple(tables_by_kind()[kind]), begin, begin + len(first))


def framed(kind: str) -> DumpSample:
    """Return short records in blocks or segments, of which all bytes are changed."""
    some = [*sample_records()[119, 1], *sample_records()[119, 2], *sample_records()[119, 72]]
    parts = as_segments(some, 150) if kind == "segments" else as_blocks(some, 700, spanned=kind == "spanned")
    content = b"".join(parts)
    tables = ("smf119_tcp_init", "smf119_tcp_term", "smf119_ftp_failure")
    return DumpSample(content, tables, 0, len(content))


SAMPLES: dict[str, Callable[[], DumpSample]] = {
    **{f"{major}-{minor}": partial(one_kind, (major, minor)) for major, minor in tables_by_kind()},
    **{name: partial(framed, name) for name in ("blocks", "spanned", "segments")},
}


class DumpRows(NamedTuple):
    """Rows by table and record offset, and issues."""

    rows: dict[Place, list[dict[str, Any]]]
    issues: list[Issue]
    ends: dict[int, int]
    """Where the next record begins, by the number of a record."""


def read_dump(content: bytes, tables: Iterable[str], folder: Path) -> DumpRows:
    """Return the rows without the number of their record, which changes if one before it is lost."""
    path = folder / "dump.smf"
    path.write_bytes(content)
    try:
        result = read(path, [*tables, RECORD_TABLE, RAW_TABLE])
    except InputError as error:
        return DumpRows({}, [error.issue], {})
    rows = defaultdict(list)
    for table in (*tables, RECORD_TABLE, RAW_TABLE):
        for row in result[table].to_pylist():
            del row["record_no"]
            rows[table, row.pop("record_offset")].append(row)
    begins = result[RECORD_TABLE].select(["record_no", "record_offset"]).to_pylist()
    ends = {row["record_no"]: after["record_offset"] for row, after in pairwise(begins)}
    return DumpRows(rows, list(result.issues), ends)


def silent_changes(dump: DumpSample, faults: Iterable[Fault], folder: Path) -> list[str]:
    """Return what faults change without an issue."""
    known = read_dump(dump.content, dump.tables, folder)
    assert known.rows
    assert all(issue.severity is Severity.NOTE for issue in known.issues)
    starts = sorted({offset for _, offset in known.rows})
    return [
        f"byte {fault.position}, {fault.change!r}: {text}"
        for fault in faults
        for text in _silent(dump, known, fault, starts, folder)
    ]


def _silent(
    dump: DumpSample, known: DumpRows, fault: Fault, starts: list[int], folder: Path
) -> Iterator[str]:
    after = read_dump(fault.applied(dump.content), dump.tables, folder)

    def before(offset: int) -> int:
        return offset + 1 - len(fault.change) if offset >= fault.position else offset

    def record_at(offset: int) -> int:
        return max(0, bisect_right(starts, offset) - 1)

    changed = record_at(fault.position)
    covered: set[int] = set()
    for issue in after.issues:
        if issue.severity > Severity.NOTE:
            if issue.offset is None:
                return  # about the whole file
            last = issue.end or after.ends.get(issue.record_no or 0, issue.offset + 1)
            begin, end = before(issue.offset), before(last)
            # A record begins after the descriptors of its block and segment: these belong to it, too.
            bounds = pairwise([0, *starts[1:], len(dump.content)])
            covered |= {number for number, (low, high) in enumerate(bounds) if begin < high and end > low}
            covered.add(record_at(end - 1))
    rows = {(table, before(offset)): found for (table, offset), found in after.rows.items()}
    header = rows.get((RECORD_TABLE, starts[changed]))
    other_type = header is not None and _kind(header) != _kind(known.rows[RECORD_TABLE, starts[changed]])
    for table, offset in sorted(known.rows.keys() | rows.keys()):
        number = record_at(offset)
        old, new = known.rows.get((table, offset), []), rows.get((table, offset), [])
        if number in covered or (number == changed and other_type):
            continue
        if len(old) != len(new):
            yield f"{len(old)} rows of {table} at byte {offset} became {len(new)}"
        elif number != changed and old != new:
            yield f"rows of {table} of another record at byte {offset} changed"


def _kind(header: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(row["record_type"], row["record_subtype"]) for row in header]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.deep)])
def test_no_fault_of_some_bytes_is_silent(name: str, count: int, tmp_path: Path) -> None:
    dump = SAMPLES[name]()
    faults = list(dump.faults())
    assert silent_changes(dump, faults[count % 7 :: len(faults) // count], tmp_path) == []


@pytest.mark.bytes
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("name", SAMPLES)
def test_no_fault_of_any_byte_is_silent(name: str, share: int, tmp_path: Path) -> None:
    dump = SAMPLES[name]()
    assert silent_changes(dump, islice(dump.faults(), share, None, SHARES), tmp_path) == []
