"""Names of systems in two sysplexes, however their records arrive; without metrics."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.pipelines.ingest.comparing import TABLES
from tests.pipelines.ingest.in_turn import InTurn
from tests.pipelines.ingest.sysplexes import (
    HOW,
    NAMES,
    SYSTEMS,
    Counts,
    check_apart,
    counts,
    counts_apart,
    dumps,
    of_sysplex,
    same_smfid,
    write,
)
from tests.pipelines.stores import load

from zscope.pipelines.ingest import decoding, ingest
from zscope.pipelines.ingest.parallel_load import BulkEngine
from zscope.pipelines.ingest.shared_smfids import SharedSmfids
from zscope.pipelines.settings import Zones
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import Folder, existing_store
from zscope.pipelines.store.maintenance import compact
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing
from zscope.samples.world.faults import DumpRecord, records_of

pytestmark = pytest.mark.usefixtures("loads_alone")
MIX = {"tcp-term": 0.5, "zert-detail": 0.3, "rmf-cpu": 0.1}
FIRST, SECOND, THIRD = dumps(60, mix=MIX)
BLANK = of_sysplex(THIRD, "", "PLEX1")
"""A dump whose records do not state the sysplex."""
STRAY = "PLEX9   ".encode("cp037")
NETSTAT_FILE = "netstat.SYSA.2026-03-02.txt"
NETSTAT = b"""MVS TCP/IP NETSTAT CS 3.2       TCPIP Name: TCPIP           11:46:58
User Id  Conn     Local Socket           Foreign Socket         State
-------  ----     ------------           --------------         -----
CICSPROD 00000020 0.0.0.0..443           0.0.0.0..0             Listen
"""
"""A display that states neither system nor sysplex; the name of its file has the SMFID."""


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return (*TABLES, "smf119_tcp_term", "smf119_zert_ssh", "netstat_conn")


@pytest.fixture(scope="module")
def place(loads_alone: None, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001 - for its stores
    """A folder for the stores of the module."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def apart(place: Path) -> Counts:
    """The rows of each system, loaded alone."""
    return counts_apart(place, FIRST, SECOND)


@pytest.fixture(scope="module")
def kept(place: Path) -> Path:
    """A folder with the store `first`, and its copy `both`, into which the other sysplex was loaded later."""
    load(place / "first", write(place / "0.smf", FIRST), how=HOW)
    both = Path(shutil.copytree(place / "first", place / "both"))
    assert len(same_smfid(load(both, write(place / "1.smf", SECOND), how=HOW))) == 1
    return place


@pytest.fixture
def first(kept: Path, tmp_path: Path) -> Path:
    """A copy of the store that has the first sysplex."""
    return Path(shutil.copytree(kept / "first", tmp_path / "store"))


@pytest.fixture
def both(kept: Path, tmp_path: Path) -> Path:
    """A copy of the store that has both sysplexes."""
    return Path(shutil.copytree(kept / "both", tmp_path / "store"))


def of_one_sysplex(both: Counts, sysplex: str) -> Counts:
    """Return what a store of one sysplex alone has: its systems have plain names."""
    begin = f"{sysplex}."
    own = {
        table: {name.removeprefix(begin): rows for name, rows in by_system.items() if name.startswith(begin)}
        for table, by_system in both.items()
    }
    return {table: by_system for table, by_system in own.items() if by_system}


def test_two_files_of_one_load(tmp_path: Path, apart: Counts) -> None:
    files = [write(tmp_path / f"{n}.smf", dump) for n, dump in enumerate((FIRST, SECOND))]
    assert len(same_smfid(load(tmp_path / "store", *files, how=HOW))) == 1
    check_apart(tmp_path / "store", apart)


def test_many_rows_that_are_staged(tmp_path: Path, apart: Counts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "FEW_ROWS_BYTES", 0)
    files = [write(tmp_path / f"{n}.smf", dump) for n, dump in enumerate((FIRST, SECOND))]
    assert len(same_smfid(load(tmp_path / "store", *files, how=HOW))) == 1
    check_apart(tmp_path / "store", apart)


