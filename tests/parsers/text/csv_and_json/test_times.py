"""Times of samples: their kinds, and texts that are no times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from zscope.parsers.text.csv_and_json.times import TimeFormatError, TimeKind, check_time_format, time_reader

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-03-02T12:00:00Z", None),
        ("2026-03-02T13:00:00.000+01:00", None),
        ("2026-03-02 12:00:00+00:00", None),
        (str(SECONDS), None),
        (f"{SECONDS}.000", None),
        (f"{SECONDS}000", None),
        (str(SECONDS), "seconds"),
        (f"{SECONDS}000", "milliseconds"),
        ("03/02/2026 13:00:00 +0100", "%m/%d/%Y %H:%M:%S %z"),
    ],
)
def test_a_time_is_converted_from_its_zone(text: str, form: str | None) -> None:
    result = time_reader(form)(text)
    assert (result.kind, result.moment) == (TimeKind.MOMENT, NOON)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-03-02 12:00:00.250", None),
        ("02.03.2026 12:00:00.25", "%d.%m.%Y %H:%M:%S.%f"),
        ("2026-03-02T12:00:00.250", None),
    ],
)
def test_a_time_without_zone_is_not_in_utc(text: str, form: str | None) -> None:
    result = time_reader(form)(text)
    assert (result.kind, result.moment) == (TimeKind.CLOCK, None)
    assert result.microseconds == SECONDS * 1_000_000 + 250_000


@pytest.mark.parametrize("form", ["%H:%M:%S", "%H:%M:%S%z"])
def test_a_time_of_day_is_not_a_time_in_utc(form: str) -> None:
    text = "12:00:01+0100" if form.endswith("z") else "12:00:01"
    result = time_reader(form)(text)
    assert (result.kind, result.moment) == (TimeKind.CLOCK, None)


@pytest.mark.parametrize(
    ("text", "form", "microseconds"),
    [
        ("0", None, 0),
        ("1.25", None, 1_250_000),
        ("0.0000005", None, 0),
        ("1500", "milliseconds", 1_500_000),
        ("1500", "seconds", 1_500_000_000),
    ],
)
def test_a_number_is_seconds(text: str, form: str | None, microseconds: int) -> None:
    result = time_reader(form)(text)
    assert (result.kind, result.microseconds, result.moment) == (TimeKind.NUMBER, microseconds, None)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", None),
        ("noon", None),
        ("-1", None),
        ("1,5", None),
        ("99999999999999", None),
        ("9999999999999", "seconds"),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-03-02 12:00:00", "seconds"),
        ("12:00", "%H:%M:%S"),
        ("13/13/2026 12:00:00", "%m/%d/%Y %H:%M:%S"),
    ],
)
def test_other_text_than_times_is_refused(text: str, form: str | None) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the reader writes the message
        time_reader(form)(text)


@pytest.mark.parametrize(
    "form", ["seconds", "Milliseconds", "%Y%m%d%H%M%S", "%d/%b/%Y:%H:%M:%S %z", "%H.%M.%S"]
)
def test_formats_that_can_be_used(form: str) -> None:
    check_time_format(form)


@pytest.mark.parametrize("form", ["%q", "%", "%Y-%m-%d", "%I:%M:%S", "hours", "%H:%M:%S %H", "\ud800"])
def test_formats_that_cannot_be_used(form: str) -> None:
    with pytest.raises(TimeFormatError, match="is not a time format with seconds"):
        check_time_format(form)
