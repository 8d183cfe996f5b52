"""Measure loads of small files one after the other, as `zscope watch` does them: `make bench-watch`.

A dump of five minutes of one system is put into a folder, and the next one when it is loaded: 288 are a day.
The dumps are synthetic and seeded. The figures are the CPU seconds (user and system) of the watching process
for each load, its memory, and the Parquet files that the store has. Meanwhile a page of the dashboard is
opened, and a metric is queried by plain DuckDB. In reality five minutes pass between two loads, and files
that a load replaces stay for an hour (`grace_s`): those of the last twelve loads are counted as well.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import select
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from dashboard import served
from figures import aligned, measured_here, verdict
from readers import first_page
from working_folder import working_folder

from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.samples import Recipe, RecordKind, generate
from zscope.samples.dump.recipe import named_systems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.store.commits import State

MIX = {RecordKind.ZERT_DETAIL: 0.62, RecordKind.TCP_TERM: 0.34, RecordKind.RMF_CPU: 0.04}
FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)
MINUTES = 5
WARM_UP, GROUP = 10, 10
"""The first loads, with the imports, are not compared; medians are of so many loads."""
IN_AN_HOUR = 60 // MINUTES
MOST_CPU_S, MOST_RATIO, MOST_FILES, MOST_PAGE_S = 0.8, 1.2, 400, 2.0
"""Targets: of each load, of the last loads against the first, of the store, and of a page."""
METRIC = "handshake_mix"
LONGEST_S = 120.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """What was measured."""

    cpu_s: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)
    """Parquet files that commits list, after each load."""
    replaced: list[int] = field(default_factory=list)
    """Files that each load replaced."""
    page_s: list[float] = field(default_factory=list)
    query_s: list[float] = field(default_factory=list)


class Watching:
    """A running `zscope watch`."""

    def __init__(self, inbox: Path, store: Path) -> None:
        words = ["watch", str(inbox), "--store", str(store), "--timezone", "+01:00"]
        self._process = subprocess.Popen(
            [Path(sys.executable).with_name("zscope"), *words, "--settle", "0", "--every", "1"],
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._said = b""

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(LONGEST_S)

    def wait_for(self, text: bytes) -> None:
        """Wait until the process has printed a text."""
        assert self._process.stderr is not None
        until = time.monotonic() + LONGEST_S
        while text not in self._said:
            if not select.select([self._process.stderr], [], [], until - time.monotonic())[0]:
                raise SystemExit(f"watch did not print {text!r} within {LONGEST_S:g} s")
            if not (piece := self._process.stderr.read(1 << 16)):
                raise SystemExit(f"watch has ended: {self._said.decode()[-500:]}")
            self._said += piece
        self._said = self._said.partition(text)[2]

    def cpu_s(self) -> float:
        """Return the CPU seconds since the process began."""
        text = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / _TICKS

    def memory_mb(self) -> float:
        """Return the memory that the process has now."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE") / 1e6


def dumps(folder: Path, count: int, records: int) -> Iterator[Path]:
    """Write one dump after the other, under a hidden name."""
    for number in range(count):
        start = FIRST_DAY + timedelta(minutes=number * MINUTES)
        recipe = Recipe(records=records, seed=number + 1, mix=MIX, systems=named_systems("SYSA"))
        path = folder / f".part-{number:04}.smf"
        with path.open("wb") as out:
            generate(replace(recipe, start=start, end=start + timedelta(minutes=MINUTES)), out)
        yield path


