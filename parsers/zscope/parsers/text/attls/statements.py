"""The syntax of AT-TLS policy files: statements in braces, parameters, comments."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zscope.parsers.issues import Code
from zscope.parsers.text.report_rows import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zscope.parsers.text.captured_report import Line
    from zscope.parsers.text.report_rows import ReportRows

DEEPEST = 8
_PARTS = re.compile(r"[{}]|[^{}]+")
_RULE, _ACTIONS = "TTLSRULE", {"TTLSGROUPACTION", "TTLSENVIRONMENTACTION", "TTLSCONNECTIONACTION"}
_CARD = 72
"""Text columns of a record with a sequence number at its end."""
_NUMBERED = re.compile(r"(?:\d{8}|\d{6})(?=\D|$)", re.ASCII)
"""A sequence number at the front of a line."""


def without_number(text: str) -> str:
    """Return a line of a policy file without a sequence number at its front.

    >>> without_number("00010000TTLSRule PAY"), without_number("  TTLSRule PAY")
    ('TTLSRule PAY', '  TTLSRule PAY')
    """
    return _NUMBERED.sub("", text, count=1) if _NUMBERED.match(text) else text


class CodedParameter(NamedTuple):
    """A parameter with its value."""

    keyword: str
    value: str
    line: int

    @property
    def key(self) -> str:
        """Return the keyword for comparison."""
        return self.keyword.upper()


@dataclass(slots=True)
class Statement:
    """A statement with the parameters and statements in its braces."""

    keyword: str
    name: str
    """Empty for a statement without a name inside another one."""
    line: int
    parameters: list[CodedParameter] = field(default_factory=list)
    inner: list[Statement] = field(default_factory=list)
    used: bool = False
    """Whether another statement refers to it."""

    @property
    def key(self) -> str:
        """Return the keyword for comparison."""
        return self.keyword.upper()

    def all_lines(self) -> Iterator[int]:
        """Yield the lines of the statement and of everything in its braces."""
        waiting = [self]
        while waiting:
            each = waiting.pop()
            yield each.line
            yield from (parameter.line for parameter in each.parameters)
            waiting += each.inner

    @property
    def begins_anew(self) -> bool:
        """Whether it is never inside another statement: where it begins, all others have ended."""
        return self.key == _RULE or (self.key in _ACTIONS and self.name != "")


def read_statements(lines: Iterable[Line], out: ReportRows) -> tuple[list[Statement], list[CodedParameter]]:
    """Return the statements at the level of the file, and the parameters outside statements."""
    top = Statement("", "", 0)
    opened = [top]
    waiting: CodedParameter | None = None
    """The last text: a parameter, or the head of a statement if a brace follows."""
    for no, part in _parts(lines, out):
        if part == "{":
            if waiting is None or (len(opened) > DEEPEST and waiting.key != _RULE):
                out.issue(Code.UNKNOWN_LINE, "a brace opens no statement that can be read", no, 1)
                waiting = CodedParameter("unknown", "", no)
            statement = Statement(waiting.keyword, waiting.value, waiting.line)
            if len(opened) > 1 and statement.begins_anew:
                _report_unclosed(opened[1:], out)
                opened = [top]
            opened[-1].inner.append(statement)
            opened.append(statement)
            waiting = None
            continue
        if waiting is not None:
            opened[-1].parameters.append(waiting)
            waiting = None
        if part == "}":
            if len(opened) > 1:
                opened.pop()
            else:
                out.issue(Code.UNKNOWN_LINE, "a brace closes no statement; it is skipped", no, 1)
        else:
            keyword, _, value = part.partition(" ")
            waiting = CodedParameter(keyword, value.strip(), no)
    if waiting is not None:
        opened[-1].parameters.append(waiting)
    _report_unclosed(opened[1:], out)
    return top.inner, top.parameters


def _report_unclosed(statements: Iterable[Statement], out: ReportRows) -> None:
    for statement in statements:
        text = f"the statement {quoted(statement.keyword)} has no closing brace; its end may be missing"
        out.issue(Code.REPORT_CUT, text, statement.line, 1)


def _parts(lines: Iterable[Line], out: ReportRows) -> Iterator[tuple[int, str]]:
    """Yield braces and the texts between them, each with its line; comments are removed."""
    width: int | None = None
    """Digits of the sequence numbers at the front of lines: the first line shows whether there are any."""
    for line in lines:
        text = line.text.expandtabs()
        if width is None:
            width = len(text) - len(without_number(text))
        if width and text[:width].isdecimal():
            text = text[width:]
        if len(text) == _CARD + 8 and text[_CARD:].isdecimal():
            text = text[:_CARD]
        coded = text.partition("#")[0]
        if not coded.strip("{} "):
            out.furniture(line.no)
        for part in _PARTS.findall(coded):
            if plain := " ".join(part.split()):
                yield line.no, plain
