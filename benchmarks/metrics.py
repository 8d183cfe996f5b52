"""How long metrics take over millions of connections: `make bench-metrics`.

A synthetic world of a week is written and loaded: a million connections and a half, each on both its ends, so
that the store has more than three million of each kind of record. Every metric is then asked as `zscope
metrics` does it, and as the view of the catalogue that any DuckDB client sees. The figures are medians of
warm runs. World and store are written into a temporary folder, or the one that ZSCOPE_BENCH_DIR names, where
they stay.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from figures import aligned, machine, verdict
from working_folder import working_folder

from zscope.parsers.synthetic.world import MANIFEST, ZONE, WorldRecipe, write_world
from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.metrics import metric, metric_names
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.summaries import has_summaries

if TYPE_CHECKING:
    import duckdb

LONGEST_ANSWER_S = 2.0
CONNECTIONS_PER_HOUR = 9_500
REPEATS = 3


def main() -> None:
    """Build what is not there, measure, print."""
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
    """The store of a world, made if it is not there."""
    name = f"world-{recipe.connections_per_hour}"
    world, store = folder / name, folder / f"{name}-store"
    if not (store / "zscope.duckdb").exists():
        if not (world / MANIFEST).exists():
            write_world(recipe, world, lambda _: None)
        ingest(store, [world], How(choose(None), settings=Settings().merge([ZONE])))
    shutil.copyfile(world / "runs.toml", store / "runs.toml")
    return store


def measured(store: Path, name: str, repeats: int) -> tuple[str, ...]:
    """A line of the result: a metric, its rows, how long it took."""
    rows, asked = take(store, name, repeats, ready=True)
    _, bare = take(store, name, repeats, ready=False)
    told = verdict(asked <= LONGEST_ANSWER_S)
    return name, f"{rows:,}", f"{asked:.2f}", f"{bare:.2f}", told


def take(store: Path, name: str, repeats: int, *, ready: bool) -> tuple[int, float]:
    """The rows of a metric, and the median time in seconds after a first run."""
    times: list[float] = []
    rows = 0
    with open_reader(store) as connection:
        for _ in range(repeats + 1):
            begun = time.perf_counter()
            if ready:
                prepare(connection, name)
            rows = connection.execute(f"SELECT * FROM {name}").to_arrow_table().num_rows
            times.append(time.perf_counter() - begun)
    return rows, statistics.median(times[1:])


def prepare(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """What `zscope metrics` does before it asks."""
    for statement in prepared(metric(name), summarised=has_summaries(connection)):
        connection.execute(statement)


if __name__ == "__main__":
    main()
