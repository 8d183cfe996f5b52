"""Stores that lack something, for the sentences about them: one small day, loaded once and changed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from tests.made_once import made_once
from tests.pipelines.metrics.metric_steps import step_tables
from tests.sample_stores import SAMPLE, load_sample

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import MetricSelection, declared, metric, needed, statement
from zscope.pipelines.metrics.metric_statements import settings
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.history import HISTORY_SCHEMAS
from zscope.samples import Recipe, RecordKind, generate
from zscope.schemas.reference import reference_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb
    import pytest
    from tests.pipelines.metrics.metric_steps import StepsOnDemand

Row = dict[str, Any]

NAME = "statement"
NO_JOB = "NONE"
"""A job that no store has."""
SUBJECTS = ("price", "saving", "exposure", "old versions", "certificates", "change", "coverage", "runs")
"""The subjects of statements, in their order."""
READ = (
    NAME,
    "tls_price_change",
    "period_difference",
    "period_cause",
    "handshake_mix",
    "benchmark",
    "connection_detail",
)
"""The metrics that the pages of statements and the report show, besides those that statements are from."""
COMPUTED = ("cost_estimate", "cost_change")
"""The steps that are computed in Python."""
_MIX = {
    RecordKind.ZERT_DETAIL: 0.4,
    RecordKind.ZERT_SUMMARY: 0.15,
    RecordKind.TCP_TERM: 0.2,
    RecordKind.RMF_CPU: 0.25,
}
_CPU = ("smf70_interval", "smf70_cpu", "rmf_interval", *COMPUTED)
_DETAILS = ("smf119_zert_detail", "smf119_zert_dn", "smf119_tcp_term", "smf119_tcp_init")
_ZERT = ("smf119_zert_detail", "smf119_zert_summary")


def _deleted(*tables: str, where: str = "true") -> tuple[str, ...]:
    return tuple(f"DELETE FROM {table} WHERE {where}" for table in tables)


@dataclass(frozen=True, slots=True)
class ChangedStore:
    """A store as the loaded day with changes, and what its sentences have to say for that."""

    says: str
    """Expression for what only a store with this property says without filters."""
    changes: tuple[str, ...] = ()
    """SQL statements on the tables."""
    loaded: str = "day"
    """The loaded store that is changed."""
    copies: tuple[int, ...] = ()
    """Days by which copies of all rows are moved into the past."""
    only: str = ""
    """The system whose rows are kept; all if empty."""


STORES: Mapping[str, ChangedStore] = {
    "the sample data": ChangedStore("On SRV2|SRV2: at most", loaded="demo"),
    "summaries only": ChangedStore(
        "in zERT summaries",
        (*_deleted(*_DETAILS), "UPDATE cost_estimate SET handshake_source = 'zERT summary'"),
    ),
    "details of a quarter of an hour": ChangedStore(
        "in zERT summaries",
        _deleted(*_DETAILS, where="hour(written_local) <> 10 OR minute(written_local) >= 15"),
    ),
    "one system": ChangedStore("SYSA: ", only="SYSA"),
    "two sysplexes": ChangedStore(
        "SYSA, SYSB|SYSB:",
        ("UPDATE system_clock SET offset_s = -18000 WHERE system = 'SYSB'",),
    ),
    "client side only": ChangedStore(
        "in zERT details", ("UPDATE smf119_zert_detail SET handshake_role = 1 WHERE handshake_role > 0",)
    ),
    "of an earlier version": ChangedStore(
        "no estimate for SYSA, SYSB yet|zscope store rebuild", _deleted(*COMPUTED)
    ),
    "no CPU time": ChangedStore(r"no CPU time \(SMF 70-1, or RMF reports\) is loaded", _deleted(*_CPU)),
    "no time zone": ChangedStore("the time zone of SYSA, SYSB is not known", loaded="unzoned"),
    "one day without a policy": ChangedStore(
        "(?s)This change can save most.*of the later period, and at least 50 % are needed"
    ),
    "three months": ChangedStore(
        "connections an hour in 2026-|no change beyond noise can be seen: ", copies=(*range(1, 14), 60, 90)
    ),
    "only old versions": ChangedStore(
        r"\(100\.0 %\)|used SSL",
        tuple(f"UPDATE {table} SET tls_version = 769 WHERE tls_version > 0" for table in _ZERT),
    ),
    "nothing protected": ChangedStore(
        r"connections \(100\.0 %\)",
        (
            *(f"UPDATE {table} SET security_protocols_flags = 0, tls_version = NULL" for table in _ZERT),
            "UPDATE smf119_zert_detail SET handshake_type = NULL, cipher = NULL",
        ),
    ),
    "nothing": ChangedStore(r"no handshakes \(SMF 119-11 or 119-12\) are loaded", loaded=""),
}


def loaded_store(factory: pytest.TempPathFactory, name: str) -> Path:
    """Return a store of one day of two systems: with its time zone, or with that of no report and record."""

    def make(store: Path) -> None:
        dump = store.with_suffix(".smf")
        mix = {kind: share for kind, share in _MIX.items() if name == "day" or kind != RecordKind.RMF_CPU}
        with dump.open("wb") as out:
            generate(Recipe(records=900, seed=4, mix=mix), out)
        if name == "day":
            load_sample(store, dump)
        else:
            reports = [path for path in (SAMPLE / "reports").iterdir() if path.name.startswith("rmf")]
            settings = replace(Settings(), summarise_from_rows=1_000_000)
            ingest(store, [dump, *reports], IngestOptions(selection=row_selection(None), settings=settings))

    return made_once(factory, f"statements-{name}", make)


@contextmanager
def changed_store(store: Path | None, changed: ChangedStore) -> Iterator[StepsOnDemand]:
    """Have the tables of a changed store, and the rows of metrics when they are asked for."""

    def fill(connection: duckdb.DuckDBPyConnection) -> set[str]:
        filled = _copied(store, changed, connection) if store else set[str]()
        for change in changed.changes:
            connection.execute(change)
        return filled

    with step_tables().filled(fill) as steps:
        yield steps


def _copied(store: Path, changed: ChangedStore, connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Copy the tables of a store, and return those that have rows."""
    filled = set()
    for table, stored in _tables_read(store).items():
        rows = stored
        if changed.only and "system" in rows.column_names:
            rows = rows.filter(pc.field("system") == changed.only)
        if rows.num_rows:
            filled.add(table)
            _add_copies(connection, table, rows, () if table in COMPUTED else changed.copies)
    return filled


