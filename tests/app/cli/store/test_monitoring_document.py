"""The commands of the handbook about monitoring work, and its tables name what is exported."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from tests.app.cli.store.test_serve_metrics import served
from tests.handbook import blocks, section
from tests.marking import deep_except
from tests.pipelines.exposition.collector_end_point import collector

from zscope.pipelines import exposition
from zscope.pipelines.exposition.metrics_page import about_names

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result
    from tests.app.conftest import Run

TEXT = section("engines.md", "Monitoring")
COMMANDS = "".join(blocks(TEXT, "bash")).splitlines()
FEW_METRICS = ("cpu_interval", "handshake_mix", "tls_posture", "certificate_inventory")
"""The metrics that commands without a name export here; other tests export all of them."""
COLLECTOR = "http://127.0.0.1:4318"
SERVES = "zscope serve-metrics"


EXPORTS = [command for command in COMMANDS if not command.startswith(SERVES)]
SHORT = [command for command in EXPORTS if "tls_price" not in command]


@pytest.mark.parametrize("command", deep_except(SHORT, EXPORTS))
def test_commands_work(
    command: str, run: Run, demo: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZSCOPE_STORE", str(demo[0]))
    monkeypatch.setattr(exposition, "exported_metrics", lambda: FEW_METRICS)
    with collector() as received:
        words = shlex.split(command.replace(COLLECTOR, received.address))
        done = run(*words[1:])
    assert done.exit_code == 0, done.stderr
    if COLLECTOR in command:
        assert received.metrics or received.logs
    elif words[words.index("-o") + 1] != "-":
        assert [path.stat().st_size > 0 for path in tmp_path.iterdir()] == [True]


def test_the_server_starts_as_written(zoned_store: Path) -> None:
    [command] = [command for command in COMMANDS if command.startswith(SERVES)]
    words = shlex.split(command)
    assert words[2:] == ["--port", "9887"], "the test starts it on a free port instead"
    with served(zoned_store) as server:
        assert server.get("/-/healthy")[0].status == 200


def test_the_tables_are_complete() -> None:
    assert set(re.findall(r"`(zscope_export_\w+)`", TEXT)) == set(about_names())
    rules = files("zscope.pipelines.exposition") / "alert-rules.yaml"
    alerts = re.findall(r"- alert: (\w+)", rules.read_text(encoding="utf-8"))
    assert set(re.findall(r"`(Zscope\w+)`", TEXT)) == set(alerts)
