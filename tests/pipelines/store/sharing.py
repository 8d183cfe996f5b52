"""A program that is one of several at work on a store.

    python -m tests.pipelines.store.sharing ingest|keep|read|hold|crowd STORE ...

`ingest` loads files again and again, `keep` compacts, expires and removes, `read` looks whether what it sees
agrees with itself, all three for some seconds; `hold` keeps the store locked until its standard input ends;
`crowd` makes new stores by several processes at once. Each prints what it did as JSON.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.pipelines.store.forked import Say, done_by_child, start, warm_up
from tests.pipelines.stores import EVERYTHING, counts, load, plain_client, rows_of

from zscope.pipelines.ingest import ingest
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.folder import existing_store, make_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

PATIENT = Settings(lock_wait_s=3600)
FIRST_KEPT = date(2026, 3, 6)
"""Files with `old` in their names are of days before this, and of no others."""
OLD = "old"
TABLES = ("smf119_tcp_init", "smf119_tcp_term")
BETWEEN_CHANGES_S = 1.5
CROWD = 4


def silent(_: str) -> None:
    """Waiting is what one does here."""


def go_on_ingesting(store: Path, until: float, names: list[str]) -> Counter[str]:
    """Load one file after the other, and all of them again when there are no more."""
    rng = random.Random(names[0])
    done: Counter[str] = Counter()
    how = replace(EVERYTHING, settings=PATIENT)
    while True:
        for name in names:
            for outcome in ingest(store, [name], how).outcomes:
                assert outcome.status in {"loaded", "repeated"}, outcome
                done[outcome.status.value] += 1
            if time.monotonic() >= until:
                return done
            time.sleep(rng.random() / 10)


def go_on_keeping(store: Path, until: float) -> Counter[str]:
    """Compact, expire and remove, now and then."""
    rng = random.Random(1)
    done: Counter[str] = Counter()
    folder = existing_store(store)
    while time.monotonic() < until:
        for what in ("compact", "expire", "remove"):
            time.sleep(BETWEEN_CHANGES_S)
            with changing(folder, PATIENT, silent) as state:
                if what == "compact":
                    changed = compact(folder, state).after
                elif what == "expire":
                    changed = expire(folder, state, FIRST_KEPT).files
                else:
                    number = rng.choice(state.live_loads).load_id
                    changed = remove_load(folder, state, number).load.load_id
            done[what] += bool(changed)
    return done


def go_on_reading(store: Path, until: float) -> Counter[str]:
    """Look at the store, by turns as our own commands do and as any client does."""
    done: Counter[str] = Counter()
    newest = {"reader": 0, "plain": 0}
    openers: dict[str, Callable[[], duckdb.DuckDBPyConnection]] = {
        "reader": lambda: open_reader(store),
        "plain": lambda: plain_client(store),
    }
    while time.monotonic() < until:
        for name, opened in openers.items():
            with opened() as connection:
                commit = agrees_with_itself(connection)
                again = agrees_with_itself(connection)
            assert commit == again, "a connection stays with the commit that it began with"
            assert commit >= newest[name], f"behind commit {newest[name]} came {commit}"
            done[f"{name} saw a new commit"] += commit > newest[name]
            newest[name] = commit
            done[name] += 1
    return done


def agrees_with_itself(connection: duckdb.DuckDBPyConnection) -> int:
    """The commit that a connection shows, which has to show all of it and nothing else."""
    found = connection.execute("SELECT commit_no FROM files.zscope_store").fetchone()
    assert found is not None
    status = dict(connection.execute("SELECT load_id, status FROM load").fetchall())
    old = {n for (n,) in connection.execute(f"SELECT load_id FROM load WHERE file LIKE '%{OLD}%'").fetchall()}
    told = connection.execute("SELECT load_id, table_name, rows FROM load_table WHERE rows > 0").fetchall()
    missing = {(load_id, table): rows for load_id, table, rows in told}
    for table in (*TABLES, "record_digest"):
        rows_by_load = f"SELECT load_id, count(*) FROM {table} GROUP BY load_id"
        for load_id, rows in connection.execute(rows_by_load).fetchall():
            assert status.get(load_id) in {"loaded", "incomplete"}, f"{table} has load {load_id}: {status}"
            if table in TABLES:
                expected = missing.pop((load_id, table), None)
                assert rows == expected, f"{table} has {rows} rows of load {load_id} instead of {expected}"
    gone = {place: rows for place, rows in missing.items() if place[0] not in old}
    assert not gone, f"rows that are told and not there: {gone}"
    return int(found[0])


def hold(store: Path) -> Counter[str]:
    """Keep the store to ourselves."""
    with changing(make_store(store), PATIENT, silent):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.read()
    return Counter()


def rows_by_table(store: Path) -> dict[str, int]:
    """How many rows there are."""
    return counts(rows_of(store))


def crowd(place: Path, rounds: int, names: list[str]) -> list[Any]:
    """Make new stores, each by several processes at once; with files, load one by each of them."""
    found = []
    for number in range(rounds):
        store = place / f"store-{number}"
        ready, go = os.pipe()

        def work(say: Say, turn: int, store: Path = store, ready: int = ready, go: int = go) -> None:
            os.close(go)
            os.read(ready, 1)  # until all are there
            if names:
                load(store, Path(names[turn]))
            else:
                make_store(store)
            say(b"made")

        children = [start(partial(work, turn=turn)) for turn in range(CROWD)]
        os.close(ready)
        os.close(go)
        ended = [child.end()[0] for child in children]
        found.append([ended, done_by_child(partial(rows_by_table, store)) if names else {}])
        shutil.rmtree(store)
    return found


def main() -> None:
    """Do as the command line says."""
    role, store, rest = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    pa.set_cpu_count(1)
    warm_up()
    done: Any
    if role == "hold":
        done = hold(store)
    elif role == "crowd":
        done = crowd(store, int(rest[0]), rest[1:])
    else:
        until = time.monotonic() + float(rest[0])
        if role == "ingest":
            done = go_on_ingesting(store, until, rest[1:])
        else:
            done = {"keep": go_on_keeping, "read": go_on_reading}[role](store, until)
    sys.stdout.write(json.dumps(done))


if __name__ == "__main__":
    main()
