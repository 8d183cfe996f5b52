"""Filters: what they mean in SQL, and where they mean nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb

from zscope.app.shared.filters import Filters
from zscope.pipelines.metrics import metric

BEGIN = datetime(2026, 3, 9, tzinfo=UTC)
END = datetime(2026, 3, 10, tzinfo=UTC)


def test_empty_filters_have_no_condition() -> None:
    assert Filters().conditions(["system"], "hour_utc") == []
    assert Filters().without_effect([]) == ()


def test_filters_without_a_column_are_named() -> None:
    chosen = Filters(begin=BEGIN, systems=("A",), stacks=("T",), ports=(1,), jobs=("J",), roles=("client",))
    assert chosen.without_effect(["system"]) == ("period", "stack", "port", "job", "role")
    assert chosen.without_effect(
        ["system", "stack", "server_port", "job_name", "handshake_role"], "hour_utc"
    ) == ()  # fmt: skip


def test_a_period_includes_its_begin_and_excludes_its_end() -> None:
    [condition] = Filters(begin=BEGIN, end=END).conditions([], "t")
    rows = duckdb.sql(f"""
        SELECT t FROM (VALUES (TIMESTAMPTZ '2026-03-08 23:59:59Z'), (TIMESTAMPTZ '2026-03-09 00:00:00Z'),
            (TIMESTAMPTZ '2026-03-09 23:59:59Z'), (TIMESTAMPTZ '2026-03-10 00:00:00Z')) AS v (t)
        WHERE {condition}
    """).fetchall()  # fmt: skip
    assert len(rows) == 2


def test_names_are_literals_whatever_they_contain() -> None:
    [condition] = Filters(jobs=("x' OR '1'='1",)).conditions(["job_name"])
    assert duckdb.sql(f"SELECT * FROM (VALUES ('A')) AS v (job_name) WHERE {condition}").fetchall() == []


def test_a_server_that_asks_for_certificates_is_a_server() -> None:
    [condition] = Filters(roles=("server",)).conditions(["handshake_role"])
    result = duckdb.sql(f"""
        SELECT handshake_role FROM (VALUES ('server'), ('server with client authentication'), ('client'))
            AS v (handshake_role) WHERE {condition}
    """).fetchall()
    assert len(result) == 2


def test_a_metric_without_a_clock_keeps_its_rows_whatever_the_period() -> None:
    selection = Filters(begin=BEGIN, systems=("A",)).selection(metric("finding"), "severity = 'high'")
    assert selection.begin is None
    assert selection.where == "system IN ('A') AND (severity = 'high')"
