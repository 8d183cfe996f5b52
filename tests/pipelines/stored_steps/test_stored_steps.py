"""Stored rows of steps: the same rows as computed from the data, whatever happens to the store."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.dumps import generated
from tests.marking import deep_except
from tests.pipelines.stores import plain_client, remove_last_commit
from tests.sample_stores import ALWAYS, summarise, summarised_world

from zscope.app.cli.main import program
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import (
    declared,
    metric,
    needed,
    steps_of_computed,
    stored_names,
    view_sql,
)
from zscope.pipelines.metrics.narrowing import prepare, prepared
from zscope.pipelines.metrics.running_totals import visible_rows_sql
from zscope.pipelines.runs import FILE_NAME as RUNS
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import maintenance, open_reader, step_computation, stored_steps
from zscope.pipelines.store.catalogue import empty_catalogue, fill, publish_catalogue
from zscope.pipelines.store.catalogue_file import has_summaries, search
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import DamagedStoreError, existing_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.stored_steps import DayWindow, Summaries, drop_summaries, leaves
from zscope.pipelines.store.transaction import changing
from zscope.samples import Recipe, RecordKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

NEVER = replace(ALWAYS, summarise_from_rows=10**12)


def silent(text: str) -> None:
    """Fail on any message."""
    raise AssertionError(text)


def rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    found = connection.execute(f"SELECT * FROM {name}").fetchall()
    return sorted(repr(tuple(map(_comparable, row))) for row in found)


def _comparable(value: object) -> object:
    # Sums of floats depend on the order of their parts, and differences of equal sums are nearly zero.
    if isinstance(value, float):
        return float(f"{round(value, 9):.6g}") + 0.0
    if isinstance(value, list):
        return [_comparable(each) for each in value]
    if isinstance(value, dict):
        return {key: _comparable(each) for key, each in value.items()}
    return value


@pytest.fixture(scope="module")
def summarised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world with stored rows; read-only."""
    return summarised_world(tmp_path_factory)


