"""The screen with the answers: its size, its figures, and what it says about stores that lack something."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.changed_queries import ChangedQueries
from tests.app.statement_figures import missing
from tests.pipelines.metrics.statement_stores import STORES, changed_store, loaded_store

from zscope.app.cli.output import output_options
from zscope.app.cli.screen.screen_declarations import ScreenPart, screen_parts
from zscope.app.cli.screen.screen_lines import ASCII, BLOCKS, screen_lines
from zscope.app.cli.short_ways import SHORT_WAYS
from zscope.app.dashboard.page_data import PageData
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.shared.filters import Filters
from zscope.app.shared.shown_statements import STATEMENT, shown_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.testing import Result
    from tests.app.conftest import Run

Row = dict[str, Any]

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "screens" / "answers.txt"
WIDTHS = (80, 100, 120)
MOST_LINES, MOST_DEMO_LINES = 38, 45
"""Lines on a terminal of 100 columns and 40 lines, with two for the prompt; lines of `zscope demo`."""


def parts_of(lines: list[str]) -> dict[str, list[str]]:
    """Return the lines below each heading; the command of a heading can be on the next line."""
    parts: dict[str, list[str]] = {}
    for line in lines[1:]:
        if line.startswith((BLOCKS.rule, f"{ASCII.rule * 2} ")):
            words = re.split(rf"[{BLOCKS.rule}{ASCII.rule}]{{2,}}", line)[1].strip()
            [heading] = [each.heading for each in screen_parts() if words.startswith(each.heading)]
            parts[heading] = []
        elif parts and not line.startswith("  zscope "):
            parts[[*parts][-1]].append(line)
    return parts


def metric_of(part: ScreenPart) -> tuple[str, list[str] | None]:
    """Return the metric whose rows the command of a part prints, and what they are grouped by."""
    words = part.command.split()[1:]
    by = words[words.index("--by") + 1].split(",") if "--by" in words else None
    if words[0] == "metrics":
        return words[1], by
    if words[0] in SHORT_WAYS:
        return SHORT_WAYS[words[0]].metric, by
    return words[0], ["system", "source"] if words[0] == "coverage" else None


KEYS = {
    "zscope price": "system", "zscope advice": "change", "zscope certificates": "subject_dn",
    "zscope metrics tls_posture --by source": "source", "zscope coverage": "system",
    "zscope benchmark": "area", "zscope price --by job_name": "job_name",
}  # fmt: skip
"""The column that names a line, by command."""


def rows_of(line: str, part: ScreenPart, rows: list[Row]) -> list[Row]:
    """Return the rows of a command that a line names; a line without a name is about all of them."""
    key = KEYS[part.command]
    named = [row for row in rows if re.search(rf"(?<!\w){re.escape(str(row[key]))}(?!\w)", line)]
    return named or rows


def cells_of(part: ScreenPart, rows: list[Row]) -> Iterator[object]:
    """Return the cells of the rows of a command, and what is counted or added from them."""
    yield "0.1"  # less than
    for row in rows:
        for cell in row.values():
            yield from cell if isinstance(cell, list) else [cell]
    if part.command == "zscope benchmark":
        measured = [row for row in rows if row["measured"] is not None]
        yield from Counter(row["verdict"] for row in rows).values()
        yield from (len(measured), sum(bool(row["synthetic"]) for row in measured))
    elif part.command == "zscope price":
        systems = [row for row in rows if row["shared_by"] == "system" and row["part"] == "TLS"]
        known = [row for row in systems if row["high_cpu_s_per_day"] is not None]
        yield from (len(systems), len(known))
        for end in ("low_", "high_", ""):
            yield sum(row[f"{end}cpu_s_per_day"] or 0.0 for row in known)
    elif "tls_posture" in part.command:
        counted = [row for row in rows if row["connections"]]
        yield from (100 * row["old_version_connections"] / row["connections"] for row in counted)


def whole_lines(lines: list[str]) -> list[str]:
    """Return lines with what is below them."""
    joined: list[str] = []
    for line in lines:
        if line.startswith(" " * 4) and joined:
            joined[-1] += line
        else:
            joined.append(line)
    return joined


@pytest.mark.parametrize("name", STORES)
def test_figures_are_those_of_the_commands(
    name: str, demo: tuple[Path, Result], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each line has figures of the rows that its command prints about it; without rows it says why."""
    changed = STORES[name]
    store = demo[0] if changed.loaded == "demo" else loaded_store(tmp_path_factory, changed.loaded or "day")
    with changed_store(store if changed.loaded else None, changed) as steps:
        data = PageData(ChangedQueries(steps, store, name), name, Filters())
        by_width = {width: screen_lines(data, "store", width) for width in (*WIDTHS, 1000)}
        for width in WIDTHS:
            assert max(map(len, by_width[width])) <= width
        assert len(by_width[100]) <= MOST_LINES
        said = {
            each["subject"]: each["sentence"]
            for each in data.found(STATEMENT, shown_sql("found")).to_pylist()[::-1]
        }
        shown = parts_of(by_width[100])
        assert [*shown] == [part.heading for part in screen_parts()]
        for part in screen_parts():
            text = " ".join(" ".join(shown[part.heading]).split())
            metric, by = metric_of(part)
            rows = data.found(metric, "FROM found", by).to_pylist()
            figures = [figure_rows(data, line.declared, {}) for line in part.lines]
            if any(each.rows for each in figures):
                for line in whole_lines(shown[part.heading]):
                    cells = [*cells_of(part, rows_of(line, part, rows))]
                    assert missing(line, cells) == [], (part.heading, line)
            else:
                reason = said.get(part.subject) or figures[-1].figure.needs
                assert reason in text or figures[-1].figure.none in text, text


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Standard output is a terminal."""
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    return monkeypatch


def test_the_screen_is_the_same(run: Run, demo: tuple[Path, Result], on_terminal: pytest.MonkeyPatch) -> None:
    shown = []
    for width in WIDTHS:
        on_terminal.setenv("COLUMNS", str(width))
        answer = run("summary", "--store", demo[0])
        assert max(map(len, answer.stdout.splitlines())) <= width
        shown.append(f"$ zscope summary  # {width} columns\n{answer.stdout}")
    text = "\n".join(shown)
    if os.environ.get("ZSCOPE_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), "make golden writes the file again"


def test_filters_are_in_the_commands_and_where_they_do_not_apply_it_says_so(
    run: Run, demo: tuple[Path, Result], on_terminal: pytest.MonkeyPatch
) -> None:
    on_terminal.setenv("COLUMNS", "120")
    options = ("--system", "SRV1", "--from", "2026-03-10")
    lines = run("summary", *options, "--store", demo[0]).stdout.splitlines()
    assert "system SRV1" in lines[0]
    [price] = [line for line in lines if "What TLS costs" in line]
    assert "not filtered by period" in price
    commands = re.findall(r"zscope .*", "\n".join(lines))
    assert "zscope price --system SRV1" in commands
    assert "zscope coverage --from 2026-03-10 --system SRV1" in commands
    for command in commands:
        assert run(*shlex.split(command)[1:], "--store", demo[0]).exit_code in {0, 8}, command


def test_a_terminal_without_blocks_shows_letters(demo: tuple[Path, Result]) -> None:
    with changed_store(None, STORES["nothing"]) as steps:
        data = PageData(ChangedQueries(steps, demo[0], "nothing"), "nothing", Filters())
        lines = screen_lines(data, "store", 100, ASCII)
    assert "\n".join(lines).isascii()
    assert len(parts_of(lines)) == len(screen_parts())


def test_the_demo_fits_a_screen(run: Run, own_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    answer = run("demo", "--store", own_demo)
    assert answer.exit_code == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert len(lines) <= MOST_DEMO_LINES
    assert max(map(len, lines)) <= 110
    assert lines[0] == "Synthetic sample data: all names, addresses and numbers are invented."
    assert re.match(r"Skipped \d\d files that were loaded before", lines[1])
    headings = "\n".join(lines)
    assert all(part.heading in headings for part in screen_parts())
    assert "zscope dashboard" in headings
