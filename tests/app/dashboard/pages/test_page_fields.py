"""The page about fields and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words

from zscope.app.dashboard.pages.fields import (
    NO_TABLE,
    field_facts,
    records,
    search,
    statements,
    tables,
)
from zscope.app.shared.names import METRIC, STEP
from zscope.pipelines.metrics import declared
from zscope.schemas.field_catalog import field_catalog

if TYPE_CHECKING:
    from pathlib import Path


def _field(table: str, column: str) -> dict[str, Any]:
    [row] = search(f"{table}.{column}", [table]).slice(0, 1).to_pylist()
    assert (row["table_name"], row["column_name"]) == (table, column)
    return dict(row)


def test_everything_is_listed_until_something_is_searched(open_page: Open, world: Path) -> None:
    page = open_page("fields", world)
    columns = sum(len(metric.columns) for metric in declared().values())
    assert len(page.dataframe[0].value) == field_catalog().num_rows + columns
    page.text_input(key="fields_search").set_value("SMF119SC_TLS_*").run()
    fine(page)
    result = page.dataframe[0].value
    assert 0 < len(result) < 100
    assert result["vendor_name"].str.startswith("SMF119SC_TLS_").all()


def test_a_single_match_is_shown_in_full(drawn_page: Open, world: Path) -> None:
    page = drawn_page("fields", world, {"fields_search": "smf119sc_tls_neg_cipher"})
    facts = dict(page.table[0].value.itertuples(index=False, name=None))
    assert facts["Place"] == r"byte 56 \(0x38\) of the section, 6 bytes long"
    assert facts["IBM's name"].replace("\\", "") == "SMF119SC_TLS_Neg_Cipher"
    assert "FROM smf119_zert_detail" in page.code[0].value
    assert set(page.dataframe[1].value.columns) == {"code", "text"}


def test_tables_and_records_narrow_the_list(drawn_page: Open, world: Path) -> None:
    page = drawn_page("fields", world, {"fields_table": "handshake_mix"})
    assert set(page.dataframe[0].value["record"]) == {METRIC}
    page = drawn_page("fields", world, {"fields_record": "119-11", "fields_search": "cipher"})
    assert set(page.dataframe[0].value["record"]) == {"119-11"}
    assert page.dataframe[0].value["column_name"].isin(["cipher"]).any()


def test_a_search_without_match_is_reported(drawn_page: Open, world: Path) -> None:
    page = drawn_page("fields", world, {"fields_search": f"{MARKUP} nosuchfield"})
    assert "No field or column matches" in words(page)
    assert not page.dataframe


@pytest.mark.parametrize("store", ["empty", "only_rmf", "only_zert", "hostile"])
def test_it_needs_no_data(drawn_page: Open, store: str, request: pytest.FixtureRequest) -> None:
    page = drawn_page("fields", request.getfixturevalue(store), {"fields_search": "smf119sc_tls_neg_cipher"})
    assert "SELECT" in page.code[0].value


def test_choices_cover_the_whole_catalogue() -> None:
    every = search("").to_pylist()
    assert {row["table_name"] or NO_TABLE for row in every} == set(tables())
    assert {row["record"] for row in every} == set(records())
    assert STEP in records()


def test_metrics_are_searched_like_fields() -> None:
    by_pattern = search("resumed_p?t", [], [METRIC]).to_pylist()
    assert {row["column_name"] for row in by_pattern} == {"resumed_pct"}
    assert search("RESUMED handshake_mix resumed_pct").num_rows == 1


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("smf119_zert_detail", "cipher"),
        ("smf119_zert_detail", "handshake_type"),
        ("smf119_zert_detail", "security_protocols_flags"),
        ("smf119_tcp_term", "in_bytes"),
        ("smf119_tcp_term", "end_utc"),
        ("smf70_interval", "interval_flags"),
        ("rmf_interval", "source"),
        ("record_digest", "record_no"),
        ("netstat_ttls", "cipher"),
        ("handshake_mix", "resumed_pct"),
        ("cpu_interval_disagreement", "system"),
    ],
)
def test_the_statement_to_copy_runs(world: Path, table: str, column: str) -> None:
    ready = statements(_field(table, column))[0]
    assert ready.language == "sql"
    with duckdb.connect(str(world / "zscope.duckdb"), read_only=True) as connection:
        result = connection.execute(ready.text)
        assert column in [described[0] for described in result.description or ()]


def test_codes_have_their_meaning(world: Path) -> None:
    flags = statements(_field("smf119_zert_detail", "security_protocols_flags"))[0]
    with duckdb.connect(str(world / "zscope.duckdb"), read_only=True) as connection:
        meanings = {row[0]: row[1] for row in connection.execute(flags.text).fetchall()}
    assert meanings[128] == "TLS"


def test_columns_missing_in_the_view_get_a_command() -> None:
    [ready] = statements(_field("handshake_mix", "stack"))
    assert (ready.language, ready.text) == ("sh", "zscope metrics handshake_mix --by stack")


def test_a_field_in_no_table_has_no_statement() -> None:
    row = search("", [NO_TABLE]).slice(0, 1).to_pylist()[0]
    assert statements(row) == ()
    assert field_facts(row)["Table"].startswith("None")
