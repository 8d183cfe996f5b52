"""Dumps of two sysplexes that have systems of the same SMFIDs, and what a store has of each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.pipelines.stores import EVERYTHING, dump_bytes, load, tables_with_files

from zscope.parsers.issues import Code
from zscope.pipelines.settings import Settings, Zones
from zscope.pipelines.store import open_reader
from zscope.schemas.stored import stored_schema

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport

SAMPLE = "SYNTHPLX"
"""The sysplex of all records of a generated dump."""
SYSPLEXES, SYSTEMS = ("PLEX1", "PLEX2"), ("SYSA", "SYSB")
"""The sysplexes of the dumps, and the systems in each of them."""
NAMES = [f"{sysplex}.{system}" for sysplex in SYSPLEXES for system in SYSTEMS]
"""The names of their systems in a store that has both."""
HOW = replace(EVERYTHING, settings=Settings(zones=Zones(default="+01:00"), summarise_from_rows=1_000_000))
Counts = Mapping[str, Mapping[str, int]]


def of_sysplex(dump: bytes, name: str, before: str = SAMPLE) -> bytes:
    """Return a dump whose records state another sysplex."""
    return dump.replace(before.ljust(8).encode("cp037"), name.ljust(8).encode("cp037"))


def dumps(records: int, **changes: Any) -> tuple[bytes, bytes, bytes]:  # noqa: ANN401 - fields of a recipe
    """Return a dump of each of the sysplexes, and a further one of the first."""
    seeds = (4, "PLEX1"), (5, "PLEX2"), (6, "PLEX1")
    first, second, third = (
        of_sysplex(dump_bytes(records, 1, seed=seed, **changes), sysplex) for seed, sysplex in seeds
    )
    return first, second, third


def write(path: Path, content: bytes) -> Path:
    """Write a file."""
    path.write_bytes(content)
    return path


def same_smfid(report: IngestReport) -> list[str]:
    """Return the texts of the issues about shared SMFIDs."""
    return [issue.text for issue in report.issues if issue.code is Code.SAME_SMFID]


def counts(store: Path) -> Counts:
    """Return the number of rows by table and system."""
    with open_reader(store) as connection:
        tables = [each for each in tables_with_files(connection) if "system" in stored_schema(each).names]
        rows = {
            table: dict(
                connection.execute(f"SELECT system, count(*) FROM {table} GROUP BY system").fetchall()
            )
            for table in tables
        }
    return {table: by_system for table, by_system in rows.items() if by_system}


def counts_apart(place: Path, *dumps: bytes) -> Counts:
    """Load each of the sysplexes alone; return the counts by the names that a store of both has."""
    rows: dict[str, dict[str, int]] = {}
    for sysplex, dump in zip(SYSPLEXES, dumps, strict=True):
        store = place / sysplex
        assert same_smfid(load(store, write(place / f"{sysplex}.smf", dump), how=HOW)) == []
        alone = counts(store)
        assert set(alone["smf119_tcp_term"]) == set(SYSTEMS)
        for table, by_system in alone.items():
            named = {f"{sysplex}.{system}": number for system, number in by_system.items()}
            rows.setdefault(table, {}).update(named)
    return rows


def check_apart(store: Path, apart: Counts) -> None:
    """Check that all tables have of each system what a store of it alone has."""
    assert counts(store) == apart
    with open_reader(store) as connection:
        kinds = dict(
            connection.execute(
                "SELECT system, sum(records) FROM load_kind WHERE record_type = 119 AND record_subtype = 2 "
                "GROUP BY system"
            ).fetchall()
        )
        stated = connection.execute("SELECT DISTINCT system, sysplex FROM smf119_tcp_term ORDER BY ALL")
        assert stated.fetchall() == [(name, name.partition(".")[0]) for name in NAMES]
    assert kinds == apart["smf119_tcp_term"]
