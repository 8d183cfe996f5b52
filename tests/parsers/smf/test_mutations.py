"""Thousands of small dumps with random damage: all end in records, issues or a refusal, within seconds.

Each dump is detected and read. Decoding costs the same for one record as for hundreds, so the records of many
dumps are decoded together, and those of some dumps alone.
"""

from __future__ import annotations

import io
import random
import time
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from tests.dumps import generated
from tests.parsers.smf.decoders import default_decoder

from zscope.parsers.issues import InputError, Issues, Severity
from zscope.parsers.options import Selection
from zscope.parsers.smf.dump import decode_windows
from zscope.parsers.smf.framing import detect
from zscope.parsers.smf.header import HEADER_LENGTH
from zscope.parsers.smf.walker import SLACK, FrameReader, Window
from zscope.samples.dump.recipe import FRAMINGS, Recipe, RecordKind
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNKS, PER_CHUNK = 30, 100
SHORT_CHUNKS = 5
"""The other chunks run in the deep tests only."""
ALONE = 50
"""One in so many is decoded alone as well."""
SECONDS = 2.0
"""Far more than any of them needs, a hundred times, on a slow machine."""

MIXES = (
    (
        RecordKind.ZERT_DETAIL,
        RecordKind.ZERT_SUMMARY,
        RecordKind.TCP_INIT,
        RecordKind.TCP_TERM,
        RecordKind.UNKNOWN_SUBTYPE,
    ),
    (
        RecordKind.FTP_CLIENT,
        RecordKind.FTP_SERVER,
        RecordKind.FTP_FAILURE,
        RecordKind.TN3270_INIT,
        RecordKind.TN3270_TERM,
    ),
    (RecordKind.RMF_CPU, RecordKind.RMF_CRYPTO, RecordKind.TCP_TERM),
)
BLOCK_SIZES = {"segments": 400, "bdw": 8_000, "bdw-spanned": 700, "bdw-extended": 60_000}


@cache
def dump(mix: tuple[RecordKind, ...], framing: str) -> bytes:
    """Two records of each kind."""
    shares = dict.fromkeys(mix, 1.0)
    block_size = BLOCK_SIZES.get(framing, 8_000)
    return generated(Recipe(records=2 * len(mix), mix=shares, framing=framing, block_size=block_size))


def flip_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 3, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwrite(data: bytearray, rng: random.Random) -> None:
    at, size = stretch(data, rng)
    data[at : at + size] = rng.choice([bytes(size), b"\xff" * size, rng.randbytes(size)])


def insert(data: bytearray, rng: random.Random) -> None:
    at, size = stretch(data, rng)
    data[at:at] = rng.choice([bytes(size), rng.randbytes(size)])


def delete(data: bytearray, rng: random.Random) -> None:
    at, size = stretch(data, rng)
    del data[at : at + size]


def cut_off(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def double(data: bytearray, rng: random.Random) -> None:
    at, size = stretch(data, rng)
    data[at:at] = data[at : at + size]


def swap(data: bytearray, rng: random.Random) -> None:
    size = rng.choice([4, 64, 512])
    at, other = sorted(rng.randrange(len(data)) for _ in range(2))
    if at + size <= other <= len(data) - size:
        data[at : at + size], data[other : other + size] = data[other : other + size], data[at : at + size]


def set_length(data: bytearray, rng: random.Random) -> None:
    """Any two bytes, but mostly two that stand before a zero or a segment code, as lengths do."""
    words = [at for at in range(len(data) - 3) if data[at + 3] == 0 and data[at + 2] <= 3]
    at = rng.choice(words or [0])
    data[at : at + 2] = rng.choice([b"\0\0", b"\0\1", b"\xff\xff", b"\0\4", b"\0\5", rng.randbytes(2)])


def stretch(data: bytearray, rng: random.Random) -> tuple[int, int]:
    at = rng.randrange(len(data))
    return at, min(rng.choice([1, 1, 2, 3, 4, 8, 60, 700]), len(data) - at)


MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip_bits,
    overwrite,
    insert,
    delete,
    cut_off,
    double,
    swap,
    set_length,
)


