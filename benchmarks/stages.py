"""Measure the CPU time of the stages of decoding and loading, from inside one process.

For one run, the functions of each stage are replaced by functions that also take the CPU time of their
thread, or of the process if nothing else runs beside the stage. Time in a function of another stage counts
for that stage only. What belongs to no stage is "other".
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_SMF = "zscope.parsers.smf"
_NUMBERS = f"{_SMF}.codecs.numbers_and_times"
_TEXTS = f"{_SMF}.codecs.text_and_addresses"
_COLUMNS = f"{_SMF}.section_columns"
DECODING: Mapping[str, tuple[str, ...]] = {
    "read the file": (f"{_SMF}.walker:FrameReader._fill",),
    "find the records": (
        f"{_SMF}.walker:Walker.walk", f"{_SMF}.walker:FrameReader._window",
        f"{_SMF}.record_batches:record_kinds", f"{_SMF}.record_batches:distinct_kinds",
    ),
    "collect rare kinds": (f"{_SMF}.dump:WindowItems.take", f"{_SMF}.dump:WaitingRecords.add"),
    "locate the sections": (
        f"{_SMF}.sections:RecordGroup.locate", f"{_SMF}.sections:RecordGroup.report_missing_sections",
        f"{_SMF}.coverage:report_uncovered",
    ),
    "copy the fields": tuple(
        f"{_COLUMNS}:{name}" for name in ("gather_fields", "gather_padded", "gather_items")
    ),
    "numbers and times": tuple(
        f"{_NUMBERS}:{name}.decode"
        for name in ("Integer", "HexFloat", "PackedNumber", "PackedSpan", "Hundredths", "PackedTime", "Tod",
                     "TodSpan", "CertTime")
    ),
    "texts and addresses": (
        f"{_TEXTS}:Text.decode", f"{_TEXTS}:variable_texts", f"{_TEXTS}:Mapped.decode",
        f"{_TEXTS}:FirstFour.decode",
    ),
    "hexadecimal texts": (f"{_TEXTS}:Hex.decode",),
    "assemble the batches": (f"{_SMF}.record_batches:TableBuilder.build",),
}  # fmt: skip
_STORE = "zscope.pipelines.store"
_INGEST = "zscope.pipelines.ingest"
LOADING: Mapping[str, tuple[str, ...]] = {
    "decode all columns": (
        f"{_SMF}.walker:FrameReader._fill", f"{_SMF}.walker:FrameReader._window",
        f"{_SMF}.record_batches:record_kinds", f"{_SMF}.record_batches:distinct_kinds",
        f"{_SMF}.dump:WaitingRecords.add", f"{_SMF}.dump:Collector._group", f"{_SMF}.dump:Decoder._decode",
        f"{_SMF}.dump:Inventory.add",
    ),
    "digests of file and records": (
        f"{_STORE}.folder:ContentDigest.update", f"{_SMF}.record_batches:digest_batch",
    ),
    "values as stored": (
        f"{_INGEST}.decoding:stored_rows", f"{_INGEST}.facts:InputFacts.observe_window",
        f"{_INGEST}.facts:InputFacts.observe_rows", f"{_INGEST}.facts:InputFacts.observe_stored",
        f"{_INGEST}.value_checks:RangeChecks.observe",
    ),
    "sort by day": (f"{_STORE}.parquet_files:Stage.add",),
    "write Parquet": (f"{_STORE}.parquet_files:Part.write", f"{_STORE}.parquet_files:Part.close"),
}  # fmt: skip
"""The stages of a load in which several threads can be at work."""
COMMITTING: Mapping[str, tuple[str, ...]] = {
    "settle, find duplicates": (
        f"{_INGEST}.commit_new_rows:LoadBatch.add", f"{_INGEST}.commit_new_rows:LoadBatch.commit",
        f"{_INGEST}.commit_new_rows:remove_duplicates",
    ),
    "commit": (f"{_STORE}.transaction:commit_files",),
    "summaries": (f"{_STORE}.step_computation:update_summaries",),
    "catalogue": (f"{_STORE}.catalogue:publish_catalogue",),
}  # fmt: skip
"""The stages after them: nothing else is at work, so the threads of DuckDB are counted as well."""
OTHER = "other"
TOTAL = "total"


class StageClock(threading.local):
    """The CPU time of each stage in one thread, and the stages whose functions run at the moment."""

    def __init__(
        self, every: list[defaultdict[str, float]], cpu_time: Callable[[], float] = time.thread_time
    ) -> None:
        self._cpu_time = cpu_time
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.running: list[str] = []
        self.since = 0.0
        every.append(self.seconds)

    def change(self, *, into: str | None = None) -> None:
        """Count the time so far for the running stage, and begin another one or go back to the last."""
        now = self._cpu_time()
        if self.running:
            self.seconds[self.running[-1]] += now - self.since
        if into is None:
            self.running.pop()
        else:
            self.running.append(into)
        self.since = now


def stage_seconds(
    stages: Mapping[str, Sequence[str]],
    run: Callable[[], object],
    *,
    alone: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, float]:
    """Return the CPU seconds of each stage of a run, of the rest, and in total.

    While a stage of `alone` runs, no other one does, so it counts the CPU time of all threads.
    """
    every: list[defaultdict[str, float]] = []
    clock = StageClock(every)
    clock_alone = StageClock(every, time.process_time)
    with _watched(stages, clock), _watched(alone or {}, clock_alone):
        begin = time.process_time()
        run()
        total = time.process_time() - begin
    counted = {stage: sum(seconds[stage] for seconds in every) for stage in (*stages, *(alone or {}))}
    return {**counted, OTHER: total - sum(counted.values()), TOTAL: total}


@contextmanager
def _watched(stages: Mapping[str, Sequence[str]], clock: StageClock) -> Iterator[None]:
    with ExitStack() as replaced:
        for stage, names in stages.items():
            for name in names:
                module_name, _, path = name.partition(":")
                owner: Any = import_module(module_name)
                *classes, function_name = path.split(".")
                for class_name in classes:
                    owner = getattr(owner, class_name)
                function = getattr(owner, function_name)
                timed = _timed(function, stage, clock)
                if classes:
                    replaced.enter_context(patch.object(owner, function_name, timed))
                for module in () if classes else tuple(sys.modules.values()):
                    # A function that other modules import by name is replaced in all of them.
                    if getattr(module, "__name__", "").startswith("zscope.") and (
                        vars(module).get(function_name) is function
                    ):
                        replaced.enter_context(patch.object(module, function_name, timed))
        yield


def _timed(function: Callable[..., Any], stage: str, clock: StageClock) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - any function
        clock.change(into=stage)
        try:
            return function(*arguments, **named)
        finally:
            clock.change()

    return timed


def stage_table(columns: Mapping[str, tuple[dict[str, float], int]]) -> list[tuple[str, ...]]:
    """Return rows with CPU seconds per GB: for each stage, of dumps with their seconds and bytes."""
    first, _ = next(iter(columns.values()))
    rows = [("CPU seconds per GB", *columns)]
    for stage in first:
        per_gb = [seconds[stage] / size * 1e9 for seconds, size in columns.values()]
        if max(per_gb) >= LEAST_SHOWN:
            rows.append((stage, *(f"{value:.2f}" for value in per_gb)))
    return rows


LEAST_SHOWN = 0.005
