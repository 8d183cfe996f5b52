"""Times of samples: what they are counted from, and which texts are none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from zscope.parsers.text.supplied.times import TimeFormatError, TimeKind, check_time_format, reader_of

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
def test_a_moment(text: str, form: str | None) -> None:
    found = reader_of(form)(text)
    assert (found.kind, found.moment) == (TimeKind.MOMENT, NOON)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-03-02 12:00:00.250", None),
        ("02.03.2026 12:00:00.25", "%d.%m.%Y %H:%M:%S.%f"),
        ("2026-03-02T12:00:00.250", None),
    ],
)
def test_a_time_without_zone_is_no_moment(text: str, form: str | None) -> None:
    found = reader_of(form)(text)
    assert (found.kind, found.moment) == (TimeKind.CLOCK, None)
    assert found.microseconds == SECONDS * 1_000_000 + 250_000


@pytest.mark.parametrize("form", ["%H:%M:%S", "%H:%M:%S%z"])
def test_a_time_of_day_is_no_moment_even_with_a_zone(form: str) -> None:
    text = "12:00:01+0100" if form.endswith("z") else "12:00:01"
    found = reader_of(form)(text)
    assert (found.kind, found.moment) == (TimeKind.CLOCK, None)


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
    found = reader_of(form)(text)
    assert (found.kind, found.microseconds, found.moment) == (TimeKind.NUMBER, microseconds, None)


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
def test_what_is_no_time(text: str, form: str | None) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the text is, the reader tells it in its own words
        reader_of(form)(text)


@pytest.mark.parametrize(
    "form", ["seconds", "Milliseconds", "%Y%m%d%H%M%S", "%d/%b/%Y:%H:%M:%S %z", "%H.%M.%S"]
)
def test_formats_that_can_be_used(form: str) -> None:
    check_time_format(form)


@pytest.mark.parametrize("form", ["%q", "%", "%Y-%m-%d", "%I:%M:%S", "hours", "%H:%M:%S %H", "\ud800"])
def test_formats_that_cannot_be_used(form: str) -> None:
    with pytest.raises(TimeFormatError, match="is no format of times down to the second"):
        check_time_format(form)
