"""Randomized stress test of a store: `make soak MINUTES=120`.

Two other processes read the store continuously: one queries it with DuckDB, one opens pages of the dashboard.
The report contains the operations, and the memory usage and number of open files of each process.
`--write-docs` writes it into `docs/trust.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.document_parts import write_between
from tests.soak.model import Soak, memory_mb, open_files, rows_in
from tests.soak.reader import READERS

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENT = CHECKOUT / "docs" / "trust.md"
BEGIN, END = "<!-- begin of the report of the soak -->\n", "<!-- end of the report of the soak -->\n"
POINTS = 6
"""Rows of the curve of memory."""
LONG_MINUTES = 60
"""From this duration on, thousands of files are loaded at once in the middle."""
MOST_GROWTH, MOST_NEW_FILES = 1.5, 8
"""How much the memory may grow after the first quarter, and how many more files may be open at the end."""


THIS = "stress test"
"""The process that executes the operations, next to those in READERS."""


@dataclass
class Point:
    """The state at one moment."""

    minutes: float
    operations: int
    rows: int
    memory_mb: dict[str, int]
    """Memory of each process."""
    files: dict[str, int]
    """Open files of each process."""


@dataclass
class Report:
    """What a soak has shown."""

    points: list[Point] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    reads: dict[str, int] = field(default_factory=dict)
    """How often each reader has read the store."""
    seed: int = 0

    def problems(self) -> list[str]:
        """Return what is not level."""
        begin, end = self.points[len(self.points) // 4], self.points[-1]
        found = []
        for process, memory in end.memory_mb.items():
            if memory > MOST_GROWTH * begin.memory_mb[process]:
                found.append(f"{process}: memory grew from {begin.memory_mb[process]} to {memory} MB")
        for process, files in end.files.items():
            if files > begin.files[process] + MOST_NEW_FILES:
                found.append(f"{process}: open files grew from {begin.files[process]} to {files}")
        return found

    def text(self) -> str:
        """Return the report as Markdown."""
        last = self.points[-1]
        done = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in self.done.most_common())
        step = max(1, len(self.points) // POINTS)
        shown = [*self.points[:-1:step], last]
        rows = "".join(
            f"| {point.minutes:.0f} | {point.operations:,} | {point.rows:,} | "
            + " | ".join(f"{point.memory_mb[each]} | {point.files[each]}" for each in last.memory_mb)
            + " |\n"
            for point in shown
        )
        columns = "".join(f" {each}: memory, MB | {each}: open files |" for each in last.memory_mb)
        return (
            f"| minutes | operations | rows in the store |{columns}\n"
            f"|---:|---:|---:|{'---:|---:|' * len(last.memory_mb)}\n{rows}\n"
            f"- {datetime.now(UTC).date()}, seed {self.seed}: {last.operations:,} operations in "
            f"{last.minutes:.0f} minutes, each with the expected contents\n"
            f"- {done}\n"
            f"- {self.killed} killed loads; store read without an error by "
            + ", ".join(f"{reader} {count:,} times" for reader, count in self.reads.items())
            + "\n"
        )


def soak(folder: Path, minutes: float, seed: int) -> Report:
    """Run for so many minutes, at least one operation, and return the report; an error ends it."""
    report = Report(seed=seed)
    subject = Soak(folder, seed)
    operations = 0
    with ExitStack() as ends:
        readers = {name: ends.enter_context(_reading(name, subject.store)) for name in READERS}
        began = time.monotonic()
        while time.monotonic() - began < 60 * minutes:
            half = time.monotonic() - began > 30 * minutes
            many = half and minutes >= LONG_MINUTES and not subject.done[subject.load_many_files.__name__]
            name = subject.round(subject.load_many_files if many else None)
            operations += 1
            seen = {reader: _ask(reader, process) for reader, process in readers.items()}
            report.reads = {reader: state["reads"] for reader, state in seen.items()}
            report.points.append(
                Point(
                    (time.monotonic() - began) / 60,
                    operations,
                    rows_in(subject.contents),
                    {THIS: memory_mb()} | {reader: state["memory_mb"] for reader, state in seen.items()},
                    {THIS: open_files()} | {reader: state["files"] for reader, state in seen.items()},
                )
            )
            print(f"\r{operations} {name:20s}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    report.done, report.killed = subject.done, subject.killed
    return report


@contextmanager
def _reading(name: str, store: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a reader on a store."""
    command = [sys.executable, "-m", "tests.soak.reader", str(store), name]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _ask(name: str, process: subprocess.Popen[str]) -> dict[str, int]:
    """Return what a reader has seen since it began; an error of the reader ends the soak."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise AssertionError(f"{name}: the reader ended with {process.wait()}")
    seen: dict[str, int] = json.loads(line)
    return seen


def main() -> None:
    """Run, print the report, and fail if the memory or the open files are not level."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000)
    parser.add_argument("--write-docs", action="store_true", help="write the report into docs/trust.md")
    options = parser.parse_args()
    print(f"seed {options.seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="zscope-soak-") as folder:
        report = soak(Path(folder), options.minutes, options.seed)
    print(report.text())
    if options.write_docs:
        write_between(DOCUMENT, BEGIN, END, report.text())
    if problems := report.problems():
        raise SystemExit("; ".join(problems))


if __name__ == "__main__":
    main()
