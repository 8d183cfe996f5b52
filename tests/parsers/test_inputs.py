"""Inputs are unpacked from any packing, and damage to the packing loses only the damaged part."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import random
import socket
import subprocess
import sys
import tarfile
import zipfile
import zlib
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.marking import deep_except

from zscope.parsers import Code, Issues, ReadOptions, Severity, inventory, read, unpack
from zscope.parsers.containers.terse_write import pack
from zscope.parsers.inputs import input_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _record(number: int) -> bytes:
    """A user record of type 200 with its number as content."""
    body = bytes.fromhex("1ec8 00000064 0126010f e2e8e2c1".replace(" ", "")) + number.to_bytes(4, "big")
    return (4 + len(body)).to_bytes(2, "big") + b"\0\0" + body


RECORDS = [_record(number) for number in range(500)]
PLAIN = b"".join(RECORDS)


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _terse(form: str) -> bytes:
    contents = [record[4:] for record in RECORDS]
    return pack(contents, variable=True, record_length=255, form="PACK" if form == "PACK" else "SPACK")


def _arrow(codec: str, content: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, codec) as stream:
        stream.write(content)
    return bytes(out.getvalue())


def _tar(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        folder = tarfile.TarInfo("dumps")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return out.getvalue()


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": partial(_arrow, "zstd"),
    "lz4": partial(_arrow, "lz4"),
}
WRAPPED = {
    "plain": (PLAIN, ""),
    "gzip of two members and padding": (
        gzip.compress(PLAIN[:5000]) + gzip.compress(PLAIN[5000:]) + bytes(512),
        "gzip",
    ),
    "zip": (_zip({"a.smf": PLAIN}), "zip"),
    "gzip of zip": (gzip.compress(_zip({"a.smf": PLAIN})), "gzip, zip"),
    "zip of gzip": (_zip({"a.smf.gz": gzip.compress(PLAIN)}), "zip, gzip"),
    "terse PACK": (_terse("PACK"), "AMATERSE PACK"),
    "terse SPACK": (_terse("SPACK"), "AMATERSE SPACK"),
    **{name: (compress(PLAIN), name) for name, compress in COMPRESSED.items()},
    **{
        f"{name} of two streams": (compress(PLAIN[:5000]) + compress(PLAIN[5000:]), name)
        for name, compress in COMPRESSED.items()
    },
    "xz of two streams and padding": (
        lzma.compress(PLAIN[:5000]) + bytes(8) + lzma.compress(PLAIN[5000:]),
        "xz",
    ),
    "tar": (_tar({"a.smf": PLAIN}), "tar"),
    "zstd of tar": (_arrow("zstd", _tar({"a.smf": PLAIN})), "zstd, tar"),
    "tar of xz": (_tar({"a.smf.xz": lzma.compress(PLAIN)}), "tar, xz"),
    "gzip of terse": (gzip.compress(_terse("PACK")), "gzip, AMATERSE PACK"),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_every_wrapping_gives_the_same_records(tmp_path: Path, name: str) -> None:
    content, packing = WRAPPED[name]
    file = tmp_path / "no-telling-name"
    file.write_bytes(content)
    out = io.BytesIO()
    report = unpack(file, out)
    assert out.getvalue() == PLAIN
    assert report.records == 500
    assert len(report.issues) == 0
    assert ", ".join(report.files[0].packing) == packing


def test_every_member_of_a_zip_is_read(tmp_path: Path) -> None:
    file = tmp_path / "dumps.zip"
    file.write_bytes(_zip({"monday/a": PLAIN, "tuesday/b": RECORDS[0], "empty/": b""}))
    rows = inventory(file).rows.select(["file", "records"]).to_pylist()
    assert rows == [
        {"file": f"{file}/monday/a", "records": 500},
        {"file": f"{file}/tuesday/b", "records": 1},
    ]


@pytest.mark.parametrize("name", deep_except(["gzip"], ["plain", "gzip", "zip", "terse PACK"]))
def test_standard_input(name: str) -> None:
    content, _ = WRAPPED[name]
    program = "from zscope.parsers import inventory; print(inventory('-').rows['records'].to_pylist())"
    done = subprocess.run([sys.executable, "-c", program], input=content, capture_output=True, check=True)
    assert done.stdout.split() == [b"[500]"]


def test_truncated_gzip_delivers_what_came_before(tmp_path: Path) -> None:
    noise = os.urandom(200_000)
    records = [_record(0)[:-4] + noise[at : at + 1000] for at in range(0, len(noise), 1000)]
    records = [len(record).to_bytes(2, "big") + record[2:] for record in records]
    packed = gzip.compress(b"".join(records))
    file = tmp_path / "half.gz"
    file.write_bytes(packed[: len(packed) // 2])
    result = inventory(file)
    assert {issue.code for issue in result.issues} == {Code.TRUNCATED, Code.ARCHIVE_DAMAGED}
    assert 95 <= result.rows["records"][0].as_py() <= 100
    texts = {issue.code: issue.text for issue in result.issues}
    assert texts[Code.ARCHIVE_DAMAGED] == (
        "the gzip data end before they are complete; what came before was read; transfer it again"
    )


@pytest.mark.parametrize("name", COMPRESSED)
def test_what_comes_before_the_end_of_a_cut_file_is_read(name: str, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(4_000_000)
    records = [_record(0) + noise[at : at + 1000] for at in range(0, len(noise), 1000)]
    packed = COMPRESSED[name](b"".join(len(record).to_bytes(2, "big") + record[2:] for record in records))
    file = tmp_path / "half"
    file.write_bytes(packed[: len(packed) // 2])
    result = inventory(file)
    texts = {issue.code: issue.text for issue in result.issues}
    assert texts[Code.ARCHIVE_DAMAGED].startswith(f"the {name} data ")
    assert texts[Code.ARCHIVE_DAMAGED].endswith("; what came before was read; transfer it again")
    assert 0.2 * len(records) <= result.rows["records"][0].as_py() <= 0.5 * len(records)


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])  # the others need no checksum
def test_a_changed_byte_of_a_compressed_file_is_reported(name: str, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(1000)
    packed = bytearray(COMPRESSED[name](PLAIN + noise))
    packed[len(packed) // 2] ^= 0xFF
    file = tmp_path / "changed"
    file.write_bytes(packed)
    result = inventory(file)
    assert any(f"the {name} data " in issue.text for issue in result.issues), [*result.issues]


def test_every_file_of_a_tar_archive_is_read(tmp_path: Path) -> None:
    file = tmp_path / "dumps.tar"
    file.write_bytes(
        _tar({"monday/a": PLAIN, "note.txt": b"Dear all\n", "tuesday/b.gz": gzip.compress(RECORDS[0])})
    )
    result = inventory(file)
    rows = result.rows.filter(pc.is_valid(result.rows["record_type"])).select(["file", "records"]).to_pylist()
    assert rows == [
        {"file": f"{file}/monday/a", "records": 500},
        {"file": f"{file}/tuesday/b.gz", "records": 1},
    ]
    assert [issue.file for issue in result.issues] == [f"{file}/note.txt"]


def test_files_before_the_end_of_a_cut_tar_archive_are_read(tmp_path: Path) -> None:
    whole = _tar({"a": PLAIN, "b": PLAIN})
    file = tmp_path / "cut.tar"
    file.write_bytes(whole[: len(whole) // 2 - 2000])
    result = inventory(file)
    assert {issue.code for issue in result.issues} >= {Code.ARCHIVE_DAMAGED}
    assert result.rows["records"].to_pylist()[0] > 300


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("377abcaf271c", "packed as 7z, which zscope does not read; unpack it (7z x FILE)"),
        ("526172211a0700", "packed as RAR"),
        ("4d53434600000000", "packed as cabinet"),
        ("1f9d90", "packed as compress (.Z), which zscope does not read; unpack it (uncompress FILE)"),
        ("4c5a495001", "packed as lzip"),
    ],
)
def test_a_packing_that_is_not_read_is_named(head: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "packed"
    file.write_bytes(bytes.fromhex(head) + random.Random(1).randbytes(300))
    (issue,) = inventory(file).issues
    assert issue.code is Code.PACKING_UNREAD
    assert words in issue.text


def test_an_xz_file_that_takes_too_much_memory_is_not_unpacked(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 29}]
    file = tmp_path / "large.xz"
    file.write_bytes(lzma.compress(PLAIN, filters=filters))
    (issue,) = inventory(file).issues
    assert "Memory usage limit" in issue.text


def test_flipped_bit_in_gzip_is_reported(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(PLAIN))
    packed[len(packed) - 6] ^= 0x10  # in the checksum
    file = tmp_path / "flipped.gz"
    file.write_bytes(packed)
    result = inventory(file)
    assert [issue.code for issue in result.issues] == [Code.ARCHIVE_DAMAGED]
    assert "incorrect data check" in next(iter(result.issues)).text
    assert result.rows["records"].to_pylist() == [500]


def test_a_damaged_zip_member_does_not_affect_others(tmp_path: Path) -> None:
    packed = bytearray(_zip({"a": PLAIN, "b": PLAIN}))
    packed[packed.find(zlib.compress(PLAIN)[2:60]) + 40] ^= 0xFF
    file = tmp_path / "damaged.zip"
    file.write_bytes(packed)
    result = inventory(file)
    damaged = [issue for issue in result.issues if issue.text.startswith("the zip member is damaged")]
    assert [issue.file for issue in damaged] == [f"{file}/a"]
    whole = [row["records"] for row in result.rows.to_pylist() if row["file"] == f"{file}/b"]
    assert whole == [500]


def test_zip_without_directory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cut.zip"
    file.write_bytes(_zip({"a": PLAIN})[:-30])
    result = inventory(file)
    (issue,) = result.issues
    assert issue.code is Code.UNREADABLE
    assert issue.text == "the zip archive cannot be opened (File is not a zip file); transfer it again"


def test_encrypted_zip_member_is_reported(tmp_path: Path) -> None:
    packed = bytearray(_zip({"a": PLAIN}))
    packed[6] |= 1  # the flag for encryption, in the local header and in the directory
    packed[packed.find(b"PK\x01\x02") + 8] |= 1
    file = tmp_path / "secret.zip"
    file.write_bytes(packed)
    (issue,) = inventory(file).issues
    assert (issue.code, issue.text) == (
        Code.UNREADABLE,
        "the zip member is encrypted: pack it again without a password; nothing of it was read",
    )


def test_an_empty_zip_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "empty.zip"
    file.write_bytes(_zip({}))
    (issue,) = inventory(file).issues
    assert (issue.code, issue.text) == (Code.EMPTY, "there is no file in the zip archive")


def test_unpack_writes_only_dumps(tmp_path: Path) -> None:
    """Other files of an archive are not written between records, and a damaged dump is refused."""
    beside = tmp_path / "beside.zip"
    beside.write_bytes(_zip({"a.smf": PLAIN, "read.me": b"hello " * 50}))
    out = io.BytesIO()
    report = unpack(beside, out)
    assert out.getvalue() == PLAIN
    assert [issue.code for issue in report.issues] == [Code.UNKNOWN_DATA]
    spoiled = tmp_path / "spoiled.gz"
    spoiled.write_bytes(gzip.compress(b"".join(record[4:] for record in RECORDS)))
    out = io.BytesIO()
    report = unpack(spoiled, out)
    assert out.getvalue() == b""
    assert [issue.code for issue in report.issues] == [Code.RDW_STRIPPED]


def test_an_unreadable_file_does_not_affect_others(tmp_path: Path) -> None:
    """Its own memory is a file that a process may open but not read from the start."""
    good = tmp_path / "good.smf"
    good.write_bytes(PLAIN)
    result = inventory(["/proc/self/mem", good])
    (issue,) = result.issues
    assert issue.code is Code.UNREADABLE
    assert issue.text == "cannot be read: Input/output error; nothing of it was read"
    assert result.rows["records"].to_pylist() == [500]


def test_truncated_terse_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "cut.trs"
    file.write_bytes(_terse("SPACK")[:1024])
    result = inventory(file)
    records = result.rows["records"].to_pylist()
    assert records
    assert 0 < records[0] < 500
    (issue,) = result.issues
    assert issue.code is Code.ARCHIVE_DAMAGED
    assert "without an end code" in issue.text


def test_foreign_terse_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "foreign.trs"
    file.write_bytes(bytes.fromhex("018969a50050") + bytes(100))
    (issue,) = inventory(file).issues
    assert issue.code is Code.TERSE_FOREIGN
    assert "pack the dump with AMATERSE on z/OS" in issue.text


def test_endless_nesting_ends(tmp_path: Path) -> None:
    content = PLAIN
    for _ in range(20):
        content = gzip.compress(content)
    file = tmp_path / "matryoshka.gz"
    file.write_bytes(content)
    (issue,) = inventory(file).issues
    assert issue.code is Code.UNPACK_LIMIT
    assert issue.text.startswith("contains more than 8 layers of packing, so it was not read to its end")


def test_missing_file_is_an_issue_and_the_others_are_read(tmp_path: Path) -> None:
    good = tmp_path / "good.smf"
    good.write_bytes(PLAIN)
    result = inventory([tmp_path / "missing.smf", good])
    (issue,) = result.issues
    assert (issue.code, issue.text) == (Code.UNREADABLE, "cannot be read: No such file or directory")
    assert result.rows["records"].to_pylist() == [500]


def test_folders_are_walked_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b/two.smf", "a/one.smf", ".hidden/three.smf", "a/.four.smf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(PLAIN)
    files = [row["file"] for row in inventory(tmp_path).rows.to_pylist()]
    assert files == [str(tmp_path / "a/one.smf"), str(tmp_path / "b/two.smf")]


def test_special_files_in_a_folder_are_reported_and_not_opened(tmp_path: Path) -> None:
    folder = tmp_path / "night"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "good.smf").write_bytes(PLAIN)
    (folder / "good.smf").symlink_to(folder / "below" / "good.smf")
    os.mkfifo(folder / "pipe")
    (folder / "null").symlink_to("/dev/null")
    (folder / "again").symlink_to(folder / "below")
    (folder / "broken").symlink_to(tmp_path / "gone.smf")
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / ".hidden")
    (folder / ".broken").symlink_to("gone")
    with socket.socket(socket.AF_UNIX) as server, chdir(folder):
        server.bind("socket")  # by a short name: a long one is not possible
    result = inventory(folder)
    assert [row["file"] for row in result.rows.to_pylist()] == [
        str(folder / "good.smf"),
        str(folder / "below" / "good.smf"),
    ]
    issues = {Path(issue.file).name: (issue.severity, issue.text) for issue in result.issues}
    assert issues == {
        "again": (Severity.NOTE, "skipped: a link to a folder; name it directly to read its contents"),
        "broken": (
            Severity.REFUSED,
            f"cannot be read: it is a link to {tmp_path / 'gone.smf'}, which does not exist",
        ),
        "loop": (Severity.REFUSED, f"cannot be read: {os.strerror(errno.ELOOP)}"),
        "null": (Severity.NOTE, "skipped: a device"),
        "pipe": (Severity.NOTE, "skipped: a pipe; name it directly to read from it"),
        "socket": (Severity.NOTE, "skipped: a socket"),
    }


def test_a_file_removed_while_others_are_read_is_ignored(tmp_path: Path) -> None:
    for name in ("a.smf", "b.smf"):
        (tmp_path / name).write_bytes(PLAIN)
    issues = Issues()
    paths = input_paths([tmp_path], issues)
    assert next(paths) == (str(tmp_path / "a.smf"), False)
    (tmp_path / "b.smf").rename(tmp_path / "moved.smf")
    assert (list(paths), list(issues)) == ([], [])


def test_a_folder_that_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For root nothing is unreadable, so the error of the operating system is simulated."""
    locked = tmp_path / "locked"
    locked.mkdir()
    (tmp_path / "open.smf").write_bytes(PLAIN)
    list_folder = os.scandir

    def scandir(path: str) -> Iterator[os.DirEntry[str]]:
        if path == str(locked):
            raise PermissionError(13, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = inventory(tmp_path)
    assert [str(issue) for issue in result.issues] == [
        f"{locked}: cannot be read: Permission denied [unreadable]"
    ]
    assert result.rows["records"].to_pylist() == [500]


@pytest.mark.parametrize(("megabytes", "most"), [(128, 230), pytest.param(512, 300, marks=pytest.mark.deep)])
def test_a_bomb_is_unpacked_in_small_steps(tmp_path: Path, megabytes: int, most: int) -> None:
    """A small file that unpacks to many megabytes of zeros must not be in memory at once.

    The peak is that of the program itself: getrusage would include the process it was forked from.
    """
    file = tmp_path / "bomb.gz"
    packer = zlib.compressobj(9, wbits=31)
    with file.open("wb") as out:
        out.write(packer.compress(PLAIN))
        for _ in range(megabytes):
            out.write(packer.compress(bytes(1 << 20)))
        out.write(packer.flush())
    program = (
        "import sys; from zscope.parsers import inventory; result = inventory(sys.argv[1]);"
        "peak = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'));"
        "print(result.rows['records'].to_pylist(), int(peak) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", program, file], capture_output=True, check=True, text=True)
    records, peak = done.stdout.split()
    assert records == "[500]"
    assert int(peak) < most


def test_strict_reading_raises_the_first_issue(tmp_path: Path) -> None:
    file = tmp_path / "cut.smf"
    file.write_bytes(PLAIN[:-3])
    with pytest.raises(Exception, match="the file ends inside a record") as caught:
        read(file, "smf_record", options=ReadOptions(strict=True))
    assert type(caught.value).__name__ == "InputError"
