"""Which folders are stores and which become one: never one in which somebody else has put something."""

from __future__ import annotations

from pathlib import Path

import pytest

from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.store.folder import StoreError, existing_store, make_store

BESIDE = ".zscope-store.json.4711.beside"


@pytest.mark.parametrize("content", ["", "{}", '{"format": "x"}', '{"format": 99}', "[1]"])
def test_a_folder_of_another_format_is_refused(tmp_path: Path, content: str) -> None:
    folder = make_store(tmp_path / "store")
    (folder.path / "zscope-store.json").write_text(content)
    with pytest.raises(StoreError, match=r"cannot be read|has format|which is not a whole number"):
        existing_store(folder.path)


@pytest.mark.parametrize(
    "name",
    [
        "payroll.txt",
        "data/payroll.parquet",
        "data/payroll/day=2026-03-02/00000001-1.parquet",
        "data",
        "commits/00000001.json",
        "commits",
        ".stage/half",
        ".stage",
        ".lock",
        ".lock/mine",
        f"{BESIDE}/mine",
    ],
)
def test_store_is_not_created_among_other_files(tmp_path: Path, name: str) -> None:
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True, parents=True)
    mine.write_text("mine")
    (first, *_) = Path(name).parts
    with pytest.raises(StoreError, match="the folder is not a store and not empty") as refused:
        make_store(tmp_path)
    assert f"({first}); name another folder" in str(refused.value)
    with pytest.raises(StoreError, match="the folder is not a store and not empty"):
        ingest(tmp_path, [], IngestOptions(selection=row_selection(None)))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    "begun",
    [
        (),
        ("data/",),
        ("data/", "commits/"),
        ("data/", "commits/", BESIDE),
        ("data/", "commits/", ".stage/", ".lock", "zscope.toml"),
    ],
    ids=len,
)
def test_unfinished_store_is_completed(tmp_path: Path, begun: tuple[str, ...]) -> None:
    for name in begun:
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).touch()
    assert make_store(tmp_path) == existing_store(tmp_path)
    ingest(tmp_path, [], IngestOptions(selection=row_selection(None)))
    assert not (tmp_path / BESIDE).exists()


def test_data_folder_can_be_on_another_disk(tmp_path: Path) -> None:
    store, disk = tmp_path / "store", tmp_path / "disk"
    store.mkdir()
    disk.mkdir()
    (store / "data").symlink_to(disk)
    assert make_store(store) == existing_store(store)
    (store / "zscope-store.json").unlink()
    (disk / "payroll.txt").touch()
    with pytest.raises(StoreError, match=r"not empty \(data\)"):
        make_store(store)


def test_settings_can_exist_before_the_store(tmp_path: Path) -> None:
    (tmp_path / "zscope.toml").write_text("")
    assert make_store(tmp_path) == existing_store(tmp_path)


@pytest.mark.parametrize("there", ["nothing", "empty", "file"])
def test_opening_a_folder_without_a_store_is_an_error(tmp_path: Path, there: str) -> None:
    path = tmp_path / "store"
    if there == "empty":
        path.mkdir()
    elif there == "file":
        path.write_text("x")
    with pytest.raises(StoreError, match=r"no store|not a store"):
        existing_store(path)
