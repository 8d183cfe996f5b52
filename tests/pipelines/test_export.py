"""Exported tables have the contents of the store, and exports are complete or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pipelines.stores import plain_client

from zscope.pipelines.export import ExportSource, RowFilter, export_database, export_files
from zscope.pipelines.export_target import ExportError, new_file, new_folder, remove_leftovers
from zscope.pipelines.metrics import declared
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.session import Session
from zscope.schemas.stored import DAY, stored_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Counts = dict[str, int]


@pytest.fixture
def source(sample_store: Path) -> Iterator[ExportSource]:
    with Session.guard(open_reader(sample_store), sample_store) as session:
        yield ExportSource(session)


def write_parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
    with pq.ParquetWriter(out, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def files(source: ExportSource, tables: list[str], target: Path) -> Counts:
    """Export to Parquet and return the reported rows by table."""
    rows_by_table: Counts = {}
    export_files(source, tables, target, ".parquet", write_parquet, rows_by_table.__setitem__)
    return rows_by_table


def test_files_have_the_metadata_of_the_columns(source: ExportSource, tmp_path: Path) -> None:
    rows_by_table = files(source, ["smf70_logical_cpu", "gsk_cache_status", "cipher"], tmp_path / "out")
    assert rows_by_table["smf70_logical_cpu"] == 4224
    for table in ("smf70_logical_cpu", "gsk_cache_status"):
        schema = pq.read_schema(tmp_path / "out" / f"{table}.parquet")
        declared = [*stored_schema(table), DAY]
        assert [(f.name, f.type) for f in schema] == [(f.name, f.type) for f in declared]
        assert [_meaning(f) for f in schema] == [_meaning(f) for f in declared]
        assert schema.metadata[b"table"] == table.encode()
    vendor = {f.name: f.metadata.get(b"vendor_name") for f in schema if f.metadata}
    assert any(vendor.values())


def _meaning(field: pa.Field) -> dict[bytes, bytes]:
    return {key: value for key, value in (field.metadata or {}).items() if key != b"PARQUET:field_id"}


@pytest.mark.deep
def test_files_have_the_rows_of_the_store(source: ExportSource, tmp_path: Path) -> None:
    tables = [table for table in source.names_with_rows() if not table.startswith("code_")]
    rows_by_table = files(source, tables, tmp_path / "out")
    assert "zscope_store" not in rows_by_table
    assert "record_digest" not in rows_by_table
    for table in tables:
        expected = source.rows(table, "ORDER BY ALL")
        rows = pa.Table.from_batches(list(expected.batches), expected.schema)
        path = tmp_path / "out" / f"{table}.parquet"
        found = duckdb.sql(f"FROM read_parquet('{path}', hive_partitioning = false) ORDER BY ALL").arrow()
        assert rows_by_table[table] == rows.num_rows > 0
        assert found.read_all().cast(rows.schema) == rows, table


def test_a_database_has_real_tables_with_comments(
    source: ExportSource, sample_store: Path, tmp_path: Path
) -> None:
    target = tmp_path / "all.duckdb"
    tables = ["smf70_cpu", "netstat_conn", "cpu_interval", "cipher", "code_handshake_type", "load", "issue"]
    rows_by_table: Counts = {}
    export_database(source, tables, target, rows_by_table.__setitem__)
    with (
        duckdb.connect(str(target), read_only=True) as copy,
        plain_client(sample_store) as store,
    ):
        assert copy.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone() == (0,)
        for table in tables:
            rows = f"FROM {table} ORDER BY ALL"
            assert copy.execute(rows).fetchall() == store.execute(rows).fetchall()
            columns = f"SELECT name, type FROM pragma_table_info('{table}')"
            assert copy.execute(columns).fetchall() == store.execute(columns).fetchall()
            comments = (
                "SELECT comment FROM duckdb_columns() "
                f"WHERE schema_name = '{{}}' AND table_name = '{table}' ORDER BY column_index"
            )
            place = "steps" if table in declared() else "raw"
            of_store = store.execute(comments.format(place)).fetchall()
            assert copy.execute(comments.format("main")).fetchall() == of_store
        [meaning] = copy.execute("SELECT comment FROM duckdb_tables() WHERE table_name = 'cipher'").fetchall()
        required = copy.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'cipher' AND NOT is_nullable"
        ).fetchall()
    assert rows_by_table["netstat_conn"] > 0
    assert meaning[0].startswith("Cipher suites by the hexadecimal number")
    assert ("code",) in required
    assert [path.name for path in tmp_path.iterdir()] == ["all.duckdb"]


def test_a_filter_selects_days_and_systems(sample_store: Path) -> None:
    def count(cut: RowFilter, table: str) -> int:
        with Session.guard(open_reader(sample_store), sample_store) as session:
            return sum(batch.num_rows for batch in ExportSource(session, cut).rows(table).batches)

    monday = date(2026, 3, 2)
    assert count(RowFilter(monday, monday, ("SYSA",)), "smf70_interval") == count(
        RowFilter(end=monday, systems=("SYSA",)), "smf70_interval"
    )
    assert count(RowFilter(systems=("SYSA", "it's")), "smf70_interval") == 96
    assert count(RowFilter(begin=date(2030, 1, 1)), "cpu_interval") == 0
    assert count(RowFilter(begin=date(2030, 1, 1)), "load") == count(RowFilter(), "load") > 0


@pytest.mark.parametrize(
    ("columns", "condition"),
    [
        (["written_local", "day"], "day >= $begin AND day <= $end"),
        (["system"], "list_contains($systems, system)"),
        (["taken_local"], "CAST(taken_local AS DATE) >= $begin AND CAST(taken_local AS DATE) <= $end"),
        (["code", "text"], "true"),
    ],
)  # fmt: skip
def test_a_filter_only_uses_columns_of_the_table(columns: list[str], condition: str) -> None:
    text, parameters = RowFilter(date(2026, 3, 2), date(2026, 3, 3), ("SYSA",)).where(columns)
    assert text == condition
    assert all(f"${name}" in text for name in parameters)


def test_a_failed_export_does_not_change_an_existing_one(source: ExportSource, tmp_path: Path) -> None:
    target = tmp_path / "out"
    files(source, ["load"], target)
    before = (target / "load.parquet").read_bytes()

    def write_and_fail(schema: pa.Schema, batches: Iterable[pa.RecordBatch], out: BinaryIO) -> None:
        write_parquet(schema, batches, out)
        raise OSError(28, "No space left on device")

    with pytest.raises(ExportError, match="out: No space left on device; nothing was written"):
        export_files(source, ["cipher"], target, ".parquet", write_and_fail, lambda _table, _rows: None)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (target / "load.parquet").read_bytes() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_export_leaves_no_files(error: type[BaseException], tmp_path: Path) -> None:
    def fill_folder() -> None:
        with new_folder(tmp_path / "out") as folder:
            (folder / "a.parquet").write_text("half")
            raise error

    def fill_file() -> None:
        with new_file(tmp_path / "out.duckdb") as file:
            file.write_text("half")
            file.with_name(f"{file.name}.wal").write_text("half")
            raise error

    for fill in (fill_folder, fill_file):
        with pytest.raises(error):
            fill()
        assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_replaced_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old.parquet").write_text("old")
    rename = Path.rename

    def refuse_new(self: Path, other: Path) -> Path:
        if self.name.endswith(".part"):
            raise PermissionError(1, "Operation not permitted")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with (
        pytest.raises(ExportError, match="out: Operation not permitted; nothing was written"),
        new_folder(target) as folder,
    ):
        (folder / "new.parquet").write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (target / "old.parquet").read_text() == "old"


EXPORTED = """
import resource, sys
from pathlib import Path
import duckdb
from zscope.pipelines import export
from zscope.pipelines.store.session import Session

