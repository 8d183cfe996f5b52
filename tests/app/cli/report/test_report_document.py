"""The commands of the handbook about the report work, and its table names the sections of the report."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
from tests.app.report_reading import harmless
from tests.app.short_reports import shorten_report
from tests.handbook import blocks, section

from zscope.app.report.report_sections import report_sections

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.conftest import Run

TEXT = section("answers.md", "The report")
COMMANDS = "".join(blocks(TEXT, "bash")).splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_work(
    command: str, run: Run, zoned_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZSCOPE_STORE", str(zoned_store))
    shorten_report(monkeypatch, "handshakes", "changes", "data", compared=True)
    words = shlex.split(command)
    if "--since" in words:
        assert run("report", "-o", words[words.index("--since") + 1]).exit_code == 0
    done = run(*words[1:])
    assert done.exit_code == 0, done.stderr
    harmless((tmp_path / words[words.index("-o") + 1]).read_bytes())


def test_the_table_names_the_sections() -> None:
    named = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", TEXT, re.MULTILINE)
    titles = [section.title for section in report_sections()]
    since = "What changed since the report of a day"
    assert named[1 : 5 + len(titles)] == ["At a glance", "In short", since, *titles, "Definitions"]


def test_the_example_of_missing_data_is_real() -> None:
    [example] = blocks(TEXT, "text")
    assert " ".join(example.split()) in {section.capture for section in report_sections()}
