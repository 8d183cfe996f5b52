"""A polars `LazyFrame` over files decodes the columns that its query uses, and stops when it has enough."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Literal

import duckdb
import polars as pl
import pytest
from tests.app.python.conftest import DUMP, REPORTS
from tests.dumps import generated

import zscope.api as zs
from zscope.parsers.smf.record_batches import TableBuilder
from zscope.parsers.smf.walker import FrameReader
from zscope.samples import Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from zscope.parsers.smf.walker import Window
    from zscope.schemas import TableLayout

Engine = Literal["in-memory", "streaming"]
TABLE = "smf119_zert_detail"
RECORDS = 60_000


class DecodedParts:
    """What was decoded: rows by column, and bytes of windows."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.bytes = 0


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> DecodedParts:
    parts = DecodedParts()
    build, read = TableBuilder.build, FrameReader.__iter__

    def counted(
        self: TableBuilder, table: TableLayout, wanted: tuple[str, ...] | None
    ) -> pa.RecordBatch | None:
        batch = build(self, table, wanted)
        if batch is not None:
            parts.rows.update(dict.fromkeys(batch.schema.names, batch.num_rows))
        return batch

    def windows(self: FrameReader) -> Iterator[Window]:
        for window in read(self):
            parts.bytes += len(window.data)
            yield window

    monkeypatch.setattr(TableBuilder, "build", counted)
    monkeypatch.setattr(FrameReader, "__iter__", windows)
    return parts


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lazy") / "dump.smf"
    path.write_bytes(generated(Recipe(records=RECORDS, mix={"zert-detail": 0.9, "tcp-term": 0.1}, seed=2)))
    return path


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_only_the_columns_of_the_query_are_decoded(engine: Engine, dump: Path, decoded: DecodedParts) -> None:
    lazy = zs.scan_polars(dump, TABLE)
    found = lazy.group_by("system").agg(pl.col("in_bytes").sum()).collect(engine=engine)
    assert set(decoded.rows) == {"system", "in_bytes"}
    expected = pl.DataFrame(zs.scan(dump, f"{TABLE}[system,in_bytes]"))
    assert found.sort("system").equals(expected.group_by("system").sum().sort("system"))


def test_a_count_decodes_one_column(dump: Path, decoded: DecodedParts) -> None:
    count = zs.scan_polars(dump, TABLE).select(pl.len()).collect().item()
    assert count == sum(decoded.rows.values()) > RECORDS // 2
    assert len(decoded.rows) == 1


def test_the_first_rows_need_little_of_the_dump(dump: Path, decoded: DecodedParts) -> None:
    found = zs.scan_polars(dump, TABLE).head(10).collect()
    assert decoded.bytes < dump.stat().st_size / 4
    assert max(decoded.rows.values()) < RECORDS / 4
    assert found.equals(zs.scan_polars(dump, TABLE).collect().head(10))


def test_streaming_stops_when_enough_rows_meet_a_condition(dump: Path, decoded: DecodedParts) -> None:
    lazy = zs.scan_polars(dump, TABLE).filter(pl.col("in_bytes") > 0).select("job_name").head(5)
    assert lazy.collect(engine="streaming").height == 5
    assert decoded.bytes < 3 * dump.stat().st_size / 4 or dump.stat().st_size < 2 * (16 << 20)


def test_other_columns_are_decoded_only_where_a_row_meets_the_condition(
    dump: Path, decoded: DecodedParts
) -> None:
    lazy = zs.scan_polars(dump, TABLE)
    none = lazy.filter(pl.col("job_name") == "NOSUCHJB").collect()
    assert none.height == 0
    assert set(decoded.rows) == {"job_name", "record_no"}


@pytest.mark.parametrize(
    "predicate",
    [
        (pl.col("system") == "SYSB") & pl.col("job_name").str.starts_with("W"),
        pl.col("written_local").is_between(pl.datetime(2026, 3, 2, 9), pl.datetime(2026, 3, 2, 10)),
        (pl.col("job_name") == "NETVIEW") & (pl.col("in_bytes") > 100),
    ],
)
def test_other_columns_are_decoded_in_few_records_beside_those_that_meet_the_condition(
    predicate: pl.Expr, dump: Path, decoded: DecodedParts
) -> None:
    found = zs.scan_polars(dump, TABLE).filter(predicate).select("cipher", "system").collect()
    assert 0 < found.height == decoded.rows["cipher"]
    expected = pl.DataFrame(zs.scan(dump, TABLE)).filter(predicate).select("cipher", "system")
    assert found.equals(expected)


