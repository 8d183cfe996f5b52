"""Measure times side by side: every repetition runs all cases, so disturbances affect all of them."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COPY_BYTES = 1 << 28
DISTURBED = 0.2
"""A run does not count if other processes used more than this share of a core."""
ENOUGH = 3
"""Minimum number of undisturbed runs for a median."""


@dataclass
class Case:
    """A timed case."""

    name: str
    bytes: int
    """Bytes that it processes."""
    run: Callable[[], object]
    cores: int = 1
    prepare: Callable[[], object] | None = None
    """Untimed preparation before each run."""
    samples: list[tuple[float, float]] = field(default_factory=list)
    """Seconds of each run, and the number of cores that other processes used during it."""
    cpu_seconds: list[float] = field(default_factory=list)
    """CPU time of each run, including the processes that it starts."""

    @property
    def undisturbed(self) -> list[float]:
        """Seconds of the undisturbed runs."""
        return [seconds for seconds, others in self.samples if others <= DISTURBED]

    @property
    def seconds(self) -> list[float]:
        """Seconds of the undisturbed runs if there are enough of them, otherwise of all runs."""
        alone = self.undisturbed
        return alone if len(alone) >= ENOUGH else [seconds for seconds, _ in self.samples]

    @property
    def rate(self) -> float:
        """Bytes per second, from the median."""
        return self.bytes / statistics.median(self.seconds)

    @property
    def cpu_per_gb(self) -> float:
        """CPU seconds per GB. Less than its rate, it depends on what else the machine does."""
        return statistics.median(self.cpu_seconds) / self.bytes * 1e9

    @property
    def rates(self) -> tuple[float, float]:
        """The slowest and the fastest rate."""
        return self.bytes / max(self.seconds), self.bytes / min(self.seconds)


def take_times(cases: list[Case], repetitions: int) -> None:
    """Run every case once to warm up, then all of them in turn."""
    for repetition in range(repetitions + 1):
        for case in cases:
            if case.prepare:
                case.prepare()
            gc.collect()
            with only_cores(case.cores):
                others, cpu, begin = _cpu_of_others(), _own_cpu(), time.perf_counter()
                case.run()
                seconds = time.perf_counter() - begin
                cpu, others = _own_cpu() - cpu, _cpu_of_others() - others
            if repetition:
                case.samples.append((seconds, others / seconds))
                case.cpu_seconds.append(cpu)
        print(f"\rrepetition {repetition} of {repetitions}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def disturbance(measured: list[Case]) -> str:
    """Describe how much other processes interfered."""
    runs = sum(len(case.samples) for case in measured)
    left_out = runs - sum(len(case.undisturbed) for case in measured)
    hopeless = [case.name for case in measured if len(case.undisturbed) < ENOUGH]
    text = f"runs left out because other processes took more than {DISTURBED} of a core: {left_out} of {runs}"
    return text + (f"; disturbed throughout: {', '.join(hopeless)}" if hopeless else "")


def _cpu_of_others() -> float:
    """Return the CPU seconds of other processes so far; 0 if the system does not provide them."""
    totals = Path("/proc/stat")
    if not totals.exists():
        return 0.0
    fields = totals.read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _waiting, *interrupts = (int(field) for field in fields)
    total = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
    return total - _own_cpu()


def _own_cpu() -> float:
    """Return the CPU seconds of this process and of ended processes that it started."""
    ours = os.times()
    return time.process_time() + ours.children_user + ours.children_system


@contextmanager
def only_cores(count: int) -> Iterator[None]:
    """Restrict this process to some cores, if the system supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def memory_copy() -> Case:
    """Return a case that copies memory: the upper limit for everything that reads and writes bytes."""
    source, target = np.ones(COPY_BYTES, np.uint8), np.zeros(COPY_BYTES, np.uint8)
    return Case("memory copy", COPY_BYTES, lambda: np.copyto(target, source))


# What the system calls the peak of a process includes that of the one that started it, before the new
# program was loaded; Linux has a figure without it.
_SCAN = """
import sys
from zscope.parsers import ReadOptions, scan
options = ReadOptions(jobs=int(sys.argv[3]))
sum(batch.rows.num_rows for batch in scan(sys.argv[1], sys.argv[2], options=options))
"""
_PEAK = """
import pathlib, resource, sys
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
status = pathlib.Path("/proc/self/status")
for line in status.read_text().splitlines() if status.exists() else []:
    if line.startswith("VmHWM:"):
        peak = 1024 * int(line.split()[1])
print(peak)
"""


def peak_memory(path: Path, select: str, jobs: int) -> int:
    """Return the peak memory of a new process that reads a whole file."""
    return peak_of(_SCAN, str(path), select, str(jobs))


def peak_of(code: str, *arguments: str) -> int:
    """Return the peak memory of a new process that runs some code."""
    done = subprocess.run(
        [sys.executable, "-c", code + _PEAK, *arguments], check=True, capture_output=True, text=True
    )
    return int(done.stdout.splitlines()[-1])
