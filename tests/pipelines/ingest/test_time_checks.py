"""Times that contradict each other, the header of their record or the calendar are reported at ingest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from zscope.parsers.issues import Code, Issue, Issues, Severity
from zscope.pipelines.ingest.value_checks import TimeChecks
from zscope.schemas.stored import comparisons, stored_schema
from zscope.schemas.tables import table_names

AT = datetime.fromisoformat("2026-03-02T10:00:00")
NOW = datetime(2026, 3, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
RIGHT = {
    "written_local": AT, "written_utc": (AT - HOUR).replace(tzinfo=UTC), "start_local": AT - 3 * HOUR,
    "end_local": AT, "start_utc": (AT - 4 * HOUR).replace(tzinfo=UTC),
    "end_utc": (AT - HOUR).replace(tzinfo=UTC),
    "system": "SYSA", "record_no": 17, "record_offset": 4711,
}  # fmt: skip


def issues_of(table: str, *changes: dict[str, Any]) -> list[Issue]:
    schema = stored_schema(table)
    rows = [{name: (RIGHT | change).get(name) for name in schema.names} for change in changes]
    issues = Issues()
    checks = TimeChecks(issues, "dump", NOW)
    checks.observe(table, pa.RecordBatch.from_pylist(rows, schema))
    checks.report()
    return list(issues)


def test_right_times_have_no_issue() -> None:
    assert issues_of("smf119_tcp_term", {}, {"end_local": None}, {"written_utc": None}) == []


def test_a_clock_set_back_by_an_hour_is_no_contradiction() -> None:
    assert issues_of("smf119_ftp_client", {"start_local": AT + HOUR}) == []


def in_utc(hours: float, **changes: datetime | None) -> dict[str, Any]:
    """Return a row of a system with an offset from UTC, whose times in the section are UTC."""
    written = (AT - hours * HOUR).replace(tzinfo=UTC)
    end, start = written - timedelta(seconds=2), written - 4 * HOUR
    row = {
        "written_utc": written, "end_utc": end, "start_utc": start, "end_local": end.replace(tzinfo=None),
        "start_local": start.replace(tzinfo=None),
    }  # fmt: skip
    return row | changes


@pytest.mark.parametrize("hours", [-5, 5.5, 1, 14, -0.25])
@pytest.mark.parametrize("zone", [True, False])
def test_local_times_of_sections_in_utc_are_one_note(hours: float, zone: bool) -> None:
    row = in_utc(hours) if zone else in_utc(hours, written_utc=None)
    [issue] = issues_of("smf119_tcp_term", row, row)
    assert (issue.code, issue.severity) == (Code.LOCAL_IN_UTC, Severity.NOTE)
    assert issue.text.startswith("2 rows of SYSA in smf119_tcp_term have UTC instead of local time")


@pytest.mark.parametrize("hours", [-5, 5.5])
def test_a_time_in_utc_that_is_wrong_as_well_is_impossible(hours: float) -> None:
    (issue, *_) = issues_of("smf119_tcp_term", in_utc(hours, end_local=AT + 9 * HOUR))
    assert issue.code is Code.IMPOSSIBLE_TIME


def test_a_system_whose_clock_is_utc_has_no_note() -> None:
    assert issues_of("smf119_tcp_term", in_utc(0), in_utc(0, written_utc=None)) == []


def test_a_wrong_zone_is_no_section_in_utc() -> None:
    issues = issues_of("smf119_tcp_term", in_utc(0, written_utc=(AT + 5 * HOUR).replace(tzinfo=UTC)))
    assert {issue.code for issue in issues} == {Code.IMPOSSIBLE_TIME}


@pytest.mark.parametrize(
    ("change", "column", "text"),
    [
        ({"end_local": AT - 5 * HOUR}, "end_local", "end before their start"),
        ({"end_utc": (AT - 5 * HOUR).replace(tzinfo=UTC)}, "end_utc", "end before their start"),
        ({"end_local": AT + 3 * HOUR}, "end_local", "end hours before or after their record was written"),
        ({"start_local": AT + 3 * HOUR}, "start_local", "start hours after their record was written"),
        ({"start_local": AT.replace(year=2099)}, "start_local", "start hours after their record was written"),
        ({"written_utc": NOW + 2 * HOUR * 24}, "written_utc", "are in the future"),
    ],
)
def test_impossible_times_are_reported_with_period_and_place(
    change: dict[str, Any], column: str, text: str
) -> None:
    found = [
        issue
        for issue in issues_of("smf119_tcp_term", {}, change)
        if issue.field == column and text in issue.text
    ]
    assert len(found) == 1
    issue = found[0]
    assert (issue.code, issue.record_no, issue.offset) == (Code.IMPOSSIBLE_TIME, 17, 4711)
    assert "1 row of smf119_tcp_term of SYSA" in issue.text
    assert str(change[column].replace(tzinfo=None)) in issue.text


def test_rows_of_a_system_are_one_issue_with_their_period() -> None:
    later = {"end_local": AT - 5 * HOUR}
    (first, *_) = issues_of(
        "smf119_tcp_term", later, {"end_local": AT - 6 * HOUR}, later | {"system": "SYSB"}
    )
    assert "2 rows of smf119_tcp_term of SYSA" in first.text
    assert f"from {AT - 6 * HOUR} to {AT - 5 * HOUR}" in first.text


def test_utc_without_a_time_zone_is_compared_in_days_only() -> None:
    unknown = {"written_utc": None, "end_utc": (AT - 9 * HOUR).replace(tzinfo=UTC), "start_utc": None}
    assert issues_of("smf119_tcp_term", unknown) == []
    assert issues_of("smf119_tcp_term", unknown | {"end_utc": (AT - 30 * HOUR).replace(tzinfo=UTC)})


def test_the_end_of_an_interval_follows_from_its_length() -> None:
    row = {"interval_start_local": AT - HOUR, "interval_ms": 3_600_000}
    assert issues_of("smf70_interval", row) == []
    (issue,) = issues_of("smf70_interval", row | {"interval_start_local": AT - 12 * HOUR})
    assert "end hours before or after" in issue.text


def test_every_table_with_a_start_and_an_end_compares_them() -> None:
    for table in table_names():
        names = set(stored_schema(table).names)
        compared = {(each.column, each.other) for each in comparisons(table)}
        for clock in ("local", "utc"):
            if {f"start_{clock}", f"end_{clock}"} <= names:
                assert (f"end_{clock}", f"start_{clock}") in compared