@pytest.mark.parametrize(
    "name", ["smf119_zert_dn", "smf70_logical_cpu", "smf119_interface_statistics", "smf30_interval"]
)
def test_conditions_on_tables_with_several_rows_in_a_record(name: str) -> None:
    every = pl.DataFrame(zs.scan(DUMP, name))
    some = every.filter(pl.col("record_no") % 7 == 0)
    found = zs.scan_polars(DUMP, name).filter(pl.col("record_no") % 7 == 0).collect()
    assert found.equals(some)
    column = every.columns[-1]
    for value in every[column].drop_nulls().unique().head(3):
        condition = pl.col(column) == value
        assert zs.scan_polars(DUMP, name).filter(condition).collect().equals(every.filter(condition))


@pytest.mark.deep
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_rows_are_counted_before_or_after_the_condition_as_the_query_says(engine: Engine, dump: Path) -> None:
    every = pl.DataFrame(zs.scan(dump, TABLE))
    condition = pl.col("system") == "SYSB"
    lazy = zs.scan_polars(dump, TABLE)
    assert lazy.head(100).filter(condition).collect(engine=engine).equals(every.head(100).filter(condition))
    assert lazy.filter(condition).head(100).collect(engine=engine).equals(every.filter(condition).head(100))
    assert lazy.slice(20_000, 30).collect(engine=engine).equals(every.slice(20_000, 30))
    assert lazy.tail(5).collect(engine=engine).equals(every.tail(5))
    assert lazy.head(0).collect(engine=engine).equals(every.head(0))
    largest = lazy.filter(condition).select("in_bytes").top_k(3, by="in_bytes").collect(engine=engine)
    assert largest.equals(every.filter(condition).select("in_bytes").top_k(3, by="in_bytes"))
    above = pl.col("in_bytes") > pl.col("in_bytes").mean()
    assert lazy.filter(above).collect(engine=engine).equals(every.filter(above))


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_condition_that_polars_refuses_is_no_issue_of_the_file(engine: Engine) -> None:
    issues = zs.Issues()
    lazy = zs.scan_polars(DUMP, TABLE, issues=issues).filter(pl.col("system") == 1)
    with pytest.raises(pl.exceptions.ComputeError, match="cannot compare string with numeric type"):
        lazy.collect(engine=engine)
    assert zs.Code.READER_FAILED not in issues.counts()


def test_standard_input_has_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = zs.scan_polars("-", "smf70_cpu")
    with DUMP.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert lazy.collect().height == 960
        with pytest.raises(ValueError, match="standard input can be read once only"):
            lazy.collect()


def test_threads_end_with_the_query(dump: Path) -> None:
    before = set(threading.enumerate())
    assert zs.scan_polars(dump, TABLE, zs.ReadOptions(jobs=3)).select("cipher").head(200_000).collect().height
    assert zs.scan_polars(dump, TABLE).head(3).collect().height == 3
    assert duckdb.from_arrow(zs.scan(dump, f"{TABLE}[cipher]")).limit(3).fetchall()
    left = set(threading.enumerate()) - before
    assert [thread for thread in left if thread.name.startswith("ThreadPoolExecutor")] == []


def test_without_polars_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['polars'] = None\n"
        "import zscope.api as zs\n"
        "try: zs.scan_polars('x', 'smf70_cpu')\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == 'polars is not installed; install it with: pip install "zscope[polars]"\n'


PREDICATES = {
    "equal": pl.col("job_name") == "CICSPROD",
    "text": pl.col("job_name").str.starts_with("CICS"),
    "null": pl.col("tls_version").is_null(),
    "several": (pl.col("system") == "SYSA") & (pl.col("in_bytes") > 100) | pl.col("cipher").is_null(),
    "in": pl.col("tls_version").is_in([771, 772]),
    "never": pl.lit(value=False),
    "null result": pl.col("tls_version") > 771,
}


