"""Spoiled captures from end to end: every input is read to its end, and what is lost is told."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zscope.parsers import Severity, Tables, inventory, read
from zscope.schemas.printed import report_tables

REPORTS = sorted((Path(__file__).parents[3] / "sample-data" / "reports").iterdir())
TABLES = tuple(report_tables())
MADE = {"file", "line_no", "source", "system_from", "time_from", "extra", "taken_local", "taken_time"}
"""What can differ in a spoiled capture although every figure is right."""

Lines = list[str]
Spoiler = Callable[[Lines, random.Random], Lines]


def _some_cut(lines: Lines, luck: random.Random) -> Lines:
    return [line[: luck.randrange(len(line) + 1)] if luck.random() < 0.05 else line for line in lines]


def _some_lost(lines: Lines, luck: random.Random) -> Lines:
    return [line for line in lines if luck.random() > 0.05]


def _end_lost(lines: Lines, luck: random.Random) -> Lines:
    return lines[: luck.randrange(len(lines))]


def _blank_lines(lines: Lines, luck: random.Random) -> Lines:
    return [part for line in lines for part in ((line, "") if luck.random() < 0.1 else (line,))]


def _prompts(lines: Lines, luck: random.Random) -> Lines:
    stray = ("READY", " ***", "$ ", "IBMUSER:/u/ibmuser: >date")
    return [
        part for line in lines for part in ((luck.choice(stray), line) if luck.random() < 0.03 else (line,))
    ]


def _capitals(lines: Lines, luck: random.Random) -> Lines:  # noqa: ARG001 - all spoilers are called alike
    return [line.upper() for line in lines]


def _all_shifted(lines: Lines, luck: random.Random) -> Lines:
    width = luck.randint(1, 3)
    return [" " * width + line for line in lines]


def _ragged(lines: Lines, luck: random.Random) -> Lines:
    return [" " * luck.randint(0, 3) + line for line in lines]


def _some_shifted(lines: Lines, luck: random.Random) -> Lines:
    return [f" {line}" if luck.random() < 0.05 else line for line in lines]


def _wrapped(lines: Lines, luck: random.Random) -> Lines:
    width = luck.choice((40, 72, 79, 80))
    return [part for line in lines for part in (re.findall(f".{{1,{width}}}", line) or [""])]


def _swapped(lines: Lines, luck: random.Random) -> Lines:
    lines = list(lines)
    for _ in range(len(lines) // 20):
        at = luck.randrange(len(lines) - 1)
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return lines


def _interleaved(lines: Lines, luck: random.Random) -> Lines:
    middle = luck.randrange(1, len(lines))
    first, second = lines[:middle], lines[middle:]
    mixed = []
    while first or second:
        mixed.append((first or second).pop(0) if luck.random() < 0.5 or not second else second.pop(0))
    return mixed


def _garbage(lines: Lines, luck: random.Random) -> Lines:
    def spoiled(line: str) -> str:
        at = luck.randrange(len(line) + 1)
        return line[:at] + "".join(chr(luck.randrange(1, 0x2FF)) for _ in range(3)) + line[at + 3 :]

    return [spoiled(line) if luck.random() < 0.05 else line for line in lines]


SPOILERS: tuple[Spoiler, ...] = (
    _some_cut, _some_lost, _end_lost, _blank_lines, _prompts, _capitals, _all_shifted, _some_shifted,
    _ragged, _wrapped, _swapped, _interleaved, _garbage,
)  # fmt: skip
HARMLESS = (_blank_lines,)
OTHER_TEXTS = (_capitals, _garbage)
"""A name with another letter is another name: nobody can see that it was not like that."""


def _read(path: Path) -> Tables:
    return read(path, TABLES, system="SYSQ")


def _rows(found: Tables) -> list[tuple[str, Any]]:
    return [
        (name, tuple((key, value) for key, value in row.items() if key not in MADE))
        for name in TABLES
        for row in found[name].to_pylist()
    ]


def _same_or_less(row: tuple[str, Any], known: tuple[str, Any]) -> bool:
    """Whether a row says nothing but what a good row says: values may be missing, texts be cut."""
    return row[0] == known[0] and all(
        value is None or value == good or (isinstance(value, str) and str(good).startswith(value))
        for (_, value), (_, good) in zip(row[1], known[1], strict=True)
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spoiler", SPOILERS, ids=lambda spoiler: spoiler.__name__.strip("_"))
@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_spoiled_capture_gives_data_or_issues(
    report: Path, spoiler: Spoiler, seed: int, tmp_path: Path
) -> None:
    lines = report.read_text(encoding="utf-8").splitlines()
    spoiled = spoiler(lines, random.Random(f"{report.name} {seed}"))
    path = tmp_path / report.name
    path.write_text("\n".join(spoiled) + "\n", encoding="utf-8", errors="replace")
    found = _read(path)
    whole = _rows(_read(report))
    if spoiler in HARMLESS:
        assert _rows(found) == whole
        return
    others = [row for row in _rows(found) if not any(_same_or_less(row, known) for known in whole)]
    told = any(issue.severity > Severity.NOTE for issue in found.issues)
    assert told or not others or spoiler in OTHER_TEXTS
    for issue in found.issues:
        assert issue.line_no is None or 0 < issue.line_no <= len(spoiled) + 1
    inventory(path)


@pytest.mark.parametrize(
    "content",
    [
        b"MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           07:15:31\n" + b"x " * 3_000_000,
        b"MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           07:15:31\n" + b"ConnID: 1\n" * 200_000,
        b"MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           07:15:31\n" * 30_000,
        b"EZD0101I NETSTAT CS V2R5 TCPIP 612\n" + b"A: " * 20_000 + b"\n" + b"CLIENT NAME: X\n" * 50_000,
        b"GSK01079I Session ticket cache\n statistics\n" * 20_000,
        b"GSK01032I Session cache status\nUser Count Max size\n" + b"USER0001 1 1\n" * 100_000,
        (b" " * 55 + b"C P U  A C T I V I T Y\n") * 30_000,
        b"C P U  A C T I V I T Y\n SYSTEM ID " + b"A" * 200_000 + b"\n" + b" 0 CP 1.0\n" * 50_000,
        b"A " * 500_000,
        b"1" + b" A  B" * 100_000 + b"\n",
        b"MR0000000 SYSX     26061 07:15:31.11 OPER01   00000090  EZD0101I NETSTAT CS V2R5 TCPIP 612\n"
        * 20_000,
        b"<?xml version='1.0'?><ddsml>" + b"<postprocessor>" * 50_000,
        b"<?xml version='1.0'?><ddsml><postprocessor><metric id='CPU'>" + b"a" * 5_000_000,
        b"<?xml version='1.0'?><ddsml><postprocessor><segment><name>CPU Activity</name><part><table>"
        + b"<row><col>1</col></row>" * 200_000,
    ],
    ids=range(14),
)
def test_no_content_takes_long(content: bytes, tmp_path: Path) -> None:
    """Time must grow with the size and not with its square: seconds, where it could be hours."""
    path = tmp_path / "hostile"
    path.write_bytes(content)
    begin = time.process_time()
    _read(path)
    assert time.process_time() - begin < 60
