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
from tests.marking import deep_except

import zscope.api as zs
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

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


@pytest.mark.parametrize("way", deep_except(WAYS[1:2], WAYS))
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


def test_pandas_does_not_take_batches_for_rows() -> None:
    import pandas as pd

    with pytest.raises(TypeError, match="from_arrow"):
        pd.DataFrame(zs.scan(DUMP, "smf70_cpu"))


def test_a_batch_has_a_short_text_and_goes_to_polars() -> None:
    batch = next(iter(zs.scan(DUMP, "smf70_cpu")))
    assert len(repr(batch)) < 120
    assert pl.DataFrame(batch).height == batch.rows.num_rows


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


HOSTILE = "<script>alert(1)</script>"


def hostile_results(folder: Path) -> dict[type, object]:
    """Return a result of each type that a notebook shows, with names that are HTML."""
    file = folder / f"{HOSTILE.replace('/', '_')}.txt"
    file.write_bytes(next(REPORTS.glob("*netstat*")).read_bytes())
    options = zs.ReadOptions(system="<script>")
    tables = zs.read(file, options=options)
    issues = zs.Issues()
    for number in range(30):
        issues.add(zs.Issue(zs.Code.BAD_VALUE, HOSTILE, str(file), number, field=HOSTILE))
    scan = zs.scan(file, [name for name, rows in tables.items() if rows.num_rows][:1], options)
    batch = next(iter(scan))
    scan.issues.extend(issues)
    named = zs.Tables({HOSTILE: issues.to_arrow()} | tables.tables, issues, [])
    ingest(folder / HOSTILE.replace("/", "_"), [str(file)], IngestOptions(selection=row_selection(None)))
    store = zs.open(folder / HOSTILE.replace("/", "_"))
    names = zs.Names(HOSTILE, {HOSTILE: HOSTILE})
    results = (named, issues, zs.inventory(file, options), scan, batch, store, names)
    return {type(result): result for result in results}


def test_texts_of_notebooks_are_escaped(tmp_path: Path) -> None:
    results = hostile_results(tmp_path)
    shown = {kind for name in zs.__all__ if hasattr(kind := getattr(zs, name), "_repr_html_")}
    assert shown == results.keys()
    for result in results.values():
        html = result._repr_html_()  # type: ignore[attr-defined]
        assert "<script" not in html.replace("&lt;script", ""), type(result)
        assert "&lt;script" in html, type(result)
        assert len(html) < 20_000, type(result)


def test_issues_in_a_notebook_are_a_short_table() -> None:
    issues = zs.Issues()
    assert issues._repr_html_() == "<p>no issues</p>"
    for number in range(30):
        issues.add(zs.Issue(zs.Code.BAD_VALUE, "not a number", "a.txt", line_no=number))
    html = issues._repr_html_()
    assert html.count("<tr>") == 1 + 10
    assert "<td>warning</td><td>bad-value</td><td>a.txt, line 3</td><td>not a number</td>" in html
    assert html.endswith("<p>and 20 more</p>")


BOUNDED = """
import resource, sys
from pathlib import Path
import zscope.api as zs

dump, way = sys.argv[1:3]
# All columns: whoever keeps the rows of a few needs little memory, too.
scan = zs.scan(dump, "smf119_zert_detail", zs.ReadOptions(jobs=2))
if way == "duckdb":
    import duckdb
    rows, *_ = duckdb.sql("SELECT count(*), max(COLUMNS(*)) FROM scan").fetchall()[0]
elif way == "lazy":
    import polars as pl
    lazy = zs.scan_polars(dump, "smf119_zert_detail")
    columns = pl.all().exclude(pl.List).max()
    [(rows, *_)] = lazy.select(pl.len().alias("rows"), columns).collect(engine="streaming").rows()
elif way == "pandas":
    import pandas as pd
    rows = sum(len(pd.DataFrame.from_arrow(batch)) for batch in scan)
elif way == "adbc":
    import _duckdb
    from adbc_driver_manager import dbapi
    database = {"path": f"{dump}.duckdb"}  # on disk: a database in memory grows with its rows
    driver = {"driver": _duckdb.__file__, "entrypoint": "duckdb_adbc_init"}
    with dbapi.connect(**driver, db_kwargs=database) as connection, connection.cursor() as cursor:
        cursor.execute("SET memory_limit = '200MB'")  # else DuckDB caches what it has written
        cursor.execute("SET threads = 1")
        rows = cursor.adbc_ingest("connections", scan, mode="create")
        cursor.execute("SELECT count(*) FROM connections")
        assert cursor.fetchone() == (rows,)
elif way == "whole table":
    import pyarrow as pa
    rows = pa.table(scan).num_rows
else:
    rows = sum(batch.num_rows for batch in scan.to_arrow_reader())
print(rows)
status = Path("/proc/self/status")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
for line in status.read_text().splitlines() if status.exists() else ():
    # The other figure includes the peak of the process that started this one.
    peak = 1024 * int(line.split()[1]) if line.startswith("VmHWM:") else peak
print(peak)
"""
DUMPS = (300_000, 800_000)
"""Numbers of records of a small and a large dump."""


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    from zscope.samples import Recipe, generate

    paths = [tmp_path_factory.mktemp("dumps") / f"{records}.smf" for records in DUMPS]
    for path, records in zip(paths, DUMPS, strict=True):
        with path.open("wb") as out:
            generate(Recipe(records=records, mix={"zert-detail": 1.0}, seed=7), out)
    return paths


def grown(way: str, dumps: list[Path]) -> float:
    """Return by how much the peak of memory grows, as a share of the growth of the dump."""
    sizes, peaks = [], []
    for dump, records in zip(dumps, DUMPS, strict=True):
        done = subprocess.run(
            [sys.executable, "-c", BOUNDED, dump, way], capture_output=True, text=True, check=True
        )
        # DuckDB may write its progress before.
        counted, peak = map(int, done.stdout.split()[-2:])
        assert counted == records
        sizes.append(dump.stat().st_size)
        peaks.append(peak)
    return (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])


@pytest.mark.deep
@pytest.mark.parametrize(
    ("way", "most"),
    # ADBC has drivers of databases only; what DuckDB itself needs for a table grows with its rows.
    [("pyarrow", 0.3), ("duckdb", 0.3), ("lazy", 0.5), ("pandas", 0.3), ("adbc", 0.6)],
)
def test_memory_does_not_grow_with_the_dump(way: str, most: float, dumps: list[Path]) -> None:
    assert grown(way, dumps) < most


@pytest.mark.deep
def test_a_way_that_keeps_all_rows_would_be_noticed(dumps: list[Path]) -> None:
    assert grown("whole table", dumps) > 0.8
