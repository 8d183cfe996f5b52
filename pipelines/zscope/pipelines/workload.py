"""Names of benchmark workloads: `CRR40(64B/8kB)` is forty clients that send 64 bytes and get 8 kB back.

The published reports name their workloads so. Some put the number of clients in parentheses, some a blank
before the sizes, and a few run two workloads at once: `RR10(4kB) + STR1(5MB/1B)`. They do not say how many
bytes a kB has; the paper on TLS with z/OS 3.1 gives 8000 bytes for what it names 8kB, so that is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import pyparsing as pp

Kind = Literal["CRR", "RR", "STR"]
DEFAULT_KB = 1000
"""Bytes in a kB; a MB has as many kB."""
_MOST_DIGITS = 12
"""So that every number of bytes fits into a column."""


class WorkloadError(ValueError):
    """A name that is no workload: where reading stopped, and what was expected there."""

    def __init__(self, text: str, column: int, expected: str) -> None:
        self.text = text
        self.column = column
        """Counted from 1."""
        self.expected = expected
        rest = text[column - 1 :]
        there = f"{rest[:20]!r} stands" if rest.strip() else "the name ends"
        super().__init__(f"{text!r} is no workload: {there} at column {column} where {expected} was expected")


@dataclass(frozen=True, slots=True)
class Workload:
    """What the clients of a workload do, and how many bytes a transaction carries each way."""

    kind: Kind
    """CRR: connect, request, reply, close. RR: requests on connections that stay open. STR: bulk data."""
    clients: int
    client_bytes: int
    """What a client sends for one transaction."""
    server_bytes: int
    """What the server sends for it."""

    @property
    def transaction_bytes(self) -> int:
        """What one transaction carries, both ways together."""
        return self.client_bytes + self.server_bytes


def parse_workload(text: str, kb: int = DEFAULT_KB) -> Workload:
    """The workload of this name; `kb` says how many bytes a kB has, 1000 or 1024.

    >>> parse_workload("CRR40(64B/8kB)")
    Workload(kind='CRR', clients=40, client_bytes=64, server_bytes=8000)
    >>> parse_workload("RR60(4kB)", kb=1024).server_bytes
    4096
    >>> parse_workload("CRR40")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zscope.pipelines.workload.WorkloadError: 'CRR40' is no workload: ... column 6 where '(' was expected
    """
    return _workload(_parsed(_one(), text)[0], kb)


def parse_workloads(text: str, kb: int = DEFAULT_KB) -> tuple[Workload, ...]:
    """The workloads that run at the same time under this name, joined by a plus sign; mostly one.

    >>> [part.kind for part in parse_workloads("RR10(4kB) + STR1(5MB/1B)")]
    ['RR', 'STR']
    """
    return tuple(_workload(part, kb) for part in _parsed(_several(), text))


def _parsed(grammar: pp.ParserElement, text: str) -> pp.ParseResults:
    try:
        return grammar.parse_string(text)
    except pp.ParseBaseException as error:
        at = error.loc + len(text[error.loc :]) - len(text[error.loc :].lstrip())
        raise WorkloadError(text, at + 1, error.msg.removeprefix("Expected ")) from None


def _workload(part: pp.ParseResults, kb: int) -> Workload:
    units = {"B": 1, "kB": kb, "MB": kb * kb}
    sizes = [number * units[unit] for number, unit in part["sizes"]]
    return Workload(part["kind"], part["clients"], sizes[0], sizes[-1])


@cache
def _one() -> pp.ParserElement:
    return _part() + _end()


@cache
def _several() -> pp.ParserElement:
    return _part() + pp.ZeroOrMore(pp.Suppress("+") - _part()) + _end()


def _part() -> pp.ParserElement:
    """One workload. Behind its kind everything is expected in turn, so an error is told where it is."""
    kind = pp.Regex("CRR|STR|RR")("kind").set_name("CRR, RR or STR")
    opening, closing = pp.Suppress("("), pp.Suppress(")")
    number = _number("a number of clients")("clients")
    clients = (number | opening + number + closing).set_name("a number of clients")
    size = pp.Group(_number("a size") - pp.one_of("B kB MB").set_name("B, kB or MB"))
    sizes = pp.Group(size - pp.Opt(pp.Suppress("/") - size))("sizes")
    return pp.Group(kind - clients - opening - sizes - closing)


def _number(name: str) -> pp.ParserElement:
    digits = pp.Regex(rf"[1-9][0-9]{{0,{_MOST_DIGITS - 1}}}(?![0-9])").set_name(f"{name} from 1 on")
    return digits.set_parse_action(pp.token_map(int))


def _end() -> pp.ParserElement:
    return pp.StringEnd().set_name("the end of the name")
