"""The Crypto Hardware Activity listing: read by its words in any spacing, refused if it does not fit."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.damaging import Spoiler, followed_by, in_capitals, lost, on_some, shifted, wrapped
from tests.parsers.text.reading import Row, in_turn
from tests.parsers.text.rmf.listings import read_listing

from zscope.parsers.issues import Code, Issue, Issues
from zscope.parsers.text.captured_report import CapturedReport, Origin, ReportSource
from zscope.parsers.text.report_rows import FileRows, ReportRows
from zscope.parsers.text.rmf.crypto import SERVICES, has_size, read_crypto_listing
from zscope.parsers.text.rmf.crypto_write import crypto_lines
from zscope.parsers.text.rmf.page_heading import RmfHeading
from zscope.parsers.text.rmf.page_title import CRYPTO_TITLE

TOP = (
    "                      C R Y P T O   H A R D W A R E   A C T I V I T Y",
    "                                                                          PAGE    2",
    "     z/OS V2R5         SYSTEM ID PRDA         DATE 02/28/2026       INTERVAL 10.00.000",
    "                       RPT VERSION V2R5 RMF   TIME 09.40.00         CYCLE 1.000 SECONDS",
)
NAMED = ("unit_kind", "card_type_name", "card_id", "crypto_scope_name", "operation")
FIGURES = (
    "operation_rate",
    "execution_ms",
    "utilisation_pct",
    "key_generation_rate",
    "average_size_bytes",
)

CCA = """\
-------- CRYPTOGRAPHIC CCA COPROCESSOR --------
            ------- LPAR -------    ------- CPC --------   LPAR KEY-GEN  CPC KEY-GEN
TYPE   ID   RATE EXEC TIME UTIL%    RATE EXEC TIME UTIL%   RATE          RATE
CEX6C   0   7.25     1.375   1.0    9.50     1.500   1.4   0.25          0.50
        1B  6.00     1.250   0.8    8.75     1.125   1.0   0.00          0.00
CEX8C   2  17.25     0.375   0.6    -----    -----  ----   0.00          0.00
"""
OLD_CCA = """\
CRYPTOGRAPHIC CCA COPROCESSOR
TYPE  ID  RATE  EXEC TIME  UTIL%  KEY-GEN RATE
CEX3C  4  7.25      1.375    1.0          0.25
"""
PKCS11 = """\
CRYPTOGRAPHIC PKCS11 COPROCESSOR
TYPE  ID  RATE  EXEC TIME  UTIL%  FUNCTION       RATE  EXEC TIME  UTIL%
CEX8P  3  5.50      2.000    1.1  ASYM FAST      3.50      1.500    0.5
                                  SYMM COMPLETE  2.00      2.875    0.6
       5  1.50      2.000    0.3  ASYM GEN       1.50      2.000    0.3
"""
ACCELERATOR = """\
CRYPTOGRAPHIC ACCELERATOR
TYPE  ID  RATE  EXEC TIME  UTIL%  KEY   ME RATE  EXEC TIME  UTIL%  CRT RATE  EXEC TIME  UTIL%
CEX8A  7  90.5      0.125    1.1  1024     0.00      0.000    0.0     80.25      0.125    1.0
                                  2048     0.00      0.000    0.0     10.25      0.250    0.1
"""
ICSF = """\
------ ICSF SERVICES ------
        ENCRYPTION            HASH                        RSA DSIG
        SDES   TDES    AES    SHA-1   SHA-256   SHA-512   GENERATE   VERIFY
