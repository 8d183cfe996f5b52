"""Measure what the publication of Iceberg tables costs after each load: `make bench-publish`.

Each load adds a day to some tables, by the writers of the store, without an input that is decoded; then small
files are merged as after every load, and the tables are published. The rows are synthetic and few, because
publication opens no data file. The times are those of `publish_iceberg` in one process, the median of some
loads in a row; the command adds the start of Python and the import of pyiceberg. With `--grace 0` each load
comes when the grace period of the one before is over, as in a nightly batch.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from figures import aligned, listed, measured_here, print_and_write, verdict

from zscope.pipelines.iceberg.publish import publish_iceberg
from zscope.pipelines.iceberg.published_folder import default_target
from zscope.pipelines.settings import Settings
from zscope.pipelines.store.commits import Commit, Load, State
from zscope.pipelines.store.folder import Folder, make_store, partition
from zscope.pipelines.store.maintenance import merge_after_load
from zscope.pipelines.store.parquet_files import Part, StagedFile, parquet_schema
from zscope.pipelines.store.transaction import commit_files

MEASURED = (10, 200, 1000)
IN_A_ROW = 9
"""Loads whose median is shown: those up to the measured one. Each second or third of them merges files."""
MOST = 2.0
"""Target: the last measured load against the first, in CPU time."""
TABLES = ("smf119_zert_detail", "smf119_tcp_init", "smf119_tcp_term", "smf30_interval", "smf70_cpu")
FIRST_DAY = date(2024, 1, 1)
ROWS = 20


class Cost(NamedTuple):
    """The cost of one publication."""

    seconds: float
    cpu_s: float
    tables: int
    """Tables that changed."""


@dataclass(frozen=True)
class TargetFigures:
    """What the folder of published tables is like after some loads."""

    data_files: int
    metadata_files: int
    metadata_bytes: int
    manifests: int
    """Of the table with most of them."""
    planning_s: float


class Series:
    """A store that gets one load after the other, each of them published."""

    def __init__(self, folder: Path, grace_s: int) -> None:
        self.store = folder / "store"
        self._target = default_target(self.store)
        for path in (self.store, self._target):
            shutil.rmtree(path, ignore_errors=True)
        self._folder: Folder = make_store(self.store)
        self._state = State()
        self._settings = Settings(grace_s=grace_s)

    def load(self, number: int) -> Cost:
        """Commit a load and publish it."""
        before = len(self._state.files)
        _commit(self._folder, self._state, number)
        merge_after_load(self._folder, self._state, before)
        return self.publish()

    def publish(self, *, anew: bool = False) -> Cost:
        """Publish what is committed."""
        started, cpu = time.perf_counter(), time.process_time()
        done = publish_iceberg(self.store, settings=self._settings, anew=anew)
        changed = sum(table.new_snapshots > 0 for table in done.tables)
        return Cost(time.perf_counter() - started, time.process_time() - cpu, changed)

    def figures(self) -> TargetFigures:
        """Return what is published."""
        from pyiceberg.table import StaticTable

        tables = [StaticTable.from_metadata(str(self._target / "zscope" / table)) for table in TABLES]
        manifests = [
            len(snapshot.manifests(table.io)) for table in tables if (snapshot := table.current_snapshot())
        ]
        started = time.perf_counter()
        planned = list(tables[0].scan().plan_files())
        planning = time.perf_counter() - started
        assert planned, "the table has files"
        files = [path for path in self._target.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        return TargetFigures(len(self._state.files), len(files), size, max(manifests), planning)


def _commit(folder: Folder, state: State, number: int) -> None:
    """Commit a load with one day of each table."""
    day = FIRST_DAY + timedelta(days=number)
    staged: list[StagedFile] = []
    for place, table in enumerate(TABLES):
        path = folder.stage / partition(table, day.isoformat()) / f"{number:08}-{place}.parquet"
        part = Part(path, table, day.isoformat(), parquet_schema(table))
        part.write(_rows(table, number, day))
        staged.append(part.close())
    now = datetime.now(UTC).isoformat()
    load = Load(number, f"{number}.smf", (), "smf", "rdw", "", f"{number:032x}", 0, None, now, 0.1)
    commit_files(
        folder,
        state,
        staged,
        lambda files: Commit("load", adds=files, loads=(load,)),
    )


def _rows(table: str, number: int, day: date) -> pa.Table:
    begin = datetime.combine(day, datetime.min.time(), UTC)
    columns = []
    for field in parquet_schema(table):
        if field.name == "load_id":
            column = pa.array([number] * ROWS, field.type)
        elif pa.types.is_timestamp(field.type):
            zone = UTC if field.type.tz else None
            times = [(begin + timedelta(minutes=row)).replace(tzinfo=zone) for row in range(ROWS)]
            column = pa.array(times, field.type)
        elif pa.types.is_integer(field.type):
            column = pa.array(range(ROWS), field.type)
        else:
            column = pa.nulls(ROWS, field.type)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=parquet_schema(table))


def measure(folder: Path, loads: int, grace_s: int) -> str:
    """Load and publish, and return the report."""
    series = Series(folder, grace_s)
    measured = [number for number in MEASURED if number <= loads] or [loads]
    costs: list[Cost] = []
    figures: dict[int, TargetFigures] = {}
    for number in range(1, max(measured) + 1):
        costs.append(series.load(number))
        if number in measured:
            figures[number] = series.figures()
        print(f"\rload {number}: {costs[-1].seconds * 1000:.0f} ms", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    whole = series.publish(anew=True)
    rows: list[tuple[str, ...]] = [
        ("loads", "ms a load", "CPU ms a load", "CPU ms a table", "CPU / first", "data files", "metadata",
         "files of metadata", "manifests of a table", "planning, ms")
    ]  # fmt: skip
    cpu: dict[int, float] = {}
    for number in measured:
        some = costs[max(0, number - IN_A_ROW) : number]
        cpu[number] = statistics.median(cost.cpu_s for cost in some)
        per_table = cpu[number] / statistics.median(cost.tables for cost in some)
        each = figures[number]
        elapsed = statistics.median(cost.seconds for cost in some)
        ratio = cpu[number] / cpu[measured[0]]
        rows.append(
            (
                f"{number:,}", f"{elapsed * 1000:.0f}", f"{cpu[number] * 1000:.0f}",
                f"{per_table * 1000:.1f}", f"{ratio:.2f}", f"{each.data_files:,}",
                f"{each.metadata_bytes / 1e6:.1f} MB",
                f"{each.metadata_files:,}", f"{each.manifests}", f"{each.planning_s * 1000:.0f}",
            )
        )  # fmt: skip
    reached = verdict(cpu[measured[-1]] <= MOST * cpu[measured[0]])
    facts = [
        f"{measured_here()}",
        f"{len(TABLES)} tables, each load changes all of them; grace period {grace_s:,} s",
        f"target: the last measured load costs at most {MOST} times the first, in CPU time ({reached})",
        f"the most expensive publication took {max(cost.seconds for cost in costs) * 1000:.0f} ms",
        f"everything published again after {max(measured):,} loads: {whole.seconds * 1000:.0f} ms",
    ]
    return aligned(rows) + "\n\n" + listed(facts) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=re.sub(r"\s+", " ", __doc__ or ""))
    parser.add_argument("--loads", type=int, default=max(MEASURED), help="loads (default: %(default)s)")
    parser.add_argument("--grace", type=int, default=0, help="grace period in seconds (default: %(default)s)")
    print_and_write(
        lambda folder, given: measure(folder, given.loads, given.grace),
        parser,
        "the figures of publication",
    )


if __name__ == "__main__":
    main()
