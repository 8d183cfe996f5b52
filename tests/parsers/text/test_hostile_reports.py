"""Damaged captures from end to end: each input is read completely, and issues report what is lost."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.parsers.damaging import (
    Lines,
    Spoiler,
    cut,
    end_lost,
    followed_by,
    garbled,
    in_capitals,
    interrupted,
    lost,
    on_some,
    shifted,
    wrapped,
)

from zscope.parsers import ReadOptions, Severity, Tables, inventory, read
from zscope.schemas.reports import report_tables

REPORTS = sorted((Path(__file__).parents[3] / "sample-data" / "reports").iterdir())
TABLES = tuple(report_tables())
NOT_COMPARED = {"file", "line_no", "source", "system_from", "time_from", "extra", "taken_local", "taken_time"}
"""Columns that can differ in a damaged capture although every figure is right."""


def _all_shifted(lines: Lines, luck: random.Random) -> list[str]:
    width = luck.randint(1, 3)
    return [" " * width + line for line in lines]


def _prompts(lines: Lines, luck: random.Random) -> list[str]:
    return interrupted(luck, lines, ("READY", " ***", "$ ", "IBMUSER:/u/ibmuser: >date"), 0.03)


def _wrapped(lines: Lines, luck: random.Random) -> list[str]:
    return wrapped(lines, luck.choice((40, 72, 79, 80)))


def _swapped(lines: Lines, luck: random.Random) -> list[str]:
    swapped = list(lines)
    for _ in range(len(lines) // 20):
        at = luck.randrange(len(lines) - 1)
        swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    return swapped


def _interleaved(lines: Lines, luck: random.Random) -> list[str]:
    middle = luck.randrange(1, len(lines))
    first, second = list(lines[:middle]), list(lines[middle:])
    mixed = []
    while first or second:
        mixed.append((first or second).pop(0) if luck.random() < 0.5 or not second else second.pop(0))
    return mixed


SPOILERS: dict[str, Spoiler] = {
    "some_cut": on_some(0.05, cut),
    "some_lost": on_some(0.05, lost),
    "end_lost": end_lost,
    "blank_lines": on_some(0.1, followed_by("")),
    "prompts": _prompts,
    "capitals": on_some(1, in_capitals),
    "all_shifted": _all_shifted,
    "some_shifted": on_some(0.05, shifted(1, 1)),
    "ragged": on_some(1, shifted(0, 3)),
    "wrapped": _wrapped,
    "swapped": _swapped,
    "interleaved": _interleaved,
    "garbage": on_some(0.05, garbled(3)),
}
HARMLESS = {"blank_lines"}
OTHER_TEXTS = {"capitals", "garbage"}
"""A name with another letter is another name, which cannot be detected."""


def _read(path: Path) -> Tables:
    return read(path, TABLES, options=ReadOptions(system="SYSQ"))


def _rows(result: Tables) -> list[tuple[str, Any]]:
    return [
        (name, tuple((key, value) for key, value in row.items() if key not in NOT_COMPARED))
        for name in TABLES
        for row in result[name].to_pylist()
    ]


@cache
def _good_rows(report: Path) -> list[tuple[str, Any]]:
    return _rows(_read(report))


def _same_or_less(row: tuple[str, Any], known: tuple[str, Any]) -> bool:
    """Return whether a row contains only values of a good row; values may be missing and texts cut."""
    return row[0] == known[0] and all(
        value is None or value == good or (isinstance(value, str) and str(good).startswith(value))
        for (_, value), (_, good) in zip(row[1], known[1], strict=True)
    )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in (1, 2))])
@pytest.mark.parametrize("spoiler", SPOILERS)
@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_damaged_capture_gives_correct_rows_or_issues(
    report: Path, spoiler: str, seed: int, tmp_path: Path
) -> None:
    lines = report.read_text(encoding="utf-8").splitlines()
    spoiled = SPOILERS[spoiler](lines, random.Random(f"{report.name} {seed}"))
    path = tmp_path / report.name
    path.write_text("\n".join(spoiled) + "\n", encoding="utf-8", errors="replace")
    result = _read(path)
    whole = _good_rows(report)
    if spoiler in HARMLESS:
        assert _rows(result) == whole
        return
    others = [row for row in _rows(result) if not any(_same_or_less(row, known) for known in whole)]
    reported = any(issue.severity > Severity.NOTE for issue in result.issues)
    assert reported or not others or spoiler in OTHER_TEXTS
    for issue in result.issues:
        assert issue.line_no is None or 0 < issue.line_no <= len(spoiled) + 1
    inventory(path)


@pytest.mark.parametrize("mark", ["~~~", "</pre>", "{code}"])
@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_mark_of_markup_in_a_report_takes_no_rows(report: Path, mark: str, tmp_path: Path) -> None:
    """It looks like the end of a block of Markdown or HTML, which was never opened."""
    lines = report.read_text(encoding="utf-8").splitlines()
    every = max(3, len(lines) // 20)
    path = tmp_path / report.name
    path.write_text(
        "\n".join(part for at, line in enumerate(lines) for part in _marked(line, mark, at % every))
    )
    result = _read(path)
    reported = any(issue.severity > Severity.NOTE for issue in result.issues)
    assert reported or not Counter(_good_rows(report)) - Counter(_rows(result))


def _marked(line: str, mark: str, number: int) -> list[str]:
    return [line, mark] if number == 2 else [line]


@pytest.mark.parametrize("size", [100, 4_000])
@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_text_is_read_around_binary_data(report: Path, size: int, tmp_path: Path) -> None:
    lines = report.read_bytes().splitlines(keepends=True)
    middle = max(len(lines) // 2, 12)
    binary = random.Random(size).randbytes(size)
    path = tmp_path / report.name
    path.write_bytes(b"".join((*lines[:middle], binary, b"\n", *lines[middle:])))
    result = _read(path)
    assert any(issue.severity > Severity.NOTE for issue in result.issues)
    assert set(_rows(result)) & set(_good_rows(report))


HEADING = b"MVS TCP/IP NETSTAT CS V2R5       TCPIP Name: TCPIP           07:15:31\n"
HOSTILE: tuple[Callable[[int], bytes], ...] = (
    lambda size: HEADING + b"x " * (size * 300),
    lambda size: HEADING + b"ConnID: 1\n" * (size * 20),
    lambda size: HEADING * (size * 3),
    lambda size: (
        b"EZD0101I NETSTAT CS V2R5 TCPIP 612\n" + b"A: " * 20_000 + b"\n" + b"CLIENT NAME: X\n" * (size * 5)
    ),
    lambda size: b"GSK01079I Session ticket cache\n statistics\n" * (size * 2),
    lambda size: b"GSK01032I Session cache status\nUser Count Max size\n" + b"USER0001 1 1\n" * (size * 10),
    lambda size: (b" " * 55 + b"C P U  A C T I V I T Y\n") * (size * 3),
    lambda size: (
        b"C P U  A C T I V I T Y\n SYSTEM ID " + b"A" * (size * 20) + b"\n" + b" 0 CP 1.0\n" * (size * 5)
    ),
    lambda size: b"A " * (size * 50),
    lambda size: b"1" + b" A  B" * (size * 10) + b"\n",
    lambda size: (
        b"MR0000000 SYSX     26061 07:15:31.11 OPER01   00000090  EZD0101I NETSTAT CS V2R5 TCPPROD 612\n"
        * (size * 2)
    ),
    lambda size: b"<?xml version='1.0'?><ddsml>" + b"<postprocessor>" * (size * 5),
    lambda size: b"<?xml version='1.0'?><ddsml><postprocessor><metric id='CPU'>" + b"a" * (size * 500),
    lambda size: (
        b"<?xml version='1.0'?><ddsml><postprocessor><segment><name>CPU Activity</name><part><table>"
        + b"<row><col>1</col></row>" * (size * 20)
    ),
    lambda size: b'"' + HEADING.strip() + b'"\n' + b" " * (size * 6) + b"x\n",
    lambda size: b"READY" + b" " * (size * 6) + HEADING,
    lambda size: b"RO " + b"," * (size * 6) + b" a b c d e f " + HEADING,
    lambda size: b"a" * (size * 6) + b" " + HEADING,
    lambda size: b"1-" * (size * 3) + HEADING + b"1-" * (size * 3) + b"\n",
    lambda size: b'{"cmd-response": "' + HEADING.strip() + b'"}\n' + b'{"cmd-response": "x"}\n' * (size * 2),
    lambda size: b'{"pad": [' + b'"x", ' * 40_000 + b'0], "tsoData": [' + b"{}, " * (size * 50) + b"{}]}",
    lambda size: b'{"stdout": "' + HEADING.strip() + b"\\n x" * (size * 50) + b'"}',
    lambda size: b"[" * (size * 5) + HEADING + b"ok: [SYSA] => {\n" * size,
    lambda size: b"W O R K L O A D   A C T I V I T Y\n" + (b"-" * 280 + b"x\n") * (size // 5),
    lambda size: b"TTLSRule A\n{\n" + b"LocalAddr 10.0.0.1\nJobname A\n" * (size * 2) + b"}\n",
    lambda size: b"TTLSEnvironmentAction A\n{\n" + b"TTLSGskAdvancedParms\n{\n" * size,
    lambda size: b"policyRule: A\n" * (size * 2),
    lambda size: b"policyRule: A\n" + b" Local Address:\n  FromAddr: 10.0.0.1\n  ToAddr: 10.0.0.9\n" * size,
    lambda size: b"EZD1286I TTLS Error " + b"GRPID: 00000003 " * size + b"\n",
    lambda size: b"EZD1287I TTLS Error RC:  402 Initial Handshake\n" * size,
)
"""Inputs that make patterns and loops start again and again, in proportion to a size."""


@pytest.mark.deep
@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_time_grows_with_the_size_of_the_input(content: Callable[[int], bytes], tmp_path: Path) -> None:
    """Five times the size takes five times as long, where quadratic growth takes 25 times as long. With a
    pattern that backtracks exponentially, the smaller input would never end.
    """
    seconds = [_seconds_to_read(tmp_path / "hostile", content(size)) for size in (500, 2_500)]
    assert seconds[1] < 12 * seconds[0] + 1


def _seconds_to_read(path: Path, content: bytes) -> float:
    path.write_bytes(content)
    begin = time.process_time()
    _read(path)
    return time.process_time() - begin
