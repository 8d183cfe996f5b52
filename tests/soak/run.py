"""Randomized stress test of a store: `make soak MINUTES=120`.

Another process queries the store continuously with DuckDB. The report contains the operations, and the memory
usage and number of open files of both processes. `--write-docs` writes it into `docs/reliability.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.document_parts import write_between
from tests.soak.model import Soak, memory_mb, open_files

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENT = CHECKOUT / "docs" / "reliability.md"
BEGIN, END = "<!-- begin of the report of the soak -->\n", "<!-- end of the report of the soak -->\n"
POINTS = 12
"""Rows of the curve of memory."""
LONG_MINUTES = 60
"""From this duration on, thousands of files are loaded at once in the middle."""
MOST_GROWTH, MOST_NEW_FILES = 1.5, 8
"""How much the memory may grow after the first quarter, and how many more files may be open at the end."""


@dataclass
class Point:
    """The state at one moment."""

    minutes: float
    operations: int
    rows: int
    memory_mb: int
    files: int
    reader_mb: int
    reader_files: int


@dataclass
class Report:
    """What a soak has shown."""

    points: list[Point] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    reads: int = 0
    seed: int = 0

    def problems(self) -> list[str]:
        """Return what is not level."""
        late = self.points[len(self.points) // 4 :]
        found = []
        for name, most in (("memory_mb", MOST_GROWTH), ("reader_mb", MOST_GROWTH)):
            begin, end = (getattr(late[at], name) for at in (0, -1))
            if end > most * begin:
                found.append(f"{name} grew from {begin} to {end}")
        for name in ("files", "reader_files"):
            begin, end = (getattr(late[at], name) for at in (0, -1))
            if end > begin + MOST_NEW_FILES:
                found.append(f"{name} grew from {begin} to {end}")
        return found

    def text(self) -> str:
        """Return the report as Markdown."""
        last = self.points[-1]
        done = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in self.done.most_common())
        step = max(1, len(self.points) // POINTS)
        shown = [*self.points[:-1:step], last]
        rows = "\n".join(
            f"| {point.minutes:.0f} | {point.operations:,} | {point.rows:,} | {point.memory_mb} "
            f"| {point.files} | {point.reader_mb} | {point.reader_files} |"
            for point in shown
        )
        return (
            "| minutes | operations | rows in the store | memory, MB | open files | memory of the reader, MB "
            "| open files of the reader |\n|---:|---:|---:|---:|---:|---:|---:|\n" + rows + "\n\n"
            f"- {datetime.now(UTC).date()}, seed {self.seed}: {last.operations:,} operations in "
            f"{last.minutes:.0f} minutes, each with the expected contents\n"
            f"- {done}\n"
            f"- {self.killed} killed loads; {self.reads:,} concurrent queries without an error\n"
        )


def soak(folder: Path, minutes: float, seed: int) -> Report:
    """Run for so many minutes, and return the report; an error ends it."""
    report, began = Report(seed=seed), time.monotonic()
    subject = Soak(folder, seed)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.soak.reader", str(subject.store)],
        cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        try:
            operations = 0
            while time.monotonic() - began < 60 * minutes:
                half = time.monotonic() - began > 30 * minutes
                many = half and minutes >= LONG_MINUTES and not subject.done[subject.load_many_files.__name__]
                name = subject.round(subject.load_many_files if many else None)
                operations += 1
                seen = _ask(reader)
                report.reads = seen["reads"]
                rows = sum(
                    count
                    for contents in subject.contents.values()
                    for key, count in contents.items()
                    if not key.endswith(".offsets")
                )
                report.points.append(
                    Point(
                        (time.monotonic() - began) / 60, operations, rows, memory_mb(), open_files(),
                        seen["memory_mb"], seen["files"],
                    )
                )  # fmt: skip
                print(f"\r{operations} {name:20s}", end="", file=sys.stderr, flush=True)
        finally:
            reader.kill()
    print(file=sys.stderr)
    report.done, report.killed = subject.done, subject.killed
    return report


def _ask(reader: subprocess.Popen[str]) -> dict[str, int]:
    """Return what the reader has seen since it began; an error of the reader ends the soak."""
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write("\n")
    reader.stdin.flush()
    line = reader.stdout.readline()
    if not line:
        raise AssertionError(f"the reader ended with {reader.wait()}")
    seen: dict[str, int] = json.loads(line)
    return seen


def main() -> None:
    """Run, print the report, and fail if the memory or the open files are not level."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000)
    parser.add_argument("--write-docs", action="store_true", help="write the report into docs/reliability.md")
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
