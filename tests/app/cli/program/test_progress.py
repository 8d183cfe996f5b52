"""Progress: a line every few seconds in a log, a bar on a terminal, nothing with --quiet."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import TYPE_CHECKING

import pytest

from zscope.app.cli.input_options import ProgressLines, progress, progress_text
from zscope.parsers import ProgressState

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (ProgressState("a.smf", 25 * 10**7, 10**9, 9999), "a.smf: 250.0 of 1,000.0 MB (25 %), 9,999 records"),
        (ProgressState("a.smf", 250_000_000, None, 5), "a.smf: 250.0 MB, 5 records"),
        (ProgressState("-", 0, None, 5), "-: reading, 5 records"),
    ],
)  # fmt: skip
def test_a_line_contains_the_progress(state: ProgressState, text: str) -> None:
    assert progress_text(state) == text


def test_a_line_contains_rate_and_time_left() -> None:
    state = ProgressState("a.smf", 25 * 10**7, 10**9, 9999)
    assert progress_text(state, 2.5).endswith("9,999 records, 100 MB/s, 8 s left")
    assert progress_text(ProgressState("-", 25 * 10**7, None, 9), 2.5).endswith("9 records, 100 MB/s")


def test_the_time_of_each_file_counts_from_its_beginning() -> None:
    seconds: Iterator[float] = iter([0.0, 0.0, 100.0, 110.0])
    report = ProgressLines(every=5.0, clock=lambda: next(seconds))
    talk = io.StringIO()
    with redirect_stderr(talk):
        for name, done in (("a.smf", 10**9), ("b.smf", 0), ("b.smf", 10**9)):
            report(ProgressState(name, done, 2 * 10**9, 1))
    assert talk.getvalue().splitlines()[-1].endswith("1 records, 100 MB/s, 10 s left")


def test_lines_are_written_every_few_seconds() -> None:
    seconds: Iterator[float] = iter([0.0, 1.0, 4.9, 5.0, 9.9, 20.0])
    report = ProgressLines(every=5.0, clock=lambda: next(seconds))
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
        assert isinstance(report, ProgressLines)
