"""One codec for each format of a field: bytes to a column, and a column to bytes.

A codec works on whole columns. Malformed values become null and are reported through `Raw.flag`, so that
absent, zero and malformed are distinct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.smf.codecs import addresses, numbers, text, times
from zscope.schemas import Format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zscope.parsers.smf.codecs.base import Codec

CODECS: Mapping[Format, Codec] = {
    Format.UINT: numbers.UNSIGNED,
    Format.INT: numbers.SIGNED,
    Format.BITS: numbers.UNSIGNED,
    Format.HEX_FLOAT: numbers.HEX_FLOAT,
    Format.TEXT: text.TEXT,
    Format.HEX: text.HEX,
    Format.RAW: text.RAW,
    Format.IP_MAPPED: addresses.MAPPED,
    Format.IP_FIRST4: addresses.FIRST_FOUR,
    Format.TIME_HUNDREDTHS: times.HUNDREDTHS,
    Format.PACKED_TIME: times.PACKED_TIME,
    Format.PACKED_DATE: times.PACKED_DATE,
    Format.TOD: times.TOD,
    Format.TOD_LOCAL: times.TOD_LOCAL,
    Format.TOD_SPAN: times.TOD_SPAN,
    Format.TOD_SPAN_SIGNED: times.TOD_SPAN_SIGNED,
    Format.CERT_TIME: times.CERT_TIME,
    Format.PACKED_SPAN: numbers.PACKED_SPAN,
    Format.PACKED_NUMBER: numbers.PACKED_NUMBER,
}
