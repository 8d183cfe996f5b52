"""A layout of another family: triplets at another offset are read and written as the layout declares them."""

from __future__ import annotations

import shutil
import struct
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from zscope.parsers import Code, read
from zscope.parsers.smf.record_writer import (
    SectionBytes,
    SectionRows,
    encode_alike,
    encode_heads,
    encode_records,
    encode_section,
)
from zscope.schemas import catalog, load
from zscope.schemas.arrow import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.schemas import RecordLayout

SECTIONS = """
[[section]]
key = "subsystem"
title = "Subsystem"
triplet = 0
pointer = ["TOYSOF", "TOYSLN", "TOYSON"]
lengths = { all = 8 }
evidence = "ibm-doc"
source = "dfsms-rdw"
fields = [
  { name = "TOYRVN", offset = 0, length = 8, format = "text", column = "release", meaning = "Release." },
]

[[section]]
key = "work"
title = "Work"
triplet = 1
pointer = ["TOYUOF", "TOYULN", "TOYUON"]
lengths = { all = 12 }
repeats = true
evidence = "ibm-doc"
source = "dfsms-rdw"
fields = [
  { name = "TOYJBN", offset = 0, length = 8, format = "text", column = "job_name", meaning = "Job." },
  { name = "TOYCNT", offset = 8, length = 4, format = "uint", column = "work_count", meaning = "Count." },
]

[[table]]
name = "toy_work"
meaning = "Work of the toy."
rows = ["work"]
grain = ["record_no", "section_no"]
join = [{ section = "subsystem" }]
"""
STATED = """
type = 200
subtype = 3
title = "Triplets right after the header, as many as the layout states"
triplets = { at = 24, number = 12 }
[header]
title = "Header"
prefix = "TOY"
"""
COUNTED = """
type = 200
subtype = 3
title = "Triplets further on, counted by a field before them"
[header]
title = "Header"
prefix = "TOY"
lengths = { all = 40 }
evidence = "ibm-doc"
source = "dfsms-rdw"
fields = [
  { name = "TOYTRN", offset = 30, length = 2, format = "uint", column = "triplet_count", meaning = "Count." },
]
[triplets]
at = 52
count = "TOYTRN"
"""
LAYOUTS = {"stated": STATED, "counted": COUNTED}
SYSTEM = {
    "system": pa.array(["SYSA"] * 3),
    "written_local": pa.array(["2026-03-01T10:00:00"] * 3).cast(LOCAL),
}
JOBS, COUNTS = ["PAYROLL", "BACKUP", "REPORT"], [7, 11, 13]


def _clear_caches() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("zscope."):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


@pytest.fixture(params=LAYOUTS)
def toy(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RecordLayout]:
    """The declarations of this installation and one layout more."""
    folder = tmp_path / "schemas"
    for part in ("layouts", "codes", "reports"):
        shutil.copytree(Path(str(files("zscope.schemas") / part)), folder / part)
    (folder / "layouts" / "toy.toml").write_text(LAYOUTS[request.param] + SECTIONS)
    monkeypatch.setattr(load, "files", lambda _: folder)
    _clear_caches()
    yield catalog().records[200, 3]
    monkeypatch.undo()
    _clear_caches()


def _dump(folder: Path, records: list[bytes]) -> Path:
    path = folder / "toy.smf"
    path.write_bytes(b"".join(records))
    return path


def _work(layout: RecordLayout) -> list[bytes]:
    columns = {"job_name": pa.array(JOBS), "work_count": pa.array(COUNTS, pa.uint32())}
    return [row.tobytes() for row in encode_section(layout.section("work"), columns, 3, 12)]


def _records(layout: RecordLayout) -> list[bytes]:
    release = encode_section(layout.section("subsystem"), {"release": pa.array(["0310"] * 3)}, 3, 8)
    sections = [
        SectionBytes(layout.section("subsystem"), [[row.tobytes()] for row in release]),
        SectionBytes(layout.section("work"), [[row] for row in _work(layout)]),
    ]
    return encode_records(layout, SYSTEM, sections, 3)


def test_rows_are_written_and_read_back(toy: RecordLayout, tmp_path: Path) -> None:
    records = _records(toy)
    assert toy.triplets is not None
    at = toy.triplets.at
    begin = toy.triplets.offset(12 if toy.triplets.number else 2)
    assert struct.unpack_from(">IHHIHH", records[0], at) == (begin, 8, 1, begin + 8, 12, 1)
    result = read(_dump(tmp_path, records), "toy_work[system,release,job_name,work_count]")
    assert list(result.issues) == []
    assert result["toy_work"].to_pylist() == [
        {"system": "SYSA", "release": "0310", "job_name": job, "work_count": count}
        for job, count in zip(JOBS, COUNTS, strict=True)
    ]


def test_both_writers_write_the_same_records(toy: RecordLayout) -> None:
    release = encode_section(toy.section("subsystem"), {"release": pa.array(["0310"] * 3)}, 3, 8)
    work = encode_section(
        toy.section("work"), {"job_name": pa.array(JOBS), "work_count": pa.array(COUNTS, pa.uint32())}, 3, 12
    )
    parts = [SectionRows(toy.section("subsystem"), release, 8), SectionRows(toy.section("work"), work, 12)]
    assert toy.triplets is not None
    number = toy.triplets.number or 2
    assert encode_alike(toy, encode_heads(toy, SYSTEM, 3), parts, number) == _records(toy)


def _damaged(records: list[bytes], at: int, damage: str) -> list[bytes]:
    """Three records, of which the second gives no rows."""
    first, bad, last = records
    changed = {
        "no triplet": bad[:at] + bytes(16) + bad[at + 16 :],
        "section outside": bad[: at + 8] + struct.pack(">IHH", 9000, 12, 1) + bad[at + 16 :],
        "no room": struct.pack(">HH", at + 4, 0) + bad[4 : at + 4],
    }
    return [first, changed[damage], last]


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        pytest.param("no triplet", Code.TRIPLETS_OUTSIDE, id="no-triplet"),
        pytest.param("section outside", Code.SECTION_OUTSIDE, id="section-outside"),
        pytest.param("no room", Code.TRIPLETS_OUTSIDE, id="no-room"),
    ],
)
def test_a_record_without_rows_is_reported_with_its_place(
    toy: RecordLayout, tmp_path: Path, damage: str, code: Code
) -> None:
    assert toy.triplets is not None
    records = _damaged(_records(toy), toy.triplets.at, damage)
    result = read(_dump(tmp_path, records), "toy_work")
    assert result["toy_work"]["record_no"].to_pylist() == [1, 3]
    (issue,) = result.issues
    assert (issue.code, issue.record_no) == (code, 2)
    assert issue.offset is not None
    assert len(records[0]) <= issue.offset <= len(records[0]) + len(records[1])


@pytest.mark.parametrize("toy", ["counted"], indirect=True)
def test_a_count_of_zero_triplets_is_reported(toy: RecordLayout, tmp_path: Path) -> None:
    """A record looks like this when the layout of another family is used for it."""
    assert toy.triplets is not None
    assert toy.triplets.count_at is not None
    record = bytearray(_records(toy)[0])
    record[toy.triplets.count_at : toy.triplets.count_at + 2] = bytes(2)
    result = read(_dump(tmp_path, [bytes(record)]), "toy_work")
    assert [(issue.code, issue.record_no, issue.offset) for issue in result.issues] == [
        (Code.TRIPLETS_OUTSIDE, 1, toy.triplets.at)
    ]
