"""CPU use by interval: the same from SMF 70 records, RMF XML and RMF listings, each interval once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from zscope.parsers import read
from zscope.parsers.issues import Issues
from zscope.parsers.text.captured_report import CapturedReport, Line, Origin, ReportSource
from zscope.parsers.text.report_rows import FileRows
from zscope.parsers.text.rmf.cpu import cpu_pages
from zscope.parsers.text.rmf.listing import RmfListing
from zscope.parsers.text.rmf.page_write import RmfPrintForm
from zscope.parsers.text.rmf.partition import partition_pages
from zscope.parsers.text.rmf.xml import RmfXml
from zscope.parsers.text.rmf.xml_write import rmf_xml
from zscope.pipelines.metrics import declared, macros_sql, needed, view_sql
from zscope.pipelines.store.parquet_files import parquet_schema
from zscope.samples.reports.rmf import TABLES_NEEDED, RmfRows, rmf_rows
from zscope.schemas.arrow import table_schema
from zscope.schemas.stored import DAY

Row = dict[str, Any]
Tables = Mapping[str, pa.Table]
SAMPLE = "sample-data/smf-sample.bin"
RMF_TABLES = ("rmf_interval", "rmf_cpu", "rmf_partition")
FIGURES = ("cps_online", "lpar_busy_pct", "cpu_s", "ziips_online", "ziip_busy_pct", "ziip_s")
INTERVALS = 12
"""Of the sample that the tests use, of two systems."""
SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def smf() -> Tables:
    """The first intervals of the sample dump."""
    whole = read(SAMPLE, TABLES_NEEDED).tables
    last = sorted(whole["smf70_interval"]["record_no"].to_pylist())[INTERVALS - 1]
    return {name: table.filter(pc.field("record_no") <= last) for name, table in whole.items()}


@pytest.fixture(scope="module")
def rows(smf: Tables) -> RmfRows:
    """What reports print of the same intervals."""
    return rmf_rows(smf)


def as_tables(sheet: FileRows) -> Tables:
    found = {name: pa.Table.from_batches([batch]) for name, batch in sheet.remaining_batches()}
    return {name: found.get(name, table_schema(name).empty_table()) for name in RMF_TABLES}


def from_xml(rows: RmfRows, file: str = "cpu.xml") -> Tables:
    sheet = FileRows(dict.fromkeys(RMF_TABLES), Issues(), file)
    document = rmf_xml(rows.intervals, rows.cpus, rows.partitions).encode()
    list(RmfXml(sheet).read(iter([document])))
    assert list(sheet.issues) == []
    return as_tables(sheet)


def from_text(rows: RmfRows) -> Tables:
    sheet = FileRows(dict.fromkeys(RMF_TABLES), Issues(), "cpu.txt")
    grammar, number = RmfListing(sheet), 0
    for interval in rows.intervals:
        cpus, partitions = of_interval(rows.cpus, interval), of_interval(rows.partitions, interval)
        pages = cpu_pages(interval, cpus, RmfPrintForm())
        pages += partition_pages(interval, partitions, RmfPrintForm(), len(pages) + 1)
        for page in pages:
            lines = [Line(number + at, text) for at, text in enumerate(page, 1)]
            number += len(page)
            grammar.read(CapturedReport("rmf", lines, Origin(ReportSource.TEXT)))
    grammar.finish()
    assert list(sheet.issues) == []
    return as_tables(sheet)


def of_interval(rows: list[Row], interval: Row) -> list[Row]:
    names = ("system", "interval_start_local")
    return [row for row in rows if all(row[name] == interval[name] for name in names)]


def both(one: Tables, other: Tables) -> Tables:
    return {name: pa.concat_tables([one[name], other[name]]) for name in RMF_TABLES}


def ask(view: str, *sources: Tables) -> list[Row]:
    """The rows of a view over these tables; those not given are empty."""
    with duckdb.connect(config={"threads": "1"}) as shell:
        shell.execute("SET TimeZone = 'UTC'")
        make_views(shell, view, *sources)
        found: list[Row] = shell.sql(f"SELECT * FROM {view}").to_arrow_table().to_pylist()
        return found


def make_views(shell: duckdb.DuckDBPyConnection, view: str, *sources: Tables) -> None:
    """The view, and what it reads, with the columns that a store adds."""
    shell.execute(macros_sql())
    tables = {name: table for source in sources for name, table in source.items()}
    for name in needed(view):
        if name in declared():
            shell.execute(f"CREATE VIEW {name} AS {view_sql(declared()[name])}")
        else:
            shell.register(f"arrow_{name}", as_stored(name, tables.get(name)))
            shell.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow_{name}")


def as_stored(name: str, table: pa.Table | None) -> pa.Table:
    """A table with the columns that a store adds; the moments in UTC are not known."""
    schema = pa.schema([*parquet_schema(name), DAY])
    if table is None:
        return schema.empty_table()
    columns = {
        field.name: table[field.name]
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    }
    return pa.table(columns)


def cpu_interval(*sources: Tables) -> list[Row]:
    return ask("cpu_interval", *sources)


def changed(tables: Tables, table: str, column: str, change: Any) -> Tables:  # noqa: ANN401
    """The tables with another column in one of them."""
    old = tables[table]
    at = old.column_names.index(column)
    values = [change(row) for row in old.to_pylist()]
    new = old.set_column(at, old.schema.field(column), pa.array(values, old.schema.field(column).type))
    return {**tables, table: new}


def test_smf_records_alone(smf: Tables) -> None:
    found = cpu_interval(smf)
    assert len(found) == INTERVALS
    assert {row["source"] for row in found} == {"smf70"}
    assert {row["system"] for row in found} == {"SYSA", "SYSB"}
    partition = next(p for p in smf["smf70_partition"].to_pylist() if p["partition_name"] == "SYSA")
    cpus = smf["smf70_logical_cpu"].to_pylist()
    first, count = partition["logical_cpu_skip"], partition["logical_cpu_count"]
    own = [cpu for cpu in cpus if cpu["record_no"] == partition["record_no"]][first : first + count]
    cps = [cpu for cpu in own if cpu["cpu_type_index"] == 1]
    row = found[0]
    assert (row["system"], row["interval_start_local"]) == ("SYSA", partition["interval_start_local"])
    assert row["interval_ms"] == partition["interval_ms"]
    assert row["cpu_s"] == pytest.approx(sum(cpu["dispatch_us"] for cpu in cps) / 1e6)
    assert row["cps_online"] == pytest.approx(len(cps))
    busy = 100 * sum(cpu["dispatch_us"] for cpu in cps) / sum(cpu["online_us"] for cpu in cps)
    assert row["lpar_busy_pct"] == pytest.approx(busy)
    (ziip,) = (cpu for cpu in own if cpu["cpu_type_index"] == 5)
    assert row["ziips_online"] == 1
    assert row["ziip_s"] == pytest.approx(ziip["dispatch_us"] / 1e6)
    assert row["ziip_busy_pct"] == pytest.approx(100 * ziip["dispatch_us"] / ziip["online_us"])


@pytest.mark.parametrize("source", ["xml", "text"])
def test_reports_agree_within_rounding(smf: Tables, rows: RmfRows, source: str) -> None:
    reports = from_xml(rows) if source == "xml" else from_text(rows)
    found, expected = cpu_interval(reports), cpu_interval(smf)
    assert [(row["system"], row["interval_start_local"]) for row in found] == [
        (row["system"], row["interval_start_local"]) for row in expected
    ]
    assert {row["source"] for row in found} == {source}
    for got, wanted in zip(found, expected, strict=True):
        assert got["interval_ms"] == wanted["interval_ms"]
        assert got["cps_online"] == pytest.approx(wanted["cps_online"], abs=0.0005)
        assert got["ziips_online"] == pytest.approx(wanted["ziips_online"], abs=0.0001)
        assert got["lpar_busy_pct"] == pytest.approx(wanted["lpar_busy_pct"], abs=0.006)
        assert got["ziip_busy_pct"] == pytest.approx(wanted["ziip_busy_pct"], abs=0.006)
        # Half a hundredth of a point of each processor.
        assert got["cpu_s"] == pytest.approx(wanted["cpu_s"], abs=4 * 900 * 0.00006)
        assert got["ziip_s"] == pytest.approx(wanted["ziip_s"], abs=900 * 0.00006)


def test_without_partition_data_figures_are_the_same(rows: RmfRows) -> None:
    whole, without = from_xml(rows), from_xml(RmfRows(rows.intervals, rows.cpus))
    for got, wanted in zip(cpu_interval(without), cpu_interval(whole), strict=True):
        assert got | {"cp_kind": "shared"} == wanted


def without_busy(tables: Tables) -> Tables:
    return changed(tables, "rmf_cpu", "lpar_busy_pct", lambda _: None)


def test_dispatched_time_replaces_a_missing_busy_share(smf: Tables, rows: RmfRows) -> None:
    found = cpu_interval(without_busy(from_xml(rows)))
    for got, wanted in zip(found, cpu_interval(smf), strict=True):
        assert got["lpar_busy_pct"] is None
        assert got["cpu_s"] == pytest.approx(wanted["cpu_s"], abs=0.0006)
        assert got["ziip_s"] == pytest.approx(wanted["ziip_s"], abs=0.0006)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("table", "column"), [("rmf_partition", "dedicated"), ("rmf_interval", "wait_completion")]
)
@pytest.mark.parametrize("told", [True, None])
def test_dispatched_time_with_wait_completion_replaces_nothing(
    rows: RmfRows, table: str, column: str, told: bool | None
) -> None:
    found = cpu_interval(changed(without_busy(from_xml(rows)), table, column, lambda _: told))
    assert len(found) == INTERVALS
    assert {(row["cpu_s"], row["ziip_s"]) for row in found} == {(None, None)}


def test_busy_shares_are_weighted_by_time_online(smf: Tables, rows: RmfRows) -> None:
    half = [row | {"online_pct": 50.0} if row.get("cpu_id") == 0 else row for row in rows.cpus]
    cps = [cpu for cpu in of_interval(rows.cpus, rows.intervals[0]) if cpu["cpu_type_name"] == "CP"]
    busy = [cpu["lpar_busy_pct"] for cpu in cps if cpu["row_kind"] == "processor"]
    document = rmf_xml(rows.intervals[:1], half).encode()
    sheet = FileRows(dict.fromkeys(RMF_TABLES), Issues(), "cpu.xml")
    list(RmfXml(sheet).read(iter([document])))
    (row,) = cpu_interval(as_tables(sheet))
    assert row["cps_online"] == pytest.approx(3.5)
    assert row["lpar_busy_pct"] == pytest.approx((busy[0] / 2 + sum(busy[1:])) / 3.5)
    assert row["cpu_s"] == pytest.approx((busy[0] / 2 + sum(busy[1:])) / 100 * 900)
    online = changed(smf, "smf70_logical_cpu", "online_us", lambda cpu: cpu["online_us"] // 2)
    for got, whole in zip(cpu_interval(online), cpu_interval(smf), strict=True):
        assert got["cps_online"] == pytest.approx(whole["cps_online"] / 2)
        assert got["lpar_busy_pct"] == pytest.approx(whole["lpar_busy_pct"] * 2)
        assert got["cpu_s"] == whole["cpu_s"]


def test_the_better_source_has_priority(smf: Tables, rows: RmfRows) -> None:
    xml, text = from_xml(rows), from_text(rows)
    expected = cpu_interval(smf)
    assert cpu_interval(smf, both(xml, text)) == expected
    assert {row["source"] for row in cpu_interval(both(text, xml))} == {"xml"}
    few = {name: table.filter(pc.field("system") == "SYSA") for name, table in smf.items()}
    part_of_xml = from_xml(RmfRows(rows.intervals[:6], rows.cpus, rows.partitions))
    found = cpu_interval(few, both(part_of_xml, text))
    assert len(found) == INTERVALS
    assert [row["source"] for row in found] == ["smf70"] * 6 + ["xml"] * 3 + ["text"] * 3


@pytest.mark.deep
def test_an_interval_is_the_same_within_two_seconds(smf: Tables, rows: RmfRows) -> None:
    def later(by: timedelta) -> Tables:
        moved = [
            [row | {"interval_start_local": row["interval_start_local"] + by} for row in part]
            for part in (rows.intervals, rows.cpus, rows.partitions)
        ]
        return from_xml(RmfRows(*moved))

    for offset in (-2, 1, 2):
        assert cpu_interval(smf, later(offset * SECOND)) == cpu_interval(smf)
    assert len(cpu_interval(smf, later(3 * SECOND))) == 2 * INTERVALS


def test_starts_with_fractions_of_a_second(smf: Tables) -> None:
    moved = dict(smf)
    for name in TABLES_NEEDED:
        moved = dict(
            changed(
                moved,
                name,
                "interval_start_local",
                lambda row: row["interval_start_local"] + timedelta(milliseconds=700),
            )
        )
    reports = from_xml(rmf_rows(moved))
    assert {row["interval_start_local"].microsecond for row in cpu_interval(reports)} == {0}
    assert cpu_interval(moved, reports) == cpu_interval(moved)
    assert ask("cpu_interval_disagreement", moved, reports) == []


def test_duplicate_intervals_count_once(smf: Tables, rows: RmfRows) -> None:
    twice = {name: pa.concat_tables([table, table]) for name, table in smf.items()}
    assert cpu_interval(twice) == cpu_interval(smf)
    elsewhere = dict(smf)
    for name in TABLES_NEEDED:
        elsewhere = dict(changed(elsewhere, name, "record_no", lambda row: row["record_no"] + 1_000))
    copied = {name: pa.concat_tables([smf[name], elsewhere[name]]) for name in TABLES_NEEDED}
    assert cpu_interval(copied) == cpu_interval(smf)
    once = from_xml(rows)
    assert cpu_interval(both(once, from_xml(rows, "copy.xml"))) == cpu_interval(once)
    assert cpu_interval(both(once, once)) == cpu_interval(once)


def test_a_report_without_its_tables_is_not_used(rows: RmfRows) -> None:
    begun = from_xml(RmfRows(rows.intervals))
    assert cpu_interval(begun) == []
    assert {row["source"] for row in cpu_interval(both(begun, from_text(rows)))} == {"text"}


def test_a_continued_list_of_processors_is_skipped(smf: Tables) -> None:
    short = smf["smf70_logical_cpu"].filter(pc.field("section_no") > 0)
    systems = {row["system"] for row in cpu_interval({**smf, "smf70_logical_cpu": short})}
    assert systems == {"SYSB"}


def test_wait_time_is_not_busy_time(smf: Tables) -> None:
    """With dedicated processors and with wait completion the dispatched time has waiting in it."""
    wait = {(cpu["record_no"], cpu["cpu_id"]): cpu["wait_us"] for cpu in smf["smf70_cpu"].to_pylist()}
    dedicated = cpu_interval(changed(smf, "smf70_logical_cpu", "weight", lambda _: 65_535))
    half = changed(smf, "smf70_cpu", "wait_us", lambda cpu: cpu["wait_us"] // 4)
    completing = cpu_interval(changed(half, "smf70_logical_cpu", "logical_cpu_flags", lambda _: 128))
    record = smf["smf70_interval"].to_pylist()[0]
    waits = [wait[record["record_no"], cpu] for cpu in range(4)]
    interval_us = record["interval_ms"] * 1000
    assert dedicated[0]["lpar_busy_pct"] == pytest.approx(100 - 100 * sum(waits) / (4 * interval_us))
    assert dedicated[0]["cpu_s"] == pytest.approx(4 * 900 - sum(waits) / 1e6)
    plain = cpu_interval(smf)[0]["cpu_s"]
    assert completing[0]["cpu_s"] == pytest.approx(plain - sum(wait // 4 for wait in waits) / 1e6)
    assert (dedicated[0]["cp_kind"], completing[0]["cp_kind"]) == ("dedicated", "shared")


def test_a_missing_wait_time_is_no_busy_time(smf: Tables) -> None:
    dedicated = changed(smf, "smf70_logical_cpu", "weight", lambda _: 65_535)
    invalid = changed(
        dedicated, "smf70_cpu", "config_flags", lambda cpu: 2 if cpu["cpu_id"] == 0 else cpu["config_flags"]
    )
    missing = {**dedicated, "smf70_cpu": dedicated["smf70_cpu"].filter(pc.field("cpu_id") > 0)}
    for tables in (invalid, missing):
        found = cpu_interval(tables)
        assert {row["cpu_s"] for row in found} == {None}
        assert {row["lpar_busy_pct"] for row in found} == {None}
        assert all(row["ziip_s"] is not None for row in found)


def test_sources_that_agree_are_not_listed(smf: Tables, rows: RmfRows) -> None:
    assert ask("cpu_interval_disagreement", smf, both(from_xml(rows), from_text(rows))) == []


def test_sources_that_differ_are_listed(smf: Tables, rows: RmfRows) -> None:
    start = rows.intervals[0]["interval_start_local"]

    def other(row: Row) -> float | None:
        first = row["system"] == "SYSA" and row["interval_start_local"] == start
        busy: float | None = row["lpar_busy_pct"]
        return busy + 1 if busy is not None and first and row["cpu_type_name"] == "CP" else busy

    xml = changed(from_xml(rows), "rmf_cpu", "lpar_busy_pct", other)
    found = ask("cpu_interval_disagreement", smf, both(xml, from_text(rows)))
    told = [(row["system"], row["source"], row["other_source"], row["column_name"]) for row in found]
    assert told == [
        ("SYSA", "smf70", "xml", "cpu_s"),
        ("SYSA", "smf70", "xml", "lpar_busy_pct"),
        ("SYSA", "xml", "text", "cpu_s"),
        ("SYSA", "xml", "text", "lpar_busy_pct"),
    ]
    # A point of four CPs over 900 seconds.
    assert found[0]["other_value"] == pytest.approx(found[0]["value"] + 36, abs=0.2)
    assert found[1]["other_value"] == pytest.approx(found[1]["value"] + 1, abs=0.01)
    assert {row["interval_start_local"] for row in found} == {start}


@pytest.mark.parametrize(("more", "listed"), [(0.015, False), (0.03, True)])
def test_rounding_is_no_disagreement(smf: Tables, rows: RmfRows, more: float, listed: bool) -> None:
    def other(row: Row) -> float | None:
        busy: float | None = row["lpar_busy_pct"]
        return None if busy is None else busy + more

    xml = changed(from_xml(RmfRows(rows.intervals, rows.cpus)), "rmf_cpu", "lpar_busy_pct", other)
    found = ask("cpu_interval_disagreement", smf, xml)
    assert bool(found) == listed
    assert ("lpar_busy_pct" in {row["column_name"] for row in found}) == listed


def test_views_can_be_created(smf: Tables, rows: RmfRows) -> None:
    with duckdb.connect() as shell:
        make_views(shell, "cpu_interval_disagreement", smf, from_xml(rows))
        shell.execute(f"CREATE VIEW cpu_interval AS {view_sql(declared()['cpu_interval'])}")
        assert shell.sql("SELECT count(*), min(cpu_s) > 0 FROM cpu_interval").fetchone() == (INTERVALS, True)
        assert shell.sql("SELECT count(*) FROM cpu_interval_disagreement").fetchone() == (0,)
