"""Files made to keep a reader busy: the time they take grows with their size, not with its square.

Four times the bytes may take up to nine times as long, which leaves room for a busy machine; with quadratic
work it would be sixteen times. Each of these traps was, or could easily have been, one.
"""

from __future__ import annotations

import io
import struct
import time

import pytest
from tests.marking import deep_except

from zscope.parsers.issues import Code, InputError, Issues
from zscope.parsers.smf.framing import Framing, detect
from zscope.parsers.smf.walker import SLACK, FrameReader

TIMES = 9
ENOUGH = 0.2
"""Shortest measurement in seconds that is meaningful."""


def header(length: int = 18, segment: int = 0, time_of_day: int = 7) -> bytes:
    date, system = bytes.fromhex("0126060f"), "SYS1".encode("cp037")
    return struct.pack(">HBBBBI4s4s", length, segment, 0, 0x1E, 30, time_of_day, date, system)


GOOD = header()
NO_DATE = GOOD[:8] + b"\xff" * 6 + GOOD[14:]
# Nine bytes that make a believable header at each repetition: the parts of one fit those of the next two.
DENSE = bytes.fromhex("400000001fc1004040")
BLOCK = b"\0\x16\0\0" + GOOD

KB, MB = 1 << 10, 1 << 20
TRAPS: dict[str, tuple[int, Framing, bytes, bytes]] = {
    "zeros": (8 * MB, Framing.RDW, GOOD, b"\0"),
    "all bits set": (8 * MB, Framing.RDW, GOOD, b"\xff"),
    "headers whose length leads far": (256 * KB, Framing.RDW, b"", header(0xFFFF)),
    "headers whose length leads into the next": (256 * KB, Framing.RDW, b"", header(19)),
    "headers everywhere": (128 * KB, Framing.RDW, GOOD, DENSE),
    "a gap of one byte after every record": (128 * KB, Framing.RDW, b"", GOOD + b"\xee"),
    "a length of zero after every second record": (256 * KB, Framing.RDW, b"", GOOD * 2 + bytes(4)),
    "a gap after every fifty records": (2 * MB, Framing.RDW, b"", GOOD * 50 + b"\xee"),
    "damaged headers between good ones": (256 * KB, Framing.RDW, b"", GOOD + NO_DATE),
    "more damaged headers than are skipped": (512 * KB, Framing.RDW, b"", GOOD + NO_DATE * 4),
    "middle segments of five bytes": (256 * KB, Framing.RDW, GOOD * 2 + header(18, 1), b"\0\5\3\0A"),
    "last segments of five bytes": (128 * KB, Framing.RDW, GOOD * 2, b"\0\5\2\0A"),
    "first segments of five bytes": (128 * KB, Framing.RDW, GOOD * 2, b"\0\5\1\0A"),
    "first segments that are never continued": (256 * KB, Framing.RDW, GOOD * 2, header(18, 1)),
    "descriptors without anything": (8 * MB, Framing.RDW, GOOD * 2, b"\0\4\3\0"),
    "null segments": (8 * MB, Framing.RDW, GOOD * 2, b"\0\4\x80\0"),
    "descriptors twice": (MB, Framing.RDW, b"", b"\0\x16\0\0\0\0\0\0" + GOOD[4:]),
    "garbage that claims the records after it": (
        MB,
        Framing.RDW,
        GOOD * 2,
        b"\xff\xfe\2\0" + b"\x12" * 10 + GOOD * 3_000,
    ),
    "blocks of one record": (512 * KB, Framing.BLOCKS, b"", BLOCK),
    "blocks that are too long": (256 * KB, Framing.BLOCKS, BLOCK, b"\x7f\x17\0\0" + GOOD),
    "blocks that are too short": (256 * KB, Framing.BLOCKS, BLOCK, b"\0\x09\0\0" + GOOD),
    "blocks of length zero": (256 * KB, Framing.BLOCKS, BLOCK, bytes(4) + GOOD),
    "null segments in long blocks": (256 * KB, Framing.BLOCKS, BLOCK, b"\x7f\x1a\0\0" + GOOD + b"\0\4\x80\0"),
}


def seconds(data: bytes, framing: Framing) -> float:
    """How long it takes to tell the framing and read everything."""
    begun = time.process_time()
    try:
        detect(data[: 1 << 20], whole=len(data) <= 1 << 20)
    except InputError as error:
        assert error.issue.code is Code.UNKNOWN_DATA  # noqa: PT017 - refusing is as good as reading
    issues = Issues()
    for window in FrameReader(io.BytesIO(data), framing, issues):
        assert len(window.data) <= 2 * len(data) + SLACK
    assert len(issues)
    assert sum(1 for _ in issues) < 3_000
    return time.process_time() - begun


SHORT = ("headers everywhere", "first segments that are never continued", "blocks that are too short")
"""One trap of each framing; the others are deep tests."""


@pytest.mark.parametrize("name", deep_except(SHORT, TRAPS))
def test_time_grows_with_the_size(name: str) -> None:
    size, framing, start, repeated = TRAPS[name]
    long = (start + repeated * (size // len(repeated) + 1))[:size] + b"\xee"
    short = long[: size // 4] + b"\xee"
    seconds(short[: size // 64], framing)
    once = min(seconds(short, framing) for _ in range(2))
    assert seconds(long, framing) < TIMES * max(once, ENOUGH)
