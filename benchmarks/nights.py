"""Measure what one more night costs in a store that has many: `make bench-nights`.

Each night a dump of the day before is loaded: the measured ones by a process of their own, as a nightly
batch does, the others by a process for up to ten. Some nights have records of an earlier day, some repeat
the dump of the night before; one load is removed, and the store is compacted once. The dumps are synthetic
and seeded, with distinct records of two systems. The first table has the cost of loads after so many
nights: CPU seconds (user and system) and waiting, the median of five loads in a row. After each of them the
second night is loaded again into a copy of the store of one night: the baseline, as a machine can be slower
by then. Both stores have summaries from the first night on, which small stores by default have not: so both
loads do the same, and the ratio shows what the other nights of the store add. The second table has what the
store is like then, and how long plain DuckDB needs for three metrics.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
from figures import aligned, listed, measured_here, print_and_write, verdict

from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import existing_store
from zscope.samples import Recipe, RecordKind, generate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ZSCOPE = Path(sys.executable).with_name("zscope")
MEASURED = (2, 50, 100, 200, 400, 700)
WITH_NOTES = 4
"""Exit code of a load with issues: the synthetic records of z/OS 3.2 have a longer section."""
TOGETHER = 10
"""Nights between the measured ones that a process loads."""
IN_A_ROW = 5
"""Loads whose median is shown: those around the measured night."""
MOST = 1.5
"""Target: the last measured load against the first, in CPU seconds."""
SUMMARIES_ALWAYS = "[store]\nsummarise_from_rows = 0\n"
"""Settings of the stores."""
FIRST_DAY = datetime(2024, 1, 8, tzinfo=UTC)
LATE_EVERY, REPEATED_EVERY = 20, 25
METRICS = ("handshake_mix", "protocol_distribution", "cpu_per_transaction")
MIX = {
    RecordKind.ZERT_DETAIL: 0.62,
    RecordKind.ZERT_SUMMARY: 0.04,
    RecordKind.TCP_TERM: 0.25,
    RecordKind.FTP_SERVER: 0.02,
    RecordKind.TN3270_TERM: 0.03,
    RecordKind.RMF_CPU: 0.04,
}


class Cost(NamedTuple):
    """What a process needed."""

    cpu_s: float
    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class StoreFigures:
    """What the store is like after some nights."""

    night: int
    files: int
    catalogue_bytes: int
    opening_s: float
    metrics_s: tuple[float, ...]


def run(*arguments: str) -> Cost:
    """Run zscope and return what it cost; a failure ends the benchmark."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        [ZSCOPE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, WITH_NOTES}:
        raise SystemExit(f"zscope {' '.join(arguments)}: exit code {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss * 1024)


class Nights:
    """A store into which one night after the other is loaded."""

    def __init__(self, folder: Path, records: int) -> None:
        self._folder = folder
        self._records = records
        self.store = folder / "store"
        self._one_night = folder / "one-night"
        for store in (self.store, self._one_night):
            shutil.rmtree(store, ignore_errors=True)

    def load(self, nights: Sequence[int], *, plain: bool) -> Cost:
        """Load the dumps of some nights; unless they are `plain`, some have late or repeated records too."""
        files = []
        for night in nights:
            files.append(self._dump(night, self._records, night))
            if not plain and night % LATE_EVERY == 0:
                files.append(self._dump(night - 3, self._records // 20, 1_000_000 + night))
            if not plain and night % REPEATED_EVERY == 0 and night - 1 not in nights:
                files.append(self._dump(night - 1, self._records, night - 1))
        cost = _ingest(files, self.store)
        if not self._one_night.exists():
            (self.store / "zscope.toml").write_text(SUMMARIES_ALWAYS)
            run("store", "rebuild", "--store", str(self.store))
            shutil.copytree(self.store, self._one_night)
        return cost

    def load_second(self) -> Cost:
        """Load the second night into a copy of the store that has the first."""
        copy = self._folder / "second"
        shutil.copytree(self._one_night, copy)
        cost = _ingest([self._dump(2, self._records, 2)], copy)
        shutil.rmtree(copy)
        return cost

    def _dump(self, night: int, records: int, seed: int) -> Path:
        path = self._folder / f"night-{seed}.smf"
        day = FIRST_DAY + timedelta(days=night)
        recipe = replace(Recipe(records=records, seed=seed, mix=MIX), start=day, end=day + timedelta(days=1))
        with path.open("wb") as out:
            generate(recipe, out)
        return path

    def figures(self, night: int) -> StoreFigures:
        """Measure the store."""
        catalogue = self.store / "zscope.duckdb"
        # In another process: the peak memory of a process begins with that of the one that starts it.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            opening, times = pool.submit(_answers, catalogue).result()
        files = len(read_state(existing_store(self.store)).files)
        return StoreFigures(night, files, catalogue.stat().st_size, opening, times)


def _ingest(files: list[Path], store: Path) -> Cost:
    """Load files, and delete them."""
    cost = run("ingest", *map(str, files), "--store", str(store), "--timezone", "+01:00", "-q")
    for file in files:
        file.unlink()
    return cost


def _answers(catalogue: Path) -> tuple[float, tuple[float, ...]]:
    """Return the CPU seconds to open the catalogue in plain DuckDB, and for all rows of some metrics."""
    begin = time.process_time()
    connection = duckdb.connect(str(catalogue), read_only=True)
    connection.execute("SELECT count(*) FROM load").fetchall()
    opening = time.process_time() - begin
    times = []
    with connection:
        for metric in METRICS:
            begin = time.process_time()
            connection.execute(f"SELECT * FROM {metric}").fetchall()
            times.append(time.process_time() - begin)
    return opening, tuple(times)


def measure(folder: Path, nights: int, records: int) -> str:
    """Load all nights and return the report."""
    series = Nights(folder, records)
    measured = [night for night in MEASURED if night <= nights]
    around = {night: {max(2, night - 2) + number for number in range(IN_A_ROW)} for night in measured}
    costs: dict[int, Cost] = {}
    each_s: dict[int, float] = {}
    """CPU seconds of a night in a load of several."""
    second: dict[int, Cost] = {}
    figures: list[StoreFigures] = []
    removed = compacted = None
    removes_at, compacts_at = nights // 5 + 3, nights // 2 + 5
    alone = {1, removes_at, compacts_at, *(night for those in around.values() for night in those)}
    total = max(max(measured) + IN_A_ROW, nights)
    for group in _groups(total, alone):
        night = group[-1]
        plain = any(night in those for those in around.values())
        cost = series.load(group, plain=plain)
        if len(group) == 1:
            costs[night] = cost
        else:
            each_s[night] = cost.cpu_s / len(group)
        if plain:
            second[night] = series.load_second()
        if night == removes_at:
            removed = run("loads", "remove", str(night // 2), "--store", str(series.store))
        if night == compacts_at:
            compacted = run("store", "compact", "--store", str(series.store))
        if night in measured:
            figures.append(series.figures(night))
        print(f"\rnight {night}: {cost.cpu_s:.2f} CPU s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    loads: list[tuple[str, ...]] = [
        ("load", "CPU time (s)", "elapsed (s)", "baseline CPU time (s)", "CPU time / baseline", "peak memory")
    ]
    last = 0.0
    for night in measured:
        some = [costs[other] for other in sorted(around[night])]
        cpu = statistics.median(cost.cpu_s for cost in some)
        baseline = statistics.median(second[other].cpu_s for other in sorted(around[night]))
        last = cpu / baseline
        seconds = statistics.median(cost.seconds for cost in some)
        peak = max(cost.peak_bytes for cost in some)
        loads.append(
            (
                str(night),
                f"{cpu:.2f}",
                f"{seconds:.2f}",
                f"{baseline:.2f}",
                f"{last:.2f}",
                f"{peak / 1e6:,.0f} MB",
            )
        )
    stores: list[tuple[str, ...]] = [("night", "data files", "catalogue", "opening, CPU s", *METRICS)]
    stores += [
        (
            str(each.night), f"{each.files:,}", f"{each.catalogue_bytes / 1e6:.1f} MB",
            f"{each.opening_s:.3f}", *(f"{seconds:.2f}" for seconds in each.metrics_s),
        )
        for each in figures
    ]  # fmt: skip
    slowest = max(costs, key=lambda night: costs[night].cpu_s)
    target = verdict(last <= MOST)
    facts = [
        f"{measured_here()}, DuckDB {duckdb.__version__}",
        f"{total} nights of {records:,} records",
        f"target: the last measured load costs at most {MOST} times the baseline, in CPU seconds ({target})",
        f"the most expensive measured load was night {slowest}, with {costs[slowest].cpu_s:.2f} CPU s",
    ]
    if removed and compacted:
        facts.append(f"removal of a load: {removed.cpu_s:.2f} CPU s; compaction: {compacted.cpu_s:.2f} CPU s")
    return aligned(loads) + "\n\n" + _curve(each_s) + "\n\n" + aligned(stores) + "\n\n" + listed(facts) + "\n"


def _curve(each_s: dict[int, float], width: int = 60, groups: int = 20) -> str:
    """Draw the CPU seconds of a night as bars: each is the median of some loads."""
    nights = sorted(each_s)
    size = max(1, -(-len(nights) // groups))
    medians = [
        (nights[at], statistics.median(each_s[night] for night in nights[at : at + size]))
        for at in range(0, len(nights), size)
    ]
    most = max(cpu for _, cpu in medians)
    lines = [f"to {night:>4} {'#' * round(width * cpu / most)} {cpu:.2f}" for night, cpu in medians]
    return "```text\n" + "\n".join(lines) + "\n```"


def _groups(nights: int, alone: set[int]) -> Iterator[list[int]]:
    """Divide the nights into groups for one process each: some are alone."""
    group: list[int] = []
    for night in range(1, nights + 1):
        if group and (night in alone or group[-1] in alone or len(group) == TOGETHER):
            yield group
            group = []
        group.append(night)
    yield group


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=re.sub(r"\s+", " ", __doc__ or ""))
    parser.add_argument("--nights", type=int, default=max(MEASURED), help="nights (default: %(default)s)")
    parser.add_argument("--records", type=int, default=12_000, help="of each night (default: %(default)s)")
    print_and_write(
        lambda folder, given: measure(folder, given.nights, given.records),
        parser,
        "the figures of nights",
    )


if __name__ == "__main__":
    main()
