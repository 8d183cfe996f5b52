"""The catalogue: every table is there and explained, and only committed files are seen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from tests.marking import deep_except

from zscope.pipelines.metrics import declared
from zscope.pipelines.store import catalogue, catalogue_file, open_reader
from zscope.pipelines.store.catalogue import fill, publish_catalogue
from zscope.pipelines.store.catalogue_file import search
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.pipelines.store.parquet_files import data_tables, parquet_schema, parquet_tables
from zscope.pipelines.store.tables import damaged
from zscope.schemas.arrow import duckdb_type
from zscope.schemas.catalogue_schemas import EVERY_NAME
from zscope.schemas.sql_text import literal

if TYPE_CHECKING:
    from pathlib import Path

PROMISED = (
    "smf119_tcp_init", "smf119_tcp_term", "smf119_zert_detail", "smf119_zert_dn", "smf119_zert_ssh",
    "smf119_zert_ipsec", "smf119_zert_summary", "smf119_zert_summary_ssh", "smf119_zert_summary_ipsec",
    "smf119_ftp_client", "smf119_ftp_server", "smf119_ftp_failure", "smf119_tn3270_init",
    "smf119_tn3270_term", "smf70_interval", "smf70_cpu", "smf70_partition", "smf70_logical_cpu",
    "smf70_crypto_cca", "smf70_crypto_accel", "smf70_icsf", "rmf_interval", "rmf_cpu", "rmf_partition",
    "rmf_crypto", "cpu_interval", "netstat_conn", "netstat_ttls", "netstat_ttls_group", "netstat_all",
    "netstat_config", "netstat_devlink", "gsk_cache_status", "gsk_cache_stats", "gsk_crypto", "cipher",
    "load", "issue", "field_catalog",
)  # fmt: skip


def tables_of(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Tables and views by name, with their comments."""
    search(connection)
    return dict(connection.execute(EVERY_NAME).fetchall())


def test_every_public_table_can_be_queried(sample_store: Path) -> None:
    with open_reader(sample_store) as connection:
        for table in PROMISED:
            connection.execute(f"SELECT * FROM {table} LIMIT 1").to_arrow_table()


READ_ALL = """
import sys
import duckdb

connection = duckdb.connect(sys.argv[1], read_only=True)
connection.execute("SET search_path = 'main,steps,raw'")
connection.execute("SET streaming_buffer_size = '10KB'")
for view in sys.argv[2:]:
    [[count]] = connection.execute(f"SELECT count(*) FROM {view}").fetchall()
    assert len(connection.execute(f"SELECT * FROM {view}").fetchall()) == count > 100, view
"""
"""Reads all rows of views in plain DuckDB, which holds back what the client has not fetched yet."""


def test_all_rows_of_connections_can_be_fetched(sample_store: Path) -> None:
    """Where a part without a join comes first in a union of joins, DuckDB 1.5 can wait for itself forever."""
    views = ("protection_record", "connection_elsewhere", "connection_protection", "tls_connection")
    program = [sys.executable, "-c", READ_ALL, str(existing_store(sample_store).catalogue), *views]
    subprocess.run(program, check=True, timeout=300)


def test_every_metric_is_a_view_with_its_declared_columns(sample_store: Path) -> None:
    """While the catalogue is created, empty tables take the places of views."""
    with open_reader(sample_store) as connection:
        views = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'steps' "
            "ORDER BY column_index"
        ).fetchall()
    assert declared().keys() <= {name for (name,) in views}
    assert not declared().keys() & {name for (name,) in tables}
    for name, found in declared().items():
        expected = [(name, column.name, column.type) for column in found.view_columns]
        assert [column for column in columns if column[0] == name] == expected


def test_a_new_store_has_all_tables_without_rows(tmp_path: Path) -> None:
    folder = make_store(tmp_path / "store")
    publish_catalogue(folder, State())
    with open_reader(folder.path) as connection:
        for table in parquet_tables():
            found = connection.execute(f"SELECT * FROM {table}").to_arrow_table()
            assert found.num_rows == 0
            assert found.column_names == [*parquet_schema(table).names, "day"]


