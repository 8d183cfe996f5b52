"""The same SMFID in two sysplexes: every table and metric has two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.ingest.sysplexes import (
    HOW,
    NAMES,
    SYSPLEXES,
    Counts,
    check_apart,
    counts,
    counts_apart,
    dumps,
    same_smfid,
    write,
)
from tests.pipelines.stores import load

from zscope.pipelines.store import open_reader
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND, THIRD = dumps(150)
STORING = replace(HOW, settings=replace(HOW.settings, summarise_from_rows=0))
"""With stored rows of steps, which are computed again when systems get other names."""
METRICS = ("handshake_mix", "cpu_interval", "tls_posture", "system_identity")
Rows = Sequence[tuple[object, ...]]


def values(store: Path, metric: str) -> dict[str, Rows]:
    """Return the rows of a metric by the SMFID and sysplex, without the system and what an input numbers."""
    by_system: dict[str, list[tuple[object, ...]]] = {}
    with open_reader(store) as connection:
        rows = connection.execute(f"SELECT system, * EXCLUDE (system) FROM {metric} ORDER BY ALL")
        names = [name for name, *_ in rows.description]
        own = [position for position, name in enumerate(names) if name not in {"system", "load_id"}]
        for row in rows.fetchall():
            by_system.setdefault(row[0], []).append(tuple(row[position] for position in own))
    return {system: sorted(each, key=repr) for system, each in by_system.items()}


@dataclass(frozen=True)
class Apart:
    """What the stores of the single sysplexes have, by the names of systems in a store of both."""

    counts: Counts
    metrics: Mapping[str, Mapping[str, Rows]]

    def check(self, store: Path) -> None:
        """Check that all tables and the metrics have of each system what a store of it alone has."""
        check_apart(store, self.counts)
        for metric, rows in self.metrics.items():
            assert values(store, metric) == rows, metric


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Apart:
    """Load each of the sysplexes alone: its systems have plain names."""
    place = tmp_path_factory.mktemp("apart")
    rows = counts_apart(place, FIRST, SECOND)
    metrics: dict[str, dict[str, Rows]] = {name: {} for name in METRICS}
    for sysplex in SYSPLEXES:
        for name in METRICS:
            named = {f"{sysplex}.{system}": each for system, each in values(place / sysplex, name).items()}
            assert named, name
            metrics[name].update(named)
    return Apart(rows, metrics)


def test_one_dump_of_both(tmp_path: Path, apart: Apart) -> None:
    report = load(tmp_path / "store", write(tmp_path / "both.smf", FIRST + SECOND), how=HOW)
    [text] = same_smfid(report)
    assert text == (
        "SYSA is a system of more than one sysplex: its rows are kept apart as PLEX1.SYSA and PLEX2.SYSA; "
        "SYSB is a system of more than one sysplex: its rows are kept apart as PLEX1.SYSB and PLEX2.SYSB"
    )
    apart.check(tmp_path / "store")


def test_two_nights_and_a_third(tmp_path: Path, apart: Apart) -> None:
    store = tmp_path / "store"
    assert same_smfid(load(store, write(tmp_path / "1.smf", FIRST), how=STORING)) == []
    assert len(same_smfid(load(store, write(tmp_path / "2.smf", SECOND), how=STORING))) == 1
    apart.check(store)
    check_store(existing_store(store), deep=True)
    assert same_smfid(load(store, write(tmp_path / "3.smf", THIRD), how=HOW)) == []
    assert set(counts(store)["smf119_tcp_term"]) == set(NAMES)
