"""Files of several days: loads merge those of a month, and every change touches the right days only."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.dumps import generated
from tests.pipelines.stores import contents

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import maintenance, open_reader
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.file_checks import check_store
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.maintenance import compact, expire
from zscope.pipelines.store.remove import remove_load
from zscope.pipelines.store.transaction import changing
from zscope.samples import Recipe, RecordKind, generate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.pipelines.stores import Contents

pytestmark = pytest.mark.usefixtures("small_catalogue")
SETTINGS = Settings(grace_s=0).merge(["+00:00"])
NIGHTS = 12
TABLE = "smf119_zert_detail"


def night(folder: Path, number: int) -> Path:
    """Write a dump of one day; the last nights are in the next month."""
    start = datetime(2026, 3, 24, 3, tzinfo=UTC) + timedelta(days=number)
    mix = {RecordKind.ZERT_DETAIL: 0.6, RecordKind.TCP_TERM: 0.4}
    path = folder / f"{number}.smf"
    recipe = Recipe(records=40, seed=number, mix=mix, start=start, end=start + timedelta(hours=6))
    path.write_bytes(generated(recipe))
    return path


def load(store: Path, dumps: Iterable[Path]) -> None:
    for dump in dumps:
        ingest(store, [dump], IngestOptions(selection=row_selection(None), settings=SETTINGS))


def silent(text: str) -> None:
    raise AssertionError(text)


def found(store: Path) -> Contents:
    """Return the rows of all tables; the day is one of the columns."""
    with open_reader(store) as connection:
        return contents(connection)


def state_of(store: Path) -> State:
    return read_state(existing_store(store))


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("nights")
    return [night(folder, number) for number in range(NIGHTS)]


@pytest.fixture(scope="module")
def by_day(dumps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which no load merged files."""
    store = tmp_path_factory.mktemp("by-day") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "MERGED_FROM", 1000)
        load(store, dumps)
    assert not any(file.days for file in state_of(store).files.values())
    return store


