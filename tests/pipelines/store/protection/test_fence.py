"""Table functions that statements cannot call, and temporary files that a killed session left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import duckdb
import pytest
from tests.pipelines.store.forked import CHECKOUT
from tests.pipelines.store.test_session import make_store, rows

from zscope.pipelines.metrics import metric, statement
from zscope.pipelines.store import session as module
from zscope.pipelines.store import sql_sandbox
from zscope.pipelines.store.session import Session, delete_leftovers
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_store(tmp_path_factory.mktemp("fence"))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def fenced(folder: Path, **limits: str) -> Session:
    connection = duckdb.connect()
    connection.execute("CREATE VIEW conn AS SELECT 443 AS port")
    return Session.guard(connection, folder, threads=1, **limits)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def session(store: Path) -> Iterator[Session]:
    with fenced(store) as opened:
        yield opened


REFUSED = [
    "SELECT * FROM enable_logging(storage = 'stdout')",
    "SELECT * FROM enable_logging(storage = 'file')",
    "SELECT * FROM Enable_Logging ()",
    "SELECT * FROM \"enable_logging\"(storage = 'stdout')",
    "SELECT * FROM system.main.enable_logging(storage = 'stdout')",
    "SELECT * FROM enable_logging /* ( */ -- (\n (storage = 'stdout')",
    "CREATE TEMP TABLE x AS FROM enable_profiling()",
    "CREATE TEMP MACRO x() AS TABLE FROM enable_logging()",
    "EXPLAIN ANALYZE FROM enable_logging()",
    "SELECT (SELECT count(*) FROM force_checkpoint())",
    "FROM query('FROM enable_logging()')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM enable_logging()'))",
    "FROM read_csv('/etc/passwd')",
    "FROM read_duckdb('/tmp/x.duckdb')",
    "FROM truncate_duckdb_logs()",
    "FROM conn, LATERAL (FROM which_secret('x', 's3'))",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_other_table_functions_are_refused_by_name(statement: str, session: Session) -> None:
    with pytest.raises(QueryError, match=r"^the table function \w+ is not allowed: statements can only"):
        session.run(statement)


def test_a_serialized_statement_is_refused(session: Session) -> None:
    """DuckDB replaces the pragma by the statement in it before anybody can check the pragma."""
    [row] = rows(session, "SELECT json_serialize_sql('FROM enable_logging()')")
    assert isinstance(row, tuple)
    text = str(row[0])
    with pytest.raises(QueryError, match="json_execute_serialized_sql is not allowed"):
        session.run(f"PRAGMA json_execute_serialized_sql('{text}')")


ALLOWED = [
    "FROM range(3)",
    "SELECT unnest([1, 2])",
    "FROM unnest([1, 2])",
    "FROM generate_series(1, 3)",
    "SELECT repeat('x', 3), 'enable_logging(' AS \"enable_logging\" -- enable_logging(",
    "FROM json_each('[1, 2]')",
    "FROM query_table('conn')",
    "SELECT count(*) FROM duckdb_columns()",
    "PRAGMA table_info('conn')",
    "SUMMARIZE conn",
    "SELECT max(port), list_transform([1], lambda x: x + 1) FROM conn",
]


@pytest.mark.parametrize("statement", ALLOWED)
def test_functions_that_return_rows_are_allowed(statement: str, session: Session) -> None:
    assert rows(session, statement)


def test_no_name_that_needs_no_list_is_a_table_function() -> None:
    with duckdb.connect() as connection:
        listed = sql_sandbox._table_functions(connection)
    assert {"enable_logging", "read_csv", "range"} <= listed
    assert not listed & sql_sandbox._OF_VALUES
    assert not listed & sql_sandbox._macros()
    assert "code_text" in sql_sandbox._macros()


@pytest.mark.parametrize("name", ["handshake_mix", "cpu_per_transaction", "tls_posture"])
def test_metrics_run_without_a_list_of_the_functions(name: str) -> None:
    """DuckDB takes longer to list them than to plan most metrics."""
    called = {each for each in sql_sandbox._called(statement(metric(name))) if each.isidentifier()}
    assert called <= sql_sandbox._ALLOWED_FUNCTIONS | sql_sandbox._OF_VALUES | sql_sandbox._macros()


LOGGED = """
import sys
from pathlib import Path
import duckdb
from zscope.pipelines.store.session import Session
from zscope.pipelines.store.sql_sandbox import QueryError