RATE    0.00   1.25  19.50     0.00      7.25      0.50       3.25     4.75
SIZE    0.00  64.00 512.00     0.00    128.00    100.00
"""


class CryptoReading:
    """A report after reading."""

    def __init__(self, *pages: str, top: tuple[str, ...] = TOP) -> None:
        texts = in_turn(*((*top, *page.splitlines()) for page in pages))
        reports = [CapturedReport("rmf", lines, Origin(ReportSource.TEXT)) for lines in texts]
        sheet = FileRows({"rmf_crypto": None}, Issues(), "crypto.txt")
        first = reports[0].lines[0]
        heading = RmfHeading(CRYPTO_TITLE, first.no, reports[0].lines[1:])
        read_crypto_listing(reports, heading, ReportRows(sheet, Origin(ReportSource.TEXT, "PRDA")))
        self.rows: list[Row] = [row for _, batch in sheet.remaining_batches() for row in batch.to_pylist()]
        self.issues: list[Issue] = list(sheet.issues)

    def contents(self, *, lines: bool = False) -> list[tuple[Any, ...]]:
        """Return the contents of the rows, in the order of names and figures."""
        columns = ("line_no", *NAMED, *FIGURES) if lines else (*NAMED, *FIGURES)
        return [tuple(row[column] for column in columns) for row in self.rows]

    @property
    def places(self) -> list[tuple[Code, int | None]]:
        return [(issue.code, issue.line_no) for issue in self.issues]


def test_cca_coprocessors() -> None:
    read = CryptoReading(CCA)
    assert read.issues == []
    assert read.contents(lines=True) == [
        (8, "cca", "CEX6C", "0", "LPAR", "total", 7.25, 1.375, 1.0, 0.25, None),
        (8, "cca", "CEX6C", "0", "CPC", "total", 9.5, 1.5, 1.4, 0.5, None),
        (9, "cca", "CEX6C", "1B", "LPAR", "total", 6.0, 1.25, 0.8, 0.0, None),
        (9, "cca", "CEX6C", "1B", "CPC", "total", 8.75, 1.125, 1.0, 0.0, None),
        (10, "cca", "CEX8C", "2", "LPAR", "total", 17.25, 0.375, 0.6, 0.0, None),
        (10, "cca", "CEX8C", "2", "CPC", "total", None, None, None, 0.0, None),
    ]


def test_one_block_without_scopes() -> None:
    read = CryptoReading(OLD_CCA)
    assert read.issues == []
    assert read.contents() == [("cca", "CEX3C", "4", None, "total", 7.25, 1.375, 1.0, 0.25, None)]


def test_functions_of_pkcs11_coprocessors() -> None:
    read = CryptoReading(PKCS11)
    assert read.issues == []
    assert read.contents() == [
        ("pkcs11", "CEX8P", "3", None, "total", 5.5, 2.0, 1.1, None, None),
        ("pkcs11", "CEX8P", "3", None, "ASYM FAST", 3.5, 1.5, 0.5, None, None),
        ("pkcs11", "CEX8P", "3", None, "SYMM COMPLETE", 2.0, 2.875, 0.6, None, None),
        ("pkcs11", "CEX8P", "5", None, "total", 1.5, 2.0, 0.3, None, None),
        ("pkcs11", "CEX8P", "5", None, "ASYM GEN", 1.5, 2.0, 0.3, None, None),
    ]


def test_key_lengths_of_accelerators() -> None:
    read = CryptoReading(ACCELERATOR)
    assert read.issues == []
    assert read.contents() == [
        ("accelerator", "CEX8A", "7", None, "total", 90.5, 0.125, 1.1, None, None),
        ("accelerator", "CEX8A", "7", None, "ME 1024", 0.0, 0.0, 0.0, None, None),
        ("accelerator", "CEX8A", "7", None, "CRT 1024", 80.25, 0.125, 1.0, None, None),
        ("accelerator", "CEX8A", "7", None, "ME 2048", 0.0, 0.0, 0.0, None, None),
        ("accelerator", "CEX8A", "7", None, "CRT 2048", 10.25, 0.25, 0.1, None, None),
    ]


def test_services_with_and_without_sizes() -> None:
    read = CryptoReading(ICSF)
    assert read.issues == []
    rates_and_sizes = [
        ("ENCRYPTION SDES", 0.0, 0.0),
        ("ENCRYPTION TDES", 1.25, 64.0),
        ("ENCRYPTION AES", 19.5, 512.0),
        ("HASH SHA-1", 0.0, 0.0),
        ("HASH SHA-256", 7.25, 128.0),
        ("HASH SHA-512", 0.5, 100.0),
        ("RSA DSIG GENERATE", 3.25, None),
        ("RSA DSIG VERIFY", 4.75, None),
    ]
    assert read.contents(lines=True) == [
        (8, "icsf", None, None, None, operation, rate, None, None, None, size)
        for operation, rate, size in rates_and_sizes
    ]


def test_all_parts_in_one_report_and_over_two_pages() -> None:
    expected = [row for part in (CCA, PKCS11, ACCELERATOR, ICSF) for row in CryptoReading(part).contents()]
    assert CryptoReading(CCA + "\n" + PKCS11 + ACCELERATOR + ICSF).contents() == expected
    head, rest = ACCELERATOR.splitlines()[:3], ACCELERATOR.splitlines()[3:]
    read = CryptoReading(CCA + PKCS11 + "\n".join(head), "\n".join(rest) + "\n" + ICSF)
    assert read.issues == []
    assert read.contents() == expected


@pytest.mark.parametrize("spaces", [1, 2, 9])
def test_other_spacing_makes_no_difference(spaces: int) -> None:
    for part in (CCA, PKCS11, ACCELERATOR, ICSF):
        spaced = "\n".join((" " * spaces).join(line.split()) for line in part.splitlines())
        assert CryptoReading(spaced).contents() == CryptoReading(part).contents()
    assert CryptoReading(CCA.lower()).contents() == CryptoReading(CCA).contents()


REFUSED = {
    "groups that do not go with the names": (CCA.replace("CPC KEY-GEN", ""), 7),
    "names that occur twice": (OLD_CCA.replace("KEY-GEN RATE", "RATE EXEC TIME"), 6),
    "names nobody knows": (OLD_CCA.replace("KEY-GEN RATE", "FUN RATE"), 6),
    "two lines of names": (OLD_CCA.replace("UTIL%  KEY", "UTIL%\nKEY"), 7),
}


@pytest.mark.parametrize(("part", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_headings_that_do_not_fit_are_refused(part: str, line: int) -> None:
    read = CryptoReading(part)
    assert read.rows == []
    assert read.places == [(Code.REPORT_UNREADABLE, line)]
    assert read.issues[0].column_no == 1


def test_lines_above_headings_that_do_not_fit_are_reported() -> None:
    read = CryptoReading(
        OLD_CCA + "TYPE  ID  FUN RATE  UTIL%\nCEX3C  4  7.25      1.375    1.0          0.25"
    )
    assert read.contents() == CryptoReading(OLD_CCA).contents()
    assert read.places == [(Code.REPORT_UNREADABLE, 8)]


LEFT_OUT = {
    "a figure too few": ("CEX3C  4  7.25      1.375    1.0", Code.UNKNOWN_LINE),
    "a figure too many": ("CEX3C  4  7.25      1.375    1.0  0.25  8", Code.UNKNOWN_LINE),
    "a word for a figure": ("CEX3C  4  7.25      1.375    abc  0.25", Code.UNKNOWN_LINE),
    "half a figure": ("CEX3C  4  7.25      1.375    1.0          0.", Code.UNKNOWN_LINE),
    "a prompt": ("READY", Code.UNKNOWN_LINE),
    "a line that lost its end": ("CEX3C  5  7.25      1.375    1.0          0.2", Code.REPORT_CUT),
}


@pytest.mark.parametrize(("line", "code"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_lines_that_do_not_fit_are_left_out(line: str, code: Code) -> None:
    read = CryptoReading(OLD_CCA + line)
    assert read.contents() == CryptoReading(OLD_CCA).contents()
    assert read.places == [(code, 8)]


def test_services_that_do_not_fit_are_left_out() -> None:
    for part in (
        ICSF.replace("TDES    AES", "AES    TDES"),
        ICSF.replace("HASH", "HAT"),
        ICSF.replace(" 4.75", ""),
    ):
        read = CryptoReading(part)
        assert read.rows == []
        assert read.issues
    one_rate_less = CryptoReading(ICSF.replace("100.00", ""))
    assert {row["average_size_bytes"] for row in one_rate_less.rows} == {None}
    assert one_rate_less.places == [(Code.UNKNOWN_LINE, 9)]


def test_a_report_without_any_part() -> None:
    read = CryptoReading("nothing here")
    assert read.places == [(Code.REPORT_UNREADABLE, 1), (Code.UNKNOWN_LINE, 5)]


def test_a_card_without_its_first_line_is_not_the_card_before() -> None:
    second = ACCELERATOR.splitlines()[2:]
    lines = [*ACCELERATOR.splitlines(), second[0].replace(" 7 ", " 9 "), second[1]]
    assert len(CryptoReading("\n".join(lines)).rows) == 10
    del lines[4]
    read = CryptoReading("\n".join(lines))
    assert [row["card_id"] for row in read.rows] == ["7"] * 5
    assert set(read.places) == {(Code.REPORT_UNREADABLE, 9)}


two = st.integers(0, 99_999).map(lambda n: n / 100)
three = st.integers(0, 99_999).map(lambda n: n / 1000)
one = st.integers(0, 1000).map(lambda n: n / 10)
figures = st.fixed_dictionaries({"operation_rate": two, "execution_ms": three, "utilisation_pct": one})
card_ids = st.lists(st.from_regex(r"[0-9A-F]{1,2}", fullmatch=True), min_size=1, max_size=3, unique=True)


@st.composite
def reports(draw: st.DrawFn) -> list[Row]:
    """Rows for the writer, which the reader returns."""
    rows: list[Row] = []
    scopes = draw(st.sampled_from([(None,), ("LPAR", "CPC")]))
    for card in draw(card_ids):
        for scope in scopes:
            lead = {"unit_kind": "cca", "card_type_name": "CEX7C", "card_id": card, "operation": "total"}
            rows.append(lead | {"crypto_scope_name": scope, "key_generation_rate": draw(two)} | draw(figures))
    forms = [f"{form} {key}" for key in (1024, 2048) for form in ("ME", "CRT")]
    for kind, operations in (("pkcs11", ["ASYM FAST", "SYMM PARTIAL"]), ("accelerator", forms)):
        for card in draw(card_ids):
            lead = {"unit_kind": kind, "card_type_name": f"CEX8{kind[0].upper()}", "card_id": card}
            rows += [lead | {"operation": name} | draw(figures) for name in ("total", *operations)]
    groups = draw(st.lists(st.sampled_from(list(SERVICES)), unique=True, min_size=1))
    for group in (group for group in SERVICES if group in groups):
        for name in SERVICES[group]:
            row = {"unit_kind": "icsf", "operation": f"{group} {name}", "operation_rate": draw(two)}
            rows.append(row | ({"average_size_bytes": draw(two)} if has_size(group) else {}))
    return rows


def contents(rows: list[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row.get(column) for column in (*NAMED, *FIGURES)) for row in rows]


@given(reports(), st.integers(1, 6))
def test_rows_come_back(rows: list[Row], gap: int) -> None:
    read = CryptoReading("\n".join(crypto_lines(rows, gap=gap)))
    assert read.issues == []
    assert read.contents() == contents(rows)


def test_the_heading_is_printed_first() -> None:
    lines = crypto_lines([], TOP)
    assert tuple(lines) == TOP


SPOILERS: dict[str, Spoiler] = {
    "some cut": on_some(0.2, lambda line, luck: [line[: luck.randrange(30, 140)]]),
    "some lost": on_some(0.1, lost),
    "some shifted": on_some(0.3, shifted(1, 1)),
    "wrapped": lambda lines, _: wrapped(lines, 80),
    "interrupted": on_some(0.1, followed_by("", "$ d iplinfo")),
    "in capitals": on_some(1, in_capitals),
}


@pytest.mark.deep
@pytest.mark.parametrize("spoiler", SPOILERS)
@given(reports(), st.integers(0, 1 << 32))
def test_no_damage_makes_other_figures(spoiler: str, rows: list[Row], seed: int) -> None:
    lines = SPOILERS[spoiler](crypto_lines(rows), random.Random(seed))
    read = CryptoReading("\n".join(lines))
    sound = {(row["operation"], column, row.get(column)) for row in rows for column in FIGURES}
    for row in read.rows:
        for column in FIGURES:
            right = row[column] is None or (row["operation"], column, row[column]) in sound
            assert right or read.issues
    assert all(issue.line_no for issue in read.issues)


@given(st.text(alphabet="-. 0123456789ABCDEFGHIKLMNOPRSTUVXY%\n", max_size=400))
def test_any_text_at_all(text: str) -> None:
    CryptoReading(CCA + text, text)


CARDS = """\
     C R Y P T O   H A R D W A R E   A C T I V I T Y

   z/OS V2R5   SYSTEM ID TEST   DATE 06/30/2025   INTERVAL 05.00.000
   RPT VERSION V2R5 RMF   TIME 11.05.00   CYCLE 1.000 SECONDS
