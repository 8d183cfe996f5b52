"""A parser of PromQL that returns which metrics and labels an expression uses.

It follows the grammar of Prometheus as far as instant and range selectors, functions, aggregations and binary
operators go; subqueries, `@` and native histograms are refused as unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""\s*(?:(?P<duration>\d+(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],]))"""
)
_AGGREGATIONS = {"sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile", "stddev", "group"}
_FUNCTIONS = {
    "time": 0, "sort": 1, "sort_desc": 1, "abs": 1, "absent": 1, "clamp_min": 2, "avg_over_time": 1,
    "max_over_time": 1, "min_over_time": 1, "sum_over_time": 1, "last_over_time": 1,
}  # fmt: skip
_LEVELS = (
    ("or",),
    ("and", "unless"),
    ("==", "!=", ">", "<", ">=", "<="),
    ("+", "-"),
    ("*", "/", "%"),
    ("^",),
)


class PromQLError(Exception):
    """The expression is not valid."""


@dataclass
class Use:
    """What an expression uses."""

    selectors: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Metrics, each with the values of its matchers."""
    grouped: list[tuple[str, str]] = field(default_factory=list)
    """Metrics, each with a label by which they are grouped or joined."""


def parse(text: str) -> Use:
    """Return the metrics and labels of an expression, or raise PromQLError."""
    parser = _Parser(text)
    use = parser.binary(0)
    parser.end()
    return use


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                raise PromQLError(f"unknown at {text[place:]!r}")
            assert match.lastgroup is not None
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        self._at = 0

    def end(self) -> None:
        if self._at != len(self._tokens):
            raise PromQLError(f"more after the end: {self._tokens[self._at :]}")

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place][1] if place < len(self._tokens) else ""

    def _take(self, *wanted: str, kind: str = "") -> str:
        if self._at >= len(self._tokens):
            raise PromQLError(f"ends where {wanted or kind} is expected")
        found, text = self._tokens[self._at]
        if (wanted and text not in wanted) or (kind and found != kind):
            raise PromQLError(f"{text!r} where {wanted or kind} is expected")
        self._at += 1
        return text

    def binary(self, level: int) -> Use:
        if level == len(_LEVELS):
            return self._unary()
        left = self.binary(level + 1)
        while self._peek() in _LEVELS[level]:
            self._take()
            if self._peek() == "bool":
                self._take()
            joined: list[str] = []
            if self._peek() in {"on", "ignoring"}:
                self._take()
                joined = self._names()
                if self._peek() in {"group_left", "group_right"}:
                    self._take()
                    if self._peek() == "(":
                        joined += self._names()
            left = _merged(left, self.binary(level + 1))
            left.grouped += [(metric, label) for metric, _ in left.selectors for label in joined]
        return left

    def _unary(self) -> Use:
        if self._peek() in {"-", "+"}:
            self._take()
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if kind == "number":
            self._take()
            return Use()
        if text == "(":
            self._take()
            inner = self.binary(0)
            self._take(")")
            return inner
        if kind != "name":
            raise PromQLError(f"{text!r} where a value is expected")
        self._take()
        if text in _AGGREGATIONS:
            return self._aggregation()
        if self._peek() == "(":
            if text not in _FUNCTIONS:
                raise PromQLError(f"unknown function {text}")
            arguments = self._arguments()
            if len(arguments) != _FUNCTIONS[text]:
                raise PromQLError(f"{text} takes {_FUNCTIONS[text]} arguments")
            return _merged(*arguments)
        return self._selector(text)

    def _aggregation(self) -> Use:
        labels = self._grouping()
        use = _merged(*self._arguments())
        labels += self._grouping()
        use.grouped += [(metric, label) for metric, _ in use.selectors for label in labels]
        return use

    def _grouping(self) -> list[str]:
        if self._peek() not in {"by", "without"}:
            return []
        self._take()
        return self._names()

    def _names(self) -> list[str]:
        self._take("(")
        names = []
        while self._peek() != ")":
            names.append(self._take(kind="name"))
            if self._peek() == ",":
                self._take()
        self._take(")")
        return names

    def _arguments(self) -> list[Use]:
        self._take("(")
        arguments = []
        while self._peek() != ")":
            arguments.append(self.binary(0))
            if self._peek() != ")":
                self._take(",")
        self._take(")")
        return arguments

    def _selector(self, metric: str) -> Use:
        matchers: dict[str, str] = {}
        if self._peek() == "{":
            self._take()
            while self._peek() != "}":
                label = self._take(kind="name")
                self._take("=", "!=", "=~", "!~")
                matchers[label] = self._take(kind="string")[1:-1]
                if self._peek() != "}":
                    self._take(",")
            self._take("}")
        if self._peek() == "[":
            self._take()
            self._take(kind="duration")
            self._take("]")
        if self._peek() == "offset":
            self._take()
            self._take(kind="duration")
        return Use([(metric, matchers)])


def _merged(*uses: Use) -> Use:
    return Use([s for use in uses for s in use.selectors], [g for use in uses for g in use.grouped])
