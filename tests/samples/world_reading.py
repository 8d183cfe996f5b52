"""Write a small world and read it: its manifest, and its tables in SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from zscope.parsers import Tables, read
from zscope.samples.world import CostModel, WorldRecipe, write_world

if TYPE_CHECKING:
    from pathlib import Path

TABLES = (
    "smf119_tcp_init", "smf119_tcp_term", "smf119_zert_detail", "smf119_zert_summary", "smf119_zert_dn",
    "smf70_interval", "smf70_cpu", "smf70_partition", "smf70_logical_cpu", "smf70_cpu_type",
    "rmf_interval", "rmf_cpu", "rmf_partition", "netstat_conn", "netstat_ttls", "gsk_cache_stats",
)  # fmt: skip
SLOW = CostModel().changed(
    {
        "rsa_us": 150_000, "dhe_us": 2_000_000, "ecdhe_us": 200_000, "tls13_us": 250_000,
        "resumed_us": 100_000, "resumed13_us": 180_000, "failed_us": 30_000,
        "connection_us": 15_000, "megabyte_us": 70_000,
        "base_us_per_s": 10_000, "base_swing": 0,
    }
)  # fmt: skip
"""Costs of a slow machine whose other work does not follow the load, so that few connections have a cost that
the fit of a few days can estimate.
"""


@dataclass(frozen=True)
class ReadWorld:
    """A world on disk, its tables in memory, and SQL over them."""

    folder: Path
    manifest: dict[str, Any]
    tables: Tables
    connection: duckdb.DuckDBPyConnection

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, with times in UTC."""
        return self.connection.sql(query).fetchall()


def write(recipe: WorldRecipe, folder: Path) -> dict[str, Any]:
    """Write a world without progress messages."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_world(recipe, folder, lambda _: None)


def read_world(recipe: WorldRecipe, folder: Path) -> ReadWorld:
    """Write a world and read it."""
    write(recipe, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="ascii"))
    tables, connection = read(folder), duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name in TABLES:
        connection.register(name, tables[name])
    return ReadWorld(folder, manifest, tables, connection)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
