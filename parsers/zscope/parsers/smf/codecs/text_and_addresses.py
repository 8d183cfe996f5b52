"""Fields that are shown as text: EBCDIC text, bytes as hexadecimal digits, plain bytes, and IP addresses.

Text is translated once for each distinct value: the bytes of the column are dictionary-encoded first. For job
names and the like that costs a tenth of translating every row. Columns that are not dictionaries are decoded
row by row where most values differ, and in both cases many texts are made by operations on all their bytes.

Type 119 has two conventions for addresses: IPv4 as IPv4-mapped IPv6, and IPv4 in the first four of sixteen
bytes with the rest undefined, where a flag in another field contains the IP version.
"""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.issues import Code
from zscope.parsers.smf.codecs.base import (
    ByteRows,
    Column,
    Raw,
    as_byte_rows,
    fixed_items,
    number_distinct,
    number_pairs,
    opaque,
    repeats,
    without_nulls,
)
from zscope.schemas import Evidence, Field, catalog
from zscope.schemas.arrow import TEXT as TEXT_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from zscope.parsers.text.coding import CodePage


NUMBER_SIZES = (1, 2, 4, 8)
PADDING = " \0"


def with_texts(indices: pa.Array, texts: pa.Array) -> pa.DictionaryArray:
    """Return a dictionary array of texts; equal texts become one entry, null is not an entry."""
    merged = texts.dictionary_encode()
    if len(merged.dictionary) < len(texts):
        indices, texts = merged.indices.take(indices), merged.dictionary
    return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


FEW_ITEMS = 100
"""From so many texts on, operations on all bytes are faster than one text after the other."""


def padded_texts(items: bytes, width: int, page: CodePage) -> pa.Array:
    """Return the texts of items of one width, one after the other, without their padding."""
    characters = page.latin(items)
    if len(items) < FEW_ITEMS * width or not characters.isascii():
        shown = characters.decode("latin-1")
        return pa.array(
            [shown[at : at + width].rstrip(PADDING) for at in range(0, len(items), width)], TEXT_TYPE
        )
    rows = np.frombuffer(characters, np.uint8).reshape(-1, width)
    is_text = (rows != ord(" ")) & (rows != 0)
    # The first of the reversed characters that is not padding; all zero where there is none.
    sizes = (width - np.argmax(is_text[:, ::-1], axis=1)) * is_text.any(axis=1)
    return _strings(sizes.astype(np.int32), first_bytes(rows, sizes))


def first_bytes(rows: ByteRows, sizes: Column) -> NDArray[np.uint8]:
    """Return the first bytes of each row, all one after the other."""
    width = rows.shape[1]
    if not len(sizes) or sizes.min() == width:
        return rows.ravel()
    return rows[np.arange(width) < sizes[:, None]]


class Text:
    """Characters padded with blanks or binary zeros; the padding is not part of the value."""

    def storage(self, length: int) -> str:
        """Short texts are numbered faster as integers, whose value does not matter."""
        return f"=u{length}" if length in NUMBER_SIZES else opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Blanks become the empty text; null is for absent fields.

        A field whose place is only inferred is null unless its value is a known one.
        """
        width = raw.values.dtype.itemsize
        if raw.field.many and not repeats(raw.values):
            return known_texts(raw.field, padded_texts(raw.values.tobytes(), width, raw.page))
        numbered = number_distinct(raw.values)
        texts = padded_texts(fixed_items(numbered.dictionary), width, raw.page)
        return text_column(raw.field, numbered.indices, texts)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes blanks."""
        length = field.length or 0
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        known = [page.encode(text, length) for text in values.dictionary.to_pylist()]
        rows = as_byte_rows(np.array([*known, page.encode("", length)], f"S{length}"))
        chosen: ByteRows = rows[without_nulls(values.indices, len(known))]
        return chosen


def text_column(field: Field, indices: pa.Array, texts: pa.Array) -> pa.Array:
    """Return the column of a text field from the numbering of its distinct texts."""
    shown = known_texts(field, texts)
    return shown.take(indices) if field.many else with_texts(indices, shown)


