"""Show the progress of reading: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zscope.parsers import ProgressState

    Report = Callable[[ProgressState], None]

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(*, quiet: bool = False, rows_on_screen: bool = False) -> Iterator[Report | None]:
    """Yield the function that shows progress; None if quiet, or if rows are shown on the same terminal."""
    if quiet or (rows_on_screen and sys.stderr.isatty()):
        yield None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield ProgressLines()


@dataclass(slots=True)
class ProgressLines:
    """Write a line to standard error if the last one is some seconds old."""

    every: float = SECONDS_BETWEEN_LINES
    clock: Callable[[], float] = time.monotonic
    last: float = field(init=False)
    _file: str = field(default="", init=False)
    _file_started: float = field(default=0.0, init=False)
    """Time of the first report about this file."""

    def __post_init__(self) -> None:
        self.last = self.clock()

    def __call__(self, state: ProgressState) -> None:
        """Write a line if it is time to."""
        now = self.clock()
        if state.file != self._file:
            self._file, self._file_started = state.file, now
        if now - self.last >= self.every:
            self.last = now
            click.echo(progress_text(state, now - self._file_started), err=True)


def progress_text(state: ProgressState, seconds: float = 0.0) -> str:
    """Describe the state; after some seconds also with the rate and the time left."""
    done = f"{state.bytes_done / 1e6:,.1f}"
    if state.bytes_total:
        share = 100 * state.bytes_done / state.bytes_total
        done += f" of {state.bytes_total / 1e6:,.1f} MB ({share:.0f} %)"
    else:
        done += " MB"
    text = f"{state.file}: {done if state.bytes_done else 'reading'}, {state.records:,} records"
    if not seconds or not state.bytes_done:
        return text
    rate = state.bytes_done / seconds
    left = (state.bytes_total - state.bytes_done) / rate if state.bytes_total else None
    return f"{text}, {rate / 1e6:,.0f} MB/s" + (f", {left:,.0f} s left" if left is not None else "")


@contextmanager
def _bar() -> Iterator[Report]:
    # Importing rich takes longer than many commands.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[records]:,} records"),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, records=0)
        current = ""

        def report(state: ProgressState) -> None:
            nonlocal current
            if state.file != current:
                current = state.file
                bar.reset(task, total=state.bytes_total, description=Path(current).name, records=0)
            bar.update(task, completed=state.bytes_done, records=state.records)

        yield report
