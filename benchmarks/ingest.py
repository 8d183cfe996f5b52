"""Measure what loading a dump into a store costs, compared with decoding it: `make bench-ingest`.

A load is what users get by default: with the summaries that metrics read. All cases are measured in one run,
in turn, several times; the figures are medians. Each is compared with decoding all columns of the same dump,
and with a hand-written loop that writes Parquet. The synthetic dumps and the stores are written to a
temporary folder, or to the folder in ZSCOPE_BENCH_DIR, which is kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

# As the commands do: the threads of BLAS cost more time than they save, and read this when they are loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import duckdb
import struct_loop
from dumps import (
    MIXED_BYTES,
    ZERT_RECORDS,
    Dump,
    decoded_dump,
    first_records,
    mixed_dump,
    odd_dump,
    zert_dump,
)
from figures import aligned, listed, measured_here, print_and_write, verdict
from measure import Case, disturbance, peak_of, take_times
from stages import COMMITTING, LOADING, TOTAL, stage_seconds, stage_table

from zscope.parsers import ReadOptions, inventory, read
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import empty_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOP = "struct loop to Parquet"
LOOP_BYTES = 10_000_000
"""A batch of the loop, whose time per record is constant."""
ZONE = "Europe/Berlin"
"""Time zone of the systems, so that local times are converted to UTC."""
ZSCOPE = Path(sys.executable).with_name("zscope")
MEMORY_LIMIT = 500_000_000
LARGEST_STORE = 0.35
"""Maximum size of the store relative to the dump."""
FASTER_WITH_TWO = 1.6
"""Target: the time of a load with one job relative to that with two."""
AGAIN_RATE = 1e9
"""Target: bytes per second of a file that is in the store already."""
STAGE_RUNS = 3
"""The stages are those of the run with the least CPU time."""
NEW_STORES = 5
"""Number of measurements of a new store."""
NEVER = 10**12
"""More rows than any dump has, to disable summaries."""
WITH_NOTES = 4
"""Exit code of a load with notes."""

_INGEST = f"""
from zscope.app.cli.main import main
try:
    main()
except SystemExit as ended:
    assert ended.code in (0, None, {WITH_NOTES}), ended.code
