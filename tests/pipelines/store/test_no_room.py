"""Full disks, unsuitable places and damaged files: one clear error, and earlier data is unchanged."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from tests.marking import deep_except
from tests.pipelines.store.forked import printed_by, program
from tests.pipelines.stores import dump_bytes, leftovers, load, rows_of

from zscope.app.cli.main import program as zscope
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("small_catalogue")
NOTHING_DONE = 12
CHECK_FAILED = 8
LONGEST_S = 900
"""On a very busy machine."""
OWN_NAMES = ("unshare", "--user", "--map-root-user", "--mount")
Trials = list[dict[str, Any]]
DEEP = (
    ("disk", "first"), ("disk", "second"), ("disk", "compact"), ("file", "first"), ("file", "second"),
    ("readonly", "first"), ("readonly", "second"), ("readonly", "remove"), ("readonly", "expire"),
)  # fmt: skip


@cache
def mounting() -> str:
    """Why nothing can be mounted here, or an empty text."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    tried = subprocess.run(
        [*OWN_NAMES, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    return "" if tried.returncode == 0 else f"nothing can be mounted: {tried.stderr.decode().strip()}"


def codes_without_faults(place: Path, kind: str, job: str, *shares: float) -> list[int]:
    """Run a job with too little space, and return its exit codes."""
    mounts = kind == "disk" or (kind == "readonly" and os.geteuid() == 0)
    if mounts and mounting():
        pytest.skip(mounting())
    process = program(
        "tests.pipelines.store.cramped", place, kind, job, *shares, before=OWN_NAMES if mounts else ()
    )
    trials = printed_by(process, LONGEST_S)
    faults = "\n".join(f"{trial['where']}: {fault}" for trial in trials for fault in trial["faults"])
    assert faults == ""
    return [trial["code"] for trial in trials]


@pytest.mark.deep
def test_ingest_on_a_full_disk_loses_nothing_and_reports_one_error(place: Path) -> None:
    assert codes_without_faults(place, "disk", "second", 0.3) == [NOTHING_DONE]


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "job"), DEEP)
def test_without_space_nothing_is_lost_and_one_error_is_reported(place: Path, kind: str, job: str) -> None:
    codes = codes_without_faults(place, kind, job)
    assert NOTHING_DONE in codes
    if kind == "disk":
        assert codes[0] == NOTHING_DONE
        assert codes[-1] == 0


@pytest.fixture(scope="module")
def tables() -> tuple[str, ...]:
    return ("smf119_tcp_init",)


def run(*arguments: object) -> Result:
    """The program, as a user starts it."""
    return CliRunner().invoke(zscope, [str(argument) for argument in arguments], prog_name="zscope")


def assert_refused(result: Result, names: Path, code: int = NOTHING_DONE) -> None:
    """Nothing was done, and one message says where and why."""
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.stderr
    [message] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert str(names) in message


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two dumps; the second has the records of the first, too."""
    folder = tmp_path_factory.mktemp("dumps")
    whole = dump_bytes(40, 1, mix={"tcp-init": 1})
    first, second = folder / "first.smf", folder / "second.smf"
    first.write_bytes(whole)
    second.write_bytes(dump_bytes(20, 1, seed=9, mix={"tcp-init": 1}) + whole)
    return first, second


@pytest.fixture(scope="module")
def first_store(dumps: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the first of them, to be copied to where it was made: so its catalogue stays right."""
    folder = tmp_path_factory.mktemp("first")
    load(folder / "store", dumps[0])
    (folder / "store").rename(folder / "kept")
    return folder / "store"


@pytest.fixture
def store(first_store: Path) -> Iterator[Path]:
    """A store with the first of them."""
    shutil.copytree(first_store.with_name("kept"), first_store)
    yield first_store
    shutil.rmtree(first_store)


def a_file(place: Path) -> Path:
    place.write_text("no store")
    return place


def below_a_file(place: Path) -> Path:
    return a_file(place) / "store"


def a_folder_of_others(place: Path) -> Path:
    place.mkdir()
    (place / "photographs").mkdir()
    return place


def a_link_to_nowhere(place: Path) -> Path:
    place.symlink_to(place.with_name("gone") / "further")
    return place


