"""The SQL workbench: what it queries, and what it does not do for anybody."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import choose, data_of, listed, sql

from zscope.app.dashboard.drawing import as_csv, as_parquet
from zscope.app.dashboard.pages.workbench import reader_statements as module
from zscope.app.dashboard.pages.workbench import workbench_page as page_module
from zscope.app.dashboard.pages.workbench.reader_statements import (
    MOST_BYTES,
    MOST_ROWS,
    StatementOutcome,
    StatementTask,
    run,
    run_task,
)
from zscope.app.dashboard.pages.workbench.workbench_page import columns, tables
from zscope.app.shared.statement_examples import EXAMPLES, StatementExample
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    from streamlit.testing.v1 import AppTest

    from zscope.app.dashboard.page_data import PageData

LONG_ENOUGH_S = 30
"""For a statement with a second, on a machine busy with other tests; without a limit it takes ages."""
ENDLESS = "SELECT count(*) FROM range(1_000_000_000) AS a, range(1_000_000_000) AS b WHERE a.range <> b.range"
OTHER_FILES = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{outside}')",
    "SELECT * FROM '{outside}'",
    "SELECT * FROM read_parquet('{outside}')",
    "SELECT * FROM read_parquet('{store}/data/../../outside.parquet')",
    "SELECT * FROM read_parquet('{store}/data/**/*.parquet')",
    "SELECT * FROM parquet_metadata('{outside}')",
    "SELECT * FROM glob('{store}/*')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_json('{store}/commits/00000001.json')",
    "ATTACH '{outside}.duckdb' AS other",
    "ATTACH '{store}/zscope.duckdb' AS other",
    "SELECT * FROM read_parquet('https://example.com/x.parquet')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')",
]
CHANGES = [
    "COPY (SELECT 1) TO '{store}/x.csv'",
    "COPY load TO '{outside}.csv'",
    "COPY load FROM '/etc/passwd'",
    "EXPORT DATABASE '{outside}-export'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{store}/x.csv'",
    "INSERT INTO load SELECT * FROM load",
    "UPDATE load SET rows = 0",
    "DELETE FROM load",
    "DROP TABLE load",
    "DROP VIEW issue",
    "DROP VIEW smf119_zert_detail",
    "ALTER TABLE load ADD COLUMN x INTEGER",
    "CREATE TABLE x AS SELECT 1",
    "CREATE VIEW x AS SELECT 1",
    "CREATE SCHEMA x",
    "CREATE MACRO x(a) AS a",
    "VACUUM",
    "CHECKPOINT",
]
SETTINGS = [
    "SET memory_limit = '100GB'",
    "SET threads = 99",
    "SET GLOBAL enable_external_access = true",
    "SET allowed_paths = ['/etc/passwd']",
    "SET lock_configuration = false",
    "RESET memory_limit",
    "PRAGMA memory_limit = '100GB'",
    "PRAGMA enable_profiling",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '/opt/x.duckdb_extension'",
    "INSTALL httpfs FROM 'https://example.com'",
]


@pytest.fixture(scope="module")
def data(world: Path) -> PageData:
    """The small world."""
    return data_of(world)


def run_here(page_data: PageData, text: str, seconds: float) -> StatementOutcome:
    """Do what `run` does, but not in a program of its own, which takes a second to start."""
    task = StatementTask(str(page_data.queries.store), text, seconds, "1GB", None, 0, MOST_ROWS, MOST_BYTES)
    rows, reply = run_task(task)
    return StatementOutcome(text, reply.seconds, rows, reply.more, reply.error)


@pytest.fixture
def open_workbench(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page on a store; its statements run in this process."""
    monkeypatch.setattr(page_module, "run", run_here)

    def opened(store: Path) -> AppTest:
        return open_page("workbench", store)

    return opened


def _run(page: AppTest, text: str) -> AppTest:
    page.text_area(key="workbench_sql").set_value(text)
    page.button(key="workbench_run").click().run()
    assert not page.exception
    return page


LONG_EXAMPLES = ("CPU time per transaction", "Findings by severity and kind")
"""They take seconds with data, and are computed from metrics that have tests of their own."""


