"""What the store already has of a decoded input: its records, or rows of its reports.

Two records are equal if their bytes are; for that the store has the digests of all records, by day. Two rows
of reports are equal if all their values are, including time and system. Rows without a time are compared only
with rows of the same file (loaded with another selection), as in two files they can be of different days.
Rows that a report itself repeats stay; only rows of earlier loads are removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from zscope.pipelines.store.remove import rewrite_file
from zscope.pipelines.store.tables import table_sql
from zscope.schemas.reports import report_tables
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import LOAD_ID, local_clock, stored_schema, utc_clock
from zscope.schemas.tables import DIGEST_TABLE, record_table_names

Config = dict[str, str | bool | int | float | list[str]]
"""Settings of a DuckDB connection."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from zscope.pipelines.store.commits import DataFile, Load, State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.parquet_files import StagedFile
    from zscope.pipelines.store.remove import KeepRows


MEMORY = "256MB"
_ORIGIN = {LOAD_ID.name, "file", "line_no", "object_no", "system_from", "time_from"}
"""Columns about the origin of a row of a report; they are not compared."""
_CPU_INTERVALS = "smf70_interval"
MAX_CONFLICTS = 1000
_FROM_RECORDS = frozenset(record_table_names())
"""Tables whose rows can come from records."""


@dataclass(frozen=True, slots=True)
class StoreBefore:
    """The store before one load, or before several that are committed together."""

    folder: Folder
    state: State
    content_digest: str = ""
    """Digest of the file, if one is loaded: of several, none has a content that the store has."""
    shorter: Load | None = None
    """The load that it replaces, whose rows do not count."""

    def files(self, staged: StagedFile) -> list[DataFile]:
        """Return the committed files that can have rows of a staged one, by table, day and time."""
        files = self.state.files_for(staged.table, staged.day)
        return [file for file in files if _overlaps(file, staged)]

    def rows(self, staged: Sequence[StagedFile]) -> str:
        """Return the SQL source of the committed rows that can be equal to those of staged files of a table,
        whichever version of zscope wrote them.
        """
        files = {file.path: file for each in staged for file in self.files(each)}
        days = {each.day for each in staged if each.day}
        dated = all(each.day for each in staged)
        listed = [files[path] for path in sorted(files)]
        return f"({table_sql(self.folder, self.state, staged[0].table, listed, days if dated else None)})"

    def loads_for(self, *, dated: bool) -> str:
        """Return the SQL condition for the loads to compare with.

        Rows without a time are compared with loads of the same file only.
        """
        if not dated:
            loads = self.state.live_loads
            same = [str(load.load_id) for load in loads if load.content_digest == self.content_digest]
            return f"load_id IN ({', '.join(same)})" if same else "false"
        return f"load_id <> {self.shorter.load_id}" if self.shorter else "true"


@dataclass(frozen=True, slots=True)
class IntervalConflict:
    """A record for an interval for which there is another record with other content."""

    system: str
    start_local: datetime
    record_no: int
    offset: int
    other_record: int
    other_load: int | None
    """None for a record of the same file."""

    def text(self) -> str:
        """Describe both records."""
        place = "this file" if self.other_load is None else f"load {self.other_load}"
        return (
            f"record {self.other_record} of {place} has other values for the same interval of {self.system}, "
            f"which starts at {self.start_local}: both are stored, metrics use the first one, and "
            "cpu_interval_disagreement compares them"
        )


@dataclass(slots=True)
class Omitted:
    """What was removed from one load, and its conflicts."""

    total: int = 0
    """Records and rows of reports."""
    by_table: Counter[str] = field(default_factory=Counter)
    by_load: Counter[int] = field(default_factory=Counter)
    """By the load that has them; what the same load repeats is not counted."""
    conflicts: list[IntervalConflict] = field(default_factory=list)


@dataclass(slots=True)
class Duplicates:
    """The files of some loads without duplicates, and what was removed from each load."""

    files: list[StagedFile]
    of_load: dict[int, Omitted] = field(default_factory=lambda: defaultdict(Omitted))

    def count(self, repeated: pa.Table) -> None:
        """Count duplicates: columns `load_id` and `known_by`, which is null if the same load repeats them."""
        counts = repeated.group_by(["load_id", "known_by"]).aggregate([([], "count_all")])
        for each in counts.to_pylist():
            omitted = self.of_load[each["load_id"]]
            omitted.total += each["count_all"]
            if each["known_by"] is not None:
                omitted.by_load[each["known_by"]] += each["count_all"]


