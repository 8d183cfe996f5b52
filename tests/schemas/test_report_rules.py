"""House rules of the tables that reports fill, over every declaration there is."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from zscope.schemas import catalog
from zscope.schemas.arrow import column_field
from zscope.schemas.errors import DeclarationError
from zscope.schemas.model import unit_in
from zscope.schemas.reports import PrintedFormat, ReportTable, read_report_tables, report_tables
from zscope.schemas.tables import table_columns

if TYPE_CHECKING:
    from pathlib import Path

TABLES = [pytest.param(table, id=name) for name, table in report_tables().items()]
PROMISED = {
    "rmf_interval", "rmf_cpu", "rmf_partition", "rmf_crypto", "netstat_conn", "netstat_ttls",
    "netstat_ttls_group", "netstat_all", "netstat_config", "netstat_devlink", "gsk_cache_status",
    "gsk_cache_stats", "gsk_crypto", "transaction_count", "mq_task", "mq_channel", "mq_channel_initiator",
    "mq_round_trip", "zvm_user", "zvm_channel", "ztpf_series", "rmf_workload", "tls_rule",
    "tls_action", "tls_message", "counter_name", "icsf_record", "icsf_value",
}  # fmt: skip
"""Names that scripts of users rely on."""
CERTAIN = {"start_utc", "measured_utc", "sample_utc", "written_local"}
"""Moments written with their offset, and the time of the record that a row was made from."""
PREFIXES = {"gsksrvr": "gsk", "attls": "tls", "macro": "counter"}
"""Of tables that are not called as their family."""
WHERE_FROM = ("file", "line_no", "source", "system", "system_from")


def test_the_promised_tables_are_there() -> None:
    assert set(report_tables()) >= PROMISED


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_its_origin_and_the_origin_of_its_time(table: ReportTable) -> None:
    names = [field.column for field in table.fields]
    assert tuple(names[:5]) == WHERE_FROM
    if not CERTAIN & set(names):
        assert "time_from" in names
        assert "taken_local" in names or "interval_start_local" in names
    assert names[-1] == "extra"


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_described(table: ReportTable) -> None:
    assert table.meaning.startswith("One row per ")
    assert table.meaning.endswith(".")
    if table.family != "supplied":
        assert table.name.startswith(PREFIXES.get(table.family, table.family) + "_")
    for field in table.fields:
        where = f"{table.name}.{field.column}: {field.meaning}"
        assert field.meaning.endswith("."), where
        assert field.meaning.isascii(), where
        assert re.fullmatch(r"[a-z][a-z0-9_]*", field.column), where
        assert not field.codes or field.codes in catalog().codes, where
        if field.labels:
            assert field.source in catalog().sources, where


@pytest.mark.parametrize("table", TABLES)
def test_unit_and_name_agree(table: ReportTable) -> None:
    for field in table.fields:
        assert unit_in(field.column) == field.unit, field.column


@pytest.mark.parametrize("table", TABLES)
def test_times_are_local(table: ReportTable) -> None:
    for field in table.fields:
        is_time = field.format is PrintedFormat.TIME or field.type == "local"
        assert is_time == field.column.endswith("_local"), field.column


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_distinct_and_the_grain_is_among_them(table: ReportTable) -> None:
    names = [field.column for field in table.fields]
    assert len(names) == len(set(names))
    assert set(table.grain) <= set(names)


def test_records_and_reports_have_to_agree_on_a_column_of_both() -> None:
    requests = next(column for column in table_columns("mq_task") if column.name == "requests")
    assert requests.from_reports
    wider = replace(requests, from_reports=structs.replace(requests.from_reports, type="uint64"))
    with pytest.raises(DeclarationError, match=r"mq_task: requests: is declared as uint32 and as uint64"):
        column_field("mq_task", wider)
    in_bytes = replace(requests, from_reports=structs.replace(requests.from_reports, unit="bytes"))
    with pytest.raises(DeclarationError, match=r"requests: is declared as uint32 and as uint32 bytes"):
        column_field("mq_task", in_bytes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 3: lead[0]: 'nothing' is not one of trail"),
        ('columns = [{column = "a"}]', 'line 7: columns[a].format: is missing; expected "text", "count"'),
        (
            'columns = [{column = "a", format = "roman", meaning = "A."}]',
            'columns[a].format: expected "text"',
        ),
        ('colour = "red"', "line 7: colour: is not a valid key; valid: name, meaning, family, title"),
        ("name =", "is not TOML"),
    ],
)
def test_an_invalid_declaration_is_reported(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "lead.toml").write_text("[trail]\ncolumns = []\n")
    start = 'name = "t"\ntitle = "T"\nlead = ["nothing"]\ngrain = []\nmeaning = "M."\nfamily = "rmf"\n'
    start += content if "columns" in content else f"{content}\ncolumns = []"
    (tmp_path / "t.toml").write_text(start)
    with pytest.raises(DeclarationError, match=r"t\.toml") as error:
        read_report_tables(tmp_path)
    assert message in str(error.value)