def test_tables_have_the_declared_columns_and_comments(sample_store: Path) -> None:
    with open_reader(sample_store) as connection:
        for table in parquet_tables():
            described = connection.execute(f"DESCRIBE {table}").fetchall()
            types = {name: kind for name, kind, *_ in described}
            declared = {field.name: duckdb_type(field.type) for field in parquet_schema(table)}
            assert types == declared | {"day": "DATE"}, table
        assert all(tables_of(connection)[table] for table in data_tables())
        unexplained = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() "
            "WHERE table_name = 'smf119_zert_detail' AND comment IS NULL AND schema_name IN ('main', 'raw')"
        ).fetchall()
        assert unexplained == []


def test_uncommitted_files_are_not_visible(sample_store: Path, copied_store: Path) -> None:
    folder = existing_store(copied_store)
    known = next((folder.data / "smf70_cpu").rglob("*.parquet"))
    shutil.copy(known, known.with_name("99999999-1.parquet"))
    publish_catalogue(folder, read_state(folder))
    with open_reader(sample_store) as expected, open_reader(copied_store) as seen:
        count = "SELECT count(*) FROM smf70_cpu"
        assert seen.execute(count).fetchone() == expected.execute(count).fetchone()


TROUBLES = ("none", "missing", "damaged", "of the past", "of another folder")


@pytest.mark.parametrize("trouble", deep_except(["damaged", "of the past"], TROUBLES))
def test_readers_see_the_newest_commit_whatever_the_catalogue_is(
    copied_store: Path, tmp_path: Path, trouble: str
) -> None:
    folder = existing_store(copied_store)
    store = copied_store
    match trouble:
        case "missing":
            folder.catalogue.unlink()
        case "damaged":
            folder.catalogue.write_bytes(b"no database")
        case "of the past":
            folder.catalogue.unlink()
            publish_catalogue(folder, State())
        case "of another folder":
            publish_catalogue(folder, read_state(folder))
            store = tmp_path / "moved"
            copied_store.rename(store)
    with open_reader(store) as connection:
        assert connection.execute("SELECT count(*) FROM smf119_zert_detail").fetchone() == (980,)
        assert connection.execute("SELECT count(*) FROM load").fetchone() == (6,)


@pytest.mark.deep
def test_updated_catalogue_equals_a_new_one(copied_store: Path) -> None:
    folder = existing_store(copied_store)
    state = read_state(folder)
    first = State()
    for number in sorted(state.loads)[:3]:
        first.loads[number] = state.loads[number]
    first.files = {
        name: file for name, file in state.files.items() if file.loads.keys() <= first.loads.keys()
    }
    folder.catalogue.unlink()
    publish_catalogue(folder, first)
    publish_catalogue(folder, state)
    fresh = duckdb.connect()
    fill(fresh, folder, state)
    with duckdb.connect(str(folder.catalogue), read_only=True) as grown:
        assert tables_of(grown) == tables_of(fresh)
        for table in tables_of(fresh).keys() - declared().keys():
            count = f"SELECT count(*) FROM {table}"
            assert grown.execute(count).fetchone() == fresh.execute(count).fetchone(), table
        comments = (
            "SELECT schema_name, table_name, column_name, comment FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY ALL"
        )
        assert grown.execute(comments).fetchall() == fresh.execute(comments).fetchall()


@pytest.mark.deep
def test_files_with_fewer_columns_are_read_with_nulls(copied_store: Path) -> None:
    """As a later version of zscope will meet those of this one."""
    import pyarrow.parquet as pq

    folder = existing_store(copied_store)
    state = read_state(folder)
    [path] = [name for name in state.files if name.startswith("netstat_config/")]
    whole = pq.read_table(folder.data / path, partitioning=None)
    less = whole.drop_columns(["value"]).set_column(
        whole.schema.get_field_index("line_no"), "line_no", whole["line_no"].cast(pa.uint32())
    )
    pq.write_table(less, folder.data / path)
    file = state.files[path]
    state.files[path] = type(file)(
        file.path, file.table, file.day, file.rows, file.bytes, file.loads, "of the past", file.digest
    )
    connection = duckdb.connect()
    fill(connection, folder, state)
    found = connection.execute("SELECT line_no, value, day FROM netstat_config").to_arrow_table()
    assert found.num_rows == whole.num_rows
    assert found["value"].null_count == whole.num_rows
    assert found.schema.field("line_no").type == pa.int64()
    assert found["day"].null_count == 0


