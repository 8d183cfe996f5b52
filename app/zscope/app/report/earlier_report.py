"""What a report keeps for the next one, and the difference to an earlier report.

A report carries its statements and findings as JSON in its head, so that a later report can say what is new
and what is gone without the data of that time.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import msgspec

from zscope.app.figures.elements import add, add_text
from zscope.app.report.report_tables import add_table
from zscope.app.shared.shown_statements import STATEMENT, shown_sql
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from xml.etree.ElementTree import Element

    from zscope.app.figures.figure_data import FigureData
    from zscope.app.figures.figure_rows import Row

META = "zscope-report"
"""Name of the element in the head of a report with what it keeps."""
_MOST = 5000
"""Findings that a report keeps, the worst first."""
_FIRST = 6
"""Rows of a table of differences."""
_FINDING = ("severity", "what", "system", "server_port", "job_name", "certificate")


class EarlierReportError(Error):
    """Raised for a file that is no report, or one of a version that kept nothing."""


class KeptStatement(msgspec.Struct, frozen=True):
    """A statement of a report."""

    heading: str
    rank: int
    sentence: str


class KeptReport(msgspec.Struct, frozen=True):
    """What a report keeps for the next one."""

    written_utc: datetime
    last_day: date | None
    """The last local day of the data."""
    shown: str
    """The filters in words."""
    statements: tuple[KeptStatement, ...]
    findings: tuple[tuple[str | int | None, ...], ...]
    """Severity, what, system, port, job and certificate of each."""

    def written(self) -> str:
        """Return it as JSON of printable ASCII without a character that has a meaning in HTML."""
        text = json.dumps(msgspec.to_builtins(self), separators=(",", ":"))
        return text.replace("<", r"\u003c").replace("\x7f", r"\u007f")


def keep(data: FigureData, last_day: date | None, now: datetime) -> KeptReport:
    """Return what the report of this data keeps."""
    columns = ", ".join(_FINDING)
    statements = data.found(STATEMENT, shown_sql("found")).to_pylist()
    findings = data.found(
        "check_result",
        f"SELECT {columns} FROM found "
        f"ORDER BY list_position(['high', 'medium', 'low', 'info'], severity), {columns} LIMIT {_MOST}",
        where="kind = 'finding'",
    ).to_pylist()
    return KeptReport(
        now,
        last_day,
        data.filters.words(),
        tuple(KeptStatement(each["heading"], each["rank"], each["sentence"]) for each in statements),
        tuple(tuple(each[name] for name in _FINDING) for each in findings),
    )


def read_earlier(page: bytes, name: str) -> KeptReport:
    """Return what a report kept; raises EarlierReportError for another file."""
    reader = _HeadReader()
    reader.feed(page.decode("utf-8", "replace"))
    if reader.kept is None:
        raise EarlierReportError(f"{name}: is no report that keeps what a later one compares")
    try:
        return msgspec.json.decode(reader.kept, type=KeptReport)
    except msgspec.MsgspecError as error:
        raise EarlierReportError(f"{name}: what it keeps for a later report is damaged: {error}") from error


class _HeadReader(HTMLParser):
    kept: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "meta" and named.get("name") == META:
            self.kept = named.get("content")


def add_difference(main: Element, earlier: KeptReport, kept: KeptReport) -> None:
    """Add what is new and what is gone since an earlier report."""
    section = add(main, "section", id="since")
    add(section, "h2", f"What changed since the report of {earlier.written_utc:%Y-%m-%d}")
    add(section, "p", f"Its data end on {earlier.last_day or 'no known day'}, these on {kept.last_day}. "
        f"Cost, handshakes and versions of both are compared in ")  # fmt: skip
    add(section[-1], "a", "What changed", href="#changes")
    add_text(section[-1], ".")
    if earlier.shown != kept.shown:
        shown = earlier.shown or "all data"
        add(section, "p", f"It shows {shown}, so findings of other systems differ.", class_="warning")
    before, after = set(earlier.findings), set(kept.findings)
    _findings(section, "New findings", [each for each in kept.findings if each not in before])
    _findings(section, "Findings that are gone", [each for each in earlier.findings if each not in after])
    said = {(each.heading, each.rank): each.sentence for each in earlier.statements}
    rows = [
        {"heading": each.heading, "earlier": said.get((each.heading, each.rank)), "later": each.sentence}
        for each in kept.statements
        if said.get((each.heading, each.rank)) != each.sentence
    ]
    _listed(section, "Statements that differ", ("heading", "earlier", "later"), rows)


def _findings(section: Element, title: str, findings: Iterable[tuple[str | int | None, ...]]) -> None:
    _listed(section, title, _FINDING, [dict(zip(_FINDING, each, strict=True)) for each in findings])


def _listed(section: Element, title: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    add(section, "h3", title)
    if not rows:
        add(section, "p", "None.")
        return
    filled = [name for name in columns if any(row[name] is not None for row in rows)]
    add_table(section, filled, rows[:_FIRST], data_part=f"since-{title.lower().replace(' ', '-')}")
    if len(rows) > _FIRST:
        add(section, "p", f"The first {_FIRST:,} of {len(rows):,} rows.", class_="note")
