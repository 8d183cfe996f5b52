"""Addresses as Python's `ipaddress` writes them, in both conventions."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zscope.parsers.smf.codecs.base import Column, Raw
from zscope.parsers.smf.codecs.text_and_addresses import FIRST_FOUR, IPV6_FLAG, MAPPED
from zscope.parsers.text.coding import code_page
from zscope.schemas import Evidence, Field, Format

SPECIAL = [
    "::",
    "::1",
    "::1.2.3.4",
    "::5efe:a01:203",
    "::ffff:0:1.2.3.4",
    "64:ff9b::1.2.3.4",
    "1:0:0:2::",
    "fe80::",
]
WORDS = st.sampled_from([0, 0, 1, 0xA00, 0xFFFF])
ADDRESSES = st.lists(
    st.builds(IPv4Address, st.integers(0, 2**32 - 1))
    | st.lists(WORDS, min_size=8, max_size=8).map(
        lambda words: IPv6Address(b"".join(word.to_bytes(2, "big") for word in words))
    ),
    min_size=1,
    max_size=200,
)


def _raw(form: Format, items: list[bytes], flags: Column | None = None) -> Raw:
    def flag(*problem: object) -> None:
        raise AssertionError(problem)

    field = Field("IP", 0, form, "ip", "An address.", 16, evidence=Evidence.IBM_DOC, v6_flag="FLAGS")
    partners = {} if flags is None else {"FLAGS": flags}
    return Raw(field, np.frombuffer(b"".join(items), "V16"), partners, code_page(), flag)


def _shown(address: IPv4Address | IPv6Address) -> str:
    """An IPv4 address in the form of IPv6 is shown as what it is."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


@given(addresses=ADDRESSES)
@example(addresses=[ip_address(text) for text in SPECIAL])
@example(addresses=[IPv4Address(number) for number in range(100)])
def test_mapped(addresses: list[IPv4Address | IPv6Address]) -> None:
    items = [a.packed if a.version == 6 else bytes(10) + b"\xff\xff" + a.packed for a in addresses]
    assert MAPPED.decode(_raw(Format.IP_MAPPED, items)).to_pylist() == [_shown(a) for a in addresses]


@given(addresses=ADDRESSES, after=st.binary(min_size=12, max_size=12))
@example(addresses=[ip_address(text) for text in SPECIAL], after=bytes(12))
@example(addresses=[IPv4Address(1), IPv6Address("::ffff:0.0.0.1")], after=bytes(12))
def test_first_four(addresses: list[IPv4Address | IPv6Address], after: bytes) -> None:
    """The bytes after the first four are undefined."""
    items = [a.packed if a.version == 6 else a.packed + after for a in addresses]
    flags = np.array([IPV6_FLAG if a.version == 6 else 0x7F for a in addresses], np.uint8)
    column = FIRST_FOUR.decode(_raw(Format.IP_FIRST4, items, flags))
    assert column.to_pylist() == [_shown(a) for a in addresses]
    assert len(set(column.dictionary.to_pylist())) == len(column.dictionary), "a text occurs twice"


@pytest.mark.parametrize("codec", [MAPPED, FIRST_FOUR])
def test_a_column_of_one_address(codec: object) -> None:
    items = [(bytes(10) + b"\xff\xff" + b"\x0a\0\0\1") if codec is MAPPED else b"\x0a\0\0\1" + bytes(12)] * 5
    raw = _raw(Format.IP_MAPPED, items, np.zeros(5, np.uint8))
    column = MAPPED.decode(raw) if codec is MAPPED else FIRST_FOUR.decode(raw)
    assert column.to_pylist() == ["10.0.0.1"] * 5
