"""Writes DISPLAY CRYPTO in the form that its reader expects; how GSKSRVR lays it out is not published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NOT_AVAILABLE = "--"


def crypto_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The display, one line for each algorithm.

    >>> crypto_lines([{"algorithm": "AES", "hardware_bits": 256, "software_bits": 256}])[-1]
    'AES                     256         256'
    """
    lines = [_line(row["algorithm"], row.get("hardware_bits"), row.get("software_bits")) for row in rows]
    return ["GSK01009I Cryptographic status", _line("Algorithm", "Hardware", "Software"), *lines]


def _line(algorithm: str, hardware: object, software: object) -> str:
    return f"{algorithm:<15}{_shown(hardware):>12}{_shown(software):>12}"


def _shown(size: object) -> str:
    return _NOT_AVAILABLE if size is None else str(size)
