"""Regular expressions of the project use no construct that Python 3.11.0 to 3.11.4 evaluates wrongly.

Possessive quantifiers (`a++`, `a*+`, `a?+`, `a{1,3}+`) and atomic groups (`(?>a)`) are new in Python 3.11.
Before 3.11.5 the engine does not restore its position after a failed attempt inside them:
`x(?: ++(?!b:)[^ ]++)*+` matches `x a b:` in `x a b: c`, where `x a` is right. Debian 12 ships 3.11.2.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("schemas", "parsers", "pipelines", "sample-data", "app", "benchmarks", "tests", ".ci")
SOURCES = [
    path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) if path != Path(__file__)
]
MARKS = ("++", "*+", "?+", "}+", "(?>")
"""One of these is in every pattern with a forbidden construct."""
FORBIDDEN = {"POSSESSIVE_REPEAT": "a possessive quantifier", "ATOMIC_GROUP": "an atomic group"}
MOST_VARIANTS = 64
PLACEHOLDER = "x"
"""Stands for a part of a pattern that is known only at run time."""

Assignments = Mapping[str, list[ast.expr]]


def forbidden_constructs(pattern: str | bytes) -> set[str]:
    """Return the forbidden constructs in a pattern; a text that is no pattern has none."""
    try:
        parsed = _parser.parse(pattern)
    except (_parser.error, OverflowError):
        return set()
    return {FORBIDDEN[name] for name in _opcodes(parsed) if name in FORBIDDEN}


def _opcodes(node: Any) -> Iterator[str]:  # noqa: ANN401 - the parser documents no types
    if isinstance(node, (_parser.SubPattern, list, tuple)):
        for part in node:
            yield from _opcodes(part)
    elif hasattr(node, "name"):
        yield node.name


def strings_in(source: str) -> Iterator[tuple[int, str | bytes]]:
    """Yield each string of a module that may be a forbidden pattern, with its line; docstrings are left out.

    A pattern can reach `re` or `Regex` of pyparsing through other functions, so every string counts. Names in
    f-strings and sums are replaced by the strings that the module assigns to them, in all variants.
    """
    tree = ast.parse(source)
    assigned: dict[str, list[ast.expr]] = {}
    docstrings: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.Expr):
            docstrings.add(node.value)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)) and node not in docstrings:
            for text in _texts(node, assigned, frozenset()):
                if any(mark in (text if isinstance(text, str) else text.decode("latin-1")) for mark in MARKS):
                    yield node.lineno, text


def _texts(node: ast.expr, assigned: Assignments, seen: frozenset[str]) -> list[Any]:
    """Return the strings that an expression can be, with placeholders for what is not known."""
    texts: list[Any] = [PLACEHOLDER]
    match node:
        case ast.Constant(value=str() | bytes()):
            texts = [node.value]
        case ast.Name(id=name) if name in assigned and name not in seen:
            texts = [text for value in assigned[name] for text in _texts(value, assigned, seen | {name})]
        case ast.FormattedValue(value=value):
            texts = _texts(value, assigned, seen)
        case ast.JoinedStr(values=values):
            texts = _joined([_texts(value, assigned, seen) for value in values])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            texts = _joined([_texts(left, assigned, seen), _texts(right, assigned, seen)])
    return texts[:MOST_VARIANTS]


def _joined(parts: list[list[Any]]) -> list[Any]:
    combinations = itertools.islice(itertools.product(*parts), MOST_VARIANTS)
    return [
        "".join(part if isinstance(part, str) else PLACEHOLDER for part in texts) for texts in combinations
    ]


@pytest.mark.deep
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_pattern_has_a_construct_that_early_python_311_evaluates_wrongly(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {pattern!r} has {' and '.join(sorted(constructs))}"
        for path in SOURCES
        if path.is_relative_to(ROOT / folder)
        for line, pattern in strings_in(path.read_text(encoding="utf-8"))
        if (constructs := forbidden_constructs(pattern))
    ]
    assert not wrong, "forbidden, as Python before 3.11.5 evaluates it wrongly:\n" + "\n".join(wrong)


@pytest.mark.parametrize("quantifier", ["++", "*+", "?+", "{1,3}+"])
def test_possessive_quantifiers_are_detected(quantifier: str) -> None:
    assert forbidden_constructs(f"(?:x|(y{quantifier}))z") == {"a possessive quantifier"}


def test_atomic_groups_are_detected() -> None:
    assert forbidden_constructs(b"a(?=(?>b|c))") == {"an atomic group"}


@pytest.mark.parametrize("pattern", ["[*+@-]+", r"a\++", r"\*+ ?x", "(?:a+)+", "not a pattern ("])
def test_other_patterns_are_accepted(pattern: str) -> None:
    assert forbidden_constructs(pattern) == set()


def test_patterns_made_of_named_parts_are_checked_as_a_whole() -> None:
    source = 'PART = "a+"\nWHOLE = f"({PART}+){unknown}"\nx = compiled(WHOLE + "b")\n'
    assert [pattern for _, pattern in strings_in(source)] == ["(a++)x", "(a++)xb"]
