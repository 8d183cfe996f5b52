"""The page about protocols and cipher suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import data_of

from zscope.app.dashboard.pages.ciphers.ciphers_queries import (
    NAMES,
    ONCE,
    PORTS,
    Subject,
    by_port,
    failed,
    fold,
    headline,
    over_time,
    protocols,
    sources,
    suites,
)
from zscope.app.dashboard.time_axis import STEPS

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.app.dashboard.page_data import PageData


@pytest.fixture(scope="module")
def data(recorded: Path) -> PageData:
    """A day in which each connection has records."""
    return data_of(recorded)


def test_numbers_are_those_of_each_connection_once(drawn_page: Open, recorded: Path, data: PageData) -> None:
    [expected] = data.rows(f"""
        SELECT
            100.0 * sum(connections) FILTER (t.protocol = 'TLSv1.3') / sum(connections) AS tls13,
            100.0 * sum(connections) FILTER (pfs = 'no') / sum(connections) AS without_pfs,
            100.0 * coalesce(sum(connections) FILTER (encryption IN ('3DES', 'RC4')), 0) / sum(connections)
                AS weak,
            sum(failed_handshakes)::BIGINT AS failed
        FROM tls_hour AS t LEFT JOIN cipher AS c ON t.cipher = c.code WHERE source = '{ONCE}' AND is_tls
    """).to_pylist()
    page = drawn_page("ciphers", recorded)
    assert page.selectbox(key="ciphers_source").value == ONCE
    assert {metric.label: metric.value for metric in page.metric} == {
        "TLSv1.3": f"{expected['tls13']:.1f} %",
        "Without forward secrecy": f"{expected['without_pfs']:.1f} %",
        "Weak": f"{expected['weak']:.1f} %",
        "Failed handshakes": f"{expected['failed']:,}",
        "Suite not known": "0.0 %",
    }
    assert expected["failed"] > 0
    assert len(page.get("vega_lite_chart")) == 5


def test_sources_are_shown_one_at_a_time(drawn_page: Open, recorded: Path, data: PageData) -> None:
    page = drawn_page("ciphers", recorded, {"ciphers_source": "AT-TLS"})
    assert page.selectbox(key="ciphers_source").value == "AT-TLS"
    assert page.metric[0].value == f"{headline(suites(data, 'AT-TLS'), 'connections')['tls13']:.1f} %"
    assert sources(data)[0] == ONCE
    assert sum(protocols(data, "AT-TLS")["connections_pct"].to_pylist()) == pytest.approx(100)


def test_bytes_where_a_source_has_none_are_not_zero(drawn_page: Open, recorded: Path) -> None:
    page = drawn_page("ciphers", recorded, {"ciphers_source": "NETSTAT TTLS", "ciphers_measure": "bytes"})
    assert page.metric[0].value == "n/a"
    assert "This source has no bytes for it" in words(page)


def test_bytes_and_suites_can_be_chosen(open_page: Open, recorded: Path, data: PageData) -> None:
    page = open_page("ciphers", recorded, {"ciphers_subject": "cipher suites"})
    assert page.button_group(key="ciphers_subject").value == "cipher suites"
    page.button_group(key="ciphers_measure").set_value("bytes").run()
    fine(page)
    assert page.metric[0].value == f"{headline(suites(data, ONCE), 'bytes')['tls13']:.1f} %"


def test_weak_suites_have_a_shape_and_a_reason(data: PageData) -> None:
    rows = {row["cipher"]: row for row in suites(data, "zERT detail").to_pylist()}
    assert rows["009D"]["mark"] == "◆ no forward secrecy"
    assert rows["1302"]["mark"] == "● forward secrecy"


@pytest.mark.deep
def test_unknown_codes_are_shown_as_their_value(only_zert: Path) -> None:
    rows = suites(data_of(only_zert), "zERT detail").to_pylist()
    known = {row["cipher"]: row for row in rows}
    assert known["FFFFFF"]["cipher_name"] == "unknown (FFFFFF)"
    assert known["FFFFFF"]["mark"] == "○ not known"
    assert known["000A"]["weak_because"] == "3DES"
    assert known["000A"]["mark"] == "▲ weak"


@pytest.mark.parametrize("subject", get_args(Subject))
def test_small_protocols_are_combined_without_loss(data: PageData, subject: Subject) -> None:
    result = protocols(data, ONCE) if subject == "protocols" else suites(data, ONCE)
    whole = sum(result["connections"].to_pylist())
    few = fold(result, NAMES[subject], "connections", 2)
    assert len(few.labels) <= 4
    assert few.labels[-1].startswith("other (")
    assert sum(few.table["amount"].to_pylist()) == whole
    for by in STEPS:
        table = over_time(data, ONCE, subject, few, by)
        assert sum(table["connections"].to_pylist()) == whole
        assert set(table["name"].to_pylist()) <= set(few.labels)
    ports = by_port(data, ONCE, subject, few, "connections")
    of_tls = "" if subject == "protocols" else "AND is_tls"
    [expected] = data.rows(f"""
        SELECT sum(n)::BIGINT AS n FROM (
            SELECT sum(connections) AS n FROM tls_hour WHERE source = '{ONCE}' {of_tls}
            GROUP BY server_port ORDER BY n DESC LIMIT {PORTS}
        )
    """).to_pylist()
    assert sum(ports["connections"].to_pylist()) == expected["n"]


def test_weak_suites_are_not_part_of_the_rest(only_zert: Path) -> None:
    result = suites(data_of(only_zert), "zERT detail")
    labels = fold(result, "cipher_name", "connections", 1).labels
    assert [label for label in labels if label.startswith("▲")] == ["▲ TLS_RSA_WITH_3DES_EDE_CBC_SHA"]


def test_failed_handshakes_are_counted_separately(data: PageData) -> None:
    [expected] = data.rows(
        f"SELECT sum(failed_handshakes)::BIGINT AS failed FROM tls_hour WHERE source = '{ONCE}'"
    ).to_pylist()
    assert sum(failed(data, ONCE)["failed_handshakes"].to_pylist()) == expected["failed"]


def test_filters_narrow_it(drawn_page: Open, recorded: Path) -> None:
    page = drawn_page("ciphers", recorded, {"system": "CLI1", "role": "client"})
    rows = data_of(recorded).rows(
        "SELECT sum(failed_handshakes)::BIGINT AS failed FROM tls_hour "
        f"WHERE source = '{ONCE}' AND system = 'CLI1'"
    )
    [row] = rows.to_pylist()
    assert page.metric[3].value == f"{row['failed']:,}"
    assert row["failed"] > 0
    assert "Not filtered by role" in words(page)


@pytest.mark.parametrize("store", ["empty", *deep("only_rmf")])
def test_without_data_the_page_shows_what_to_load(
    drawn_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    shown = words(drawn_page("ciphers", request.getfixturevalue(store)))
    assert "There are no connections with known protection" in shown
    assert "zscope ingest" in shown


@pytest.mark.deep
@pytest.mark.parametrize(
    ("store", "source"), [("only_netstat", "NETSTAT TTLS"), ("only_zert", "zERT detail")]
)
def test_one_source_is_enough(
    drawn_page: Open, store: str, source: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("ciphers", request.getfixturevalue(store), {"ciphers_source": source})
    assert page.selectbox(key="ciphers_source").value == source
    assert page.metric[0].value.endswith("%")


@pytest.mark.deep
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(drawn_page("ciphers", hostile, {"ciphers_subject": "cipher suites"}))
