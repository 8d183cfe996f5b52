"""The page of a report."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from zscope.app.figures.drawn_values import not_compared
from zscope.app.figures.elements import add, add_lines, add_meta, add_text, document, written
from zscope.app.figures.figure_command import command_of
from zscope.app.figures.figure_declarations import heading
from zscope.app.figures.figure_rows import figure_rows
from zscope.app.figures.static_pictures import add_picture
from zscope.app.report.earlier_report import META, add_difference, keep
from zscope.app.report.owner_pages import rows_of_owners
from zscope.app.report.report_facts import store_facts
from zscope.app.report.report_sections import appendix_figures, glance_figures, owned_figures, report_sections
from zscope.app.report.report_tables import add_table
from zscope.app.shared.shown_statements import STATEMENT, more_words, shown_sql
from zscope.app.shared.written_values import shown
from zscope.pipelines.metrics import metric
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from xml.etree.ElementTree import Element

    from zscope.app.figures.figure_data import FigureData
    from zscope.app.figures.figure_declarations import FigureDeclaration
    from zscope.app.figures.figure_rows import FigureRows, Row
    from zscope.app.report.earlier_report import KeptReport
    from zscope.app.report.report_sections import ReportSection
    from zscope.app.shared.filters import Filters


_TITLE = "Report on TLS"
_APPENDIX = "Appendix of the report on TLS"
_OWNERS = "TLS by job"
_FIRST_ROWS = 6
"""Rows of a table in the report."""
_SYNTHETIC = "The store has synthetic data: its benchmark runs check the calculation, not the result."
STATEMENT_SECTIONS = {
    "price": "price", "saving": "advice", "exposure": "exposure", "old versions": "exposure",
    "certificates": "exposure", "change": "changes", "coverage": "data",
    "runs": "benchmark",
}  # fmt: skip
"""The section with the evidence of each statement."""


@dataclass(frozen=True, slots=True)
class Report:
    """A written report."""

    page: bytes
    """The HTML file."""
    failed: tuple[str, ...]
    """The parts whose rows could not be computed, each with the reason; the page says so as well."""


def write_report_page(
    data: FigureData, store: str, now: datetime, earlier: KeptReport | None = None
) -> Report:
    """Return the report about a store, whose name it shows, for the filters of the data.

    It begins with what is read first; each section has pictures, or the first rows of a table. With an
    earlier report it says what is new and what is gone since then.
    """
    facts = store_facts(data)
    root, main, failed = _begin(_TITLE, data, store, facts, now)
    filled: dict[str, bool] = {}
    failed += _glance(main, data, filled)
    failed += _sentences(main, data)
    failed += _kept(root, main, data, facts, now, earlier)
    for section in report_sections():
        failed += _section(main, data, section, section.first_figures, filled, _short)
    _note_zones(main, data)
    _end(main, now, "All rows, and what the numbers mean, are in the appendix: zscope report --appendix.")
    return Report(written(root), tuple(failed))


def write_owner_pages(data: FigureData, store: str, now: datetime) -> Report:
    """Return one file with a page for each job, with the figures that have rows for it."""
    root, main, failed = _begin(_OWNERS, data, store, store_facts(data), now)
    try:
        owners = rows_of_owners(data, owned_figures())
    except QueryError as error:
        return Report(written(root), (*failed, _failure(main, _OWNERS, error)))
    if not owners:
        add(main, "p", "No job is known: load zERT records (SMF 119-11, 119-12).", class_="capture")
    listed = add(add(main, "nav", aria_label="Contents"), "ul")
    for number, (job, figures) in enumerate(owners.items()):
        add(add(listed, "li"), "a", job, href=f"#job-{number}")
        page = add(main, "section", id=f"job-{number}", class_="page")
        add(page, "h2", f"Job {job}")
        for each in figures:
            add(page, "h3", each.figure.title)
            add_picture(page, each)
            _table(page, each, each.rows)
            _note_left_out(page, each)
    _note_zones(main, data)
    _end(main, now)
    return Report(written(root), tuple(failed))


def write_appendix(data: FigureData, store: str, now: datetime) -> Report:
    """Return the appendix of the report: all tables, with the definitions of what they show."""
    root, main, failed = _begin(_APPENDIX, data, store, store_facts(data), now)
    _contents(main)
    filled: dict[str, bool] = {}
    for section in report_sections():
        failed += _section(main, data, section, section.figures, filled, partial(_whole, data.filters))
    _note_zones(main, data)
    add_definitions(main, appendix_figures())
    _end(main, now)
    return Report(written(root), tuple(failed))


def _begin(
    title: str, data: FigureData, store: str, facts: Row, now: datetime
) -> tuple[Element, Element, list[str]]:
    """The root and the main part of a page with its head, and a list for what cannot be computed."""
    policy = f"default-src 'none'; style-src '{_digest()}'; base-uri 'none'; form-action 'none'"
    root, body = document(f"{title}: {store}", _METAS, policy, _style())
    main = add(body, "main")
    _header(main, title, data, store, facts, now)
    return root, main, []


def _end(main: Element, now: datetime, words: str = "") -> None:
    foot = add(main, "footer")
    add(
        foot,
        "p",
        f"{words} Written by zscope {version('zscope')} at {now.astimezone(UTC):%Y-%m-%d %H:%M} UTC.",
    )


_METAS = {
    "viewport": "width=device-width, initial-scale=1",
    "color-scheme": "light dark",
    "referrer": "no-referrer",
    "robots": "noindex",
}


@cache
def _style() -> str:
    return (files("zscope.app.report") / "style.css").read_text(encoding="utf-8")


@cache
def _digest() -> str:
    """The only style that the page may have."""
    return f"sha256-{b64encode(sha256(_style().encode()).digest()).decode()}"


def _header(main: Element, title: str, data: FigureData, store: str, facts: Row, now: datetime) -> None:
    header = add(main, "header")
    add(header, "p", _cover(facts), class_="cover")
    add(header, "h1", f"{title}: {store}")
    if facts["synthetic"]:
        add(header, "p", _SYNTHETIC, class_="warning")
    terms = add(header, "dl", class_="facts")
    _fact(terms, "Data", _period(facts))
    if facts["first_local"] is not None:
        _fact(
            terms,
            "All records and displays, by the clocks of the systems",
            f"{shown(facts['first_local'])} to {shown(facts['last_local'])} local time",
        )
    _fact(terms, "Shown", data.filters.words() or "all data")
    _fact(terms, "Loaded", f"{facts['loads']:,} files, {facts['rows']:,} rows{_last_load(facts)}")
    local = now.astimezone()
    here = f" ({local:%Y-%m-%d %H:%M %Z})" if local.utcoffset() else ""
    _fact(terms, "Written", f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC{here}")


def _cover(facts: Row) -> str:
    """What the report is about, in one line above its title."""
    first, last = facts["first_local"], facts["last_local"]
    days = f"{first:%Y-%m-%d} to {last:%Y-%m-%d}" if first else ""
    return " · ".join(filter(None, ("zscope", "TLS on IBM Z", days, facts["systems"])))


def _fact(terms: Element, name: str, text: str) -> None:
    add(terms, "dt", name)
    add(terms, "dd", text)


def _period(facts: Row) -> str:
    if facts["first_local"] is None:
        return "nothing with a time is loaded"
    if facts["first_utc"] is None:
        return "the time zone of the systems is not known"
    partly = "" if facts["in_utc"] else " (some systems have no known time zone)"
    return f"{shown(facts['first_utc'])} to {shown(facts['last_utc'])} UTC{partly}"


def _last_load(facts: Row) -> str:
    last = facts["last_load_utc"]
    return "" if last is None else f", the last at {last.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _sentences(main: Element, data: FigureData) -> list[str]:
    """Add the statements that are shown first."""
    section = add(main, "section", id="summary")
    add(section, "h2", "In short")
    try:
        statements = data.found(STATEMENT, shown_sql("found")).to_pylist()
    except QueryError as error:
        return [_failure(section, "summary", error)]
    listed = add(section, "ul", class_="sentences")
    for _, of_subject in groupby(statements, key=lambda each: each["subject"]):
        of_one = list(of_subject)
        for each in of_one:
            item = add(listed, "li")
            add(item, "a", each["heading"], href=f"#{STATEMENT_SECTIONS[each['subject']]}")
            add_text(item, f": {each['sentence']}")
            if each["not_filtered_by"]:
                add(item, "p", f"Not filtered by {each['not_filtered_by']}.", class_="note")
        if more := more_words(of_one):
            add(item, "p", more, class_="note")
    return []


def _kept(
    root: Element, main: Element, data: FigureData, facts: Row, now: datetime, earlier: KeptReport | None
) -> list[str]:
    """Keep what a later report compares, and add the difference to an earlier one."""
    last = facts["last_local"]
    try:
        kept = keep(data, last and last.date(), now)
    except QueryError as error:
        return [_failure(main, "What changed since the earlier report", error)]
    add_meta(root, META, kept.written())
    if earlier is not None:
        add_difference(main, earlier, kept)
    return []


def _glance(main: Element, data: FigureData, filled: dict[str, bool]) -> list[str]:
    """Add the figures that are read first, side by side."""
    section = add(main, "section", id="glance")
    add(section, "h2", "At a glance")
    cards = add(section, "div", class_="cards")
    failed = []
    for figure in glance_figures():
        place = add(cards, "div", class_="card")
        add(place, "h3", figure.question or figure.title)
        try:
            found = figure_rows(data, figure, filled)
        except QueryError as error:
            failed.append(_failure(place, figure.title, error))
            continue
        if found.rows:
            add_picture(place, found)
        else:
            add(place, "p", figure.none if found.has_data and figure.none else figure.needs, class_="capture")
    return failed


def _contents(main: Element) -> None:
    contents = add(main, "nav", aria_label="Contents")
    listed = add(contents, "ul")
    sections = [(section.id, section.title) for section in report_sections()]
    for name, title in (*sections, ("definitions", "Definitions")):
        add(add(listed, "li"), "a", title, href=f"#{name}")


def _section(
    main: Element,
    data: FigureData,
    declared: ReportSection,
    figures: Sequence[FigureDeclaration],
    filled: dict[str, bool],
    draw: Callable[[Element, FigureRows], None],
) -> list[str]:
    """Add a section; without any data it is one line, which names the input to load."""
    section = add(main, "section", id=declared.id)
    add(section, "h2", declared.title)
    if declared.words:
        add(section, "p", declared.words)
    failed: list[str] = []
    found: list[FigureRows] = []
    for figure in figures:
        try:
            found.append(figure_rows(data, figure, filled))
        except QueryError as error:
            failed.append(_failure(section, figure.title, error))
    if not failed and not any(each.has_data for each in found):
        filtered = (
            " It is also possible that no loaded data matches the filters." if data.filters.words() else ""
        )
        add(section, "p", f"{declared.capture}{filtered}", class_="capture")
        return []
    for each in found:
        draw(section, each)
    return failed


def _failure(section: Element, title: str, error: QueryError) -> str:
    text = f"{title}: could not be computed: {str(error).partition(chr(10))[0]}"
    add(section, "p", text, class_="warning")
    return text


def _heading(section: Element, found: FigureRows) -> bool:
    """Add the title of a figure; returns whether it has rows to draw."""
    figure = found.figure
    if not found.rows and not (found.has_data and figure.none):
        return False
    add(section, "h3", figure.title, id=figure.id)
    if not found.rows:
        add(section, "p", figure.none)
    return bool(found.rows)


def _short(section: Element, found: FigureRows) -> None:
    """Add a figure of the report: its picture, or else the first rows of its table."""
    if not _heading(section, found):
        return
    add_picture(section, found)
    if not found.figure.chart:
        _table(section, found, found.rows[:_FIRST_ROWS])
    _note_left_out(section, found)


def _whole(filters: Filters, section: Element, found: FigureRows) -> None:
    """Add a figure of the appendix: its picture and its table, with how to read it."""
    if not _heading(section, found):
        return
    figure = found.figure
    add_picture(section, found)
    place = section
    if figure.folded:
        place = add(section, "details")
        add(place, "summary", f"Table with {len(found.rows):,} rows")
    _table(place, found, found.rows)
    if figure.note:
        add(section, "p", figure.note, class_="note")
    for column in figure.explain:
        meanings = {each.name: each.meaning for each in metric(figure.metric).columns}
        add(section, "p", f"{heading(column)}: {plain_meaning(meanings[column])}", class_="note")
    _note_left_out(section, found)
    if command := command_of(filters, found):
        line = add(section, "p", "The same: ", class_="note command")
        add(line, "code", command)


def _table(place: Element, found: FigureRows, rows: Sequence[Row]) -> None:
    filled = [name for name in found.figure.columns if any(shown(row[name]) for row in rows)]
    if filled:
        add_table(place, filled, rows, data_part=found.figure.id)
    if found.count > len(rows):
        add(place, "p", f"The first {len(rows):,} of {found.count:,} rows.", class_="note")


def _note_left_out(parent: Element, found: FigureRows) -> None:
    """Say which filters do not narrow a figure, and that it does not show the other period."""
    if found.ignored:
        ignored = ", ".join(found.ignored)
        add(parent, "p", f"Not filtered by {ignored}: this data has no such column.", class_="note")
    if words := not_compared(found):
        add(parent, "p", words, class_="note")


def _note_zones(main: Element, data: FigureData) -> None:
    if note := data.missing_zones():
        add(main, "p", f"Note: {note}", class_="warning")


def add_definitions(body: Element, figures: Iterable[FigureDeclaration]) -> None:
    """Add the definitions of the metrics that some parts show."""
    shown: dict[str, list[str]] = {}
    for figure in figures:
        if figure.metric:
            shown.setdefault(figure.metric, []).extend(figure.columns)
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
    if definition.known_limits:
        add(terms, "dt", "Limits")
        limits = add(add(terms, "dd"), "ul")
        for limit in definition.known_limits:
            add_lines(limits, "li", plain_meaning(limit))


def _term(terms: Element, name: str, text: str) -> None:
    add(terms, "dt", name)
    add_lines(terms, "dd", plain_meaning(text))


def plain_meaning(text: str) -> str:
    """Return a text of a declaration in one line, without the marks of code."""
    return " ".join(text.replace("`", "").split())
