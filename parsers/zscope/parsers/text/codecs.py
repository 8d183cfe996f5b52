"""Printed formats: a function that reads and one that writes the text of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from zscope.schemas.reports import PrintedFormat

if TYPE_CHECKING:
    from collections.abc import Callable

TLS_VERSIONS = {
    "SSLV2": 0x0200,
    "SSLV3": 0x0300,
    "TLSV1": 0x0301,
    "TLSV1.0": 0x0301,
    "TLSV1.1": 0x0302,
    "TLSV1.2": 0x0303,
    "TLSV1.3": 0x0304,
}
_VERSION_NAMES = {number: name for name, number in TLS_VERSIONS.items()}
_TRUE = {"YES", "Y", "ON", "TRUE"}
_FALSE = {"NO", "N", "OFF", "FALSE"}
_TIMES = ("%m/%d/%Y-%H.%M.%S", "%m/%d/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%m/%d/%Y-%H.%M.%S.%f")
IPV4 = re.compile(
    r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3}",
    re.ASCII,
)
"""An IPv4 address as it is stored: `ip_address` takes ten times as long."""
_MAPPED = "::ffff:"
_PADDED_IPV4 = re.compile(r"(?<![0-9.])[0-9]{3}(?:\.[0-9]{3}){3}$", re.ASCII)
_TIME_SHAPE = re.compile(r"\d{2,4}/\d\d/\d{2,4}[- ]\d\d([.:])\d\d\1\d\d(?:\.\d{1,6})?", re.ASCII)
"""Requires all digits: a time that lost its last digit would be read as another time."""
_LAST_MOMENT = re.compile(r"([ -])24([.:])00([.:])00$")


@dataclass(frozen=True, slots=True)
class TextCodec:
    """The reader and the writer of one format."""

    expects: str
    """Describes a valid value, for issue texts."""
    decode: Callable[[str], Any]
    """Raises ValueError if the text is not a valid value."""
    encode: Callable[[Any], str]


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 20:
        raise ValueError(text)
    value = int(text)
    if value >= 1 << 64:
        raise ValueError(text)
    return value


def _number(text: str) -> float:
    if not re.fullmatch(r"-?(\d{1,18}(\.\d*)?|\.\d+)%?", text, re.ASCII):
        raise ValueError(text)
    return float(text.rstrip("%"))


def _hex_number(text: str) -> int:
    if not re.fullmatch(r"[0-9A-Fa-f]{1,8}", text):
        raise ValueError(text)
    return int(text, 16)


def _hex(text: str) -> str:
    """Return the digits in lower case, as SMF tables have them."""
    digits = "".join(text.split()).lower()
    if not re.fullmatch(r"[0-9a-f]+", digits):
        raise ValueError(text)
    return digits


def _port(text: str) -> int:
    if not (text.isdigit() and text.isascii()) or len(text) > 20 or (port := int(text)) > 0xFFFF:
        raise ValueError(text)
    return port


def _address(text: str) -> str:
    """Return the address as SMF tables have it: IPv4 mapped addresses as IPv4, IPv6 in its shortest form."""
    if IPV4.fullmatch(text):
        return text
    plain = text[len(_MAPPED) :] if text[: len(_MAPPED)].lower() == _MAPPED else ""
    return plain if IPV4.fullmatch(plain) else _other_address(text)


@lru_cache(maxsize=4096)
def _other_address(text: str) -> str:
    """Return an address that is not printed as it is stored. Some messages print the four numbers of an IPv4
    address with three digits each.
    """
    if len(text) > 64:
        raise ValueError(text)
    if padded := _PADDED_IPV4.search(text):
        text = text[: padded.start()] + ".".join(str(int(number)) for number in padded[0].split("."))
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(address)


def _yes_no(text: str) -> bool:
    word = text.upper()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(text)


def _tls_version(text: str) -> int:
    word = re.sub(r"\s+|VERSION|(?<=L)\s*V(?=ERSION)", "", text.upper())
    word = re.sub(r"^(SSL|TLS)V?", r"\1V", word)
    if word not in TLS_VERSIONS:
        raise ValueError(text)
    return TLS_VERSIONS[word]


def _megabytes(text: str) -> int:
    return _count(text.upper().removesuffix("M").strip())


def _elapsed(text: str) -> int:
    """Read hours (optional), minutes, seconds and milliseconds; the last part always has three digits."""
    parts = re.split(r"[.:]", text)
    if len(parts) not in {3, 4} or len(parts[-1]) != 3 or not all(p.isascii() and p.isdigit() for p in parts):
        raise ValueError(text)
    numbers = [int(part) for part in parts]
    hours = numbers.pop(0) if len(numbers) == 4 else 0
    minutes, seconds, milliseconds = numbers
    if len(parts[0]) > 4 or seconds > 59 or (len(parts) == 4 and minutes > 59):
        raise ValueError(text)
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds


def _elapsed_text(value: int) -> str:
    seconds, milliseconds = divmod(value, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}.{minutes:02}.{seconds:02}.{milliseconds:03}"


@lru_cache(maxsize=256)  # the pages of an interval, and reports of the same moment, have the same times
def _time(text: str) -> datetime:
    """Read a local time. A time zone after it is ignored; 24:00 is midnight of the next day."""
    plain = re.sub(r" [A-Z]{1,5}$", "", text.strip())
    if not _TIME_SHAPE.fullmatch(plain):
        raise ValueError(text)
    midnight = _LAST_MOMENT.sub(r"\g<1>00\g<2>00\g<3>00", plain)
    for form in _TIMES:
        try:
            value = datetime.strptime(midnight, form)  # noqa: DTZ007 - local time has no zone
        except ValueError:
            continue
        if midnight == plain:
            return value
        if value.year < MAXYEAR:
            return value + timedelta(days=1)
    raise ValueError(text)


def _moment(text: str) -> datetime:
    """Read a time with its offset from UTC; one without is rejected."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(text) from error


