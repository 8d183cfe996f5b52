"""What a load brings that is there already: the same records in overlapping dumps, the same rows of reports.

A record is the same when its bytes are; the digests of all stored records are kept for that, by day. A row of
a report is the same when all that it says is, time and system included. Rows without a time are compared with
those of the same file only, as when it was loaded with another selection: in two files they may be about two
moments. What a report says twice in one file it may say twice; only what other loads brought is taken off.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from zscope.pipelines.store.parts import StagedFile
from zscope.pipelines.store.rewrite import rewrite
from zscope.schemas.ddl import literal
from zscope.schemas.printed import report_tables
from zscope.schemas.stored import LOAD_ID, local_clock, stored_schema, utc_clock
from zscope.schemas.tables import DIGEST_TABLE, record_table_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from zscope.pipelines.store.commits import DataFile, State
    from zscope.pipelines.store.folder import Folder
    from zscope.pipelines.store.loads import Load
    from zscope.pipelines.store.rewrite import Keep

    Config = dict[str, str | bool | int | float | list[str]]

MEMORY = "256MB"
_WHERE_FROM = {LOAD_ID.name, "file", "line_no", "object_no", "system_from", "time_from"}
"""Columns that say where a row of a report is from, and nothing about the system."""
_FROM_RECORDS = frozenset(record_table_names())
"""Tables whose rows can come from records."""


@dataclass(frozen=True, slots=True)
class Before:
    """The store as it was before a load, as far as that is compared with it."""

    folder: Folder
    state: State
    content_digest: str
    """Of the file that is loaded."""
    shorter: Load | None = None
    """The load that it takes the place of: its rows do not count."""

    def files(self, staged: StagedFile) -> list[Path]:
        """The committed files that can hold the same rows as a staged one, by table, day and time."""
        found = (file for file in self.state.files_for(staged.table, staged.day) if _may_meet(file, staged))
        return [self.folder.data / file.path for file in found]

    def loads_for(self, *, dated: bool) -> str:
        """Which loads count for a file, as a condition.

        Two captures without a time can look the same and be of different days, unless they are of one file.
        """
        if not dated:
            loads = self.state.live_loads
            same = [str(load.load_id) for load in loads if load.content_digest == self.content_digest]
            return f"load_id IN ({', '.join(same)})" if same else "false"
        return f"load_id <> {self.shorter.load_id}" if self.shorter else "true"


@dataclass(slots=True)
class Duplicates:
    """What was found and taken out."""

    files: list[StagedFile]
    """The files without it."""
    total: int = 0
    """Records, and rows of reports."""
    by_table: Counter[str] = field(default_factory=Counter)
    by_load: Counter[int] = field(default_factory=Counter)

    def count(self, loads: pa.ChunkedArray) -> None:
        """Take note of what is repeated, by the load that had it before; null: it came twice in this one."""
        self.total += len(loads)
        counted = loads.drop_null().value_counts().to_pylist()
        self.by_load.update({each["values"]: each["counts"] for each in counted})


def without_duplicates(before: Before, staged: list[StagedFile], work: Path) -> Duplicates:
    """The staged files without what is stored already; files that are not concerned stay as they are."""
    found = Duplicates([])
    settings: Config = {"memory_limit": MEMORY, "temp_directory": str(work / "spill")}
    with duckdb.connect(config=settings) as connection:
        # It would be drawn on standard output, which is for data.
        connection.execute("SET enable_progress_bar = false")
        records = _repeated_records(connection, before, staged, found)
        for file in staged:
            left: StagedFile | None = file
            if records is not None and file.table in _FROM_RECORDS:
                left = _without_records(file, records, found)
            if left and file.table in report_tables():
                left = _without_rows(connection, before, left, found)
            if left:
                found.files.append(left)
    return found


def _without_records(file: StagedFile, repeated: NDArray[np.bool_], found: Duplicates) -> StagedFile | None:
    """Take out the rows of repeated records; rows of reports in the same table have no record number."""

    def keep(rows: pa.Table, _: int) -> NDArray[np.bool_]:
        numbers = rows["record_no"]
        kept: NDArray[np.bool_] = ~repeated[numbers.fill_null(0).to_numpy().astype(np.int64)]
        kept[numbers.is_null().to_numpy()] = True
        return kept

    return _kept(file, keep, found)


def _numbers(rows: pa.Table) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = rows["record_no"].to_numpy().astype(np.int64)
    return numbers


def _repeated_records(
    connection: duckdb.DuckDBPyConnection, before: Before, staged: list[StagedFile], found: Duplicates
) -> NDArray[np.bool_] | None:
    """Which record numbers are repeated; None when no record is."""
    digests = [file for file in staged if file.table == DIGEST_TABLE]
    if not digests:
        return None
    connection.execute(f"CREATE VIEW staged AS SELECT * FROM {_read(f.path for f in digests)}")
    stored = [path for file in digests for path in before.files(file)]
    connection.execute(
        f"CREATE VIEW stored AS SELECT load_id, digest, written_local FROM {_read(sorted(set(stored)))}"
        if stored
        else "CREATE VIEW stored AS SELECT load_id, digest, written_local FROM staged WHERE false"
    )
    # Few records are repeated as a rule, so what costs most, to number them, is done for candidates only.
    repeated = connection.execute(
        """
        WITH twice AS (SELECT digest FROM staged GROUP BY digest HAVING count(*) > 1),
        known AS (
            SELECT staged.record_no, min(stored.load_id) AS load_id
            FROM staged
            INNER JOIN stored
                ON staged.digest = stored.digest
                AND staged.written_local IS NOT DISTINCT FROM stored.written_local
            GROUP BY staged.record_no
        ),
        numbered AS (
            SELECT
                record_no,
                row_number() OVER (PARTITION BY digest, written_local ORDER BY record_no) AS nth
            FROM staged
            WHERE digest IN (FROM twice)
        )
        SELECT record_no, load_id FROM known
        UNION ALL
        SELECT record_no, NULL FROM numbered
        WHERE nth > 1 AND record_no NOT IN (SELECT record_no FROM known)
        """
    ).to_arrow_table()
    if not repeated.num_rows:
        return None
    found.count(repeated["load_id"])
    numbers = _numbers(repeated)
    last = connection.execute("SELECT max(record_no) FROM staged").fetchone()
    assert last is not None
    mask = np.zeros(last[0] + 1, np.bool_)
    mask[numbers] = True
    return mask


def _without_rows(
    connection: duckdb.DuckDBPyConnection, before: Before, file: StagedFile, found: Duplicates
) -> StagedFile | None:
    """Take out the rows of a report that other loads brought, as often as they did.

    Records can fill the same table; their rows, which have a record number, are none of a report.
    """
    stored = before.files(file)
    if not stored:
        return file
    reported = "record_no IS NULL" if file.table in _FROM_RECORDS else "true"
    clock = local_clock(file.table)
    # Rows without a local time say in UTC of when they are.
    dated = clock is None or file.day is not None
    made = _WHERE_FROM | ({utc_clock(clock)} if clock else set())
    said = [name for name in stored_schema(file.table).names if name not in made]
    columns = ", ".join(said)
    same = " AND ".join(f"staged.{name} IS NOT DISTINCT FROM stored.{name}" for name in said)
    repeated = connection.execute(
        f"""
        WITH staged AS (
            SELECT {columns}, file_row_number AS place,
                row_number() OVER (PARTITION BY {columns} ORDER BY file_row_number) AS nth
            FROM read_parquet({literal(str(file.path))}, file_row_number = true, hive_partitioning = false)
            WHERE {reported}
        ),
        stored AS (
            SELECT {columns}, count(*) AS times, min(load_id) AS load_id
            FROM {_read(stored)}
            WHERE {before.loads_for(dated=dated)} AND {reported}
            GROUP BY {columns}
        )
        SELECT staged.place, stored.load_id FROM staged
        INNER JOIN stored ON {same}
        WHERE staged.nth <= stored.times
        """
    ).to_arrow_table()
    if not repeated.num_rows:
        return file
    found.count(repeated["load_id"])
    keep = np.ones(file.rows, np.bool_)
    keep[repeated["place"].to_numpy()] = False
    return _kept(file, lambda rows, first: keep[first : first + rows.num_rows], found)


def _may_meet(stored: DataFile, staged: StagedFile) -> bool:
    """Whether the times of two files overlap; rows without a time can be in any."""
    if stored.first_local is None or staged.first_local is None or staged.last_local is None:
        return True
    return stored.first_local <= staged.last_local and staged.first_local <= (stored.last_local or "")


def _kept(file: StagedFile, keep: Keep, found: Duplicates) -> StagedFile | None:
    """The file written again without some rows; None where none is left."""
    target = file.path.with_name(f"{file.path.stem}-kept.parquet")
    rows = rewrite(file.path, target, keep)
    found.by_table[file.table] += file.rows - rows
    file.path.unlink()
    if not rows:
        return None
    size = target.stat().st_size
    return StagedFile(target, file.table, file.day, rows, size, file.first_local, file.last_local)


def _read(paths: Iterable[Path]) -> str:
    listed = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning = false)"
