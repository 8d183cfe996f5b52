"""The expiry of many certificates at once, compared with that of each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs.base import Raw
from zscope.parsers.smf.codecs.numbers_and_times import (
    CERT_TIME,
    GENERALIZED_FORM,
    UTC_FORM,
    certificate_time,
    usual_certificate_times,
)
from zscope.parsers.text.coding import code_page
from zscope.schemas import Evidence, Field, Format

USUAL = st.datetimes().map(lambda time: (GENERALIZED_FORM, f"{time.year:04}{time:%m%d%H%M%SZ}"))
SHORT = st.datetimes().map(lambda time: (UTC_FORM, f"{time:%y%m%d%H%M%SZ}"))
NUMBERS = st.tuples(
    st.integers(0, 3), st.text("0123456789", min_size=12, max_size=14).map(lambda digits: f"{digits}Z")
)
OTHER = st.tuples(st.integers(0, 3), st.text("0123456789Z +.\0", max_size=15))
ENCODINGS = st.sampled_from(["ascii", "cp037"])


def _key(form: int, text: str, encoding: str) -> tuple[int, bytes]:
    return form, text.encode(encoding).ljust(15, " ".encode(encoding))


KEYS = st.lists(
    st.builds(
        lambda entry, encoding: _key(entry[0], entry[1], encoding), USUAL | SHORT | NUMBERS | OTHER, ENCODINGS
    )
    | st.tuples(st.integers(0, 255), st.binary(min_size=15, max_size=15)),
    min_size=1,
    max_size=30,
)
EDGES = [
    _key(form, text, encoding)
    for encoding in ("ascii", "cp037")
    for form, text in (
        (GENERALIZED_FORM, "20240229235959Z"),
        (GENERALIZED_FORM, "20230229000000Z"),
        (GENERALIZED_FORM, "20231301000000Z"),
        (GENERALIZED_FORM, "20230101240000Z"),
        (GENERALIZED_FORM, "20230101000060Z"),
        (GENERALIZED_FORM, "00000101000000Z"),
        (GENERALIZED_FORM, "00010101000000Z"),
        (GENERALIZED_FORM, "99991231235959Z"),
        (UTC_FORM, "491231235959Z"),
        (UTC_FORM, "500101000000Z"),
        (UTC_FORM, "500101000000Z!"),
        (UTC_FORM, "5001010000ZZZ"),
        (0, "20240229235959Z"),
        (3, "20240229235959Z"),
        (0, ""),
    )
]


def _one_by_one(form: int, text: bytes) -> int | str | None:
    try:
        return certificate_time(form, text, code_page())
    except ValueError:
        return "malformed"


@given(keys=KEYS)
@example(keys=EDGES)
def test_times_are_those_of_each_text(keys: list[tuple[int, bytes]]) -> None:
    reported: list[list[bool]] = []

    def flag(code: Code, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], _: str) -> None:
        assert code is Code.BAD_CERT_TIME
        reported.append(mask.tolist())

    field = Field(
        "TIME", 0, Format.CERT_TIME, "time_utc", "Expiry.", 15, evidence=Evidence.IBM_DOC, form="FORM"
    )
    partners = {"FORM": np.array([form for form, _ in keys], np.uint8)}
    values = np.frombuffer(b"".join(text for _, text in keys), "V15")
    column = CERT_TIME.decode(Raw(field, values, partners, code_page(), flag))
    column.validate(full=True)
    expected = [_one_by_one(*key) for key in keys]
    malformed = [time == "malformed" for time in expected]
    assert column.cast("int64").to_pylist() == [
        None if bad else t for bad, t in zip(malformed, expected, strict=True)
    ]
    assert reported == ([malformed] if any(malformed) else [])


@pytest.mark.parametrize("encoding", ["ascii", "cp037"])
def test_usual_texts_are_not_decoded_one_by_one(encoding: str) -> None:
    long, short = (
        _key(form, text, encoding)
        for form, text in ((GENERALIZED_FORM, "20240229235959Z"), (UTC_FORM, "240229235959Z"))
    )
    rows = np.frombuffer(long[1] + short[1], np.uint8).reshape(2, -1)
    forms = np.array([long[0], short[0]])
    times, known = usual_certificate_times(forms, rows)
    assert known.all()
    assert times.tolist() == [1_709_251_199_000_000] * 2
