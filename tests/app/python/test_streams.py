"""What polars, pandas, DuckDB, pyarrow and ADBC read from a scan equals the rows of `read`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import _duckdb
import duckdb
import polars as pl
import pyarrow as pa
import pytest
from adbc_driver_manager import dbapi
from tests.app.python.conftest import DUMP, REPORTS

import zscope.api as zs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POLARS = {
    pa.bool_(): pl.Boolean(),
    pa.int8(): pl.Int8(),
    pa.int32(): pl.Int32(),
    pa.int64(): pl.Int64(),
    pa.uint8(): pl.UInt8(),
    pa.uint16(): pl.UInt16(),
    pa.uint32(): pl.UInt32(),
    pa.uint64(): pl.UInt64(),
    pa.float64(): pl.Float64(),
    pa.string(): pl.String(),
    pa.binary(): pl.Binary(),
    pa.timestamp("us"): pl.Datetime("us"),
    pa.timestamp("us", "UTC"): pl.Datetime("us", "UTC"),
}
"""The type in polars of each type that tables have; a list has that of its values."""


def polars_type(kind: pa.DataType) -> pl.DataType:
    return pl.List(polars_type(kind.value_type)) if pa.types.is_list(kind) else POLARS[kind]


def by_pyarrow(scan: zs.Scan) -> pa.Table:
    return pa.table(scan)


def by_polars(scan: zs.Scan) -> pa.Table:
    frame = pl.DataFrame(scan)
    assert list(frame.schema.items()) == [(field.name, polars_type(field.type)) for field in scan.schema]
    return frame.to_arrow()


def by_pandas(scan: zs.Scan) -> pa.Table:
    import pandas as pd  # type: ignore[import-untyped]

    frame = pa.table(scan).to_pandas(types_mapper=pd.ArrowDtype)
    assert [dtype.pyarrow_dtype for dtype in frame.dtypes] == scan.schema.types
    return pa.Table.from_pandas(frame, preserve_index=False)


def by_duckdb(scan: zs.Scan) -> pa.Table:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.from_arrow(scan).to_arrow_table()


def by_adbc(scan: zs.Scan) -> pa.Table:
    with (
        dbapi.connect(driver=_duckdb.__file__, entrypoint="duckdb_adbc_init") as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SET TimeZone = 'UTC'")
        cursor.adbc_ingest("rows", scan, mode="create")
        cursor.execute("FROM rows")
        return cursor.fetch_arrow_table()


WAYS = (by_pyarrow, by_polars, by_pandas, by_duckdb, by_adbc)


@pytest.fixture(scope="module")
def tables() -> zs.Tables:
    return zs.read([DUMP, REPORTS])


def plain(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the types of a schema: libraries have several types for texts."""
    return table.cast(schema.remove_metadata()).combine_chunks()


@pytest.mark.parametrize("way", WAYS)
def test_all_values_and_types_of_every_table(way: Callable[[zs.Scan], pa.Table], tables: zs.Tables) -> None:
    compared = 0
    for name, expected in tables.items():
        if not expected.num_rows:
            continue
        source = DUMP if name.startswith("smf") else REPORTS
        scan = zs.scan(source, name)
        found = way(scan)
        schema = pa.schema([field.with_nullable(True) for field in scan.schema])
        assert [str(kind).removeprefix("large_").removesuffix("_view") for kind in found.schema.types] == [
            str(kind) for kind in schema.types
        ], name
        assert plain(found, schema).equals(plain(expected, schema)), name
        compared += 1
    assert compared >= 36


def test_pandas_takes_a_scan_as_it_is() -> None:
    import pandas as pd

    scan = zs.scan(DUMP, "smf70_cpu[system,cpu_id,wait_us]")
    frame = pd.DataFrame.from_arrow(scan)
    expected = zs.read(DUMP, "smf70_cpu[system,cpu_id,wait_us]")["smf70_cpu"]
    assert frame["wait_us"].tolist() == expected["wait_us"].to_pylist()
    assert frame["system"].tolist() == expected["system"].to_pylist()


def test_a_second_pass_reads_the_files_again() -> None:
    scan = zs.scan(DUMP, "smf70_cpu[system]")
    first, second = pa.table(scan).num_rows, pa.table(scan).num_rows
    assert first == second > 0
    assert len(scan.files) == 1
    assert len(scan.issues) == len(zs.read(DUMP, "smf70_cpu[system]").issues)


