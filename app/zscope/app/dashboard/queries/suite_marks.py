"""What there is to say about a cipher suite at a glance: weak, no forward secrecy, neither, not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WEAK, WITHOUT_PFS, WITH_PFS, NOT_KNOWN = "weak", "no forward secrecy", "forward secrecy", "not known"
SHAPES = {WEAK: "▲", WITHOUT_PFS: "◆", WITH_PFS: "●", NOT_KNOWN: "○"}
"""Marks in the order of their weight, each with a shape of its own."""
_WEAK_ENCRYPTION = ("3DES", "RC4", "DES", "RC2")
_SIGNALS = ("00FF", "5600")
"""Numbers of signals in a handshake, which stand among the suites and are none."""


def weaknesses(suite: Mapping[str, Any]) -> list[str]:
    """What makes a suite weak, in words; nothing if it is not.

    >>> weaknesses({"cipher": "0003", "encryption": "RC4", "key_exchange": "RSA_EXPORT"})
    ['RC4', 'made weak for export']
    """
    if suite.get("cipher") in _SIGNALS:
        return []
    encryption = suite.get("encryption")
    found = [str(encryption)] if encryption in _WEAK_ENCRYPTION else []
    if encryption == "NULL":
        found.append("not encrypted")
    if "EXPORT" in str(suite.get("key_exchange")):
        found.append("made weak for export")
    if suite.get("authentication") == "anon":
        found.append("anonymous")
    return found


def mark(suite: Mapping[str, Any]) -> str:
    """The gravest that there is to say.

    >>> mark({"encryption": "AES", "pfs": "no"}), mark({"encryption": None, "pfs": None})
    ('no forward secrecy', 'not known')
    """
    if weaknesses(suite):
        return WEAK
    if suite.get("cipher") in _SIGNALS:
        return NOT_KNOWN
    return {"no": WITHOUT_PFS, "yes": WITH_PFS}.get(str(suite.get("pfs")), NOT_KNOWN)


def is_without_pfs(suite: Mapping[str, Any]) -> bool:
    """Whether it is known to have no forward secrecy, be it weak or not."""
    return suite.get("pfs") == "no" and suite.get("cipher") not in _SIGNALS
