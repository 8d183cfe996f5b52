"""A guarded session on a folder that holds a catalogue, whatever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from zscope.pipelines.store.session import Session
from zscope.schemas.arrow import literal

if TYPE_CHECKING:
    from pathlib import Path


def open_session(
    folder: Path, *, memory: str | None = None, threads: int | None = None, seconds: float | None = None
) -> Session:
    """A session in which the catalogue of a folder is attached, as the store does it for its readers."""
    connection = duckdb.connect()
    connection.execute(f"ATTACH {literal(str(folder / 'zscope.duckdb'))} AS zscope (READ_ONLY)")
    connection.execute("USE zscope")
    return Session.guard(connection, folder, memory=memory, threads=threads, seconds=seconds)
