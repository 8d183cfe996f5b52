"""The page about protocols and cipher suites."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from tests.app.dashboard.conftest import MARKUP, Open, fine, words

from zscope.app.dashboard.answers import Answers, Data
from zscope.app.dashboard.filters import Filters
from zscope.app.dashboard.queries.cipher_fold import fold
from zscope.app.dashboard.queries.ciphers import (
    NAMES,
    ONCE,
    PORTS,
    Subject,
    by_port,
    failed,
    headline,
    over_time,
    protocols,
    sources,
    suites,
)
from zscope.app.dashboard.queries.suite_marks import WEAK, is_without_pfs, mark


@pytest.fixture(scope="module")
def data(world: Path) -> Data:
    """The small world, all of it."""
    answers = Answers(world)
    return Data(answers, answers.version(), Filters())


def test_numbers_are_those_of_each_connection_once(open_page: Open, world: Path, data: Data) -> None:
    [told] = data.rows(f"""
        SELECT
            100.0 * sum(connections) FILTER (t.protocol = 'TLSv1.3') / sum(connections) AS tls13,
            100.0 * sum(connections) FILTER (pfs = 'no') / sum(connections) AS without_pfs,
            100.0 * coalesce(sum(connections) FILTER (encryption IN ('3DES', 'RC4')), 0) / sum(connections)
                AS weak,
            sum(failed_handshakes)::BIGINT AS failed
        FROM tls_hour AS t LEFT JOIN cipher AS c ON t.cipher = c.code WHERE source = '{ONCE}' AND is_tls
    """).to_pylist()
    page = open_page("ciphers", world)
    assert page.selectbox(key="ciphers_source").value == ONCE
    assert {metric.label: metric.value for metric in page.metric} == {
        "TLSv1.3": f"{told['tls13']:.1f} %",
        "Without forward secrecy": f"{told['without_pfs']:.1f} %",
        "Weak": f"{told['weak']:.1f} %",
        "Failed handshakes": f"{told['failed']:,}",
    }
    assert told["failed"] > 0
    assert len(page.get("vega_lite_chart")) == 5


def test_sources_are_shown_one_at_a_time(open_page: Open, world: Path, data: Data) -> None:
    page = open_page("ciphers", world, {"ciphers_source": "AT-TLS"})
    assert page.selectbox(key="ciphers_source").value == "AT-TLS"
    assert page.metric[0].value == f"{headline(suites(data, 'AT-TLS'), 'connections')['tls13']:.1f} %"
    assert sources(data)[0] == ONCE
    assert sum(protocols(data, "AT-TLS")["connections_pct"].to_pylist()) == pytest.approx(100)


def test_bytes_where_a_source_has_none_are_not_zero(open_page: Open, world: Path) -> None:
    page = open_page("ciphers", world, {"ciphers_source": "NETSTAT TTLS", "ciphers_measure": "bytes"})
    assert page.metric[0].value == "n/a"
    assert "This source tells of no bytes here" in words(page)


def test_bytes_and_suites_can_be_chosen(open_page: Open, world: Path, data: Data) -> None:
    page = open_page("ciphers", world, {"ciphers_subject": "cipher suites"})
    assert page.button_group(key="ciphers_subject").value == "cipher suites"
    page.button_group(key="ciphers_measure").set_value("bytes").run()
    fine(page)
    assert page.metric[0].value == f"{headline(suites(data, ONCE), 'bytes')['tls13']:.1f} %"


def test_every_known_suite_is_judged_as_posture_judges_it(data: Data) -> None:
    listed = data.rows("""
        SELECT code AS cipher, key_exchange, authentication, encryption, pfs,
            protocol <> 'signalling' AND (
                encryption IN ('3DES', 'RC4', 'DES', 'RC2', 'NULL') OR authentication = 'anon'
                OR contains(key_exchange, 'EXPORT')
            ) AS is_weak,
            protocol <> 'signalling' AND pfs = 'no' AS is_without_pfs
        FROM cipher
    """).to_pylist()
    assert len(listed) > 300
    assert [row["cipher"] for row in listed if (mark(row) == WEAK) != row["is_weak"]] == []
    assert [row["cipher"] for row in listed if is_without_pfs(row) != row["is_without_pfs"]] == []


def test_weak_suites_have_a_shape_and_a_reason(data: Data) -> None:
    rows = {row["cipher"]: row for row in suites(data, "zERT detail").to_pylist()}
    assert rows["009D"]["mark"] == "◆ no forward secrecy"
    assert rows["1302"]["mark"] == "● forward secrecy"


def test_unknown_codes_are_shown_as_their_value(only_zert: Path) -> None:
    answers = Answers(only_zert)
    rows = suites(Data(answers, answers.version(), Filters()), "zERT detail").to_pylist()
    known = {row["cipher"]: row for row in rows}
    assert known["FFFFFF"]["cipher_name"] == "unknown (FFFFFF)"
    assert known["FFFFFF"]["mark"] == "○ not known"
    assert known["000A"]["weak_because"] == "3DES"
    assert known["000A"]["mark"] == "▲ weak"


@pytest.mark.parametrize("subject", get_args(Subject))
def test_pictures_lose_nothing_when_small_ones_are_put_together(data: Data, subject: Subject) -> None:
    found = protocols(data, ONCE) if subject == "protocols" else suites(data, ONCE)
    whole = sum(found["connections"].to_pylist())
    few = fold(found, NAMES[subject], "connections", 2)
    assert len(few.labels) <= 4
    assert few.labels[-1].startswith("other (")
    assert sum(few.table["amount"].to_pylist()) == whole
    for by in ("hour_utc", "day"):
        table = over_time(data, ONCE, subject, few, by)
        assert sum(table["connections"].to_pylist()) == whole
        assert set(table["name"].to_pylist()) <= set(few.labels)
    ports = by_port(data, ONCE, subject, few, "connections")
    of_tls = "" if subject == "protocols" else "AND is_tls"
    [told] = data.rows(f"""
        SELECT sum(n)::BIGINT AS n FROM (
            SELECT sum(connections) AS n FROM tls_hour WHERE source = '{ONCE}' {of_tls}
            GROUP BY server_port ORDER BY n DESC LIMIT {PORTS}
        )
    """).to_pylist()
    assert sum(ports["connections"].to_pylist()) == told["n"]


def test_weak_suites_stay_apart_from_the_rest(only_zert: Path) -> None:
    answers = Answers(only_zert)
    found = suites(Data(answers, answers.version(), Filters()), "zERT detail")
    labels = fold(found, "cipher_name", "connections", 1).labels
    assert [label for label in labels if label.startswith("▲")] == ["▲ TLS_RSA_WITH_3DES_EDE_CBC_SHA"]


def test_failed_handshakes_stand_apart(data: Data) -> None:
    [told] = data.rows(
        f"SELECT sum(failed_handshakes)::BIGINT AS failed FROM tls_hour WHERE source = '{ONCE}'"
    ).to_pylist()
    assert sum(failed(data, ONCE)["failed_handshakes"].to_pylist()) == told["failed"]


def test_filters_narrow_it(open_page: Open, world: Path) -> None:
    page = open_page("ciphers", world, {"system": "CLI1", "role": "client"})
    assert page.metric[3].value == "6"
    assert "Not narrowed by role" in words(page)


@pytest.mark.parametrize("store", ["empty", "only_rmf"])
def test_without_data_it_says_what_would_bring_it(
    open_page: Open, store: str, request: pytest.FixtureRequest
) -> None:
    shown = words(open_page("ciphers", request.getfixturevalue(store)))
    assert "No connections whose protection is told" in shown
    assert "zscope ingest" in shown


@pytest.mark.parametrize(
    ("store", "source"), [("only_netstat", "NETSTAT TTLS"), ("only_zert", "zERT detail")]
)
def test_one_source_is_enough(
    open_page: Open, store: str, source: str, request: pytest.FixtureRequest
) -> None:
    page = open_page("ciphers", request.getfixturevalue(store), {"ciphers_source": source})
    assert page.selectbox(key="ciphers_source").value == source
    assert page.metric[0].value.endswith("%")


def test_names_of_data_are_never_markup(open_page: Open, hostile: Path) -> None:
    assert MARKUP not in words(open_page("ciphers", hostile, {"ciphers_subject": "cipher suites"}))
