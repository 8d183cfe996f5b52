"""Changed bits in the files of a store: a check names each, and nothing is read from the file afterwards."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pytest
from tests.pipelines.stores import EVERYTHING, dump_bytes, load, plain_client, queried

from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue_file import catalogue_problem
from zscope.pipelines.store.commits import CHECK, Commit, append, read_state
from zscope.pipelines.store.file_checks import (
    check_all,
    check_part,
    check_store,
    damage_text,
    find_damage,
    note_check,
)
from zscope.pipelines.store.folder import DamagedStoreError, StoreError, existing_store
from zscope.pipelines.store.maintenance import compact, expire, merge_after_load
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

SUMMARIES_ALWAYS = replace(EVERYTHING, settings=Settings(summarise_from_rows=0))
TABLE = "smf119_zert_detail"


@pytest.fixture(scope="module")
def summarised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two loads with stored rows of steps."""
    folder = tmp_path_factory.mktemp("bits")
    for number, seed in enumerate((4, 5)):
        (folder / f"{number}.smf").write_bytes(dump_bytes(200, 2, seed=seed))
        load(folder / "store", folder / f"{number}.smf", how=SUMMARIES_ALWAYS)
    return folder / "store"


@pytest.fixture
def store(summarised: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(summarised, tmp_path / "store")
    return tmp_path / "store"


def flip(path: Path, random: Random) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


@contextmanager
def flipped(path: Path, random: Random) -> Iterator[None]:
    """Change one bit of a file for a while."""
    before = path.read_bytes()
    flip(path, random)
    yield
    path.write_bytes(before)


def file_of(folder: Folder, table: str = TABLE, load_id: int = 1) -> Path:
    """Return the path of a data file."""
    files = read_state(folder).files.values()
    return folder.data / next(file.path for file in files if file.table == table and load_id in file.loads)


def change(store: Path, what: Callable[[Folder, State], object]) -> list[str]:
    """Change a store; return the messages."""
    messages: list[str] = []
    folder = existing_store(store)
    with changing(folder, Settings(summarise_from_rows=0), messages.append) as state:
        what(folder, state)
    return messages


def places(folder: Folder) -> dict[str, Path]:
    """Return the paths of all files of data and of stored steps, by their names in the state."""
    state = read_state(folder)
    return {name: folder.data / name for name in state.files} | {
        name: folder.path / name for name in state.summaries
    }


def find_each(store: Path, seed: int, times: int) -> None:
    """Change a bit of files drawn at random; a check has to name exactly that file."""
    random = Random(seed)
    folder = existing_store(store)
    state, files = read_state(folder), places(existing_store(store))
    for name in random.choices(sorted(files), k=times):
        with flipped(files[name], random):
            assert find_damage(folder, state).keys() == {name}
    assert not find_damage(folder, state)


def test_each_of_twenty_changed_bits_is_named(store: Path) -> None:
    find_each(store, seed=1, times=20)


@pytest.mark.deep
def test_each_of_a_thousand_changed_bits_is_named(store: Path) -> None:
    find_each(store, seed=2, times=1_000)


def damage_commits(store: Path, seed: int, times: int) -> None:
    """Change a bit of commits and checkpoints: the check refuses the store, or its state is the same."""
    random = Random(seed)
    folder = existing_store(store)
    before = read_state(folder)
    names = sorted(path for path in folder.commits.iterdir() if path.is_file())
    for path in random.choices(names, k=times):
        with flipped(path, random):
            try:
                check_store(folder)
            except DamagedStoreError:
                continue
            assert read_state(folder, from_first=True) == before


def test_changed_bits_of_commits_are_refused(store: Path) -> None:
    damage_commits(store, seed=3, times=20)


@pytest.mark.deep
def test_changed_bits_of_many_commits_are_refused(store: Path) -> None:
    damage_commits(store, seed=4, times=200)


def damage_catalogue(store: Path, seed: int, times: int) -> None:
    """Change a bit of the catalogue: it cannot be read, or all its tables are the same."""
    random = Random(seed)
    folder = existing_store(store)
    query = "SELECT load_id, rows, content_digest FROM load ORDER BY load_id"
    before = queried(store, query)
    for _ in range(times):
        with flipped(folder.catalogue, random):
            if not catalogue_problem(folder):
                assert queried(store, query) == before


def test_changed_bits_of_the_catalogue_are_noticed(store: Path) -> None:
    damage_catalogue(store, seed=5, times=10)


@pytest.mark.deep
def test_changed_bits_of_many_places_of_the_catalogue_are_noticed(store: Path) -> None:
    damage_catalogue(store, seed=6, times=200)


def test_a_damaged_catalogue_is_built_again_by_the_next_change(store: Path) -> None:
    folder = existing_store(store)
    before = queried(store, f"SELECT count(*) FROM {TABLE}")
    size = folder.catalogue.stat().st_size
    with folder.catalogue.open("r+b") as file:
        file.seek(size // 4)
        file.write(bytes(size // 2))
    assert "cannot be read" in catalogue_problem(folder)
    with pytest.raises(DamagedStoreError, match=r"zscope\.duckdb.*zscope store rebuild builds it again"):
        check_store(folder)
    change(store, check_all)
    assert not catalogue_problem(folder)
    assert queried(store, f"SELECT count(*) FROM {TABLE}") == before


def test_nothing_is_read_from_a_damaged_file(store: Path) -> None:
    folder = existing_store(store)
    flip(file_of(folder), Random(1))
    messages = change(store, check_all)
    sentence = f"1 file is damaged, and nothing is read from {TABLE}: zscope store repair restores the rows"
    assert messages == [f"{folder.path}: {sentence}"]
    assert damage_text(read_state(folder)) == sentence
    for sql in (f"SELECT count(*) FROM {TABLE}", f"SELECT min(load_id) FROM {TABLE} WHERE load_id = 2"):
        with open_reader(store) as connection, pytest.raises(duckdb.Error, match="missing or damaged"):
            connection.execute(sql).fetchall()
    with plain_client(folder.path) as plain:
        with pytest.raises(duckdb.Error, match="zscope store repair restores them"):
            plain.execute(f"FROM {TABLE}").fetchall()
        assert plain.execute("SELECT count(*) FROM smf119_tcp_init").fetchone() != (0,)
        [[problem, checked]] = plain.execute(
            "SELECT problem, checked_utc FROM stored_file WHERE problem IS NOT NULL"
        ).fetchall()
    assert (problem, checked) == ("has other content", None)
    [row] = queried(store, "SELECT verdict, damaged_files, damaged_tables, oldest_check_utc FROM store_check")
    assert row[:3] == ("damaged", 1, TABLE)


def test_figures_of_stored_steps_stay_those_of_the_undamaged_rows(store: Path) -> None:
    """They were computed before the damage, and no step of the damaged rows is computed again."""
    query = "SELECT system, sum(handshakes) FROM handshake_day GROUP BY system ORDER BY system"
    before = queried(store, query)
    flip(file_of(existing_store(store)), Random(2))
    change(store, check_all)
    assert queried(store, query) == before


def test_a_file_that_is_right_again_is_read_again(store: Path) -> None:
    folder = existing_store(store)
    before = queried(store, f"SELECT count(*), sum(hash(connection_id)) FROM {TABLE}")
    with flipped(file_of(folder), Random(3)):
        change(store, check_all)
        assert read_state(folder).damaged
    change(store, check_all)
    assert not read_state(folder).damaged
    assert queried(store, f"SELECT count(*), sum(hash(connection_id)) FROM {TABLE}") == before


def test_damaged_rows_of_steps_are_computed_again(store: Path) -> None:
    folder = existing_store(store)
    query = "SELECT * FROM handshake_day ORDER BY ALL"
    before = queried(store, query)
    file = next(file for file in read_state(folder).summaries.values() if file.step == "handshake_day")
    flip(folder.path / file.path, Random(4))
    [message] = change(store, check_all)
    assert message.endswith("summaries of 3 days that were loaded before have been computed")
    state = read_state(folder)
    assert file.path not in state.summaries
    assert {each.step for each in state.summaries.values()} >= {"handshake_day"}
    assert queried(store, query) == before
    check_store(folder)


@pytest.mark.parametrize(
    "rewrite",
    [
        compact,
        lambda folder, state: remove_load(folder, state, 1),
        lambda folder, state: expire(folder, state, datetime(2026, 3, 3, tzinfo=UTC).date()),
    ],
    ids=["compact", "remove", "expire"],
)
def test_damaged_rows_are_not_written_to_another_file(
    rewrite: Callable[[Folder, State], object], store: Path
) -> None:
    """The new file would have a right checksum."""
    folder = existing_store(store)
    change(store, compact)  # files with rows of both loads and of several days
    (file,) = (file for file in read_state(folder).files.values() if file.table == TABLE)
    flip(folder.data / file.path, Random(5))
    # A single file is merged only with others.
    (folder.path.parent / "more.smf").write_bytes(dump_bytes(200, 2, seed=6))
    load(store, folder.path.parent / "more.smf", how=SUMMARIES_ALWAYS)
    before = read_state(folder).files
    with pytest.raises(StoreError, match=r"has other content; its rows cannot be written to another"):
        change(store, rewrite)
    assert read_state(folder).files == before


def test_a_merge_after_a_load_leaves_damaged_files_alone(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zscope.pipelines.store.maintenance.MERGED_FROM", 2)
    folder = existing_store(store)
    path = file_of(folder)
    flip(path, Random(6))
    change(store, lambda folder, state: merge_after_load(folder, state, 0))
    state = read_state(folder)
    name = path.relative_to(folder.data).as_posix()
    assert state.damaged == {name: "has other content"}
    assert name in state.files
    assert any(path.startswith("smf119_tcp_init/month=") for path in state.files)
    assert not any(path.startswith(f"{TABLE}/month=") for path in state.files)


def test_loads_do_not_compare_with_damaged_rows(store: Path, tmp_path: Path) -> None:
    """Records that are there already would be stored twice."""
    folder = existing_store(store)
    for file in read_state(folder).files.values():
        if file.table == "record_digest":
            flip(folder.data / file.path, Random(7))
    change(store, check_all)
    (tmp_path / "overlap.smf").write_bytes(dump_bytes(200, 2, seed=4) + dump_bytes(20, 2, seed=9))
    before = read_state(folder).loads
    with pytest.raises(StoreError, match=r"record_digest are missing or damaged"):
        load(store, tmp_path / "overlap.smf", how=SUMMARIES_ALWAYS)
    assert read_state(folder).loads == before


def checked_at(folder: Folder, paths: list[str], at: datetime) -> None:
    """Record a check at some time."""
    append(folder, read_state(folder), Commit(CHECK, checked=tuple(paths), at_utc=at.isoformat()))


def test_each_night_checks_what_is_new_and_a_seventh_of_the_rest(store: Path) -> None:
    folder = existing_store(store)
    every = places(folder)
    sizes = {name: path.stat().st_size for name, path in every.items()}
    yesterday = datetime.now(UTC) - timedelta(days=1)
    old, new = sorted(every)[10:], sorted(every)[:10]
    for number, name in enumerate(old):
        checked_at(folder, [name], yesterday + timedelta(seconds=number))
    done = check_part(folder, read_state(folder), 60)
    assert set(new) <= set(done.checked)
    others = [name for name in done.checked if name not in new]
    assert others == old[: len(others)]
    share = sum(sizes[name] for name in others) / sum(sizes.values())
    assert 1 / 7 <= share < 1 / 7 + max(sizes.values()) / sum(sizes.values())
    assert (done.files, done.left, done.damaged) == (len(every), 0, {})
    assert done.bytes == sum(sizes[name] for name in done.checked)


def test_all_files_are_checked_within_a_week_of_nights(store: Path) -> None:
    folder = existing_store(store)
    every = set(places(folder))
    check_all(folder, read_state(folder))
    seen: set[str] = set()
    for _ in range(7):
        seen |= set(check_part(folder, read_state(folder), 60).checked)
    assert seen == every


def test_what_was_not_checked_for_a_week_is_due(store: Path) -> None:
    folder = existing_store(store)
    every = sorted(places(folder))
    checked_at(folder, every, datetime.now(UTC) - timedelta(days=6, hours=1))
    assert len(check_part(folder, read_state(folder), 60).checked) == len(every)


def test_a_budget_leaves_files_to_the_next_night(store: Path) -> None:
    folder = existing_store(store)
    every = len(places(folder))
    seconds = iter(range(1000))
    first = check_part(folder, read_state(folder), 3, lambda: float(next(seconds)))
    assert (len(first.checked), first.left) == (4, every - 4)
    rest = check_part(folder, read_state(folder), 60)
    assert set(rest.checked).isdisjoint(first.checked[:4]) or rest.left == 0
    assert len({*first.checked, *rest.checked}) == every


def test_a_check_of_nothing_commits_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.smf").write_bytes(dump_bytes(20, 1))
    load(tmp_path / "store", tmp_path / "one.smf")
    folder = existing_store(tmp_path / "store")
    number = read_state(folder).number
    note_check(folder, read_state(folder), [], {})
    assert read_state(folder).number == number


def test_checks_survive_a_checkpoint(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = existing_store(store)
    flip(file_of(folder), Random(8))
    state = read_state(folder)
    monkeypatch.setattr("zscope.pipelines.store.commits.CHECKPOINT_EVERY", state.number + 1)
    check_all(folder, state)
    again = read_state(folder)
    assert (again.checked, again.damaged) == (state.checked, state.damaged)
    assert again == read_state(folder, from_first=True)
    assert len(again.checked) + len(again.damaged) == len(places(folder))
