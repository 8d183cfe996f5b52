"""The operators in the SQL of metrics that can be replaced by wrong ones, and the metrics with a wrong one.

The SQL of a metric is its SQL file with the conditions of its checks, the expressions of its calculated
columns, and the functions that combine its columns. Comments, texts and quoted names have no operators. What
DuckDB could not read with another operator is left out: the AND of BETWEEN, a sign, the asterisk for all
columns, and `coalesce` with three values.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec.structs import replace

from zscope.pipelines.metrics import declared, macros_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zscope.pipelines.metrics import Metric, MetricColumn

MACROS = "macros"
_WRONG = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "*",
    "sum": "max", "and": "OR", "or": "AND", "coalesce": "nullif",
}  # fmt: skip
_TOKEN = re.compile(
    r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|\w+|<=|>=|<>|->|\*\*|::|\|\||//|[^\s\w]",
)
_NO_VALUE = {
    "select", "distinct", "case", "when", "then", "else", "and", "or", "not", "between", "where", "by", "as",
}  # fmt: skip
"""Words after which a sign or an asterisk has no value on its left."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the SQL of a metric."""

    of: str
    """The metric, or `macros`."""
    part: str
    """`sql`, or a column that is calculated or combined by a declaration."""
    begin: int
    end: int
    wrong: str
    """What it is replaced by."""
    line: str
    """Its line, and lines around it if there are several such lines, with single blanks."""
    wrong_line: str

    def __str__(self) -> str:
        return f"{self.of}, {self.part}: {self.line}  ->  {self.wrong_line}"


def operators() -> list[Operator]:
    """Return all operators that can be replaced: those of the macros, then those of each metric."""
    texts = {(MACROS, "sql"): macros_sql()}
    for name in sorted(set(declared()) - set(_likes())):
        texts |= {(name, part): text for part, text in _texts(declared()[name]).items()}
    return [operator for (of, part), text in texts.items() for operator in _operators(of, part, text)]


def with_wrong(operator: Operator) -> dict[str, Metric]:
    """Return the metrics with a wrong operator: one, and those that are like it with other inputs."""
    place = places(_texts(declared()[operator.of])[operator.part]).index((operator.begin, operator.end))
    alike = [operator.of, *(name for name, base in _likes().items() if base == operator.of)]
    return {name: _changed(declared()[name], operator, place) for name in alike}


def macros_with_wrong(operator: Operator) -> str:
    """Return the statements of the macros with a wrong operator."""
    return _replaced(macros_sql(), operator.begin, operator.end, operator.wrong)


def metrics_with_macro(operator: Operator) -> set[str]:
    """Return the metrics that use the macro with this operator, or another macro that uses it."""
    macros = re.split(r"^CREATE OR REPLACE MACRO ", macros_sql()[operator.begin :], flags=re.MULTILINE)
    [name] = re.findall(r"^CREATE OR REPLACE MACRO (\w+)", macros_sql()[: operator.begin], re.MULTILINE)[-1:]
    changed = {name}
    for macro in macros[1:]:  # a macro uses only macros above it
        if _calls(macro, changed):
            changed.add(macro[: macro.index("(")])
    return {
        name for name, metric in declared().items() if _calls("\n".join(_texts(metric).values()), changed)
    }


def _calls(sql: str, macros: set[str]) -> bool:
    return any(re.search(rf"\b{macro}\(", sql) for macro in macros)


@cache
def _likes() -> Mapping[str, str]:
    """The steps that do the same as another one, and this one."""
    folder = files("zscope.pipelines.metrics")
    contents = {
        name: tomllib.loads((folder / metric.subject / f"{name}.toml").read_text(encoding="utf-8"))
        for name, metric in declared().items()
    }
    return {name: content["like"] for name, content in contents.items() if "like" in content}


def _texts(metric: Metric) -> dict[str, str]:
    columns = {column.name: text for column in metric.columns if (text := _column_text(column))}
    return {"sql": metric.sql, **columns}


def _column_text(column: MetricColumn) -> str:
    return f"{column.combine}({column.name})" if column.combine else column.source


def _changed(metric: Metric, operator: Operator, place: int) -> Metric:
    text = _texts(metric)[operator.part]
    begin, end = places(text)[place]
    wrong = _replaced(text, begin, end, operator.wrong)
    if operator.part == "sql":
        return replace(metric, sql=wrong)
    columns = (
        _with_text(column, wrong) if column.name == operator.part else column for column in metric.columns
    )
    return replace(metric, columns=tuple(columns))


def _with_text(column: MetricColumn, wrong: str) -> MetricColumn:
    if column.combine:
        return replace(column, combine="max")
    return replace(column, source=wrong)


def _replaced(text: str, begin: int, end: int, wrong: str) -> str:
    return text[:begin] + wrong + text[end:]


def _operators(of: str, part: str, text: str) -> Iterator[Operator]:
    for begin, end in places(text):
        wrong = _WRONG[text[begin:end].lower()]
        first, last = _lines_around(text, begin, end)
        wrong_lines = _replaced(text[first:last], begin - first, end - first, wrong)
        yield Operator(of, part, begin, end, wrong, _one_line(text[first:last]), _one_line(wrong_lines))


def _lines_around(text: str, begin: int, end: int) -> tuple[int, int]:
    """Begin and end of the line of an operator, with as many lines around it as make it unique."""
    while True:
        begin = text.rfind("\n", 0, max(begin, 0)) + 1
        end = text.find("\n", end) % (len(text) + 1)
        if text.count(text[begin:end]) == 1:
            return begin, end
        begin, end = begin - 1, min(end + 1, len(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def places(text: str) -> list[tuple[int, int]]:
    """Return begin and end of each operator of a text."""
    tokens = [match for match in _TOKEN.finditer(text) if not match[0].startswith("--")]
    words = [match[0].lower() for match in tokens]
    of_between = set(_ands_of_between(words))
    return [
        tokens[number].span()
        for number, word in enumerate(words)
        if word in _WRONG and number not in of_between and _is_operator(words, number)
    ]


def _is_operator(words: Sequence[str], number: int) -> bool:
    word = words[number]
    before = words[number - 1] if number else "("
    if word in {"+", "-", "*", "/"}:
        return (before in {")", "]"} or before[-1] == "'" or before.isidentifier() or before.isdigit()) and (
            before not in _NO_VALUE
        )
    if word in {"sum", "coalesce"}:
        return words[number + 1] == "(" and (word == "sum" or _arguments(words[number + 1 :]) == 2)
    return not (word == "or" and before == "create")


def _ands_of_between(words: Sequence[str]) -> Iterator[int]:
    open_at: dict[int, int] = defaultdict(int)
    depth = 0
    for number, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word == "between":
            open_at[depth] += 1
        elif word == "and" and open_at[depth]:
            open_at[depth] -= 1
            yield number


def _arguments(words: Sequence[str]) -> int:
    """The number of values in the parentheses that these words begin with."""
    depth, commas = 0, 0
    for word in words:
        depth += (word in {"(", "[", "{"}) - (word in {")", "]", "}"})
        commas += word == "," and depth == 1
        if depth == 0:
            break
    return commas + 1