def mutated(seed: int) -> bytes:
    rng = random.Random(seed)
    data = bytearray(dump(MIXES[seed % 3], FRAMINGS[seed // 3 % len(FRAMINGS)]))
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        rng.choice(MUTATIONS)(data, rng)
        if len(data) < HEADER_LENGTH:
            break
    return bytes(data)


def read(data: bytes, name: str) -> tuple[list[Window], Issues]:
    """All windows of a damaged dump; none if it is refused."""
    issues = Issues()
    try:
        framing = detect(data, whole=True, file=name)
    except InputError as error:
        issues.add(error.issue)
        return [], issues
    return list(FrameReader(io.BytesIO(data), framing, issues, name)), issues


def check(data: bytes, windows: list[Window], issues: Issues) -> None:
    """Check the rules for every file, however damaged."""
    records = 0
    assert windows or len(issues), "a file without records is refused or has an issue"
    assert (issues.worst is Severity.REFUSED) <= (not windows)
    for window in windows:
        assert window.first_record == records + 1
        records += len(window.starts)
        assert (window.lengths >= HEADER_LENGTH).all()
        assert (window.starts >= 0).all()
        assert (window.starts + window.lengths <= len(window.data) - SLACK).all()
        assert (np.diff(window.offsets) > 0).all()
        assert (window.offsets >= 0).all()
        assert (window.offsets < len(data)).all()
    assert sum(len(window.data) for window in windows) <= 2 * len(data) + SLACK * len(windows)
    for issue in issues:
        assert issue.offset is None or 0 <= issue.offset <= len(data)
        assert issue.end is None or issue.offset is None or issue.end > issue.offset
        assert issue.text


EVERYTHING = Selection(dict.fromkeys(table_names()))


def decode_alone(data: bytes, name: str) -> None:
    issues = Issues()
    try:
        reader = FrameReader(io.BytesIO(data), detect(data, whole=True), issues, name)
    except InputError:
        return
    for window, batches in decode_windows(reader, default_decoder(EVERYTHING, issues, name), jobs=1):
        for _, batch in batches:
            batch.validate(full=True)
            assert batch.num_rows
        assert len(window.starts)


def decode_together(windows: list[Window]) -> None:
    """Decode the records of many dumps as if they had come in one window."""
    records = [
        window.data[start : start + length]
        for window in windows
        for start, length in zip(window.starts.tolist(), window.lengths.tolist(), strict=True)
    ]
    lengths = np.array([len(record) for record in records], np.int64)
    starts = np.cumsum(lengths) - lengths
    data = np.concatenate([*records, np.zeros(SLACK, np.uint8)])
    whole = Window(data, starts, lengths, starts, np.zeros(len(records), np.bool_), 1, len(data))
    decoder = default_decoder(EVERYTHING, Issues(), "together")
    for _, batches in decode_windows(cast("FrameReader", [whole]), decoder, jobs=1):
        for _, batch in batches:
            batch.validate(full=True)


@pytest.mark.parametrize(
    "chunk",
    [*range(SHORT_CHUNKS), *(pytest.param(n, marks=pytest.mark.deep) for n in range(SHORT_CHUNKS, CHUNKS))],
)
def test_mutations(chunk: int) -> None:
    everything: list[Window] = []
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        name = f"seed {seed}"
        data = mutated(seed)
        begun = time.process_time()
        windows, issues = read(data, name)
        if seed % ALONE == 0:
            decode_alone(data, name)
        assert time.process_time() - begun < SECONDS, name
        check(data, windows, issues)
        everything += windows
    assert len(everything) > PER_CHUNK / 2, "most dumps should still be readable"
    decode_together(everything)


def test_the_dumps_are_good_before_they_are_damaged() -> None:
    for mix in MIXES:
        for framing in FRAMINGS:
            windows, issues = read(dump(mix, framing), framing)
            assert [len(window.starts) for window in windows] == [2 * len(mix) + 2]
            assert issues.worst in {None, Severity.NOTE}
