"""What `ingest` and `nightly` share: how an ingest uses memory, and its outcomes in words."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, IngestReport


MAPPED_FROM = 16 << 20
"""Blocks of memory from this size on are returned to the system when they are freed."""
MOST_ARENAS = 2
"""More threads than this share what they have freed: an area of memory is of use only for its threads."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""The parameters of `mallopt` for both."""


def return_memory_soon() -> None:
    """Let Arrow use the memory of the C library, as numpy does, and return what is freed soon.

    What one has freed the other can use then, without asking the system for more: the allocators of Arrow
    need more time and keep more memory. By default, the C library keeps blocks that are as small as the
    largest one that was freed before.
    """
    import ctypes

    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it
        set_parameter = ctypes.CDLL(None).mallopt
        set_parameter(_M_MMAP_THRESHOLD, MAPPED_FROM)
        set_parameter(_M_ARENA_MAX, MOST_ARENAS)


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
