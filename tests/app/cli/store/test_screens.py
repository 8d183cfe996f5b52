"""What the commands show on terminals of 80, 120 and 200 columns, compared with golden files.

`make golden` writes the files again. A command runs once; its rows are laid out at each width. Long results
are compared up to some lines. Commands whose output has times of today or paths of this machine are not here.
"""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import Result
from tests.marking import deep_except

from zscope.app.cli.output import Rows, output_options, terminal
from zscope.app.cli.output.terminal import screen
from zscope.pipelines.metrics import metric_names

if TYPE_CHECKING:
    import pyarrow as pa

Run = Callable[..., Result]

CHECKOUT = Path(__file__).resolve().parents[4]
GOLDEN = CHECKOUT / "tests" / "golden" / "screens"
WIDTHS = (80, 120, 200)
LINES = 16
"""Lines of a result that are compared."""
NO_STORE = {
    "inputs": (
        "inventory sample-data/smf-sample.bin",
        "inventory sample-data/smf-sample.bin --questions",
        "decode sample-data/smf-sample.bin --table smf119_zert_detail --limit 5",
        "decode sample-data/smf-sample.bin -t smf119_zert_detail -c job_name,tls_version,cipher --limit 5",
    ),
    "program": (
        "fields handshake",
        "metrics",
        "metrics handshake_mix --columns",
        "metrics tls_price --parameters",
        "model flood --sessions 500",
    ),
}
COMMANDS = {
    "summary": ("summary --full",),
    "check": ("check --only findings", "check --only practices"),
    "benchmark": ("benchmark --measured", "benchmark --explain tls31-tls13-vs-tls12-cpu"),
    "runs": ("compare tls12-signature-0804 tls13-signature-0804", "runs", "runs propose"),
    "sql": ("sql 'SELECT * FROM smf119_zert_detail ORDER BY record_no, load_id LIMIT 2'",),
}


OPTIONS = {"period_cause": " --from 2026-03-10 --to 2026-03-16"}
"""Options of metrics that have no rows without: the last week has no week before to compare it with."""


def subjects() -> dict[str, tuple[str, ...]]:
    """The metrics by the folder of their subject."""
    by_subject: dict[str, list[str]] = defaultdict(list)
    for folder in files("zscope.pipelines.metrics").iterdir():
        if folder.is_dir():
            names = {file.name.removesuffix(".toml") for file in folder.iterdir()}
            found = [name for name in metric_names() if name in names]
            by_subject[folder.name] += [f"metrics {name}{OPTIONS.get(name, '')}" for name in found]
    return {f"metrics-{name}": tuple(found) for name, found in sorted(by_subject.items()) if found}


class Screens:
    """Lays out each result of a command at all widths."""

    def __init__(self) -> None:
        self.by_width: dict[int, list[str]] = {}

    def lay_out(self, rows: Rows, *, width: int, **wanted: bool) -> terminal.Screen:  # noqa: ARG002
        """Do what `terminal.screen` does, for all widths instead of one."""
        batches = list(some(rows))
        for each in WIDTHS:
            same = replace(rows, batches=batches)
            shown = screen(same, width=each, **wanted)
            assert max(map(len, shown.lines)) <= each, "a line is wider than the terminal"
            lines = self.by_width.setdefault(each, [])
            lines += ([""] if lines else []) + shown.lines
        return terminal.Screen([])


def some(rows: Rows) -> Iterator[pa.RecordBatch]:
    """Read a little more than a terminal shows."""
    for batch in rows:
        yield batch
        if rows.count > terminal.FIRST_ROWS:
            return


@pytest.fixture
def screens(monkeypatch: pytest.MonkeyPatch) -> Screens:
    """A terminal of all widths."""
    recorder = Screens()
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    monkeypatch.setattr(terminal, "screen", recorder.lay_out)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(CHECKOUT)
    return recorder


def compare(run: Run, screens: Screens, name: str, commands: tuple[str, ...], store: Path | None) -> None:
    """Compare what commands show with the golden file, or write it."""
    text = "\n".join(shown_by(run, screens, command, store) for command in commands)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("ZSCOPE_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "make golden writes the files again"


def shown_by(run: Run, screens: Screens, command: str, store: Path | None) -> str:
    """Return what a command shows at all widths."""
    screens.by_width = {}
    result = run(*shlex.split(command), *(["--store", store] if store else []))
    assert result.exit_code in {0, 4, 8}, result.stderr
    by_width = screens.by_width or {80: result.stdout.splitlines()}
    parts: list[str] = []
    for width, lines in by_width.items():
        more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        parts += [f"$ zscope {command}  # {width} columns", *lines[:LINES], *more, ""]
    return "\n".join(parts)


@pytest.mark.parametrize("name", NO_STORE)
def test_commands_without_a_store_show_the_same_screens(run: Run, screens: Screens, name: str) -> None:
    compare(run, screens, name, NO_STORE[name], None)


@pytest.mark.parametrize("name", deep_except(("summary", "metrics-handshakes"), [*COMMANDS, *subjects()]))
def test_commands_show_the_same_screens(
    run: Run, screens: Screens, demo: tuple[Path, Result], name: str
) -> None:
    compare(run, screens, name, {**COMMANDS, **subjects()}[name], demo[0])