def known_texts(field: Field, texts: pa.Array) -> pa.Array:
    """Return the texts, with null for unknown ones where the place of the field is only inferred."""
    if field.evidence is not Evidence.INFERRED:
        return texts
    known = catalog().codes[field.codes].codes
    return pa.array([text if text in known else None for text in texts.to_pylist()], TEXT_TYPE)


def variable_texts(field: Field, items: pa.Array, page: CodePage) -> pa.Array:
    """Return the column of a text that fills the rest of its section."""
    if not pa.types.is_fixed_size_binary(items.type):
        numbered = items.dictionary_encode()
        texts = [page.decode(key) for key in numbered.dictionary.to_pylist()]
        return text_column(field, numbered.indices, pa.array(texts, TEXT_TYPE))
    width = items.type.byte_width
    if field.many and len(items) and not repeats(np.frombuffer(items.buffers()[1], f"V{width}")):
        return known_texts(field, padded_texts(fixed_items(items), width, page))
    numbered = items.dictionary_encode()
    return text_column(field, numbered.indices, padded_texts(fixed_items(numbered.dictionary), width, page))


_DIGITS = np.frombuffer(b"".join(b"%02x" % value for value in range(256)), "<u2").astype(np.uint32)
_FOUR_DIGITS = (_DIGITS[:, None] << 16 | _DIGITS).ravel().astype("<u4")
"""The digits of two bytes, by the number that the two make when the first is the low one."""


def hex_digits(raw: NDArray[np.uint8]) -> Column:
    """Return bytes as characters of hexadecimal digits, possibly with two more digits."""
    flat = raw.ravel()
    if len(flat) % 2:
        flat = np.append(flat, np.uint8(0))
    return np.take(_FOUR_DIGITS, flat.view("<u2"), mode="clip")


class Hex:
    """Bytes as hexadecimal digits; another field may contain the number of valid bytes."""

    def storage(self, length: int) -> str:
        """Return the type of opaque bytes."""
        return opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """A length of zero means absent; one greater than the field is malformed."""
        rows = raw.byte_rows()
        width = rows.shape[1]
        if not raw.field.size:
            return _strings(np.full(len(rows), 2 * width, np.int32), hex_digits(rows))
        sizes = raw.partners[raw.field.size]
        too_long = sizes > width
        if too_long.any():
            raw.flag(Code.BAD_SIZE, too_long, f"{raw.field.size} is greater than the field")
            sizes = np.where(too_long, 0, sizes)
        if raw.field.many or width >= LARGEST_PAIR or not repeats(raw.values):
            return _digits(rows, sizes)
        return _repeated_digits(raw, sizes)

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Left justified, zeros after; null becomes zeros."""
        length = field.length or 0
        items = [bytes.fromhex(text or "").ljust(length, b"\0") for text in values.to_pylist()]
        if any(len(item) > length for item in items):
            raise ValueError(f"{field.name}: a value is longer than the field of {length} bytes")
        return np.frombuffer(b"".join(items), np.uint8).reshape(len(items), length)


LARGEST_PAIR = 256
"""Fields below this length have a size that fits into the byte before their bytes."""


def _repeated_digits(raw: Raw, sizes: Column) -> pa.Array:
    """The digits of values that repeat."""
    numbered = number_pairs(sizes, raw.values)
    pairs = np.frombuffer(fixed_items(numbered.dictionary), np.uint8).reshape(len(numbered.dictionary), -1)
    return _digits(pairs[:, 1:], pairs[:, 0]).take(numbered.indices)


def _digits(rows: ByteRows, sizes: Column) -> pa.Array:
    """The digits of the first bytes of each row; null without any."""
    there = sizes > 0
    if not there.any():
        return pa.nulls(len(sizes), TEXT_TYPE)
    longest = int(sizes.max())
    return _strings(2 * sizes.astype(np.int32), hex_digits(first_bytes(rows[:, :longest], sizes)), ~there)


def _strings(
    sizes: NDArray[np.int32], characters: Column, absent: NDArray[np.bool_] | None = None
) -> pa.Array:
    """A string array from the lengths of its values and their characters, one after the other."""
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    present = None
    if absent is not None and absent.any():
        present = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    return pa.StringArray.from_buffers(len(sizes), pa.py_buffer(offsets), pa.py_buffer(characters), present)


class RawBytes:
    """Plain bytes; only for whole sections of varying length."""

    def storage(self, length: int) -> str:
        """Return the type of opaque bytes."""
        return opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """One value a row."""
        return pa.array([row.tobytes() for row in raw.byte_rows()], pa.binary())

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Values of one length."""
        items = [item or b"" for item in values.to_pylist()]
        return as_byte_rows(np.array(items, f"S{field.length}").view(opaque(field.length or 0)))