def measure(folder: Path, count: int, records: int, page_every: int) -> Figures:
    """Load all dumps and return the figures."""
    inbox, store = folder / "watch-in", folder / "watch-store"
    inbox.mkdir()
    figures = Figures()
    with Watching(inbox, store) as watching:
        watching.wait_for(b"loading what arrives")
        earlier: set[str] = set()
        for number, path in enumerate(dumps(inbox, count, records), start=1):
            before = watching.cpu_s()
            path.rename(inbox / path.name.removeprefix("."))
            watching.wait_for(b" rows in ")
            figures.cpu_s.append(watching.cpu_s() - before)
            figures.memory_mb.append(watching.memory_mb())
            files = parquet_files(read_state(existing_store(store)))
            figures.listed.append(len(files))
            figures.replaced.append(len(earlier - files))
            earlier = files
            if number % page_every == 0:
                figures.query_s.append(seconds_of_query(store))
                figures.page_s.append(seconds_of_page(store, folder))
            print(f"\rload {number}: {figures.cpu_s[-1]:.2f} CPU s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return figures


def parquet_files(state: State) -> set[str]:
    """Return the names of the files with rows of tables and of stored steps."""
    return {*state.files, *state.summaries}


def seconds_of_query(store: Path) -> float:
    """Return the time of a metric in plain DuckDB, with the opening of the catalogue."""
    begin = time.perf_counter()
    with duckdb.connect(str(store / "zscope.duckdb"), read_only=True) as connection:
        connection.execute(f"SELECT * FROM {METRIC}").fetchall()
    return time.perf_counter() - begin


def seconds_of_page(store: Path, folder: Path) -> float:
    """Return the time of the first page of the dashboard in a server that has drawn it before."""
    with served(store, folder / "dashboard.log") as address:
        asyncio.run(first_page(address))
        begin = time.perf_counter()
        asyncio.run(first_page(address))
        return time.perf_counter() - begin


def report(figures: Figures, records: int) -> str:
    """Return the figures with their targets."""
    first = statistics.median(figures.cpu_s[WARM_UP : WARM_UP + GROUP])
    last = statistics.median(figures.cpu_s[-GROUP:])
    most = max(figures.cpu_s[WARM_UP:])
    on_disk = [
        listed + sum(figures.replaced[max(0, number - IN_AN_HOUR) : number])
        for number, listed in enumerate(figures.listed, start=1)
    ]
    files, ratio = figures.listed[-1], last / first
    memory = f"{figures.memory_mb[:20][-1]:.0f}, {figures.memory_mb[-1]:.0f}"
    rows: list[tuple[str, ...]] = [
        ("", "measured", "target", ""),
        (f"loads {WARM_UP + 1} to {WARM_UP + GROUP}, CPU s each", f"{first:.2f}", "", ""),
        (f"last {GROUP} loads, CPU s each", f"{last:.2f}", f"{MOST_CPU_S:g}", verdict(last <= MOST_CPU_S)),
        ("last loads / first loads", f"{ratio:.2f}", f"{MOST_RATIO:g}", verdict(ratio <= MOST_RATIO)),
        ("most expensive load, CPU s", f"{most:.2f}", "", ""),
        ("Parquet files at the end", f"{files}", f"{MOST_FILES}", verdict(files <= MOST_FILES)),
        ("most Parquet files", f"{max(figures.listed)}", "", ""),
        ("with those replaced in an hour", f"{on_disk[-1]}", "", ""),
        ("memory after load 20, at the end, MB", memory, "", ""),
    ]
    if figures.page_s:
        page, query = statistics.median(figures.page_s), statistics.median(figures.query_s)
        met = verdict(page <= MOST_PAGE_S)
        rows += [
            ("first page of the dashboard, s", f"{page:.2f}", f"{MOST_PAGE_S:g}", met),
            (f"{METRIC} in plain DuckDB, s", f"{query:.2f}", "", ""),
        ]
    facts = f"- {measured_here()}, DuckDB {duckdb.__version__}\n"
    return f"{aligned(rows)}\n\n{facts}- {len(figures.cpu_s)} loads of {records} records\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=re.sub(r"\s+", " ", __doc__ or ""))
    parser.add_argument("--loads", type=int, default=24 * IN_AN_HOUR, help="loads (default: %(default)s)")
    parser.add_argument("--records", type=int, default=225, help="of each dump (default: %(default)s)")
    parser.add_argument(
        "--page-every", type=int, default=48, help="loads between pages (default: %(default)s)"
    )
    options = parser.parse_args()
    with working_folder() as folder:
        figures = measure(folder, options.loads, options.records, options.page_every)
    print(report(figures, options.records))


if __name__ == "__main__":
    main()
