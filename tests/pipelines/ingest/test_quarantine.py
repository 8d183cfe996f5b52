"""Reports about refused files: what they say, that they stay few, and that a bad one harms nothing."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pipelines.stores import EVERYTHING, dump_bytes

from zscope.parsers.issues import Code, Issue, Severity
from zscope.parsers.text.coding import code_page
from zscope.pipelines.ingest import ingest, quarantine
from zscope.pipelines.ingest.quarantine import (
    HEAD_BYTES,
    KEPT,
    QUARANTINE_SCHEMA,
    REMEDIES,
    STRICT,
    quarantine_table,
    remedy_for,
    write_report,
)
from zscope.pipelines.store import open_reader

STRIPPED = Issue(Code.RDW_STRIPPED, "the record lengths were not transferred", "a.smf", offset=0)
EMPTY = Issue(Code.EMPTY, "there is nothing in it", "a.smf")
HEAD = code_page().encode("SYS1 [x]") + b"SYS1\0\xff" + bytes(range(256))


def rows(folder: Path) -> list[dict[str, Any]]:
    table = quarantine_table(folder)
    assert table.schema == QUARANTINE_SCHEMA
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_report_has_file_reason_and_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "store" / "quarantine"
    path = write_report(folder, "a.smf", HEAD, [STRIPPED], size=12_345)
    assert path.parent == folder
    [row] = rows(folder)
    assert datetime.now(UTC) - row.pop("refused_utc") < timedelta(minutes=1)
    assert row == {
        "file": "a.smf",
        "times": 1,
        "code": "rdw-stripped",
        "text": "the record lengths were not transferred",
        "place": "a.smf, byte 0",
        "remedy": REMEDIES[Code.RDW_STRIPPED],
        "size_bytes": 12_345,
        "head_hex": HEAD[:HEAD_BYTES].hex(),
        "head_ebcdic": row["head_ebcdic"],
        "head_ascii": row["head_ascii"],
        "report": path.name,
        "problem": None,
    }
    assert row["head_ebcdic"].startswith("SYS1 [x]......")
    assert row["head_ascii"][8:14] == "SYS1.."
    assert len(row["head_ebcdic"]) == len(row["head_ascii"]) == HEAD_BYTES


def test_report_contains_only_the_first_bytes(tmp_path: Path) -> None:
    write_report(tmp_path, "a.smf", b"x" * HEAD_BYTES + b"secret", [STRIPPED])
    [path] = tmp_path.iterdir()
    content = path.read_text()
    assert "secret" not in content
    assert b"secret".hex() not in content


def test_refusing_issue_comes_first_and_the_number_is_limited(tmp_path: Path) -> None:
    others = [Issue(Code.BAD_DATE, f"date {number} " + "x" * 5_000) for number in range(100)]
    path = write_report(tmp_path, "a.smf", HEAD, [*others, STRIPPED])
    reasons = json.loads(path.read_text())["reasons"]
    assert [reason["code"] for reason in reasons] == ["rdw-stripped"] + ["bad-date"] * 19
    assert max(len(reason["text"]) for reason in reasons) == 2_000


def test_report_without_issues(tmp_path: Path) -> None:
    write_report(tmp_path, "a.smf", b"", [])
    [row] = rows(tmp_path)
    assert (row["file"], row["code"], row["head_hex"], row["size_bytes"]) == ("a.smf", None, "", None)


def test_repeated_refusal_replaces_its_report_and_is_counted(tmp_path: Path) -> None:
    for _ in range(3):
        write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    write_report(tmp_path, "b.smf", HEAD, [STRIPPED])
    assert {(row["file"], row["times"]) for row in rows(tmp_path)} == {("a.smf", 3), ("b.smf", 1)}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_report_of_an_earlier_day_is_replaced_too(tmp_path: Path) -> None:
    path = write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    path.rename(tmp_path / f"20260101T020000Z-{path.stem.split('-')[1]}.json")
    write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    assert [row["times"] for row in rows(tmp_path)] == [2]


def test_files_of_equal_content_have_separate_reports(tmp_path: Path) -> None:
    for _ in range(2):
        write_report(tmp_path, "a.smf", b"", [EMPTY], digest="c0ffee")
        write_report(tmp_path, "b.smf", b"", [EMPTY], digest="c0ffee")
    assert {(row["file"], row["times"]) for row in rows(tmp_path)} == {("a.smf", 2), ("b.smf", 2)}


def test_files_of_equal_name_have_separate_reports(tmp_path: Path) -> None:
    write_report(tmp_path, "a.smf", HEAD, [STRIPPED], digest="c0ffee")
    write_report(tmp_path, "a.smf", HEAD, [STRIPPED], digest="decaff")
    assert [(row["file"], row["times"]) for row in rows(tmp_path)] == [("a.smf", 1)] * 2


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a/b:c(d).smf",
        "x" * 100_000,
        "\udcff\0\n\x1b[31m",
        "",
        ".",
        "..",
        "-rf *",
    ],
)
def test_report_name_contains_nothing_of_the_file_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "quarantine"
    path = write_report(folder, name, HEAD, [Issue(Code.UNREADABLE, name, name)], digest="../../x")
    assert path.parent == folder
    moment, _, digest = path.stem.partition("-")
    assert datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) <= datetime.now(UTC)
    assert int(digest, 16) >= 0
    assert [child.name for child in tmp_path.iterdir()] == ["quarantine"]
    assert len(rows(folder)) == 1
    assert path.stat().st_size < 10_000


def test_only_the_newest_reports_are_kept(tmp_path: Path) -> None:
    for number in range(KEPT + 5):
        (tmp_path / f"20250101T{number:06}Z-{number:016x}.json").write_text("{}")
    (tmp_path / "0-not-ours.json").write_text("{}")
    write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    found = rows(tmp_path)
    assert len(found) == KEPT + 1
    assert found[0]["file"] == "a.smf"
    assert found[-2]["report"].startswith("20250101T000006Z")
    assert found[-1]["report"] == "0-not-ours.json"


def test_failed_write_leaves_the_old_report(tmp_path: Path) -> None:
    path = write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    before = path.read_bytes()
    obstacle = tmp_path / "obstacle"
    obstacle.write_text("a file where the folder should be")
    with pytest.raises(OSError, match="obstacle"):
        write_report(obstacle, "b.smf", HEAD, [STRIPPED])
    assert path.read_bytes() == before
    assert sorted(child.name for child in tmp_path.iterdir()) == sorted([path.name, "obstacle"])


def test_no_folder_means_no_reports(tmp_path: Path) -> None:
    assert rows(tmp_path / "missing") == []
    (tmp_path / "file").touch()
    assert rows(tmp_path / "file") == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\xfd", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"times": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b" " * ((1 << 20) + 1), "larger than"),
        (b"[1]", "not a JSON object"),
        (b'{"times": -1}', "times is not an integer"),
        (b'{"times": true}', "times is not an integer"),
        (b'{"times": 1e3}', "times is not an integer"),
        (b'{"size_bytes": 99999999999999999999}', "size_bytes is not an integer"),
        (b'{"file": 3}', "file is not a text"),
        (b'{"refused_utc": "yesterday"}', "refused_utc is not a time"),
        (b'{"refused_utc": "0001-01-01T00:00:00+14:00"}', "refused_utc is not a time"),
        (b'{"reasons": {}}', "reasons is not a list"),
        (b'{"reasons": [3]}', "not a JSON object"),
        (b'{"reasons": [{"code": 3}]}', "code is not a text"),
        (b'{"head": "x"}', "not a JSON object"),
    ],
)
def test_damaged_report_has_a_row_with_the_problem(content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "20260101T000000Z-0.json").write_bytes(content)
    write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    good, bad = rows(tmp_path)
    assert (good["file"], good["problem"]) == ("a.smf", None)
    assert bad["report"] == "20260101T000000Z-0.json"
    assert problem in bad["problem"]


def test_a_damaged_report_of_the_same_file_is_replaced(tmp_path: Path) -> None:
    path = write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    path.write_text("damaged")
    write_report(tmp_path, "a.smf", HEAD, [STRIPPED])
    assert [(row["file"], row["times"], row["problem"]) for row in rows(tmp_path)] == [("a.smf", 2, None)]


def test_links_and_devices_are_not_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("{}")
    folder = tmp_path / "quarantine"
    folder.mkdir()
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to(outside)
    (folder / "notes.txt").write_text("not ours")
    (folder / ".hidden.json").write_text("half written")
    assert rows(folder) == []


def test_texts_that_unicode_cannot_encode_are_shown_as_numbers(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"file": "a\\ud800"}')
    assert rows(tmp_path)[0]["file"] == "a\\ud800"


@given(st.binary(max_size=300))
def test_any_bytes_can_be_shown(tmp_path_factory: pytest.TempPathFactory, head: bytes) -> None:
    folder = tmp_path_factory.mktemp("quarantine")
    write_report(folder, "a", head, [STRIPPED])
    [row] = rows(folder)
    assert bytes.fromhex(row["head_hex"]) == head[:HEAD_BYTES]
    assert all(c.isprintable() and c.isascii() for c in row["head_ebcdic"] + row["head_ascii"])


def test_every_refusing_code_has_a_remedy() -> None:
    refusing = {code for code in Code if Issue(code, "").severity is Severity.REFUSED}
    assert set(REMEDIES) == refusing
    assert len(set(REMEDIES.values())) == len(refusing)
    assert remedy_for(Code.BAD_DATE) == STRICT


def test_inputs_whose_issues_are_not_listed_have_a_row_for_each_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantine, "MAX_INPUT_ISSUES", 3)
    store, folder = tmp_path / "store", tmp_path / "new"
    folder.mkdir()

    def listed() -> list[tuple[str, str, str]]:
        ingest(store, [folder], EVERYTHING)
        with open_reader(store) as connection:
            rows = connection.execute(
                "SELECT file, code, text FROM input_issue ORDER BY file DESC"
            ).fetchall()
        return [(Path(file).name, code, text) for file, code, text in rows]

    for name in "abcdef":
        (folder / f"{name}.smf").write_bytes(b"" if name < "f" else b"\xff" * 100)
    for _ in range(2):
        first = listed()
        assert [name for name, _, _ in first] == ["c.smf", "b.smf", "a.smf", "", ""]
        assert {(code, text) for name, code, text in first if not name} == {
            (code, "more inputs have this issue; 3 issues of inputs are listed")
            for code in ("empty", "unknown-data")
        }
    for name in "abcd":
        (folder / f"{name}.smf").write_bytes(dump_bytes(2, 1, seed=ord(name), mix={"tcp-init": 1}))
    assert [name for name, _, _ in listed()] == ["f.smf", "e.smf"]
