"""Damaged supplied files: they are read to the end, every loss is reported, and no row is wrong."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers import ReadOptions, Severity, Tables, inventory, read
from zscope.parsers.text.coding import LONGEST_LINE
from zscope.parsers.text.csv_and_json.forms import supplied_tables
from zscope.parsers.text.json_envelopes import MOST_NESTED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.parsers.text.csv_and_json.reading import Row

TABLES = tuple(table.name for table in supplied_tables())
FILES = {
    "mq.csv": "message_bytes,cipher,round_trip_us,run\n"
    + "".join(f"{64 * 2**no},C0{no}8,{100.5 + no},r{no}\n" for no in range(10)),
    "zvm.csv": "userid;period_s;tcpu_s\n" + "".join(f"SSL0000{no};600;{no},125\n" for no in range(9)),
    "flood.csv": "time,ecbs_in_use,tls_starts_completed\n"
    + "".join(f"2026-03-02T13:20:{no:02}.500Z,{60 + no},{no}\n" for no in range(20)),
    "flood.json": json.dumps(
        [{"time": no, "ecbs_in_use": 60 + no, "run": "a"} for no in range(20)], indent=1
    ),
    "paths.jsonl": "".join(
        json.dumps({"chpid": f"5{no}", "write_bytes_per_s": no, "read_bytes_per_s": 7}) + "\n"
        for no in range(9)
    ),
}
Spoiler = Callable[[str, random.Random], str]


def _some_bytes(text: str, luck: random.Random) -> str:
    for _ in range(5):
        at = luck.randrange(len(text))
        text = text[:at] + chr(luck.randrange(1, 0x2FF)) + text[at + 1 :]
    return text


def _some_lost(text: str, luck: random.Random) -> str:
    at = luck.randrange(len(text))
    return text[:at] + text[at + luck.randrange(1, 30) :]


def _end_lost(text: str, luck: random.Random) -> str:
    return text[: luck.randrange(len(text))]


def _doubled(text: str, luck: random.Random) -> str:
    first, second = sorted(luck.sample(range(len(text)), 2))
    return text[:second] + text[first:]


def _lines_mixed(text: str, luck: random.Random) -> str:
    lines = text.splitlines()
    luck.shuffle(lines)
    return "\n".join(lines)


def _quotes(text: str, luck: random.Random) -> str:
    at = luck.randrange(len(text))
    return text[:at] + luck.choice(('"', '""', '\\"', "'", "{", "}", "[", ";", ",", "\t", "\x00")) + text[at:]


SPOILERS: tuple[Spoiler, ...] = (_some_bytes, _some_lost, _end_lost, _doubled, _lines_mixed, _quotes)


def _rows(result: Tables) -> list[Row]:
    return [row for name in TABLES for row in result[name].to_pylist()]


def _read(path: Path) -> Tables:
    return read(path, TABLES, options=ReadOptions(system="VMA"))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spoiler", SPOILERS, ids=lambda spoiler: spoiler.__name__.strip("_"))
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_to_its_end(name: str, spoiler: Spoiler, seed: int, tmp_path: Path) -> None:
    text = spoiler(FILES[name], random.Random(f"{name} {seed}"))
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    result = _read(path)
    lines = len(text.splitlines())
    for issue in result.issues:
        assert issue.line_no is None or 0 < issue.line_no <= lines + 1
    for row in _rows(result):
        assert 0 < row["line_no"] <= lines + 1
        if "sample_no" in row:
            assert row["since_start_us"] >= row["sample_no"] >= 0
    inventory(path)


@pytest.mark.parametrize("name", FILES)
def test_lines_before_a_cut_are_read(name: str, tmp_path: Path) -> None:
    text = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    whole = [{**row, "extra": None} for row in _rows(_read(path))]
    luck = random.Random(name)
    for cut in sorted(luck.sample(range(len(text)), 8)):
        path.write_text(text[:cut])
        result = _read(path)
        rows = [{**row, "extra": None} for row in _rows(result)]
        complete = text.count("}", 0, cut) if "json" in name else max(0, text.count("\n", 0, cut) - 1)
        assert rows[:complete] == whole[:complete]
        # The last line can be cut in its last number, which then is another.
        assert len(rows) <= complete + ("json" not in name)


@given(st.text('time,ecbs_in_use0159:-"; \n\tZ#.{}[]K', max_size=120), st.sampled_from(["f.csv", "f.json"]))
def test_any_text_is_read_without_an_exception(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    path = tmp_path_factory.mktemp("noise") / name
    opening = "time,ecbs_in_use\n" if name == "f.csv" else '[{"time": 0, "ecbs_in_use": 1},\n'
    path.write_text(opening + text, encoding="utf-8")
    result = _read(path)
    assert all(issue.severity < Severity.REFUSED for issue in result.issues)


HOSTILE = (
    b"time,ecbs_in_use\n" + b"," * 3_000_000,
    b"time,ecbs_in_use\n" + b"0,1\n" * 150_000,
    b"time,ecbs_in_use\n" * 20_000,
    b"time;ecbs_in_use\n" + b"1;" + b"9" * LONGEST_LINE + b"\n" + b'"' * 500_000,
    b"ecbs," * 200_000 + b"\n" + b"ecbs;time\t," * 50_000,
    b"time,ecbs_in_use," + b"a," * 3_900 + b"\n" + (b"," * 3_902 + b"\n") * 200,
    b'[{"time": 0, "ecbs_in_use": ' * 30_000,
    b'[{"time": 0, "ecbs_in_use": ' + b"[" * 2_000_000,
    b'{"' + b'a": "\\' * 300_000,
    b'{"time": 0}\n' * 50_000,
    b'{"a":' * (MOST_NESTED - 1) + b"1" * 500_000 + b"}" * (MOST_NESTED - 1),
    b"{" + b",".join(b'"%d": 1' % no for no in range(100_000)) + b"}",
    b'{"time": ' + b"9" * 200_000 + b', "ecbs_in_use": 1}',
)
SHORTER = {
    1: b"time,ecbs_in_use\n" + b"0,1\n" * 15_000,
    2: b"time,ecbs_in_use\n" * 4_000,
    9: b'{"time": 0}\n' * 10_000,
}
"""Shorter forms of those that take seconds."""


@pytest.mark.parametrize(
    "content",
    [
        *(SHORTER.get(no, content) for no, content in enumerate(HOSTILE)),
        *(pytest.param(HOSTILE[no], marks=pytest.mark.deep) for no in SHORTER),
    ],
    ids=[*range(len(HOSTILE)), *(f"{no}-long" for no in SHORTER)],
)
def test_no_content_takes_long(content: bytes, tmp_path: Path) -> None:
    """Check that time does not grow with the square of the size."""
    path = tmp_path / "hostile"
    path.write_bytes(content)
    begin = time.process_time()
    _read(path)
    assert time.process_time() - begin < 30
