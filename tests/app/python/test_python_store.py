"""A store in Python: the same rows as on the command line, and a snapshot until it is refreshed."""

from __future__ import annotations

import csv
import io
import shutil
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests.app.python.conftest import REPORTS

import zscope.api as zs
from zscope.app.cli.main import program
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import metric_names
from zscope.pipelines.store.parts import data_tables
from zscope.samples import Recipe, generate

if TYPE_CHECKING:
    from collections.abc import Iterator
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
        ({}, []),
        ({"by": "system,day"}, ["--by", "system,day"]),
        ({"by": ["server_port"], "system": "SYSA"}, ["--by", "server_port", "--system", "SYSA"]),
        ({"by": "all", "where": "server_port = 443"}, ["--by", "all", "--where", "server_port = 443"]),
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


@pytest.mark.deep
def test_parameters_of_one_metric_do_not_reach_another(store: zs.Store) -> None:
    with_price = store.metric("tls_price", price_per_msu=120)
    without = store.metric("tls_price")
    assert without.aggregate("count(high_price)").fetchone() == (0,)
    assert with_price.columns == without.columns


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"name": "handshake_mx"}, zs.UnknownTableError, "did you mean handshake_mix"),
        ({"by": "prt"}, zs.MetricQueryError, "has no 'prt' to group by"),
        ({"system": "SYSX"}, zs.MetricQueryError, "it has SYSA, SYSB"),
        ({"where": "prt = 1"}, zs.MetricQueryError, "Write an SQL condition on the columns"),
        ({"price": 1}, zs.MetricQueryError, "has no parameter 'price'"),
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


def test_a_store_stays_still_until_it_is_refreshed(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout / "zscope-store", tmp_path / "store")
    store = zs.open(tmp_path / "store")
    before = store.table("smf119_zert_detail").aggregate("count(*)").fetchone()
    commit = store.commit
    dump = tmp_path / "night.smf"
    with dump.open("wb") as out:
        generate(Recipe(records=500, mix={"zert-detail": 1.0}, seed=11), out)
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


def test_issues_of_damaged_dumps_are_in_the_store(damaged: Path, tmp_path: Path) -> None:
    ingest(tmp_path / "store", [str(damaged)], IngestOptions(selection=row_selection(None)))
    expected = {str(issue.code) for issue in zs.read(damaged).issues}
    with zs.open(tmp_path / "store") as store:
        assert expected <= {code for (code,) in store.issues().project("code").fetchall()}


def test_rows_without_a_time_zone_warn(tmp_path: Path) -> None:
    ingest(tmp_path / "store", [str(REPORTS)], IngestOptions(selection=row_selection(None)))
    with zs.open(tmp_path / "store") as store, pytest.warns(zs.DataWarning, match="time zone"):
        store.metric("resumption_rate")