@dataclass(frozen=True, slots=True)
class _RepeatedRecords:
    """Which records of some loads are repeated."""

    first_load: int
    begins: NDArray[np.int64]
    """The place of record 0 of each load, from the first one on."""
    repeated: NDArray[np.bool_]

    @classmethod
    def of(cls, last_records: dict[int, int], repeated: pa.Table) -> _RepeatedRecords:
        """Return the columns `load_id` and `record_no`, given the last record of each load."""
        first = min(last_records)
        begins = np.zeros(max(last_records) - first + 1, np.int64)
        size = 0
        for load, last in last_records.items():
            begins[load - first] = size
            size += last + 1
        found = cls(first, begins, np.zeros(size, np.bool_))
        found.repeated[found._places(repeated)] = True
        return found

    def _places(self, rows: pa.Table) -> NDArray[np.int64]:
        loads, numbers = (rows[name].fill_null(0).to_numpy() for name in (LOAD_ID.name, "record_no"))
        places: NDArray[np.int64] = self.begins[loads - self.first_load] + numbers.astype(np.int64)
        return places

    def keep(self, rows: pa.Table, _: int) -> NDArray[np.bool_]:
        """Return which rows are of other records; rows of reports in the same table have no record number."""
        mask: NDArray[np.bool_] = ~self.repeated[self._places(rows)]
        mask[rows["record_no"].is_null().to_numpy()] = True
        return mask


def remove_duplicates(before: StoreBefore, staged: list[StagedFile], work: Path) -> Duplicates:
    """Rewrite the staged files that have duplicates; return all files that are left.

    The files can have rows of several loads; each is compared with the store and the loads before it.
    """
    result = Duplicates([])
    settings: Config = {"memory_limit": MEMORY, "temp_directory": str(work / "spill")}
    with duckdb.connect(config=settings) as connection:
        # DuckDB would draw it on standard output, which is for data.
        connection.execute("SET enable_progress_bar = false")
        records = _repeated_records(connection, before, staged, result)
        for file in staged:
            left: StagedFile | None = file
            if records is not None and file.table in _FROM_RECORDS:
                left = _rewritten(file, records.keep, result)
            if left and file.table in report_tables():
                left = _without_rows(connection, before, left, result)
            if left:
                result.files.append(left)
                if left.table == _CPU_INTERVALS:
                    _find_conflicts(connection, before, left, result)
    return result


def _find_conflicts(
    connection: duckdb.DuckDBPyConnection, before: StoreBefore, file: StagedFile, result: Duplicates
) -> None:
    """Add the records of a file for whose interval there is another record, in an earlier load or before it.

    Equal records are removed already. A record that is too long for SMF is written in numbered parts, and a
    clock that is set back shows an hour twice: neither is a conflict.
    """
    columns = (
        "load_id, record_no, record_offset, system::VARCHAR AS system, interval_start_local, interval_ms, "
        "interval_end_utc, reassembly_number"
    )
    others = f"SELECT {columns} FROM {_parquet([file.path])}"
    if before.files(file):
        others += (
            f" UNION ALL SELECT {columns} FROM {before.rows([file])} WHERE {before.loads_for(dated=True)}"
        )
    rows = connection.execute(
        f"""
        WITH conflict AS (
            SELECT
                a.load_id, a.system, a.interval_start_local, a.record_no, a.record_offset,
                b.record_no AS other_record, nullif(b.load_id, a.load_id) AS other_load
            FROM (SELECT {columns} FROM {_parquet([file.path])}) AS a
            INNER JOIN ({others}) AS b
                ON a.system = b.system
                AND a.interval_start_local = b.interval_start_local
                AND a.interval_ms = b.interval_ms
                AND a.reassembly_number IS NOT DISTINCT FROM b.reassembly_number
            WHERE
                (b.load_id < a.load_id OR (b.load_id = a.load_id AND b.record_no < a.record_no))
                AND coalesce(
                    abs(epoch_us(a.interval_end_utc) - epoch_us(b.interval_end_utc)) < 1800000000, true
                )
            QUALIFY
                row_number() OVER (PARTITION BY a.load_id, a.record_no ORDER BY b.load_id, b.record_no) = 1
        )

        FROM conflict
        QUALIFY row_number() OVER (PARTITION BY load_id ORDER BY record_no) <= {MAX_CONFLICTS}
        ORDER BY load_id, record_no
        """
    ).fetchall()
    for load_id, *conflict in rows:
        result.of_load[load_id].conflicts.append(IntervalConflict(*conflict))


