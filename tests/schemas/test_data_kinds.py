"""The kinds of data under which records and reports are counted."""

from __future__ import annotations

import duckdb

from zscope.schemas.data_kinds import OTHER_DATA, kind_of_data
from zscope.schemas.load import catalog
from zscope.schemas.reports import report_tables


def kind_of(record_type: int | None, record_subtype: int | None, report: str | None) -> str:
    rows = duckdb.execute(
        f"SELECT {kind_of_data()} FROM (SELECT ? AS record_type, ? AS record_subtype, ? AS report)",
        [record_type, record_subtype, report],
    )
    [(kind,)] = rows.fetchall()
    return str(kind)


def test_every_record_has_the_kind_of_its_declaration() -> None:
    for record in catalog().records.values():
        assert kind_of(record.type, record.subtype, None) == record.shown_as


def test_every_report_has_the_kind_of_its_declaration() -> None:
    for report in report_tables().values():
        assert kind_of(None, None, f"{report.report_prefix or report.title} and more") == report.shown_as


def test_other_data_are_only_counted() -> None:
    assert kind_of(119, 250, None) == kind_of(250, None, None) == kind_of(None, None, "X") == OTHER_DATA
