"""Read a store with plain DuckDB, again and again, as a dashboard of another tool does.

A line on standard input is answered with a line: how often the store was read, memory, and open files.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from pathlib import Path

import duckdb
from tests.soak.model import memory_mb, open_files

QUERIES = (
    "SELECT count(*) FROM smf119_zert_detail",
    "SELECT sum(records) FROM load",
    "SELECT * FROM protocol_distribution",
)


def _take(asked: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        asked.put(line)


def main() -> None:
    """Read until the process is killed."""
    catalogue = Path(sys.argv[1]) / "zscope.duckdb"
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(asked,), daemon=True).start()
    reads = 0
    while True:
        with duckdb.connect(str(catalogue), read_only=True) as connection:
            for query in QUERIES:
                connection.execute(query).fetchall()
        reads += 1
        # Between two readings, when the files of the store are closed.
        while not asked.empty():
            asked.get()
            state = {"reads": reads, "memory_mb": memory_mb(), "files": open_files()}
            print(json.dumps(state), flush=True)


if __name__ == "__main__":
    main()