@pytest.fixture(scope="module")
def by_month(dumps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, in files of months."""
    store = tmp_path_factory.mktemp("by-month") / "store"
    load(store, dumps[:-1])
    with changing(existing_store(store), SETTINGS, silent) as state:
        compact(existing_store(store), state)
    load(store, dumps[-1:])
    return store


@pytest.fixture
def merged(by_month: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(by_month, tmp_path / "store"))


@pytest.mark.deep
def test_loads_merge_the_files_of_a_month(dumps: list[Path], by_day: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, dumps)
    state = state_of(store)
    [month] = [file for file in state.files.values() if file.table == TABLE and file.days]
    assert month.path.startswith(f"{TABLE}/month=2026-03/")
    assert sorted(month.days) == [f"2026-03-{day}" for day in range(24, 32)]
    assert month.rows == sum(month.days.values())
    assert len(state.files) < len(state_of(by_day).files)
    assert found(store) == found(by_day)
    assert check_store(existing_store(store)).rows == check_store(existing_store(by_day)).rows


@pytest.mark.deep
def test_a_file_never_has_days_of_two_months(merged: Path) -> None:
    months = [{day[:7] for day in file.days} for file in state_of(merged).files.values() if file.days]
    assert len(months) > 2
    assert all(len(each) == 1 for each in months)


@pytest.mark.deep
def test_conditions_on_the_day_find_the_same_rows(merged: Path, by_day: Path) -> None:
    for condition in ("day = '2026-03-25'", "day >= '2026-03-30'", "day IN ('2026-03-24', '2026-04-02')"):
        select = f"SELECT day, count(*), sum(in_bytes) FROM {TABLE} WHERE {condition} GROUP BY 1 ORDER BY 1"
        with open_reader(merged) as one, open_reader(by_day) as other:
            rows = one.execute(select).fetchall()
            assert rows == other.execute(select).fetchall()
            assert rows


@pytest.mark.deep
def test_a_month_of_one_day_is_merged_with_new_files_of_the_day(tmp_path: Path) -> None:
    """After the other days of the month have expired."""
    store = tmp_path / "store"
    load(store, [night(tmp_path, number) for number in (0, 1)])
    folder = existing_store(store)
    with changing(folder, SETTINGS, silent) as state:
        compact(folder, state)
        expire(folder, state, date(2026, 3, 25))
    [left] = [file for file in state_of(store).files.values() if file.table == TABLE]
    assert list(left.days) == ["2026-03-25"]
    other = tmp_path / "other.smf"
    with other.open("wb") as out:
        start = datetime(2026, 3, 25, 12, tzinfo=UTC)
        mix = {RecordKind.ZERT_DETAIL: 1.0}
        generate(Recipe(records=30, seed=99, mix=mix, start=start, end=start + timedelta(hours=1)), out)
    load(store, [other])
    before = found(store)
    with changing(folder, SETTINGS, silent) as state:
        compact(folder, state)
    [merged] = [file for file in state_of(store).files.values() if file.table == TABLE]
    assert dict(merged.days) == {"2026-03-25": left.rows + 30}
    assert found(store) == before
    check_store(folder)


@pytest.mark.deep
def test_a_repeated_night_is_recognised(merged: Path, dumps: list[Path], tmp_path: Path) -> None:
    before = found(merged)
    both = tmp_path / "both.smf"
    both.write_bytes(night(tmp_path, 40).read_bytes() + dumps[2].read_bytes())
    load(merged, [both])
    added = state_of(merged).loads[NIGHTS + 1]
    assert added.duplicates == 40
    assert added.tables[TABLE].stored > 0
    with changing(existing_store(merged), SETTINGS, silent) as state:
        remove_load(existing_store(merged), state, added.load_id)
    assert found(merged) == before


@pytest.mark.deep
def test_removing_a_load_changes_its_days_only(merged: Path, by_day: Path) -> None:
    with open_reader(by_day) as connection:
        [[day]] = connection.execute(
            f"SELECT DISTINCT day::VARCHAR FROM {TABLE} WHERE load_id = 3"
        ).fetchall()
    for store in (merged, by_day):
        with changing(existing_store(store), SETTINGS, silent) as state:
            remove_load(existing_store(store), state, 3)
            changed = {on for on, number in state.changed[TABLE].items() if number == state.number}
            assert changed == {day}
    assert found(merged) == found(by_day)
    check_store(existing_store(merged))


@pytest.mark.deep
def test_expiring_takes_days_out_of_a_month(merged: Path, dumps: list[Path], tmp_path: Path) -> None:
    first = date(2026, 3, 29)
    before = state_of(merged)
    rows = Counter({day: count for file in before.files.values() for day, count in file.days.items()})
    assert rows["2026-03-28"]
    with changing(existing_store(merged), SETTINGS, silent) as state:
        asked = expire(existing_store(merged), state, first, dry_run=True)
        assert state.number == before.number
        done = expire(existing_store(merged), state, first)
        assert expire(existing_store(merged), state, first).files == 0
    assert done == asked
    assert done.days == 5
    left = tmp_path / "left"
    load(left, dumps[5:])
    of_both = {name: rows for name, rows in found(merged).items() if name in found(left)}
    assert of_both == found(left)
    assert TABLE in of_both
    state = state_of(merged)
    loads = [load for file in state.files.values() if file.table == TABLE for load in file.loads]
    assert sorted(loads) == list(range(6, NIGHTS + 1))
    assert sum(file.rows for file in state.files.values() if file.table == TABLE) == found(left)[TABLE][0]
    check_store(existing_store(merged))


@pytest.mark.deep
def test_what_a_load_merges_is_limited(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    monkeypatch.setattr(maintenance, "MERGED_FROM", 1000)
    load(store, dumps[:6])
    files = len(state_of(store).files)
    monkeypatch.setattr(maintenance, "MERGED_FROM", 4)
    monkeypatch.setattr(maintenance, "MOST_FILES", 4)
    folder = existing_store(store)
    with changing(folder, SETTINGS, silent) as state:
        assert maintenance.merge_after_load(folder, state, files) == maintenance.CompactResult(4, 1)
    monkeypatch.setattr(maintenance, "MOST_BYTES", 10)
    with changing(folder, SETTINGS, silent) as state:
        assert maintenance.merge_after_load(folder, state, files) == maintenance.CompactResult(0, 0)
