"""The ICSF services of the Crypto Hardware Activity listing: side by side, with rates and sizes below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyparsing as pp

from zscope.parsers.text.rmf.crypto_columns import FIGURE
from zscope.parsers.text.rmf.crypto_lines import last_is_shorter

if TYPE_CHECKING:
    from zscope.parsers.text.out import Out
    from zscope.parsers.text.report import Line

_CIPHERS = ("SDES", "TDES", "AES")
_GENERATE = ("GENERATE", "VERIFY")
SERVICES: dict[str, tuple[str, ...]] = {
    "ENCRYPTION": _CIPHERS,
    "DECRYPTION": _CIPHERS,
    "HASH": ("SHA-1", "SHA-256", "SHA-512"),
    "PIN": ("TRANSLATE", "VERIFY"),
    "MAC": _GENERATE,
    "AES MAC": _GENERATE,
    "RSA DSIG": _GENERATE,
    "ECC DSIG": _GENERATE,
    "QSA DSIG": _GENERATE,
    "FORMAT PRESERVING ENCRYPTION": ("ENCIPHER", "DECIPHER", "TRANSLATE"),
    "FFX": ("ENCIPHER", "DECIPHER", "TRANSLATE"),
}
"""What is printed below each name."""
_SIGNATURES = "DSIG"
_LONGEST = 400
_GROUPS = (
    pp.OneOrMore(
        pp.Suppress(pp.ZeroOrMore(pp.Word("-")))
        + pp.MatchFirst(
            [
                pp.Combine(pp.And([pp.CaselessKeyword(word) for word in name.split()]), " ", adjacent=False)
                for name in sorted(SERVICES, key=len, reverse=True)
            ]
        )
        + pp.Suppress(pp.ZeroOrMore(pp.Word("-")))
    )
    + pp.StringEnd()
)


def has_size(service: str) -> bool:
    """Whether the report gives a size: not for signatures.

    >>> has_size("RSA DSIG VERIFY")
    False
    """
    return _SIGNATURES not in service


class IcsfServices:
    """Takes the lines of this part one by one."""

    def __init__(self, out: Out) -> None:
        self._out = out
        self._groups: list[str] = []
        self._services: list[str] = []
        self._rates: tuple[int, dict[str, str]] | None = None

    def take(self, line: Line) -> bool:
        """Take a line; False if nothing is known of its kind."""
        words = line.text.upper().split()
        if words[0] in {"RATE", "SIZE"} and self._services:
            return self._figures(line, words[0], words[1:])
        if groups := _groups(line.text):
            self.finish()
            self._groups, self._services = groups, []
            return True
        return bool(self._groups) and not self._services and self._names(words)

    def finish(self) -> None:
        """What was read last is complete."""
        if self._rates:
            self._put({})
        self._services, self._groups = [], []

    def _names(self, words: list[str]) -> bool:
        expected = [(group, name) for group in self._groups for name in SERVICES[group]]
        if words != [name for _, name in expected]:
            return False
        self._services = [f"{group} {name}" for group, name in expected]
        return True

    def _figures(self, line: Line, kind: str, words: list[str]) -> bool:
        sized = [service for service in self._services if has_size(service)]
        services = sized if kind == "SIZE" and len(words) == len(sized) else self._services
        if len(words) != len(services) or not all(map(FIGURE.fullmatch, words)):
            return False
        if last_is_shorter(words):
            return False
        figures = dict(zip(services, words, strict=True))
        if kind == "RATE":
            if self._rates:
                return False
            self._rates = (line.no, figures)
        elif self._rates:
            self._put(figures, line.no)
        else:
            return False
        return True

    def _put(self, sizes: dict[str, str], size_line: int | None = None) -> None:
        if self._rates is None:
            return
        line, rates = self._rates
        self._rates = None
        for service, rate in rates.items():
            values = {"unit_kind": "icsf", "operation": service, "operation_rate": rate}
            lines = None
            if size_line is not None and service in sizes:
                values["average_size_bytes"] = sizes[service]
                lines = {"average_size_bytes": size_line}
            self._out.row("rmf_crypto", line, values, lines=lines)


def _groups(text: str) -> list[str]:
    if len(text) > _LONGEST:
        return []
    try:
        return [name.upper() for name in _GROUPS.parse_string(text)]
    except pp.ParseException:
        return []