def test_standard_input_has_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    scan = zs.scan("-", "smf70_cpu")
    with DUMP.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert list(scan)
        with pytest.raises(ValueError, match="standard input can be read once only"):
            list(scan)


def test_a_stream_of_several_tables_is_refused() -> None:
    with pytest.raises(TypeError, match="an Arrow stream has one table, and 2 are selected"):
        pl.DataFrame(zs.scan(DUMP, "smf70_cpu,smf70_interval"))


@pytest.mark.parametrize("way", WAYS)
def test_issues_of_damaged_dumps_are_reported(way: Callable[[zs.Scan], pa.Table], damaged: Path) -> None:
    expected = zs.read(damaged, "smf119_zert_detail")
    assert expected.issues.worst == zs.Severity.WARNING
    scan = zs.scan(damaged, "smf119_zert_detail")
    with pytest.warns(zs.DataWarning, match=r"damaged\.smf"):
        rows = way(scan)
    assert rows.num_rows == expected["smf119_zert_detail"].num_rows
    assert list(scan.issues) == list(expected.issues)


def test_without_more_than_notes_there_is_no_warning() -> None:
    # Warnings are errors in the tests.
    scan = zs.scan(DUMP, "smf119_zert_detail")
    pl.DataFrame(scan)
    assert scan.issues.worst == zs.Severity.NOTE


def test_a_missing_file_is_an_issue_with_a_warning() -> None:
    with pytest.warns(zs.DataWarning, match="no-such-file: cannot be read"):
        assert pl.DataFrame(zs.scan("no-such-file", "smf70_cpu")).is_empty()


def test_a_strict_scan_raises() -> None:
    with pytest.raises(zs.InputError, match="no-such-file: cannot be read"):
        list(zs.scan("no-such-file", "smf70_cpu", zs.ReadOptions(strict=True)))


def test_results_are_mappings_with_a_short_text() -> None:
    tables = zs.read(DUMP, "smf70_cpu,smf70_icsf,119(11)")
    assert list(tables) == list(tables.tables)
    assert "smf70_cpu" in tables
    assert "smf70_cpus" not in tables
    assert repr(tables).splitlines()[0].startswith("<Tables: ")
    assert max(map(len, repr(zs.read(DUMP)).splitlines())) < 100
    assert len(repr(zs.read(DUMP))) < 1000
    with pytest.raises(zs.UnknownTableError, match="did you mean smf70_cpu"):
        tables["SMF70_CPUS"]
    with pytest.raises(zs.SelectionError, match="did you mean job_name"):
        zs.scan(DUMP, "smf119_zert_detail[job_nam]")


def test_texts_of_notebooks_are_escaped(tmp_path: Path) -> None:
    named = tmp_path / "<b>.txt"
    named.write_bytes(next(REPORTS.glob("*netstat*")).read_bytes())
    html = zs.inventory(named)._repr_html_() + zs.read(DUMP, "smf70_cpu")._repr_html_()
    assert "<b>" not in html
    assert "<table>" in html


BOUNDED = """
import resource, sys
import duckdb, polars as pl, zscope.api as zs
scan = zs.scan(sys.argv[1], "smf119_zert_detail[system,job_name,in_bytes]", zs.ReadOptions(jobs=2))
if sys.argv[2] == "duckdb":
    print(duckdb.sql("SELECT count(*), sum(in_bytes) FROM scan").fetchall())
elif sys.argv[2] == "lazy":
    lazy = zs.scan_polars(sys.argv[1], "smf119_zert_detail")
    print(lazy.select(pl.len(), pl.col("in_bytes").sum()).collect(engine="streaming").rows())
else:
    print(sum(batch.num_rows for batch in scan.to_arrow_reader()))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.deep
@pytest.mark.parametrize("way", ["duckdb", "lazy", "pyarrow"])
def test_memory_does_not_grow_with_the_dump(way: str, tmp_path: Path) -> None:
    from zscope.samples import Recipe, generate

    peaks = []
    for records in (100_000, 600_000):
        dump = tmp_path / f"{records}.smf"
        with dump.open("wb") as out:
            generate(Recipe(records=records, mix={"zert-detail": 1.0}, seed=7), out)
        done = subprocess.run(
            [sys.executable, "-c", BOUNDED, dump, way], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout.splitlines()[-1]) * 1024)
        assert str(records) in done.stdout
    grown = dump.stat().st_size * 5 / 6
    assert peaks[1] - peaks[0] < 0.3 * grown, peaks
