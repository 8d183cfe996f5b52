"""The rendered documents: their contents, the site, and the check for files that are out of date."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from tests.handbook import HANDBOOK, blocks

from zscope.app.cli.main import COMMANDS
from zscope.app.docs import demo_screen, files, main, manual, pages
from zscope.app.screen_picture import COLUMN, EDGE, screen_picture

CHECKOUT = HANDBOOK.parent
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that passes for a checkout without documents."""
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def test_every_command_is_in_the_manual() -> None:
    text = manual()
    for name in COMMANDS:
        assert f"\n## zscope {name}\n\n```text\nUsage: zscope {name} " in text, name


def test_the_files_of_the_checkout_are_up_to_date() -> None:
    for path, text in files().items():
        assert (CHECKOUT / path).read_bytes() == text.encode(), f"{path}: run make docs"


def test_rendered_pages_are_not_under_version_control() -> None:
    assert not (CHECKOUT / "docs" / "reference").exists()


def test_the_site_has_documents_and_rendered_pages(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "removed.md").touch()
    assert CliRunner().invoke(main, ["--site", str(tmp_path / "site")]).exit_code == 0
    written = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.md")}
    documents = {path.relative_to(CHECKOUT / "docs").as_posix() for path in (CHECKOUT / "docs").rglob("*.md")}
    assert written == documents | set(pages())
    assert (tmp_path / "site" / "reference" / "commands.md").read_bytes() == manual().encode()


def test_help_is_as_wide_as_the_page_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = manual()
    monkeypatch.setenv("COLUMNS", "40")
    assert manual() == wide


def test_writing_and_checking(checkout: Path) -> None:
    stale = CliRunner().invoke(main, ["--check", "--root", str(checkout)])
    assert stale.exit_code == 1
    assert f"{', '.join(files())}: out of date; run make docs" in stale.stderr
    assert not (checkout / "docs").exists()
    assert CliRunner().invoke(main, ["--root", str(checkout)]).exit_code == 0
    for path, text in files().items():
        assert (checkout / path).read_bytes() == text.encode()
    assert CliRunner().invoke(main, ["--check", "--root", str(checkout)]).exit_code == 0
    (checkout / "docs/nightly/nightly.toml").write_text("something else")
    changed = CliRunner().invoke(main, ["--check", "--root", str(checkout)])
    assert (changed.exit_code, changed.stderr) == (
        1,
        "Error: docs/nightly/nightly.toml: out of date; run make docs\n",
    )


def test_the_first_page_shows_what_the_demo_prints() -> None:
    [shown] = blocks((HANDBOOK / "index.md").read_text(encoding="utf-8"), "text")
    *lines, last = shown.splitlines()
    assert last == "..."
    assert len(lines) > 10
    assert lines == demo_screen(columns=80)[: len(lines)]


def test_the_picture_has_every_word_of_the_screen_at_its_column() -> None:
    screen = ["── Cost ── zscope price", "  A & B   at most 7  ███░░"]
    drawn = ET.fromstring(screen_picture(screen, "a screen"))
    texts = [(each.text, float(each.attrib["x"])) for each in drawn.iter(f"{SVG}text")]
    columns = {"Cost": 3, "zscope price": 11, "A & B": 2, "at most 7": 10}
    assert texts == [(text, round(EDGE + column * COLUMN, 1)) for text, column in columns.items()]
    bars = {each.attrib["class"]: float(each.attrib["width"]) for each in drawn.iter(f"{SVG}rect")}
    assert (bars["least"], bars["most"]) == (round(3 * COLUMN, 1), round(2 * COLUMN, 1))
    assert len(list(drawn.iter(f"{SVG}path"))) == 2


def test_documents_need_a_checkout(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--root", str(tmp_path)])
    assert result.exit_code == 1
    assert "is not a checkout of zscope" in result.stderr