TEXT = Text()
HEX = Hex()
RAW = RawBytes()


ADDRESS_BYTES = 16
MAPPED_PREFIX = b"\0" * 10 + b"\xff\xff"
IPV6_FLAG = 0x80
FEW_ADDRESSES = 64
"""From so many distinct addresses on, joining columns of octets is faster than formatting one by one."""


@cache
def _octets() -> pa.Array:
    return pa.array([str(value) for value in range(256)])


def _dotted(keys: Column) -> pa.Array:
    """Numbers of four bytes as dotted numbers."""
    if len(keys) < FEW_ADDRESSES:
        return pa.array([str(IPv4Address(int(key))) for key in keys], pa.string())
    octets = keys.astype(">u4").view(np.uint8).reshape(-1, 4)
    parts = [_octets().take(pa.array(octets[:, at])) for at in range(4)]
    return pc.binary_join_element_wise(*parts, ".")


def _address_column(words: Column, four: NDArray[np.bool_], keys: Column) -> pa.DictionaryArray:
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


def _address_words(raw: Raw) -> Column:
    """The addresses as four numbers each."""
    words: Column = np.ascontiguousarray(raw.values).view(">u4").reshape(-1, 4)
    return words


def _is_mapped(words: Column) -> NDArray[np.bool_]:
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
        words = _address_words(raw)
        return _address_column(words, _is_mapped(words), words[:, 3])

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes zeros."""
        return _encoded_addresses(values, lambda address: MAPPED_PREFIX + address)


class FirstFour:
    """IPv4 in the first four bytes unless the flag for IPv6 is set."""

    def storage(self, length: int) -> str:
        """Return the type of opaque bytes."""
        return opaque(length)

    def decode(self, raw: Raw) -> pa.Array:
        """Decode the addresses; the bytes after the four bytes of an IPv4 address are ignored."""
        words = _address_words(raw)
        four: NDArray[np.bool_] = (raw.partners[raw.field.v6_flag] & IPV6_FLAG) == 0
        if four.all():
            return _address_column(words, four, words[:, 0])
        return _address_column(words, four | _is_mapped(words), np.where(four, words[:, 0], words[:, 3]))

    def encode(self, field: Field, values: pa.Array, page: CodePage) -> ByteRows:
        """Encode the values; null becomes zeros."""
        return _encoded_addresses(values, lambda address: address.ljust(ADDRESS_BYTES, b"\0"))


def _encoded_addresses(values: pa.Array, of_ipv4: Callable[[bytes], bytes]) -> ByteRows:
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    packed = [_packed(text, of_ipv4) for text in values.dictionary.to_pylist()]
    rows = np.frombuffer(b"".join([*packed, bytes(ADDRESS_BYTES)]), np.uint8).reshape(-1, ADDRESS_BYTES)
    chosen: ByteRows = rows[without_nulls(values.indices, len(packed))]
    return chosen


def _packed(text: str, of_ipv4: Callable[[bytes], bytes]) -> bytes:
    try:
        # The module ipaddress takes several times as long.
        packed = inet_pton(AF_INET6 if ":" in text else AF_INET, text)
    except OSError:  # an address with a zone, or none at all
        packed = ip_address(text).packed
    return packed if len(packed) == ADDRESS_BYTES else of_ipv4(packed)


MAPPED = Mapped()
FIRST_FOUR = FirstFour()
