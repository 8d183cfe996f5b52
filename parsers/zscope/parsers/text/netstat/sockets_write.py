"""Writes sockets as NETSTAT prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def printed_socket(row: Mapping[str, Any], side: str, *, mapped: bool = False) -> str:
    """Address and port of one side, `local` or `remote`; `mapped` writes IPv4 as IPv6 sockets have it.

    >>> printed_socket({"local_ip": "::", "local_port": 21}, "local")
    '::..21'
    """
    address, port = row.get(f"{side}_ip"), row.get(f"{side}_port")
    if address is not None and mapped and ":" not in address:
        address = "::" if address == "0.0.0.0" else f"::ffff:{address}"
    return f"{'*' if address is None else address}..{'*' if port is None else port}"
