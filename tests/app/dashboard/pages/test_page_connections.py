"""The page that searches connections and shows the history of one."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of

from zscope.app.dashboard.pages.connections.connection_key import ConnectionKey
from zscope.app.dashboard.pages.connections.events import (
    ConnectionEvent,
    ConnectionFacts,
    code_texts,
    connection_history,
    match_condition,
    sentence,
)
from zscope.app.dashboard.pages.connections.search import (
    PAGE_ROWS,
    ConnectionSearch,
    SearchTermError,
    count,
    of_address,
    of_number,
    of_port,
    search,
)
from zscope.app.dashboard.table_roles import ConnectionTable, connection_tables
from zscope.app.shared.filters import Filters
from zscope.pipelines.store.parquet_files import parquet_schema

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from zscope.app.dashboard.page_data import PageData
    from zscope.app.dashboard.pages.connections.search import ConnectionSource

KEY = "connections_key"
DISPLAYED = "SELECT system, connection_id FROM netstat_ttls WHERE taken_utc IS NOT NULL"


def _displayed(data: PageData) -> ConnectionKey:
    """A connection that a display caught."""
    [row] = data.rows(f"""
        SELECT system, stack, connection_id, start_utc FROM connection_detail
        WHERE (system, connection_id) IN ({DISPLAYED}) ORDER BY ALL LIMIT 1
    """).to_pylist()
    return ConnectionKey(row["system"], row["stack"], row["connection_id"], row["start_utc"])


def _search(page: AppTest) -> AppTest:
    [button] = [button for button in page.button if button.label == "Search"]
    button.click().run()
    fine(page)
    return page


def test_the_newest_connections_are_on_the_first_page(open_page: Open, world: Path) -> None:
    data = data_of(world)
    [all_of_them] = data.rows("SELECT count(*) AS n FROM connection_detail").to_pylist()
    page = open_page("connections", world)
    assert f"**1 to 100** of {all_of_them['n']:,} connections" in words(page)
    first = page.dataframe[0].value
    assert first["end_utc"].is_monotonic_decreasing
    page.button[[button.label for button in page.button].index("Older")].click().run()
    fine(page)
    assert f"**101 to 200** of {all_of_them['n']:,}" in words(page)
    assert page.dataframe[0].value["end_utc"].max() <= first["end_utc"].min()
    page.button[[button.label for button in page.button].index("Newer")].click().run()
    assert page.dataframe[0].value.equals(first)


@pytest.mark.deep
@pytest.mark.parametrize("source", ["zERT", "TCP"])
def test_pages_contain_every_connection_once(world: Path, source: ConnectionSource) -> None:
    data = data_of(world, Filters(systems=("SRV2", "CLI2")))
    question = ConnectionSearch(source)
    seen, after = [], None
    while True:
        result = search(data, question, after)
        seen += [result.key(row).text for row in range(result.rows.num_rows)]
        if not result.has_more:
            break
        assert result.rows.num_rows == PAGE_ROWS
        after = result.last
    assert len(seen) == len(set(seen)) == count(data, question)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("typed", "condition"),
    [
        ({"connections_job": "cicsweb*"}, "starts_with(job_name, 'CICSWEB')"),
        ({"connections_port": "443"}, "443 IN (local_port, remote_port)"),
        ({"connections_address": "192.168.12.0/24"}, "local_ip || ' ' || remote_ip LIKE '%192.168.12.%'"),
        ({"connections_user": "STCUSER"}, "user_id = 'STCUSER'"),
        ({"connections_protocol": "TLSv1.3"}, "protocol = 'TLSv1.3'"),
        ({"connections_cipher": "TLS_AES_256_GCM_SHA384"}, "cipher = '1302'"),
        ({"connections_only": "failed"}, "handshake_failed"),
        ({"connections_only": "unprotected"}, "protocol = 'none'"),
        ({"system": "CLI1", "connections_job": "MQC1CHIN"}, "system = 'CLI1' AND job_name = 'MQC1CHIN'"),
    ],
)
def test_conditions_in_the_address_match_the_same_rows_as_sql(
    drawn_page: Open, world: Path, typed: dict[str, str], condition: str
) -> None:
    [result] = (
        data_of(world).rows(f"SELECT count(*) AS n FROM connection_detail WHERE {condition}").to_pylist()
    )
    assert result["n"] > 0
    assert f" of {result['n']:,} connections" in words(drawn_page("connections", world, typed))


def test_the_form_searches_and_reports_invalid_terms(open_page: Open, world: Path) -> None:
    page = open_page("connections", world)
    page.text_input(key="connections_id").set_value("ffffffff")
    assert "No connection matches" in words(_search(page))
    page.text_input(key="connections_address").set_value("10.1.2.3.4 OR true")
    page = _search(page)
    assert "enter an address such as" in page.warning[0].value
    assert not page.dataframe


def test_termination_records_can_be_searched(drawn_page: Open, world: Path) -> None:
    query = {"connections_source": "TCP", "connections_protocol": "TLSv1.2"}
    [result] = (
        data_of(world)
        .rows("SELECT count(*) AS n FROM smf119_tcp_term WHERE ttls_status = 3 AND tls_version = 771")
        .to_pylist()
    )
    page = drawn_page("connections", world, query)
    assert f" of {result['n']:,} connections" in words(page)
    assert page.text_input(key="connections_user").disabled


@pytest.mark.parametrize(
    "prefix",
    ["2001:db8::/32", "2001:db8:40::/42", "::/3", "10.16.0.0/12", "10.", "10.1.*", "0.0.0.0/1", "9.9.9.9/32"],
)
def test_prefixes_match_their_addresses(only_zert: Path, prefix: str) -> None:
    data = data_of(only_zert)
    known = [
        row["ip"] for row in data.rows("SELECT DISTINCT remote_ip AS ip FROM smf119_zert_detail").to_pylist()
    ]
    known += ["::1", "2001::", "2001:db8::1", "9.9.9.9", "2001:db8:7f::1:0:0:2"]
    within = ip_network({"10.": "10.0.0.0/8", "10.1.*": "10.1.0.0/16"}.get(prefix, prefix))
    wanted = {ip for ip in known if ip_address(ip).version == within.version and ip_address(ip) in within}
    matching = data.rows(
        f"SELECT ip FROM (SELECT unnest({known!r}) AS ip) WHERE {of_address(prefix, ('ip',))}"
    )
    assert set(matching["ip"].to_pylist()) == wanted


@pytest.mark.parametrize("text", ["x", "99999999999", "-1", "0x1ffffffff", "12 OR 1=1"])
def test_invalid_numbers_are_refused(text: str) -> None:
    with pytest.raises(SearchTermError):
        of_number(text)
    with pytest.raises(SearchTermError):
        of_port(text)


def test_a_link_opens_the_history_in_time_order(open_page: Open, world: Path) -> None:
    data = data_of(world)
    key = _displayed(data)
    expected = connection_history(data, key)
    tables = {event.source.table for event in expected.events}
    assert tables >= {
        "smf119_tcp_init", "smf119_tcp_term", "smf119_zert_detail", "smf119_zert_dn", "netstat_conn",
        "netstat_ttls",
    }  # fmt: skip
    moments = [event.moment_utc for event in expected.in_utc if event.moment_utc]
    assert len(moments) == len(expected.in_utc)
    assert moments == sorted(moments)
    page = open_page("connections", world, {KEY: key.text})
    grid = page.dataframe[-1].value
    assert list(grid["place"]) == [event.place for event in expected.in_utc]
    assert grid["event"].str.contains("Connection ended").any()
    assert grid["file"].str.len().min() > 0
    assert len(page.get("vega_lite_chart")) == 1
    page.button[0].click().run()
    fine(page)
    assert "connections, the newest first" in words(page)


@pytest.mark.parametrize("key", ["x", "SYSA~TCPIP~99999999999~", "SYSA~T~1~2026-99-99T00:00:00Z", "'~;~1~--"])
def test_an_invalid_key_opens_the_search(open_page: Open, world: Path, key: str) -> None:
    page = open_page("connections", world, {KEY: key})
    assert "does not name a connection" in page.warning[0].value
    assert "connections, the newest first" in words(page)


def test_a_key_without_records_is_reported(drawn_page: Open, world: Path) -> None:
    page = drawn_page(
        "connections", world, {KEY: ConnectionKey("NONE", "X", 1, datetime(2026, 1, 1, tzinfo=UTC)).text}
    )
    assert "no record of this connection" in words(page)


@pytest.mark.deep
def test_times_without_a_zone_are_listed_separately(tmp_path: Path, open_page: Open) -> None:
    from tests.sample_stores import SAMPLE

    from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

    store = tmp_path / "store"
    ingest(
        store, [SAMPLE / "smf-sample.bin", SAMPLE / "reports"], IngestOptions(selection=row_selection(None))
    )
    data = data_of(store)
    [row] = data.rows("""
        SELECT z.system, z.stack, z.connection_id, z.start_utc FROM connection_detail AS z
        SEMI JOIN netstat_ttls AS n ON z.system = n.system AND z.connection_id = n.connection_id
        ORDER BY ALL LIMIT 1
    """).to_pylist()
    key = ConnectionKey(row["system"], row["stack"], row["connection_id"], row["start_utc"])
    expected = connection_history(data, key)
    assert {event.source.table for event in expected.in_local} >= {"netstat_ttls"}
    assert all(
        event.moment_utc is None and event.matched_by.endswith("day only") for event in expected.in_local
    )
    page = open_page("connections", store, {KEY: key.text})
    assert "Events with a local time" in words(page)
    assert "time_local" in page.dataframe[-1].value


def test_ssh_and_ipsec_are_part_of_the_history(hostile: Path) -> None:
    data = data_of(hostile)
    for table in ("smf119_zert_ssh", "smf119_zert_ipsec"):
        [row] = data.rows(
            f"SELECT system, stack, connection_id, start_utc FROM {table} ORDER BY ALL LIMIT 1"
        ).to_pylist()
        result = connection_history(
            data, ConnectionKey(row["system"], row["stack"], row["connection_id"], row["start_utc"])
        )
        assert table in {event.source.table for event in result.events}


@pytest.mark.parametrize(
    ("table", "prefix"),
    [("smf119_ftp_client", "data_"), ("smf119_ftp_server", "control_"), ("smf119_ftp_failure", ""),
     ("smf119_tn3270_init", ""), ("smf119_tn3270_term", "")],
)  # fmt: skip
def test_records_of_applications_are_matched_by_addresses_and_ports(
    hostile: Path, table: str, prefix: str
) -> None:
    data = data_of(hostile)
    ends = ", ".join(f"{prefix}{end} AS {end}" for end in ("remote_ip", "remote_port", "local_port"))
    [row] = data.rows(
        f"SELECT record_no, system, stack, {ends} FROM {table} ORDER BY ALL LIMIT 1"
    ).to_pylist()
    record = row.pop("record_no")
    [source] = [source for source in connection_tables() if source.table == table]
    facts = ConnectionFacts(**row, number=0, start_utc=None)
    conditions = [match_condition(match, facts) for match in source.matches]
    result = [
        data.rows(f"SELECT record_no FROM {table} WHERE {each}")["record_no"].to_pylist()
        for each in conditions
    ]
    assert any(record in records for records in result)


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf", "only_netstat")])
def test_without_connections_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("connections", request.getfixturevalue(store))
    assert "There are no connections" in words(page)
    assert "zscope ingest" in words(page)


@pytest.mark.deep
def test_zert_alone_is_enough(drawn_page: Open, only_zert: Path) -> None:
    page = drawn_page("connections", only_zert)
    assert "connections, the newest first" in words(page)
    data = data_of(only_zert)
    page = drawn_page("connections", only_zert, {KEY: search(data, ConnectionSearch("zERT")).key(0).text})
    assert set(page.dataframe[-1].value["table"]) >= {"smf119_zert_detail"}


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    data = data_of(hostile)
    question = ConnectionSearch("zERT", job=MARKUP)
    assert search(data, question).rows.num_rows > 0
    page = drawn_page("connections", hostile, {"connections_job": MARKUP})
    assert set(page.dataframe[0].value["job_name"]) == {MARKUP}
    assert MARKUP not in words(page)
    page = drawn_page("connections", hostile, {KEY: search(data, question).key(0).text})
    assert MARKUP not in words(page)


@pytest.mark.parametrize("source", connection_tables(), ids=lambda source: source.table)
def test_sentences_have_columns_of_their_table(source: ConnectionTable) -> None:
    columns = {
        name for match in re.findall(r"[{\[]([\w|]+)[}?]", source.rows.sentence) for name in match.split("|")
    }
    assert columns
    assert columns <= set(parquet_schema(source.table).names)


def test_a_sentence_has_its_optional_part_only_with_a_value(world: Path) -> None:
    data = data_of(world)
    ended = next(source for source in connection_tables() if source.table == "smf119_tcp_term")
    [row] = data.rows("SELECT * FROM smf119_tcp_term WHERE tls_version > 0 LIMIT 1").to_pylist()
    event = ConnectionEvent(ended, row, None, None, "number and start")
    texts = code_texts(data, ended.table, row)
    assert f", {texts['tls_version']}, suite " in sentence(event, texts)
    plain = ConnectionEvent(ended, row | {"tls_version": None}, None, None, "number and start")
    assert "suite" not in sentence(plain, texts)
    assert f"{row['in_bytes']:,} bytes received" in sentence(plain, texts)