@pytest.mark.parametrize(
    "example",
    [
        *(example for example in EXAMPLES if example.title not in LONG_EXAMPLES),
        *deep(*(example for example in EXAMPLES if example.title in LONG_EXAMPLES)),
    ],
    ids=lambda example: example.title,
)
def test_each_example_runs(data: PageData, example: StatementExample) -> None:
    outcome = run_here(data, example.sql, 120)
    assert outcome.error is None
    assert outcome.rows is not None
    assert outcome.rows.num_rows > 0


@pytest.mark.parametrize("example", [*EXAMPLES[:2], *deep(*EXAMPLES[2:])], ids=lambda example: example.title)
def test_each_example_runs_without_data(empty: Path, example: StatementExample) -> None:
    assert run_here(data_of(empty), example.sql, 30).error is None


@pytest.mark.parametrize(
    "statement",
    [
        *(text for kind in (OTHER_FILES, CHANGES, SETTINGS) for text in kind[::4]),
        *deep(*(text for kind in (OTHER_FILES, CHANGES, SETTINGS) for i, text in enumerate(kind) if i % 4)),
    ],
)
def test_statements_cannot_leave_the_store(
    data: PageData, world: Path, tmp_path: Path, statement: str
) -> None:
    import pyarrow.parquet as pq

    outside = tmp_path / "outside.parquet"
    pq.write_table(pa.table({"secret": ["not for readers"]}), outside)
    before = _files(world)
    outcome = run_here(data, statement.format(store=world, outside=outside), 5)
    assert outcome.error
    assert outcome.rows is None
    assert "not for readers" not in outcome.error
    assert _files(world) == before
    assert sorted(tmp_path.iterdir()) == [outside]


def _files(store: Path) -> dict[Path, tuple[int, int, int]]:
    """What a change of a file changes, for all files and folders of a store."""
    states = {path: path.stat() for path in store.rglob("*")}
    return {path: (state.st_ino, state.st_size, state.st_mtime_ns) for path, state in states.items()}


def test_a_link_out_of_the_store_is_not_followed(data: PageData, world: Path) -> None:
    link = world / "data" / "link.parquet"
    link.symlink_to("/etc/passwd")
    try:
        assert "can only open" in (run_here(data, f"SELECT * FROM read_text('{link}')", 5).error or "")
    finally:
        link.unlink()


@pytest.mark.deep
def test_a_statement_that_takes_too_long_is_stopped_and_others_are_answered(data: PageData) -> None:
    answered: list[float] = []

    def ask() -> None:
        begun = time.monotonic()
        assert data.rows("SELECT count(*) AS n FROM load WHERE load_id > 0")["n"].to_pylist()[0] > 0
        answered.append(time.monotonic() - begun)

    begun = time.monotonic()
    other = threading.Timer(0.3, ask)
    other.start()
    outcome = run(data, ENDLESS, 1)
    took = time.monotonic() - begun
    other.join()
    assert "stopped after 1 seconds" in (outcome.error or "")
    assert outcome.seconds < LONG_ENOUGH_S
    assert took < LONG_ENOUGH_S
    assert len(answered) == 1


FULL_MEMORY = "SELECT repeat('x', 10_000_000) FROM range(1000)"
"""DuckDB neither counts these texts nor stops while it makes them."""


def test_a_statement_that_would_fill_the_memory_ends_alone(
    data: PageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ADDRESS_SPACE", 2 << 30)
    assert "memory" in (run(data, FULL_MEMORY, 30).error or "").lower()
    assert run(data, "SELECT 1 AS one", 5).rows is not None


@pytest.mark.deep
def test_a_statement_that_would_fill_the_memory_ends_with_the_limits_of_the_server(data: PageData) -> None:
    begun = time.monotonic()
    outcome = run(data, FULL_MEMORY, 1)
    assert "memory" in (outcome.error or "") or "stopped after 1 seconds" in (outcome.error or "")
    assert time.monotonic() - begun < LONG_ENOUGH_S
    assert run(data, "SELECT 1 AS one", 5).rows is not None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os; os.kill(os.getpid(), 9)", "was killed (SIGKILL)"),
        ("import os; os.abort()", "its process ended with SIGABRT"),
        (
            "raise SystemExit('no module named duckdb')",
            "(exit code 1): no module named duckdb; this is",
        ),
        ("print('.', end='', flush=True); raise MemoryError", "exceeded its memory limit"),
        ("print('.', end='')", "its process failed (exit code 0)"),
    ],
)
def test_the_end_of_the_process_is_explained(
    data: PageData, monkeypatch: pytest.MonkeyPatch, code: str, expected: str
) -> None:
    monkeypatch.setattr(module, "_command", lambda: [sys.executable, "-c", code])
    assert expected in (run(data, "SELECT 1", 5).error or "")