def _unchanged(value: Any) -> Any:  # noqa: ANN401 - any value of the reader
    return value


CODECS: dict[PrintedFormat, TextCodec] = {
    PrintedFormat.TEXT: TextCodec("text", str, str),
    PrintedFormat.COUNT: TextCodec("a whole number", _count, str),
    PrintedFormat.NUMBER: TextCodec("a number", _number, lambda value: f"{value:.2f}"),
    PrintedFormat.HEX_NUMBER: TextCodec("up to eight hexadecimal digits", _hex_number, "{:08X}".format),
    PrintedFormat.HEX: TextCodec("hexadecimal digits", _hex, str.upper),
    PrintedFormat.PORT: TextCodec("a port from 0 to 65535", _port, str),
    PrintedFormat.ADDRESS: TextCodec("an IPv4 or IPv6 address", _address, str),
    PrintedFormat.YES_NO: TextCodec("yes or no", _yes_no, lambda value: "Yes" if value else "No"),
    PrintedFormat.TLS_VERSION: TextCodec(
        "a version such as TLS Version 1.3",
        _tls_version,
        lambda value: _VERSION_NAMES[value].replace("V", " Version "),
    ),
    PrintedFormat.MEGABYTES: TextCodec("a number of megabytes such as 41M", _megabytes, "{}M".format),
    PrintedFormat.SPAN: TextCodec("an elapsed time such as 15.00.000", _elapsed, _elapsed_text),
    PrintedFormat.TIME: TextCodec(
        "a date with a time of day", _time, lambda value: value.strftime("%m/%d/%Y %H:%M:%S")
    ),
    PrintedFormat.MOMENT: TextCodec(
        "a time with an offset from UTC such as 2026-03-02T10:15:00+01:00 or 2026-03-02T09:15:00Z",
        _moment,
        datetime.isoformat,
    ),
    PrintedFormat.MADE: TextCodec("", _unchanged, _unchanged),
}


def split_socket(text: str) -> tuple[str, str] | None:
    """Return address and port of a socket, or None if the text is not a socket.

    >>> split_socket("::..21"), split_socket("*..*"), split_socket("10.1.2.3")
    (('::', '21'), ('*', '*'), None)
    """
    address, dots, port = text.rpartition("..")
    return (address, port) if dots and address and port else None
