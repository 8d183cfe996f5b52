"""How far reading has come: a bar on a terminal, a line now and then in the log of a batch job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from zscope.parsers import ProgressState

    Report = Callable[[ProgressState], None]

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(*, quiet: bool = False, rows_on_screen: bool = False) -> Iterator[Report | None]:
    """Something to report to, or nothing where a report would be in the way."""
    if quiet or (rows_on_screen and sys.stderr.isatty()):
        yield None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield Lines()


@dataclass(slots=True)
class Lines:
    """Writes a line to standard error when some seconds have gone by since the last one."""

    every: float = SECONDS_BETWEEN_LINES
    clock: Callable[[], float] = time.monotonic
    last: float = field(init=False)
    _file: str = field(default="", init=False)
    _begun: float = field(default=0.0, init=False)
    """When the first was heard of this file."""

    def __post_init__(self) -> None:
        self.last = self.clock()

    def __call__(self, state: ProgressState) -> None:
        """Report if it is time to."""
        now = self.clock()
        if state.file != self._file:
            self._file, self._begun = state.file, now
        if now - self.last >= self.every:
            self.last = now
            click.echo(line(state, now - self._begun), err=True)


def line(state: ProgressState, seconds: float = 0.0) -> str:
    """The state in words, with the rate and the time left where the seconds gone by tell them."""
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
    # Only here: importing rich takes longer than many a command.
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
