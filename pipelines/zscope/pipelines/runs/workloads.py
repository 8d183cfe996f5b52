"""The names of workloads of benchmark runs, such as `CRR40(64B/8kB)`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import pyparsing as pp

from zscope.schemas.errors import Error

WorkloadKind = Literal["CRR", "RR", "STR"]
DEFAULT_KB = 1000
"""Bytes in a kB; a MB has as many kB."""
_MAX_DIGITS = 12
"""Keeps every number of bytes within the range of its column."""


class WorkloadError(Error, ValueError):
    """An invalid name of a workload, with the position and what was expected there."""

    def __init__(self, text: str, column: int, expected: str) -> None:
        self.text = text
        self.column = column
        """Counted from 1."""
        self.expected = expected
        rest = text[column - 1 :]
        got = repr(rest[:20]) if rest.strip() else "the end of the name"
        super().__init__(f"{text!r} is not a workload: expected {expected} at column {column}, got {got}")


@dataclass(frozen=True, slots=True)
class BenchmarkWorkload:
    """What the clients of a workload do, and the bytes of a transaction each way."""

    kind: WorkloadKind
    """CRR: connect, request, reply, close. RR: requests on open connections. STR: bulk data."""
    clients: int
    client_bytes: int
    """Bytes that a client sends per transaction."""
    server_bytes: int
    """Bytes that the server sends per transaction."""


def parse_workloads(text: str, kb: int = DEFAULT_KB) -> tuple[BenchmarkWorkload, ...]:
    """Parse the name of a workload, or of several that run at the same time, joined by a plus sign.

    `kb` is the number of bytes in a kB, 1000 or 1024.

    >>> parse_workloads("CRR40(64B/8kB)")
    (BenchmarkWorkload(kind='CRR', clients=40, client_bytes=64, server_bytes=8000),)
    >>> [part.server_bytes for part in parse_workloads("RR10(4kB) + STR1(5MB/1B)", kb=1024)]
    [4096, 1]
    >>> parse_workloads("CRR40")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zscope.pipelines.runs.workloads.WorkloadError: 'CRR40' is not a workload: expected '(' ...
    """
    return tuple(_to_workload(part, kb) for part in _parsed(text))


def _parsed(text: str) -> pp.ParseResults:
    try:
        return _grammar().parse_string(text)
    except pp.ParseBaseException as error:
        at = error.loc + len(text[error.loc :]) - len(text[error.loc :].lstrip())
        raise WorkloadError(text, at + 1, error.msg.removeprefix("Expected ")) from None


def _to_workload(part: pp.ParseResults, kb: int) -> BenchmarkWorkload:
    units = {"B": 1, "kB": kb, "MB": kb * kb}
    sizes = [number * units[unit] for number, unit in part["sizes"]]
    return BenchmarkWorkload(part["kind"], part["clients"], sizes[0], sizes[-1])


@cache
def _grammar() -> pp.ParserElement:
    end = pp.StringEnd().set_name("the end of the name")
    return _part() + pp.ZeroOrMore(pp.Suppress("+") - _part()) + end


def _part() -> pp.ParserElement:
    """Return the grammar of one workload; after its kind there is no backtracking, so errors are precise."""
    kind = pp.Regex("CRR|STR|RR")("kind").set_name("CRR, RR or STR")
    opening, closing = pp.Suppress("("), pp.Suppress(")")
    number = _number("a number of clients")("clients")
    clients = (number | opening + number + closing).set_name("a number of clients")
    size = pp.Group(_number("a size") - pp.one_of("B kB MB").set_name("B, kB or MB"))
    sizes = pp.Group(size - pp.Opt(pp.Suppress("/") - size))("sizes")
    return pp.Group(kind - clients - opening - sizes - closing)


def _number(name: str) -> pp.ParserElement:
    digits = pp.Regex(rf"[1-9][0-9]{{0,{_MAX_DIGITS - 1}}}(?![0-9])").set_name(f"{name} from 1 on")
    return digits.set_parse_action(pp.token_map(int))
