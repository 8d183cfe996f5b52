"""A declaration that is wrong is refused with its file, its entry and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from zscope.schemas.load import LayoutError, read_catalog
from zscope.schemas.model import CodeTable, MaskedCodes

SECTION = """
[[section]]
key = "{key}"
title = "T"
evidence = "ibm-doc"
source = "s"
fields = [{fields}]
"""
FIELD = '{ name = "N", offset = 0, length = 2, format = "uint", column = "n", meaning = "M." }'
TWO_KINDS = """
[[table]]
name = "t"
meaning = "M."
rows = ["a", "b"]
grain = ["record_no"]
[table.kind]
column = "kind"
meaning = "M."
texts = {{ a = "A", {b} = "B" }}
"""
ASKS = FIELD.replace("meaning", 'when = [{ field = "X", bits = 1 }], meaning')


def _folder(tmp_path: Path, record: str, codes: str = "") -> Path:
    (tmp_path / "layouts").mkdir()
    (tmp_path / "codes").mkdir()
    (tmp_path / "layouts" / "sources.toml").write_text('[s]\ntitle = "S"\n')
    (tmp_path / "layouts" / "smf_header.toml").write_text(SECTION.format(key="header", fields=FIELD))
    (tmp_path / "layouts" / "record.toml").write_text('type = 1\nsubtype = 2\ntitle = "R"\n' + record)
    (tmp_path / "codes" / "codes.toml").write_text(codes)
    return tmp_path


def test_reads_a_record(tmp_path: Path) -> None:
    section = SECTION.format(key="body", fields=FIELD)
    table = '[[table]]\nname = "t"\nmeaning = "M."\nrows = "body"\ngrain = ["record_no"]\n'
    found = read_catalog(_folder(tmp_path, section + table))
    assert found.records[1, 2].section("body").field("N").length == 2
    assert found.table("t")[1].rows == ("body",)
    assert found.records[1, 2].triplets is None


def test_reads_a_table_of_several_sections(tmp_path: Path) -> None:
    sections = SECTION.format(key="a", fields=FIELD) + SECTION.format(key="b", fields=FIELD)
    found = read_catalog(_folder(tmp_path, "triplets = 2\n" + sections + TWO_KINDS.format(b="b")))
    table = found.table("t")[1]
    assert table.rows == ("a", "b")
    assert table.kind is not None
    assert (table.kind.column, table.kind.texts) == ("kind", {"a": "A", "b": "B"})
    assert found.records[1, 2].triplets == 2


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("section = [", "record.toml: file: is not TOML"),
        (
            SECTION.format(key="b", fields=FIELD.replace('"uint"', '"huge"')),
            "record.toml: b.N: 'huge' is not",
        ),
        (SECTION.format(key="b", fields=FIELD.replace('format = "uint", ', "")), "b.N: 'format' is missing"),
        (SECTION.format(key="b", fields=FIELD.replace("offset", "ofset")), "record.toml: b.N: "),
        (SECTION.format(key="b", fields=FIELD.replace("meaning", 'size = "X", meaning')), "names 'X', which"),
        ('[[table]]\nname = "t"\nmeaning = "M."\nrows = "x"\ngrain = []\n', "t: uses section 'x', which"),
        (SECTION.format(key="b", fields=ASKS), "b.N: depends on 'X', which is not declared"),
        (SECTION.format(key="b", fields=ASKS.replace("bits", "bit")), "record.toml: b.N: "),
        (
            SECTION.format(key="a", fields=FIELD)
            + SECTION.format(key="b", fields=FIELD)
            + TWO_KINDS.format(b="c"),
            "t: does not say by a text for each which section a row is of",
        ),
        (
            SECTION.format(key="a", fields=FIELD)
            + SECTION.format(key="b", fields=FIELD)
            + TWO_KINDS.format(b="b").replace("column", "colour"),
            "record.toml: t: ",
        ),
        (SECTION.format(key="b", fields="") + 'lenghts = { "all" = 4 }\n', "record.toml: b: "),
    ],
)
def test_says_what_is_wrong(tmp_path: Path, record: str, problem: str) -> None:
    with pytest.raises(LayoutError) as caught:
        read_catalog(_folder(tmp_path, record))
    assert problem in str(caught.value)
    assert caught.value.file == "record.toml"


def test_code_table_of_unknown_kind(tmp_path: Path) -> None:
    codes = '[c]\ntitle = "C"\nkind = "odd"\n[c.codes]\n0x01 = "one"\n'
    with pytest.raises(LayoutError, match=r"codes.toml: c: kind 'odd' is none of"):
        read_catalog(_folder(tmp_path, "", codes))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0x80, "zero, A"),
        (0xA0, "zero, A, unknown (0x20)"),
        (0x00, "zero"),
        (0x81, "zero, A, unknown (0x01)"),
        (0x86, "six, A"),
    ],
)
def test_bits_read_as_their_meanings(value: int, text: str) -> None:
    table = CodeTable("t", "T", "bits", {0x80: "A"}, (MaskedCodes(0x06, {0: "zero", 6: "six"}),))
    assert table.text(value) == text


def test_unknown_values_show_their_number() -> None:
    assert CodeTable("t", "T", "value", {1: "one"}).text(0x304) == "unknown (0x0304)"
    assert CodeTable("t", "T", "text", {"N": "none"}).text("Q") == "unknown (Q)"
    assert CodeTable("t", "T", "bits", {1: "one"}).text(0) == "none"
    assert CodeTable("t", "T", "value", {-1: "all"}).text(-1) == "all"
    assert CodeTable("t", "T", "value", {-1: "all"}).text(-5) == "unknown (-5)"
