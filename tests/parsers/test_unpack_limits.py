"""Small files that unpack to very much: each ends at a limit, with an issue that says how to raise it."""

from __future__ import annotations

import gzip
import io
import random
import time
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest

from zscope.parsers.api import inventory
from zscope.parsers.containers import budget
from zscope.parsers.containers.budget import UnpackBudget, UnpackLimits
from zscope.parsers.inputs import members
from zscope.parsers.issues import Code, Issues
from zscope.parsers.options import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path


def zipped(content: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A zip of ten zips of ten texts of 20 MB: 2 GB in a few thousand bytes."""
    text = zipped({f"{n}.txt": b" " * (20 << 20) for n in range(1)})
    inner = zipped({f"{n}.zip": text for n in range(10)})
    return zipped({f"{n}.zip": inner for n in range(10)})


def read(content: bytes, place: Path, limits: str = "") -> Issues:
    place.write_bytes(content)
    return inventory(place, options=ReadOptions(unpack_limits=limits)).issues


def limit_issue(issues: Issues) -> str:
    [issue] = [issue for issue in issues if issue.code is Code.UNPACK_LIMIT]
    return issue.text


def test_a_zip_of_zips_ends_at_the_ratio(bomb: bytes, tmp_path: Path) -> None:
    assert len(bomb) < 15_000
    begun = time.process_time()
    text = limit_issue(read(bomb, tmp_path / "bomb.zip"))
    assert time.process_time() - begun < 5
    assert text == (
        "contains more than 250 times its size, so it was not read to its end; if you trust it, raise this "
        "limit with --unpack-limits ratio=N"
    )


def test_a_bomb_is_unpacked_in_pieces_that_need_little_memory(bomb: bytes) -> None:
    """Much less than one of its texts."""
    issues = Issues()
    tracemalloc.start()
    for member in members("bomb.zip", io.BytesIO(bomb), len(bomb), issues):
        while member.stream.read(1 << 20):
            pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "more than 250 times its size" in limit_issue(issues)
    assert peak < 10 << 20


def test_the_ratio_of_a_pipe_is_that_of_the_bytes_read() -> None:
    """The size of a pipe is not known."""
    issues = Issues()
    packed = io.BytesIO(gzip.compress(b"\0" * (64 << 20)))
    for member in members("-", packed, None, issues):
        while member.stream.read(1 << 20):
            pass
    assert "more than 250 times its size" in limit_issue(issues)


def test_a_pipe_of_usual_ratio_is_read_to_its_end() -> None:
    """40 MB at a ratio of 10: the bytes read from the pipe count, and not its size of 0."""
    piece = random.Random(1).randbytes(1 << 16) + bytes(9 << 16)
    packed = io.BytesIO(gzip.compress(piece * 64, compresslevel=1))
    issues, size = Issues(), 0
    for member in members("-", packed, None, issues):
        while got := member.stream.read(1 << 20):
            size += len(got)
    assert size == 64 * len(piece) > 32 << 20
    assert not list(issues)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ("bytes=100K", "contains more than 100,000 bytes, so"),
        ("members=2", "contains more than 2 files, so"),
        ("nesting=1", "contains more than 1 layers of packing, so"),
    ],
)
def test_each_limit_can_be_set(limits: str, text: str, tmp_path: Path) -> None:
    inner = zipped({"a.txt": b"a\n" * 40_000, "b.txt": b"b\n" * 40_000})
    content = zipped({"x.zip": inner})
    assert text in limit_issue(read(content, tmp_path / "a.zip", limits))
    assert not [i for i in read(content, tmp_path / "a.zip") if i.code is Code.UNPACK_LIMIT]


def test_what_came_before_the_limit_is_listed(tmp_path: Path) -> None:
    content = zipped({"a.txt": b"a\n" * 100, "b.txt": b"b\n" * 100_000, "c.txt": b"c"})
    (tmp_path / "a.zip").write_bytes(content)
    found = inventory(tmp_path / "a.zip", options=ReadOptions(unpack_limits="bytes=1000"))
    [issue] = [issue for issue in found.issues if issue.code is Code.UNPACK_LIMIT]
    assert issue.file.endswith("a.zip/b.txt")
    assert not [issue for issue in found.issues if issue.file.endswith("c.txt")], "not read any more"


def test_the_time_of_unpacking_is_limited_and_that_of_the_reader_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    used = UnpackBudget(UnpackLimits(seconds=10), packed=10)

    def unpacking() -> object:
        for _ in range(5):
            clock[0] += 4
            yield b"x"

    read = []

    def read_all() -> None:
        for piece in used.pieces(used.pieces(unpacking())):  # type: ignore[arg-type]
            read.append(piece)
            clock[0] += 1000

    with pytest.raises(budget.LimitReachedError, match="what takes more than 10 seconds to unpack"):
        read_all()
    assert len(read) == 3


def test_limits_are_raised_by_name() -> None:
    assert UnpackLimits.parse("ratio=1000, bytes=2TB") == UnpackLimits(ratio=1000, bytes=2 * 10**12)
    for wrong in ("ratio", "ratio=0", "ratio=-1", "depth=3", "ratio=x", "=3"):
        with pytest.raises(ValueError, match="is not a limit such as bytes=2TB"):
            ReadOptions(unpack_limits=wrong)
