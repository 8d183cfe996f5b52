"""The program as a whole: help, the list of commands, wrong arguments, exit codes."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.testing import Result

from zscope.app.cli.exits import ExitCode, exit_code_of
from zscope.app.cli.main import COMMANDS, program
from zscope.app.cli.short_ways import SHORT_WAYS

Run = Callable[..., Result]
CHECKOUT = Path(__file__).resolve().parents[4]
ZSCOPE = [sys.executable, "-m", "zscope"]


def command(name: str) -> click.Command:
    result = program.get_command(click.Context(program), name)
    assert result is not None
    return result


def test_modules_and_declared_commands_agree() -> None:
    folder = CHECKOUT / "app" / "zscope" / "app" / "cli" / "commands"
    assert {file.stem.replace("_", "-") for file in folder.glob("*.py")} - {"--init--"} == (
        COMMANDS.keys() - SHORT_WAYS.keys()
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_the_first_line_of_each_help(name: str) -> None:
    assert (command(name).help or "").split("\n", 1)[0] == COMMANDS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_names_existing_options(name: str, run: Run) -> None:
    help_text = run(name, "--help").output
    [_, examples] = re.split(r"Examples?:\n", help_text)
    calls = re.findall(rf"zscope {name}\b([^|\n]*)", examples.split("\n\n")[0])
    assert calls
    known = {
        option
        for one in _with_subcommands(command(name))
        for parameter in one.params
        for option in parameter.opts + parameter.secondary_opts
    }
    used = {word for call in calls for word in re.findall(r"(?<!\S)--?[a-z][a-z-]*", call)}
    assert used <= known


def _with_subcommands(top: click.Command) -> list[click.Command]:
    return [top, *(top.commands.values() if isinstance(top, click.Group) else ())]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    silent = [
        parameter.name
        for one in _with_subcommands(command(name))
        for parameter in one.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert silent == []


def test_help_lists_all_commands(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == ExitCode.OK
    assert re.findall(r"^  ([\w-]+)  +\S", result.output.split("Commands:\n")[1], re.MULTILINE) == list(
        COMMANDS
    )


def test_version(run: Run) -> None:
    assert re.fullmatch(r"zscope \d+\.\d+\.\d+\S*\n", run("--version").stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "there is no command 'nonsense'; zscope help lists the commands"),
        (["fields", "--nonsense"], "No such option"),
        (["fields", "--format", "xml"], "'xml' is not one of"),
        (["fields", "-o", "fields.xyz"], "fields.xyz: unknown file ending"),
        (["decode"], "Missing argument 'PATH...'"),
        (["decode", "x.smf"], "Missing option '--table'"),
        (["inventory"], "Missing argument 'PATH...'"),
    ],
)
def test_wrong_arguments_end_with_12(arguments: list[str], message: str, run: Run) -> None:
    result = run(*arguments)
    assert result.exit_code == ExitCode.NOTHING
    assert result.stdout == ""
    assert message in result.stderr


def test_without_arguments_the_help_is_printed(run: Run) -> None:
    result = run()
    assert result.exit_code == ExitCode.NOTHING
    assert "Commands:" in result.stderr


def test_the_exit_codes_are_condition_codes() -> None:
    assert [(code.name, code.value) for code in ExitCode] == [
        ("OK", 0),
        ("WARNINGS", 4),
        ("REFUSED", 8),
        ("NOTHING", 12),
    ]


def test_a_closed_pipe_is_not_an_error() -> None:
    with subprocess.Popen([*ZSCOPE, "fields"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith(b"table_name,")
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == ExitCode.OK


@pytest.mark.parametrize(
    ("closed", "code"), [("<&-", ExitCode.REFUSED), (">&-", ExitCode.OK), ("2>&-", ExitCode.OK)]
)
def test_a_closed_standard_stream_is_not_a_defect(closed: str, code: int, dump: Path) -> None:
    """Standard input without anything in it is an empty file, and that is refused."""
    source = "-" if closed == "<&-" else str(dump)
    shell = shlex.join([*ZSCOPE, "inventory", source]) + f" {closed}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_file_name_that_is_not_utf8_is_shown_with_escapes(run: Run, dump: Path) -> None:
    dump.rename(os.fsdecode(os.fsencode(dump.parent) + b"/a\xff.smf"))
    result = run("inventory", dump.parent)
    assert result.exit_code == 0
    assert "a\\xff.smf," in result.stdout
    assert "a\\xff.smf: SMF dump" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_reported_once() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*ZSCOPE, "fields"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (ExitCode.NOTHING, "Error: No space left on device\n")


def test_ctrl_c_exits_with_12_and_keeps_the_output_unchanged(tmp_path: Path, dump_bytes: bytes) -> None:
    target = tmp_path / "rows.csv"
    target.write_text("as it was")
    running = subprocess.Popen(
        [*ZSCOPE, "decode", "-", "-t", "smf_record", "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with running:
        assert running.stdin is not None
        assert running.stderr is not None
        # More than the buffer of a pipe: when all of it is written, the program is reading.
        running.stdin.write(dump_bytes * 1000)
        running.stdin.flush()
        while running.poll() is None:
            # Python notices a signal while it waits in a read; one that comes just before it does not count.
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                running.wait(10)  # a second signal would end it while it cleans up
        message = running.stderr.read().decode()
    assert running.returncode == ExitCode.NOTHING
    assert message.strip() == "Error: interrupted; output files are unchanged"
    assert target.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    "arguments",
    [
        ("inventory", "DUMP", "-o", "same.csv", "--issues", "same.csv"),
        ("decode", "DUMP", "-t", "smf_record", "-o", "same.csv", "--issues", "same.csv"),
        ("generate", "-n", "20", "-o", "same.csv", "--manifest", "same.csv"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_two_outputs_with_one_name_are_refused(
    run: Run, dump: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    named = [str(dump) if a == "DUMP" else str(tmp_path / a) if a == "same.csv" else a for a in arguments]
    result = run(*named)
    assert result.exit_code == 12
    assert "use different names" in result.stderr
    assert not (tmp_path / "same.csv").exists()


def test_an_interruption_reported_by_a_library_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise RuntimeError("Query interrupted") from KeyboardInterrupt()

    assert exit_code_of(interrupted) == 12
    assert capsys.readouterr().err == "Error: interrupted; output files are unchanged\n"