def test_an_interrupted_publication_leaves_the_old_catalogue(
    copied_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = existing_store(copied_store)
    before = folder.catalogue.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish_catalogue(folder, read_state(folder))
    assert folder.catalogue.read_bytes() == before
    assert [name for name in os.listdir(folder.path) if name.startswith(".zscope")] == []  # noqa: PTH208


def test_every_column_is_in_the_field_catalogue(sample_store: Path) -> None:
    with open_reader(sample_store) as connection:
        missing = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE table_name IN (SELECT unnest(?)) "
            "EXCEPT SELECT table_name, column_name FROM field_catalog",
            [list(data_tables())],
        ).fetchall()
        assert missing == []


@pytest.mark.parametrize(
    ("package", "file"),
    [
        ("zscope.schemas", "layouts/smf119_11.toml"),
        ("zscope.pipelines", "metrics/macros.sql"),
        ("zscope.pipelines", "quality/validation_results.py"),
    ],
)
def test_every_declaration_is_in_the_digest(
    package: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(catalogue_file.folder_of(package), copy)
    folder_of = catalogue_file.folder_of
    monkeypatch.setattr(
        catalogue_file, "folder_of", lambda name: str(copy) if name == package else folder_of(name)
    )
    digest = catalogue_file.digest_of_declarations.__wrapped__
    assert digest() == catalogue_file.digest_of_declarations()
    with (copy / file).open("a", encoding="utf-8") as changed:
        changed.write("\n")
    assert digest() != catalogue_file.digest_of_declarations()


def test_a_text_is_quoted_for_duckdb() -> None:
    text = 'it\'s \\ "here"\n; --'
    assert duckdb.execute(f"SELECT {literal(text)}").fetchone() == (text,)


def test_a_connection_uses_all_processors(sample_store: Path) -> None:
    """The file is attached with one thread."""
    setting = "SELECT current_setting('threads')"
    with open_reader(sample_store) as connection, duckdb.connect() as client:
        assert connection.execute(setting).fetchone() == client.execute(setting).fetchone()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM damaged",
        "SELECT * FROM damaged WHERE system = 'SYSA'",
        "SELECT count(*) FROM damaged WHERE interval_ms > 1 AND day >= DATE '2026-01-01'",
        "SELECT system, sum(interval_ms) FROM damaged GROUP BY ALL HAVING sum(interval_ms) > 1",
        "SELECT * FROM damaged JOIN (SELECT 'SYSA' AS system) USING (system)",
        "SELECT * FROM (SELECT 'SYSA' AS system) LEFT JOIN damaged USING (system)",
        "SELECT 'SYSA' IN (SELECT system FROM damaged)",
        "SELECT system FROM damaged WHERE system > 'A' UNION ALL SELECT 'SYSA'",
    ],
)
def test_no_query_of_damaged_files_answers_as_if_there_were_no_rows(query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW damaged AS {damaged('smf70_interval')}")
        with pytest.raises(duckdb.InvalidInputException, match="smf70_interval are missing or damaged"):
            connection.execute(query).fetchall()


def test_what_a_catalogue_shows_is_read_once_for_each_file(
    copied_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening the file takes longer than the load of a small one, which asks three times."""
    folder = existing_store(copied_store)
    state = read_state(folder)
    publish_catalogue(folder, state)
    current = catalogue_file.newest(folder)
    with monkeypatch.context() as patch:
        patch.setattr(catalogue_file, "attach_catalogue", lambda _: pytest.fail("the file is opened again"))
        assert catalogue_file.shown_by(folder) == current
    earlier = folder.catalogue.read_bytes()
    folder.runs.write_text('[[run]]\nname = "other"\nsystem = "SYSA"\n', encoding="utf-8")
    publish_catalogue(folder, state)
    assert catalogue_file.shown_by(folder) == catalogue_file.newest(folder) != current
    folder.catalogue.write_bytes(earlier)
    assert catalogue_file.shown_by(folder) == current
    folder.catalogue.unlink()
    assert catalogue_file.shown_by(folder) == ()
