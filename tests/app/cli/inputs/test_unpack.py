"""`zscope unpack`: every packing and framing."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from click.testing import Result

from zscope.parsers.smf.record_writer import as_blocks, as_exclusive, as_segments

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]


def records(data: bytes) -> list[bytes]:
    result = []
    while data:
        length = int.from_bytes(data[:2], "big")
        result.append(data[:length])
        data = data[length:]
    return result


@pytest.mark.parametrize("frame", [as_blocks, as_exclusive, lambda parts: as_segments(parts, 200)])
def test_every_framing_becomes_a_plain_stream(
    frame: Callable[[list[bytes]], list[bytes]], run: Run, dump_bytes: bytes, tmp_path: Path
) -> None:
    source, target = tmp_path / "framed", tmp_path / "plain.smf"
    source.write_bytes(b"".join(frame(records(dump_bytes) * 10)))
    result = run("unpack", source, "-o", target)
    assert result.exit_code == 0
    assert target.read_bytes() == dump_bytes * 10


def test_gzip_and_zip_are_unpacked(run: Run, dump_bytes: bytes, tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("dump.smf", dump_bytes)
    source, target = tmp_path / "dump.gz", tmp_path / "plain.smf"
    source.write_bytes(gzip.compress(inner.getvalue()))
    result = run("unpack", source, "-o", target)
    assert target.read_bytes() == dump_bytes
    assert "packed with gzip, zip, " in result.stderr


def test_other_packed_data_is_written_unchanged(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "notes.gz", tmp_path / "notes.txt"
    source.write_bytes(gzip.compress(b"These are my notes.\n"))
    assert run("unpack", source, "-o", target).exit_code == 0
    assert target.read_bytes() == b"These are my notes.\n"


def test_standard_input_to_standard_output(run: Run, dump_bytes: bytes) -> None:
    result = run("unpack", "-", "-o", "-", stdin=gzip.compress(dump_bytes))
    assert result.stdout_bytes == dump_bytes


def test_an_unreadable_input_keeps_the_output(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "notes.txt", tmp_path / "out.smf"
    source.write_text("These are my notes about SMF.\n" * 100)
    target.write_text("as it was")
    result = run("unpack", source, "-o", target)
    assert result.exit_code == 8
    assert target.read_text() == "as it was"
    assert run("unpack", tmp_path / "missing", "-o", target).exit_code == 12
    assert target.read_text() == "as it was"


def test_damage_is_reported_and_the_rest_is_written(run: Run, dump: Path, dump_bytes: bytes) -> None:
    dump.write_bytes(dump_bytes[:-100])
    target = dump.parent / "out.smf"
    assert run("unpack", dump, "-o", target).exit_code == 4
    assert target.read_bytes() == b"".join(records(dump_bytes)[:2])


def test_an_output_is_required(run: Run, dump: Path) -> None:
    result = run("unpack", dump)
    assert result.exit_code == 12
    assert "Missing option '-o'" in result.stderr
