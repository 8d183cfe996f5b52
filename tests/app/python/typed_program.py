"""A program as a user writes it, with all public names. A type checker infers the types that it states.

The pyarrow of today has no types of its own: its tables, schemas and readers are `Any`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import duckdb
import polars as pl

import zscope.api as zs


def rows_of_files(dump: Path) -> int:
    options = zs.ReadOptions(system="SYSA", framing=zs.Framing.RDW, jobs=2, progress=shown)
    tables = assert_type(zs.read(dump, "smf70_cpu", options), zs.Tables)
    assert_type(list(tables), list[str])
    assert_type(tables.issues, zs.Issues)
    report = assert_type(zs.inventory([dump, "reports"]), zs.InventoryReport)
    assert_type(report.issues, zs.Issues)
    stream = assert_type(zs.scan(dump, ["smf70_cpu"], options=options), zs.Scan)
    count = 0
    for batch in assert_type(iter(stream), Iterator[zs.Batch]):
        assert_type((batch.table, batch.file), tuple[str, str])
        count += batch.rows.num_rows
    return count


def shown(state: zs.ProgressState) -> None:
    assert_type(state.file, str)
    assert_type(state.bytes_done, int)
    assert_type(state.bytes_total, int | None)


def frames_of_files(dump: Path) -> pl.DataFrame:
    collected = zs.Issues()
    lazy = assert_type(zs.scan_polars(dump, "smf119_zert_detail", issues=collected), pl.LazyFrame)
    assert_type(collected.counts(), Counter[zs.Code])
    for issue in assert_type(iter(collected), Iterator[zs.Issue]):
        assert_type(issue.severity, zs.Severity)
        assert_type((issue.code, issue.text, issue.file), tuple[zs.Code, str, str])
        assert_type(issue.record_no, int | None)
    if (collected.worst or zs.Severity.NOTE) > zs.Severity.NOTE:
        warnings.warn(f"{collected!r}", zs.DataWarning, stacklevel=2)
    return lazy.collect()


def ranges_of_files(dump: Path, spark: Any) -> int:  # noqa: ANN401  pyspark is not installed everywhere
    zs.register_spark(spark)
    plan = assert_type(zs.plan_ranges([dump], 1 << 20), zs.RangePlan)
    parts = [assert_type(part, zs.FileRange) for part in plan]
    return sum(table.num_rows for part in parts for table in zs.read(part, "smf70_cpu").values())


def rows_of_a_store(folder: Path) -> list[pl.DataFrame]:
    with zs.open(folder) as store:
        assert_type(store, zs.Store)
        assert_type(store.tables, zs.Names)
        assert_type(store.metrics["tls_price"], str)
        assert_type(store.parameters("tls_price"), dict[str, str])
        assert_type(store.commit, int)
        assert_type(store.refresh(), zs.Store)
        assert_type(store.lazy("smf70_cpu"), pl.LazyFrame)
        relations = [
            assert_type(store.table("smf70_cpu"), duckdb.DuckDBPyRelation),
            assert_type(store.sql("SELECT 1"), duckdb.DuckDBPyRelation),
            assert_type(store.metric("tls_price", by=["system"], price_per_msu=1), duckdb.DuckDBPyRelation),
            assert_type(store.loads(), duckdb.DuckDBPyRelation),
            assert_type(store.issues(), duckdb.DuckDBPyRelation),
            assert_type(zs.issues(folder), duckdb.DuckDBPyRelation),
        ]
        return [relation.pl() for relation in relations]


def explained(folder: Path) -> str:
    try:
        rows_of_a_store(folder)
    except zs.InputError as error:
        return assert_type(error.issue, zs.Issue).text
    except (
        zs.UnknownTableError,
        zs.SelectionError,
        zs.MetricQueryError,
        zs.StoreError,
        zs.ZoneError,
    ) as error:
        return str(error)
    except (zs.SettingsError, zs.DeclarationError) as error:
        assert_type(error.line, int | None)
        return f"{error.file}: {error.key}: {error.problem}"
    except zs.Error as error:
        return str(error)
    return assert_type(zs.__version__, str)
