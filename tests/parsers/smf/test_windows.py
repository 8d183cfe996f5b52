"""What is read of a damaged file never depends on the size of windows, or on how the bytes come in."""

from __future__ import annotations

import io
import random
import struct
from typing import TYPE_CHECKING

import pytest
from tests.parsers.smf.framed_records import Delivered, delivered

from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.record_writer import as_blocks, as_exclusive, as_segments
from zscope.parsers.smf.walker import SMALLEST_WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable

DATE = bytes.fromhex("0126060f")


def record(rng: random.Random, size: int) -> bytes:
    system = "SYS1".encode("cp037")
    head = struct.pack(
        ">HHBBI4s4s", size, 0, 0x1E, rng.randrange(4, 256), rng.randrange(8_640_000), DATE, system
    )
    return head + rng.randbytes(size - 18)


def records(rng: random.Random) -> list[bytes]:
    """A few megabytes, so that there are borders of several windows, most of it in the longest records."""
    sizes = rng.choices([18, 24, 200, 5_000, 30_000, 32_756, 0], [2, 1, 2, 2, 3, 5, 1], k=90)
    return [record(rng, size or rng.randrange(18, 32_756)) for size in sizes]


FRAMED: dict[str, tuple[Framing, Callable[[list[bytes]], bytes]]] = {
    "stream": (Framing.RDW, b"".join),
    "exclusive": (Framing.RDW_EXCLUSIVE, lambda whole: b"".join(as_exclusive(whole))),
    "short segments": (Framing.RDW, lambda whole: b"".join(as_segments(whole, 300))),
    "long segments": (Framing.RDW, lambda whole: b"".join(as_segments(whole, 20_000))),
    "blocks": (Framing.BLOCKS, lambda whole: b"".join(as_blocks(whole, 32_760))),
    "spanned blocks": (Framing.BLOCKS, lambda whole: b"".join(as_blocks(whole, 27_998, spanned=True))),
    "short spanned blocks": (Framing.BLOCKS, lambda whole: b"".join(as_blocks(whole, 400, spanned=True))),
    "extended blocks": (Framing.BLOCKS, lambda whole: b"".join(as_blocks(whole, 400_000, extended=True))),
}


class Trickle:
    """A stream that gives now many, now few bytes."""

    def __init__(self, data: bytes, seed: int) -> None:
        self._file, self._rng = io.BytesIO(data), random.Random(seed)

    def readinto(self, buffer: memoryview, /) -> int:
        return self._file.readinto(buffer[: self._rng.choice([1, 7, 1_000, 70_000, 1 << 20])])


def everywhere_the_same(data: bytes, framing: Framing, seed: int) -> Delivered:
    """Read in windows of several sizes, and from a stream that trickles; all have to agree."""
    first = delivered(data, framing, SMALLEST_WINDOW)
    for window in (SMALLEST_WINDOW + 1 + seed * 997, 1 << 24):
        assert delivered(data, framing, window) == first
    assert delivered(Trickle(data, seed), framing, SMALLEST_WINDOW + seed * 101) == first
    return first


@pytest.mark.parametrize("name", FRAMED)
def test_undamaged(name: str) -> None:
    framing, frame = FRAMED[name]
    whole = records(random.Random(name))
    got = everywhere_the_same(frame(whole), framing, 0)
    assert [content[4:] for content in got.records] == [content[4:] for content in whole]
    assert len(got.issues) == (framing is Framing.RDW_EXCLUSIVE)


def overwritten(data: bytearray, at: int, size: int, rng: random.Random) -> None:
    size = min(size, len(data) - at)
    data[at : at + size] = rng.choice([rng.randbytes(size), bytes(size)])


def inserted(data: bytearray, at: int, size: int, rng: random.Random) -> None:
    data[at:at] = rng.choice([rng.randbytes(size), data[at : at + size]])


def deleted(data: bytearray, at: int, size: int, rng: random.Random) -> None:
    del data[at : at + size if rng.random() < 0.9 else None]


def flipped(data: bytearray, at: int, _: int, rng: random.Random) -> None:
    data[at] ^= 1 << rng.randrange(8)


def length_set(data: bytearray, at: int, _: int, rng: random.Random) -> None:
    header = data.find(DATE, at)
    if header >= 10:
        lengths = [b"\0\0", b"\0\1", b"\0\x12", b"\x7f\xff", b"\xff\xff", rng.randbytes(2)]
        data[header - 10 : header - 8] = rng.choice(lengths)


def damage(data: bytes, rng: random.Random) -> bytes:
    """Several kinds of damage, half of it around the places where small windows end."""
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 2, 4, 12])):
        at = rng.randrange(len(damaged))
        if rng.random() < 0.5:
            border = rng.randrange(1, 1 + len(damaged) // SMALLEST_WINDOW) * SMALLEST_WINDOW
            at = min(len(damaged) - 1, max(0, border + rng.randrange(-60, 60)))
        size = rng.choice([1, 2, 4, 18, 100, 5_000, 70_000])
        rng.choice([overwritten, inserted, deleted, flipped, length_set])(damaged, at, size, rng)
        if len(damaged) < SMALLEST_WINDOW:
            break
    return bytes(damaged)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", FRAMED)
def test_damaged(name: str, seed: int) -> None:
    framing, frame = FRAMED[name]
    rng = random.Random(f"{name} {seed}")
    everywhere_the_same(damage(frame(records(rng)), rng), framing, seed)


@pytest.mark.parametrize("size", [1, 40, 400, 40_000, 3 * SMALLEST_WINDOW])
@pytest.mark.parametrize("shift", [-30_000, -18, -1, 0, 1, 5])
@pytest.mark.parametrize("fill", [0x00, 0xA7, 0xFF], ids=hex)
def test_damage_across_the_border_of_a_window(size: int, shift: int, fill: int) -> None:
    rng = random.Random(size + shift)
    whole = records(rng) * 2
    data = b"".join(whole)
    begin = SMALLEST_WINDOW + shift
    end = begin + size
    got = everywhere_the_same(data[:begin] + bytes([fill]) * size + data[end:], Framing.RDW, 1)
    found, offset = list(zip(got.offsets, got.records, got.spanned, strict=True)), 0
    for content in whole:
        if offset + len(content) <= begin or offset >= end:
            assert (offset, content, False) in found
        offset += len(content)