@pytest.fixture(scope="module")
def summarised_sample(sample_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the sample data with stored steps. Tests copy it to `store`, the path in its catalogue."""
    folder = tmp_path_factory.mktemp("summarised-sample")
    store = Path(shutil.copytree(sample_store, folder / "store"))
    summarise(store)
    with open_reader(store) as connection:
        assert has_summaries(connection)
    return store.rename(folder / "kept")


@pytest.fixture
def changeable(summarised_sample: Path) -> Iterator[Path]:
    """A copy of the store of the sample data with stored steps, for tests that change it."""
    store = Path(shutil.copytree(summarised_sample, summarised_sample.with_name("store")))
    yield store
    shutil.rmtree(store)


SHORT = (
    "handshake_hour", "tls_hour", "handshake_mix", "cpu_per_transaction", "run_result", "address_space_part",
)  # fmt: skip


BY_SQL = [
    name
    for name in declared()
    if not any(declared()[step].computed_by for step in needed(name) if step in declared())
    and not set(stored_names()).isdisjoint((name, *needed(name)))
]
"""Metrics and steps that read stored rows, and that DuckDB can compute without them."""


@pytest.fixture(scope="module")
def with_stored_rows(summarised: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, set[str]]]:
    """A reader of the world, and the steps that are not stored and that earlier tests have computed in it."""
    with open_reader(summarised) as connection:
        assert has_summaries(connection)
        yield connection, set()


@pytest.mark.parametrize("name", deep_except(SHORT, BY_SQL))
def test_metrics_are_equal_with_and_without_stored_rows(
    name: str,
    with_stored_rows: tuple[duckdb.DuckDBPyConnection, set[str]],
    world_metrics: duckdb.DuckDBPyConnection,
) -> None:
    connection, made = with_stored_rows
    for sql in prepared(metric(name), summarised=True, made=made):
        connection.execute(sql)
    assert rows(connection, name) == rows(world_metrics, name)
    # The next tests read the stored rows of this step, not those computed here.
    stored = stored_names()
    if name in stored and not metric(name).keep:
        connection.execute(f"DROP VIEW IF EXISTS temp.{name}")
    made.update({*needed(name), name} - {*stored})


def test_stored_rows_depend_on_how_records_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store computes them again if a version shows other rows of a table."""
    definition = stored_steps._definition.__wrapped__
    before = {step: definition(step) for step in stored_names()}
    monkeypatch.setattr(
        stored_steps, "visible_rows_sql",
        lambda table, source: "" if table == "smf30_interval" else visible_rows_sql(table, source),
    )  # fmt: skip
    changed = {step for step in stored_names() if definition(step) != before[step]}
    assert changed == {step for step in stored_names() if "smf30_interval" in needed(step)}


@pytest.mark.deep
def test_a_message_names_the_number_of_earlier_days(sample_store: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    [text] = summarise(store)
    assert "days that were loaded before have been computed" in text
    assert summarise(store) == []


@pytest.mark.deep
def test_a_failure_leaves_no_files(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    before = set((store / "summaries").rglob("*.parquet"))

    def fail(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(step_computation, "fsync_all", fail)
    [text] = summarise(store)
    assert "No space left on device" in text
    assert set((store / "summaries").rglob("*.parquet")) == before
    monkeypatch.undo()
    summarise(store)
    listed = {store / path for path in read_state(existing_store(store)).summaries}
    assert set((store / "summaries").rglob("*.parquet")) == listed


def test_a_small_store_stores_no_rows_of_steps(systems_store: Path) -> None:
    with open_reader(systems_store) as connection:
        assert not has_summaries(connection)
    assert not read_state(existing_store(systems_store)).summaries


def test_views_read_the_stored_rows_alone(summarised: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(summarised, tmp_path / "store"))
    with open_reader(store) as connection:
        before = rows(connection, "handshake_mix")
        (store / "data").rename(store / "elsewhere")
        assert rows(connection, "handshake_mix") == before
        with pytest.raises(duckdb.IOException):
            rows(connection, "handshake")


def test_a_client_can_attach_the_catalogue_under_another_name(summarised: Path) -> None:
    with open_reader(summarised) as connection, duckdb.connect() as client:
        client.execute(f"ATTACH '{summarised / 'zscope.duckdb'}' AS another_name (READ_ONLY)")
        for name in ("handshake_mix", "cpu_interval", "run_result", "protocol_distribution"):
            assert rows(client, f"another_name.steps.{name}") == rows(connection, name)


def test_the_comment_says_up_to_which_load(summarised: Path) -> None:
    last = max(read_state(existing_store(summarised)).loads)
    with open_reader(summarised) as connection:
        comments = dict(
            connection.execute(
                "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'steps'"
            ).fetchall()
        )
        files = connection.execute(
            "SELECT view_name FROM duckdb_views() WHERE schema_name = 'files'"
        ).fetchall()
    stored = {*stored_names()} & {name for (name,) in files}
    assert len(stored) > 30
    for name in stored_names():
        assert comments[name].endswith(f"computed up to load {last}.") == (name in stored), name


@pytest.mark.parametrize("name", stored_names())
def test_a_stored_step_reads_tables_or_other_stored_steps(name: str) -> None:
    assert leaves(name)
    assert set(declared()[name].around) <= {"all", *leaves(name)}
    assert set(declared()[name].of_runs) <= set(leaves(name))


@pytest.mark.parametrize("name", [name for name in stored_names() if declared()[name].empty_without])
def test_a_result_has_no_rows_without_the_tables_that_it_names(
    name: str, world_metrics: duckdb.DuckDBPyConnection
) -> None:
    empty = {table: f"SELECT * FROM {table} WHERE false" for table in declared()[name].empty_without}
    assert empty.keys() <= set(needed(name))
    steps = {step: view_sql(declared()[step]) for step in needed(name) if step in declared()}
    clauses = [f"{step} AS NOT MATERIALIZED (\n{text}\n)" for step, text in (empty | steps).items()]
    assert world_metrics.execute(f"WITH {', '.join(clauses)} SELECT * FROM {name}").fetchall() == []


def test_a_column_that_is_not_shared_cannot_be_read() -> None:
    step = declared()["handshake_code"]
    columns = ", ".join(f"{c.name} {c.type}" for c in step.view_columns if c.name in step.shared)
    text = step_computation._shared_rows_sql(step, "shared_handshake_code")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE shared_handshake_code ({columns})")
        connection.execute("INSERT INTO shared_handshake_code (system) VALUES ('SYSA')")
        assert connection.execute(f"SELECT system FROM (\n{text}\n)").fetchall() == [("SYSA",)]
        with pytest.raises(duckdb.InvalidInputException, match="handshake_code: local_ip is not shared"):
            connection.execute(f"SELECT local_ip FROM (\n{text}\n)")


def test_steps_of_a_round_need_no_other_days_of_each_other() -> None:
    rounds = step_computation._rounds()
    assert sorted(step for steps in rounds for step in steps) == sorted(stored_names())
    done: set[str] = set()
    for steps in rounds:
        for place, step in enumerate(steps):
            for leaf, window in leaves(step).items():
                if leaf in declared() and leaf not in done:
                    assert leaf in steps[:place]
                    assert window == (0, 0)
                    assert declared()[leaf].stored == declared()[step].stored
        done |= set(steps)


def test_the_first_and_the_last_day_of_the_calendar_have_fewer_neighbours() -> None:
    """Damaged records can have any date."""
    window = DayWindow(1, 1)
    assert list(window.around("0001-01-01")) == ["0001-01-01", "0001-01-02"]
    assert list(window.touched("9999-12-31")) == ["9999-12-30", "9999-12-31"]
    assert list(window.around("")) == [""]


@pytest.mark.deep
def test_a_removed_load_is_taken_out(changeable: Path) -> None:
    folder = existing_store(changeable)
    with open_reader(changeable) as connection:
        before = rows(connection, "handshake_hour")
        [[load]] = connection.execute("SELECT min(load_id) FROM smf119_zert_detail").fetchall()
    with changing(folder, ALWAYS, silent) as state:
        remove_load(folder, state, load)
    with open_reader(changeable) as connection:
        assert has_summaries(connection)
        assert rows(connection, "handshake_hour") != before
    same_as_from_scratch(changeable, ["handshake_hour", "tls_hour", "cpu_interval"])


@pytest.mark.deep
def test_a_writer_that_stops_before_computing_leaves_right_views(changeable: Path, tmp_path: Path) -> None:
    folder = existing_store(changeable)
    dump = night(tmp_path / "more.smf", 1, seed=77)
    with changing(folder, ALWAYS, silent):
        pass
    ingest(changeable, [dump], IngestOptions(selection=row_selection(None), settings=ALWAYS))
    # Without the last commit, which has the rows of the new day, they are computed by the views.
    last = max(folder.commits.glob("[0-9]*.json"))
    assert json.loads(last.read_text(encoding="utf-8"))["kind"] == "summarise"
    remove_last_commit(folder)
    publish_catalogue(folder, read_state(folder), anew=True)
    with open_reader(changeable) as connection:
        [[view]] = connection.execute(
            "SELECT sql FROM duckdb_views() WHERE schema_name = 'files' AND view_name = 'handshake_day'"
        ).fetchall()
        assert "summaries/handshake_day" in view
        assert "live.handshake_day" in view
        with duckdb.connect() as client:
            client.execute(f"ATTACH '{folder.catalogue}' AS another_name (READ_ONLY)")
            for name in ("handshake_mix", "cpu_interval", "protocol_distribution"):
                assert rows(client, f"another_name.steps.{name}") == rows(connection, name)
    same_as_from_scratch(changeable, ["handshake_hour", "tls_hour", "cpu_interval", "transaction_interval"])


@pytest.mark.deep
def test_an_old_store_is_brought_up_to_date_over_several_loads(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    monkeypatch.setattr(step_computation, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(step_computation, "ROWS_IN_A_LOAD", 5000)
    messages: list[str] = []
    for _ in range(50):
        before = len(messages)
        with changing(existing_store(store), ALWAYS, messages.append):
            pass
        if before in {0, 3} or len(messages) == before:
            same_as_from_scratch(store, ["handshake_hour", "cpu_interval"])
        if len(messages) == before:
            break
    assert 1 < len(messages) < 50
    assert all("summaries of" in text and "days" in text for text in messages)


@pytest.mark.deep
def test_a_rebuild_computes_all_summaries(
    sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    (store / "zscope.toml").write_text("[store]\nsummarise_from_rows = 0\n")
    monkeypatch.setattr(step_computation, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(step_computation, "ROWS_IN_A_LOAD", 1)
    done = CliRunner().invoke(program, ["store", "rebuild", "--store", str(store)])
    assert done.exit_code == 0
    assert "still missing" not in done.stderr
    folder = existing_store(store)
    assert Summaries(folder, read_state(folder), stored_names()).out_of_date() == {}
    same_as_from_scratch(store, ["handshake_hour", "cpu_interval"])


@pytest.mark.deep
def test_the_days_of_a_load_are_summarised_however_many_rows_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_computation, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(step_computation, "ROWS_IN_A_LOAD", 1)
    store = tmp_path / "store"
    messages: list[str] = []
    dump = night(tmp_path / "one.smf", 1, seed=79, records=200)
    options = IngestOptions(selection=row_selection(None), settings=ALWAYS, notify=messages.append)
    ingest(store, [dump], options)
    assert not [text for text in messages if "still missing" in text]
    with open_reader(store) as connection:
        assert has_summaries(connection)


@pytest.mark.deep
def test_without_time_zones_few_connections_are_compared_with_other_days(tmp_path: Path) -> None:
    store = tmp_path / "store"
    unknown = replace(Settings(summarise_from_rows=0), grace_s=0)
    for number in range(2):
        dump = night(tmp_path / f"{number}.smf", number, seed=number, records=400)
        ingest(store, [dump], IngestOptions(selection=row_selection(None), settings=unknown))
    with open_reader(store) as connection:
        assert connection.execute("SELECT count(written_utc) FROM smf119_zert_detail").fetchall() == [(0,)]
        [[settled, every]] = connection.execute(
            "SELECT count(*) FILTER (is_settled), count(*) FROM connection_detail"
        ).fetchall()
        assert settled > 0.7 * every
    same_as_from_scratch(store, ["handshake_hour", "tls_hour", "protection_day"])


@pytest.mark.deep
def test_a_step_that_needs_more_memory_gets_it(
    changeable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_computation, "MEMORY", "4MB")
    dump = night(tmp_path / "more.smf", 1, seed=78)
    ingest(changeable, [dump], IngestOptions(selection=row_selection(None), settings=ALWAYS))
    with open_reader(changeable) as connection:
        assert has_summaries(connection)
    same_as_from_scratch(changeable, ["handshake_hour", "cpu_interval"])
    monkeypatch.setattr(step_computation, "MORE_MEMORY", "4MB")
    folder = existing_store(changeable)
    messages: list[str] = []
    with changing(folder, ALWAYS, messages.append) as state:
        drop_summaries(folder, state)
    assert any("no summaries could be computed" in text for text in messages)


def test_variables_are_computed_with(summarised: Path) -> None:
    """A stored result has the defaults; with other values the view computes it."""
    with open_reader(summarised) as connection:
        default = rows(connection, "run_result")
        connection.execute("SET VARIABLE run_edge_pct = 200")
        other = rows(connection, "run_result")
        assert other != default
        connection.execute("RESET VARIABLE run_edge_pct")
        assert rows(connection, "run_result") == default


@pytest.mark.deep
def test_new_runs_change_results_and_nothing_else(changeable: Path) -> None:
    (changeable / RUNS).write_text(
        '[[run]]\nname = "a"\nsystem = "SYSA"\nrole = "server"\n'
        "from = 2026-03-02T10:00:00Z\nto = 2026-03-02T11:00:00Z\n",
        encoding="utf-8",
    )
    with open_reader(changeable) as connection:
        assert has_summaries(connection)
        assert connection.execute("SELECT name, from_utc FROM run").fetchall() == [
            ("a", datetime.fromisoformat("2026-03-02T10:00:00Z"))
        ]
        assert connection.execute("SELECT DISTINCT name FROM run_interval").fetchall() == [("a",)]
    dirty = Summaries(existing_store(changeable), read_state(existing_store(changeable))).out_of_date()
    assert {metric(name).stored for name in dirty} == {"result"}


def test_damaged_data_prevents_stored_rows_only(sample_store: Path, tmp_path: Path) -> None:
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    for file in (store / "data" / "smf119_zert_detail").rglob("*.parquet"):
        file.write_bytes(b"PAR1 nothing PAR1")
    messages: list[str] = []
    with changing(existing_store(store), ALWAYS, messages.append):
        pass
    assert len(messages) == 1
    assert "no summaries could be computed" in messages[0]
    with open_reader(store) as connection:
        assert not has_summaries(connection)
        assert connection.execute("SELECT count(*) > 0 FROM rmf_cpu").fetchall() == [(True,)]


@pytest.mark.deep
def test_damaged_stored_rows_are_found_and_computed_again(changeable: Path) -> None:
    folder = existing_store(changeable)
    file = next((changeable / "summaries" / "handshake_day").glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DamagedStoreError, match="zscope store repair computes them again"):
        check_store(folder)
    # A new catalogue computes what it cannot read.
    publish_catalogue(folder, read_state(folder), anew=True)
    same_as_from_scratch(changeable, ["handshake_hour", "tls_hour"])
    with changing(folder, ALWAYS, list[str]().append) as state:
        drop_summaries(folder, state)
    check_store(folder)
    same_as_from_scratch(changeable, ["handshake_hour"])


@pytest.mark.deep
def test_unlisted_and_replaced_files_are_swept(changeable: Path) -> None:
    folder = existing_store(changeable)
    before = set((changeable / "summaries").rglob("*.parquet"))
    stray = changeable / "summaries" / "handshake_day" / "00000099-1.parquet"
    stray.write_bytes(b"unfinished")
    folder.stage.mkdir()  # as a killed writer leaves it
    with changing(folder, ALWAYS, list[str]().append) as state:
        drop_summaries(folder, state)
    assert not stray.exists()
    summarise(changeable)
    after = set((changeable / "summaries").rglob("*.parquet"))
    assert after
    assert not after & before


# The same as computed from scratch ------------------------------------------------------------------------

STEPS = tuple(name for name in stored_names() if declared()[name].stored == "day")
OVER_THEM = (
    "handshake_hour", "posture_hour", "finding_count", "certificate_shown", "cpu_interval", "tls_hour",
    "transaction_interval", "handshake_interval",
)  # fmt: skip


def same_as_from_scratch(store: Path, names: Iterable[str]) -> None:
    """Compare all views with those of the same data without stored rows."""
    folder = existing_store(store)
    plain = read_state(folder)
    plain.summaries = {}
    copy = store.with_name("scratch.duckdb")
    copy.write_bytes(empty_catalogue())
    with open_reader(store) as stored, duckdb.connect(str(copy)) as scratch:
        fill(scratch, folder, plain)
        search(scratch)
        scratch.execute("SET TimeZone = 'UTC'")
        stored.execute("SET TimeZone = 'UTC'")
        for name in names:
            assert rows(stored, name) == rows(scratch, name), name
    copy.unlink()


def night(path: Path, number: int, seed: int, records: int = 100) -> Path:
    """Write the dump of a day, with connections over midnight, and with CPU intervals."""
    start = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=number, hours=22)
    mix = {
        RecordKind.ZERT_DETAIL: 0.5, RecordKind.TCP_TERM: 0.3, RecordKind.TN3270_TERM: 0.1,
        RecordKind.RMF_CPU: 0.1,
    }  # fmt: skip
    recipe = Recipe(records=records, seed=seed, mix=mix, start=start, end=start + timedelta(hours=5))
    path.write_bytes(generated(recipe))
    return path


class StoreHistory(RuleBasedStateMachine):
    """Loads, repeats, late records, removals, compaction, expiry and killed writers in any order."""

    make_folder: Callable[[], Path]

    @initialize()
    def begin(self) -> None:
        self.folder = type(self).make_folder()
        self.store = self.folder / "store"
        self.count = 0
        self.dumps: list[Path] = []
        self.messages: list[str] = []  # a writer after a killed one reports the days that it computes
        self._load(0)

    def _load(self, number: int, *, half: bool = False, stored: bool = True) -> None:
        self.count += 1
        dump = night(self.folder / f"{self.count}.smf", number, seed=self.count)
        if half:
            dump.write_bytes(_half(dump.read_bytes()))
        self.dumps.append(dump)
        self._ingest(dump, stored=stored)

    def _ingest(self, dump: Path, *, stored: bool = True) -> None:
        options = IngestOptions(selection=row_selection(None), settings=ALWAYS if stored else NEVER)
        ingest(self.store, [dump], options)

    @rule(number=st.integers(0, 3), half=st.booleans())
    def load(self, number: int, half: bool) -> None:
        self._load(number, half=half)
        self.compare()

    @rule(data=st.data())
    def repeat_grown(self, data: st.DataObject) -> None:
        dump = data.draw(st.sampled_from(self.dumps))
        grown = self.folder / f"again-{dump.name}"
        shutil.copyfile(dump, grown)
        self._ingest(grown)
        self.compare()

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        folder = existing_store(self.store)
        loads = [load.load_id for load in read_state(folder).live_loads]
        if not loads:
            return
        with changing(folder, ALWAYS, self.messages.append) as state:
            remove_load(folder, state, data.draw(st.sampled_from(loads)))
        self.compare()

    @rule()
    def compact(self) -> None:
        folder = existing_store(self.store)
        with changing(folder, ALWAYS, self.messages.append) as state:
            compact(folder, state)
        self.compare()

    @precondition(lambda self: self.count > 2)
    @rule(number=st.integers(0, 2))
    def expire(self, number: int) -> None:
        folder = existing_store(self.store)
        with changing(folder, ALWAYS, self.messages.append) as state:
            expire(folder, state, (datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=number)).date())
        self.compare()

    @rule(number=st.integers(0, 3))
    def stop_before_computing(self, number: int) -> None:
        """Load as a writer that is killed after its commit: the next one finds days to compute."""
        self._load(number)
        folder = existing_store(self.store)
        last = max(folder.commits.glob("[0-9]*.json"))
        if json.loads(last.read_text(encoding="utf-8"))["kind"] == "summarise":
            remove_last_commit(folder)
        self.compare()

    def compare(self) -> None:
        same_as_from_scratch(self.store, STEPS)

    def teardown(self) -> None:
        """The views over the steps read nothing else, so they are compared once."""
        if hasattr(self, "folder"):
            same_as_from_scratch(self.store, OVER_THEM)
            shutil.rmtree(self.folder)


def _half(dump: bytes) -> bytes:
    """Return the records of the first half of a dump, which is then loaded in whole later or not at all."""
    place = 0
    while place < len(dump) // 2:
        place += int.from_bytes(dump[place : place + 2], "big")
    return dump[:place]


def run_history(tmp_path: Path, examples: int, steps: int) -> None:
    numbers = iter(range(10**6))

    def make_folder() -> Path:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return folder

    machine = type("History", (StoreHistory,), {"make_folder": staticmethod(make_folder)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "MERGED_FROM", 2)  # so that loads merge files of several days
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples, stateful_step_count=steps, deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )  # fmt: skip


@pytest.mark.deep
def test_after_every_change_stored_rows_are_those_computed_from_scratch(tmp_path: Path) -> None:
    run_history(tmp_path, examples=3, steps=6)


LOADING = """
import sys
from pathlib import Path
from zscope.app.cli.main import program
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
store, *dumps = map(Path, sys.argv[1:])
settings = Settings(summarise_from_rows=300).merge(["+01:00"])
for dump in dumps:
    ingest(store, [dump], IngestOptions(selection=row_selection(None), settings=settings))
"""
"""Loads one dump after the other; the first loads are below the limit for summaries."""


def polled_beside_loads(tmp_path: Path, loads: int, views: Sequence[str]) -> int:
    """Poll views with plain DuckDB during many loads, some in each connection, until all had their turn.

    Return how many versions of the store were seen.
    """
    store = tmp_path / "store"
    dumps = [night(tmp_path / f"{n}.smf", n // 3, seed=n, records=60) for n in range(loads)]
    ingest(store, dumps[:1], IngestOptions(selection=row_selection(None), settings=NEVER))
    seen: set[int] = set()
    turns = cycle(views[first : first + 8] for first in range(0, len(views), 8))
    polled: set[str] = set()
    command = [sys.executable, "-c", LOADING, str(store), *map(str, dumps[1:])]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as writer:
        while True:
            ended = writer.poll() is not None
            with plain_client(store) as connection:
                [[commit]] = connection.execute("SELECT commit_no FROM files.zscope_store").fetchall()
                for name in next(turns):
                    connection.execute(f"SELECT count(*) FROM {name}").fetchall()
                    polled.add(name)
                # Sums of stored rows against single rows of the same moment: no half of a load.
                [[in_hours, single]] = connection.execute(
                    "SELECT (SELECT sum(handshakes) FROM handshake_hour), (SELECT count(*) FROM handshake)"
                ).fetchall()
                assert in_hours == single
            seen.add(commit)
            if ended and len(polled) == len(views):
                break
        assert writer.stderr is not None
        assert writer.returncode == 0, writer.stderr.read()
    with open_reader(store) as connection:
        assert has_summaries(connection)
        assert connection.execute("SELECT count(*) FROM load").fetchall() == [(loads,)]
    return len(seen)


@pytest.mark.deep
def test_a_plain_client_reads_views_beside_loads(tmp_path: Path) -> None:
    """The stored steps, each of which has files of its own, and views over them."""
    views = (*stored_names(), "handshake_mix", "tls_posture", "protocol_distribution")
    assert polled_beside_loads(tmp_path, loads=7, views=views) >= 3


@pytest.mark.deep
def test_many_small_loads_of_a_day_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of files stays in proportion to days, not to loads."""
    monkeypatch.setattr(maintenance, "MERGED_FROM", 4)
    store = tmp_path / "store"
    for number in range(6):
        dump = night(tmp_path / f"{number}.smf", 0, seed=number, records=40)
        ingest(store, [dump], IngestOptions(selection=row_selection(None), settings=ALWAYS))
    state = read_state(existing_store(store))
    by_table = Counter(file.table for file in state.files.values())
    assert max(by_table.values()) < 4
    by_step = Counter(file.step for file in state.summaries.values())
    assert max(by_step.values()) <= 3
    same_as_from_scratch(store, ["handshake_hour", "tls_hour"])
    check_store(existing_store(store))


def test_a_small_store_has_the_rows_that_only_python_computes(sample_store: Path) -> None:
    """A view cannot compute them, so they are stored, with the steps that they read; nothing else is."""
    state = read_state(existing_store(sample_store))
    stored = {file.step for file in state.summaries.values()}
    assert "cost_estimate" in stored <= set(steps_of_computed())
    with open_reader(sample_store) as connection:
        assert not has_summaries(connection)
        select = "SELECT DISTINCT system FROM {} ORDER BY 1"
        systems = connection.execute(select.format("cost_estimate")).fetchall()
        assert systems == connection.execute(select.format("cost_interval")).fetchall()
        assert systems
    by_sql = [name for name in steps_of_computed() if not declared()[name].computed_by]
    same_as_from_scratch(sample_store, by_sql)


RUN = """
[[run]]
name = "morning"
system = "SYSA"
role = "server"
from = 2026-03-02T06:00:00Z
to = 2026-03-02T12:00:00Z
workload = "CRR40(64B/8kB)"
"""


@pytest.mark.deep
def test_rows_of_python_stay_until_others_are_computed(sample_store: Path, tmp_path: Path) -> None:
    """Other runs leave out other intervals, but only a writer can compute with them."""
    store = Path(shutil.copytree(sample_store, tmp_path / "store"))
    with changing(existing_store(store), NEVER, silent):
        pass
    select = "SELECT * FROM cost_estimate ORDER BY ALL"
    with open_reader(store) as connection:
        before = connection.execute(select).fetchall()
    (store / RUNS).write_text(RUN, encoding="utf-8")
    with open_reader(store) as connection:
        assert connection.execute(select).fetchall() == before
    with changing(existing_store(store), NEVER, silent):
        pass
    with open_reader(store) as connection:
        after = connection.execute(select).fetchall()
    assert after != before


@pytest.mark.deep
def test_too_few_intervals_are_not_worth_an_estimate(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ingest(store, [night(tmp_path / "one.smf", 0, seed=1)], IngestOptions(selection=row_selection(None)))
    assert not read_state(existing_store(store)).summaries
    with open_reader(store) as connection:
        prepare(connection, ["tls_price"])
        assert connection.execute("SELECT * FROM tls_price").fetchall() == []
