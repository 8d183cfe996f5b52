"""Who can read the files of a store."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.pipelines.stores import EVERYTHING, dump_bytes

from zscope.pipelines.ingest import ingest
from zscope.pipelines.settings import Settings, read_settings
from zscope.pipelines.store.folder import make_store
from zscope.pipelines.store.parquet_files import Part
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.store.parquet_files import StagedFile

FOR_ALL = Settings(readable_by_everybody=True)


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    """The mask that most users have; each test must leave it as it was."""
    before = os.umask(0o022)
    yield
    assert os.umask(before) == 0o022


@pytest.fixture
def dumps(tmp_path: Path) -> list[Path]:
    found = []
    for number in (1, 2):
        found.append(tmp_path / f"{number}.smf")
        found[-1].write_bytes(dump_bytes(20, 1, seed=number, mix={"tcp-init": 1}))
    return found


def load(store: Path, dump: Path, settings: Settings = Settings()) -> None:  # noqa: B008 - it is frozen
    ingest(store, [dump], replace(EVERYTHING, settings=settings))


def modes(store: Path) -> set[str]:
    """The rights of all folders and files of a store, but not those of its own folder."""
    return {
        f"{'folder' if path.is_dir() else 'file'} {path.stat().st_mode & 0o777:o}"
        for path in store.rglob("*")
    }


def test_files_and_folders_are_for_owner_and_group(dumps: list[Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, dumps[0])
    load(store, dumps[1])
    assert store.stat().st_mode & 0o777 == 0o750
    assert modes(store) == {"folder 750", "file 640"}


def test_an_empty_folder_of_the_user_is_closed_to_others(dumps: list[Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    load(store, dumps[0])
    assert store.stat().st_mode & 0o777 == 0o750
    assert modes(store) == {"folder 750", "file 640"}


def test_by_option_all_can_read(dumps: list[Path], tmp_path: Path) -> None:
    os.umask(0o027)
    store = tmp_path / "store"
    load(store, dumps[0], FOR_ALL)
    os.umask(0o022)
    assert store.stat().st_mode & 0o777 == 0o755
    assert modes(store) == {"folder 755", "file 644"}


def test_files_of_workers_with_another_mask_get_the_rights_of_the_store(
    dumps: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers on other machines can have one."""
    close = Part.close

    def closed(part: Part) -> StagedFile:
        staged = close(part)
        staged.path.chmod(0o600)
        return staged

    monkeypatch.setattr(Part, "close", closed)
    store = tmp_path / "store"
    load(store, dumps[0])
    assert modes(store) == {"folder 750", "file 640"}


@pytest.mark.deep
def test_a_store_that_is_open_stays_open_and_a_closed_one_closed(dumps: list[Path], tmp_path: Path) -> None:
    for name, mode, expected in (
        ("open", 0o755, {"folder 755", "file 644"}),
        ("closed", 0o700, {"folder 750", "file 640"}),
    ):
        store = tmp_path / name
        load(store, dumps[0], FOR_ALL if name == "open" else Settings())
        store.chmod(mode)
        load(store, dumps[1])
        assert modes(store) == expected
        assert store.stat().st_mode & 0o777 == mode


def test_a_stricter_mask_of_the_user_is_kept(dumps: list[Path], tmp_path: Path) -> None:
    os.umask(0o077)
    store = tmp_path / "store"
    load(store, dumps[0])
    os.umask(0o022)
    assert modes(store) == {"folder 700", "file 600"}


def test_a_folder_of_somebody_else_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    before = tmp_path.stat().st_mode
    with pytest.raises(Exception, match="is not a store and not empty"):
        make_store(tmp_path)
    assert tmp_path.stat().st_mode == before


@pytest.mark.parametrize(("text", "for_all"), [('"all"', True), ('"group"', False)])
def test_the_setting_is_read(text: str, tmp_path: Path, *, for_all: bool) -> None:
    (tmp_path / "zscope.toml").write_text(f"[store]\nreadable_by = {text}\n")
    assert read_settings(None, tmp_path).readable_by_everybody is for_all


@pytest.mark.parametrize("text", ['"me"', "true", "[]"])
def test_another_setting_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "zscope.toml").write_text(f"[store]\nreadable_by = {text}\n")
    with pytest.raises(SettingsError, match=r'store\.readable_by: expected "group" or "all"'):
        read_settings(None, tmp_path)
