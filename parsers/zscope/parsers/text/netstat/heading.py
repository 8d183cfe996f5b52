"""The first line of a NETSTAT report: who printed it, and at what time of day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import pyparsing as pp

if TYPE_CHECKING:
    from zscope.parsers.text.report import Line

_LONGEST = 200
"""No heading is longer; what is beyond that is not looked at."""


class Form(StrEnum):
    """Which of the headings it is."""

    TERMINAL = "terminal"
    CONSOLE = "console"
    ZVM = "zvm"


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says; None where it says nothing, or where what it says may be cut short."""

    form: Form
    release: str | None = None
    stack: str | None = None
    clock: str | None = None
    """Time of day as it is printed; the console prints none."""
    rest: str = ""
    """What stands behind it and is no part of it."""
    line_count: int = 1
    """Two where a narrow screen wrapped it."""

    @property
    def whole(self) -> bool:
        """Whether it has all its parts and nothing else."""
        last = self.clock if self.form is Form.TERMINAL else self.stack
        return self.form is Form.ZVM or (last is not None and not self.rest)


def _words(text: str) -> pp.ParserElement:
    return pp.And([pp.CaselessLiteral(word) for word in text.split()]).suppress()


_ID = pp.Opt(pp.Regex(r"(?i)EZ[ZD]\d{4}[A-Z](?!\S)").suppress())
_RELEASE = pp.Regex(r"(?i)(V\d{1,2}R\d{1,2}|\d{1,2}\.\d{1,2})(?!\S)")("release")
_STACK = pp.Regex(r"(?i)[A-Z@#$][A-Z0-9@#$]{0,7}(?!\S)")("stack")
_CLOCK = pp.Regex(r"\d\d:\d\d:\d\d(?!\S)")("clock")
_CONNECTOR = pp.Opt(pp.Regex(r"\d{1,4}(?!\S)").suppress())
_REST = pp.Regex(r".*")("rest")
_NAMED = _words("TCPIP NAME :") + _STACK

_FORMS: dict[Form, pp.ParserElement] = {
    Form.TERMINAL: _ID
    + _words("MVS TCP/IP NETSTAT CS")
    + pp.Opt(_RELEASE + pp.Opt(_NAMED + pp.Opt(_CLOCK)))
    + _REST,
    Form.CONSOLE: _ID + _words("NETSTAT CS") + pp.Opt(_RELEASE + pp.Opt(_STACK + _CONNECTOR)) + _REST,
    Form.ZVM: _words("VM TCP/IP NETSTAT") + _REST,
}


def read_heading(lines: Sequence[Line]) -> Heading | None:
    """The heading with which these lines begin; None if they begin with something else.

    >>> from zscope.parsers.text.report import Line
    >>> read_heading([Line(1, "EZD0101I NETSTAT CS 3.1 TCPIPA 087")]).stack
    'TCPIPA'
    """
    first = _read(lines[0].text)
    if first is None or first.whole:
        return first
    if len(lines) > 1:
        joined = _read(f"{lines[0].text} {lines[1].text}", line_count=2)
        if joined is not None and joined.whole:
            return joined
    return _without_last(first)


def _read(text: str, line_count: int = 1) -> Heading | None:
    for form, element in _FORMS.items():
        try:
            parts = element.parse_string(text[:_LONGEST]).as_dict()
        except pp.ParseException:
            continue
        release, stack, clock = (parts.get(name) for name in ("release", "stack", "clock"))
        return Heading(form, release, stack, clock, parts["rest"].strip(), line_count)
    return None


def _without_last(heading: Heading) -> Heading:
    """Leave out what stands at the end of a heading that ends too early: it may be half a name."""
    if heading.rest:
        return heading
    release = heading.release if heading.stack else None
    return Heading(heading.form, release=release)