with Session.guard(duckdb.connect(), Path(sys.argv[1])) as session:
    for text in ("FROM enable_logging(storage = 'stdout')", "SELECT write_log('x')", "SELECT 1"):
        try:
            list(session.run(text).batches)
        except QueryError as error:
            print(error, file=sys.stderr)
"""


def test_nothing_but_rows_comes_to_standard_output(store: Path) -> None:
    """There the workbench expects the rows of its process."""
    command = [sys.executable, "-c", LOGGED, str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "enable_logging is not allowed" in done.stderr
    assert done.stdout == ""


def test_the_space_for_temporary_files_is_limited(store: Path, temporary: Path) -> None:
    text = "SELECT range, hash(range) AS h FROM range(6000000) ORDER BY h"
    with (
        fenced(store, memory="64MB", spill_size="10MB") as session,
        pytest.raises(QueryError, match=r"failed to offload .*; increase --temp-size or --memory"),
    ):
        rows(session, text)
    assert not list(temporary.iterdir())


def test_by_default_half_of_the_free_space_can_be_used(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "disk_usage", lambda _: SimpleNamespace(free=10 << 30))
    with fenced(store) as session:
        assert rows(session, "SELECT current_setting('max_temp_directory_size')") == [("5.0 GiB",)]
    with fenced(store, spill_size="3MiB") as session:
        assert rows(session, "SELECT current_setting('max_temp_directory_size')") == [("3.0 MiB",)]


WAITING = """
import sys, time
from pathlib import Path
import duckdb
from zscope.pipelines.store.session import Session

session = Session.guard(duckdb.connect(), Path(sys.argv[1]))
print("ready", flush=True)
time.sleep(60)
"""


def test_the_folder_of_a_killed_session_is_deleted_by_the_next(store: Path, temporary: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(store)],
        cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        [left] = temporary.iterdir()
        with fenced(store):
            assert left.is_dir(), "its process still runs"
        process.send_signal(signal.SIGKILL)
    assert left.is_dir()
    with fenced(store):
        assert not left.exists()
    assert not list(temporary.iterdir())


def test_folders_of_earlier_versions_are_deleted_after_a_day(store: Path, temporary: Path) -> None:
    old, new, other = (temporary / name for name in ("zscope-sql-old", "zscope-sql-new", "other-sql-old"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "duckdb_temp_storage.tmp").write_bytes(b"x")
    (temporary / "zscope-sql-link").symlink_to(other)
    yesterday = time.time() - 2 * 24 * 3600
    for folder in (old, other):
        os.utime(folder, (yesterday, yesterday))
    with fenced(store):
        pass
    assert sorted(path.name for path in temporary.iterdir()) == [
        "other-sql-old", "zscope-sql-link", "zscope-sql-new",
    ]  # fmt: skip
    assert list(other.iterdir())


def test_folders_of_other_users_are_not_deleted(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, killed = temporary / "zscope-sql-old", temporary / "zscope-sql-killed"
    old.mkdir()
    killed.mkdir()
    (killed / "lock").touch()
    yesterday = time.time() - 2 * 24 * 3600
    os.utime(old, (yesterday, yesterday))
    with monkeypatch.context() as other_user:
        other_user.setattr(os, "geteuid", lambda: old.stat().st_uid + 1)
        delete_leftovers()
    assert old.is_dir()
    assert killed.is_dir()
    delete_leftovers()
    assert not list(temporary.iterdir()), "they are those of the same user"


def test_a_session_can_be_closed_twice(store: Path, temporary: Path) -> None:
    """The second time, the number of the lock's handle can be that of another file."""
    session = fenced(store)
    session.close()
    with (temporary / "other").open("wb") as other:
        session.close()
        other.write(b"x")
