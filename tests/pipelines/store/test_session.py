"""Users' statements on a store: what they may do, what they may not, and how they end."""

from __future__ import annotations

import _thread
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.pipelines.store.forked import CHECKOUT
from tests.pipelines.stores import open_session

from zscope.pipelines.store import open_reader, sql_sandbox
from zscope.pipelines.store.session import Session
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Tree: TypeAlias = dict[str, bytes]

PARQUET = re.compile(r"'([^']+\.parquet)'")
SLOW = "SELECT a.range FROM range(1000000) a, range(100000000) b WHERE a.range * b.range = -5"
"""Never gives a row, and takes for ever."""


def make_store(place: Path) -> Path:
    """A catalogue with a view over a file, a table, and next to the file one that no view names."""
    folder = place / "it's a store"
    data = folder / "data" / "conn" / "day=2026-03-02"
    data.mkdir(parents=True)
    rows = pa.table({"port": pa.array([443, 22], pa.uint16()), "job": ["WEB", "SSHD"]})
    pq.write_table(rows, data / "1-0.parquet")
    pq.write_table(rows, data / "uncommitted.parquet")
    (folder / "note.txt").write_text("in the store")
    (place / "note.txt").write_text("outside")
    pq.write_table(rows, place / "outside.parquet")
    (folder / "link.txt").symlink_to(place / "note.txt")
    (folder / "out").symlink_to(place)
    path = str(data / "1-0.parquet").replace("'", "''")
    with duckdb.connect(str(folder / "zscope.duckdb")) as connection:
        connection.execute(
            f"CREATE VIEW conn AS SELECT * FROM read_parquet(['{path}'], hive_types = {{'day': DATE}})"
        )
        connection.execute("CREATE VIEW busy AS SELECT port FROM conn WHERE job = 'WEB'")
        connection.execute("CREATE TABLE load AS SELECT 1 AS load_id, 'a.smf' AS file")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store to do things to."""
    return make_store(tmp_path)


@pytest.fixture(scope="module")
def kept_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that must be as it was after each test."""
    return make_store(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def kept_session(kept_store: Path) -> Iterator[Session]:
    with open_session(kept_store) as opened:
        yield opened


@pytest.fixture
def session(store: Path) -> Iterator[Session]:
    with open_session(store) as opened:
        yield opened


def rows(
    session: Session, statement: str | duckdb.Statement, parameters: dict[str, object] | None = None
) -> list[object]:
    """All rows of a statement as tuples."""
    result = session.run(statement, parameters)
    assert result is not None
    return [tuple(row.values()) for batch in result.batches for row in batch.to_pylist()]


def tree(folder: Path) -> Tree:
    """Every file below a folder with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_tables_and_views_are_read(session: Session) -> None:
    assert rows(session, "SELECT port, job, day::VARCHAR FROM conn ORDER BY port") == [
        (22, "SSHD", "2026-03-02"),
        (443, "WEB", "2026-03-02"),
    ]
    assert rows(session, "FROM busy") == [(443,)]
    assert rows(session, "SELECT file FROM load WHERE load_id = $id", {"id": 1}) == [("a.smf",)]
    assert rows(session, "SHOW TABLES") == [("busy",), ("conn",), ("load",)]
    assert rows(session, "SELECT column_name FROM (DESCRIBE conn)")[0] == ("port",)
    assert rows(session, "PIVOT conn ON job USING count(*) GROUP BY day")[0][1:] == (1, 1)  # type: ignore[index]
    assert rows(session, "EXPLAIN SELECT * FROM conn")


def test_a_store_behind_links_is_read(store: Path, tmp_path: Path) -> None:
    """As where the data lie on another disk, or the folder has a second name."""
    disk = tmp_path / "disk"
    (store / "data").rename(disk)
    (store / "data").symlink_to(disk)
    other = tmp_path / "other"
    other.symlink_to(store)
    for folder in (store, other):
        with open_session(folder) as session:
            assert len(rows(session, "FROM conn")) == 2


@pytest.mark.parametrize(
    "path",
    [
        "{tmp}/outside.parquet",
        "{store}/../outside.parquet",
        "{store}/data/../../outside.parquet",
        "{store}/out/outside.parquet",
        "{store}/data/file.parquet",
        "{store}/data/day=2026-03-03/outside.parquet",
    ],
)
def test_a_view_opens_no_file_outside_of_the_folder(path: str, store: Path, tmp_path: Path) -> None:
    (store / "data" / "file.parquet").symlink_to(tmp_path / "outside.parquet")
    (store / "data" / "day=2026-03-03").symlink_to(tmp_path)
    connection = duckdb.connect()
    inside = store / "data/conn/day=2026-03-02/1-0.parquet"
    for name, file in (("conn", str(inside)), ("other", path.format(tmp=tmp_path, store=store))):
        text = file.replace("'", "''")
        connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{text}')")
    assert len(connection.execute("FROM other").fetchall()) == 2
    with Session.guard(connection, store) as session:
        assert len(rows(session, "FROM conn")) == 2
        with pytest.raises(QueryError, match=r"\.parquet: statements can only open the data files"):
            session.run("FROM other")


def test_the_catalogue_stores_the_files_of_all_its_views(sample_store: Path) -> None:
    """Only these files can be opened, and DuckDB takes long to write the text of all views."""
    with open_reader(sample_store) as connection:
        stored, written = (
            {name for (text,) in connection.execute(query).fetchall() for name in PARQUET.findall(text)}
            for query in (
                "SELECT made_by FROM files.zscope_view",
                "SELECT sql FROM duckdb_views() WHERE NOT internal",
            )
        )
    assert stored == written
    assert len(stored) > 10


OPENED_ELSEWHERE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_parquet('{tmp}/outside.parquet')",
    "SELECT * FROM '{tmp}/outside.parquet'",
    "SELECT * FROM parquet_metadata('{tmp}/outside.parquet')",
    "SELECT * FROM read_parquet('{store}/../outside.parquet')",
    "SELECT * FROM read_parquet('{store}/data/conn/day=2026-03-02/../../../../outside.parquet')",
    "SELECT * FROM read_parquet('{store}/out/outside.parquet')",
    "SELECT * FROM read_text('{store}/link.txt')",
    "SELECT * FROM read_text('{store}/note.txt')",
    "SELECT * FROM read_parquet('{store}/data/conn/*/*.parquet')",
    "SELECT * FROM read_parquet('{store}/data/conn/day=2026-03-02/uncommitted.parquet')",
    "SELECT * FROM read_parquet('https://example.invalid/x.parquet')",
    "SELECT * FROM query('FROM read_text(''/etc/passwd'')')",
    "IMPORT DATABASE '{store}'",
    "EXPLAIN ANALYZE SELECT * FROM read_text('/etc/passwd')",
    "CREATE TEMP TABLE x AS FROM read_text('/etc/passwd')",
]


@pytest.mark.parametrize("statement", OPENED_ELSEWHERE)
def test_no_other_file_is_opened(statement: str, kept_session: Session, kept_store: Path) -> None:
    text = statement.format(store=str(kept_store).replace("'", "''"), tmp=kept_store.parent)
    with pytest.raises(QueryError, match=": statements can only open the data files of the sto"):
        kept_session.run(text)


NOT_A_QUESTION = [
    "COPY conn TO '{place}/x.csv'",
    "COPY (SELECT 1) TO '{place}/data/conn/day=2026-03-02/1-0.parquet'",
    "  -- innocent\n /* ; */ COPY conn TO '{place}/x.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{place}/data/conn/day=2026-03-02/1-0.parquet'",
    "EXPLAIN (ANALYZE) cOpY (SELECT 1) TO '{place}/x.csv'",
    "PREPARE p AS COPY (SELECT 1) TO '{place}/x.csv'",
    "EXPLAIN ANALYZE EXECUTE p",
    "EXPORT DATABASE '{place}/exported'",
    "ATTACH '{place}/new.duckdb'",
    "ATTACH '{place}/zscope.duckdb' AS again",
    "DETACH zscope",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{place}/x.duckdb_extension'",
    "UPDATE EXTENSIONS",
    "CALL enable_logging(storage = 'file', storage_path = '{place}/log')",
    "PRAGMA enable_profiling",
    "PRAGMA disable_optimizer",
    "CHECKPOINT",
    "VACUUM",
]


@pytest.mark.parametrize("statement", NOT_A_QUESTION)
@pytest.mark.parametrize("inside", [True, False])
def test_statements_that_write_are_refused(
    statement: str, kept_session: Session, kept_store: Path, *, inside: bool
) -> None:
    before = tree(kept_store.parent)
    place = str(kept_store).replace("'", "''") if inside else kept_store.parent
    with pytest.raises(QueryError, match="is not allowed: statements can read the tables of the store"):
        kept_session.run(statement.format(place=place))
    assert tree(kept_store.parent) == before


@pytest.mark.parametrize(
    "statement",
    [
        "DROP VIEW conn",
        "DELETE FROM load",
        "UPDATE load SET file = 'x'",
        "INSERT INTO load VALUES (2, 'x')",
        "CREATE TABLE mine AS SELECT 1",
        "ALTER TABLE load ADD COLUMN x INTEGER",
        "CREATE OR REPLACE VIEW conn AS SELECT 1",
    ],
)
def test_the_store_is_not_changed(statement: str, kept_session: Session, kept_store: Path) -> None:
    before = tree(kept_store.parent)
    with pytest.raises(QueryError, match="read-only"):
        kept_session.run(statement)
    assert tree(kept_store.parent) == before


@pytest.mark.parametrize(
    "setting",
    [
        "memory_limit = '99GB'", "threads = 99", "enable_external_access = true", "TimeZone = 'CET'",
        "GLOBAL lock_configuration = false", "allowed_directories = ['/']", "temp_directory = '/tmp'",
        "profiling_output = '/tmp/x'", "autoload_known_extensions = true",
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["SET", "PRAGMA"])
def test_settings_are_locked(verb: str, setting: str, kept_session: Session) -> None:
    with pytest.raises(QueryError):
        kept_session.run(f"{verb} {setting}")
    name = setting.removeprefix("GLOBAL ").partition(" ")[0]
    with pytest.raises(QueryError, match="configuration has been locked"):
        kept_session.run(f"RESET {name}")


def test_functions_with_side_effects_do_not_write(session: Session, tmp_path: Path) -> None:
    """They are called in a plain SELECT, so only the files that may be opened stop them."""
    before = tree(tmp_path)
    store = str(tmp_path / "it''s a store")
    for call in (
        f"enable_logging(storage = 'file', storage_path = '{store}/log')",
        f"enable_logging(storage = 'file', storage_path = '{store}/data/log.csv')",
        f"enable_profiling(save_location = '{store}/profile.json', format = 'json')",
    ):
        for statement in (f"SELECT * FROM {call}", "SELECT 1"):
            try:
                rows(session, statement)
            except QueryError as error:
                assert "statements can only open" in str(error)  # noqa: PT017 - some of them fail later
    assert tree(tmp_path) == before


def test_names_are_not_python_variables(session: Session) -> None:
    secret = pa.table({"password": ["x"]})
    with pytest.raises(QueryError, match="Table with name secret does not exist"):
        session.run("FROM secret")
    assert secret.num_rows == 1


def test_a_missing_table_comes_with_a_suggestion(session: Session) -> None:
    with pytest.raises(QueryError, match=r'Table with name con does not exist!\nDid you mean "conn"'):
        session.run("SELECT * FROM con")


@pytest.mark.parametrize("statement", ["SELEC 1", "SELECT nix FROM conn", "SELECT 'a"])
def test_sql_errors_have_the_message_of_duckdb(statement: str, kept_session: Session) -> None:
    with pytest.raises(QueryError, match=r"^(Parser|Binder) Error: "):
        kept_session.run(statement)


def test_error_after_the_first_rows_is_raised(store: Path) -> None:
    text = "SELECT CASE WHEN range = 900000 THEN error('boom') ELSE range END FROM range(1000000)"
    # With several threads, DuckDB can report the interruption of another thread instead.
    with open_session(store, threads=1) as session:
        with pytest.raises(QueryError, match="Invalid Input Error: boom"):
            rows(session, text)
        assert rows(session, "SELECT 1") == [(1,)]


def test_statements_run_in_order_and_temporary_tables_stay(session: Session) -> None:
    text = "CREATE TEMP TABLE mine AS FROM conn; SET VARIABLE least = 100; SELECT count(*) FROM mine WHERE "
    found = session.statements(text + "port > getvariable('least'); -- ;\n;")
    results = [session.run(statement) for statement in found]
    assert [result is None for result in results] == [True, True, False]
    assert results[2] is not None
    assert next(results[2].batches).to_pylist() == [{"count_star()": 1}]


def test_exactly_one_statement_is_accepted(session: Session) -> None:
    for text in ("", "-- nothing", "SELECT 1; SELECT 2"):
        with pytest.raises(QueryError, match="exactly one statement is expected"):
            session.run(text)


def test_one_invalid_statement_prevents_all(session: Session) -> None:
    with pytest.raises(QueryError, match="COPY is not allowed"):
        session.statements("SELECT 1; COPY conn TO 'x.csv'")


def test_rows_are_available_until_the_next_statement(session: Session) -> None:
    """DuckDB would just say that there are no more."""
    first = session.run("SELECT * FROM range(1000000)")
    assert first is not None
    next(first.batches)
    session.run("SELECT 1")
    with pytest.raises(RuntimeError, match="after the next one has started"):
        next(first.batches)


STREAMED = """
import resource, sys
from pathlib import Path
from tests.pipelines.stores import open_session

store = Path(sys.argv[1])
with open_session(store, memory="64MB", threads=2) as session:
    peaks = []
    for count in (100_000, 4_000_000):
        result = session.run(f"SELECT range, repeat('x', 100) || range AS t FROM range({count})")
        assert sum(batch.num_rows for batch in result.batches) == count
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(*peaks)
"""


def test_rows_are_streamed_and_not_collected(store: Path) -> None:
    """Some 450 MB of them, in a process of its own, whose greatest size can be told."""
    command = [sys.executable, "-c", STREAMED, str(store)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    few, many = map(int, done.stdout.split())
    assert many - few < 100_000


def test_limits_are_applied(store: Path) -> None:
    with open_session(store, memory="64MB", threads=3) as session:
        assert rows(session, "SELECT current_setting('threads')") == [(3,)]
        with pytest.raises(QueryError, match=r"^Out of Memory Error: .*; increase --memory"):
            rows(session, "SELECT length(string_agg(range::VARCHAR, ',')) FROM range(30000000)")


def test_a_store_with_few_rows_is_read_by_one_thread(
    sample_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "SELECT current_setting('threads')"
    with duckdb.connect() as connection:
        usual = connection.execute(asked).fetchall()
    with open_session(sample_store) as session:
        assert rows(session, asked) == [(1,)]
    with open_session(sample_store, threads=3) as session:
        assert rows(session, asked) == [(3,)]
    monkeypatch.setattr(sql_sandbox, "_FEW_ROWS", 100)
    with open_session(sample_store) as session:
        assert rows(session, asked) == usual


def test_types_are_portable_whoever_has_written_the_statement(session: Session) -> None:
    text = "SELECT range AS number, to_days(range::INTEGER) AS days FROM range(3)"
    by_zscope, [by_the_user] = text, session.statements(text)
    for statement in (by_zscope, by_the_user):
        assert rows(session, statement) == [(0, "00:00:00"), (1, "1 day"), (2, "2 days")]


def test_no_progress_bar_on_standard_output(session: Session) -> None:
    assert rows(session, "SELECT current_setting('enable_progress_bar')") == [(False,)]


def test_invalid_memory_limit_is_an_error(store: Path) -> None:
    with pytest.raises(QueryError, match="Unknown unit for memory: 'apples'"):
        open_session(store, memory="3 apples")


def test_temporary_folder_is_deleted_with_the_session(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    with open_session(store, memory="64MB", threads=1) as session:
        [private] = spill.iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
        result = session.run("SELECT range, hash(range) AS h FROM range(6000000) ORDER BY h")
        assert result is not None
        first = next(result.batches)
        assert first["h"].to_pylist() == sorted(first["h"].to_pylist())
        assert list(private.iterdir())
    assert not list(spill.iterdir())


@pytest.mark.parametrize("statement", [SLOW, SLOW.replace("a.range FROM", "count(*) FROM", 1)])
def test_a_time_limit_ends_a_statement_but_not_the_session(statement: str, store: Path) -> None:
    with open_session(store, seconds=0.3) as session:
        begin = time.monotonic()
        with pytest.raises(QueryError, match=r"stopped after 0\.3 seconds"):
            rows(session, statement)
        assert time.monotonic() - begin < 5
        assert rows(session, "SELECT 1") == [(1,)]


def test_time_limit_applies_after_the_first_rows(store: Path) -> None:
    with open_session(store, seconds=0.3) as session:
        result = session.run("SELECT * FROM range(100000000000)")
        assert result is not None
        with pytest.raises(QueryError, match="stopped"):
            for _ in result.batches:
                pass


def test_time_of_the_caller_does_not_count(store: Path) -> None:
    with open_session(store, seconds=0.5) as session:
        result = session.run("SELECT * FROM range(200000)")
        assert result is not None
        next(result.batches)
        time.sleep(0.6)
        assert sum(batch.num_rows for batch in result.batches) > 0


def test_ctrl_c_ends_a_statement_but_not_the_session(session: Session) -> None:
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        session.run(SLOW)
    timer.join()
    assert time.monotonic() - begin < 5
    assert rows(session, "SELECT 1") == [(1,)]


def test_removed_file_is_an_error(session: Session, store: Path) -> None:
    os.unlink(store / "data/conn/day=2026-03-02/1-0.parquet")  # noqa: PTH108 - as whoever sweeps does it
    with pytest.raises(QueryError, match=r"day=2026-03-02/1-0\.parquet: a later change of the store deleted"):
        session.run("FROM conn")


AWKWARD = {
    "340282366920938463463374607431768211455::UHUGEINT": "340282366920938463463374607431768211455",
    "TIMETZ '12:00:00+02'": "12:00:00+02",
    "'101'::BIT": "101",
    "1::BIGNUM": "1",
    "INTERVAL '1 year 2 days 3 seconds'": "1 year 2 days 00:00:03",
    "[INTERVAL '1 day']": "[1 day]",
    "{'i': TIMESTAMP_NS '2026-03-02 00:00:00.000000001'}": "{'i': '2026-03-02 00:00:00.000000001'}",
    "union_value(number := 1)": "1",
    "5::VARIANT": "5",
    "'POINT (1 2)'::GEOMETRY": "POINT (1 2)",
}


@pytest.mark.parametrize(("expression", "text"), AWKWARD.items())
def test_unsupported_types_become_text(expression: str, text: str, kept_session: Session) -> None:
    result = kept_session.run(f"SELECT {expression} AS x, 1 AS x, $p AS p ORDER BY 1 -- ;\n; -- ;", {"p": 7})
    assert result is not None
    assert result.schema.names == ["x", "x_1", "p"]
    assert next(result.batches).to_pylist() == [{"x": text, "x_1": 1, "p": 7}]


def test_column_names_are_distinct(session: Session) -> None:
    result = session.run("SELECT * FROM conn JOIN conn AS other USING (day), (SELECT 1 AS port_1)")
    assert result is not None
    assert len(set(result.schema.names)) == len(result.schema.names) == 6
