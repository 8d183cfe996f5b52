"""Report values that cannot be right: impossible times, and numbers that are too great for the store.

Impossible are ends before their starts, times far from the record's own, and the future. Which columns are
compared is in `zscope.schemas.stored.comparisons`. Rows with such times are stored like all others; the issue
names how many there are, the period they claim and the first of them.

Sources disagree whether times in sections of SMF 119-1 and 119-2 are local or UTC. If they are the same as
the UTC ones next to them, they are UTC: that is a note, not an impossible time.

The store has signed integers. Only 8-byte fields of records and numbers in reports can be greater. Real
counters never are: such a number comes from damaged data, or is not a count. It is null in the store, and
`zscope decode` returns it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code, Issue
from zscope.pipelines.local_time.timelines import MISSING, time_numbers
from zscope.pipelines.quantities import counted
from zscope.schemas.stored import (
    GREATEST_INTEGER,
    HOUR_US,
    INTERVAL_LENGTHS,
    RECORDED_TWICE,
    SAME_TIME_US,
    WRITTEN,
    comparisons,
    local_clock,
    utc_clock,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.issues import Issues
    from zscope.pipelines.local_time.timelines import Times as Microseconds


ANY_ZONE_US = 16 * HOUR_US
"""The same where the time zone is unknown: UTC and local times differ by up to 14 hours."""
AHEAD = timedelta(days=1)
"""A local time can be ahead of UTC by 14 hours, but not by more than a day."""


_QUARTER_US = HOUR_US // 4
_DELAY_US = 120_000_000
"""A record is written up to this long after the time that it has."""


@dataclass
class _Contradiction:
    """The rows of a table, system and kind with impossible times."""

    rows: int = 0
    first_record: int | None = None
    first_offset: int | None = None
    first_line: int | None = None
    earliest: int = np.iinfo(np.int64).max
    latest: int = np.iinfo(np.int64).min
    example: str = ""


@dataclass
class TimeChecks:
    """Checks the times of the rows of one file and adds an issue for each table, system and contradiction."""

    issues: Issues
    file: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _found: dict[tuple[str, str, str, str], _Contradiction] = field(default_factory=dict)
    _in_utc: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows whose columns in local time have UTC, by system and table."""

    def observe(self, table: str, rows: pa.RecordBatch) -> None:
        """Check rows of a table, as they are stored."""
        times = _Times(table, rows)
        in_utc = times.in_utc()
        if in_utc is not None and in_utc.any():
            self._in_utc.update((system, table) for system in times.systems()[in_utc].tolist())
        for each in comparisons(table):
            compared, at_least, at_most = each.other, each.at_least, each.at_most
            if compared == "written_utc" and not times.any(compared):
                # Without a time zone only the local time of the header is known.
                compared = WRITTEN
                at_least = None if at_least is None else -ANY_ZONE_US
                at_most = None if at_most is None else ANY_ZONE_US
            column, other = times.of(each.column), times.of(compared)
            difference = column + times.length(each.length) - other
            wrong = np.zeros(len(difference), np.bool_)
            if at_least is not None:
                wrong |= difference < at_least
            if at_most is not None:
                wrong |= difference > at_most
            wrong &= (column != MISSING) & (other != MISSING)
            if in_utc is not None and each.column in RECORDED_TWICE and compared == WRITTEN:
                wrong &= ~in_utc
            if wrong.any():
                self._add(times, each.about, each.column, wrong, compared)
        if clock := local_clock(table):
            self._check_future(times, clock)

    def _check_future(self, times: _Times, clock: str) -> None:
        name = utc_clock(clock) if times.any(utc_clock(clock)) else clock
        latest = int((self.now + AHEAD).timestamp() * 1_000_000)
        wrong = times.of(name) > latest
        if wrong.any():
            self._add(times, "are in the future", name, wrong)

    def report(self) -> None:
        """Add the issues."""
        for (table, system, about, column), found in self._found.items():
            count = f"{counted(found.rows, 'row')} of {table}"
            period = f"{_text(found.earliest)} to {_text(found.latest)}"
            text = (
                f"{count} of {system or 'a system without a name'} {about}: {column} from {period}, "
                f"the first {found.example}; a clock was set wrong or the data are damaged; the rows are "
                "stored unchanged"
            )
            self.issues.add(
                Issue(
                    Code.IMPOSSIBLE_TIME, text, self.file, found.first_record, found.first_offset,
                    field=column, table=table, line_no=found.first_line,
                )
            )  # fmt: skip
        for system in sorted({system for system, _ in self._in_utc}):
            tables = sorted(table for of, table in self._in_utc if of == system)
            rows = sum(self._in_utc[system, table] for table in tables)
            text = (
                f"{counted(rows, 'row')} of {system or 'a system without a name'} in {' and '.join(tables)} "
                "have UTC instead of local time in the columns start_local and end_local, as some sources "
                "describe these fields: they are stored unchanged; start_utc and end_utc are right, and "
                "metrics use these"
            )
            self.issues.add(Issue(Code.LOCAL_IN_UTC, text, self.file))

    def add(self, later: TimeChecks) -> None:
        """Add what was observed in the next range of the same file."""
        self._in_utc += later._in_utc
        for key, other in later._found.items():
            known = self._found.setdefault(key, other)
            if known is not other:
                known.rows += other.rows
                known.earliest = min(known.earliest, other.earliest)
                known.latest = max(known.latest, other.latest)

    def _add(self, times: _Times, about: str, column: str, wrong: NDArray[np.bool_], other: str = "") -> None:
        moments, systems = times.of(column), times.systems()
        for system in sorted(set(systems[wrong])):
            chosen = np.flatnonzero(wrong & (systems == system))
            found = self._found.setdefault((times.table, system, about, column), _Contradiction())
            if not found.rows:
                first = int(chosen[0])
                found.first_record = _number(times.rows, "record_no", first)
                found.first_offset = _number(times.rows, "record_offset", first)
                found.first_line = _number(times.rows, "line_no", first)
                found.example = _text(int(moments[first]))
                if other:
                    found.example += f" with {other} {_text(int(times.of(other)[first]))}"
            found.rows += len(chosen)
            found.earliest = min(found.earliest, int(moments[chosen].min()))
            found.latest = max(found.latest, int(moments[chosen].max()))


