"""Statements of a metric: the view, other groupings, parts; whatever is grouped, ratios are made of sums."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from zscope.pipelines.metrics import (
    Metric,
    MetricColumn,
    MetricQueryError,
    MetricSelection,
    macros_sql,
    statement,
    view_sql,
)
from zscope.pipelines.metrics.metric_statements import settings

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
DIVIDED = replace(FIXED, rows_by={"hour_utc": "system = 'SYSA' OR false"})


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


def test_days_of_utc_are_the_same_in_every_session_time_zone(database: duckdb.DuckDBPyConnection) -> None:
    moments = database.execute(statement(MIX, ["day_utc"])).fetchall()
    assert [row[1:3] for row in moments] == [(10, 16), (5, 5), (1, 2)]
    assert [row[0] and f"{row[0].astimezone(UTC):%d %H}" for row in moments] == ["02 00", "03 00", None]


def test_hours_of_utc_are_spans_of_a_finer_clock(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("UPDATE seen SET hour_utc = hour_utc + INTERVAL 20 MINUTE")
    finer = replace(
        MIX,
        columns=(COLUMNS[0], replace(COLUMNS[1], name="begin_utc"), *COLUMNS[2:]),
        grain=("system", "begin_utc"),
        clock="begin_utc",
        sql="-- H.\nSELECT * RENAME (hour_utc AS begin_utc) FROM seen",
    )
    assert [row[:2] for row in rows(database, statement(finer, ["hour_utc"]))] == [
        ("02 23", 10), ("03 00", 5), (None, 1),
    ]  # fmt: skip


def test_weeks_begin_on_monday(database: duckdb.DuckDBPyConnection) -> None:
    assert rows(database, statement(MIX, ["week_utc"]))[0][:3] == ("02 00", 15, 21)


@pytest.fixture
def clocks(database: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The clock of SYSA is set from +00:30 to +01:30 at midnight UTC; that of SYSB is not known."""
    database.execute(macros_sql())
    database.execute(f"""
        CREATE TABLE clock_offset AS
        SELECT 'SYSA' AS system, from_utc::{MOMENT} AS from_utc, from_local::TIMESTAMP AS from_local, offset_s
        FROM (VALUES
            ('-infinity', '-infinity', 1800), ('2026-03-03 00:00:00+00', '2026-03-03 01:30:00', 5400)
        ) AS c (from_utc, from_local, offset_s)""")
    database.execute(f"""
        INSERT INTO seen SELECT 'SYSA', moment::{MOMENT}, 443, 0, handshakes, NULL
        FROM (VALUES
            ('2026-03-02 23:29:59+00', 100), ('2026-03-02 23:30:00+00', 200), ('2026-03-03 22:29:59+00', 400),
            ('2026-03-03 22:30:00+00', 800), ('2026-03-01 23:29:59+00', 1600)
        ) AS m (moment, handshakes)""")
    return database


def test_days_are_those_of_the_clock_of_the_system(clocks: duckdb.DuckDBPyConnection) -> None:
    assert [(row[0], row[2]) for row in rows(clocks, statement(MIX, ["day"]))] == [
        (date(2026, 3, 1), 1600), (date(2026, 3, 2), 116), (date(2026, 3, 3), 605), (date(2026, 3, 4), 800),
        (None, 2),
    ]  # fmt: skip


def test_weeks_are_those_of_the_clock_of_the_system(clocks: duckdb.DuckDBPyConnection) -> None:
    assert [(row[0], row[2]) for row in rows(clocks, statement(MIX, ["week"]))] == [
        (date(2026, 2, 23), 1600), (date(2026, 3, 2), 1521), (None, 2),
    ]  # fmt: skip


def test_both_days_of_a_period_are_local_days(clocks: duckdb.DuckDBPyConnection) -> None:
    def counted(
        metric: Metric,
        first_day: date | None = None,
        last_day: date | None = None,
        end: datetime | None = None,
    ) -> list[tuple[Any, ...]]:
        selection = MetricSelection(("SYSA",), end=end, first_day=first_day, last_day=last_day)
        return rows(clocks, statement(metric, [], selection))

    second, third = date(2026, 3, 2), date(2026, 3, 3)
    assert counted(MIX, first_day=second, last_day=second)[0][1] == 116
    assert counted(MIX, first_day=third)[0][1] == 600 + 800
    assert counted(MIX, last_day=second)[0][1] == 116 + 1600
    # A day and a moment.
    end = datetime(2026, 3, 3, 22, 30, tzinfo=UTC)
    assert counted(MIX, first_day=third, end=end)[0][1] == 600
    # The metric is a table.
    clocks.execute("CREATE TABLE mix AS SELECT * FROM seen")
    assert counted(replace(MIX, keep=True), first_day=third)[0][1] == 600 + 800


