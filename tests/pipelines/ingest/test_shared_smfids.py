"""The same SMFID in two sysplexes: every table and metric has two systems, however the records arrive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.ingest.in_turn import InTurn
from tests.pipelines.stores import EVERYTHING, dump_bytes, load, tables_with_files

from zscope.parsers.issues import Code
from zscope.pipelines.ingest import decoding, ingest
from zscope.pipelines.ingest.parallel_load import BulkEngine
from zscope.pipelines.ingest.shared_smfids import SharedSmfids
from zscope.pipelines.settings import Settings, Zones
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.folder import Folder, existing_store
from zscope.pipelines.store.maintenance import check_store, compact
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing
from zscope.samples.world.faults import DumpRecord, records_of
from zscope.schemas.stored import stored_schema

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport

SAMPLE = "SYNTHPLX"
"""The sysplex of all records of a generated dump."""
SYSTEMS = ("SYSA", "SYSB")
"""The systems in it."""
HOW = replace(EVERYTHING, settings=Settings(zones=Zones(default="+01:00"), summarise_from_rows=1_000_000))
STORING = replace(HOW, settings=replace(HOW.settings, summarise_from_rows=0))
"""With stored rows of steps, which are computed again when systems get other names."""
METRICS = ("handshake_mix", "cpu_interval", "tls_posture")
STRAY = "PLEX9   ".encode("cp037")
NETSTAT_FILE = "netstat.SYSA.2026-03-02.txt"
NETSTAT = b"""MVS TCP/IP NETSTAT CS 3.2       TCPIP Name: TCPIP           11:46:58
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
CICSPROD 00000020 0.0.0.0..443           0.0.0.0..0             Listen
"""
"""A display that states neither system nor sysplex; the name of its file has the SMFID."""
Rows = Sequence[tuple[object, ...]]
Counts = Mapping[str, Mapping[str, int]]


def of_sysplex(dump: bytes, name: str) -> bytes:
    """Return a dump whose records state another sysplex."""
    return dump.replace(SAMPLE.encode("cp037"), name.ljust(8).encode("cp037"))


FIRST = of_sysplex(dump_bytes(150, 1), "PLEX1")
SECOND = of_sysplex(dump_bytes(150, 1, seed=5), "PLEX2")


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


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Apart:
    """Load each of the sysplexes alone: its systems have plain names."""
    place = tmp_path_factory.mktemp("apart")
    rows: dict[str, dict[str, int]] = {}
    metrics: dict[str, dict[str, Rows]] = {name: {} for name in METRICS}
    for sysplex, dump in (("PLEX1", FIRST), ("PLEX2", SECOND)):
        store = place / sysplex
        assert same_smfid(load(store, write(place / f"{sysplex}.smf", dump), how=HOW)) == []
        alone = counts(store)
        assert set(alone["smf119_tcp_term"]) == set(SYSTEMS)
        for table, by_system in alone.items():
            named = {f"{sysplex}.{system}": number for system, number in by_system.items()}
            rows.setdefault(table, {}).update(named)
        for name in METRICS:
            named_rows = {f"{sysplex}.{system}": each for system, each in values(store, name).items()}
            assert named_rows, name
            metrics[name].update(named_rows)
    return Apart(rows, metrics)


def of_one_sysplex(both: Counts, sysplex: str) -> Counts:
    """Return what a store of one sysplex alone has: its systems have plain names."""
    begin = f"{sysplex}."
    own = {
        table: {name.removeprefix(begin): rows for name, rows in by_system.items() if name.startswith(begin)}
        for table, by_system in both.items()
    }
    return {table: by_system for table, by_system in own.items() if by_system}


def check_apart(store: Path, apart: Apart, metrics: Sequence[str] = ()) -> None:
    """Check that all tables and these metrics have of each system what a store of it alone has."""
    assert counts(store) == apart.counts
    for metric in metrics:
        assert values(store, metric) == apart.metrics[metric], metric
    with open_reader(store) as connection:
        kinds = dict(
            connection.execute(
                "SELECT system, sum(records) FROM load_kind WHERE record_type = 119 AND record_subtype = 2 "
                "GROUP BY system"
            ).fetchall()
        )
        identity = connection.execute("SELECT system, sysplex FROM system_identity ORDER BY ALL").fetchall()
    assert kinds == apart.counts["smf119_tcp_term"]
    assert identity == [(f"{plex}.{system}", plex) for plex in ("PLEX1", "PLEX2") for system in SYSTEMS]


def test_one_dump_of_both(tmp_path: Path, apart: Apart) -> None:
    report = load(tmp_path / "store", write(tmp_path / "both.smf", FIRST + SECOND), how=HOW)
    [text] = same_smfid(report)
    assert text == (
        "SYSA is a system of more than one sysplex: its rows are kept apart as PLEX1.SYSA and PLEX2.SYSA; "
        "SYSB is a system of more than one sysplex: its rows are kept apart as PLEX1.SYSB and PLEX2.SYSB"
    )
    check_apart(tmp_path / "store", apart, METRICS)


def test_two_files_of_one_load(tmp_path: Path, apart: Apart) -> None:
    files = [write(tmp_path / f"{n}.smf", dump) for n, dump in enumerate((FIRST, SECOND))]
    assert len(same_smfid(load(tmp_path / "store", *files, how=HOW))) == 1
    check_apart(tmp_path / "store", apart)


def test_two_nights_and_a_third(tmp_path: Path, apart: Apart) -> None:
    store = tmp_path / "store"
    assert same_smfid(load(store, write(tmp_path / "1.smf", FIRST), how=STORING)) == []
    assert len(same_smfid(load(store, write(tmp_path / "2.smf", SECOND), how=STORING))) == 1
    check_apart(store, apart, METRICS)
    check_store(existing_store(store), deep=True)
    third = of_sysplex(dump_bytes(150, 1, seed=6), "PLEX1")
    assert same_smfid(load(store, write(tmp_path / "3.smf", third), how=HOW)) == []
    assert set(counts(store)["smf119_tcp_term"]) == {f"{p}.{s}" for p in ("PLEX1", "PLEX2") for s in SYSTEMS}


def test_many_rows_that_are_staged(tmp_path: Path, apart: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "FEW_ROWS_BYTES", 0)
    files = [write(tmp_path / f"{n}.smf", dump) for n, dump in enumerate((FIRST, SECOND))]
    assert len(same_smfid(load(tmp_path / "store", *files, how=HOW))) == 1
    check_apart(tmp_path / "store", apart)


@pytest.mark.parametrize("both", [True, False], ids=["merged", "one"])
def test_a_store_of_an_earlier_version(
    both: bool, tmp_path: Path, apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    files = [write(tmp_path / f"{n}.smf", dump) for n, dump in enumerate((FIRST, SECOND))]
    with monkeypatch.context() as earlier:
        earlier.setattr(SharedSmfids, "name_systems", lambda *_: None)
        for path in files if both else files[:1]:
            load(store, path, how=HOW)
    assert state_of(store).sysplexes == {}
    assert set(counts(store)["smf119_tcp_term"]) == set(SYSTEMS)
    later = write(tmp_path / NETSTAT_FILE, NETSTAT) if both else files[1]
    assert len(same_smfid(load(store, later, how=HOW))) == 1
    if both:
        assert remove(store, 3) == 1
    check_apart(store, apart)


def test_compacted_files_of_an_earlier_version(
    tmp_path: Path, apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    with monkeypatch.context() as earlier:
        earlier.setattr(SharedSmfids, "name_systems", lambda *_: None)
        load(store, write(tmp_path / "both.smf", FIRST + SECOND), how=HOW)
    folder = existing_store(store)
    with changing(folder, HOW.settings, print) as state:
        compact(folder, state)
    assert len(same_smfid(load(store, write(tmp_path / NETSTAT_FILE, NETSTAT), how=HOW))) == 1
    assert remove(store, 2) == 1
    check_apart(store, apart)
    check_store(folder, deep=True)


def test_ranges_of_a_dump_that_are_decoded_apart(tmp_path: Path, apart: Apart) -> None:
    path = write(tmp_path / "both.smf", FIRST + SECOND)
    assert len(same_smfid(ingest(tmp_path / "store", [path], HOW, BulkEngine(InTurn(), 6_000)))) == 1
    check_apart(tmp_path / "store", apart)


def test_names_stay_when_a_load_is_removed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for number, dump in enumerate((FIRST, SECOND)):
        load(store, write(tmp_path / f"{number}.smf", dump), how=HOW)
    remove(store, 2)
    assert set(counts(store)["smf119_tcp_term"]) == {f"PLEX1.{system}" for system in SYSTEMS}
    assert state_of(store).sysplexes["SYSA"] == ("PLEX1", "PLEX2")
    assert same_smfid(load(store, write(tmp_path / "2.smf", SECOND), how=HOW)) == []
    assert set(counts(store)["smf119_tcp_term"]) == {f"{p}.{s}" for p in ("PLEX1", "PLEX2") for s in SYSTEMS}


@pytest.mark.parametrize("name", ["", "\x01\x02PL", "plex2", "PLEX 2"])
def test_names_that_are_none_do_not_divide_a_system(name: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    dump = of_sysplex(dump_bytes(150, 1, seed=5), name)
    for number, each in enumerate((FIRST, dump)):
        assert same_smfid(load(store, write(tmp_path / f"{number}.smf", each), how=HOW)) == []
    assert set(counts(store)["smf119_tcp_term"]) == set(SYSTEMS)
    assert state_of(store).sysplexes == {"SYSA": ("PLEX1",), "SYSB": ("PLEX1",)}


@pytest.mark.parametrize("divided", [False, True], ids=["one sysplex", "two sysplexes"])
def test_a_single_record_with_another_sysplex_is_damaged(divided: bool, tmp_path: Path, apart: Apart) -> None:
    store, records = tmp_path / "store", list(records_of(FIRST))
    if divided:
        load(store, write(tmp_path / "other.smf", SECOND), how=HOW)
    stating = "PLEX1   ".encode("cp037")
    number = next(n for n, record in enumerate(records) if stating in record.content)
    records[number] = DumpRecord(records[number].content.replace(stating, STRAY))
    damaged = b"".join(record.content for record in records)
    texts = same_smfid(load(store, write(tmp_path / "1.smf", damaged), how=HOW))
    stray = (
        "a single record of SYS[AB] states the sysplex PLEX9, all others PLEX1( and PLEX2)?: it is taken for "
    )
    assert len(texts) == 1
    assert re.search(stray, texts[0])
    if divided:
        check_apart(store, apart)
    else:
        assert counts(store) == of_one_sysplex(apart.counts, "PLEX1")
    later = load(
        store, write(tmp_path / "again.smf", of_sysplex(dump_bytes(150, 1, seed=6), "PLEX1")), how=HOW
    )
    assert same_smfid(later) == []


def test_settings_name_systems_whose_data_do_not(tmp_path: Path) -> None:
    store = tmp_path / "store"
    blank = of_sysplex(dump_bytes(150, 1, seed=6), "")
    for number, dump in enumerate((FIRST, SECOND)):
        load(store, write(tmp_path / f"{number}.smf", dump), how=HOW)
    [text] = same_smfid(load(store, write(tmp_path / "blank.smf", blank), how=HOW))
    assert re.fullmatch(
        r"[\d,]+ rows of SYSA do not state the sysplex and keep the name SYSA: set sysplex = \"NAME\" for "
        r"\[systems.SYSA\] in zscope.toml, .*",
        text.partition("; [")[0],
    )
    plain = counts(store)["smf119_tcp_term"]
    assert {"SYSA", "SYSB"} < set(plain)
    named = replace(HOW, settings=replace(HOW.settings, sysplexes={"SYSA": "PLEX2", "SYSB": "PLEX1"}))
    assert same_smfid(load(store, write(tmp_path / NETSTAT_FILE, NETSTAT), how=named)) == []
    by_system = counts(store)["smf119_tcp_term"]
    assert by_system["PLEX2.SYSA"] == plain["PLEX2.SYSA"] + plain["SYSA"]
    assert by_system["PLEX1.SYSB"] == plain["PLEX1.SYSB"] + plain["SYSB"]
    assert set(counts(store)["netstat_conn"]) == {"PLEX2.SYSA"}


def test_blank_names_in_a_load_with_one_sysplex(tmp_path: Path) -> None:
    store = tmp_path / "store"
    mixed = SECOND + of_sysplex(dump_bytes(150, 1, seed=6), "")
    for number, dump in enumerate((FIRST, mixed)):
        report = load(store, write(tmp_path / f"{number}.smf", dump), how=HOW)
    assert len(same_smfid(report)) == 1
    assert set(counts(store)["smf119_tcp_term"]) == {f"{p}.{s}" for p in ("PLEX1", "PLEX2") for s in SYSTEMS}


def test_a_system_with_a_zone_of_its_own(tmp_path: Path) -> None:
    zones = Zones({"PLEX2.SYSA": "-05:00"}, "+01:00")
    how = replace(HOW, settings=replace(HOW.settings, zones=zones))
    load(tmp_path / "store", write(tmp_path / "both.smf", FIRST + SECOND), how=how)
    with open_reader(tmp_path / "store") as connection:
        offsets = connection.execute(
            "SELECT DISTINCT system, date_diff('hour', written_utc::TIMESTAMP, written_local) "
            "FROM smf119_tcp_term ORDER BY ALL"
        ).fetchall()
    assert offsets == [("PLEX1.SYSA", 1), ("PLEX1.SYSB", 1), ("PLEX2.SYSA", -5), ("PLEX2.SYSB", 1)]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, write(tmp_path / "1.smf", FIRST), how=HOW)
    before = state_of(store)
    dry = replace(HOW, dry_run=True)
    assert len(same_smfid(load(store, write(tmp_path / "2.smf", SECOND), how=dry))) == 1
    assert state_of(store) == before


def test_the_state_is_the_same_from_the_first_commit_and_a_checkpoint(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for number, dump in enumerate((FIRST, SECOND)):
        load(store, write(tmp_path / f"{number}.smf", dump), how=HOW)
    state = state_of(store)
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state
    assert read_state(Folder(store), from_first=True) == state


def state_of(store: Path) -> State:
    """Return the state of a store."""
    return read_state(Folder(store))


def remove(store: Path, load_id: int) -> int:
    """Remove a load, and return how many tables had rows of it."""
    folder = existing_store(store)
    with changing(folder, HOW.settings, print) as state:
        return len(remove_load(folder, state, load_id).load.tables)
