"""The rendered documents: their contents, and the check for documents that are out of date."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from zscope.app.cli.main import COMMANDS
from zscope.app.docs import documents, main, manual

CHECKOUT = Path(__file__).resolve().parents[4]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that passes for a checkout without documents."""
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def test_every_command_is_in_the_manual() -> None:
    text = manual()
    for name in COMMANDS:
        assert f"\n## zscope {name}\n\n```text\nUsage: zscope {name} " in text, name


@pytest.mark.deep
def test_the_documents_of_the_checkout_are_up_to_date() -> None:
    for path, text in documents().items():
        assert (CHECKOUT / path).read_bytes() == text.encode(), f"{path}: run make docs"


def test_help_is_as_wide_as_the_page_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = manual()
    monkeypatch.setenv("COLUMNS", "40")
    assert manual() == wide


def test_writing_and_checking(checkout: Path) -> None:
    stale = CliRunner().invoke(main, ["--check", "--root", str(checkout)])
    assert stale.exit_code == 1
    assert f"{', '.join(documents())}: out of date; run make docs" in stale.stderr
    assert not (checkout / "docs").exists()
    assert CliRunner().invoke(main, ["--root", str(checkout)]).exit_code == 0
    assert (checkout / "docs/cli.md").read_bytes() == manual().encode()
    assert CliRunner().invoke(main, ["--check", "--root", str(checkout)]).exit_code == 0
    (checkout / "docs/cli.md").write_text("something else")
    changed = CliRunner().invoke(main, ["--check", "--root", str(checkout)])
    assert (changed.exit_code, changed.stderr) == (
        1,
        "Error: docs/cli.md: out of date; run make docs\n",
    )


def test_documents_need_a_checkout(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--root", str(tmp_path)])
    assert result.exit_code == 1
    assert "is not a checkout of zscope" in result.stderr
