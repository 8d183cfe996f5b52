"""The page about posture and certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.app.conftest import deep
from tests.app.dashboard.conftest import MARKUP, Open, fine, words
from tests.app.dashboard.page_helpers import choose, data_of, listed, lists_of, sql, table, titles
from tests.marking import deep_except

from zscope.app.dashboard.pages.posture.certificates import NO_REMARK, closest, name_of, remark_of, uses
from zscope.app.dashboard.pages.posture.certificates import all_certificates as certificates
from zscope.app.dashboard.pages.posture.findings import all_findings as findings
from zscope.app.dashboard.pages.posture.findings import evidence
from zscope.app.dashboard.style import SEVERITY_MARKS
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from pathlib import Path

COUNTED = "source = 'zERT summary'"
PARTS = ["Findings", "Protection", "Certificates", "Post-quantum readiness"]


@pytest.mark.parametrize("system", [None, "CLI1"])
def test_findings_are_counted_by_severity(drawn_page: Open, world: Path, system: str | None) -> None:
    page = drawn_page("posture", world, {"system": system} if system else None)
    where = f"WHERE system = '{system}'" if system else ""
    counts = dict(sql(world, f"SELECT severity, count(*) FROM finding {where} GROUP BY severity"))
    shown = {metric.label.split()[-1]: int(metric.value) for metric in page.metric}
    assert shown == {severity: counts.get(severity, 0) for severity in SEVERITY_MARKS}
    assert sum(shown.values()) > 10


def test_a_filter_that_findings_cannot_follow_is_named(drawn_page: Open, world: Path) -> None:
    assert "Not filtered by role" in words(drawn_page("posture", world, {"role": "client"}))


def test_the_worst_findings_come_first(drawn_page: Open, world: Path) -> None:
    marks = table(drawn_page("posture", world), "findings-").loc[:, "mark"].tolist()
    order = list(SEVERITY_MARKS.values())
    assert [order.index(mark) for mark in marks] == sorted(order.index(mark) for mark in marks)


@pytest.mark.deep
def test_findings_are_narrowed_by_severity_and_kind(open_page: Open, recorded: Path) -> None:
    page = open_page("posture", recorded)
    page.button_group(key="posture_severity").set_value(["medium"]).run()
    page.selectbox(key="posture_what").set_value("TLSv1.0 or TLSv1.1").run()
    fine(page)
    [(count,)] = sql(recorded, "SELECT count(*) FROM finding WHERE id = 'tls10-tls11'")
    rows = table(page, "findings-")
    assert len(rows) == count
    assert set(rows["mark"]) == {"◆ medium"}


def test_choosing_a_finding_shows_its_evidence(open_page: Open, world: Path) -> None:
    page = open_page("posture", world)
    rows = table(page, "findings-")
    [number] = rows.index[(rows["what"].str.startswith("Traffic")) & (rows["server_port"] == 3000)
                          & (rows["system"] == "SRV1")].tolist()  # fmt: skip
    choose(page, "findings-", number)
    statement = page.code[-1].value
    assert "is_unprotected" in statement
    assert len(listed(page, "job_name")) == len(sql(world, statement)) > 0
    assert "Protect the port" in words(page).replace("\\", "")


def test_a_chosen_row_is_forgotten_when_the_rows_change(open_page: Open, world: Path) -> None:
    page = choose(open_page("posture", world), "findings-", 3)
    assert page.code
    page.button_group(key="posture_severity").set_value(["low"]).run()
    fine(page)
    assert not page.code


def test_every_kind_of_finding_has_evidence(recorded: Path) -> None:
    data = data_of(recorded)
    of_kind = {row["id"]: row for row in findings(data).to_pylist()}
    assert len(of_kind) > 5
    for row in of_kind.values():
        assert evidence(data, row["evidence"]).num_rows > 0


def test_first_it_names_jobs_and_clients(drawn_page: Open, world: Path) -> None:
    page = drawn_page("posture", world)
    lists = lists_of(page)
    [(job, port, system, connections)] = sql(
        world,
        "SELECT job_name, server_port, system, sum(connections)::BIGINT FROM exposed_client "
        "WHERE protocol = 'none' GROUP BY ALL ORDER BY 4 DESC, 1, 3, 2 LIMIT 1",
    )
    [(client,)] = sql(
        world,
        f"SELECT min(client_ip) FROM exposed_client WHERE protocol = 'none' AND job_name = '{job}' "
        f"AND system = '{system}' AND server_port = {port}",
    )
    [line] = [row for row in lists if f"{connections:,}" in row and job in row[0]]
    assert client in " ".join(line)
    [(days,)] = sql(world, "SELECT min(days_left) FROM certificate_inventory WHERE days_left >= 0")
    assert any(row[1] == f"{days}" for row in lists)
    assert titles(page) >= {"Who still uses TLSv1.1 or older?", "Which certificate ends next?"}


def test_exposed_clients_add_up_to_the_posture(world: Path) -> None:
    [(clients, posture)] = sql(
        world,
        "SELECT (SELECT sum(connections) FROM exposed_client), "
        "(SELECT sum(unprotected_connections + old_version_connections) FROM tls_posture)",
    )
    assert clients == posture > 0


def test_shares_are_those_of_the_metric(drawn_page: Open, world: Path) -> None:
    page = drawn_page("posture", world, {"posture_part": "Protection"})
    [(unprotected, old, no_pfs)] = sql(
        world,
        f"""
        SELECT 100 * sum(unprotected_connections) / sum(connections),
            100 * sum(ssl_connections + tls10_tls11_connections) / sum(tls_connections),
            100 * sum(without_pfs_connections) / sum(tls_connections)
        FROM tls_posture WHERE {COUNTED}
    """,
    )
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Unprotected"] == f"{unprotected:.1f} %"
    assert shown["Old version"] == f"{old:.1f} %"
    assert shown["No forward secrecy"] == f"{no_pfs:.1f} %"
    assert unprotected > 0


@pytest.mark.parametrize("place", ["Server port", *deep("System", "Job name")])
def test_shares_are_shown_by_place(drawn_page: Open, world: Path, place: str) -> None:
    page = drawn_page("posture", world, {"posture_part": "Protection", "posture_by": place})
    column = place.lower().replace(" ", "_")
    assert page.button_group(key="posture_by").value == column
    shown = listed(page, column, "unprotected_pct", "old_version_pct")
    expected = sql(
        world,
        f"SELECT {column}, source, 100 * sum(unprotected_connections) / sum(connections) FROM tls_posture "
        "GROUP BY ALL HAVING sum(connections) > 0",
    )
    drawn = zip(shown[column], shown["source"], shown["unprotected_pct"], strict=True)
    assert {(at, source): pct for at, source, pct in drawn} == pytest.approx(
        {(at, source): pct for at, source, pct in expected}
    )


def test_certificates_are_counted(drawn_page: Open, world: Path) -> None:
    page = drawn_page("posture", world, {"posture_part": "Certificates"})
    [(all_of_them, expired, since)] = sql(
        world,
        "SELECT count(*), count_if(expiry = 'expired'), count_if(expiry = 'ended since') "
        "FROM certificate_inventory",
    )
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Certificates"] == str(all_of_them)
    assert shown["Expired"] == str(expired)
    assert shown["Ended since"] == str(since)
    assert all_of_them > 5


def test_certificates_are_judged_as_of_the_data(drawn_page: Open, world: Path) -> None:
    """The world is of March 2026: by today's clock, certificates that were valid then have ended."""
    page = drawn_page("posture", world, {"posture_part": "Certificates"})
    [(last,)] = sql(world, "SELECT max(last_seen_utc) FROM certificate_seen")
    assert f"As of {last:%Y-%m-%d}" in words(page)
    picture = page.get("vega_lite_chart")[-1].proto.SerializeToString()
    assert b"today" not in picture
    assert last.isoformat().encode() in picture
    rows = table(page, "certificates-")
    [(first, days)] = sql(world, "SELECT serial, days_left FROM certificate_inventory LIMIT 1")
    assert rows.loc[rows["serial"] == first, "days_left"].tolist() == [days]


