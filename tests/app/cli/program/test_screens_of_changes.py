"""What the commands that load, change and check a store show on terminals, compared with golden files.

`make golden` writes the files again. The commands run one after the other, for each width on a store of its
own. What differs from run to run is replaced: columns by a constant before they are laid out, times, sizes
and digests in messages by a word in angle brackets.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import Result

from zscope.app.cli.output import Rows, output_options, terminal
from zscope.app.cli.output.terminal import screen
from zscope.pipelines.ingest import commit_new_rows

Run = Callable[..., Result]

CHECKOUT = Path(__file__).resolve().parents[4]
SAMPLE = CHECKOUT / "sample-data"
GOLDEN = CHECKOUT / "tests" / "golden" / "screens"
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
    "demo --store demo",
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
}
"""Columns that differ from run to run."""


def test_what_changes_is_replaced() -> None:
    text = "loaded 2026-11-25 12:00:00 in 1.2 s, 14,112 bytes, 3.1 MB/s, 20 rows"
    assert _still(text, Path("/x")) == "loaded <time> in <duration>, <size>, <size>, 20 rows"


def _with_constants(rows: Rows, *, width: int, raw: bool, all_rows: bool) -> terminal.Screen:
    """Do what `terminal.screen` does, with the same values in each run."""
    batches = []
    for batch in rows:
        columns = [
            pa.array([CONSTANT[field.name]] * len(batch), field.type) if field.name in CONSTANT else column
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=batch.schema))
    return screen(Rows(rows.schema, batches, rows.essential), width=width, raw=raw, all_rows=all_rows)


@pytest.mark.deep
@pytest.mark.parametrize("width", [80, 120, 200])
def test_commands_that_change_a_store_show_the_same(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int
) -> None:
    (tmp_path / "arrived").mkdir()
    for name in INPUTS:
        shutil.copy(SAMPLE / name, tmp_path / "arrived")
    (tmp_path / "nightly.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "zscope.toml").write_text(ZONES, encoding="utf-8")
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    monkeypatch.setattr(terminal, "screen", _with_constants)
    monkeypatch.setattr(commit_new_rows, "LONGEST_S", 3600.0)  # else a slow machine makes more commits
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("PAGER", "")
    monkeypatch.chdir(tmp_path)
    text = "\n".join(_shown(run, command, width, tmp_path) for command in COMMANDS)
    golden = GOLDEN / f"changes-{width}.txt"
    if os.environ.get("ZSCOPE_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "make golden writes the files again"


def _shown(run: Run, command: str, width: int, folder: Path) -> str:
    """Return what a command shows: rows first, then messages."""
    result = run(*shlex.split(command))
    assert result.exit_code in {0, 4}, f"{command}: {result.exit_code}\n{result.stderr}"
    parts = [f"$ zscope {command}  # {width} columns, exit code {result.exit_code}"]
    for output in (result.stdout, result.stderr):
        lines = _still(output, folder).splitlines()
        more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        parts += [*lines[:LINES], *more]
    return "\n".join([*parts, ""])


def _still(text: str, folder: Path) -> str:
    """Return a text without what differs from run to run."""
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return text.replace(str(folder), "<folder>")
