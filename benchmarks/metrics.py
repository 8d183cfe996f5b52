"""Measure how long metrics take over millions of connections: `make bench-metrics`.

A synthetic world of a week is written and loaded: 1.5 million connections, each with both ends, so that the
store has more than three million of each kind of record. Every metric is computed as by `zscope metrics`.
Every view of the catalogue (the tables, steps and metrics) is queried as in any DuckDB client that opens the
file: its first 1,000 rows, the number of its rows, and its first 1,000 rows for one system and, if it has a
time, for one day. The figures are medians of warm runs. World and store are written to a temporary folder, or
to the folder in ZSCOPE_BENCH_DIR, which is kept.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from figures import aligned, machine, verdict
from working_folder import working_folder

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import declared, metric, metric_names
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue_file import has_summaries, search
from zscope.pipelines.store.parquet_files import data_tables
from zscope.samples.world import MANIFEST, ZONE, WorldRecipe, write_world
from zscope.schemas.sql_text import literal
from zscope.schemas.stored import DAY, stored_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ZSCOPE = Path(sys.executable).with_name("zscope")
LONGEST_ANSWER_S = 1.0
STOPPED_AFTER_S = 60.0
SHOWN_ROWS = 1_000
CONNECTIONS_PER_HOUR = 9_500
REPEATS = 3


def main() -> None:
    """Create the store if necessary, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections-per-hour", type=int, default=CONNECTIONS_PER_HOUR, metavar="N")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N")
    parser.add_argument("--metric", action="append", choices=metric_names(), help="only this one")
    views = (*data_tables(), *declared())
    parser.add_argument("--view", action="append", choices=views, help="only this one")
    options = parser.parse_args()
    everything = not options.metric and not options.view
    with working_folder() as folder:
        store = loaded(folder, WorldRecipe(connections_per_hour=options.connections_per_hour))
        with client(store) as connection:
            [counted] = connection.execute("SELECT count(*) FROM smf119_tcp_term").fetchall()
            print(f"{machine()}, DuckDB {duckdb.__version__}\n{counted[0]:,} connections ended in {store}\n")
        if everything or options.metric:
            print_prepared(store, options.metric or metric_names(), options.repeats)
        if everything or options.view:
            print_views(store, options.view or views, options.repeats)


def loaded(folder: Path, recipe: WorldRecipe) -> Path:
    """Return the store of a world, created if it does not exist."""
    name = f"world-{recipe.connections_per_hour}"
    world, store = folder / name, folder / f"{name}-store"
    if not (store / "zscope.duckdb").exists():
        if not (world / MANIFEST).exists():
            write_world(recipe, world, lambda _: None)
        ingest(
            store, [world], IngestOptions(selection=row_selection(None), settings=Settings().merge([ZONE]))
        )
        # The command also computes the stored rows that depend on runs.
        subprocess.run([ZSCOPE, "runs", "import", world / "runs.toml", "--store", store], check=True)
    return store


def client(store: Path) -> duckdb.DuckDBPyConnection:
    """Open the catalogue as any DuckDB client does."""
    connection = duckdb.connect(store / "zscope.duckdb", read_only=True)
    search(connection)
    return connection


def print_prepared(store: Path, names: Iterable[str], repeats: int) -> None:
    """Measure metrics as the command computes them."""
    rows = [prepared_line(store, name, repeats) for name in names]
    print(aligned([("metric", "rows", "s", "CPU s", f"{LONGEST_ANSWER_S:g} s"), *rows]) + "\n")


def print_views(store: Path, names: Iterable[str], repeats: int) -> None:
    """Measure the uses of views in a DuckDB client."""
    rows = [view_line(store, name, repeats) for name in names]
    uses = (f"first {SHOWN_ROWS:,} s", "number s", "system and day s")
    print(aligned([("view", "rows", *uses, "most CPU s", f"{LONGEST_ANSWER_S:g} s"), *rows]))


def prepared_line(store: Path, name: str, repeats: int) -> tuple[str, ...]:
    """Return a line of the report: a metric, its rows and times."""
    with open_reader(store) as connection:

        def answer() -> int:
            for statement in prepared(metric(name), summarised=has_summaries(connection)):
                connection.execute(statement)
            return len(connection.execute(f"SELECT * FROM {name}").to_arrow_table())

        taken = take(connection, answer, repeats)
    met = verdict(taken.seconds <= LONGEST_ANSWER_S)
    return name, f"{taken.answer:,}", f"{taken.seconds:.2f}", f"{taken.cpu_seconds:.2f}", met


def view_line(store: Path, name: str, repeats: int) -> tuple[str, ...]:
    """Return a line of the report: a view, its rows and the times of its uses."""
    with client(store) as connection:

        def rows(where: str = "") -> int:
            return len(connection.execute(f"SELECT * FROM {name} {where} LIMIT {SHOWN_ROWS}").fetchall())

        def number() -> int:
            [[counted]] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
            return int(counted)

        times = [take(connection, rows, repeats), take(connection, number, repeats)]
        if conditions := list(narrow(connection, name)):
            where = f"WHERE {' AND '.join(conditions)}"
            times.append(take(connection, lambda: rows(where), repeats))
    shown = [f"{each.seconds:.2f}" for each in times] + [""] * (3 - len(times))
    met = verdict(max(each.seconds for each in times) <= LONGEST_ANSWER_S)
    return name, f"{times[1].answer:,}", *shown, f"{max(each.cpu_seconds for each in times):.2f}", met


def narrow(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    """Yield the conditions for one system on one day, as far as a view has these columns."""
    [[system, begin]] = connection.execute(_BUSIEST).fetchall()
    if name in declared():
        columns = {column.name for column in declared()[name].view_columns}
        clock = declared()[name].clock
    else:
        columns, clock = {*stored_schema(name).names, DAY.name}, ""
    if "system" in columns:
        yield f"system = {literal(system)}"
    if clock in columns:
        yield f"{clock} >= TIMESTAMPTZ '{begin} 00:00:00Z'"
        yield f"{clock} < TIMESTAMPTZ '{begin} 00:00:00Z' + INTERVAL 24 HOUR"
    elif DAY.name in columns:
        yield f"day = DATE '{begin}'"


_BUSIEST = """
SELECT system, min(hour_utc)::DATE + 3
FROM handshake_hour
GROUP BY system
ORDER BY sum(handshakes) DESC, system
LIMIT 1
"""


@dataclass(frozen=True)
class Taken:
    """What a query answered, and its median times after a first run."""

    answer: int
    seconds: float
    cpu_seconds: float


def take(connection: duckdb.DuckDBPyConnection, answer: Callable[[], int], repeats: int) -> Taken:
    """Measure what answers; an answer that takes very long is stopped, and counts as that long."""
    number = 0
    times: list[tuple[float, float]] = []
    for _ in range(repeats + 1):
        start, cpu = time.perf_counter(), time.process_time()
        stop = threading.Timer(STOPPED_AFTER_S, connection.interrupt)
        stop.start()
        try:
            number = answer()
        except duckdb.InterruptException:
            return Taken(number, STOPPED_AFTER_S, time.process_time() - cpu)
        finally:
            stop.cancel()
        times.append((time.perf_counter() - start, time.process_time() - cpu))
    measured = times[1:]
    return Taken(
        number,
        statistics.median(seconds for seconds, _ in measured),
        statistics.median(seconds for _, seconds in measured),
    )


if __name__ == "__main__":
    main()
