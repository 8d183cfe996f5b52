"""A sentence with a figure about the data is a column of a metric; pages, reports and commands only print it.

A page shows its own figures as tiles and in tables. The rule finds an f-string with a number between words:
what a format writes as one, and what is counted or added in the same function.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

APP = Path(__file__).resolve().parents[2] / "app/zscope/app"
LEAST_WORDS = 3
COUNTING = {
    "len", "sum", "round", "count", "number", "percent", "amount", "counted", "quantity", "records_named",
    "records_and_coverage",
}  # fmt: skip
NUMBER = re.compile(r"[,.+]*\d*[defgn%]|,|[.,]\d.*|\W*\{.*\}[defgn%]")
PLAIN_FIGURES = {"tile", "metric", "picture", "folded", "expander"}
"""What shows a figure with its title, or describes what it draws: the number is in its title or help."""
EXCEPTIONS = {
    "cli": "what a command has read, written or found, and how long that took",
    "dashboard/pages/workbench": "rows and time of a query of the reader",
    "dashboard/pages/quality/validation.py": "the name of a run of zscope validate",
    "dashboard/pages/fields.py": "rows of the catalogue of fields that a search finds",
    "dashboard/pages/connections/connections_page.py": "which rows of a list are shown",
    "dashboard/pages/posture/findings.py": "which rows of a list are shown",
    "dashboard/pages/overview/key_figures.py": "the records that a figure comes from, below it",
    "dashboard/pages/tls_price/what_if.py": "the price with the numbers of the sliders, which no metric has",
    "dashboard/protection_records.py": "records, and how much of the hours they cover",
    "report": "the number of rows that a table shows",
    "screen_picture.py": "places of shapes in a picture",
    "shared/covered_days.py": "the days of a source in words, from rows of coverage by day",
}


"""Modules, by the beginning of their path, with what their figures are about."""
FOUND = (
    """st.caption(f"{count:,} of {whole:,} connections have none.")""",
    """st.caption(f"The share is {number(value, 1, '%')} of all.")""",
    """words = f"There are {len(rows)} systems without a price."\n    st.caption(words)""",
    """lost = sum(rows)\n    st.caption(f"At least {lost} hours are lost.")""",
    """text = f"a change of {change:.{digits}f} % is more than noise\"""",
)
PLAIN = (
    """tile(column, data, "Lost", f"{lost:,}", None, f"{lost:,} of {all:,} hours of the system.")""",
    """st.caption(f"The page shows at most {MOST_ROWS:,} rows of a table.")""",
    """st.caption(f"From {begin:%Y-%m-%d} to {end:%Y-%m-%d} on all systems.")""",
    """grid(rows, f"{len(rows)} rows")""",
)


def found_in(source: str) -> list[str]:
    """Return the f-strings of a module that put a number between words."""
    tree = ast.parse(source)
    plain = {
        id(inner)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _name(call) in PLAIN_FIGURES
        for inner in ast.walk(call)
    }
    return [
        ast.unparse(text)
        for scope in _functions(tree)
        for text in ast.walk(scope)
        if isinstance(text, ast.JoinedStr) and id(text) not in plain and _is_sentence(text, _counts(scope))
    ]


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    yield from (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _counts(scope: ast.AST) -> set[str]:
    """The variables of a function that are counted or added."""
    return {
        target.id
        for each in ast.walk(scope)
        if isinstance(each, ast.Assign | ast.NamedExpr) and _is_count(each.value)
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Name)
    }


def _is_count(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):
        return _is_count(value.left) or _is_count(value.right)
    return isinstance(value, ast.Call) and _name(value) in COUNTING


def _is_sentence(text: ast.JoinedStr, counts: set[str]) -> bool:
    words = "".join(str(part.value) for part in text.values if isinstance(part, ast.Constant))
    if len(re.findall(r"\b[A-Za-z]{2,}\b", words)) < LEAST_WORDS:
        return False
    return any(isinstance(part, ast.FormattedValue) and _is_number(part, counts) for part in text.values)


def _is_number(part: ast.FormattedValue, counts: set[str]) -> bool:
    if isinstance(part.value, ast.Name) and part.value.id.isupper():
        return False  # a constant, such as the most rows of a table
    written = ast.unparse(part.format_spec)[2:-1] if part.format_spec else ""
    counted = isinstance(part.value, ast.Name) and part.value.id in counts
    return bool(NUMBER.fullmatch(written)) or counted or _is_count(part.value)


def _exception(path: Path) -> str | None:
    inside = path.relative_to(APP).as_posix()
    return next((reason for place, reason in EXCEPTIONS.items() if inside.startswith(place)), None)


@pytest.mark.parametrize("path", sorted(APP.rglob("*.py")), ids=lambda path: path.relative_to(APP).as_posix())
def test_no_module_composes_a_sentence_with_a_figure(path: Path) -> None:
    if _exception(path) is None:
        assert found_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("place", EXCEPTIONS)
def test_no_exception_is_left_over(place: str) -> None:
    paths = [path for path in APP.rglob("*.py") if path.relative_to(APP).as_posix().startswith(place)]
    assert any(found_in(path.read_text(encoding="utf-8")) for path in paths)


@pytest.mark.parametrize("line", FOUND)
def test_what_is_refused_is_found(line: str) -> None:
    assert found_in(f"def draw():\n    {line}\n")


@pytest.mark.parametrize("line", PLAIN)
def test_plain_figures_are_not_refused(line: str) -> None:
    assert found_in(f"def draw():\n    {line}\n") == []
