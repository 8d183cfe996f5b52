"""Statements of a metric: the view, other groupings, parts; whatever is grouped, ratios are made of sums."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from zscope.pipelines.metrics import (
    Metric,
    MetricColumn,
    MetricQueryError,
    MetricSelection,
    statement,
    view_sql,
)

MOMENT = "TIMESTAMP WITH TIME ZONE"
COLUMNS = (
    MetricColumn("system", "VARCHAR", "System.", dimension=True),
    MetricColumn("hour_utc", MOMENT, "Hour.", dimension=True),
    MetricColumn("port", "INTEGER", "Port.", dimension=True),
    MetricColumn("resumed", "BIGINT", "Resumed.", combine="sum"),
    MetricColumn("handshakes", "BIGINT", "All.", combine="sum"),
    MetricColumn("longest_s", "DOUBLE", "Longest.", combine="max"),
    MetricColumn("resumed_pct", "DOUBLE", "Share.", source="100 * resumed / nullif(handshakes, 0)"),
)
SQL = "-- Handshakes.\nSELECT * FROM seen -- as they are\n"
MIX = Metric(
    name="mix", kind="metric", title="Mix", question="?", inputs=("seen",), grain=("system", "hour_utc"),
    columns=COLUMNS, sql=SQL.rstrip(), clock="hour_utc",
)  # fmt: skip
FIXED = Metric(
    name="fixed", kind="metric", title="F", question="?", inputs=("seen",), grain=("system",),
    columns=(MetricColumn("system", "VARCHAR", "S."), COLUMNS[1]), clock="hour_utc",
    sql="-- Rows.\nSELECT system, hour_utc FROM seen ORDER BY hour_utc",
)  # fmt: skip


@pytest.fixture
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Asia/Kolkata'")
    connection.execute(
        f"CREATE TABLE seen (system VARCHAR, hour_utc {MOMENT}, port INTEGER, resumed BIGINT, "
        "handshakes BIGINT, longest_s DOUBLE)"
    )
    connection.execute("""
        INSERT INTO seen
        SELECT system, hour::TIMESTAMP AT TIME ZONE 'UTC', port, resumed, handshakes, longest_s
        FROM (VALUES
            ('SYSA', '2026-03-02 23:00:00', 443, 1, 4, 1.5), ('SYSA', '2026-03-02 23:00:00', 21, 9, 12, 0.5),
            ('SYSA', '2026-03-03 00:00:00', 443, 0, 0, NULL), ('SYSB', '2026-03-03 00:00:00', 443, 5, 5, 2.0),
            (NULL, NULL, 443, 1, 2, 9.0)
        ) AS seen (system, hour, port, resumed, handshakes, longest_s)""")
    return connection


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    connection.execute("SET TimeZone = 'UTC'")
    found = connection.execute(sql).fetchall()
    return [tuple(f"{v:%d %H}" if isinstance(v, datetime) else v for v in row) for row in found]


def test_the_view_has_rows_at_the_declared_grain(database: duckdb.DuckDBPyConnection) -> None:
    assert rows(database, view_sql(MIX)) == [
        ("SYSA", "02 23", 10, 16, 1.5, 62.5),
        ("SYSA", "03 00", 0, 0, None, None),
        ("SYSB", "03 00", 5, 5, 2.0, 100.0),
        (None, None, 1, 2, 9.0, 50.0),
    ]


def test_the_view_has_the_declared_types(database: duckdb.DuckDBPyConnection) -> None:
    found = database.execute(f"DESCRIBE {view_sql(MIX)}").fetchall()
    assert [row[:2] for row in found] == [(c.name, c.type) for c in COLUMNS if c.name != "port"]


def test_another_grouping_makes_ratios_of_sums(database: duckdb.DuckDBPyConnection) -> None:
    assert rows(database, statement(MIX, ["port"])) == [
        (21, 9, 12, 0.5, 75.0),
        (443, 7, 11, 9.0, pytest.approx(700 / 11)),
    ]


def test_no_grouping_is_one_row(database: duckdb.DuckDBPyConnection) -> None:
    assert rows(database, statement(MIX, [])) == [(16, 23, 9.0, pytest.approx(1600 / 23))]


def test_rows_of_overlapping_sources_are_never_combined(database: duckdb.DuckDBPyConnection) -> None:
    apart = replace(MIX, columns=(replace(COLUMNS[0], apart=True), *COLUMNS[1:]))
    assert rows(database, statement(apart, [])) == [
        ("SYSA", 10, 16, 1.5, 62.5),
        ("SYSB", 5, 5, 2.0, 100.0),
        (None, 1, 2, 9.0, 50.0),
    ]
    assert [row[:2] for row in rows(database, statement(apart, ["port"]))] == [
        ("SYSA", 21), ("SYSA", 443), ("SYSB", 443), (None, 443),
    ]  # fmt: skip


def test_days_are_in_utc_in_every_session_time_zone(database: duckdb.DuckDBPyConnection) -> None:
    moments = database.execute(statement(MIX, ["day"])).fetchall()
    assert [row[1:3] for row in moments] == [(10, 16), (5, 5), (1, 2)]
    assert [row[0] and f"{row[0].astimezone(UTC):%d %H}" for row in moments] == ["02 00", "03 00", None]


def test_weeks_begin_on_monday(database: duckdb.DuckDBPyConnection) -> None:
    assert rows(database, statement(MIX, ["week"]))[0][:3] == ("02 00", 15, 21)


def test_rows_are_selected_before_they_are_combined(database: duckdb.DuckDBPyConnection) -> None:
    part = MetricSelection(
        ("SYSA",), datetime(2026, 3, 2, 23, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC), "port = 443 -- web"
    )
    assert rows(database, statement(MIX, ["system"], part)) == [("SYSA", 1, 4, 1.5, 25.0)]


def test_conditions_of_a_metric_that_cannot_be_combined(database: duckdb.DuckDBPyConnection) -> None:
    found = rows(database, statement(FIXED, selection=MetricSelection(systems=("SYSB",))))
    assert found == [("SYSB", "03 00")]


@pytest.mark.parametrize(
    ("metric", "by", "selection", "problem"),
    [
        (
            MIX,
            ["prot"],
            MetricSelection(),
            "mix has no 'prot' to group by; there is: .*port.*; did you mean port\\?",
        ),
        (FIXED, ["system"], MetricSelection(), "fixed: its rows cannot be combined, so there is no --by"),
    ],
)
def test_unknown_columns_are_refused(
    metric: Metric, by: list[str], selection: MetricSelection, problem: str
) -> None:
    with pytest.raises(MetricQueryError, match=problem):
        statement(metric, by, selection)


def test_a_metric_without_systems_or_time_refuses_them() -> None:
    plain = replace(MIX, name="plain", grain=("port",), columns=COLUMNS[2:4], sql="-- P.\nSELECT 1", clock="")
    with pytest.raises(MetricQueryError, match="plain has no column system"):
        statement(plain, None, MetricSelection(systems=("SYSA",)))
    with pytest.raises(MetricQueryError, match="plain has no time column, so there is no period to select"):
        statement(plain, None, MetricSelection(end=datetime(2026, 3, 3, tzinfo=UTC)))
