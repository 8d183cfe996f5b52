"""What the metrics say of whole worlds is what the worlds are made of, whatever the seed and the costs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zscope.pipelines.metrics import metric, needed
from zscope.pipelines.metrics.narrowing import prepared
from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    import duckdb

CACHES = {"session-id": "session ids", "ticket": "TLS 1.3 tickets"}
TERMS = {"full": "full_us", "resumed": "abbreviated_us", "mb": "megabyte_us"}
NOT_TLS = {"failed", "connection", "bytes", "application"}
"""What connections without TLS cost as well, and failed handshakes, which have no price."""
SAMPLE_WORLD = Path(__file__).resolve().parents[3] / "sample-data" / "world"


@dataclass(frozen=True)
class World:
    """A world, and a connection to the store it was loaded into."""

    manifest: dict[str, Any]
    store: duckdb.DuckDBPyConnection
    _made: set[str] = field(default_factory=set)
    """Steps that earlier tests have computed."""

    def rows(self, name: str, statement: str) -> list[tuple[Any, ...]]:
        for before in prepared(metric(name), made=self._made):
            self.store.execute(before)
        self._made.update(needed(name), [name])
        return self.store.execute(statement).fetchall()


@pytest.fixture(scope="module", params=["sample", pytest.param("generated", marks=pytest.mark.deep)])
def world(request: pytest.FixtureRequest) -> World:
    """The world of the sample data, which many tests share, and another one for the deep tests."""
    world: World = request.getfixturevalue(request.param)
    return world


@pytest.fixture(scope="module")
def sample(world_store: Path) -> Iterator[World]:
    """The world of the sample data."""
    yield from opened(SAMPLE_WORLD, world_store)


@pytest.fixture(scope="module")
def generated(generated_world: Path) -> Iterator[World]:
    """A world with records of all connections."""
    yield from opened(generated_world / "world", generated_world / "store")


def opened(folder: Path, store: Path) -> Iterator[World]:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    with open_reader(store) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield World(manifest, connection)


def test_handshakes_are_counted_exactly(world: World) -> None:
    found = world.rows(
        "handshake_mix",
        """SELECT system, strftime(hour_utc, '%Y-%m-%d'), sum(full_handshakes), sum(resumed_handshakes),
            sum(failed_handshakes), sum(unknown_handshakes) FROM handshake_mix GROUP BY ALL""",
    )
    told = {
        (system, day): tuple(facts["handshakes"].get(kind, 0) for kind in ("full", "abbreviated", "failed"))
        for system, days in world.manifest["recorded"]["days"].items()
        for day, facts in days.items()
    }
    assert {row[:2]: row[2:5] for row in found} == {key: kinds for key, kinds in told.items() if any(kinds)}
    assert {row[5] for row in found} == {0}


def test_handshakes_are_of_the_time_in_which_connections_were_recorded(sample: World) -> None:
    """The details are of a quarter of an hour, which is the covered part of their local day."""
    recorded = sample.manifest["recorded"]
    begin, end = (datetime.fromisoformat(recorded[key]) for key in ("from", "to"))
    covered_hours = (end - begin).total_seconds() / 3600
    found = sample.rows(
        "handshake_mix",
        "SELECT system, sum(covered_hours), sum(hours), max(source) FROM handshake_mix GROUP BY ALL",
    )
    assert {row[0] for row in found} == set(recorded["days"])
    assert [row[1:] for row in found] == [
        (pytest.approx(covered_hours), pytest.approx(24), "zERT detail") for _ in found
    ]


def test_connections_and_bytes_are_counted_exactly(world: World) -> None:
    found = world.rows(
        "connection_ended",
        """SELECT system, strftime(end_utc, '%Y-%m-%d'), count(*), sum(in_bytes), sum(out_bytes)
            FROM connection_ended GROUP BY ALL""",
    )
    told = {
        (system, day): (facts["connections_ended"], facts["in_bytes"], facts["out_bytes"])
        for system, days in world.manifest["recorded"]["days"].items()
        for day, facts in days.items()
    }
    assert {row[:2]: row[2:] for row in found} == {key: row for key, row in told.items() if row[0]}


def test_ciphers_are_counted_exactly(world: World) -> None:
    found = world.rows(
        "handshake",
        "SELECT system, cipher, count(*) FROM handshake WHERE kind IN ('full', 'resumed') GROUP BY ALL",
    )
    told: dict[tuple[str, str], int] = {}
    for system, days in world.manifest["recorded"]["days"].items():
        for facts in days.values():
            for cipher, count in facts.get("by_cipher", {}).items():
                told[system, cipher] = told.get((system, cipher), 0) + count
    assert {row[:2]: row[2] for row in found} == told


def test_caches_have_the_counts_of_the_displays(world: World) -> None:
    found = world.rows(
        "resumption_rate",
        """SELECT system, cache, interval_end_utc, sum(full_handshakes), sum(resumed_handshakes)
            FROM resumption_rate WHERE source = 'GSKSRVR' AND basis = 'between displays' GROUP BY ALL""",
    )
    told = {}
    resets: dict[tuple[str, str], str | None] = {}
    for display in world.manifest["gsksrvr"]:
        cache = display["system"], CACHES[display["cache"]]
        counts = display.get("handshakes_since_display")
        if counts and display["reset"] != resets[cache]:
            # What was counted before a reset is in no display.
            counts = {"full": display["add_successful"], "resumed": display["retrieval_successful"]}
        resets[cache] = display["reset"]
        if counts:
            told[*cache, datetime.fromisoformat(display["at"])] = counts["full"], counts["resumed"]
    between = {row[:3]: row[3:] for row in found}
    assert len(between) > len(told) / 2
    assert {key: told.get(key) for key in between} == between


def test_cpu_time_of_the_days_is_that_of_the_machine(world: World) -> None:
    """Days of the world begin at its start, which need not be midnight UTC."""
    found = world.rows(
        "cpu_interval",
        f"""SELECT system,
            date_sub('day', TIMESTAMPTZ '{world.manifest["recipe"]["start"]}', interval_start_utc),
            sum(cpu_s)
        FROM cpu_interval WHERE interval_ms > 600000 GROUP BY ALL""",
    )
    told = {
        (system, day): facts["cpu_s"] - facts["cpu_s_in_gaps"]
        for system, days in world.manifest["cpu_seconds"].items()
        for day, facts in enumerate(days.values())
    }
    # What only reports tell of is known to a hundredth of a percent of four processors.
    assert {row[:2]: row[2] for row in found} == {
        key: pytest.approx(cpu, rel=0.01) for key, cpu in told.items()
    }


def test_runs_have_their_transactions_and_cpu_time(sample: World) -> None:
    found = sample.rows(
        "run_result",
        """SELECT name, role, measure, value FROM run_result
            WHERE measure IN ('cpu_per_tran', 'transaction_rate', 'latency') AND role <> 'both'""",
    )
    told = {
        (run["name"], role, measure): value
        for run in sample.manifest["runs"]
        for role, side in run["sides"].items()
        for measure, value in (
            ("cpu_per_tran", side["cpu_us_per_transaction"]),
            ("transaction_rate", run["steady_transactions_per_s"]),
            ("latency", run["steady_latency_ms"]),
        )
        if value is not None
    }
    # Connections are known as a whole: the steady part of a run with three of them is less certain.
    few = {run["name"] for run in sample.manifest["runs"] if int(re.findall(r"\d+", run["workload"])[0]) <= 3}
    assert {row[:3]: row[3] for row in found if row[3] is not None} == {
        key: pytest.approx(value, rel=0.02 if key[0] in few else 0.01) for key, value in told.items()
    }


def test_runs_are_closed_loops_with_published_rates(sample: World) -> None:
    """Each client has one transaction at a time, so the latency is the number of clients over the rate.

    Transactions of several workloads at once have no latency in common.
    """
    found = sample.rows(
        "run_result",
        """SELECT r.name, r.workload, c.value * r.value / 1000, r.value FROM run_result AS r
            JOIN run_result AS c ON r.name = c.name AND r.role = c.role AND c.measure = 'latency'
            WHERE r.measure = 'transaction_rate' AND r.role = 'client'""",
    )
    assert len(found) == len(sample.manifest["runs"]) >= 60
    for name, workload, clients, _ in found:
        said = None if " + " in workload else pytest.approx(int(re.findall(r"\d+", workload)[0]), rel=0.01)
        assert clients == said, name
    rates = {name: rate for name, workload, _, rate in found if workload.startswith("CRR")}
    assert sum(rate > 1_000 for rate in rates.values()) > 0.75 * len(rates)


def test_costs_are_within_their_ranges(world: World, sample: World) -> None:
    rows = world.rows("handshake_cost", "SELECT * FROM handshake_cost")
    names = [column[0] for column in world.store.description or ()]
    found = {row[0]: dict(zip(names, row, strict=True)) for row in rows}
    if world is sample:
        # Summaries count the handshakes, and do not tell their kinds apart.
        assert {row["status"] for row in found.values()} == {"range"}
        assert all("zERT summaries" in row["difference_why"] for row in found.values())
        return
    hits = []
    for system, costs in world.manifest["costs"].items():
        cost = found[system]
        assert cost["status"] != "not enough data", cost["why"]
        for term, truth in TERMS.items():
            if (high := cost[f"{term}_high_us"]) is not None:
                # A little wider than the interval: twelve of them in a world are never all right at 95 %.
                low, width = cost[f"{term}_low_us"], high - cost[f"{term}_low_us"]
                hits.append(low <= costs[truth] <= high)
                assert low - width / 2 <= costs[truth] <= high + width / 2, (system, term)
    assert sum(hits) >= len(hits) - 2


def test_the_days_of_a_price_add_up_to_it(sample: World) -> None:
    """Their ends are wider only by what the days do differently."""
    rows = sample.rows(
        "tls_price_day",
        """
        SELECT
            p.low_cpu_s_per_day, p.high_cpu_s_per_day, avg(d.low_cpu_s_per_day), avg(d.high_cpu_s_per_day)
        FROM tls_price AS p INNER JOIN tls_price_day AS d ON p.system = d.system
        WHERE p.shared_by = 'system' AND p.part = 'TLS'
        GROUP BY p.system, p.low_cpu_s_per_day, p.high_cpu_s_per_day HAVING min(d.covered_pct) >= 95
        """,
    )
    assert len(rows) == 4
    for low, high, low_of_days, high_of_days in rows:
        assert low_of_days <= low
        assert 1 <= high_of_days / high <= 1.03


@pytest.mark.deep
def test_prices_contain_what_the_connections_cost(sample: World) -> None:
    """Of systems, and of their jobs and rules, which have shares of it."""
    rows = sample.rows(
        "tls_price",
        "SELECT system, shared_by, coalesce(job_name, rule_name), low_cpu_s_per_day, cpu_s_per_day, "
        "high_cpu_s_per_day, status FROM tls_price "
        "WHERE part = 'TLS' AND shared_by IN ('system', 'job', 'rule')",
    )
    found = {
        (system, shared_by, name and name.partition("_")[0]): costs
        for system, shared_by, name, *costs in rows
    }
    statuses = []
    for system, jobs in sample.manifest["connection_cpu"].items():
        truths = {
            job: (sum(costs["cpu_s"].values()) - costs["cpu_s"].get("failed", 0))
            / sample.manifest["recipe"]["days"]
            for job, costs in jobs.items()
            if any(kind.startswith("full") for kind in costs["cpu_s"])
        }
        assert len(truths) == 4
        expected = {("system", None): sum(truths.values())}
        expected |= {(by, job): truth for job, truth in truths.items() for by in ("job", "rule")}
        for (by, job), truth in expected.items():
            low, value, high, status = found[system, by, job]
            assert low <= truth <= high, (system, by, job)
            if status == "estimate":
                assert value == pytest.approx(truth, rel=0.35), (system, by, job)
            statuses.append(status)
    assert len(statuses) == 4 * (1 + 2 * 4)
    # The work of the servers can be in each of them, so none is an estimate.
    assert set(statuses) == {"range"}


@pytest.mark.deep
def test_prices_of_jobs_contain_what_their_connections_cost(generated: World) -> None:
    """One of the systems has SMF 30, so its jobs have prices from their own connections."""
    found = generated.rows(
        "tls_price",
        "SELECT system, job_name, low_cpu_s_per_day, high_cpu_s_per_day FROM tls_price "
        "WHERE part = 'TLS' AND shared_by = 'job' AND derived_from = 'connections'",
    )
    assert len(found) > 2
    assert len({system for system, *_ in found}) == 1
    for system, job, low, high in found:
        costs = generated.manifest["connection_cpu"][system][job]["cpu_s"]
        truth = sum(cpu_s for kind, cpu_s in costs.items() if kind not in NOT_TLS)
        assert low <= truth / generated.manifest["recipe"]["days"] <= high, (system, job)


@pytest.mark.deep
def test_cpu_time_is_that_of_classes_and_address_spaces_and_a_rest(world: World) -> None:
    """The rest of address spaces is larger than that of classes, and both are part of the same CPU time."""
    rows = world.rows(
        "address_space_cpu",
        "SELECT system, interval_start_utc, sum(cp_s), sum(cp_s) FILTER (WHERE account = 'address space') "
        "FROM address_space_cpu WHERE status <> 'no CPU interval' GROUP BY ALL",
    )
    spaces = {(system, begin): (total, captured) for system, begin, total, captured in rows}
    classes = world.rows(
        "service_class_cpu",
        "SELECT system, interval_start_utc, sum(cp_s) FROM service_class_cpu "
        "WHERE class_kind = 'service class' GROUP BY ALL",
    )
    of_class = {(system, begin): captured for system, begin, captured in classes}
    busy = world.rows("cpu_slot", "SELECT system, interval_start_utc, cpu_s, cpu_source FROM cpu_slot")
    compared = 0
    for system, begin, cpu_s, source in busy:
        if (system, begin) not in spaces:
            continue
        total, captured = spaces[system, begin]
        assert total == pytest.approx(cpu_s, abs=1e-6)
        # Reports have two decimals of percentages.
        allowed = 1e-6 if source == "smf70" else 0.5
        assert captured < of_class[system, begin] + allowed
        assert of_class[system, begin] < cpu_s + allowed
        compared += 1
    assert compared > 280


@pytest.mark.deep
def test_jobs_with_tls_are_named_among_the_address_spaces(world: World) -> None:
    rows = world.rows("address_space_cpu", "SELECT DISTINCT role, job_name FROM address_space_cpu")
    roles = {job: role for role, job in rows}
    assert roles["TCPIP"] == "TCP/IP stack"
    assert (roles["PAGENT"], roles["GSKSRVR"], roles["CSF"]) == ("policy agent", "System SSL server", "ICSF")
    tls = world.rows("tls_hour", "SELECT DISTINCT job_name FROM tls_hour WHERE is_tls")
    assert {job for (job,) in tls} & set(roles) == {job for job, role in roles.items() if role == "TLS port"}


def test_stacks_count_the_connections_that_have_records(world: World) -> None:
    rows = world.rows(
        "connection_count",
        "SELECT measure, compared_with, sum(counted), sum(records), sum(abs(difference)) "
        "FROM connection_count WHERE local_port IS NULL "
        f"AND interval_start_utc >= '{world.manifest['recorded']['from']}' "
        f"AND interval_start_utc < '{world.manifest['recorded']['to']}' GROUP BY ALL",
    )
    assert {(measure, source) for measure, source, *_ in rows} == {
        ("opened", "SMF 119-1"),
        ("closed", "SMF 119-2"),
        ("closed", "zERT detail"),
        ("change of open connections", "opened less closed"),
    }
    for measure, source, counted, records, apart in rows:
        assert counted == records, (measure, source)
        # Times in records are rounded, so a connection at the edge of an interval can be in the next one.
        assert apart <= 4, (measure, source)


ONCE = "FROM tls_connection WHERE source = 'each connection once'"


def test_every_connection_has_the_rule_of_its_application_or_no_rule(world: World) -> None:
    found = world.rows(
        "tls_connection",
        f"SELECT DISTINCT is_tls, job_name, left(system, 3) = 'SRV', rule_name, rule_is_certain {ONCE}",
    )
    wanted = {
        (is_tls, job, serves): f"{job}_{'Server' if serves else 'Client'}~1" if is_tls else "no rule"
        for is_tls, job, serves, _, _ in found
    }
    assert {row[:3]: row[3] for row in found} == wanted
    assert {row[4] for row in found} == {True}
    assert len(found) == len(wanted) >= 10


@pytest.mark.deep
def test_every_rule_says_how_it_was_found(world: World) -> None:
    found = world.rows("tls_connection", f"SELECT DISTINCT rule_from {ONCE}")
    assert {row[0] for row in found} == {"NETSTAT TTLS", "AT-TLS message", "policy, by address and port"}
    both = world.rows(
        "tls_connection", f"SELECT count(DISTINCT environment_action), count(*) {ONCE} AND is_tls"
    )
    [[actions, connections]] = both
    [[named]] = world.rows("tls_connection", f"SELECT count(environment_action) {ONCE} AND is_tls")
    assert (actions > 5, named) == (True, connections)


def test_exactly_the_failed_handshakes_have_a_reason(world: World) -> None:
    found = world.rows(
        "tls_connection", f"SELECT failed_handshakes > 0, count(failure_reason), count(*) {ONCE} GROUP BY ALL"
    )
    counts = {failed: (reasons, connections) for failed, reasons, connections in found}
    assert counts[True][0] == counts[True][1] > 5
    assert counts[False][0] == 0


def test_the_workload_report_agrees_with_smf_72(world: World) -> None:
    rows = world.rows(
        "service_class_cpu",
        """SELECT r.cp_s, s.cp_s, r.transactions_ended, s.ended FROM rmf_workload AS r LEFT JOIN (
            SELECT system, interval_start_utc, class_kind, class_name,
                sum(cp_s) AS cp_s, sum(ended_transactions) AS ended
            FROM service_class_cpu WHERE source = 'SMF 72' GROUP BY ALL
        ) AS s USING (system, interval_start_utc, class_kind, class_name)
        WHERE r.class_kind LIKE '% class'""",
    )
    # The server without SMF 72 has a listing instead.
    recorded_too = [row for row in rows if row[1] is not None]
    assert len(rows) > len(recorded_too) > 10
    for reported, recorded, ended, of_records in recorded_too:
        assert reported == pytest.approx(recorded, abs=0.002)
        assert ended == of_records


def test_counters_have_all_connections(sample: World) -> None:
    """Stacks and zERT summaries count the connections of a week and its runs, of which few have records."""
    started = {
        system: [facts.get("connections_started", 0) for facts in days.values()]
        for system, days in sample.manifest["days"].items()
    }
    counted = {system: sum(counts) for system, counts in started.items()}
    assert min(counted.values()) > 1_000_000
    stacks = sample.rows(
        "connection_count",
        "SELECT system, sum(opened_connections + accepted_connections)::BIGINT FROM smf119_stack_statistics "
        "GROUP BY system",
    )
    assert dict(stacks) == counted
    summaries = sample.rows(
        "connection_count",
        """SELECT system, sum(end_conn_count - init_conn_count)::BIGINT FROM smf119_zert_summary
            WHERE summary_event_type = 1 GROUP BY system""",
    )
    assert dict(summaries) == counted


def test_the_changed_policy_has_no_rsa_key_exchange_and_more_resumed_handshakes(sample: World) -> None:
    changed = sample.manifest["policy_changed"]
    ciphers = sample.rows(
        "connection_count",
        f"""SELECT written_utc > '{changed}', bool_or(trim(cipher) IN ('009C', '009D', '002F'))
            FROM smf119_zert_summary
            WHERE summary_event_type = 1 AND system LIKE 'SRV%' AND job_name <> 'BENCHSRV'
                -- The first summary after the change is about the time before it.
                AND abs(epoch(written_utc) - epoch(TIMESTAMPTZ '{changed}')) > 60 GROUP BY ALL""",
    )
    assert dict(ciphers) == {False: True, True: False}
    last = max(row["at"] for row in sample.manifest["gsksrvr"] if row["at"] <= _traffic_ends(sample))
    shares = sample.rows(
        "resumption_rate",
        f"""SELECT interval_end_utc > '{changed}',
                sum(resumed_handshakes) / sum(resumed_handshakes + full_handshakes)
            FROM resumption_rate WHERE source = 'GSKSRVR' AND basis = 'between displays'
                AND interval_end_utc <= '{last}' GROUP BY ALL""",
    )
    share = dict(shares)
    assert share[True] > share[False] + 0.05
    instances = sample.rows("policy_rule", "SELECT DISTINCT instance_id FROM tls_rule WHERE system = 'SRV1'")
    assert len(instances) == 2


def _traffic_ends(sample: World) -> str:
    return str(sample.manifest["nights_begin"][0])


@pytest.mark.deep
def test_address_spaces_have_the_cpu_time_of_their_connections(sample: World) -> None:
    """The costs are those of the model, so a price that is estimated later can be compared with them."""
    model, paid = sample.manifest["cost_model"], sample.manifest["connection_cpu"]
    named = {"RSA": "rsa_us", "DHE": "dhe_us", "ECDHE": "ecdhe_us", "TLS13": "tls13_us"}
    unit = {
        **{f"full {name}": column for name, column in named.items()},
        "resumed TLSv1.3": "resumed13_us", "resumed older": "resumed_us", "failed": "failed_us",
        "connection": "connection_us",
    }  # fmt: skip
    for system, jobs in paid.items():
        side = model["client" if system.startswith("CLI") else "server"]
        for job, costs in jobs.items():
            for kind, count in costs["count"].items():
                assert costs["cpu_s"][kind] == pytest.approx(count * side[unit[kind]] / 1e6), (job, kind)
    spaces = sample.manifest["address_spaces"]["SRV1"]
    # A part of the cost of connections is that of TCPIP. Noise is one percent of each interval.
    assert sum(space["connections_cpu_s"] for space in spaces.values()) == pytest.approx(
        sum(sum(costs["cpu_s"].values()) for costs in paid["SRV1"].values()), rel=0.005
    )
    assert spaces["TCPIP"]["connections_cpu_s"] > 0
    found = dict(
        sample.rows(
            "address_space_cpu",
            "SELECT job_name, sum(cp_s) FROM address_space_cpu "
            "WHERE system = 'SRV1' AND account = 'address space' GROUP BY ALL",
        )
    )
    # Records show whole hundredths of a second of each interval.
    assert found == {
        job: pytest.approx(space["cpu_s"], abs=0.01 * 4 * 24 * 7) for job, space in spaces.items()
    }


def test_other_work_follows_the_day(sample: World) -> None:
    rows = sample.rows(
        "cpu_slot",
        """SELECT hour(interval_start_utc AT TIME ZONE 'Etc/GMT-1') IN (9, 10, 14, 15), avg(cpu_s)
            FROM cpu_slot WHERE system = 'SRV1' AND interval_ms = 900000
                AND dayofweek(interval_start_utc AT TIME ZONE 'UTC') BETWEEN 1 AND 5 GROUP BY ALL""",
    )
    busy = dict(rows)
    assert busy[True] > 1.3 * busy[False]


def test_records_of_icsf_show_which_system_of_the_sample_audits_sessions(sample: World) -> None:
    rows = sample.rows(
        "icsf_audit", "SELECT system, handshakes, icsf_records, object_records, audit FROM icsf_audit"
    )
    # 887 handshakes with 17 second objects, 8 records of both servers about other things, and 88 of uses.
    assert sorted(rows) == [
        ("CLI1", 1019, None, None, "unknown"),
        ("CLI2", 760, None, None, "unknown"),
        ("SRV1", 887, 887 + 17 + 8 + 88, 887 + 17, "on"),
        ("SRV2", 892, 8, 0, "off"),
    ]
