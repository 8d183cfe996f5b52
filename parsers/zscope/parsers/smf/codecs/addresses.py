"""IP addresses as text.

Type 119 has two conventions: IPv4 as IPv4-mapped IPv6, and IPv4 in the first four of sixteen bytes with the
rest undefined, where a flag in another field contains the IP version.
"""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from socket import AF_INET6, inet_ntop
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.smf.codecs.base import ByteRows, Column, Raw, number_distinct, opaque, rows_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from zscope.parsers.smf.ebcdic import CodePage
    from zscope.schemas import Field

ADDRESS_BYTES = 16
MAPPED_PREFIX = b"\0" * 10 + b"\xff\xff"
IPV6_FLAG = 0x80
FEW = 64
"""From so many distinct addresses on, joining columns of octets is faster than formatting one by one."""


@cache
def _octets() -> pa.Array:
    return pa.array([str(value) for value in range(256)])


def _dotted(keys: Column) -> pa.Array:
    """Numbers of four bytes as dotted numbers."""
    if len(keys) < FEW:
        return pa.array([str(IPv4Address(int(key))) for key in keys], pa.string())
    octets = keys.astype(">u4").view(np.uint8).reshape(-1, 4)
    parts = [_octets().take(pa.array(octets[:, at])) for at in range(4)]
    return pc.binary_join_element_wise(*parts, ".")


def _column(words: Column, four: NDArray[np.bool_], keys: Column) -> pa.DictionaryArray:
    """Addresses of four words each; where they are IPv4, `keys` has them as one number.

    The two kinds are numbered separately, because numbering and formatting four bytes is far faster.
    """
    if four.all():
        numbered = number_distinct(keys.astype(np.uint32))
        texts = _dotted(numbered.dictionary.to_numpy())
        return pa.DictionaryArray.from_arrays(numbered.indices, texts, safe=False)
    short = number_distinct(keys[four].astype(np.uint32))
    long = number_distinct(words[~four].view(opaque(ADDRESS_BYTES)).ravel())
    texts = pa.array([_ipv6_text(key) for key in long.dictionary.to_pylist()], pa.string())
    indices = np.empty(len(words), np.int32)
    indices[four] = short.indices.to_numpy()
    indices[~four] = long.indices.to_numpy() + len(short.dictionary)
    known = pa.concat_arrays([_dotted(short.dictionary.to_numpy()), texts])
    return pa.DictionaryArray.from_arrays(pa.array(indices), known, safe=False)


def _ipv6_text(packed: bytes) -> str:
    """The text of an address. The system's function is ten times faster than Python's.

    They differ where the first shows the end of an address as IPv4, as for a few reserved addresses.
    """
    text = inet_ntop(AF_INET6, packed)
    return str(IPv6Address(packed)) if "." in text else text


def _words(raw: Raw) -> Column:
    """The addresses as four numbers each."""
    words: Column = np.ascontiguousarray(raw.values).view(">u4").reshape(-1, 4)
    return words


def _mapped(words: Column) -> NDArray[np.bool_]:
    """Which addresses are IPv4 in the form of IPv6."""
    mapped: NDArray[np.bool_] = (words[:, 2] == 0xFFFF) & (words[:, 1] == 0) & (words[:, 0] == 0)
    return mapped


class Mapped:
    """IPv4 as IPv4-mapped IPv6."""

    def storage(self, length: int) -> str:
        """Return the type of opaque bytes."""
        return opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Null is for absent fields; an address of zeros is valid."""
        words = _words(raw)
        return _column(words, _mapped(words), words[:, 3])

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes zeros."""
        return _encode(values, lambda address: MAPPED_PREFIX + address.packed)


class FirstFour:
    """IPv4 in the first four bytes unless the flag for IPv6 is set."""

    def storage(self, length: int) -> str:
        """Return the type of opaque bytes."""
        return opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Decode the addresses; the bytes after the four bytes of an IPv4 address are ignored."""
        words = _words(raw)
        four: NDArray[np.bool_] = (raw.partners[raw.field.v6_flag] & IPV6_FLAG) == 0
        if four.all():
            return _column(words, four, words[:, 0])
        return _column(words, four | _mapped(words), np.where(four, words[:, 0], words[:, 3]))

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes zeros."""
        return _encode(values, lambda address: address.packed.ljust(ADDRESS_BYTES, b"\0"))


def _encode(values: pa.Array, of_ipv4: Callable[[IPv4Address], bytes]) -> ByteRows:
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    packed = []
    for text in values.dictionary.to_pylist():
        address = ip_address(text)
        packed.append(of_ipv4(address) if isinstance(address, IPv4Address) else address.packed)
    rows = np.frombuffer(b"".join([*packed, bytes(ADDRESS_BYTES)]), np.uint8).reshape(-1, ADDRESS_BYTES)
    return rows_at(rows, values.indices.fill_null(len(packed)))


MAPPED = Mapped()
FIRST_FOUR = FirstFour()
