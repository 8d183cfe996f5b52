"""The examples in docs/nightly, the Containerfile and the document about the batch work as written."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.app.cli.nightly.nights import OTHER, SMALL, NightFolder
from tests.handbook import HANDBOOK, section

from zscope.app.cli.nightly.running import STEPS
from zscope.app.cli.nightly.settings_file import read_nightly_settings, sections_in_file

EXAMPLES = HANDBOOK / "nightly"
DOCUMENT = section("load.md", "The nightly batch")
CONTAINERFILE = (HANDBOOK.parent / "Containerfile").read_text(encoding="utf-8")
PROGRAM = Path(sys.executable).with_name("zscope")
UNITS = ("zscope-nightly.service", "zscope-nightly.timer", "zscope-nightly-failed.service")
MINIMAL = 'store = "/data/zscope"\n[load]\nfolders = ["/data/incoming"]\n'

Moved = Callable[[str], str]


@pytest.fixture
def moved(tmp_path: Path) -> Moved:
    """Return a function that replaces the paths of the examples by paths in a new folder."""
    places = {
        "/opt/zscope/bin/zscope": str(PROGRAM),
        "/etc/zscope": str(tmp_path / "etc"),
        "/data": str(tmp_path / "data"),
    }
    for folder in ("etc", "data/incoming"):
        (tmp_path / folder).mkdir(parents=True)

    def replaced(text: str) -> str:
        for place, new in places.items():
            text = text.replace(place, new)
        return text

    (tmp_path / "etc" / "nightly.toml").write_text(replaced(MINIMAL), encoding="utf-8")
    return replaced


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a scheduler does: with /bin/sh and few variables."""
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": f"{PROGRAM.parent}:/usr/bin:/bin", "HOME": str(folder)} | environment,
    )  # fmt: skip


def unit(name: str) -> configparser.ConfigParser:
    """Read a unit of systemd."""
    parser = configparser.ConfigParser(interpolation=None, strict=True, comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string((EXAMPLES / name).read_text(encoding="utf-8"))
    return parser


def test_the_units_belong_together() -> None:
    service, timer, failed = map(unit, UNITS)
    assert service["Unit"]["OnFailure"] == UNITS[2]
    assert service["Service"]["Type"] == failed["Service"]["Type"] == "oneshot"
    assert service["Service"]["SuccessExitStatus"] == "4"
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d:\d\d", timer["Timer"]["OnCalendar"])
    assert timer["Install"]["WantedBy"] == "timers.target"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_units(moved: Moved, tmp_path: Path) -> None:
    for name in UNITS:
        (tmp_path / name).write_text(moved((EXAMPLES / name).read_text(encoding="utf-8")), encoding="utf-8")
    files = [str(tmp_path / name) for name in UNITS]
    command = ["systemd-analyze", "verify", "--man=no", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    wrong = tmp_path / UNITS[0]
    wrong.write_text(wrong.read_text(encoding="utf-8").replace("OnFailure=", "OnFailures="), encoding="utf-8")
    assert "OnFailures" in subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.deep
def test_the_service_runs_the_batch(moved: Moved, tmp_path: Path) -> None:
    done = shell(moved(unit(UNITS[0])["Service"]["ExecStart"]), tmp_path)
    assert done.returncode == 4  # a success of the unit: no new file
    assert done.stdout.startswith("zscope nightly: exit code 4, warnings")
    assert (tmp_path / "data" / "zscope" / "nightly" / "last.json").is_file()


def test_the_unit_for_failures_mails_the_report(moved: Moved, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    mail = tmp_path / "bin" / "mail"
    mail.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/mailed"; cat >> "{tmp_path}/mailed"\n')
    mail.chmod(0o755)
    report = tmp_path / "data" / "zscope" / "nightly" / "last.txt"
    report.parent.mkdir(parents=True)
    report.write_text("the report\n")
    command = moved(unit(UNITS[2])["Service"]["ExecStart"]).replace("%H", "lpar-lake")
    done = shell(command, tmp_path, PATH=f"{mail.parent}:/usr/bin:/bin")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "mailed").read_text() == "-s zscope nightly failed on lpar-lake root\nthe report\n"


def test_the_line_of_cron_runs_the_batch(moved: Moved, tmp_path: Path) -> None:
    lines = (EXAMPLES / "zscope-nightly.cron").read_text(encoding="utf-8").splitlines()
    [line] = [each for each in lines if not re.match(r"#|[A-Z]+=", each)]
    minute, hour, day, month, weekday, user, command = line.split(maxsplit=6)
    assert (0 <= int(minute) < 60, 0 <= int(hour) < 24) == (True, True)
    assert (day, month, weekday, user) == ("*", "*", "*", "smf")
    assert "%" not in command  # cron makes a new line of it
    done = shell(moved(command), tmp_path)
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.startswith("zscope nightly: exit code 4, warnings")


@pytest.mark.deep
def test_the_container_runs_the_batch(moved: Moved, tmp_path: Path) -> None:
    lines = [line for line in CONTAINERFILE.splitlines() if line[:1].isupper()]
    of = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines if not line.startswith("ENV")}
    variables = dict(line.split(" ", 1)[1].split("=", 1) for line in lines if line.startswith("ENV"))
    command = shlex.join([*json.loads(of["ENTRYPOINT"]), *json.loads(of["CMD"])])
    own = {name: moved(variables[name]) for name in ("ZSCOPE_NIGHTLY", "ZSCOPE_STORE")}
    done = shell(command, tmp_path, **own)
    assert (done.returncode, done.stderr) == (4, "")
    summary = shell(f"{json.loads(of['ENTRYPOINT'])[0]} loads --format json", tmp_path, **own)
    assert summary.returncode == 0, "the store of the settings is that of the variable"


@pytest.mark.deep
def test_the_commands_of_the_document_run_in_a_new_folder(moved: Moved, tmp_path: Path) -> None:
    night = NightFolder(tmp_path)
    for name, content in (("a.smf", SMALL), ("b.smf", OTHER)):
        shutil.move(night.add(name, content), tmp_path / "data" / "incoming" / name)
    example = shell("zscope nightly --example", tmp_path)
    (tmp_path / "nightly.toml").write_text(moved(example.stdout), encoding="utf-8")
    [block] = re.findall(r"^```console\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    commands = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(commands) == 2
    for command in commands:
        assert shell(command, tmp_path).returncode == 0
    report = json.loads((tmp_path / "data" / "zscope" / "nightly" / "last.json").read_bytes())
    assert report["steps"][0]["counts"]["loaded"] == 2


def test_the_settings_of_the_document_are_valid(tmp_path: Path) -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    (tmp_path / "nightly.toml").write_text(text, encoding="utf-8")
    settings = read_nightly_settings(tmp_path / "nightly.toml")
    assert all(getattr(settings, name) for name in sections_in_file())


def test_the_steps_of_the_document_are_those_of_the_program() -> None:
    table = DOCUMENT.partition("| step | does | as |\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [step.name for step in STEPS]


def test_the_keys_of_the_report_are_in_the_document(night: NightFolder) -> None:
    night.settings('store = "store"\n[load]\nfolders = ["new"]\n')
    report = night.night()
    table = DOCUMENT.partition("| key | content |\n")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    named = {name.removeprefix("steps[].") for cell in cells for name in re.findall(r"`(.+?)`", cell)}
    assert named == {*report, *report["steps"][0]}
