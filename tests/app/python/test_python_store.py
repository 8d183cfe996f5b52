"""A store in Python: the same rows as on the command line, and a snapshot until it is refreshed."""

from __future__ import annotations

import csv
import io
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import _duckdb
import duckdb
import polars as pl
import pyarrow as pa
import pytest
from adbc_driver_manager import dbapi
from click.testing import CliRunner
from tests.app.python.conftest import REPORTS
from tests.dumps import generated
from tests.marking import deep_except

import zscope.api as zs
from zscope.app.cli.main import program
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import metric_names
from zscope.pipelines.store.parquet_files import data_tables
from zscope.samples import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def store(checkout: Path) -> Iterator[zs.Store]:
    with zs.open(checkout / "zscope-store") as opened:
        yield opened


def of_command(store: zs.Store, *arguments: str) -> list[dict[str, str]]:
    options = ["--store", str(store.path), "--format", "csv"]
    done = CliRunner().invoke(program, [*arguments, *options], prog_name="zscope")
    assert done.exit_code == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        pytest.param({}, [], marks=pytest.mark.deep),
        ({"by": "system,day"}, ["--by", "system,day"]),
        ({"by": ["server_port"], "system": "SYSA"}, ["--by", "server_port", "--system", "SYSA"]),
        pytest.param(
            {"by": "all", "where": "server_port = 443"},
            ["--by", "all", "--where", "server_port = 443"],
            marks=pytest.mark.deep,
        ),
        (
            {"from_": "2026-03-02", "to": "2026-03-02T09:00Z"},
            ["--from", "2026-03-02", "--to", "2026-03-02T09:00Z"],
        ),
    ],
)
def test_a_metric_has_the_options_of_the_command(
    store: zs.Store, options: dict[str, object], arguments: list[str]
) -> None:
    found = store.metric("handshake_mix", **options)  # type: ignore[arg-type]
    expected = of_command(store, "metrics", "handshake_mix", *arguments)
    assert found.columns == list(expected[0])
    assert [str(row["handshakes"]) for row in found.pl().to_dicts()] == [
        row["handshakes"] for row in expected
    ]


