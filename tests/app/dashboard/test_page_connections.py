"""The page that finds connections and tells the story of one."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words

from zscope.app.dashboard.answers import Answers, Data
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.queries.connection_key import ConnectionKey
from zscope.app.dashboard.queries.connection_story import story
from zscope.app.dashboard.queries.connection_tables import ELSEWHERE, Known
from zscope.app.dashboard.queries.connection_terms import UnreadableError, of_address, of_number, of_port
from zscope.app.dashboard.queries.connections import PAGE, Question, count, search

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from zscope.app.dashboard.queries.connection_sources import Source

KEY = "connections_key"
DISPLAYED = "SELECT system, connection_id FROM netstat_ttls WHERE taken_utc IS NOT NULL"


def _data(store: Path, filters: Filters | None = None) -> Data:
    answers = Answers(store)
    return Data(answers, answers.version(), filters or Filters())


def _displayed(data: Data) -> ConnectionKey:
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


def test_the_newest_come_first_and_pages_go_on_where_the_last_ended(open_page: Open, world: Path) -> None:
    data = _data(world)
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


@pytest.mark.parametrize("source", ["zERT", "TCP"])
def test_pages_hold_every_connection_once(world: Path, source: Source) -> None:
    data = _data(world, Filters(systems=("SRV2", "CLI2")))
    question = Question(source)
    seen, after = [], None
    while True:
        found = search(data, question, after)
        seen += [found.key(row).text for row in range(found.rows.num_rows)]
        if not found.has_more:
            break
        assert found.rows.num_rows == PAGE
        after = found.last
    assert len(seen) == len(set(seen)) == count(data, question)


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
def test_conditions_of_the_address_find_what_sql_finds(
    open_page: Open, world: Path, typed: dict[str, str], condition: str
) -> None:
    [found] = _data(world).rows(f"SELECT count(*) AS n FROM connection_detail WHERE {condition}").to_pylist()
    assert found["n"] > 0
    assert f" of {found['n']:,} connections" in words(open_page("connections", world, typed))


def test_the_form_searches_and_says_what_it_cannot_read(open_page: Open, world: Path) -> None:
    page = open_page("connections", world)
    page.text_input(key="connections_id").set_value("ffffffff")
    assert "No connection fits" in words(_search(page))
    page.text_input(key="connections_address").set_value("10.1.2.3.4 OR true")
    page = _search(page)
    assert "write an address such as" in page.warning[0].value
    assert not page.dataframe


def test_termination_records_can_be_asked(open_page: Open, world: Path) -> None:
    query = {"connections_source": "TCP", "connections_protocol": "TLSv1.2"}
    [found] = (
        _data(world)
        .rows("SELECT count(*) AS n FROM smf119_tcp_term WHERE ttls_status = 3 AND tls_version = 771")
        .to_pylist()
    )
    page = open_page("connections", world, query)
    assert f" of {found['n']:,} connections" in words(page)
    assert page.text_input(key="connections_user").disabled


@pytest.mark.parametrize(
    "prefix",
    ["2001:db8::/32", "2001:db8:40::/42", "::/3", "10.16.0.0/12", "10.", "10.1.*", "0.0.0.0/1", "9.9.9.9/32"],
)
def test_prefixes_hold_the_addresses_they_should(only_zert: Path, prefix: str) -> None:
    data = _data(only_zert)
    known = [
        row["ip"] for row in data.rows("SELECT DISTINCT remote_ip AS ip FROM smf119_zert_detail").to_pylist()
    ]
    known += ["::1", "2001::", "2001:db8::1", "9.9.9.9", "2001:db8:7f::1:0:0:2"]
    within = ip_network({"10.": "10.0.0.0/8", "10.1.*": "10.1.0.0/16"}.get(prefix, prefix))
    wanted = {ip for ip in known if ip_address(ip).version == within.version and ip_address(ip) in within}
    asked = data.rows(f"SELECT ip FROM (SELECT unnest({known!r}) AS ip) WHERE {of_address(prefix, ('ip',))}")
    assert set(asked["ip"].to_pylist()) == wanted


@pytest.mark.parametrize("text", ["x", "99999999999", "-1", "0x1ffffffff", "12 OR 1=1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        of_number(text)
    with pytest.raises(UnreadableError):
        of_port(text)


def test_a_link_tells_the_whole_story_in_order(open_page: Open, world: Path) -> None:
    data = _data(world)
    key = _displayed(data)
    told = story(data, key)
    tables = {event.told.table for event in told.events}
    assert tables >= {
        "smf119_tcp_init", "smf119_tcp_term", "smf119_zert_detail", "smf119_zert_dn", "netstat_conn",
        "netstat_ttls",
    }  # fmt: skip
    moments = [event.moment_utc for event in told.in_utc if event.moment_utc]
    assert len(moments) == len(told.in_utc)
    assert moments == sorted(moments)
    page = open_page("connections", world, {KEY: key.text})
    grid = page.dataframe[-1].value
    assert list(grid["place"]) == [event.place for event in told.in_utc]
    assert grid["says"].str.contains("Connection ended").any()
    assert grid["file"].str.len().min() > 0
    assert len(page.get("vega_lite_chart")) == 1
    page.button[0].click().run()
    fine(page)
    assert "connections, the newest first" in words(page)


@pytest.mark.parametrize("key", ["x", "SYSA~TCPIP~99999999999~", "SYSA~T~1~2026-99-99T00:00:00Z", "'~;~1~--"])
def test_what_is_no_key_leads_to_the_search(open_page: Open, world: Path, key: str) -> None:
    page = open_page("connections", world, {KEY: key})
    assert "names no connection" in page.warning[0].value
    assert "connections, the newest first" in words(page)


def test_a_key_of_nothing_says_so(open_page: Open, world: Path) -> None:
    page = open_page(
        "connections", world, {KEY: ConnectionKey("NONE", "X", 1, datetime(2026, 1, 1, tzinfo=UTC)).text}
    )
    assert "no record of that connection" in words(page)


def test_times_without_a_zone_stand_apart(tmp_path: Path, open_page: Open) -> None:
    from tests.app.dashboard.conftest import SAMPLE

    from zscope.pipelines.ingest import How, choose, ingest

    store = tmp_path / "store"
    ingest(store, [SAMPLE / "smf-sample.bin", SAMPLE / "reports"], How(choose(None)))
    data = _data(store)
    [row] = data.rows("""
        SELECT z.system, z.stack, z.connection_id, z.start_utc FROM connection_detail AS z
        SEMI JOIN netstat_ttls AS n ON z.system = n.system AND z.connection_id = n.connection_id
        ORDER BY ALL LIMIT 1
    """).to_pylist()
    key = ConnectionKey(row["system"], row["stack"], row["connection_id"], row["start_utc"])
    told = story(data, key)
    assert {event.told.table for event in told.in_local} >= {"netstat_ttls"}
    assert all(event.moment_utc is None and event.matched_by.endswith("day only") for event in told.in_local)
    page = open_page("connections", store, {KEY: key.text})
    assert "By local clocks" in words(page)
    assert "time_local" in page.dataframe[-1].value


def test_ssh_and_ipsec_are_part_of_the_story(hostile: Path) -> None:
    data = _data(hostile)
    for table in ("smf119_zert_ssh", "smf119_zert_ipsec"):
        [row] = data.rows(
            f"SELECT system, stack, connection_id, start_utc FROM {table} ORDER BY ALL LIMIT 1"
        ).to_pylist()
        found = story(
            data, ConnectionKey(row["system"], row["stack"], row["connection_id"], row["start_utc"])
        )
        assert table in {event.told.table for event in found.events}


@pytest.mark.parametrize(
    ("table", "prefix"),
    [("smf119_ftp_client", "data_"), ("smf119_ftp_server", "control_"), ("smf119_ftp_failure", ""),
     ("smf119_tn3270_init", ""), ("smf119_tn3270_term", "")],
)  # fmt: skip
def test_records_of_applications_are_found_by_addresses_and_ports(
    hostile: Path, table: str, prefix: str
) -> None:
    data = _data(hostile)
    ends = ", ".join(f"{prefix}{end} AS {end}" for end in ("remote_ip", "remote_port", "local_port"))
    [row] = data.rows(
        f"SELECT record_no, system, stack, {ends} FROM {table} ORDER BY ALL LIMIT 1"
    ).to_pylist()
    record = row.pop("record_no")
    [told] = [told for told in ELSEWHERE if told.table == table]
    conditions = told.matches(Known(**row, number=0, start_utc=None)).values()
    found = [
        data.rows(f"SELECT record_no FROM {table} WHERE {each}")["record_no"].to_pylist()
        for each in conditions
    ]
    assert any(record in records for records in found)


@pytest.mark.parametrize("store", ["empty", "only_rmf", "only_netstat"])
def test_without_connections_it_says_what_would_bring_them(
    open_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    page = open_page("connections", request.getfixturevalue(store))
    assert "No connections" in words(page)
    assert "zscope ingest" in words(page)


def test_zert_alone_is_enough(open_page: Open, only_zert: Path) -> None:
    page = open_page("connections", only_zert)
    assert "connections, the newest first" in words(page)
    data = _data(only_zert)
    page = open_page("connections", only_zert, {KEY: search(data, Question("zERT")).key(0).text})
    assert set(page.dataframe[-1].value["table"]) >= {"smf119_zert_detail"}


def test_names_of_data_are_never_markup(open_page: Open, hostile: Path) -> None:
    data = _data(hostile)
    question = Question("zERT", job=MARKUP)
    assert search(data, question).rows.num_rows > 0
    page = open_page("connections", hostile, {"connections_job": MARKUP})
    assert set(page.dataframe[0].value["job_name"]) == {MARKUP}
    assert MARKUP not in words(page)
    page = open_page("connections", hostile, {KEY: search(data, question).key(0).text})
    assert MARKUP not in words(page)