@dataclass
class _Times:
    """The times of some rows of a table, in microseconds."""

    table: str
    rows: pa.RecordBatch
    _columns: dict[str, Microseconds] = field(default_factory=dict)

    def of(self, name: str) -> Microseconds:
        """Return a column; a time that is null is the smallest integer."""
        if name not in self._columns:
            self._columns[name] = time_numbers(self.rows[name])
        return self._columns[name]

    def any(self, name: str) -> bool:
        """Whether a column exists and has a time."""
        return name in self.rows.schema.names and self.rows[name].null_count < self.rows.num_rows

    def in_utc(self) -> NDArray[np.bool_] | None:
        """Return the rows whose local time in the section is UTC; None if the table has no time to compare.

        Such a time is that of the column in UTC, and differs from that of the header by the offset of the
        clock.
        """
        twins = next(((local, utc) for local, utc in RECORDED_TWICE.items() if self.any(utc)), None)
        if twins is None or not self.any(twins[0]) or not self.any(WRITTEN):
            return None
        local, utc = (self.of(name) for name in twins)
        written = self.of(WRITTEN)
        before = written - local
        offset = np.round(before / _QUARTER_US).astype(np.int64) * _QUARTER_US
        if self.any("written_utc"):
            offset = written - self.of("written_utc")
        known = (local != MISSING) & (utc != MISSING) & (written != MISSING)
        same = known & (np.abs(local - utc) <= SAME_TIME_US)
        of_clock = (np.abs(offset) >= _QUARTER_US) & (np.abs(before - offset) <= _DELAY_US)
        shifted: NDArray[np.bool_] = same & of_clock
        return shifted

    def length(self, name: str | None) -> Microseconds | int:
        """Return the lengths of the intervals."""
        if name is None:
            return 0
        numbers = self.rows[name].cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        lengths: Microseconds = numbers * INTERVAL_LENGTHS[name]
        return lengths

    def systems(self) -> NDArray[np.object_]:
        """Return the system of each row, empty if it is unknown."""
        if "system" not in self.rows.schema.names:
            return np.full(self.rows.num_rows, "", object)
        names = [name or "" for name in self.rows["system"].to_pylist()]
        return np.array(names, object)


def _text(microseconds: int) -> str:
    return str(np.datetime64(microseconds, "us").astype("datetime64[s]")).replace("T", " ")


@dataclass(frozen=True, slots=True)
class RangeChecks:
    """Checks the numbers in the rows of one file and adds an issue for each that the store cannot contain."""

    issues: Issues
    file: str

    def observe(self, table: str, rows: pa.RecordBatch, stored: pa.RecordBatch) -> None:
        """Compare rows of a table as the reader returns them with the same rows as they are stored."""
        for column in rows.schema:
            if column.type == pa.uint64() and stored[column.name].null_count > rows[column.name].null_count:
                outside = pc.and_(pc.is_null(stored[column.name]), pc.is_valid(rows[column.name]))
                places: NDArray[np.int64] = np.flatnonzero(outside.to_numpy(zero_copy_only=False))
                self._add(table, column.name, rows, places.tolist())

    def _add(self, table: str, column: str, rows: pa.RecordBatch, places: list[int]) -> None:
        for count, row in enumerate(places):
            text = (
                f"{column} of {table} is {rows[column][row]}, greater than {GREATEST_INTEGER}, the greatest "
                "number in the store; it is stored as null"
            )
            issue = Issue(
                Code.OUT_OF_RANGE, text, self.file, _number(rows, "record_no", row),
                _number(rows, "record_offset", row), field=column, table=table,
                line_no=_number(rows, "line_no", row),
            )  # fmt: skip
            if not self.issues.room(issue):
                self.issues.add(issue, len(places) - count)
                return
            self.issues.add(issue)


def _number(rows: pa.RecordBatch, column: str, row: int) -> int | None:
    """Return the place of a row: its record, byte or line."""
    value = rows[column][row].as_py() if column in rows.schema.names else None
    return value if isinstance(value, int) else None