def _repeated_records(
    connection: duckdb.DuckDBPyConnection, before: StoreBefore, staged: list[StagedFile], result: Duplicates
) -> _RepeatedRecords | None:
    """Return which records are repeated; None if no record is."""
    digests = [file for file in staged if file.table == DIGEST_TABLE]
    if not digests:
        return None
    connection.execute(f"CREATE VIEW staged AS SELECT * FROM {_parquet(f.path for f in digests)}")
    connection.execute(
        f"CREATE VIEW stored AS SELECT load_id, digest, written_local FROM {before.rows(digests)}"
    )
    # Usually few records are repeated, so the expensive numbering is limited to candidates.
    repeated = connection.execute(
        """
        WITH twice AS (SELECT digest FROM staged GROUP BY digest HAVING count(*) > 1),
        known AS (
            SELECT staged.load_id, staged.record_no, min(stored.load_id) AS known_by
            FROM staged
            INNER JOIN stored
                ON staged.digest = stored.digest
                AND staged.written_local IS NOT DISTINCT FROM stored.written_local
            GROUP BY staged.load_id, staged.record_no
        ),
        numbered AS (
            SELECT
                load_id,
                record_no,
                row_number() OVER same_record AS nth,
                first_value(load_id) OVER same_record AS first_load
            FROM staged
            WHERE digest IN (FROM twice)
            WINDOW same_record AS (PARTITION BY digest, written_local ORDER BY load_id, record_no)
        )
        SELECT load_id, record_no, known_by FROM known
        UNION ALL
        SELECT load_id, record_no, nullif(first_load, load_id)
        FROM numbered
        ANTI JOIN known USING (load_id, record_no)
        WHERE nth > 1
        """
    ).to_arrow_table()
    if not repeated.num_rows:
        return None
    result.count(repeated)
    last = connection.execute("SELECT load_id, max(record_no) FROM staged GROUP BY load_id").fetchall()
    return _RepeatedRecords.of(dict(last), repeated)


def _without_rows(
    connection: duckdb.DuckDBPyConnection, before: StoreBefore, file: StagedFile, result: Duplicates
) -> StagedFile | None:
    """Remove the rows of reports that earlier loads have, as many times as they have them.

    The same table can have rows of records, which have a record number; they are not compared here.
    """
    clock = local_clock(file.table)
    # Tables without a local clock have times in UTC.
    dated = clock is None or file.day is not None
    several = dated and len(file.loads) > 1
    if not several and not before.files(file):
        return file
    reported = "record_no IS NULL" if file.table in _FROM_RECORDS else "true"
    ignored = _ORIGIN | ({utc_clock(clock)} if clock else set())
    compared = [name for name in stored_schema(file.table).names if name not in ignored]
    columns = ", ".join(compared)
    same = " AND ".join(f"staged.{name} IS NOT DISTINCT FROM stored.{name}" for name in compared)
    first_load, first_nth = (
        f"min(load_id) OVER (PARTITION BY {each})" if several else "load_id"
        for each in (columns, f"{columns}, nth")
    )
    repeated = connection.execute(
        f"""
        WITH numbered AS (
            SELECT {columns}, load_id, file_row_number AS place,
                row_number() OVER (PARTITION BY load_id, {columns} ORDER BY file_row_number) AS nth
            FROM read_parquet({literal(str(file.path))}, file_row_number = true, hive_partitioning = false)
            WHERE {reported}
        ),
        staged AS (SELECT *, {first_load} AS first_load, {first_nth} AS first_nth FROM numbered),
        stored AS (
            SELECT {columns}, count(*) AS times, min(load_id) AS load_id
            FROM {before.rows([file])}
            WHERE {before.loads_for(dated=dated)} AND {reported}
            GROUP BY {columns}
        )
        SELECT staged.load_id, staged.place, coalesce(stored.load_id, staged.first_load) AS known_by
        FROM staged
        LEFT JOIN stored ON {same}
        WHERE staged.nth <= stored.times OR staged.first_nth < staged.load_id
        """
    ).to_arrow_table()
    if not repeated.num_rows:
        return file
    result.count(repeated)
    keep = np.ones(file.rows, np.bool_)
    keep[repeated["place"].to_numpy()] = False
    return _rewritten(file, lambda rows, first: keep[first : first + rows.num_rows], result)


def _overlaps(stored: DataFile, staged: StagedFile) -> bool:
    """Whether the times of two files overlap; a file with unknown times can overlap with any."""
    if stored.first_local is None or staged.first_local is None or staged.last_local is None:
        return True
    return stored.first_local <= staged.last_local and staged.first_local <= (stored.last_local or "")


def _rewritten(file: StagedFile, keep: KeepRows, result: Duplicates) -> StagedFile | None:
    """Write the file again without the duplicates; return None if no row is left."""
    target = file.path.with_name(f"{file.path.stem}-kept.parquet")
    left = rewrite_file(file.table, file.day, file.path, target, keep)
    for load, rows in (Counter(file.loads) - Counter(left.loads if left else {})).items():
        result.of_load[load].by_table[file.table] += rows
    file.path.unlink()
    return left


def _parquet(paths: Iterable[Path]) -> str:
    listed = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning = false)"
