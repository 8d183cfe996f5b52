"""A short stress test; `make soak` runs for hours."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from tests.pipelines.stores import dump_bytes, load
from tests.soak import model
from tests.soak.model import Soak, WrongStoreError, contents_of, pieces_of
from tests.soak.run import soak

from zscope.pipelines.store.folder import DamagedStoreError


@pytest.mark.deep
def test_store_equals_the_model_after_each_change(tmp_path: Path) -> None:
    report = soak(tmp_path, 0.05, 1)
    assert sum(report.done.values()) == report.points[-1].operations >= 1
    assert min(report.reads.values()) > 0
    assert report.problems() == []
    assert f"{report.points[-1].operations:,} operations" in report.text()


@pytest.mark.deep
def test_each_operation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MANY_FILES", 120)  # make soak loads thousands
    subject = Soak(tmp_path, 3)
    for operation in subject.operations():
        subject.round(operation)
    assert min(subject.done.values()) == 1


def test_the_model_counts_equal_records_once(tmp_path: Path) -> None:
    content = dump_bytes(20, 1, mix={"tcp-init": 1})
    once, twice, damaged = tmp_path / "once.smf", tmp_path / "twice.smf.gz", tmp_path / "damaged.smf.gz"
    once.write_bytes(content)
    packed = gzip.compress(content + content)
    twice.write_bytes(packed)
    damaged.write_bytes(packed[:-8] + bytes(8))
    assert contents_of(once)["smf119_tcp_init"] == 20
    assert contents_of(once) == contents_of(twice) == contents_of(damaged)


def test_a_dump_is_divided_between_records(tmp_path: Path) -> None:
    content = dump_bytes(50, 1)
    pieces = pieces_of(content, 20)
    assert b"".join(pieces) == content
    for number, piece in enumerate(pieces):
        (tmp_path / f"{number}.smf").write_bytes(piece)
    (tmp_path / "all.smf").write_bytes(content)
    rows = sum((rows_by_table(tmp_path / f"{number}.smf") for number in range(20)), Counter())
    assert rows == rows_by_table(tmp_path / "all.smf") != Counter()


def rows_by_table(path: Path) -> Counter[str]:
    """Return the number of rows by table."""
    return Counter({name: n for name, n in contents_of(path).items() if "." not in name})


@pytest.mark.deep
def test_a_difference_from_the_model_is_an_error(tmp_path: Path) -> None:
    subject = Soak(tmp_path, 2)
    subject.compare()
    subject.contents["never loaded"] = Counter({"smf119_zert_detail": 1})
    with pytest.raises(WrongStoreError, match="expected, not found"):
        subject.compare()


@pytest.mark.deep
def test_damage_is_an_error(tmp_path: Path) -> None:
    subject, dump = Soak(tmp_path, 2), tmp_path / "a.smf"
    dump.write_bytes(dump_bytes(20, 1, mix={"tcp-init": 1}))
    load(subject.store, dump)
    file = next((subject.store / "data").rglob("*.parquet"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedStoreError):
        subject.compare()
