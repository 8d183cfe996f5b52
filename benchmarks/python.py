"""Measure the ways from a dump to other libraries, as ratios of one scan: `make bench-python`."""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import polars as pl
from dumps import zert_dump
from figures import aligned, listed, measured_here, print_and_write
from measure import Case, disturbance, take_times

import zscope.api as zs

if TYPE_CHECKING:
    from dumps import Dump

RECORDS = 100_000
TABLE = "smf119_zert_detail"
COLUMNS = (
    "system", "job_name", "local_port", "tls_version", "cipher", "in_bytes", "out_bytes", "written_local",
    "record_no", "in_segments",
)  # fmt: skip
QUERY = """
SELECT system, sum(in_bytes)::BIGINT AS in_bytes FROM rows
WHERE tls_version = 772 GROUP BY system ORDER BY system
"""


class Ways:
    """The ways to the same sums of a filtered table; all but the first return them."""

    def __init__(self, dump: Dump) -> None:
        self.path = dump.path
        self.selection = f"{TABLE}[{','.join(COLUMNS)}]"
        self.options = zs.ReadOptions(jobs=1)

    def counted(self) -> int:
        """Count the rows of a scan."""
        return sum(batch.rows.num_rows for batch in zs.scan(self.path, self.selection, self.options))

    def streaming(self) -> list[tuple[object, ...]]:
        """Ask polars, which stops decoding records that do not meet the condition."""
        return sums(zs.scan_polars(self.path, TABLE, self.options), "streaming")

    def streaming_all(self) -> list[tuple[object, ...]]:
        """Ask polars over the ten columns as one stream, without what it would push down."""
        return sums(pl.DataFrame(zs.scan(self.path, self.selection, self.options)).lazy(), "streaming")

    def read_first(self) -> list[tuple[object, ...]]:
        """Read all rows, and then ask polars."""
        return sums(pl.DataFrame(zs.read(self.path, self.selection, self.options)[TABLE]).lazy(), "in-memory")

    def stream_into_duckdb(self) -> list[tuple[object, ...]]:
        """Ask DuckDB over the stream."""
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.register("rows", zs.scan(self.path, self.selection, self.options))
            return connection.execute(QUERY).fetchall()


def sums(lazy: pl.LazyFrame, engine: str) -> list[tuple[object, ...]]:
    """Return the sums of the query."""
    rows = lazy.filter(pl.col("tls_version") == 772).group_by("system").agg(pl.col("in_bytes").sum())
    return rows.sort("system").collect(engine="streaming" if engine == "streaming" else "in-memory").rows()


def cases(dump: Dump) -> list[Case]:
    """Return all timed cases, after a comparison of their results."""
    ways = Ways(dump)
    asked = {
        "scan_polars, streaming engine": ways.streaming,
        "scan into polars": ways.streaming_all,
        "read, then polars": ways.read_first,
        "scan into DuckDB": ways.stream_into_duckdb,
    }
    results = {name: way() for name, way in asked.items()}
    expected = next(iter(results.values()))
    if not expected or any(result != expected for result in results.values()):
        raise SystemExit(f"the ways differ: {results}")
    counted = Case("scan, rows counted", dump.bytes, ways.counted)
    return [counted, *(Case(name, dump.bytes, way) for name, way in asked.items())]


def table(measured: list[Case]) -> list[tuple[str, ...]]:
    """Return the rows of the report."""
    counted = measured[0]
    rows: list[tuple[str, ...]] = [("", "MB/s", "CPU s/GB", "time / scan", "CPU / scan")]
    for case in measured:
        # Each repetition runs all cases one after the other, so its ratio is of the same minute.
        ratio = statistics.median(
            mine / base for (mine, _), (base, _) in zip(case.samples, counted.samples, strict=True)
        )
        cpu = statistics.median(
            mine / base for mine, base in zip(case.cpu_seconds, counted.cpu_seconds, strict=True)
        )
        rows.append(
            (case.name, f"{case.rate / 1e6:,.0f}", f"{case.cpu_per_gb:.2f}", f"{ratio:.2f}", f"{cpu:.2f}")
        )
    return rows


def measure(folder: Path, records: int, repetitions: int) -> str:
    """Return the whole report."""
    dump = zert_dump(folder, records)
    measured = cases(dump)
    take_times(measured, repetitions)
    facts = [
        f"{measured_here()}; polars {pl.__version__}, DuckDB {duckdb.__version__}",
        f"zERT dump: {dump.describe()}",
        f"{repetitions} repetitions in turn, medians; the process was kept to one core",
        disturbance(measured),
    ]
    return "\n\n".join((aligned(table(measured)), listed(facts))) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="repetitions (default: 7)")
    parser.add_argument("--records", type=int, default=RECORDS, help=f"records (default: {RECORDS})")
    print_and_write(
        lambda folder, given: measure(folder, given.records, given.repeat),
        parser,
        "the Python figures",
    )


if __name__ == "__main__":
    main()
