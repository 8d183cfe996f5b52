"""Measure how fast dumps are read and decoded, compared with a plain `struct` loop: `make bench-decode`.

All cases are measured in one run, in turn, several times; the figures are medians. The dumps are synthetic
and are written to a temporary folder, or to the folder in ZSCOPE_BENCH_DIR, which is kept.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import struct_loop
from dumps import MIXED_BYTES, ZERT_RECORDS, Dump, first_records, large_dump, mixed_dump, odd_dump, zert_dump
from figures import aligned, listed, measured_here, print_and_write, verdict
from measure import Case, disturbance, memory_copy, peak_memory, take_times
from stages import DECODING, TOTAL, stage_seconds, stage_table

from zscope.parsers import ReadOptions, inventory, scan

if TYPE_CHECKING:
    from collections.abc import Callable

ALL_FIELDS = "smf119_zert_detail,smf119_zert_dn"
TEN_FIELDS = f"smf119_zert_detail[{','.join(struct_loop.TEN_COLUMNS)}]"
LOOP_BYTES = 10_000_000
"""Bytes of the dump for the loop, whose time per record is constant."""
MEMORY_LIMIT = 500_000_000
STAGE_RUNS = 3
"""The stages are those of the run with the least CPU time."""
GROWTH = 1.25
"""Maximum growth of memory for a file twenty times as large; allocators are not exact."""


@dataclass(frozen=True)
class Target:
    """The target of a case: a multiple of the loop, or bytes per second."""

    case: str
    times: float = 0.0
    """A multiple of the loop over the same dump."""
    rate: float = 0.0


ODD = "odd dump"
LOOP, ODD_LOOP = "struct loop, all fields", "struct loop, all fields, odd dump"
TARGETS = (
    Target("all fields, 1 core", times=12),
    Target("all fields, odd dump, 1 core", times=12),
    Target("inventory of the zERT dump", rate=1.5e9),
    Target("mixed dump, type 119, 2 cores", rate=1e9),
)


def cases(zert: Dump, odd: Dump, mixed: Dump) -> list[Case]:
    """Return all timed cases."""
    head, odd_head = (first_records(dump.path, LOOP_BYTES) for dump in (zert, odd))
    return [
        memory_copy(),
        Case("inventory of the zERT dump", zert.bytes, lambda: inventory(zert.path)),
        Case("inventory of the mixed dump", mixed.bytes, lambda: inventory(mixed.path)),
        Case(LOOP, len(head), lambda: struct_loop.decode(head)),
        Case("struct loop, ten columns", len(head), lambda: struct_loop.decode_ten(head)),
        Case(ODD_LOOP, len(odd_head), lambda: struct_loop.decode(odd_head)),
        Case("all fields, 1 core", zert.bytes, _decode(zert, ALL_FIELDS, 1)),
        Case("all fields, 2 cores", zert.bytes, _decode(zert, ALL_FIELDS, 2), cores=2),
        Case("all fields, odd dump, 1 core", odd.bytes, _decode(odd, ALL_FIELDS, 1)),
        Case("all fields, odd dump, 2 cores", odd.bytes, _decode(odd, ALL_FIELDS, 2), cores=2),
        Case("ten columns, 1 core", zert.bytes, _decode(zert, TEN_FIELDS, 1)),
        Case("ten columns, 2 cores", zert.bytes, _decode(zert, TEN_FIELDS, 2), cores=2),
        Case("mixed dump, type 119, 1 core", mixed.bytes, _decode(mixed, "119", 1)),
        Case("mixed dump, type 119, 2 cores", mixed.bytes, _decode(mixed, "119", 2), cores=2),
    ]


def _decode(dump: Dump, select: str, jobs: int) -> Callable[[], int]:
    def run() -> int:
        return sum(batch.rows.num_rows for batch in scan(dump.path, select, options=ReadOptions(jobs=jobs)))

    return run


def check(zert: Dump) -> None:
    """Compare the rows of the loop and the decoder, without which their times are meaningless."""
    head = first_records(zert.path, LOOP_BYTES)
    part = zert.path.with_suffix(".part")
    part.write_bytes(head)
    details, names = struct_loop.decode(head)
    expected = {
        "smf119_zert_detail": (struct_loop.DETAIL_COLUMNS, details),
        "smf119_zert_dn": (struct_loop.NAME_COLUMNS, names),
    }
    for table, (columns, rows) in expected.items():
        decoded = [
            row
            for batch in scan(part, f"{table}[{','.join(columns)}]")
            for row in zip(*(batch.rows[name].to_pylist() for name in columns), strict=True)
        ]
        if decoded != rows:
            raise SystemExit(f"{table}: the decoder and the struct loop differ on {part}")
    part.unlink()


def times_loop(case: Case, loop: Case) -> float:
    """Return how many times as fast as the loop a case is: on one core by CPU time, which others do not
    affect.
    """
    return loop.cpu_per_gb / case.cpu_per_gb if case.cores == 1 else case.rate / loop.rate


def table(measured: list[Case]) -> list[tuple[str, ...]]:
    """Return the rows of the report."""
    by_name = {case.name: case for case in measured}
    targets = {target.case: target for target in TARGETS}
    rows: list[tuple[str, ...]] = [("", "MB/s", "slowest", "fastest", "CPU s/GB", "x loop", "target", "")]
    for case in measured:
        slowest, fastest = case.rates
        times = times_loop(case, by_name[ODD_LOOP if ODD in case.name else LOOP])
        row = [case.name, *(f"{rate / 1e6:,.0f}" for rate in (case.rate, slowest, fastest))]
        row += [f"{case.cpu_per_gb:.2f}", f"{times:.1f}"]
        target = targets.get(case.name)
        if target is None:
            row += ["", ""]
        elif target.times:
            row += [f"{target.times:.0f} x loop", verdict(times >= target.times)]
        else:
            row += [f"{target.rate / 1e6:,.0f} MB/s", verdict(case.rate >= target.rate)]
        rows.append(tuple(row))
    return rows


def memory_lines(dumps: list[Dump]) -> list[str]:
    """Return the peak memory for files of different size."""
    peaks = [peak_memory(dump.path, ALL_FIELDS, 2) for dump in dumps]
    lines = [
        f"peak memory, {dump.bytes / 1e9:.2f} GB, all fields, 2 cores: {peak / 1e6:,.0f} MB "
        f"(target: under {MEMORY_LIMIT / 1e6:,.0f} MB, {verdict(peak < MEMORY_LIMIT)})"
        for dump, peak in zip(dumps, peaks, strict=True)
    ]
    if len(peaks) > 1:
        grown = peaks[-1] / peaks[0]
        lines.append(f"memory of the largest to the smallest: {grown:.2f} ({verdict(grown <= GROWTH)})")
    return lines


def _share(dump: Dump, record_type: int) -> float:
    """Return the share of a record type in the bytes of a dump."""
    rows = inventory(dump.path).rows.to_pylist()
    counted: int = sum(row["total_bytes"] for row in rows if row["record_type"] == record_type)
    return counted / dump.bytes


def stages(zert: Dump, odd: Dump, mixed: Dump) -> list[tuple[str, ...]]:
    """Return the CPU time of each stage of decoding, in one thread."""
    columns = {}
    for name, dump, select in (("zERT", zert, ALL_FIELDS), (ODD, odd, ALL_FIELDS), ("mixed", mixed, "119")):
        run = _decode(dump, select, 1)
        each = [stage_seconds(DECODING, run) for _ in range(STAGE_RUNS)]
        columns[name] = (min(each, key=lambda seconds: seconds[TOTAL]), dump.bytes)
    return stage_table(columns)


def measure(folder: Path, options: argparse.Namespace) -> str:
    """Return the whole report."""
    print("writing the dumps", file=sys.stderr)
    repetitions: int = options.repeat
    zert = zert_dump(folder, options.records)
    odd, mixed = odd_dump(folder, zert), mixed_dump(folder, MIXED_BYTES * options.records // ZERT_RECORDS)
    check(zert)
    check(odd)
    measured = cases(zert, odd, mixed)
    take_times(measured, repetitions)
    dumps = [zert]
    if options.large:
        print("writing and reading 3 GB for the peak memory (--no-large leaves it out)", file=sys.stderr)
        dumps.append(large_dump(folder, zert))
    facts = [
        f"{measured_here()}",
        f"zERT dump: {zert.describe()}",
        f"odd dump: {odd.describe()}",
        f"mixed dump: {mixed.describe()}; type 119 is {_share(mixed, 119):.0%} of the bytes",
        f"{repetitions} repetitions in turn, medians; one core means that the process was kept to one",
        disturbance(measured),
        *memory_lines(dumps),
    ]
    tables = aligned(table(measured)), aligned(stages(zert, odd, mixed))
    return "\n\n".join((*tables, listed(facts))) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15, help="repetitions (default: 15)")
    parser.add_argument(
        "--records", type=int, default=ZERT_RECORDS,
        help=f"records of the zERT dump; the mixed dump grows with it (default: {ZERT_RECORDS})",
    )  # fmt: skip
    parser.add_argument("--no-large", dest="large", action="store_false", help="leave out the 3 GB dump")
    print_and_write(measure, parser, "the figures")


if __name__ == "__main__":
    main()