def test_parameters_of_one_metric_do_not_reach_another(store: zs.Store) -> None:
    with_target = store.metric("resumption_saving", target_pct=77)
    without = store.metric("resumption_saving")
    assert (77,) in with_target.project("target_pct").fetchall()
    assert (77,) not in without.project("target_pct").fetchall()


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"name": "handshake_mx"}, zs.UnknownTableError, "did you mean handshake_mix"),
        ({"by": "prt"}, zs.MetricQueryError, "has no 'prt' to group by"),
        ({"by": "sytem"}, zs.MetricQueryError, r"did you mean system\?"),
        ({"systems": "SYSA"}, zs.MetricQueryError, r"option 'systems'; .* did you mean system\?"),
        ({"frm": "2026-03-02"}, zs.MetricQueryError, "did you mean from_"),
        (
            {"name": "tls_price", "price_per_mus": 1},
            zs.MetricQueryError,
            "did you mean price_per_msu",
        ),
        ({"system": "SYSX"}, zs.MetricQueryError, "it has SYSA, SYSB"),
        ({"system": "sysa"}, zs.MetricQueryError, r"did you mean SYSA\?"),
        ({"where": "prt = 1"}, zs.MetricQueryError, "Write an SQL condition on the columns"),
        ({"price": 1}, zs.MetricQueryError, "has no parameter or option 'price'"),
        ({"from_": "yesterday"}, ValueError, "'yesterday' is not a day or time"),
        ({"from_": "2026-03-03", "to": "2026-03-02"}, ValueError, "is empty"),
    ],
)
def test_wrong_options_are_explained(
    store: zs.Store, wrong: dict[str, object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        store.metric(**({"name": "handshake_mix"} | wrong))  # type: ignore[arg-type]


def test_every_table_and_metric_can_be_read(store: zs.Store) -> None:
    assert set(data_tables()) < set(store.tables)
    assert set(metric_names()) == set(store.metrics)
    for name in store.tables:
        assert store.table(name).limit(1).to_arrow_table().num_columns > 0
    assert "connection" in store.tables["smf119_zert_detail"]
    for opened in (store.tables, store.metrics):
        assert len(repr(opened)) < 500
        assert opened._repr_html_().startswith("<table>")
    with pytest.raises(zs.UnknownTableError, match="did you mean smf70_cpu"):
        store.table("smf70_cpus")
    with pytest.raises(zs.UnknownTableError, match="did you mean"):
        store.tables["SMF70_CPUS"]


def test_statements_read_metrics_as_the_method_does(store: zs.Store) -> None:
    rows = store.sql("FROM tls_advice ORDER BY ALL").fetchall()
    assert rows == store.metric("tls_advice").order("ALL").fetchall() != []
    # What it made for the statement is its own.
    assert store.sql("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall() == []


def test_relations_go_to_all_libraries(store: zs.Store) -> None:
    """The files of the store give the same values in each of them, table by table."""
    import pandas as pd  # type: ignore[import-untyped]

    compared = 0
    for name in data_tables():
        rows = store.sql(f"FROM {name} ORDER BY ALL").to_arrow_table()
        if not rows.num_rows:
            continue
        compared += 1
        in_order = store.sql(f"FROM {name} ORDER BY ALL")
        frame = in_order.pl()
        plain = pa.schema([field.with_metadata(None) for field in rows.schema])
        assert frame.to_arrow().cast(plain).equals(rows.cast(plain)), name
        assert pl.DataFrame(in_order).equals(frame), name
        pandas = rows.to_pandas(types_mapper=pd.ArrowDtype)
        assert pa.Table.from_pandas(pandas, preserve_index=False).cast(plain).equals(rows.cast(plain)), name
        lazy = store.lazy(name).collect()
        assert lazy.schema == frame.schema, name
        assert lazy.height == frame.height, name
    assert compared >= 30


def test_a_lazy_table_reads_what_the_query_needs(store: zs.Store) -> None:
    lazy = store.lazy("smf119_zert_detail").filter(pl.col("tls_version") == 772).select("system", "cipher")
    expected = store.sql("SELECT system, cipher FROM smf119_zert_detail WHERE tls_version = 772").pl()
    assert lazy.collect().sort("system", "cipher").equals(expected.sort("system", "cipher"))


def test_statements_can_name_frames_of_the_caller(store: zs.Store) -> None:
    def joined() -> list[tuple[object, ...]]:
        wanted = pl.DataFrame({"system": ["SYSA"]})
        assert wanted.height
        return store.sql("SELECT DISTINCT system FROM smf70_cpu JOIN wanted USING (system)").fetchall()

    assert joined() == [("SYSA",)]


def test_nothing_can_be_written(store: zs.Store) -> None:
    with pytest.raises(duckdb.Error, match="read-only"):
        store.sql("CREATE TABLE mine AS SELECT 1")


def test_loads_issues_and_fields(store: zs.Store) -> None:
    assert store.loads().columns[0] == "load_id"
    assert store.issues().columns[:2] == ["file", "record_no"] or "code" in store.issues().columns
    assert zs.issues(store.path).fetchall() == store.issues().fetchall()
    assert "cipher" in store.fields("cipher suite")["column_name"].to_pylist()
    assert repr(store).startswith(f"<Store {store.path}: commit {store.commit}, ")
    assert "smf70_cpu" in store._repr_html_()


def test_a_folder_without_a_store_is_explained(tmp_path: Path) -> None:
    with pytest.raises(zs.StoreError, match="there is no store"):
        zs.open(tmp_path)


def test_relations_do_not_disturb_each_other(store: zs.Store) -> None:
    """On one connection of DuckDB, the second query would end the stream of the first without an error."""
    first, second = (
        store.table(name).to_arrow_reader(10) for name in ("smf119_zert_detail", "smf119_zert_dn")
    )
    read = [first.read_next_batch().num_rows, second.read_next_batch().num_rows]
    assert store.loads().fetchall()
    assert repr(store)
    counts = [
        part + sum(batch.num_rows for batch in rest) for part, rest in zip(read, (first, second), strict=True)
    ]
    assert counts == [980, 2136]
    lazy, other = store.lazy("smf119_zert_detail"), store.lazy("smf119_zert_dn")
    frames = pl.collect_all([lazy.select("system"), lazy.select("cipher"), other.select("record_no")])
    assert [frame.height for frame in frames] == [980, 980, 2136]
    joined = lazy.join(lazy.group_by("system").agg(pl.len()), on="system").join(
        other.group_by("system").agg(pl.len().alias("names")), on="system"
    )
    assert joined.collect().height == 980
    with ThreadPoolExecutor(4) as threads:
        sums = set(
            threads.map(lambda _: store.table("smf119_zert_dn").aggregate("count(*)").fetchone(), range(8))
        )
    assert sums == {(2136,)}


def test_relations_of_one_connection_can_be_joined(store: zs.Store) -> None:
    shared = store.duckdb()
    assert store.duckdb() is shared
    systems = shared.sql("SELECT system, count(*) AS intervals FROM smf70_interval GROUP BY system")
    details = shared.table("smf119_zert_detail")
    joined = details.join(systems, "system").aggregate("system, count(*) AS rows, any_value(intervals)")
    expected = store.sql("SELECT system, count(*), 96 FROM smf119_zert_detail GROUP BY system")
    assert sorted(joined.fetchall()) == sorted(expected.fetchall()) != []
    named = shared.sql("SELECT DISTINCT system FROM details JOIN handshake_mix USING (system)")
    assert sorted(named.join(systems, "system").fetchall()) == [("SYSA", 96), ("SYSB", 96)]
    shared.register("mix", store.metric("handshake_mix", by="system").to_arrow_table())
    assert shared.sql("SELECT count(*) FROM systems JOIN mix USING (system)").fetchone() == (2,)
    assert store.refresh().duckdb() is not shared


def test_a_relation_in_a_statement_is_explained(store: zs.Store) -> None:
    mix = store.metric("handshake_mix", by="system")
    with pytest.raises(duckdb.InvalidInputException) as error:
        store.sql("SELECT count(*) FROM smf119_zert_detail JOIN mix USING (system)")
    assert mix.columns
    assert ".pl()" in error.value.__notes__[0]


def test_times_are_utc_in_every_time_zone_of_the_computer(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        with zs.open(checkout / "zscope-store") as store:
            relations = store.table("handshake_mix"), store.metric("handshake_mix"), store.sql("SELECT now()")
            zones = {str(kind) for each in relations for kind in each.limit(1).to_arrow_table().schema.types}
            (hour,) = (
                store.metric("handshake_mix", by="day_utc").project("day_utc").order("day_utc").fetchall()[0]
            )
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert "timestamp[us, tz=UTC]" in zones
    assert not any("York" in zone for zone in zones)
    assert hour == datetime(2026, 3, 2, tzinfo=UTC)


def test_the_store_of_the_commands_is_opened_by_default(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZSCOPE_STORE", raising=False)
    with pytest.raises(zs.StoreError, match="zscope-store: there is no store"):
        zs.open()
    monkeypatch.setenv("ZSCOPE_STORE", str(checkout / "zscope-store"))
    assert zs.open().path == checkout / "zscope-store"
    assert zs.issues().columns == zs.open().issues().columns


@pytest.mark.deep
def test_the_price_by_time_is_that_of_another_metric(store: zs.Store) -> None:
    """In `make test`, the same is a test of the command."""
    by_day = store.metric("tls_price", by="day")
    assert by_day.columns[:2] == ["system", "day"]
    assert by_day.fetchall() == store.metric("tls_price_day", by="day").fetchall()


def test_names_are_completed(store: zs.Store) -> None:
    assert "smf70_cpu" in store.tables._ipython_key_completions_()
    assert "tls_price" in store.metrics._ipython_key_completions_()
    assert set(dir(zs)) == set(zs.__all__)
    assert list(store.parameters("tls_price")) == ["run_edge_pct", "price_per_msu"]
    assert store.parameters("cpu_interval") == {}
    with pytest.raises(AttributeError) as error:
        zs.scna  # type: ignore[attr-defined]  # noqa: B018
    assert (error.value.name, error.value.obj) == ("scna", zs)


def test_a_store_stays_still_until_it_is_refreshed(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout / "zscope-store", tmp_path / "store")
    store = zs.open(tmp_path / "store")
    before = store.table("smf119_zert_detail").aggregate("count(*)").fetchone()
    commit = store.commit
    dump = tmp_path / "night.smf"
    dump.write_bytes(generated(Recipe(records=500, mix={"zert-detail": 1.0}, seed=11)))
    lazy, relation = store.lazy("smf119_zert_detail"), store.table("smf119_zert_detail")
    ingest(tmp_path / "store", [str(dump)], IngestOptions(selection=row_selection(None)))
    assert relation.aggregate("count(*)").fetchone() == before
    assert (lazy.select(pl.len()).collect().item(),) == before
    assert store.table("smf119_zert_detail").aggregate("count(*)").fetchone() == before
    assert store.commit == commit
    store.refresh()
    after = store.table("smf119_zert_detail").aggregate("count(*)").fetchone()
    assert before is not None
    assert after == (before[0] + 500,)
    assert relation.aggregate("count(*)").fetchone() == before
    assert store.commit > commit


def counted(relations: dict[str, duckdb.DuckDBPyRelation]) -> dict[str, int]:
    """Return the number of rows, for which every file of the data is read."""
    return {
        name: len(relation.project(relation.columns[0]).fetchall()) for name, relation in relations.items()
    }


@pytest.mark.deep
def test_a_store_stays_still_while_a_load_is_removed_and_files_are_merged(
    checkout: Path, tmp_path: Path
) -> None:
    shutil.copytree(checkout / "zscope-store", tmp_path / "store")
    store = zs.open(tmp_path / "store")
    tables = [name for name in data_tables() if store.table(name).limit(1).fetchall()]
    assert len(tables) >= 30
    relations = {name: store.table(name) for name in tables}
    lazy = store.lazy("smf119_zert_detail").select(pl.len())
    mix = store.metric("handshake_mix", by="system")
    before, rows_before = counted(relations), mix.fetchall()
    options = ["--store", str(store.path)]
    for command in (["loads", "remove", "1"], ["store", "compact"]):
        done = CliRunner().invoke(program, [*command, *options], prog_name="zscope")
        assert done.exit_code == 0, done.stderr
        assert counted(relations) == before
        assert lazy.collect().item() == before["smf119_zert_detail"]
        assert store.metric("handshake_mix", by="system").fetchall() == rows_before
    store.refresh()
    assert store.table("smf119_zert_detail").limit(1).fetchall() == []
    assert counted(relations) == before
    assert before["smf119_zert_detail"] == 980


def table_by_duckdb(store: zs.Store, name: str) -> int:
    return len(store.table(name).fetchall())


def table_by_polars(store: zs.Store, name: str) -> int:
    return store.table(name).pl().height


def table_by_lazy_polars(store: zs.Store, name: str) -> int:
    return store.lazy(name).collect().height


def table_by_pandas(store: zs.Store, name: str) -> int:
    import pandas as pd

    return len(pd.DataFrame.from_arrow(store.table(name)))


def table_by_pyarrow(store: zs.Store, name: str) -> int:
    return int(pa.table(store.table(name)).num_rows)


def table_by_adbc(store: zs.Store, name: str) -> int:
    with (
        dbapi.connect(driver=_duckdb.__file__, entrypoint="duckdb_adbc_init") as connection,
        connection.cursor() as cursor,
    ):
        cursor.adbc_ingest("rows", store.table(name), mode="create")
        cursor.execute("FROM rows")
        return int(cursor.fetch_arrow_table().num_rows)


@pytest.fixture(scope="module")
def incomplete(damaged: Path, tmp_path_factory: pytest.TempPathFactory) -> zs.Store:
    """A store of a damaged dump and of two other dumps, between which there are two hours without any."""
    folder = tmp_path_factory.mktemp("incomplete")
    dumps = [damaged]
    for begin, end in ((6, 8), (10, 12)):
        dumps.append(folder / f"{begin}.smf")
        start, until = (datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (begin, end))
        recipe = Recipe(records=16, mix={"rmf-cpu": 1.0}, seed=5, start=start, end=until)
        dumps[-1].write_bytes(generated(recipe))
    options = IngestOptions(selection=row_selection(None))
    ingest(folder / "store", list(map(str, dumps)), options)
    return zs.open(folder / "store")


@pytest.mark.parametrize(
    "way",
    deep_except(
        [table_by_polars],
        (
            table_by_duckdb,
            table_by_polars,
            table_by_lazy_polars,
            table_by_pandas,
            table_by_pyarrow,
            table_by_adbc,
        ),
    ),
)
def test_issues_and_gaps_are_in_the_store_whatever_reads_it(
    way: Callable[[zs.Store, str], int], damaged: Path, incomplete: zs.Store
) -> None:
    read = zs.read(damaged)
    assert way(incomplete, "smf119_zert_detail") == read["smf119_zert_detail"].num_rows
    issues = incomplete.issues().project("code, record_no, byte_offset, byte_end")
    expected = [(str(each.code), each.record_no, each.offset, each.end) for each in read.issues]
    assert set(expected) <= set(issues.fetchall())
    assert expected
    assert way(incomplete, "issue") + way(incomplete, "input_issue") == len(issues)
    assert way(incomplete, "load_gap") == 0
    gaps = incomplete.gaps().to_pylist()
    assert {gap["to_local"] - gap["from_local"] for gap in gaps} == {timedelta(hours=2)}
    assert {gap["system"] for gap in gaps} == {"SYSA", "SYSB"}
    assert f"3 loads, {len(issues)} issue" in repr(incomplete)


def test_rows_without_a_time_zone_warn(tmp_path: Path) -> None:
    ingest(tmp_path / "store", [str(REPORTS)], IngestOptions(selection=row_selection(None)))
    with zs.open(tmp_path / "store") as store, pytest.warns(zs.DataWarning, match="time zone"):
        store.metric("resumption_rate")