def test_certificates_are_filtered_by_place(drawn_page: Open, world: Path) -> None:
    page = drawn_page("posture", world, {"posture_part": "Certificates", "system": "CLI2", "port": "443"})
    [(there,)] = sql(
        world,
        "SELECT count(DISTINCT (serial, issuer_dn)) FROM certificate_seen "
        "WHERE system = 'CLI2' AND server_port = 443",
    )
    assert page.metric[0].value == str(there) == "1"


def test_choosing_a_certificate_shows_where_it_is_used(open_page: Open, world: Path) -> None:
    page = choose(open_page("posture", world, {"posture_part": "Certificates"}), "certificates-", 2)
    serial = table(page, "certificates-").loc[2, "serial"]
    places = sql(world, f"SELECT system, job_name FROM certificate_seen WHERE serial = '{serial}'")
    shown = listed(page, "presented_by", "system")
    assert sorted(zip(shown["system"], shown["job_name"], strict=True)) == sorted(places)
    assert places


def test_uses_follow_the_filters(world: Path) -> None:
    data = data_of(world, Filters(systems=("SRV1",)))
    row = certificates(data).to_pylist()[0]
    assert set(uses(data, row)["system"].to_pylist()) == {"SRV1"}


def test_the_picture_shows_those_closest_to_the_end_of_the_data(world: Path) -> None:
    result = certificates(data_of(world))
    near = closest(result, 3).to_pylist()
    days = sorted(abs(row["days_left"]) for row in result.to_pylist())[:3]
    assert sorted(abs(row["days_left"]) for row in near) == days
    assert near == sorted(near, key=lambda row: row["not_after_utc"])


