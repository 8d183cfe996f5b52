"""What `ingest` and `nightly` share: how an ingest uses memory, and its outcomes in words."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, IngestReport


MAPPED_FROM = 4 << 20
"""Blocks of memory from this size on are returned to the system when they are freed."""
_M_MMAP_THRESHOLD = -3
"""The parameter of `mallopt` for this size."""


def return_memory_soon() -> None:
    """Return memory to the system soon, where it can be chosen.

    Of the allocators of Arrow, use the one that returns it soonest and is not slower; some builds lack it. By
    default, the C library keeps blocks that are as small as the largest one that was freed before.
    """
    import ctypes

    import pyarrow as pa

    with suppress(NotImplementedError):
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, MAPPED_FROM)


def return_memory_now() -> None:
    """Give back the memory that a load has freed: between loads, a long-running process needs little.

    Only the C library of most Linux systems has to be told.
    """
    import ctypes

    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def describe_outcome(outcome: FileOutcome) -> str:
    """Return a line about an input that is done."""
    from zscope.pipelines.ingest.options_and_outcomes import FileStatus

    load, note = outcome.load, outcome.note
    if outcome.status is FileStatus.LOADED and load:
        note = f"load {load.load_id}, {load.records:,} records, {load.rows:,} rows, {load.seconds:,.1f} s"
        note += f", {load.duplicates:,} duplicates" if load.duplicates else ""
    return f"{outcome.file}: {outcome.status.value}{f', {note}' if note else ''}"


def describe_report(report: IngestReport, store: Path) -> str:
    """Return a line with the numbers of an ingest."""
    from zscope.pipelines.ingest.options_and_outcomes import FileStatus

    counts = {status.value: report.count(status) for status in FileStatus}
    done = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()) if count)
    rows = sum(load.rows for load in report.loads)
    ending = "" if report.committed else " (dry run: nothing was stored)"
    return f"{store}: {done}; {rows:,} rows in {report.seconds:,.1f} s{ending}"
