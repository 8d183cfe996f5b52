"""The list of wrong lines is up to date: each line is in its file, and each test exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants.single_lines import WrongLine, wrong_lines

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("entry", wrong_lines(), ids=lambda entry: entry.harm)
def test_line_and_test_exist(entry: WrongLine) -> None:
    text = (ROOT / entry.file).read_text(encoding="utf-8")
    assert entry.changed(text) != text
    file, _, name = entry.test.partition("::")
    assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")


def test_a_line_that_is_not_there_once_is_refused() -> None:
    entry = WrongLine("harm", "file.py", "a = 1", "a = 2", "tests/test_a.py")
    assert entry.changed("a = 1\nb = 2\n") == "a = 2\nb = 2\n"
    for text in ("b = 2\n", "a = 1\na = 1\n"):
        with pytest.raises(ValueError, match=r"file\.py has this line"):
            entry.changed(text)
