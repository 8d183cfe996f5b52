"""Children of a warm process: everything is imported, so a child is there in a millisecond, and many fit into
a test.

A fork copies one thread only, so the process that forks must not have others: it imports, and leaves all that
uses DuckDB or Arrow to its children.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from zscope.pipelines.metrics import declared
from zscope.pipelines.store import catalogue
from zscope.schemas import catalog
from zscope.schemas.reference import reference_tables

Say = Callable[[bytes], int]
CHECKOUT = Path(__file__).resolve().parents[3]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
EMPTY_CATALOGUE = "ZSCOPE_TESTS_EMPTY_CATALOGUE"


@dataclass(frozen=True, slots=True)
class Child:
    """A process that runs one function."""

    pid: int
    ear: int
    """Where what it says arrives."""

    def hear(self) -> bytes:
        """What it says next; nothing when it is at its end."""
        return os.read(self.ear, 1 << 20)

    def end(self) -> tuple[int, bytes]:
        """Wait for it: its exit code, negative where a signal ended it, and what it said unheard."""
        said = b""
        while piece := self.hear():
            said += piece
        os.close(self.ear)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), said


def start(work: Callable[[Say], object]) -> Child:
    """A child that does something and says what it wants to be heard."""
    ear, mouth = os.pipe()
    pid = os.fork()
    if pid:
        os.close(mouth)
        return Child(pid, ear)
    code = 70
    try:
        os.close(ear)
        work(lambda text: os.write(mouth, text))
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the child must not go on as its parent would
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def done_by_child(work: Callable[[], object]) -> Any:  # noqa: ANN401 - what JSON can say
    """The result of a function, called in a child."""

    def tell(say: Say) -> None:
        text = json.dumps(work()).encode()
        while text:
            text = text[say(text) :]

    code, said = start(tell).end()
    if code:
        raise RuntimeError(f"a child ended with {code}; what it wrote on standard error says why")
    return json.loads(said)


@cache
def _file_with(content: bytes) -> Path:
    """A file that exists until the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="zscope-tests-"))
    atexit.register(shutil.rmtree, folder)
    file = folder / "empty.duckdb"
    file.write_bytes(content)
    return file


def warm_up() -> None:
    """Do once what each child would do again: read the declarations, create the catalogue of an empty store.

    The catalogue takes seconds, so it comes from the process that started this one. If the program is started
    by hand, each child creates it.
    """
    catalog()
    declared()
    reference_tables()
    if name := os.environ.get(EMPTY_CATALOGUE):
        content = Path(name).read_bytes()
        setattr(catalogue, "empty_catalogue", lambda: content)  # noqa: B010 - mypy has no word for it


def program(module: str, *arguments: object, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a module of the tests as a program of its own, which prints JSON."""
    # Not the same for all tests: some have a small catalogue.
    empty = _file_with(catalogue.empty_catalogue())
    command = [*before, sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=CHECKOUT, text=True,
        env=os.environ | ONE_THREAD | {EMPTY_CATALOGUE: str(empty)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def printed_by(process: subprocess.Popen[str], timeout: float) -> Any:  # noqa: ANN401 - what JSON can say
    """What such a program printed."""
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return json.loads(out)
