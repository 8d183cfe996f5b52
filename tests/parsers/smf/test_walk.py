"""Two engines follow the chain of records: one record at a time, and many stretches at once. They agree."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zscope.parsers.smf.chain import ENOUGH, LANE_BYTES, follow, stretches, walk

HEADER = b"\0\0\x5e\x1e" + (3_600_000).to_bytes(4, "big") + bytes.fromhex("0126060f") + "SYSA".encode("cp037")
"""What follows the length: an ordinary record of type 30."""
FURTHER = 100_000
"""So far after a break the engines are started again."""
SIZE = (ENOUGH + 10) * LANE_BYTES


@dataclass(frozen=True)
class Chain:
    """Bytes with records in them."""

    data: bytearray
    starts: list[int]


def _chain(random: np.random.Generator, shortest: int, longest: int, extra: int = 0) -> Chain:
    """Records of random length and content, one after the other."""
    count = 2 * SIZE // (shortest + longest) + 1000
    lengths = random.integers(shortest, longest, count, endpoint=True)
    ends = np.cumsum(lengths)
    lengths, ends = lengths[ends <= SIZE], ends[ends <= SIZE]
    starts = ends - lengths
    data = np.frombuffer(random.bytes(int(ends[-1])), np.uint8).copy()
    data[starts], data[starts + 1] = (lengths - extra) >> 8, (lengths - extra) & 0xFF
    data[starts[:, None] + np.arange(2, 18)] = np.frombuffer(HEADER, np.uint8)
    return Chain(bytearray(data), starts.tolist())


def _spoil(random: np.random.Generator, chain: Chain, kind: str) -> None:
    """Change a place the way files are spoiled."""
    data = chain.data
    place = int(random.integers(0, len(data)))
    start = chain.starts[int(random.integers(0, len(chain.starts)))]
    match kind:
        case "noise":
            data[place : place + 3000] = random.bytes(3000)
        case "zeros":
            data[place : place + 200_000] = bytes(200_000)
        case "segment":
            data[start + 2] = int(random.integers(1, 4))
        case "length":
            data[start : start + 2] = random.bytes(2)
        case "lost":
            del data[place : place + int(random.integers(1, 5000))]
        case "decoys":
            _decoys(random, chain)


def _decoys(random: np.random.Generator, chain: Chain) -> None:
    """Put little chains of what looks like records where lanes are likely to begin, inside real records."""
    bounds = [*chain.starts, len(chain.data)]
    for place in range(LANE_BYTES, len(chain.data), LANE_BYTES):
        index = int(np.searchsorted(chain.starts, place, "right"))
        at = max(place, bounds[index - 1] + 18)
        while at + 18 <= bounds[index]:
            length = int(random.integers(18, 60))
            chain.data[at : at + 18] = length.to_bytes(2, "big") + HEADER
            at += length


def _both(data: bytearray, position: int, stop: int, extra: int) -> tuple[list[int], int]:
    """Return the records of one engine, after checking that the other returns the same."""
    one_by_one: list[int] = []
    at_once = array("q")
    reached = follow(memoryview(data), position, stop, stop, extra, one_by_one)
    assert walk(memoryview(data), position, stop, extra, at_once) == reached
    assert at_once.tolist() == one_by_one
    return one_by_one, reached


@pytest.mark.parametrize("extra", [0, 4])
@pytest.mark.parametrize(("shortest", "longest"), [(493, 493), (24, 90), (200, 3000), (18, 32_756)])
def test_all_records_are_returned(shortest: int, longest: int, extra: int) -> None:
    chain = _chain(np.random.default_rng(longest), shortest + extra, longest + extra, extra)
    starts, reached = _both(chain.data, 0, len(chain.data), extra)
    assert starts == chain.starts
    assert reached == len(chain.data)


def test_stretches_hold_nearly_all_records_of_an_ordinary_dump() -> None:
    """Otherwise the fast engine would agree by leaving all the work to the slow one."""
    chain = _chain(np.random.default_rng(7), 300, 700)
    parts = list(stretches(np.frombuffer(chain.data, np.uint8), 0, len(chain.data), 0))
    assert parts[0].first == 0
    assert sum(len(part.starts) for part in parts) > 0.9 * len(chain.starts)


def test_a_small_buffer_is_no_case_for_stretches() -> None:
    chain = _chain(np.random.default_rng(7), 300, 700)
    assert list(stretches(np.frombuffer(chain.data, np.uint8), 0, len(chain.data) // 4, 0)) == []


def test_decoys_are_stepped_over() -> None:
    random = np.random.default_rng(3)
    chain = _chain(random, 300, 9000)
    _decoys(random, chain)
    parts = list(stretches(np.frombuffer(chain.data, np.uint8), 0, len(chain.data), 0))
    assert not {part.first for part in parts} <= set(chain.starts), "no decoy was taken for a record"
    starts, _ = _both(chain.data, 0, len(chain.data), 0)
    assert starts == chain.starts


@given(
    seed=st.integers(0, 2**32 - 1),
    longest=st.sampled_from([60, 500, 2000, 32_760]),
    extra=st.sampled_from([0, 4]),
    kinds=st.lists(st.sampled_from(["noise", "zeros", "segment", "length", "lost", "decoys"]), max_size=4),
    end=st.integers(0, 600),
)
@example(seed=1, longest=60, extra=0, kinds=["zeros"], end=3)
def test_both_engines_agree_on_spoiled_data(
    seed: int, longest: int, extra: int, kinds: list[str], end: int
) -> None:
    """Also after a break, where the reader would go on, and when the buffer ends inside a record."""
    random = np.random.default_rng(seed)
    chain = _chain(random, 18 + extra, longest, extra)
    for kind in kinds:
        _spoil(random, chain, kind)
    stop = len(chain.data) - end
    position = 0
    while position < stop:
        _, reached = _both(chain.data, position, stop, extra)
        after = np.searchsorted(chain.starts, reached + FURTHER)
        position = chain.starts[after] if after < len(chain.starts) else stop
