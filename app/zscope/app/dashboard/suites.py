"""The rating of a cipher suite: weak, no forward secrecy, forward secrecy, not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

WEAK, WITHOUT_PFS, WITH_PFS, NOT_KNOWN = "weak", "no forward secrecy", "forward secrecy", "not known"
SHAPES = {WEAK: "▲", WITHOUT_PFS: "◆", WITH_PFS: "●", NOT_KNOWN: "○"}
"""The ratings, the worst first, each with its own shape."""
_WEAK_ENCRYPTION = ("3DES", "RC4", "DES", "RC2")
_SIGNALS = ("00FF", "5600")
"""Signalling values of a handshake, which are listed among the suites but are not suites."""


_SIGNAL_SQL = f"coalesce(cipher, '') NOT IN {_SIGNALS}"
WEAK_SQL = (
    f"{_SIGNAL_SQL} AND (encryption IN {(*_WEAK_ENCRYPTION, 'NULL')} OR contains(key_exchange, 'EXPORT') "
    "OR authentication = 'anon')"
)
WITHOUT_PFS_SQL = f"{_SIGNAL_SQL} AND pfs = 'no'"
"""The same ratings as conditions in SQL on the columns of `cipher_distribution`."""


def weaknesses(suite: Mapping[str, Any]) -> list[str]:
    """Return what makes a suite weak, in words; empty if it is not weak.

    >>> weaknesses({"cipher": "0003", "encryption": "RC4", "key_exchange": "RSA_EXPORT"})
    ['RC4', 'export strength']
    """
    if suite.get("cipher") in _SIGNALS:
        return []
    encryption = suite.get("encryption")
    reasons = [str(encryption)] if encryption in _WEAK_ENCRYPTION else []
    if encryption == "NULL":
        reasons.append("not encrypted")
    if "EXPORT" in str(suite.get("key_exchange")):
        reasons.append("export strength")
    if suite.get("authentication") == "anon":
        reasons.append("anonymous")
    return reasons


def mark(suite: Mapping[str, Any]) -> str:
    """Return the rating of a suite.

    >>> mark({"encryption": "AES", "pfs": "no"}), mark({"encryption": None, "pfs": None})
    ('no forward secrecy', 'not known')
    """
    if weaknesses(suite):
        return WEAK
    if suite.get("cipher") in _SIGNALS:
        return NOT_KNOWN
    return {"no": WITHOUT_PFS, "yes": WITH_PFS}.get(str(suite.get("pfs")), NOT_KNOWN)


def is_without_pfs(suite: Mapping[str, Any]) -> bool:
    """Return whether a suite is known to have no forward secrecy, whether it is weak or not."""
    return suite.get("pfs") == "no" and suite.get("cipher") not in _SIGNALS
