"""Change one line of the sources to a wrong one, and run the test that must fail; for each line of the list.

    python -m tests.mutants.single_lines [WORD ...]

The list is `single_lines.toml`; words select entries by their text. The sources are changed in a copy, never
in the checkout. The exit code is 1 if a test passes with its wrong line, fails without it, or if the line is
not in its file exactly once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("single_lines.toml")
PACKAGES = ("app", "parsers", "pipelines", "sample-data", "schemas")
COPIED = (*PACKAGES, "docs", "tests", "pyproject.toml", "README.md", "CHANGELOG.md")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".hypothesis")
_TESTS_FAILED = 1
"""Exit code of pytest; others mean that no test ran."""


@dataclass(frozen=True, slots=True)
class WrongLine:
    """A line of the sources, what it could be by mistake, and the test that notices."""

    harm: str
    """What would happen to a user."""
    file: str
    line: str
    wrong: str
    """Empty if the line is missing."""
    test: str
    """A file of tests, or one test of it."""

    def changed(self, text: str) -> str:
        """Return the text of the file with the wrong line."""
        lines = text.splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.rstrip("\n") == self.line]
        if len(places) != 1:
            raise ValueError(f"{self.file} has this line {len(places)} times, not once: {self.line.strip()}")
        [place] = places
        lines[place] = f"{self.wrong}\n" if self.wrong else ""
        return "".join(lines)


def wrong_lines() -> list[WrongLine]:
    """Return the entries of the list."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["wrong_line"]
    return [WrongLine(**entry) for entry in entries]


def _outcome(copy: Path, test: str) -> int:
    """Run a test on the sources of the copy, as `make test` selects tests, and return the exit code."""
    sources = os.pathsep.join(str(copy / package) for package in PACKAGES)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", test]
    environment = {**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
    return done.returncode


def _copy_to(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=_LEFT_OUT, symlinks=True)
        else:
            shutil.copy2(source, folder / name)


def survivors(entries: list[WrongLine]) -> list[WrongLine]:
    """Return the wrong lines that their tests do not notice, and print the result of each."""
    unnoticed = []
    passes: dict[str, bool] = {}
    with TemporaryDirectory(prefix="zscope-wrong-lines-") as folder:
        copy = Path(folder)
        _copy_to(copy)
        for entry in entries:
            if entry.test not in passes:
                passes[entry.test] = _outcome(copy, entry.test) == 0
            path = copy / entry.file
            right = path.read_text(encoding="utf-8")
            path.write_text(entry.changed(right), encoding="utf-8")
            noticed = passes[entry.test] and _outcome(copy, entry.test) == _TESTS_FAILED
            path.write_text(right, encoding="utf-8")
            if not noticed:
                unnoticed.append(entry)
            result = "killed" if noticed else "SURVIVED" if passes[entry.test] else "FAILS WITHOUT IT"
            print(f"{result}: {entry.file}: {entry.harm} ({entry.test})", flush=True)
    return unnoticed


def main(words: list[str]) -> int:
    """Check the entries that contain one of the words, or all of them."""
    entries = [
        entry
        for entry in wrong_lines()
        if not words or any(word in f"{entry.file} {entry.harm} {entry.test}" for word in words)
    ]
    unnoticed = survivors(entries)
    print(f"{len(entries) - len(unnoticed)} of {len(entries)} wrong lines are noticed")
    return 1 if unnoticed or not entries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
