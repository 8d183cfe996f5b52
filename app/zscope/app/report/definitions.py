"""The end of a report: what each number means, by the declarations of the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.app.report.elements import add, add_lines
from zscope.app.report.report_tables import heading
from zscope.pipelines.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from zscope.app.report.section_declarations import PartDeclaration


def add_definitions(body: Element, parts: Iterable[PartDeclaration]) -> None:
    """Add the definitions of the metrics that some parts show."""
    shown: dict[str, list[str]] = {}
    for part in parts:
        if part.metric:
            shown.setdefault(part.metric, []).extend(part.columns)
    section = add(body, "section", id="definitions")
    add(section, "h2", "Definitions")
    add(section, "p", "What the numbers mean, from the declarations of the metrics.")
    for name, columns in shown.items():
        _definition(section, name, list(dict.fromkeys(columns)))


def _definition(section: Element, name: str, columns: list[str]) -> None:
    definition = metric(name)
    add(section, "h3", definition.title)
    terms = add(section, "dl")
    _term(terms, "Metric", name)
    _term(terms, "Question", definition.question)
    if definition.formula:
        add(terms, "dt", "Formula")
        add_lines(add(terms, "dd"), "pre", definition.formula.strip())
    known = {column.name: column for column in definition.columns}
    add(terms, "dt", "Columns")
    listed = add(add(terms, "dd"), "ul")
    for column in columns:
        if column in known:
            unit = f" ({known[column].unit})" if known[column].unit else ""
            item = add(listed, "li")
            add(item, "b", heading(column))
            add_lines(item, "span", f"{unit}: {plain_meaning(known[column].meaning)}")
    if definition.sources:
        _term(terms, "Sources", definition.sources)
    if definition.limits:
        add(terms, "dt", "Limits")
        limits = add(add(terms, "dd"), "ul")
        for limit in definition.limits:
            add_lines(limits, "li", plain_meaning(limit))


def _term(terms: Element, name: str, text: str) -> None:
    add(terms, "dt", name)
    add_lines(terms, "dd", plain_meaning(text))


def plain_meaning(text: str) -> str:
    """Return a text of a declaration in one line, without the marks of code."""
    return " ".join(text.replace("`", "").split())