@cache
def _tables_read(store: Path) -> Mapping[str, pa.Table]:
    """The tables of a store that statements, their pages and the report read, for all its changed copies."""
    read = {name for metric in READ for name in needed(metric)} - declared().keys()
    read |= {"run", *HISTORY_SCHEMAS}
    with open_reader(store) as reader:
        return {
            table: reader.execute(f"SELECT * FROM {table}").to_arrow_table()
            for table in (*sorted(read - reference_tables().keys()), *COMPUTED)
        }


def _add_copies(
    connection: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, copies: Sequence[int]
) -> None:
    times = [
        field.name
        for field in rows.schema
        if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type)
    ]
    connection.register("rows_to_copy", rows)
    for days in (0, *copies):
        moved = ", ".join(f"{time} - INTERVAL {days} DAY AS {time}" for time in times)
        selected = f"* REPLACE ({moved})" if times else "*"
        connection.execute(f"INSERT INTO {table} BY NAME SELECT {selected} FROM rows_to_copy")
    connection.unregister("rows_to_copy")


def selections(steps: StepsOnDemand) -> dict[str, MetricSelection]:
    """Return a system, a port, a job and a day with many connections, and what has none."""
    with steps.chosen((), "posture_hour"):
        [most] = rows_of(
            steps.connection,
            "SELECT mode(system) AS system, mode(server_port) AS port, mode(job_name) AS job, "
            "time_bucket(INTERVAL 24 HOUR, mode(hour_utc)) AS day FROM posture_hour",
        )
        apart = rows_of(
            steps.connection,
            "WITH pair AS (SELECT DISTINCT server_port AS port, job_name AS job FROM posture_hour) "
            "SELECT port, job FROM (SELECT DISTINCT port FROM pair WHERE port IS NOT NULL) "
            "CROSS JOIN (SELECT DISTINCT job FROM pair WHERE job IS NOT NULL) "
            "EXCEPT SELECT port, job FROM pair ORDER BY ALL LIMIT 1",
        )
    day = most["day"] or datetime(2026, 3, 2, tzinfo=UTC)
    [none] = apart or [{"port": 1, "job": NO_JOB}]
    return {
        "system": MetricSelection((most["system"] or "SYSA",)),
        "port": MetricSelection(chosen={"port": [most["port"] or 443]}),
        "job": MetricSelection(chosen={"job": [most["job"] or "WEB1"]}),
        "no match": MetricSelection(chosen={"port": [none["port"]], "job": [none["job"]]}),
        "day": MetricSelection(begin=day, end=day + timedelta(days=1)),
    }


def statements_of(steps: StepsOnDemand, chosen: MetricSelection) -> list[Row]:
    """Return all statements for filters."""
    return _rows(steps, NAME, chosen, statement(metric(NAME), None, chosen))


def evidence_of(steps: StepsOnDemand, said: Row) -> list[Row]:
    """Return the rows behind a statement, as the command for its evidence prints them."""
    by, name = said["evidence_by"], said["evidence_metric"]
    begin, end = said["evidence_from_utc"], said["evidence_to_utc"]
    selection = MetricSelection(begin=begin, end=end, where=said["evidence_condition"] or "")
    return _rows(steps, name, selection, statement(metric(name), by and by.split(","), selection))


def _rows(steps: StepsOnDemand, name: str, chosen: MetricSelection, sql: str) -> list[Row]:
    rows: list[Row] = steps.rows_of_metric(metric(name), sql, settings(metric(name), chosen)).to_pylist()
    return rows


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    """Return the rows of a query by the names of its columns."""
    result = connection.execute(sql)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