@pytest.mark.parametrize("both", [True, False], ids=["merged", "one"])
def test_a_store_of_an_earlier_version(
    both: bool, tmp_path: Path, apart: Counts, monkeypatch: pytest.MonkeyPatch
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
    tmp_path: Path, apart: Counts, monkeypatch: pytest.MonkeyPatch
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


def test_ranges_of_a_dump_that_are_decoded_apart(tmp_path: Path, apart: Counts) -> None:
    path = write(tmp_path / "both.smf", FIRST + SECOND)
    assert len(same_smfid(ingest(tmp_path / "store", [path], HOW, BulkEngine(InTurn(), 6_000)))) == 1
    check_apart(tmp_path / "store", apart)


def test_names_stay_when_a_load_is_removed(both: Path, tmp_path: Path) -> None:
    remove(both, 2)
    assert set(counts(both)["smf119_tcp_term"]) == {f"PLEX1.{system}" for system in SYSTEMS}
    assert state_of(both).sysplexes["SYSA"] == ("PLEX1", "PLEX2")
    assert same_smfid(load(both, write(tmp_path / "2.smf", SECOND), how=HOW)) == []
    assert set(counts(both)["smf119_tcp_term"]) == set(NAMES)


@pytest.mark.parametrize("name", ["", "\x01\x02PL", "plex2", "PLEX 2"])
def test_names_that_are_none_do_not_divide_a_system(name: str, first: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "1.smf", of_sysplex(SECOND, name, "PLEX2"))
    assert same_smfid(load(first, path, how=HOW)) == []
    assert set(counts(first)["smf119_tcp_term"]) == set(SYSTEMS)
    assert state_of(first).sysplexes == {"SYSA": ("PLEX1",), "SYSB": ("PLEX1",)}


@pytest.mark.parametrize("divided", [False, True], ids=["one sysplex", "two sysplexes"])
def test_a_single_record_with_another_sysplex_is_damaged(
    divided: bool, tmp_path: Path, apart: Counts
) -> None:
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
        assert counts(store) == of_one_sysplex(apart, "PLEX1")
    later = load(store, write(tmp_path / "again.smf", THIRD), how=HOW)
    assert same_smfid(later) == []


def test_settings_name_systems_whose_data_do_not(both: Path, tmp_path: Path) -> None:
    [text] = same_smfid(load(both, write(tmp_path / "blank.smf", BLANK), how=HOW))
    assert re.fullmatch(
        r"[\d,]+ rows of SYSA do not state the sysplex and keep the name SYSA: set sysplex = \"NAME\" for "
        r"\[systems.SYSA\] in zscope.toml, .*",
        text.partition("; [")[0],
    )
    plain = counts(both)["smf119_tcp_term"]
    assert {"SYSA", "SYSB"} < set(plain)
    named = replace(HOW, settings=replace(HOW.settings, sysplexes={"SYSA": "PLEX2", "SYSB": "PLEX1"}))
    assert same_smfid(load(both, write(tmp_path / NETSTAT_FILE, NETSTAT), how=named)) == []
    by_system = counts(both)["smf119_tcp_term"]
    assert by_system["PLEX2.SYSA"] == plain["PLEX2.SYSA"] + plain["SYSA"]
    assert by_system["PLEX1.SYSB"] == plain["PLEX1.SYSB"] + plain["SYSB"]
    assert set(counts(both)["netstat_conn"]) == {"PLEX2.SYSA"}


def test_blank_names_in_a_load_with_one_sysplex(first: Path, tmp_path: Path) -> None:
    assert len(same_smfid(load(first, write(tmp_path / "1.smf", SECOND + BLANK), how=HOW))) == 1
    assert set(counts(first)["smf119_tcp_term"]) == set(NAMES)


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


def test_a_dry_run_changes_nothing(first: Path, tmp_path: Path) -> None:
    before = state_of(first)
    dry = replace(HOW, dry_run=True)
    assert len(same_smfid(load(first, write(tmp_path / "2.smf", SECOND), how=dry))) == 1
    assert state_of(first) == before


def test_the_state_is_the_same_from_the_first_commit_and_a_checkpoint(both: Path) -> None:
    state = state_of(both)
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state
    assert read_state(Folder(both), from_first=True) == state


def state_of(store: Path) -> State:
    """Return the state of a store."""
    return read_state(Folder(store))


def remove(store: Path, load_id: int) -> int:
    """Remove a load, and return how many tables had rows of it."""
    folder = existing_store(store)
    with changing(folder, HOW.settings, print) as state:
        return len(remove_load(folder, state, load_id).load.tables)
