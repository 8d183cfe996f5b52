"""Every figure of a statement is on the page of its link and in the report, for the stores of the matrix."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.testing.v1 import AppTest
from tests.app.changed_queries import ChangedQueries
from tests.app.dashboard.conftest import LONGEST_S, draw_page, fine, words
from tests.app.report_reading import ReportReader
from tests.app.short_reports import shorten_report
from tests.app.statement_figures import missing, report_cells
from tests.marking import deep_except
from tests.pipelines.metrics.statement_stores import (
    NO_JOB,
    STORES,
    changed_store,
    loaded_store,
    selections,
)

from zscope.app.dashboard import shell
from zscope.app.dashboard.drawing import plain
from zscope.app.dashboard.page_data import PageData
from zscope.app.dashboard.pages.overview.overview_page import STATEMENT_PAGES
from zscope.app.report.report_page import STATEMENT_SECTIONS, write_appendix
from zscope.app.shared.filters import Filters
from zscope.app.shared.shown_statements import STATEMENT, shown_sql
from zscope.pipelines.metrics import MetricSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from click.testing import Result

Row = dict[str, Any]
Query = dict[str, list[str]]

UNKNOWN = "not enough data"
NOW = datetime(2026, 4, 1, tzinfo=UTC)
_LONGEST = 2000
_FILTERS = [("none", "system", "no match"), ("port", "job")]
"""The filters of the matrix that all pages of statements follow; Data quality shows all days."""


class DrawnPages:
    """The pages of one store, each drawn once for the same filters."""

    def __init__(self, queries: ChangedQueries, patch: pytest.MonkeyPatch) -> None:
        self._drawn: dict[str, AppTest] = {}
        patch.setattr(shell, "queries_of", lambda *_: queries)

    def of(self, subject: str, query: Query) -> AppTest:
        """Return the page that the link of a subject opens."""
        name, parameters = STATEMENT_PAGES[subject]
        key = repr((name, parameters, query))
        if key not in self._drawn:
            page = AppTest.from_function(draw_page, args=(name,), default_timeout=LONGEST_S)
            for parameter, value in {**query, **parameters}.items():
                page.query_params[parameter] = value
            page.run()
            fine(page)
            self._drawn[key] = page
        return self._drawn[key]


@pytest.mark.parametrize("chosen", deep_except(_FILTERS[:1], _FILTERS))
@pytest.mark.parametrize("name", STORES)
def test_every_figure_of_a_statement_is_on_its_page_and_in_the_report(
    name: str,
    chosen: tuple[str, ...],
    demo: tuple[Path, Result],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shorten_report(monkeypatch, *STATEMENT_SECTIONS.values())
    changed = STORES[name]
    store = demo[0] if changed.loaded == "demo" else loaded_store(tmp_path_factory, changed.loaded or "day")
    with changed_store(store if changed.loaded else None, changed) as steps:
        queries = ChangedQueries(steps, store, name)
        pages = DrawnPages(queries, monkeypatch)
        for filters, query in _filters(chosen, selections(steps), offered=bool(changed.loaded)):
            data = PageData(queries, name, filters)
            report = ReportReader(write_appendix(data, name, NOW).page)
            for said in data.found(STATEMENT, shown_sql("found")).to_pylist():
                page = pages.of(said["subject"], query)
                if said["subject"] == "price":
                    _check_headline(page, said["sentence"])
                if said["status"] != UNKNOWN:
                    cells = [*_CELLS[said["subject"]](page, said)]
                    assert missing(said["sentence"], cells) == [], (query, said["sentence"])
                    in_report = report_cells(report, said)
                    assert missing(said["sentence"], in_report) == [], (query, said["sentence"])


def _filters(
    chosen: Iterable[str], selections: Mapping[str, MetricSelection], *, offered: bool
) -> Iterator[tuple[Filters, Query]]:
    """Those of the matrix that pages offer, with the parameters of their address."""
    for name in chosen:
        selection = selections.get(name, MetricSelection())
        systems = selection.systems
        port_texts, jobs = (tuple(map(str, selection.chosen.get(kind, ()))) for kind in ("port", "job"))
        query = {"system": [*systems], "port": [*port_texts], "job": [*jobs]}
        if name == "none" or (offered and NO_JOB not in jobs):
            yield (
                Filters(systems=systems, ports=tuple(map(int, port_texts)), jobs=jobs),
                {kind: values for kind, values in query.items() if values},
            )


def _check_headline(page: AppTest, sentence: str) -> None:
    """The page begins with the same prices, or says in the same words why there is none."""
    said = plain(sentence, _LONGEST)
    headlines = [each.value.strip("*") for each in page.markdown if each.value.startswith("**")]
    assert any(said.startswith(each) for each in headlines) or said in words(page), sentence


def _tables(page: AppTest, *columns: str) -> list[list[Row]]:
    """The rows of the tables that show these columns, with the columns that a reader sees."""
    found = []
    for frame in page.dataframe:
        shown = [*frame.proto.column_order] or [*frame.value.columns]
        if {*columns} <= {*shown}:
            known = frame.value[shown].astype(object)
            found.append(known.where(known.notna(), None).to_dict("records"))
    return found


def _price(page: AppTest, said: Row) -> Iterator[object]:
    for table in _tables(page, "system", "high_cpu_s_per_day"):
        for row in table:
            if row["system"] == said["system"] and row.get("part", "TLS") == "TLS":
                yield from row.values()


def _saving(page: AppTest, said: Row) -> Iterator[object]:
    """It is the first row of one of the tables, and no other table begins with a larger saving."""
    firsts = [table[0] for table in _tables(page, "sentence", "saving_high_s_per_day", "why_full")]
    [first] = [row for row in firsts if row["sentence"] in said["sentence"]]
    assert first["saving_high_s_per_day"] == max(row["saving_high_s_per_day"] or 0 for row in firsts)
    yield from first.values()


def _exposure(page: AppTest, said: Row) -> Iterator[object]:
    """The row of the records, and the first one of them in the list of jobs and ports."""
    [records] = _tables(page, "old_version_of_all_pct", "hours")
    [of_source] = [row for row in records if row["source"] == said["source"]]
    yield from of_source.values()
    for places in _tables(page, "source", "system", "job_name", "server_port", said["evidence_columns"][0]):
        yield from next((row.values() for row in places if row["source"] == said["source"]), ())


def _certificates(page: AppTest, said: Row) -> Iterator[object]:
    yield from (int(tile.value) for tile in page.metric)
    listed = [row for table in _tables(page, "not_after_utc", "name") for row in table]
    assert not said["value"] or any(
        f"{row['name']} on {row['not_after_utc']:%Y-%m-%d}." in said["sentence"] for row in listed
    )


def _change(page: AppTest, said: Row) -> Iterator[object]:
    for table in _tables(page, "earlier", "later"):
        for row in table:
            yield from row.values()
            if row.get("subject") == "bytes" and row["why"] is None:
                yield from (row[f"{period}_per_hour"] / 1e6 for period in ("earlier", "later"))
            if said["unit"] == "points" and row.get("later_pct") is not None:
                yield row["later_pct"] - row["earlier_pct"]
    if said["unit"] == "settings":
        yield said["value"]


def _coverage(page: AppTest, said: Row) -> Iterator[object]:
    [table] = _tables(page, "system", "source", "covered_hours")
    for row in table:
        if (row["system"], row["source"]) == (said["system"], said["source"]):
            yield from row.values()


def _runs(page: AppTest, said: Row) -> Iterator[object]:
    [table] = _tables(page, "system", "hours")
    named = [row for row in table if f" of {row['system']}" in said["sentence"]]
    assert sum(row["hours"] for row in named) == said["value"]
    yield from (row["hours"] for row in named)


_CELLS: Mapping[str, Callable[[AppTest, Row], Iterable[object]]] = {
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
