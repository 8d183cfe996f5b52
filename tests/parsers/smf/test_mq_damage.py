"""MQ records that are of other releases, that lie about their make-up, or of which pieces are missing."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import pytest
from tests.parsers.smf.mq_composed import ACCOUNTING, STATISTICS, TABLES, decoded

from zscope.parsers import Code
from zscope.schemas.arrow import table_schema

if TYPE_CHECKING:
    from pathlib import Path


def _triplet(index: int) -> int:
    return 28 + 8 * index


def _with(record: bytes, *changes: tuple[int, bytes]) -> bytes:
    changed = bytearray(record)
    for at, content in changes:
        changed[at : at + len(content)] = content
    return bytes(changed)


HEADER_OF_MQ = struct.unpack_from(">I", STATISTICS, _triplet(0))[0]
RELEASE = 24
FLAGS = HEADER_OF_MQ + 32


@pytest.mark.parametrize(
    ("release", "flags", "length", "version", "group"),
    [
        pytest.param("946", 0x40, 68, "100000", "QSG1", id="MQ 10"),
        pytest.param("947", 0xC0, 68, "100000", "QSG1", id="more records follow"),
        pytest.param("946", 0x80, 68, "946", "QSGC", id="no extension"),
        pytest.param("945", 0x40, 68, "945", "QSGC", id="garbage in the flags of an older release"),
        pytest.param("800", 0x00, 52, "800", "QSGC", id="V8"),
        pytest.param("946", 0x40, 52, "946", "QSGC", id="extension cut off"),
    ],
)
def test_release_and_group_are_from_the_extension_where_it_is(
    tmp_path: Path, release: str, flags: int, length: int, version: str, group: str
) -> None:
    control = struct.unpack_from(">I", STATISTICS, _triplet(1))[0]
    record = _with(
        STATISTICS, (RELEASE, release.encode("cp037")), (FLAGS, bytes((flags,))),
        (_triplet(0) + 4, struct.pack(">H", length)), (control + 16, "QSGC".encode("cp037")),
    )  # fmt: skip
    result = decoded(tmp_path, [record])
    for table in ("mq_task", "mq_channel_initiator"):
        assert set(result[table]["mq_version"].to_pylist()) == {version}
        assert set(result[table]["queue_sharing_group"].to_pylist()) == {group}
    assert len(result.issues) == 0


def test_shorter_blocks_of_older_releases(tmp_path: Path) -> None:
    statistics = _with(STATISTICS, (_triplet(1) + 4, struct.pack(">H", 48)))
    accounting = _with(ACCOUNTING, (_triplet(1) + 4, struct.pack(">H", 324)))
    result = decoded(tmp_path, [statistics, accounting])
    (initiator,), (channel,) = (result[t].to_pylist() for t in ("mq_channel_initiator", "mq_channel"))
    assert (initiator["storage_below_mb"], initiator["storage_above_mb"]) == (41, None)
    assert (channel["dispatcher_number"], channel["remote_product"], channel["remote_version"]) == (
        0,
        None,
        None,
    )
    assert len(result.issues) == 0


@pytest.mark.parametrize(
    ("record", "triplet", "length", "count"),
    [
        pytest.param(STATISTICS, 4, 10, 2, id="tasks without times"),
        pytest.param(STATISTICS, 0, 51, 1, id="header of MQ without its last byte"),
        pytest.param(ACCOUNTING, 1, 1, 400, id="a channel in each byte"),
    ],
)
def test_blocks_shorter_than_in_any_release_are_reported(
    tmp_path: Path, record: bytes, triplet: int, length: int, count: int
) -> None:
    result = decoded(tmp_path, [_with(record, (_triplet(triplet) + 4, struct.pack(">HH", length, count)))])
    at = struct.unpack_from(">I", record, _triplet(triplet))[0]
    first, *_ = result.issues
    assert (first.code, first.record_no, first.offset) == (Code.SECTION_SHORTER, 1, at)
    assert {issue.code for issue in result.issues} == {Code.SECTION_SHORTER}


def test_a_triplet_with_a_count_of_zero_is_absent_whatever_its_offset(tmp_path: Path) -> None:
    record = _with(STATISTICS, (_triplet(4), struct.pack(">IHH", 0xFFFFFFFF, 48, 0)))
    result = decoded(tmp_path, [record])
    assert "SSL" not in result["mq_task"]["task_type"].to_pylist()
    assert result["mq_task"].num_rows == 4
    assert len(result.issues) == 0


REQUESTS = [48210, 31904, 20110, 24400, 0, 0]
TASK_KINDS = ["dispatcher", "dispatcher", "adapter", "SSL", "SSL", "DNS"]


@pytest.mark.parametrize(
    ("triplet", "content", "code", "kinds"),
    [
        pytest.param(
            4, (5000, 48, 2), Code.SECTION_OUTSIDE, [*TASK_KINDS[:3], "DNS"], id="beyond the record"
        ),
        pytest.param(4, (4, 48, 2), Code.SECTION_OUTSIDE, [*TASK_KINDS[:3], "DNS"], id="in the header"),
        pytest.param(4, (60, 48, 2), Code.SECTION_OUTSIDE, [*TASK_KINDS[:3], "DNS"], id="to itself"),
        pytest.param(4, (244, 0, 2), Code.SECTION_EMPTY, [*TASK_KINDS[:3], "DNS"], id="no length"),
        pytest.param(5, (340, 48, 65535), Code.SECTION_COUNT, [*TASK_KINDS, "DNS"], id="absurd number"),
        pytest.param(2, (60, 36, 1), Code.TRIPLETS_OUTSIDE, [*TASK_KINDS[:1], "adapter"], id="over triplets"),
    ],
)
def test_lying_triplets(
    tmp_path: Path, triplet: int, content: tuple[int, int, int], code: Code, kinds: list[str]
) -> None:
    """All that is sound is delivered, from the same record and from others."""
    bad = _with(STATISTICS, (_triplet(triplet), struct.pack(">IHH", *content)))
    result = decoded(tmp_path, [STATISTICS, bad, STATISTICS])
    assert {(issue.code, issue.record_no) for issue in result.issues} == {(code, 2)}
    of_record = {
        number: [t["task_type"] for t in result["mq_task"].to_pylist() if t["record_no"] == number]
        for number in (1, 2, 3)
    }
    assert of_record == {1: TASK_KINDS, 2: kinds, 3: TASK_KINDS}


@pytest.mark.parametrize("record", [STATISTICS, ACCOUNTING], ids=["115-231", "116-10"])
def test_a_record_cut_anywhere(tmp_path: Path, record: bytes) -> None:
    """Whatever is left of it, the records after it are read."""
    pieces = []
    for length in range(18, len(record)):
        pieces += [struct.pack(">H", length) + record[2:length], record]
    result = decoded(tmp_path, pieces, (*TABLES, "smf_raw"))
    whole = decoded(tmp_path, [record])
    for table in TABLES:
        rows = [row for row in result[table].to_pylist() if row["record_no"] % 2 == 0]
        assert len(rows) == (len(record) - 18) * whole[table].num_rows
    assert len(result.issues) > 0
    assert all(issue.record_no is None or issue.record_no % 2 for issue in result.issues)


@pytest.mark.parametrize("seed", range(40))
def test_noise_never_ends_in_an_error(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    records = []
    for _ in range(20):
        record = bytearray(rng.choice([STATISTICS, ACCOUNTING]))
        for _ in range(rng.choice([1, 3, 30])):
            record[rng.randrange(24, len(record))] = rng.randrange(256)
        records.append(bytes(record))
    result = decoded(tmp_path, [STATISTICS, *records, STATISTICS], (*TABLES, "smf_raw"))
    for name, rows in result.tables.items():
        rows.validate(full=True)
        assert rows.schema.equals(table_schema(name))
    assert {1, len(records) + 2} <= set(result["mq_task"]["record_no"].to_pylist())


def _segments(record: bytes, cuts: list[int]) -> list[bytes]:
    """A record in segments, as the unload program cuts long ones."""
    parts = [record[4:][a:b] for a, b in zip([0, *cuts], [*cuts, len(record) - 4], strict=True)]
    codes = [1, *[3] * (len(parts) - 2), 2]
    return [struct.pack(">HBB", 4 + len(p), code, 0) + p for p, code in zip(parts, codes, strict=True)]


def test_a_record_in_segments(tmp_path: Path) -> None:
    result = decoded(tmp_path, [ACCOUNTING, *_segments(STATISTICS, [100, 350]), ACCOUNTING])
    assert [task["requests"] for task in result["mq_task"].to_pylist()] == REQUESTS
    assert len(result.issues) == 0


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_lost_segment(tmp_path: Path, lost: int) -> None:
    segments = _segments(STATISTICS, [100, 350])
    del segments[lost]
    result = decoded(tmp_path, [ACCOUNTING, STATISTICS, *segments, STATISTICS, ACCOUNTING])
    assert len(result.issues) > 0
    assert result["mq_channel"].num_rows == 2
    assert [t["requests"] for t in result["mq_task"].to_pylist()][:6] == REQUESTS
