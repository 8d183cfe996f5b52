"""A polars `LazyFrame` over files decodes the columns that its query uses, and stops when it has enough."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import polars as pl
import pytest
from tests.app.python.conftest import DUMP, REPORTS

import zscope.api as zs
from zscope.parsers.smf.frames import FrameReader
from zscope.parsers.smf.tables import TableBuilder
from zscope.samples import Recipe, generate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from zscope.parsers.smf.frames import Window
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
    with path.open("wb") as out:
        generate(Recipe(records=RECORDS, mix={"zert-detail": 0.9, "tcp-term": 0.1}, seed=2), out)
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
    assert set(decoded.rows) == {"job_name"}


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
