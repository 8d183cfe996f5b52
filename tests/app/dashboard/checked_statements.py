"""Statements about a store, for every filter, against their evidence, their pages and the report."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.app.changed_queries import ChangedQueries
from tests.app.dashboard.recorded_pages import PageRecorder, RecordedPage
from tests.app.report_reading import ReportReader
from tests.app.short_reports import shorten_report
from tests.app.statement_figures import missing, report_cells
from tests.pipelines.metrics.statement_rules import (
    UNKNOWN,
    check_part,
    check_sentences_behind,
    check_statements,
)
from tests.pipelines.metrics.statement_stores import (
    STORES,
    changed_store,
    loaded_store,
    selections,
    statements_of,
)

from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.page_data import PageData
from zscope.app.dashboard.pages.overview.overview_page import STATEMENT_PAGES
from zscope.app.report.report_page import STATEMENT_SECTIONS, write_appendix, write_report_page
from zscope.app.shared.filters import Filters
from zscope.app.shared.shown_statements import STATEMENT, shown_sql
from zscope.pipelines.metrics import MetricSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import pytest
    from click.testing import Result

Row = dict[str, Any]

NOW = datetime(2026, 4, 1, tzinfo=UTC)
_LONGEST = 2000


def check_statements_of(
    name: str, demo: tuple[Path, Result], factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch
) -> None:
    """Check all statements about a store, whole and for each of the filters."""
    shorten_report(patch, *STATEMENT_SECTIONS.values(), statements=True)
    recorder = PageRecorder(patch)
    changed = STORES[name]
    store = demo[0] if changed.loaded == "demo" else loaded_store(factory, changed.loaded or "day")
    with changed_store(store if changed.loaded else None, changed) as steps:
        queries = ChangedQueries(steps, store, name)
        whole = statements_of(steps, MetricSelection())
        text = "\n".join(row["sentence"] for row in whole)
        assert re.search(changed.says, text), text
        check_sentences_behind(steps)
        for selection in (MetricSelection(), *selections(steps).values()):
            said = statements_of(steps, selection)
            check_statements(steps, said)
            check_part(said, whole)
            data = PageData(queries, name, _filters(selection))
            shown = data.found(STATEMENT, shown_sql("found")).to_pylist()
            assert [row["sentence"] for row in shown] == [
                row["sentence"] for row in said if row["rank"] <= (1 if row["subject"] == "coverage" else 3)
            ]
            _check_pages(recorder, data, shown)
            _check_report(data, shown)


def _filters(chosen: MetricSelection) -> Filters:
    """The same choice as pages and reports have it."""
    ports, jobs = ([*map(str, chosen.chosen.get(kind, ()))] for kind in ("port", "job"))
    return Filters(chosen.begin, chosen.end, chosen.systems, ports=tuple(map(int, ports)), jobs=tuple(jobs))


def _check_pages(recorder: PageRecorder, data: PageData, shown: Iterable[Row]) -> None:
    """The figures of statements are on the pages of their links, each in the row that it is about."""
    drawn: dict[str, RecordedPage] = {}
    for said in shown:
        subject = said["subject"]
        if said["status"] == UNKNOWN and subject != "price":
            continue
        page = drawn[subject] = drawn.get(subject) or recorder.page(*STATEMENT_PAGES[subject], data)
        if subject == "price":
            _check_headline(page, said["sentence"])
        if said["status"] != UNKNOWN:
            cells = [*_CELLS[subject](page, said)]
            assert missing(said["sentence"], cells) == [], (data.filters, said["sentence"])


def _check_report(data: PageData, shown: Iterable[Row]) -> None:
    """The report says the same, and it and its appendix have the figures in their tables."""
    report = ReportReader(write_report_page(data, data.version, NOW).page)

    @cache
    def appendix() -> ReportReader:
        return ReportReader(write_appendix(data, data.version, NOW).page)

    for said in shown:
        assert f"{said['heading']}: {said['sentence']}" in report.text
        if said["status"] != UNKNOWN:
            cells = [*report_cells(report, said)]
            if missing(said["sentence"], cells):
                cells += report_cells(appendix(), said)
            assert missing(said["sentence"], cells) == [], (data.filters, said["sentence"])


def _check_headline(page: RecordedPage, sentence: str) -> None:
    """The page begins with the same prices, or says in the same words why there is none."""
    said = plain(sentence, _LONGEST)
    headlines = [text.strip("*") for text in page.texts if text.startswith("**")]
    assert any(said.startswith(each) for each in headlines) or said in page.texts, sentence


def _price(page: RecordedPage, said: Row) -> Iterator[object]:
    for table in page.tables_with("system", "high_cpu_s_per_day"):
        for row in table:
            if row["system"] == said["system"] and row.get("part", "TLS") == "TLS":
                yield from row.values()


def _saving(page: RecordedPage, said: Row) -> Iterator[object]:
    """It is the first row of one of the tables, and no other table begins with a larger saving."""
    firsts = [table[0] for table in page.tables_with("sentence", "saving_high_s_per_day", "why_full")]
    first, *_ = [row for row in firsts if row["sentence"] in said["sentence"]]
    assert first["saving_high_s_per_day"] == max(row["saving_high_s_per_day"] or 0 for row in firsts)
    yield from first.values()


def _exposure(page: RecordedPage, said: Row) -> Iterator[object]:
    """The row of the records, and that of the job and port with the largest part of them."""
    records, *_ = page.tables_with("old_version_of_all_pct", "covered_pct")
    [record] = [row for row in records if row["source"] == said["source"]]
    yield from record.values()
    for places in page.tables_with("source", "job_name", "server_port", "unprotected_connections"):
        of_source = [row for row in places if row["source"] == said["source"]]
        for row in of_source:
            place = f"job {row['job_name']}, on port {row['server_port']} of {row['system']}."
            if place in said["sentence"]:
                assert _exposed(row, said) == max(_exposed(each, said) for each in of_source)
                yield from row.values()


def _exposed(place: Row, said: Row) -> int:
    """The connections of a place that a statement is about."""
    if said["subject"] == "exposure":
        return int(place["unprotected_connections"])
    return int(place["ssl_connections"]) + int(place["tls10_tls11_connections"])


def _certificates(page: RecordedPage, said: Row) -> Iterator[object]:
    yield from (int(tile) for tile in page.tiles)
    listed = [row for table in page.tables_with("not_after_utc", "name") for row in table]
    assert not said["value"] or any(
        f"{row['name']} on {row['not_after_utc']:%Y-%m-%d}." in said["sentence"] for row in listed
    )


def _change(page: RecordedPage, said: Row) -> Iterator[object]:
    for table in page.tables_with("earlier", "later"):
        for row in table:
            yield from row.values()
            if row.get("subject") == "bytes" and row["why"] is None:
                yield from (row[f"{period}_per_hour"] / 1e6 for period in ("earlier", "later"))
            if said["unit"] == "points" and row.get("later_pct") is not None:
                yield row["later_pct"] - row["earlier_pct"]
    if said["unit"] == "settings":
        yield said["value"]


def _coverage(page: RecordedPage, said: Row) -> Iterator[object]:
    for table in page.tables_with("system", "source", "covered_hours"):
        for row in table:
            if (row["system"], row["source"]) == (said["system"], said["source"]):
                yield from row.values()


def _runs(page: RecordedPage, said: Row) -> Iterator[object]:
    tables = page.tables_with("system", "hours")
    named = [[row for row in table if f" of {row['system']}" in said["sentence"]] for table in tables]
    hours = [[row["hours"] for row in rows] for rows in named]
    assert said["value"] in map(sum, hours)
    for each in hours:
        yield from each


_CELLS: Mapping[str, Callable[[RecordedPage, Row], Iterable[object]]] = {
    "price": _price,
    "saving": _saving,
    "exposure": _exposure,
    "old versions": _exposure,
    "certificates": _certificates,
    "change": _change,
    "coverage": _coverage,
    "runs": _runs,
}
"""The cells of its page that a statement is about."""