--- CRYPTOGRAPHIC CCA COPROCESSOR ---
     --- LPAR ---   --- CPC ---
TYPE ID RATE EXEC TIME UTIL% RATE EXEC TIME UTIL%
CEX8C 0 1.50 0.100 0.2 2.50 0.200 0.5
1 3.50 0.300 1.1 4.50 0.400 1.8
""".splitlines()


def listed(*pages: list[str]) -> tuple[list[dict[str, Any]], list[Issue]]:
    reading = read_listing(["rmf_crypto"], pages)
    return reading.tables["rmf_crypto"], reading.issues


def test_column_names_are_no_page_heading() -> None:
    """EXEC TIME occurs as often as there are groups of figures."""
    rows, issues = listed(CARDS)
    assert [(r["line_no"], r["card_id"], r["crypto_scope_name"], r["operation_rate"]) for r in rows] == [
        (8, "0", "LPAR", 1.5),
        (8, "0", "CPC", 2.5),
        (9, "1", "LPAR", 3.5),
        (9, "1", "CPC", 4.5),
    ]
    assert issues == []


def test_repeated_cards_are_added_once() -> None:
    rows, issues = listed(CARDS, [line.replace("2.50", "2.75") for line in CARDS])
    assert rows == listed(CARDS)[0]
    assert {(issue.code, issue.line_no) for issue in issues} == {
        (Code.REPORT_UNREADABLE, 17),
        (Code.REPORT_UNREADABLE, 18),
    }
