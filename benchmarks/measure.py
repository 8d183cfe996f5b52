"""Taking times side by side: every repetition runs all cases, so a slow moment of the machine hits them
all.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

COPY_BYTES = 1 << 28
DISTURBED = 0.2
"""With more than so much of a core taken by others, a run does not count."""
ENOUGH = 3
"""So many undisturbed runs make a median."""


@dataclass
class Case:
    """Something that takes time."""

    name: str
    bytes: int
    """What it works on."""
    run: Callable[[], object]
    cores: int = 1
    prepare: Callable[[], object] | None = None
    """What has to be done before each run, and is not timed."""
    samples: list[tuple[float, float]] = field(default_factory=list)
    """Seconds, and how many cores other processes kept busy meanwhile."""

    @property
    def undisturbed(self) -> list[float]:
        """Seconds of the runs that had the machine to themselves."""
        return [seconds for seconds, others in self.samples if others <= DISTURBED]

    @property
    def seconds(self) -> list[float]:
        """What counts: the undisturbed runs, if there are enough of them."""
        alone = self.undisturbed
        return alone if len(alone) >= ENOUGH else [seconds for seconds, _ in self.samples]

    @property
    def rate(self) -> float:
        """Bytes per second, by the median."""
        return self.bytes / statistics.median(self.seconds)

    @property
    def rates(self) -> tuple[float, float]:
        """The slowest and the fastest."""
        return self.bytes / max(self.seconds), self.bytes / min(self.seconds)


def take_times(cases: list[Case], repetitions: int) -> None:
    """Run every case once to warm up, then so many times in turn."""
    for repetition in range(repetitions + 1):
        for case in cases:
            if case.prepare:
                case.prepare()
            gc.collect()
            with only_cores(case.cores):
                others, begin = _cpu_of_others(), time.perf_counter()
                case.run()
                seconds = time.perf_counter() - begin
                others = _cpu_of_others() - others
            if repetition:
                case.samples.append((seconds, others / seconds))
        print(f"\rrepetition {repetition} of {repetitions}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def disturbance(measured: list[Case]) -> str:
    """How far other processes were in the way."""
    runs = sum(len(case.samples) for case in measured)
    left_out = runs - sum(len(case.undisturbed) for case in measured)
    hopeless = [case.name for case in measured if len(case.undisturbed) < ENOUGH]
    text = f"runs left out because other processes took more than {DISTURBED} of a core: {left_out} of {runs}"
    return text + (f"; disturbed throughout: {', '.join(hopeless)}" if hopeless else "")


def _cpu_of_others() -> float:
    """Seconds of processor time that other processes have taken so far; 0 where nobody tells."""
    totals = Path("/proc/stat")
    if not totals.exists():
        return 0.0
    fields = totals.read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _waiting, *interrupts = (int(field) for field in fields)
    everyone = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
    ours = os.times()
    return everyone - time.process_time() - ours.children_user - ours.children_system


@contextmanager
def only_cores(count: int) -> Iterator[None]:
    """Keep this process to so many cores, where the system can do that."""
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
    """How fast this machine copies memory: the ceiling for everything that reads and writes bytes."""
    source, target = np.ones(COPY_BYTES, np.uint8), np.zeros(COPY_BYTES, np.uint8)
    return Case("memory copy", COPY_BYTES, lambda: np.copyto(target, source))


# What the system calls the peak of a process includes that of the one that started it, before the new
# program was loaded; Linux has a figure without it.
_SCAN = """
import sys
from zscope.parsers import scan
sum(batch.rows.num_rows for batch in scan(sys.argv[1], sys.argv[2], jobs=int(sys.argv[3])))
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
    """The most bytes that a process of its own held while it read a file from front to end."""
    return peak_of(_SCAN, str(path), select, str(jobs))


def peak_of(code: str, *arguments: str) -> int:
    """The most bytes that a process of its own held while it ran some code."""
    done = subprocess.run(
        [sys.executable, "-c", code + _PEAK, *arguments], check=True, capture_output=True, text=True
    )
    return int(done.stdout.splitlines()[-1])
