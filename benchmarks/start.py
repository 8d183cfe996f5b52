"""Measure short commands from start to end, as ratios of importing DuckDB and Arrow: `make bench-start`."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from figures import aligned, listed, measured_here, print_and_write, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

REFERENCE = "import duckdb, pyarrow"


@dataclass
class Start:
    """A program that is started again and again."""

    name: str
    arguments: Sequence[str]
    """Of the Python interpreter."""
    budget: float | None = None
    """Its CPU time may be so many times that of the reference."""
    cpu_seconds: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Run it to its end, and record the CPU time."""
        before = _cpu_of_children()
        subprocess.run([sys.executable, *self.arguments], check=True, stdout=subprocess.DEVNULL)
        self.cpu_seconds.append(_cpu_of_children() - before)


def _cpu_of_children() -> float:
    """Return the CPU seconds of ended processes, to the microsecond."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def starts(store: Path) -> list[Start]:
    """Return the measured programs, the reference first.

    The budgets are 0.25, 0.30 and 0.50 CPU s where the reference takes 0.24.
    """

    def command(*arguments: str) -> list[str]:
        return ["-m", "zscope", *arguments, "--store", str(store)]

    return [
        Start(f"`{REFERENCE}`", ["-c", REFERENCE]),
        Start("`import zscope.api`", ["-c", "import zscope.api"], 1.05),
        Start("`zs.read`, the name only", ["-c", "from zscope.api import read"]),
        Start("`zs.open` of the store", ["-c", f"import zscope.api as zs; zs.open({str(store)!r})"]),
        Start("`zscope --help`", ["-m", "zscope", "--help"]),
        Start("`zscope sql 'select 1'`", command("sql", "select 1"), 1.25),
        Start("`zscope loads`", command("loads")),
        Start("`zscope metrics handshake_mix`", command("metrics", "handshake_mix"), 2.1),
    ]


def table(measured: list[Start]) -> list[tuple[str, ...]]:
    """Return the rows of the report."""
    reference = measured[0].cpu_seconds
    rows: list[tuple[str, ...]] = [("", "CPU s", "x imports", "at most", "")]
    for each in measured:
        seconds = statistics.median(each.cpu_seconds)
        # Each repetition runs all programs one after the other, so its ratio is of the same minute.
        ratio = statistics.median(mine / base for mine, base in zip(each.cpu_seconds, reference, strict=True))
        budget = ("", "") if each.budget is None else (f"{each.budget:.2f}", verdict(ratio <= each.budget))
        rows.append((each.name, f"{seconds:.3f}", f"{ratio:.2f}", *budget))
    return rows


def measure(folder: Path, repetitions: int) -> str:
    """Return the whole report."""
    store = folder / "demo-store"
    # Compiled files of all modules exist after the first run, and the store is in the page cache.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # A store that was kept may have been written by other sources: its catalogue would be out of date.
    arguments = ("store", "rebuild") if store.exists() else ("demo",)
    created = [sys.executable, "-m", "zscope", *arguments, "--store", str(store)]
    subprocess.run(created, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    measured = starts(store)
    for each in measured:
        each.run()
        each.cpu_seconds.clear()
    for repetition in range(repetitions):
        for each in measured:
            each.run()
        print(f"\rrepetition {repetition + 1} of {repetitions}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    facts = [
        f"{measured_here()}, DuckDB {duckdb.__version__}",
        f"{repetitions} repetitions in turn after one that does not count; medians of user and system time",
    ]
    return "\n\n".join((aligned(table(measured)), listed(facts))) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=11, help="repetitions (default: 11)")
    print_and_write(lambda folder, given: measure(folder, given.repeat), parser, "the figures of starts")


if __name__ == "__main__":
    main()
