"""The CPU time of a world follows its cost model, and all RMF sources agree on it."""

from __future__ import annotations

import csv
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.samples.world_reading import ReadWorld, read_world, write

from zscope.samples.world import CostModel, RecipeError, WorldRecipe

if TYPE_CHECKING:
    from pathlib import Path

MODEL = CostModel().changed(
    {
        "full_us": 500, "server.tls13_us": 700, "client.megabyte_us": 90, "server.application_us": 30,
        "server.new_client_us": 45, "noise": 0, "base_swing": 0,
    }
)  # fmt: skip
EXACT = WorldRecipe(seed=11, days=1, connections_per_hour=40, runs="few", run_minutes=6, cost=MODEL)
QUARTER_S, QUARTERS = 900, 96
BUSY = """
    SELECT i.system,
        (epoch(i.interval_start_local) - epoch(TIMESTAMP '2026-03-09 01:00:00'))::BIGINT AS start_s,
        i.interval_ms // 1000 AS length_s, sum(l.dispatch_us::BIGINT) AS dispatch_us,
        sum(l.online_us::BIGINT - c.wait_us::BIGINT) AS not_waiting_us,
        bool_and(l.weight = 65535) AS dedicated
    FROM smf70_interval AS i
    JOIN smf70_partition AS p USING (system, interval_start_local)
    JOIN smf70_logical_cpu AS l USING (system, interval_start_local)
    JOIN smf70_cpu AS c USING (system, interval_start_local)
    WHERE p.partition_number = i.partition_number AND p.partition_name = i.system
        AND l.section_no BETWEEN p.logical_cpu_skip AND p.logical_cpu_skip + p.logical_cpu_count - 1
        AND c.cpu_id = l.logical_cpu_address AND c.cpu_type = 0
    GROUP BY ALL"""
ENDED = """
    SELECT e.system, epoch(e.start_utc) - epoch(TIMESTAMP '2026-03-09 00:00:00') AS start_s,
        epoch(e.end_utc) - epoch(TIMESTAMP '2026-03-09 00:00:00') AS end_s,
        coalesce(epoch(c.written_local) - epoch(TIMESTAMP '2026-03-09 01:00:00'), start_s) AS handshake_s,
        e.handshake_type, e.tls_version, e.cipher, (e.in_bytes + e.out_bytes)::DOUBLE
    FROM smf119_zert_detail AS e
    LEFT JOIN (FROM smf119_zert_detail WHERE event_type = 2) AS c USING (system, connection_id, start_utc)
    WHERE e.event_type IN (3, 4) AND e.start_utc < '2026-03-10'"""
KEY_EXCHANGES = {"00": "rsa_us", "C0": "ecdhe_us", "13": "tls13_us"}
TLS13, FULL, RESUMED, FAILED = 0x0304, 1, 2, 3


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ReadWorld:
    return read_world(EXACT, tmp_path_factory.mktemp("world"))