@pytest.mark.parametrize("made", [a_file, below_a_file, a_folder_of_others, a_link_to_nowhere])
def test_unsuitable_place_is_left_unchanged(
    dumps: tuple[Path, Path], tmp_path: Path, made: Callable[[Path], Path]
) -> None:
    place = made(tmp_path / "place")
    before = sorted(tmp_path.rglob("*"))
    assert_refused(run("ingest", dumps[0], "--store", place), place)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "content",
    deep_except(
        [b'{"pid": 1}'],
        [b"", b"[" * 100_000, b'{"pid": 1}', b"\xff\x00\xfe", b"9" * 4096, b"null", b"[" * 4096, b'"pid"'],
    ),
    ids=lambda content: f"{content[:6]!r}",
)
def test_content_of_the_lock_file_does_not_matter(
    dumps: tuple[Path, Path], store: Path, content: bytes
) -> None:
    (store / ".lock").write_bytes(content)
    with (store / ".lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = rows_of(store)
        assert_refused(run("ingest", dumps[1], "--store", store, "--wait", 0), store)
        assert rows_of(store) == before
    result = run("ingest", dumps[1], "--store", store, "--wait", 0)
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.stderr
    assert rows_of(store) != before
    assert (store / ".lock").read_bytes() == b""


def test_folder_instead_of_the_lock_file_is_an_error(dumps: tuple[Path, Path], store: Path) -> None:
    (store / ".lock").unlink()
    (store / ".lock").mkdir()
    assert_refused(run("ingest", dumps[1], "--store", store), store)
    (store / ".lock").rmdir()
    assert run("ingest", dumps[1], "--store", store).exit_code == 0


@pytest.mark.parametrize(
    "content",
    deep_except(
        [b"", b'{"format": 99}'], [b"", b"[" * 100_000, b"\xff", b'{"format": 99}', b'{"format": []}', b"{}"]
    ),
)
def test_damaged_mark_is_an_error(dumps: tuple[Path, Path], store: Path, content: bytes) -> None:
    mark = store / "zscope-store.json"
    kept = mark.read_bytes()
    mark.write_bytes(content)
    assert_refused(run("ingest", dumps[1], "--store", store), store)
    mark.write_bytes(kept)
    assert run("ingest", dumps[1], "--store", store).exit_code == 0


@pytest.mark.parametrize(
    "content", deep_except([b'{"kind": 1', None], [b"", b"[" * 100_000, b"\xff", b"{}", b'{"kind": 1', None])
)
def test_damaged_commit_is_an_error(dumps: tuple[Path, Path], store: Path, content: bytes | None) -> None:
    load(store, dumps[1])
    before = rows_of(store)
    commit = store / "commits" / "00000001.json"
    kept = commit.read_bytes()
    if content is None:
        commit.unlink()
    else:
        commit.write_bytes(content)
    assert_refused(run("ingest", dumps[0], "--store", store), commit)
    commit.write_bytes(kept)
    assert run("ingest", dumps[0], "--store", store).exit_code == 0
    assert rows_of(store) == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def gone(path: Path) -> None:
    path.unlink()


def made_unreadable(path: Path) -> None:
    """Root may read every file, but no folder as one."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", deep_except([cut], [cut, emptied, gone, made_unreadable]))
@pytest.mark.parametrize("table", deep_except(["record_digest"], ["record_digest", "smf119_tcp_init"]))
def test_damaged_data_file_is_an_error(
    dumps: tuple[Path, Path], store: Path, damage: Callable[[Path], None], table: str
) -> None:
    """Its records would be taken for new ones, or be lost in a merger."""
    folder = Folder(store.resolve())
    more = store.with_name("more.smf")
    more.write_bytes(dump_bytes(20, 1, seed=5, mix={"tcp-init": 1}))
    load(store, more)
    before = rows_of(store)
    path = next(folder.data / file.path for file in read_state(folder).files.values() if file.table == table)
    kept = path.read_bytes()
    damage(path)
    commits = sorted(folder.commits.iterdir())
    assert_refused(run("store", "check", "--store", store), store, CHECK_FAILED)
    assert_refused(run("store", "compact", "--store", store), store)
    if table == "record_digest":
        assert_refused(run("ingest", dumps[1], "--store", store), store)
    assert sorted(folder.commits.iterdir()) == commits
    if path.is_dir():
        path.rmdir()
    path.write_bytes(kept)
    assert run("store", "compact", "--store", store).exit_code == 0
    assert rows_of(store) == before
    assert run("ingest", dumps[1], "--store", store).exit_code == 0
    assert leftovers(store) == []