@pytest.mark.parametrize(
    ("self_signed", "has_short_key", "expected"),
    [
        (True, True, "self-signed, short key"),
        (True, False, "self-signed"),
        (False, True, "short key"),
        (None, False, NO_REMARK),
    ],
)
def test_weaknesses_of_a_certificate(self_signed: bool | None, has_short_key: bool, expected: str) -> None:
    assert remark_of({"self_signed": self_signed, "has_short_key": has_short_key}) == expected


def test_every_certificate_has_a_name() -> None:
    assert name_of({"subject_dn": "CN=shop.example.com,O=X", "serial": "1"}) == "shop.example.com"
    assert name_of({"subject_dn": "O=X", "serial": "1"}) == "O=X"
    assert name_of({"subject_dn": None, "serial": "1f"}) == "serial 1f"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("store", ["empty", *deep("only_rmf", "only_netstat")])
def test_without_zert_the_page_shows_what_to_load(
    drawn_page: Open, store: str, part: str, request: pytest.FixtureRequest
) -> None:
    page = drawn_page("posture", request.getfixturevalue(store), {"posture_part": part})
    assert "zERT" in words(page)
    assert "zscope ingest SMF.DUMP --select" in words(page)


@pytest.mark.parametrize("part", deep_except(PARTS[:1], PARTS))
def test_zert_alone_is_enough(drawn_page: Open, only_zert: Path, part: str) -> None:
    page = drawn_page("posture", only_zert, {"posture_part": part})
    assert page.metric or page.get("vega_lite_chart")


@pytest.mark.parametrize("part", deep_except(PARTS[:2], PARTS))
def test_names_of_data_are_never_markup(drawn_page: Open, hostile: Path, part: str) -> None:
    page = drawn_page("posture", hostile, {"posture_part": part, "posture_by": "Job name"})
    assert MARKUP not in words(page)


def test_names_in_evidence_are_never_markup(open_page: Open, hostile: Path) -> None:
    page = open_page("posture", hostile)
    rows = table(page, "findings-")
    number = rows.index[rows["job_name"] == MARKUP][0]
    choose(page, "findings-", int(number))
    assert all(MARKUP not in element.value for element in (*page.markdown, *page.caption))
    assert set(listed(page, "job_name")["job_name"]) == {MARKUP}


def test_names_of_certificates_are_never_markup(open_page: Open, hostile: Path) -> None:
    page = choose(open_page("posture", hostile, {"posture_part": "Certificates"}), "certificates-", 0)
    assert "**_`" not in words(page)
    assert len(listed(page, "presented_by", "system")) > 0
