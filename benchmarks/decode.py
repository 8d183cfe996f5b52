"""Measure how fast dumps are read and decoded, compared with a plain `struct` loop: `make bench-decode`.

All cases are measured in one run, in turn, several times; the figures are medians. The dumps are synthetic
and are written to a temporary folder, or to the folder in ZSCOPE_BENCH_DIR, which is kept.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import struct_loop
from dumps import Dump, first_records, large_dump, mixed_dump, zert_dump
from figures import aligned, machine, verdict, write_between
from measure import Case, disturbance, memory_copy, peak_memory, take_times
from working_folder import working_folder

from zscope.parsers import ReadOptions, inventory, scan

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- begin of the figures -->\n", "<!-- end of the figures -->\n"
ALL_FIELDS = "smf119_zert_detail,smf119_zert_dn"
TEN_FIELDS = f"smf119_zert_detail[{','.join(struct_loop.TEN_COLUMNS)}]"
LOOP_BYTES = 10_000_000
"""Bytes of the dump for the loop, whose time per record is constant."""
MEMORY_LIMIT = 500_000_000
GROWTH = 1.25
"""Maximum growth of memory for a file twenty times as large; allocators are not exact."""


@dataclass(frozen=True)
class Target:
    """The target of a case: a multiple of the loop, or bytes per second."""

    case: str
    times: float = 0.0
    rate: float = 0.0


TARGETS = (
    Target("all fields, 1 core", times=10),
    Target("all fields, 2 cores", times=15),
    Target("ten columns, 1 core", times=30),
    Target("inventory of the zERT dump", rate=1.5e9),
    Target("mixed dump, type 119, 2 cores", rate=1e9),
)
LOOP = "struct loop, all fields"


def cases(zert: Dump, mixed: Dump) -> list[Case]:
    """Return all timed cases."""
    head = first_records(zert.path, LOOP_BYTES)
    return [
        memory_copy(),
        Case("inventory of the zERT dump", zert.bytes, lambda: inventory(zert.path)),
        Case("inventory of the mixed dump", mixed.bytes, lambda: inventory(mixed.path)),
        Case(LOOP, len(head), lambda: struct_loop.decode(head)),
        Case("struct loop, ten columns", len(head), lambda: struct_loop.decode_ten(head)),
        Case("all fields, 1 core", zert.bytes, _decode(zert, ALL_FIELDS, 1)),
        Case("all fields, 2 cores", zert.bytes, _decode(zert, ALL_FIELDS, 2), cores=2),
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


def table(measured: list[Case]) -> list[tuple[str, ...]]:
    """Return the rows of the report."""
    by_name = {case.name: case for case in measured}
    loop = by_name[LOOP].rate
    targets = {target.case: target for target in TARGETS}
    rows: list[tuple[str, ...]] = [("", "MB/s", "slowest", "fastest", "x loop", "target", "")]
    for case in measured:
        slowest, fastest = case.rates
        times = case.rate / loop
        row = [case.name, *(f"{rate / 1e6:,.0f}" for rate in (case.rate, slowest, fastest)), f"{times:.1f}"]
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


def measure(folder: Path, repetitions: int, *, large: bool) -> str:
    """Return the whole report."""
    print("writing the dumps", file=sys.stderr)
    zert, mixed = zert_dump(folder), mixed_dump(folder)
    check(zert)
    measured = cases(zert, mixed)
    take_times(measured, repetitions)
    dumps = [zert]
    if large:
        print("writing and reading 3 GB for the peak memory (--no-large leaves it out)", file=sys.stderr)
        dumps.append(large_dump(folder, zert))
    facts = [
        f"{datetime.now(UTC):%Y-%m-%d}, {machine()}",
        f"zERT dump: {zert.describe()}",
        f"mixed dump: {mixed.describe()}; type 119 is {_share(mixed, 119):.0%} of the bytes",
        f"{repetitions} repetitions in turn, medians; one core means that the process was kept to one",
        disturbance(measured),
        *memory_lines(dumps),
    ]
    return aligned(table(measured)) + "\n\n" + "\n".join(f"- {fact}" for fact in facts) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15, help="repetitions (default: 15)")
    parser.add_argument("--no-large", dest="large", action="store_false", help="leave out the 3 GB dump")
    parser.add_argument(
        "--write-docs", action="store_true", help=f"put the figures into docs/{DOCUMENT.name}"
    )
    options = parser.parse_args()
    with working_folder() as folder:
        report = measure(folder, options.repeat, large=options.large)
    print(report)
    if options.write_docs:
        write_between(DOCUMENT, BEGIN, END, report)


if __name__ == "__main__":
    main()
