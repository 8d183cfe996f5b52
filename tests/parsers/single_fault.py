"""Single faults: one byte of an input changes, and no row vanishes or changes without an issue about it.

A sample is the content of a text input with the tables to read. `silent_changes` applies one fault to it,
reads the result by the public interface, and returns what the issues do not cover. A test fails if that is
not empty:

    assert not silent_changes(known_sample(sample, tmp_path), fault)
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from zscope.parsers import InputError, Issue, ReadOptions, Severity, read

Row = dict[str, Any]

CHANGES: dict[str, bytes] = {"X": b"X", "blank": b" ", "deleted": b""}
"""What a byte becomes; an EBCDIC sample needs its own."""
DERIVED = frozenset({"extra", "taken_local", "taken_time", "time_from", "system_from"})
"""Columns that follow from others."""


class Fault(NamedTuple):
    """The change of one byte."""

    position: int
    change: bytes

    def applied(self, content: bytes) -> bytes:
        """Return the content with the fault."""
        return content[: self.position] + self.change + content[self.position + 1 :]

    def shown(self, content: bytes) -> str:
        """Return the place and the change for the message of a test."""
        line = 1 + content.count(b"\n", 0, self.position)
        column = self.position - content.rfind(b"\n", 0, self.position)
        changed = self.change or "nothing"
        return f"line {line}, column {column}: {content[self.position : self.position + 1]!r} is {changed!r}"


@dataclass(frozen=True)
class FaultSample:
    """The content of an input, and how to read it."""

    name: str
    """File name."""
    content: bytes
    tables: tuple[str, ...]
    blocks: tuple[int, ...] = (1,)
    """First place of each report: an issue inside a report covers all of it, and nothing else."""
    spread: frozenset[str] = frozenset()
    """Tables whose rows have values of several reports: an issue in any report covers them."""
    options: ReadOptions = field(default_factory=ReadOptions)
    changes: tuple[bytes, ...] = tuple(CHANGES.values())
    follows: Mapping[str, str] = field(default_factory=dict)
    """Columns whose values follow from another one, each with that column."""

    def faults(self) -> Iterator[Fault]:
        """Yield all faults of all positions."""
        for position, byte in enumerate(self.content):
            yield from (Fault(position, change) for change in self.changes if change != bytes([byte]))

    def some_faults(self, count: int, seed: int = 0) -> list[Fault]:
        """Return a seeded choice of faults."""
        faults = list(self.faults())
        return random.Random(f"{self.name} {seed}").sample(faults, min(count, len(faults)))

    def share_of_faults(self, number: int, of: int) -> Iterator[Fault]:
        """Yield one of several equal shares of all faults, so that processes can divide them."""
        return islice(self.faults(), number, None, of)

    def block_of(self, place: int) -> int:
        """Return the number of the report at this place."""
        return bisect_right(self.blocks, place)


class FaultReading(NamedTuple):
    """The rows by table, and the issues."""

    rows: list[tuple[str, Row]]
    issues: list[Issue]


@dataclass(frozen=True)
class KnownSample:
    """A sample with its correct rows."""

    sample: FaultSample
    folder: Path
    reading: FaultReading


def known_sample(sample: FaultSample, folder: Path) -> KnownSample:
    """Read the sample without a fault; files are written to the folder."""
    return KnownSample(sample, folder, read_content(sample, sample.content, folder))


def read_content(sample: FaultSample, content: bytes, folder: Path) -> FaultReading:
    """Return the rows and issues of a content; a refused input has one issue and no rows."""
    path = folder / sample.name
    path.write_bytes(content)
    try:
        result = read(path, sample.tables, options=sample.options)
    except InputError as error:
        return FaultReading([], [error.issue])
    rows = [(table, row) for table in sample.tables for row in result[table].to_pylist()]
    return FaultReading(rows, list(result.issues))


def silent_changes(known: KnownSample, fault: Fault) -> list[str]:
    """Return the changes of rows that no issue covers.

    The value of one column can become another valid value, which no reader can detect; all rows with the old
    value may have the new one. A value must not become null unless it had one character, or the row has its
    text in `extra` (its label changed), or its name follows from a value that changed.
    """
    sample = known.sample
    after = read_content(sample, fault.applied(sample.content), known.folder)
    moved = _Moved.by(sample, fault)
    covered = _covered_blocks(known, after, moved)
    if None in covered:
        return []
    before_by_place = _by_place(known.reading.rows, moved)
    after_by_place = _by_place(after.rows, moved.nothing())
    silent: list[str] = []
    differences: dict[tuple[str, str, str], bool] = {}
    """Column, old and new value; whether the row got a text in `extra`."""
    for key in sorted(before_by_place.keys() | after_by_place.keys()):
        table, place = key
        if moved.block_of(place) in covered or (covered and table in sample.spread):
            continue
        for old, new in zip_longest(*_without_equal(before_by_place[key], after_by_place[key])):
            if old is None or new is None:
                silent.append(f"a row of {table} at {place} {'vanished' if new is None else 'appeared'}")
                continue
            for column in old.keys() - DERIVED:
                if old[column] != new[column]:
                    differences[column, repr(old[column]), repr(new[column])] = _has_more_extra(old, new)
    silent += _unexplained(sample, fault, differences)
    return [f"{fault.shown(sample.content)}: {text}" for text in silent]


class _Moved(NamedTuple):
    """How places after the fault differ from those before it."""

    sample: FaultSample
    joined: int | None
    """The line that was joined with the next one."""

    @classmethod
    def by(cls, sample: FaultSample, fault: Fault) -> _Moved:
        ends_line = sample.content[fault.position : fault.position + 1] == b"\n"
        return cls(sample, 1 + sample.content.count(b"\n", 0, fault.position) if ends_line else None)

    def nothing(self) -> _Moved:
        return self._replace(joined=None)

    def place(self, before: int) -> int:
        """Return the place after the fault."""
        return before - (self.joined is not None and before > self.joined)

    def block_of(self, after: int) -> int:
        """Return the number of the report at a place after the fault."""
        return self.sample.block_of(after + (self.joined is not None and after > self.joined))


def _covered_blocks(known: KnownSample, after: FaultReading, moved: _Moved) -> set[int | None]:
    """Return the reports with an issue that the sample does not have; None for an issue about the file."""

    def key(issue: Issue, before: _Moved) -> tuple[Any, ...]:
        number = issue.line_no
        return issue.code, None if number is None else before.place(number), issue.field

    usual = Counter(key(issue, moved) for issue in known.reading.issues)
    covered: set[int | None] = set()
    for issue in after.issues:
        identity = key(issue, moved.nothing())
        if usual[identity]:
            usual[identity] -= 1
        elif issue.severity > Severity.NOTE:
            number = issue.line_no
            covered.add(None if number is None else moved.block_of(number))
    return covered


def _by_place(rows: list[tuple[str, Row]], moved: _Moved) -> defaultdict[tuple[str, int], list[Row]]:
    found: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    for table, row in rows:
        place = moved.place(row["line_no"])
        found[table, place].append(row | {"line_no": place})
    return found


def _without_equal(before: list[Row], after: list[Row]) -> tuple[list[Row], list[Row]]:
    lost = [row for row in before if row not in after]
    return lost, [row for row in after if row not in before]


def _has_more_extra(old: Row, new: Row) -> bool:
    return len(new.get("extra") or "") > len(old.get("extra") or "")


def _unexplained(
    sample: FaultSample, fault: Fault, differences: dict[tuple[str, str, str], bool]
) -> Iterator[str]:
    changed = {(column, old, new) for column, old, new in differences if new != "None"}
    names = {column for column, *_ in changed}
    leading = {name for name in names if sample.follows.get(name) not in names}
    shortest = min(leading, key=len, default="")
    if not all(name.startswith(shortest) for name in leading) or len(changed) > len(names):
        yield "several values changed: " + "; ".join(" ".join(change) for change in sorted(changed))
    nulls = differences.keys() - changed
    one_character = len(_word_at(sample.content, fault.position)) == 1
    if not (one_character or any(differences[null] for null in nulls)):
        for column, old, _ in sorted(nulls):
            follows = sample.follows.get(column) in names
            if not follows and not (shortest and column.startswith(shortest)):
                yield f"{column} was {old} and is null"


def _word_at(content: bytes, position: int) -> bytes:
    """Return the word with this byte."""
    begin = max(content.rfind(mark, 0, position) for mark in (b" ", b"\n", b">", b"=", b",")) + 1
    rest = content[begin : begin + 200].split(maxsplit=1)
    return rest[0].split(b"<")[0] if rest else b""
