"""Read a store again and again: with plain DuckDB, as other programs do, or as sessions of the dashboard.

A line on standard input is answered with a line: how often the store was read, memory, and open files.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
from tests.soak.model import memory_mb, open_files

QUERIES = (
    "SELECT count(*) FROM smf119_zert_detail",
    "SELECT sum(records) FROM load",
    "SELECT * FROM protocol_distribution",
)
SYSTEMS = ("", "SYSA", "SYSB")
"""Filters of sessions; the first is none."""
PAUSE_S = 2.0
"""How long a session looks at a page."""


def query(store: Path) -> Iterator[None]:
    """Execute the queries with plain DuckDB, and yield while the files of the store are closed."""
    while True:
        with duckdb.connect(str(store / "zscope.duckdb"), read_only=True) as connection:
            connection.execute("SET search_path = 'main,steps,raw'")
            for statement in QUERIES:
                connection.execute(statement).fetchall()
        yield


def open_pages(store: Path) -> Iterator[None]:
    """Open random pages, each in a new session; a page with an error ends the process."""
    # Imported here: the other reader needs neither Streamlit nor zscope.
    from streamlit.testing.v1 import AppTest
    from tests.app.dashboard.conftest import draw_page, fine

    from zscope.app.dashboard.registry import registered_pages
    from zscope.app.shared.dashboard_server import STORE

    logging.disable(logging.WARNING)  # Streamlit warns that sessions have no server
    os.environ[STORE] = str(store)
    choice = random.Random(1)
    while True:
        page, system = choice.choice(registered_pages()), choice.choice(SYSTEMS)
        session = AppTest.from_function(draw_page, args=(page.name,), default_timeout=600)
        if system:
            session.query_params["system"] = system
        session.run()
        fine(session)
        assert session.title[0].value == page.title
        yield
        time.sleep(PAUSE_S)


READERS: dict[str, Callable[[Path], Iterator[None]]] = {"DuckDB": query, "dashboard": open_pages}


def main() -> None:
    """Read until the process is killed."""
    store, kind = sys.argv[1:]
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(asked,), daemon=True).start()
    for reads, _ in enumerate(READERS[kind](Path(store)), 1):
        while not asked.empty():
            asked.get()
            state = {"reads": reads, "memory_mb": memory_mb(), "files": open_files()}
            print(json.dumps(state), flush=True)


def _take(asked: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        asked.put(line)


if __name__ == "__main__":
    main()