"""
_READ = """
import sys
import zscope.api as zs
zs.read(sys.argv[1])
"""


@dataclass(frozen=True)
class Subject:
    """A dump, the store it is loaded into, and how much more than decoding that may cost."""

    name: str
    dump: Dump
    budget: float | None = None
    """Maximum CPU time of a load, in multiples of decoding all columns."""
    budget_of_command: float | None = None
    """The same for the commands, with the start of Python."""
    folder: Path | None = None
    """Folder for the store, if it is not that of the dump."""

    @property
    def store(self) -> Path:
        """Created again for each run."""
        return (self.folder or self.dump.path.parent) / f"{self.dump.path.name}.store"

    def fresh(self) -> None:
        """Replace the store by an empty one."""
        shutil.rmtree(self.store, ignore_errors=True)
        ingest(self.store, [], IngestOptions(selection=row_selection(None)))

    def decode(self) -> None:
        """Decode all columns in this process."""
        read(self.dump.path)

    def load(self, jobs: int | None = None, *, summaries: bool = True) -> None:
        """Load the dump in this process."""
        settings = Settings() if summaries else Settings(summarise_from_rows=NEVER)
        options = IngestOptions(
            selection=row_selection(None),
            read_options=ReadOptions(jobs=jobs),
            settings=settings.merge([ZONE]),
        )
        ingest(self.store, [self.dump.path], options)

    def decode_by_process(self) -> None:
        """Decode all columns in a new process."""
        self._run([sys.executable, "-c", _READ, str(self.dump.path)])

    def load_by_process(self, *arguments: str) -> None:
        """Load the dump with the command line program, including its start."""
        self._run([str(ZSCOPE), *self._command, *arguments])

    def _run(self, command: list[str]) -> None:
        """Run a program whose modules are compiled, as for installed programs, but in a folder of its own."""
        compiled = {"PYTHONPYCACHEPREFIX": str(self.store.parent / "compiled")}
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, check=False, capture_output=True, env=environment | compiled)
        if done.returncode not in {0, WITH_NOTES}:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")

    @property
    def _command(self) -> list[str]:
        return ["ingest", str(self.dump.path), "--store", str(self.store), "--timezone", ZONE]

    def cases(self) -> Cases:
        """Return the timed cases."""
        case = partial(Case, bytes=self.dump.bytes, cores=2)
        new = partial(case, prepare=self.fresh)
        return Cases(
            subject=self,
            decode=case(f"{self.name}: decode all columns", run=self.decode),
            load=new(f"{self.name}: load", run=self.load),
            plain=new(f"{self.name}: load, no summaries", run=partial(self.load, summaries=False)),
            decode_process=case(f"{self.name}: decode, process", run=self.decode_by_process),
            load_process=new(f"{self.name}: load, process", run=self.load_by_process),
            again=case(f"{self.name}: load again", run=self.load),
            jobs=(self._with_jobs("1"), self._with_jobs("2")) if self.budget else None,
        )

    def _with_jobs(self, jobs: str) -> Case:
        run = partial(self.load_by_process, "--jobs", jobs)
        return Case(f"{self.name}: load, --jobs {jobs}", self.dump.bytes, run, cores=2, prepare=self.fresh)

    def rows(self) -> int:
        """Return the number of rows in all tables of the store."""
        with open_reader(self.store) as reader:
            stored = reader.execute("SELECT sum(rows) FROM load").fetchone()
        assert stored is not None
        return int(stored[0])

    def memory(self) -> int:
        """Return the peak memory of a load."""
        self.fresh()
        return peak_of(_INGEST, *self._command)

    def size_line(self) -> str:
        """Describe the size of the store."""
        size = _bytes(self.store)
        share = size / self.dump.bytes
        catalogue = size - _bytes(self.store / "data") - _bytes(self.store / "summaries")
        return (
            f"{self.name}: {self.rows():,} rows; {size / self.dump.records:.0f} bytes in the store for each "
            f"record, {share:.3f} of the dump (target: at most {LARGEST_STORE}, "
            f"{verdict(share <= LARGEST_STORE)}), {catalogue / 1e6:.1f} MB of it catalogue and commits"
        )

    def memory_line(self) -> str:
        """Describe the peak memory of a load."""
        peak = self.memory()
        return (
            f"{self.name}: peak memory {peak / 1e6:,.0f} MB (target: at most {MEMORY_LIMIT / 1e6:,.0f} MB, "
            f"{verdict(peak <= MEMORY_LIMIT)})"
        )


@dataclass(frozen=True)
class Cases:
    """The timed cases of a dump; `again` loads a file that is in the store already."""

    subject: Subject
    decode: Case
    load: Case
    plain: Case
    decode_process: Case
    load_process: Case
    again: Case
    jobs: tuple[Case, Case] | None
    """Loads with one and with two jobs."""

    def in_turn(self) -> list[Case]:
        """Return all cases in the order in which they run."""
        return [
            self.decode, self.plain, self.load, self.again, self.decode_process, self.load_process,
            *(self.jobs or ()),
        ]  # fmt: skip

    def lines(self, loop: Case) -> list[tuple[str, ...]]:
        """Return the rows of the report."""
        subject = self.subject
        met = f"{AGAIN_RATE / 1e6:,.0f} MB/s", verdict(self.again.rate >= AGAIN_RATE)
        return [
            _line(self.decode, loop, self.decode),
            _line(self.load, loop, self.decode, subject.budget),
            _line(self.plain, loop, self.decode),
            (*_line(self.again, loop, self.decode)[:-2], *met),
            _line(self.decode_process, loop, self.decode_process),
            _line(self.load_process, loop, self.decode_process, subject.budget_of_command),
            *(_line(case, loop, self.decode_process) for case in self.jobs or ()),
        ]

    def jobs_lines(self) -> Iterator[str]:
        """Describe how much faster two jobs are than one, if that was measured."""
        if self.jobs:
            one, two = (statistics.median(case.seconds) for case in self.jobs)
            yield (
                f"{self.subject.name}: a load with --jobs 2 is {one / two:.2f} times as fast as with "
                f"--jobs 1 (target: at least {FASTER_WITH_TWO}, {verdict(one / two >= FASTER_WITH_TWO)})"
            )


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check(head: Path) -> None:
    """Compare the rows of the loop and the store, without which their times are meaningless."""
    subject = Subject("", Dump(head, 0))
    subject.fresh()
    subject.load(summaries=False)
    details, names = struct_loop.decode(head.read_bytes())
    with open_reader(subject.store) as reader:
        reader.execute("SET TimeZone = 'UTC'")
        for table, columns, expected, order in (
            ("smf119_zert_detail", struct_loop.DETAIL_COLUMNS, details, "record_no"),
            ("smf119_zert_dn", struct_loop.NAME_COLUMNS, names, "record_no, section_no"),
        ):
            query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"
            stored = reader.execute(query).to_arrow_table()
            if list(zip(*(column.to_pylist() for column in stored.columns), strict=True)) != expected:
                raise SystemExit(f"{table}: the store and the struct loop differ on {head}")
    subject.fresh()


def _line(case: Case, loop: Case, decode: Case, budget: float | None = None) -> tuple[str, ...]:
    seconds, cpu = statistics.median(case.seconds), statistics.median(case.cpu_seconds)
    times = cpu / statistics.median(decode.cpu_seconds)
    target = (f"{budget:.1f} x decoding", verdict(times <= budget)) if budget else ("", "")
    figures = (
        f"{seconds:.2f}", f"{cpu:.2f}", f"{case.rate / 1e6:,.0f}", f"{case.cpu_per_gb:.2f}", f"{times:.2f}",
        f"{case.cpu_per_gb / loop.cpu_per_gb:.3f}",
    )  # fmt: skip
    return (case.name, *figures, *target)


def new_store_line(subject: Subject) -> str:
    """Describe the additional time of the first load into a new store."""
    times = []
    for _ in range(NEW_STORES):
        empty_catalogue.cache_clear()  # a process keeps what every catalogue begins with; a command is new
        begin = time.perf_counter()
        subject.fresh()
        times.append(time.perf_counter() - begin)
    return f"once for each store: {statistics.median(times):.2f} s to make it, with its catalogue"


def stages(subjects: list[Subject]) -> list[tuple[str, ...]]:
    """Return the CPU time of each stage of loading a dump into an empty store, with one job."""
    columns = {}
    for subject in subjects:
        each = []
        for _ in range(STAGE_RUNS):
            subject.fresh()
            each.append(stage_seconds(LOADING, partial(subject.load, 1), alone=COMMITTING))
        columns[subject.name] = (min(each, key=lambda seconds: seconds[TOTAL]), subject.dump.bytes)
    return stage_table(columns)


def subjects_in(folder: Path, options: argparse.Namespace) -> list[Subject]:
    """Write the dumps, and return them with those that are named."""
    size = MIXED_BYTES * options.records // ZERT_RECORDS
    zert = zert_dump(folder, options.records)
    subjects = [
        Subject("mixed", decoded_dump(folder, size), budget=3.2),
        Subject("zERT", zert, budget=3.5),
        Subject("odd", odd_dump(folder, zert)),
        Subject("undecoded", mixed_dump(folder, size)),
    ]
    for path in options.dump:
        records = sum(row["records"] for row in inventory(path).rows.to_pylist())
        subjects.append(Subject(path.name, Dump(path, records), budget_of_command=2.2, folder=folder))
    return subjects


def measure(folder: Path, options: argparse.Namespace) -> str:
    """Return the whole report."""
    print("writing the dumps", file=sys.stderr)
    subjects = subjects_in(folder, options)
    head = folder / "head.smf"
    head.write_bytes(first_records(folder / "zert.smf", LOOP_BYTES))
    check(head)
    data = head.read_bytes()
    loop = Case(LOOP, len(data), lambda: struct_loop.to_parquet(data, folder), cores=2)
    cases = [subject.cases() for subject in subjects]
    measured = [loop, *(case for each in cases for case in each.in_turn())]
    take_times(measured, options.repeat)
    heading = ("", "seconds", "CPU s", "MB/s", "CPU s/GB", "x decoding", "x loop", "target", "")
    table = [heading, _line(loop, loop, loop)]
    for each in cases:
        table += each.lines(loop)
    facts = [
        f"{measured_here()}, DuckDB {duckdb.__version__}",
        *(f"{subject.name} dump: {subject.dump.describe()}" for subject in subjects),
        f"repetitions in turn: {options.repeat}, medians",
        disturbance(measured),
        *(line for each in cases for line in each.jobs_lines()),
        *(subject.size_line() for subject in subjects),
        *(subject.memory_line() for subject in subjects),
        new_store_line(subjects[0]),
    ]
    tables = aligned(table), aligned(stages(subjects))
    return "\n\n".join((*tables, listed(facts))) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="repetitions (default: 5)")
    parser.add_argument(
        "--records", type=int, default=ZERT_RECORDS,
        help=f"records of the zERT dump; the other dumps grow with it (default: {ZERT_RECORDS})",
    )  # fmt: skip
    parser.add_argument(
        "--dump", type=Path, action="append", default=[], metavar="FILE",
        help="also measure this dump, such as one of another writer; can be repeated",
    )  # fmt: skip
    print_and_write(measure, parser, "the ingest figures")


if __name__ == "__main__":
    main()
