"""The calendar of certificates: months, and the file for calendar programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.app.dashboard.page_helpers import data_of

from zscope.app.dashboard.pages.posture.certificates import all_certificates, by_month
from zscope.app.dashboard.pages.posture.icalendar import calendar_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def certificate(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - values of all types
    return {
        "serial": "01AB", "issuer_dn": "CN=CA,O=Example", "subject_dn": "CN=www.example.com",
        "name": "www.example.com", "not_after_utc": datetime(2026, 4, 30, 23, 59, tzinfo=UTC),
        "systems": ["SYSA"], "server_ports": [443, None], "job_names": ["WEB1"],
    } | changed  # fmt: skip


def lines_of(*certificates: dict[str, Any]) -> list[str]:
    """The lines of a calendar, put together again."""
    return calendar_of(certificates, NOW).decode().replace("\r\n ", "").split("\r\n")


def test_a_certificate_is_a_day_with_a_reminder() -> None:
    lines = lines_of(certificate())
    assert lines[0] == "BEGIN:VCALENDAR"
    assert lines[-2:] == ["END:VCALENDAR", ""]
    for line in (
        "DTSTAMP:20260301T123000Z",
        "DTSTART;VALUE=DATE:20260430",
        "DTEND;VALUE=DATE:20260501",
        "SUMMARY:Certificate www.example.com ends",
        "TRIGGER:-P30D",
    ):
        assert line in lines
    [described] = [line for line in lines if line.startswith("DESCRIPTION:Subject")]
    assert "Issuer: CN=CA\\,O=Example\\n" in described
    assert described.endswith("Ports: 443\\nJobs: WEB1")


def test_a_certificate_without_a_last_day_has_no_entry() -> None:
    assert "BEGIN:VEVENT" not in lines_of(certificate(not_after_utc=None))


def test_the_same_certificate_has_the_same_identity_in_each_file() -> None:
    first, again, other = (
        next(line for line in lines_of(each) if line.startswith("UID:"))
        for each in (certificate(), certificate(systems=["SYSB"]), certificate(serial="02"))
    )
    assert first == again
    assert first != other


def test_text_of_the_data_starts_no_line_of_its_own() -> None:
    hostile = certificate(name="a;b,c\\d\r\nBEGIN:VALARM", subject_dn="é" * 200)
    for line in calendar_of([hostile], NOW).decode().split("\r\n"):
        assert len(line.encode()) <= 75
    [summary] = [line for line in lines_of(hostile) if line.startswith("SUMMARY:")]
    assert summary == "SUMMARY:Certificate a\\;b\\,c\\\\d\\nBEGIN:VALARM ends"


def test_each_certificate_is_in_the_month_of_its_last_day(world: Path) -> None:
    certificates = all_certificates(data_of(world))
    dated = [row for row in certificates.to_pylist() if row["not_after_utc"]]
    months = by_month(certificates).to_pylist()
    assert sum(row["certificates"] for row in months) == len(dated)
    first = min(dated, key=lambda row: row["not_after_utc"])
    assert (months[0]["year"], months[0]["month"]) == (
        first["not_after_utc"].year, first["not_after_utc"].month,
    )  # fmt: skip
    assert months[0]["mark"] == first["mark"]
    assert first["name"] in months[0]["names"]
