"""Progress: a line now and then in a log, a bar on a terminal, and nothing on request."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stderr

import pytest

from zscope.app.progress import Lines, line, progress
from zscope.parsers import ProgressState


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (ProgressState("a.smf", 25 * 10**7, 10**9, 9999), "a.smf: 250.0 of 1,000.0 MB (25 %), 9,999 records"),
        (ProgressState("a.smf", 250_000_000, None, 5), "a.smf: 250.0 MB, 5 records"),
        (ProgressState("-", 0, None, 5), "-: reading, 5 records"),
    ],
)  # fmt: skip
def test_a_line_says_how_far(state: ProgressState, text: str) -> None:
    assert line(state) == text


def test_a_line_says_how_fast_and_how_long() -> None:
    state = ProgressState("a.smf", 25 * 10**7, 10**9, 9999)
    assert line(state, 2.5).endswith("9,999 records, 100 MB/s, 8 s left")
    assert line(ProgressState("-", 25 * 10**7, None, 9), 2.5).endswith("9 records, 100 MB/s")


def test_the_time_of_each_file_counts_from_its_beginning() -> None:
    seconds: Iterator[float] = iter([0.0, 0.0, 100.0, 110.0])
    report = Lines(every=5.0, clock=lambda: next(seconds))
    talk = io.StringIO()
    with redirect_stderr(talk):
        for name, done in (("a.smf", 10**9), ("b.smf", 0), ("b.smf", 10**9)):
            report(ProgressState(name, done, 2 * 10**9, 1))
    assert talk.getvalue().splitlines()[-1].endswith("1 records, 100 MB/s, 10 s left")


def test_lines_come_now_and_then() -> None:
    seconds: Iterator[float] = iter([0.0, 1.0, 4.9, 5.0, 9.9, 20.0])
    report = Lines(every=5.0, clock=lambda: next(seconds))
    talk = io.StringIO()
    with redirect_stderr(talk):
        for records in range(5):
            report(ProgressState("a.smf", 0, None, records))
    assert talk.getvalue().splitlines() == ["a.smf: reading, 2 records", "a.smf: reading, 4 records"]


def test_quiet_reports_nothing() -> None:
    with progress(quiet=True) as report:
        assert report is None


def test_a_log_gets_lines() -> None:
    with redirect_stderr(io.StringIO()), progress() as report:
        assert isinstance(report, Lines)
