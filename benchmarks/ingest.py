"""Measure how fast dumps are loaded into a store, compared with a loop that writes Parquet: `make
bench-ingest`.

All cases are measured in one run, in turn, several times; the figures are medians. The synthetic dumps and
the stores are written to a temporary folder, or to the folder in ZSCOPE_BENCH_DIR, which is kept.
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
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import duckdb
import struct_loop
from dumps import (
    MIXED_BYTES,
    ZERT_RECORDS,
    Dump,
    first_records,
    many_mixed_dump,
    many_zert_dump,
    mixed_dump,
    odd_dump,
    zert_dump,
)
from figures import aligned, machine, verdict, write_between
from measure import Case, disturbance, peak_of, take_times
from stages import LOADING, TOTAL, stage_seconds, stage_table
from working_folder import working_folder

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import empty_catalogue
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.transaction import changing

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- begin of the ingest figures -->\n", "<!-- end of the ingest figures -->\n"
LOOP = "struct loop to Parquet"
LOOP_BYTES = 10_000_000
"""A batch of the loop, whose time per record is constant."""
ZONE = "Europe/Berlin"
"""Time zone of the systems, so that local times are converted to UTC."""
ZSCOPE = Path(sys.executable).with_name("zscope")
MEMORY_LIMIT = 800_000_000
LARGEST_STORE = 0.35
"""Maximum size of the store relative to the dump."""
LONGEST_ANSWER_S = 0.3
STAGE_RUNS = 3
"""The stages are those of the run with the least CPU time."""
ANSWERS = 9
"""Number of measurements of the query."""

_INGEST = """
from zscope.app.cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
"""
HANDSHAKE_MIX = """
SELECT
    system,
    date_trunc('hour', written_local) AS hour,
    CASE handshake_role WHEN 1 THEN remote_port ELSE local_port END AS port,
    job_name,
    handshake_role,
    count(*) FILTER (WHERE handshake_type = 1) AS complete,
    count(*) FILTER (WHERE handshake_type = 2) AS abbreviated,
    count(*) FILTER (WHERE handshake_type = 3) AS failed,
    count(*) FILTER (WHERE handshake_type IS NULL OR handshake_type NOT IN (1, 2, 3)) AS unknown
