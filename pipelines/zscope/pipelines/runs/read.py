"""Reading runs.toml: the runs in it, and what is wrong with the others.

A slip in this file must not cost anyone the rest of the store. So nothing here raises: what can be used is
used, and every problem says where it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.runs.doubts import doubts
from zscope.pipelines.runs.entry import Run, RunError, near, parse_run, shown

if TYPE_CHECKING:
    import pyarrow as pa

FILE_NAME = "runs.toml"
_TOP = ("run", "kb_bytes")
_KB = (1000, 1024)
_HEADER = re.compile(r"[ \t]*\[\[[ \t]*run[ \t]*\]\][ \t]*(?:#.*)?")
_LARGEST = 4 << 20
"""Bytes; some ten thousand runs. What is larger is another file under this name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the file that cannot be used as it stands, or that is probably not meant so."""

    file: str
    line: int | None
    """Where the run begins; None where the file as a whole is meant or it cannot be told."""
    key: str
    text: str
    warning: bool = False
    """The run is there all the same."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return ": ".join(part for part in (place, self.key, self.text) if part)


@dataclass(frozen=True, slots=True)
class RunsFile:
    """What a file holds."""

    runs: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()
    kb_bytes: int = 1000
    """What a kB in the name of a workload is taken for."""


def read_runs(folder: Path) -> RunsFile:
    """The runs of a store and the problems of the file; no file is no runs."""
    path = folder / FILE_NAME
    return read_file(path) if path.exists() else RunsFile()


def read_file(path: Path) -> RunsFile:
    """The runs and problems of a file that is named."""
    file = str(path)
    try:
        with path.open("rb") as opened:
            content = opened.read(_LARGEST + 1)  # a device may have no end
    except OSError as error:
        return _unusable(file, f"cannot be read: {error.strerror or error}")
    if len(content) > _LARGEST:
        return _unusable(file, f"has more than {_LARGEST:,} bytes and is no list of runs")
    try:
        return parse_runs(content.decode(), file)
    except UnicodeDecodeError as error:
        return _unusable(file, f"is not UTF-8 text (byte {error.start})")


def parse_runs(text: str, file: str = FILE_NAME) -> RunsFile:
    """The runs and problems of a text.

    >>> parse_runs("[[rum]]").problems[0].text
    "is not known here; did you mean 'run'?"
    """
    try:
        content = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        return _unusable(file, f"is not TOML: {error}")
    except RecursionError:
        return _unusable(file, "is nested too deep for a list of runs")
    except ValueError as error:  # a date such as 2026-02-30, which Python refuses in its own way
        return _unusable(file, f"is not TOML: {error}")
    problems = [
        Problem(file, None, key, f"is not known here; {near(key, _TOP)}")
        for key in content
        if key not in _TOP
    ]
    kb_bytes = content.get("kb_bytes", _KB[0])
    if not isinstance(kb_bytes, int) or kb_bytes not in _KB:
        problems.append(
            Problem(file, None, "kb_bytes", f"expected is 1000 or 1024; found is {shown(kb_bytes)}")
        )
        kb_bytes = _KB[0]
    blocks = content.get("run", [])
    if not isinstance(blocks, list):
        problems.append(Problem(file, None, "run", "expected are blocks [[run]], with two brackets each"))
        blocks = []
    lines = _header_lines(text, len(blocks))
    runs: dict[tuple[str, str, str], Run] = {}
    begins: dict[Run, int | None] = {}
    for number, (block, line) in enumerate(zip(blocks, lines, strict=True), start=1):
        try:
            run = parse_run(block, kb_bytes)
        except RunError as error:
            key = ": ".join(part for part in (_named(number, block), error.key) if part)
            problems.append(Problem(file, line, key, error.problem))
            continue
        if run.key in runs:
            told = f"{run.title} is there before; each side of a run is there once"
            problems.append(Problem(file, line, _named(number, block), told))
            continue
        runs[run.key] = run
        begins[run] = line
    found = tuple(runs.values())
    problems += [Problem(file, begins[run], run.title, told, warning=True) for run, told in doubts(found)]
    return RunsFile(found, tuple(problems), kb_bytes)


def _unusable(file: str, problem: str) -> RunsFile:
    return RunsFile(problems=(Problem(file, None, "", problem),))


def _header_lines(text: str, blocks: int) -> list[int | None]:
    """In which line each block begins, unless runs are written in another way than in blocks."""
    found = header_lines(text)
    return [*found] if len(found) == blocks else [None] * blocks


def header_lines(text: str) -> list[int]:
    """The numbers of the lines that look like the beginning of a run, the first line being 1."""
    return [number for number, line in enumerate(text.split("\n"), 1) if _HEADER.fullmatch(line.rstrip("\r"))]


def _named(number: int, block: object) -> str:
    name = block.get("name") if isinstance(block, Mapping) else None
    return f"run {number} ({shown(name)})" if name is not None else f"run {number}"


def run_table(folder: Path) -> pa.Table:
    """The table `run` of a store: the runs of runs.toml that can be used."""
    from zscope.pipelines.runs.table import as_table

    return as_table(read_runs(folder).runs)


def runs_digest(folder: Path) -> str:
    """What tells whether runs.toml is another one than before; empty where there is none."""
    import xxhash

    try:
        return xxhash.xxh128_hexdigest((folder / FILE_NAME).read_bytes())
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"unreadable: {error.strerror or error}"
