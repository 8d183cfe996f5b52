"""Compare bulk loads on a local cluster of Spark with one process, in one run.

`.venv-spark/bin/python benchmarks/spark_loads.py` writes synthetic dumps, or takes those that are named. Both
ways load the same files into a new store, in turn; summaries are left out. The start of Spark is timed apart.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dumps import mixed_dump, zert_dump
from figures import aligned, machine, verdict
from working_folder import working_folder

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.ingest.parallel_load import BulkEngine
from zscope.pipelines.ingest.spark_scheduler import SparkScheduler
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zscope.pipelines.ingest.load import LoadEngine

MASTER = "local-cluster[2,1,1024]"
NEVER = 10**12
OPTIONS = IngestOptions(
    selection=row_selection(None), settings=Settings(summarise_from_rows=NEVER).merge(["Europe/Berlin"])
)
TARGET = 0.7
"""Share of the speed of one process that the bulk load has at least."""
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Processes:
    """CPU time and memory of this process and all that it started, sampled while something runs."""

    cpu: dict[int, float] = field(default_factory=dict)
    peak: int = 0
    """Greatest sum of the resident memory of the Python processes; Java is not in it."""

    def sample(self) -> None:
        """Read the state of all processes below this one."""
        states = {pid: state for pid in _all_pids() if (state := _state(pid))}
        wanted = {os.getpid()}
        while more := {pid for pid, state in states.items() if state[0] in wanted} - wanted:
            wanted |= more
        self.cpu |= {pid: states[pid][1] for pid in wanted if pid in states}
        self.peak = max(self.peak, sum(states[pid][2] for pid in wanted if pid in states and states[pid][3]))


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names suffice


def _state(pid: int) -> tuple[int, float, int, bool] | None:
    """Return parent, CPU seconds, bytes of memory, and whether the process is Python."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    parts = rest.split()
    return int(parts[1]), (int(parts[11]) + int(parts[12])) / _TICKS, int(parts[21]) * _PAGE, "py" in name


@dataclass(frozen=True)
class Run:
    """One load."""

    seconds: float
    cpu: float
    peak: int
    rows: int


def timed(load: Callable[[], object], store: Path) -> Run:
    """Run a load into a new store."""
    shutil.rmtree(store, ignore_errors=True)
    ingest(store, [], OPTIONS)
    before = Processes()
    before.sample()
    during, ended = Processes(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            during.sample()

    thread = threading.Thread(target=watch)
    thread.start()
    begin = time.perf_counter()
    load()
    seconds = time.perf_counter() - begin
    ended.set()
    thread.join()
    during.sample()
    cpu = sum(spent - before.cpu.get(pid, 0.0) for pid, spent in during.cpu.items())
    with open_reader(store) as reader:
        rows = reader.execute("SELECT sum(rows) FROM load").fetchone()
    assert rows is not None
    return Run(seconds, cpu, during.peak, int(rows[0]))


def compare(
    name: str, paths: Sequence[Path], ways: dict[str, LoadEngine | None], folder: Path, repeat: int
) -> list[tuple[str, ...]]:
    """Return the lines of the report for some files."""
    size = sum(path.stat().st_size for path in paths)
    runs: dict[str, list[Run]] = {way: [] for way in ways}
    for number in range(repeat):
        for way, engine in ways.items():
            store = folder / "store"
            runs[way].append(timed(partial(ingest, store, paths, OPTIONS, engine), store))
            shutil.rmtree(store)
            print(f"{name}, {way}, run {number + 1}: {runs[way][-1]}", file=sys.stderr)
    if len({run.rows for each in runs.values() for run in each}) != 1:
        raise SystemExit(f"{name}: the stores have different numbers of rows")
    alone = statistics.median(run.seconds for run in next(iter(runs.values())))
    lines: list[tuple[str, ...]] = []
    for way, each in runs.items():
        seconds = statistics.median(run.seconds for run in each)
        cpu = statistics.median(run.cpu for run in each)
        share = alone / seconds
        lines.append(
            (
                f"{name}, {way}", f"{seconds:.1f}", f"{size / seconds / 1e6:,.0f}", f"{cpu / size * 1e9:.1f}",
                f"{max(run.peak for run in each) / 1e6:,.0f}", f"{share:.2f}",
                verdict(share >= TARGET) if ways[way] else "",
            )
        )  # fmt: skip
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dumps", type=Path, nargs="*", help="dumps to load; by default synthetic ones")
    parser.add_argument("--master", default=MASTER)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--range-mb", type=int, default=256, help="size of the ranges (default: 256)")
    options = parser.parse_args()
    scheduler = SparkScheduler(options.master, {"spark.ui.enabled": "false", "spark.driver.memory": "1g"})
    begin = time.perf_counter()
    scheduler.run("start", _number, [0, 1])
    start = time.perf_counter() - begin
    ways: dict[str, LoadEngine | None] = {
        "one process": None,
        f"{options.master}": BulkEngine(scheduler, options.range_mb << 20),
    }
    table: list[tuple[str, ...]] = [("", "seconds", "MB/s", "CPU s/GB", "peak MB", "x one process", "")]
    with working_folder() as folder:
        groups = {"named files": options.dumps} if options.dumps else {
            "zERT": [zert_dump(folder).path], "mixed": [mixed_dump(folder).path]
        }  # fmt: skip
        for name, paths in groups.items():
            table += compare(name, paths, ways, folder, options.repeat)
    scheduler.close()
    print(aligned(table))
    print(f"- {machine()}; {options.repeat} repetitions in turn, medians; {options.range_mb} MB ranges")
    print(f"- the start of Spark took {start:.1f} s, which is in no figure")


def _number(task: int, _: str) -> int:
    return task


if __name__ == "__main__":
    main()