SLOW_START = f"""
import time
time.sleep(2)
from {module.__name__} import main
main()
"""


@pytest.mark.deep
def test_a_slow_start_does_not_count_as_time_of_the_statement(
    data: PageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_command", lambda: [sys.executable, "-c", SLOW_START])
    monkeypatch.setattr(module, "_ENDING_S", 0.5)
    outcome = run(data, "SELECT 1 AS one", 1)
    assert outcome.error is None
    assert outcome.rows is not None
    assert outcome.seconds < 1
    monkeypatch.setattr(module, "_STARTING_S", 0.2)
    error = run(data, "SELECT 1 AS one", 1).error or ""
    assert "did not start within 0.2 seconds, because the machine is busy; the statement did not run" in error


def test_time_to_open_the_store_does_not_count_as_time_of_the_statement(
    data: PageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_slowly(store: Path) -> duckdb.DuckDBPyConnection:
        time.sleep(1.5)
        return open_reader(store)

    monkeypatch.setattr(module, "open_reader", open_slowly)
    outcome = run_here(data, "SELECT 1 AS one", 1)
    assert outcome.error is None
    assert outcome.seconds < 1


def test_the_space_for_temporary_files_is_limited(data: PageData) -> None:
    rows = run_here(data, "SELECT current_setting('max_temp_directory_size') AS size", 5).rows
    assert rows is not None
    assert rows.to_pylist() == [{"size": "3.7 GiB"}], "4 GB"


def test_nothing_comes_between_the_rows(data: PageData) -> None:
    outcome = run(data, "FROM enable_logging(storage = 'stdout')", 5)
    assert "the table function enable_logging is not allowed" in (outcome.error or "")
    assert run(data, "SELECT 1 AS one", 5).rows is not None


PRINTING = f"""
import os
from {module.__name__} import main, run_task

def printing(*arguments):
    done = run_task(*arguments)
    print("from Python", flush=True)
    os.write(1, b"from a library")
    return done

main.__globals__["run_task"] = printing
main()
"""


def test_what_the_process_prints_does_not_come_between_the_rows(
    data: PageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_command", lambda: [sys.executable, "-c", PRINTING])
    rows = run(data, "SELECT 1 AS one", 5).rows
    assert rows is not None
    assert rows.to_pylist() == [{"one": 1}]


def test_dates_without_end_are_shown_and_downloaded(data: PageData) -> None:
    text = "SELECT 'infinity'::DATE AS day, '-infinity'::TIMESTAMP AS moment, 1 AS one"
    rows = run_here(data, text, 5).rows
    assert rows is not None
    assert rows.to_pylist() == [{"day": "infinity", "moment": "-infinity", "one": 1}]
    assert as_csv(rows).decode().splitlines()[1] == '"infinity","\'-infinity","1"'
    assert run_here(data, "SELECT * FROM test_all_types()", 15).rows is not None


def test_the_process_imports_nothing_that_it_does_not_need(world: Path) -> None:
    task = StatementTask(str(world), "SELECT 1 AS one", 30, "1GB", None, 0, MOST_ROWS, MOST_BYTES)
    code = (
        f"import sys; from {module.__name__} import StatementTask, run_task; "
        f"assert run_task({task!r})[0].num_rows == 1; "
        "print(*{'pandas', 'zscope.pipelines.ingest', 'streamlit'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_many_statements_have_one_time_together(data: PageData) -> None:
    begun = time.monotonic()
    slow = "CREATE OR REPLACE TEMP TABLE x AS SELECT sum(range) FROM range(300_000_000)"
    outcome = run_here(data, ";".join([slow] * 200), 0.5)
    assert outcome.error
    assert time.monotonic() - begun < LONG_ENOUGH_S


def test_a_reader_waits_for_a_turn_up_to_a_limit(data: PageData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(module, "_AT_ONCE", threading.BoundedSemaphore(1))
    with module._AT_ONCE:
        assert "try again" in (run(data, "SELECT 1", 1).error or "")
    assert run(data, "SELEC 1", 5).error
    assert run(data, "SELECT 1 AS one", 5).rows is not None, "the first statement has ended its turn"


@pytest.mark.deep
def test_readers_wait_while_two_others_run_statements(
    data: PageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 0.1)
    outcomes: list[StatementOutcome] = []
    others = [threading.Thread(target=lambda: outcomes.append(run(data, ENDLESS, 2))) for _ in range(2)]
    for other in others:
        other.start()
    time.sleep(0.7)
    assert "try again" in (run(data, "SELECT 1", 1).error or "")
    for other in others:
        other.join()
    assert len(outcomes) == 2
    assert run(data, "SELECT 1 AS one", 5).rows is not None


def test_only_the_first_rows_of_a_long_result_are_read(data: PageData) -> None:
    outcome = run(data, "SELECT range AS number, 'text ' || range AS words FROM range(50_000_000)", 15)
    assert outcome.rows is not None
    assert outcome.more
    assert outcome.rows.num_rows == MOST_ROWS
    # All that it keeps in memory, seen or not.
    assert outcome.rows.get_total_buffer_size() < 2 << 20


def test_fewer_rows_of_a_wide_result_are_read(data: PageData) -> None:
    outcome = run(data, "SELECT repeat('x', 20_000) || range AS words FROM range(9_000)", 15)
    assert outcome.rows is not None
    assert outcome.more
    assert 0 < outcome.rows.num_rows < MOST_ROWS
    assert outcome.rows.get_total_buffer_size() < 2 * MOST_BYTES


@pytest.mark.parametrize("rows", [0, 1, MOST_ROWS])
def test_a_short_result_is_whole(data: PageData, rows: int) -> None:
    outcome = run_here(data, f"SELECT range AS number FROM range({rows})", 5)
    assert outcome.rows is not None
    assert outcome.rows.num_rows == rows
    assert not outcome.more


def test_one_row_above_the_limit_is_reported(data: PageData) -> None:
    assert run_here(data, f"SELECT range FROM range({MOST_ROWS + 1})", 5).more


def test_the_last_query_of_several_statements_is_shown(data: PageData) -> None:
    outcome = run_here(data, "CREATE TEMP TABLE x AS SELECT 1 AS a; SELECT 2 AS b; FROM x; DROP TABLE x", 5)
    assert outcome.rows is not None
    assert outcome.rows.to_pylist() == [{"a": 1}]


def test_statements_without_a_query_have_no_rows(data: PageData) -> None:
    outcome = run_here(data, "CREATE TEMP TABLE x AS SELECT 1 AS a", 5)
    assert outcome.error is None
    assert outcome.rows is None


def test_runs_are_independent_of_each_other(data: PageData) -> None:
    run_here(data, "CREATE TEMP TABLE mine AS SELECT 1 AS a; SET VARIABLE mine = 1", 5)
    assert "mine" in (run_here(data, "FROM mine", 5).error or "")
    rows = run_here(data, "SELECT getvariable('mine') AS v", 5).rows
    assert rows is not None
    assert rows["v"].to_pylist() == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1; SELEC 2", "syntax error"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELECT 'a'::INTEGER", "Conversion Error"),
        (" ; -- nothing", "no statement"),
        *deep(
            ("SELEC 1", "syntax error"),
            ("SELECT nothing FROM load", "nothing"),
            ("SELECT error('stop')", "stop"),
            ("SELECT '", "unterminated"),
            ("", "no statement"),
        ),
    ],
)
def test_errors_have_the_message_of_duckdb(data: PageData, text: str, expected: str) -> None:
    outcome = run_here(data, text, 5)
    assert expected in (outcome.error or "")
    assert outcome.rows is None


@pytest.mark.parametrize(
    "text",
    [
        "SHOW TABLES",
        "PIVOT load ON kind USING count(*)",
        "EXPLAIN SELECT 1",
        *deep(
            "DESCRIBE load",
            "SUMMARIZE load",
            "FROM load",
            "PRAGMA table_info('load')",
            "WITH a AS (SELECT 1 AS x) FROM a",
        ),
    ],
)
def test_every_kind_of_query_runs(data: PageData, text: str) -> None:
    rows = run_here(data, text, 15).rows
    assert rows is not None
    assert rows.num_rows > 0


def test_unusual_types_can_be_shown_and_downloaded(data: PageData) -> None:
    rows = run_here(
        data,
        "SELECT '\\xFF\\x00'::BLOB AS bytes, INTERVAL 1 DAY AS span, {'a': [1]} AS struct, NULL AS nothing, "
        "1::HUGEINT AS huge, uuid() AS id, TIME '01:02:03' AS clock, 1.5::DECIMAL(9, 2) AS exact, "
        "DATE '2026-03-02' AS day, MAP {'k': 1} AS map, true AS yes, 1 AS same, 2 AS same",
        5,
    ).rows
    assert rows is not None
    assert rows["bytes"].to_pylist() == ["ff00"]
    assert as_csv(rows)
    assert as_parquet(rows)


def test_a_result_is_shown_with_rows_and_time(open_page: Open, world: Path) -> None:
    page = _run(open_page("workbench", world), "SELECT kind, count(*) AS n FROM load GROUP BY kind")
    fine(page)
    [(kinds,)] = sql(world, "SELECT count(DISTINCT kind) FROM load")
    assert f"{kinds} rows in 0." in words(page)
    assert len(listed(page)) == kinds
    assert len(page.get("vega_lite_chart")) == 1


def test_the_result_stays_while_the_chart_changes(open_workbench: Open, world: Path) -> None:
    page = _run(open_workbench(world), "SELECT uuid() AS id, range AS n, 2 * range AS m FROM range(5)")
    ids = listed(page)["id"].tolist()
    page.button_group(key="workbench_kind").set_value("point").run()
    page.selectbox(key="workbench_y").set_value("m").run()
    page.selectbox(key="workbench_colour").set_value("id").run()
    fine(page)
    assert listed(page)["id"].tolist() == ids
    chart = page.get("vega_lite_chart")[0].proto.spec
    assert '"title": "m"' in chart
    assert "shape" in chart


def test_the_choice_of_columns_is_dropped_with_them(open_workbench: Open, world: Path) -> None:
    page = _run(open_workbench(world), "SELECT 'a' AS x, 1 AS y")
    page.selectbox(key="workbench_y").set_value("y").run()
    page = _run(page, "SELECT 'b' AS other, 2 AS number")
    fine(page)
    assert page.selectbox(key="workbench_y").value == "number"
    assert len(page.get("vega_lite_chart")) == 1


@pytest.mark.parametrize(
    "columns",
    [
        f"'{MARKUP}' AS \"{MARKUP}\", 1 AS n",
        "TIMESTAMPTZ '2026-03-02 01:00:00Z' AS at, NULL::DOUBLE AS n",
        "[1, 2] AS list, {'a': 1} AS struct, 'a' AS x, 1 AS n",
        *deep(
            '1 AS "count(*):Q", 2 AS "a.b[0]"',
            "TIMESTAMP '2026-03-02 01:00:00' AS at_local, 1.5::DECIMAL(9, 2) AS n",
            "DATE '2026-03-02' AS day, 'NaN'::DOUBLE AS n",
            "true AS yes, 1 AS n, 'x' AS colour",
            "TIME '01:02:03' AS clock, 1 AS n",
            "1 AS a, 2 AS a",
        ),
    ],
)
def test_results_of_any_columns_can_be_drawn(open_workbench: Open, world: Path, columns: str) -> None:
    page = _run(open_workbench(world), f"SELECT {columns}")
    fine(page)
    assert len(page.get("vega_lite_chart")) == 1


@pytest.mark.parametrize("kind", ["line", "point"])
def test_there_are_other_kinds_of_pictures(open_workbench: Open, world: Path, kind: str) -> None:
    page = _run(open_workbench(world), "SELECT 1 AS a, 2 AS b, 'x' AS c")
    page.button_group(key="workbench_kind").set_value(kind).run()
    fine(page)
    assert f'"type": "{kind}"' in page.get("vega_lite_chart")[0].proto.spec


def test_a_result_that_cannot_be_drawn_is_reported(open_workbench: Open, world: Path) -> None:
    page = _run(open_workbench(world), "SELECT 'only words' AS words, 'more' AS more")
    fine(page)
    assert "needs rows with a numeric column" in words(page)


def test_rows_above_the_limit_are_reported(open_workbench: Open, world: Path) -> None:
    page = _run(open_workbench(world), "SELECT range AS a, range AS b FROM range(20_000)")
    assert "The result has more rows" in words(page)
    assert "first 5,000 rows" in words(page)


def test_an_error_is_shown_as_text(open_workbench: Open, world: Path) -> None:
    page = _run(open_workbench(world), f'SELECT * FROM "{MARKUP}"')
    assert MARKUP in page.text[0].value
    assert [error.value for error in page.error] == ["The statement failed."]
    assert all(MARKUP not in element.value for element in (*page.markdown, *page.caption))
    page = _run(page, "SELECT 1 AS a")
    fine(page)
    assert len(listed(page)) == 1


def test_a_plan_is_shown_unchanged(open_workbench: Open, world: Path) -> None:
    page = _run(open_workbench(world), "EXPLAIN SELECT count(*) FROM load")
    fine(page)
    assert "┌" in page.code[-1].value


def test_an_example_is_copied_to_the_editor_but_does_not_run(open_workbench: Open, world: Path) -> None:
    page = open_workbench(world)
    page.selectbox(key="workbench_example").set_value(EXAMPLES[0].title).run()
    fine(page)
    assert page.text_area(key="workbench_sql").value == EXAMPLES[0].sql
    assert not page.get("vega_lite_chart")
    page.button(key="workbench_run").click().run()
    fine(page)
    assert len(page.get("vega_lite_chart")) == 1


def test_a_statement_in_the_address_does_not_run_automatically(drawn_page: Open, world: Path) -> None:
    page = drawn_page("workbench", world, {"workbench_sql": "SELECT 1 AS a"})
    assert page.text_area(key="workbench_sql").value == "SELECT 1 AS a"
    assert "rows in" not in words(page)


def test_tables_are_searched_by_name_column_and_meaning(data: PageData) -> None:
    result = tables(data, "in_bytes")["table_name"].to_pylist()
    assert "smf119_tcp_term" in result
    assert "load" not in result
    assert "handshake_mix" in tables(data, "HANDSHAKE")["table_name"].to_pylist()
    assert tables(data, "no such word '; DROP TABLE load").num_rows == 0
    assert tables(data, "%").num_rows < tables(data, "").num_rows


def test_columns_have_types_and_meanings(data: PageData) -> None:
    rows = {row["column_name"]: row for row in columns(data, "load").to_pylist()}
    assert rows["seconds"]["data_type"] == "double"
    assert "First byte" in rows["seconds"]["meaning"] or "first byte" in rows["seconds"]["meaning"]
    assert all(row["meaning"] for row in rows.values())


def test_a_chosen_table_shows_its_columns(open_workbench: Open, world: Path) -> None:
    page = open_workbench(world)
    page.text_input(key="workbench_search").set_value("load_gap").run()
    page = choose(page, "tables-", 0)
    shown = listed(page, "column_name")["column_name"].tolist()
    assert "missing_intervals" in shown


@pytest.mark.deep
@pytest.mark.parametrize("store", ["empty", "hostile"])
def test_statements_run_on_other_stores(
    open_workbench: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = _run(open_workbench(request.getfixturevalue(store)), "SELECT count(*) AS n FROM load")
    fine(page)
    assert len(listed(page)) == 1
    assert MARKUP not in words(page)
