"""The data dictionary: complete, well formed, its links lead somewhere, and always the same text."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields

from zscope.schemas import catalog
from zscope.schemas.docs import data_dictionary
from zscope.schemas.model import Evidence, Field, Format, Section, TableLayout
from zscope.schemas.tables import table_names

TEXT = data_dictionary()
README = (Path(__file__).resolve().parents[2] / "schemas" / "README.md").read_text(encoding="utf-8")
LINES = TEXT.splitlines()
LAYOUTS = {
    file.name: tomllib.loads(file.read_text(encoding="utf-8"))
    for file in (files("zscope.schemas") / "layouts").iterdir()
    if file.name.endswith(".toml") and file.name not in {"sources.toml", "smf_header.toml"}
}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows_with_vendor_names() -> dict[str, list[list[str]]]:
    rows: dict[str, list[list[str]]] = {}
    for line in LINES:
        for name in re.findall(r"`([^`]+)`", line) if line.count("|") > 8 else []:
            rows.setdefault(name, []).append(cells(line))
    return rows


@pytest.mark.parametrize("file", sorted(LAYOUTS))
def test_every_field_is_listed_with_place_length_and_unit(file: str) -> None:
    listed = rows_with_vendor_names()
    for section in LAYOUTS[file].get("section", ()):
        for field in section.get("fields", []):
            rows = [row for row in listed[field["name"]] if sections_in(row, section["key"])]
            columns = [row for row in rows if row[0] == f"`{field['column']}`"]
            assert rows, field["name"]
            # Two fields can share a place and a name; the rows of one are known by its column.
            for row in columns or rows:
                check_row(row, section["key"], field)


def sections_in(row: list[str], section: str) -> list[int]:
    """Which cells name a section, alone or among others."""
    return [number for number, cell in enumerate(row) if section in cell.split(", ")]


def check_row(row: list[str], section: str, field: dict[str, Any]) -> None:
    """The cells after the names and the section are those of the field, at its place among several names."""
    names = next(cell for cell in row if f"`{field['name']}`" in cell).split(", ")
    which = names.index(f"`{field['name']}`")
    in_table = row[0].startswith("`")
    place = sections_in(row, section)[0] + (1 if in_table else 2)
    assert row[place].split(", ")[which] == str(field["offset"]), field["name"]
    assert row[place + 1].split(", ")[which] == str(field.get("length", "to the end")), field["name"]
    assert field.get("unit", "") == row[2 if in_table else place + 2], field["name"]


def test_sections_without_a_known_layout_are_named() -> None:
    records = [r for r in catalog().records.values() if not r.subtypes or r.subtype == r.subtypes[0]]
    nameless = [s for r in records for s in r.sections if not s.fields]
    assert nameless
    known_by_name = [cells(line) for line in LINES if "known by name only" in line]
    assert [row[0] for row in known_by_name] == [section.key for section in nameless]


@pytest.mark.parametrize("table", table_names())
def test_every_table_has_a_chapter(table: str) -> None:
    assert LINES.count(f"### {table}") == 1


@pytest.mark.parametrize("name", sorted(catalog().codes))
def test_every_code_table_has_a_chapter(name: str) -> None:
    assert LINES.count(f"### code_{name}") == 1


def test_every_evidence_is_explained() -> None:
    rows = [
        cells(line) for line in LINES[LINES.index("## Evidence") : LINES.index("## Sources")] if "|" in line
    ]
    assert [row[0] for row in rows[2:]] == [evidence.value for evidence in Evidence]


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    width = 0
    for number, line in enumerate(LINES):
        if not line.startswith("|"):
            width = 0
        elif not width:
            width = len(cells(line))
        assert not width or len(cells(line)) == width, f"line {number + 1}: {line}"


def test_links_inside_the_page_have_a_target() -> None:
    heads = [line.lstrip("# ") for line in LINES if line.startswith("#")]
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    assert len(heads) == len(set(heads)), "two chapters of one name: links lead to the first"
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) - anchors == set()


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("### Keys of a section", [f.name for f in fields(Section)]),
        ("### Keys of a field", [f.name for f in fields(Field)]),
        ("### Keys of a table", [f.name for f in fields(TableLayout) if f.name != "joins"]),
        ("### Formats", [f.value for f in Format]),
    ],
)
def test_the_readme_explains_the_whole_vocabulary(heading: str, words: list[str]) -> None:
    chapter = README[README.index(heading) :].split("\n#", 1)[0]
    rows = [line.split("|")[1] for line in chapter.splitlines() if line.startswith("|")]
    explained = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    assert sorted(explained) == sorted(set(words))


def test_the_text_does_not_depend_on_the_order_of_a_set() -> None:
    program = "import sys; from zscope.schemas.docs import *; sys.stdout.write(data_dictionary())"
    texts = {
        subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {TEXT.encode()}
