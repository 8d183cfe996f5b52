"""The prompt of `zscope sql` on a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from zscope.app.cli.prompt import Completion
from zscope.app.shared.statement_examples import EXAMPLES
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.store.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
ZSCOPE = [sys.executable, "-m", "zscope"]
PROMPT = "zscope> "
CODES = "What the codes of a column mean"
"""An example that needs no loaded rows."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x07")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a small report; only to be read."""
    folder = tmp_path_factory.mktemp("prompted") / "store"
    ingest(folder, [SAMPLE / "reports" / "syslog.txt"], IngestOptions(selection=row_selection(None)))
    return folder


class Terminal:
    """`zscope sql` on a pseudo terminal."""

    def __init__(self, store: Path, state: Path, temporary: Path) -> None:
        self._ours, theirs = pty.openpty()
        self._running = subprocess.Popen(
            [*ZSCOPE, "sql", "--store", str(store)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={
                **os.environ, "XDG_STATE_HOME": str(state), "TMPDIR": str(temporary), "TERM": "dumb",
                "INPUTRC": os.devnull, "COLUMNS": "120", "LINES": "40",
            },
            start_new_session=True,
            preexec_fn=lambda: _as_terminal(theirs),  # noqa: PLW1509 - it makes one system call
        )  # fmt: skip
        os.close(theirs)
        self.until(PROMPT)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._ours, text.encode())

    def until(self, text: str) -> str:
        """What appears up to and with a text."""
        seen = ""
        end = time.monotonic() + 300
        while text not in seen:
            ready, _, _ = select.select([self._ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"{text!r} did not appear in {seen!r}"
            seen += _ESCAPES.sub("", os.read(self._ours, 1 << 16).decode())
        return seen

    def answer(self, line: str) -> str:
        """Return the result of a line."""
        self.type(f"{line}\n")
        return self.until(f"\n{PROMPT}")

    def end(self) -> int:
        """Wait for the end and give the exit code."""
        while True:
            try:
                if not os.read(self._ours, 1 << 16):
                    break
            except OSError:
                break
        os.close(self._ours)
        return self._running.wait(20)

    def stop(self) -> None:
        """Stop the program if it still runs."""
        self._running.kill()
        self._running.wait()


def _as_terminal(handle: int) -> None:
    """Make it the one that Ctrl-C and Ctrl-D are for."""
    import fcntl
    import termios

    fcntl.ioctl(handle, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(store: Path, tmp_path: Path) -> Iterator[Terminal]:
    started = Terminal(store, tmp_path / "state", tmp_path)
    yield started
    started.stop()


def test_statements_take_several_lines_and_errors_do_not_end_it(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type("SELECT 40 + 2\n")
    assert "...> " in terminal.until("...> ")
    assert re.search(r"answer\n-+\n +42\n\(1 row, \d\.\d\d s\)\n", terminal.answer("AS answer;"))
    assert "Error: Catalog Error: Table with name nix does not exist!" in terminal.answer("FROM nix;")
    assert "Error: COPY is not allowed" in terminal.answer("COPY load TO 'x';")
    assert "Error: .nix: unknown command; .help lists the commands" in terminal.answer(".nix")
    assert "gsk_cache_status" in terminal.answer(".tables gsk")
    assert "Number of the load" in terminal.answer(".columns gsk_cache_status")
    described = terminal.answer(".describe gsk_cache_status")
    assert re.search(r"gsk_cache_status: \w+", described)
    assert "Number of the load" in described
    assert "did you mean gsk_cache_status" in terminal.answer(".describe gsk_cache_statu")
    listed = terminal.answer(".examples")
    assert [line.split(maxsplit=1)[0] for line in listed.splitlines()[3:6]] == ["1", "2", "3"]
    assert EXAMPLES[0].title in listed
    first = terminal.answer(f".examples {1 + [each.title for each in EXAMPLES].index(CODES)}")
    assert "code_handshake_type" in first
    assert re.search(r"\(\d+ rows?, ", first)
    assert f"choose a number from 1 to {len(EXAMPLES)}" in terminal.answer(".examples 99")
    assert "Ctrl-C discards the statement" in terminal.answer(".help")
    terminal.type(".quit\n")
    assert terminal.end() == 0
    history = (tmp_path / "state" / "zscope" / "sql_history").read_text().splitlines()
    assert history[:2] == ["SELECT 40 + 2", "AS answer;"]
    assert (tmp_path / "state" / "zscope" / "sql_history").stat().st_mode & 0o077 == 0


def test_ctrl_c_discards_typed_text_and_stops_a_statement(terminal: Terminal) -> None:
    terminal.type("SELECT nix\n")
    terminal.until("...> ")
    time.sleep(0.3)  # Python shows the prompt a moment before it waits for signals, too
    terminal.type("\x03")
    terminal.until(PROMPT)
    terminal.type("SELECT count(*) FROM range(1000000) a, range(100000000) b WHERE a.range * b.range = -5;\n")
    terminal.until("= -5;")
    time.sleep(0.5)
    terminal.type("\x03")
    assert "interrupted" in terminal.until(f"\n{PROMPT}")
    assert "42" in terminal.answer("SELECT 42 AS answer;")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_the_tab_key_completes(terminal: Terminal) -> None:
    terminal.type("SELECT coun\t(*) AS n FROM gsk_cache_stat\tu\t WHERE gsk_cache_status.lo\t = 1;")
    shown = terminal.answer("")
    assert "FROM gsk_cache_status WHERE gsk_cache_status.load_id = 1;" in shown
    assert "(1 row, " in shown
    terminal.type(".des\t gsk_cry\t")
    assert "Largest key size" in terminal.answer("")


def test_the_history_is_optional(store: Path, tmp_path: Path) -> None:
    terminal = Terminal(store, Path(os.devnull), tmp_path)
    assert "42" in terminal.answer("SELECT 42 AS answer;")
    terminal.type("\x04")
    assert terminal.end() == 0


@pytest.fixture
def completion(tmp_path: Path) -> Iterator[Completion]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE smf70_cpu (system VARCHAR, cpu_no INTEGER)")
    connection.execute("CREATE VIEW cpu_interval AS SELECT system, 1 AS cps_online FROM smf70_cpu")
    with Session.guard(connection, tmp_path) as session:
        yield Completion(session)


@pytest.mark.parametrize(
    ("statement", "offered"),
    [
        ("SELECT * FROM smf", ["smf70_cpu"]),
        ("SELECT * FROM smf70_cpu WHERE cp", ["cpu_no", "cpu_interval"]),
        ("SELECT * FROM cpu_interval\nWHERE cps", ["cps_online"]),
        ("SELECT * FROM smf70_cpu, cpu_interval WHERE smf70_cpu.", ["smf70_cpu.cpu_no", "smf70_cpu.system"]),
        ("SELECT nix.", []),
        ("sele", ["select"]),
        ("SELE", ["SELECT"]),
        (".t", [".tables"]),
        (".columns c", ["cpu_interval"]),
    ],
)
def test_completion_candidates(statement: str, offered: list[str], completion: Completion) -> None:
    word = re.split(r"[\s(]", statement)[-1]
    assert completion.candidates(statement, word) == offered


def test_temporary_tables_are_completed(tmp_path: Path) -> None:
    with Session.guard(duckdb.connect(), tmp_path) as session:
        completion = Completion(session)
        assert completion.candidates("FROM min", "min") == ["min"]
        session.run("CREATE TEMP TABLE mine AS SELECT 1 AS mineral")
        assert completion.candidates("FROM mine WHERE mi", "mi") == ["mineral", "mine", "min"]
