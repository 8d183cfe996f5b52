"""Texts and hexadecimal digits of many rows, compared with those of each row by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs.base import SAMPLE_ROWS, Raw, repeats
from zscope.parsers.smf.codecs.text_and_addresses import (
    FEW_ITEMS,
    HEX,
    TEXT,
    padded_texts,
    variable_texts,
)
from zscope.parsers.text.coding import CODE_PAGES, code_page
from zscope.schemas import Evidence, Field, Format

PLAIN = "CICSPROD 01.".encode("cp037")
STRANGE = b"\x43\xb0\xba\x00\x40\xff"
"""Letters that are not ASCII, both kinds of padding, and a control character."""
ROWS = st.integers(1, 12).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from(PLAIN + STRANGE) | st.integers(0, 255), min_size=width, max_size=width).map(
            bytes
        ),
        min_size=1,
        max_size=40,
    )
)
PLAIN_ROWS = st.integers(1, 12).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from(PLAIN + b"\x00\x40"), min_size=width, max_size=width).map(bytes),
        min_size=1,
        max_size=40,
    )
)


@given(rows=ROWS | PLAIN_ROWS, times=st.sampled_from([1, FEW_ITEMS]), name=st.sampled_from(CODE_PAGES))
@example(
    rows=[b"\x40" * 4, b"\x00" * 4, b"\xc1\x40\x00\x40", b"\x40\xc1\xc1\x40"], times=FEW_ITEMS, name="1047"
)
def test_texts_are_those_of_each_row(rows: list[bytes], times: int, name: str) -> None:
    page = code_page(name)
    texts = padded_texts(b"".join(rows) * times, len(rows[0]), page)
    texts.validate(full=True)
    assert texts.to_pylist() == [page.decode(row) for row in rows] * times


@pytest.mark.parametrize("name", CODE_PAGES)
def test_every_code_has_its_character(name: str) -> None:
    page = code_page(name)
    for code, character in enumerate(page.characters):
        assert page.decode(bytes([code])) == character.rstrip(" \0")


def _raw(rows: list[bytes], sizes: list[int] | None, *, many: bool = False) -> tuple[Raw, list[object]]:
    flags: list[object] = []

    def flag(code: Code, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], text: str) -> None:
        flags.append((code, mask.tolist(), text))

    width = len(rows[0])
    field = Field(
        "SERIAL", 0, Format.HEX, "serial", "A serial number.", width, evidence=Evidence.IBM_DOC,
        size="LENGTH" if sizes else "", many=many,
    )  # fmt: skip
    partners = {"LENGTH": np.array(sizes, np.uint8)} if sizes else {}
    return Raw(field, np.frombuffer(b"".join(rows), f"V{width}"), partners, code_page(), flag), flags


SERIALS = st.integers(1, 21).flatmap(
    lambda width: st.lists(
        st.tuples(st.binary(min_size=width, max_size=width), st.integers(0, width + 1)),
        min_size=1,
        max_size=30,
    )
)


@given(serials=SERIALS, times=st.sampled_from([1, 40]), many=st.booleans())
def test_digits_are_those_of_each_row(serials: list[tuple[bytes, int]], times: int, many: bool) -> None:
    rows, sizes = [row for row, _ in serials] * times, [size for _, size in serials] * times
    raw, flags = _raw(rows, sizes, many=many)
    column = HEX.decode(raw)
    column.validate(full=True)
    width = len(rows[0])
    assert column.type == pa.string()
    assert column.to_pylist() == [
        row[:size].hex() if 0 < size <= width else None for row, size in zip(rows, sizes, strict=True)
    ]
    too_long = [size > width for size in sizes]
    expected = [(Code.BAD_SIZE, too_long, "LENGTH is greater than the field")] if any(too_long) else []
    assert flags == expected


@given(rows=st.lists(st.binary(min_size=5, max_size=5), min_size=1, max_size=20))
def test_digits_of_a_field_without_length(rows: list[bytes]) -> None:
    raw, _ = _raw(rows, None)
    assert HEX.decode(raw).to_pylist() == [row.hex() for row in rows]


def _different(count: int) -> list[bytes]:
    return [number.to_bytes(8, "big").hex()[-8:].upper().encode("cp037") for number in range(count)]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("distinct", [1, 10, 2 * SAMPLE_ROWS])
def test_the_type_of_a_column_does_not_depend_on_its_values(distinct: int, many: bool) -> None:
    rows = (_different(distinct) * 2 * SAMPLE_ROWS)[: 4 * SAMPLE_ROWS]
    field = Field("JOB", 0, Format.TEXT, "job", "A job.", 8, evidence=Evidence.IBM_DOC, many=many)
    expected_type = pa.string() if many else pa.dictionary(pa.int32(), pa.string())
    page = code_page()
    stored = np.frombuffer(b"".join(rows), "V8")
    items = pa.FixedSizeBinaryArray.from_buffers(pa.binary(8), len(rows), [None, pa.py_buffer(stored)])
    raw = Raw(field, stored.view(TEXT.storage(8)), {}, page, lambda *_: None)
    for column in (TEXT.decode(raw), variable_texts(field, items, page)):
        column.validate(full=True)
        assert column.type == expected_type
        assert column.to_pylist() == [page.decode(row) for row in rows]


def test_a_sample_shows_whether_values_repeat() -> None:
    count = 3 * SAMPLE_ROWS
    assert repeats(np.zeros(count, np.uint64))
    assert repeats(np.frombuffer(b"".join(_different(10) * count), "V8"))
    assert not repeats(np.arange(count))
    assert not repeats(np.frombuffer(b"".join(_different(count)), "V8"))