export._MEMORY = "64MB"
folder = Path(sys.argv[1])
connection = duckdb.connect()
for name, count in (("few", 100_000), ("many", 2_000_000)):
    columns = "range AS n, hash(range)::VARCHAR || hash(range + 1)::VARCHAR || hash(range + 2)::VARCHAR AS t"
    connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM range({count})")
with Session.guard(connection, folder, memory="64MB", threads=2) as session:
    for name in ("few", "many"):
        source = export.ExportSource(session)
        export.export_database(source, [name], folder / f"{name}.duckdb", lambda *row: None)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.deep
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """Export about 150 MB in a new process, whose peak memory can be measured."""
    command = [sys.executable, "-c", EXPORTED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    few, many = map(int, done.stdout.split())
    assert many - few < 180_000
    assert (tmp_path / "many.duckdb").stat().st_size > 70_000_000


DEAD = 2**22 + 1
"""A number that Linux gives to no process."""


@pytest.mark.parametrize("process", [DEAD, os.getpid()], ids=["another", "the same"])
def test_leftovers_of_a_killed_export_are_deleted(process: int, tmp_path: Path) -> None:
    """In a container the next process often has the number of the killed one."""
    for ending in ("part", "part.wal"):
        (tmp_path / f".out.duckdb.{process}.{ending}").write_bytes(b"half")
    (tmp_path / f".out.duckdb.{process}.part.tmp").mkdir()
    with new_file(tmp_path / "out.duckdb") as file:
        file.write_bytes(b"all")
    assert [path.name for path in tmp_path.iterdir()] == ["out.duckdb"]


def test_leftovers_of_others_stay(tmp_path: Path) -> None:
    others = [f".out.{os.getppid()}.part", f".out2.{DEAD}.part", f".out.{DEAD}.part.txt", ".out.x.part"]
    for name in others:
        (tmp_path / name).write_bytes(b"half")
    with new_folder(tmp_path / "out") as folder:
        (folder / "file").touch()
    assert {path.name for path in tmp_path.iterdir()} == {"out", *others}


def test_a_folder_whose_replacement_was_killed_gets_its_name_back(tmp_path: Path) -> None:
    for ending in ("old", "part"):
        (tmp_path / f".out.{DEAD}.{ending}").mkdir()
        (tmp_path / f".out.{DEAD}.{ending}" / ending).touch()
    remove_leftovers(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["old"]