def test_rows_that_are_not_combined_are_selected_by_local_days(clocks: duckdb.DuckDBPyConnection) -> None:
    day = MetricSelection(("SYSA",), first_day=date(2026, 3, 2), last_day=date(2026, 3, 2))
    assert rows(clocks, statement(FIXED, selection=day)) == [("SYSA", "02 23")] * 3


def test_a_metric_can_state_the_day_of_its_rows(clocks: duckdb.DuckDBPyConnection) -> None:
    own = replace(
        MIX,
        columns=(MetricColumn("day", "DATE", "Day.", dimension=True), *COLUMNS),
        sql="-- H.\nSELECT DATE '2026-01-01' + port AS day, * FROM seen WHERE system = 'SYSA'",
    )
    assert [row[:3] for row in rows(clocks, statement(own, ["day"]))] == [
        (date(2026, 1, 22), 9, 12), (date(2027, 3, 20), 1, 3104),
    ]  # fmt: skip
    first = MetricSelection(last_day=date(2026, 1, 22))
    assert [row[1] for row in rows(clocks, statement(own, ["week"], first))] == [9]
    clockless = replace(own, clock="", grain=("system",))
    assert rows(clocks, statement(clockless, None, first))[0][:2] == ("SYSA", 9)


def test_days_of_rows_without_a_system_are_those_of_utc(clocks: duckdb.DuckDBPyConnection) -> None:
    systemless = replace(
        FIXED, columns=(COLUMNS[1],), grain=("hour_utc",), sql="-- R.\nSELECT hour_utc FROM seen"
    )
    day = MetricSelection(first_day=date(2026, 3, 2), last_day=date(2026, 3, 2))
    assert len(rows(clocks, statement(systemless, selection=day))) == 3


def test_parameters_are_set_to_the_moments_of_local_days(clocks: duckdb.DuckDBPyConnection) -> None:
    periodic = replace(MIX, clock="", period=("first", "last"))

    def moments(systems: tuple[str, ...]) -> list[tuple[Any, ...]]:
        day = MetricSelection(systems, first_day=date(2026, 3, 3), last_day=date(2026, 3, 3))
        for text in settings(periodic, day):
            clocks.execute(text)
        return clocks.execute(
            "SELECT epoch(getvariable('first'))::BIGINT, epoch(getvariable('last'))::BIGINT"
        ).fetchall()

    midnight = int(datetime(2026, 3, 3, tzinfo=UTC).timestamp())
    # The day of SYSA has 23 hours.
    assert moments(("SYSA",)) == [(midnight - 1800, midnight + 86_400 - 5400)]
    assert moments(("SYSB",)) == [(midnight, midnight + 86_400)]


def test_rows_are_selected_before_they_are_combined(database: duckdb.DuckDBPyConnection) -> None:
    part = MetricSelection(
        ("SYSA",), datetime(2026, 3, 2, 23, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC), "port = 443 -- web"
    )
    assert rows(database, statement(MIX, ["system"], part)) == [("SYSA", 1, 4, 1.5, 25.0)]


def test_conditions_of_a_metric_that_cannot_be_combined(database: duckdb.DuckDBPyConnection) -> None:
    found = rows(database, statement(FIXED, selection=MetricSelection(systems=("SYSB",))))
    assert found == [("SYSB", "03 00")]


def test_a_grouping_of_rows_that_cannot_be_combined_selects_a_division(
    database: duckdb.DuckDBPyConnection,
) -> None:
    every = rows(database, statement(DIVIDED, ["system", "hour_utc"]))
    assert every == rows(database, statement(FIXED, None, MetricSelection(where="system = 'SYSA'")))
    assert rows(database, statement(DIVIDED, ["hour_utc"], MetricSelection(where="false OR false"))) == []


@pytest.mark.parametrize(
    ("metric", "by", "selection", "problem"),
    [
        (
            MIX,
            ["prot"],
            MetricSelection(),
            "mix has no 'prot' to group by; there is: .*port.*; did you mean port\\?",
        ),
        (
            FIXED,
            ["system"],
            MetricSelection(),
            "fixed: its rows cannot be combined, so there is no --by; they are by system, by which",
        ),
        (DIVIDED, ["hour"], MetricSelection(), "no rows by 'hour'; there is one of: hour_utc; did you mean"),
        (DIVIDED, ["system"], MetricSelection(), "fixed has no rows by 'system'"),
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
