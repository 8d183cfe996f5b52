"""Policies as print programs, editors and consoles change them: the same rows as the text without changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.parsers.text.attls.examples import FLOW, PASEARCH, POLICY

from zscope.parsers import Code, Tables, read

TABLES = ("tls_rule", "tls_action")
TEXTS = {"pasearch": PASEARCH, "policy": POLICY}
PAGE_HEADINGS = (
    "1                 POLICY LISTING                     PAGE    2",
    "  z/OS UNIX print of policies   03/15/2026 09:00:00   Page 2 of 7",
    "\f TTLS policies of SYSA                PAGE 00002",
)


def _read(text: str, folder: Path) -> Tables:
    path = folder / "SYSA.2026-03-03.txt"
    path.write_text(text, encoding="utf-8")
    return read(path, TABLES)


def _rows(result: Tables) -> list[tuple[str, dict[str, Any]]]:
    return [
        (table, {name: value for name, value in row.items() if name not in {"file", "line_no"}})
        for table in TABLES
        for row in result[table].to_pylist()
    ]


def _numbered(text: str) -> str:
    return "".join(f"{line:<72}{100 * no:08}\n" for no, line in enumerate(text.splitlines(), 1))


def _paged(heading: str) -> Callable[[str], str]:
    def paged(text: str) -> str:
        lines = text.splitlines()
        return "".join(
            f"{line}\n{heading}\n\n" if no % 7 == 0 else f"{line}\n" for no, line in enumerate(lines, 1)
        )

    return paged


@pytest.mark.parametrize("changed", [_numbered, *map(_paged, PAGE_HEADINGS)])
@pytest.mark.parametrize("text", TEXTS)
def test_sequence_numbers_and_page_headings_change_nothing(
    tmp_path: Path, text: str, changed: Callable[[str], str]
) -> None:
    clean, other = _read(TEXTS[text], tmp_path), _read(changed(TEXTS[text]), tmp_path)
    assert _rows(clean)
    assert _rows(other) == _rows(clean)
    assert [issue.code for issue in other.issues] == [issue.code for issue in clean.issues]


@pytest.mark.parametrize("text", TEXTS)
def test_capitals_change_only_the_spelling(tmp_path: Path, text: str) -> None:
    clean, capitals = _read(TEXTS[text], tmp_path), _read(TEXTS[text].upper(), tmp_path)
    assert repr(_rows(capitals)).upper() == repr(_rows(clean)).upper()
    assert [issue.code for issue in capitals.issues] == [issue.code for issue in clean.issues]


@pytest.mark.parametrize("text", TEXTS)
def test_a_parameter_has_its_documented_name_whatever_its_spelling(tmp_path: Path, text: str) -> None:
    for spelled in (TEXTS[text], TEXTS[text].upper()):
        names = {row["parameter_name"] for row in _read(spelled, tmp_path)["tls_action"].to_pylist()}
        assert {"TTLSEnabled", "HandshakeRole", "Keyring", "TLSv1.2"} <= names


@pytest.mark.parametrize("name", ["HandshakRole", "TTLSEnabledX", "V3CiphrSuites4Chr"])
def test_a_misspelt_parameter_is_not_set(tmp_path: Path, name: str) -> None:
    text = f"TTLSEnvironmentAction E\n{{\n  HandshakeRole Server\n  {name} On\n}}\n"
    result = _read(text, tmp_path)
    (row,) = (row for row in result["tls_action"].to_pylist() if row["parameter"] == name)
    assert (row["setting"], row["parameter_name"]) == ("unknown", None)
    assert [(issue.code, issue.line_no) for issue in result.issues] == [(Code.UNKNOWN_COLUMN, 4)]


def test_a_line_that_begins_like_a_prompt_is_reported(tmp_path: Path) -> None:
    damaged = PASEARCH.replace(
        "    HandshakeRole:              Server", "$   HandshakeRole:              Server"
    )
    issues = [issue.text for issue in _read(damaged, tmp_path).issues]
    assert any("$   HandshakeRole" in text for text in issues)


@pytest.mark.parametrize("line", ["  JobName:             PAY*", "  Rule Type:            TTLS"])
def test_a_label_that_a_rule_has_twice_is_reported(tmp_path: Path, line: str) -> None:
    at = PASEARCH.index("  Version:              3                 Status")
    doubled = f"{PASEARCH[:at]}{line}\n{PASEARCH[at:]}"
    assert Code.BAD_VALUE in {issue.code for issue in _read(doubled, tmp_path).issues}


def test_a_member_that_a_list_has_twice_is_reported(tmp_path: Path) -> None:
    line = next(
        line for line in PASEARCH.splitlines() if line.strip()[:4] in {"1301", "1302", "C02F", "C030"}
    )
    result = _read(PASEARCH.replace(f"{line}\n", f"{line}\n{line}\n", 1), tmp_path)
    assert "twice in the list" in "".join(issue.text for issue in result.issues)


def test_a_second_message_in_a_line_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "SYSA.2026-03-04.log"
    path.write_text(f"{FLOW.strip()}{FLOW.strip()}\n", encoding="utf-8")
    issues = read(path, ["tls_message"]).issues
    assert any("a second message" in issue.text for issue in issues)