def _shown(world: ReadWorld) -> dict[tuple[str, int], float]:
    """Busy microseconds by system and quarter of an hour of the day of traffic."""
    rows = world.rows(f"SELECT * FROM ({BUSY}) WHERE length_s = {QUARTER_S}")
    return {(row[0], row[1] // QUARTER_S): row[4] if row[5] else row[3] for row in rows}


def _priced(world: ReadWorld) -> dict[str, list[float]]:
    """The same by the model, in plain arithmetic from the zERT records."""
    sums: dict[str, list[float]] = defaultdict(lambda: [MODEL.base_us_per_s * QUARTER_S] * QUARTERS)
    for system, start, end, handshake_time, kind, version, cipher, size in world.rows(ENDED):
        cost = MODEL.client if system.startswith("CLI") else MODEL.server
        slots = sums[system]
        slots[int(start // QUARTER_S)] += cost.connection_us + cost.application_us
        slots[int(start // QUARTER_S)] += cost.new_client_us if kind == FULL else 0
        of_megabyte = cost.megabyte_us if kind in {FULL, RESUMED} else cost.plain_megabyte_us
        if kind == FULL:
            slots[int(handshake_time // QUARTER_S)] += getattr(cost, KEY_EXCHANGES[cipher[:2]])
        elif kind == RESUMED:
            resumed = cost.resumed13_us if version == TLS13 else cost.resumed_us
            slots[int(handshake_time // QUARTER_S)] += resumed
        elif kind == FAILED:
            slots[int(start // QUARTER_S)] += cost.failed_us
        for slot in range(int(start // QUARTER_S), int(end // QUARTER_S) + 1):
            inside = min(end, (slot + 1) * QUARTER_S) - max(start, slot * QUARTER_S)
            slots[min(slot, QUARTERS - 1)] += inside / (end - start) * size * of_megabyte / 1e6
    return sums


@pytest.mark.deep
def test_without_noise_rmf_shows_the_cost_of_the_records_by_the_model(world: ReadWorld) -> None:
    shown, priced = _shown(world), _priced(world)
    assert len(shown) == 4 * QUARTERS - 3 - 3 - 2  # six are in reports, two in neither
    for (system, number), busy in shown.items():
        assert busy == pytest.approx(priced[system][number], abs=5), (system, number)
        assert busy == pytest.approx(world.manifest["cpu_intervals_s"][system][number] * 1e6, abs=2)


def test_servers_have_dedicated_processors_that_are_always_dispatched(world: ReadWorld) -> None:
    rows = world.rows(f"SELECT DISTINCT system, dedicated, dispatch_us = length_s * 4000000 FROM ({BUSY})")
    assert sorted(rows) == [
        ("CLI1", False, False),
        ("CLI2", False, False),
        ("SRV1", True, True),
        ("SRV2", True, True),
    ]


@pytest.mark.deep
def test_noise_has_the_configured_size(tmp_path: Path) -> None:
    model = MODEL.changed({"noise": 0.05})
    recipe = WorldRecipe(seed=3, days=1, connections_per_hour=30, runs="none", cost=model)
    noisy = write(recipe, tmp_path / "noisy")
    exact = write(
        WorldRecipe(seed=3, days=1, connections_per_hour=30, runs="none", cost=MODEL), tmp_path / "exact"
    )
    ratios = np.concatenate(
        [
            np.array(noisy["cpu_intervals_s"][name]) / np.array(exact["cpu_intervals_s"][name])
            for name in ("CLI1", "CLI2", "SRV1", "SRV2")
        ]
    )
    assert abs(ratios.mean() - 1) < 4 * 0.05 / len(ratios) ** 0.5
    assert 0.045 < ratios.std() < 0.055


def test_reports_agree_with_the_records_and_cover_intervals_without_records(world: ReadWorld) -> None:
    reported = world.rows(
        """SELECT r.source, r.system, r.interval_start_local, avg(r.lpar_busy_pct), s.lpar_busy_pct
        FROM rmf_cpu AS r LEFT JOIN (
            SELECT i.system, i.interval_start_local, 100 * sum(
                CASE WHEN l.weight = 65535 THEN l.online_us::BIGINT - c.wait_us::BIGINT
                ELSE l.dispatch_us::BIGINT END) / sum(l.online_us) AS lpar_busy_pct
            FROM smf70_interval AS i
            JOIN smf70_partition AS p USING (system, interval_start_local)
            JOIN smf70_logical_cpu AS l USING (system, interval_start_local)
            JOIN smf70_cpu AS c USING (system, interval_start_local)
            WHERE p.partition_name = i.system AND c.cpu_id = l.logical_cpu_address AND c.cpu_type = 0
                AND l.section_no BETWEEN p.logical_cpu_skip AND p.logical_cpu_skip + p.logical_cpu_count - 1
            GROUP BY ALL
        ) AS s ON s.system = r.system AND s.interval_start_local = r.interval_start_local
        WHERE r.row_kind = 'processor' AND r.cpu_type_name = 'CP' GROUP BY ALL ORDER BY ALL"""
    )
    assert [(row[0], row[1]) for row in reported] == [("text", "SRV1")] * 6 + [("xml", "CLI1")] * 6
    assert sum(row[4] is None for row in reported) == 6
    for *_, printed, exact in reported:
        assert exact is None or printed == pytest.approx(exact, abs=0.005)
    for source, system in (("text", "SRV1"), ("xml", "CLI1")):
        expected = world.manifest["rmf"][source]
        first = (int(expected["from"][11:13]) * 60 + int(expected["from"][14:16])) // 15
        truth = world.manifest["cpu_intervals_s"][system][first : first + 6]
        busy = [row[3] for row in reported if row[0] == source]
        assert busy == pytest.approx([100 * value / 3600 for value in truth], abs=0.006)


def test_two_systems_use_their_ziip_and_the_others_do_not(world: ReadWorld) -> None:
    rows = world.rows(
        """SELECT p.system, min(l.dispatch_us), max(l.online_us) > 0
        FROM smf70_partition AS p JOIN smf70_logical_cpu AS l USING (system, interval_start_local)
        WHERE p.partition_name = p.system AND l.cpu_type_index = 5
            AND l.section_no BETWEEN p.logical_cpu_skip AND p.logical_cpu_skip + p.logical_cpu_count - 1
        GROUP BY ALL ORDER BY ALL"""
    )
    assert [(name, used > 0, online) for name, used, online in rows] == [
        ("CLI1", True, True),
        ("CLI2", False, True),
        ("SRV1", True, True),
        ("SRV2", False, True),
    ]


def test_runs_have_the_cpu_time_and_transactions_of_the_manifest(world: ReadWorld) -> None:
    minutes = {
        (system, start): float(waited if dedicated else dispatched)
        for system, start, length, dispatched, waited, dedicated in world.rows(BUSY)
        if length == 60
    }
    supplied = list(csv.DictReader((world.folder / "transactions.csv").read_text().splitlines()))
    assert len(world.manifest["runs"]) == 6
    for run in world.manifest["runs"]:
        begin, end = (_seconds(run[name]) for name in ("steady_from", "steady_to"))
        for side in run["sides"].values():
            spent = sum(minutes[side["system"], at] for at in range(begin, end, 60))
            assert spent / 1e6 == pytest.approx(side["steady_cpu_s"], abs=1e-4)
            assert side["steady_cpu_s"] == pytest.approx(side["steady_cpu_s_expected"], abs=1e-4)
            price = side["cpu_us_per_transaction"]
            assert price == pytest.approx(spent / run["steady_transactions"], rel=1e-4)
        of_run = f"end_utc >= '{run['from']}' AND end_utc < '{run['to']}'"
        [[ended]] = world.rows(
            "SELECT count(*) FROM smf119_zert_detail WHERE event_type IN (3, 4) AND system = 'CLI1' "
            f"AND {of_run}"
        )
        assert ended == run["recorded_connections"]
        counts = [row for row in supplied if row["workload"] == run["workload"] and _within(row, run)]
        if counts:
            for system in ("CLI1", "SRV1"):
                mine = [row for row in counts if row["system"] == system]
                assert len(mine) == (end - begin) // 60 + 2
                assert sum(int(row["transactions"]) for row in mine) == run["transactions"]
        if run["workload"].startswith("CRR"):
            assert counts
            # A closed loop: each of the clients has one transaction at a time.
            clients = int(run["workload"].removeprefix("CRR").partition("(")[0])
            assert run["steady_transactions_per_s"] > 1_000
            assert run["steady_latency_ms"] * run["steady_transactions_per_s"] / 1_000 == pytest.approx(
                clients, rel=1e-3
            )
        else:
            [[received]] = world.rows(
                f"SELECT sum(in_bytes)::BIGINT FROM smf119_tcp_term WHERE system = 'CLI1' AND {of_run}"
            )
            size = 4_000 if run["workload"] == "RR60(4kB)" else 20_000_000
            assert received == size * run["transactions"]


def _within(row: dict[str, str], run: dict[str, Any]) -> bool:
    begin, end = (datetime.fromisoformat(row[name]) for name in ("start", "end"))
    return begin >= datetime.fromisoformat(run["from"]) and end <= datetime.fromisoformat(run["to"])


def _seconds(utc: str) -> int:
    """Seconds since the start of the world."""
    return int((np.datetime64(utc[:19]) - np.datetime64("2026-03-09T00:00:00")) / np.timedelta64(1, "s"))


def test_costs_of_the_manifest_are_averages_over_the_handshakes(world: ReadWorld) -> None:
    for system, expected in world.manifest["costs"].items():
        cost = MODEL.client if system.startswith("CLI") else MODEL.server
        paid: dict[int, list[float]] = {FULL: [], RESUMED: []}
        for name, *_, kind, version, cipher, _ in world.rows(ENDED):
            if name == system and kind in paid:
                resumed = cost.resumed13_us if version == TLS13 else cost.resumed_us
                price = resumed if kind == RESUMED else getattr(cost, KEY_EXCHANGES[cipher[:2]])
                paid[kind].append(price + cost.connection_us)
        assert expected["full_us"] == pytest.approx(np.mean(paid[FULL]), abs=0.01)
        assert expected["abbreviated_us"] == pytest.approx(np.mean(paid[RESUMED]), abs=0.01)
        assert expected["megabyte_us"] == cost.megabyte_us


def test_handshakes_and_bytes_are_charged_as_the_model_says(tmp_path: Path) -> None:
    """The stack has them and a part of the set-up of connections, the jobs have the rest and applications."""
    model = MODEL.changed(
        {"plain_megabyte_us": 0, "handshakes_in_stack": 0.75, "bytes_in_stack": 1, "application_us": 2_000}
    )
    recipe = WorldRecipe(seed=4, days=1, connections_per_hour=60, runs="none", cost=model)
    manifest = write(recipe, tmp_path / "world")
    jobs, spaces = manifest["connection_cpu"]["SRV1"], manifest["address_spaces"]["SRV1"]
    in_stack = 0.0
    for job, priced in jobs.items():
        kinds = priced["cpu_s"]
        handshakes = sum(s for kind, s in kinds.items() if kind.split()[0] in {"full", "resumed", "failed"})
        of_stack = 0.3 * kinds["connection"] + 0.75 * handshakes + kinds.get("TLS bytes", 0)
        in_stack += of_stack
        of_job = sum(kinds.values()) - of_stack
        assert spaces[job]["connections_cpu_s"] == pytest.approx(of_job, abs=1e-3), job
        assert kinds["application"] == pytest.approx(
            (2_000 * priced["count"]["connection"] + 45 * full_count(priced["count"])) / 1e6
        )
    assert spaces["TCPIP"]["connections_cpu_s"] == pytest.approx(in_stack, abs=1e-3)


def full_count(counts: dict[str, int]) -> int:
    return sum(number for kind, number in counts.items() if kind.split()[0] == "full")


def test_more_work_than_processors_is_refused(tmp_path: Path) -> None:
    model = CostModel().changed({"full_us": 900_000_000})
    recipe = WorldRecipe(days=1, connections_per_hour=20, runs="none", cost=model)
    with pytest.raises(RecipeError, match="ask for fewer connections or lower costs"):
        write(recipe, tmp_path)