FROM smf119_zert_detail
GROUP BY ALL
"""


@dataclass(frozen=True)
class Target:
    """A target: a multiple of the loop, or bytes per second."""

    times: float = 0.0
    rate: float = 0.0

    def shown(self, rate: float, loop: float) -> tuple[str, str]:
        """Return the target, and whether it is met."""
        if self.times:
            return f"{self.times:.0f} x loop", verdict(rate >= self.times * loop)
        return f"{self.rate / 1e6:,.0f} MB/s", verdict(rate >= self.rate)


ZERT, MIXED, AGAIN = Target(times=8), Target(rate=700e6), Target(rate=1e9)

NEVER = 10**12
"""More rows than any dump has, to disable summaries, which are timed separately."""


@dataclass(frozen=True)
class Subject:
    """A dump and the store it is loaded into."""

    name: str
    dump: Dump
    target: Target

    @property
    def store(self) -> Path:
        """Created again for each run."""
        return self.dump.path.with_suffix(".store")

    def fresh(self) -> None:
        """Replace the store by an empty one."""
        shutil.rmtree(self.store, ignore_errors=True)
        ingest(self.store, [], IngestOptions(selection=row_selection(None)))

    def load(self) -> None:
        """Load the dump in this process."""
        settings = Settings(summarise_from_rows=NEVER).merge([ZONE])
        ingest(self.store, [self.dump.path], IngestOptions(selection=row_selection(None), settings=settings))

    def load_by_process(self) -> None:
        """Load the dump with the command line program, including its start.

        Compiled modules are cached, as for installed programs, but in a folder next to the dump.
        """
        compiled = {"PYTHONPYCACHEPREFIX": str(self.dump.path.parent / "compiled")}
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        command = [str(ZSCOPE), *self._command]
        subprocess.run(command, check=True, capture_output=True, env=environment | compiled)

    @property
    def _command(self) -> list[str]:
        settings = self.dump.path.with_suffix(".toml")
        settings.write_text(f"[store]\nsummarise_from_rows = {NEVER}\n", encoding="utf-8")
        named = ["--store", str(self.store), "--timezone", ZONE, "--settings", str(settings)]
        return ["ingest", str(self.dump.path), *named]

    def cases(self) -> list[tuple[Case, Target]]:
        """Return the timed cases; those named "again" load a file that is already in the store."""
        case = partial(Case, bytes=self.dump.bytes, cores=2)
        return [
            (case(f"{self.name}, ingest()", run=self.load, prepare=self.fresh), self.target),
            (case(f"{self.name}, process", run=self.load_by_process, prepare=self.fresh), self.target),
            (case(f"{self.name} again, ingest()", run=self.load), AGAIN),
            (case(f"{self.name} again, process", run=self.load_by_process), AGAIN),
        ]

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
        catalogue = size - _bytes(self.store / "data")
        return (
            f"{self.name}: {size / self.dump.records:.0f} bytes in the store for each record, {share:.3f} of "
            f"the dump (target: at most {LARGEST_STORE}, {verdict(share <= LARGEST_STORE)}), with "
            f"{catalogue / 1e6:.1f} MB that are catalogue and commits"
        )

    def memory_line(self) -> str:
        """Describe the peak memory of a load."""
        peak = self.memory()
        return (
            f"{self.name}: peak memory {peak / 1e6:,.0f} MB (target: under {MEMORY_LIMIT / 1e6:,.0f} MB, "
            f"{verdict(peak < MEMORY_LIMIT)})"
        )


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check(head: Path) -> None:
    """Compare the rows of the loop and the store, without which their times are meaningless."""
    subject = Subject("", Dump(head, 0), ZERT)
    subject.fresh()
    subject.load()
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


def round_of(
    subjects: list[Subject], head: bytes, repetitions: int
) -> tuple[list[Case], list[tuple[str, ...]]]:
    """Time the loop and some dumps in turn; return the cases and their rows of the report."""
    folder = subjects[0].dump.path.parent
    rows_of_loop = struct_loop.to_parquet(head, folder)
    loop = Case(LOOP, len(head), lambda: struct_loop.to_parquet(head, folder), cores=2)
    timed = [(case, target, subject) for subject in subjects for case, target in subject.cases()]
    measured = [loop, *(case for case, _, _ in timed)]
    take_times(measured, repetitions)
    rows = {subject.name: subject.rows() for subject in subjects}
    lines = [_line(loop, loop, rows_of_loop, None)]
    for case, target, subject in timed:
        lines.append(_line(case, loop, 0 if target is AGAIN else rows[subject.name], target))
    return measured, lines


def _line(case: Case, loop: Case, rows: int, target: Target | None) -> tuple[str, ...]:
    seconds = statistics.median(case.seconds)
    shown = target.shown(case.rate, loop.rate) if target else ("", "")
    rates = (f"{rate / 1e6:,.0f}" for rate in (case.rate, *case.rates))
    rows_a_second = f"{rows / seconds:,.0f}" if rows else ""
    times = f"{case.rate / loop.rate:.1f}"
    return (case.name, f"{seconds:.2f}", rows_a_second, *rates, f"{case.cpu_per_gb:.2f}", times, *shown)


def new_store_line(subject: Subject) -> str:
    """Describe the additional time of the first load into a new store."""
    times = []
    for _ in range(ANSWERS):
        empty_catalogue.cache_clear()  # a process keeps what every catalogue begins with; a command is new
        begin = time.perf_counter()
        subject.fresh()
        times.append(time.perf_counter() - begin)
    return f"once for each store: {statistics.median(times):.2f} s to make it, with its catalogue"


def summaries_line(subject: Subject) -> str:
    """Describe the time for the summaries, which are computed after a load."""
    subject.fresh()
    subject.load()
    begin = time.perf_counter()
    with changing(existing_store(subject.store), Settings(summarise_from_rows=0), print):
        pass
    took = time.perf_counter() - begin
    return (
        f"{subject.name}: {took:.1f} s for the summaries, after the load; they are not in the figures above"
    )


def answer_line(subject: Subject) -> str:
    """Describe the time of a query over all connections."""
    with open_reader(subject.store) as reader:
        case = Case("", 1, partial(_ask, reader), cores=2)
        take_times([case], ANSWERS)
        groups = _ask(reader)
    answer = statistics.median(case.seconds)
    fastest, slowest = min(case.seconds), max(case.seconds)
    return (
        f"{subject.name}: handshake mix over {subject.dump.records:,} records, {groups:,} rows: "
        f"{answer * 1e3:,.0f} ms warm, {fastest * 1e3:,.0f} to {slowest * 1e3:,.0f} (target: under "
        f"{LONGEST_ANSWER_S * 1e3:.0f} ms over 3 million, {verdict(answer < LONGEST_ANSWER_S)})"
    )


def _ask(reader: duckdb.DuckDBPyConnection) -> int:
    return len(reader.execute(HANDSHAKE_MIX).fetchall())


def stages(subjects: list[Subject]) -> list[tuple[str, ...]]:
    """Return the CPU time of each stage of loading a dump into an empty store."""
    columns = {}
    for subject in subjects:
        each = []
        for _ in range(STAGE_RUNS):
            subject.fresh()
            each.append(stage_seconds(LOADING, subject.load))
        columns[subject.name] = (min(each, key=lambda seconds: seconds[TOTAL]), subject.dump.bytes)
    return stage_table(columns)


def measure(folder: Path, options: argparse.Namespace) -> str:
    """Return the whole report."""
    print("writing the dumps", file=sys.stderr)
    zert = zert_dump(folder, options.records)
    odd, mixed = odd_dump(folder, zert), mixed_dump(folder, MIXED_BYTES * options.records // ZERT_RECORDS)
    small = [Subject("zERT", zert, ZERT), Subject("odd", odd, ZERT), Subject("mixed", mixed, MIXED)]
    rounds = [(small, options.repeat)]
    if options.large:
        many = many_zert_dump(folder), many_mixed_dump(folder)
        subjects = [Subject("large zERT", many[0], ZERT), Subject("large mixed", many[1], MIXED)]
        rounds.append((subjects, options.repeat_large))
    part = folder / "head.smf"
    part.write_bytes(first_records(rounds[0][0][0].dump.path, LOOP_BYTES))
    check(part)
    table: list[tuple[str, ...]] = [
        ("", "seconds", "rows/s", "MB/s", "slowest", "fastest", "CPU s/GB", "x loop", "target", "")
    ]
    measured: list[Case] = []
    for subjects, times in rounds:
        cases, lines = round_of(subjects, part.read_bytes(), times)
        measured += cases
        table += lines
    every = [subject for subjects, _ in rounds for subject in subjects]
    largest = rounds[-1][0][0]
    facts = [
        f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, DuckDB {duckdb.__version__}",
        *(f"{subject.name} dump: {subject.dump.describe()}" for subject in every),
        f"repetitions in turn: {' and '.join(str(times) for _, times in rounds)}, medians",
        disturbance(measured),
        answer_line(largest),
        *(subject.size_line() for subject in every),
        *(subject.memory_line() for subject in every),
        *(summaries_line(subject) for subject in every),
        new_store_line(every[0]),
    ]
    tables = aligned(table), aligned(stages(small))
    return "\n\n".join((*tables, "\n".join(f"- {fact}" for fact in facts))) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="repetitions (default: 7)")
    parser.add_argument(
        "--records", type=int, default=ZERT_RECORDS,
        help=f"records of the zERT dump; the mixed dump grows with it (default: {ZERT_RECORDS})",
    )  # fmt: skip
    parser.add_argument("--repeat-large", type=int, default=3, help="of the large dumps (default: 3)")
    parser.add_argument("--no-large", dest="large", action="store_false", help="leave out the large dumps")
    parser.add_argument(
        "--write-docs", action="store_true", help=f"put the figures into docs/{DOCUMENT.name}"
    )
    options = parser.parse_args()
    with working_folder() as folder:
        report = measure(folder, options)
    print(report)
    if options.write_docs:
        write_between(DOCUMENT, BEGIN, END, report)


if __name__ == "__main__":
    main()
