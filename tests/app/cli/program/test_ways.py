"""Ways of writing that people know from z/OS and other programs, suggestions, and completion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep

from zscope.app.cli.output import output_options
from zscope.app.cli.short_ways import SHORT_WAYS, short_command
from zscope.pipelines.metrics import declared, settable
from zscope.pipelines.metrics.metric_statements import WITH_RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result
    from tests.app.conftest import Run

TABLE = "smf119_zert_detail"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingst"], "there is no command 'ingst'; did you mean ingest?"),
        (["nothing-like-it"], "zscope help lists the commands"),
        (["metrics", "handshake_mix", "--by", "sytem"], "did you mean system?"),
        (["metrics", "tls_price", "--set", "price_per_mus=1"], "did you mean price_per_msu?"),
        (["metrics", "handshake_mx"], "did you mean handshake_mix"),
        (["metrics", "tls_cost"], "did you mean tls_price?"),
        (["metrics", "handshake_mix", "--systm", "A"], "--system"),
        (["decode", "x", "--table", TABLE.upper()], f"did you mean {TABLE}?"),
        (["decode", "x", "--table", TABLE, "-c", "job_nam"], "did you mean job_name"),
        (["fields", "cipher", "--csv", "--json"], "csv and json: choose one format"),
    ],
)
def test_an_error_suggests_what_was_meant(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 12
    assert message in result.stderr


def test_help_is_a_command_too(run: Run) -> None:
    assert run("help").stdout == run("--help").stdout
    assert run("help", "runs", "import").stdout == run("runs", "import", "--help").stdout
    assert "there is no command 'rnus'; did you mean runs?" in run("help", "rnus").stderr
    assert run("help", "sql", "x").exit_code == 12


@pytest.mark.parametrize("name", SHORT_WAYS)
def test_a_short_way_has_the_rows_and_options_of_its_metric(run: Run, dump_store: Path, name: str) -> None:
    metric = SHORT_WAYS[name].metric
    both = [run(*words, "--columns", "--csv").stdout for words in ([name], ["metrics", metric])]
    assert both[0] == both[1]
    rows = [run(*words, "--store", dump_store, "--csv") for words in ([name], ["metrics", metric])]
    assert rows[0].stdout == rows[1].stdout
    assert rows[0].exit_code == 0
    assert f"zscope metrics {metric}" in run(name, "--help").stdout


@pytest.mark.parametrize("name", SHORT_WAYS)
def test_a_short_way_has_the_options_that_its_metric_accepts(name: str) -> None:
    metric = declared()[SHORT_WAYS[name].metric]
    has_time = bool(metric.clock or metric.period or metric.in_time)
    accepted = {
        "by": metric.combinable or bool(metric.rows_by or metric.in_time),
        "begin": has_time,
        "end": has_time,
        "systems": "system" in metric.filters or any(each.name == "system" for each in metric.columns),
        "price_per_msu": any(each.name == "high_price" for each in metric.columns),
        "with_runs": WITH_RUNS in settable(metric.name),
        "settings": bool(settable(metric.name)),
    }
    shown = {each.name for each in short_command(name).params}
    assert shown & {*accepted} == {option for option, accepts in accepted.items() if accepts}


def test_the_cost_of_each_job_and_of_each_day_are_short_ways(run: Run, demo: tuple[Path, Result]) -> None:
    by_job = run("price", "--by", "job_name", "--store", demo[0], "--csv").stdout
    same = "shared_by = 'job' AND part = 'TLS'"
    assert by_job == run("metrics", "tls_price", "--where", same, "--store", demo[0], "--csv").stdout
    assert by_job.count("\n") > 2
    port = run("price", "--by", "job_name", "--where", "job_name = 'NONE'", "--store", demo[0], "--csv")
    assert port.stdout.count("\n") == 1
    days = run("price", "--from", "2026-03-11", "--to", "2026-03-12", "--store", demo[0], "--csv")
    narrowed = ("--where", "day BETWEEN '2026-03-11' AND '2026-03-12'")
    assert days.stdout == run("metrics", "tls_price_day", *narrowed, "--store", demo[0], "--csv").stdout
    assert days.stdout.count("\n") > 2
    assert "rows of tls_price_day, which has the days of tls_price" in days.stderr


@pytest.mark.parametrize("name", SHORT_WAYS)
def test_a_terminal_shows_the_answer_of_the_metric(
    run: Run, demo: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PAGER", "")
    both = [
        run(*words, "--store", demo[0]).stdout for words in ([name], ["metrics", SHORT_WAYS[name].metric])
    ]
    assert both[0] == both[1]
    assert "system" in both[0]


def test_a_terminal_shows_the_advice_in_sections_that_have_each_row_once(
    run: Run, demo: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--where", declared()["tls_advice"].shown_where)
    rows = run("advice", *where, "--store", demo[0], "--csv").stdout.count("\n") - 1
    monkeypatch.setattr(output_options, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PAGER", "")
    first, every = (run("advice", "--store", demo[0], *words) for words in ((), ("--all-rows",)))
    headings = re.findall(r"^(.*): (\d+) rows?(?:, the first (\d+))?$", first.stdout, re.MULTILINE)
    assert {heading for heading, _, _ in headings} <= {e.heading for e in declared()["tls_advice"].sections}
    assert sum(int(count) for _, count, _ in headings) == rows
    assert any(shown for _, _, shown in headings)
    assert "first rows of the sections; --all-rows shows all" in first.stderr
    assert "the first" not in every.stdout
    assert every.stdout.count("\n") > first.stdout.count("\n")


def test_lists_have_names(run: Run, demo: tuple[Path, Result]) -> None:
    assert run("metrics", "list").stdout == run("metrics").stdout
    listed = run("runs", "list", "--store", demo[0], "--csv")
    assert listed.stdout == run("runs", "--store", demo[0], "--csv").stdout
    assert listed.stdout.count("\n") > 100


def test_the_version_has_a_short_option(run: Run) -> None:
    assert run("-V").stdout == run("--version").stdout


def test_formats_have_short_options(run: Run) -> None:
    assert run("fields", "cipher", "--json").stdout == run("fields", "cipher", "--format", "json").stdout
    assert run("fields", "cipher", "--csv").stdout == run("fields", "cipher", "--format", "csv").stdout


def test_a_selection_can_be_written_as_for_ifasmfdp(run: Run, dump: Path) -> None:
    both = [
        run("decode", dump, "-t", "smf_record", "--select", text).stdout
        for text in ("119(11)", "TYPE(119(11))", "type (119(11))")
    ]
    assert both[0].count("\n") == 4
    assert both[0] == both[1] == both[2]


def test_a_day_can_have_its_number_in_the_year(run: Run, dump: Path, tmp_path: Path) -> None:
    for text, files in (("2026.060", 1), ("2026061", 0)):
        store = tmp_path / text
        result = run("ingest", dump, "--store", store, "--from", text, "--json", "--timezone", "+00:00")
        assert ('"rows": 3' in result.stdout) == bool(files), result.stdout
    assert "is not a day" in run("ingest", dump, "--from", "2026.367").stderr


def test_a_quoted_pattern_is_expanded(run: Run, dump: Path) -> None:
    result = run("inventory", dump.parent / "*.smf")
    assert result.exit_code == 0
    assert dump.name in result.stdout
    assert run("inventory", dump.parent / "*.none").exit_code == 12


def test_a_dash_reads_statements_from_standard_input(run: Run, dump_store: Path) -> None:
    assert run("sql", "-", "--store", dump_store, stdin=b"SELECT 1 AS a").stdout == "a\n1\n"


def completed(*words: str) -> list[str]:
    """Return what bash would offer for the last word."""
    environment = {
        **os.environ,
        "_ZSCOPE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("zscope", *words)),
        "COMP_CWORD": str(len(words)),
    }
    code = "from zscope.app.cli.main import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return [line.partition(",")[2] for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("metrics", "handshake_m"), ["handshake_mix"]),
        *deep(
            (("metrics", "handshake_mix", "--by", "system,serv"), ["system,server_port"]),
            (("metrics", "tls_price", "--set", "price_per"), ["price_per_msu="]),
            (("price", "--by", "job"), ["job_name"]),
            (("price", "--by", "we"), ["week"]),
            (("decode", "x", "--table", "smf119_zert_de"), [TABLE]),
            (
                ("decode", "x", "--table", TABLE, "-c", "cipher,job"),
                ["cipher,job_name", "cipher,job_id"],
            ),
            (("inv",), ["inventory"]),
        ),
    ],
)
def test_a_shell_completes_names(words: tuple[str, ...], expected: list[str]) -> None:
    assert completed(*words) == expected


@pytest.mark.parametrize("shell", ["bash", *deep("zsh", "fish")])
def test_a_shell_gets_its_function(shell: str) -> None:
    environment = {**os.environ, "_ZSCOPE_COMPLETE": f"{shell}_source"}
    code = "from zscope.app.cli.main import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "_zscope_completion" in result.stdout