@pytest.mark.parametrize("name", PREDICATES)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_conditions_select_the_rows_that_polars_selects(name: str, engine: Engine) -> None:
    predicate = PREDICATES[name]
    expected = pl.DataFrame(zs.scan(DUMP, TABLE)).filter(predicate)
    found = zs.scan_polars(DUMP, TABLE).filter(predicate).collect(engine=engine)
    assert found.equals(expected)
    some = zs.scan_polars(DUMP, TABLE).filter(predicate).select("local_port", "record_no").head(3)
    assert some.collect(engine=engine).equals(expected.select("local_port", "record_no").head(3))


def test_a_system_from_the_options_can_be_selected() -> None:
    report = next(REPORTS.glob("*netstat*"))
    options = zs.ReadOptions(system="SYSX")
    tables = [name for name, table in zs.read(report, options=options).items() if table.num_rows]
    lazy = zs.scan_polars(report, tables[0], options).filter(pl.col("system") == "SYSX")
    assert lazy.collect().height == zs.read(report, tables[0], options)[tables[0]].num_rows


def test_each_collect_reads_again_and_joins_work() -> None:
    lazy = zs.scan_polars(DUMP, "smf70_cpu")
    joined = lazy.join(lazy.group_by("system").agg(pl.len().alias("all")), on="system")
    assert joined.collect().height == lazy.collect().height


def test_issues_are_collected_or_told(damaged: Path) -> None:
    expected = zs.read(damaged, TABLE).issues
    issues = zs.Issues()
    zs.scan_polars(damaged, TABLE, issues=issues).collect()
    assert list(issues) == list(expected)
    assert issues.counts() == expected.counts()
    with pytest.warns(zs.DataWarning, match=r"damaged\.smf"):
        zs.scan_polars(damaged, TABLE).collect()


def test_many_issues_are_counted_once_if_a_file_is_read_twice() -> None:
    first = zs.Issue(zs.Code.BAD_VALUE, "", "a.smf", 1)
    each = [zs.Issue(zs.Code.BAD_VALUE, "", "a.smf", number) for number in range(1500)]
    in_pass, collected = zs.Issues(), zs.Issues()
    for issue in each:
        in_pass.add(issue)
    for _ in range(3):
        collected.extend(in_pass)
        assert collected.counts() == {zs.Code.BAD_VALUE: 1500}
        assert list(collected) == list(in_pass)
    part = zs.Issues()
    part.add(first)
    part.add(each[1400])
    collected.extend(part)
    assert len(collected) == 1500
    other = zs.Issues()
    other.add(zs.Issue(zs.Code.BAD_VALUE, "", "b.smf", 1), 2000)
    collected.extend(other)
    assert len(collected) == 3500


def test_two_collects_count_many_issues_once(tmp_path: Path) -> None:
    data, place = bytearray(generated(Recipe(records=3_000, mix={"zert-detail": 1.0}, seed=5))), 0
    while place < len(data):
        if place > 1 << 19:  # the first records show what the file is
            data[place + 6 : place + 10] = b"\xff" * 4  # the time
        place += int.from_bytes(data[place : place + 2], "big")
    path = tmp_path / "damaged.smf"
    path.write_bytes(data)
    issues = zs.Issues()
    lazy = zs.scan_polars(path, TABLE, issues=issues).select("written_local")
    lazy.collect()
    once, listed = issues.counts(), list(issues)
    assert once[zs.Code.BAD_TIME] > 1_500 > len(listed), once
    lazy.collect()
    assert (issues.counts(), list(issues)) == (once, listed)


def test_a_selection_of_columns_is_the_schema() -> None:
    lazy = zs.scan_polars(DUMP, f"{TABLE}[job_name,in_bytes]")
    assert lazy.collect_schema().names() == ["job_name", "in_bytes"]
    with pytest.raises(TypeError, match="one table"):
        zs.scan_polars(DUMP, "119(11)")


def test_nothing_else_waits_for_threads_of_polars(dump: Path) -> None:
    """Two scans in one query with a condition each, with as many jobs as there are threads."""
    lazy = zs.scan_polars(dump, TABLE, zs.ReadOptions(jobs=4)).filter(pl.col("in_bytes") > 0).select("system")
    other = (
        zs.scan_polars(dump, TABLE, zs.ReadOptions(jobs=4)).filter(pl.col("in_bytes") >= 0).select("system")
    )
    both = pl.concat([lazy, other]).collect()
    assert both.height > RECORDS
