"""What `ingest` and `nightly` share: how an ingest uses memory, and its outcomes in words."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, IngestReport


def return_memory_soon() -> None:
    """Use the allocator of Arrow that returns memory soonest and is not slower; some builds lack it."""
    import pyarrow as pa

    with suppress(NotImplementedError):
        pa.set_memory_pool(pa.jemalloc_memory_pool())


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
