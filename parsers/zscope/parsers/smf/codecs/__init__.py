"""One codec for each format of a field: bytes to a column, and a column to bytes.

A codec works on whole columns. Malformed values become null and are reported through `Raw.flag`, so that
absent, zero and malformed are distinct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.smf.codecs import numbers_and_times, text_and_addresses
from zscope.schemas import Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.parsers.smf.codecs.base import Codec

CODECS: Mapping[Format, Codec] = {
    Format.UINT: numbers_and_times.UNSIGNED,
    Format.INT: numbers_and_times.SIGNED,
    Format.BITS: numbers_and_times.UNSIGNED,
    Format.HEX_FLOAT: numbers_and_times.HEX_FLOAT,
    Format.TEXT: text_and_addresses.TEXT,
    Format.HEX: text_and_addresses.HEX,
    Format.RAW: text_and_addresses.RAW,
    Format.IP_MAPPED: text_and_addresses.MAPPED,
    Format.IP_FIRST4: text_and_addresses.FIRST_FOUR,
    Format.TIME_HUNDREDTHS: numbers_and_times.HUNDREDTHS,
    Format.PACKED_TIME: numbers_and_times.PACKED_TIME,
    Format.PACKED_DATE: numbers_and_times.PACKED_DATE,
    Format.TOD: numbers_and_times.TOD,
    Format.TOD_LOCAL: numbers_and_times.TOD_LOCAL,
    Format.TOD_SPAN: numbers_and_times.TOD_SPAN,
    Format.TOD_SPAN_SIGNED: numbers_and_times.TOD_SPAN_SIGNED,
    Format.CERT_TIME: numbers_and_times.CERT_TIME,
    Format.PACKED_SPAN: numbers_and_times.PACKED_SPAN,
    Format.PACKED_NUMBER: numbers_and_times.PACKED_NUMBER,
}
