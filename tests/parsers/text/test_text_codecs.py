"""Printed values: reading and writing each format, and rejecting invalid values."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zscope.parsers.text.codecs import CODECS
from zscope.parsers.text.report_rows import ColumnValues
from zscope.schemas.reports import PrintedFormat


def test_every_format_has_a_codec() -> None:
    assert set(CODECS) == set(PrintedFormat)


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ("count", "0000418220", 418_220),
        ("number", "12.000", 12.0),
        ("number", "99.998%", 99.998),
        ("number", "-1.5", -1.5),
        ("hex_number", "0000A1B2", 0xA1B2),
        ("hex", "00000035 0943AA7E", "000000350943aa7e"),
        ("port", "65535", 65_535),
        ("address", "::ffff:10.20.30.40", "10.20.30.40"),
        ("address", "::FFFF:10.20.30.40", "10.20.30.40"),
        ("address", "::FFFF:000.000.000.002", "0.0.0.2"),
        ("address", "010.020.030.004", "10.20.30.4"),
        ("address", "2001:0DB8::1", "2001:db8::1"),
        ("address", "::", "::"),
        ("yes_no", "Yes", True),
        ("yes_no", "OFF", False),
        ("tls_version", "TLS Version 1.3", 0x0304),
        ("tls_version", "TLS VERSION 1.2", 0x0303),
        ("tls_version", "TLSV1.3", 0x0304),
        ("tls_version", "TLSv1", 0x0301),
        ("tls_version", "SSLV3", 0x0300),
        ("tls_version", "SSL Version 3", 0x0300),
        ("tls_version", "TLS V1.2", 0x0303),
        ("megabytes", "41M", 41),
        ("span", "15.00.000", 900_000),
        ("span", "29:59:997", 1_799_997),
        ("span", "00.13.15.502", 795_502),
        ("span", "600.00.000", 36_000_000),
        ("time", "03/02/2026-09.41.07", datetime(2026, 3, 2, 9, 41, 7)),  # noqa: DTZ001
        ("time", "2026/03/02 09:41:07 CET", datetime(2026, 3, 2, 9, 41, 7)),  # noqa: DTZ001
        ("time", "03/02/2026 09:41:07", datetime(2026, 3, 2, 9, 41, 7)),  # noqa: DTZ001
        ("time", "03/02/2026-24.00.00", datetime(2026, 3, 3)),  # noqa: DTZ001
    ],
)
def test_decode(form: str, text: str, value: object) -> None:
    assert CODECS[PrintedFormat(form)].decode(text) == value


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("count", "-1"),
        ("count", "1,000"),
        ("count", "٣"),
        ("count", "9" * 21),
        ("number", "1e9"),
        ("number", "nan"),
        ("number", "1.2.3"),
        ("hex_number", "0x12"),
        ("hex_number", "123456789"),
        ("hex", "XYZ"),
        ("port", "65536"),
        ("address", "10.20.30"),
        ("address", "10.20.30.400"),
        ("address", "010.020.030.400"),
        ("address", "010.20.30.40"),
        ("yes_no", "maybe"),
        ("tls_version", "TLS Version 9.9"),
        ("tls_version", "1.3"),
        ("megabytes", "41G"),
        ("span", "15.00"),
        ("span", "15.61.000"),
        ("span", "00.61.00.000"),
        ("span", "15.00.00"),
        ("time", "03/32/2026-09.41.07"),
        ("time", "09:41:07"),
        ("time", "03/02/2026-09.41.0"),
    ],
)
def test_invalid_values(form: str, text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the caller writes the message
        CODECS[PrintedFormat(form)].decode(text)


@given(st.integers(0, 0xFFFFFFFF))
def test_round_trip_of_numbers(value: int) -> None:
    for form in (PrintedFormat.COUNT, PrintedFormat.HEX_NUMBER, PrintedFormat.MEGABYTES):
        assert CODECS[form].decode(CODECS[form].encode(value)) == value


@given(st.integers(0, 99 * 3_600_000 - 1))
def test_round_trip_of_spans(value: int) -> None:
    codec = CODECS[PrintedFormat.SPAN]
    assert codec.decode(codec.encode(value)) == value


@given(st.ip_addresses().map(str))
def test_round_trip_of_addresses(address: str) -> None:
    codec = CODECS[PrintedFormat.ADDRESS]
    assert codec.decode(codec.encode(codec.decode(address))) == codec.decode(address)


@pytest.mark.parametrize("number", [0x0300, 0x0301, 0x0302, 0x0303, 0x0304])
def test_round_trip_of_versions(number: int) -> None:
    codec = CODECS[PrintedFormat.TLS_VERSION]
    assert codec.decode(codec.encode(number)) == number


def test_values_of_texts_are_remembered_up_to_a_limit() -> None:
    decoded: list[str] = []

    def decode(text: str) -> int:
        decoded.append(text)
        return int(text)

    values = ColumnValues(decode)
    assert [values["7"], values["7"], decoded] == [7, 7, ["7"]]
    with pytest.raises(ValueError, match="x"):
        values["x"]
    assert all(values[str(number)] == number for number in range(10_000))
    assert len(values) <= 4_096
