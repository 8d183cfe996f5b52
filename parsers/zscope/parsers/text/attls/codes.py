"""Codes of cipher suites, groups and signature pairs in policies and messages."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from zscope.schemas.attls import attls_defaults
from zscope.schemas.code_tables import cipher_suites

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP_LISTS = frozenset({"CLIENTECURVES", "SERVERKEXECURVES", "CLIENTKEYSHAREGROUPS", "SERVERKEYSHAREGROUPS"})
CIPHER_LISTS = frozenset({"V3CIPHERSUITES", "V3CIPHERSUITES4CHAR"})
PAIR_LISTS = frozenset({"SIGNATUREPAIRS", "SIGNATUREPAIRSCERT", "OCSPREQUESTSIGALG"})
LISTS = GROUP_LISTS | CIPHER_LISTS | PAIR_LISTS | {"V2CIPHERSUITES"}
_FOUR = re.compile(r"[0-9A-Fa-f]{4}(?![^ ])", re.ASCII)
_TWO = re.compile(r"[0-9A-Fa-f]{2}(?![^ ])", re.ASCII)
_TOGETHER = re.compile(r"(?:[0-9A-Fa-f]{4}){2,256}", re.ASCII)


def member_code(parameter: str, text: str) -> str | None:
    """Return the digits of a member of a list, from the digits or the name; None for other parameters.

    >>> member_code("ClientECurves", "x25519"), member_code("v3CipherSuites", "2F")
    ('0029', '002F')
    >>> member_code("ClientKeyShareGroups", "4588 X25519MLKEM768")
    '4588'
    """
    name = parameter.upper()
    if name not in LISTS:
        return None
    if digits := _FOUR.match(text):
        return digits[0].upper()
    if name in CIPHER_LISTS:
        if digits := _TWO.match(text):
            return f"00{digits[0].upper()}"
        return _cipher_codes().get(text.strip().upper())
    return _group_codes().get(text.strip().upper()) if name in GROUP_LISTS else None


def lacks_code(parameter: str, text: str) -> bool:
    """Return whether a member should have a code and has none; unknown names of groups are accepted.

    >>> lacks_code("V3CipherSuites4Char", "C02FX"), lacks_code("ClientECurves", "X25519NEW")
    (True, False)
    """
    name = parameter.upper()
    if name not in GROUP_LISTS | CIPHER_LISTS or member_code(name, text):
        return False
    return name in CIPHER_LISTS or not text[:1].isalpha()


def split_members(parameter: str, text: str) -> list[str]:
    """Return the members of a list that are run together in one text.

    >>> split_members("V3CipherSuites4Char", "1301C02F"), split_members("SignaturePairs", "0601")
    (['1301', 'C02F'], ['0601'])
    """
    if parameter.upper() in LISTS - {"V3CIPHERSUITES"} and _TOGETHER.fullmatch(text):
        return [text[at : at + 4] for at in range(0, len(text), 4)]
    return [text]


@cache
def _cipher_codes() -> Mapping[str, str]:
    return {suite.name.upper(): suite.code for suite in cipher_suites().values()}


@cache
def _group_codes() -> Mapping[str, str]:
    names: dict[str, str] = {}
    for code, name in attls_defaults().groups.items():
        names.setdefault(name.upper(), code)
    return names
