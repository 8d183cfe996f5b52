"""Type checkers of users know the types of the Python interface."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.app.python.conftest import ROOT

import zscope.api as zs

PROGRAM = Path(__file__).with_name("typed_program.py")
"""`make types` checks this program too, but with the sources and settings of this checkout."""


def attributes(text: str) -> set[str]:
    """Return the names that a program uses of `zs`."""
    return {
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "zs"
    }


def test_the_program_uses_all_public_names() -> None:
    assert attributes(PROGRAM.read_text(encoding="utf-8")) == set(zs.__all__)


def test_modules_beside_the_packages_are_typed() -> None:
    """Of a namespace package, type checkers read `zscope/api.py` only with a marker next to it."""
    assert (ROOT / "app" / "zscope" / "py.typed").is_file()


@pytest.mark.deep
def test_a_strict_type_checker_infers_the_types(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_bytes(PROGRAM.read_bytes())
    (tmp_path / "mistakes.py").write_text(
        "import zscope.api as zs\n\n"
        "zs.scna('dump')\n"
        "zs.read(3)\n"
        "zs.ReadOptions(job=2)\n"
        "zs.open().metric('tls_price', by=1)\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "program.py", "mistakes.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    mistakes = [line for line in done.stdout.splitlines() if ": note:" not in line]
    assert [line.partition(": error: ")[0] for line in mistakes] == [
        f"mistakes.py:{number}" for number in (3, 4, 5, 6)
    ]
    assert [line.rpartition(" ")[2] for line in mistakes] == [
        "[attr-defined]",
        "[arg-type]",
        "[call-arg]",
        "[arg-type]",
    ]
