"""A wrong declaration is refused with its file, its key and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zscope.schemas.errors import DeclarationError
from zscope.schemas.load import read_catalog
from zscope.schemas.model import CodeTable, MaskedCodes, TripletArea

if TYPE_CHECKING:
    from pathlib import Path

SECTION = """
[[section]]
key = "{key}"
title = "T"
{place}
evidence = "ibm-doc"
source = "s"
fields = [{fields}]
"""
HEADER = """
[header]
title = "H"
prefix = "SMF1"
fields = [
  { name = "SMF1TRN", offset = 2, length = 2, format = "uint", column = "triplet_count", meaning = "M." },
]
lengths = { all = 4 }
evidence = "ibm-doc"
"""
COUNTED = '[triplets]\nat = 4\ncount = "SMF1TRN"\n'
FIELD = '{ name = "N", offset = 0, length = 2, format = "uint", column = "n", meaning = "M." }'
TABLE = '[[table]]\nname = "t"\nmeaning = "M."\nrows = ["b"]\ngrain = []\n'
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
CONDITIONAL = FIELD.replace("meaning", 'when = [{ field = "X", bits = 1 }], meaning')


def _section(key: str, fields: str = FIELD, triplet: int | None = 0) -> str:
    place = "" if triplet is None else f"triplet = {triplet}"
    return SECTION.format(key=key, fields=fields, place=place)


def _folder(tmp_path: Path, record: str, codes: str = "", *, start: str = HEADER + COUNTED) -> Path:
    (tmp_path / "layouts").mkdir()
    (tmp_path / "codes").mkdir()
    (tmp_path / "layouts" / "sources.toml").write_text('[s]\ntitle = "S"\n')
    (tmp_path / "layouts" / "smf_header.toml").write_text(
        _section("header", FIELD.replace("N", "SMFxLEN"), None) + _section("extended_header", triplet=None)
    )
    (tmp_path / "layouts" / "record.toml").write_text('type = 1\nsubtype = 2\ntitle = "R"\n' + start + record)
    (tmp_path / "codes" / "codes.toml").write_text(codes)
    return tmp_path


def test_reads_a_record(tmp_path: Path) -> None:
    table = '[[table]]\nname = "t"\nmeaning = "M."\nrows = ["body"]\ngrain = ["record_no"]\n'
    catalog = read_catalog(_folder(tmp_path, _section("body") + table))
    record = catalog.records[1, 2]
    assert record.section("body").field("N").length == 2
    assert catalog.table("t")[1].rows == ("body",)
    assert record.triplets == TripletArea(at=4, count_at=2)


def test_a_header_inherits_the_standard_fields(tmp_path: Path) -> None:
    changes = '[header.standard]\nSMFxLEN = { name = "LENGTH", meaning = "Other." }\n'
    record = read_catalog(_folder(tmp_path, "", start=HEADER + changes + COUNTED)).records[1, 2]
    assert [(f.name, f.offset, f.length, f.meaning) for f in record.header.fields] == [
        ("LENGTH", 0, 2, "Other."),
        ("SMF1TRN", 2, 2, "M."),
    ]


def test_a_layout_adds_to_what_its_family_declares(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path, _section("body", triplet=1), start='common = "family"\ntriplets = { number = 3 }\n'
    )
    family = HEADER + "[triplets]\nat = 20\n" + _section("shared")
    (folder / "layouts" / "family.toml").write_text(family)
    record = read_catalog(folder).records[1, 2]
    assert [section.key for section in record.sections] == ["header", "shared", "body"]
    assert record.header.fields[0].name == "SMF1LEN"
    assert record.triplets == TripletArea(at=20, number=3)


def test_reads_a_table_of_several_sections(tmp_path: Path) -> None:
    sections = _section("a") + _section("b", triplet=1)
    catalog = read_catalog(_folder(tmp_path, sections + TWO_KINDS.format(b="b")))
    table = catalog.table("t")[1]
    assert table.rows == ("a", "b")
    assert table.kind is not None
    assert (table.kind.column, table.kind.texts) == ("kind", {"a": "A", "b": "B"})


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        ("", "record.toml: header: is missing"),
        (SECTION.format(key="header", fields=FIELD, place=""), "record.toml: header: is missing"),
        (HEADER + _section("header"), "line 14: section[header]: is declared twice"),
        (
            HEADER + '[header.standard]\nSMFxTME = { name = "T" }\n',
            "line 14: header.standard.SMFxTME: is no field of the inherited header, which are SMFxLEN",
        ),
        (
            HEADER + "[header.standard]\nSMFxLEN = { offset = 8 }\n",
            "line 14: header.standard.SMFxLEN.offset: is not a valid key; valid: name, column, meaning",
        ),
        (HEADER + "[triplets]\nat = 4\n", "record.toml, line 13: triplets: takes either 'count' or 'number'"),
        (HEADER + "[triplets]\nnumber = 4\n", "line 13: triplets.at: 'at' is missing"),
        (
            HEADER + "[triplets]\nat = 2\nnumber = 2\n",
            "line 14: triplets.at: at 2, they lie over the header of 4 bytes",
        ),
        (HEADER + '[triplets]\nat = 4\ncount = "N"\n', "triplets.count: 'N' is no field of the header"),
        (
            HEADER.replace('"uint"', '"hex"') + COUNTED,
            "triplets.count: 'SMF1TRN' is not a number of two bytes",
        ),
        (HEADER + _section("body"), "record.toml: triplets: is missing: section 'body' is located by"),
        (
            HEADER + "[triplets]\nat = 4\nnumber = 1\n" + _section("b", triplet=1),
            "section[b].triplet: has triplet 1, but there are",
        ),
        (HEADER + _section("b", triplet=None) + TABLE, "section[b]: is used by a table, but has no triplet"),
    ],
)
def test_reports_what_is_wrong_with_header_and_triplets(tmp_path: Path, start: str, problem: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        read_catalog(_folder(tmp_path, "", start=start))
    assert problem in str(caught.value)
    assert caught.value.file == "record.toml"


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (
            _section("b", FIELD.replace('"uint"', '"huge"')),
            'line 23: section[b].fields[N].format: expected "uint", "int", "bits",',
        ),
        (
            _section("b", FIELD.replace("meaning", 'size = "X", meaning')),
            "line 23: section[b].fields[N]: names 'X', which",
        ),
        (
            '[[table]]\nname = "t"\nmeaning = "M."\nrows = ["x"]\ngrain = []\n',
            "table[t]: uses section 'x', which",
        ),
        (_section("b", CONDITIONAL), "section[b].fields[N]: depends on 'X', which is not declared"),
        (
            _section("a") + _section("b") + TWO_KINDS.format(b="c"),
            "table[t]: needs one text in `kind` for each section that makes rows",
        ),
    ],
)
def test_reports_what_is_wrong(tmp_path: Path, record: str, problem: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        read_catalog(_folder(tmp_path, record))
    assert problem in str(caught.value)
    assert caught.value.file == "record.toml"


def test_code_table_of_unknown_kind(tmp_path: Path) -> None:
    codes = '[c]\ntitle = "C"\nkind = "odd"\n[c.codes]\n0x01 = "one"\n'
    with pytest.raises(
        DeclarationError, match=r'codes.toml, line 3: c.kind: expected "value", "bits" or "text", got'
    ):
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
