"""The field catalogue against the layout files, read without the loader, and against facts of the records."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib.resources import files
from typing import Any

import duckdb
import pytest

from zscope.schemas.arrow import table_schema
from zscope.schemas.field_catalog import field_catalog, search
from zscope.schemas.tables import ANY_RECORD_TABLES, record_table_names, table_names

LAYOUTS = {
    file.name: tomllib.loads(file.read_text(encoding="utf-8"))
    for file in (files("zscope.schemas") / "layouts").iterdir()
    if file.name.endswith(".toml") and file.name not in {"sources.toml", "smf_header.toml"}
}
ROWS: list[dict[str, Any]] = field_catalog().to_pylist()


def rows_of(vendor_name: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if vendor_name in (row["vendor_name"] or "").split(", ")]


@pytest.mark.parametrize("table", table_names())
def test_every_column_of_a_table_is_one_row(table: str) -> None:
    assert [r["column_name"] for r in ROWS if r["table_name"] == table] == table_schema(table).names


@pytest.mark.parametrize("file", sorted(LAYOUTS))
def test_every_declared_field_is_there_with_its_place(file: str) -> None:
    for section in LAYOUTS[file].get("section", ()):
        for field in section.get("fields", []):
            matching = [r for r in rows_of(field["name"]) if section["key"] in r["section"].split(", ")]
            assert matching, field["name"]
            # The place is that of the first name; the column distinguishes two fields of one place.
            placed = [r for r in matching if r["vendor_name"].split(", ")[0] == field["name"]]
            placed = [r for r in placed if r["column_name"] in {field["column"], None}]
            if field["format"] != "packed_date" and placed:
                assert {r["byte_offset"] for r in placed} == {field["offset"]}, field["name"]
                assert {r["format"].split(", ")[0] for r in placed} == {field["format"]}


@pytest.mark.parametrize("file", sorted(LAYOUTS))
def test_every_pointer_is_there(file: str) -> None:
    names = [name for section in LAYOUTS[file].get("section", ()) for name in section.get("pointer", [])]
    assert [name for name in names if not rows_of(name)] == []


def test_columns_are_listed_once() -> None:
    counts = Counter((r["table_name"], r["column_name"]) for r in ROWS if r["table_name"])
    assert [key for key, count in counts.items() if count > 1] == []


def test_a_field_in_no_table_is_listed_once_for_all_records_that_share_it() -> None:
    assert [(r["record"], r["table_name"]) for r in rows_of("SMF119SD_TRN")] == [("119", None)]
    assert [r["record"] for r in rows_of("SMF70RBR")] == ["70"]
    assert [r["record"] for r in rows_of("SMF119S6Off")] == ["119-3, 119-70", "119-5", "119-11"]


def test_a_time_and_its_date_are_one_row() -> None:
    [row] = [r for r in rows_of("SMF119SC_SASTime") if r["table_name"] == "smf119_zert_detail"]
    assert row["vendor_name"] == "SMF119SC_SASTime, SMF119SC_SASDate"
    assert (row["byte_offset"], row["byte_length"]) == (32, 8)
    assert row["duckdb_type"] == "TIMESTAMP WITH TIME ZONE"
    assert not [r for r in ROWS if r["vendor_name"] == "SMF119SC_SASDate"]


def test_a_row_has_all_columns() -> None:
    [row] = [r for r in rows_of("SMF119SC_TLS_Neg_Cipher") if r["table_name"]]
    del row["meaning"]
    assert row == {
        "table_name": "smf119_zert_detail",
        "column_name": "cipher",
        "vendor_name": "SMF119SC_TLS_Neg_Cipher",
        "record": "119-11",
        "section": "tls",
        "byte_offset": 56,
        "byte_length": 6,
        "format": "text",
        "arrow_type": "dictionary<string>",
        "duckdb_type": "VARCHAR",
        "unit": None,
        "codes": "cipher",
        "evidence": "ibm-deck",
        "source": "ibm-deck-32-zert",
    }


def test_a_column_of_several_sections_names_them_and_what_a_report_calls_it() -> None:
    [row] = [r for r in ROWS if (r["table_name"], r["column_name"]) == ("mq_task", "longest_us")]
    assert row["vendor_name"] == "QCTLSDU, QCTLGDU, Max_SSL_Request_Duration"
    assert (row["section"], row["byte_offset"], row["byte_length"]) == ("ssl, dns", 40, 8)
    assert row["record"] == "115-231, MQ tasks (CSV and JSON of mqsmfcsv)"
    [row] = [r for r in ROWS if (r["table_name"], r["column_name"]) == ("mq_task", "mq_version")]
    assert row["vendor_name"] == "QWHXREL, SM11xREL, MQ_Version"
    assert (row["section"], row["byte_offset"], row["byte_length"]) == ("common, header", 60, 6)
    assert not [r for r in rows_of("SM11xREL") if r["table_name"] is None]


def test_header_fields_have_the_name_of_their_record_type() -> None:
    tables = {r["table_name"] for r in rows_of("SMF119HDSID")}
    assert "smf119_zert_detail" in tables
    assert not any(table.startswith("smf70") for table in tables)
    assert {r["table_name"] for r in rows_of("SMFxSID")} == set(ANY_RECORD_TABLES)


@pytest.mark.parametrize(
    ("pointer", "record", "offset", "length"),
    [
        # Record and offset from the published tables; triplet n is at offset 28 + 8n.
        ("SMF119IDOff", "119", 28, 4),
        ("SMF119S1Off", "119-2", 36, 4),
        ("SMF119S1Len", "119-2", 40, 2),
        ("SMF119S1Num", "119-2", 42, 2),
        ("SMF119S7Off", "119-11", 84, 4),
        ("SMF70PRS", "70", 28, 4),
        ("SMF70CCN", "70-1", 42, 2),
    ],
)
def test_triplets_lie_after_the_header(pointer: str, record: str, offset: int, length: int) -> None:
    [row] = [r for r in rows_of(pointer) if r["record"] == record]
    assert (row["section"], row["byte_offset"], row["byte_length"]) == ("header", offset, length)
    assert row["table_name"] is None


def test_what_is_not_in_the_record_has_no_place() -> None:
    made = [r for r in ROWS if r["column_name"] == "record_no"]
    assert len(made) == len(record_table_names())
    assert {(r["vendor_name"], r["byte_offset"], r["evidence"]) for r in made} == {(None, None, None)}


def test_since_is_in_the_meaning_once() -> None:
    for file in LAYOUTS.values():
        declared = [f for s in file.get("section", ()) for f in s.get("fields", []) if "since" in f]
        for field in declared:
            assert {row["meaning"].count(field["since"]) for row in rows_of(field["name"])} == {1}, field[
                "name"
            ]


def test_no_column_needs_quotes_in_sql() -> None:
    catalogue = field_catalog()
    with duckdb.connect() as con:
        con.register("field_catalog", catalogue)
        for name in catalogue.column_names:
            assert con.execute(f"SELECT count({name}) AS n FROM field_catalog").fetchone() is not None


def matching(*words: str) -> set[tuple[str | None, str | None, str | None]]:
    rows = search(words).to_pylist()
    return {(r["table_name"], r["column_name"], r["vendor_name"]) for r in rows}


def test_search_ignores_case_and_looks_everywhere() -> None:
    cipher = ("smf119_zert_detail", "cipher", "SMF119SC_TLS_Neg_Cipher")
    assert matching("smf119sc_tls_neg_cipher") == {cipher}
    assert cipher in matching("AGREED SUITE")
    assert cipher in matching("zert_detail")
    assert cipher in matching("cipher")


def test_all_words_must_be_there() -> None:
    both = search(["smf70_cpu", "wait"]).to_pylist()
    assert {(r["table_name"], r["column_name"]) for r in both} >= {("smf70_cpu", "wait_us")}
    assert all("smf70_cpu" in r["table_name"] for r in both)
    assert search(["smf70_cpu", "wait", "kangaroo"]).num_rows == 0


def test_a_pattern_matches_a_whole_name() -> None:
    names = {name for _, _, name in matching("SMF70CP?")}
    assert {"SMF70CPS", "SMF70CPL", "SMF70CPN"} <= {name for name in names if name}
    assert all(len(part) == len("SMF70CPx") for name in names if name for part in name.split(", "))
    assert matching("smf70_cpu.wait_?s") == {("smf70_cpu", "wait_us", "SMF70WAT")}


def test_no_word_means_everything() -> None:
    assert search([]).equals(field_catalog())
