"""Filters: what they mean in SQL, and where they mean nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime

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


FIRST, LAST = date(2026, 3, 9), date(2026, 3, 10)
OF_DAYS = Filters(
    begin=datetime(2026, 3, 8, 23, tzinfo=UTC), end=datetime(2026, 3, 10, 23, tzinfo=UTC),
    first_day=FIRST, last_day=LAST,
)  # fmt: skip
"""Days, with the moments of a clock that is an hour ahead of UTC."""


def test_days_narrow_a_metric_by_its_local_day_and_a_table_by_moments() -> None:
    selection = OF_DAYS.selection(metric("handshake_mix"))
    assert (selection.first_day, selection.last_day) == (FIRST, LAST)
    assert (selection.begin, selection.end, selection.where) == (None, None, "")
    [condition] = OF_DAYS.conditions([], "t")
    assert "2026-03-08T23:00" in condition
    assert "2026-03-10T23:00" in condition
    assert OF_DAYS.words() == "from 2026-03-09 to 2026-03-10"
    assert OF_DAYS.options() == ["--from", "2026-03-09", "--to", "2026-03-10"]


def test_the_period_before_is_as_long_and_ends_where_the_chosen_one_begins() -> None:
    before = OF_DAYS.before()
    assert before is not None
    assert (before.first_day, before.last_day) == (date(2026, 3, 7), date(2026, 3, 8))
    assert (before.begin, before.end) == (datetime(2026, 3, 6, 23, tzinfo=UTC), OF_DAYS.begin)
    moments = Filters(begin=BEGIN, end=END, systems=("A",)).before()
    assert moments == Filters(begin=datetime(2026, 3, 8, tzinfo=UTC), end=BEGIN, systems=("A",))
    assert Filters(begin=BEGIN).before() is None


def test_without_a_period_the_other_filters_stay() -> None:
    assert OF_DAYS.has_period
    assert not OF_DAYS.without_period().has_period
    assert Filters(begin=BEGIN, systems=("A",)).without_period() == Filters(systems=("A",))


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


def test_what_was_seen_at_several_places_is_chosen_by_one_of_them() -> None:
    chosen = Filters(systems=("SYSA",), stacks=("T",), ports=(443, 446), jobs=("WEB'1",))
    seen = metric("certificate_inventory")
    assert chosen.without_effect_on(seen) == ("stack",)
    rows = duckdb.sql(f"""
        SELECT n FROM (VALUES
            (1, ['SYSA', 'SYSB'], [446, 21], ['WEB''1']), (2, ['SYSB'], [443], ['WEB''1']),
            (3, ['SYSA'], [21], ['WEB''1']), (4, ['SYSA'], [443], NULL)
        ) AS v (n, systems, server_ports, job_names) WHERE {chosen.selection(seen).where}
    """).fetchall()  # fmt: skip
    assert rows == [(1,)]


def test_ports_in_a_text_are_not_chosen() -> None:
    assert Filters(ports=(443,)).without_effect_on(metric("rule_use")) == ("port",)
