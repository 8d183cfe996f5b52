"""The report of a page: the same as that of the command, for the filters, whatever the store contains."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.app.dashboard.conftest import MARKUP, Open
from tests.app.dashboard.page_helpers import data_of
from tests.app.report_reading import ReportReader, harmless

from zscope.app.cli.reporting import reports_on
from zscope.app.dashboard.filter_bar import filters_of_address
from zscope.app.dashboard.filter_choices import choices
from zscope.app.figures.elements import LONGEST
from zscope.app.report.report_page import write_appendix, write_report_page
from zscope.app.report.report_sections import report_sections
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from zscope.app.dashboard.page_data import PageData

NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
SECTIONS = report_sections()


def appendix_of(store: Path, filters: Filters | None = None) -> ReportReader:
    report = write_appendix(data_of(store, filters), store.name, NOW)
    assert report.failed == ()
    return harmless(report.page)


def captures(read: ReportReader) -> list[str]:
    """The sections of which the report says what to load."""
    return [section.id for section in SECTIONS if section.capture in read.text]


@pytest.mark.deep
def test_page_and_command_write_the_same(only_zert: Path) -> None:
    filters = Filters(systems=("SYSA",), begin=datetime(2026, 3, 2, 6, tzinfo=UTC))
    of_command = reports_on(only_zert, filters, appendix=True, now=NOW)
    name = only_zert.resolve().name
    of_page = [write(data_of(only_zert, filters), name, NOW) for write in (write_report_page, write_appendix)]
    assert [each.page for each in of_page] == [each.page for each in of_command]
    assert [captures(harmless(each.page)) for each in of_page] == [["price"], ["price"]]


@pytest.mark.deep
def test_an_empty_store_says_what_to_load(empty: Path) -> None:
    read = appendix_of(empty)
    # Published results and recommended settings need no data.
    without_data = {"findings", "benchmark"}
    assert captures(read) == [section.id for section in SECTIONS if section.id not in without_data]
    assert "nothing with a time is loaded" in read.text


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_rmf", "only_netstat"])
def test_a_store_with_one_source(store: str, request: pytest.FixtureRequest) -> None:
    read = appendix_of(request.getfixturevalue(store))
    assert {"price", "handshakes", "exposure"} <= set(captures(read))
    assert [line["System"].text for line in read.tables["systems"].rows] in (["SYSA"], ["SYSB"])


HOSTILE = (
    "\"><script>alert(1)</script></title></style>'<img src=x onerror=alert(1)> javascript:alert(1) &lt; "
    "\u202egnp.exe\u2066\u200f\x1b[31m\x00\r\n\ufeff" + "W" * 5000
)


@dataclass
class Disguised:
    """The data of a store in which every text of a result is hostile."""

    data: PageData
    filters: Filters

    def found(self, name: str, sql: str, by: Sequence[str] | None = None, where: str = "") -> pa.Table:
        table = self.data.found(name, sql, by, where)
        # Names of sources are part of the next statement.
        return table if table.column_names == ["source"] else disguised(table)

    def rows(self, sql: str) -> pa.Table:
        return disguised(self.data.rows(sql))

    def without_effect(self, name: str) -> tuple[str, ...]:
        return self.data.without_effect(name)

    def other(self) -> None:
        return None

    def without_filters(self, names: Sequence[str]) -> Disguised:
        return Disguised(self.data.without_filters(names), self.filters.without(names))

    def missing_zones(self) -> str:
        return HOSTILE


def disguised(table: pa.Table) -> pa.Table:
    """Return a table with hostile texts, also in lists; subjects are words of metrics, not of data."""
    for number, column in enumerate(table.schema):
        if column.name == "subject":
            continue
        if pa.types.is_string(column.type):
            texts = pa.array([HOSTILE] * table.num_rows, pa.string())
        elif column.type == pa.list_(pa.string()):
            texts = pa.array([[HOSTILE, "b"]] * table.num_rows, column.type)
        else:
            continue
        table = table.set_column(number, column.name, texts)
    return table


@pytest.mark.deep
@pytest.mark.parametrize("store", ["only_zert", "world"])
def test_hostile_texts_are_texts_wherever_they_appear(store: str, request: pytest.FixtureRequest) -> None:
    data = data_of(request.getfixturevalue(store), Filters())
    report = write_appendix(Disguised(data, data.filters), HOSTILE, NOW)
    harmless(write_report_page(Disguised(data, data.filters), HOSTILE, NOW).page)
    read = harmless(report.page)
    assert len(report.page) < 5_000_000
    texts = [cell.text for table in read.tables.values() for row in table.rows for cell in row.values()]
    assert sum("<script>alert(1)</script>" in text for text in texts) > 50
    assert max(map(len, texts)) <= LONGEST


@pytest.mark.deep
def test_names_from_strangers_do_no_harm(hostile: Path) -> None:
    read = appendix_of(hostile)
    assert MARKUP in read.text
    assert "<img src=x onerror=alert(1)>" in read.text
    assert max(map(len, read.words)) < 2000


@pytest.mark.deep
def test_all_pages_offer_the_report_with_their_filters(world: Path, open_page: Open) -> None:
    for name in ("handshakes", "fields"):
        page = open_page(name, world, {"system": "SRV1", "port": ["443", "nothing"]})
        [button] = [
            element for element in page.get("download_button") if element.proto.id.endswith("-report")
        ]
        assert button.proto.label == "Report"


def test_a_page_without_a_bar_follows_the_address(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"system": ["SRV1"], "port": ["443", "nothing"], "period": ["2026-03-09", "2026-03-10"]}
    monkeypatch.setattr("zscope.app.dashboard.filter_bar.filters_in_address", lambda: asked)
    data = data_of(world)
    begin, end = datetime(2026, 3, 8, 23, tzinfo=UTC), datetime(2026, 3, 10, 23, tzinfo=UTC)
    expected = Filters(
        begin=begin,
        end=end,
        systems=("SRV1",),
        ports=(443,),
        first_day=date(2026, 3, 9),
        last_day=date(2026, 3, 10),
    )
    assert filters_of_address(choices(data.queries, data.version)) == expected
