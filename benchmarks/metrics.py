"""Measure how long metrics take over millions of connections: `make bench-metrics`.

A synthetic world of a week is written and loaded: 1.5 million connections, each with both ends, so that the
store has more than three million of each kind of record. Every metric is computed as by `zscope metrics`, and
as the view in the catalogue that any DuckDB client can use. The figures are medians of warm runs. World and
store are written to a temporary folder, or to the folder in ZSCOPE_BENCH_DIR, which is kept.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from figures import aligned, machine, verdict
from working_folder import working_folder

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import metric, metric_names
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue_file import has_summaries
from zscope.samples.world import MANIFEST, ZONE, WorldRecipe, write_world

if TYPE_CHECKING:
    import duckdb

ZSCOPE = Path(sys.executable).with_name("zscope")
LONGEST_ANSWER_S = 2.0
CONNECTIONS_PER_HOUR = 9_500
REPEATS = 3


def main() -> None:
    """Create the store if necessary, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections-per-hour", type=int, default=CONNECTIONS_PER_HOUR, metavar="N")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N")
    parser.add_argument("--metric", action="append", choices=metric_names(), help="only this one")
    options = parser.parse_args()
    with working_folder() as folder:
        store = loaded(folder, WorldRecipe(connections_per_hour=options.connections_per_hour))
        with open_reader(store) as connection:
            [counted] = connection.execute("SELECT count(*) FROM smf119_tcp_term").fetchall()
            print(f"{machine()}\n{counted[0]:,} connections ended in {store}\n")
        names = options.metric or metric_names()
        rows = [measured(store, name, options.repeats) for name in names]
        print(aligned([("metric", "rows", "prepared s", "as a view s", f"{LONGEST_ANSWER_S:g} s"), *rows]))


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


def measured(store: Path, name: str, repeats: int) -> tuple[str, ...]:
    """Return a line of the report: a metric, its rows and times."""
    rows, seconds = take(store, name, repeats, ready=True)
    _, seconds_of_view = take(store, name, repeats, ready=False)
    met = verdict(seconds <= LONGEST_ANSWER_S)
    return name, f"{rows:,}", f"{seconds:.2f}", f"{seconds_of_view:.2f}", met


def take(store: Path, name: str, repeats: int, *, ready: bool) -> tuple[int, float]:
    """Return the number of rows of a metric, and the median time in seconds after a first run."""
    times: list[float] = []
    rows = 0
    with open_reader(store) as connection:
        for _ in range(repeats + 1):
            start = time.perf_counter()
            if ready:
                prepare(connection, name)
            rows = connection.execute(f"SELECT * FROM {name}").to_arrow_table().num_rows
            times.append(time.perf_counter() - start)
    return rows, statistics.median(times[1:])


def prepare(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run the preparations of `zscope metrics`."""
    for statement in prepared(metric(name), summarised=has_summaries(connection)):
        connection.execute(statement)


if __name__ == "__main__":
    main()
