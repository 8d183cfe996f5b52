"""What the commands that load, change and check a store show on terminals, compared with golden files.

`make golden` writes the files again. The commands run one after the other, once; their rows are laid out at
each width. What differs from run to run is replaced: columns by a constant before they are laid out, times,
sizes and digests in messages by a word in angle brackets.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import Result
from tests.app.short_reports import shorten_report

from zscope.app.cli.commands import demo
from zscope.app.cli.commands.summary import paragraphs
from zscope.app.cli.output import Rows, output_options, terminal
from zscope.app.cli.output.terminal import notes, screen

Run = Callable[..., Result]

CHECKOUT = Path(__file__).resolve().parents[4]
SAMPLE = CHECKOUT / "sample-data"
GOLDEN = CHECKOUT / "tests" / "golden" / "screens"
WIDTHS = (80, 120, 200)
LINES = 16
"""Lines of a result that are compared."""
INPUTS = ("smf-sample.bin", "reports/rmf-cpu.SYSA.xml")
SETTINGS = """store = "night"

[load]
folders = ["arrived"]
settle_s = 0
"""
ZONES = """[ingest]
default_timezone = "+01:00"
"""
COMMANDS = (
    "ingest arrived --store store --timezone +01:00 --dry-run",
    "ingest arrived --store store --timezone +01:00",
    "ingest arrived/smf-sample.bin --store store --timezone +01:00",
    "loads --store store",
    "issues --store store",
    "store check --store store",
    "store compact --store store",
    "export smf119_zert_detail -o exported --format csv --store store",
    "export handshake_mix -o mix.prom --store store",
    "publish iceberg --store store",
    "validate --store store",
    "report -o report.html --store store",
    "loads remove 1 --store store",
    "unpack arrived/smf-sample.bin -o unpacked.bin",
    "generate -o generated.smf --records 50 --seed 1",
    "demo --store demo --full",
    "help store compact",
    "nightly --settings nightly.toml --dry-run",
    "nightly --settings nightly.toml",
)
CHANGING = (
    (re.compile(r"20\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?"), "<time>"),
    (re.compile(r"\b\d+(\.\d+)? (s|seconds?|ms)\b"), "<duration>"),
    (re.compile(r"\b[\d,]+(\.\d+)? ([kMG]?B/s|[kMG]?B|bytes)(?!\w)"), "<size>"),
    (re.compile(r"(?<= on )[\w.-]+$", re.MULTILINE), "<host>"),
    (re.compile(r"^.* left\n", re.MULTILINE), ""),
)
CONSTANT = {
    "seconds": 1.5,
    "mb_per_second": 2.5,
    "started_utc": datetime(2026, 1, 1, tzinfo=UTC),
    "stored_bytes": 1000,
    "metadata": "<path>",
    "run_id": "20260101T000000-000000",
    "checked_utc": datetime(2026, 1, 1, tzinfo=UTC),
}
"""Columns that differ from run to run."""


def test_what_changes_is_replaced() -> None:
    text = "loaded 2026-11-25 12:00:00 in 1.2 s, 14,112 bytes, 3.1 MB/s, 20 rows"
    assert _still(text, Path("/x")) == "loaded <time> in <duration>, <size>, <size>, 20 rows"


class Screens:
    """Lays out the results of commands at all widths, with the same values in each run.

    The commands print a mark for each screen, and one for its notes, instead.
    """

    def __init__(self) -> None:
        self._by_width: list[dict[int, terminal.Screen]] = []

    def lay_out(self, rows: Rows, *, width: int, **wanted: bool) -> terminal.Screen:  # noqa: ARG002
        """Do what `terminal.screen` does, for all widths instead of one."""
        batches = [_with_constants(batch) for batch in rows]
        same = replace(rows, batches=batches)
        by_width = {each: screen(same, width=each, **wanted) for each in WIDTHS}
        return terminal.Screen([self._mark(by_width)])

    def paragraphs(self, statements: pa.Table) -> str:
        """Do what `summary.paragraphs` does, for all widths instead of one."""
        by_width = {}
        for width in WIDTHS:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("COLUMNS", str(width))
                by_width[width] = terminal.Screen(paragraphs(statements).splitlines())
        return self._mark(by_width)

    def _mark(self, by_width: dict[int, terminal.Screen]) -> str:
        self._by_width.append(by_width)
        return f"<screen {len(self._by_width) - 1}>"

    def notes(self, shown: list[terminal.Screen]) -> list[str]:
        """Do what `terminal.notes` does, later."""
        numbers = " ".join(
            line.removeprefix("<screen ").removesuffix(">") for each in shown for line in each.lines
        )
        return [f"<notes {numbers}>"]

    def at_width(self, output: str, width: int) -> str:
        """Return an output with the screens and notes of a width."""

        def screens_of(mark: re.Match[str]) -> list[terminal.Screen]:
            return [self._by_width[int(number)][width] for number in mark[1].split()]

        def lines(each: list[str]) -> str:
            return "".join(f"{line}\n" for line in each)

        output = re.sub(r"<screen (\d+)>\n", lambda mark: lines(screens_of(mark)[0].lines), output)
        return re.sub(r"<notes ([\d ]+)>\n", lambda mark: lines(notes(screens_of(mark))), output)


def _with_constants(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        pa.array([CONSTANT[field.name]] * len(batch), field.type) if field.name in CONSTANT else column
        for field, column in zip(batch.schema, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


@pytest.mark.deep
@pytest.mark.usefixtures("validation_here")
def test_commands_that_change_a_store_show_the_same(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "arrived").mkdir()
    for name in INPUTS:
        shutil.copy(SAMPLE / name, tmp_path / "arrived")
    (tmp_path / "nightly.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "zscope.toml").write_text(ZONES, encoding="utf-8")
    screens = Screens()
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    monkeypatch.setattr(terminal, "screen", screens.lay_out)
    monkeypatch.setattr(terminal, "notes", screens.notes)
    monkeypatch.setattr(demo, "paragraphs", screens.paragraphs)
    shorten_report(monkeypatch, "data")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PAGER", "")
    monkeypatch.chdir(tmp_path)
    results = {command: run(*shlex.split(command)) for command in COMMANDS}
    different = []
    for width in WIDTHS:
        text = "\n".join(
            _shown(screens, command, result, width, tmp_path) for command, result in results.items()
        )
        golden = GOLDEN / f"changes-{width}.txt"
        if os.environ.get("ZSCOPE_GOLDEN") == "write":
            golden.write_text(text, encoding="utf-8")
        different += list(
            unified_diff(golden.read_text(encoding="utf-8").splitlines(), text.splitlines(), golden.name, n=0)
        )
    assert different == [], "make golden writes the files again"


def _shown(screens: Screens, command: str, result: Result, width: int, folder: Path) -> str:
    """Return what a command shows: rows first, then messages."""
    assert result.exit_code in {0, 4}, f"{command}: {result.exit_code}\n{result.stderr}"
    parts = [f"$ zscope {command}  # {width} columns, exit code {result.exit_code}"]
    for output in (result.stdout, result.stderr):
        lines = _still(screens.at_width(output, width), folder).splitlines()
        more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        parts += [*lines[:LINES], *more]
    return "\n".join([*parts, ""])


def _still(text: str, folder: Path) -> str:
    """Return a text without what differs from run to run."""
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return text.replace(str(folder), "<folder>")
